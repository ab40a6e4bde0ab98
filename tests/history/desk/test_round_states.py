"""Rounds that are kept as they stand: what is shown of them is what a fresh look would show."""

from __future__ import annotations

import asyncio

import pytest

from rules_core.rulesets.shipped import shipped_ids
from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer
from tests.history.desk.world import World
from upcard_history.app import round_states
from upcard_history.app.reading import RulesetUnknown
from upcard_history.app.round_states import RoundStates
from upcard_history.app.viewing import view_of

RULESETS = ("live-shared@1", "dark-boxes@1", "classic@1", "three-box@1", "four-box@1")
VIEWERS: tuple[Viewer, ...] = (Public(), Player("p1"), Player("p2"), Operations(), Dealer())


class Counting:
    """A reader that counts how many pages are asked for."""

    def __init__(self, world: World) -> None:
        self._store = world.store
        self.reads: list[int] = []

    def iterate_contents(self, stream: str, *, after: int = 0, page: int = 500) -> object:
        """See `Reader`."""
        self.reads.append(after)
        return self._store.iterate_contents(stream, after=after, page=page)


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_a_growing_round_is_what_a_fresh_look_shows(world: World, ruleset: str) -> None:
    players = ("p1",) if ruleset in {"classic@1", "three-box@1"} else ("p1", "p2")
    made = await world.play(ruleset, players=players, events=1)
    states = RoundStates(world.store)
    step = max(1, len(made.contents) // 12)
    for after in range(1, len(made.contents) + step, step):
        for viewer in VIEWERS:
            assert await states.view_of("t1.1", viewer) == await view_of(world.store, "t1.1", viewer)
        if after < len(made.contents):
            await world.keep(made, after, min(after + step, len(made.contents)))


async def test_many_who_ask_at_once_have_it_folded_once(world: World) -> None:
    await world.play(players=("p1", "p2"))
    reader = Counting(world)
    states = RoundStates(reader)  # type: ignore[arg-type]  # it reads pages and nothing else
    found = await asyncio.gather(*(states.view_of("t1.1", Player("p1")) for _ in range(50)))
    assert all(one == found[0] for one in found)
    assert reader.reads.count(0) == 1


async def test_a_round_that_is_not_there_is_not_kept(world: World) -> None:
    states = RoundStates(world.store)
    assert await states.view_of("t1.1", Public()) is None
    assert states.rounds == ()
    await world.play()
    assert await states.view_of("t1.1", Public()) is not None


async def test_memory_has_a_bound(world: World) -> None:
    for number in range(1, 5):
        await world.play(number=number)
    sizes = [len(world.rounds[f"t1.{number}"].contents) for number in range(1, 5)]
    states = RoundStates(world.store, events_max=sizes[2] + sizes[3])
    for number in range(1, 5):
        await states.view_of(f"t1.{number}", Public())
    assert states.rounds == ("t1.3", "t1.4")
    await states.view_of("t1.3", Public())
    await states.view_of("t1.1", Public())
    assert list(states.rounds)[-1:] == ["t1.1"]
    assert not {"t1.2", "t1.4"} & {*states.rounds}
    one = RoundStates(world.store, events_max=1)
    assert await one.view_of("t1.1", Public()) is not None
    assert one.rounds == ("t1.1",)


async def test_a_look_that_is_broken_off_spoils_nothing(world: World) -> None:
    await world.play(players=[f"p{number}" for number in range(1, 300)])
    states = RoundStates(world.store)
    task = asyncio.create_task(states.view_of("t1.1", Public()))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert await states.view_of("t1.1", Operations()) == await view_of(world.store, "t1.1", Operations())


async def test_a_ruleset_that_is_not_here(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.play("four-box@1")
    others = [name for name in shipped_ids() if name != "four-box@1"]
    monkeypatch.setattr(round_states, "shipped_ids", lambda: others)
    states = RoundStates(world.store)
    with pytest.raises(RulesetUnknown):
        await states.view_of("t1.1", Public())
    assert states.rounds == ()
