"""Members of staff who are signed in, for tests of pages.

async with signed_in(world, "shift_manager") as staff:
    answer = await staff.client.get("/staff/floor")
    answer = await staff.post("/staff/floor/t1/close", {"reason": "the end of the day"})
"""

from __future__ import annotations

import contextlib
import datetime as dt
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import httpx

from tests.gateway.world import BASE_URL, World
from upcard_gateway.adapters.postgres.staff import PostgresStaff
from upcard_gateway.adapters.postgres.staff_sessions import PostgresStaffSessions
from upcard_gateway.app.staff import StaffMember
from upcard_gateway.app.staff_admin import new_staff_id
from upcard_gateway.app.staff_sessions import NewSession
from upcard_gateway.app.staff_signing_in import new_session_id, token_hash
from upcard_gateway.domain.staff import Role
from upcard_gateway.entrypoints.pages.frame import Member


@dataclass
class SignedIn:
    """A member's browser, more or less."""

    client: httpx.AsyncClient
    member: Member
    csrf: str
    token: str

    async def post(
        self, path: str, form: Mapping[str, str] | None = None, *, request_id: str | None = None
    ) -> httpx.Response:
        """Post a form of a page of ours; redirects are not followed."""
        fields = {"csrf": self.csrf, "request_id": request_id or secrets.token_urlsafe(16), **(form or {})}
        return await self.client.post(path, data=fields)

    async def call(self, path: str, body: object) -> httpx.Response:
        """Make a call of the API of pages with JSON."""
        return await self.client.post(path, json=body, headers={"Upcard-Csrf": self.csrf})


async def member_of(world: World, *roles: Role, name: str = "Sam Doe") -> StaffMember:
    """Add a member, who has no password."""
    added = StaffMember(
        new_staff_id(),
        frozenset(roles),
        world.clock(),
        sign_in_name=f"staff-{secrets.token_hex(4)}",
        name=name,
    )
    async with world.pool.acquire() as connection, connection.transaction():
        assert await PostgresStaff(world.edge.settings.keyring()).add(connection, added)
    return added


@contextlib.asynccontextmanager
async def signed_in(
    world: World, *roles: Role, name: str = "Sam Doe", address: str = "198.51.100.9"
) -> AsyncIterator[SignedIn]:
    """A new member with these roles, signed in."""
    added = await member_of(world, *roles, name=name)
    token, session = secrets.token_urlsafe(32), new_session_id()
    now = world.clock()
    begun = NewSession(
        session=session,
        staff=added.staff,
        token_hash=token_hash(token),
        enrolling=False,
        begun_at=now,
        ends_by=now + dt.timedelta(hours=12),
        address=address,
        browser="tests",
    )
    async with world.pool.acquire() as connection:
        await PostgresStaffSessions().begin(connection, begun)
    secure = world.edge.settings.public_url.startswith("https://")
    cookie = "__Host-upcard-staff" if secure else "upcard-staff"
    transport = httpx.ASGITransport(world.app, client=(address, 40_000))
    async with httpx.AsyncClient(
        transport=transport,
        base_url=BASE_URL,
        headers={"Cookie": f"{cookie}={token}", "Sec-Fetch-Site": "same-origin"},
        timeout=60.0,
    ) as client:
        answer = await client.get("/staff/api/me")
        assert answer.status_code == 200, answer.text
        yield SignedIn(
            client, Member(added.staff, name, frozenset(roles), session), answer.json()["csrf"], token
        )
