"""Reports: open rounds, a player's statement, transactions, what a day comes to; as JSON and as files."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Final, TypeVar

from fastapi import APIRouter, Depends, Query, Response

from servicekit.csv_lines import Cell
from upcard_gateway.adapters import history_money, history_rounds
from upcard_gateway.adapters.history_rounds import CursorWrong, NoAccount, PeriodWrong, Window
from upcard_gateway.app.people import Player
from upcard_gateway.app.reports import CALLS_KEPT, Checking
from upcard_gateway.entrypoints.http.edge import Caller, Edge, OnEdge, Problem, Signed, json_answer, responses
from upcard_gateway.entrypoints.http.players import OfPlayer, people_on, player_of
from upcard_gateway.entrypoints.http.reading_lists import (
    EARLIEST,
    LATEST,
    After,
    Limit,
    Since,
    Until,
    csv_answer,
    csv_responses,
    cursor_of,
    final,
    no_such_cursor,
    period,
    token_of,
)
from upcard_gateway.entrypoints.http.report_answers import (
    RECONCILIATION_COLUMNS,
    STAKE_COLUMNS,
    STATEMENT_COLUMNS,
    TRANSACTION_COLUMNS,
    reconciliation_rows,
    reconciliation_shown,
    stake_cells,
    stake_shown,
    statement_cells,
    statement_line_shown,
    statement_shown,
    transaction_cells,
    transaction_shown,
)
from upcard_platform.models import reports as models

router = APIRouter(tags=["reports"])

_FILE_PAGE: Final = 500
_OF_PERIOD: Final = ("period_invalid", "cursor_invalid")

T = TypeVar("T")

Day = Annotated[dt.date | None, Query(description="a day (UTC), YYYY-MM-DD")]
OfCurrency = Annotated[str, Query(pattern="^[A-Z]{3}$", description="the account's currency, ISO 4217")]
OfRound = Annotated[
    str | None,
    Query(
        alias="round", pattern=r"^[A-Za-z0-9_-]{1,64}\.[1-9][0-9]{0,15}$", description="of this round alone"
    ),
]


def period_asked(
    day: Day = None, since: Since = None, until: Until = None, round_name: OfRound = None
) -> tuple[dt.datetime, dt.datetime, str]:
    """The period of a report, and the round; a dependency of FastAPI's. Of a round alone: at any time."""
    if round_name is not None and day is None and since is None and until is None:
        return EARLIEST, LATEST, round_name
    return *period(since, until, day), round_name or ""


TheDay = Annotated[dt.date, Query(description="the day (UTC), YYYY-MM-DD")]
OfPeriod = Annotated[tuple[dt.datetime, dt.datetime, str], Depends(period_asked)]


@router.get(
    "/v1/reports/open-rounds",
    response_model=models.OpenRoundList,
    responses=responses("cursor_invalid"),
)
async def open_rounds(caller: Signed, edge: OnEdge, limit: Limit = 50, after: After = None) -> Response:
    """What the platform's players have at stake in rounds that have not ended, by account and round."""
    found, following = await _stakes(edge, caller, token_of(after), limit)
    return json_answer(models.OpenRoundList(items=found, next=cursor_of(following)))


@router.get(
    "/v1/reports/open-rounds.csv",
    response_class=Response,
    responses=responses() | csv_responses,
)
async def open_rounds_file(caller: Signed, edge: OnEdge) -> Response:
    """The same as a file."""

    async def pages() -> AsyncIterator[Sequence[models.OpenRound]]:
        token = ""
        while True:
            found, token = await _stakes(edge, caller, token, _FILE_PAGE)
            yield found
            if not token:
                return

    return await csv_answer("open_rounds", STAKE_COLUMNS, pages(), stake_cells)


def statement_window(
    since: Since = None, until: Until = None, limit: Limit = 50, after: After = None
) -> Window:
    """A page of a period with both ends; a dependency of FastAPI's."""
    return Window(*period(since, until), token_of(after), limit)


def statement_period(since: Since = None, until: Until = None) -> Window:
    """The whole of a period; a dependency of FastAPI's."""
    return Window(*period(since, until), "", _FILE_PAGE)


@router.get(
    "/v1/players/{player}/statement",
    response_model=models.Statement,
    responses=responses("player_unknown", "account_unknown", *_OF_PERIOD),
)
async def statement(
    player: OfPlayer,
    caller: Signed,
    edge: OnEdge,
    currency: OfCurrency,
    window: Annotated[Window, Depends(statement_window)],
) -> Response:
    """A player's money in a period: opening, each change with the balance after it, closing."""
    known = await player_of(edge, caller, player)
    made = await _statement(edge, known, currency, window)
    shown = statement_shown(made, (player, known.id), window, cursor_of(made.next))
    return json_answer(shown)


@router.get(
    "/v1/players/{player}/statement.csv",
    response_class=Response,
    responses=responses("player_unknown", "account_unknown", "period_invalid") | csv_responses,
)
async def statement_file(
    player: OfPlayer,
    caller: Signed,
    edge: OnEdge,
    currency: OfCurrency,
    window: Annotated[Window, Depends(statement_period)],
) -> Response:
    """The same as a file."""
    known = await player_of(edge, caller, player)

    async def pages() -> AsyncIterator[Sequence[models.StatementLine]]:
        page = window
        while True:
            made = await _statement(edge, known, currency, page)
            yield list(map(statement_line_shown, made.lines))
            if not made.next:
                return
            page = replace(page, after=made.next)

    return await csv_answer("statement", STATEMENT_COLUMNS, pages(), statement_cells)


