"""Ways to make a fetch reach what it must not: addresses of the own machine and network, hosts outside the whitelist.

127.0.0.1 passes for the attacker's public server here; the secret one is on ::1, a private address as any other.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from kbcite.settings import SourceSettings
from kbcite.web.scope import Scope
from tests.apart import Apart
from tests.site_server import Reply, Site, serve_site


def redirect(target: str, status: int = 302) -> Reply:
    return Reply(status=status, headers=(("Location", target),))


@pytest.fixture(scope="module")
def secret() -> Iterator[Site]:
    """What the attacker wants to be read, at a private address."""
    with serve_site({"/": "secret"}, "127.0.0.2") as running:
        running.missing = "secret"
        yield running
        assert running.requests == []


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.2",
        "LOCALHOST",
        "[::1]",
        "[::ffff:127.0.0.2]",
        "[::ffff:7f00:2]",
        "[0:0:0:0:0:ffff:127.0.0.2]",
        "[::127.0.0.2]",
        "0.0.0.0",
        "0",
        "[::]",
        "2130706434",
        "0x7f000002",
        "0x7f.2",
        "0177.0.0.2",
        "017700000002",
        "127.2",
        "127.0.2",
        "%31%32%37.0.0.2",
        "１２７.0.0.2",
        "127。0。0。2",
        "①②⑦.0.0.2",
        "10.0.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "169.254.169.254",
        "[fe80::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "100.64.0.1",
        "[64:ff9b::127.0.0.2]",
        "[64:ff9b:1::a00:1]",
        "[2002:7f00:2::]",
        "[2001:0:7f00:2::]",
        "224.0.0.1",
        "255.255.255.255",
        "192.0.0.192",
        "198.18.0.1",
        "240.0.0.1",
        "[ff02::1]",
    ],
)
def test_an_address_of_the_own_network_is_not_asked_however_it_is_written(
    apart: Apart, secret: Site, host: str
) -> None:
    port = secret.url.rpartition(":")[2]
    outcome = apart.fetch(f"http://{host}:{port}/", public="")
    assert outcome["reason"] == "private_address"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_does_not_lead_to_a_private_address(apart: Apart, site: Site, secret: Site, status: int) -> None:
    site.pages["/"] = redirect(f"{secret.url}/", status)
    outcome = apart.fetch(f"{site.url}/")
    assert (outcome["reason"], outcome["hop_url"]) == ("private_address", f"{secret.url}/")


def test_the_last_of_several_redirects_does_not_either(apart: Apart, site: Site, secret: Site) -> None:
    site.pages |= {"/": redirect("/2"), "/2": redirect("/3"), "/3": redirect(f"{secret.url}/")}
    assert apart.fetch(f"{site.url}/")["reason"] == "private_address"
    assert site.paths() == ["/", "/2", "/3"]


@pytest.mark.parametrize(
    "location",
    [
        "http://public.example@{host}/",
        "http://public.example:80@{host}/",
        "http://{host}#@public.example/",
        "http://{host}\\@public.example/",
        "//{host}/",
        "\\\\{host}/",
        "/\\{host}/",
        "http:{host}/",
        "http:\\\\{host}/",
        "http:///{host}/",
        " http://{host}/",
        "ht\ttp://{host}/",
        "http://{host}/%2f..%2f",
        "HTTP://{host}/",
    ],
)
def test_a_location_that_hides_its_host_leads_nowhere_private(
    apart: Apart, site: Site, secret: Site, location: str
) -> None:
    site.pages["/"] = redirect(location.format(host=secret.url.removeprefix("http://")))
    site.missing = "the site's own page"
    outcome = apart.fetch(f"{site.url}/")
    assert outcome["reason"] in ("private_address", "scheme", "dns", None)
    assert outcome["reason"] or outcome["final_url"].startswith(site.url)


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.2/",
        "gopher://127.0.0.2:70/_x",
        "dict://127.0.0.2:11211/stat",
        "ldap://127.0.0.2/",
        "data:text/html,secret",
        "javascript:alert(1)",
        "view-source:http://127.0.0.2/",
        "ws://127.0.0.2/",
        "jar:http://127.0.0.2/!/",
        "http://",
        "http:///",
        "http://[::1",
        "http://a b/",
        "http://%00/",
    ],
)
def test_a_redirect_to_anything_but_a_web_address_ends_the_fetch(apart: Apart, site: Site, location: str) -> None:
    site.pages["/"] = redirect(location)
    assert apart.fetch(f"{site.url}/")["reason"] == "scheme"


def test_a_public_name_at_a_private_address_is_refused(apart: Apart, secret: Site) -> None:
    port = secret.url.rpartition(":")[2]
    outcome = apart.fetch(f"http://public.example:{port}/", names={"public.example": ["127.0.0.2"]})
    assert outcome["reason"] == "private_address"


def test_a_name_that_turns_private_between_two_hops_is_refused(apart: Apart, site: Site, secret: Site) -> None:
    """Rebinding: the first answer of the attacker's name server is public, the next is not."""
    port = site.url.rpartition(":")[2]
    with serve_site({"/2": "secret"}, "127.0.0.2") as hidden:
        other = hidden.url.rpartition(":")[2]
        site.pages["/"] = redirect(f"http://rebind.example:{other}/2")
        outcome = apart.fetch(f"http://rebind.example:{port}/", names={"rebind.example": ["127.0.0.1", "127.0.0.2"]})
        assert hidden.requests == []
    assert outcome["reason"] == "private_address"
    assert site.paths() == ["/"]


