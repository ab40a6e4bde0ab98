"""Values of the wallet as messages."""

from __future__ import annotations

import datetime as dt
from typing import Final, Literal
from uuid import UUID

from google.protobuf.timestamp_pb2 import Timestamp

from servicekit.answering import invalid
from upcard.call.v1.refusal_pb2 import Refusal
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_wallet.adapters.postgres.round_holds import FoundHold
from upcard_wallet.app.adjustments import Adjustment
from upcard_wallet.app.balance import Balance
from upcard_wallet.app.moving import Moved
from upcard_wallet.app.place_holds import PlacedHolds
from upcard_wallet.app.purse import AccountRef, PartnerCash, PurseKind
from upcard_wallet.app.release_holds import Released, ReleaseReason
from upcard_wallet.app.statement import Statement, StatementLine
from upcard_wallet.app.wallet import Refused
from upcard_wallet.domain.holds import HoldState

PURSES: Final[dict[pb.Purse.ValueType, PurseKind]] = {
    pb.PURSE_INTERNAL: "internal",
    pb.PURSE_SEAMLESS: "seamless",
}
_PURSES: Final = {kind: value for value, kind in PURSES.items()}

OUTCOMES: Final = {
    "held": pb.HOLD_OUTCOME_HELD,
    "refused": pb.HOLD_OUTCOME_REFUSED,
    "unknown": pb.HOLD_OUTCOME_UNKNOWN,
}

REASONS: Final[dict[pb.ReleaseReason.ValueType, ReleaseReason]] = {
    pb.RELEASE_REASON_WITHDRAWN: "withdrawn",
    pb.RELEASE_REASON_DECLINED: "declined",
    pb.RELEASE_REASON_NO_STAKE: "no_stake",
}

RELEASED: Final[dict[Released, pb.ReleaseOutcome.ValueType]] = {
    "released": pb.RELEASE_OUTCOME_RELEASED,
    "releasing": pb.RELEASE_OUTCOME_RELEASING,
    "settled": pb.RELEASE_OUTCOME_SETTLED,
    "refused": pb.RELEASE_OUTCOME_REFUSED,
    "hold_unknown": pb.RELEASE_OUTCOME_HOLD_UNKNOWN,
}

STATES: Final[dict[HoldState, pb.HoldState.ValueType]] = {
    "requested": pb.HOLD_STATE_REQUESTED,
    "held": pb.HOLD_STATE_HELD,
    "refused": pb.HOLD_STATE_REFUSED,
    "unknown": pb.HOLD_STATE_UNKNOWN,
    "settled": pb.HOLD_STATE_SETTLED,
    "released": pb.HOLD_STATE_RELEASED,
}

BOOKS: Final[dict[pb.AdjustedBook.ValueType, Literal["cash", "receivable"]]] = {
    pb.ADJUSTED_BOOK_CASH: "cash",
    pb.ADJUSTED_BOOK_RECEIVABLE: "receivable",
}
_BOOKS: Final = {book: value for value, book in BOOKS.items()}

AGAINST: Final[dict[pb.AdjustedAgainst.ValueType, Literal["house", "suspense"]]] = {
    pb.ADJUSTED_AGAINST_HOUSE: "house",
    pb.ADJUSTED_AGAINST_SUSPENSE: "suspense",
}
_AGAINST: Final = {book: value for value, book in AGAINST.items()}

_SENTENCES: Final = {
    "account_unknown": "there is no such account",
    "account_exists": "the id, or the player's currency, has an account with other values",
    "funds_refused": "there is not enough money",
    "partner_unavailable": "the operator's wallet does not answer; new stakes are not taken until it does",
    "debt_open": "the player owes something",
    "purse_is_seamless": "the money lies with the operator",
    "two_people_needed": "another person has to approve it",
    "adjustment_decided": "it was decided before",
    "proposal_decided": "it was decided before",
    "call_not_parked": "there is no such call, or it does not wait for people any more",
    "ending_invalid": "a player can only owe a win that was to be taken back",
}


def refusal(refused: Refused) -> Refusal:
    """A refusal as a part of an answer."""
    return Refusal(reason=refused.reason, message=_SENTENCES.get(refused.reason, refused.reason))


