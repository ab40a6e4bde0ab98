"""What people do at the sign-in, as their browsers do it."""

from __future__ import annotations

import contextlib
import datetime as dt
import html
import re
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import httpx
import pyotp

from eventstore.postgres import append_in_transaction
from tests.gateway.world import BASE_URL, World
from upcard_gateway.app.recording import decode
from upcard_gateway.app.staff_admin import Done, NewStaff, new_staff_id
from upcard_gateway.domain.staff import EVENT_TYPES, Role, StaffEvent, staff_stream
from upcard_gateway.entrypoints.staffing import Staffing

PASSWORD = "a sentence that nobody else writes"  # noqa: S105 - of people who are not there
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')


@dataclass
class Browser:
    """A browser at some address; it has the cookies it was given, and follows nothing by itself."""

    world: World
    client: httpx.AsyncClient
    csrf: str = field(default="", repr=False)

    async def get(self, path: str) -> httpx.Response:
        """Open a page; its forms can be posted then."""
        answer = await self.client.get(path)
        found = _CSRF.search(answer.text)
        if found is not None:
            self.csrf = found.group(1)
        return answer

    async def post(self, path: str, **fields: str) -> httpx.Response:
        """Post a form of the page that was opened last."""
        form = {"csrf": self.csrf, "request_id": secrets.token_urlsafe(16), **fields}
        return await self.client.post(path, data=form)

    async def sign_in(self, name: str, password: str, code: str = "") -> httpx.Response:
        """Open the sign-in, fill it in, send it."""
        await self.get("/staff/sign-in")
        return await self.post("/staff/sign-in", name=name, password=password, code=code)


@dataclass
class Person:
    """A member of staff, with what they know and hold."""

    world: World
    staff: str
    sign_in_name: str
    one_time: str
    secret: str = ""
    codes: tuple[str, ...] = ()

    def code(self) -> str:
        """What the authenticator app shows now."""
        return pyotp.TOTP(self.secret).generate_otp(int(self.world.clock().timestamp()) // 30)

    async def enrol(self, browser: Browser, password: str = PASSWORD) -> httpx.Response:
        """Sign in for the first time, choose a password, set the app up."""
        answer = await browser.sign_in(self.sign_in_name, self.one_time)
        assert answer.status_code == 303, answer.text
        assert answer.headers["location"].startswith("/staff/enrol")
        page = await browser.get("/staff/enrol")
        self.secret = between(page.text, '<code id="secret">', "<")
        answer = await browser.post(
            "/staff/enrol", password=password, password_again=password, code=self.code()
        )
        self.codes = tuple(re.findall(r"<li><code>([a-z0-9-]+)</code></li>", answer.text))
        return answer


def between(text: str, before: str, behind: str) -> str:
    """What stands between two texts, as a person reads it."""
    return html.unescape(text.partition(before)[2].partition(behind)[0])


@contextlib.asynccontextmanager
async def browser(world: World, address: str = "198.51.100.20") -> AsyncIterator[Browser]:
    """A browser that was never here."""
    transport = httpx.ASGITransport(world.app, client=(address, 40_000))
    headers = {"Sec-Fetch-Site": "same-origin", "User-Agent": "A browser of tests"}
    async with httpx.AsyncClient(
        transport=transport, base_url=BASE_URL, headers=headers, timeout=60.0
    ) as client:
        yield Browser(world, client)


def staffing(world: World) -> Staffing:
    """The use cases that the world's app has."""
    found: Staffing = world.app.state.pages.staffing
    return found


async def invited(world: World, *roles: Role, name: str = "Sam Doe") -> Person:
    """A new member, with a one-time password."""
    use = staffing(world)
    new = NewStaff(new_staff_id(), f"sam-{secrets.token_hex(4)}", name, frozenset(roles or ("support",)))
    async with world.pool.acquire() as connection, connection.transaction():
        done = await use.admin.add(connection, new, "a test")
        assert isinstance(done, Done), done
        await append_in_transaction(connection, use.log.appends("staff:s1", done.noted))
    return Person(world, new.staff, new.sign_in_name, use.admin.one_time_password(done.member))


async def enrolled(world: World, *roles: Role, name: str = "Sam Doe") -> Person:
    """A member who has enrolled; nobody is signed in, and the code of then is used."""
    person = await invited(world, *roles, name=name)
    async with browser(world, "198.51.100.250") as first:
        answer = await person.enrol(first)
        assert answer.status_code == 200, answer.text
        await first.get("/staff/me")
        await first.post("/staff/sign-out")
    world.clock.move(60)
    return person


async def events_of(world: World, staff: str) -> Sequence[StaffEvent]:
    """What happened to a member."""
    page = await world.edge.store.read_stream(staff_stream(staff))
    return [decode(EVENT_TYPES, recorded) for recorded in page]


def hours(number: float) -> float:
    """So many hours, in seconds."""
    return dt.timedelta(hours=number).total_seconds()