@router.get(
    "/v1/reports/transactions",
    response_model=models.TransactionList,
    responses=responses(*_OF_PERIOD),
)
async def transactions(
    caller: Signed, edge: OnEdge, asked: OfPeriod, limit: Limit = 50, after: After = None
) -> Response:
    """Everything that moved money of the platform's players, by account and time.

    Of a day (`day`), of a period (`since`, `until`), or of one round (`round`).
    """
    found, following = await _transactions(edge, caller, asked, token_of(after), limit)
    since, until, _ = asked
    shown = models.TransactionList(
        since=since, until=until, final=final(until, edge.now()), items=found, next=cursor_of(following)
    )
    return json_answer(shown)


@router.get(
    "/v1/reports/transactions.csv",
    response_class=Response,
    responses=responses("period_invalid") | csv_responses,
)
async def transactions_file(caller: Signed, edge: OnEdge, asked: OfPeriod) -> Response:
    """The same as a file."""

    async def pages() -> AsyncIterator[Sequence[models.Transaction]]:
        token = ""
        while True:
            found, token = await _transactions(edge, caller, asked, token, _FILE_PAGE)
            yield found
            if not token:
                return

    return await csv_answer("transactions", TRANSACTION_COLUMNS, pages(), transaction_cells)


@router.get(
    "/v1/reports/reconciliation",
    response_model=models.Reconciliation,
    responses=responses("period_invalid"),
)
async def reconciliation(caller: Signed, edge: OnEdge, day: TheDay) -> Response:
    """What a day (UTC) comes to, and whether lines, totals, balances and calls to the wallet agree.

    A day that is not `final` can grow while it is gone through, and then differ from itself: ask again.
    """
    return json_answer(await _reconciled(edge, caller, day))


@router.get(
    "/v1/reports/reconciliation.csv",
    response_class=Response,
    responses=responses("period_invalid") | csv_responses,
)
async def reconciliation_file(caller: Signed, edge: OnEdge, day: TheDay) -> Response:
    """The same as a file; its last line says whether everything agrees."""
    rows = list(reconciliation_rows(await _reconciled(edge, caller, day)))

    async def pages() -> AsyncIterator[Sequence[Sequence[Cell]]]:
        yield rows

    return await csv_answer("reconciliation", RECONCILIATION_COLUMNS, pages(), tuple)


async def _stakes(edge: Edge, caller: Caller, token: str, limit: int) -> tuple[list[models.OpenRound], str]:
    found, following = await _asked(history_money.stakes(edge.services, caller.operator, token, limit))
    ids = await _ids(edge, caller, [one.player for one in found])
    return [stake_shown(one, ids) for one in found], following


async def _statement(edge: Edge, known: Player, currency: str, window: Window) -> history_rounds.Statement:
    try:
        return await _asked(history_rounds.statement(edge.services, known.id, currency, window))
    except NoAccount:
        raise Problem("account_unknown", "the player has no account in this currency") from None


async def _transactions(
    edge: Edge, caller: Caller, asked: tuple[dt.datetime, dt.datetime, str], token: str, limit: int
) -> tuple[list[models.Transaction], str]:
    since, until, round_name = asked
    found, following = await _asked(
        history_money.transactions(edge.services, caller.operator, since, until, token, limit, round_name)
    )
    ids = await _ids(edge, caller, [one.player for one in found])
    return [transaction_shown(one, ids) for one in found], following


async def _reconciled(edge: Edge, caller: Caller, day: dt.date) -> models.Reconciliation:
    """The sums first, then the lines: of a day that is over both are of the same."""
    since, until = period(None, None, day)
    now = edge.now()
    said = await _asked(history_money.totals(edge.services, caller.operator, since, until))
    checking = Checking(calls_are_kept=now - since < CALLS_KEPT)
    most = edge.settings.report_lines_checked_max
    if sum(one.transactions for one in said.totals) > most:
        return reconciliation_shown(day, said, checking, checked=False, final=final(until, now))
    token = ""
    while True:
        lines, token = await _asked(
            history_money.transactions(
                edge.services, caller.operator, since, until, token, history_money.LARGEST_PAGE
            )
        )
        checking.take(lines)
        # A day that grows as fast as it is read has no end.
        if not token or checking.lines > most:
            break
    return reconciliation_shown(day, said, checking, checked=not token, final=final(until, now))


async def _ids(edge: Edge, caller: Caller, players: Sequence[str]) -> Mapping[str, str]:
    """The caller's own ids of players; who was erased is missing."""
    return await people_on(edge).partner_ids(caller.operator, list(dict.fromkeys(players)))


async def _asked(call: Awaitable[T]) -> T:
    """What a service answers. Raises Problem."""
    try:
        return await call
    except CursorWrong:
        raise no_such_cursor() from None
    except PeriodWrong:
        raise Problem("period_invalid", "`until` is after `since`") from None
