"""Dealers' names, as staff's tables have them."""

from __future__ import annotations

from typing import Final

from eventstore.postgres import Pool

MOST: Final = 10_000
"""Dealers whose names are read: those who were added last."""
_READ_S: Final = 4.0
_NAMES: Final = """
SELECT s.staff, p.name
  FROM gateway.staff AS s JOIN gateway.staff_people AS p USING (staff)
 WHERE 'dealer' = ANY (s.roles) AND s.disabled_at IS NULL
 ORDER BY s.added_at DESC, s.staff
 LIMIT $1
"""


async def names_of_dealers(pool: Pool) -> dict[str, str]:
    """Whole names of all who may deal, by their ids; nobody's who was disabled or whose name was erased."""
    async with pool.acquire() as connection:
        rows = await connection.fetch(_NAMES, MOST, timeout=_READ_S)
    return {row["staff"]: row["name"] for row in rows}
