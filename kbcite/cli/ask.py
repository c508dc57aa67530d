from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kbcite.cli.answer_output import AnswerFormat, write_answer
from kbcite.cli.context import Context, OpenStore, context_of
from kbcite.errors import ExitCode, Finding, UsageError
from kbcite.records import SourceType

if TYPE_CHECKING:
    from kbcite.stages.ask import Answered


def register(app: typer.Typer) -> None:
    app.command()(ask)


def ask(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(help="The question, Chinese or English; - reads it from standard input.")],
    model: Annotated[
        str | None, typer.Option(help="Any litellm name, to word the answer. Without one the answer is extractive.")
    ] = None,
    api_base: Annotated[str | None, typer.Option(help="Address of a model server of your own.")] = None,
    top_k: Annotated[int | None, typer.Option(min=1, max=20, help="Blocks used at most.")] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Relevance under which a block is not used.")
    ] = None,
    sentences: Annotated[int, typer.Option(min=1, max=10, help="Sentences of an extractive answer at most.")] = 3,
    source_type: Annotated[SourceType | None, typer.Option(help="Only internal documents, or only web pages.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Only pages with this label; may be repeated.")] = None,
    format_: Annotated[
        AnswerFormat,
        typer.Option("--format", "-f", help="How the answer is written; html is one file that needs nothing else."),
    ] = AnswerFormat.TEXT,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it, if not to standard output."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 4 where coverage or support is under the bar.")
    ] = False,
) -> None:
    """Ask a question: a cited answer or a refusal. A refusal ends with exit code 3."""
    from kbcite.stages.ask import save_answer

    context = context_of(ctx)
    text = " ".join((sys.stdin.read() if question == "-" else question).split())
    if not text.isprintable() and any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError("the question is not valid UTF-8; write it in a UTF-8 terminal or file")
    if not text:
        raise UsageError('the question is empty; give one, like kbcite ask "how do I reset it?"')
    with context.reading() as store:
        answered = _answer(
            context, store, text, model, api_base, top_k, threshold, sentences, source_type, tuple(label or ())
        )
        # Shown before it is saved: a store that is busy or full must not swallow an answer that may have cost something.
        write_answer(context, store, answered.answer, format_, output)
        if not save_answer(store.database, answered):
            context.say(f"{context.store} cannot be written, so the answer is not kept")
        bar = store.settings.ask
    answer = answered.answer
    if answer.refusal:
        raise typer.Exit(ExitCode.REFUSED)
    if strict and (answer.grounding.coverage < bar.min_coverage or answer.grounding.support < bar.min_support):
        raise Finding(
            f"coverage {answer.grounding.coverage:.0%}, support {answer.grounding.support:.0%}: "
            f"under the bar of {bar.min_coverage:.0%} and {bar.min_support:.0%}",
            ExitCode.BELOW_BAR,
        )


def answer_anew(context: Context, store: OpenStore, question: str) -> Answered:
    """The answer to a question under the store's settings, not saved yet."""
    return _answer(context, store, question, None, None, None, None, 3, None, ())


def _answer(
    context: Context,
    store: OpenStore,
    question: str,
    model: str | None,
    api_base: str | None,
    top_k: int | None,
    threshold: float | None,
    sentences: int,
    source_type: SourceType | None,
    labels: tuple[str, ...],
) -> Answered:
    from kbcite.answer.answering import AnswerOptions
    from kbcite.answer.llm import open_model
    from kbcite.cli.search import open_find, open_store_encoder
    from kbcite.stages.ask import answer_question
    from kbcite.stages.search import nearness_of

    settings = store.settings.ask
    name = settings.model if model is None else model
    if name and context.offline:
        raise UsageError(f"--offline forbids the model {name}; leave it out for the extractive answer")
    bar = settings.threshold if threshold is None else threshold
    encoder = open_store_encoder(context, store)
    find = open_find(store, encoder, top_k or settings.top_k, bar, source_type, labels)
    complete = open_model(name, api_base or settings.api_base, timeout_s=settings.timeout_s) if name else None
    options = AnswerOptions(
        max_sentences=sentences,
        threshold=bar,
        min_coverage=settings.min_coverage,
        max_quote_chars=settings.max_quote_chars,
        model=name,
    )
    return answer_question(
        question,
        store.database,
        store.archive,
        lambda text: find(text).blocks,
        complete,
        options,
        context.clock,
        nearness_of(encoder),
    )
