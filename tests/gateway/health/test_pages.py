"""The pages of health: what they show, and what people do on them."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from eventstore.following import SkippedEvent, Stop
from messaging.dead_letters.letters import Failure
from messaging.operations import FollowerLag
from tests.gateway.health.behind import CALL, NOW, PROPOSAL, Behind, a_parked, a_row, stamp
from tests.gateway.pages.signed_in import SignedIn, signed_in
from tests.gateway.world import World
from upcard.history.v1 import history_pb2
from upcard.wallet.v1 import partners_pb2, wallet_pb2


async def get(staff: SignedIn, path: str) -> str:
    answer = await staff.client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


async def actions(world: World, staff: SignedIn) -> list[tuple[str, Any]]:
    """Types and payloads of the member's actions."""
    events = await world.edge.store.read_stream(f"staff-{staff.member.staff}")
    return [
        (event.type, json.loads(event.content)["payload"])
        for event in events
        if event.type.startswith("StaffAction")
    ]


def a_partner(**changes: Any) -> partners_pb2.Partner:
    given: dict[str, Any] = {
        "operator": "acme",
        "dialect": "plain",
        "circuit": partners_pb2.CIRCUIT_CLOSED,
        "since": stamp(NOW),
    }
    return partners_pb2.Partner(**(given | changes))


def a_call(**changes: Any) -> wallet_pb2.ParkedCall:
    given: dict[str, Any] = {
        "call": CALL,
        "operator": "acme",
        "account": "a1",
        "round": "t1.7",
        "kind": wallet_pb2.PARKED_KIND_WIN,
        "amount": 12_345,
        "currency": "EUR",
        "reason": "no_answer",
        "recorded_at": stamp(NOW),
        "parked_at": stamp(NOW),
        "behind": 2,
    }
    return wallet_pb2.ParkedCall(**(given | changes))


async def test_everything_well_is_said_to_be_so(world: World, behind: Behind) -> None:
    behind.wallet.partners = [a_partner()]
    async with signed_in(world, "operations") as staff:
        text = await get(staff, "/staff/health")
    assert "Everything is well" in text, text.partition('class="alarms"')[2][:800]
    for shown in ("follows table", "own log: audit", "publishes to upcard.table.v1", "acme", "closed"):
        assert shown in text
    assert "metrics not set up" in text


async def test_what_is_wrong_stands_on_top(world: World, behind: Behind) -> None:
    behind.operations["bonus"].away = True
    behind.operations["wallet"].followers = (FollowerLag("wallet", "table", 5_000, None, 2, 0, NOW),)
    behind.wallet.partners = [a_partner(circuit=partners_pb2.CIRCUIT_OPEN, failures=7, parked=3, waiting=12)]
    behind.history.standing = history_pb2.GetStandingResponse(
        views=[history_pb2.ViewStanding(view="rounds", behind=30_000)],
        replays=history_pb2.ReplayStanding(waiting=4, oldest_ms=1_200_000, wrong=1),
    )
    async with signed_in(world, "admin") as staff:
        text = await get(staff, "/staff/health")
    assert "Everything is well" not in text
    for shown in (
        "Bonus does not answer.",
        "Wallet: 2 streams are parked (table).",
        "acme&#39;s wallet does not answer",
        "acme: 3 players&#39; calls to the wallet wait for a decision.",
        "the view rounds is 30,000 events behind",
        "1 round was replayed and did not agree",
        "has waited 20 minutes for its replay",
    ):
        assert shown in text, shown


async def test_when_services_say_nothing_the_rest_is_shown(world: World, behind: Behind) -> None:
    behind.history.away = True
    for one in behind.operations.values():
        one.away = True
    async with signed_in(world, "operations") as staff:
        text = await get(staff, "/staff/health")
    assert text.count("does not answer.") == 4
    assert "Gateway" in text


async def test_a_parked_event_is_tried_again_with_a_reason(world: World, behind: Behind) -> None:
    behind.operations["wallet"].parked_streams = (a_parked(), a_parked("round-t2.1"))
    async with signed_in(world, "operations") as staff:
        text = await get(staff, "/staff/health/parked")
        assert text.count("round-t1.7") >= 2
        assert "the stake 12 is not above 0" in text
        assert "position 9 of the stream" in text
        form = {
            "service": "wallet",
            "follower": "wallet",
            "source": "table",
            "stream": "round-t1.7",
            "reason": "the rule is mended",
        }
        answer = await staff.post("/staff/health/parked/retry", form)
        assert (answer.status_code, answer.headers["location"]) == (
            303,
            "/staff/health/parked?done=retried&service=",
        )
        assert behind.operations["wallet"].asked == [("retry", "wallet", "table", "round-t1.7")]
        told = await actions(world, staff)
        assert [kind for kind, _ in told] == ["StaffActionAsked", "StaffActionAnswered"]
        assert told[0][1]["action"] == "parked_event_retry"
        assert told[0][1]["reason"] == "the rule is mended"
        assert "round-t1.7" in told[0][1]["subject"]
        assert "tried again within seconds" in await get(staff, answer.headers["location"])


