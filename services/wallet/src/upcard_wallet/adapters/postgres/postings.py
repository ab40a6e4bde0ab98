"""Transactions, postings and balances: what moves money."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from eventstore.postgres import Connection
from upcard_wallet.app.ports import NewTransaction, Posted

_LOCK: Final = "SELECT book, balance FROM wallet.lock_balances($1::bigint[])"

# Postings in the order given: so are a book's postings numbered.
_POST: Final = """
WITH made AS (
    INSERT INTO wallet.transactions
           (transaction, kind, business_key, account, round, revision, cause_event, event)
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[],
                         $7::uuid[], $8::uuid[])
)
INSERT INTO wallet.postings (transaction, book, currency, amount)
SELECT transaction, book, currency, amount
  FROM unnest($9::uuid[], $10::bigint[], $11::text[], $12::bigint[])
       WITH ORDINALITY AS u (transaction, book, currency, amount, place)
 ORDER BY place
"""

_POSTED: Final = """
SELECT t.business_key, t.transaction, t.kind, t.account, p.book, p.amount
  FROM wallet.transactions AS t LEFT JOIN wallet.postings AS p ON p.transaction = t.transaction
 WHERE t.business_key = ANY ($1::text[])
"""


class PostingTables:
    """The tables `transactions`, `postings` and `balances`: a part of the ledger."""

    async def lock_balances(self, connection: Connection, books: Collection[int]) -> dict[int, int]:
        """See `app.ports.Ledger`."""
        rows = await connection.fetch(_LOCK, list(books))
        return {book: balance for book, balance in rows}  # noqa: C416 - a record is no pair to dict()

    async def posted(self, connection: Connection, business_keys: Collection[str]) -> dict[str, Posted]:
        """See `app.ports.Ledger`."""
        found: dict[str, Posted] = {}
        amounts: dict[str, dict[int, int]] = {}
        for row in await connection.fetch(_POSTED, list(business_keys)):
            key = row["business_key"]
            of_it = amounts.setdefault(key, {})
            found[key] = Posted(row["transaction"], row["kind"], row["account"], of_it)
            if row["book"] is not None:
                of_it[row["book"]] = of_it.get(row["book"], 0) + row["amount"]
        return found

    async def post(self, connection: Connection, transactions: Sequence[NewTransaction]) -> None:
        """See `app.ports.Ledger`."""
        if not transactions:
            return
        pairs = [(one.transaction, posting) for one in transactions for posting in one.postings]
        await connection.execute(
            _POST,
            [one.transaction for one in transactions],
            [one.kind for one in transactions],
            [one.business_key for one in transactions],
            [one.account for one in transactions],
            [one.round for one in transactions],
            [one.revision for one in transactions],
            [one.cause_event for one in transactions],
            [one.event for one in transactions],
            [transaction for transaction, _ in pairs],
            [posting.book for _, posting in pairs],
            [posting.currency for _, posting in pairs],
            [posting.amount for _, posting in pairs],
        )
