import pytest

from kbcite.page.encoding import decode
from kbcite.page.readability_check import why_unreadable
from kbcite.records import DecodedPage
from tests.page.test_encoding import FRENCH, JAPANESE, KOREAN, NEWS, RUSSIAN, TAIWAN


def as_read(data: bytes, codec: str) -> DecodedPage:
    return DecodedPage(data.decode(codec, "replace"), codec, "declared")


@pytest.mark.parametrize(
    "text", [NEWS, TAIWAN, JAPANESE, KOREAN, RUSSIAN, FRENCH, "plain", "", "naïve café, “quoted” – 100 €"]
)
def test_text_in_its_own_encoding_reads(text: str) -> None:
    assert why_unreadable(decode(text.encode(), None)) is None


@pytest.mark.parametrize(
    ("codec", "wrong"),
    [
        ("utf-8", "gb18030"),
        ("utf-8", "cp1252"),
        ("utf-8", "latin-1"),
        ("gb18030", "utf-8"),
        ("gb18030", "latin-1"),
        ("gb18030", "cp950"),
        ("gb18030", "cp932"),
        ("gb18030", "cp949"),
        ("gb18030", "cp1251"),
    ],
)
def test_chinese_text_in_a_wrong_encoding_does_not_read(codec: str, wrong: str) -> None:
    assert why_unreadable(as_read((NEWS * 3).encode(codec), wrong)) in ("mojibake", "replacement_characters")


@pytest.mark.parametrize(
    ("text", "codec"), [(TAIWAN, "cp950"), (JAPANESE, "euc_jp"), (JAPANESE, "cp932"), (KOREAN, "cp949")]
)
def test_other_east_asian_text_read_as_chinese_does_not_read(text: str, codec: str) -> None:
    assert why_unreadable(as_read((text * 3).encode(codec), "gb18030")) is not None


def test_replacement_characters_that_became_chinese_are_known() -> None:
    assert why_unreadable(DecodedPage(NEWS + "锟斤拷" * 10, "gb18030", "declared")) == "replacement_characters"


def test_a_page_that_mentions_them_once_reads() -> None:
    assert why_unreadable(DecodedPage(NEWS * 3 + "锟斤拷", "utf-8", "utf-8")) is None


def test_twice_encoded_quotation_marks_in_english_are_borne() -> None:
    assert (
        why_unreadable(DecodedPage("the patient’s “chart” ".encode().decode("latin-1") * 30, "utf-8", "utf-8")) is None
    )


def test_binary_data_is_not_text() -> None:
    assert why_unreadable(decode(bytes(range(256)) * 10, "text/html")) is not None
    assert why_unreadable(decode(b"GIF89a\x01\x00\x01\x00" * 50, "text/html")) == "binary_data"


HZ_PAGE = b"<meta charset=hz-gb-2312><p>" + (NEWS * 3).encode("hz")


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (HZ_PAGE, "text/html"),
        (HZ_PAGE[26:], "text/html; charset=HZ-GB-2312"),
        (HZ_PAGE[26:], "text/html"),
        ((KOREAN * 3).encode("iso2022_kr"), "text/html; charset=iso-2022-kr"),
    ],
    ids=["by its label", "by the label of its server", "by its bytes", "Korean"],
)
def test_text_shifted_into_ascii_is_refused_by_name(data: bytes, content_type: str) -> None:
    assert why_unreadable(decode(data, content_type)) == "refused_encoding"


@pytest.mark.parametrize(
    "data",
    [
        b"<meta charset=hz-gb-2312><p>" + NEWS.encode(),
        b"<meta charset=hz-gb-2312><p>Plain English, nothing else.",
        b"<p>" + b'(format t "~{~a: ~a~%~}" list) ~{ ~} ' * 20,
    ],
    ids=["a label that the bytes contradict", "ASCII after all", "code with the same marks"],
)
def test_a_label_alone_is_not_refused_nor_are_its_marks(data: bytes) -> None:
    assert why_unreadable(decode(data, "text/html")) is None
