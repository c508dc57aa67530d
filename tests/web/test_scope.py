import pytest

from kbcite.errors import UsageError
from kbcite.settings import SourceSettings
from kbcite.web.scope import Scope

DOCS = SourceSettings(url="https://example.com/docs/index.html", exclude=(r"/print/", r"[?&]action=edit"))
INNER = SourceSettings(url="https://example.com/docs/api/", allow_private=True)
WIKI = SourceSettings(
    url="https://wiki.example.org/Main", scope=("https://wiki.example.org/", "https://files.example.org/w/")
)
SCOPE = Scope((DOCS, INNER, WIKI))


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("https://example.com/docs/a", DOCS),
        ("https://example.com/docs/api/a", INNER),
        ("https://example.com/blog/a", None),
        ("https://files.example.org/w/x", WIKI),
        ("https://files.example.org/x", None),
        ("https://evil-example.com/docs/", None),
        ("https://example.com.evil.net/docs/", None),
        ("mailto:a@b.c", None),
    ],
)
def test_the_source_with_the_longest_prefix_covers_a_url(url: str, source: SourceSettings | None) -> None:
    assert SCOPE.source_of(url) == source


def test_a_url_outside_is_refused_with_the_command_that_adds_it() -> None:
    with pytest.raises(UsageError, match=r"kbcite source add https://other\.example/"):
        SCOPE.require_source("https://other.example/")


def test_private_addresses_are_allowed_on_the_hosts_of_sources_that_say_so() -> None:
    scope = Scope((SourceSettings(url="http://wiki.local:8090/space/", allow_private=True), DOCS))
    assert scope.allows_private("http://wiki.local:8090/robots.txt")
    assert not scope.allows_private("http://wiki.local/")
    assert not scope.allows_private("https://example.com/docs/a")


def test_an_excluded_url_names_its_pattern() -> None:
    assert SCOPE.exclusion("https://example.com/docs/print/1", DOCS) == "excluded: matches '/print/'"
    assert SCOPE.exclusion("https://example.com/docs/1", DOCS) is None


@pytest.mark.parametrize("source", [SourceSettings(url="ftp://x/"), SourceSettings(url="https://x/", exclude=("(",))])
def test_a_source_that_cannot_be_read_is_told(source: SourceSettings) -> None:
    with pytest.raises(UsageError, match=source.url):
        Scope((source,))
