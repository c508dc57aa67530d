import base64
import hashlib
import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbcite.block_id import ALPHABET, LENGTH, block_id, normalise_block, typed_prefix

CASES = [json.loads(line) for line in Path(__file__).with_name("block_ids.jsonl").read_text("ascii").splitlines()]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def id_by_the_contract(text: str) -> str:
    """A second implementation, from the words of the contract and with other means."""
    text = re.sub("\r\n|\r", "\n", unicodedata.normalize("NFC", text))
    text = re.sub("[\t\v\f \u00a0\u3000]+(?=\n|\\Z)", "", text)
    text = re.sub("\\A\n+|\n+\\Z", "", text)
    standard = base64.b32encode(hashlib.sha256(text.encode()).digest()[:10]).decode()
    return "b1" + standard.translate(str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", ALPHABET))


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_the_conformance_file_holds(case: dict[str, str]) -> None:
    assert block_id(case["text"]) == case["id"]
    assert id_by_the_contract(case["text"]) == case["id"]


def test_only_the_cases_that_say_so_share_an_id() -> None:
    first = {case["id"]: case["case"] for case in reversed(CASES)}
    assert len(CASES) >= 40
    for case in CASES:
        assert first[case["id"]] == case.get("same_as", case["case"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("caf\u00e9", "cafe\u0301"),
        ("a\nb", "a\r\nb"),
        ("a\nb", "a\rb"),
        ("a\nb", "a \u3000\nb\u00a0"),
        ("a", "\n \n\na\n\n"),
        ("", " \r\n\t"),
    ],
)
def test_what_a_reader_cannot_see_does_not_change_the_id(one: str, other: str) -> None:
    assert block_id(one) == block_id(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("a", "A"), ("a b", "a  b"), ("a", " a"), ("a\nb", "a\n\nb"), ("3", "３"), ("1.0", "1,0"), ("", ".")],
)
def test_what_a_reader_can_see_changes_the_id(one: str, other: str) -> None:
    assert block_id(one) != block_id(other)


@given(TEXTS)
def test_two_implementations_agree_on_any_text(text: str) -> None:
    assert block_id(text) == id_by_the_contract(text)


@given(TEXTS)
def test_normalising_twice_gives_the_same(text: str) -> None:
    once = normalise_block(text)
    assert normalise_block(once) == once
    assert block_id(once) == block_id(text)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogate"):
        block_id("a\ud800")


def test_a_typed_prefix_finds_its_id_in_spite_of_case_hyphens_and_look_alikes() -> None:
    full = block_id("Bytes are archived as fetched.")
    assert len(full) == LENGTH
    typed = full[:10].upper().replace("0", "O").replace("1", "l")
    assert full.startswith(typed_prefix(f" {typed[:2]}-{typed[2:]} "))
