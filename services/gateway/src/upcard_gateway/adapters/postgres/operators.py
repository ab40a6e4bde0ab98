"""Operators in the gateway's tables: written with their events, read whole and kept for a moment."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import asyncpg
import structlog

from eventstore import PrivatePartUnreadable, UnknownKey
from eventstore.coordination.outages import bounded_call
from eventstore.postgres import Connection, Pool
from eventstore.private import Keyring
from rules_core.round.codec import codec_of
from upcard_gateway.adapters.metrics import secrets_unreadable
from upcard_gateway.app.operators import SigningKey
from upcard_gateway.domain.operators import Key, Operator, Terms

__all__ = ["KnownOperators", "OperatorTables"]

_OPERATORS: Final = """
SELECT operator, environment, wallet, terms::text, registered_at, version FROM gateway.operators
 WHERE $1::text IS NULL OR operator = $1 ORDER BY operator
"""
_PAGE: Final = """
SELECT operator, environment, wallet, terms::text, registered_at, version FROM gateway.operators
 WHERE operator > $1 ORDER BY operator LIMIT $2
"""
_LOCKED: Final = """
SELECT operator, environment, wallet, terms::text, registered_at, version FROM gateway.operators
 WHERE operator = $1 FOR UPDATE
"""
_KEYS: Final = """
SELECT key_id, operator, algorithm, fingerprint, public_key, added_at, revoked_at FROM gateway.operator_keys
 WHERE operator = ANY ($1) ORDER BY added_at, key_id
"""
_SECRETS: Final = """
SELECT key_id, encrypted_with, ciphertext FROM gateway.operator_secrets WHERE $1::text IS NULL OR key_id = $1
"""
_REGISTER: Final = """
INSERT INTO gateway.operators (operator, environment, wallet, terms, registered_at, version)
VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
"""
_CHANGE: Final = "UPDATE gateway.operators SET terms = $2, version = $3 WHERE operator = $1"
_ADD_KEY: Final = """
INSERT INTO gateway.operator_keys (key_id, operator, algorithm, fingerprint, public_key, added_at)
VALUES ($1, $2, $3, $4, $5, $6)
"""
_KEEP_ENCRYPTED: Final = """
INSERT INTO gateway.operator_secrets (key_id, encrypted_with, ciphertext) VALUES ($1, $2, $3)
"""
_REVOKE: Final = "UPDATE gateway.operator_keys SET revoked_at = $2 WHERE key_id = $1"
_FORGET: Final = "DELETE FROM gateway.operator_secrets WHERE key_id = $1"
# What tells whether anything changed since: each change of an operator is an event more.
_STATE: Final = "SELECT count(*), coalesce(sum(version), 0)::bigint FROM gateway.operators"

_READ_WITHIN_S: Final = 5.0
_log = structlog.get_logger("upcard.gateway.operators")
_TERMS: Final = codec_of(Terms)


class OperatorTables:
    """Reads and writes of one transaction; what is written is what the events beside it say."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    async def find(self, connection: Connection, operator: str) -> Operator | None:
        """An operator as it is now."""
        rows = await connection.fetch(_OPERATORS, operator)
        return (await self._with_keys(connection, rows))[0] if rows else None

    async def lock(self, connection: Connection, operator: str) -> Operator | None:
        """An operator as it is now, which nobody else changes before this transaction has ended."""
        rows = await connection.fetch(_LOCKED, operator)
        return (await self._with_keys(connection, rows))[0] if rows else None

    async def register(self, connection: Connection, operator: Operator) -> bool:
        """Keep a new operator; False: its id is taken."""
        status = await connection.execute(
            _REGISTER,
            operator.operator,
            operator.environment,
            operator.wallet,
            _text(operator.terms),
            operator.registered_at,
            operator.version,
        )
        return status == "INSERT 0 1"

    async def change(self, connection: Connection, operator: Operator) -> None:
        """Keep an operator's terms, and how far its stream is."""
        await connection.execute(_CHANGE, operator.operator, _text(operator.terms), operator.version)

    async def add_key(
        self, connection: Connection, operator: Operator, key: Key, secret: bytes | None
    ) -> None:
        """Keep a new key, and its secret encrypted."""
        await connection.execute(
            _ADD_KEY,
            key.key_id,
            operator.operator,
            key.algorithm,
            key.fingerprint,
            key.public_key,
            key.added_at,
        )
        if secret is not None:
            encrypted_with, ciphertext = self._keyring.encrypt(secret, _place(key.key_id), 1)
            await connection.execute(_KEEP_ENCRYPTED, key.key_id, encrypted_with, ciphertext)
        await self.change(connection, operator)

    async def revoke_key(
        self, connection: Connection, operator: Operator, key_id: str, at: dt.datetime
    ) -> None:
        """Keep that a key is revoked, and forget its secret."""
        await connection.execute(_REVOKE, key_id, at)
        await connection.execute(_FORGET, key_id)
        await self.change(connection, operator)

    async def page(self, connection: Connection, after: str, limit: int) -> tuple[Operator, ...]:
        """Operators after an id, by their ids, so many at the most."""
        rows = await connection.fetch(_PAGE, after, limit)
        return await self._with_keys(connection, rows)

    async def secret_of(self, connection: Connection, key_id: str) -> bytes | None:
        """A key's secret; None: it has none, or was revoked. Raises UnknownKey, PrivatePartUnreadable."""
        row = await connection.fetchrow(_SECRETS, key_id)
        return None if row is None else self._decrypted(row)

    async def all_of(self, connection: Connection) -> _Snapshot:
        """All operators with their keys and secrets, in one view of the database."""
        found = await self._with_keys(connection, await connection.fetch(_OPERATORS, None))
        secrets = self._readable(await connection.fetch(_SECRETS, None))
        whole = {operator.operator: operator for operator in found}
        signing = {
            key.key_id: SigningKey(operator, key, secrets.get(key.key_id))
            for operator in whole.values()
            for key in operator.keys_in_force
            if key.public_key is not None or key.key_id in secrets
        }
        return _Snapshot(whole, signing)

    async def _with_keys(
        self, connection: Connection, rows: Sequence[asyncpg.Record]
    ) -> tuple[Operator, ...]:
        names = [row["operator"] for row in rows]
        keys: dict[str, dict[str, Key]] = {name: {} for name in names}
        for one in await connection.fetch(_KEYS, names):
            keys[one["operator"]][one["key_id"]] = _key(one)
        return tuple(replace(_operator(row), keys=keys[row["operator"]]) for row in rows)

    def _readable(self, rows: Sequence[asyncpg.Record]) -> dict[str, bytes]:
        """Secrets by their keys' ids, but for those that cannot be read: a lost key locks nobody else out."""
        found: dict[str, bytes] = {}
        unreadable = 0
        for row in rows:
            try:
                found[row["key_id"]] = self._decrypted(row)
            except (UnknownKey, PrivatePartUnreadable) as error:
                unreadable += 1
                _log.error("a secret cannot be read", key=row["key_id"], why=type(error).__name__)
        secrets_unreadable.set(unreadable)
        return found

    def _decrypted(self, row: asyncpg.Record) -> bytes:
        return self._keyring.decrypt(row["encrypted_with"], row["ciphertext"], _place(row["key_id"]), 1)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    operators: Mapping[str, Operator]
    signing: Mapping[str, SigningKey]


