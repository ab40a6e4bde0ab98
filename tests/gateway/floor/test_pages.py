"""The floor's pages: what they show, what they ask the table service for, what they do not let through."""

from __future__ import annotations

import json
import re

import grpc
import grpc.aio
import pytest

from tests.gateway.floor.behind import CONFIG, SaidTable, SaidWallet
from tests.gateway.pages.signed_in import signed_in
from tests.gateway.world import World
from tests.history.desk.world import World as Mirror
from upcard.wallet.v1 import operator_reports_pb2 as reports_pb
from upcard_gateway.app.floor_config import fields_of
from upcard_gateway.domain.staff import Role

READERS: tuple[Role, ...] = ("shift_manager", "operations", "support", "auditor", "admin")


async def test_all_tables_are_there_with_their_alarms_on_top(
    world: World, tables: SaidTable, mirror: Mirror
) -> None:
    tables.show("t1", name="First")
    tables.show("t2", name="Second", dealer="", manual_mode=True)
    tables.show("t3", name="Third", is_open=False, dealer="")
    made = await mirror.play(table="t1", events=2)
    await mirror.apply()
    tables.show_round(made, 1, 2)
    async with signed_in(world, "shift_manager") as staff:
        answer = await staff.client.get("/staff/floor")
    assert answer.status_code == 200, answer.text
    text = answer.text
    assert text.index("First") < text.index("Second")
    assert "cards are laid by hand" in text
    assert "no dealer is signed in" in text
    assert "/staff/floor/tables/t3" in text
    assert "round runs" in text
    assert "script-src 'self'" in answer.headers["content-security-policy"]


async def test_a_window_that_is_over_is_an_alarm_that_leads_to_what_can_be_done(
    world: World, tables: SaidTable, mirror: Mirror
) -> None:
    tables.show("t1")
    made = await mirror.play(table="t1", events=1)
    tables.show_round(made, 1, 1)
    world.clock.move(86_400 * 365)
    async with signed_in(world, "operations") as staff:
        text = (await staff.client.get("/staff/floor")).text
    assert "should have closed" in text
    assert "/staff/floor/tables/t1/act/extend" in text
    assert "/staff/floor/tables/t1/act/cancel" in text


async def test_who_only_looks_is_offered_nothing_to_do(
    world: World, tables: SaidTable, mirror: Mirror
) -> None:
    tables.show("t1")
    made = await mirror.play(table="t1", events=2)
    await mirror.apply()
    tables.show_round(made, 1, 2)
    async with signed_in(world, "auditor") as staff:
        for path in ("/staff/floor", "/staff/floor/tables/t1"):
            answer = await staff.client.get(path)
            assert answer.status_code == 200
            assert "/act/" not in answer.text
        for path in (
            "/staff/floor/open",
            "/staff/floor/tables/t1/limits",
            "/staff/floor/tables/t1/act/close",
        ):
            assert (await staff.client.get(path)).status_code == 403
        assert (
            await staff.post("/staff/floor/tables/t1/act/close", {"reason": "closing"})
        ).status_code == 403
    assert tables.calls() == []


async def test_a_table_shows_its_round_cards_stakes_and_timeline(
    world: World, tables: SaidTable, mirror: Mirror
) -> None:
    tables.show("t1")
    made = await mirror.play(table="t1", number=1)
    await mirror.apply()
    tables.show_round(made, 1)
    async with signed_in(world, "shift_manager") as staff:
        answer = await staff.client.get("/staff/floor/tables/t1")
    assert answer.status_code == 200, answer.text
    assert "Betting closed" in answer.text
    assert "card-face" in answer.text
    assert "deck-1" in answer.text
    assert "1.00 - 50.00" in answer.text


async def test_a_table_is_shown_while_the_history_is_away(
    world: World, tables: SaidTable, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables.show("t1")
    made = await mirror.play(table="t1", events=2)
    tables.show_round(made, 1, 2)

    def away(*_: object, **__: object) -> None:
        metadata = grpc.aio.Metadata()
        raise grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, metadata, metadata)

    for call in ("GetTimeline", "ListBetsInPlay", "ListTablesInPlay"):
        monkeypatch.setattr(mirror.stub, call, away)
    async with signed_in(world, "shift_manager") as staff:
        answer = await staff.client.get("/staff/floor/tables/t1")
        listed = await staff.client.get("/staff/floor")
    assert answer.status_code == 200, answer.text
    assert "history does not answer" in answer.text
    assert "not known now" in listed.text


