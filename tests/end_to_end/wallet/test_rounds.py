"""The table's and the bonus service's events reach the money: over Kafka, and over the feed alone."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import asyncpg
import pytest
import pytest_asyncio

from messaging.feed import FEED, GrpcFeed
from rules_core.round.events import PlayerSettled
from servicekit.grpc import acting_as, open_channel
from stack import Stack
from stack.names import fresh_name
from tests.eventstore.test_append_only import as_role
from tests.messaging.waiting import until
from tests.wallet.conftest import PASSWORD
from tests.wallet.edges.client import Client, new_round
from tests.wallet.edges.neighbours import Neighbour
from tests.wallet.edges.processes import PLATFORM, WalletProcess, calls, environment, in_thread, running
from tests.wallet.ledger.world import ROUND_CANCELLED, round_resettled, round_settled, settled, withdrawn
from upcard.wallet.v1 import wallet_pb2 as pb

pytestmark = pytest.mark.asyncio(loop_scope="module")

HELD = pb.HOLD_OUTCOME_HELD


@dataclass
class Casino:
    """A wallet with its neighbours, and a player's client."""

    wallet: WalletProcess
    table: Neighbour
    bonus: Neighbour
    client: Client
    dsn: str

    async def says_settled(self, round_name: str, result: PlayerSettled) -> None:
        """The table settles a round of one player."""
        await self.table.says(round_name, result, round_settled(result))

    async def has(self, cash: int, held: int) -> None:
        """Wait until the player has this."""
        wanted = (cash, held)

        async def there() -> bool:
            return await self.client.has() == wanted

        await until(there, what=f"{wanted}")

    async def value(self, query: str, *arguments: object) -> object:
        """One value of the wallet's database."""
        connection = await asyncpg.connect(self.dsn)
        try:
            return await connection.fetchval(query, *arguments)
        finally:
            await connection.close()


@contextlib.asynccontextmanager
async def open_casino(stack: Stack, template: str, role: str) -> AsyncIterator[Casino]:
    """A wallet as a process, and its neighbours in this one."""
    namespace = fresh_name("casino").replace("_", "-")
    dsn, tables, bonuses = [await stack.databases.create(fresh_name("casino"), template) for _ in range(3)]
    async with contextlib.AsyncExitStack() as exits:
        enter = exits.enter_async_context
        table = await enter(Neighbour("table", stack, tables, namespace))
        bonus = await enter(Neighbour("bonus", stack, bonuses, namespace))
        settings = environment(
            stack,
            as_role(dsn, role, PASSWORD),
            table=table.address,
            namespace=namespace,
            UPCARD_BONUS_ADDRESS=bonus.address,
        )
        process = running(settings)
        wallet = await in_thread(process.__enter__)
        exits.callback(process.__exit__, None, None, None)
        stub = await enter(calls(wallet))
        yield Casino(wallet, table, bonus, Client(stub), dsn)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_casino(stack: Stack, database_template: str, service_role: str) -> AsyncIterator[Casino]:
    """One for the tests of this module that leave it whole."""
    async with open_casino(stack, database_template, service_role) as casino:
        yield casino


@pytest_asyncio.fixture(loop_scope="module")
async def quiet_casino(shared_casino: Casino) -> AsyncIterator[Casino]:
    """The same, with a player that nobody knows; nothing is published."""
    with acting_as(PLATFORM):
        yield replace(shared_casino, client=Client(shared_casino.client.stub))


@pytest_asyncio.fixture(loop_scope="module")
async def casino(quiet_casino: Casino) -> AsyncIterator[Casino]:
    """The same, and the neighbours publish."""
    async with quiet_casino.table.publishing(), quiet_casino.bonus.publishing():
        yield quiet_casino


@pytest.mark.parametrize("kafka", [True, False], ids=["over Kafka", "over the feed alone"])
async def test_a_round_is_settled(quiet_casino: Casino, *, kafka: bool) -> None:
    casino = quiet_casino
    client, name = casino.client, new_round()
    await client.funded(1_000)
    async with casino.table.publishing() if kafka else contextlib.nullcontext():
        placed = await client.place(client.bet(name, 100, bet_id="b1"), client.bet(name, 50, bet_id="b2"))
        assert [one.outcome for one in placed] == [HELD, HELD]
        await casino.table.says(name, withdrawn((1, "ante", 50), player=client.player, bet_id="b2"))
        await casino.has(900, 100)
        await casino.says_settled(name, settled((1, "ante", 100, 200), player=client.player))
        await casino.has(1_100, 0)
        corrected = settled((1, "ante", 100, 0), player=client.player, revision=2)
        await casino.table.says(name, corrected, round_resettled(1, corrected))
        await casino.has(900, 0)
    (late,) = await client.place(client.bet(name, 1))
    assert late.reason == "round_ended"
    cause = await casino.value(
        "SELECT count(*) FROM wallet.transactions WHERE round = $1 AND kind IN ('settlement', 'correction')"
        " AND cause_event IS NOT NULL",
        name,
    )
    assert cause == 2


async def test_a_cancelled_round_gives_everything_back(casino: Casino) -> None:
    client, name = casino.client, new_round()
    await client.funded(100)
    await client.place(client.bet(name, 40, 20))
    await casino.table.says(name, ROUND_CANCELLED)
    await casino.has(100, 0)


