"""Members of staff in the gateway's tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import asyncpg

from eventstore.postgres import Connection
from eventstore.private import Keyring
from upcard_gateway.app.staff import Secrets, StaffMember

__all__ = ["PostgresStaff"]

_SELECT: Final = """
SELECT s.staff, s.roles, s.added_at, s.enrolled_at, s.disabled_at, s.resets, p.sign_in_name, p.name
  FROM gateway.staff AS s LEFT JOIN gateway.staff_people AS p USING (staff)
"""
_ADD: Final = """
INSERT INTO gateway.staff (staff, roles, added_at, enrolled_at, disabled_at, resets)
VALUES ($1, $2, $3, $4, $5, $6)
"""
_ADD_NAMES: Final = """
INSERT INTO gateway.staff_people (staff, sign_in_name, name) VALUES ($1, $2, $3)
ON CONFLICT (sign_in_name) DO NOTHING
"""
_STORE: Final = """
UPDATE gateway.staff SET roles = $2, enrolled_at = $3, disabled_at = $4, resets = $5 WHERE staff = $1
"""
_LOCK_ADMINS: Final = """
SELECT staff, enrolled_at FROM gateway.staff
 WHERE 'admin' = ANY (roles) AND disabled_at IS NULL ORDER BY staff FOR UPDATE
"""
_SECRETS: Final = """
SELECT password_hash, one_time_until, encrypted_with, factor, last_step
  FROM gateway.staff_secrets WHERE staff = $1
"""
_KEEP_SECRETS: Final = """
INSERT INTO gateway.staff_secrets
       (staff, password_hash, one_time_until, encrypted_with, factor, last_step)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (staff) DO UPDATE
   SET password_hash = excluded.password_hash, one_time_until = excluded.one_time_until,
       encrypted_with = excluded.encrypted_with, factor = excluded.factor,
       last_step = excluded.last_step
