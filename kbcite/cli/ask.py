from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kbcite.cli.answer_output import AnswerFormat, write_answer
from kbcite.cli.context import Context, OpenStore, context_of
from kbcite.cli.search import HalfLife
from kbcite.errors import ExitCode, Finding, UsageError
from kbcite.records import LiveMode, SourceType
from kbcite.render import printable

if TYPE_CHECKING:
    from kbcite.retrieval.encoder import Encoder
    from kbcite.retrieval.ranking import RankingOptions
    from kbcite.retrieval.vector_index import VectorIndex
    from kbcite.stages.ask import Answered
    from kbcite.stages.ask_live import Classify, LiveLook
    from kbcite.stages.live import LiveBranch


def register(app: typer.Typer) -> None:
    app.command()(ask)


def ask(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(help="The question, Chinese or English; - reads it from standard input.")],
    model: Annotated[
        str | None, typer.Option(help="Any litellm name, to word the answer. Without one the answer is extractive.")
    ] = None,
    api_base: Annotated[str | None, typer.Option(help="Address of a model server of your own.")] = None,
    rerank: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Cross-encoder, folder or name, that orders the relevant blocks."),
    ] = None,
    top_k: Annotated[int | None, typer.Option(min=1, max=20, help="Blocks used at most.")] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Relevance under which a block is not used.")
    ] = None,
    half_life: HalfLife = None,
    sentences: Annotated[int, typer.Option(min=1, max=10, help="Sentences of an extractive answer at most.")] = 3,
    source_type: Annotated[
        SourceType | None, typer.Option(help="Only internal documents, only web pages, or only what is fetched live.")
    ] = None,
    label: Annotated[list[str] | None, typer.Option(help="Only pages with this label; may be repeated.")] = None,
    format_: Annotated[
        AnswerFormat,
        typer.Option("--format", "-f", help="How the answer is written; html is one file that needs nothing else."),
    ] = AnswerFormat.TEXT,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it, if not to standard output."),
    ] = None,
    class_: Annotated[
        str | None,
        typer.Option(
            "--class",
            metavar="NAME",
            help="How fast such answers change: volatile, news, product, reference, or your own.",
        ),
    ] = None,
    live: Annotated[
        LiveMode | None,
        typer.Option(
            metavar="[MODE]",
            help="Look at pages of the sources now: auto, where the question asks for it; never; or always.",
        ),
    ] = None,
    no_live: Annotated[bool, typer.Option("--no-live", help="The same as --live never.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 4 where coverage or support is under the bar.")
    ] = False,
) -> None:
    """Ask a question: a cited answer or a refusal. A refusal ends with exit code 3."""
    from kbcite.cli.search import known_labels
    from kbcite.cli.telemetry import open_telemetry

    context = context_of(ctx)
    text = " ".join((sys.stdin.read() if question == "-" else question).split())
    if not text.isprintable() and any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError("the question is not valid UTF-8; write it in a UTF-8 terminal or file")
    if not text:
        raise UsageError('the question is empty; give one, like kbcite ask "how do I reset it?"')
    if no_live and live not in (None, LiveMode.NEVER):
        raise UsageError(f"--no-live and --live {live} exclude one another; give one of them")
    with context.reading() as store, ExitStack() as doors:
        wanted = LiveMode.NEVER if no_live else live or store.settings.live.mode
        look = _Wanted(wanted, class_, doors)
        send_trace = open_telemetry(context, store)
        answered = _answer(
            context,
            store,
            text,
            model,
            api_base,
            top_k,
            threshold,
            sentences,
            source_type,
            known_labels(store, label or ()),
            look,
            rerank,
            half_life,
        )
        from kbcite.stages.ask import save_answer

        # Shown before it is saved: a store that is busy or full must not swallow an answer that may have cost something.
        write_answer(context, store, answered.answer, format_, output)
        if not save_answer(store.database, answered):
            context.say(f"{context.store} cannot be written, so the answer is not kept")
        send_trace(answered)
        if look.look is not None:
            _fill(context, store, look.look)
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


def answer_anew(
    context: Context,
    store: OpenStore,
    question: str,
    *,
    top_k: int | None = None,
    source_type: SourceType | None = None,
    labels: tuple[str, ...] = (),
    question_class: str | None = None,
    live: LiveMode = LiveMode.NEVER,
    doors: ExitStack | None = None,
) -> Answered:
    """The answer to a question under the store's settings, not saved yet.

    live: whether pages are looked at now, for which doors are needed; closing them waits for the fetches that were too slow.
    """
    wanted = None if doors is None else _Wanted(live, question_class, doors)
    answered = _answer(context, store, question, None, None, top_k, None, 3, source_type, labels, wanted)
    if doors is not None and wanted is not None and wanted.look is not None:
        doors.callback(_fill, context, store, wanted.look)
    return answered


@dataclass(slots=True)
class _Wanted:
    """What the options say of live fetching; the doors that it opens are closed when the command is through."""

    mode: LiveMode
    question_class: str | None
    doors: ExitStack
    look: LiveLook | None = None
    """The look that was made."""


