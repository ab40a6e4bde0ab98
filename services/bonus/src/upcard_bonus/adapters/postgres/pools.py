"""What settled rounds have done to pools, and who won what of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eventstore.postgres import Connection
from upcard_bonus.domain.pool_corrections import PoolRound

_FIND: Final = """
SELECT place, round, staked, ppm, contributed, from_pool, seeded, hit, size_hit, corrections
  FROM bonus.pool_rounds WHERE jackpot = $1 AND round = $2
"""

_SHARES: Final = "SELECT player, amount FROM bonus.pool_shares WHERE jackpot = $1 AND round = $2"

_SINCE: Final = """
SELECT coalesce(sum(contributed - from_pool + seeded), 0)::bigint AS change,
       coalesce(bool_or(hit) FILTER (WHERE place > $2), false) AS hit_followed
  FROM bonus.pool_rounds WHERE jackpot = $1 AND place >= $2
"""

_PUT: Final = """
INSERT INTO bonus.pool_rounds AS p
       (jackpot, place, round, staked, ppm, contributed, from_pool, seeded, hit, size_hit, corrections)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::integer[], $6::bigint[],
                     $7::bigint[], $8::bigint[], $9::boolean[], $10::boolean[], $11::integer[])
ON CONFLICT (jackpot, round) DO UPDATE SET staked = excluded.staked, contributed = excluded.contributed,
    from_pool = excluded.from_pool, seeded = excluded.seeded, hit = excluded.hit,
    corrections = excluded.corrections
"""

_DROP_SHARES: Final = """
DELETE FROM bonus.pool_shares AS s USING unnest($1::text[], $2::text[]) AS u (jackpot, round)
 WHERE (s.jackpot, s.round) = (u.jackpot, u.round)
"""

_ADD_SHARES: Final = """
INSERT INTO bonus.pool_shares (jackpot, round, player, amount)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
"""


class PoolTables:
    """A part of `app.ports.Jackpots`."""

    async def pool_round(self, connection: Connection, jackpot: str, name: str) -> PoolRound | None:
        """See `Jackpots`."""
        row = await connection.fetchrow(_FIND, jackpot, name)
        if row is None:
            return None
        shares = await connection.fetch(_SHARES, jackpot, name)
        return PoolRound(**dict(row), shares={one["player"]: one["amount"] for one in shares})

    async def since(self, connection: Connection, jackpot: str, place: int) -> tuple[int, bool]:
        """See `Jackpots`."""
        row = await connection.fetchrow(_SINCE, jackpot, place)
        assert row is not None, "an aggregate has a row"  # noqa: S101 - an invariant of SQL
        return row["change"], row["hit_followed"]

    async def put_pool_rounds(self, connection: Connection, rounds: Iterable[tuple[str, PoolRound]]) -> None:
        """See `Jackpots`."""
        done = list(rounds)
        if not done:
            return
        rows = [
            (
                jackpot,
                one.place,
                one.round,
                one.staked,
                one.ppm,
                one.contributed,
                one.from_pool,
                one.seeded,
                one.hit,
                one.size_hit,
                one.corrections,
            )
            for jackpot, one in done
        ]
        await connection.execute(_PUT, *zip(*rows, strict=True))
        corrected = [(jackpot, one.round) for jackpot, one in done if one.corrections]
        if corrected:
            await connection.execute(_DROP_SHARES, *zip(*corrected, strict=True))
        shares = [
            (jackpot, one.round, player, amount)
            for jackpot, one in done
            for player, amount in one.shares.items()
            if amount
        ]
        if shares:
            await connection.execute(_ADD_SHARES, *zip(*shares, strict=True))
