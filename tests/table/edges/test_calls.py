"""From requests to a table's works, and from results to answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import grpc
import pytest

from eventstore.answers import MAX_ANSWER_BYTES, digest, keyed_digest
from rules_core.cards import CARD_OF
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.refusal import refuse
from servicekit.grpc import Actor, ActorKind, acting_as
from tests.table.edges.world import (
    DEALER,
    MANAGER,
    PLATFORM,
    PLAYER,
    SCAN_KEY,
    TIMEOUT_S,
    Instance,
    Played,
    PlayedTips,
    failed,
    no_database,
    open_instance,
)
from upcard.table.v1 import shoe_pb2, table_pb2
from upcard_table.app.calls import (
    Declined,
    Done,
    OpenRoundWork,
    Recorded,
    Refused,
    Result,
    RoundWork,
    TableCall,
    TableWork,
)
from upcard_table.domain.events import DealerSignedIn
from upcard_table.entrypoints.grpc.access import ACCESS, SHOE, SHOE_ACCESS, TABLE
from upcard_table.entrypoints.grpc.answering import MAX_ITEMS

WHEN = "2026-11-30T12:00:00.000000Z"
INVALID = (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")


def placed(work: RoundWork, position: int) -> Result:
    """What the round says to a bet of 1, 2, or more."""
    command = work.command
    assert isinstance(command, c.PlaceBet)
    stakes = tuple(e.Stake(one.box, one.wager, one.amount) for one in command.placements)
    amount = stakes[0].amount
    if amount == 1:
        return Refused(refuse("amount_below_minimum", "too little", minimum=2))
    if amount == 2:
        declined = tuple(e.DeclinedStake(one.box, one.wager, one.amount) for one in stakes)
        event = e.BetDeclined(
            command.player, "EUR", command.bet_id, declined, "funds_refused", WHEN, "PlaceBet"
        )
        return Declined(event, position, 7)
    bet = e.BetPlaced(command.player, "EUR", command.bet_id, "place", stakes, WHEN)
    return Done((Recorded("round-t1.7", position, bet),), 7)


def answers(call: TableCall) -> Sequence[Result]:
    """Plays the owner."""
    results: list[Result] = []
    for position, work in enumerate(call.works, start=10):
        match work:
            case RoundWork(command=c.PlaceBet()):
                results.append(placed(work, position))
            case RoundWork(command=c.ScanCard(scan_id=scan_id)):
                scanned = e.CardScanned("box.1.0", scan_id, "shoe", None, "00" * 32)
                results.append(Done((Recorded("round-t1.7", position, scanned),), 7))
            case TableWork():
                results.append(Done((Recorded("table-t1", position, DealerSignedIn("d1")),), None))
            case _:
                results.append(Refused(refuse("not_now", "not now")))
    return results


@pytest.fixture
async def instance() -> AsyncIterator[Instance]:
    """One that owns table t1."""
    async with open_instance(no_database(), Played(answers, {"t1"}), PlayedTips()) as found:
        yield found


def bets(*amounts: int, who: str = "", request_id: str = "r1") -> table_pb2.PlaceBetsRequest:
    """A batch with an ante each."""
    items = [
        table_pb2.PlaceBetsItem(
            player=who,
            currency="EUR",
            bet_id=f"b{number}",
            placements=[table_pb2.Wager(box=2, wager="ante", amount=amount)],
        )
        for number, amount in enumerate(amounts)
    ]
    return table_pb2.PlaceBetsRequest(request_id=request_id, table="t1", round=1, items=items)


def works(instance: Instance) -> list[RoundWork]:
    """The works of the call that came last."""
    return [work for work in instance.tables.calls[-1].works if isinstance(work, RoundWork)]


def test_every_call_says_who_may_make_it() -> None:
    assert set(ACCESS) == set(TABLE.methods_by_name)
    assert set(SHOE_ACCESS) == set(SHOE.methods_by_name)
    every = [*ACCESS.values(), *SHOE_ACCESS.values()]
    assert all(access.callers for access in every), "no call is open to every service"
    assert all("gateway" not in (access.callers or ()) for access in SHOE_ACCESS.values())


async def test_each_item_has_an_outcome_of_its_own(instance: Instance) -> None:
    with acting_as(PLAYER):
        answer = await instance.table.PlaceBets(bets(5, 2, 1), timeout=TIMEOUT_S)
    done, declined, refused = answer.items
    assert (done.accepted.round, done.accepted.position) == (7, 10)
    assert [(one.box, one.wager, one.amount) for one in done.accepted.wagers] == [(2, "ante", 5)]
    assert (declined.declined.reason, declined.declined.position) == ("funds_refused", 11)
    assert refused.refusal.reason == "amount_below_minimum"
    assert dict(refused.refusal.data) == {"minimum": "2"}
    first = works(instance)[0]
    assert first.by.actor == "player:p1"
    placements = (c.Placement(2, "ante", 5),)
    assert first.command == c.PlaceBet("p1", "EUR", "b0", placements, "", "not_asked")


async def test_the_same_call_again_gets_the_answer_that_was_kept(instance: Instance) -> None:
    with acting_as(PLAYER):
        first = await instance.table.PlaceBets(bets(5), timeout=TIMEOUT_S)
        assert await instance.table.PlaceBets(bets(5), timeout=TIMEOUT_S) == first
        reused = await failed(instance.table.PlaceBets(bets(6), timeout=TIMEOUT_S))
    assert reused == (grpc.StatusCode.INVALID_ARGUMENT, "request_id_reused")
    assert len(instance.tables.calls) == 1
    (key,) = instance.tables.kept
    assert (key.caller, key.method, key.request_id) == ("player:p1", "PlaceBets", "r1")


async def test_a_player_acts_for_nobody_else(instance: Instance) -> None:
    with acting_as(PLAYER):
        named = await instance.table.PlaceBets(bets(5, who="p1"), timeout=TIMEOUT_S)
        other = await failed(instance.table.PlaceBets(bets(5, who="p2", request_id="r2"), timeout=TIMEOUT_S))
    assert named.items[0].HasField("accepted")
    assert other == (grpc.StatusCode.PERMISSION_DENIED, "player_not_actor")


async def test_a_platforms_items_name_their_players(instance: Instance) -> None:
    request = bets(5, 6)
    request.items[0].player, request.items[1].player = "p8", "p9"
    with acting_as(PLATFORM):
        await instance.table.PlaceBets(request, timeout=TIMEOUT_S)
        nobody = await failed(instance.table.PlaceBets(bets(5, request_id="r2"), timeout=TIMEOUT_S))
    assert nobody == INVALID
    assert [(work.command.player, work.by.actor) for work in works(instance)] == [  # type: ignore[union-attr]  # players' commands only
        ("p8", "platform"),
        ("p9", "platform"),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        table_pb2.PlaceBetsRequest(request_id="r", table="t1"),
        table_pb2.PlaceBetsRequest(request_id="r", table="no table", items=bets(5).items),
        table_pb2.PlaceBetsRequest(request_id="", table="t1", items=bets(5).items),
        table_pb2.PlaceBetsRequest(request_id="r", table="t1", round=-1, items=bets(5).items),
        # Repeated after a crash, two items could reach the next round as well.
        table_pb2.PlaceBetsRequest(request_id="r", table="t1", items=bets(5, 6).items),
        table_pb2.PlaceBetsRequest(
            request_id="r", table="t1", items=[table_pb2.PlaceBetsItem(currency="EUR", placements=[])]
        ),
        table_pb2.PlaceBetsRequest(
            request_id="r",
            table="t1",
            items=[
                table_pb2.PlaceBetsItem(
                    bet_id="b", placements=[table_pb2.Wager(box=1, wager="bet", amount=5)]
                )
            ],
        ),
        table_pb2.PlaceBetsRequest(request_id="r", table="t1", items=[bets(5).items[0]] * 1_001),
    ],
    ids=[
        "no items",
        "no table",
        "no request_id",
        "no round",
        "which round",
        "no bet_id",
        "no such wager",
        "too many items",
    ],
)
async def test_what_no_right_program_sends_is_refused(
    instance: Instance, wrong: table_pb2.PlaceBetsRequest
) -> None:
    with acting_as(PLAYER):
        assert await failed(instance.table.PlaceBets(wrong, timeout=TIMEOUT_S)) == INVALID
    assert not instance.tables.calls


async def test_staff_need_a_role_and_dealers_none(instance: Instance) -> None:
    request = table_pb2.OpenRoundRequest(request_id="r1", table="t1")
    with acting_as(Actor(ActorKind.STAFF, "s1", frozenset({"auditor"}))):
        denied = await failed(instance.table.OpenRound(request, timeout=TIMEOUT_S))
    assert denied == (grpc.StatusCode.PERMISSION_DENIED, "role_missing")
    with acting_as(PLAYER):
        player = await failed(instance.table.OpenRound(request, timeout=TIMEOUT_S))
    assert player == (grpc.StatusCode.PERMISSION_DENIED, "actor_not_allowed")
    with acting_as(DEALER):
        refused = await instance.table.OpenRound(request, timeout=TIMEOUT_S)
    assert refused.refusal.reason == "not_now"
    (work,) = instance.tables.calls[-1].works
    assert isinstance(work, OpenRoundWork)


async def test_a_dealer_signs_in_as_who_acts(instance: Instance) -> None:
    request = table_pb2.SignInDealerRequest(request_id="r1", table="t1")
    with acting_as(DEALER):
        answer = await instance.table.SignInDealer(request, timeout=TIMEOUT_S)
    assert answer.changed.position == 10
    with acting_as(MANAGER):
        denied = await failed(instance.table.SignInDealer(request, timeout=TIMEOUT_S))
    assert denied == (grpc.StatusCode.PERMISSION_DENIED, "actor_not_allowed")


async def test_a_scan_leaves_nothing_to_be_guessed_from(instance: Instance) -> None:
    salt = bytes(range(16))
    request = shoe_pb2.ScanCardRequest(
        request_id="r1", table="t1", round=7, scan_id="s1", card="Ah", card_salt=salt
    )
    with acting_as(DEALER):
        answer = await instance.shoe.ScanCard(request, timeout=TIMEOUT_S)
    assert (answer.laid.place, answer.laid.position) == ("box.1.0", 10)
    (call,) = instance.tables.calls
    (work,) = call.works
    assert isinstance(work, RoundWork)
    assert work.number == 7
    assert work.command == c.ScanCard("s1", CARD_OF["Ah"], salt.hex(), "shoe", "dealer:d1")
    assert call.answer is not None
    body = digest(request.SerializeToString(deterministic=True))
    assert call.answer.body_digest == keyed_digest(SCAN_KEY, body) != body
    assert "Ah" not in repr(call)
    assert salt.hex() not in repr(call)
    (kept,) = instance.tables.kept.values()
    assert b"Ah" not in kept[1]


async def test_nor_does_a_card_that_is_named_by_hand(instance: Instance) -> None:
    request = table_pb2.BurnCardByHandRequest(request_id="r1", table="t1", scan_id="s1", card="Ah")
    with acting_as(DEALER):
        await instance.table.BurnCardByHand(request, timeout=TIMEOUT_S)
    (call,) = instance.tables.calls
    (work,) = works(instance)
    assert work.by_hand
    assert call.answer is not None
    body = digest(request.SerializeToString(deterministic=True))
    assert call.answer.body_digest == keyed_digest(SCAN_KEY, body)


async def test_a_card_that_is_none_is_not_repeated(instance: Instance) -> None:
    request = shoe_pb2.ScanCardRequest(request_id="r1", table="t1", scan_id="s1", card="Xx")
    with acting_as(DEALER):
        assert await failed(instance.shoe.ScanCard(request, timeout=TIMEOUT_S)) == INVALID


async def test_a_configuration_needs_to_be_said(instance: Instance) -> None:
    request = table_pb2.OpenTableRequest(request_id="r1", table="t1")
    with acting_as(MANAGER):
        assert await failed(instance.table.OpenTable(request, timeout=TIMEOUT_S)) == INVALID


async def test_an_answer_never_grows_beyond_what_can_be_kept(instance: Instance) -> None:
    """However many wagers and words there are: what the stream says anyhow is left out."""
    many = [table_pb2.Wager(box=box, wager="ante", amount=2**40) for box in range(1, 33)]
    items = [
        table_pb2.PlaceBetsItem(currency="EUR", bet_id=f"b{number}", placements=many)
        for number in range(MAX_ITEMS - 1)
    ]
    request = table_pb2.PlaceBetsRequest(
        request_id="r1", table="t1", round=1, items=[*items, bets(1).items[0]]
    )
    with acting_as(PLAYER):
        answer = await instance.table.PlaceBets(request, timeout=TIMEOUT_S)
    assert answer.ByteSize() <= MAX_ANSWER_BYTES
    assert len(answer.items) == MAX_ITEMS
    assert answer.items[0].accepted.position == 10
    assert not answer.items[0].accepted.wagers
    assert answer.items[-1].refusal.reason == "amount_below_minimum"
    assert not answer.items[-1].refusal.message
