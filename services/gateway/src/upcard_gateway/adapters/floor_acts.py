"""What the floor does: calls of the table service in the name of the member of staff who acts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from servicekit.grpc import Actor, acting_as
from upcard.call.v1.refusal_pb2 import Refusal
from upcard.table.v1 import table_pb2 as pb
from upcard_gateway.adapters.services import Services

__all__ = ["ACTS", "Done", "Refused", "act", "change_limits", "decide_correction", "open_table"]

CALL_S: Final = 10.0
"""Deadline of each call; asking again with the same request_id gives what became of it."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The rules refuse it: nothing was changed."""

    reason: str
    message: str
    data: Mapping[str, str] = field(default_factory=dict)
    """What the reason speaks of, as the service gives it."""


@dataclass(frozen=True, slots=True)
class Done:
    """It is done. `round`: the number of the round that it is about, 0 for none."""

    round: int = 0
    resettlement: str = ""
    decided_by: str = ""
    """Of a correction: whose word it was, which may be an earlier one that was interrupted."""


Fields = Mapping[str, str]
_Made = Callable[[str, str, Fields], tuple[str, Any]]


def _plain(call: str, kind: type[Any]) -> _Made:
    return lambda request_id, table, _: (call, kind(request_id=request_id, table=table))


def _deck(call: str, kind: type[Any]) -> _Made:
    def made(request_id: str, table: str, fields: Fields) -> tuple[str, Any]:
        return call, kind(request_id=request_id, table=table, deck=fields["deck"])

    return made


def _retire(request_id: str, table: str, fields: Fields) -> tuple[str, Any]:
    return "RetireDeck", pb.RetireDeckRequest(
        request_id=request_id, table=table, deck=fields["deck"], reason=fields["slug"]
    )


def _manual(request_id: str, table: str, fields: Fields) -> tuple[str, Any]:
    return "EnterManualMode", pb.EnterManualModeRequest(
        request_id=request_id, table=table, reason=fields["slug"]
    )


def _shift(request_id: str, table: str, fields: Fields) -> tuple[str, Any]:
    return "StartShift", pb.StartShiftRequest(request_id=request_id, table=table, shift=fields["shift"])


def _extend(request_id: str, table: str, fields: Fields) -> tuple[str, Any]:
    return "ExtendWindow", pb.ExtendWindowRequest(
        request_id=request_id,
        table=table,
        round=int(fields["round"]),
        extend_ms=int(fields["seconds"]) * 1_000,
    )


def _cancel(request_id: str, table: str, fields: Fields) -> tuple[str, Any]:
    cards = [pb.PlacedCard(place=place, card=card) for place, card in _places(fields.get("cards", ""))]
    return "CancelRound", pb.CancelRoundRequest(
        request_id=request_id,
        table=table,
        round=int(fields["round"]),
        reason=fields["slug"],
        manual_cards=cards,
    )


def _places(text: str) -> list[tuple[str, str]]:
    """Lines such as `dealer.0 Ah`. Raises ValueError."""
    return [cast("tuple[str, str]", tuple(line.split())) for line in text.splitlines() if line.strip()]


ACTS: Final[Mapping[str, _Made]] = {
    "close": _plain("CloseTable", pb.CloseTableRequest),
    "sign-dealer-out": _plain("SignOutDealer", pb.SignOutDealerRequest),
    "start-shift": _shift,
    "end-shift": _plain("EndShift", pb.EndShiftRequest),
    "introduce-deck": _deck("IntroduceDeck", pb.IntroduceDeckRequest),
    "verify-deck": _deck("VerifyDeck", pb.VerifyDeckRequest),
    "shuffle-deck": _deck("ShuffleDeck", pb.ShuffleDeckRequest),
    "retire-deck": _retire,
    "manual-on": _manual,
    "manual-off": _plain("LeaveManualMode", pb.LeaveManualModeRequest),
    "extend": _extend,
    "cancel": _cancel,
}
"""What can be done with a table that is there, by the last part of the page's path."""


async def act(
    services: Services, actor: Actor, name: str, table: str, request_id: str, fields: Fields
) -> Done | Refused:
    """Do one of `ACTS`. Raises grpc.aio.AioRpcError: it may have been done; the same call again says so."""
    call, request = ACTS[name](request_id, table, fields)
    return await _asked(actor, getattr(services.table, call), request)


async def open_table(
    services: Services, actor: Actor, table: str, request_id: str, config: Mapping[str, Any]
) -> Done | Refused:
    """Open a table, or one that was closed."""
    request = pb.OpenTableRequest(request_id=request_id, table=table, config=config_message(config))
    return await _asked(actor, services.table.OpenTable, request)


