"""Money before stakes against a real wallet: its calls are served in this process, its database is real."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import uuid4

import pytest

from eventstore.postgres import Pool, PostgresEventStore, open_pool
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.refusal import Refusal
from tests.rules_core.round.scripted import Scripted, ante
from tests.table.funding.calls import DEADLINE_S, Observed, all_of
from tests.wallet.edges.processes import channel_to
from tests.wallet.edges.serving import served
from tests.wallet.ledger.world import ROUND_CANCELLED, round_settled, settled
from tests.wallet.partner import Trick
from tests.wallet.seamless.world import QUICK, SeamlessWorld, seamless_world
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub
from upcard_table.adapters.wallet.funds import WalletFunds
from upcard_table.adapters.wallet.settings import AskingSettings
from upcard_table.app.funding import Needed, default_bet_id, to_decline, wagers_to_hold
from upcard_table.app.funding.tips import PostedTip, WantedTip
from upcard_table.app.ports import FundsUnavailable, HoldsAnswer, WantedHolds
from upcard_wallet.app.deposit import Deposit, deposit

ROUND = "t1.7"
HELD = HoldsAnswer("held")
SETTINGS = AskingSettings(page=2, first_pause_s=0.01)
BET = e.DeclinedStake(2, "bet", 200)


@pytest.fixture
async def pool(service_database: str) -> AsyncIterator[Pool]:
    async with await open_pool(service_database, application_name="wallet", max_size=12) as opened:
        yield opened


@pytest.fixture
async def world(pool: Pool) -> AsyncIterator[SeamlessWorld]:
    settings = replace(QUICK, answer_margin_s=0.5)
    async with (
        PostgresEventStore(pool) as store,
        seamless_world(pool, store, "op1", "op2", settings=settings) as world,
    ):
        yield world


@pytest.fixture
async def stub(world: SeamlessWorld) -> AsyncIterator[WalletServiceStub]:
    async with served(world.wallet, world.pool) as client:
        yield client.stub


@contextlib.asynccontextmanager
async def working(stub: WalletServiceStub, observed: Observed | None = None) -> AsyncIterator[WalletFunds]:
    """The table's side of the wallet, at work."""
    funds = WalletFunds(stub, SETTINGS, observed)
    ending = asyncio.Event()
    running = asyncio.create_task(funds.run(ending))
    try:
        yield funds
    finally:
        ending.set()
        async with asyncio.timeout(DEADLINE_S):
            await running


@contextlib.asynccontextmanager
async def away() -> AsyncIterator[WalletServiceStub]:
    """A wallet that nobody answers for."""
    async with channel_to("127.0.0.1:1") as channel:
        yield WalletServiceStub(channel)


@pytest.fixture
async def funds(stub: WalletServiceStub) -> AsyncIterator[WalletFunds]:
    async with working(stub) as funds:
        yield funds


def wanted(bet_id: str, *stakes: e.DeclinedStake, player: str = "p1", round_name: str = ROUND) -> WantedHolds:
    stakes = stakes or (e.DeclinedStake(2, "ante", 10),)
    return WantedHolds(round_name, player, "EUR", bet_id, stakes, "corr-1")


def needed(table: Scripted, command: c.PlaceBet, *, reserve: bool) -> WantedHolds:
    """What an owner has held for a command."""
    found = wagers_to_hold(command, table.state, table.sealed, reserve=reserve)
    assert isinstance(found, Needed)
    return wanted(command.bet_id, *found.wagers, player=command.player)


def soon(within_s: float = DEADLINE_S) -> float:
    return asyncio.get_running_loop().time() + within_s


async def until_held(world: SeamlessWorld, held: int, account: str = "p1-EUR") -> None:
    """Wait until so much of an account is held."""
    async with asyncio.timeout(DEADLINE_S):
        while (await world.has(account))[1] != held:  # noqa: ASYNC110 - it happens in the database
            await asyncio.sleep(0.01)


async def test_who_has_100_gets_ten_bets_of_10_held_of_50_at_once(
    funds: WalletFunds, world: SeamlessWorld
) -> None:
    await world.player(money=100)
    answers = await all_of([funds.ask(wanted(f"b{number}"), soon()) for number in range(50)])
    assert answers.count(HELD) == 10
    assert answers.count(HoldsAnswer("refused", "funds_refused")) == 40
    assert (await world.has())[:2] == (0, 100)