def test_a_name_with_a_public_and_a_private_address_is_only_asked_at_the_public_one(apart: Apart, secret: Site) -> None:
    """The public address does not answer; a client that goes on to the next one reads the secret."""
    port = secret.url.rpartition(":")[2]
    outcome = apart.fetch(f"http://127.0.0.1:{port}/", names={"127.0.0.1": ["127.0.0.2"]})
    assert outcome["reason"] == "private_address"


def test_a_public_page_that_may_be_fetched_is(apart: Apart, site: Site) -> None:
    """The tests above could pass because nothing works."""
    site.pages["/"] = "public"
    port = site.url.rpartition(":")[2]
    outcome = apart.fetch(f"http://public.example:{port}/", names={"public.example": ["127.0.0.1"]})
    assert outcome["body"] == "public"


@pytest.mark.parametrize("header", ["authorization", "proxy-authorization", "cookie"])
def test_no_password_of_the_url_the_netrc_or_another_host_is_sent(apart: Apart, site: Site, header: str) -> None:
    with serve_site(
        {"/": Reply(b"x", 302, (("Location", f"{site.url}/b"), ("Set-Cookie", "id=1; Domain=localhost")))}
    ) as first:
        site.pages["/b"] = "end"
        apart.fetch(first.url.replace("//", "//user:secret@"))
    assert [request.path for request in site.requests] == ["/b"]
    assert header not in site.requests[0].headers


def test_a_redirect_cannot_write_headers_of_the_next_request(apart: Apart, site: Site) -> None:
    site.pages["/"] = redirect("/x%0d%0aX-Evil:%20yes%0d%0a")
    site.missing = "end"
    apart.fetch(f"{site.url}/")
    assert all("x-evil" not in request.headers for request in site.requests)
    assert site.requests[-1].path == "/x%0D%0AX-Evil:%20yes%0D%0A" or site.requests[-1].path.lower().startswith(
        "/x%0d%0a"
    )


# ------------------------------------------------------------ whitelist


@pytest.mark.parametrize(
    "url",
    [
        "https://evil-example.com/docs/",
        "https://example.com.evil.net/docs/",
        "https://example.comevil.net/docs/",
        "https://example.com@evil.net/docs/",
        "https://example.com%2eevil.net/docs/",
        "https://evil.net/https://example.com/docs/",
        "https://evil.net#https://example.com/docs/",
        "https://evil.net\\.example.com/docs/",
        "https://sub.example.com/docs/",
        "https://exаmple.com/docs/",
        "https://examp1e.com/docs/",
        "https://example.com:8443/docs/",
        "https://example.com/docs/../secret",
        "https://example.com/docs/%2e%2e/secret",
        "https://example.com/docs\\..\\..\\secret",
        "https://example.com/DOCS/",
        "https://example.com//docs/",
        "ftp://example.com/docs/",
    ],
)
def test_a_look_alike_of_a_source_is_outside(url: str) -> None:
    assert Scope([SourceSettings(url="https://example.com/docs/")]).source_of(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://EXAMPLE.com/docs/a",
        "https://example.com./docs/a",
        "https://example.com:443/docs/a",
        "https://ｅxample.com/docs/a",
    ],
)
def test_the_same_place_written_otherwise_is_inside(url: str) -> None:
    assert Scope([SourceSettings(url="https://example.com/docs/")]).source_of(url) is not None


def test_permission_for_one_private_host_is_none_for_another(apart: Apart, site: Site, secret: Site) -> None:
    site.pages["/"] = redirect(f"{secret.url}/")
    assert apart.fetch(f"{site.url}/", private=site.url, public="")["reason"] == "private_address"


def test_a_loopback_server_is_reached_where_its_source_says_so(apart: Apart, site: Site) -> None:
    site.pages["/"] = "intranet"
    assert apart.fetch(f"{site.url}/", private=site.url, public="")["body"] == "intranet"


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_a_connection_through_ipv6_to_a_mapped_address_is_refused(apart: Apart, secret: Site) -> None:
    port = secret.url.rpartition(":")[2]
    outcome = apart.fetch(f"http://mapped.example:{port}/", names={"mapped.example": ["::ffff:127.0.0.2"]})
    assert outcome["reason"] == "private_address"
