"""Webhooks as their operator sees them, and sending them again. Each look-up is by the operator who asks."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import asyncpg

from eventstore.postgres import Connection

_COLUMNS: Final = """
SELECT d.number, d.webhook, d.endpoint, d.type, d.subject, d.position, d.event_id, d.attempts, d.created_at,
       d.changed_at, d.last_status, d.last_error,
       CASE WHEN d.state = 'queued' AND e.removed_at IS NOT NULL THEN 'cancelled' ELSE d.state END AS state,
       CASE WHEN d.state = 'queued' AND e.removed_at IS NULL AND NOT EXISTS (
                SELECT FROM gateway.webhook_deliveries AS earlier
                 WHERE earlier.endpoint = d.endpoint AND earlier.subject = d.subject
                   AND earlier.state = 'queued' AND (earlier.position, earlier.part) < (d.position, d.part)
            ) THEN greatest(lanes.due_at, e.paused_until) END AS next_try_at
  FROM gateway.webhook_deliveries AS d
  JOIN gateway.webhook_endpoints AS e USING (endpoint)
  JOIN gateway.webhook_lanes AS lanes ON lanes.endpoint = d.endpoint AND lanes.subject = d.subject
"""

# The state stands in the text, so that the index of what is not over serves those that ask for that.
_IN_STATE: Final = {
    None: "true",
    "queued": "d.state = 'queued' AND e.removed_at IS NULL",
    "cancelled": "d.state = 'queued' AND e.removed_at IS NOT NULL",
    "delivered": "d.state = 'delivered'",
    "parked": "d.state = 'parked'",
}
_LISTS: Final = {
    state: f"""{_COLUMNS}
 WHERE d.operator = $1 AND d.number < $2 AND {condition}
   AND ($3::text IS NULL OR d.endpoint = $3) AND ($4::text IS NULL OR d.type = $4)
 ORDER BY d.number DESC LIMIT $5
"""
    for state, condition in _IN_STATE.items()
}
_BEYOND: Final = 2**63 - 1

_ONE: Final = f"{_COLUMNS} WHERE d.operator = $1 AND d.webhook = $2"

_NUMBER: Final = "SELECT number FROM gateway.webhook_deliveries WHERE operator = $1 AND webhook = $2"

_LOCK_OF_ONE: Final = """
SELECT lanes.endpoint, lanes.subject, e.removed_at
  FROM gateway.webhook_deliveries AS d
  JOIN gateway.webhook_endpoints AS e USING (endpoint)
  JOIN gateway.webhook_lanes AS lanes ON lanes.endpoint = d.endpoint AND lanes.subject = d.subject
 WHERE d.operator = $1 AND d.webhook = $2
   FOR UPDATE OF lanes
"""

_PARKED: Final = """
SELECT d.webhook, d.subject FROM gateway.webhook_deliveries AS d
 WHERE d.operator = $1 AND d.endpoint = $2 AND d.state = 'parked' ORDER BY d.number LIMIT $3
"""

_LOCK_LANES: Final = """
SELECT FROM gateway.webhook_lanes WHERE endpoint = $1 AND subject = ANY ($2::text[])
 ORDER BY endpoint, subject FOR UPDATE
"""

_AGAIN: Final = """
UPDATE gateway.webhook_deliveries SET state = 'queued', changed_at = clock_timestamp()
 WHERE webhook = ANY ($1::uuid[]) AND state = ANY ($2::text[])
"""

# What is being sent from a lane now is noted first; then the lane goes on with what is queued.
_DUE: Final = """
UPDATE gateway.webhook_lanes SET due_at = clock_timestamp(), failures = 0, failing_since = NULL
 WHERE endpoint = $1 AND subject = ANY ($2::text[]) AND claim IS NULL
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which webhooks are listed; None: all."""

    endpoint: str | None = None
    type: str | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A webhook as its operator sees it."""

    webhook: str
    endpoint: str
    type: str
    subject: str
    position: int
    event_id: str
    state: str
    attempts: int
    created_at: dt.datetime
    changed_at: dt.datetime
    next_try_at: dt.datetime | None
    last_status: int | None
    last_error: str | None


async def number_of(connection: Connection, operator: str, webhook: UUID) -> int | None:
    """Where in the list a webhook of an operator stands; None: there is none, or it is another's."""
    found: int | None = await connection.fetchval(_NUMBER, operator, webhook)
    return found


async def listed(
    connection: Connection, operator: str, wanted: Wanted, before: int | None, most: int
) -> list[DeliveryRow]:
    """An operator's webhooks, the newest first, from before a place in the list; None: from the first.

    Raises KeyError for a state that is none.
    """
    before = _BEYOND if before is None else before
    rows = await connection.fetch(_LISTS[wanted.state], operator, before, wanted.endpoint, wanted.type, most)
    return [_row(row) for row in rows]


async def one(connection: Connection, operator: str, webhook: UUID) -> DeliveryRow | None:
    """A webhook of an operator; None: there is none, or it is another's."""
    row = await connection.fetchrow(_ONE, operator, webhook)
    return None if row is None else _row(row)


async def removed_endpoint_of(connection: Connection, operator: str, webhook: UUID) -> bool | None:
    """Lock a webhook's subject; whether its endpoint was removed; None: no such webhook of this operator."""
    row = await connection.fetchrow(_LOCK_OF_ONE, operator, webhook)
    return None if row is None else row["removed_at"] is not None


async def send_again(connection: Connection, found: DeliveryRow) -> None:
    """Queue a delivered or parked webhook, whose subject is locked, once more: at its place in the order."""
    await connection.execute(_AGAIN, [UUID(found.webhook)], ["delivered", "parked"])
    await connection.execute(_DUE, found.endpoint, [found.subject])


async def send_parked(connection: Connection, operator: str, endpoint: str, most: int) -> int:
    """Queue up to so many of an endpoint's parked webhooks once more, the oldest first; how many."""
    rows = await connection.fetch(_PARKED, operator, endpoint, most)
    subjects = sorted({row["subject"] for row in rows})
    await connection.execute(_LOCK_LANES, endpoint, subjects)
    status = await connection.execute(_AGAIN, [row["webhook"] for row in rows], ["parked"])
    await connection.execute(_DUE, endpoint, subjects)
    return int(status.rpartition(" ")[2])


def _row(row: asyncpg.Record) -> DeliveryRow:
    return DeliveryRow(
        str(row["webhook"]),
        row["endpoint"],
        row["type"],
        row["subject"],
        row["position"],
        str(row["event_id"]),
        row["state"],
        row["attempts"],
        row["created_at"],
        row["changed_at"],
        row["next_try_at"],
        row["last_status"],
        row["last_error"],
    )
