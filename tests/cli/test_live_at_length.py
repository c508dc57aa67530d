"""Sixty questions of four classes over a site whose pages change by the clock: nothing stale is cited, nothing is fetched needlessly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from kbcite.clock import from_text, seconds_between
from tests.cli.run import Shell
from tests.site_server import Site, serve_site

NAMES = (
    "Alderbrook Borringdon Calverton Dunmarrow Eskerleigh Farrowdale Glimmerford Hathersmoor Inverlochan Jessamine Kittering Larkenshaw"
    " Mossendale Northwold Ottermouth"
).split()
BUILT = "2026-11-01T08:00:00Z"
AT_ONCE, LATER, WITHIN_THE_HOUR = "2026-11-01T08:00:40Z", "2026-11-20T08:00:00Z", "2026-11-20T08:00:50Z"
FRESH = 5
"""Of the fifteen questions of a class, those that are asked at once."""


@dataclass(frozen=True)
class Topic:
    """What is asked of a page, and what it says at a time."""

    question_class: str
    path: str
    question: str
    title: str
    fact: str
    """With `{value}` where the page's value stands."""
    every_s: int
    """How often the value changes; 0 is never."""

    def value(self, now: str) -> str:
        steps = seconds_between(BUILT, now) // self.every_s if self.every_s else 0
        return str(1000 + 7 * (steps % 900) + len(self.path))

    def page(self, now: str) -> str:
        name = self.title.split()[0]
        filler = (
            f"{name} lies where two rivers meet, and whoever comes by train sees its towers long before the station. The old market is held on "
            "Fridays, the museum shows tools and maps, and in the evening there is music in the square beneath the plane trees."
        )
        return (
            f"<!doctype html><html><head><title>{self.title}</title></head><body><main><h1>{self.title}</h1>"
            f"<p>{self.fact.format(value=self.value(now))}</p><p>{filler}</p></main></body></html>"
        )


TOPICS = [
    topic
    for name in NAMES
    for topic in (
        Topic("volatile", f"/shares/{name}.html", f"What is the share price of {name} Mills right now?",
              f"{name} Mills: share price", f"The share price of {name} Mills is {{value}} pence.", 60),
        Topic("news", f"/tickets/{name}.html", f"What does a ticket for the {name} ferry currently cost?",
              f"{name} ferry: tickets", f"A ticket for the {name} ferry costs {{value}} crowns.", 86_400),
        Topic("product", f"/staff/{name}.html", f"How many employees does the {name} hospital have?",
              f"{name} hospital: staff", f"The {name} hospital has {{value}} employees.", 7 * 86_400),
        Topic("reference", f"/words/{name}.html", f"What is a {name.lower()} knot?",
              f"{name} knot", f"A {name.lower()} knot is a loop of {{value}} strands that holds when it is wet.", 0),
    )
]  # fmt: skip


@pytest.fixture(scope="module")
def county(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Shell]]:
    index = "<html><body>" + "".join(f"<a href='{topic.path}'>{topic.title}</a> " for topic in TOPICS)
    with serve_site({"/": index}) as site:
        shell = Shell(tmp_path_factory.mktemp("county") / "kb")
        shell("init")
        shell("source", "add", f"{site.url}/", "--allow-private")
        site.pages |= {topic.path: topic.page(BUILT) for topic in TOPICS}
        assert shell("--now", BUILT, "build").code == 0
        yield site, shell


@dataclass(frozen=True)
class Asked:
    topic: Topic
    now: str
    record: dict[str, Any]
    fetched: list[str]

    @property
    def is_stale(self) -> bool:
        """Whether a cited source was last seen before the class's window."""
        window_s = self.record["freshness"]["window_s"]
        sources = self.record["sources"]["web"]
        ages = [(from_text(self.now) - from_text(source["fetched_at"])).total_seconds() for source in sources]
        return window_s is not None and any(age > window_s for age in ages)

    @property
    def is_right(self) -> bool:
        return self.topic.value(self.now) in self.record["answer"]["text"]


def ask_all(site: Site, shell: Shell, topics: list[Topic], now: str) -> list[Asked]:
    site.pages |= {topic.path: topic.page(now) for topic in TOPICS}
    asked = []
    for topic in topics:
        site.requests.clear()
        record = shell.json("--now", now, "ask", topic.question)
        asked.append(Asked(topic, now, record, site.paths()))
    return asked


@pytest.mark.slow
def test_sixty_questions_over_four_classes(county: tuple[Site, Shell]) -> None:
    site, shell = county
    split = 4 * FRESH
    asked = ask_all(site, shell, TOPICS[:split], AT_ONCE) + ask_all(site, shell, TOPICS[split:], LATER)
    assert len(asked) == 60
    assert [one.topic.question for one in asked if one.record["freshness"]["class"] != one.topic.question_class] == []
    needed = [one for one in asked if one.now == LATER and one.topic.question_class != "reference"]
    assert [one.topic.question for one in needed if one.topic.path not in one.fetched] == [], "missed"
    others = [one for one in asked if one not in needed]
    assert [one.topic.question for one in others if one.fetched] == [], "needless"
    extra = sum(len(one.fetched) - 1 for one in needed)
    assert extra <= 0.05 * len(needed), "pages that were not asked about"
    assert [one.topic.question for one in asked if one.is_stale] == []
    wrong = [one.topic.question for one in asked if not one.is_right and one.now == LATER]
    assert wrong == []
    again = ask_all(site, shell, [one.topic for one in needed], WITHIN_THE_HOUR)
    assert [one.fetched for one in again if one.fetched] == []
    assert [one.topic.question for one in again if one.is_stale] == []
