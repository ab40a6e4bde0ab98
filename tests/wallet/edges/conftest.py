"""A wallet as a process, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from servicekit.grpc import acting_as
from stack import Stack
from stack.names import fresh_name
from stack.threads import run_apart
from tests.eventstore.test_append_only import as_role
from tests.wallet.conftest import PASSWORD
from tests.wallet.edges.client import Client
from tests.wallet.edges.processes import PLATFORM, WalletProcess, calls, environment, running


@pytest.fixture(scope="module")
def owners_database(stack: Stack, database_template: str) -> str:
    """A database of this module, for the role that owns it."""
    return run_apart(lambda: stack.databases.create(fresh_name("edges"), database_template))


@pytest.fixture(scope="module")
def wallet(stack: Stack, owners_database: str, service_role: str) -> Iterator[WalletProcess]:
    """A running wallet; no table service is there."""
    with running(environment(stack, as_role(owners_database, service_role, PASSWORD))) as process:
        yield process
        assert process.stop() == 0, process.said


@pytest.fixture
async def client(wallet: WalletProcess) -> AsyncIterator[Client]:
    """Calls to it, in the platform's name unless a test says otherwise."""
    async with calls(wallet) as stub:
        with acting_as(PLATFORM):
            yield Client(stub)
