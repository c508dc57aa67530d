"""Records → text for a terminal. Everything a page or a model said is escaped here before it is shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from kbcite.plain_words import DROPPED, freshness_line
from kbcite.records import Answer, RetrievedBlock, Source, SourceType, Verdict

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


def width_of(text: str) -> int:
    """Columns that a terminal gives to a text: two for a wide character, none for a combining one."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def fitted(text: str, columns: int) -> str:
    """One line cut with an ellipsis to what fits into so many columns."""
    if width_of(text) <= columns:
        return text
    kept = text
    while kept and width_of(kept) > columns - 1:
        kept = kept[:-1]
    return kept + "…"


def counted(number: int, noun: str) -> str:
    """`1 answer`, `2 answers`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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


Piece = tuple[str, str]
"""Text and its style in rich's words; an empty style is plain."""


def answer_pieces(answer: Answer) -> tuple[list[Piece], list[Piece]]:
    """An answer as a person reads it: the text with its `[n]` and flags on weak sentences, and the numbered sources below it."""
    words = _WORDS["zh" if answer.lang == "zh" else "en"]
    if answer.refusal:
        why = str(answer.refusal.reason)
        if answer.refusal.best_score is not None and answer.refusal.needed is not None:
            why += ": " + words["best"].format(best=answer.refusal.best_score, threshold=answer.refusal.needed)
        notices = [(f"\n{printable(notice)}", "yellow") for notice in answer.notices]
        line = [(f"\n{printable(told)}", "dim")] if (told := freshness_line(answer)) else []
        return [(printable(answer.refusal.message), "bold"), *notices, (f"\n({why})", "dim"), *line], []
    body = _body(answer, words)
    body += [(f"\n\n{printable(notice)}", "yellow") for notice in answer.notices]
    below: list[Piece] = []
    for title, wanted in (("internal", True), ("web", False)):
        sources = [source for source in answer.sources if (source.source_type == SourceType.INTERNAL) is wanted]
        if sources:
            below.append((f"\n{words[title]}", "bold"))
            for source in sources:
                below += _source_lines(source, words)
            below.append(("\n", ""))
    below = below[:-1]
    if told := freshness_line(answer):
        below.append((f"\n\n{printable(told)}", "dim"))
    return body, below


def _body(answer: Answer, words: Mapping[str, str]) -> list[Piece]:
    out: list[Piece] = []
    links = {source.n: source.deep_link or source.url for source in answer.sources}
    done = 0
    for claim in answer.claims:
        for marker in claim.markers:
            out.append((printable(answer.text[done : marker.start]), ""))
            out.append((f"[{marker.n}]", _linked("cyan", links.get(marker.n, ""))))
            done = marker.end
        if claim.verdict != Verdict.SUPPORTED:
            end = max([claim.end, *(marker.end for marker in claim.markers)])
            out.append((printable(answer.text[done:end]), ""))
            done = max(done, end)
            out.append((f" ({words[str(claim.verdict)]})", "yellow"))
    out.append((printable(answer.text[done:]), ""))
    return out


def _source_lines(source: Source, words: Mapping[str, str]) -> list[Piece]:
    when = (
        f"{words['published']} {source.published_at[:10]}"
        if source.published_at
        else f"{words['fetched']} {source.fetched_at[:10]}"
    )
    also = "  " + words["also"].format(n=len(source.also)) if source.also else ""
    lines = [
        (f"\n[{source.n}] ", "cyan"),
        (where(source.title, source.heading_chain, source.url), _linked("", source.deep_link or source.url)),
        (f"\n    {printable(source.url)}  {when}{also}", "dim"),
    ]
    return [*lines, (f"\n    {words['dead']}", "yellow")] if source.state == "dead" else lines


def _linked(style: str, url: str) -> str:
    return f"{style} link {link}".strip() if (link := _safe_link(url)) else style


def _safe_link(url: str) -> str:
    """The URL if it can stand in a terminal escape and a style as it is; links come from stored records only."""
    return url if re.fullmatch(r"https?://[!-~]+", url) else ""


def hit_lines(hits: Iterable[RetrievedBlock], explain: bool) -> str:
    """Search results, a paragraph each."""
    shown = []
    for i, hit in enumerate(hits, 1):
        place = hit.place
        head = (
            f"{i}. {where(place.title, place.heading_chain, place.url)}\n   {hit.block.id}  {hit.scores.relevance:.2f}"
        )
        text = place.text or hit.block.text
        if explain:
            lines = "\n   ".join(_explained(hit))
            shown_text = fitted(one_line(text, 80), 76)  # one line of a terminal of 80 columns
            shown.append(f"{head}  {lines}\n   {printable(place.url)}\n   {shown_text}")
        else:
            shown.append(f"{head}\n   {printable(place.url)}\n   {one_line(text, 200)}")
    return "\n\n".join(shown)


def _explained(hit: RetrievedBlock) -> list[str]:
    """Whether a candidate is used or why not, what it was judged by, and what it stands for."""
    scores = hit.scores
    judged = f"dense {scores.dense:.3f}  words {scores.coverage:.3f}  fused {scores.fused:.3f}"
    if scores.missing_figures:
        judged += f"  figures missed {scores.missing_figures}"
    if scores.kept is not None:
        judged += f"  age leaves {scores.kept:.2f} of it"
    lines = ["left out", f"why: {DROPPED.get(hit.dropped, hit.dropped)}", judged] if hit.dropped else ["used", judged]
    if scores.rerank is not None:
        lines.append(f"reranked {scores.rerank:.3f}")
    lines += [f"same text: {printable(place.url)}" for place in hit.also[:3]]
    if more := len(hit.also) - 3 if len(hit.also) > 3 else 0:
        lines.append(f"same text: {more} more")
    return lines