@pytest.mark.parametrize(
    ("act", "form", "call"),
    [
        ("close", {}, "CloseTable"),
        ("sign-dealer-out", {}, "SignOutDealer"),
        ("start-shift", {"shift": "late"}, "StartShift"),
        ("end-shift", {}, "EndShift"),
        ("introduce-deck", {"deck": "deck-2"}, "IntroduceDeck"),
        ("verify-deck", {"deck": "deck-2"}, "VerifyDeck"),
        ("shuffle-deck", {"deck": "deck-2"}, "ShuffleDeck"),
        ("retire-deck", {"deck": "deck-2", "slug": "worn"}, "RetireDeck"),
        ("manual-on", {"slug": "reader_broken"}, "EnterManualMode"),
        ("manual-off", {}, "LeaveManualMode"),
        ("extend", {"round": "7", "seconds": "20"}, "ExtendWindow"),
        ("cancel", {"round": "7", "slug": "dealer_mistake"}, "CancelRound"),
    ],
)
async def test_what_the_floor_does_is_asked_for_in_its_name_and_recorded(
    world: World, tables: SaidTable, act: str, form: dict[str, str], call: str
) -> None:
    tables.show("t1")
    path = f"/staff/floor/tables/t1/act/{act}"
    async with signed_in(world, "shift_manager") as staff:
        shown = await staff.client.get(path)
        assert shown.status_code == 200, shown.text
        answer = await staff.post(
            path, {**form, "reason": "because it has to be"}, request_id="wish-number-1"
        )
        assert answer.status_code == 303, answer.text
        assert answer.headers["location"] == f"/staff/floor/tables/t1?done={act}"
        told = await staff.client.get(answer.headers["location"])
        assert 'class="notice good"' in told.text
        ((name, request, actor),) = tables.asked
        assert (name, request.request_id, request.table) == (call, "wish-number-1", "t1")
        assert actor == f"staff:{staff.member.staff}"
        for key, value in form.items():
            sent = {"seconds": "extend_ms", "slug": "reason"}.get(key, key)
            wanted = str(int(value) * 1_000) if key == "seconds" else value
            assert str(getattr(request, sent)) == wanted
        stream = await world.edge.store.read_stream(f"staff-{staff.member.staff}")
    recorded = [json.loads(event.content) for event in stream]
    asked, answered = recorded[-2:]
    assert (asked["type"], answered["type"]) == ("StaffActionAsked", "StaffActionAnswered")
    assert asked["payload"]["action"] == f"floor.{act}"
    assert asked["payload"]["reason"] == "because it has to be"
    assert answered["payload"]["result"] == "done"


async def test_what_the_table_refuses_is_said_in_words_and_the_form_is_kept(
    world: World, tables: SaidTable
) -> None:
    tables.show("t1")
    tables.refusals["CloseTable"] = "round_running"
    async with signed_in(world, "shift_manager") as staff:
        answer = await staff.post("/staff/floor/tables/t1/act/close", {"reason": "the end of the day"})
        other = await staff.post("/staff/floor/tables/t1/act/extend", {"reason": "x y z", "seconds": "many"})
        tables.refusals["EndShift"] = "something_new"
        new = await staff.post("/staff/floor/tables/t1/act/end-shift", {"reason": "the end"})
    assert answer.status_code == 422
    assert "A round runs. It has to end" in answer.text
    assert "the end of the day" in answer.text
    assert other.status_code == 422
    assert "A whole number of seconds" in other.text
    assert "a sentence for logs (something_new)" in new.text
    assert tables.calls() == ["CloseTable", "EndShift"]


async def test_no_action_without_a_reason_or_from_another_site(world: World, tables: SaidTable) -> None:
    tables.show("t1")
    path = "/staff/floor/tables/t1/act/close"
    async with signed_in(world, "shift_manager") as staff:
        assert (await staff.post(path, {"reason": ""})).status_code == 422
        assert (await staff.client.post(path, data={"reason": "a reason"})).status_code == 403
        assert (await staff.client.get("/staff/floor/tables/t1/act/burn-down")).status_code == 404
        assert (await staff.client.get("/staff/floor/tables/none/act/close")).status_code == 404
    assert tables.calls() == []


