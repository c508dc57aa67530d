"""Two ways to a draft: the best passages as they are, or a model's reply, checked, re-asked once and stripped (SPEC 40, 48)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kbcite.answer.citations import ParsedReply
from kbcite.answer.claims import ClaimCheck, Similarity
from kbcite.answer.grounding import GOOD, Statement, best_support, check_statement
from kbcite.answer.llm import Complete, Reply
from kbcite.answer.passage_ranking import Candidate
from kbcite.answer.prompt import build_messages, build_retry
from kbcite.answer.reply_text import read_reply
from kbcite.answer.weights import Weigh
from kbcite.records import RetrievedBlock, Verdict
from kbcite.words import language_of


@dataclass(frozen=True, slots=True)
class Draft:
    statements: tuple[Statement, ...]
    path: tuple[str, ...]
    retries: int = 0
    dropped_markers: int = 0
    usage: tuple[tuple[str, int], ...] = ()


def draft_extractive(
    chosen: Sequence[Candidate], blocks: Sequence[RetrievedBlock], weigh: Weigh, similarity: Similarity | None
) -> Draft:
    """The chosen passages, quoted; passages of one block stand in the order of the page."""
    ordered = list(chosen)
    if len({c.block for c in ordered}) == 1:
        ordered.sort(key=lambda c: c.passage.start)
    statements = []
    for index, candidate in enumerate(ordered):
        passage = candidate.passage
        wide = "\n" in passage.shown or (index and "\n" in ordered[index - 1].passage.shown)
        statement = Statement(
            passage.shown,
            (candidate.block,),
            "" if not index else "\n\n" if wide else "\n",
            spans=((candidate.block, passage.start, passage.end),),
        )
        check = check_statement(statement, blocks, weigh, similarity)
        quoted = (("quote", "exact"), *check.checks)
        statements.append(replace(statement, check=replace(check, checks=quoted)))
    return Draft(tuple(statements), ("extractive",))


def draft_with_model(
    question: str,
    language: str,
    blocks: Sequence[RetrievedBlock],
    complete: Complete,
    delimiter: str,
    now: str,
    weigh: Weigh,
    similarity: Similarity | None,
) -> Draft:
    """The model's answer as far as it holds; no statements where it refuses or nothing of it holds."""
    messages = build_messages(question, blocks, delimiter, now)
    first = complete(messages)
    path = ["asked"]
    parsed = read_reply(first.text, question, delimiter, blocks, first.is_cut)
    if parsed.is_refusal:
        return Draft((), ("asked", "the model refused"), usage=first.usage)
    statements = _check(parsed, blocks, language, weigh, similarity)
    problems = _problems(parsed, statements, blocks, language)
    if first.is_cut:
        problems.append(
            "回答太长，没有写完，请写短一些" if language == "zh" else "it was too long and broke off; be brief"
        )
    if not problems:
        return Draft(tuple(statements), tuple(path), usage=first.usage)

    path.append("re-asked: " + " | ".join(problems))
    second = complete(build_retry(messages, first.text, problems, language))
    usage = _sum(first, second)
    again = read_reply(second.text, question, delimiter, blocks, second.is_cut)
    if again.is_refusal:
        return Draft((), (*path, "the model refused"), 1, usage=usage)
    retried = _check(again, blocks, language, weigh, similarity)
    if not second.is_cut and not _problems(again, retried, blocks, language):
        return Draft(tuple(retried), tuple(path), 1, usage=usage)

    for reply, checked in ((again, retried), (parsed, statements)):
        kept, steps, dropped = _strip(reply, checked, blocks, weigh, similarity)
        if (second if reply is again else first).is_cut:
            steps.append("left out the last sentence, which broke off")
        if any(statement.is_factual for statement in kept):
            return Draft(tuple(kept), (*path, *steps), 1, dropped, usage)
    return Draft((), (*path, "nothing was left after stripping"), 1, usage=usage)


def _check(
    reply: ParsedReply,
    blocks: Sequence[RetrievedBlock],
    language: str,
    weigh: Weigh,
    similarity: Similarity | None,
) -> list[Statement]:
    statements = []
    for sentence in reply.sentences:
        cited = tuple(n - 1 for n in sentence.numbers if 1 <= n <= len(blocks))
        statement = Statement(sentence.text, cited, sentence.before, sentence.is_factual)
        if cited and sentence.is_factual:
            check = check_statement(statement, blocks, weigh, similarity)
            if language_of(sentence.text) not in {language, *(blocks[index].block.language for index in cited)}:
                # Neither asked for nor what the source is written in: there is nothing to hold its words against.
                check = ClaimCheck(Verdict.UNSUPPORTED, 0.0, (("language", "differs"),))
            statement = replace(statement, check=check)
        statements.append(statement)
    return statements


