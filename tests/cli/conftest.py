from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.run import Shell
from tests.cli.town import TOWN
from tests.site_server import Site, serve_site


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """kbcite with a new, empty store."""
    made = Shell(tmp_path / "kb")
    assert made("init").code == 0
    return made


@pytest.fixture(scope="session")
def built_town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    """The little site of `town.py` and a store over the whole of it, built once."""
    with serve_site(dict(TOWN)) as site:
        shell = Shell(tmp_path_factory.mktemp("town") / "kb")
        shell("init")
        # A browser takes seconds a crawl; what it is needed for is tested in test_rendering.py.
        shell("source", "add", f"{site.url}/", "--allow-private", "--render", "never")
        built = shell("build")
        assert built.code == 0, built.err
        yield site, shell.store


@pytest.fixture
def town_site(built_town: tuple[Site, Path]) -> Site:
    """The site as it was when the store was built."""
    site, _ = built_town
    site.pages = dict(TOWN)
    return site


@pytest.fixture
def town(built_town: tuple[Site, Path], town_site: Site, tmp_path: Path) -> Shell:
    """kbcite with a copy of the built store."""
    return Shell(Path(shutil.copytree(built_town[1], tmp_path / "town")))


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that does not answer is not asked again after some seconds."""
    monkeypatch.setenv("KBCITE_CRAWL_RETRIES", "0")
