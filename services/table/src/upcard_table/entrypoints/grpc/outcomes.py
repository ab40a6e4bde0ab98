"""Results of works as messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, assert_never

from eventstore.answers import MAX_ANSWER_BYTES
from rules_core.round import events as e
from rules_core.round import refusal as rules
from upcard.call.v1.refusal_pb2 import Refusal
from upcard.table.v1 import table_pb2 as pb
from upcard_table.app.calls import Declined, Done, Recorded, Refused, Result

_FRAME_BYTES: Final = 4
_MOST_BYTES: Final = MAX_ANSWER_BYTES - 1_024
_DECLINED: Final = "the money was asked for, or the command came after the close; the round's stream has it"


def refusal(refused: rules.Refusal) -> Refusal:
    """A refusal as a part of an answer."""
    data = {name: str(value) for name, value in refused.data.items() if value is not None}
    return Refusal(reason=refused.code, message=refused.message, data=data)


def item_outcome(result: Result) -> pb.ItemOutcome:
    """What became of one item of a batch."""
    match result:
        case Done(events=events, round=number):
            accepted = pb.Accepted(
                round=number or 0,
                position=_last(events),
                wagers=[w for one in events for w in _wagers(one.event)],
            )
            return pb.ItemOutcome(accepted=accepted)
        case Declined(event=event, position=position, round=number):
            return pb.ItemOutcome(declined=pb.Declined(round=number, position=position, reason=event.reason))
        case Refused(refusal=refused):
            return pb.ItemOutcome(refusal=refusal(refused))
        case _:
            assert_never(result)


def item_outcomes(results: Sequence[Result]) -> list[pb.ItemOutcome]:
    """What became of a batch's items, in no more bytes than can be kept as an answer.

    Where it would be more, what the stream has anyhow is left out of all items alike: wagers, and the words
    of refusals.
    """
    outcomes = [item_outcome(result) for result in results]
    if sum(outcome.ByteSize() + _FRAME_BYTES for outcome in outcomes) > _MOST_BYTES:
        for outcome in outcomes:
            if outcome.HasField("accepted"):
                outcome.accepted.ClearField("wagers")
            if outcome.HasField("refusal"):
                outcome.refusal.ClearField("message")
                outcome.refusal.ClearField("data")
    return outcomes


def refusal_in(result: Result) -> Refusal | None:
    """The refusal of a result that must not be recorded as declined; None: it was done."""
    match result:
        case Done():
            return None
        case Refused(refusal=refused):
            return refusal(refused)
        case Declined(event=event):
            return Refusal(reason=event.reason, message=_DECLINED)
        case _:
            assert_never(result)


def round_changed(results: Sequence[Result]) -> dict[str, Any]:
    """The fields of the answer to a call about a round."""
    (result,) = results
    refused = refusal_in(result)
    if refused is not None or not isinstance(result, Done):
        return {"refusal": refused}
    return {"changed": pb.RoundChanged(round=result.round or 0, position=_last(result.events))}


def table_changed(results: Sequence[Result]) -> dict[str, Any]:
    """The fields of the answer to a call about a table. Of a round's events none counts."""
    (result,) = results
    refused = refusal_in(result)
    if refused is not None or not isinstance(result, Done):
        return {"refusal": refused}
    of_table = [one for one in result.events if one.stream.startswith("table-")]
    return {"changed": pb.TableChanged(round=result.round or 0, position=_last(of_table))}


def _last(events: Sequence[Recorded]) -> int:
    return events[-1].position if events else 0


def _wagers(event: object) -> Iterator[pb.Wager]:
    """The wagers that an event staked, or took back."""
    match event:
        case e.BetPlaced(stakes=stakes):
            for stake in stakes:
                yield pb.Wager(
                    box=stake.box,
                    wager=stake.wager,
                    amount=stake.amount,
                    blind=stake.blind,
                    funding=stake.funding or "",
                )
        case e.BetWithdrawn(stakes=taken):
            for back in taken:
                yield pb.Wager(box=back.box, wager=back.wager, amount=back.amount)
        case e.OptionChosen(box=box, kind=kind, amount=amount) if amount:
            yield pb.Wager(box=box, wager="bet" if kind == "bet" else "option_fee", amount=amount)
        case e.FinalOptionChosen(box=box, bet=bet, insurance=insurance):
            if bet:
                yield pb.Wager(box=box, wager="bet", amount=bet)
            if insurance:
                yield pb.Wager(box=box, wager="insurance", amount=insurance)
        case e.PurchaseMade(box=box, fee=fee):
            yield pb.Wager(box=box, wager="purchase_fee", amount=fee)
        case _:
            return
