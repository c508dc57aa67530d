"""Regress: golden pages → what cleaning gains or loses on each, against the floors that were agreed on.

A golden page is a folder with `page.html` (the bytes as fetched), `source.toml` and `expected.md` (the main text, written
or read over by a person). `source.toml` has `url` and, where they matter: `content_type` as the server sent it, and what
is to be found: `title`, `published` (a date; empty where the page states none), `language`, `encoding`. A page that has no
main text says `expect = "skipped"` and the `reason` instead. Other keys are notes for people.

`floors.json` beside the folders says how many words a page may miss or have too many, how many marks may differ, and
which facts may be wrong; a page without an entry may lose nothing.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from kbcite.errors import NotFound, UsageError
from kbcite.page.text_difference import Difference, compare
from kbcite.records import CleanDocument, Skipped

CleanPage = Callable[[bytes, str, str | None], CleanDocument | Skipped]

FLOORS_NAME = "floors.json"
PAGE_NAME = "page.html"
SOURCE_NAME = "source.toml"
EXPECTED_NAME = "expected.md"
_FACTS = ("title", "published", "language", "encoding")


@dataclass(frozen=True, slots=True)
class GoldenPage:
    name: str
    folder: Path
    data: bytes
    url: str
    content_type: str | None
    expected: str | None
    """None where nobody has written it yet, or where the page must be skipped."""
    skip_reason: str | None
    facts: tuple[tuple[str, str], ...]
    """What else is to be found, as (fact, value); facts that `source.toml` does not name are not looked at."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Words missing, words too many, marks that differ, facts that are wrong: of a page as it is, or as allowed."""

    missing: int = 0
    superfluous: int = 0
    marks: int = 0
    wrong: tuple[str, ...] = ()

    def exceeds(self, floor: Loss) -> bool:
        return (
            self.missing > floor.missing
            or self.superfluous > floor.superfluous
            or self.marks > floor.marks
            or not set(self.wrong) <= set(floor.wrong)
        )


@dataclass(frozen=True, slots=True)
class WrongFact:
    fact: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class GoldenResult:
    page: GoldenPage
    outcome: CleanDocument | Skipped
    difference: Difference | None
    """None where there are no two texts to compare."""
    wrong: tuple[WrongFact, ...]
    floor: Loss

    @property
    def loss(self) -> Loss:
        wrong = tuple(fact.fact for fact in self.wrong)
        d = self.difference
        return Loss(d.missing, d.superfluous, d.marks, wrong) if d else Loss(wrong=wrong)

    @property
    def passed(self) -> bool:
        return not self.loss.exceeds(self.floor)


def regress(folder: Path, clean: CleanPage, names: Iterable[str] = ()) -> Iterator[GoldenResult]:
    """One result a golden page, by name; only the named ones where names are given.

    Raises NotFound where there are none, UsageError for a page or floors that cannot be read.
    """
    floors = read_floors(folder)
    for page in golden_pages(folder, names):
        yield judge(page, clean(page.data, page.url, page.content_type), floors.get(page.name, Loss()))


def golden_pages(folder: Path, names: Iterable[str] = ()) -> list[GoldenPage]:
    if not folder.is_dir():
        raise UsageError(f'there is no folder {folder}; give the folder of golden pages with "--pages"')
    found = sorted(path.parent for path in folder.glob(f"*/{PAGE_NAME}"))
    if not found:
        raise NotFound(f"no golden page in {folder}; each is a folder with {PAGE_NAME}, {SOURCE_NAME}, {EXPECTED_NAME}")
    wanted = set(names)
    if unknown := wanted - {path.name for path in found}:
        raise NotFound(f"no golden page {min(unknown)!r} in {folder}")
    return [_read_page(path) for path in found if not wanted or path.name in wanted]


