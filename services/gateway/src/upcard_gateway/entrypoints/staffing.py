"""What pages and calls about staff stand on, made once for an app."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from upcard_gateway.adapters.metrics import unknown_names
from upcard_gateway.adapters.passwords import Passwords
from upcard_gateway.adapters.postgres.staff import PostgresStaff
from upcard_gateway.adapters.postgres.staff_door import Idle, PostgresDoor
from upcard_gateway.adapters.postgres.staff_sessions import PostgresStaffSessions
from upcard_gateway.adapters.postgres.staff_tries import PostgresTries
from upcard_gateway.adapters.second_factor import Totp
from upcard_gateway.app.staff import StaffLog
from upcard_gateway.app.staff_admin import StaffAdministration
from upcard_gateway.app.staff_proofs import Checks
from upcard_gateway.app.staff_signing_in import SigningIn, Times
from upcard_gateway.entrypoints.http.edge import Edge

__all__ = ["Staffing", "staffing_on"]

_ISSUER = "Upcard"


@dataclass(frozen=True, slots=True)
class Staffing:
    """The use cases of staff, and what they share."""

    log: StaffLog
    tables: PostgresStaff
    sessions: PostgresStaffSessions
    door: PostgresDoor
    signing_in: SigningIn
    admin: StaffAdministration
    totp: Totp


def staffing_on(edge: Edge) -> Staffing:
    """Over an edge's database, with its settings."""
    settings = edge.settings
    log = StaffLog(edge.pool, edge.store.announce, edge.now)
    tables = PostgresStaff(settings.keyring())
    sessions = PostgresStaffSessions()

    def passwords() -> Passwords:
        return Passwords(
            memory_kib=settings.staff_password_memory_kib,
            passes=settings.staff_password_passes,
            at_a_time=settings.staff_hashing_max,
        )

    checks = Checks(signing_in=passwords(), unlocking=passwords())
    totp = Totp(_ISSUER)
    times = Times(settings.staff_session_longest_s, settings.staff_sessions_max)
    key = hmac.digest(
        settings.raw_secret_keys()[settings.secret_key], b"upcard: staff's one-time passwords", hashlib.sha256
    )
    return Staffing(
        log,
        tables,
        sessions,
        PostgresDoor(log, Idle(settings.staff_dealer_idle_s, settings.staff_idle_s)),
        SigningIn(log, tables, sessions, PostgresTries(), checks, totp, times, unknown_names.inc),
        StaffAdministration(tables, sessions, checks.signing_in, edge.now, key, settings.staff_one_time_s),
        totp,
    )
