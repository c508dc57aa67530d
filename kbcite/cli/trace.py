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
from kbcite.plain_words import DROPPED, REFUSALS, RULINGS, class_name, live_reason, unfit_reason, window
from kbcite.records import RefusalReason
from kbcite.render import counted, fitted, one_line, printable, where

if TYPE_CHECKING:
    from kbcite.answer.trace import LiveTrace, Trace, TracedCandidate, TracedFetch

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
    steps = tuple(Node(_step(step)) for step in grounding["path"])
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
    parts += [Node(f"conflict   {_conflict(row)}") for row in record["conflicts"]]
    parts.append(_result(record))
    return Node(name, tuple(parts))


def _question(record: dict[str, Any], found: Trace | None) -> Node:
    fresh = record["freshness"]
    about = [f"class {class_name(fresh['class'], 'en')}"]
    if found and found.live and found.live.class_by:
        about[0] += f", told by {one_line(found.live.class_by, 300)}"
    about.append(window(fresh["window_s"], "en"))
    if found:
        about = [found.language, f"asks for {found.kind}" if found.kind != "other" else "asks for anything", *about]
        about += [f"figures {', '.join(map(printable, found.figures))}"] * bool(found.figures)
        about += ["two things at once"] * found.is_joined
    return Node(f"question   {', '.join(about)}{_took(record['timing_ms'], 'question')}")


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
    counts = Counter(c.dropped for c in dropped)
    left_out = [
        Node(
            f"left out, {DROPPED.get(why or '', 'for a reason of its own')} ({why}): {count}",
            tuple(Node(_candidate(c)) for c in shown if c.dropped == why),
        )
        for why, count in counts.items()
    ]
    return Node(text, (*used, *left_out))


def _live(record: dict[str, Any], live: LiveTrace) -> Node:
    """Whether pages were looked at, why, and what came of each."""
    began, ended = live.retrieval_ms
    because = "although" if live.way == "stored" else "because"
    below = [Node(f"{because} {one_line(live_reason(trigger, 'en'), 200)}") for trigger in live.triggers]
    # A stored page that was fetched again stands among the candidates that were left out.
    doubted = [(url, why) for url, why in live.invalid if why != "superseded"]
    below += [Node(f"not believed any more: {printable(url)}, {_disbelief(why)}") for url, why in doubted]
    below += [Node(f"not allowed: {printable(url)}, {one_line(why, 160)}") for url, why in live.refused]
    below += [Node(_fetch(fetch)) for fetch in live.fetches]
    if any(fetch.way == "fetch" for fetch in live.fetches):
        below.append(
            Node(f"retrieval ran from {began:.0f} to {ended:.0f} ms, {live.overlap_ms:.0f} ms of it beside a fetch")
        )
    return Node(f"live       {_looked(record, live)}", tuple(below))


def _looked(record: dict[str, Any], live: LiveTrace) -> str:
    if live.way == "stored":
        return f"no page was looked at: {one_line(live_reason(live.reason, 'en'), 200)}"
    use = record["freshness"].get("live")
    took = f"; done after {use['elapsed_ms']:.0f} ms" if use else ""
    is_pooled = all(fetch.way == "pool" for fetch in live.fetches)
    where_from = "in the pool of pages fetched lately" if is_pooled else "now"
    used = sum(fetch.is_used for fetch in live.fetches)
    came = f"{used} used" if used else "none fit for use, so what is stored answers"
    return f"{counted(len(live.fetches), 'page')} looked at {where_from}, {came}{took}"


_WHY_LOOKED = {
    "live page": "a live page of the sources",
    "stale hit": "the page of a passage that was found",
    "named": "named in the question",
    "found by search": "found by the search tool",
}


def _fetch(fetch: TracedFetch) -> str:
    when = "from the pool" if fetch.way == "pool" else f"from {fetch.began_ms:.0f} to {fetch.ended_ms:.0f} ms"
    why = _WHY_LOOKED.get(fetch.why) or f"linked from {printable(fetch.why.removeprefix('below '))}"
    if fetch.is_used:
        return f"used: {printable(fetch.url)} ({why}), {when}"
    reason = ": ".join(part for part in (fetch.outcome, fetch.detail) if part)
    return f"not used, {one_line(unfit_reason(reason, 'en'), 160)}: {printable(fetch.url)} ({why}), {when}"


def _disbelief(why: str) -> str:
    """`corrected by URL` as it is; the other reasons in words."""
    return printable(why) if " " in why else DROPPED.get(why, printable(why))


def _step(step: str) -> str:
    """One step of the answer's path; the reason of a refusal with its words."""
    code = step.removeprefix("refused: ")
    return f"refused: {code}, {REFUSALS[RefusalReason(code)]}" if code in set(RefusalReason) else printable(step)


def _candidate(candidate: TracedCandidate) -> str:
    cited = "".join(f"[{n}]" for n in candidate.cited_as)
    fate = cited or ("-" if candidate.dropped else "used")
    s = candidate.scores
    place = where(candidate.title, candidate.heading_chain, candidate.url)
    return (
        f"{fate:<5} {s.relevance:.2f} ({s.fused:.2f} {s.dense:.2f} {s.coverage:.2f})  {candidate.block_id[:8]}  {place}"
    )


def _claim(record: dict[str, Any], claim: dict[str, Any]) -> Node:
    text = one_line(record["answer"]["text"][claim["start"] : claim["end"]], 200)
    marks = "".join(f"[{marker['n']}]" for marker in claim["markers"])
    checks = ", ".join(f"{name} {printable(outcome)}" for name, outcome in claim["checks"].items())
    return Node(f"{claim['verdict']} {claim['score']:.2f}  {text} {marks}".rstrip(), (Node(checks),) if checks else ())


def _conflict(row: dict[str, Any]) -> str:
    values = ", ".join(f"{one_line(one['value'], 60)} [{one['n']}]" for one in row["values"])
    return f"{values}: {RULINGS['en'].get(row['ruling'], row['ruling'])}"


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
        why = f"{refusal['reason']}, {REFUSALS[RefusalReason(refusal['reason'])]}"
        if refusal["best_score"] is not None and refusal.get("needed") is not None:
            why += f": {refusal['best_score']:.2f}, {refusal['needed']:.2f} is needed"
        told = (refusal["message"], *record["notices"])
        return Node(f"refused    {why}; next: {refusal['next']}{time}{tokens}", tuple(map(_notice, told)))
    return Node(
        f"answered   {counted(len(sources_of(record)), 'source')}{time}{tokens}", tuple(map(_notice, record["notices"]))
    )


def _notice(notice: str) -> Node:
    return Node(one_line(notice, 300))


def _took(timing: dict[str, float], step: str) -> str:
    return f", {timing[step]:.0f} ms" if step in timing else ""
