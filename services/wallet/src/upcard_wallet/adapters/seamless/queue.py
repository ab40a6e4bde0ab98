"""The queue of wins and rollbacks, as rows. All set-based; lanes are locked ascending, after balances."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

import asyncpg

from eventstore.postgres.connections import Connection
from upcard_wallet.adapters.seamless.partner import Call, Transaction
from upcard_wallet.adapters.seamless.planning import Decision, Entry, Lane, Tried, Win

_LOCK_LANES: Final = """
INSERT INTO wallet.partner_lanes (lane, operator, account, round)
SELECT DISTINCT ON (lane) lane, operator, account, round
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS wanted (lane, operator, account, round)
 ORDER BY lane
    ON CONFLICT (lane) DO UPDATE SET operator = partner_lanes.operator
RETURNING lane, revision
"""

_ENQUEUE: Final = """
WITH items AS (
    SELECT place, array_agg(id ORDER BY step) AS ids, array_agg(amount ORDER BY step) AS amounts,
           sum(amount) AS total
      FROM unnest($10::integer[], $11::uuid[], $12::bigint[])
           WITH ORDINALITY AS item (place, id, amount, step)
     GROUP BY place
), fresh AS (
    SELECT wanted.*, items.ids, items.amounts, items.total, bet.abandoned_at AS not_before,
           row_number() OVER (PARTITION BY wanted.lane ORDER BY wanted.place) AS step
      FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::boolean[], $6::integer[], $7::boolean[],
                  $8::uuid[], $9::uuid[])
           WITH ORDINALITY
           AS wanted (lane, call, kind, undoes, posted, revision, closes_round, cause_event, waits_for, place)
      JOIN items USING (place)
      LEFT JOIN wallet.partner_calls AS bet ON bet.call = wanted.waits_for
     WHERE NOT EXISTS (SELECT FROM wallet.partner_calls AS known WHERE known.call = wanted.call)
), inserted AS (
    INSERT INTO wallet.partner_calls (
        call, lane, number, kind, undoes, state, posted, revision, closes_round, cause_event, not_before,
        business_ids, amounts, total
    )
    SELECT call, lane, lanes.last_number + step, kind, undoes, 'queued', posted, fresh.revision, closes_round,
           cause_event, not_before, ids, amounts, total
      FROM fresh JOIN wallet.partner_lanes AS lanes USING (lane)
    RETURNING lane, number, not_before
), ends AS (
    SELECT DISTINCT ON (lane) lane, not_before, max(number) OVER (PARTITION BY lane) AS last_number
      FROM inserted ORDER BY lane, number
)
UPDATE wallet.partner_lanes AS lanes
   SET last_number = ends.last_number,
       state = CASE lanes.state WHEN 'idle' THEN 'waiting' ELSE lanes.state END,
       due_at = CASE lanes.state
           WHEN 'idle' THEN greatest(clock_timestamp(), ends.not_before) ELSE lanes.due_at
       END
  FROM ends
 WHERE lanes.lane = ends.lane
"""

_UNDONE: Final = """
UPDATE wallet.partner_calls AS win SET undone_by = rollback.call
  FROM unnest($1::uuid[], $2::uuid[]) AS rollback (call, undone)
 WHERE win.call = rollback.undone
"""

_HASTEN: Final = """
WITH lifted AS (
    UPDATE wallet.partner_calls SET not_before = NULL
     WHERE call = ANY ($1::uuid[]) AND state = 'queued' AND not_before > clock_timestamp()
    RETURNING lane
)
UPDATE wallet.partner_lanes AS lanes SET due_at = clock_timestamp()
  FROM lifted
 WHERE lanes.lane = lifted.lane
   AND lanes.state = 'waiting' AND lanes.claim IS NULL AND lanes.failing_since IS NULL