async def change_limits(
    services: Services, actor: Actor, table: str, request_id: str, config: Mapping[str, Any]
) -> Done | Refused:
    """Change how a table is played, from its next round on."""
    request = pb.ChangeLimitsRequest(request_id=request_id, table=table, config=config_message(config))
    return await _asked(actor, services.table.ChangeLimits, request)


async def propose_correction(
    services: Services, actor: Actor, request_id: str, name: str, correction: Mapping[str, Any]
) -> Done | Refused:
    """Propose to correct a settled round; `correction`: as it is kept (docs/floor.md)."""
    table, _, number = name.rpartition(".")
    request = pb.ProposeResettlementRequest(
        request_id=request_id,
        table=table,
        round=int(number),
        reason=correction["reason"],
        refund=correction["refund"],
        cards=[pb.PlacedCard(place=one["place"], card=one["card"]) for one in correction["cards"]],
        choices=[_choice(one) for one in correction["choices"]],
    )
    with acting_as(actor):
        answer = await services.table.ProposeResettlement(request, timeout=CALL_S)
    if answer.WhichOneof("result") == "refusal":
        return _refused(answer.refusal)
    return Done(answer.resettlement.round, answer.resettlement.resettlement)


async def decide_correction(
    services: Services, actor: Actor, request_id: str, table: str, resettlement: str, *, approve: bool
) -> Done | Refused:
    """Approve a correction, and so make it; or reject it."""
    request = pb.DecideResettlementRequest(
        request_id=request_id, table=table, resettlement=resettlement, approve=approve
    )
    with acting_as(actor):
        answer = await services.table.DecideResettlement(request, timeout=CALL_S)
    if answer.WhichOneof("result") == "refusal":
        return _refused(answer.refusal)
    decided = answer.resettlement
    return Done(decided.round, decided.resettlement, decided.decided_by)


async def _asked(actor: Actor, call: Callable[..., Awaitable[Any]], request: object) -> Done | Refused:
    with acting_as(actor):
        answer = await call(request, timeout=CALL_S)
    if answer.WhichOneof("result") == "refusal":
        return _refused(answer.refusal)
    return Done(answer.changed.round)


def _refused(refusal: Refusal) -> Refused:
    return Refused(refusal.reason, refusal.message, dict(refusal.data))


def _choice(one: Mapping[str, Any]) -> pb.ChoiceCorrection:
    made = pb.ChoiceCorrection(
        box=one["box"],
        player=one["player"],
        option=one.get("option") or "",
        positions=one.get("positions", ()),
        final=one.get("final") or "",
    )
    if one.get("insurance") is not None:
        made.insurance = one["insurance"]
    if one.get("purchase") is not None:
        made.purchase = one["purchase"]
    return made


def config_message(config: Mapping[str, Any]) -> pb.TableConfig:
    """A configuration, plain JSON as in `TableOpened`, as a message."""
    chips: Mapping[str, Sequence[int]] = {one["currency"]: one["values"] for one in config["chips"]}
    return pb.TableConfig(
        name=config["name"],
        ruleset=config["ruleset"],
        limits=[_limits(one, chips.get(one["currency"], ())) for one in config["limits"]],
        durations=pb.Durations(**config["durations"]),
        confirm_cards_ms=config["confirm_cards_ms"],
        close_drain_ms=config.get("close_drain_ms", 0),
        default_hold_ms=config.get("default_hold_ms", 0),
        reserve_bet_with_ante=config.get("reserve_bet_with_ante", False),
        jackpot=config.get("jackpot") or "",
        jackpot_stake_may_vary=config.get("jackpot_stake_may_vary", False),
    )


def _limits(one: Mapping[str, Any], chips: Sequence[int]) -> pb.CurrencyLimits:
    made = pb.CurrencyLimits(currency=one["currency"], chip=one["chip"], chips=chips)
    for name in ("ante", "bonus_player", "bonus_dealer"):
        if one.get(name) is not None:
            getattr(made, name).CopyFrom(pb.AmountRange(**one[name]))
    for name in ("insurance_max", "max_payout", "player_total_max"):
        if one.get(name) is not None:
            setattr(made, name, one[name])
    for box in one.get("boxes", ()):
        added = made.boxes.add(box=box["box"])
        if box.get("ante") is not None:
            added.ante.CopyFrom(pb.AmountRange(**box["ante"]))
        if box.get("max_payout") is not None:
            added.max_payout = box["max_payout"]
    return made
