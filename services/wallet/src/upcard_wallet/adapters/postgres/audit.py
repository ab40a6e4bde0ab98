"""What the audit asks of the tables: each check is one statement, hence of one moment, of named things."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from eventstore.postgres import Connection

# A book's postings are numbered under its balance's lock, so what is above the number checked last is what is
# new.
_BOOKS: Final = """
WITH wanted AS (
    SELECT b.book, b.kind, coalesce(b.account, b.owner) AS subject, b.account, l.balance,
           coalesce(a.posting, 0) AS posting, coalesce(a.balance, 0) AS audited
      FROM wallet.books AS b JOIN wallet.balances AS l USING (book)
      LEFT JOIN wallet.audited_books AS a USING (book)
     WHERE b.account = ANY ($1::text[]) OR (b.kind = 'jackpot' AND b.owner = ANY ($2::text[]))
), summed AS (
    SELECT w.*, w.audited + coalesce(n.amount, 0) AS total, greatest(w.posting, n.last) AS last
      FROM wanted AS w CROSS JOIN LATERAL (
        SELECT sum(p.amount)::bigint AS amount, max(p.posting) AS last FROM wallet.postings AS p
         WHERE p.book = w.book AND p.posting > w.posting) AS n
), noted AS (
    INSERT INTO wallet.audited_books AS a (book, posting, balance)
    SELECT s.book, s.last, s.total FROM summed AS s
     WHERE s.total = s.balance AND s.last > s.posting ORDER BY s.book
    ON CONFLICT (book) DO UPDATE SET posting = excluded.posting, balance = excluded.balance
     WHERE a.posting < excluded.posting
)
SELECT kind, subject, account, total, balance FROM summed WHERE total <> balance
"""

_HELD: Final = """
SELECT b.account, l.balance, coalesce(h.amount, 0)::bigint AS held
  FROM wallet.books AS b JOIN wallet.balances AS l USING (book)
  LEFT JOIN LATERAL (SELECT sum(h.amount) AS amount FROM wallet.holds AS h
                      WHERE h.account = b.account AND h.state = 'held') AS h ON true
 WHERE b.account = ANY ($1::text[]) AND b.kind = 'player_held' AND l.balance <> coalesce(h.amount, 0)
"""

_TRANSACTIONS: Final = """
SELECT t.transaction, t.event, b.kind, b.currency, sum(p.amount)::bigint AS amount
  FROM wallet.transactions AS t
  LEFT JOIN wallet.postings AS p ON p.transaction = t.transaction
  LEFT JOIN wallet.books AS b ON b.book = p.book
 WHERE t.transaction = ANY ($1::uuid[])
 GROUP BY t.transaction, b.kind, b.currency
"""

_SETTLED: Final = """
SELECT s.round, s.player, s.account, s.result, coalesce(h.amount, 0)::bigint AS house
  FROM unnest($1::text[], $2::text[]) AS u (round, account)
 CROSS JOIN LATERAL (
    SELECT t.round, t.player, t.account, t.result FROM wallet.accounts AS a
      JOIN wallet.settlements AS t ON t.round = u.round AND t.player = a.player AND t.account = a.account
     WHERE a.account = u.account ORDER BY t.revision DESC LIMIT 1) AS s
  LEFT JOIN LATERAL (
    SELECT sum(p.amount) AS amount FROM wallet.transactions AS t
      JOIN wallet.postings AS p USING (transaction) JOIN wallet.books AS b USING (book)
     WHERE t.round = s.round AND t.account = s.account AND t.revision IS NOT NULL AND b.kind = 'house'
  ) AS h ON true
"""

_NOTE: Final = """
INSERT INTO wallet.differences AS d (kind, subject, account, round, expected, found)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]) ORDER BY 1, 2
ON CONFLICT (kind, subject) DO UPDATE
   SET expected = excluded.expected, found = excluded.found, seen_at = clock_timestamp()
"""

_FORGET: Final = """
DELETE FROM wallet.differences AS d USING unnest($1::text[], $2::text[]) AS u (kind, subject)
 WHERE d.kind = u.kind AND d.subject = u.subject
"""

_NOTED: Final = """
SELECT kind, subject, account, round, expected, found,
       extract(epoch FROM clock_timestamp() - since)::float8 AS age_s
  FROM wallet.differences ORDER BY since LIMIT $1
"""

# Every round that ended is looked at once, when nobody can be at work on it any more; by name, any time.
_LEFT_OVER: Final = """
WITH ended AS (
    SELECT r.round FROM wallet.rounds AS r, wallet.audited_rounds AS a
     WHERE r.ended_at > a.until - make_interval(secs => $1)
       AND r.ended_at <= clock_timestamp() - make_interval(secs => $1)
     UNION
    SELECT unnest($2::text[])
)
SELECT h.round, sum(h.amount)::bigint AS amount
  FROM ended JOIN wallet.holds AS h USING (round) JOIN wallet.rounds AS r USING (round)
 WHERE h.state = 'held' GROUP BY h.round