async def test_the_same_command_twice_is_one_set_of_holds(funds: WalletFunds, world: SeamlessWorld) -> None:
    await world.player(money=100)
    assert await all_of([funds.ask(wanted("b1"), soon()) for _ in range(5)]) == [HELD] * 5
    assert await funds.ask(wanted("b1"), soon()) == HELD
    assert (await world.has())[:2] == (90, 10)
    other = await funds.ask(wanted("b1", e.DeclinedStake(2, "ante", 20)), soon())
    assert other == HoldsAnswer("refused", "bet_id_reused")


async def test_who_was_refused_for_funds_bets_after_a_deposit(
    funds: WalletFunds, world: SeamlessWorld
) -> None:
    account = await world.player(money=5)
    refused = HoldsAnswer("refused", "funds_refused")
    assert await funds.ask(wanted("b1"), soon()) == refused
    await world.do(deposit, Deposit(account, 5, "second"))
    assert await funds.ask(wanted("b2"), soon()) == HELD
    assert await funds.ask(wanted("b1"), soon()) == refused, "the same command has the same answer for ever"


async def test_two_owners_who_ask_for_the_same_bet_get_the_same_holds(
    stub: WalletServiceStub, world: SeamlessWorld
) -> None:
    await world.player(money=100)
    async with working(stub) as one, working(stub) as other:
        asked = [owner.ask(wanted("b1"), soon()) for _ in range(5) for owner in (one, other)]
        assert await all_of(asked) == [HELD] * 10
        (hold,) = await other.open_holds(ROUND, soon())
    assert (hold.bet_id, [one.amount for one in hold.wagers]) == ("b1", [10])
    assert (await world.has())[:2] == (90, 10)


async def test_a_slow_partners_players_wait_alone(funds: WalletFunds, world: SeamlessWorld) -> None:
    await world.player(money=100)
    await world.guest("slow", 50)
    await world.guest("quick", 50, operator="op2")
    world.server.script("bet", Trick.HANGS)
    slow = funds.ask(wanted("b1", player="slow"), soon())
    others = [funds.ask(wanted("b2", player="quick"), soon()), funds.ask(wanted("b3"), soon())]
    assert await all_of(others) == [HELD, HELD]
    await world.server.called("bet")
    later = [funds.ask(wanted("b4", player="quick"), soon()), funds.ask(wanted("b5"), soon())]
    assert await all_of(later) == [HELD, HELD]
    assert not slow.done()
    world.server.release_late()
    assert await all_of([slow]) == [HELD]


async def test_what_no_partner_answers_is_unknown_declined_and_comes_back(
    funds: WalletFunds, world: SeamlessWorld
) -> None:
    await world.guest("slow", 50)
    world.server.script("bet", Trick.LATE)
    answer = await funds.ask(wanted("b1", player="slow"), soon(0.6))
    assert answer.outcome == "unknown"
    stakes = (e.DeclinedStake(2, "ante", 10),)
    late = e.BetDeclined("slow", "EUR", "b1", stakes, "wallet_unavailable", "", "PlaceBet")
    await world.hear((ROUND, late))
    world.server.release_late()
    world.start_work()
    await world.quiet()
    assert world.server.balances["slow", "EUR"] == 50
    assert await world.hold_states("b1") == ["released"]
    again = await funds.ask(wanted("b1", player="slow"), soon())
    assert again.outcome == "refused", "what was given up is never held again"


async def test_a_reserve_becomes_the_bets_money(funds: WalletFunds, world: SeamlessWorld) -> None:
    await world.player(money=300)
    table = Scripted("live-shared@1").open()
    bet = needed(table, table.place_command("p1", ante(2)), reserve=True)
    assert await funds.ask(bet, soon()) == HELD
    assert (await world.has())[:2] == (0, 300)
    result = settled((2, "ante", 100, 100), (2, "bet", 200, 400))
    await world.hear((ROUND, result), (ROUND, round_settled(result)))
    assert (await world.has())[:2] == (500, 0)
    assert world.seen.in_suspense == []
    await world.all_is_explained()