"""

_BACK: Final = """
WITH failing AS (
    SELECT lane FROM wallet.partner_lanes
     WHERE operator = $1 AND state = 'waiting' AND due_at > now() AND claim IS NULL
       AND failing_since IS NOT NULL
     ORDER BY due_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE wallet.partner_lanes AS lanes SET due_at = clock_timestamp()
  FROM failing WHERE lanes.lane = failing.lane
"""

_STANDING: Final = """
SELECT lane, call, total FROM wallet.partner_calls
 WHERE lane = ANY ($1::uuid[]) AND revision IS NOT NULL AND undone_by IS NULL
 ORDER BY lane, number
"""

_REVISED: Final = """
UPDATE wallet.partner_lanes AS lanes SET revision = settled.revision
  FROM unnest($1::uuid[], $2::integer[]) AS settled (lane, revision)
 WHERE lanes.lane = settled.lane
"""

_CLAIM: Final = """
WITH due AS (
    SELECT lane FROM wallet.partner_lanes
     WHERE operator = $1 AND state = 'waiting' AND due_at <= now()
     ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE wallet.partner_lanes AS lanes
       SET claim = $3, due_at = clock_timestamp() + $4::double precision * interval '1 second'
      FROM due WHERE lanes.lane = due.lane
    RETURNING lanes.*
)
SELECT claimed.lane, claimed.operator, claimed.account, accounts.player, accounts.currency, claimed.round,
       claimed.failures, claimed.contradictions,
       coalesce(extract(epoch FROM now() - claimed.failing_since)::double precision, 0.0) AS failing_for_s,
       head.call, head.kind, head.undoes, head.posted, head.closes_round, head.confirming,
       head.business_ids, head.amounts
  FROM claimed
  JOIN wallet.accounts AS accounts USING (account)
  JOIN LATERAL (
      SELECT * FROM wallet.partner_calls AS calls
       WHERE calls.lane = claimed.lane AND calls.state = 'queued' ORDER BY calls.number LIMIT 1
  ) AS head ON true
"""

_LOCK_CLAIMED: Final = """
SELECT lane FROM wallet.partner_lanes
 WHERE (lane, claim) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
 ORDER BY lane FOR UPDATE
"""

_NOTE_CALLS: Final = """
UPDATE wallet.partner_calls AS calls
   SET state = CASE noted.what WHEN 'again' THEN 'queued' ELSE noted.what END,
       reason = noted.reason, confirming = noted.confirming, changed_at = clock_timestamp()
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::boolean[]) AS noted (call, what, reason, confirming)
 WHERE calls.call = noted.call AND calls.state = 'queued'
"""

_NOTE_LANES: Final = """
UPDATE wallet.partner_lanes AS lanes
   SET claim = NULL,
       state = CASE
           WHEN noted.what = 'parked' THEN 'parked' WHEN head.call IS NULL THEN 'idle' ELSE 'waiting'
       END,
       due_at = CASE
           WHEN noted.what = 'parked' OR head.call IS NULL THEN NULL
           ELSE greatest(clock_timestamp() + noted.pause_s * interval '1 second', head.not_before)
       END,
       failures = CASE WHEN noted.failed THEN lanes.failures + 1 ELSE 0 END,
       failing_since = CASE WHEN noted.failed THEN coalesce(lanes.failing_since, clock_timestamp()) END,
       contradictions = CASE
           WHEN noted.what = 'done' THEN 0
           WHEN noted.contradicted THEN lanes.contradictions + 1
           ELSE lanes.contradictions
       END
  FROM unnest($1::uuid[], $2::text[], $3::double precision[], $4::boolean[], $5::boolean[])
       AS noted (lane, what, pause_s, failed, contradicted)
  LEFT JOIN LATERAL (
      SELECT calls.call, calls.not_before FROM wallet.partner_calls AS calls
       WHERE calls.lane = noted.lane AND calls.state = 'queued' ORDER BY calls.number LIMIT 1
  ) AS head ON true
 WHERE lanes.lane = noted.lane