def _fill(context: Context, store: OpenStore, look: LiveLook) -> None:
    """Let the fetches that were too slow for the answer fill the pool, and say which pages are worth a schedule."""
    if sys.stdout is not None:
        sys.stdout.flush()
    if waiting := look.waits_for:
        within_s = store.settings.live.fetch_within_s
        context.say(
            f"waiting for {printable(waiting[0])}, up to {within_s:g} s in all, for the next question; Ctrl-C leaves it"
        )
    try:
        often = look.fill()
    except KeyboardInterrupt:
        return  # the answer is given and kept; a page for later was all that was waited for
    for url in often:
        if store.settings.live.promote == "add":
            from kbcite.settings import SETTINGS_NAME
            from kbcite.store.settings_file import add_source

            add_source(store.folder / SETTINGS_NAME, look.as_source(url))
            context.say(f"{printable(url)} keeps being asked for; it is a source now, and the next crawl takes it up")
        else:
            context.say(
                f'{printable(url)} keeps being asked for; "kbcite source add {printable(url)} --depth 0" makes it a page of the store'
            )


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
    wanted: _Wanted | None,
    rerank: str | None = None,
    half_life: float | None = None,
) -> Answered:
    from kbcite.cli.search import open_find, open_rerank, open_store_encoder, ranking_options

    # First of all: what the answer needs is imported while the question is encoded.
    encoder = open_store_encoder(context, store, question)

    from kbcite.answer.answering import AnswerOptions
    from kbcite.answer.freshness import TIME_SENSITIVE
    from kbcite.answer.llm import open_model
    from kbcite.stages.ask import answer_question
    from kbcite.stages.search import nearness_of, open_index

    settings = store.settings.ask
    name = settings.model if model is None else model
    if name and context.offline:
        raise UsageError(f"--offline forbids the model {name}; leave it out for the extractive answer")
    bar = settings.threshold if threshold is None else threshold
    index = open_index(store.database, encoder, store.vectors)
    ranking = ranking_options(context, store, top_k or settings.top_k, bar, half_life)
    find = open_find(store, encoder, ranking, source_type, labels, index, open_rerank(context, store, rerank))
    base = api_base or settings.api_base
    if wanted is not None:
        wanted.look = _look(context, store, wanted, encoder, index, ranking, source_type, labels, name, base)
    complete = open_model(name, base, timeout_s=settings.timeout_s, max_tokens=settings.max_tokens) if name else None
    options = AnswerOptions(
        max_sentences=sentences,
        threshold=bar,
        min_coverage=settings.min_coverage,
        max_quote_chars=settings.max_quote_chars,
        windows=tuple((label, one.window_s) for label, one in store.settings.classes),
        time_sensitive=TIME_SENSITIVE | _own_classes(store),
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
        wanted.look if wanted is not None else None,
    )


def _own_classes(store: OpenStore) -> frozenset[str]:
    """The user's own classes that have a window: stale evidence does not answer them."""
    from kbcite.settings import BUILTIN_CLASSES

    builtin = dict(BUILTIN_CLASSES)
    return frozenset(name for name, one in store.settings.classes if name not in builtin and one.window_s is not None)


def _look(
    context: Context,
    store: OpenStore,
    wanted: _Wanted,
    encoder: Encoder,
    index: VectorIndex,
    ranking: RankingOptions,
    source_type: SourceType | None,
    labels: tuple[str, ...],
    model: str,
    api_base: str,
) -> LiveLook:
    """The look of one question; what fetches is imported and opened when it is first wanted."""
    from kbcite.cli.live import open_search
    from kbcite.stages.ask_judge import LiveJudge
    from kbcite.stages.ask_live import LiveLook
    from kbcite.store.sqlite import only_reads

    classes = dict(store.settings.classes)
    barred = "--offline" if context.offline else ""
    if only_reads(store.database.connection):
        barred = "the store cannot be written"

    def open_branch() -> LiveBranch:
        from kbcite.cli.live import open_live

        return wanted.doors.enter_context(open_live(context, store))

    bar = min(ranking.threshold, min(one.min_relevance for one in classes.values()))
    judge = LiveJudge(store.database, encoder, lambda: index.centroids, replace(ranking, threshold=bar))
    return LiveLook(
        store.database,
        store.archive,
        store.settings,
        context.clock,
        _classify(store, wanted.question_class, model, api_base),
        open_branch,
        judge,
        mode=wanted.mode,
        barred=barred,
        threshold=ranking.threshold,
        source_type=source_type,
        labels=labels,
        search=open_search(store, wanted.doors),
    )


def _classify(store: OpenStore, given: str | None, model: str, api_base: str) -> Classify:
    """Who tells the class of a question: --class, or what `ask.classifier` says."""
    from kbcite.answer.classifier import MAX_TOKENS, TIMEOUT_S, Classified, classify
    from kbcite.answer.llm import open_model

    classes = dict(store.settings.classes)
    if given is not None:
        if given not in classes:
            raise UsageError(f"{given!r} is not a class of questions; there are {', '.join(classes)}")
        return lambda _question: Classified(given, "--class")
    complete = None
    if store.settings.ask.classifier == "model":
        if not model:
            raise UsageError(
                'classifier = "model" under [ask] asks the model, and none is named; set model there, or --model'
            )
        complete = open_model(model, api_base, timeout_s=TIMEOUT_S, retries=0, max_tokens=MAX_TOKENS)
    return lambda question: classify(question, classes, complete, model)