async def test_a_reserve_that_was_not_used_goes_back_with_the_round(
    funds: WalletFunds, world: SeamlessWorld
) -> None:
    await world.player(money=300)
    table = Scripted("live-shared@1").open()
    bet = needed(table, table.place_command("p1", ante(2)), reserve=True)
    assert await funds.ask(bet, soon()) == HELD
    result = settled((2, "ante", 100, 0))
    await world.hear((ROUND, result), (ROUND, round_settled(result)))
    assert (await world.has())[:2] == (200, 0)
    await world.all_is_explained()


@pytest.mark.parametrize("restarted", [False, True], ids=["the same process", "another process"])
async def test_a_withdrawn_ante_frees_its_reserve_and_no_other(
    stub: WalletServiceStub, world: SeamlessWorld, *, restarted: bool
) -> None:
    await world.player(money=1_000)
    table = Scripted("live-shared@1").open()
    async with working(stub) as funds:
        for _ in range(2):
            command = table.place_command("p1", ante(2))
            assert await funds.ask(needed(table, command, reserve=True), soon()) == HELD
            table.do(command)
        assert (await world.has())[:2] == (400, 600)
        if not restarted:
            await _undo(table, funds, world)
    if restarted:
        async with working(stub) as funds:
            await _undo(table, funds, world)


async def _undo(table: Scripted, funds: WalletFunds, world: SeamlessWorld) -> None:
    (event,) = table.do(c.UndoBet("p1", table.now))
    funds.free_reserves(ROUND, [event])
    await world.hear((ROUND, event))
    await until_held(world, 300)
    (left,) = await funds.open_holds(ROUND, soon())
    assert sorted((one.wager, one.amount) for one in left.wagers) == [("ante", 100), ("bet", 200)]
    assert left.bet_id == "bet-1"


async def test_a_declined_bets_reserve_is_freed_when_its_money_was_held_late(
    funds: WalletFunds, world: SeamlessWorld
) -> None:
    await world.player(money=300)
    table = Scripted("live-shared@1").open()
    command = table.place_command("p1", ante(2))
    assert await funds.ask(needed(table, command, reserve=True), soon()) == HELD
    (event,) = table.do(replace(command, funds="unavailable"))
    assert isinstance(event, e.BetDeclined)
    funds.free_reserves(ROUND, [event])
    await world.hear((ROUND, event))
    await until_held(world, 0)
    assert (await world.has())[0] == 300


async def test_reserves_that_cannot_be_freed_wait_for_the_end(world: SeamlessWorld) -> None:
    await world.player(money=300)
    table = Scripted("live-shared@1").open()
    command = table.place_command("p1", ante(2))
    observed = Observed()
    async with served(world.wallet, world.pool) as client, working(client.stub) as funds:
        assert await funds.ask(needed(table, command, reserve=True), soon()) == HELD
    table.do(command)
    (event,) = table.do(c.UndoBet("p1", table.now))
    async with away() as stub, working(stub, observed) as funds:
        funds.free_reserves(ROUND, [event])
        async with asyncio.timeout(DEADLINE_S):
            while not observed.reserves:  # noqa: ASYNC110 - told by another task
                await asyncio.sleep(0.01)
    await world.hear((ROUND, event))
    await world.hear((ROUND, ROUND_CANCELLED))
    assert (await world.has())[:2] == (300, 0)


async def test_a_new_owner_frees_what_the_old_one_never_recorded(
    stub: WalletServiceStub, world: SeamlessWorld
) -> None:
    for player in ("p1", "p2", "p3"):
        await world.player(player, 1_000)
    table = Scripted("live-shared@1").open()
    first = table.place_command("p1", ante(2))
    async with working(stub) as funds:
        assert await funds.ask(needed(table, first, reserve=True), soon()) == HELD
        table.do(first)
        for player in ("p1", "p2", "p3"):
            lost = table.place_command(player, ante(3, blind=True))
            assert await funds.ask(needed(table, lost, reserve=True), soon()) == HELD
        # The owner dies here: its answers are recorded by nobody.
    recorded = {one.bet_id: one for one in table.events if isinstance(one, e.BetPlaced)}
    async with working(stub) as funds:
        holds = await funds.open_holds(ROUND, soon())
        assert sum(len(one.wagers) for one in holds) == 2 + 3 * 2
        for command in to_decline(table.state, ROUND, recorded.get, holds):
            (event,) = table.do(replace(command, arrived_at=table.now))
            await world.hear((ROUND, event))
        assert [one.bet_id for one in await funds.open_holds(ROUND, soon())] == [first.bet_id]
    assert [(await world.has(f"{player}-EUR"))[1] for player in ("p1", "p2", "p3")] == [300, 0, 0]
    assert world.seen.in_suspense == []


