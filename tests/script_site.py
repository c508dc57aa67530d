"""Pages that scripts write, one of each kind that is met on the web, and a site of 20 pages in which they stand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kbcite.web.browser import why_unavailable
from tests.site_server import Answer, Reply

needs_browser = pytest.mark.skipif(why_unavailable() is not None, reason=str(why_unavailable()))

MILL = "The river mill grinds wheat for the whole valley every autumn. Farmers bring their grain by boat and wait for the flour."


def text_of(name: str) -> list[str]:
    """Paragraphs that stand on the page of this name alone."""
    return [f"{MILL} This is part {n} of the page about {name}." for n in range(4)]


def html_of(name: str) -> str:
    return f"<h1>{name}</h1>" + "".join(f"<p>{text}</p>" for text in text_of(name))


def script(code: str) -> Reply:
    return Reply(code.encode(), headers=(("Content-Type", "text/javascript; charset=utf-8"),))


def data(value: Any) -> Reply:
    return Reply(json.dumps(value).encode(), headers=(("Content-Type", "application/json"),))


def shell(body: str, title: str = "Mill") -> str:
    return f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>"


def _items(handler: Any) -> Reply:
    first = int(handler.path.partition("=")[2])
    return data([f"Item {first + n}: {MILL}" for n in range(10)])


MOUNTED = shell(
    "<noscript>We're sorry but this app doesn't work properly without JavaScript enabled.</noscript>"
    '<div id="app"></div><script src="/assets/mounted.js"></script>'
)
"""As Vue is built: an empty element, filled by a script file, which also brings links."""
MOUNTED_SCRIPT = script(
    f'document.getElementById("app").innerHTML = {json.dumps("<main>" + html_of("mounted"))}'
    ' + `<a href="/only-linked-by-script">More</a></main>`;'
)
HYDRATED = shell(
    f'<div id="root"></div><script id="__NEXT_DATA__" type="application/json">{json.dumps(text_of("hydrated"))}</script>'
    "<script>const root = document.getElementById('root'), h = document.createElement('h1'); h.textContent = 'hydrated'; root.append(h);"
    "for (const text of JSON.parse(document.getElementById('__NEXT_DATA__').textContent))"
    " { const p = document.createElement('p'); p.textContent = text; root.append(p); }</script>"
)
"""As React is: data in the page, elements made of them."""
FETCHED = shell(
    "<div id=root>Loading...</div><script>fetch('/api/fetched', {headers: {Accept: 'application/json'}}).then(r => r.json())"
    ".then(d => { document.getElementById('root').innerHTML = '<h1>fetched</h1>' + d.map(t => `<p>${t}</p>`).join(''); })</script>"
)
LAZY = shell(
    '<div id="root"></div><script>document.getElementById("root").innerHTML ='
    ' "<h1>A list without end</h1><ul id=list></ul><div id=end>Loading</div>"; let n = 0, isBusy = false;'
    "async function more() { if (isBusy) return; isBusy = true;"
    ' for (const text of await (await fetch("/api/items?from=" + n)).json())'
    ' { const li = document.createElement("li"); li.style = "display:block;min-height:150px"; li.textContent = text; list.append(li); n++; }'
    " isBusy = false; if (end.getBoundingClientRect().top < innerHeight) more(); }"
    "new IntersectionObserver(seen => { if (seen[0].isIntersecting) more(); }).observe(end);</script>"
)
"""A list that loads more whenever its end is seen."""
HASHED = shell(
    '<div id="app"></div><script>function go() { document.getElementById("app").innerHTML ='
    ' `<nav><a href="#/start">Start</a><a href="#/about">About</a></nav><h2>Route ${location.hash}</h2>` + '
    f'{json.dumps(html_of("hashed"))}; }} onhashchange = go; if (!location.hash) location.hash = "#/start"; go();</script>'
)
LATE = shell(
    "<div id=root>Loading...</div><script>setTimeout(() => { document.getElementById('root').innerHTML = "
    f"{json.dumps('<article>' + html_of('late') + '</article>')}; }}, 1500)</script>"
)
SHADOWED = shell(
    f"<mill-app><p slot=lead>Put into the slot: {MILL}</p></mill-app><script>"
    'customElements.define("mill-app", class extends HTMLElement { connectedCallback() {'
    ' this.attachShadow({mode: "open"}).innerHTML = "<style>p { color: red }</style><article><slot name=lead></slot>" + '
    f'{json.dumps(html_of("shadowed"))} + "<mill-box></mill-box></article>"; }} }});'
    'customElements.define("mill-box", class extends HTMLElement { connectedCallback() {'
    ' this.attachShadow({mode: "open"}).innerHTML = "<p>A box in the box tells of the miller and his dog in winter.</p>"; } });</script>'
)
KINDS = {
    "mounted": MOUNTED,
    "hydrated": HYDRATED,
    "fetched": FETCHED,
    "hashed": HASHED,
    "late": LATE,
    "shadowed": SHADOWED,
}
ASSETS: dict[str, Answer] = {
    "/assets/mounted.js": MOUNTED_SCRIPT,
    "/api/fetched": data(text_of("fetched")),
    "/api/items": _items,
    "/robots.txt": "User-agent: *\nDisallow: /secret/\n",
}


def twenty_pages() -> dict[str, Answer]:
    """The start page, 13 static pages (one of them linked by a script alone) and the six kinds, some among static ones."""
    static = [f"/static/{n}.html" for n in range(9)] + [f"/mixed/static-{n}" for n in range(3)]
    written = {f"/mixed/{name}" if name in ("late", "hashed") else f"/app/{name}": page for name, page in KINDS.items()}
    links = "".join(f'<a href="{path}">{path}</a>' for path in (*static, *written))
    pages: dict[str, Answer] = {
        path: shell(html_of(path) + "<script src=/assets/counter.js></script>") for path in static
    }
    return {
        "/": shell(html_of("start") + links),
        "/only-linked-by-script": shell(html_of("only linked by a script")),
        **pages,
        **written,
        **ASSETS,
    }
