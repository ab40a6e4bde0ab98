"""Reports as the platform API answers them, as JSON and as lines of a file."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from servicekit.csv_lines import Cell
from upcard_gateway.adapters import history_rounds
from upcard_gateway.app import reports
from upcard_platform.models import reports as models

__all__ = [
    "RECONCILIATION_COLUMNS",
    "STAKE_COLUMNS",
    "STATEMENT_COLUMNS",
    "TRANSACTION_COLUMNS",
    "reconciliation_rows",
    "reconciliation_shown",
    "stake_cells",
    "stake_shown",
    "statement_cells",
    "statement_line_shown",
    "statement_shown",
    "transaction_cells",
    "transaction_shown",
]

STAKE_COLUMNS: Final = tuple(models.OpenRound.model_fields)
STATEMENT_COLUMNS: Final = (
    *("at", "kind", "cash", "held", "owed", "promo", "cash_after", "held_after", "owed_after"),
    *("round", "revision", "reason", "transaction", "event"),
)
TRANSACTION_COLUMNS: Final = (
    *("transaction", "at", "kind", "player", "player_ref", "account", "currency", "wallet"),
    *("cash", "held", "promo", "owed", "round", "revision", "event", "cause_event", "calls"),
)
RECONCILIATION_COLUMNS: Final = (
    *("part", "currency", "wallet", "kind", "state", "number", "cash", "held", "promo", "owed", "amount"),
)


def stake_shown(stake: reports.Stake, ids: Mapping[str, str]) -> models.OpenRound:
    """What is at stake; `ids`: the platform's own ids of players by ours."""
    return models.OpenRound(
        round=stake.round,
        player=ids.get(stake.player),
        player_ref=stake.player,
        account=stake.account,
        currency=stake.currency,
        wallet=stake.wallet,
        wagers=stake.wagers,
        held=stake.held,
        unsure=stake.unsure,
        since=stake.since,
    )


def stake_cells(shown: models.OpenRound) -> Sequence[Cell]:
    """A line of `STAKE_COLUMNS`."""
    return tuple(getattr(shown, name) for name in STAKE_COLUMNS)


def transaction_shown(line: reports.Line, ids: Mapping[str, str]) -> models.Transaction:
    """A transaction, with everything that it is traced by."""
    return models.Transaction(
        transaction=line.transaction,
        at=line.at,
        kind=line.kind,
        player=ids.get(line.player),
        player_ref=line.player,
        account=line.account,
        currency=line.currency,
        wallet=line.wallet,
        changes=_changes(line.changes),
        round=line.round,
        revision=line.revision,
        event=line.event,
        cause_event=line.cause_event,
        calls=[
            models.WalletCall(
                call=call.call,
                kind=call.kind,
                state=call.state,
                amount=call.amount,
                transactions=list(call.transactions),
                at=call.at,
            )
            for call in line.calls
        ],
    )


def transaction_cells(shown: models.Transaction) -> Sequence[Cell]:
    """A line of `TRANSACTION_COLUMNS`. A call is its kind, state, amount, id and transactions."""
    calls = (
        " ".join((call.kind, call.state, str(call.amount), call.call, *call.transactions))
        for call in shown.calls
    )
    return (
        *(shown.transaction, shown.at, shown.kind, shown.player, shown.player_ref, shown.account),
        *(shown.currency, shown.wallet, *_four(shown.changes), shown.round, shown.revision, shown.event),
        *(shown.cause_event, "; ".join(calls)),
    )


def statement_line_shown(line: history_rounds.StatementLine) -> models.StatementLine:
    """One change of a player's money."""
    return models.StatementLine(
        at=line.at,
        kind=line.kind,
        cash=line.change.cash,
        held=line.change.held,
        owed=line.change.owed,
        promo=line.promo,
        balance=_balance(line.balance),
        round=line.round,
        revision=line.revision,
        reason=line.reason,
        transaction=line.transaction,
        event=line.event,
    )