class KnownOperators:
    """`Operators` out of the tables: all of them are kept, and looked at again when that is old."""

    def __init__(
        self,
        pool: Pool,
        tables: OperatorTables,
        *,
        fresh_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`fresh_s`: how old what is found may be, in seconds. `clock`: seconds that never jump."""
        self._pool = pool
        self._tables = tables
        self._fresh_s = fresh_s
        self._clock = clock
        self._lock = asyncio.Lock()
        self._known = _Snapshot({}, {})
        self._state: tuple[int, int] | None = None
        self._looked_at_s: float | None = None

    async def signing_key(self, key_id: str) -> SigningKey | None:
        """See `Operators`. Raises TimeoutError, or what asyncpg raises."""
        return (await self._now()).signing.get(key_id)

    async def operator(self, operator: str) -> Operator | None:
        """See `Operators`. Raises TimeoutError, or what asyncpg raises."""
        return (await self._now()).operators.get(operator)

    async def all(self) -> tuple[Operator, ...]:
        """See `Operators`. Raises TimeoutError, or what asyncpg raises."""
        return tuple((await self._now()).operators.values())

    async def _now(self) -> _Snapshot:
        asked_at_s = self._clock()
        if self._is_fresh(asked_at_s):
            return self._known
        async with self._lock:
            # Somebody may have looked meanwhile, after this was asked.
            if not self._is_fresh(asked_at_s):
                began_s = self._clock()
                await bounded_call(self._pool, _READ_WITHIN_S, self._look)
                self._looked_at_s = began_s
            return self._known

    def _is_fresh(self, asked_at_s: float) -> bool:
        return self._looked_at_s is not None and asked_at_s - self._looked_at_s < self._fresh_s

    async def _look(self, connection: Connection) -> None:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            row: Any = await connection.fetchrow(_STATE)
            state = (row[0], row[1])
            if state != self._state:
                self._known = await self._tables.all_of(connection)
                self._state = state


def _operator(row: asyncpg.Record) -> Operator:
    terms: Terms = _TERMS.decode(json.loads(row["terms"]))
    return Operator(
        row["operator"],
        row["environment"],
        row["wallet"],
        terms,
        registered_at=row["registered_at"],
        version=row["version"],
    )


def _key(row: asyncpg.Record) -> Key:
    return Key(
        row["key_id"],
        row["algorithm"],
        row["fingerprint"],
        row["public_key"],
        row["added_at"],
        row["revoked_at"],
    )


def _text(terms: Terms) -> str:
    return json.dumps(_TERMS.encode(terms), ensure_ascii=False)


def _place(key_id: str) -> str:
    return f"operator-key-{key_id}"
