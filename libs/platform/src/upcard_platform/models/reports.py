"""Reports: open rounds, statements, transactions, and what a day comes to."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from pydantic import Field

from upcard_platform.models.fields import AnswerModel, MinorUnits, Moment, OpaqueId

__all__ = [
    "Balance",
    "CallKind",
    "CallState",
    "CallTotal",
    "Changes",
    "Difference",
    "KindTotal",
    "OpenRound",
    "OpenRoundList",
    "PlayersHave",
    "Reconciliation",
    "Statement",
    "StatementLine",
    "Transaction",
    "TransactionList",
    "WalletCall",
    "WalletKind",
]

WalletKind = Literal["transfer", "seamless"]
CallKind = Literal["bet", "win", "rollback_of_bet", "rollback_of_win"]
CallState = Literal["waiting", "done", "refused", "unknown", "parked"]


class OpenRound(AnswerModel):
    """What one player has at stake in a round that has not ended."""

    round: str
    player: str | None = Field(description="the platform's own id; null: the player was erased")
    player_ref: OpaqueId = Field(description="our id of the player")
    account: OpaqueId
    currency: str
    wallet: WalletKind
    wagers: int = Field(description="wagers and fees that are open")
    held: MinorUnits = Field(description="their sum that is held")
    unsure: MinorUnits = Field(
        description="their sum of which nobody knows yet: the platform's wallet is being asked, or was silent"
    )
    since: Moment = Field(description="when the first of them was asked for")


class OpenRoundList(AnswerModel):
    """A page of what is at stake, by account and round."""

    items: list[OpenRound]
    next: str | None = Field(description="`after` of the next page; null: this was the last one")


class Balance(AnswerModel):
    """A player's money at one moment."""

    cash: MinorUnits = Field(
        description="to be staked or withdrawn; of a seamless wallet what it has given, less what it took"
    )
    held: MinorUnits = Field(description="held for rounds that are open")
    owed: MinorUnits = Field(description="what the player owes after corrections, 0 or more")


class StatementLine(AnswerModel):
    """One change of a player's money."""

    at: Moment
    kind: str = Field(description="deposit, withdrawal, hold, release, settlement, correction and so on")
    cash: MinorUnits = Field(description="its change; likewise the next three")
    held: MinorUnits
    owed: MinorUnits
    promo: MinorUnits = Field(description="of a free bet")
    balance: Balance = Field(description="after it")
    round: str | None
    revision: int | None = Field(description="of a settlement: which; more than 1: a correction")
    reason: str | None = Field(description="why, a slug")
    transaction: str = Field(description="our ledger's transaction, a UUID")
    event: str = Field(description="our wallet's event, a UUID")


class Statement(AnswerModel):
    """A page of a player's statement, oldest first: opening plus the changes of all pages is closing."""

    player: str
    player_ref: OpaqueId
    account: OpaqueId
    currency: str
    wallet: WalletKind
    since: Moment
    until: Moment = Field(description="not in it")
    opening: Balance
    closing: Balance
    items: list[StatementLine]
    next: str | None = Field(description="`after` of the next page; null: this was the last one")


class WalletCall(AnswerModel):
    """A call to the platform's own wallet, by the ids that it was told."""

    call: str = Field(description="the call's id: the same in each try")
    kind: CallKind
    state: CallState
    amount: MinorUnits = Field(description="0 or more")
    transactions: list[str] = Field(description="ids of the transactions in it; of a rollback, those undone")
    at: Moment = Field(description="when it was noted that it is to be made")


class Changes(AnswerModel):
    """Signed changes of players' money."""

    cash: MinorUnits = Field(description="of a seamless wallet what its operator gave; below zero: took")
    held: MinorUnits
    promo: MinorUnits = Field(description="of free bets")
    owed: MinorUnits = Field(description="what players owe us after corrections")


class Transaction(AnswerModel):
    """One transaction of our ledger about a player, with everything that it is traced by."""

    transaction: str = Field(description="our ledger's id, a UUID: no transaction comes twice")
    at: Moment
    kind: str
    player: str | None = Field(description="the platform's own id; null: the player was erased")
    player_ref: OpaqueId
    account: OpaqueId
    currency: str
    wallet: WalletKind
    changes: Changes
    round: str | None
    revision: int | None
    event: str = Field(description="our wallet's event that tells of it, a UUID")
    cause_event: str | None = Field(description="the event of the table, or of a bonus, that led to it")
    calls: list[WalletCall] = Field(
        description="the calls to the platform's wallet that it stands for; those of long ago are forgotten"
    )


class TransactionList(AnswerModel):
    """A page of transactions, by account and time."""

    since: Moment
    until: Moment = Field(description="not in it")
    final: bool = Field(description="whether nothing can be added any more: half a minute after the end")
    items: list[Transaction]
    next: str | None = Field(description="`after` of the next page; null: this was the last one")


class KindTotal(AnswerModel):
    """All transactions of one kind in one currency."""

    currency: str
    wallet: WalletKind
    kind: str
    transactions: int
    changes: Changes


class PlayersHave(AnswerModel):
    """What all the platform's players have in one currency."""

    currency: str
    wallet: WalletKind
    accounts: int = Field(description="at the end")
    opening: Changes = Field(description="at the beginning of the day")
    closing: Changes = Field(description="at its end: opening plus all totals")


class CallTotal(AnswerModel):
    """All calls to the platform's wallet of one kind and state that were noted in the day."""

    currency: str
    kind: CallKind
    state: CallState
    calls: int
    amount: MinorUnits = Field(description="0 or more")


class Difference(AnswerModel):
    """Two figures that should be equal and are not: an alarm for both sides."""

    what: str = Field(description="lines_and_totals, totals_and_balances or lines_and_calls")
    about: str = Field(description="which figure of what, in words")
    expected: int
    found: int


class Reconciliation(AnswerModel):
    """What a day (UTC) comes to, and whether it was found to agree.

    The totals are summed of the ledger's postings, the balances of checkpoints of each account, the lines are
    those of the transactions report, each compared with the calls that it stands for.
    """

    day: dt.date
    since: Moment
    until: Moment = Field(description="not in it")
    final: bool = Field(description="whether nothing can be added any more: half a minute after the end")
    lines: int = Field(description="lines of the transactions report that were gone through")
    checked: bool = Field(description="whether all lines were: very long days are not gone through here")
    agrees: bool | None = Field(description="whether everything is equal; null: it was not checked")
    differences: list[Difference]
    totals: list[KindTotal]
    balances: list[PlayersHave]
    calls: list[CallTotal]
