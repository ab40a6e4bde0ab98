"""Which rounds are to be replayed: a follower of the own log notes each round that ends or is corrected.

Beside the job, so that no round is left out when the job stands still, and none is looked for by a scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eventstore import EventFilter, RecordedEvent
from eventstore.postgres import Connection

FOLLOWER: Final = "history-replay"
"""The name under which its position is kept."""

_ENDS: Final = frozenset({"RoundSettled", "RoundCancelled", "RoundResettled"})
_AFTERWARDS: Final = "BetDeclined"

REPLAY_EVENTS: Final = EventFilter(categories=frozenset({"round"}), types=_ENDS | {_AFTERWARDS})
"""What it follows."""

CLAIM_S: Final = 300.0
"""How long a claim lasts: longer than the longest replay."""

_NOTE: Final = """
INSERT INTO history.replay_queue AS q (round, position)
SELECT * FROM unnest($1::text[], $2::bigint[]) ORDER BY 1
ON CONFLICT (round) DO UPDATE
   SET position = excluded.position, claimed_until = '-infinity', tries = 0
 WHERE q.position < excluded.position
"""
# A refusal that comes after the end belongs to the record too. One before the end is looked at with the end.
_NOTE_LATE: Final = """
INSERT INTO history.replay_queue AS q (round, position)
SELECT u.round, u.position FROM unnest($1::text[], $2::bigint[]) AS u (round, position)
 WHERE EXISTS (SELECT FROM history.replay_runs AS r WHERE r.round = u.round)
    OR EXISTS (SELECT FROM history.replay_queue AS r WHERE r.round = u.round)
 ORDER BY 1
ON CONFLICT (round) DO UPDATE
   SET position = excluded.position, claimed_until = '-infinity', tries = 0
 WHERE q.position < excluded.position
"""
_CLAIM: Final = """
UPDATE history.replay_queue AS q
   SET claimed_until = clock_timestamp() + make_interval(secs => $1), tries = q.tries + 1
  FROM (SELECT round FROM history.replay_queue WHERE claimed_until < clock_timestamp()
         ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS first
 WHERE q.round = first.round
RETURNING q.round, q.position, q.tries
"""
_DONE: Final = """
WITH gone AS (DELETE FROM history.replay_queue WHERE round = $1 AND position = $2)
INSERT INTO history.replay_runs AS r (round, position, outcome, report, took_ms)
VALUES ($1, $3, $4, $5::text::jsonb, $6)
ON CONFLICT (round) DO UPDATE
   SET position = excluded.position, outcome = excluded.outcome, report = excluded.report,
       took_ms = excluded.took_ms, ran_at = clock_timestamp()
 WHERE r.position <= excluded.position
"""
_GIVE_UP: Final = "DELETE FROM history.replay_queue WHERE round = $1 AND position = $2"
_AGAIN: Final = """
INSERT INTO history.replay_queue (round, position)
SELECT round, position FROM history.replay_runs WHERE round > $1 ORDER BY round LIMIT $2
ON CONFLICT (round) DO NOTHING
"""
_STANDING: Final = """
SELECT (SELECT count(*) FROM history.replay_queue) AS waiting,
       (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(due_at)), 0)::float8
          FROM history.replay_queue) AS oldest_s,
       (SELECT count(*) FROM history.replay_runs WHERE outcome <> 'agreed') AS wrong
"""


@dataclass(frozen=True, slots=True)
class Due:
    """A round that is to be replayed, claimed by us for CLAIM_S."""

    round: str
    position: int
    tries: int


@dataclass(frozen=True, slots=True)
class ReplayStanding:
    """How replaying goes."""

    waiting: int
    """Ended rounds that were not replayed yet."""
    oldest_s: float
    """Since when the oldest of them waits."""
    wrong: int
    """Rounds whose latest replay did not agree: an alarm on any."""


async def queue_replays(connection: Connection, events: Sequence[RecordedEvent]) -> None:
    """A handler of `eventstore.following` for the own log: note what is to be replayed."""
    ends: dict[str, int] = {}
    late: dict[str, int] = {}
    for event in events:
        name = event.stream.removeprefix("round-")
        if event.type in _ENDS or (event.type == _AFTERWARDS and name in ends):
            ends[name] = event.stream_position
        elif event.type == _AFTERWARDS:
            late[name] = event.stream_position
    if late:
        await connection.execute(_NOTE_LATE, list(late), list(late.values()))
    if ends:
        await connection.execute(_NOTE, list(ends), list(ends.values()))


async def claim(connection: Connection) -> Due | None:
    """The round that waits longest and is nobody's; None: there is none."""
    row = await connection.fetchrow(_CLAIM, CLAIM_S)
    return None if row is None else Due(row["round"], row["position"], row["tries"])


async def note_run(
    connection: Connection, due: Due, position: int, outcome: str, report: str, took_ms: int
) -> None:
    """Keep what a replay found; the round stays due if something came for it meanwhile."""
    await connection.execute(_DONE, due.round, due.position, position, outcome, report, took_ms)


async def leave(connection: Connection, due: Due) -> None:
    """Take a round off: what is under way in its stream will make it due again."""
    await connection.execute(_GIVE_UP, due.round, due.position)


async def replay_again(connection: Connection, *, after: str, limit: int) -> int:
    """Make rounds due that were replayed before, by name after this one; how many. For new code, or doubt."""
    status: str = await connection.execute(_AGAIN, after, limit)
    return int(status.rpartition(" ")[2])


async def replay_standing(connection: Connection) -> ReplayStanding:
    """How replaying goes, for metrics and people."""
    row = await connection.fetchrow(_STANDING)
    assert row is not None  # noqa: S101 - one row, whatever there is
    return ReplayStanding(row["waiting"], row["oldest_s"], row["wrong"])
