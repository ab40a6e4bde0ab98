"""The queue of webhooks, as rows. All set-based; lanes are locked in one order, before endpoints."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID, uuid5

import asyncpg

from eventstore.postgres import Connection
from upcard_gateway.app.webhook_bodies import Message
from upcard_gateway.domain.webhooks import Decision, Endpoint, NewDelivery, Outcome, Policy, Told, Tried

_WEBHOOKS: Final = UUID("5a1d0f5e-3c36-5b0d-9c1f-6d1f2a8b7e40")
_FULL: Final = "too much waited for the endpoint already: send it again once that is through"
_DETAIL_MAX: Final = 200

_ENDPOINTS: Final = """
SELECT endpoint, operator, environment, types, is_full FROM gateway.webhook_endpoints
 WHERE removed_at IS NULL ORDER BY endpoint
"""

# Each is locked, also one that was there.
_LOCK_LANES: Final = """
INSERT INTO gateway.webhook_lanes (endpoint, subject)
SELECT DISTINCT endpoint, subject FROM unnest($1::text[], $2::text[]) AS wanted (endpoint, subject)
 ORDER BY endpoint, subject
    ON CONFLICT (endpoint, subject) DO UPDATE SET failures = webhook_lanes.failures
"""

_PUT: Final = """
INSERT INTO gateway.webhook_deliveries (
    webhook, event_id, happened_at, position, part, operator, endpoint, subject, type, state, last_error, data
)
SELECT new.webhook, new.event_id, new.happened_at, new.position, new.part, endpoints.operator, new.endpoint,
       new.subject, new.type, CASE WHEN new.parked THEN 'parked' ELSE 'queued' END,
       CASE WHEN new.parked THEN $11 END, new.data
  FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::bigint[], $5::integer[], $6::text[], $7::text[],
              $8::text[], $9::boolean[], $10::jsonb[]) WITH ORDINALITY
       AS new (webhook, event_id, happened_at, position, part, endpoint, subject, type, parked, data, place)
  JOIN gateway.webhook_endpoints AS endpoints USING (endpoint)
 ORDER BY new.place
    ON CONFLICT (webhook) DO NOTHING
"""

_DUE: Final = """
UPDATE gateway.webhook_lanes AS lanes SET due_at = clock_timestamp()
  FROM (
      SELECT DISTINCT endpoint, subject FROM unnest($1::text[], $2::text[]) AS one (endpoint, subject)
  ) AS wanted
 WHERE lanes.endpoint = wanted.endpoint AND lanes.subject = wanted.subject AND lanes.due_at IS NULL
   AND EXISTS (SELECT FROM gateway.webhook_deliveries AS queued
                WHERE queued.endpoint = lanes.endpoint AND queued.subject = lanes.subject
                  AND queued.state = 'queued')
"""

# An endpoint that is down has one try at a time. In an order by chance, so that none is always last.
_CLAIM: Final = """
WITH open AS (
    SELECT e.endpoint,
           CASE WHEN e.failures < $4 THEN $3 - coalesce(busy.tries, 0)
                WHEN coalesce(busy.tries, 0) > 0 THEN 0 ELSE 1 END AS free
      FROM gateway.webhook_endpoints AS e
      LEFT JOIN unnest($1::text[], $2::integer[]) AS busy (endpoint, tries) USING (endpoint)
     WHERE e.removed_at IS NULL AND (e.paused_until IS NULL OR e.paused_until <= now())
     ORDER BY random()
), due AS (
    SELECT lane.endpoint, lane.subject FROM open CROSS JOIN LATERAL (
        SELECT l.endpoint, l.subject FROM gateway.webhook_lanes AS l
         WHERE l.endpoint = open.endpoint AND l.due_at <= now()
         ORDER BY l.due_at LIMIT greatest(open.free, 0) FOR UPDATE SKIP LOCKED
    ) AS lane LIMIT $5
), claimed AS (
    UPDATE gateway.webhook_lanes AS lanes
       SET claim = $6, due_at = clock_timestamp() + $7::double precision * interval '1 second'
      FROM due WHERE lanes.endpoint = due.endpoint AND lanes.subject = due.subject
    RETURNING lanes.*
)
SELECT claimed.endpoint, claimed.subject, claimed.failures,
       coalesce(extract(epoch FROM now() - claimed.failing_since)::double precision, 0.0) AS failing_for_s,
       head.webhook, head.event_id, head.happened_at, head.position, head.type, head.data,
       e.operator, e.url, e.secret_version, e.secret_key, e.secret,
       CASE WHEN e.old_secret_until > now() THEN e.old_secret_key END AS old_secret_key,
       CASE WHEN e.old_secret_until > now() THEN e.old_secret END AS old_secret
  FROM claimed
  JOIN gateway.webhook_endpoints AS e USING (endpoint)
  JOIN LATERAL (
      SELECT * FROM gateway.webhook_deliveries AS d
       WHERE d.endpoint = claimed.endpoint AND d.subject = claimed.subject AND d.state = 'queued'
       ORDER BY d.position, d.part LIMIT 1
  ) AS head ON true
