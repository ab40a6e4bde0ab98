from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import grpc
import pytest

import upcard_gateway
from rules_core.hands.ranking import HAND_NAMES
from rules_core.views.table import _STEPS
from tests.gateway.dealer.desks import FakeTables, state, view, window
from tests.gateway.pages.signed_in import SignedIn, signed_in
from tests.gateway.world import World
from upcard_gateway.app.dealer_acts import CANCEL_REASONS, MANUAL_REASONS, RETIRE_REASONS
from upcard_gateway.app.dealer_desk import NextKind

ENGLISH: dict[str, Any] = json.loads(
    (Path(upcard_gateway.__file__).parent / "pages" / "english" / "dealer.json").read_text()
)
MANUAL: dict[str, Any] = {"manual_mode": True}
LAID = {f"box.{box}.{card}": "hidden" for box in (1, 3) for card in range(5)}
OPEN = {"box.2.0": "9s", "box.2.1": "9h", "box.2.2": "9d", "box.2.3": "Tc", "box.2.4": "2d"}
SCENES: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "take_table": ({"dealer": ""}, view("settled")),
    "other_dealer": ({"dealer": "s-other"}, view("settled")),
    "table_closed": ({"open": False}, None),
    "bring_deck": ({"decks": [], "round": 0, "step": ""}, None),
    "verify_deck": ({"decks": [{"deck": "deck-1"}]}, view("settled")),
    "shuffle_deck": ({"decks": [{"deck": "deck-1", "verified_after_round": 0}]}, view("settled")),
    "open_round": ({}, view("settled", cards={**LAID, **OPEN, "dealer.4": "Ah"})),
    "betting": ({}, view("betting", window=window("betting"))),
    "reader": ({}, view(cards={"box.1.0": "hidden"}, desk={"awaited": "box.2.0", "to_lay": 19})),
    "lay_down": (MANUAL, view(cards={}, desk={"awaited": "box.1.0", "to_lay": 20})),
    "lay_up": (
        MANUAL,
        view(
            cards={**OPEN, "dealer.4": "As"}, burned=["Kd", None], desk={"awaited": "switch.0", "to_lay": 5}
        ),
    ),
    "confirm": (MANUAL, view(cards={**LAID, **OPEN, "dealer.4": "As"}, desk={"confirm": True})),
    "window": ({}, view("options", window=window("options"), cards=OPEN, desk={"undecided": 2})),
    "name_cards": (MANUAL, view("next", cards=LAID)),
    "settling": ({}, view("settling")),
}


@pytest.mark.parametrize("kind", SCENES)
async def test_the_console_says_what_is_to_be_done(dealer: SignedIn, tables: FakeTables, kind: str) -> None:
    more, seen = SCENES[kind]
    tables.states["t1"] = state(**more)
    if seen is not None:
        tables.views["t1"] = seen
    shown = await dealer.client.get("/staff/dealer/t1")
    assert shown.status_code == 200, shown.text
    assert ENGLISH["next"][kind]["title"] in shown.text
    assert "style=" not in shown.text
    assert "<script>" not in shown.text


async def test_a_dealers_tables_come_first(dealer: SignedIn, tables: FakeTables) -> None:
    tables.states |= {
        "a": state("a", name="Of another", dealer="s-other"),
        "b": state("b", name="Free", dealer=""),
        "c": state("c", name="Mine"),
        "d": state("d", name="Shut", open=False, dealer=""),
    }
    text = (await dealer.client.get("/staff/dealer")).text
    assert text.index("Mine") < text.index("Free") < text.index("Of another") < text.index("Shut")


async def test_a_dealer_who_runs_the_floor_too_has_shifts(
    world: World, dealer: SignedIn, tables: FakeTables
) -> None:
    tables.states["t1"] = state()
    tables.views["t1"] = view("settled")
    assert 'data-act="start_shift"' not in (await dealer.client.get("/staff/dealer/t1")).text
    async with signed_in(world, "dealer", "shift_manager") as both:
        assert 'data-act="start_shift"' in (await both.client.get("/staff/dealer/t1")).text


async def test_nobody_else_opens_a_console(world: World, tables: FakeTables) -> None:
    tables.states["t1"] = state()
    async with signed_in(world, "support") as other:
        assert (await other.client.get("/staff/dealer/t1")).status_code == 403
    led = await (await world.client()).get("/staff/dealer/t1")
    assert led.status_code == 303
    assert led.headers["location"] == "/staff/sign-in?next=%2Fstaff%2Fdealer%2Ft1"


async def test_a_console_whose_table_does_not_answer_says_so(dealer: SignedIn, tables: FakeTables) -> None:
    tables.failures["ListTables"] = grpc.StatusCode.UNAVAILABLE
    answer = await dealer.client.get("/staff/dealer")
    assert answer.status_code == 503
    assert ENGLISH["problem"]["table_away"] in answer.text
    assert (await dealer.client.get("/staff/dealer/nowhere")).status_code == 404


def test_there_are_words_for_everything_that_may_have_to_be_said() -> None:
    assert set(get_args(NextKind)) <= ENGLISH["next"].keys()
    assert set(_STEPS) <= ENGLISH["step"].keys()
    assert set(HAND_NAMES) <= ENGLISH["hand"].keys()
    assert set(CANCEL_REASONS) == ENGLISH["cancel_reason"].keys()
    assert set(MANUAL_REASONS) == ENGLISH["manual_reason"].keys()
    assert set(RETIRE_REASONS) == ENGLISH["retire_reason"].keys()
