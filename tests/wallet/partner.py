"""A partner's wallet over HTTP, for tests: it has books of its own, and whatever bad habits a test asks for.

It checks everything that it is sent, as a partner would who trusts nobody; `complaints` has to stay empty.
"""

from __future__ import annotations

import asyncio
import enum
import json
from collections import deque
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from aiohttp import web

from upcard_seamless.dialects import load_dialect
from upcard_seamless.signing import verifier_of

SECRET = b"a secret of tests"
_SIGNATURE = load_dialect("plain").signature
_VERIFIER = verifier_of(_SIGNATURE, SECRET)


class Trick(enum.Enum):
    """What the partner may do to one call, instead of doing it and saying so."""

    HONEST = enum.auto()
    LATE = enum.auto()
    """Does it when `release_late` is called, long after everybody gave up."""
    HANGS = enum.auto()
    """Does it, and answers only when `release_late` is called."""
    CUT = enum.auto()
    """Drops the connection and does nothing."""
    LOST = enum.auto()
    """Does it and drops the connection."""
    BROKEN = enum.auto()
    """Says 500 and does nothing."""
    BROKEN_DONE = enum.auto()
    """Does it and says 500."""
    TWICE = enum.auto()
    """Gets it twice: something between us repeats requests."""
    OTHER_TOTAL = enum.auto()
    """Does it and says another amount."""
    OTHER_CURRENCY = enum.auto()
    OTHER_CALL = enum.auto()
    """Does it and answers as if to another call."""
    GARBAGE = enum.auto()
    """Does it and answers no JSON."""
    ENDLESS = enum.auto()
    """Does it and answers megabytes."""
    AWAY = enum.auto()
    """Sends the caller to another address."""
    DENIES = enum.auto()
    """Does it and says that there were no funds."""
    REFUSES = enum.auto()
    """Does nothing and refuses the player."""
    POISONS = enum.auto()
    """Does it and answers with what no database can keep."""


@dataclass
class Movement:
    """One transaction in the partner's books."""

    kind: str
    player: str
    currency: str
    amount: int
    undone: bool = False


class Refusal(Exception):
    """The partner refuses, for this reason."""