async def test_an_event_is_left_out_by_name_position_and_reason(world: World, behind: Behind) -> None:
    behind.operations["wallet"].parked_streams = (a_parked(),)
    async with signed_in(world, "operations") as staff:
        form = {
            "service": "wallet",
            "follower": "wallet",
            "source": "table",
            "stream": "round-t1.7",
            "position": "9",
            "reason": "made by mistake",
            "only": "wallet",
        }
        for wrong in ({"reason": ""}, {"position": "x"}, {"stream": ""}, {"service": "nobody"}):
            answer = await staff.post("/staff/health/parked/skip", form | wrong)
            assert answer.status_code in {400, 422}, wrong
        assert behind.operations["wallet"].asked == []
        answer = await staff.post("/staff/health/parked/skip", form)
        assert answer.headers["location"] == "/staff/health/parked?done=skipped&service=wallet"
        who = f"staff:{staff.member.staff}"
        assert behind.operations["wallet"].asked == [
            ("skip", "wallet", "table", "round-t1.7", 9, who, "made by mistake")
        ]


@pytest.mark.parametrize("reason", ["not_parked", "other_event", "something_new"])
async def test_what_a_service_refuses_is_told(world: World, behind: Behind, reason: str) -> None:
    behind.operations["wallet"].refuses = reason
    form = {"service": "wallet", "follower": "w", "source": "t", "stream": "s", "reason": "because"}
    async with signed_in(world, "operations") as staff:
        answer = await staff.post("/staff/health/parked/retry", form)
        assert answer.status_code == 409
        assert "Nothing was done" in answer.text
        assert (await actions(world, staff))[-1][1]["result"].startswith("refused: ")


async def test_a_service_that_is_away_does_nothing(world: World, behind: Behind) -> None:
    behind.operations["wallet"].away = True
    form = {"service": "wallet", "follower": "w", "source": "t", "reason": "because"}
    async with signed_in(world, "operations") as staff:
        answer = await staff.post("/staff/health/stopped/resume", form)
        assert answer.status_code == 503
        assert "look before you repeat it" in answer.text


async def test_what_stands_still_goes_on(world: World, behind: Behind) -> None:
    behind.operations["history"].stops = (
        Stop("history", "table", 3, "forked", 77, NOW, 0, "fork_seen", "another hash", None, None, None),
    )
    behind.operations["history"].left_out = (
        SkippedEvent("history", "table", "round-t9.9", 2, "BetPlaced", "it failed", "staff:s9", "old", NOW),
    )
    async with signed_in(world, "operations") as staff:
        text = await get(staff, "/staff/health/parked?service=history")
        assert "another history" in text
        assert "round-t9.9" in text
        form = {"service": "history", "follower": "history", "source": "table", "reason": "restored the log"}
        await staff.post("/staff/health/stopped/resume", form)
    assert behind.operations["history"].asked == [("resume", "history", "table", None)]


async def test_dead_letters_say_whether_they_wait_still(world: World, behind: Behind) -> None:
    behind.operations["wallet"].parked_streams = (a_parked("round-t1.7", failed_position=9),)
    behind.operations["table"].letters = tuple(
        Failure("wallet", "table", stream, 9, "BetPlaced", "wrong", "it is wrong", 5, NOW, NOW)
        for stream in ("round-t1.7", "round-t1.8")
    )
    behind.operations["bonus"].away = True
    async with signed_in(world, "operations") as staff:
        text = await get(staff, "/staff/health/dead-letters")
    assert text.count("Waits: decide") == text.count('href="/staff/health/parked?service=wallet"') == 1
    assert text.count("applied or left out") == 1
    assert "Bonus: its dead letters cannot be read now" in text


async def test_late_declined_and_defaulted_bets_are_told_apart(world: World, behind: Behind) -> None:
    behind.history.rows = [
        a_row(1, bets_declined={"betting_closed": 3, "funds_refused": 2}, by_platform=5),
        a_row(2, bets_declined={"hold_answered_late": 1}, cancelled={"card_error": 1}),
    ]
    async with signed_in(world, "operations") as staff:
        text = await get(staff, "/staff/health/bets")
    values = [part.partition("<")[0] for part in text.split('<span class="value">')[1:]]
    assert values == ["4", "2", "5", "1", "42"]
    assert "hold_answered_late" in text
    (query,) = behind.history.queries
    assert query.until.ToDatetime(dt.UTC) - query.since.ToDatetime(dt.UTC) == dt.timedelta(hours=24)


