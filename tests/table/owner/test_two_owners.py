"""Two owners of one table at once, the lease ignored: one sound stream (ARCHITECTURE.md, The log, 1)."""

from __future__ import annotations

import asyncio
import random

from rules_core.round import commands as c
from rules_core.round import events as e
from tests.table.owner.world import Owned, player_by
from upcard_table.app.calls import Declined, Done, NotOwner, Refused, RoundWork
from upcard_table.app.owner.owner import TableOwner

PLAYERS = 40
TRIES = 30


async def bet_somewhere(owned: Owned, owners: list[TableOwner], dice: random.Random, number: int) -> object:
    """A bet that is sent to either owner, again and again until one of them has an answer."""
    work = owned.bet(f"p{number}", (2, "ante", 100), bet_id=f"b{number}")
    for _ in range(TRIES):
        try:
            (result,) = await owned.ask(work, owner=dice.choice(owners), request_id=f"r{number}")
        except NotOwner:
            await asyncio.sleep(0.01)
            continue
        except TypeError:
            return "stored"
        return result
    raise AssertionError("no owner has an answer")


async def test_two_owners_at_once_leave_one_sound_stream(owned: Owned) -> None:
    await owned.prepare()
    await owned.open_round()
    owners = [owned.owner, await owned.begin(token=2)]
    dice = random.Random(7)
    results = await asyncio.gather(*(bet_somewhere(owned, owners, dice, number) for number in range(PLAYERS)))
    events = await owned.events()
    placed = [event.bet_id for event in events if isinstance(event, e.BetPlaced)]
    assert len(placed) == len(set(placed)) == PLAYERS
    for number, result in enumerate(results):
        if isinstance(result, Done):  # what was answered stands where the answer says
            (recorded,) = result.events
            assert events[recorded.position - 1] == recorded.event
            assert isinstance(recorded.event, e.BetPlaced)
            assert recorded.event.bet_id == f"b{number}"
    assert owned.figures.dropped_for.count("version_conflict") > 0
    # Both drive the round: their clocks close its windows at the same time.
    owned.clock.move(60_000)
    await owned.until(lambda: any(_step(owner) == "deal" for owner in owners))
    for owner in owners:
        result = await owned.one(RoundWork(c.UndoBet("p1", ""), player_by("p1")), owner)
        assert isinstance(result, Refused | Declined | Done)
    names = [type(event).__name__ for event in await owned.events()]
    assert names.count("BettingClosed") == 1
    owned.owner = owners[0]
    while not owned.live.ended:
        await advance(owned, owners)
    await owned.check_replay()


async def advance(owned: Owned, owners: list[TableOwner]) -> None:
    """Take a step of the round with whichever owner knows it best."""
    known = [owner._deciding.memory.last for owner in owners]
    positions = [0 if live is None else live.position for live in known]
    owned.owner = owners[positions.index(max(positions))]
    state = owned.live.state
    if state.awaited:
        await owned.lay()
    elif state.step in {"deal", "replace", "draw"}:
        await owned.confirm()
    elif state.window is not None:
        owned.clock.move(60_000)
        before = owned.live.position
        await owned.until(
            lambda: owned.live.position > before or owned.owner is not owners[positions.index(max(positions))]
        )
    else:
        await asyncio.sleep(0.01)


def _step(owner: TableOwner) -> str:
    live = owner._deciding.memory.last
    return "" if live is None else live.state.step
