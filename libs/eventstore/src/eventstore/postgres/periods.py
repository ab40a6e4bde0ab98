"""Months: making the partitions of the next ones, detaching old ones."""

from dataclasses import dataclass

from eventstore.postgres.connections import Connection

PARTITIONED = ("events", "private_parts")


class NotDetachable(Exception):
    """A month must not be detached: it is still written to, or an older one is still attached."""


@dataclass(frozen=True, slots=True)
class Period:
    """A month, as year * 100 + month, and whether its events have left this database."""

    period: int
    detached: bool


async def ensure_periods(connection: Connection, months_ahead: int = 3) -> int:
    """Make the partitions of this month and the next ones; returns how many were missing. Run it daily.

    Nothing stops when it is not run: a month without a partition goes to the one before.
    """
    made: int = await connection.fetchval("SELECT eventstore.ensure_periods($1)", months_ahead)
    return made


async def months_ahead(connection: Connection) -> int:
    """Months after this one that have their partitions: a metric, and an alarm when it is 0."""
    ahead: int = await connection.fetchval(
        "SELECT count(*) FROM eventstore.periods"
        " WHERE period > to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMM')::integer"
    )
    return ahead


async def periods(connection: Connection) -> tuple[Period, ...]:
    """All months there are or were, oldest first."""
    rows = await connection.fetch(
        "SELECT period, detached_at IS NOT NULL AS detached FROM eventstore.periods ORDER BY period"
    )
    return tuple(Period(row["period"], row["detached"]) for row in rows)


async def detach_period(connection: Connection, period: int) -> tuple[str, ...]:
    """Take the oldest attached month out of the log, as the owner; returns the names of its tables.

    Whole as they were.

    Blocks nobody (DETACH ... CONCURRENTLY), and may be called again when it was interrupted. Reading what
    was in it raises HistoryDetached from now on; heads and chains go on. Raises NotDetachable.
    """
    # First the note, so that a reader that finds nothing knows why.
    noted = await connection.execute(
        "UPDATE eventstore.periods AS p SET detached_at = coalesce(p.detached_at, clock_timestamp())"
        " WHERE p.period = $1"
        " AND NOT EXISTS (SELECT FROM eventstore.periods AS o"
        "                  WHERE o.period < p.period AND o.detached_at IS NULL)"
        # Appends go to the newest month that is due: there has to be one after this.
        " AND EXISTS (SELECT FROM eventstore.periods AS n WHERE n.period > p.period AND n.detached_at IS NULL"
        "              AND n.period <= to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMM')::integer)",
        period,
    )
    if noted != "UPDATE 1":
        raise NotDetachable(f"{period} is not the oldest attached month, or is still written to")
    names = []
    for parent in PARTITIONED:
        name = f"{parent}_{period}"
        state = await connection.fetchval(
            "SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = to_regclass($1)", f"eventstore.{name}"
        )
        if state is not None:
            how = "FINALIZE" if state else "CONCURRENTLY"
            await connection.execute(
                f"ALTER TABLE eventstore.{parent} DETACH PARTITION eventstore.{name} {how}"
            )
        names.append(f"eventstore.{name}")
    return tuple(names)