"""

_LOCK_CLAIMED: Final = """
SELECT endpoint, subject FROM gateway.webhook_lanes
 WHERE (endpoint, subject, claim) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[]))
 ORDER BY endpoint, subject FOR UPDATE
"""

_NOTE: Final = """
UPDATE gateway.webhook_deliveries AS d
   SET state = CASE noted.what WHEN 'again' THEN 'queued' ELSE noted.what END, attempts = d.attempts + 1,
       last_status = noted.status, last_error = noted.error, changed_at = clock_timestamp()
  FROM unnest($1::uuid[], $2::text[], $3::integer[], $4::text[]) AS noted (webhook, what, status, error)
 WHERE d.webhook = noted.webhook AND d.state = 'queued'
"""

_NOTE_LANES: Final = """
UPDATE gateway.webhook_lanes AS lanes
   SET claim = NULL,
       failures = CASE WHEN noted.what = 'again' THEN lanes.failures + 1 ELSE 0 END,
       failing_since = CASE
           WHEN noted.what = 'again' THEN coalesce(lanes.failing_since, clock_timestamp())
       END,
       due_at = CASE WHEN noted.has_next THEN clock_timestamp() + noted.pause_s * interval '1 second' END
  FROM (
      SELECT one.*, EXISTS (
                 SELECT FROM gateway.webhook_deliveries AS d
                  WHERE d.endpoint = one.endpoint AND d.subject = one.subject AND d.state = 'queued'
             ) AS has_next
        FROM unnest($1::text[], $2::text[], $3::text[], $4::double precision[])
             AS one (endpoint, subject, what, pause_s)
  ) AS noted
 WHERE lanes.endpoint = noted.endpoint AND lanes.subject = noted.subject
"""

# In one order. What failed and got through in one go counts as got through.
_NOTE_ENDPOINTS: Final = """
WITH noted AS (
    SELECT e.endpoint, e.failures AS before, one.got_through, one.failed
      FROM unnest($1::text[], $2::boolean[], $3::integer[]) AS one (endpoint, got_through, failed)
      JOIN gateway.webhook_endpoints AS e USING (endpoint)
     WHERE one.failed > 0 OR e.failures > 0
     ORDER BY e.endpoint FOR NO KEY UPDATE OF e
)
UPDATE gateway.webhook_endpoints AS e
   SET failures = CASE WHEN noted.got_through THEN 0 ELSE least(noted.before + noted.failed, 1000000) END,
       failing_since = CASE WHEN NOT noted.got_through THEN coalesce(e.failing_since, clock_timestamp()) END,
       paused_until = CASE
           WHEN NOT noted.got_through AND noted.before + noted.failed >= $4
           THEN clock_timestamp() + interval '1 second'
               * least($5 * power(2.0, least(noted.before + noted.failed - $4, 20)), $6)
       END
  FROM noted
 WHERE e.endpoint = noted.endpoint
