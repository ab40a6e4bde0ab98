"""A wallet on a real database, spoken to in few words."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from eventstore import StreamAppend
from eventstore.postgres import Connection, Pool, PostgresEventStore, append_in_transaction
from rules_core.log.content import parse_content
from rules_core.round.events import (
    BetDeclined,
    BetWithdrawn,
    CurrencyTotal,
    PlayerSettled,
    RoundCancelled,
    RoundEvent,
    RoundResettled,
    RoundSettled,
)
from rules_core.round.events.betting import DeclinedStake, WithdrawnStake
from rules_core.settlement.model import BoxResult, DealerResult, Line
from tests.wallet.ledger.partnered import PartneredPurse
from upcard_wallet.adapters.internal_purse import InternalPurse
from upcard_wallet.adapters.postgres import PostgresLedger
from upcard_wallet.app.balance import Balance, balance
from upcard_wallet.app.deposit import Deposit, deposit
from upcard_wallet.app.follow_rounds import RoundFact, follow_rounds
from upcard_wallet.app.hold_records import Records
from upcard_wallet.app.moving import Moved
from upcard_wallet.app.open_account import OpenAccount, open_account
from upcard_wallet.app.place_holds import PlacedHolds, WantedHold, WantedHolds, place_holds
from upcard_wallet.app.purse import AccountRef, Purse, PurseKind
from upcard_wallet.app.recording import Recorder, decode
from upcard_wallet.app.wallet import Done, Origin, Wallet
from upcard_wallet.domain.events import WalletEvent

T = TypeVar("T")

NOW = "2026-11-30T12:00:00.000000Z"
ORIGIN = Origin("system", "correlation")


@dataclass
class Seen:
    """A watcher who remembers."""

    outcomes: dict[str, int] = field(default_factory=dict)
    in_suspense: list[tuple[str, int, str]] = field(default_factory=list)
    owed_more: list[tuple[str, int, str]] = field(default_factory=list)
    revisions: int = 0

    def holds(self, outcome: str, number: int) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + number

    def settled(self, players: int, revision: int) -> None:
        assert revision > 0
        self.revisions += players

    def suspense(self, currency: str, amount: int, about: str) -> None:
        self.in_suspense.append((currency, amount, about))

    def owed(self, currency: str, amount: int, about: str) -> None:
        self.owed_more.append((currency, amount, about))


class World:
    """The wallet, and what a table, a cashier and an auditor would do."""

    def __init__(self, pool: Pool, store: PostgresEventStore) -> None:
        self.pool = pool
        self.store = store
        self.seen = Seen()
        purses: dict[PurseKind, Purse] = {}
        self.wallet = Wallet(PostgresLedger(), purses, Recorder(), self.seen)
        self.records = Records(self.wallet)
        self.partner = PartneredPurse()
        purses["internal"] = InternalPurse(pool, self.records, store.announce)
        purses["seamless"] = self.partner
        self._facts = 0

    async def do(self, use_case: Callable[..., Awaitable[Done[T]]], command: object) -> T:
        """Run a use case in a transaction of its own."""
        async with self.pool.acquire() as connection, connection.transaction():
            done = await use_case(self.wallet, connection, command, ORIGIN)
            await append(connection, done.appends)
        return done.answer

    async def change(self, work: Callable[[Connection], Awaitable[Sequence[StreamAppend]]]) -> None:
        """Run what gives appends in a transaction of its own."""
        async with self.pool.acquire() as connection, connection.transaction():
            await append(connection, await work(connection))

    async def player(
        self, name: str = "p1", money: int = 0, *, currency: str = "EUR", purse: PurseKind = "internal"
    ) -> str:
        """An account with money. Its id."""
        account = f"{name}-{currency}"
        command = OpenAccount(account, name, "op1", currency, purse)
        assert isinstance(await self.do(open_account, command), AccountRef)
        if money:
            paid = Deposit(account, money, f"first-{account}")
            assert isinstance(await self.do(deposit, paid), Moved)
        return account

    async def place(self, *commands: WantedHolds, within_s: float = 30) -> tuple[PlacedHolds, ...]:
        """Ask for holds."""
        deadline = asyncio.get_running_loop().time() + within_s
        return await place_holds(self.wallet, self.pool, commands, deadline)

    async def hear(self, *events: tuple[str, RoundEvent]) -> list[RoundFact]:
        """The table says (round, event)."""
        facts = [RoundFact(name, self.event_id(), "table", event) for name, event in events]
        await self.hear_again(facts)
        return facts

    async def hear_again(self, facts: Sequence[RoundFact]) -> None:
        """The same facts, as delivered once more."""
        await self.change(lambda connection: follow_rounds(self.wallet, connection, facts))

    def event_id(self) -> uuid.UUID:
        """A new event's id."""
        return self.wallet.recorder.new_id()

    async def balance(self, account: str = "p1-EUR") -> Balance:
        """What an account has."""
        async with self.pool.acquire() as connection:
            found = await balance(self.wallet, connection, account)
        assert isinstance(found, Balance)
        return found

    async def has(self, account: str = "p1-EUR") -> tuple[int, int, int, int]:
        """Cash, held, promo and owed of an account."""
        found = await self.balance(account)
        return found.cash, found.held, found.promo, found.owed

    async def books(self, owner: str = "op1", currency: str = "EUR") -> dict[str, int]:
        """What an operator's books have; those with nothing are left out."""
        rows = await self.pool.fetch(
            "SELECT kind, balance FROM wallet.unlimited_balances WHERE owner = $1 AND currency = $2",
            owner,
            currency,
        )
        return {row["kind"]: int(row["balance"]) for row in rows if row["balance"]}

    async def events(self, account: str = "p1-EUR") -> list[WalletEvent]:
        """All events of an account."""
        return [event async for event in self._events(f"account-{account}")]

    async def _events(self, stream: str) -> Any:
        async for event in self.store.iterate_stream(stream):
            content = parse_content(event.content)
            yield decode(content.type, content.version, content.payload)

    async def value(self, query: str, *arguments: object) -> Any:
        """One value of the database."""
        return await self.pool.fetchval(query, *arguments)

    async def all_is_explained(self) -> None:
        """The whole ledger, looked at from nothing: it sums to zero and balances are their postings."""
        assert await self.value("SELECT count(*) FROM wallet.postings") > 0
        assert not await self.pool.fetch(
            "SELECT currency FROM wallet.postings GROUP BY currency HAVING sum(amount) <> 0"
        )
        assert not await self.pool.fetch(
            "SELECT b.book FROM wallet.balances AS b LEFT JOIN wallet.postings AS p USING (book)"
            " GROUP BY b.book, b.balance HAVING b.balance <> coalesce(sum(p.amount), 0)"
        )
        assert not await self.pool.fetch(
            "SELECT u.book FROM wallet.unlimited_balances AS u LEFT JOIN wallet.postings AS p USING (book)"
            " GROUP BY u.book, u.balance HAVING u.balance <> coalesce(sum(p.amount), 0)"
        )
        assert not await self.pool.fetch(
            "SELECT b.account FROM wallet.books AS b JOIN wallet.balances AS l USING (book)"
            "  LEFT JOIN wallet.holds AS h ON h.account = b.account AND h.state = 'held'"
            " WHERE b.kind = 'player_held' GROUP BY b.account, l.balance"
            " HAVING l.balance <> coalesce(sum(h.amount), 0)"
        )
        # Every transaction is told of by an event that is in the log.
        assert not await self.pool.fetch(
            "SELECT t.transaction FROM wallet.transactions AS t"
            " WHERE NOT EXISTS (SELECT FROM eventstore.events AS e WHERE e.event_id = t.event)"
        )


