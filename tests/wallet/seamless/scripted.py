"""The reference partner's wallet in any dialect, which says what a test has written down for it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from aiohttp import web

from eventstore.postgres import Pool, PostgresEventStore
from tests.wallet.partner import SECRET
from tests.wallet.seamless.world import QUICK, SeamlessWorld
from upcard_conformance.reference.book import Answer, Book
from upcard_conformance.reference.speaking import Heard, Said, Speaker
from upcard_conformance.reference.wallet import ReferenceWallet, speakers_of
from upcard_seamless.answers import WHY, AnswerKind
from upcard_seamless.calls import CallKind
from upcard_seamless.dialects import Dialect, load_dialect
from upcard_seamless.signing import new_rsa_key
from upcard_wallet.adapters.seamless.http_partner import HttpPartner
from upcard_wallet.adapters.seamless.settings import PartnerSettings
from upcard_wallet.app.open_account import OpenAccount, open_account
from upcard_wallet.app.purse import AccountRef

MONEY = 1_000
"""What each player has at the partner."""

_WRONG: Final[dict[AnswerKind, tuple[str, ...]]] = {
    "wrong_call": ("$call", "$network"),
    "wrong_player": ("$player",),
    "wrong_currency": ("$currency",),
    "wrong_amount": ("$amount", "$total"),
}
"""Which variables each word for a wrong answer is about."""


@cache
def keys(dialect: str) -> tuple[bytes, bytes]:
    """What we sign with in a dialect, and what the partner checks it by."""
    if load_dialect(dialect).signature.scheme == "rsa-sha256":
        return new_rsa_key()
    return SECRET, SECRET


def wrong_field(dialect: Dialect, kind: CallKind, word: AnswerKind) -> str | None:
    """The field in which an answer to such a call would be wrong; None: this dialect cannot be wrong so."""
    rule = dialect.means(kind, "ok")
    assert rule is not None
    same = {**dialect.answer.same, **rule.same}
    return next((field for field, variable in same.items() if variable in _WRONG[word]), None)


def can_say(dialect: Dialect, kind: CallKind, word: AnswerKind) -> bool:
    """Whether a partner can answer like that at all."""
    if word in _WRONG:
        return wrong_field(dialect, kind, word) is not None
    if word in WHY or word == "duplicate":
        return dialect.means(kind, word) is not None
    return True


@dataclass(frozen=True, slots=True)
class Garbage(Said):
    """An answer that is none."""

    @property
    def data(self) -> bytes:
        """What no reader of JSON takes."""
        return b"\xff<html>all is well</html>"


class ScriptedWallet(ReferenceWallet):
    """Does what it is asked, unless it refuses, and says of it what is written down; then it is honest."""

    def __init__(self, dialect: str) -> None:
        super().__init__(Book(":memory:"), speakers_of({dialect: keys(dialect)[1]}))
        self.dialect = load_dialect(dialect)
        self.heard: list[Heard] = []
        self._scripts: dict[CallKind, deque[AnswerKind]] = {}
        self._released = asyncio.Event()
        self._arrived = asyncio.Condition()

    @property
    def address(self) -> str:
        """Where it listens."""
        return self.address_of(self.dialect.name)

    def script(self, kind: CallKind, *words: AnswerKind) -> None:
        """What to say to the next requests of a kind, one each."""
        self._scripts[kind] = deque(words)

    def let_go(self) -> None:
        """Answer now what waits, `time_out` and `late`."""
        self._released.set()
        self._released = asyncio.Event()

    def times(self, kind: CallKind) -> int:
        """How many requests of a kind have come."""
        return sum(one.kind == kind for one in self.heard)

    async def called(self, kind: CallKind, times: int) -> None:
        """Wait until so many requests of a kind have come."""
        async with asyncio.timeout(60), self._arrived:
            await self._arrived.wait_for(lambda: self.times(kind) >= times)

    async def owns(self, player: str) -> int:
        """What a player has here."""
        balance = await self.on_book(lambda book: book.balance_of(player, "EUR"))
        assert balance is not None
        return balance

    async def answer(self, speaker: Speaker, request: web.Request, body: bytes) -> Said:
        """See `ReferenceWallet`; whatever is not understood is a mistake of ours."""
        self.check(speaker, request, body)
        heard = speaker.hear("/" + request.match_info["path"], body)
        script = self._scripts.get(heard.kind)
        word = script.popleft() if script else "ok"
        released = self._released
        self.heard.append(heard)
        async with self._arrived:
            self._arrived.notify_all()
        if word in WHY:
            return _refused(speaker, heard, word)
        said = self._said(speaker, heard, await self.carry_out(heard, request), word)
        if word in ("time_out", "late"):
            await released.wait()
        return said

    def _said(self, speaker: Speaker, heard: Heard, answer: Answer, word: AnswerKind) -> Said:
        if word == "server_error":
            return Said(500, {})
        if word == "unreadable":
            return Garbage(200, {})
        if word == "duplicate":
            answer = replace(answer, repeated=True)
        said = speaker.say(heard, answer)
        if word in _WRONG:
            field = wrong_field(speaker.dialect, heard.kind, word)
            assert field is not None
            value = said.body[field]
            wrong = value + 1 if isinstance(value, int) else "XXX"
            return Said(said.status, {**said.body, field: wrong})
        return said


def _refused(speaker: Speaker, heard: Heard, word: AnswerKind) -> Said:
    rule = speaker.dialect.means(heard.kind, word)
    assert rule is not None
    echoed = {name: heard.bound[variable] for name, variable in speaker.dialect.answer.same.items()}
    return Said(rule.http, {**rule.where, **echoed})


class SpokenWorld(SeamlessWorld):
    """A `SeamlessWorld` whose one partner, of `op1`, speaks a dialect and follows a script."""

    def __init__(
        self, pool: Pool, store: PostgresEventStore, scripted: ScriptedWallet, settings: PartnerSettings
    ) -> None:
        super().__init__(pool, store, {}, settings)
        self.scripted = scripted
        self.players = 0

    def partners(self) -> dict[str, HttpPartner]:
        """Who speaks to it."""
        dialect = self.scripted.dialect
        secret, _ = keys(dialect.name)
        return {"op1": HttpPartner(self.scripted.address, secret, dialect=dialect)}

    async def newcomer(self) -> tuple[str, str]:
        """A player with `MONEY` at the partner, and a round of their own."""
        self.players += 1
        name = f"p{self.players}"
        opened = await self.do(open_account, OpenAccount(f"{name}-EUR", name, "op1", "EUR", "seamless"))
        assert isinstance(opened, AccountRef)
        await self.scripted.on_book(lambda book: book.open(name, "EUR", MONEY))
        return name, f"t1.{self.players}"

    async def tries(self, round_name: str, kind: CallKind) -> int:
        """How often the calls of a kind of a round were made, by our own records."""
        return int(
            await self.value(
                "SELECT count(*) FROM wallet.partner_answers JOIN wallet.partner_calls USING (call)"
                " JOIN wallet.partner_lanes USING (lane) WHERE round = $1 AND kind = $2",
                round_name,
                kind,
            )
        )

    async def last(self, round_name: str, kind: CallKind) -> tuple[str, str | None]:
        """State and reason of a round's first call of a kind."""
        row = await self.pool.fetchrow(
            "SELECT c.state, c.reason FROM wallet.partner_calls AS c JOIN wallet.partner_lanes USING (lane)"
            " WHERE round = $1 AND kind = $2 ORDER BY number LIMIT 1",
            round_name,
            kind,
        )
        assert row is not None
        return row["state"], row["reason"]


@asynccontextmanager
async def spoken_world(
    pool: Pool, store: PostgresEventStore, dialect: str, settings: PartnerSettings = QUICK
) -> AsyncIterator[SpokenWorld]:
    """A world whose partner speaks this dialect; nothing of the queue is told before `start_work`."""
    async with ScriptedWallet(dialect) as scripted, SpokenWorld(pool, store, scripted, settings) as world:
        yield world
