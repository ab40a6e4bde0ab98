from __future__ import annotations

import json
from typing import Any

import grpc
import pytest

from eventstore.postgres import PostgresEventStore
from servicekit.grpc import ActorKind
from tests.gateway.dealer.desks import FakeTables, state, view, window
from tests.gateway.pages.signed_in import SignedIn, signed_in
from tests.gateway.world import World
from upcard.call.v1.refusal_pb2 import Refusal
from upcard_gateway.app.dealer_acts import ACTS

TABLE = "/staff/api/dealer/tables/t1"
SAID: dict[str, Any] = {
    "deck": "deck-2",
    "reason": "dealer_mistake",
    "card": "10h",
    "place": "box.2.0",
    "cards": {"dealer.0": "kd"},
    "round": 3,
    "shift": "shift-1",
}


@pytest.fixture(autouse=True)
def one_table(tables: FakeTables) -> None:
    tables.states["t1"] = state()
    tables.views["t1"] = view("settled")


async def recorded(world: World, dealer: SignedIn) -> list[tuple[str, dict[str, Any]]]:
    """What the log has of this member: type and payload."""
    store: PostgresEventStore = world.edge.store
    page = await store.read_stream(f"staff-{dealer.member.staff}", limit=100)
    return [(event.type, json.loads(event.content)["payload"]) for event in page]


def body(act: str, **more: Any) -> dict[str, Any]:
    kind = next(kind for name, kind in ACTS.items() if name == act)
    return {"request_id": f"wish-{act}", **{field: SAID[field] for field in kind.needs}, **more}


@pytest.mark.parametrize("act", [name for name, kind in ACTS.items() if not kind.by_floor])
async def test_each_act_is_asked_once_in_the_dealers_name_and_recorded(
    world: World, dealer: SignedIn, tables: FakeTables, act: str
) -> None:
    answer = await dealer.call(f"{TABLE}/{act}", body(act))
    assert answer.status_code == 200, answer.text
    assert answer.json()["result"] == "done"
    ((call, request, actor),) = tables.acts()
    assert actor == dealer.member.dealer(), "the table knows a dealer by the member's id"
    assert (request.table, request.request_id) == ("t1", f"wish-{act}")
    (asked, asked_with), (answered, answered_with) = await recorded(world, dealer)
    assert (asked, answered) == ("StaffActionAsked", "StaffActionAnswered")
    assert asked_with["action"] == f"table.{act}"
    assert answered_with["result"] == "done"
    assert call


@pytest.mark.parametrize("act", ["start_shift", "end_shift"])
async def test_shifts_are_the_floors(world: World, dealer: SignedIn, tables: FakeTables, act: str) -> None:
    refused = await dealer.call(f"{TABLE}/{act}", body(act))
    assert (refused.status_code, refused.json()["code"]) == (403, "role_missing")
    assert not tables.acts()
    async with signed_in(world, "dealer", "shift_manager") as both:
        done = await both.call(f"{TABLE}/{act}", body(act))
    assert done.status_code == 200, done.text
    ((_, _, actor),) = tables.acts()
    assert actor is not None
    assert (actor.kind, "floor" in actor.roles) == (ActorKind.STAFF, True)


async def test_what_was_said_reaches_the_table_as_it_writes_it(dealer: SignedIn, tables: FakeTables) -> None:
    for act, more in (
        ("correct_card", {}),
        ("confirm_cards", {"cards": {"dealer.0": "kd", "box.1.4": "10 s"}}),
        ("lay_card", {"card": "10♥"}),
        ("cancel_round", {}),
    ):
        answer = await dealer.call(f"{TABLE}/{act}", body(act, **more))
        assert answer.json()["result"] == "done", answer.text
    corrected, confirmed, laid, cancelled = (request for _, request, _ in tables.acts())
    assert (corrected.place, corrected.card, corrected.round) == ("box.2.0", "Th", 3)
    assert {one.place: one.card for one in confirmed.manual_cards} == {"dealer.0": "Kd", "box.1.4": "Ts"}
    assert (laid.card, laid.scan_id) == ("Th", "wish-lay_card")
    assert cancelled.reason == "dealer_mistake"


async def test_a_repeated_act_goes_to_the_table_again_and_is_recorded_once(
    world: World, dealer: SignedIn, tables: FakeTables
) -> None:
    for _ in range(3):
        assert (await dealer.call(f"{TABLE}/open_round", body("open_round"))).status_code == 200
    assert {request.request_id for _, request, _ in tables.acts()} == {"wish-open_round"}
    assert len(await recorded(world, dealer)) == 2
    other = await dealer.call(f"{TABLE}/sign_out", {"request_id": "wish-open_round"})
    assert other.status_code == 409, "an id that came with another act is no wish"


