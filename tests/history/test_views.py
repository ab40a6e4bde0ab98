from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest

from rules_core.round import events as e
from rules_core.rulesets.shipped import shipped_ids
from rules_core.settlement.result_json import box_object
from tests.eventstore.test_append_only import as_role
from tests.history.rounds import casino, history, history_names, random_round
from tests.history.world import PASSWORD, World, open_world
from upcard_history.app.reading import RoundsQuery
from upcard_history.projections import ROUNDS


async def test_a_view_is_the_same_whatever_the_order_of_shards_and_the_size_of_pages(world: World) -> None:
    rounds = [one for one in casino(1) if not one.name.startswith("g") or "correct" in one.name]
    rounds += [history("scripted-corrected_round"), history("cancelled-card_dropped", "c1")]
    await world.keep(*rounds)
    await world.catch_up()
    expected = await world.content()
    assert len(expected["rounds_view.rounds"]) == len(rounds)
    for seed, page in ((1, 500), (2, 5)):
        await _forget(world)
        await world.catch_up(seed=seed, page=page)
        assert await world.content() == expected


async def test_a_view_is_the_same_however_the_streams_came_in_turns(
    world: World, new_database: Callable[[], str], service_role: str
) -> None:
    """In one history stream after stream, in the other one event of each, the last stream first."""
    rounds = [random_round(ruleset, 31, table=f"t{place}") for place, ruleset in enumerate(shipped_ids())]
    await world.keep(*rounds)
    await world.catch_up()
    dsn = new_database()
    async with open_world(as_role(dsn, service_role, PASSWORD), dsn) as other:
        await other.keep(*(one.cut(1) for one in reversed(rounds)))
        for place in range(1, max(len(one.contents) for one in rounds)):
            for one in rounds:
                await other.append(one.stream, one.new_events()[place : place + 1])
            if place % 20 == 0:
                await other.catch_up()
        await other.catch_up()
        assert await other.content() == await world.content()


async def _forget(world: World) -> None:
    """Views as on the first day."""
    await world.owner.execute("TRUNCATE " + ", ".join(await world.content()))
    await world.owner.execute("DELETE FROM eventstore.positions")


@pytest.mark.parametrize("name", history_names())
async def test_the_rows_of_a_round_are_what_its_events_say(world: World, name: str) -> None:
    one = history(name)
    await world.keep(one)
    await world.catch_up(page=3)
    events = one.events
    (row,) = (await world.history.rounds(RoundsQuery(), before=None, limit=10)).rows
    opened = events[0]
    assert isinstance(opened, e.RoundOpened)
    assert (row.table, row.number, row.ruleset) == (opened.table, opened.number, opened.ruleset)
    cancelled = [event for event in events if isinstance(event, e.RoundCancelled)]
    ended = [event for event in events if isinstance(event, e.RoundSettled | e.RoundResettled)]
    assert row.state == ("cancelled" if cancelled else "settled" if ended else "open")
    assert row.reason == (cancelled[0].reason if cancelled else None)
    assert row.corrections == sum(isinstance(event, e.RoundResettled) for event in events)
    if ended:
        assert row.dealer is not None
        assert row.dealer.final == ended[-1].dealer.final
        assert [(t.currency, t.players, t.staked, t.returned) for t in row.totals] == [
            (t.currency, t.players, t.staked, t.returned) for t in ended[-1].totals
        ]
    await _players_are_right(world, events)
    assert await world.value("SELECT count(*) FROM rounds_view.windows WHERE closed_at IS NULL") == (
        1 if cancelled and _open_windows(events) else 0 if (ended or cancelled) else _open_windows(events)
    )


async def _players_are_right(world: World, events: list[e.RoundEvent]) -> None:
    latest = {event.player: event for event in events if isinstance(event, e.PlayerSettled)}
    cancelled = any(isinstance(event, e.RoundCancelled) for event in events)
    by_platform = Counter(
        event.player
        for event in events
        if isinstance(event, e.FinalOptionChosen | e.PurchaseDeclined) and event.by == "platform"
    )
    for player in {event.player for event in events if isinstance(event, e.BetPlaced)}:
        page = await world.history.player_rounds(player, before=None, limit=10)
        result = latest.get(player)
        if result is not None:
            (mine,) = page.rows
            assert (mine.staked, mine.returned, mine.net) == (result.staked, result.returned, result.net)
            assert mine.revision == result.revision
            assert list(mine.boxes) == json.loads(json.dumps([box_object(box) for box in result.boxes]))
            assert mine.by_platform == by_platform[player]
        for mine in page.rows:
            if result is None:
                assert mine.returned == (mine.staked if cancelled else None)


