"""What the use cases need of the database, of secrets, and of whoever watches. All work is set-based."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol
from uuid import UUID

from eventstore.postgres import Connection
from upcard_bonus.domain.free_bet import FreeBet, Use
from upcard_bonus.domain.jackpot import Jackpot
from upcard_bonus.domain.pool_corrections import PoolRound
from upcard_bonus.domain.side_bets import SideBet

Step = Literal["open", "settled", "cancelled"]


@dataclass(slots=True)
class RoundRecord:
    """A round as far as side bets go; changed in place, and stored again when `changed`."""

    round: str
    ruleset: str
    jackpots: tuple[str, ...] = ()
    """To which its table contributed when it was opened."""
    step: Step = "open"
    cards: dict[str, str] = field(default_factory=dict)
    """Those that everybody may see, by place."""
    announced: set[int] = field(default_factory=set)
    corrections: int = 0
    changed: bool = False


class BetKey(NamedTuple):
    """One wager of one command."""

    round: str
    player: str
    bet_id: str
    box: int
    wager: str


class Result(NamedTuple):
    """What a box staked on B and won of a pool, by the player's latest revision."""

    player: str
    box: int
    currency: str
    amount: int
    share_percent: int | None
    revision: int


class Rounds(Protocol):
    """Rounds, their stakes on B and D, their results."""

    async def find(self, connection: Connection, names: Collection[str]) -> dict[str, RoundRecord]:
        """Those of these rounds that are known."""
        ...

    async def save(self, connection: Connection, records: Iterable[RoundRecord]) -> None:
        """Store new and changed ones."""
        ...

    async def bets(self, connection: Connection, names: Collection[str]) -> dict[str, list[SideBet]]:
        """The stakes on B and D that stand, of each of these rounds."""
        ...

    async def add_bets(self, connection: Connection, bets: Iterable[tuple[str, SideBet]]) -> None:
        """Add stakes of rounds."""
        ...

    async def remove_bets(self, connection: Connection, keys: Iterable[BetKey]) -> None:
        """Take stakes away."""
        ...

    async def put_results(self, connection: Connection, results: Iterable[tuple[str, Result]]) -> None:
        """Put results in the place of earlier ones of the same box and player."""
        ...

    async def results(self, connection: Connection, names: Collection[str]) -> dict[str, list[Result]]:
        """The results of each of these rounds."""
        ...


@dataclass(slots=True)
class KeptJackpot:
    """A jackpot that this transaction has locked."""

    state: Jackpot
    rounds: int
    """How many rounds have had an effect on it."""
    waiting: bool
    """Whether settled rounds wait for its fences."""


class Waiting(NamedTuple):
    """A settled round that waits for a pool's fences."""

    round: str
    cause_event: UUID
    correlation_id: str


class TableTaken(Exception):
    """A table contributes to another jackpot of that currency."""


