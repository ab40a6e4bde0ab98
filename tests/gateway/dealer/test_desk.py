from __future__ import annotations

import json
from typing import Any

import pytest

from rules_core.round.decide.cards import face_down
from rules_core.round.evolve import evolve
from rules_core.round.state import new_round
from rules_core.rulesets.shipped import shipped
from rules_core.views.table import table_view
from rules_core.views.viewers import Dealer
from tests.gateway.dealer.desks import STAFF, state, view, window
from tests.rules_core.recorded_rounds import ROUNDS
from upcard_gateway.adapters.dealing import _round, _ruleset, _table
from upcard_gateway.app.dealer_desk import DeskNow, NextStep, lies_face_down, next_step, places_to_name

AT = "2026-01-31T12:00:00.000000Z"
DEAL = {"awaited": "box.1.0", "to_lay": 20}


def desk(view: dict[str, Any] | None = None, *, at: str = AT, **more: Any) -> DeskNow:
    facts = _table(state(**more))
    return DeskNow(facts, _ruleset(facts.ruleset), None if view is None else _round(view), at)


def kind_of(now: DeskNow, dealer: str = STAFF) -> str:
    return next_step(now, dealer).kind


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"open": False}, "table_closed"),
        ({"dealer": ""}, "take_table"),
        ({"dealer": "s-other"}, "other_dealer"),
        ({"decks": []}, "bring_deck"),
        ({"decks": [{"deck": "d"}]}, "verify_deck"),
        ({"decks": [{"deck": "d", "verified_after_round": 3}]}, "shuffle_deck"),
        (
            {"decks": [{"deck": "d", "verified_after_round": 0, "shuffled_after_round": 2}]},
            "shuffle_deck",
        ),
        ({}, "open_round"),
        ({"manual_mode": True}, "open_round"),
        ({"manual_mode": True, "ruleset": "dark-boxes@1"}, "leave_manual"),
        ({"ruleset": "unheard-of@9"}, "open_round"),
    ],
)
def test_what_comes_between_rounds(more: dict[str, Any], kind: str) -> None:
    assert kind_of(desk(view("settled"), **more)) == kind
    assert kind_of(desk(None, round=0, **more)) in {kind, "shuffle_deck", "open_round"}


def test_of_several_decks_the_one_that_is_ready_and_came_last_is_played() -> None:
    decks = [
        {"deck": "a", "verified_after_round": 0, "shuffled_after_round": 3},
        {"deck": "b", "verified_after_round": 0, "shuffled_after_round": 3},
        {"deck": "c"},
    ]
    assert next_step(desk(view("settled"), decks=decks), STAFF) == NextStep("open_round", "b")


@pytest.mark.parametrize(
    ("seen", "more", "kind"),
    [
        (view("betting", window=window("betting")), {}, "betting"),
        (view("betting", window=window("betting", AT)), {}, "close_betting"),
        (view("betting", window=window("betting", "2026-01-31T11:59:00.000000Z")), {}, "window_late"),
        (view("options", window=window("options"), desk={"undecided": 2}), {}, "window"),
        (view(desk=DEAL), {}, "reader"),
        (view(desk=DEAL), {"manual_mode": True}, "lay_down"),
        (view(desk={"awaited": "box.2.0", "to_lay": 9}), {"manual_mode": True}, "lay_up"),
        (view(desk={"awaited": "dealer.4", "to_lay": 1}), {"manual_mode": True}, "lay_up"),
        (view(desk={"awaited": "switch.0", "to_lay": 5}), {"manual_mode": True}, "lay_up"),
        (view(desk=DEAL), {"manual_mode": True, "ruleset": "dark-boxes@1"}, "reader_missing"),
        (view(desk={"confirm": True}), {}, "confirm"),
        (view("next", cards={"dealer.0": "hidden"}), {"manual_mode": True}, "name_cards"),
        (view("next", cards={"dealer.0": "hidden"}), {}, "settling"),
        (view("settling"), {}, "settling"),
        (view("resettling"), {}, "open_round"),
        (view("cancelled"), {}, "open_round"),
    ],
)
def test_what_comes_next_in_a_round(seen: dict[str, Any], more: dict[str, Any], kind: str) -> None:
    assert kind_of(desk(seen, **more)) == kind


def test_a_place_and_how_many_cards_are_left_are_said() -> None:
    found = next_step(desk(view(desk=DEAL)), STAFF)
    assert (found.place, found.left, found.by_dealer) == ("box.1.0", 20, False)


def test_cards_that_lie_face_down_are_those_that_may_be_named() -> None:
    cards = {"box.1.0": "hidden", "box.2.0": "Ah", "dealer.0": "hidden"}
    assert places_to_name(_round(view(cards=cards))) == ("box.1.0", "dealer.0")


@pytest.mark.parametrize("name", ROUNDS)
def test_every_step_of_recorded_rounds_can_be_shown(name: str) -> None:
    recording = ROUNDS[name]()
    folded = new_round(recording.ruleset)
    for fact in recording.facts:
        evolve(folded, fact.event)
        if folded.opened is None:
            continue
        seen = json.loads(json.dumps(table_view(Dealer(), folded, recording.sealed)))
        facts = _round(seen)
        for manual in (False, True):
            now = desk(seen, ruleset=recording.ruleset.id, manual_mode=manual, at=folded.last_at)
            assert next_step(now, STAFF).kind
        if facts.awaited is None or recording.ruleset.private or facts.awaited.startswith("switch."):
            continue
        expected = face_down(folded, facts.awaited)
        assert lies_face_down(facts.awaited, recording.ruleset, facts) == expected, facts.awaited


def test_rules_that_this_program_does_not_have_lose_nobodys_cards() -> None:
    seen = _round(view(desk=DEAL))
    assert lies_face_down("box.2.0", None, seen)
    assert not lies_face_down("box.2.0", shipped("live-shared@1"), seen)
