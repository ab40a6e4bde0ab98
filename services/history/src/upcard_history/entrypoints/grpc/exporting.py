"""Exports: pages are read as they are written, and nothing is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Final, TypeVar

from servicekit.answering import serving
from upcard.call.v1.refusal_pb2 import Refusal
from upcard.history.v1 import history_pb2 as pb
from upcard_history.app.reading import Page, RoundKey
from upcard_history.entrypoints.exports import Chunk, Sheet, in_chunks, sheets
from upcard_history.entrypoints.grpc import messages
from upcard_history.entrypoints.grpc.asking import (
    MAY_COUNT,
    Context,
    Desk,
    check_role,
    patiently,
    player_asked_about,
    refusal,
)
from upcard_history.entrypoints.grpc.figures import figure_rows
from upcard_history.entrypoints.grpc.players import Asked
from upcard_history.entrypoints.grpc.tokens import position_of, position_token, round_key, round_token

PAGE: Final = 500

R = TypeVar("R")


class ExportCalls:
    """A part of the history's servicer."""

    _desk: Desk

    async def ExportRounds(  # noqa: N802 - the name of the call
        self,
        request: pb.ExportRoundsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> AsyncIterator[pb.ExportRoundsResponse]:
        """Rounds of all tables."""
        check_role(MAY_COUNT)
        query, before = messages.rounds_query(request.filter), round_key(request.after)
        history = self._desk.history
        pages = _pages(before, lambda key: history.rounds(query, before=key, limit=PAGE))
        lines = (tuple(sheets.round_lines(rows)) async for rows in pages)
        async for piece in self._pieces(sheets.rounds(round_token), lines, fresh=before is None):
            yield pb.ExportRoundsResponse(piece=piece)

    async def ExportPlayerRounds(  # noqa: N802 - the name of the call
        self,
        request: pb.ExportPlayerRoundsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> AsyncIterator[pb.ExportPlayerRoundsResponse]:
        """A player's rounds."""
        player = player_asked_about(request.player)
        before = round_key(request.after)
        since, until = messages.period_of(request.opened)
        if player is None:
            yield pb.ExportPlayerRoundsResponse(refusal=refusal("player_unknown"))
            return
        history, currency = self._desk.history, request.currency or None
        pages = _pages(
            before,
            lambda key: history.player_rounds(
                player, before=key, limit=PAGE, currency=currency, since=since, until=until
            ),
        )
        async for piece in self._pieces(sheets.player_rounds(round_token), pages, fresh=before is None):
            yield pb.ExportPlayerRoundsResponse(piece=piece)

    async def ExportStatement(  # noqa: N802 - the name of the call
        self,
        request: pb.ExportStatementRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> AsyncIterator[pb.ExportStatementResponse]:
        """An account's statement."""
        asked, after = Asked.of(request), position_of(request.after)
        account = await asked.account(self._desk)
        if isinstance(account, Refusal):
            yield pb.ExportStatementResponse(refusal=account)
            return
        if await asked.page(self._desk, account, after, 1) is None:
            yield pb.ExportStatementResponse(refusal=refusal("account_unknown"))
            return
        lines = self._statement(asked, account, after)
        async for piece in self._pieces(sheets.statement(position_token), lines, fresh=not after):
            yield pb.ExportStatementResponse(piece=piece)

    async def ExportFigures(  # noqa: N802 - the name of the call
        self,
        request: pb.ExportFiguresRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> AsyncIterator[pb.ExportFiguresResponse]:
        """Figures by hour or day."""
        rows = await figure_rows(self._desk, request.query)
        if isinstance(rows, Refusal):
            yield pb.ExportFiguresResponse(refusal=rows)
            return
        lines = tuple(sheets.figure_lines(rows))
        async for piece in self._pieces(sheets.figures(), _one_page(lines), fresh=True):
            yield pb.ExportFiguresResponse(piece=piece)

    async def _statement(
        self, asked: Asked, account: str, after: int
    ) -> AsyncIterator[Sequence[sheets.StatementRow]]:
        """The lines between the balances before and after them."""
        while True:
            made = await asked.page(self._desk, account, after, PAGE)
            if made is None:
                return
            page: list[sheets.StatementRow] = []
            if not after:
                page.append(sheets.balance_row("opening", asked.since, made.opening, made.account))
            page += [sheets.line_row(line, made.account) for line in made.lines]
            if made.next is None:
                page.append(sheets.balance_row("closing", asked.until, made.closing, made.account))
                yield page
                return
            yield page
            after = made.next

    async def _pieces(
        self, sheet: Sheet[R], pages: AsyncIterator[Sequence[R]], *, fresh: bool
    ) -> AsyncIterator[pb.CsvPiece]:
        with self._desk.exports.taken(serving().asker):
            async with aclosing(in_chunks(sheet, pages, header=fresh)) as found:
                async for chunk in found:
                    yield _piece(chunk)


def _piece(chunk: Chunk) -> pb.CsvPiece:
    return pb.CsvPiece(data=chunk.data, rows=chunk.rows, after=chunk.after, last=chunk.last)


async def _pages(
    before: RoundKey | None, ask: Callable[[RoundKey | None], Awaitable[Page[R]]]
) -> AsyncIterator[Sequence[R]]:
    """Page after page; each is asked for when the one before is written."""
    while True:
        page = await patiently(partial(ask, before))
        yield page.rows
        if page.next is None:
            return
        before = page.next


async def _one_page(rows: Sequence[R]) -> AsyncIterator[Sequence[R]]:
    yield rows