async def append(connection: Connection, appends: Sequence[StreamAppend]) -> None:
    """The last act of a transaction."""
    if appends:
        await append_in_transaction(connection, appends)


def bet(
    *wagers: tuple[int, str, int] | tuple[int, str, int, str],
    player: str = "p1",
    round_name: str = "t1.1",
    bet_id: str = "b1",
    currency: str = "EUR",
) -> WantedHolds:
    """A command's wagers: (box, wager, amount) or, with a free bet, (box, wager, amount, free bet)."""
    return WantedHolds(
        round_name,
        player,
        currency,
        bet_id,
        tuple(WantedHold(*one) for one in wagers),
        f"player:{player}",
        "correlation",
    )


def settled(
    *lines: tuple[int, str, int, int] | tuple[int, str, int, int, str],
    player: str = "p1",
    revision: int = 1,
    currency: str = "EUR",
) -> PlayerSettled:
    """A result: (box, wager, stake, returned) or, with a free bet, (…, free bet)."""
    boxes: dict[int, list[Line]] = {}
    for box, wager, stake, returned, *funding in lines:
        boxes.setdefault(box, []).append(
            Line(wager, stake, returned, "test", None, funding[0] if funding else None)  # type: ignore[arg-type] # any wager's name
        )
    results = tuple(_result(box, player, those) for box, those in sorted(boxes.items()))
    staked, returned = sum(one.staked for one in results), sum(one.returned for one in results)
    return PlayerSettled(player, currency, revision, results, staked, returned, returned - staked)