"""
_USE_STEP: Final = "UPDATE gateway.staff_secrets SET last_step = $2 WHERE staff = $1 AND last_step < $2"
_FORGET_CODES: Final = "DELETE FROM gateway.staff_recovery_codes WHERE staff = $1"
_KEEP_CODES: Final = """
INSERT INTO gateway.staff_recovery_codes (staff, code_hash) SELECT $1, unnest($2::bytea[])
"""
_USE_CODE: Final = "DELETE FROM gateway.staff_recovery_codes WHERE staff = $1 AND code_hash = $2"
_CODES_LEFT: Final = "SELECT count(*) FROM gateway.staff_recovery_codes WHERE staff = $1"
_FORGET_NAMES: Final = "DELETE FROM gateway.staff_people WHERE staff = $1"
_FORGET_SECRETS: Final = "DELETE FROM gateway.staff_secrets WHERE staff = $1"
_FORGET_PLACES: Final = "UPDATE gateway.staff_sessions SET address = '', browser = '' WHERE staff = $1"


class _NameTaken(Exception):
    """Somebody else took the sign-in name meanwhile."""


class PostgresStaff:
    """`StaffTables` on the tables. The keyring encrypts second factors, each for its member alone."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    async def add(self, connection: Connection, member: StaffMember) -> bool:
        """See `StaffTables`."""
        try:
            async with connection.transaction():  # a savepoint: what is undone is this alone
                await _add(connection, member)
        except _NameTaken:
            return False
        return True

    async def find(self, connection: Connection, staff: str) -> StaffMember | None:
        """See `StaffTables`."""
        row = await connection.fetchrow(f"{_SELECT} WHERE s.staff = $1", staff)
        return None if row is None else _member(row)

    async def lock(self, connection: Connection, staff: str) -> StaffMember | None:
        """See `StaffTables`."""
        row = await connection.fetchrow(f"{_SELECT} WHERE s.staff = $1 FOR UPDATE OF s", staff)
        return None if row is None else _member(row)

    async def named(self, connection: Connection, sign_in_name: str) -> StaffMember | None:
        """See `StaffTables`."""
        row = await connection.fetchrow(f"{_SELECT} WHERE p.sign_in_name = $1", sign_in_name)
        return None if row is None else _member(row)

    async def page(self, connection: Connection, after: str, limit: int) -> Sequence[StaffMember]:
        """See `StaffTables`."""
        rows = await connection.fetch(f"{_SELECT} WHERE s.staff > $1 ORDER BY s.staff LIMIT $2", after, limit)
        return [_member(row) for row in rows]

    async def lock_admins(self, connection: Connection) -> frozenset[str]:
        """See `StaffTables`."""
        rows = await connection.fetch(_LOCK_ADMINS)
        can = frozenset(row["staff"] for row in rows if row["enrolled_at"] is not None)
        return can or frozenset(row["staff"] for row in rows)

    async def store(self, connection: Connection, member: StaffMember) -> None:
        """See `StaffTables`."""
        await connection.execute(
            _STORE,
            member.staff,
            sorted(member.roles),
            member.enrolled_at,
            member.disabled_at,
            member.resets,
        )

    async def erase_names(self, connection: Connection, staff: str) -> None:
        """See `StaffTables`."""
        for statement in (_FORGET_CODES, _FORGET_SECRETS, _FORGET_NAMES, _FORGET_PLACES):
            await connection.execute(statement, staff)

    async def secrets(self, connection: Connection, staff: str) -> Secrets | None:
        """See `StaffTables`. Raises UnknownKey, PrivatePartUnreadable."""
        row = await connection.fetchrow(_SECRETS, staff)
        if row is None:
            return None
        factor = row["factor"]
        if factor is not None:
            factor = self._keyring.decrypt(row["encrypted_with"], factor, _place(staff), 1)
        return Secrets(row["password_hash"], row["one_time_until"], factor, row["last_step"])

    async def keep_secrets(self, connection: Connection, staff: str, secrets: Secrets) -> None:
        """See `StaffTables`."""
        key_id, sealed = None, None
        if secrets.factor is not None:
            key_id, sealed = self._keyring.encrypt(secrets.factor, _place(staff), 1)
        await connection.execute(
            _KEEP_SECRETS,
            staff,
            secrets.password_hash,
            secrets.one_time_until,
            key_id,
            sealed,
            secrets.last_step,
        )
        await connection.execute(_FORGET_CODES, staff)

    async def use_step(self, connection: Connection, staff: str, step: int) -> bool:
        """See `StaffTables`."""
        return await connection.execute(_USE_STEP, staff, step) == "UPDATE 1"

    async def keep_recovery(self, connection: Connection, staff: str, hashes: Sequence[bytes]) -> None:
        """See `StaffTables`."""
        await connection.execute(_FORGET_CODES, staff)
        await connection.execute(_KEEP_CODES, staff, list(hashes))

    async def use_recovery(self, connection: Connection, staff: str, code_hash: bytes) -> bool:
        """See `StaffTables`."""
        return await connection.execute(_USE_CODE, staff, code_hash) == "DELETE 1"

    async def recovery_left(self, connection: Connection, staff: str) -> int:
        """See `StaffTables`."""
        return int(await connection.fetchval(_CODES_LEFT, staff))


async def _add(connection: Connection, member: StaffMember) -> None:
    await connection.execute(
        _ADD,
        member.staff,
        sorted(member.roles),
        member.added_at,
        member.enrolled_at,
        member.disabled_at,
        member.resets,
    )
    status = await connection.execute(_ADD_NAMES, member.staff, member.sign_in_name, member.name)
    if status != "INSERT 0 1":
        raise _NameTaken


def _member(row: asyncpg.Record) -> StaffMember:
    return StaffMember(
        row["staff"],
        frozenset(row["roles"]),
        row["added_at"],
        row["enrolled_at"],
        row["disabled_at"],
        row["resets"],
        row["sign_in_name"],
        row["name"],
    )


def _place(staff: str) -> str:
    return f"staff-factor-{staff}"
