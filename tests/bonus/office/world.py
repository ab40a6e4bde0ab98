"""A bonus service's use cases on a real database, spoken to in few words."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from eventstore import StreamAppend
from eventstore.postgres import Connection, Pool, PostgresEventStore, append_in_transaction
from eventstore.private import Keyring
from rules_core.log.content import Content, parse_content
from rules_core.round import events as e
from rules_core.round.codec import event_of
from rules_core.round.limits import Durations
from rules_core.rulesets.shipped import shipped
from rules_core.settlement.model import BoxResult, DealerResult, Line
from upcard_bonus.adapters.postgres import FreeBetTables, JackpotTables, RoundTables, SecretTable
from upcard_bonus.app.bonus import BonusOffice, Done
from upcard_bonus.app.fencing import FencedJackpot, end_fences, fence_round, lift_fence
from upcard_bonus.app.follow_rounds import follow_rounds
from upcard_bonus.app.keeping_jackpots import OpenJackpot, open_jackpot
from upcard_bonus.app.ports import KeptJackpot
from upcard_bonus.app.recording import Origin, Recorder, decode
from upcard_bonus.app.round_facts import RoundFact
from upcard_bonus.domain.events import BonusEvent
from upcard_bonus.domain.jackpot import Jackpot, fold
from upcard_bonus.domain.jackpot_events import JackpotSettings

T = TypeVar("T")
NOW = "2026-11-30T12:00:00.000000Z"
ORIGIN = Origin("system", "correlation")
RULESET = "dark-boxes@1"
DURATIONS = Durations(15_000, 20_000, 20_000, 15_000, 60_000)
DEALER = DealerResult("nothing", (), "nothing", qualified=False, purchased=False)
FENCED_FOR = dt.timedelta(minutes=5)


@dataclass
class Seen:
    """A watcher who remembers."""

    decided: dict[str, int] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    misused: list[str] = field(default_factory=list)
    house: int = 0

    def determined(self, bonus: str, number: int) -> None:
        self.decided[bonus] = self.decided.get(bonus, 0) + number

    def contributed(self, currency: str, amount: int) -> None:
        assert len(currency) == 3
        assert amount >= 0

    def hit(self, currency: str, kind: str, paid: int) -> None:
        assert (len(currency), kind in {"hand", "must_hit_by"}, paid >= 0) == (3, True, True)

    def corrected(self, currency: str, house: int) -> None:
        assert len(currency) == 3
        self.house += house

    def free_bet(self, what: str) -> None:
        assert what.startswith("FreeBet")

    def unknown_free_bet(self, about: str) -> None:
        self.unknown.append(about)

    def misused_free_bet(self, about: str) -> None:
        self.misused.append(about)


class World:
    """The use cases, and what a table, the staff and the clock would do."""

    def __init__(self, pool: Pool, store: PostgresEventStore) -> None:
        self.pool = pool
        self.store = store
        self.seen = Seen()
        keyring = Keyring({"k1": bytes(32)}, writes_with="k1")
        self.office = BonusOffice(
            RoundTables(),
            JackpotTables(),
            FreeBetTables(),
            SecretTable(keyring),
            Recorder(),
            self.seen,
        )

    async def do(self, use_case: Callable[..., Awaitable[Done[T]]], *arguments: object) -> T:
        """Run a use case in a transaction of its own."""
        async with self.pool.acquire() as connection, connection.transaction():
            done = await use_case(self.office, connection, *arguments, ORIGIN)
            await append(connection, done.appends)
        return done.answer

    async def jackpot(self, name: str = "j1", *tables: str, **settings: Any) -> Jackpot:
        """An open jackpot of 1,000 to which table t1 adds a tenth of its stakes, unless said otherwise."""
        more = {"seed": 1_000, "contribution_ppm": 100_000, **settings}
        currency = more.pop("currency", "EUR")
        wanted = JackpotSettings(tables=tables or ("t1",), **more)
        opened = await self.do(open_jackpot, OpenJackpot(name, "op1", currency, wanted))
        assert isinstance(opened, Jackpot), opened
        return opened

    async def fence(self, name: str) -> list[FencedJackpot]:
        """Fence a round's pools."""
        done = await self.do(fence_round, name, FENCED_FOR)
        assert isinstance(done, Sequence), done
        return list(done)

    async def lift(self, name: str) -> Sequence[str]:
        """Lift a round's fences."""
        return await self.do(lift_fence, name)

    async def end_fences(self) -> bool:
        """Lift what is over, and let through what waits; whether there was anything."""
        async with self.pool.acquire() as connection, connection.transaction():
            appends = await end_fences(self.office, connection, ORIGIN, 100)
            await append(connection, appends)
        return bool(appends)

    async def hear(self, *events: tuple[str, e.RoundEvent], correlation: str = "table") -> None:
        """The table says (round, event), in one batch."""
        new_id = self.office.recorder.new_id
        await self.apply([RoundFact(name, new_id(), correlation, event) for name, event in events])

    async def hear_contents(self, contents: Iterable[Content]) -> None:
        """The table says what was recorded."""
        await self.apply(
            [
                RoundFact(
                    one.stream.removeprefix("round-"),
                    UUID(one.event_id),
                    one.correlation_id,
                    event_of(one.type, one.version, one.payload),
                )
                for one in contents
            ]
        )

    async def apply(self, facts: Sequence[RoundFact]) -> None:
        """Give facts their effect, in one transaction."""
        async with self.pool.acquire() as connection, connection.transaction():
            await append(connection, await follow_rounds(self.office, connection, facts))

    async def play(
        self, name: str, *stakes: tuple[str, int] | tuple[str, int, int | None], currency: str = "EUR"
    ) -> None:
        """A whole round in which each player stakes on B, and may win a share of the pool."""
        await self.hear((name, opened(name)), *placed_all(name, *stakes, currency=currency))
        await self.settle(name, *stakes, currency=currency)

    async def settle(
        self, name: str, *stakes: tuple[str, int] | tuple[str, int, int | None], currency: str = "EUR"
    ) -> None:
        """The round's results, and its end."""
        results = [
            settled(player, amount, share[0] if share else None, box=box, currency=currency)
            for box, (player, amount, *share) in enumerate(stakes, start=1)
        ]
        await self.hear(*((name, one) for one in results), (name, e.RoundSettled(DEALER, ())))

    async def resettle(
        self, name: str, *results: e.PlayerSettled, number: int = 1, refund: bool = False
    ) -> None:
        """A correction with these revisions."""
        decided = e.CorrectionDecided(number, "wrong_result", "staff:s1", "staff:s2", refund)
        await self.hear(
            (name, decided),
            *((name, one) for one in results),
            (name, e.RoundResettled(number, DEALER, ())),
        )

    async def state(self, name: str = "j1") -> Jackpot:
        """A jackpot as the tables have it; the same as its events say, if it is not fenced now."""
        async with self.pool.acquire() as connection:
            found = await self.office.jackpots.find(connection, name)
        assert found is not None
        told = fold(await self.events(f"jackpot-{name}"))  # type: ignore[arg-type]  # of a jackpot
        assert told == found, "what the tables have is what the log says"
        return found

    async def kept(self, name: str = "j1") -> KeptJackpot:
        """A jackpot as a transaction locks it."""
        async with self.pool.acquire() as connection, connection.transaction():
            return (await self.office.jackpots.lock(connection, [name]))[name]

    async def events(self, stream: str) -> list[BonusEvent]:
        """All events of a stream."""
        return [
            decode(content.type, content.version, content.payload) for content in await self.contents(stream)
        ]

    async def contents(self, stream: str) -> list[Content]:
        """The same as they were recorded."""
        return [parse_content(event.content) async for event in self.store.iterate_stream(stream)]

    async def value(self, query: str, *arguments: object) -> Any:
        """One value of the database."""
        return await self.pool.fetchval(query, *arguments)


