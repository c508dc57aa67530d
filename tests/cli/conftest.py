from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import Shell
from tests.cli.town import TOWN
from tests.site_server import Site


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """kbcite with a new, empty store."""
    made = Shell(tmp_path / "kb")
    assert made("init").code == 0
    return made


@pytest.fixture
def town(shell: Shell, site: Site) -> Shell:
    """A store over the whole little site of `town.py`, built."""
    site.pages.update(TOWN)
    assert shell("source", "add", f"{site.url}/", "--allow-private").code == 0
    built = shell("build")
    assert built.code == 0, built.err
    return shell
