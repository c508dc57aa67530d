"""An answer as one self-contained HTML file: no script, nothing loaded from anywhere, every text escaped by the template.

`[n]` shows its passage in a card: on hover, and by click, tap or Enter as a popover of the browser, which Escape closes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from kbcite.plain_words import RULINGS, freshness_line
from kbcite.records import Answer, Claim, Marker, Source, SourceType, Verdict
from kbcite.words import language_of

_WORDS = {
    "en": {
        "answered": "Answered",
        "refused": "Not answered",
        "internal": "Internal documents",
        "web": "Sources",
        "published": "published",
        "fetched": "fetched",
        "open": "Open at the passage",
        "archived": "Archived page",
        "also": "The same text also stands on",
        "bytes": "bytes {0} to {1} of",
        "cited": "{0} of sentences cited",
        "support": "{0} supported by their sources",
        "conflicts": "The sources differ",
        "check": "Check this answer against the archive:",
        "source": "Source {0}",
        "close": "Close",
        "extractive": "the sources’ own sentences",
        "reason": "Reason",
        "score": "best match {0:.2f}, needed {1:.2f}",
        "dead": "The page is gone; its archived copy remains.",
        "supported": "supported",
        "partial": "only partly supported by its source",
        "unsupported": "not supported by its source",
        "contradicted": "contradicted by its source",
    },
    "zh": {
        "answered": "已作答",
        "refused": "未作答",
        "internal": "内部资料",
        "web": "来源",
        "published": "发布于",
        "fetched": "抓取于",
        "open": "打开原文所在位置",
        "archived": "存档页面",
        "also": "同样的文字还见于",
        "bytes": "第 {0} 至 {1} 字节，",
        "cited": "{0} 的句子有引用",
        "support": "{0} 得到来源支持",
        "conflicts": "来源说法不一",
        "check": "对照存档核验本回答：",
        "source": "来源 {0}",
        "close": "关闭",
        "extractive": "来源原文",
        "reason": "原因",
        "score": "最佳匹配 {0:.2f}，需要 {1:.2f}",
        "dead": "页面已不存在，仍可打开存档。",
        "supported": "有来源支持",
        "partial": "来源只支持其中一部分",
        "unsupported": "来源不支持这句话",
        "contradicted": "与来源相矛盾",
    },
}
_SIGNS = {Verdict.SUPPORTED: "✓", Verdict.PARTIAL: "◐", Verdict.UNSUPPORTED: "✗", Verdict.CONTRADICTED: "⚠"}
_FENCE = re.compile(r"(?:```|~~~)[^\n]*\n?(.*?)(?:\n?(?:```|~~~)|\Z)", re.DOTALL)
_INLINE = re.compile(r"`(?P<code>[^`\n]+)`|\*\*(?P<strong>[^*\n]+)\*\*")
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?)+", re.MULTILINE)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+")
_CELLS = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Archived:
    """What the page shows of a source beside its record."""

    before: str = ""
    after: str = ""
    table_head: str = ""
    link: str = ""
    """Address of the copy of the archived page, relative to the file."""


@dataclass(frozen=True, slots=True)
class Run:
    kind: str
    """`text`, `code` or `strong`."""
    text: str


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of Markdown to show: running text, a block of code, or a table."""

    kind: str
    """`text`, `code` or `table`."""
    runs: tuple[Run, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    head: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    parts: tuple[Part, ...]
    marks: tuple[int, ...] = ()
    verdict: Verdict | None = None
    """None for words between sentences."""

    @property
    def sign(self) -> str:
        return _SIGNS[self.verdict] if self.verdict else ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    sentences: tuple[Sentence, ...]
    is_item: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A source as the page shows it."""

    source: Source
    parts: tuple[Part, ...]
    before: str
    after: str
    language: str
    chain: tuple[str, ...]
    link: str
    archived: str
    also: tuple[str, ...]


def to_html(answer: Answer, archived: Mapping[int, Archived] | None = None) -> str:
    """The whole file as text. archived: by source number; a source without an entry is shown by its record alone."""
    from jinja2 import Environment, StrictUndefined

    folder = files("kbcite")
    style = folder.joinpath("answer.css").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    template = environment.from_string(folder.joinpath("answer.html.jinja").read_text(encoding="utf-8"))
    words: dict[str, str] = _WORDS["zh" if answer.lang == "zh" else "en"]
    shown = {source.n: _shown(source, (archived or {}).get(source.n, Archived())) for source in answer.sources}
    return template.render(
        answer=answer,
        words=words,
        style=_Stylesheet(style),
        policy=f"default-src 'none'; style-src 'sha256-{_digest(style)}'; base-uri 'none'; form-action 'none'",
        paragraphs=paragraphs_of(answer.text, answer.claims),
        shown=shown,
        groups=[(title, [shown[n] for n in numbers]) for title, numbers in _groups(answer.sources)],
        sentences=len(answer.claims),
        is_internal=SourceType.INTERNAL,
        rulings=RULINGS["zh" if answer.lang == "zh" else "en"],
        freshness=freshness_line(answer),
    )


class _Stylesheet:
    """Our own style sheet, the only text that the template does not escape; its digest stands in the policy."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __html__(self) -> str:
        return self._text


def _digest(style: str) -> str:
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")


def _groups(sources: Sequence[Source]) -> list[tuple[str, list[int]]]:
    internal = [source.n for source in sources if source.source_type is SourceType.INTERNAL]
    web = [source.n for source in sources if source.source_type is not SourceType.INTERNAL]
    return [(title, numbers) for title, numbers in (("internal", internal), ("web", web)) if numbers]


def _shown(source: Source, archived: Archived) -> Shown:
    return Shown(
        source=source,
        parts=parts_of(source.quote.text, archived.table_head),
        before=_plain(archived.before),
        after=_plain(archived.after),
        language=language_of(source.quote.text),
        chain=tuple(part for part in source.heading_chain if part),
        link=_web_address(source.deep_link or source.url),
        archived=archived.link,
        also=tuple(address for address in map(_web_address, source.also) if address),
    )


def _web_address(url: str) -> str:
    """The URL where it is one of the web; a link of another scheme could do something."""
    return url if re.match(r"https?://", url, re.IGNORECASE) else ""


# ---------------------------------------------------------------- text


def paragraphs_of(text: str, claims: Sequence[Claim]) -> tuple[Paragraph, ...]:
    """The answer's text in paragraphs of sentences, each with its marks and verdict."""
    paragraphs: list[Paragraph] = []
    line: list[Sentence] = []
    is_item = False

    def close() -> None:
        nonlocal is_item
        if line:
            paragraphs.append(Paragraph(tuple(line), is_item))
        line.clear()
        is_item = False

    def add_between(between: str) -> None:
        nonlocal is_item
        for number, piece in enumerate(between.split("\n")):
            if number:
                close()
            if not line and (mark := _ITEM.match(piece)):
                is_item, piece = True, piece[mark.end() :]
            if piece.strip():
                line.append(Sentence(parts_of(piece)))

    done = 0
    for claim in claims:
        add_between(text[done : claim.start])
        body = text[claim.start : claim.end]
        if not line and (mark := _ITEM.match(body)):
            is_item, body = True, body[mark.end() :]
        line.append(Sentence(parts_of(body), tuple(marker.n for marker in claim.markers), claim.verdict))
        done = _end_of(claim.end, claim.markers)
    add_between(text[done:])
    close()
    return tuple(paragraphs)


def _end_of(end: int, markers: Sequence[Marker]) -> int:
    return max([end, *(marker.end for marker in markers)])


def parts_of(markdown: str, table_head: str = "") -> tuple[Part, ...]:
    """Markdown as it is shown here: code blocks, tables, and running text with code and strong words in it."""
    parts: list[Part] = []
    done = 0
    for fence in _FENCE.finditer(markdown):
        parts += _text_parts(markdown[done : fence.start()], table_head)
        parts.append(Part("code", (Run("code", fence[1]),)))
        done = fence.end()
    return (*parts, *_text_parts(markdown[done:], table_head))


def _text_parts(text: str, table_head: str) -> list[Part]:
    parts: list[Part] = []
    rows: list[tuple[str, ...]] = []
    words: list[str] = []

    def close() -> None:
        if rows:
            head = _cells(table_head) if table_head else ()
            parts.append(Part("table", rows=tuple(rows), head=head))
        if any(line.strip() for line in words):
            parts.append(Part("text", _runs("\n".join(words).strip())))
        rows.clear()
        words.clear()

    for line in text.splitlines():
        is_row = line.lstrip().startswith("|")
        if (is_row and words) or (not is_row and rows):
            close()
        if not is_row:
            words.append(line)
        elif set(line) - set("|-: "):
            rows.append(_cells(line))
    close()
    return parts


def _cells(row: str) -> tuple[str, ...]:
    cells = _CELLS.split(row.strip().removeprefix("|").removesuffix("|"))
    return tuple(_plain(cell).replace("\\|", "|").strip() for cell in cells)


def _runs(text: str) -> tuple[Run, ...]:
    text = _LINE_MARK.sub("", text)
    runs: list[Run] = []
    done = 0
    for match in _INLINE.finditer(text):
        if match.start() > done:
            runs.append(Run("text", text[done : match.start()]))
        kind = match.lastgroup or "text"
        runs.append(Run(kind, match[kind]))
        done = match.end()
    if done < len(text):
        runs.append(Run("text", text[done:]))
    return tuple(runs)


def _plain(text: str) -> str:
    """The text without the marks of Markdown."""
    return _INLINE.sub(lambda match: match[match.lastgroup or 0], _LINE_MARK.sub("", text))