class Jackpots(Protocol):
    """Jackpots, what rounds did to them, their fences."""

    async def add(self, connection: Connection, state: Jackpot) -> bool:
        """Add a jackpot; False: the id is taken. Raises TableTaken, and has then changed nothing."""
        ...

    async def lock(self, connection: Connection, names: Collection[str]) -> dict[str, KeptJackpot]:
        """Lock those of these jackpots that there are, in one order."""
        ...

    async def find(self, connection: Connection, name: str) -> Jackpot | None:
        """A jackpot as it is now, not locked."""
        ...

    async def list(
        self, connection: Connection, *, operator: str | None, table: str | None, after: str, limit: int
    ) -> Sequence[Jackpot]:
        """A page of jackpots by id."""
        ...

    async def waiting(self, connection: Connection, names: Collection[str], most: int) -> dict[str, int]:
        """How many rounds wait for each of these, counted up to `most`."""
        ...

    async def save(self, connection: Connection, kept: Collection[KeptJackpot]) -> None:
        """Store locked ones, but for their tables."""
        ...

    async def set_tables(self, connection: Connection, state: Jackpot) -> None:
        """Store a jackpot's tables. Raises TableTaken, and has then changed nothing."""
        ...

    async def of_tables(
        self, connection: Connection, tables: Collection[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """The jackpots that each of these tables contributes to."""
        ...

    async def pool_round(self, connection: Connection, jackpot: str, name: str) -> PoolRound | None:
        """What a round has done to a pool; None: nothing."""
        ...

    async def since(self, connection: Connection, jackpot: str, place: int) -> tuple[int, bool]:
        """What rounds from this place on have changed the pool by, and whether one after it has a hit."""
        ...

    async def put_pool_rounds(self, connection: Connection, rounds: Iterable[tuple[str, PoolRound]]) -> None:
        """Put what rounds did in the place of what was known."""
        ...

    async def add_fences(
        self, connection: Connection, names: Collection[str], round_name: str, expires_at: dt.datetime
    ) -> None:
        """Add a round's fences, where they do not stand."""
        ...

    async def fences_of(self, connection: Connection, round_name: str) -> Mapping[str, dt.datetime]:
        """The fences of a round, and when they end."""
        ...

    async def drop_fences(self, connection: Connection, fences: Iterable[tuple[str, str]]) -> None:
        """Drop fences, each a jackpot and a round."""
        ...

    async def expired_fences(self, connection: Connection, most: int) -> Sequence[tuple[str, str]]:
        """Fences whose time is over."""
        ...

    async def queue(self, connection: Connection, waiting: Iterable[tuple[str, Waiting]]) -> None:
        """Let rounds wait, behind those that do."""
        ...

    async def take_waiting(
        self, connection: Connection, jackpot: str, most: int
    ) -> tuple[Sequence[Waiting], bool]:
        """Take the first rounds that wait away, and whether there are more."""
        ...

    async def unfenced_waiting(self, connection: Connection, most: int) -> Sequence[str]:
        """Jackpots that no fence holds up, with rounds that wait still."""
        ...


class Vault(Protocol):
    """Where the secrets of jackpots lie."""

    async def put(self, connection: Connection, jackpot: str, cycle: int, secret: bytes) -> None:
        """Keep the secret of a cycle."""
        ...

    async def get(self, connection: Connection, jackpot: str, cycle: int) -> bytes:
        """The secret of a cycle. Raises what says that it cannot be read."""
        ...


class FreeBets(Protocol):
    """Free bets, and the wagers that they paid."""

    async def add(self, connection: Connection, state: FreeBet) -> bool:
        """Add a free bet; False: the id is taken."""
        ...

    async def lock(self, connection: Connection, names: Collection[str]) -> dict[str, FreeBet]:
        """Lock those of these that there are, in one order."""
        ...

    async def lock_due(self, connection: Connection, most: int) -> Sequence[FreeBet]:
        """Lock free bets whose time is over, and that nobody else has locked."""
        ...

    async def save(self, connection: Connection, states: Iterable[FreeBet]) -> None:
        """Store locked ones."""
        ...

    async def list(
        self, connection: Connection, player: str, *, after: str, limit: int, usable_only: bool
    ) -> Sequence[FreeBet]:
        """A page of a player's free bets by id."""
        ...

    async def uses(self, connection: Connection, names: Collection[str]) -> Sequence[Use]:
        """The wagers of these rounds that free bets paid."""
        ...

    async def put_uses(self, connection: Connection, uses: Iterable[Use]) -> None:
        """Store new and changed ones."""
        ...

    async def drop_uses(self, connection: Connection, keys: Iterable[BetKey]) -> None:
        """Drop those that were taken back."""
        ...


class Watcher(Protocol):
    """Told what happens, before the commit: after a rollback it may hear something twice."""

    def determined(self, bonus: str, number: int) -> None:
        """So many stakes on B or D were decided."""
        ...

    def contributed(self, currency: str, amount: int) -> None:
        """A round added to a pool, in minor units."""
        ...

    def hit(self, currency: str, kind: str, paid: int) -> None:
        """A pool paid."""
        ...

    def corrected(self, currency: str, house: int) -> None:
        """A correction; what the house pays for it, below zero: gets."""
        ...

    def free_bet(self, what: str) -> None:
        """Something became of a free bet."""
        ...

    def unknown_free_bet(self, about: str) -> None:
        """A wager names a free bet that was never granted: an alarm."""
        ...

    def misused_free_bet(self, about: str) -> None:
        """A free bet paid a wager that it may not pay, or for somebody else: an alarm."""
        ...
