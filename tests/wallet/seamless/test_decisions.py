"""Every row of the decision table, through the real wallet, against a partner over HTTP, in each dialect."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from eventstore.postgres import Pool, PostgresEventStore
from tests.wallet.ledger.world import bet, declined, settled, states, withdrawn
from tests.wallet.seamless.scripted import MONEY, SpokenWorld, can_say, spoken_world
from tests.wallet.seamless.world import QUICK
from upcard_seamless.answers import CONTRADICTING
from upcard_seamless.calls import CallKind
from upcard_seamless.decisions import ROWS, Of, Row
from upcard_seamless.dialects import load_dialect, shipped_dialects
from upcard_wallet.adapters.seamless.partner import Accepted, NotSent
from upcard_wallet.app.purse import AccountRef

SHORT_S = 4.0
"""Time for a bet to arrive at the partner even on a busy machine; then its deadline is over."""
STAKE, BONUS, WIN, LOWER = 30, 5, 80, 20
BOTH = (1, "ante", STAKE), (1, "bonus_player", BONUS)
SETTINGS = replace(QUICK, queue_timeout_s=2.0, down_pause_s=600.0)

pytestmark = pytest.mark.parametrize("dialect", shipped_dialects())


@pytest.fixture
async def spoken(pool: Pool, store: PostgresEventStore, dialect: str) -> AsyncIterator[SpokenWorld]:
    """A partner that speaks the dialect."""
    async with spoken_world(pool, store, dialect, SETTINGS) as world:
        yield world


def rows(world: SpokenWorld, kind: CallKind, of: Of | None = None) -> Iterator[Row]:
    """The rows that this partner's dialect has words for."""
    for row in ROWS:
        if (row.call, row.of) == (kind, of) and can_say(world.scripted.dialect, kind, row.answer):
            yield row


def open_circuit(world: SpokenWorld) -> None:
    """As if the partner had failed again and again just now."""
    circuit = world.seamless.circuits["op1"]
    for _ in range(SETTINGS.failures_before_pause):
        circuit.answered(NotSent())
    assert circuit.state == "open"


def close_circuit(world: SpokenWorld) -> None:
    """As if it had answered."""
    world.seamless.circuits["op1"].answered(Accepted())


async def tell(world: SpokenWorld) -> None:
    """Tell what is queued, until nothing is left but what is for people."""
    world.start_work()
    await world.quiet()
    await world.stop_work()
    world.scripted.let_go()


def test_each_row_is_driven_in_at_least_one_dialect(dialect: str) -> None:
    assert dialect
    dialects = [load_dialect(name) for name in shipped_dialects()]
    unsaid = {row.name for row in ROWS if not any(can_say(one, row.call, row.answer) for one in dialects)}
    assert unsaid == {"balance/duplicate", "balance/wrong_amount"}, "a question is no transaction"


async def test_balances(spoken: SpokenWorld) -> None:
    player, _ = await spoken.newcomer()
    account = AccountRef(f"{player}-EUR", player, "op1", "EUR", "seamless")
    for row in rows(spoken, "balance"):
        spoken.scripted.script("balance", row.answer)
        within_s = 0.5 if row.answer in ("time_out", "late") else 30.0
        if row.answer == "not_asked":
            open_circuit(spoken)
        if row.answer == "not_sent":
            await spoken.scripted.down()
        found = await spoken.seamless.cash_outside(account, within_s)
        if row.answer == "not_sent":
            await spoken.scripted.up()
        close_circuit(spoken)
        spoken.scripted.let_go()
        assert found is not None
        assert (found.cash is not None) == (row.state == "shown"), row.name
        assert (found.cash, found.unknown or "") == (MONEY if row.state == "shown" else None, row.message), (
            row.name
        )
    assert await spoken.value("SELECT count(*) FROM wallet.partner_calls") == 0, "a question is no call"


async def test_bets(spoken: SpokenWorld) -> None:
    for row in rows(spoken, "bet"):
        player, round_name = await spoken.newcomer()
        wanted = bet(
            (1, "ante", STAKE),
            (1, "bonus_player", BONUS),
            player=player,
            round_name=round_name,
            bet_id=player,
        )
        before = spoken.scripted.times("bet")
        assert await bet_answered(spoken, row, player, round_name) == [
            row.message if row.state == "refused" else row.state
        ], row.name
        assert set(await spoken.hold_states(player)) == {row.state}, row.name
        undone = [kind for kind, _, _ in await spoken.calls(lane=round_name)][1:]
        assert undone == (["rollback"] if row.then == "rollback" else []), row.name
        await tell(spoken)
        spent = MONEY - await spoken.scripted.owns(player)
        assert spent == (STAKE + BONUS if row.money == "taken_once" else 0), row.name
        asked = spoken.scripted.times("bet") - before
        assert states(await spoken.place(wanted)) == [row.message or row.state], row.name
        assert spoken.scripted.times("bet") - before == asked, f"{row.name}: a bet is asked once"
    await spoken.all_is_explained()


