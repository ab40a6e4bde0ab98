from __future__ import annotations

from typing import Any

import pytest

from rules_core.round.decide.ending import CANCEL_REASONS as RULES
from upcard_gateway.app.dealer_acts import ACTS, CANCEL_REASONS, Act, ActName, ActWrong, card_typed

SAID: dict[str, Any] = {
    "deck": "deck-1",
    "reason": "worn",
    "card": "Ah",
    "place": "box.2.0",
    "cards": (("dealer.0", "Kd"),),
    "round": 3,
    "shift": "shift-1",
}


def test_the_reasons_of_a_cancellation_are_those_of_the_rules() -> None:
    assert CANCEL_REASONS == RULES


@pytest.mark.parametrize("name", ACTS)
def test_an_act_takes_what_it_needs_and_may_have(name: ActName) -> None:
    kind = ACTS[name]
    needed = {field: SAID[field] for field in kind.needs}
    allowed = {field: SAID[field] for field in kind.may}
    assert Act(name, "t1", "request-1", **needed).name == name
    assert Act(name, "t1", "request-1", **needed, **allowed).name == name


@pytest.mark.parametrize("name", ACTS)
def test_an_act_without_what_it_needs_or_with_more_is_refused(name: ActName) -> None:
    kind = ACTS[name]
    needed = {field: SAID[field] for field in kind.needs}
    for missing in kind.needs:
        with pytest.raises(ActWrong, match="it has to be said") as wrong:
            Act(name, "t1", "request-1", **{k: v for k, v in needed.items() if k != missing})
        assert wrong.value.field == missing
    for field in SAID.keys() - kind.needs - kind.may:
        with pytest.raises(ActWrong, match="this act takes none"):
            Act(name, "t1", "request-1", **needed, **{field: SAID[field]})


@pytest.mark.parametrize(
    ("name", "said", "field"),
    [
        ("sign_in", {"table": "no table"}, "table"),
        ("sign_in", {"request_id": "a b"}, "request_id"),
        ("introduce_deck", {"deck": "deck/1"}, "deck"),
        ("enter_manual_mode", {"reason": "Because I like it"}, "reason"),
        ("close_betting", {"round": -1}, "round"),
        ("burn_card", {"round": 1, "card": "1h"}, "card"),
        ("correct_card", {"round": 1, "card": "Ah", "place": "box.0.0"}, "place"),
        ("confirm_cards", {"round": 1, "cards": (("dealer.9", "Ah"),)}, "place"),
        ("confirm_cards", {"round": 1, "cards": (("dealer.1", "hidden"),)}, "card"),
        ("confirm_cards", {"round": 1, "cards": (("dealer.1", "Ah"), ("dealer.1", "Ad"))}, "cards"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_field(name: Any, said: dict[str, Any], field: str) -> None:
    with pytest.raises(ActWrong) as wrong:
        Act(name, **{"table": "t1", "request_id": "request-1", **said})
    assert wrong.value.field == field


@pytest.mark.parametrize(
    ("typed", "card"),
    [("Ah", "Ah"), ("aH", "Ah"), (" 10 d ", "Td"), ("t♠", "Ts"), ("10♥", "Th"), ("2C", "2c"), ("", "")],
)
def test_cards_may_be_typed_as_people_type_them(typed: str, card: str) -> None:
    assert card_typed(typed) == card


@pytest.mark.parametrize("typed", ["1h", "AA", "AhKd", "Ax", "hidden", "🂡"])
def test_what_is_no_card_is_not_repeated(typed: str) -> None:
    with pytest.raises(ActWrong) as wrong:
        card_typed(typed)
    assert typed not in str(wrong.value)