"""

_LOOKED: Final = "UPDATE wallet.audited_rounds SET until = $1"

_SUSPENSE: Final = """
SELECT owner, currency, balance::bigint FROM wallet.unlimited_balances
 WHERE kind = 'suspense' AND balance <> 0 LIMIT $1
"""


class Difference(NamedTuple):
    """Something that does not agree: what it must be, and what it is, in minor units."""

    kind: str
    subject: str
    account: str | None
    round: str | None
    expected: int
    found: int
    age_s: float = 0.0


class PostedAmounts(NamedTuple):
    """What a ledger transaction posted: by kind of book, and by currency."""

    event: UUID
    kinds: dict[str, int]
    currencies: dict[str, int]


class AuditTables:
    """The audit's statements."""

    async def books(
        self, connection: Connection, accounts: Collection[str], pools: Collection[str]
    ) -> list[Difference]:
        """Balances that are not the sum of their postings."""
        rows = await connection.fetch(_BOOKS, list(accounts), list(pools))
        return [
            Difference(
                f"balance_{row['kind']}", row["subject"], row["account"], None, row["total"], row["balance"]
            )
            for row in rows
        ]

    async def held(self, connection: Connection, accounts: Collection[str]) -> list[Difference]:
        """Accounts whose held money is not that of their holds."""
        rows = await connection.fetch(_HELD, list(accounts))
        return [
            Difference("held", row["account"], row["account"], None, row["held"], row["balance"])
            for row in rows
        ]

    async def posted(
        self, connection: Connection, transactions: Collection[UUID]
    ) -> dict[UUID, PostedAmounts]:
        """What these transactions posted; missing where there is none."""
        found: dict[UUID, PostedAmounts] = {}
        for transaction, event, kind, currency, amount in await connection.fetch(
            _TRANSACTIONS, list(transactions)
        ):
            posted = found.setdefault(transaction, PostedAmounts(event, {}, {}))
            if kind is not None:
                posted.kinds[kind] = posted.kinds.get(kind, 0) + amount
                posted.currencies[currency] = posted.currencies.get(currency, 0) + amount
        return found

    async def settled(self, connection: Connection, rounds: Collection[tuple[str, str]]) -> list[Difference]:
        """Of these (round, account), those whose latest revision is not what the house posted for them."""
        if not rounds:
            return []
        names, accounts = zip(*rounds, strict=True)
        differences = []
        for row in await connection.fetch(_SETTLED, names, accounts):
            result = json.loads(row["result"])
            staked = result["staked"] + sum(both[0] for both in result["free_bets"].values())
            paid = result["paid"] + sum(both[1] for both in result["free_bets"].values())
            expected = staked - paid - sum(result["forgone"].values())
            if expected != row["house"]:
                subject = f"{row['round']}/{row['player']}"
                differences.append(
                    Difference("settled", subject, row["account"], row["round"], expected, row["house"])
                )
        return differences

    async def note(self, connection: Connection, differences: Sequence[Difference]) -> None:
        """Remember differences; `since` stays what it was."""
        if differences:
            kinds, subjects, accounts, rounds, expected, found, _ = zip(*differences, strict=True)
            await connection.execute(_NOTE, kinds, subjects, accounts, rounds, expected, found)

    async def forget(self, connection: Connection, those: Collection[tuple[str, str]]) -> None:
        """These (kind, subject) agree now."""
        if those:
            kinds, subjects = zip(*those, strict=True)
            await connection.execute(_FORGET, kinds, subjects)

    async def noted(self, connection: Connection, limit: int) -> list[Difference]:
        """What is noted, oldest first."""
        return [Difference(*row) for row in await connection.fetch(_NOTED, limit)]

    async def left_over(
        self, connection: Connection, after_s: float, rounds: Collection[str]
    ) -> list[Difference]:
        """Money that is still held although its round ended at least so long ago.

        Of the rounds that ended since this was asked last, and of those that are named.
        """
        now = await connection.fetchval("SELECT clock_timestamp()")
        rows = await connection.fetch(_LEFT_OVER, after_s, list(rounds))
        await connection.execute(_LOOKED, now)
        return [
            Difference("held_after_end", round_name, None, round_name, 0, amount)
            for round_name, amount in rows
        ]

    async def suspense(self, connection: Connection, limit: int) -> list[Difference]:
        """Operators with money in suspense."""
        return [
            Difference("suspense", f"{owner}/{currency}", None, None, 0, balance)
            for owner, currency, balance in await connection.fetch(_SUSPENSE, limit)
        ]