def _open_windows(events: list[e.RoundEvent]) -> int:
    opened = sum(
        isinstance(event, e.RoundOpened | e.OptionsOpened | e.FinalOptionsOpened | e.PurchaseOffered)
        for event in events
    )
    closed = sum(
        isinstance(event, e.BettingClosed | e.OptionsClosed | e.FinalOptionsClosed | e.PurchaseClosed)
        for event in events
    )
    return opened - closed


@pytest.mark.parametrize("ruleset", ["live-shared@1", "dark-boxes@1", "classic@1"])
async def test_bets_in_play_add_up_at_every_event(world: World, ruleset: str) -> None:
    """What is staked in the end is what the settlement says; hidden only while a window is open."""
    one = random_round(ruleset, 5)
    settled = {event.player: event.staked for event in one.events if isinstance(event, e.PlayerSettled)}
    new, done = one.new_events(), 0
    for position, event in enumerate(one.events, 1):
        if isinstance(event, e.OptionsClosed | e.FinalOptionsClosed | e.PurchaseClosed | e.BettingClosed):
            await world.append(one.stream, new[done:position])
            done = position
            await world.apply(ROUNDS)
            assert not await world.value("SELECT count(*) FROM rounds_view.bets WHERE hidden")
    before_the_end = next(at for at, event in enumerate(one.events) if isinstance(event, e.RoundSettled))
    await world.append(one.stream, new[done:before_the_end])
    await world.apply(ROUNDS)
    sums = await world.pool.fetch("SELECT player, sum(amount) AS sum FROM rounds_view.bets GROUP BY player")
    assert {row["player"]: row["sum"] for row in sums} == settled


async def test_a_choice_on_a_shared_table_is_hidden_until_its_window_closes(world: World) -> None:
    one = random_round("live-shared@1", 5)
    kinds = [type(event).__name__ for event in one.events]
    chosen = next(
        place for place, event in enumerate(one.events) if isinstance(event, e.OptionChosen) and event.amount
    )
    player = one.events[chosen].player  # type: ignore[union-attr] # a choice has a player
    await world.keep(one.cut(chosen + 1))
    await world.catch_up()
    own = await world.history.bets_in_play(player=player)
    seen = [bet for bet in await world.history.bets_in_play(table=one.table) if bet.player == player]
    assert len(own) == len(seen) + 1
    closed = kinds.index("OptionsClosed")
    await world.append(one.stream, one.new_events()[chosen + 1 : closed + 1])
    await world.catch_up()
    seen = [bet for bet in await world.history.bets_in_play(table=one.table) if bet.player == player]
    assert len(await world.history.bets_in_play(player=player)) == len(seen)
    await world.append(one.stream, one.new_events()[closed + 1 :])
    await world.catch_up()
    assert await world.history.bets_in_play(table=one.table) == ()


async def test_rounds_come_newest_first_in_pages_that_leave_nothing_out(world: World) -> None:
    made = [random_round("three-box@1", seed, number=seed) for seed in range(1, 8)]
    await world.keep(*made)
    await world.catch_up()
    names: list[str] = []
    mine: list[str] = []
    before = None
    while True:
        page = await world.history.rounds(RoundsQuery(table="t1"), before=before, limit=3)
        names += [row.round for row in page.rows]
        if page.next is None:
            break
        before = page.next
    # All opened in the same second: the name then decides.
    assert sorted(names) == sorted(one.name for one in made)
    assert len(names) == len(set(names))
    before = None
    while True:
        found = await world.history.player_rounds("p1", before=before, limit=2)
        mine += [row.round for row in found.rows]
        assert all(row.player == "p1" for row in found.rows)
        if found.next is None:
            break
        before = found.next
    with_bets = [
        one.name
        for one in made
        if any(isinstance(x, e.PlayerSettled) and x.player == "p1" for x in one.events)
    ]
    assert sorted(mine) == sorted(with_bets)


async def test_results_of_a_table_are_its_last_rounds(world: World) -> None:
    made = [random_round("classic@1", seed, number=seed) for seed in range(1, 6)]
    await world.keep(*made, history("cancelled-card_dropped"), random_round("classic@1", 9, number=9).cut(5))
    await world.catch_up()
    found = await world.history.table_results("t1", limit=3)
    assert [row.number for row in found] == [7, 5, 4]
    assert (found[0].state, found[0].reason, found[0].dealer) == ("cancelled", "card_dropped", None)
    assert found[1].dealer is not None