def statement_shown(
    made: history_rounds.Statement,
    whose: tuple[str, str],
    window: history_rounds.Window,
    following: str | None,
) -> models.Statement:
    """A page of a statement; `whose`: the platform's own id of the player, and ours."""
    player, player_ref = whose
    return models.Statement(
        player=player,
        player_ref=player_ref,
        account=made.account,
        currency=made.currency,
        wallet=made.wallet,
        since=window.since,
        until=window.until,
        opening=_balance(made.opening),
        closing=_balance(made.closing),
        items=list(map(statement_line_shown, made.lines)),
        next=following,
    )


def statement_cells(line: models.StatementLine) -> Sequence[Cell]:
    """A line of `STATEMENT_COLUMNS`."""
    after = line.balance
    return (
        *(
            line.at,
            line.kind,
            line.cash,
            line.held,
            line.owed,
            line.promo,
            after.cash,
            after.held,
            after.owed,
        ),
        *(line.round, line.revision, line.reason, line.transaction, line.event),
    )


def reconciliation_shown(
    day: dt.date,
    said: reports.Totals,
    checking: reports.Checking,
    *,
    checked: bool,
    final: bool,
) -> models.Reconciliation:
    """What a day comes to; differences are told of a day that was gone through whole."""
    since = dt.datetime.combine(day, dt.time(), dt.UTC)
    differences = checking.differences(said) if checked else ()
    return models.Reconciliation(
        day=day,
        since=since,
        until=since + dt.timedelta(days=1),
        final=final,
        lines=checking.lines,
        checked=checked,
        agrees=not differences if checked else None,
        differences=[
            models.Difference(what=one.what, about=one.about, expected=one.expected, found=one.found)
            for one in differences
        ],
        totals=[
            models.KindTotal(
                currency=one.currency,
                wallet=one.wallet,
                kind=one.kind,
                transactions=one.transactions,
                changes=_changes(one.changes),
            )
            for one in said.totals
        ],
        balances=[
            models.PlayersHave(
                currency=one.currency,
                wallet=one.wallet,
                accounts=one.accounts,
                opening=_changes(one.opening),
                closing=_changes(one.closing),
            )
            for one in said.balances
        ],
        calls=[
            models.CallTotal(
                currency=one.currency, kind=one.kind, state=one.state, calls=one.calls, amount=one.amount
            )
            for one in said.calls
        ],
    )


def reconciliation_rows(shown: models.Reconciliation) -> Iterable[Sequence[Cell]]:
    """Lines of `RECONCILIATION_COLUMNS`; the last one says whether everything agrees."""
    for balance in shown.balances:
        for part, changes in (("opening", balance.opening), ("closing", balance.closing)):
            yield part, balance.currency, balance.wallet, None, None, balance.accounts, *_four(changes), None
    for total in shown.totals:
        four = _four(total.changes)
        yield "total", total.currency, total.wallet, total.kind, None, total.transactions, *four, None
    for call in shown.calls:
        nothing = (None,) * 4
        yield "calls", call.currency, "seamless", call.kind, call.state, call.calls, *nothing, call.amount
    for difference in shown.differences:
        amounts = (difference.expected, difference.found)
        yield "difference", None, None, difference.what, difference.about, None, *amounts, *(None,) * 3
    agrees = {True: "agrees", False: "differs", None: "not_checked"}[shown.agrees]
    yield "checked", None, None, None, agrees, shown.lines, *(None,) * 5


def _changes(changes: reports.Changes) -> models.Changes:
    return models.Changes(cash=changes.cash, held=changes.held, promo=changes.promo, owed=changes.owed)


def _four(changes: models.Changes) -> tuple[int, int, int, int]:
    return changes.cash, changes.held, changes.promo, changes.owed


def _balance(money: history_rounds.Money) -> models.Balance:
    return models.Balance(cash=money.cash, held=money.held, owed=money.owed)
