"""The reference wallet's book: players, what they own, and every movement, in one SQLite file."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["bet", "win", "rollback"]
Reason: TypeAlias = Literal["funds", "player", "currency", "session", "unknown", "undone", "differs", "other"]
State: TypeAlias = Literal["done", "undone", "never"]

BUSY_MS: Final = 5_000
"""How long a writer waits for another process that writes to the same file."""

BALANCE_MAX: Final = 2**63 - 1
"""In minor units: what the file can hold."""

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS players (
    player TEXT NOT NULL,
    currency TEXT NOT NULL,
    balance INTEGER NOT NULL,
    signed_in INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (player, currency)
) STRICT;
-- `never`: rolled back before it came; it must not happen any more.
CREATE TABLE IF NOT EXISTS movements (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('bet', 'win', 'rollback')),
    player TEXT NOT NULL,
    currency TEXT NOT NULL,
    round TEXT,
    amount INTEGER NOT NULL CHECK (amount >= 0),
    state TEXT NOT NULL CHECK (state IN ('done', 'undone', 'never'))
) STRICT;
"""


@dataclass(frozen=True, slots=True)
class Movement:
    """Money that a call moves, in minor units; of a rollback: the movement that is to be undone."""

    id: str
    amount: int


@dataclass(frozen=True, slots=True)
class Order:
    """What a call asks for: all of its movements, or none."""

    kind: Kind
    player: str
    currency: str
    round: str | None
    movements: tuple[Movement, ...]

    @property
    def total(self) -> int:
        """All its movements, in minor units."""
        return sum(one.amount for one in self.movements)


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of an order, or what a player owns."""

    reason: Reason | None
    """Why nothing was done; None: it is done."""
    balance: int | None
    """What the player owns afterwards, in minor units; None where there is no such player."""
    repeated: bool = False
    """It had been done before: nothing moved this time."""
    currency: str | None = None
    """What the answer names instead of the order's currency: broken wallets alone."""


@dataclass(frozen=True, slots=True)
class Known:
    """A movement as the book has it."""

    id: str
    kind: Kind
    player: str
    currency: str
    round: str | None
    amount: int
    state: State