def _result(box: int, player: str, lines: list[Line]) -> BoxResult:
    staked, returned = sum(one.stake for one in lines), sum(one.returned for one in lines)
    return BoxResult(box, player, "win", "one_pair", (), 1, tuple(lines), staked, returned, returned - staked)


def withdrawn(*stakes: tuple[int, str, int], player: str = "p1", bet_id: str = "b1") -> BetWithdrawn:
    """Stakes taken back."""
    those = tuple(WithdrawnStake(bet_id, box, wager, amount) for box, wager, amount in stakes)  # type: ignore[arg-type] # any wager's name
    return BetWithdrawn(player, "withdraw", those, NOW)


def declined(*stakes: tuple[int, str, int], player: str = "p1", bet_id: str = "b1") -> BetDeclined:
    """Stakes refused."""
    those = tuple(DeclinedStake(box, wager, amount) for box, wager, amount in stakes)  # type: ignore[arg-type] # any wager's name
    return BetDeclined(player, "EUR", bet_id, those, "hold_answered_late", NOW, "PlaceBet")


ROUND_SETTLED = RoundSettled(DealerResult("nothing", (), "nothing", qualified=False, purchased=False), ())
_DEALER = ROUND_SETTLED.dealer


def round_settled(*results: PlayerSettled) -> RoundSettled:
    """The end of a round with these results."""
    return RoundSettled(_DEALER, _totals(results))


def round_resettled(number: int, *results: PlayerSettled) -> RoundResettled:
    """The end of a correction, after which these results stand."""
    return RoundResettled(number, _DEALER, _totals(results))


def _totals(results: Sequence[PlayerSettled]) -> tuple[CurrencyTotal, ...]:
    return tuple(
        CurrencyTotal(
            currency,
            sum(one.currency == currency for one in results),
            sum(one.staked for one in results if one.currency == currency),
            sum(one.returned for one in results if one.currency == currency),
        )
        for currency in sorted({one.currency for one in results})
    )


ROUND_CANCELLED = RoundCancelled("technical_failure")


def states(placed: Sequence[PlacedHolds]) -> list[str]:
    """What became of commands: `held`, `unknown` or the reason of the refusal."""
    return [one.outcome.reason or one.outcome.state for one in placed]


def numbered(prefix: str) -> Iterator[str]:
    """Names without end."""
    number = 0
    while True:
        number += 1
        yield f"{prefix}{number}"