async def test_a_change_of_limits_is_shown_before_it_is_made(world: World, tables: SaidTable) -> None:
    tables.show("t1", name="First")
    path = "/staff/floor/tables/t1/limits"
    async with signed_in(world, "shift_manager") as staff:
        form = hidden_and_shown((await staff.client.get(path)).text)
        form["c0.ante.max"] = "75.00"
        form["betting_ms"] = "12.5"
        looked = await staff.post(path, form)
        assert looked.status_code == 200, looked.text
        assert "75.00" in looked.text
        assert "Ante, most" in looked.text
        assert tables.calls() == []
        confirm = hidden_and_shown(looked.text) | {"step": "confirm"}
        no_reason = await staff.post(path, confirm)
        assert no_reason.status_code == 422
        assert tables.calls() == []
        done = await staff.post(path, confirm | {"reason": "a busy evening"})
        assert done.status_code == 303, done.text
    ((name, request, _),) = tables.asked
    assert name == "ChangeLimits"
    (limits,) = request.config.limits
    assert (limits.ante.min, limits.ante.max) == (100, 7_500)
    assert list(limits.chips) == CONFIG["chips"][0]["values"]
    assert request.config.durations.betting_ms == 12_500
    assert request.config.name == "First"


async def test_what_somebody_else_changed_meanwhile_is_compared_anew(world: World, tables: SaidTable) -> None:
    tables.show("t1", name="First")
    path = "/staff/floor/tables/t1/limits"
    async with signed_in(world, "operations") as staff:
        form = hidden_and_shown((await staff.client.get(path)).text)
        form["name"] = "Mine"
        confirm = hidden_and_shown((await staff.post(path, form)).text)
        tables.show("t1", name="Theirs")
        answer = await staff.post(path, confirm | {"step": "confirm", "reason": "a better name"})
    assert answer.status_code == 409
    assert "Somebody else has changed" in answer.text
    assert "Theirs" in answer.text
    assert tables.calls() == []


async def test_every_wrong_field_is_named_and_what_was_typed_stays(world: World, tables: SaidTable) -> None:
    tables.show("t1")
    path = "/staff/floor/tables/t1/limits"
    async with signed_in(world, "shift_manager") as staff:
        form = hidden_and_shown((await staff.client.get(path)).text)
        form |= {"name": "", "c0.ante.min": "1.005", "c0.chips": "1.00 2.00", "options_ms": "soon"}
        answer = await staff.post(path, form)
    assert answer.status_code == 422
    assert "4 things have to be mended" in answer.text
    assert 'value="1.005"' in answer.text
    assert 'value="soon"' in answer.text
    assert tables.calls() == []


async def test_a_table_is_opened(world: World, tables: SaidTable) -> None:
    tables.show("t1")
    async with signed_in(world, "shift_manager") as staff:
        form = hidden_and_shown((await staff.client.get("/staff/floor/open?from=t1")).text)
        taken = await staff.post("/staff/floor/open", form | {"table": "t1", "name": "Again"})
        assert taken.status_code == 422
        assert "open already" in taken.text
        looked = await staff.post("/staff/floor/open", form | {"table": "t9", "name": "Ninth"})
        confirm = hidden_and_shown(looked.text) | {"step": "confirm", "reason": "a full house"}
        done = await staff.post("/staff/floor/open", confirm)
        assert done.status_code == 303, done.text
    ((name, request, _),) = tables.asked
    assert (name, request.table, request.config.name) == ("OpenTable", "t9", "Ninth")
    assert request.config.ruleset == CONFIG["ruleset"]