def _read_page(folder: Path) -> GoldenPage:
    source, expected = folder / SOURCE_NAME, folder / EXPECTED_NAME
    try:
        table = tomllib.loads(source.read_text(encoding="utf-8"))
    except (FileNotFoundError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{source} cannot be read: {error}; write it with at least: url = ...") from error
    texts = {key: value for key, value in table.items() if isinstance(value, str)}
    if "url" not in texts:
        raise UsageError(f"{source} has no url; add the address the page was fetched from")
    reason = None
    if "expect" in texts:
        if texts["expect"] != "skipped" or "reason" not in texts:
            raise UsageError(f'{source}: expect can only be "skipped", and needs a reason beside it')
        reason = texts["reason"]
    return GoldenPage(
        name=folder.name,
        folder=folder,
        data=(folder / PAGE_NAME).read_bytes(),
        url=texts["url"],
        content_type=texts.get("content_type"),
        expected=expected.read_text(encoding="utf-8") if reason is None and expected.is_file() else None,
        skip_reason=reason,
        facts=tuple((fact, texts[fact]) for fact in _FACTS if fact in texts) if reason is None else (),
    )


def judge(page: GoldenPage, outcome: CleanDocument | Skipped, floor: Loss) -> GoldenResult:
    """What the outcome of cleaning is worth for this page."""
    if isinstance(outcome, Skipped):
        wanted = f"skipped: {page.skip_reason}" if page.skip_reason else "a document"
        found = f"skipped: {outcome.reason}"
        refused = WrongFact("outcome", wanted, f"{found} {outcome.detail}".rstrip())
        return GoldenResult(page, outcome, None, () if wanted == found else (refused,), floor)
    if page.skip_reason:
        lost = WrongFact("outcome", f"skipped: {page.skip_reason}", f"a document of {len(outcome.text)} characters")
        return GoldenResult(page, outcome, None, (lost,), floor)
    if page.expected is None:
        unwritten = WrongFact(EXPECTED_NAME, "the text as a person wants it", "no such file")
        return GoldenResult(page, outcome, None, (unwritten,), floor)
    found_facts = {
        "title": outcome.metadata.title,
        "published": (outcome.metadata.published_at or "")[:10],
        "language": outcome.metadata.language or "",
        "encoding": outcome.encoding,
    }
    wrong = tuple(WrongFact(fact, value, found_facts[fact]) for fact, value in page.facts if found_facts[fact] != value)
    title = dict(page.facts).get("title", outcome.metadata.title)
    texts = (_without_headline(text, title) for text in (page.expected, outcome.text))
    return GoldenResult(page, outcome, compare(*texts), wrong, floor)


def _without_headline(text: str, title: str) -> str:
    """The text without a first heading that says what the title says: whether a page has its headline inside or above
    the body is no loss, since the title is kept beside the text."""
    first, _, rest = text.lstrip().partition("\n")
    headline = first.lstrip("#").strip()
    return rest if first.startswith("#") and title and (headline in title or title in headline) else text


def read_floors(folder: Path) -> dict[str, Loss]:
    path = folder / FLOORS_NAME
    if not path.is_file():
        return {}
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return {name: Loss(**{**row, "wrong": tuple(row.get("wrong", ()))}) for name, row in rows.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise UsageError(
            f'{path} cannot be read: {error}; a line is "NAME": {{"missing": 0, "superfluous": 3, "marks": 1, "wrong": []}}'
        ) from error


def write_floors(folder: Path, results: Iterable[GoldenResult]) -> dict[str, Loss]:
    """Sets the floor of each page to what it loses today, in either direction; the new floors of all pages.

    A page with the wrong outcome, or without an expected text, gets none: it goes on failing.
    """
    floors = read_floors(folder)
    for result in results:
        floors.pop(result.page.name, None)
        if result.difference is not None and result.loss != Loss():
            floors[result.page.name] = result.loss
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(asdict(floors[name]))}" for name in sorted(floors))
    (folder / FLOORS_NAME).write_text(f"{{\n{rows}\n}}\n" if rows else "{}\n", encoding="utf-8")
    return floors


def update_expected(results: Iterable[GoldenResult]) -> list[str]:
    """Writes the text as cleaned today over the expected one where they differ; the names of the pages written."""
    written = []
    for result in results:
        differs = result.page.expected is None or (result.difference is not None and result.difference.hunks)
        if isinstance(result.outcome, CleanDocument) and result.page.skip_reason is None and differs:
            (result.page.folder / EXPECTED_NAME).write_text(result.outcome.text.rstrip() + "\n", encoding="utf-8")
            written.append(result.page.name)
    return written
