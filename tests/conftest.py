from collections.abc import Iterator

import pytest

from tests.apart import Apart
from tests.site_server import Site, serve_site


@pytest.fixture
def site() -> Iterator[Site]:
    """An empty web site on loopback."""
    with serve_site() as running:
        yield running


@pytest.fixture(scope="session")
def apart() -> Iterator[Apart]:
    """A process for hostile input."""
    started = Apart()
    yield started
    started.close()
