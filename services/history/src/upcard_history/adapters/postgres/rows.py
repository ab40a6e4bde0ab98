"""Rows of the views as the values of `app.reading`."""

from __future__ import annotations

import json
from typing import Any, Final, Protocol

from upcard_history.app.reading import (
    AccountBalance,
    AccountRow,
    CurrencySum,
    DealerHand,
    PlayerRound,
    RoundRow,
    StatementLine,
    TableResult,
)


class Row(Protocol):
    """A row of the database."""

    def __getitem__(self, name: str, /) -> Any:  # noqa: ANN401 - whatever the column has
        """The column of this name."""
        ...


DEALER_OF: Final = """
(SELECT s.subject FROM (
    SELECT s.subject, s.until FROM tables_view.spans AS s
     WHERE s.table_id = r.table_id AND s.kind = 'dealer' AND s.since <= r.opened_at
     ORDER BY s.since DESC, s.position DESC LIMIT 1
 ) AS s WHERE s.until IS NULL OR s.until > r.opened_at)
"""
"""Who was signed in at the table when round `r` opened, or null."""

SHIFT_OF: Final = """
(SELECT s.subject FROM (
    SELECT s.subject, s.until_round FROM tables_view.spans AS s
     WHERE s.table_id = r.table_id AND s.kind = 'shift' AND s.after_round < r.number
     ORDER BY s.after_round DESC, s.position DESC LIMIT 1
 ) AS s WHERE s.until_round IS NULL OR s.until_round >= r.number)
"""
"""The shift that round `r` belongs to by its number, or null."""


def dealer_hand(row: Row) -> DealerHand | None:
    """The dealer's hand of a row of `rounds`."""
    if row["dealer_final"] is None:
        return None
    return DealerHand(
        row["dealer_first"],
        row["dealer_final"],
        tuple(row["dealer_cards"]),
        row["dealer_qualified"],
        row["dealer_purchased"],
    )


def round_row(row: Row, totals: tuple[CurrencySum, ...]) -> RoundRow:
    """A round; `dealer` of the row is who was signed in."""
    return RoundRow(
        row["round"],
        row["table_id"],
        row["number"],
        row["ruleset"],
        row["engine"],
        row["state"],
        row["reason"],
        row["opened_at"],
        row["ended_at"],
        dealer_hand(row),
        row["corrections"],
        () if row["dealer"] is None else (row["dealer"],),
        totals,
    )


def player_round(row: Row) -> PlayerRound:
    """A player's round."""
    returned = row["returned"]
    if row["state"] == "cancelled":
        returned = row["staked"]
    elif row["state"] == "open" and not row["revision"]:
        returned = None
    return PlayerRound(
        row["player"],
        row["round"],
        row["table_id"],
        row["number"],
        row["ruleset"],
        row["currency"],
        row["state"],
        row["reason"],
        row["opened_at"],
        row["ended_at"],
        row["staked"],
        returned,
        None if returned is None else returned - row["staked"],
        row["revision"],
        dealer_hand(row),
        () if row["boxes"] is None else json.loads(row["boxes"]),
        row["by_platform"],
    )


def table_result(row: Row) -> TableResult:
    """A round that ended, for everybody."""
    return TableResult(
        row["round"],
        row["number"],
        row["state"],
        row["reason"],
        row["ended_at"],
        dealer_hand(row),
        row["corrections"],
    )


def account_row(row: Row) -> AccountRow:
    """An account."""
    return AccountRow(
        row["account"], row["player"], row["operator"], row["currency"], row["purse"], row["opened_at"]
    )


def balance(row: Row | None) -> AccountBalance:
    """An account's money after a line; None: before the first one."""
    if row is None:
        return AccountBalance(0, 0, 0)
    return AccountBalance(row["cash_after"], row["held_after"], row["owed_after"])


def statement_line(row: Row) -> StatementLine:
    """A line of a statement."""
    return StatementLine(
        row["position"],
        row["at"],
        row["kind"],
        row["cash"],
        row["held"],
        row["owed"],
        row["promo"],
        balance(row),
        row["round"],
        row["revision"],
        row["reason"],
        str(row["transaction"]),
        str(row["event"]),
    )
