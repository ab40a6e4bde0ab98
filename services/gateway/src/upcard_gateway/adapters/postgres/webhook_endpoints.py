"""Where operators want webhooks, as rows, in the caller's transaction.

Each look-up is by the operator who asks.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import asyncpg

from eventstore.postgres import Connection
from upcard_gateway.adapters.postgres.webhook_queue import Sealed

_SHOWN: Final = "endpoint, url, types, created_at, removed_at, failing_since, old_secret_until"

# Two that are added at once wait for each other, so that both count.
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended('gateway.webhook_endpoints ' || $1, 0))"
_COUNT: Final = "SELECT count(*) FROM gateway.webhook_endpoints WHERE operator = $1 AND removed_at IS NULL"

_ADD: Final = f"""
INSERT INTO gateway.webhook_endpoints (endpoint, operator, environment, url, types, secret_key, secret)
VALUES ($1, $2, $3, $4, $5, $6, $7)
RETURNING {_SHOWN}
"""  # noqa: S608 - columns of ours

_LIST: Final = f"""
SELECT {_SHOWN} FROM gateway.webhook_endpoints
 WHERE operator = $1 AND (removed_at IS NULL OR removed_at > clock_timestamp() - interval '30 days')
 ORDER BY created_at DESC, endpoint LIMIT $2
"""  # noqa: S608 - columns of ours

_ONE: Final = f"""
SELECT {_SHOWN}, secret_version, secret_key, secret FROM gateway.webhook_endpoints
 WHERE operator = $1 AND endpoint = $2
"""  # noqa: S608 - columns of ours

_LOCKED: Final = f"{_ONE} FOR NO KEY UPDATE"

_REMOVE: Final = f"""
UPDATE gateway.webhook_endpoints
   SET removed_at = clock_timestamp(), paused_until = NULL, failing_since = NULL, failures = 0
 WHERE endpoint = $1 AND removed_at IS NULL
RETURNING {_SHOWN}
"""  # noqa: S608 - columns of ours

_REPLACE: Final = f"""
UPDATE gateway.webhook_endpoints
   SET old_secret = secret, old_secret_key = secret_key, secret = $2, secret_key = $3, secret_version = $4,
       old_secret_until = clock_timestamp() + make_interval(secs => $5)
 WHERE endpoint = $1
RETURNING {_SHOWN}
"""  # noqa: S608 - columns of ours


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint as its operator sees it."""

    endpoint: str
    url: str
    types: tuple[str, ...]
    created_at: dt.datetime
    removed_at: dt.datetime | None
    failing_since: dt.datetime | None
    old_secret_until: dt.datetime | None


async def count_for_adding(connection: Connection, operator: str) -> int:
    """How many endpoints an operator has; until the transaction ends nobody else adds one."""
    await connection.execute(_LOCK, operator)
    found: int = await connection.fetchval(_COUNT, operator)
    return found


async def add(  # noqa: PLR0913, PLR0917 - the columns
    connection: Connection,
    endpoint: str,
    operator: str,
    environment: str,
    url: str,
    types: Sequence[str],
    secret: Sealed,
) -> EndpointRow:
    """Add an endpoint, with its first secret."""
    row = await connection.fetchrow(
        _ADD, endpoint, operator, environment, url, list(types), secret.key, secret.secret
    )
    return _row(row)


async def listed(connection: Connection, operator: str, most: int) -> list[EndpointRow]:
    """An operator's endpoints, the newest first; removed ones for 30 days."""
    return [_row(row) for row in await connection.fetch(_LIST, operator, most)]


async def found(connection: Connection, operator: str, endpoint: str) -> EndpointRow | None:
    """An operator's endpoint, not locked; None: there is none, or it is another's."""
    row = await connection.fetchrow(_ONE, operator, endpoint)
    return None if row is None else _row(row)


async def locked(connection: Connection, operator: str, endpoint: str) -> tuple[EndpointRow, Sealed] | None:
    """An operator's endpoint and its secret, locked; None: there is none, or it is another's."""
    row = await connection.fetchrow(_LOCKED, operator, endpoint)
    if row is None:
        return None
    return _row(row), Sealed(row["secret_key"], row["secret"], row["secret_version"])


async def remove(connection: Connection, endpoint: str) -> EndpointRow:
    """Remove an endpoint that is locked: nothing is sent to it any more."""
    return _row(await connection.fetchrow(_REMOVE, endpoint))


async def replace_secret(
    connection: Connection, endpoint: str, secret: Sealed, overlap_s: float
) -> EndpointRow:
    """Give a locked endpoint another secret; the one before signs as well for `overlap_s` seconds."""
    row = await connection.fetchrow(_REPLACE, endpoint, secret.secret, secret.key, secret.version, overlap_s)
    return _row(row)


def _row(row: asyncpg.Record | None) -> EndpointRow:
    if row is None:
        raise LookupError("an endpoint that was locked is gone")
    return EndpointRow(
        row["endpoint"],
        row["url"],
        tuple(row["types"]),
        row["created_at"],
        row["removed_at"],
        row["failing_since"],
        row["old_secret_until"],
    )
