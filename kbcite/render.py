"""Records → text for a terminal. Everything a page or a model said is escaped here before it is shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kbcite.records import Answer, Claim, RetrievedBlock, Source, SourceType, Verdict

if TYPE_CHECKING:
    from rich.text import Text

_CHAIN = " › "
_WORDS = {
    "en": {
        "internal": "Internal documents",
        "web": "Sources",
        "published": "published",
        "fetched": "fetched",
        "also": "and {n} more",
        "partial": "only partly supported by its source",
        "unsupported": "not supported by its source",
        "contradicted": "contradicted by its source",
        "best": "best match {best:.2f}, needed {threshold:.2f}",
        "dead": "the page is gone; the archived passage can still be opened",
    },
    "zh": {
        "internal": "内部资料",
        "web": "来源",
        "published": "发布于",
        "fetched": "抓取于",
        "also": "另有 {n} 处",
        "partial": "来源只支持其中一部分",
        "unsupported": "来源不支持这句话",
        "contradicted": "与来源相矛盾",
        "best": "最佳匹配 {best:.2f}，需要 {threshold:.2f}",
        "dead": "页面已不存在，仍可打开存档的段落",
    },
}
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """The text with control, bidi and other invisible characters as visible escapes, so that it cannot steer a terminal."""
    return _INVISIBLE.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text)


def one_line(text: str, limit: int) -> str:
    """The text on one line, cut to `limit` characters with an ellipsis."""
    folded = " ".join(printable(text).split())
    return folded if len(folded) <= limit else folded[: limit - 1] + "…"


def summary(counts: Mapping[str, int]) -> str:
    """`fetched 12, unchanged 1180, changed 9`."""
    return ", ".join(f"{name} {number}" for name, number in counts.items())


def where(title: str, heading_chain: Iterable[str], url: str) -> str:
    """`Title › Heading › Subheading`; the URL stands in for a missing title. A heading that repeats the title is left out."""
    parts = [part for part in (title.strip(), *heading_chain) if part]
    shown = [part for i, part in enumerate(parts) if i == 0 or _fold(part) != _fold(parts[i - 1])]
    return _CHAIN.join(one_line(part, 100) for part in shown) or printable(url)


def _fold(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def answer_text(answer: Answer) -> Text:
    """An answer as a person reads it: the text with its `[n]`, flags on weak sentences, then the numbered sources."""
    from rich.text import Text

    words = _WORDS["zh" if answer.lang == "zh" else "en"]
    if answer.refusal:
        out = Text(printable(answer.refusal.message), style="bold")
        for notice in answer.notices:
            out.append(f"\n{printable(notice)}", style="yellow")
        why = str(answer.refusal.reason)
        if answer.refusal.best_score is not None and answer.refusal.needed is not None:
            why += ": " + words["best"].format(best=answer.refusal.best_score, threshold=answer.refusal.needed)
        out.append(f"\n({why})", style="dim")
        return out
    out = _body(answer, words)
    for notice in answer.notices:
        out.append(f"\n\n{printable(notice)}", style="yellow")
    for title, wanted in (("internal", True), ("web", False)):
        sources = [source for source in answer.sources if (source.source_type == SourceType.INTERNAL) is wanted]
        if sources:
            out.append(f"\n\n{words[title]}", style="bold")
            for source in sources:
                out.append_text(_source_lines(source, words))
    return out


def _body(answer: Answer, words: Mapping[str, str]) -> Text:
    from rich.text import Text

    out = Text()
    links = {source.n: source.deep_link or source.url for source in answer.sources}
    done = 0
    for claim in answer.claims:
        for marker in claim.markers:
            out.append(printable(answer.text[done : marker.start]))
            out.append(f"[{marker.n}]", style=f"cyan link {_safe_link(links.get(marker.n, ''))}".removesuffix(" link "))
            done = marker.end
        if claim.verdict != Verdict.SUPPORTED:
            end = max([claim.end, *(marker.end for marker in claim.markers)])
            out.append(printable(answer.text[done:end]))
            done = max(done, end)
            out.append(f" ({words[_flag(claim)]})", style="yellow")
    out.append(printable(answer.text[done:]))
    return out


def _flag(claim: Claim) -> str:
    return str(claim.verdict)


def _source_lines(source: Source, words: Mapping[str, str]) -> Text:
    from rich.text import Text

    link = _safe_link(source.deep_link or source.url)
    out = Text(f"\n[{source.n}] ", style="cyan")
    out.append(where(source.title, source.heading_chain, source.url), style=f"link {link}" if link else "")
    when = (
        f"{words['published']} {source.published_at[:10]}"
        if source.published_at
        else f"{words['fetched']} {source.fetched_at[:10]}"
    )
    out.append(f"\n    {printable(source.url)}  {when}", style="dim")
    if source.also:
        out.append("  " + words["also"].format(n=len(source.also)), style="dim")
    if source.state == "dead":
        out.append(f"\n    {words['dead']}", style="yellow")
    return out


def _safe_link(url: str) -> str:
    """The URL if it can stand in a terminal escape and a style as it is; links come from stored records only."""
    return url if re.fullmatch(r"https?://[!-~]+", url) else ""


def hit_lines(hits: Iterable[RetrievedBlock], explain: bool) -> str:
    """Search results, a paragraph each."""
    shown = []
    for i, hit in enumerate(hits, 1):
        scores = f"{hit.scores.relevance:.2f}"
        if explain:
            s = hit.scores
            scores += f" (fused {s.fused:.3f}, dense {s.dense:.3f}, words {s.coverage:.3f})"
            if hit.dropped:
                scores += f"  dropped: {hit.dropped}"
        place = hit.place
        shown.append(
            f"{i}. {where(place.title, place.heading_chain, place.url)}\n   {hit.block.id}  {scores}\n"
            f"   {printable(place.url)}\n   {one_line(place.text or hit.block.text, 200)}"
        )
    return "\n\n".join(shown)
