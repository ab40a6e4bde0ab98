"""What an event of the wallet changes of an account's money (docs/wallet-events.md), from the event alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from upcard_history.domain.fields import Fields

VERSIONS: Final[Mapping[str, int]] = dict.fromkeys(
    (
        "AccountOpened",
        "Deposited",
        "Withdrawn",
        "HoldRequested",
        "HoldPlaced",
        "HoldDeclined",
        "HoldReleased",
        "WagersSettled",
        "BonusCredited",
        "JackpotPosted",
        "JackpotShareCorrected",
        "TipPosted",
        "FreeBetPosted",
        "Adjusted",
        "DebtRecorded",
        "JackpotShareCorrected",
    ),
    1,
)
"""The wallet's events that are known here, with their versions."""


@dataclass(frozen=True, slots=True)
class Opened:
    """An account is there."""

    player: str
    operator: str
    currency: str
    purse: str


@dataclass(frozen=True, slots=True)
class Moved:
    """One line of a statement; changes are signed, minor units."""

    kind: str
    transaction: UUID
    cash: int = 0
    held: int = 0
    owed: int = 0
    promo: int = 0
    round: str | None = None
    revision: int | None = None
    reason: str | None = None
    table: str | None = None
    dealer: str | None = None


_NO_LINE: Final = frozenset({"HoldRequested", "HoldDeclined", "JackpotPosted"})
"""No money has moved yet, or that of a pool, which is nobody's account."""

AccountChange = Opened | Moved


def account_change(name: str, payload: Mapping[str, object]) -> AccountChange | None:
    """What an event changes; None: nothing. Raises PayloadError."""
    fields = Fields(payload, name)
    if name in _NO_LINE:
        return None
    if name == "HoldReleased" and payload.get("transaction") is None:
        return None
    if name in {"HoldPlaced", "HoldReleased", "WagersSettled"}:
        return _of_round(name, fields)
    if name == "AccountOpened":
        texts = [fields.text(key) for key in ("player", "operator", "currency", "purse")]
        return Opened(*texts)
    if name in {"BonusCredited", "JackpotShareCorrected", "DebtRecorded"}:
        return _after_rounds(name, fields)
    return _beside_rounds(name, fields)


def _of_round(name: str, fields: Fields) -> Moved:
    transaction, round_name = fields.uuid("transaction"), fields.text("round")
    if name == "WagersSettled":
        revision = fields.number("revision")
        # The first revision ends the holds that its stakes were made of; what lacked a hold is in suspense.
        held = fields.number("suspense", 0) - fields.number("staked") if revision == 1 else 0
        return Moved(
            "settlement" if revision == 1 else "correction",
            transaction,
            cash=fields.number("cash"),
            held=held,
            owed=fields.number("owed", 0),
            round=round_name,
            revision=revision,
        )
    holds = fields.objects("holds")
    total = sum(hold.number("amount") for hold in holds)
    of_cash = sum(hold.number("amount") for hold in holds if hold.text_or_none("funding") is None)
    if name == "HoldPlaced":
        return Moved("hold", transaction, cash=-of_cash, held=total, round=round_name)
    reason = fields.text("reason")
    return Moved("release", transaction, cash=of_cash, held=-total, round=round_name, reason=reason)


def _after_rounds(name: str, fields: Fields) -> Moved:
    transaction, amount = fields.uuid("transaction"), fields.number("amount")
    round_name = fields.text_or_none("round")
    match name:
        case "BonusCredited":
            return Moved(fields.text("kind"), transaction, cash=amount, round=round_name)
        case "JackpotShareCorrected":
            owed = fields.number("owed", 0)
            return Moved("jackpot_correction", transaction, cash=amount, owed=owed, round=round_name)
        case _:
            # A partner could not take a win back: it is ours again, and the player owes it.
            return Moved("debt", transaction, cash=amount, owed=amount, round=round_name)


def _beside_rounds(name: str, fields: Fields) -> Moved:
    transaction, amount = fields.uuid("transaction"), fields.number("amount")
    match name:
        case "Deposited":
            return Moved("deposit", transaction, cash=amount)
        case "Withdrawn":
            return Moved("withdrawal", transaction, cash=-amount)
        case "TipPosted":
            table, dealer = fields.text_or_none("table"), fields.text_or_none("dealer")
            return Moved("tip", transaction, cash=-amount, table=table, dealer=dealer)
        case "FreeBetPosted":
            return Moved("free_bet", transaction, promo=amount, reason=fields.text("kind"))
        case "Adjusted":
            reason, round_name = fields.text("reason"), fields.text_or_none("round")
            if fields.text("book") == "cash":
                return Moved("adjustment", transaction, cash=amount, round=round_name, reason=reason)
            # A receivable's book is below zero by what is owed.
            return Moved("adjustment", transaction, owed=-amount, round=round_name, reason=reason)
        case other:
            raise ValueError(f"{other} is no event of an account")
