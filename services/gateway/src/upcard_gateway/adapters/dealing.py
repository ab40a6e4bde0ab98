"""A dealer's console and the table service: what it sees there, and what it asks for."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeVar

import grpc
import grpc.aio

from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.shipped import UnknownRuleset, shipped
from servicekit.grpc import Actor, acting_as, failure_of
from upcard.call.v1.refusal_pb2 import Refusal
from upcard.table.v1 import table_pb2 as pb
from upcard.table.v1 import watching_pb2
from upcard_gateway.adapters.services import Services
from upcard_gateway.app.dealer_acts import Act, ActDone, ActName, ActOutcome, ActRefused
from upcard_gateway.app.dealer_desk import BoxFacts, DeckFacts, DeskNow, RoundFacts, TableFacts, WindowFacts

LOOK_S: Final = 3.0
"""Deadline of a look at a table."""
ACT_S: Final = 10.0
"""Deadline of an act: a table may be moving to another owner meanwhile."""
PAGE: Final = 500
MOST_PAGES: Final = 10
_TIME: Final = "%Y-%m-%dT%H:%M:%S.%fZ"

T = TypeVar("T")


class TableAway(Exception):
    """The table service did not answer. Whether an act was done is not known: the same again tells."""


class RequestReused(Exception):
    """The request id came before with something else; nothing was done."""


class ActForbidden(Exception):
    """Who acts may not do this: the role is missing. `str` is what the service says."""


class _Answer(Protocol):
    """What all answers to acts have."""

    @property
    def changed(self) -> pb.TableChanged | pb.RoundChanged: ...

    @property
    def refusal(self) -> Refusal: ...

    def WhichOneof(self, oneof_group: Any) -> str | None: ...  # noqa: N802, ANN401 - as protobuf has it


class GrpcDealing:
    """Looks and acts, over gRPC, each in the name of who looks or acts."""

    def __init__(self, services: Services, now: Callable[[], dt.datetime]) -> None:
        self._table = services.table
        self._now = now

    async def tables(self) -> tuple[TableFacts, ...]:
        """All tables, by id, as they were a moment ago. Raises TableAway."""
        found: list[TableFacts] = []
        after = ""
        for _ in range(MOST_PAGES):
            request = watching_pb2.ListTablesRequest(after=after, limit=PAGE)
            answer = await _looked(self._table.ListTables(request, timeout=LOOK_S))
            found += map(_table, answer.tables)
            if not answer.more:
                break
            after = answer.tables[-1].table
        return tuple(found)

    async def desk(self, dealer: Actor, table: str) -> DeskNow | None:
        """A table and its latest round as its dealer sees them; None: there is no such table.

        Raises TableAway.
        """
        with acting_as(dealer):
            asked = watching_pb2.GetTableRequest(table=table)
            state = await _looked(self._table.GetTable(asked, timeout=LOOK_S))
            if state.WhichOneof("result") != "table":
                return None
            facts = _table(state.table)
            played = await self._round(table, facts.round) if facts.round else None
        return DeskNow(facts, _ruleset(facts.ruleset), played, self._now().strftime(_TIME))

    async def _round(self, table: str, number: int) -> RoundFacts | None:
        request = watching_pb2.GetRoundRequest(table=table, round=number)
        answer = await _looked(self._table.GetRound(request, timeout=LOOK_S))
        if answer.WhichOneof("result") != "view":
            return None
        return _round(json.loads(answer.view))

    async def act(self, actor: Actor, act: Act) -> ActOutcome:
        """Do it, once: the same act again, with the same request id, gets the answer that it got.

        Raises TableAway, RequestReused, ActForbidden.
        """
        method, make = _CALLS[act.name]
        with acting_as(actor):
            try:
                answer: _Answer = await getattr(self._table, method)(make(act), timeout=ACT_S)
            except grpc.aio.AioRpcError as error:
                raise _failed(error) from error
        if answer.WhichOneof("result") == "refusal":
            said = answer.refusal
            return ActRefused(said.reason, said.message, dict(said.data))
        return ActDone(answer.changed.round, answer.changed.position)


async def _looked(call: Any) -> Any:  # noqa: ANN401 - any of the service's calls, and its answer
    """The answer of a call that only reads. Raises TableAway."""
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise _failed(error) from error


def _failed(error: grpc.aio.AioRpcError) -> Exception:
    """What a failed call means here; the error itself where it means nothing."""
    failure = failure_of(error)
    if failure.may_pass or failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return TableAway(failure.reason)
    if failure.reason == "request_id_reused":
        return RequestReused()
    if failure.code is grpc.StatusCode.PERMISSION_DENIED:
        return ActForbidden(failure.message)
    return error


# ------------------------------------------------------------------------------------------ what is asked


def _about_table(method: str, kind: Any) -> tuple[str, Callable[[Act], Any]]:  # noqa: ANN401 - a message's class
    return method, lambda act: kind(request_id=act.request_id, table=act.table)


def _about_deck(method: str, kind: Any) -> tuple[str, Callable[[Act], Any]]:  # noqa: ANN401 - a message's class
    return method, lambda act: kind(request_id=act.request_id, table=act.table, deck=act.deck)


def _named(act: Act) -> list[pb.PlacedCard]:
    return [pb.PlacedCard(place=place, card=card) for place, card in act.cards]


_CALLS: Final[Mapping[ActName, tuple[str, Callable[[Act], Any]]]] = {
    "sign_in": _about_table("SignInDealer", pb.SignInDealerRequest),
    "sign_out": _about_table("SignOutDealer", pb.SignOutDealerRequest),
    # A shift that is not named takes its wish's id: the same again is the same shift.
    "start_shift": (
        "StartShift",
        lambda act: pb.StartShiftRequest(
            request_id=act.request_id, table=act.table, shift=act.shift or act.request_id
        ),
    ),
    "end_shift": _about_table("EndShift", pb.EndShiftRequest),
    "introduce_deck": _about_deck("IntroduceDeck", pb.IntroduceDeckRequest),
    "verify_deck": _about_deck("VerifyDeck", pb.VerifyDeckRequest),
    "shuffle_deck": _about_deck("ShuffleDeck", pb.ShuffleDeckRequest),
    "retire_deck": (
        "RetireDeck",
        lambda act: pb.RetireDeckRequest(
            request_id=act.request_id, table=act.table, deck=act.deck, reason=act.reason
        ),
    ),
    "enter_manual_mode": (
        "EnterManualMode",
        lambda act: pb.EnterManualModeRequest(request_id=act.request_id, table=act.table, reason=act.reason),
    ),
    "leave_manual_mode": _about_table("LeaveManualMode", pb.LeaveManualModeRequest),
    "open_round": _about_table("OpenRound", pb.OpenRoundRequest),
    "close_betting": (
        "CloseBetting",
        lambda act: pb.CloseBettingRequest(request_id=act.request_id, table=act.table, round=act.round),
    ),
    "confirm_cards": (
        "ConfirmCards",
        lambda act: pb.ConfirmCardsRequest(
            request_id=act.request_id, table=act.table, round=act.round, manual_cards=_named(act)
        ),
    ),
    # A card's id is its wish's: one press lays one card.
    "lay_card": (
        "LayCardByHand",
        lambda act: pb.LayCardByHandRequest(
            request_id=act.request_id,
            table=act.table,
            round=act.round,
            scan_id=act.request_id,
            card=act.card,
        ),
    ),
    "correct_card": (
        "CorrectCardByHand",
        lambda act: pb.CorrectCardByHandRequest(
            request_id=act.request_id,
            table=act.table,
            round=act.round,
            scan_id=act.request_id,
            place=act.place,
            card=act.card,
        ),
    ),
    "burn_card": (
        "BurnCardByHand",
        lambda act: pb.BurnCardByHandRequest(
            request_id=act.request_id,
            table=act.table,
            round=act.round,
            scan_id=act.request_id,
            card=act.card,
        ),
    ),
    "cancel_round": (
        "CancelRound",
        lambda act: pb.CancelRoundRequest(
            request_id=act.request_id,
            table=act.table,
            round=act.round,
            reason=act.reason,
            manual_cards=_named(act),
        ),
    ),
}


# ------------------------------------------------------------------------------------------- what is seen


def _ruleset(name: str) -> Ruleset | None:
    try:
        return shipped(name)
    except UnknownRuleset:
        return None


def _table(state: watching_pb2.TableState) -> TableFacts:
    details: dict[str, Any] = json.loads(state.details) if state.details else {}
    config = details.get("config") or {}
    return TableFacts(
        table=state.table,
        name=state.name,
        ruleset=state.ruleset,
        open=state.open,
        dealer=state.dealer or None,
        round=state.round,
        step=state.step,
        manual_mode=state.manual_mode,
        decks=tuple(_deck(deck, state.round) for deck in details.get("decks", ())),
        confirm_cards_ms=config.get("confirm_cards_ms", 0),
    )


def _deck(deck: Mapping[str, Any], last_round: int) -> DeckFacts:
    shuffled = deck.get("shuffled_after_round")
    return DeckFacts(
        deck["deck"],
        verified=deck.get("verified_after_round") is not None,
        shuffled=shuffled is not None and shuffled == last_round,
    )


def _round(view: Mapping[str, Any]) -> RoundFacts:
    desk, dealer, window = view["desk"], view["dealer"], view["window"]
    return RoundFacts(
        number=view["round"],
        step=view["step"],
        window=None
        if window is None
        else WindowFacts(window["kind"], window["box"], window["closes_at"], window["extended_ms"]),
        progress=tuple((one["window"], one["status"]) for one in view["progress"]),
        cards=view["cards"],
        burned=tuple(view["burned"]),
        boxes=tuple(map(_box, view["boxes"])),
        dealer_hand=(dealer["hand"] or {}).get("name"),
        dealer_final=(dealer["final"] or {}).get("name"),
        undecided=desk["undecided"],
        awaited=desk["awaited"],
        to_lay=desk["to_lay"],
        confirm=desk["confirm"],
    )


def _box(box: Mapping[str, Any]) -> BoxFacts:
    play = box["play"] or {}
    return BoxFacts(
        box["box"],
        dealt=box["dealt"],
        blind=play.get("blind", False),
        hand=(box["hand"] or {}).get("name"),
        folded=play.get("folded", False),
    )
