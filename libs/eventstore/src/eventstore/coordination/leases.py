"""Leases in the database: one holder a name at a time, by the database's clock alone.

Each function is one statement. `hold_lease` (in `holding`) is what a program normally uses.
"""

import datetime as dt
import math
from dataclasses import dataclass, field
from typing import ClassVar, Final
from uuid import UUID, uuid4

from eventstore.errors import EventStoreError
from eventstore.faults import reach
from eventstore.postgres.connections import Connection

SHORTEST_TTL_S = 0.1
LONGEST_TTL_S = 3_600.0
LONGEST_NAME = 200

# One row, one lock: of two that try at the same time the second waits for the first, and then finds it held.
# The same claim finds itself. A claim that ran out and that nobody followed goes on with its token: nobody
# else can have acted in between.
_ACQUIRE: Final = """
INSERT INTO eventstore.leases AS l (name, holder, claim, token, acquired_at, expires_at)
VALUES ($1, $2, $3, 1, clock_timestamp(), clock_timestamp() + make_interval(secs => $4))
ON CONFLICT (name) DO UPDATE
   SET holder = excluded.holder,
       claim = excluded.claim,
       token = CASE WHEN l.claim = excluded.claim THEN l.token ELSE l.token + 1 END,
       acquired_at = CASE WHEN l.claim = excluded.claim THEN l.acquired_at ELSE clock_timestamp() END,
       expires_at = clock_timestamp() + make_interval(secs => $4)
 WHERE l.claim = excluded.claim OR l.expires_at <= clock_timestamp()
RETURNING token
"""

_RENEW: Final = """
UPDATE eventstore.leases SET expires_at = clock_timestamp() + make_interval(secs => $4)
 WHERE name = $1 AND token = $2 AND claim = $3
"""

_RELEASE: Final = """
UPDATE eventstore.leases SET expires_at = clock_timestamp() WHERE name = $1 AND token = $2 AND claim = $3
"""

_HOLDERS: Final = """
SELECT name, holder, token, acquired_at, extract(epoch FROM expires_at - clock_timestamp())::float8 AS left_s
  FROM eventstore.leases WHERE $1::text IS NULL OR name = $1 ORDER BY name
"""


class LeaseLost(EventStoreError):
    """The lease is not held any more: someone else may act now. What was being written was not stored."""

    slug: ClassVar[str] = "lease_lost"


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease as its holder got it. `token` is what its writes are to be compared with."""

    name: str
    holder: str
    token: int
    ttl_s: float
    claim: UUID = field(repr=False)


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """Who holds a lease or held it last. `left_s`: seconds until it runs out, negative when it has."""

    name: str
    holder: str
    token: int
    acquired_at: dt.datetime
    left_s: float

    @property
    def held(self) -> bool:
        """Whether nobody else can have it now."""
        return self.left_s > 0


async def acquire(
    connection: Connection, name: str, *, holder: str, ttl_s: float, claim: UUID | None = None
) -> Lease | None:
    """Take the lease if it is free or has run out; None while someone else holds it.

    `holder` is for people to read. `claim` makes a repetition safe: after an answer that was lost, the same
    claim gets the same lease. Outside a transaction what it returns is durable.
    """
    check_lease_terms(name, holder, ttl_s)
    claim = claim or uuid4()
    token = await connection.fetchval(_ACQUIRE, name, holder, claim, ttl_s)
    if token is None:
        return None
    reach("lease.acquired")
    return Lease(name, holder, token, ttl_s, claim)


async def renew(connection: Connection, lease: Lease) -> bool:
    """Let the lease last for another `ttl_s` from now. False when someone else has taken it since."""
    status = await connection.execute(_RENEW, lease.name, lease.token, lease.claim, lease.ttl_s)
    reach("lease.renewed")
    return status == "UPDATE 1"


async def release(connection: Connection, lease: Lease) -> bool:
    """Let it run out now. False when it was someone else's already."""
    status = await connection.execute(_RELEASE, lease.name, lease.token, lease.claim)
    return status == "UPDATE 1"


async def require_lease(connection: Connection, lease: Lease) -> None:
    """Make the caller's transaction depend on the lease. Raises LeaseLost when it has changed hands.

    Until the transaction's end nobody else can take it, so what it commits was written by the holder. It says
    nothing about time: a lease that ran out and that nobody followed is still good.
    """
    token = await connection.fetchval(
        "SELECT token FROM eventstore.leases WHERE name = $1 FOR SHARE", lease.name
    )
    if token != lease.token:
        raise LeaseLost(f"lease {lease.name}: ours has the token {lease.token}, the last one {token}")


async def lease_holders(connection: Connection, name: str | None = None) -> tuple[LeaseHolder, ...]:
    """Who holds what, by name; or one lease alone. A metric, and the answer to "which one is active?"."""
    return tuple(LeaseHolder(*row) for row in await connection.fetch(_HOLDERS, name))


def check_lease_terms(name: str, holder: str, ttl_s: float) -> None:
    """Raise ValueError unless a lease can have this name, this holder and this time to live, in seconds."""
    for what, text in (("name", name), ("holder", holder)):
        if not 0 < len(text) <= LONGEST_NAME or not text.isprintable():
            raise ValueError(f"a lease's {what} is 1 to {LONGEST_NAME} printable characters, not {text!r}")
    if not (math.isfinite(ttl_s) and SHORTEST_TTL_S <= ttl_s <= LONGEST_TTL_S):
        raise ValueError(f"a lease lasts {SHORTEST_TTL_S} to {LONGEST_TTL_S} s, not {ttl_s}")
