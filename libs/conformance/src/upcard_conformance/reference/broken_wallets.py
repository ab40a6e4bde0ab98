"""Wallets with one defect each in how they listen and answer, of the kind that real ones have."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from aiohttp import web
from pydantic import JsonValue

from upcard_conformance.reference.book import Answer, Book, Order
from upcard_conformance.reference.speaking import Heard, Said, Speaker
from upcard_conformance.reference.wallet import ReferenceWallet

_BETWEEN_S: Final = 0.25
"""How long a race stays open: on the machine of a test, others get their turn in it."""
_LATE_S: Final = 30.0


class IgnoresSignature(ReferenceWallet):
    """Whoever can reach it is believed."""

    def check(self, speaker: Speaker, request: web.Request, body: bytes) -> None:
        """Looks at nothing."""


class ChecksSignatureTooLate(ReferenceWallet):
    """The signature is checked when the money has moved."""

    async def answer(self, speaker: Speaker, request: web.Request, body: bytes) -> Said:
        """Does it, then refuses it."""
        await self.carry_out(speaker.hear("/" + request.match_info["path"], body), request)
        return await super().answer(speaker, request, body)


class DoublesDuplicatesAtOnce(ReferenceWallet):
    """It looks whether a transaction is known, then does it: two at once both find it unknown."""

    async def carry_out(self, heard: Heard, request: web.Request) -> Answer:
        """Leaves time between the look and the deed."""
        known = await self.on_book(lambda book: bool(book.known(heard.order)))
        if known or heard.kind in {"balance", "rollback"}:
            return await super().carry_out(heard, request)
        await asyncio.sleep(_BETWEEN_S)
        return await self.on_book(lambda book: _done_unseen(book, heard.order))


def _done_unseen(book: Book, order: Order) -> Answer:
    with book.transaction():
        known = book.known(order)
        book.connection.execute("SAVEPOINT before")
        for one in known:
            book.connection.execute("UPDATE movements SET id = ? WHERE id = ?", (f"{one}*", one))
        answer = book.carried_out(order)
        if answer.reason is not None:
            book.connection.execute("ROLLBACK TO before")
        elif known:
            book.connection.execute("DELETE FROM movements WHERE id LIKE '%*'")
        return answer


class ReadsThenWrites(ReferenceWallet):
    """It reads the balance, computes, and writes the new one: what others wrote meanwhile is lost."""

    async def carry_out(self, heard: Heard, request: web.Request) -> Answer:
        """Leaves time between reading and writing."""
        order = heard.order
        if heard.kind != "bet":
            return await super().carry_out(heard, request)
        read = await self.on_book(lambda book: book.balance_of(order.player, order.currency))
        await asyncio.sleep(_BETWEEN_S)
        answer = await super().carry_out(heard, request)
        if answer.reason is None and not answer.repeated and read is not None:
            await self.on_book(
                lambda book: book.connection.execute(
                    "UPDATE players SET balance = ? WHERE player = ? AND currency = ?",
                    (read - order.total, order.player, order.currency),
                )
            )
        return answer


class ForgetsWhenCutOff(ReferenceWallet):
    """It notes what it has done when the answer has been sent: not when the caller has hung up."""

    async def carry_out(self, heard: Heard, request: web.Request) -> Answer:
        """Forgets the ids of those who did not wait."""
        answer = await super().carry_out(heard, request)
        if heard.kind != "balance":
            await asyncio.sleep(_BETWEEN_S)
            if request.transport is None or request.transport.is_closing():
                ids = [(one.id,) for one in heard.order.movements]
                await self.on_book(
                    lambda book: book.connection.executemany("DELETE FROM movements WHERE id = ?", ids)
                )
        return answer


class SaysServerError(ReferenceWallet):
    """Every refusal is an exception somewhere, and comes out as HTTP 500."""

    async def answer(self, speaker: Speaker, request: web.Request, body: bytes) -> Said:
        """Says 500 for whatever was refused."""
        said = await super().answer(speaker, request, body)
        refused = said.status >= 400 or "refused" in said.body.values()
        return Said(500, {"error": "exception"}) if refused else said


class HangsUp(ReferenceWallet):
    """It does what was asked and drops the connection without an answer."""

    async def carry_out(self, heard: Heard, request: web.Request) -> Answer:
        """Answers balances alone."""
        answer = await super().carry_out(heard, request)
        if heard.kind != "balance" and request.transport is not None:
            request.transport.abort()
        return answer


class AnswersLate(ReferenceWallet):
    """It does what was asked, and answers when nobody waits any more."""

    async def carry_out(self, heard: Heard, request: web.Request) -> Answer:
        """Waits after a bet is done, for as long as somebody listens."""
        answer = await super().carry_out(heard, request)
        if heard.kind == "bet":
            loop = asyncio.get_running_loop()
            until = loop.time() + _LATE_S
            while loop.time() < until and request.transport is not None:  # noqa: ASYNC110 - aiohttp has no event
                await asyncio.sleep(_BETWEEN_S)
        return answer


class CachesBalances(ReferenceWallet):
    """Balances are told from a cache that bets alone refresh."""

    def __init__(
        self, book: Book, speakers: Mapping[str, Speaker], *, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        """Begin with nothing in the cache."""
        super().__init__(book, speakers, host=host, port=port)
        self.cache: dict[tuple[str, str], Answer] = {}

    async def carry_out(self, heard: Heard, request: web.Request) -> Answer:
        """Answers balances as it did before."""
        key = (heard.order.player, heard.order.currency)
        if heard.kind == "balance" and key in self.cache:
            return self.cache[key]
        answer = await super().carry_out(heard, request)
        if heard.kind == "balance":
            self.cache[key] = answer
        elif heard.kind == "bet":
            self.cache.pop(key, None)
        return answer


class NamesOtherAmount(Speaker):
    """Answers name another amount than was sent: what was asked for, less a fee."""

    def echo(self, value: str, request: Heard, answer: Answer) -> JsonValue:
        """Repeats amounts otherwise."""
        said = super().echo(value, request, answer)
        return said - 1 if value in {"$amount", "$total"} and isinstance(said, int) else said


class NamesOtherCall(Speaker):
    """Answers carry ids of the wallet's own where those of the request belong."""

    def echo(self, value: str, request: Heard, answer: Answer) -> JsonValue:
        """Repeats ids otherwise."""
        if request.kind != "balance" and value in {"$call", "$network", "$transaction", "$movement"}:
            return "00000000-0000-0000-0000-000000000000"
        return super().echo(value, request, answer)


class NamesOtherPlayer(Speaker):
    """Answers name the player by another id than the one that was sent."""

    def echo(self, value: str, request: Heard, answer: Answer) -> JsonValue:
        """Repeats the player otherwise."""
        if request.kind != "balance" and value == "$player":
            return "somebody"
        return super().echo(value, request, answer)
