from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import kbcite
from kbcite.patterns import pattern

ROOT = Path(kbcite.__file__).parent
USERS = sorted(
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
    for path in ROOT.rglob("*.py")
    if "from kbcite.patterns import" in path.read_text(encoding="utf-8")
)


def test_it_does_what_a_compiled_one_does() -> None:
    words = pattern(r"(?P<word>[a-z]+)", re.IGNORECASE)
    assert [match["word"] for match in words.finditer("One two")] == ["One", "two"]
    assert words.sub("x", "One two") == "x x"
    assert (words.groups, words.flags & re.IGNORECASE) == (1, re.IGNORECASE)
    assert re.split(words.pattern, "1 a 2") == ["1 ", "a", " 2"]


@pytest.mark.parametrize("module", USERS)
def test_every_pattern_can_be_compiled(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    importlib.import_module(module)  # its dataclasses look their module up
    monkeypatch.setattr("kbcite.patterns.pattern", re.compile)
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