class Book:
    """One SQLite file. For one thread at a time; several processes may share the file.

    Each order is one transaction, on the disk before it is answered.
    """

    def __init__(self, path: Path | str) -> None:
        """Open or make the file. `:memory:` is for tests that restart nothing."""
        self.connection = sqlite3.connect(
            path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False
        )
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = FULL")
        self.connection.executescript(SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing, alone among those that write."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    # ------------------------------------------------------------------------------------------- players

    def open(self, player: str, currency: str, balance: int, *, signed_in: bool = True) -> None:
        """Make a player who owns this, unless the book has them already."""
        with self.transaction():
            self.connection.execute(
                "INSERT INTO players VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (player, currency, balance, signed_in),
            )

    def sign_out(self, player: str) -> None:
        """End the player's session: no more bets, while wins and rollbacks go on."""
        with self.transaction():
            self.connection.execute("UPDATE players SET signed_in = 0 WHERE player = ?", (player,))

    def balance_of(self, player: str, currency: str) -> int | None:
        """What a player owns, in minor units; None where there is no such player or currency."""
        row = self.connection.execute(
            "SELECT balance FROM players WHERE player = ? AND currency = ?", (player, currency)
        ).fetchone()
        return None if row is None else int(row[0])

    def movements(self) -> list[Known]:
        """Every movement in the order in which they came: what a reconciliation compares with."""
        rows = self.connection.execute(
            "SELECT id, kind, player, currency, round, amount, state FROM movements ORDER BY number"
        )
        return [Known(*row) for row in rows]

    def owed(self, currency: str) -> int:
        """What the game's house is owed, in minor units: bets that stand less wins that stand."""
        row = self.connection.execute(
            "SELECT coalesce(sum(CASE kind WHEN 'bet' THEN amount ELSE -amount END), 0) FROM movements"
            " WHERE currency = ? AND state = 'done'",
            (currency,),
        ).fetchone()
        return int(row[0])

    # -------------------------------------------------------------------------------------------- orders

    def look(self, player: str, currency: str) -> Answer:
        """What a `balance` call is told."""
        return Answer(self.why_not(player, currency), self.balance_of(player, currency))

    def carry_out(self, order: Order) -> Answer:
        """Do it, or say that it is done already, or why it is not done; all in one transaction."""
        with self.transaction():
            return self.carried_out(order)

    def carried_out(self, order: Order) -> Answer:
        """The same within a transaction."""
        reason = self.why_not(order.player, order.currency)
        if reason is not None:
            return self.refused(order, reason)
        known = self.known(order)
        if order.kind == "rollback":
            return self.rolled_back(order, known)
        if known:
            return self.again(order, known)
        return self.moved(order)

    def why_not(self, player: str, currency: str) -> Reason | None:
        """Why nothing can be done for this player at all."""
        if self.balance_of(player, currency) is not None:
            return None
        found = self.connection.execute("SELECT 1 FROM players WHERE player = ?", (player,)).fetchone()
        return "player" if found is None else "currency"

    def known(self, order: Order) -> dict[str, Known]:
        """Those of its movements that the book has."""
        rows = self.connection.execute(
            "SELECT id, kind, player, currency, round, amount, state FROM movements"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps([one.id for one in order.movements]),),
        )
        return {row[0]: Known(*row) for row in rows}

    def again(self, order: Order, known: dict[str, Known]) -> Answer:
        """An order whose movements came before: the same, undone meanwhile, or others under their ids."""
        if any(one.state != "done" for one in known.values()):
            return self.refused(order, "undone")
        for movement in order.movements:
            found = known.get(movement.id)
            if found is None or not _same(order, movement, found):
                return self.refused(order, "differs")
        return self.accepted(order, repeated=True)

    def moved(self, order: Order) -> Answer:
        """A new bet or win. A win is owed to the player, signed in or not."""
        if order.kind == "bet":
            if not self.signed_in(order):
                return self.refused(order, "session")
            if order.total > self.owned(order):
                return self.refused(order, "funds")
        elif self.owned(order) + order.total > BALANCE_MAX:
            return self.refused(order, "other")
        self.change(order, -order.total if order.kind == "bet" else order.total)
        self.write(order, order.movements, order.kind, "done")
        return self.accepted(order)

    def rolled_back(self, order: Order, known: dict[str, Known]) -> Answer:
        """Undo what is there, and remember what is not, so that it is refused when it comes late."""
        for movement in order.movements:
            found = known.get(movement.id)
            if found is not None and found.state != "never" and not _undoes(order, movement, found):
                return self.refused(order, "differs")
        standing = [one for one in known.values() if one.state == "done"]
        change = sum(one.amount if one.kind == "bet" else -one.amount for one in standing)
        if self.owned(order) + change < 0:
            return self.refused(order, "funds")
        if self.owned(order) + change > BALANCE_MAX:
            return self.refused(order, "other")
        self.change(order, change)
        self.undo(standing)
        missing = [one for one in order.movements if one.id not in known]
        self.write(order, missing, "rollback", "never")
        never = [one for one in known.values() if one.state == "never"]
        if len(missing) + len(never) == len(order.movements):
            return self.refused(order, "unknown")
        return self.accepted(order, repeated=not standing)

    # ------------------------------------------------------------------------------------------- details

    def accepted(self, order: Order, *, repeated: bool = False) -> Answer:
        """It is done."""
        return Answer(None, self.balance_of(order.player, order.currency), repeated)

    def refused(self, order: Order, reason: Reason) -> Answer:
        """Nothing was done. Not remembered: a win that is refused today may be accepted tomorrow."""
        return Answer(reason, self.balance_of(order.player, order.currency))

    def owned(self, order: Order) -> int:
        """What the order's player owns, in minor units."""
        return self.balance_of(order.player, order.currency) or 0

    def signed_in(self, order: Order) -> bool:
        """Whether the player's session goes on."""
        row = self.connection.execute(
            "SELECT signed_in FROM players WHERE player = ? AND currency = ?", (order.player, order.currency)
        ).fetchone()
        return row is not None and bool(row[0])

    def change(self, order: Order, by: int) -> None:
        """Change what the player owns."""
        self.connection.execute(
            "UPDATE players SET balance = balance + ? WHERE player = ? AND currency = ?",
            (by, order.player, order.currency),
        )

    def write(self, order: Order, movements: Sequence[Movement], kind: Kind, state: State) -> None:
        """Write movements down."""
        self.connection.executemany(
            "INSERT INTO movements (id, kind, player, currency, round, amount, state)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (one.id, kind, order.player, order.currency, order.round, one.amount, state)
                for one in movements
            ],
        )

    def undo(self, standing: Sequence[Known]) -> None:
        """Mark movements as undone."""
        self.connection.executemany(
            "UPDATE movements SET state = 'undone' WHERE id = ?", [(one.id,) for one in standing]
        )


def _same(order: Order, movement: Movement, found: Known) -> bool:
    return (found.kind, found.player, found.currency, found.round, found.amount) == (
        order.kind,
        order.player,
        order.currency,
        order.round,
        movement.amount,
    )


def _undoes(order: Order, movement: Movement, found: Known) -> bool:
    return (found.player, found.currency, found.amount) == (order.player, order.currency, movement.amount)
