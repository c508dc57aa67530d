"""How an answer is written: to a terminal or a file, as text, Markdown, HTML or JSON."""

from __future__ import annotations

import json
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from kbcite.cli.context import Context, OpenStore
from kbcite.errors import StoreError

if TYPE_CHECKING:
    from kbcite.records import Answer


class AnswerFormat(StrEnum):
    TEXT = "text"
    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"


def write_answer(
    context: Context, store: OpenStore, answer: Answer, format_: AnswerFormat, output: Path | None = None
) -> None:
    """Write the answer to a file, or to standard output. --json is the format `json`."""
    if context.as_json:
        format_ = AnswerFormat.JSON
    if output is None and format_ is AnswerFormat.TEXT:
        _print(answer)
    else:
        text = _text(store, answer, format_, output)
        if output is None:
            print(text, end="")
        else:
            output.write_text(text, encoding="utf-8")
            context.say(f"written to {output}")
    if context.verbose and not context.as_json:
        grounding, timing = answer.grounding, ", ".join(f"{name} {ms:.0f} ms" for name, ms in answer.timing_ms)
        context.say(
            f"answer {answer.id}, coverage {grounding.coverage:.0%}, support {grounding.support:.0%}, {timing}; "
            + " → ".join(grounding.path)
        )


def _text(store: OpenStore, answer: Answer, format_: AnswerFormat, output: Path | None) -> str:
    """The answer as one text; ends with a line break."""
    if format_ is AnswerFormat.JSON:
        from kbcite.answer.record import to_record

        return json.dumps(to_record(answer), ensure_ascii=False) + "\n"
    if format_ is AnswerFormat.MARKDOWN:
        from kbcite.answer.markdown_answer import to_markdown

        return to_markdown(answer)
    if format_ is AnswerFormat.HTML:
        return _html(store, answer, output)
    return plain_text(answer) + "\n"


def _print(answer: Answer) -> None:
    if not sys.stdout.isatty():
        print(plain_text(answer))
        return
    from kbcite.cli.rows import print_folded
    from kbcite.render import answer_pieces

    body, sources = answer_pieces(answer)
    print_folded(body)
    if sources:
        print_folded(sources)


def plain_text(answer: Answer) -> str:
    """The answer as a person reads it in a file: text, flags and numbered sources."""
    from kbcite.render import answer_pieces

    body, sources = answer_pieces(answer)
    return "".join(text for text, _ in [*body, ("\n" if sources else "", ""), *sources])


def _html(store: OpenStore, answer: Answer, output: Path | None) -> str:
    """The answer's page; its links to copies of archived pages go from the file's folder to the store."""
    from kbcite.html_answer import Archived, to_html
    from kbcite.stages.answer_page import surroundings, write_archived_page

    folder = output.resolve().parent if output else Path.cwd()
    archived = {}
    around = surroundings(answer, store.database)
    for source in answer.sources:
        link = ""
        try:
            copy = write_archived_page(store.folder, source.snapshot.digest, store.database, store.archive)
        except StoreError:
            # Damaged or forgotten bytes: the page says what was cited, `kbcite verify` says what is wrong.
            copy = None
        if copy is not None:
            link = _address(copy, folder, source.deep_link)
        near = around[source.n]
        archived[source.n] = Archived(near.before, near.after, near.table_head, link)
    return to_html(answer, archived)


def _address(copy: Path, folder: Path, deep_link: str | None) -> str:
    """The address of a copy relative to the folder, with the text fragment of the quote."""
    fragment = f"#{deep_link.partition('#')[2]}" if deep_link and "#:~:" in deep_link else ""
    return quote(Path(os.path.relpath(copy.resolve(), folder)).as_posix()) + fragment