RETURNING e.endpoint, noted.got_through AND noted.before >= $4 AS is_back
"""

_HASTEN: Final = """
WITH failing AS (
    SELECT endpoint, subject FROM gateway.webhook_lanes
     WHERE endpoint = ANY ($1::text[]) AND due_at > now() AND claim IS NULL AND failing_since IS NOT NULL
     ORDER BY endpoint, due_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE gateway.webhook_lanes AS lanes SET due_at = clock_timestamp()
  FROM failing WHERE lanes.endpoint = failing.endpoint AND lanes.subject = failing.subject
"""

_HASTENED_MAX: Final = 10_000


@dataclass(frozen=True, slots=True)
class Sealed:
    """A secret as it lies in the database."""

    key: str
    secret: bytes = field(repr=False)
    version: int


@dataclass(frozen=True, slots=True)
class Claimed:
    """A webhook that is ours to send, until its claim runs out."""

    endpoint: str
    claim: UUID
    url: str
    secrets: tuple[Sealed, ...]
    message: Message
    tried: Tried


@dataclass(frozen=True, slots=True)
class Noted:
    """What came of a webhook that was claimed."""

    claimed: Claimed
    outcome: Outcome
    decision: Decision


class PostgresQueue:
    """A `Queue` in the gateway's database."""

    async def endpoints(self, connection: Connection) -> Sequence[Endpoint]:
        """See `Queue`."""
        return [
            Endpoint(
                row["endpoint"],
                row["operator"],
                row["environment"],
                frozenset(row["types"]),
                row["is_full"],
            )
            for row in await connection.fetch(_ENDPOINTS)
        ]

    async def put(self, connection: Connection, new: Sequence[NewDelivery]) -> None:
        """See `Queue`."""
        if not new:
            return
        lanes = [one.endpoint for one in new], [one.fact.told.subject for one in new]
        await connection.execute(_LOCK_LANES, *lanes)
        await connection.execute(
            _PUT,
            [webhook_id(one) for one in new],
            [UUID(one.fact.told.event_id) for one in new],
            [dt.datetime.fromisoformat(one.fact.told.happened_at) for one in new],
            [one.fact.told.position for one in new],
            [one.part for one in new],
            *lanes,
            [one.fact.type for one in new],
            [one.parked for one in new],
            [json.dumps(one.data) for one in new],
            _FULL,
        )
        await connection.execute(_DUE, *lanes)


def webhook_id(new: NewDelivery) -> UUID:
    """The id of a webhook: the same however often its event comes."""
    return uuid5(_WEBHOOKS, f"{new.endpoint}/{new.fact.told.event_id}/{new.part}")


async def claim_due(
    connection: Connection, under_way: Mapping[str, int], limit: int, claim: UUID, policy: Policy
) -> list[Claimed]:
    """Claim up to `limit` webhooks that are due, each the next one of its subject.

    `under_way`: how many tries of each endpoint are under way in this process already.
    """
    rows = await connection.fetch(
        _CLAIM,
        list(under_way),
        list(under_way.values()),
        policy.at_once,
        policy.down_after,
        limit,
        claim,
        policy.timeout_s + policy.claim_margin_s,
    )
    return [_claimed(row, claim) for row in rows]


def _claimed(row: asyncpg.Record, claim: UUID) -> Claimed:
    secrets = [Sealed(row["secret_key"], row["secret"], row["secret_version"])]
    if row["old_secret"] is not None:
        secrets.append(Sealed(row["old_secret_key"], row["old_secret"], row["secret_version"] - 1))
    happened_at = row["happened_at"].astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return Claimed(
        row["endpoint"],
        claim,
        row["url"],
        tuple(secrets),
        Message(
            str(row["webhook"]),
            row["type"],
            row["operator"],
            Told(row["subject"], row["position"], str(row["event_id"]), happened_at),
            json.loads(row["data"]),
        ),
        Tried(row["failures"], row["failing_for_s"]),
    )


async def note(connection: Connection, noted: Sequence[Noted], policy: Policy) -> None:
    """Note what came of claimed webhooks, in the caller's transaction; what others claimed meanwhile is left.

    Subjects go on with what is next; endpoints that do not answer are left alone for a while, and what waits
    for one that answers again waits no longer.
    """
    ours = await _still_ours(connection, noted)
    if not ours:
        return
    await connection.execute(
        _NOTE,
        [UUID(one.claimed.message.webhook) for one in ours],
        [one.decision.what for one in ours],
        [one.outcome.status for one in ours],
        [None if one.outcome.error is None else one.outcome.error[:_DETAIL_MAX] for one in ours],
    )
    await connection.execute(
        _NOTE_LANES,
        [one.claimed.endpoint for one in ours],
        [one.claimed.message.told.subject for one in ours],
        [one.decision.what for one in ours],
        [one.decision.pause_s for one in ours],
    )
    endpoints = sorted({one.claimed.endpoint for one in ours})
    delivered = {one.claimed.endpoint for one in ours if one.outcome.delivered}
    failed = [
        sum(one.claimed.endpoint == name and not one.outcome.delivered for one in ours) for name in endpoints
    ]
    rows = await connection.fetch(
        _NOTE_ENDPOINTS,
        endpoints,
        [name in delivered for name in endpoints],
        failed,
        policy.down_after,
        policy.down_pause_s,
        policy.down_longest_pause_s,
    )
    back = [row["endpoint"] for row in rows if row["is_back"]]
    if back:
        await connection.execute(_HASTEN, back, _HASTENED_MAX)


async def _still_ours(connection: Connection, noted: Sequence[Noted]) -> list[Noted]:
    rows = await connection.fetch(
        _LOCK_CLAIMED,
        [one.claimed.endpoint for one in noted],
        [one.claimed.message.told.subject for one in noted],
        [one.claimed.claim for one in noted],
    )
    locked = {(row["endpoint"], row["subject"]) for row in rows}
    return [one for one in noted if (one.claimed.endpoint, one.claimed.message.told.subject) in locked]
