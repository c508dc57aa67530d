"""The fingerprint on whole pages: what a site's frame does is no change, what its author does is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.noisy_pages import NOISES, PAGES, Page, all_pages, is_called_changed, missed

MAX_MISSED_EDITS = 0.01
MAX_MISSED_NUMBERS = 0.08


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    return all_pages()


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_no_noise_is_called_a_change(pages: list[Page], noise: Callable[[str, int], str]) -> None:
    assert [page.name for page in pages[::4] if is_called_changed(page, noise)] == []


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_no_noise_is_called_a_change_on_any_of_sixty_pages(pages: list[Page], noise: Callable[[str, int], str]) -> None:
    assert len(pages) == PAGES
    assert [page.name for page in pages if is_called_changed(page, noise)] == []


def test_a_noise_is_in_the_page(pages: list[Page]) -> None:
    assert all(noise(page.html, 3) != noise(page.html, 8) for page in pages for noise in NOISES.values())


@pytest.mark.slow
def test_nearly_every_edit_is_seen(pages: list[Page]) -> None:
    unseen: Counter[str] = Counter()
    made: Counter[str] = Counter()
    for page in pages:
        for kind, (misses, edits) in missed(page).items():
            unseen[kind] += misses
            made[kind] += edits
    assert min(made.values()) >= 55
    assert unseen["a number + 1"] <= MAX_MISSED_NUMBERS * made["a number + 1"]
    others = [kind for kind in made if kind != "a number + 1"]
    assert sum(unseen[kind] for kind in others) <= MAX_MISSED_EDITS * sum(made[kind] for kind in others)
