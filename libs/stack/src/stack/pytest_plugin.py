"""Fixtures for suites that need the servers: a stack for each process, a fresh database for each test.

The stack starts when the first test asks for it. Under pytest-xdist each worker has its own: nothing is
shared, so nothing has to be agreed on, and a worker that dies takes its servers along. Starting costs about a
second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest

from stack.errors import StackError
from stack.folders import folder_for_tests
from stack.lanes import LANE_SETTING, Settings, require
from stack.names import fresh_name
from stack.threads import run_apart

if TYPE_CHECKING:  # imported by the fixtures: most test runs start no server and need not wait for this
    from stack.stack import Stack


def pytest_configure(config: pytest.Config) -> None:
    """A lane that was asked for by name and cannot run here is one loud line, not a thousand failed tests."""
    config.addinivalue_line(
        "markers", "native: needs Apache Kafka on this machine, Java and Maven (`make native`)"
    )
    try:
        settings = Settings.from_environment()
        require(settings.lane)
    except StackError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_report_header() -> str:
    """Which lane the servers come from."""
    return f"servers: {Settings.from_environment().lane.value} lane ({LANE_SETTING})"


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """The servers, shared by all tests of this process. Do not kill these: `private_stack` is for that."""
    from stack.stack import Stack  # noqa: PLC0415 - see above

    with Stack(temporary_in=folder_for_tests()) as running:
        yield running


@pytest.fixture
def private_stack() -> Iterator[Stack]:
    """Servers for one test alone, to be killed, wiped and paused."""
    from stack.stack import Stack  # noqa: PLC0415 - see above

    with Stack(temporary_in=folder_for_tests()) as running:
        yield running


@pytest.fixture(scope="session")
def database_template() -> str | None:
    """The database that fresh ones are copies of; None for empty ones.

    A suite with a schema overrides this in its conftest.py: it makes a database, migrates it, closes its
    connections, and returns the name. Copying takes a fraction of what migrating takes.
    """
    return None


@pytest.fixture(scope="session")
def _discarded(stack: Stack) -> Iterator[list[str]]:
    """Databases that were not dropped at once. A server of ours takes them along."""
    names: list[str] = []
    yield names
    if not stack.facts.postgres_is_ours:
        run_apart(lambda: stack.databases.drop(*names))


@pytest.fixture
def new_database(
    stack: Stack, database_template: str | None, _discarded: list[str]
) -> Iterator[Callable[[], str]]:
    """Makes fresh databases for one test, copies of `database_template`; gives the owner's addresses."""
    names: list[str] = []

    def make() -> str:
        name = fresh_name("test")
        address = run_apart(partial(stack.databases.create, name, database_template))
        names.append(name)
        return address

    yield make
    if stack.in_memory:
        run_apart(lambda: stack.databases.drop(*names))
    else:  # some disks take half a second for each
        _discarded.extend(names)


@pytest.fixture
def database(new_database: Callable[[], str]) -> str:
    """The address of a fresh database of this test, for the role that owns it."""
    return new_database()


@pytest.fixture
def unique_topic() -> Callable[[str], str]:
    """Names of topics that no other test has: `unique_topic("orders")`."""
    return lambda prefix: fresh_name(prefix).replace("_", "-")
