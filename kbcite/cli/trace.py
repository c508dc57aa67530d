from __future__ import annotations

import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbcite.cli.context import context_of
from kbcite.cli.saved_answers import find_answer, sources_of
from kbcite.clock import to_minute
from kbcite.render import counted, fitted, one_line, printable, where

if TYPE_CHECKING:
    from kbcite.answer.trace import LiveTrace, Trace, TracedCandidate

SHOWN = 8
"""Candidates that were left out and are shown one by one without --all; used ones are shown all."""


@dataclass(frozen=True, slots=True)
class Node:
    """A line of a tree and what hangs below it."""

    text: str
    below: tuple[Node, ...] = ()


def register(app: typer.Typer) -> None:
    app.command()(trace)


def trace(
    ctx: typer.Context,
    answer: Annotated[
        str | None,
        typer.Argument(
            metavar="[ANSWER]", help="An answer's ID, its trace ID, or the start of one; nothing is the last."
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show every candidate that was left out.")] = False,
) -> None:
    """Show the whole way of one answer: the question as it was read, candidates with scores and why they were left out, checks, times."""
    from kbcite.answer.trace import from_record

    context = context_of(ctx)
    with context.reading() as store:
        record = find_answer(store, answer)
        saved = store.database.answers.trace(record["id"])
    found = from_record(saved) if saved else None
    tree = _tree(record, found, everything)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() and not context.verbose else None
    lines = [fitted(line, width) if width else line for line in drawn(tree)]
    context.show("\n".join(lines), {"answer": record, "trace": saved})


def drawn(root: Node) -> list[str]:
    """The lines of a tree, with the branches in front."""
    return [root.text, *_branches(root.below, "")]


def _branches(nodes: tuple[Node, ...], indent: str) -> list[str]:
    lines = []
    for i, node in enumerate(nodes):
        is_last = i == len(nodes) - 1
        lines.append(f"{indent}{'└─' if is_last else '├─'} {node.text}")
        lines += _branches(node.below, f"{indent}{'   ' if is_last else '│  '}")
    return lines


def _tree(record: dict[str, Any], found: Trace | None, everything: bool) -> Node:
    grounding, timing = record["grounding"], record["timing_ms"]
    name = f"{record['id']}  {to_minute(record['created_at'])}  {one_line(record['question'], 300)}"
    parts = [_question(record, found), _retrieval(record, found, everything, timing)]
    if found is not None and found.live is not None:
        parts.append(_live(record, found.live))
    steps = tuple(Node(printable(step)) for step in grounding["path"])
    confidence = grounding.get("confidence")
    sure = "" if confidence is None else f", confidence {confidence:.2f}"
    parts.append(Node(f"answer     {printable(record['method'])}{sure}{_took(timing, 'answer')}", steps))
    if record["answer"]["claims"]:
        checks = tuple(_claim(record, claim) for claim in record["answer"]["claims"])
        parts.append(
            Node(f"checks     coverage {grounding['coverage']:.0%}, support {grounding['support']:.0%}", checks)
        )
    if record["sources"]["internal"] or record["sources"]["web"]:
        parts.append(Node("sources", tuple(_source(source) for source in sources_of(record))))
    parts += [Node(f"conflict   {one_line(row['ruling'], 200)}") for row in record["conflicts"]]
    parts.append(_result(record))
    return Node(name, tuple(parts))


def _question(record: dict[str, Any], found: Trace | None) -> Node:
    window = record["freshness"]["window_s"]
    about = [f"class {record['freshness']['class']}", f"window {_span(window)}" if window else "no window"]
    if found:
        about = [found.language, f"asks for {found.kind}" if found.kind != "other" else "asks for anything", *about]
        about += [f"figures {', '.join(map(printable, found.figures))}"] * bool(found.figures)
        about += ["two things at once"] * found.is_joined
    return Node(f"question   {', '.join(about)}")


def _retrieval(record: dict[str, Any], found: Trace | None, everything: bool, timing: dict[str, float]) -> Node:
    row = record["retrieval"]
    text = (
        f"retrieval  {row['candidates']} candidates, {row['above_threshold']} above {row['threshold']:.2f}, "
        f"{row['used']} used{_took(timing, 'retrieve')}"
    )
    if found is None:
        return Node(text, (Node("the candidates were not saved with this answer"),) if row["candidates"] else ())
    if found.candidates:
        text += "; relevance (fused dense words)"
    used = [Node(_candidate(c)) for c in found.candidates if c.dropped is None]
    dropped = [c for c in found.candidates if c.dropped is not None]
    shown = dropped if everything else dropped[:SHOWN]
    rest = Counter(c.dropped for c in dropped[len(shown) :])
    more = [Node(f"and {rest.total()} more: " + ", ".join(f"{why} {n}" for why, n in rest.items()))] if rest else []
    return Node(text, (*used, *(Node(_candidate(c)) for c in shown), *more))


def _live(record: dict[str, Any], live: LiveTrace) -> Node:
    """Whether pages were looked at, why, and what came of each."""
    began, ended = live.retrieval_ms
    below = [Node(f"trigger {one_line(trigger, 200)}") for trigger in live.triggers]
    below += [Node(f"not believed: {printable(url)}, {printable(why)}") for url, why in live.invalid]
    below += [Node(f"not allowed: {printable(url)}, {one_line(why, 160)}") for url, why in live.refused]
    for fetch in live.fetches:
        when = "from the pool" if fetch.way == "pool" else f"{fetch.began_ms:.0f} to {fetch.ended_ms:.0f} ms"
        fate = "used" if fetch.is_used else f"{fetch.outcome} {one_line(fetch.detail, 120)}".strip()
        below.append(Node(f"{fate}: {printable(fetch.url)} ({fetch.why}), {when}"))
    if any(fetch.way == "fetch" for fetch in live.fetches):
        below.append(
            Node(f"retrieval ran from {began:.0f} to {ended:.0f} ms, {live.overlap_ms:.0f} ms of it beside a fetch")
        )
    use = record["freshness"].get("live")
    outcome = f", {use['outcome']}" if use and use["triggered"] else ""
    return Node(f"live       {live.way}: {one_line(live.reason, 200)}{outcome}", tuple(below))


def _candidate(candidate: TracedCandidate) -> str:
    cited = "".join(f"[{n}]" for n in candidate.cited_as)
    fate = cited or candidate.dropped or "used"
    s = candidate.scores
    place = where(candidate.title, candidate.heading_chain, candidate.url)
    return f"{fate:<15} {s.relevance:.2f} ({s.fused:.2f} {s.dense:.2f} {s.coverage:.2f})  {candidate.block_id[:8]}  {place}"


def _claim(record: dict[str, Any], claim: dict[str, Any]) -> Node:
    text = one_line(record["answer"]["text"][claim["start"] : claim["end"]], 200)
    marks = "".join(f"[{marker['n']}]" for marker in claim["markers"])
    checks = ", ".join(f"{name} {printable(outcome)}" for name, outcome in claim["checks"].items())
    return Node(f"{claim['verdict']} {claim['score']:.2f}  {text} {marks}".rstrip(), (Node(checks),) if checks else ())


def _source(source: dict[str, Any]) -> Node:
    at = source["snapshot"]
    span = f", bytes {at['byte_start']} to {at['byte_end']}" if at["byte_start"] is not None else ""
    return Node(
        f"[{source['n']}] {where(source['title'], source['heading_chain'], source['url'])}",
        (Node(printable(source["deep_link"] or source["url"])), Node(f"archived {at['sha256'][:16]}{span}")),
    )


def _result(record: dict[str, Any]) -> Node:
    total = record["timing_ms"].get("total")
    time = f", {total:.0f} ms in all" if total is not None else ""
    tokens = ", ".join(f"{name} {count}" for name, count in record["usage"].items())
    tokens = f", {tokens}" if tokens else ""
    refusal = record["refusal"]
    if refusal:
        scores = ""
        if refusal["best_score"] is not None and refusal.get("needed") is not None:
            scores = f": {refusal['best_score']:.2f}, needed {refusal['needed']:.2f}"
        return Node(f"refused    {refusal['reason']}{scores}, next: {refusal['next']}{time}{tokens}")
    return Node(
        f"answered   {counted(len(sources_of(record)), 'source')}{time}{tokens}", tuple(map(_notice, record["notices"]))
    )


def _notice(notice: str) -> Node:
    return Node(one_line(notice, 300))


def _took(timing: dict[str, float], step: str) -> str:
    return f", {timing[step]:.0f} ms" if step in timing else ""


def _span(seconds: int) -> str:
    """`2 days`, `3 hours`: the largest unit that divides it whole."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
