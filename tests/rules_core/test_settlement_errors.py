"""Every case that breaks a rule is an error with code, message, box and player (CONTRACTS.md section 1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.parse import parse_ruleset, ruleset_object
from rules_core.rulesets.shipped import shipped, shipped_ids
from rules_core.settlement.codes import CASE_ERRORS
from tests.rules_core.broken_cases import (
    CLASSIC,
    CROWDED,
    DARK,
    GOOD,
    LIVE,
    MOST,
    OF_THE_BOX,
    PAIR,
    TRIPS,
    WHOLE,
    at,
    house,
)
from tests.rules_core.settling import NO_GAME, QUEENS, Json, box, case, outcome_of

CATALOGUE = Path(__file__).parents[2] / "docs" / "settlement-errors.md"


def ids(rows: list[Any]) -> list[str]:
    return [f"{number}-{row[0]}" for number, row in enumerate(rows)]


@pytest.mark.parametrize(("code", "wrong"), WHOLE, ids=ids(WHOLE))
def test_error_of_the_case(code: str, wrong: object) -> None:
    result = outcome_of(wrong)
    assert list(result) == ["error"], result
    assert {key: result["error"][key] for key in result["error"] if key != "message"} == {"code": code}
    assert result["error"]["message"]


@pytest.mark.parametrize(("code", "wrong"), OF_THE_BOX, ids=ids(OF_THE_BOX))
def test_error_of_a_box_names_box_and_player(code: str, wrong: Json) -> None:
    result = outcome_of(wrong)
    assert list(result) == ["error"], result
    numbers = {"box_unknown": wrong["boxes"][-1]["box"], "box_not_open": 1}
    expected = {"code": code, "box": numbers.get(code, 2), "player": "p1"}
    assert {key: result["error"][key] for key in result["error"] if key != "message"} == expected
    assert result["error"]["message"]


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("boxes.0", 7, {"code": "object_expected"}),
        ("boxes.0.box", True, {"code": "amount_not_integer", "player": "p1"}),
        ("boxes.0.box", "2", {"code": "amount_not_integer", "player": "p1"}),
        ("boxes.0.box", ..., {"code": "key_missing", "player": "p1"}),
        ("boxes.0.player", 7, {"code": "value_wrong_type", "box": 2}),
        ("boxes.0.player", ..., {"code": "key_missing", "box": 2}),
        ("boxes.0.player", "p\ud800", {"code": "value_wrong_type", "box": 2}),
        ("boxes.0.player", "", {"code": "value_wrong_type", "box": 2, "player": ""}),
    ],
)
def test_error_of_a_box_names_only_what_can_be_read(path: str, value: object, expected: Json) -> None:
    error = outcome_of(at(path, value))["error"]
    assert {key: error[key] for key in error if key != "message"} == expected


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            case(LIVE, QUEENS, box(TRIPS, insurance=50)),
            "insurance of 50 is too little; stake 100 to 300, or 0 for none",
        ),
        (
            case(LIVE, QUEENS, box(TRIPS, insurance=400)),
            "insurance of 400 is too much; stake 100 to 300, or 0 for none",
        ),
        (
            case(LIVE, QUEENS, box("9s 9h 4d 4c 2d", insurance=100)),
            "only three of a kind or better can be insured, not two pair; set insurance to 0",
        ),
        (
            case(CLASSIC, QUEENS, box(TRIPS, "exchange", "Kd Kc Ac Ad Js", (0, 1, 2, 3, 4))),
            "5 cards were exchanged; this ruleset allows at most 4",
        ),
        (
            case(LIVE, QUEENS, box(TRIPS, "exchange", "Kd 7s", (3,))),
            "give one card for each exchanged position: 1 positions, 2 cards",
        ),
        (at("boxes.0.wagers.bet", 200), 'boxes.0.wagers has the key "bet", which means nothing there'),
        (at("boxes.0.wagers.ante", 1.5), "boxes.0.wagers.ante must be an integer, not a float"),
        (at("boxes.0.insurance"), "boxes.0 lacks the key insurance; state it"),
        (at("boxes.0.cards.2", "1h"), 'boxes.0.cards: "1h" is no card; rank 23456789TJQKA, then suit cdhs'),
        (
            at("ruleset", house(exchange_max=6)),
            "ruleset.exchange_max must be 1 to 5, not 6",
        ),
        (at("ruleset", house(extra=1)), "ruleset.extra is not a parameter"),
        (
            at("ruleset", house(id=LIVE, exchange_max=1)),
            "ruleset is not live-shared@1 as published; give it another id, or the id alone in its place",
        ),
        (
            case(DARK, NO_GAME, box(TRIPS, purchase=True), draws="Qd"),
            "a box bought the dealer's card; give every card that came out, 1 are too few",
        ),
    ],
)  # fmt: skip
def test_message_says_what_to_do(wrong: Json, message: str) -> None:
    assert outcome_of(wrong)["error"]["message"].startswith(message)


def test_first_broken_rule_wins_and_nothing_is_settled() -> None:
    wrong = case(LIVE, QUEENS, box(TRIPS, player="p0"), box(TRIPS, insurance=1), box(PAIR, player="p2"))
    assert list(outcome_of(wrong)) == ["error"]


@pytest.mark.parametrize(
    ("option", "extra"),
    [
        ("bet", {"positions": [], "cards": []}),
        ("bet", {"cards": None}),
        ("none", {"positions": None}),
        ("sixth", {"cards": ["Kd"], "positions": []}),
    ],
)
def test_empty_or_null_cards_say_that_none_were_bought(option: str, extra: Json) -> None:
    plain = case(LIVE, QUEENS, box(TRIPS, option, "Kd"))
    assert outcome_of(at("boxes.0.option", {"kind": option} | extra, plain)) == outcome_of(plain)


def test_a_bonus_that_is_absent_was_not_made() -> None:
    assert outcome_of(at("boxes.0.wagers", {"ante": 100})) == outcome_of(GOOD)


def test_deck_serves_all_that_is_left_of_it_after_the_reserve() -> None:
    fifteen = [entry for entry in CROWDED if entry["box"] != 4]
    fifteen.append(CROWDED[3] | {"option": {"kind": "bet"}})
    assert "error" not in outcome_of(case(DARK, NO_GAME, *fifteen))
    without = ruleset_object(shipped(DARK))
    without |= {"id": "my-house@1", "purchase": None, "windows": ["options", "final_options"]}
    without["insurance"] = {**dict(house()["insurance"]), "may_purchase": False}
    two = CROWDED[3] | {"option": {"kind": "exchange", "positions": [0, 1], "cards": ["Kd", "2d"]}}
    all_seventeen = case(DARK, NO_GAME, *CROWDED[:3], two, *CROWDED[4:])
    assert "error" not in outcome_of(at("ruleset", without, all_seventeen))


def test_a_house_ruleset_settles_like_the_shipped_one_it_equals() -> None:
    own = outcome_of(at("ruleset", house()))
    parsed = parse_ruleset(house())
    assert isinstance(parsed, Ruleset)
    assert own == outcome_of(GOOD) | {"ruleset": "my-house@1", "ruleset_sha256": parsed.sha256}


@pytest.mark.parametrize("name", shipped_ids())
def test_a_published_ruleset_given_whole_is_what_its_id_means(name: str) -> None:
    named = at("ruleset", name)
    whole = ruleset_object(shipped(name))
    assert outcome_of(at("ruleset", whole)) == outcome_of(named)
    assert outcome_of(at("ruleset", dict(reversed(whole.items())))) == outcome_of(named)


def test_true_and_one_are_not_confused_in_a_house_ruleset() -> None:
    assert "error" not in outcome_of(at("ruleset", house(exchange_max=1)))
    assert outcome_of(at("ruleset", house(exchange_max=True)))["error"]["code"] == "ruleset_invalid"


@pytest.mark.parametrize(
    "wrong",
    [case(LIVE, QUEENS, box(TRIPS, ante=MOST // 9)), case(LIVE, QUEENS, box(TRIPS, max_payout=MOST))],
    ids=["ante", "cap"],
)
def test_the_largest_amounts_settle(wrong: Json) -> None:
    assert outcome_of(wrong)["boxes"][0]["outcome"] == "win"


def test_every_code_is_tried_and_known() -> None:
    assert {code for code, _ in [*WHOLE, *OF_THE_BOX]} == set(CASE_ERRORS)


def test_catalogue_has_every_code_with_its_meaning_in_order() -> None:
    rows = [
        [part.strip() for part in line.strip("|").split("|")]
        for line in CATALOGUE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    assert [(code.strip("`"), meaning) for code, meaning, _ in rows] == list(CASE_ERRORS.items())
    assert [advice for _, _, advice in rows if not advice] == []
