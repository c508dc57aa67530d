"""Pages as sites serve them twice: the same text with another clock, counter, advertisement; and the same page really edited.

Sixty pages: the golden ones that have a main text, and written ones in eight layouts and two languages. A noise is put into the page's
markup in two versions; an edit changes the main text at the place in the markup that it was read from.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass

from kbcite.page.cleaning import clean_page
from kbcite.page.encoding import decode, strip_invisible
from kbcite.records import CleanDocument
from tests.golden_site import GOLDEN_PAGES

PAGES = 60


@dataclass(frozen=True)
class Page:
    name: str
    html: str
    document: CleanDocument


def read(html: str) -> CleanDocument:
    document = clean_page(html.encode(), "https://example.com/news/2026/a.html", "text/html; charset=utf-8")
    assert isinstance(document, CleanDocument), document
    return document


def all_pages() -> list[Page]:
    pages = []
    for folder in sorted(path.parent for path in GOLDEN_PAGES.glob("*/page.html")):
        source = tomllib.loads((folder / "source.toml").read_text(encoding="utf-8"))
        html = strip_invisible(decode((folder / "page.html").read_bytes(), source.get("content_type")).text)
        # The pages are served as UTF-8 here: what they declare is about their bytes.
        html = re.sub(r"""(?i)<meta[^>]*charset[^>]*>""", "", html)
        document = clean_page(html.encode(), "https://example.com/a.html", "text/html; charset=utf-8")
        if isinstance(document, CleanDocument):
            pages.append(Page(folder.name, html, read(html)))
    for n in range(PAGES - len(pages)):
        html = _written(n)
        pages.append(Page(f"written-{n}", html, read(html)))
    return pages


# ------------------------------------------------------------ written pages

_ZH = (
    "市图书馆新馆将于{m}月{d}日起试运行，每天接待读者约{n}人次。",
    "记者从会上了解到，该项目总投资{n}万元，预计明年年底前完工。",
    "工程师们把第{d}号机组的检修周期从{m}个月缩短到了一半。",
    "居民可以凭身份证到社区服务站领取，每户限领{d}份。",
    "据统计，今年以来全县共种植果树{n}亩，比去年增长{d}%。",
    "“我们最担心的是水位。”值班员说，“超过{d}米就要关闸。”",
    "办理时限为{d}个工作日，材料不齐的一次性告知。",
    "这座桥全长{n}米，双向{m}车道，设计时速60公里。",
)
_EN = (
    "The new reading room opens on {d} June and seats about {n} people on two floors.",
    "Engineers cut the time between two inspections of pump {m} from {d} weeks to half of that.",
    "Set the timeout to {d} seconds; anything above {n} is taken for a mistake and refused.",
    "The council approved a budget of {n} thousand euros, the largest share of it for the schools.",
    'The keeper said that the water "never stood higher than {d} metres in my time".',
    "Orders that arrive before {m} in the afternoon are sent on the same day, all others on the next.",
    "A report of {d} pages lists what was found, and what it would cost to put it right.",
    "Version {m}.{d} reads the old files and writes the new ones; it cannot go back.",
)
_TITLES = {"zh": "新馆试运行与检修安排（第{n}期）", "en": "Reading room, pumps and budgets, issue {n}"}
_LAYOUTS: tuple[str, ...] = (
    "<div id=main><div class=content><h1>{title}</h1>{info}{body}</div></div>",
    "<article><header><h1>{title}</h1>{info}</header>{body}</article>",
    "<table width=900><tr><td class=left><a href=/a>A</a></td><td><h1>{title}</h1>{info}{body}</td></tr></table>",
    "<main><h1>{title}</h1>{info}<section>{body}</section></main><aside><h2>Tags</h2><a href=/t>t</a></aside>",
    "<div class=wrap><div class=post><h2 class=title>{title}</h2>{info}<div class=entry>{body}</div></div></div>",
    "<div class=container><div class=row><div class=col-8><h1>{title}</h1>{info}{body}</div><div class=col-4>Menu</div></div></div>",
    "<section><h1>{title}</h1>{info}</section><section class=text>{body}</section>",
    "<div class=docs><nav><a href=/1>1</a><a href=/2>2</a></nav><div class=doc><h1>{title}</h1>{info}{body}</div></div>",
)


def _written(n: int) -> str:
    chance = random.Random(n)
    language = ("zh", "en")[n // len(_LAYOUTS) % 2]
    sentences = _ZH if language == "zh" else _EN
    gap = "" if language == "zh" else " "

    def sentence() -> str:
        return chance.choice(sentences).format(
            m=chance.randint(2, 9), d=chance.randint(10, 28), n=chance.randint(100, 9999)
        )

    body = ""
    for part in range(chance.randint(2, 4)):
        body += f"<h2>{('第', 'Part ')[language == 'en']}{part + 1}{('部分', '')[language == 'en']}</h2>"
        body += "".join(
            f"<p>{gap.join(sentence() for _ in range(chance.randint(2, 5)))}</p>" for _ in range(chance.randint(2, 4))
        )
    body += "<ul>" + "".join(f"<li>{sentence()}</li>" for _ in range(3)) + "</ul>"
    info = ("<p class=info>2026年5月12日 来源：县报</p>", "<p class=info>12 May 2026, by A. Writer</p>")[
        language == "en"
    ]
    middle = _LAYOUTS[n % len(_LAYOUTS)].format(title=_TITLES[language].format(n=n), info=info, body=body)
    title = _TITLES[language].format(n=n)
    return (
        f"<!doctype html><html lang={language}><head><meta charset=utf-8><title>{title} - Site</title></head><body><div class=top>"
        f"<a href=/>Home</a> <a href=/news>News</a></div>{middle}<div class=footer>© 2026 Site</div></body></html>"
    )


# ------------------------------------------------------------ noises


def _after(pattern: str, html: str, piece: str) -> str:
    found = re.search(pattern, html, re.IGNORECASE)
    return html[: found.end()] + piece + html[found.end() :] if found else piece + html


def _token(html: str, n: int) -> str:
    return _after(r"<head[^>]*>", html, f'<meta name="csrf-token" content="{n * 7919:x}">')


def _clock(html: str, n: int) -> str:
    return _after(r"<body[^>]*>", html, f"<div class=clock>2026年11月30日 12:{n:02}:0{n % 10}</div>")


def _counter(html: str, n: int) -> str:
    piece = f"<div class=meta><span>阅读 {1200 + n}</span> <span>{n} comments</span></div>"
    return _after(r"</h1>" if "</h1>" in html.lower() else r"</h2>|<body[^>]*>", html, piece)


def _advertisement(html: str, n: int) -> str:
    piece = (
        f'<div class="ad"><a href="https://ads.example/{n}"><img src="/{n}.png" alt="">Offer {n}: save today</a></div>'
    )
    stops = [found.end() for found in re.finditer(r"</p>", html, re.IGNORECASE)]
    # Sites put theirs between paragraphs, not into what a reader quotes.
    stops = [at for at in stops if html.count("<blockquote", 0, at) == html.count("</blockquote", 0, at)]
    at = stops[len(stops) // 2] if stops else len(html)
    return html[:at] + piece + html[at:]


def _related(html: str, n: int) -> str:
    links = "".join(f"<li><a href=/r/{n + i}.html>又一则新闻的标题第{n * 13 + i}号</a></li>" for i in range(6))
    piece = f'<div class="related"><h3>相关阅读</h3><ul>{links}</ul></div>'
    at = html.lower().rfind("</body>")
    return html[:at] + piece + html[at:] if at >= 0 else html + piece


def _age(html: str, n: int) -> str:
    piece = f"<div class=time>发布于 {n} 小时前</div>"
    return _after(r"</h1>" if "</h1>" in html.lower() else r"</h2>|<body[^>]*>", html, piece)


NOISES: dict[str, Callable[[str, int], str]] = {
    "token in the head": _token,
    "clock in the top bar": _clock,
    "counters by the title": _counter,
    "rotating advertisement": _advertisement,
    "rotating related links": _related,
    "age by the title": _age,
}


def is_called_changed(page: Page, noise: Callable[[str, int], str]) -> bool:
    """Whether the same page with two versions of a noise counts as changed."""
    return read(noise(page.html, 3)).fingerprint != read(noise(page.html, 8)).fingerprint


# ------------------------------------------------------------ edits


def _source_of(page: Page, start: int, end: int) -> tuple[int, int] | None:
    """Where a run of the document was read from, if it was read as it stands."""
    for span in page.document.spans:
        if span.start <= start and end <= span.end and span.end - span.start == span.source_end - span.source_start:
            at = span.source_start + start - span.start
            if page.html[at : at + end - start] == page.document.text[start:end]:
                return at, at + end - start
    return None


def _places(page: Page, pattern: str, chance: random.Random) -> list[tuple[int, int]]:
    """Up to four runs of the main text that match, as places in the markup."""
    found = [(match.start(1), match.end(1)) for match in re.finditer(pattern, page.document.text)]
    chance.shuffle(found)
    places = [place for start, end in found if (place := _source_of(page, start, end))]
    return places[:4]


def edits(page: Page) -> dict[str, list[str]]:
    """The page's markup after each of some edits, by kind."""
    chance = random.Random(page.name)
    sentences = _places(page, r"([^\s。！？.!?|#*`\[\]()]{2}[^\n。！？.!?|`\[\]()]{8,}[。！？.!?])", chance)
    numbers = _places(page, r"(?<![\d.,])(\d{1,6})(?![\d.,])", chance)

    def replaced(place: tuple[int, int], text: str) -> str:
        return page.html[: place[0]] + text + page.html[place[1] :]

    def kept(place: tuple[int, int]) -> str:
        return page.html[place[0] : place[1]]

    title = page.document.metadata.title
    return {
        "a sentence replaced": [replaced(place, "这里现在是另一句话。") for place in sentences[:2]],
        "a sentence added": [
            replaced(place, kept(place) + " One more sentence stands here.") for place in sentences[2:4]
        ],
        "a number + 1": [replaced(place, str(int(kept(place)) + 1)) for place in numbers],
        "the title": [page.html.replace(title, f"{title} (2)")] if title and title in page.html else [],
    }


def missed(page: Page) -> dict[str, tuple[int, int]]:
    """By kind of edit: edits that the fingerprint does not see, and edits made."""
    return {
        kind: (sum(read(html).fingerprint == page.document.fingerprint for html in edited), len(edited))
        for kind, edited in edits(page).items()
    }
