"""Removing what was told to partners long ago: the books say for ever what was paid, the calls only how."""

from typing import Final

from eventstore.postgres.connections import Connection

MOST_LANES: Final = 500
_MOST_CALLS: Final = 5_000

_PRUNE: Final = "SELECT wallet.prune_partner_calls($1, $2, $3)"


async def prune_partner_calls(connection: Connection, kept_days: int, most_lanes: int = MOST_LANES) -> int:
    """Remove up to so many lanes of which everything has been over for `kept_days` (90 or more).

    Returns how many there were. A lane about which people have decided stays.
    """
    removed: int = await connection.fetchval(_PRUNE, kept_days, most_lanes, _MOST_CALLS)
    return removed
