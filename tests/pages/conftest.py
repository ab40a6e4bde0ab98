"""Chromium and a running casino for the tests of pages; both are started once a session.

All tests here share one event loop, that of the session, since browser and channels live in it.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.end_to_end.gateway.processes import Servers
from tests.pages import chromium
from tests.pages import house as houses

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run every asynchronous test of this folder in the session's loop."""
    for item in items:
        if HERE in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that takes the pictures: $UPCARD_PICTURES, or a temporary one."""
    named = os.environ.get("UPCARD_PICTURES")
    folder = Path(named) if named else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chrome() -> AsyncIterator[Browser]:
    """The browser's process. Tests want `browser`."""
    async with chromium.started() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def browser(chrome: Browser, pictures: Path) -> AsyncIterator[chromium.Browsing]:
    """Pages for this test. An error of a script, on the console or of the policy fails it at the end."""
    browsing = chromium.Browsing(chrome, pictures)
    try:
        yield browsing
    finally:
        await browsing.close()
    assert not browsing.unexpected(), "\n".join(browsing.unexpected())


@pytest.fixture
def picture(browser: chromium.Browsing) -> Callable[[Page, str], Awaitable[Path]]:
    """Keeps how a page looks: awaited with the page and a name."""
    return browser.picture


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Every service as a process, and a partner's wallet."""
    with houses.servers(tmp_path_factory.mktemp("house")) as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def house(servers: Servers) -> AsyncIterator[houses.RunningHouse]:
    """A casino with two operators: players, tables, staff."""
    async with houses.opened(servers) as running:
        yield running
