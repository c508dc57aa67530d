"""What checking an answer or a text found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    """`archive`, `received`, `bytes`, `page` or `document`."""
    outcome: str
    """`ok`, or what is wrong."""
    is_ok: bool


@dataclass(frozen=True, slots=True)
class CitationReport:
    n: int
    url: str
    title: str
    heading_chain: tuple[str, ...]
    digest: str
    fetched_at: str
    byte_span: tuple[int, int] | None
    checks: tuple[Check, ...]

    @property
    def is_ok(self) -> bool:
        return all(check.is_ok for check in self.checks)


@dataclass(frozen=True, slots=True)
class SentenceReport:
    text: str
    numbers: tuple[int, ...]
    verdict: str
    """A Verdict, or `uncited`, `no_such_source` (the list has no such number), `not_stored` (the page is not in the store)."""
    score: float
    is_ok: bool
    detail: str = ""
    urls: tuple[str, ...] = ()
    """Of the numbers, as a text lists them."""


@dataclass(frozen=True, slots=True)
class Report:
    """One answer or text, checked."""

    name: str
    """The answer's ID or the file's name."""
    question: str
    created_at: str
    citations: tuple[CitationReport, ...]
    sentences: tuple[SentenceReport, ...]
    problems: tuple[str, ...] = ()
    """What is wrong with the record itself."""

    @property
    def is_ok(self) -> bool:
        citations = all(citation.is_ok for citation in self.citations)
        return not self.problems and citations and all(sentence.is_ok for sentence in self.sentences)

    @property
    def coverage(self) -> float:
        """Share of the sentences that have a citation; 1 where there is none to cite."""
        cited = sum(sentence.verdict != "uncited" for sentence in self.sentences)
        return cited / len(self.sentences) if self.sentences else 1.0