@dataclass
class PartnerServer:
    """The partner; an async context manager that listens on 127.0.0.1."""

    balances: dict[tuple[str, str], int] = field(default_factory=dict)
    movements: dict[str, Movement] = field(default_factory=dict)
    never: set[str] = field(default_factory=set)
    """Transactions that were rolled back before they came."""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    keeps_never: bool = True
    """Whether it remembers what was rolled back before it came, as it has to."""
    port: int = 0

    _scripts: dict[str, deque[Trick]] = field(default_factory=dict)
    _always: dict[str, Trick] = field(default_factory=dict)
    _released: asyncio.Event = field(default_factory=asyncio.Event)
    _arrived: asyncio.Condition = field(default_factory=asyncio.Condition)
    _runner: web.AppRunner | None = None
    _transports: set[asyncio.Transport] = field(default_factory=set)
    _late: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.crash()

    async def start(self) -> None:
        """Begin to listen: again, after a crash, at the same port and with all its books."""
        app = web.Application()
        for kind in ("bet", "win", "rollback"):
            app.router.add_post(f"/{kind}", self._answer)
        app.router.add_post("/balance", self._tell)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def crash(self) -> None:
        """Be gone: connections are cut, new ones refused."""
        for transport in self._transports:
            transport.abort()
        self._transports.clear()
        self._let_go()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def script(self, kind: str, *tricks: Trick) -> None:
        """What to do to the next calls of a kind, one each."""
        self._scripts.setdefault(kind, deque()).extend(tricks)

    def always(self, kind: str, trick: Trick) -> None:
        """What to do to all calls of a kind for which there is no script."""
        self._always[kind] = trick

    def release_late(self) -> None:
        """Do now what came `LATE`, and answer what `HANGS`."""
        late, self._late = self._late, []
        for kind, asked in late:
            self._do(kind, asked)
        self._let_go()

    def give(self, player: str, amount: int, currency: str = "EUR") -> None:
        """The player pays in at the partner, or takes out."""
        self.balances[player, currency] = self.balances.get((player, currency), 0) + amount

    def owed_to_us(self, currency: str = "EUR") -> int:
        """By the partner's own books: bets less wins, without what was rolled back."""
        return sum(
            one.amount if one.kind == "bet" else -one.amount
            for one in self.movements.values()
            if one.currency == currency and not one.undone
        )

    async def called(self, kind: str, times: int = 1, *, within_s: float = 20.0) -> None:
        """Wait until so many calls of a kind have come."""
        async with asyncio.timeout(within_s), self._arrived:
            await self._arrived.wait_for(lambda: sum(one == kind for one, _ in self.calls) >= times)

    # -- what it does --------------------------------------------------------------------------------------

    def _let_go(self) -> None:
        self._released.set()
        self._released = asyncio.Event()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        kind = request.path.strip("/")
        transport = request.transport
        assert transport is not None
        self._transports.add(transport)
        body = await request.read()
        if not _VERIFIER.fits(body, request.headers.get(_SIGNATURE.header, "")):
            self.complaints.append(f"{kind}: a wrong signature")
            return web.Response(status=401)
        asked: dict[str, Any] = json.loads(body)
        script = self._scripts.get(kind)
        trick = script.popleft() if script else self._always.get(kind, Trick.HONEST)
        self.calls.append((kind, asked))
        async with self._arrived:
            self._arrived.notify_all()
        released = self._released
        if trick is Trick.LATE:
            self._late.append((kind, asked))
            await released.wait()
            return web.json_response({"call": asked["call"], "status": "accepted"})
        if trick in (Trick.CUT, Trick.LOST):
            if trick is Trick.LOST:
                self._do(kind, asked)
            transport.abort()
            return web.Response()
        if trick is Trick.BROKEN:
            return web.Response(status=500)
        if trick is Trick.AWAY:
            return web.Response(status=307, headers={"Location": f"{self.address}/{kind}"})
        if trick is Trick.REFUSES:
            return web.json_response({"call": asked["call"], "status": "refused", "reason": "player_refused"})
        answer = self._do(kind, asked)
        if trick is Trick.TWICE:
            assert self._do(kind, asked) == answer
        if trick is Trick.HANGS:
            await released.wait()
        return _told(trick, answer)

    async def _tell(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if not _VERIFIER.fits(body, request.headers.get(_SIGNATURE.header, "")):
            self.complaints.append("balance: a wrong signature")
            return web.Response(status=401)
        asked: dict[str, Any] = json.loads(body)
        who = (asked["player"], asked["currency"])
        if who not in self.balances:
            return web.json_response({"call": asked["call"], "status": "refused", "reason": "player_refused"})
        told = {name: asked[name] for name in ("call", "player", "currency")}
        return web.json_response({**told, "status": "accepted", "balance": self.balances[who]})

    def _do(self, kind: str, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            self._check(kind, asked)
            {"bet": self._bet, "win": self._win, "rollback": self._rollback}[kind](asked)
        except Refusal as refusal:
            return {"call": asked["call"], "status": "refused", "reason": str(refusal)}
        return {
            "call": asked["call"],
            "status": "accepted",
            "player": asked["player"],
            "currency": asked["currency"],
            "total": asked["total"],
        }

    def _check(self, kind: str, asked: dict[str, Any]) -> None:
        amounts = [one["amount"] for one in asked["transactions"]]
        names = [UUID(one["id"]) for one in asked["transactions"]]
        least = 0 if kind == "win" else 1
        if (
            not amounts
            or any(type(amount) is not int or amount < least for amount in amounts)
            or sum(amounts) != asked["total"]
            or len(set(names)) != len(names)
        ):
            self.complaints.append(f"{kind}: impossible amounts or ids: {asked}")

    def _bet(self, asked: dict[str, Any]) -> None:
        who = (asked["player"], asked["currency"])
        if self._known("bet", asked):
            return
        if any(one["id"] in self.never for one in asked["transactions"]):
            raise Refusal("rolled_back")
        if self.balances.get(who, 0) < asked["total"]:
            raise Refusal("insufficient_funds")
        self._move("bet", asked, -1)

    def _win(self, asked: dict[str, Any]) -> None:
        if not self._known("win", asked):
            self._move("win", asked, 1)

    def _rollback(self, asked: dict[str, Any]) -> None:
        who = (asked["player"], asked["currency"])
        found = [self.movements.get(one["id"]) for one in asked["transactions"]]
        if None in found:
            if any(found):
                self.complaints.append(
                    f"rollback: a part of what happened and a part of what did not: {asked}"
                )
            if self.keeps_never:
                self.never.update(one["id"] for one in asked["transactions"])
            raise Refusal("not_found")
        change = 0
        for one, movement in zip(asked["transactions"], found, strict=True):
            assert movement is not None
            if movement.amount != one["amount"] or (movement.player, movement.currency) != who:
                self.complaints.append(f"rollback: of another amount or player: {asked}")
            if not movement.undone:
                change += movement.amount if movement.kind == "bet" else -movement.amount
        if self.balances.get(who, 0) + change < 0:
            raise Refusal("insufficient_funds")
        for movement in found:
            assert movement is not None
            movement.undone = True
        self.balances[who] = self.balances.get(who, 0) + change

    def _known(self, kind: str, asked: dict[str, Any]) -> bool:
        found = [self.movements.get(one["id"]) for one in asked["transactions"]]
        if not any(found):
            return False
        for one, movement in zip(asked["transactions"], found, strict=True):
            if movement is None or (movement.kind, movement.amount, movement.player) != (
                kind,
                one["amount"],
                asked["player"],
            ):
                self.complaints.append(f"{kind}: an id again for something else: {asked}")
            elif movement.undone:
                raise Refusal("rolled_back")
        return True

    def _move(self, kind: str, asked: dict[str, Any], sign: int) -> None:
        who = (asked["player"], asked["currency"])
        for one in asked["transactions"]:
            self.movements[one["id"]] = Movement(kind, *who, one["amount"])
        self.balances[who] = self.balances.get(who, 0) + sign * asked["total"]


def _told(trick: Trick, answer: dict[str, Any]) -> web.Response:
    if trick is Trick.BROKEN_DONE:
        return web.Response(status=500)
    if trick is Trick.GARBAGE:
        return web.Response(body=b"\xff<html>all is well</html>")
    if trick is Trick.ENDLESS:
        return web.Response(body=b" " * 3_000_000 + json.dumps(answer).encode())
    if trick is Trick.POISONS:
        return web.json_response({**answer, "currency": "a\x00b\ud800", "status": "accepted"})
    lies: dict[Trick, dict[str, Any]] = {
        Trick.OTHER_TOTAL: {"total": answer.get("total", 0) + 1},
        Trick.OTHER_CURRENCY: {"currency": "XXX"},
        Trick.OTHER_CALL: {"call": str(UUID(int=7))},
        Trick.DENIES: {"status": "refused", "reason": "insufficient_funds"},
    }
    return web.json_response({**answer, **lies.get(trick, {})})
