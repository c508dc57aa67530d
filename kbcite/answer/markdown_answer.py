"""An answer as Markdown: the text with its `[n]`, and below it the numbered sources with their quotes, addresses and dates.

What it writes, `kbcite verify FILE.md` reads.
"""

from __future__ import annotations

from kbcite.patterns import pattern
from kbcite.plain_words import freshness_line
from kbcite.records import Answer, Source, SourceType, Verdict

_WORDS = {
    "en": {
        "internal": "Internal documents",
        "web": "Sources",
        "published": "published",
        "fetched": "fetched",
        "refused": "Refused",
        Verdict.PARTIAL: "only partly supported by its source",
        Verdict.UNSUPPORTED: "not supported by its source",
        Verdict.CONTRADICTED: "contradicted by its source",
    },
    "zh": {
        "internal": "内部资料",
        "web": "来源",
        "published": "发布于",
        "fetched": "抓取于",
        "refused": "未作答",
        Verdict.PARTIAL: "来源只支持其中一部分",
        Verdict.UNSUPPORTED: "来源不支持这句话",
        Verdict.CONTRADICTED: "与来源相矛盾",
    },
}
_SPECIAL = pattern(r"([\\`*_\[\]<>#|])")
_HTML = pattern(r"<(?=[a-zA-Z/!?])")


def to_markdown(answer: Answer) -> str:
    """The answer with its question as heading; ends with a line break."""
    words = _WORDS["zh" if answer.lang == "zh" else "en"]
    parts = [f"# {_escaped(' '.join(answer.question.split()))}"]
    if answer.refusal:
        parts.append(f"**{words['refused']}** ({answer.refusal.reason}): {_escaped(answer.refusal.message)}")
    else:
        parts.append(_body(answer, words))
    parts += [f"> {_escaped(notice)}" for notice in (*answer.notices, freshness_line(answer)) if notice]
    for title, wanted in (("internal", True), ("web", False)):
        sources = [source for source in answer.sources if (source.source_type == SourceType.INTERNAL) is wanted]
        if sources:
            parts.append(f"## {words[title]}")
            parts += [_source(source, words) for source in sources]
    parts.append(f"<!-- kbcite {answer.id} {answer.created_at} -->")
    return "\n\n".join(parts) + "\n"


def _body(answer: Answer, words: dict[str, str]) -> str:
    """The text as it is, tags in it disarmed, with a word behind each sentence that its source does not bear out."""
    out, done = [], 0
    for claim in answer.claims:
        end = max([claim.end, *(marker.end for marker in claim.markers)])
        if claim.verdict is not Verdict.SUPPORTED and end >= done:
            out += [answer.text[done:end], f" *({words[claim.verdict]})*"]
            done = end
    return _HTML.sub("&lt;", "".join([*out, answer.text[done:]]))


def _source(source: Source, words: dict[str, str]) -> str:
    published = f"{words['published']} {source.published_at[:10]} · " if source.published_at else ""
    chain = " › ".join(_escaped(" ".join(part.split())) for part in (source.title, *source.heading_chain) if part)
    quote = "\n".join(f"    > {_HTML.sub('&lt;', line)}" for line in source.quote.text.splitlines())
    at = f"{published}{words['fetched']} {source.fetched_at[:10]} · sha256 {source.snapshot.digest[:16]}"
    return f"[{source.n}] {chain or source.url}\n    <{source.deep_link or source.url}>\n    {at}\n\n{quote}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
