from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.lab import PAGES, Lab, Worker, fill
from tests.site_server import Site, serve_site


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/faults/" in item.path.as_posix():
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes faults on the disk."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs Linux and a C compiler")
    made = tmp_path_factory.mktemp("disk") / "disk.so"
    source = Path(__file__).with_name("disk.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl", "-lpthread"], check=True)
    return made


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    started = Worker()
    yield started
    started.close()


@pytest.fixture(scope="session")
def bad_disk_worker(disk: Path) -> Iterator[Worker]:
    started = Worker(disk)
    yield started
    started.close()


@pytest.fixture(scope="session")
def fault_site() -> Iterator[Site]:
    with serve_site() as site:
        fill(site)
        yield site


@pytest.fixture
def lab(tmp_path: Path, fault_site: Site, worker: Worker) -> Lab:
    """An empty store over the site."""
    fill(fault_site)
    return Lab(tmp_path / "kb", fault_site, worker)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, fault_site: Site, worker: Worker) -> Lab:
    """A store with everything built; not to be changed."""
    fill(fault_site)
    lab = Lab(tmp_path_factory.mktemp("built") / "kb", fault_site, worker)
    assert lab.run("build") == 0
    assert lab.count("documents") == PAGES
    return lab