def _problems(
    reply: ParsedReply, statements: Sequence[Statement], blocks: Sequence[RetrievedBlock], language: str
) -> list[str]:
    """What is wrong with a reply, in words that the model can act on; empty where all is well."""
    zh = language == "zh"
    known = {block.place.url.rstrip("/") for block in blocks}
    found = []
    if not any(statement.is_factual for statement in statements):
        found.append(
            "没有回答问题，或没有写成完整的句子" if zh else "it does not answer the question in plain sentences"
        )
    for sentence, statement in zip(reply.sentences, statements, strict=True):
        piece = _piece(sentence.text)
        for n in sentence.numbers:
            if not 1 <= n <= len(blocks):
                found.append(
                    f"[{n}] 不存在，只有 [1] 到 [{len(blocks)}]"
                    if zh
                    else f"[{n}] is not a source; there are [1] to [{len(blocks)}]"
                )
        if not sentence.is_factual:
            continue
        if not statement.blocks:
            if not sentence.numbers:
                found.append(f"这句话没有引用：“{piece}”" if zh else f"no citation: “{piece}”")
        elif statement.check and statement.check.verdict not in GOOD:
            marks = "".join(f"[{block + 1}]" for block in statement.blocks)
            why = "; ".join(f"{name} {outcome}" for name, outcome in statement.check.checks if _is_wrong(outcome))
            why = f"（{why}）" if why and zh else f" ({why})" if why else ""
            found.append(f"{marks} 不支持这句话：“{piece}”{why}" if zh else f"{marks} does not support “{piece}”{why}")
    for style in reply.foreign:
        found.append(f"引用请只用 [n]，不要写 {style}" if zh else f"cite with [n] only, not {style}")
    for url in reply.urls:
        if url.rstrip("/") not in known:
            found.append(f"网址 {url} 不在资料中" if zh else f"the address {url} is in no source")
    return list(dict.fromkeys(found))


def _is_wrong(outcome: str) -> bool:
    return outcome.startswith(("differs", "missing"))


def _piece(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:79] + "…"


def _strip(
    reply: ParsedReply,
    statements: Sequence[Statement],
    blocks: Sequence[RetrievedBlock],
    weigh: Weigh,
    similarity: Similarity | None,
) -> tuple[list[Statement], list[str], int]:
    """What holds: bad marks go, a sentence is given the block that supports it where there is one, else it goes too."""
    kept: list[Statement] = []
    steps: list[str] = []
    dropped = stripped = moved = 0
    bad_urls = [url for url in reply.urls if url.rstrip("/") not in {block.place.url.rstrip("/") for block in blocks}]
    for sentence, statement in zip(reply.sentences, statements, strict=True):
        dropped += sum(not 1 <= n <= len(blocks) for n in sentence.numbers)
        if not sentence.is_factual:
            kept.append(replace(statement, blocks=()))
            continue
        if any(url in sentence.text for url in bad_urls) or any(style in sentence.text for style in reply.foreign):
            stripped += 1
            continue
        if statement.blocks and statement.check and statement.check.verdict in GOOD:
            kept.append(statement)
            continue
        better = best_support(statement.text, blocks, weigh, similarity)
        if better is None:
            stripped += 1
            continue
        moved += 1
        kept.append(replace(statement, blocks=(better[0],), check=_attributed(better[1])))
    if dropped:
        steps.append(f"dropped {dropped} marks that name no source")
    if moved:
        steps.append(f"gave {moved} sentences the source that supports them")
    if stripped:
        steps.append(f"stripped {stripped} sentences that no source supports")
    return _without_orphans(kept), steps, dropped


def _attributed(check: ClaimCheck) -> ClaimCheck:
    return replace(check, checks=(*check.checks, ("attribution", "by kbcite")))


def _without_orphans(statements: list[Statement]) -> list[Statement]:
    """Without headings, lead-ins and questions that nothing follows."""
    kept: list[Statement] = []
    for statement in reversed(statements):
        if statement.is_factual or (kept and kept[-1].is_factual):
            kept.append(statement)
    return kept[::-1]


def _sum(first: Reply, second: Reply) -> tuple[tuple[str, int], ...]:
    total: dict[str, int] = {}
    for name, count in (*first.usage, *second.usage):
        total[name] = total.get(name, 0) + count
    return tuple(total.items())