"""

_ANSWERS: Final = """
INSERT INTO wallet.partner_answers (call, took_ms, verdict, detail, network)
SELECT * FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::text[], $5::uuid[])
"""


async def lock_lanes(connection: Connection, lanes: Sequence[Lane]) -> Mapping[UUID, int]:
    """Make lanes that are missing, lock all, and say up to which revision each has been told."""
    rows = await connection.fetch(
        _LOCK_LANES,
        [lane.lane for lane in lanes],
        [lane.account.operator for lane in lanes],
        [lane.account.account for lane in lanes],
        [lane.round for lane in lanes],
    )
    return {row["lane"]: row["revision"] for row in rows}


async def standing_wins(connection: Connection, lanes: Sequence[UUID]) -> dict[UUID, list[Win]]:
    """The wins of settlements that stand, the earliest first. The lanes are locked."""
    found: dict[UUID, list[Win]] = {lane: [] for lane in lanes}
    for row in await connection.fetch(_STANDING, lanes):
        found[row["lane"]].append(Win(row["call"], row["total"]))
    return found


async def note_revisions(connection: Connection, revisions: Mapping[UUID, int]) -> None:
    """Note up to which revision each locked lane has been told."""
    await connection.execute(_REVISED, list(revisions), list(revisions.values()))


async def enqueue(connection: Connection, entries: Sequence[Entry]) -> None:
    """Put entries at the ends of their lanes, which are locked; those that are known already are left."""
    entries = list({entry.call: entry for entry in entries}.values())
    if not entries:
        return
    items = [(place, one) for place, entry in enumerate(entries, start=1) for one in entry.transactions]
    await connection.execute(
        _ENQUEUE,
        [entry.lane.lane for entry in entries],
        [entry.call for entry in entries],
        [entry.kind for entry in entries],
        [entry.undoes for entry in entries],
        [entry.posted for entry in entries],
        [entry.revision for entry in entries],
        [entry.closes_round for entry in entries],
        [entry.cause_event for entry in entries],
        [entry.waits_for for entry in entries],
        [place for place, _ in items],
        [one.id for _, one in items],
        [one.amount for _, one in items],
    )
    undoing = [entry for entry in entries if entry.undoes == "win"]
    if undoing:
        await connection.execute(
            _UNDONE, [entry.call for entry in undoing], [entry.transactions[0].id for entry in undoing]
        )


async def hasten(connection: Connection, calls: Sequence[UUID]) -> None:
    """Let these calls wait no longer for bets that have been answered; their lanes are locked."""
    await connection.execute(_HASTEN, calls)


async def partner_is_back(connection: Connection, operator: str, *, limit: int) -> None:
    """Let what failed while a partner was down wait no longer, the first `limit` lanes."""
    await connection.execute(_BACK, operator, limit)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A call of the queue that is ours to make, until its claim runs out."""

    lane: UUID
    claim: UUID
    call: Call
    undoes: Literal["bet", "win"] | None
    posted: bool
    tried: Tried


async def claim_due(
    connection: Connection, operator: str, *, limit: int, claim: UUID, claim_s: float
) -> list[Claimed]:
    """Claim up to `limit` lanes of an operator that are due, each with its next call."""
    return [_claimed(row, claim) for row in await connection.fetch(_CLAIM, operator, limit, claim, claim_s)]


def _claimed(row: asyncpg.Record, claim: UUID) -> Claimed:
    return Claimed(
        row["lane"],
        claim,
        Call(
            row["call"],
            row["kind"],
            row["operator"],
            row["account"],
            row["player"],
            row["currency"],
            row["round"],
            tuple(map(Transaction, row["business_ids"], row["amounts"])),
            row["closes_round"],
        ),
        row["undoes"],
        row["posted"],
        Tried(
            row["failures"],
            row["failing_for_s"],
            row["contradictions"],
            row["undoes"] == "bet" and not row["posted"],
            row["confirming"],
            row["undoes"],
        ),
    )


@dataclass(frozen=True, slots=True)
class Said:
    """One answer, to be kept for disputes."""

    call: UUID
    took_ms: int
    verdict: str
    detail: str
    network: UUID | None = None
    """The id of the try, as the partner got it."""


async def note_answers(connection: Connection, said: Sequence[Said]) -> None:
    """Keep answers."""
    await connection.execute(
        _ANSWERS,
        [one.call for one in said],
        [one.took_ms for one in said],
        [one.verdict for one in said],
        [one.detail[:200] for one in said],
        [one.network for one in said],
    )


async def note_decisions(connection: Connection, decided: Sequence[tuple[Claimed, Decision]]) -> None:
    """Note what became of claimed calls and let their lanes go on; what is claimed by others now is left."""
    rows = await connection.fetch(
        _LOCK_CLAIMED, [claimed.lane for claimed, _ in decided], [claimed.claim for claimed, _ in decided]
    )
    ours = {row["lane"] for row in rows}
    mine = [(claimed, decision) for claimed, decision in decided if claimed.lane in ours]
    if not mine:
        return
    await connection.execute(
        _NOTE_CALLS,
        [claimed.call.call for claimed, _ in mine],
        [decision.what for _, decision in mine],
        [decision.reason for _, decision in mine],
        [decision.confirming or claimed.tried.confirming for claimed, decision in mine],
    )
    await connection.execute(
        _NOTE_LANES,
        [claimed.lane for claimed, _ in mine],
        [decision.what for _, decision in mine],
        [decision.pause_s for _, decision in mine],
        [decision.failed for _, decision in mine],
        [decision.contradicted for _, decision in mine],
    )
