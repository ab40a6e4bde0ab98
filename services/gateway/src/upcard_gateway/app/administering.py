"""Administering operators: registering, changing, adding and revoking keys; each an event of its stream."""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from eventstore import Expect, StreamAppend
from eventstore.postgres import Connection
from upcard_gateway.app.recording import Recorder
from upcard_gateway.domain.operators import (
    MOST_KEYS,
    Algorithm,
    Key,
    KeyAdded,
    KeyRevoked,
    Operator,
    OperatorChanged,
    OperatorEvent,
    OperatorRegistered,
    Terms,
    evolve,
    partner_stream,
)
from upcard_platform.signing import fingerprint_of, public_key_of

SECRET_BYTES: Final = 32
"""Of a new secret for HMAC."""
SHOWN_FOR: Final = dt.timedelta(minutes=10)
"""For how long after it was made a secret is in the answer to a repeated call."""

_KEY_ID_BYTES: Final = 12


class Tables(Protocol):
    """The tables of operators, within a transaction."""

    async def find(self, connection: Connection, operator: str) -> Operator | None:
        """An operator as it is now."""
        ...

    async def lock(self, connection: Connection, operator: str) -> Operator | None:
        """An operator that nobody else changes before the transaction has ended."""
        ...

    async def register(self, connection: Connection, operator: Operator) -> bool:
        """Keep a new operator; False: its id is taken."""
        ...

    async def change(self, connection: Connection, operator: Operator) -> None:
        """Keep changed terms."""
        ...

    async def add_key(
        self, connection: Connection, operator: Operator, key: Key, secret: bytes | None
    ) -> None:
        """Keep a new key, its secret encrypted."""
        ...

    async def revoke_key(
        self, connection: Connection, operator: Operator, key_id: str, at: dt.datetime
    ) -> None:
        """Keep that a key is revoked; its secret is forgotten."""
        ...

    async def page(self, connection: Connection, after: str, limit: int) -> tuple[Operator, ...]:
        """Operators after an id, by their ids, so many at the most."""
        ...

    async def secret_of(self, connection: Connection, key_id: str) -> bytes | None:
        """A key's secret; None: there is none any more."""
        ...


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was done, for this reason: a slug, and words."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Who did it, and what it belongs to, for the event."""

    actor: str
    correlation_id: str


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it: the operator after it, and the event to append."""

    operator: Operator
    appends: tuple[StreamAppend, ...]


@dataclass(frozen=True, slots=True)
class Administration:
    """What administering stands on."""

    tables: Tables
    recorder: Recorder
    now: Callable[[], dt.datetime]
    random: Callable[[int], bytes] = field(default=secrets.token_bytes)


async def register_operator(
    admin: Administration, connection: Connection, registered: OperatorRegistered, origin: Origin
) -> Done | Refused:
    """Register a new operator."""
    done = _apply(admin, None, registered, origin)
    if not await admin.tables.register(connection, done.operator):
        return Refused("operator_exists", "an operator of this id is registered already")
    return done


async def change_operator(
    admin: Administration, connection: Connection, operator: str, terms: Terms, origin: Origin
) -> Done | Refused:
    """Give an operator other terms, all of them anew; without an event where they are what they were."""
    before = await admin.tables.lock(connection, operator)
    if before is None:
        return _UNKNOWN
    if before.terms == terms:
        return Done(before, ())
    done = _apply(admin, before, OperatorChanged(operator, terms), origin)
    await admin.tables.change(connection, done.operator)
    return done


async def add_key(
    admin: Administration,
    connection: Connection,
    operator: str,
    algorithm: Algorithm,
    public_key: str | None,
    origin: Origin,
) -> tuple[Done, Key] | Refused:
    """Let an operator sign with a further key; of one for HMAC the secret is made here.

    Raises ValueError for a public key that is none.
    """
    before = await admin.tables.lock(connection, operator)
    if before is None:
        return _UNKNOWN
    if len(before.keys_in_force) >= MOST_KEYS:
        return Refused("too_many_keys", f"{MOST_KEYS} keys are in force: revoke one first")
    key_id = f"k-{admin.random(_KEY_ID_BYTES).hex()}"
    secret = None
    if algorithm == "hmac-sha256":
        if public_key is not None:
            raise ValueError("a key for HMAC has no public half")
        secret = admin.random(SECRET_BYTES)
        fingerprint = fingerprint_of(secret)
    else:
        fingerprint = fingerprint_of(public_key_of(public_key or ""))
        if any(key.fingerprint == fingerprint for key in before.keys_in_force):
            return Refused("key_exists", "this key is in force for the operator already")
    done = _apply(admin, before, KeyAdded(operator, key_id, algorithm, fingerprint, public_key), origin)
    key = done.operator.keys[key_id]
    await admin.tables.add_key(connection, done.operator, key, secret)
    return done, key


async def revoke_key(
    admin: Administration, connection: Connection, operator: str, key_id: str, origin: Origin
) -> Done | Refused:
    """Let an operator not sign with a key any more; without an event where it was revoked before."""
    before = await admin.tables.lock(connection, operator)
    if before is None:
        return _UNKNOWN
    key = before.keys.get(key_id)
    if key is None:
        return Refused("key_unknown", "the operator has no key of this id")
    if key.revoked_at is not None:
        return Done(before, ())
    done = _apply(admin, before, KeyRevoked(operator, key_id), origin)
    revoked_at = done.operator.keys[key_id].revoked_at
    assert revoked_at is not None  # noqa: S101 - the event says so
    await admin.tables.revoke_key(connection, done.operator, key_id, revoked_at)
    return done


async def shown_secret(admin: Administration, connection: Connection, key: Key) -> bytes | None:
    """The secret of a key that was made just now; None: that is too long ago, or it has none."""
    if key.algorithm != "hmac-sha256" or key.added_at is None or admin.now() - key.added_at > SHOWN_FOR:
        return None
    return await admin.tables.secret_of(connection, key.key_id)


def _apply(admin: Administration, before: Operator | None, event: OperatorEvent, origin: Origin) -> Done:
    after = evolve(before, event, admin.now())
    stream = partner_stream(after.operator)
    recorded: Any = admin.recorder.event(
        stream, event, actor=origin.actor, correlation_id=origin.correlation_id
    )
    expected = Expect.NONE if before is None else before.version
    return Done(after, (StreamAppend(stream, expected, (recorded,)),))


_UNKNOWN: Final = Refused("operator_unknown", "no operator of this id is registered")