async def test_a_round_has_its_own_page_with_every_event_and_the_wallets_calls(
    world: World, tables: SaidTable, money: SaidWallet, mirror: Mirror
) -> None:
    tables.show("t1")
    made = await mirror.play(table="t1", number=1, players=("p1", "p2"))
    await mirror.apply()
    await world.pool.execute("INSERT INTO gateway.players (player, operator) VALUES ('p1', 'op1')")
    call = reports_pb.PartnerCall(
        call="call-1",
        kind=reports_pb.PARTNER_CALL_KIND_BET,
        state=reports_pb.PARTNER_CALL_STATE_PARKED,
        amount=100,
        reason="refused_funds",
    )
    call.recorded_at.FromJsonString("2026-01-31T11:58:07Z")
    call.changed_at.FromJsonString("2026-01-31T11:59:08Z")
    line = reports_pb.OperatorTransaction(
        transaction="tx-1", kind="hold", player="p1", currency="EUR", seamless=True, calls=[call]
    )
    money.transactions["op1", "t1.1"] = [line]
    refused = reports_pb.PartnerCall(
        call="call-2",
        kind=reports_pb.PARTNER_CALL_KIND_BET,
        state=reports_pb.PARTNER_CALL_STATE_REFUSED,
        amount=4_200,
        reason="funds_refused",
    )
    money.lone["op1", "t1.1"] = [reports_pb.LonePartnerCall(call=refused, player="p1", currency="EUR")]
    async with signed_in(world, "shift_manager") as staff:
        answer = await staff.client.get("/staff/rounds/t1.1")
        unknown = await staff.client.get("/staff/rounds/t1.99")
    assert answer.status_code == 200, answer.text
    assert answer.text.count("<details id=") >= len(made.contents)
    assert "Why it ended so" in answer.text
    assert "call-1" in answer.text
    assert "waits for people" in answer.text
    assert "refused: funds" in answer.text
    assert "asked 11:58:07; as it is now since 11:59:08" in answer.text
    assert "tx-1" in answer.text
    for said in ("Nothing moved", "call-2", "42.00", "not enough money"):
        assert said in answer.text, said
    assert "/staff/floor/rounds/t1.1/correct" in answer.text
    assert unknown.status_code == 404


async def test_one_box_finds_what_there_is(world: World, tables: SaidTable, mirror: Mirror) -> None:
    tables.show("t1")
    await mirror.play(table="t1", number=1)
    await mirror.account("p1")
    await mirror.apply()
    await world.casino("op1")
    await world.pool.execute("INSERT INTO gateway.players (player, operator) VALUES ('p1', 'op1')")
    await world.pool.execute(
        "INSERT INTO gateway.people (player, operator, partner_player, nickname, country, language)"
        " VALUES ('p1', 'op1', 'anna@casino', 'Anna', 'DE', 'en')"
    )
    async with signed_in(world, "support") as staff:

        async def where(asked: str) -> str | int:
            answer = await staff.client.get("/staff/find", params={"q": asked})
            location: str | None = answer.headers.get("location")
            return answer.status_code if location is None else location

        assert await where("t1.1") == "/staff/rounds/t1.1"
        assert await where("t1") == "/staff/floor/tables/t1"
        assert await where("p1") == "/staff/players/p1"
        assert await where("anna@casino") == "/staff/players/p1"
        assert await where("nothing-at-all") == 404
        assert await where("' OR 1=1 --") == 404
        player = await staff.client.get("/staff/players/p1")
    assert player.status_code == 200, player.text
    assert "anna@casino" in player.text
    assert "/staff/rounds/t1.1" in player.text


async def test_the_live_stream_brings_all_regions_first(world: World, tables: SaidTable) -> None:
    tables.show("t1")
    async with signed_in(world, "auditor") as staff:
        for path, wanted in (
            ("/staff/floor", {"floor-alarms", "floor-tables", "floor-latest"}),
            ("/staff/floor/tables/t1", {"table-now", "table-timeline", "table-staff"}),
        ):
            page = (await staff.client.get(path)).text
            shown = set(re.findall(r'id="([a-z-]+)" data-live', page))
            assert wanted <= shown


def hidden_and_shown(page: str) -> dict[str, str]:
    """The fields of the last form of a page, as a browser would post them."""
    form = page[page.rindex('<form method="post" action="/staff/floor') :]
    found: dict[str, str] = {}
    for tag in re.findall(r"<input [^>]*>", form):
        name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
        if name is None or name[1] in {"csrf", "request_id"}:
            continue
        if 'type="checkbox"' in tag and " checked" not in tag:
            continue
        found[name[1]] = "" if value is None else value[1]
    found |= dict(re.findall(r'<textarea [^>]*name="([^"]*)"[^>]*>([^<]*)</textarea>', form))
    for name, body in re.findall(r'<select [^>]*name="([^"]*)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r"<option selected>([^<]*)", body) or re.search(r"<option>([^<]*)", body)
        found[name] = "" if chosen is None else chosen[1]
    return found


def test_the_forms_texts_are_those_of_the_configuration() -> None:
    fields = fields_of(CONFIG)
    assert (fields["c0.currency"], fields["c0.chip"], fields["betting_ms"]) == ("EUR", "1.00", "15")