async def test_a_default_bets_money_survives_its_owner_and_is_staked_once(
    stub: WalletServiceStub, world: SeamlessWorld
) -> None:
    await world.player(money=200)
    table = Scripted("live-shared@1", {"box.2": "9s 9h Kd 4c 2d"}).open().place("p1", ante(2)).deal()
    table.close_options()
    table.lay().confirm()
    first = default_bet_id(table.state, ROUND, "p1", 2)
    async with working(stub) as funds:
        assert await funds.ask(replace(wanted(first, BET), by_platform=True), soon()) == HELD
    async with working(stub) as funds:  # another owner: the player could choose again
        holds = await funds.open_holds(ROUND, soon())
        for command in to_decline(table.state, ROUND, lambda _: None, holds):
            (event,) = table.do(replace(command, arrived_at=table.now))
            await world.hear((ROUND, event))
        second = default_bet_id(table.state, ROUND, "p1", 2)
        assert await funds.ask(replace(wanted(second, BET), by_platform=True), soon()) == HELD
        table.close_finals()
        holds = await funds.open_holds(ROUND, soon())
        assert [one.bet_id for one in holds] == [second]
        assert to_decline(table.state, ROUND, {first: table.events[-3]}.get, holds) == ()


async def test_a_wallet_that_is_away_is_unknown_and_the_same_later_is_held(world: SeamlessWorld) -> None:
    await world.player(money=100)
    async with away() as stub, working(stub) as funds:
        answer = await funds.ask(wanted("b1"), soon(0.5))
        assert answer.outcome == "unknown"
        with pytest.raises(FundsUnavailable):
            await funds.open_holds(ROUND, soon(0.5))
        with pytest.raises(FundsUnavailable):
            await funds.post_tip(tip(10), soon(0.5))
        with pytest.raises(FundsUnavailable):
            await funds.open_holds(ROUND, soon(-1))
    async with served(world.wallet, world.pool) as client, working(client.stub) as funds:
        assert await funds.ask(wanted("b1"), soon()) == HELD
    assert (await world.has())[:2] == (90, 10)


def tip(amount: int, request_id: str = "tip-1", player: str = "p1", currency: str = "EUR") -> WantedTip:
    return WantedTip(request_id, player, currency, amount, "t1", "d1")


async def test_a_tip_is_posted_once(funds: WalletFunds, world: SeamlessWorld) -> None:
    await world.player(money=100)
    posted = await funds.post_tip(tip(30), soon())
    assert isinstance(posted, PostedTip)
    assert await funds.post_tip(tip(30), soon()) == posted
    assert (await world.has())[0] == 70
    other = await funds.post_tip(tip(30, uuid4().hex), soon())
    assert isinstance(other, PostedTip)
    assert other != posted


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (tip(101), "funds_refused"),
        (tip(10, player="p9"), "account_unknown"),
        (tip(10, currency="SEK"), "account_unknown"),
        (tip(0), "amount_invalid"),
    ],
)
async def test_a_tip_that_cannot_be_given_is_refused(
    funds: WalletFunds, world: SeamlessWorld, wanted: WantedTip, code: str
) -> None:
    await world.player(money=100)
    found = await funds.post_tip(wanted, soon())
    assert isinstance(found, Refusal)
    assert found.code == code
    assert found.message


async def test_many_bets_of_many_players_are_one_call(stub: WalletServiceStub, world: SeamlessWorld) -> None:
    for number in range(20):
        await world.player(f"p{number}", 100)
    observed = Observed()
    async with working(stub, observed) as funds:
        bets = [wanted(f"b{number}", player=f"p{number}") for number in range(20)]
        assert await all_of([funds.ask(bet, soon()) for bet in bets]) == [HELD] * 20
    assert observed.calls == [(20, 20)]
    listed = await stub.ListHolds(pb.ListHoldsRequest(round=ROUND), timeout=DEADLINE_S)
    assert {hold.state for hold in listed.holds} == {pb.HOLD_STATE_HELD}