async def test_a_jackpot_is_filled_and_hit(casino: Casino) -> None:
    client, name = casino.client, new_round()
    await client.funded(100)
    pool = {"jackpot": "j1", "operator": "op1", "currency": "EUR"}
    await casino.bonus.tells("jackpot-j1", "JackpotSeeded", {**pool, "amount": 5_000})
    await casino.bonus.tells("jackpot-j1", "JackpotContributed", {**pool, "amount": 300, "round": name})
    share = {"player": client.player, "amount": 1_300, "box": 2}
    await casino.bonus.tells("jackpot-j1", "JackpotHit", {**pool, "round": name, "shares": [share]})
    await casino.has(1_400, 0)
    left = await casino.value(
        "SELECT balance FROM wallet.books JOIN wallet.balances USING (book) WHERE kind = 'jackpot'"
    )
    assert left == 4_000


async def test_a_free_bet_is_granted_used_and_expires(casino: Casino) -> None:
    client, name = casino.client, new_round()
    await client.funded(100)
    grant = {"free_bet": "f1", "player": client.player, "currency": "EUR", "amount": 25}
    await casino.bonus.tells("freebet-f1", "FreeBetGranted", grant)
    promo = (
        "SELECT coalesce(sum(balance), 0) FROM wallet.books JOIN wallet.balances USING (book)"
        " WHERE owner = 'f1'"
    )

    async def granted() -> bool:
        return await casino.value(promo) == 25

    await until(granted)
    bet = client.bet(name, 10)
    bet.wagers[0].funding = "f1"
    (placed,) = await client.place(bet)
    assert placed.outcome == HELD
    result = settled((1, "ante", 10, 30, "f1"), player=client.player)
    await casino.says_settled(name, result)
    await casino.has(120, 0)
    await casino.bonus.tells("freebet-f1", "FreeBetExpired", {"free_bet": "f1"})

    async def expired() -> bool:
        return await casino.value(promo) == 0

    await until(expired)
    assert await client.has() == (120, 0)


async def test_an_event_that_cannot_be_is_parked_and_others_go_on(casino: Casino) -> None:
    client, name = casino.client, new_round()
    await client.funded(100)
    await client.place(client.bet(name, 100))
    strange = new_round()
    await casino.table.says(strange, settled((1, "ante", 5, 5), player="nobody-at-all"))
    await casino.says_settled(name, settled((1, "ante", 100, 200), player=client.player))
    await casino.has(200, 0)

    async def parked() -> object:
        found = "SELECT stream FROM eventstore.parked_streams"
        return await casino.value(found) == f"round-{strange}"

    await until(parked)
    assert casino.wallet.process.poll() is None


async def test_an_event_that_is_newer_than_this_wallet_is_not_guessed(
    stack: Stack, database_template: str, service_role: str
) -> None:
    """The wallet stops, is upgraded, and begins again at that event: nothing is parked, nothing left out."""
    async with open_casino(stack, database_template, service_role) as casino:
        await casino.bonus.tells("freebet-f1", "FreeBetExpired", {"free_bet": "f1"}, version=2)
        code = await in_thread(lambda: casino.wallet.process.wait(60))
        assert code == 1
        assert "EventIsNewer" in casino.wallet.said
        assert await casino.value("SELECT count(*) FROM eventstore.parked_streams") == 0


async def test_the_wallets_own_log_is_published_and_served(casino: Casino) -> None:
    client = casino.client
    await client.funded(100)
    stream = f"account-{client.account}"

    async def published() -> object:
        return await in_thread(lambda: casino.wallet.metric("upcard_relay_published_events_total")) >= 2

    await until(published)
    channel = open_channel(casino.wallet.address, audience="wallet", services=[FEED])
    async with channel:
        feed = GrpcFeed(channel, "wallet")
        heads = await feed.heads()
        pages = [await feed.read_shard(shard, after=0) for shard, head in heads.items() if head.position]
    types = [event.type for page in pages for event in page.events if event.stream == stream]
    assert types == ["AccountOpened", "Deposited"]


async def test_the_invariants_hold_and_are_looked_at(casino: Casino) -> None:
    client, name = casino.client, new_round()
    await client.funded(1_000)
    await client.place(client.bet(name, 100))
    await casino.says_settled(name, settled((1, "ante", 100, 200), player=client.player))
    await casino.has(1_100, 0)

    async def audited() -> bool:
        lag = await casino.value(
            "SELECT sum(h.position) - coalesce(sum(p.position), 0) FROM eventstore.shard_heads AS h"
            " LEFT JOIN eventstore.positions AS p ON p.shard = h.shard AND p.follower = 'wallet-audit'"
        )
        return lag == 0

    await until(audited)

    async def summed() -> bool:
        return await casino.value("SELECT checked FROM wallet.round_totals WHERE round = $1", name) is True

    await until(summed)
    assert await casino.value("SELECT json_agg(d) FROM wallet.differences AS d") is None
    checked = (
        "SELECT count(*) FROM wallet.audited_books JOIN wallet.books USING (book)"
        " WHERE account = $1 AND posting > 0"
    )
    assert await casino.value(checked, client.account) == 2, "cash and held"


async def test_a_settlement_without_a_hold_is_an_alarm(casino: Casino) -> None:
    client, name = casino.client, new_round()
    await client.funded(100)
    await casino.says_settled(name, settled((1, "ante", 40, 0), player=client.player))

    async def alarmed() -> object:
        return await in_thread(lambda: casino.wallet.metric("upcard_wallet_suspense_minor_units_total")) >= 40

    await until(alarmed)
    assert await client.has() == (100, 0)
    assert await in_thread(lambda: casino.wallet.lines("a stake had no hold"))
