"""A partner that takes one transaction a request: a bet of several is still all of it, or nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from eventstore.postgres import Pool, PostgresEventStore
from tests.wallet.ledger.world import ROUND_SETTLED, bet, settled, states, withdrawn
from tests.wallet.seamless.scripted import MONEY, SpokenWorld, spoken_world
from upcard_seamless.answers import AnswerKind

BOTH = (1, "ante", 30), (1, "bonus_player", 5)


@pytest.fixture
async def spoken(pool: Pool, store: PostgresEventStore) -> AsyncIterator[SpokenWorld]:
    async with spoken_world(pool, store, "single") as world:
        yield world


async def told(world: SpokenWorld) -> None:
    """Tell everything."""
    world.start_work()
    await world.quiet()
    await world.stop_work()


async def test_amounts_are_in_the_partners_units_and_each_request_has_ids_of_its_own(
    spoken: SpokenWorld,
) -> None:
    player, round_name = await spoken.newcomer()
    wanted = bet(*BOTH, player=player, round_name=round_name)
    assert states(await spoken.place(wanted)) == ["held"]
    first, second = (one.bound for one in spoken.scripted.heard)
    assert (first["$amount"], second["$amount"]) == (30_000, 5_000)
    assert first["$call"] == second["$call"]
    assert len({first["$network"], second["$network"], first["$movement"], second["$movement"]}) == 4
    network = await spoken.value("SELECT network::text FROM wallet.partner_answers")
    assert network == first["$network"], "what the partner saw is what we keep"


@pytest.mark.parametrize(
    ("words", "outcome", "kept"),
    [
        (["ok", "refused_funds"], "funds_refused", "refused"),
        (["ok", "refused_player"], "player_refused", "refused"),
        (["ok", "server_error"], "unknown", "released"),
        (["ok", "wrong_amount"], "unknown", "released"),
        (["server_error", "ok"], "unknown", "released"),
        (["refused_funds", "ok"], "funds_refused", "refused"),
    ],
)
async def test_what_was_taken_of_a_bet_that_failed_goes_back(
    spoken: SpokenWorld, words: Sequence[AnswerKind], outcome: str, kept: str
) -> None:
    player, round_name = await spoken.newcomer()
    spoken.scripted.script("bet", *words)
    wanted = bet(*BOTH, player=player, round_name=round_name)
    assert states(await spoken.place(wanted)) == [outcome]
    await told(spoken)
    assert await spoken.scripted.owns(player) == MONEY
    assert set(await spoken.hold_states()) == {kept}
    assert await spoken.has(f"{player}-EUR") == (0, 0, 0, 0)


async def test_a_part_of_a_command_goes_back_alone(spoken: SpokenWorld) -> None:
    player, round_name = await spoken.newcomer()
    await spoken.place(bet(*BOTH, player=player, round_name=round_name))
    await spoken.hear((round_name, withdrawn((1, "bonus_player", 5), player=player)))
    await spoken.hear((round_name, settled((1, "ante", 30, 60), player=player)), (round_name, ROUND_SETTLED))
    await told(spoken)
    assert await spoken.scripted.owns(player) == MONEY + 30
    assert await spoken.scripted.on_book(lambda book: book.owed("EUR")) == -30
    assert (await spoken.books())["operator"] == 30
    closing = [one.bound["$closes_round"] for one in spoken.scripted.heard if one.kind == "win"]
    assert closing == [True]


@pytest.mark.parametrize(
    "words", [["server_error"], ["ok", "server_error"], ["duplicate", "unreadable", "ok"]]
)
async def test_a_rollback_is_told_until_each_part_is_back(
    spoken: SpokenWorld, words: Sequence[AnswerKind]
) -> None:
    player, round_name = await spoken.newcomer()
    await spoken.place(bet(*BOTH, player=player, round_name=round_name))
    spoken.scripted.script("rollback", *words)
    await spoken.hear((round_name, withdrawn(*BOTH, player=player)))
    await told(spoken)
    assert await spoken.scripted.owns(player) == MONEY
    assert await spoken.last(round_name, "rollback") == ("done", None)


async def test_a_bet_that_is_left_between_its_parts_goes_back(spoken: SpokenWorld) -> None:
    player, round_name = await spoken.newcomer()
    spoken.scripted.script("bet", "ok", "time_out")
    asking = asyncio.create_task(spoken.place(bet(*BOTH, player=player, round_name=round_name), within_s=4))
    await spoken.scripted.called("bet", 2)
    asking.cancel()  # as if its process had died: nobody records the answers
    await asyncio.wait([asking])
    assert set(await spoken.hold_states()) == {"requested"}
    await told(spoken)
    spoken.scripted.let_go()
    assert set(await spoken.hold_states()) == {"released"}
    assert await spoken.scripted.owns(player) == MONEY
    assert spoken.scripted.times("bet") == 2, "no part is asked again"
