"""What is folded from events is what the rules' own view says, at every step of many rounds."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from rules_core.command_line.random_round import random_round
from rules_core.round.evolve import evolve
from rules_core.round.state import new_round
from rules_core.rulesets.shipped import shipped, shipped_ids
from rules_core.views.events import Watch, shown_object
from rules_core.views.table import table_view
from rules_core.views.viewers import Player, Public, Viewer
from upcard_gateway.app.game_board import HIDDEN, Board, alias, hand_words
from upcard_gateway.app.game_own import OwnBoard
from upcard_gateway.app.game_seen import Beginning, Happened, Purse
from upcard_gateway.domain.sessions import Limits
from upcard_gateway.entrypoints.pages.english import English
from upcard_gateway.entrypoints.play.commands_texts import Texts
from upcard_gateway.entrypoints.play.shown import BoardShown
from upcard_platform.play import Actions, OwnBox, OwnEvent, OwnHand, Staked, TableEvent, TableNow

RULESETS: Final = sorted(shipped_ids())
SEEDS: Final = range(6)
SAY: Final = Texts(English.load()).say
QUIET: Final = frozenset({"decided", "settling", "draw", "replace"})
"""Steps that nobody is told of: a window that was skipped is known to be over with the next event."""


def nothing_yet(ruleset: str, view: Mapping[str, Any] | None = None) -> Beginning:
    chips = [{"currency": "EUR", "values": [100, 200, 500]}]
    table = {
        "table": "play",
        "name": "Play",
        "ruleset": ruleset,
        "open": True,
        "dealer": "d1",
        "currencies": ["EUR"],
        "manual_mode": False,
        "details": {"config": {"chips": chips}},
    }
    return Beginning(table, 0 if view is None else 1, 0, view)


def steps(ruleset: str, seed: int, viewer: Viewer) -> Iterator[tuple[list[Happened], dict[str, Any], str]]:
    """After each event of a random round: what the viewer is shown, their view then, and the step."""
    played = random_round(shipped(ruleset), seed, players=3)
    state, watch = new_round(played.ruleset), Watch(viewer)
    for position, event in enumerate(played.events, 1):
        evolve(state, event)
        shown = [shown_object(one) for one in watch.see(event, position, state, played.sealed)]
        happened = [
            Happened(one["round"], one["position"], one["type"], one["payload"], one.get("cards", {}))
            for one in json.loads(json.dumps(shown))
        ]
        view = json.loads(json.dumps(table_view(viewer, state, played.sealed, currency="EUR")))
        yield happened, view, state.step


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_board_is_what_everybody_sees(ruleset: str, seed: int) -> None:
    board = Board()
    board.begin(nothing_yet(ruleset))
    for happened, view, step in steps(ruleset, seed, Public()):
        for one in happened:
            told = board.event(one)
            TableEvent.model_validate(told)
            assert '"p1"' not in json.dumps(told)
        assert board.cards == view["cards"]
        window = view["window"]
        assert (board.open is None) == (window is None)
        if board.open is not None:
            assert (board.open.kind, board.open.box) == (window["kind"], window["box"])
            assert board.open.closes_at == window["closes_at"]
        if step not in QUIET:
            assert board.progress == {one["window"]: one["status"] for one in view["progress"]}
        final = view["dealer"]["final"] or view["dealer"]["hand"]
        if step in ("settled", "purchase", "cancelled") and final is not None:
            assert (board.dealer_hand, board.dealer_game) == (final["name"], final["game"])
            assert hand_words(board.dealer_cards) is not None
    assert board.open is None


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_board_that_begins_anywhere_is_the_same(ruleset: str, seed: int) -> None:
    whole = Board()
    whole.begin(nothing_yet(ruleset))
    for happened, view, step in steps(ruleset, seed, Public()):
        for one in happened:
            whole.event(one)
        late = Board()
        late.begin(nothing_yet(ruleset, view))
        assert late.cards == whole.cards
        assert (late.open is None) == (whole.open is None)
        if step == "settled":
            assert late.dealer_cards == whole.dealer_cards
        assert '"p1"' not in json.dumps(late.view())


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_players_own_messages_are_whole_at_every_step(ruleset: str, seed: int) -> None:
    """Each is of the form that is promised, and every card of their boxes that they may see is in it."""
    board, own = Board(), OwnBoard("EUR", Limits(), SAY)
    board.begin(nothing_yet(ruleset))
    own.begin(nothing_yet(ruleset))
    public = steps(ruleset, seed, Public())
    for (happened, view, step), (everybodys, _, _) in zip(
        steps(ruleset, seed, Player("p1")), public, strict=True
    ):
        for one in everybodys:
            board.event(one)
        for one in happened:
            OwnEvent.model_validate(own.event(one, board))
        early = own.bets({"own": view["own"]})
        state = own.state({"own": view["own"], "actions": view["actions"]}, board, Purse("EUR", 250))
        boxes = [OwnBox.model_validate(one) for one in state["boxes"]]  # type: ignore[attr-defined]  # the list that is promised
        actions = Actions.model_validate(state["actions"])
        assert actions.chips == [100, 200]
        if state["dealer"] is not None:
            OwnHand.model_validate(state["dealer"])
        for box, seen in zip(boxes, view["own"]["boxes"], strict=True):
            lies = [view["cards"].get(f"box.{box.box}.{index}") for index in range(5)]
            assert box.cards == [None if card == HIDDEN else card for card in lies if card is not None]
            if seen["hand"] is not None and step in ("final_options", "settled"):
                assert box.hand is not None
                assert box.hand.name == seen["hand"]["name"]
                assert words_fit(box.hand.name, box.hand.words)
        bets = own.bets({"own": view["own"]})
        if view["own"]["settled"] is None:
            assert (bets["last_win"], bets["last_round"]) == (None, None)
        assert bets == early, "whichever is made first"
        for placed in bets["placed"]:  # type: ignore[attr-defined]  # the list that is promised
            Staked.model_validate(placed)
        if view["own"]["settled"] is not None:
            assert (bets["last_win"], bets["last_round"]) == (view["own"]["settled"]["returned"], 1)


def words_fit(name: str, words: str) -> bool:
    """Whether the words are of this kind of hand."""
    kind = {"one_pair": "pair of", "nothing": "no combination", "ace_king": "ace-king"}
    return kind.get(name, name.replace("_", " ")) in words.lower()


def test_chips_above_the_balance_are_not_offered_and_all_are_where_nobody_knows_it() -> None:
    board, own = Board(), OwnBoard("EUR", Limits(), SAY)
    board.begin(nothing_yet("four-box@1"))
    view = {"own": {"boxes": [], "total": 0, "settled": None}, "actions": {}}
    for cash, chips in ((99, []), (100, [100]), (500, [100, 200, 500]), (None, [100, 200, 500])):
        state = own.state(view, board, Purse("EUR", cash))
        assert Actions.model_validate(state["actions"]).chips == chips


def test_the_sessions_limits_bound_what_is_offered() -> None:
    board, own = Board(), OwnBoard("EUR", Limits(wager_max=400, round_max=900), SAY)
    board.begin(nothing_yet("four-box@1"))
    box = {"box": 1, "blind": False, "folded": False, "wagers": {"ante": 100}}
    offered = {"boxes": [2], "wager": "ante", "blind": [], "min": 100, "max": 5_000, "step": 100}
    actions = {
        "place": [offered, {**offered, "wager": "bonus_player", "boxes": [1]}],
        "double": 100,
        "options": [{"box": 1, "bet": 200, "fee": 100, "sixth_card": True, "exchange_max": 5}],
        "finals": [],
        "purchases": [{"box": 1, "fee": 1_000}],
    }
    found = own._actions(actions, {"boxes": [box]}, board, None)
    told = Actions.model_validate(found)
    assert [one.max for one in told.place] == [200, 400]
    assert told.double == 100
    assert told.options[0].exchange_max == 5
    assert told.purchases[0].fee == 0
    tight = OwnBoard("EUR", Limits(round_max=300), SAY)
    found = tight._actions(actions, {"boxes": [box]}, board, None)
    told = Actions.model_validate(found)
    assert told.place == []
    assert told.double is None
    assert (told.options[0].bet, told.options[0].sixth_card, told.options[0].exchange_max) == (200, False, 0)


def test_a_window_is_told_with_the_servers_clock() -> None:
    shown = BoardShown("play", {"d1": "Ada"})
    shown.begin(nothing_yet("four-box@1"))
    assert TableNow.model_validate(shown.table()).dealer_name == "Ada"
    at = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
    assert shown.window(at).body["kind"] is None
    opened = Happened(
        3,
        1,
        "RoundOpened",
        {
            "ruleset": "four-box@1",
            "opened_at": "2026-01-31T12:00:00.000000Z",
            "closes_at": "2026-01-31T12:00:20.000000Z",
        },
    )
    shown.event(opened)
    made = shown.window(at + dt.timedelta(seconds=5))
    assert (made.round, made.body["kind"], made.body["remaining_ms"]) == (3, "betting", 15_000)
    assert shown.window(at + dt.timedelta(seconds=60)).body["remaining_ms"] == 0


def test_the_tables_own_events_change_it() -> None:
    board = Board()
    board.begin(nothing_yet("four-box@1"))
    for type_, payload, key, value in (
        ("DealerSignedOut", {"dealer": "d1"}, "dealer", ""),
        ("DealerSignedIn", {"dealer": "d2"}, "dealer", "d2"),
        ("ManualModeEntered", {"reason": "broken"}, "manual_mode", True),
        ("ManualModeLeft", {}, "manual_mode", False),
        ("TableClosed", {}, "open", False),
    ):
        board.event(Happened(0, 1, type_, payload))
        assert board.table[key] == value
    tip = board.event(Happened(0, 9, "TipGiven", {"player": "p1", "amount": 5, "transaction": "t"}))
    assert tip["payload"] == {"player": alias("play", "p1"), "amount": 5}


def test_chips_change_with_the_round_that_their_limits_count_for() -> None:
    board = Board()
    board.begin(nothing_yet("four-box@1"))
    config = {"name": "Other", "chips": [{"currency": "EUR", "values": [7]}]}
    board.event(Happened(0, 2, "LimitsChanged", {"config": config, "from_round": 1}))
    assert board.chips("EUR") == (100, 200, 500)
    times = {"opened_at": "2026-01-31T12:00:00.000000Z", "closes_at": "2026-01-31T12:00:20.000000Z"}
    board.event(Happened(1, 1, "RoundOpened", {"ruleset": "four-box@1", **times}))
    assert board.chips("EUR") == (7,)
    assert board.chips("GBP") == ()
