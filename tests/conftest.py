from collections.abc import Iterator

import pytest

from tests.site_server import Site, serve_site


@pytest.fixture
def site() -> Iterator[Site]:
    """An empty web site on loopback."""
    with serve_site() as running:
        yield running
