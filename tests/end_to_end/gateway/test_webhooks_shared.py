"""Two gateways share their webhooks; one is killed, and every webhook arrives in order."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncIterator

import httpx

from eventstore.migrations import prepare_event_log
from eventstore.postgres import open_pool
from messaging.migrations import prepare_messaging
from stack import Stack
from stack.names import fresh_name
from tests.end_to_end.gateway.test_process import registered, running, settings_of
from tests.gateway.conftest import database_template, service_database, service_role
from tests.gateway.webhooks.receiving import Habit, Receiver
from tests.gateway.world import Signing
from tests.wallet.edges.neighbours import Neighbour
from tests.wallet.edges.processes import WalletProcess, in_thread

__all__ = ["database_template", "service_database", "service_role"]

TABLES = tuple(f"t{number}" for number in range(8))
ROUNDS = 6
HABITS: tuple[Habit, ...] = (*(204, 500, 204, "cut") * 4, *("hang",) * 4)
WITHIN_S = 120.0


async def test_every_webhook_arrives_though_a_gateway_dies(stack: Stack, service_database: str) -> None:
    namespace = fresh_name("hooks").replace("_", "-")
    async with (
        neighbour(stack, "table", namespace) as table,
        neighbour(stack, "bonus", namespace) as bonus,
        Receiver() as receiver,
        contextlib.AsyncExitStack() as exits,
    ):
        settings = settings_of(
            stack,
            service_database,
            UPCARD_TABLE_ADDRESS=table.address,
            UPCARD_BONUS_ADDRESS=bonus.address,
            UPCARD_KAFKA_NAMESPACE=namespace,
            UPCARD_WEBHOOKS_INSIDE="true",
            UPCARD_WEBHOOK_TIMEOUT_S="1",
        )
        doomed = await started(exits, settings | {"UPCARD_INSTANCE": "gateway-1"})
        await started(exits, settings | {"UPCARD_INSTANCE": "gateway-2"})
        await endpoint(doomed, receiver)
        # Some tries fail or are never answered, so that claims are held while a gateway dies.
        receiver.script("hooks", *HABITS)
        async with table.publishing(), bonus.publishing():
            for number in range(1, ROUNDS + 1):
                for name in TABLES:
                    await table.tells(f"table-{name}", "TableClosed", {"after_round": number})
                if number == ROUNDS // 2:
                    await receiver.until("hooks", 8, within_s=WITHIN_S)
                    doomed.process.kill()
            await bonus.tells("jackpot-j1", "JackpotSeeded", SEEDED)
            # Whatever came more than once came with one id.
            await asyncio.wait_for(complete(receiver, len(TABLES) * ROUNDS + 1), WITHIN_S)
        assert not receiver.complaints
        for name in TABLES:
            told = [one for one in receiver.taken["hooks"] if one.subject == f"table-{name}"]
            first_times = list(dict.fromkeys(one.table_state.after_round for one in told))
            assert first_times == list(range(1, ROUNDS + 1)), "in order"
        (seeded,) = {one.id: one for one in receiver.taken["hooks"] if one.type == "jackpot"}.values()
        assert (seeded.jackpot.what, seeded.jackpot.amount) == ("seeded", 900)


SEEDED = {
    "jackpot": "j1",
    "operator": "house",
    "currency": "EUR",
    "amount": 900,
    "pool": 900,
    "cycle": 1,
    "why": "opened",
}


async def complete(receiver: Receiver, number: int) -> None:
    """Wait until so many different webhooks were taken."""
    taken = number
    while len(set(receiver.ids("hooks"))) < number:
        await receiver.until("hooks", taken, within_s=WITHIN_S)
        taken = len(receiver.taken["hooks"]) + 1


async def endpoint(process: WalletProcess, receiver: Receiver) -> None:
    """An operator, and its endpoint at the receiver."""
    signer = await registered(process)
    address = process.lines("listening for HTTP")[0]
    auth = Signing(signer, lambda: dt.datetime.now(dt.UTC))
    url = f"http://{address['host']}:{address['port']}"
    async with httpx.AsyncClient(base_url=url, auth=auth, timeout=60.0) as client:
        body = {
            "request_id": "r1",
            "url": receiver.url("hooks"),
            "types": ["table_state", "jackpot"],
        }
        answer = await client.post("/v1/webhook-endpoints", json=body)
    assert answer.status_code == 200, answer.text
    receiver.secrets["hooks"] = answer.json()["secret"]


async def started(exits: contextlib.AsyncExitStack, settings: dict[str, str]) -> WalletProcess:
    """A gateway that is ready; killed at the end."""
    manager = running(settings)
    process: WalletProcess = await in_thread(manager.__enter__)

    async def end() -> None:
        await in_thread(lambda: manager.__exit__(None, None, None))

    exits.push_async_callback(end)
    return process


@contextlib.asynccontextmanager
async def neighbour(stack: Stack, name: str, namespace: str) -> AsyncIterator[Neighbour]:
    """A service with an empty log."""
    dsn = await stack.databases.create(fresh_name(name))
    async with await open_pool(dsn, application_name=name, max_size=2) as pool, pool.acquire() as connection:
        await prepare_event_log(connection)
        await prepare_messaging(connection)
    async with Neighbour(name, stack, dsn, namespace) as made:
        yield made
