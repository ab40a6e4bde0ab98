"""What the floor's pages decide by themselves: forms of limits, effects of corrections, alarms, words."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import get_args

import pytest

from rules_core.command_line.dice import Dice
from rules_core.command_line.random_round import RandomTable
from rules_core.log.content import parse_content
from rules_core.round import events as e
from rules_core.round.codec import event_of
from rules_core.round.events import RoundEvent
from rules_core.round.evolve import fold
from rules_core.round.refusal import Refusal
from rules_core.round.state import new_round
from rules_core.rulesets.shipped import shipped
from tests.gateway.floor.behind import CONFIG, view_of
from upcard_gateway.app.floor_config import Change, changes, fields_of, parsed
from upcard_gateway.app.floor_effect import Effect, RoundPlayed, effect_of, played_boxes, played_cards
from upcard_gateway.app.floor_tables import Deck, FloorRow, WindowNow, alarms_of
from upcard_gateway.app.floor_words import SENTENCES, facts_of
from upcard_gateway.entrypoints.pages.english import English

NOW = dt.datetime(2026, 1, 31, 12, 0, 0, tzinfo=dt.UTC)


def played(seed: int = 5) -> RoundPlayed:
    """A random round that was settled."""
    for step in range(50):
        made = RandomTable(shipped("live-shared@1"), Dice(seed + step), ("p1", "p2"), 1)
        made.play()
        contents = [parse_content(one) for one in made.contents]
        if contents[-1].type == "RoundSettled":
            events = tuple(event_of(one.type, one.version, one.payload) for one in contents)
            state = fold(new_round(made.ruleset), events)
            return RoundPlayed(state, events, played_boxes(state), played_cards(events))
    raise AssertionError("no random round was settled")


def test_a_configuration_is_the_same_after_the_form() -> None:
    found = parsed(fields_of(CONFIG))
    assert not found.errors
    assert changes(CONFIG, found.config) == []
    assert fields_of(found.config) == fields_of(CONFIG)


def test_boxes_that_differ_are_lines() -> None:
    form = fields_of(CONFIG) | {"c0.boxes": "3: 5.00-50.00 / 1000.00\n4: / 20.00"}
    found = parsed(form)
    assert not found.errors
    assert found.config["limits"][0]["boxes"] == [
        {"box": 3, "ante": {"min": 500, "max": 5_000}, "max_payout": 100_000},
        {"box": 4, "ante": None, "max_payout": 2_000},
    ]
    assert fields_of(found.config)["c0.boxes"] == "3: 5.00-50.00 / 1000.00\n4: / 20.00"


@pytest.mark.parametrize(
    ("field", "text", "kind"),
    [
        ("name", "", "missing"),
        ("c0.currency", "EURO", "not_a_currency"),
        ("c0.chip", "", "amount"),
        ("c0.ante.min", "1.001", "amount"),
        ("c0.ante.min", "-1", "amount"),
        ("c0.ante.max", "0.50", "below_least"),
        ("c0.chips", "1.00 2.00", "chips"),
        ("c0.boxes", "nonsense", "box_line"),
        ("c0.boxes", "3:", "box_line"),
        ("betting_ms", "soon", "seconds"),
        ("confirm_cards_ms", "1.0001", "seconds"),
        ("c1.currency", "EUR", "currency_twice"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(field: str, text: str, kind: str) -> None:
    found = parsed(fields_of(CONFIG) | {field: text})
    assert kind in {one.kind for one in found.errors}
    said = English.load()
    assert all(said.has(f"floor.wrong.{one.kind}") for one in found.errors)


def test_differences_are_named_one_by_one() -> None:
    form = fields_of(CONFIG) | {"name": "Other", "c0.ante.max": "70.00", "betting_ms": "16"}
    form |= {name.replace("c0.", "c1."): text for name, text in fields_of(CONFIG).items() if "c0." in name}
    form["c1.currency"] = "GBP"
    found = changes(CONFIG, parsed(form).config)
    assert found[0] == Change("name", "", "Table 1", "Other")
    assert Change("ante.max", "EUR", "50.00", "70.00") in found
    assert Change("currency", "GBP", "", "GBP") in found
    assert Change("betting_ms", "", "15", "16") in found


def test_the_effect_of_a_refund_is_what_the_rules_decide() -> None:
    round_ = played()
    effect = effect_of(round_, "staff:s1", "wrong_result", refund=True)
    assert isinstance(effect, Effect)
    assert effect.changes
    for one in effect.changes:
        assert one.net == 0
        before = next(box for box in round_.boxes if (box.box, box.player) == (one.box, one.player))
        assert (one.net_before, one.returned_before) == (before.net, before.returned)
    assert dict(effect.sums) == {"EUR": sum(-one.net_before for one in effect.changes)}


def test_a_correction_that_the_rules_refuse_says_why_and_changes_nothing() -> None:
    round_ = played()
    place, card = round_.cards[0]
    other = next(one for _, one in round_.cards if one and one != card)
    before = dataclasses.asdict(round_.state)["correction"]
    refused = effect_of(
        round_, "staff:s1", "wrong_card_read", refund=False, cards=[e.CardCorrection(place, other)]
    )
    assert isinstance(refused, Refusal)
    assert refused.code == "correction_card_repeated"
    assert round_.state.correction == before
    assert English.load().has(f"floor.refused.{refused.code}")


def test_every_event_of_a_round_has_a_sentence() -> None:
    names = {kind.__name__ for kind in get_args(RoundEvent)}
    assert set(SENTENCES) == names
    said = English.load()
    for seed in range(8):
        made = RandomTable(shipped("classic@1"), Dice(seed), ("p1", "p2", "p3"), 1)
        made.play()
        for content in map(parse_content, made.contents):
            key, facts = facts_of(content.type, content.payload)
            assert key == content.type
            assert said(f"floor.event.{key}", **facts)
    assert facts_of("SomethingNew", {})[0] == "unknown"
    assert facts_of("RoundCancelled", {}) == ("unknown", {"type": "RoundCancelled"})


def row(**changes: object) -> FloorRow:
    """A table whose round runs as it should."""
    made = RandomTable(shipped("live-shared@1"), Dice(1), ("p1",), 4)
    made.play()
    view, position = view_of(made, 1)
    found = FloorRow(
        "t1",
        "First",
        "live-shared@1",
        open=True,
        dealer="d1",
        round=4,
        step="betting",
        manual=False,
        position=3,
        config=CONFIG,
        decks=(Deck("deck-1", verified=True, shuffled=True),),
        view=view,
        round_position=position,
        window=WindowNow("betting", None, NOW + dt.timedelta(seconds=5), 0),
    )
    return dataclasses.replace(found, **changes)  # type: ignore[arg-type]  # fields by their names


@pytest.mark.parametrize(
    ("changes_", "kinds"),
    [
        ({}, []),
        ({"window": WindowNow("betting", None, NOW - dt.timedelta(seconds=6), 0)}, ["window_overdue"]),
        ({"window": WindowNow("betting", None, NOW - dt.timedelta(seconds=4), 0)}, []),
        ({"window": None, "quiet_s": 120.0}, ["stalled"]),
        ({"window": None, "quiet_s": 119.0}, []),
        ({"dealer": None}, ["round_without_dealer"]),
        ({"declined": 2}, ["declined"]),
        ({"manual": True}, ["manual"]),
        ({"view": None}, ["unread"]),
        ({"step": "settled", "dealer": None}, ["no_dealer"]),
        ({"step": "settled", "decks": ()}, ["no_deck"]),
        ({"step": "settled", "open": False, "dealer": None}, []),
    ],
)
def test_alarms(changes_: dict[str, object], kinds: list[str]) -> None:
    found = alarms_of(row(**changes_), NOW, stalled_s=120.0)
    assert [one.kind for one in found] == kinds
    said = English.load()
    for one in found:
        assert said(f"floor.alarm.{one.kind}", **one.values)