async def test_a_parked_call_is_shown_and_tried_again(world: World, behind: Behind) -> None:
    behind.wallet.partners = [a_partner(parked=1)]
    behind.wallet.calls = [a_call()]
    async with signed_in(world, "operations") as staff:
        text = await get(staff, "/staff/health/partners/acme")
        assert "123.45 EUR" in text
        assert "no answer for too long" in text
        assert 'href="/staff/rounds/t1.7"' in text
        assert "owed_by_player" not in text  # of wins to be taken back alone
        await staff.post("/staff/health/partners/acme/retry", {"call": CALL, "reason": "they are back"})
        (asked,) = behind.wallet.asked
        assert (asked.call, asked.reason) == (CALL, "they are back")
        assert asked.request_id
        assert (await staff.client.get("/staff/health/partners/nobody")).status_code == 404
        assert (await staff.client.get("/staff/health/partners/no%20body")).status_code == 404


async def test_one_proposes_how_a_call_ends_and_another_decides(world: World, behind: Behind) -> None:
    behind.wallet.partners = [a_partner(parked=1)]
    async with signed_in(world, "operations") as staff:
        proposal = wallet_pb2.ParkedProposal(
            proposal=PROPOSAL,
            call=CALL,
            ending=wallet_pb2.PARKED_ENDING_DONE_BY_HAND,
            reason="they wrote to us",
            proposer="staff:somebody",
            proposed_at=stamp(NOW),
            state=wallet_pb2.PARKED_PROPOSAL_STATE_PROPOSED,
        )
        behind.wallet.calls = [a_call(proposals=[proposal], kind=wallet_pb2.PARKED_KIND_ROLLBACK_OF_WIN)]
        text = await get(staff, "/staff/health/partners/acme")
        assert "Owed by the player" in text
        assert "they wrote to us" in text
        form = {"proposal": PROPOSAL, "approve": "yes", "reason": "checked their letter"}
        answer = await staff.post("/staff/health/partners/acme/decide", form)
        assert answer.headers["location"].endswith("?done=approved")
        assert behind.wallet.asked[-1].approve
        wish = {"call": CALL, "ending": "owed_by_player", "reason": "they cannot"}
        await staff.post("/staff/health/partners/acme/propose", wish)
        assert behind.wallet.asked[-1].ending == wallet_pb2.PARKED_ENDING_OWED_BY_PLAYER
        assert (
            await staff.post("/staff/health/partners/acme/propose", wish | {"ending": "other"})
        ).status_code == 422
        behind.wallet.refuses = "two_people_needed"
        answer = await staff.post("/staff/health/partners/acme/decide", form)
        assert answer.status_code == 409
        assert "Another person" in answer.text
        # What oneself has proposed, another has to decide.
        proposal.proposer = f"staff:{staff.member.staff}"
        behind.wallet.calls = [a_call(proposals=[proposal])]
        assert "Another person has to decide this." in await get(staff, "/staff/health/partners/acme")


async def test_who_enrolled_after_a_proposal_cannot_approve_it(world: World, behind: Behind) -> None:
    """An admin who proposes, and adds or resets an account to approve with, is one person."""
    proposal = wallet_pb2.ParkedProposal(
        proposal=PROPOSAL,
        call=CALL,
        ending=wallet_pb2.PARKED_ENDING_DONE_BY_HAND,
        reason="they wrote to us",
        proposer="staff:somebody",
        proposed_at=stamp(NOW - dt.timedelta(seconds=1)),
        state=wallet_pb2.PARKED_PROPOSAL_STATE_PROPOSED,
    )
    behind.wallet.calls = [a_call(proposals=[proposal])]
    path, form = (
        "/staff/health/partners/acme/decide",
        {"proposal": PROPOSAL, "reason": "checked their letter"},
    )
    async with signed_in(world, "operations") as staff:
        late = await staff.post(path, form | {"approve": "yes"})
        assert late.status_code == 409
        assert "You enrolled after this was proposed." in late.text
        other = await staff.post(path, form | {"approve": "yes", "proposal": CALL})
        assert other.status_code == 409
        assert "does not wait for a decision here any more" in other.text
        assert behind.wallet.asked == []
        await world.pool.execute(
            "UPDATE gateway.staff SET enrolled_at = $2 WHERE staff = $1",
            staff.member.staff,
            NOW - dt.timedelta(seconds=2),
        )
        assert (await staff.post(path, form | {"approve": "yes"})).status_code == 303
    async with signed_in(world, "operations") as staff:
        assert (await staff.post(path, form | {"approve": "no"})).status_code == 303
    assert [one.approve for one in behind.wallet.asked] == [True, False]


async def test_live_regions_come_as_they_are_and_when_they_change(world: World) -> None:
    async with signed_in(world, "operations") as staff:
        page = await get(staff, "/staff/health")
        for region in ("alarms", "services", "lags", "partners"):
            assert f'id="{region}" data-live' in page
