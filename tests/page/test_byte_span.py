from __future__ import annotations

import codecs

import pytest

from kbcite.page.byte_span import byte_span
from kbcite.page.cleaning import clean_page
from kbcite.records import CleanDocument

SENTENCES = (
    "停水时间为五月十二日上午九时至下午五时，请居民提前储水。",
    "恢复供水后请先放水五分钟再饮用，如有问题请拨打供水热线。",
    "The works are carried out by the town's own staff and cost 4 &amp; a half thousand euros.",
)
PAGE = (
    "<html><head><title>通知</title></head><body><div class='nav'><a href='/'>首页</a></div><article><h1>停水通知</h1>"
    + "".join(f"<p>{s}</p>" for s in SENTENCES)
    + "</article></body></html>"
)


def cleaned(body: bytes) -> CleanDocument:
    document = clean_page(body, "http://a.example/", "text/html")
    assert isinstance(document, CleanDocument)
    return document


@pytest.mark.parametrize(
    ("codec", "mark"),
    [("utf-8", b""), ("utf-8", codecs.BOM_UTF8), ("gb18030", b""), ("utf-16-le", codecs.BOM_UTF16_LE)],
    ids=["utf-8", "utf-8 with a mark", "gb18030", "utf-16"],
)
def test_the_bytes_of_a_sentence_are_found(codec: str, mark: bytes) -> None:
    body = mark + PAGE.encode(codec)
    document = cleaned(body)
    for sentence in SENTENCES[:2]:
        start = document.text.index(sentence)
        place = byte_span(body, "text/html", document.spans, start, start + len(sentence))
        assert place
        assert body[slice(*place)].decode(codec) == sentence


def test_a_sentence_with_an_entity_reaches_to_its_last_byte() -> None:
    body = PAGE.encode()
    document = cleaned(body)
    start = document.text.index("The works")
    end = document.text.index("thousand euros.") + len("thousand euros.")
    place = byte_span(body, "text/html", document.spans, start, end)
    assert place
    assert body[slice(*place)].decode() == SENTENCES[2]


def test_bytes_that_cannot_be_pointed_at_give_nothing() -> None:
    """A damaged byte before the place: the text cannot be encoded back to where it stood."""
    body = PAGE.encode("gb18030").replace("首页".encode("gb18030"), b"\xff\xff\xfe")
    document = cleaned(body)
    start = document.text.index(SENTENCES[0])
    place = byte_span(body, "text/html", document.spans, start, start + len(SENTENCES[0]))
    assert place is None or body[slice(*place)].decode("gb18030") == SENTENCES[0]
