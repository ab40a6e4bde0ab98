"""The statement of an account for a period."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from eventstore.postgres import Connection
from upcard_wallet.app.balance import Balance
from upcard_wallet.app.ports import LineRow
from upcard_wallet.app.purse import AccountRef
from upcard_wallet.app.wallet import Refused, Wallet

MAX_LINES = 1_000
"""Most lines of one page."""


@dataclass(frozen=True, slots=True)
class StatementLine:
    """One ledger transaction of the account: its changes of the player's books, and what led to it."""

    position: int
    """Its first posting: where the next page begins after."""
    transaction: UUID
    recorded_at: dt.datetime
    kind: str
    cash: int
    """Change, signed, minor units; likewise the others. Of a seamless account: change of what we owe the
    partner, so a stake is below zero here too."""
    held: int
    promo: int
    owed: int
    round: str | None
    revision: int | None
    event: UUID
    """The wallet's own event that tells of it."""
    cause_event: UUID | None
    """The event of another service that led to it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A period's opening and closing balance, and one page of its lines, oldest first."""

    opening: Balance
    closing: Balance
    lines: tuple[StatementLine, ...]
    more: bool
    """Whether there are lines after the last one of this page."""


async def statement(  # noqa: PLR0913 - the period and the page
    wallet: Wallet,
    connection: Connection,
    account: str,
    since: dt.datetime,
    until: dt.datetime,
    *,
    after: int = 0,
    limit: int = MAX_LINES,
) -> Statement | Refused:
    """Transactions recorded from `since` up to, not including, `until` (both with a time zone).

    Opening plus all lines is closing. `after` is the `position` of the last line of the page before. Run it
    in a transaction of isolation `repeatable read` to have pages agree. Refused: `account_unknown`,
    `period_invalid`.
    """
    if since.tzinfo is None or until.tzinfo is None or since > until or not 0 < limit <= MAX_LINES:
        return Refused("period_invalid")
    found = await wallet.ledger.accounts(connection, [account])
    if account not in found:
        return Refused("account_unknown")
    ref = found[account]
    opening = _balance(ref, await wallet.ledger.sums_until(connection, account, since))
    closing = _balance(ref, await wallet.ledger.sums_until(connection, account, until))
    rows = await wallet.ledger.lines(connection, account, since, until, after, limit + 1)
    lines = tuple(_line(ref, row) for row in rows[:limit])
    return Statement(opening, closing, lines, more=len(rows) > limit)


def _balance(ref: AccountRef, sums: Mapping[str, int]) -> Balance:
    return Balance(
        ref,
        sums.get(_cash_kind(ref), 0),
        sums.get("player_held", 0),
        sums.get("player_promo", 0),
        -sums.get("player_receivable", 0),
    )


def _cash_kind(ref: AccountRef) -> str:
    return "player_cash" if ref.purse == "internal" else "operator"


def _line(ref: AccountRef, row: LineRow) -> StatementLine:
    return StatementLine(
        row.position,
        row.transaction,
        row.recorded_at,
        row.kind,
        row.amounts.get(_cash_kind(ref), 0),
        row.amounts.get("player_held", 0),
        row.amounts.get("player_promo", 0),
        -row.amounts.get("player_receivable", 0),
        row.round,
        row.revision,
        row.event,
        row.cause_event,
    )