async def append(connection: Connection, appends: Sequence[StreamAppend]) -> None:
    """The last act of a transaction."""
    if appends:
        await append_in_transaction(connection, appends)


def opened(name: str, ruleset: str = RULESET) -> e.RoundOpened:
    """A round begins."""
    table, _, number = name.rpartition(".")
    rules = shipped(ruleset)
    return e.RoundOpened(table, int(number), ruleset, rules.sha256, 1, (), DURATIONS, NOW, NOW)


def placed(
    player: str,
    *stakes: tuple[int, str, int] | tuple[int, str, int, str],
    bet_id: str = "b1",
    currency: str = "EUR",
) -> e.BetPlaced:
    """Stakes: (box, wager, amount) or, with a free bet, (box, wager, amount, free bet)."""
    made = tuple(
        e.Stake(box, wager, amount, funding=funding[0] if funding else None)  # type: ignore[arg-type]  # any wager
        for box, wager, amount, *funding in stakes
    )
    return e.BetPlaced(player, currency, bet_id, "place", made, NOW)


def placed_all(
    name: str, *stakes: tuple[str, int] | tuple[str, int, int | None], currency: str = "EUR"
) -> list[tuple[str, e.RoundEvent]]:
    """A stake on B of each player."""
    return [
        (name, placed(player, (box, "bonus_player", amount), currency=currency))
        for box, (player, amount, *_) in enumerate(stakes, start=1)
    ]


def settled(  # noqa: PLR0913 - what a result has
    player: str,
    amount: int,
    share: int | None = None,
    *,
    box: int = 1,
    revision: int = 1,
    currency: str = "EUR",
    refunded: bool = False,
) -> e.PlayerSettled:
    """A result with a stake on B; a share gives the stake back."""
    back = amount if refunded or share is not None else 0
    reason = "refunded" if refunded else "test"
    return result(
        player,
        Line("bonus_player", amount, back, reason, share),
        box=box,
        revision=revision,
        currency=currency,
        refunded=refunded,
    )


def result(
    player: str,
    *lines: Line,
    box: int = 1,
    revision: int = 1,
    currency: str = "EUR",
    refunded: bool = False,
) -> e.PlayerSettled:
    """A result of one box."""
    staked, returned = sum(one.stake for one in lines), sum(one.returned for one in lines)
    outcome: Any = "refunded" if refunded else "win"
    made = BoxResult(
        box, player, outcome, "one_pair", (), 1, tuple(lines), staked, returned, returned - staked
    )
    return e.PlayerSettled(player, currency, revision, (made,), staked, returned, returned - staked)


def withdrawn(player: str, *stakes: tuple[int, str, int], bet_id: str = "b1") -> e.BetWithdrawn:
    """Stakes taken back."""
    made = tuple(e.WithdrawnStake(bet_id, box, wager, amount) for box, wager, amount in stakes)  # type: ignore[arg-type]  # any wager
    return e.BetWithdrawn(player, "withdraw", made, NOW)
