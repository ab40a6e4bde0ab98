"""What each viewer gets of a round from history, at every event of it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from eventstore import Expect
from eventstore.memory import MemoryEventStore
from rules_core.round import events as e
from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer
from tests.history.rounds import Round, history, history_names, random_round
from tests.history.world import World
from upcard_history.app.reading import TimelineEntry
from upcard_history.app.viewing import known_of, timeline_of, view_of

OTHERS_OWN = {"BetDeclined", "PlayerSettled"}
HIDDEN_UNTIL_CLOSE = {"OptionChosen", "FinalOptionChosen", "PurchaseMade", "PurchaseDeclined"}


def viewers(one: Round) -> Iterator[Viewer]:
    yield from (Public(), Dealer(), Operations(), Player("nobody"))
    yield from (Player(player) for player in sorted(one.players)[:3])


def openings(one: Round) -> list[e.CardOpening]:
    return [
        opening
        for event in one.events
        if isinstance(event, e.CardsRevealed | e.DealerRevealed)
        for opening in event.openings
    ]


async def log_of(one: Round) -> MemoryEventStore:
    """A log with the round: the views know a `Reader` and no more."""
    log = MemoryEventStore()
    await log.append(one.stream, one.new_events(), expected=Expect.NONE)
    return log


@pytest.mark.parametrize("name", history_names())
async def test_an_ended_round_is_shown_whole_to_whom_it_belongs(name: str) -> None:
    one = history(name)
    log = await log_of(one)
    ended = any(isinstance(event, e.RoundSettled | e.RoundCancelled) for event in one.events)
    for viewer in viewers(one):
        shown = [entry async for entry in timeline_of(log, one.name, viewer)]
        _is_theirs(one, viewer, shown, ended=ended)
        found = await view_of(log, one.name, viewer)
        assert found is not None
        assert found[1] == len(one.contents)
        json.dumps(found[0])


def _is_theirs(one: Round, viewer: Viewer, shown: list[TimelineEntry], *, ended: bool) -> None:
    positions = [entry.position for entry in shown]
    assert len(positions) == len(set(positions))
    everybody = isinstance(viewer, Operations)
    own = viewer.player if isinstance(viewer, Player) else None
    for entry in shown:
        content, event = one.facts[entry.position - 1]
        assert (entry.type, entry.actor) == (content.type, content.actor if everybody else None)
        theirs = getattr(event, "player", own) == own
        assert everybody or theirs or entry.type not in OTHERS_OWN
        if entry.type in {"RoundSettled", "RoundResettled"}:
            assert bool(entry.payload["totals"]) == (everybody and bool(event.totals))  # type: ignore[union-attr] # it is one that has it
    left_out = {content.type for place, (content, _) in enumerate(one.facts, 1) if place not in positions}
    if ended:
        assert left_out <= (set() if everybody else OTHERS_OWN)
    if not isinstance(viewer, Player):
        assert not any(entry.cards for entry in shown)


@pytest.mark.parametrize(
    "ruleset", ["live-shared@1", "dark-boxes@1", "classic@1", "three-box@1", "four-box@1"]
)
async def test_nothing_hidden_is_shown_while_a_round_goes_on(ruleset: str) -> None:
    """No salt and no card of a place before its opening, no other's choice before its window's close."""
    one = random_round(ruleset, 11)
    log = MemoryEventStore()
    new, done = one.new_events(), 0
    for position, event in enumerate(one.events, 1):
        if isinstance(event, e.BetPlaced | e.CardScanned) and position % 7:
            continue
        await log.append(one.stream, new[done:position], expected=done)
        done = position
        known = one.cut(position)
        opened = {opening.place for opening in openings(known)}
        secret = [opening for opening in openings(one) if opening.place not in opened]
        for viewer in viewers(one):
            shown = [entry async for entry in timeline_of(log, one.name, viewer)]
            found = await view_of(log, one.name, viewer)
            assert found is not None
            said = [[entry.payload, dict(entry.cards)] for entry in shown]
            text = json.dumps(said) + json.dumps(found[0])
            assert not [x for x in secret if x.salt is not None and x.salt in text]
            if not isinstance(event, e.RoundSettled):
                assert not any(entry.cards for entry in shown)
            cards = found[0]["cards"]
            assert isinstance(cards, dict)
            assert {cards[x.place] for x in secret if x.place in cards} <= {"hidden"}
            _no_choice_of_others(known, viewer, shown)


def _no_choice_of_others(known: Round, viewer: Viewer, shown: list[TimelineEntry]) -> None:
    events = known.events
    shared = events[0].ruleset.startswith("live-shared")  # type: ignore[union-attr] # it is one that has it
    closings = (e.OptionsClosed, e.FinalOptionsClosed, e.PurchaseClosed)
    closed = max((n for n, event in enumerate(events, 1) if isinstance(event, closings)), default=0)
    for entry in shown:
        own = isinstance(viewer, Player) and entry.payload.get("player") == viewer.player
        if shared and entry.type in HIDDEN_UNTIL_CLOSE and not own:
            assert entry.position < closed


async def test_a_player_sees_afterwards_what_the_own_cards_were_when() -> None:
    one = random_round("dark-boxes@1", 11)
    log = await log_of(one)
    seen: dict[str, str] = {}
    for player in sorted(one.players):
        async for entry in timeline_of(log, one.name, Player(player)):
            seen.update(entry.cards)
            assert all(place.startswith(("box.", "replacement.")) for place in entry.cards)
    assert seen
    real = {opening.place: opening.card for opening in openings(one) if not opening.superseded}
    assert {place: real[place] for place in seen} == seen


async def test_all_cards_are_open_to_everybody_when_a_round_has_ended() -> None:
    """Folded private boxes too (RULES.md section 4.9)."""
    one = random_round("four-box@1", 4)
    log = await log_of(one)
    for viewer in viewers(one):
        found = await view_of(log, one.name, viewer)
        assert found is not None
        assert "hidden" not in found[0]["cards"].values()  # type: ignore[attr-defined] # it is one that has it


async def test_sums_of_the_house_are_for_operations(world: World) -> None:
    one = random_round("four-box@1", 4)
    await world.keep(one)
    await world.catch_up()
    for viewer in viewers(one):
        detail = await world.history.round_detail(one.name, viewer)
        assert detail is not None
        assert bool(detail.row.totals) == isinstance(viewer, Operations)
        shown = [entry async for entry in world.history.timeline(one.name, viewer)]
        assert shown[0].type == "RoundOpened"
        assert ("house" in detail.view) == isinstance(viewer, Operations)


async def test_a_round_that_nobody_knows_is_nothing(world: World) -> None:
    assert await world.history.round_detail("t1.1", Public()) is None
    assert [entry async for entry in world.history.timeline("t1.1", Public())] == []
    assert (await known_of(world.store, "t1.1")).position == 0
