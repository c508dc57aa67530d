"""Words of Chinese and English text: the terms that word search goes by, word counts, and the language of a text.

Chinese has no spaces. For search, a run of CJK characters becomes its single characters and its bigrams, which
measured as well as a dictionary segmenter and needs none. Everything else is cut at blanks and punctuation, but what
is one name stays whole: `3.11`, `c++`, `.net`, `apt-get`, `/etc/apt/sources.list`, `a@b.org`. A compound gives its
parts as well, so that a search for `sources.list` or `apt` finds the path, and one for `python` finds `Python3教程`.
Search and answers compare terms by the same stems.
"""

from __future__ import annotations

import math
import re
import unicodedata

from kbcite.traditional import TO_SIMPLIFIED

CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Han and kana, for the inside of a character class."""

CHARACTERS_PER_CHINESE_WORD = 1.6
"""In running text; sizes go by it."""

CHINESE_SHARE = 0.2
"""From this share of CJK among its letters a text is Chinese: a Chinese word has about 2 letters, an English one 5, so a
text that is half and half by words stands at about 0.3."""

_CJK_RUN = re.compile(f"[{CJK}]+")
_WORD = f"[^\\W_{CJK}]+"
_TERM = re.compile(
    rf"[{CJK}]+|(?:(?<![\w.])\.(?=[^\W\d_]))?{_WORD}(?:(?:[._'@#&+/\\-]|::|(?<=\d),(?=\d{{3}}(?!\d))){_WORD})*(?:\+\+|#)?"
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d)")
_BETWEEN_PIECES = re.compile(r"[/\\@]|::")
_ATOM = re.compile(r"[^\W\d_]*\d+(?:\.\d+)+|[^\W_]+(?:'[^\W_]+)*")
_NAME_AND_NUMBER = re.compile(r"([^\W\d_]{2,}|v)(\d+(?:\.\d+)*)")
_NUMBER_AND_UNIT = re.compile(r"(\d+(?:\.\d+)*)([^\W\d_]{2,})")
_LETTERS = re.compile(r"[^\W\d_]+")


def normalise(text: str) -> str:
    """NFKC and lower case, apostrophes straight, traditional characters simplified: what terms are compared in."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'").translate(TO_SIMPLIFIED)


def simplify(text: str) -> str:
    """The text with traditional characters simplified, each in its place: offsets stay."""
    return text.translate(TO_SIMPLIFIED)


def terms(text: str) -> list[str]:
    """Search terms in order, with repeats: CJK characters and bigrams, other words whole and, if compound, in parts."""
    found: list[str] = []
    for match in _TERM.finditer(normalise(text)):
        run = match.group()
        if run[0] >= "\u2e80" and _CJK_RUN.match(run):
            found.extend(run)
            found.extend(map(str.__add__, run, run[1:]))
        elif run.isalpha() or run.isdecimal():
            found.append(run)
        else:
            found.extend(_with_parts(run))
    return found


def _with_parts(compound: str) -> list[str]:
    """`etc/apt/sources.list` → itself, `sources.list`, `etc`, `apt`, `sources`, `list`; `dog's` → `dog`; `1,234` → `1234`."""
    whole = _THOUSANDS.sub("", compound).removesuffix("'s")
    pieces = _BETWEEN_PIECES.split(whole)
    atoms = _ATOM.findall(whole)
    parts = [*pieces, *atoms]
    for atom in atoms:
        if split := _NAME_AND_NUMBER.fullmatch(atom) or _NUMBER_AND_UNIT.fullmatch(atom):
            parts.extend(part for part in split.groups() if part != "v")
    return [whole, *dict.fromkeys(part for part in parts if part != whole and (len(part) > 1 or part.isdecimal()))]


_POSSESSIVE = re.compile(r"(?:'s|’s|s')$")
_VOWEL = re.compile("[aeiouy]")
_IRREGULAR = {"found": "find"}
"""Words that read like the stem of another: what is found was not founded."""


def stem(term: str) -> str:
    """An English word without its plainest endings; other terms as they are.

    Word search and answers with a final e cut off short words too (`make` as `making`), or with fewer endings, answered two or three
    questions less of the manuals and of the paragraphs, and found none more: python -m tests.bench.manual_questions STORE.
    """
    if term in _IRREGULAR:
        return _IRREGULAR[term]
    if not term.isascii() or not term[:1].isalpha() or len(term) < 4:
        return term
    term = _POSSESSIVE.sub("", term)
    if term.endswith("ing") and not _VOWEL.search(term, 0, len(term) - 3):
        return term  # a string is no form of str
    for ending, replacement in (
        ("ies", "y"),
        ("sses", "ss"),
        ("ing", ""),
        ("edly", ""),
        ("ed", ""),
        ("ly", ""),
        ("es", ""),
        ("s", ""),
    ):
        if term.endswith(ending) and len(term) - len(ending) >= 3 and not term.endswith("ss"):
            term = term[: -len(ending)] + replacement
            break
    if len(term) > 3 and term[-1] == term[-2] and term[-1] not in "lse":
        term = term[:-1]
    return term[:-1] if len(term) > 4 and term.endswith("e") else term


def count_words(text: str) -> int:
    """Words of a text: Latin words, numbers and paths one each, Chinese by characters per word, at least 1 for any word."""
    if text.isascii():
        return len(_TERM.findall(text))
    chinese = others = 0
    for match in _TERM.finditer(text):
        run = match.group()
        if run[0] >= "\u2e80" and _CJK_RUN.match(run):
            chinese += len(run)
        else:
            others += 1
    return others + math.ceil(chinese / CHARACTERS_PER_CHINESE_WORD)


def language_of(text: str) -> str:
    """`zh` where at least a fifth of the letters are CJK, else `en`."""
    chinese = sum(map(len, _CJK_RUN.findall(text)))
    letters = sum(map(len, _LETTERS.findall(text))) if chinese else 0
    return "zh" if letters and chinese / letters >= CHINESE_SHARE else "en"