def account(ref: AccountRef) -> pb.Account:
    """An account."""
    return pb.Account(
        account=ref.account,
        player=ref.player,
        operator=ref.operator,
        currency=ref.currency,
        purse=_PURSES[ref.purse],
    )


def balance(found: Balance) -> pb.Balance:
    """What an account has."""
    return pb.Balance(cash=found.cash, held=found.held, promo=found.promo, owed=found.owed)


def partner_balance(outside: PartnerCash) -> pb.PartnerBalance:
    """What a player has with the operator, or why that is not known."""
    if outside.cash is None:
        return pb.PartnerBalance(unknown=outside.unknown or "balance_unknown")
    return pb.PartnerBalance(cash=outside.cash)


def moved(done: Moved) -> pb.Moved:
    """Money that was moved."""
    return pb.Moved(transaction=done.transaction, balance=balance(done.balance))


def placed_holds(placed: PlacedHolds) -> pb.PlacedHolds:
    """What became of a command."""
    return pb.PlacedHolds(
        outcome=OUTCOMES[placed.outcome.state],
        reason=placed.outcome.reason or "",
        holds=map(str, placed.holds),
    )


def hold(found: FoundHold) -> pb.Hold:
    """A hold as it is recorded."""
    one = found.hold
    return pb.Hold(
        hold=str(one.hold),
        player=one.player,
        account=one.account,
        bet_id=one.bet_id,
        wager=pb.HoldWager(box=one.box, wager=one.wager, amount=one.amount, funding=one.funding or ""),
        state=STATES[one.state],
        reason=one.reason or "",
        changed_at=timestamp(found.changed_at),
    )


def statement(made: Statement) -> pb.Statement:
    """A page of a statement."""
    return pb.Statement(
        account=account(made.opening.account),
        opening=balance(made.opening),
        closing=balance(made.closing),
        lines=map(_line, made.lines),
        more=made.more,
    )


def _line(line: StatementLine) -> pb.StatementLine:
    return pb.StatementLine(
        position=line.position,
        transaction=str(line.transaction),
        recorded_at=timestamp(line.recorded_at),
        kind=line.kind,
        changes=pb.Balance(cash=line.cash, held=line.held, promo=line.promo, owed=line.owed),
        round=line.round or "",
        revision=line.revision or 0,
        event=str(line.event),
        cause_event=_text(line.cause_event),
    )


def adjustment(found: Adjustment) -> pb.Adjustment:
    """An adjustment as it is stored."""
    decision = found.decision
    made = pb.Adjustment(
        adjustment=str(found.adjustment),
        account=found.account,
        amount=found.amount,
        book=_BOOKS[found.book],
        against=_AGAINST[found.against],
        reason=found.reason,
        round=found.round or "",
        proposer=found.proposer,
        proposed_at=None if found.proposed_at is None else timestamp(found.proposed_at),
        state=pb.ADJUSTMENT_STATE_PROPOSED,
    )
    if decision is not None:
        made.state = pb.ADJUSTMENT_STATE_APPROVED if decision.approved else pb.ADJUSTMENT_STATE_REJECTED
        made.decided_by = decision.decided_by
        made.transaction = _text(decision.transaction)
        if decision.decided_at is not None:
            made.decided_at.CopyFrom(timestamp(decision.decided_at))
    return made


def timestamp(instant: dt.datetime) -> Timestamp:
    """An instant; the database's have microseconds."""
    made = Timestamp()
    made.FromDatetime(instant)
    return made


def instant(message: Timestamp, name: str) -> dt.datetime:
    """An instant of a request. Raises CallError."""
    try:
        return message.ToDatetime(dt.UTC)
    except (ValueError, OverflowError):
        raise invalid(f"{name} is no instant") from None


def uuid_of(text: str, name: str) -> UUID:
    """A UUID of a request. Raises CallError."""
    try:
        return UUID(text)
    except ValueError:
        raise invalid(f"{name} is no UUID") from None


def optional_uuid(text: str, name: str) -> UUID | None:
    """A UUID of a request, or nothing. Raises CallError."""
    return uuid_of(text, name) if text else None


def page_size(limit: int, *, usual: int = 500, most: int = 1_000) -> int:
    """The size of a page. Raises CallError."""
    if not 0 <= limit <= most:
        raise invalid(f"limit is 0 to {most}")
    return limit or usual


def _text(value: UUID | None) -> str:
    return "" if value is None else str(value)
