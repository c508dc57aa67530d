from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.apart import Apart
from tests.site_server import Site, serve_site

settings.register_profile("kbcite", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("kbcite")


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
