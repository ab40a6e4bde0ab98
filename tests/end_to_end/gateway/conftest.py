"""All services as processes, with operators, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.end_to_end.gateway.processes import Edge, Servers, opened, started


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Everything as processes, and a partner."""
    with started(tmp_path_factory.mktemp("edge")) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def edge(servers: Servers) -> AsyncIterator[Edge]:
    """Both operators, ready to integrate."""
    async with opened(servers) as found:
        yield found