async def bet_answered(world: SpokenWorld, row: Row, player: str, round_name: str) -> list[str]:
    """Have a bet answered so, and say what became of it."""
    wanted = bet(*BOTH, player=player, round_name=round_name, bet_id=player)
    world.scripted.script("bet", row.answer)
    match row.answer:
        case "not_sent":
            await world.scripted.down()
            placed = await world.place(wanted)
            await world.scripted.up()
        case "not_asked":
            open_circuit(world)
            placed = await world.place(wanted)
            close_circuit(world)
        case "time_out":
            placed = await world.place(wanted, within_s=SHORT_S)
            world.scripted.let_go()
        case "late":
            before = world.scripted.times("bet")
            asking = asyncio.create_task(world.place(wanted))
            await world.scripted.called("bet", before + 1)
            await world.hear((round_name, declined(*BOTH, player=player, bet_id=player)))
            world.scripted.let_go()
            placed = await asking
        case _:
            placed = await world.place(wanted)
    return states(placed)


async def test_wins(spoken: SpokenWorld) -> None:
    for row in rows(spoken, "win"):
        player, round_name = await spoken.newcomer()
        await stake(spoken, player, round_name)
        await spoken.hear((round_name, settled((1, "ante", STAKE, WIN), player=player)))
        await told(spoken, row, round_name)
        gained = await spoken.scripted.owns(player) - (MONEY - STAKE)
        assert gained == (WIN if given(row) else 0), row.name
    await spoken.all_is_explained()


async def test_rollbacks_of_bets_that_are_held(spoken: SpokenWorld) -> None:
    for row in rows(spoken, "rollback", "bet_held"):
        player, round_name = await spoken.newcomer()
        await stake(spoken, player, round_name)
        await spoken.hear((round_name, withdrawn((1, "ante", STAKE), player=player, bet_id=player)))
        await told(spoken, row, round_name)
        assert await spoken.scripted.owns(player) == (MONEY if given(row) else MONEY - STAKE), row.name
    await spoken.all_is_explained()


async def test_rollbacks_of_bets_whose_end_is_unknown(spoken: SpokenWorld) -> None:
    for row in rows(spoken, "rollback", "bet_unknown"):
        player, round_name = await spoken.newcomer()
        spoken.scripted.script("bet", "server_error")
        wanted = bet((1, "ante", STAKE), player=player, round_name=round_name, bet_id=player)
        assert states(await spoken.place(wanted)) == ["unknown"]
        await told(spoken, row, round_name)
        assert await spoken.scripted.owns(player) == (MONEY if given(row) else MONEY - STAKE), row.name
        ended = row.then not in ("people", "again_few")
        assert await spoken.hold_states(player) == ["released" if ended else "unknown"], row.name


async def test_rollbacks_of_wins(spoken: SpokenWorld) -> None:
    for row in rows(spoken, "rollback", "win"):
        player, round_name = await spoken.newcomer()
        await stake(spoken, player, round_name)
        await spoken.hear((round_name, settled((1, "ante", STAKE, WIN), player=player)))
        await tell(spoken)
        await spoken.hear((round_name, settled((1, "ante", STAKE, LOWER), player=player, revision=2)))
        state = await told(spoken, row, round_name)
        stands = (WIN if not given(row) else 0) + (LOWER if state == "done" else 0)
        assert await spoken.scripted.owns(player) == MONEY - STAKE + stands, row.name
    await spoken.all_is_explained()


async def stake(world: SpokenWorld, player: str, round_name: str) -> None:
    """The player has staked, and the partner has said yes."""
    wanted = bet((1, "ante", STAKE), player=player, round_name=round_name, bet_id=player)
    assert states(await world.place(wanted)) == ["held"]


def given(row: Row) -> bool:
    """Whether in the end the partner has moved the money: it refused nothing, or was asked again."""
    return row.then != "people"


async def told(world: SpokenWorld, row: Row, round_name: str) -> str:
    """Tell what is queued, answered so once, or as often as it takes; then honestly. Its state then."""
    few = SETTINGS.contradictions_max if row.answer in CONTRADICTING else 1
    world.scripted.script(row.call, *[row.answer] * few)
    if row.answer == "not_asked":
        await held_back(world, row, round_name)
    elif row.answer == "not_sent":
        await world.scripted.down()
        world.start_work()
        await world.until("SELECT EXISTS (SELECT FROM wallet.partner_lanes WHERE failures > 0)")
        await world.stop_work()
        await world.scripted.up()
        close_circuit(world)
    await tell(world)
    state, reason = await world.last(round_name, row.call)
    tries = await world.tries(round_name, row.call)
    parked = row.then in ("people", "again_few")
    assert state == ("parked" if parked else "done"), row.name
    if parked:
        assert reason == row.message, row.name
    wanted = {"again_few": SETTINGS.contradictions_max, "confirm": 2, "people": 1}.get(row.then)
    if wanted is not None:
        assert tries == wanted, row.name
    elif row.answer != "not_asked":
        repeated = row.then == "again" or row.answer == "late"
        assert (tries >= 2) == repeated, row.name
    return state


async def held_back(world: SpokenWorld, row: Row, round_name: str) -> None:
    """While the circuit is open only one call is tried in a while, so it stays in the queue."""
    open_circuit(world)
    pauses = world.told.pauses
    world.start_work()
    async with asyncio.timeout(60):
        while world.told.pauses == pauses:  # noqa: ASYNC110 - an observer counts, and tells nobody
            await asyncio.sleep(0.01)
    assert await world.last(round_name, row.call) == ("queued", None), row.name
    assert await world.tries(round_name, row.call) == 0
    await world.stop_work()
    close_circuit(world)