async def test_a_refusal_is_told_in_words_and_recorded(
    world: World, dealer: SignedIn, tables: FakeTables
) -> None:
    tables.refusals["ConfirmCards"] = Refusal(
        reason="card_missing", message="name the card", data={"place": "dealer.1"}
    )
    answer = (await dealer.call(f"{TABLE}/confirm_cards", body("confirm_cards"))).json()
    assert (answer["result"], answer["reason"]) == ("refused", "card_missing")
    assert answer["data"] == {"place": "dealer.1"}
    assert "Dealer, card 2" in answer["text"]
    tables.refusals["OpenRound"] = Refusal(reason="unheard_of", message="the service's own words")
    answer = (await dealer.call(f"{TABLE}/open_round", body("open_round"))).json()
    assert answer["text"] == "the service's own words"
    assert [
        with_["result"] for type_, with_ in await recorded(world, dealer) if type_.endswith("Answered")
    ] == [
        "refused: card_missing",
        "refused: unheard_of",
    ]


async def test_no_card_is_in_the_log_of_actions(world: World, dealer: SignedIn) -> None:
    await dealer.call(f"{TABLE}/lay_card", body("lay_card", card="Qd"))
    await dealer.call(f"{TABLE}/confirm_cards", body("confirm_cards", cards={"dealer.1": "Qd"}))
    assert "Qd" not in str(await recorded(world, dealer))


async def test_a_table_that_does_not_answer_is_told_and_the_same_again_is_done(
    dealer: SignedIn, tables: FakeTables
) -> None:
    tables.failures["OpenRound"] = grpc.StatusCode.UNAVAILABLE
    away = await dealer.call(f"{TABLE}/open_round", body("open_round"))
    assert (away.status_code, away.json()["code"], away.headers["retry-after"]) == (503, "table_away", "1")
    tables.failures.clear()
    assert (await dealer.call(f"{TABLE}/open_round", body("open_round"))).json()["result"] == "done"


@pytest.mark.parametrize(
    ("act", "said", "answered"),
    [
        ("fold_the_table", {}, (404, "act_unknown")),
        ("sign_in", {"deck": "deck-1"}, (422, "act_wrong")),
        ("verify_deck", {}, (422, "act_wrong")),
        ("lay_card", {"round": 3, "card": "secret"}, (422, "act_wrong")),
        ("lay_card", {"round": 3, "card": 7}, (422, "request_invalid")),
        ("sign_in", {"request_id": "short"}, (422, "request_invalid")),
        ("sign_in", {"unknown": "field"}, (422, "request_invalid")),
    ],
)
async def test_what_cannot_be_meant_is_refused_and_asks_nobody(
    dealer: SignedIn, tables: FakeTables, act: str, said: dict[str, Any], answered: tuple[int, str]
) -> None:
    answer = await dealer.call(f"{TABLE}/{act}", {"request_id": "wish-0001", **said})
    assert (answer.status_code, answer.json()["code"]) == answered, answer.text
    assert "secret" not in answer.text
    assert not tables.acts()


async def test_an_act_of_another_site_is_refused(dealer: SignedIn, tables: FakeTables) -> None:
    good = {"Upcard-Csrf": dealer.csrf}
    for headers in ({}, {"Upcard-Csrf": "guessed"}, {**good, "Origin": "https://elsewhere.test"}):
        answer = await dealer.client.post(f"{TABLE}/open_round", json=body("open_round"), headers=headers)
        assert answer.status_code == 403, answer.text
    assert not tables.acts()


@pytest.mark.parametrize("role", ["shift_manager", "operations", "support", "auditor", "admin"])
async def test_nobody_but_a_dealer_deals(world: World, tables: FakeTables, role: Any) -> None:
    async with signed_in(world, role) as other:
        for path in ("/staff/api/dealer/tables", TABLE):
            assert (await other.client.get(path)).status_code == 403
        assert (await other.call(f"{TABLE}/open_round", body("open_round"))).status_code == 403
    assert not tables.acts()


async def test_who_is_locked_or_not_signed_in_is_told_so(
    world: World, dealer: SignedIn, tables: FakeTables
) -> None:
    assert (await dealer.call(f"{TABLE}/open_round", body("open_round"))).status_code == 200
    world.clock.move(5 * 60 + 5)
    locked = await dealer.call(f"{TABLE}/sign_out", body("sign_out"))
    assert (locked.status_code, locked.json()["code"]) == (401, "locked"), "five idle minutes lock a dealer"
    assert (await (await world.client()).get(TABLE)).status_code == 401
    assert len(tables.acts()) == 1


async def test_a_table_is_shown_with_what_is_to_be_done_next(dealer: SignedIn, tables: FakeTables) -> None:
    tables.states["t2"] = state("t2", dealer="s-other")
    tables.views["t1"] = view("betting", window=window("betting"))
    listed = (await dealer.client.get("/staff/api/dealer/tables")).json()["tables"]
    assert [(one["table"], one["mine"]) for one in listed] == [("t1", True), ("t2", False)]
    seen = (await dealer.client.get(TABLE)).json()
    assert seen["next"]["kind"] == "betting"
    assert seen["round"]["window"]["closes_at"] > seen["at"]
    assert seen["table"]["decks"] == [{"deck": "deck-1", "verified": True, "shuffled": True}]
    assert (await dealer.client.get("/staff/api/dealer/tables/nowhere")).status_code == 404
    tables.failures["GetTable"] = grpc.StatusCode.UNAVAILABLE
    assert (await dealer.client.get(TABLE)).status_code == 503
