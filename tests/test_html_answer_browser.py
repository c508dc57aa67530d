"""The HTML of an answer in a real Chromium: cards by pointer and keyboard, phone, dark, print, accessibility, hostile text."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbcite.html_answer import to_html
from tests.shown_answers import chinese, english, refused
from tests.test_html_answer import hostile

sync_api = pytest.importorskip("playwright.sync_api")
axe_package = pytest.importorskip("axe_playwright_python")
CHROMIUM = os.environ.get("KBCITE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
]
AXE = Path(axe_package.__file__).with_name("axe.min.js")
PAGES = {"en": to_html(*english()), "zh": to_html(*chinese()), "refused": to_html(refused()), "hostile": hostile()}
SIZES = {"desk": (1100, 800), "phone": (390, 844)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens a page by name, size and colour scheme; with what it asked for and said in `page.requests` and `page.said`."""
    contexts = []

    def open_page(name: str, size: str = "desk", scheme: str = "light", **options: Any) -> Any:
        width, height = SIZES[size]
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.requests, page.said = [], []
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("console", lambda message: page.said.append(message.text))
        page.on("dialog", lambda dialog: (page.said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        (tmp_path / f"{name}.html").write_text(PAGES[name], encoding="utf-8")
        page.goto((tmp_path / f"{name}.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", list(SIZES))
@pytest.mark.parametrize("name", list(PAGES))
def test_no_accessibility_fault_is_found(show: Any, name: str, size: str, scheme: str) -> None:
    page = show(name, size, scheme, bypass_csp=True)
    if name in ("en", "zh"):
        page.locator(".n").first.click()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    assert [(fault["id"], fault["impact"], [node["html"] for node in fault["nodes"]]) for fault in found] == []


@pytest.mark.parametrize("name", list(PAGES))
def test_a_phone_needs_no_sideways_scrolling(show: Any, name: str) -> None:
    page = show(name, "phone")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_hostile_text_runs_nothing_and_asks_for_nothing(show: Any) -> None:
    page = show("hostile")
    for mark in page.locator(".n").all():
        mark.click()
        page.keyboard.press("Escape")
    page.mouse.move(300, 300)
    page.wait_for_timeout(200)
    assert page.said == []
    assert [url for url in page.requests if not url.startswith("file:")] == []
    assert page.evaluate("document.scripts.length") == 0


def test_the_pointer_shows_a_card_that_stays_while_it_is_over_it(show: Any) -> None:
    page = show("en")
    card = page.locator("#card-1-1-1")
    assert not card.is_visible()
    page.locator(".n").first.hover()
    assert card.is_visible()
    assert "50,000 keys" in card.inner_text()
    at, link = page.locator(".n").first.bounding_box(), card.locator("a").first.bounding_box()
    page.mouse.move(at["x"] + 12, at["y"] + at["height"] + 30, steps=10)
    page.mouse.move(link["x"] + 10, link["y"] + 10, steps=10)
    assert card.is_visible(), "its links can be reached"
    page.mouse.move(5, 5)
    assert not card.is_visible()


def test_the_keyboard_opens_walks_and_closes_a_card(show: Any) -> None:
    page = show("en")
    card = page.locator("#card-1-1-1")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "n"
    page.keyboard.press("Enter")
    assert card.is_visible()
    seen = []
    for _ in range(4):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.textContent.trim()"))
    assert seen[0] == "×"
    assert seen[1].startswith("Open at the passage")
    assert seen[2] == "Archived page"
    page.keyboard.press("Escape")
    assert not card.is_visible()
    assert page.evaluate("document.activeElement.className") == "n", "the focus is back at the mark"


def test_a_card_lies_inside_the_window_next_to_its_mark(show: Any) -> None:
    page = show("en")
    for i, mark in enumerate(page.locator(".n").all()):
        mark.click()
        box, at = page.locator(".box:popover-open").bounding_box(), mark.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1100
        gap = max(box["y"] - at["y"] - at["height"], at["y"] - box["y"] - box["height"])
        assert gap < 12, f"card {i} is {gap} away from its mark"
        page.keyboard.press("Escape")


def test_on_a_phone_a_card_is_a_sheet_at_the_bottom(show: Any) -> None:
    page = show("zh", "phone", has_touch=True)
    page.locator(".n").first.tap()
    box = page.locator(".box:popover-open").bounding_box()
    assert (box["x"], box["width"]) == (0, 390)
    assert round(box["y"] + box["height"]) == 844
    page.locator(".box:popover-open .close").tap()
    assert not page.locator(".box:popover-open").count()


def test_marks_are_large_enough_for_a_finger(show: Any) -> None:
    page = show("en", "phone")
    for mark in page.locator(".n").all():
        box = mark.bounding_box()
        assert min(box["width"], box["height"]) >= 24


def test_dark_is_dark_and_print_is_light(show: Any) -> None:
    page = show("zh", scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(21, 23, 26)"
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    assert page.locator(".source mark").first.is_visible()
