"""The totals of books that nobody locks (house, operator, cashier, tips, suspense): moved forward in batches.

A book's balance is its total and its changes that are not in it yet, read in one statement
(`wallet.unlimited_balances`): exact at every moment, however far this has come. So running it late costs only
reading time, and it may run anywhere, several times at once.
"""

from __future__ import annotations

from typing import Final

from eventstore.postgres import Connection

BATCH: Final = 5_000
"""Most changes moved in one transaction."""


async def sum_up(connection: Connection, most: int = BATCH) -> int:
    """Move at most so many changes into the totals, in a transaction of its own; returns how many there were.

    To be called every second or so, and again at once when it returns `most`.
    """
    moved: int = await connection.fetchval("SELECT wallet.sum_up($1)", most)
    return moved
