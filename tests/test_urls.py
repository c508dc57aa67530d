import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbcite.urls import folder_of, host_of, is_within, resolve, url_key, without_credentials

BASE = "https://example.com/docs/guide/index.html"


@pytest.mark.parametrize(
    ("href", "wanted"),
    [
        ("page.html", "https://example.com/docs/guide/page.html"),
        ("../up.html#part", "https://example.com/docs/up.html"),
        ("/top", "https://example.com/top"),
        ("//other.org/x", "https://other.org/x"),
        ("?page=2", "https://example.com/docs/guide/index.html?page=2"),
        ("#only-a-fragment", BASE),
        ("  spaced.html\n", "https://example.com/docs/guide/spaced.html"),
        ("HTTP://EXAMPLE.org:80/A", "http://example.org/A"),
        ("http://user:secret@example.org/a", "http://example.org/a"),
        ("http://例子.测试/路", "http://xn--fsqu00a.xn--0zwm56d/%E8%B7%AF"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("%2e%2e/a", "https://example.com/docs/a"),
        ("a\\b", "https://example.com/docs/guide/a/b"),
        ("mailto:someone@example.com", None),
        ("javascript:void(0)", None),
        ("data:text/html,x", None),
        ("file:///etc/passwd", None),
        ("ftp://example.com/", None),
        ("http://", None),
        ("http://a b/", None),
        ("http://\ud800/", None),
    ],
)
def test_a_link_resolves_as_in_a_browser(href: str, wanted: str | None) -> None:
    assert resolve(BASE, href) == wanted


def test_a_query_is_written_in_the_encoding_of_its_page() -> None:
    assert resolve(BASE, "/s/中?q=中文#x", "gb18030") == "https://example.com/s/%E4%B8%AD?q=%D6%D0%CE%C4"
    assert resolve(BASE, "/s?q=中文") == "https://example.com/s?q=%E4%B8%AD%E6%96%87"


def test_a_character_the_encoding_lacks_becomes_a_numeric_reference() -> None:
    assert resolve(BASE, "?q=中", "windows-1252") == f"{BASE}?q=%26%2320013%3B"


def test_an_unknown_encoding_falls_to_utf_8() -> None:
    assert resolve(BASE, "?q=é", "x-user-defined") == f"{BASE}?q=%C3%A9"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.com/a", "https://example.com:443/a#top"),
        ("https://example.com/a", "https://EXAMPLE.com./a"),
        ("https://example.com/a?id=1", "https://example.com/a?utm_source=x&id=1&fbclid=Iw&spm=a.b"),
        ("https://example.com/a", "https://example.com/a;jsessionid=0A1B2C"),
        ("https://example.com/a", "https://example.com/a?PHPSESSID=abc"),
        ("https://example.com/a?x=1", "https://example.com/a?x=1&sid=0123456789abcdef0123"),
        ("https://example.com/%e4%b8%ad", "https://example.com/中"),
        ("https://example.com/a", "https://example.com/a?"),
    ],
)
def test_two_urls_of_the_same_page_have_one_key(one: str, other: str) -> None:
    assert url_key(one) == url_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.com/a", "https://example.com/A"),
        ("https://example.com/a", "https://example.com/a/"),
        ("https://example.com/?a=1&b=2", "https://example.com/?b=2&a=1"),
        ("https://example.com/story?sid=1", "https://example.com/story?sid=2"),
        ("https://example.com/", "http://example.com/"),
        ("https://example.com/", "https://example.com:8443/"),
    ],
)
def test_urls_that_may_be_different_pages_keep_their_own_key(one: str, other: str) -> None:
    assert url_key(one) != url_key(other)


def test_a_key_is_its_own_key() -> None:
    key = url_key("https://Example.com/a;jsessionid=1?utm_id=3&b=%e4#x")
    assert url_key(key) == key == "https://example.com/a?b=%E4"


def test_what_is_not_a_web_address_has_no_key() -> None:
    with pytest.raises(ValueError, match="not an http or https URL"):
        url_key("mailto:a@b")


def test_origin_and_folder() -> None:
    assert host_of("HTTP://Example.com:8080/a/b?c") == "http://example.com:8080"
    assert host_of("http://[::1]:80/") == "http://[::1]"
    assert folder_of("https://example.com/docs/guide.html?x=/y/") == "https://example.com/docs/"
    assert folder_of("https://example.com") == "https://example.com/"


@pytest.mark.parametrize(
    ("url", "prefix", "inside"),
    [
        ("https://example.com/a", "https://example.com/", True),
        ("http://example.com/a", "https://example.com/", True),
        ("https://EXAMPLE.com./a", "https://example.com/", True),
        ("https://user@example.com/a", "https://example.com/", True),
        ("https://xn--fsqu00a.xn--0zwm56d/", "https://例子.测试/", True),
        ("https://example.com/docs", "https://example.com/docs", True),
        ("https://example.com/docs/a", "https://example.com/docs", True),
        ("https://example.com/docs?p=2", "https://example.com/docs", True),
        ("https://example.com/Help:Start", "https://example.com/Help:", True),
        ("https://example.com/docs-old", "https://example.com/docs", False),
        ("https://example.com/docs/../secret", "https://example.com/docs/", False),
        ("https://example.com/docs/%2e%2e/secret", "https://example.com/docs/", False),
        ("https://example.com.evil.net/", "https://example.com/", False),
        ("https://evil-example.com/", "https://example.com/", False),
        ("https://sub.example.com/", "https://example.com/", False),
        ("https://example.com@evil.net/", "https://example.com/", False),
        ("https://evil.net\\@example.com/", "https://example.com/", False),
        ("https://ехample.com/", "https://example.com/", False),
        ("https://example.com:8443/", "https://example.com/", False),
        ("https://127.0.0.1:8000/", "http://127.0.0.1:8000/", False),
        ("ftp://example.com/", "https://example.com/", False),
        ("https://example.com/a", "not a url", False),
    ],
)
def test_the_border_of_a_source(url: str, prefix: str, inside: bool) -> None:
    assert is_within(url, [prefix]) is inside


def test_credentials_are_stripped() -> None:
    assert without_credentials("https://user:pa@example.com/a?b") == "https://example.com/a?b"
    assert without_credentials("mailto:a@b") is None


PIECES = [
    "/",
    "//",
    "?",
    "#",
    "&",
    "=",
    ".",
    "..",
    "%2e",
    "%20",
    ":",
    "@",
    "\\",
    " ",
    "a",
    "b.html",
    "B-1",
    "_~",
    "http:",
    "例",
    "https://example.com",
]


@given(
    st.sampled_from([BASE, f"{BASE}?q=1", "https://example.com/", "http://127.0.0.1:8000/a/b", "http://u:p@h.org/x"]),
    st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
)
def test_the_short_way_for_plain_links_gives_what_the_parser_gives(base: str, href: str) -> None:
    try:
        parsed = ada_url.join_url(base, href).partition("#")[0]
    except ValueError:
        parsed = ""
    assert resolve(base, href) == (without_credentials(parsed) if parsed.startswith("http") else None)
