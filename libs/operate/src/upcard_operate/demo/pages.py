"""A member of staff at the pages, without a browser: signs in as people do, fills in forms, makes calls."""

from __future__ import annotations

import base64
import hashlib
import hmac
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import TracebackType
from typing import Any, Final, Self

import httpx

from upcard_operate.demo.house import DemoFailed

_TIMEOUT_S: Final = 60.0
_TOTP_S: Final = 30
_CSRF: Final = "Upcard-Csrf"


class Forms(HTMLParser):
    """The fields of a page's forms that have a value already, and texts of elements with an id."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.fields: dict[str, dict[str, str]] = {}
        """Fields by the path that a form posts to."""
        self.texts: dict[str, str] = {}
        self._form: dict[str, str] = {}
        self._id: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a form, or keep a field of it."""
        found = dict(attrs)
        self._id = found.get("id")
        if tag == "form":
            self._form = self.fields.setdefault(found.get("action") or "", {})
        elif tag == "input" and found.get("name"):
            self._form[str(found["name"])] = found.get("value") or ""

    def handle_data(self, data: str) -> None:
        """Keep a text that stands directly in an element with an id."""
        if self._id is not None and data.strip():
            self.texts.setdefault(self._id, data.strip())

    def handle_endtag(self, tag: str) -> None:
        """What follows is no text of that element."""
        del tag
        self._id = None


def totp(secret: str, now_s: float) -> str:
    """The six digits of a base32 secret at a time (RFC 6238: SHA-1, steps of 30 s)."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.digest(key, struct.pack(">Q", int(now_s) // _TOTP_S), hashlib.sha1)
    start = digest[-1] & 0x0F
    (number,) = struct.unpack(">I", digest[start : start + 4])
    return f"{(number & 0x7FFFFFFF) % 1_000_000:06d}"


@dataclass(slots=True)
class SignIn:
    """What a member of staff signs in with; the password is for demonstrations and tests alone."""

    name: str
    password: str = field(repr=False)
    secret: str = field(default="", repr=False)
    """Of the second factor, base32; empty: not enrolled yet."""
    what: str = ""
    """What the person may do, in words."""


class Staff:
    """A member of staff at one gateway. An async context manager."""

    def __init__(self, url: str) -> None:
        self.client = httpx.AsyncClient(base_url=url, timeout=_TIMEOUT_S, follow_redirects=False)
        self._csrf = ""

    async def __aenter__(self) -> Self:
        await self.client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.client.__aexit__(kind, error, trace)

    async def page(self, path: str) -> str:
        """A page as HTML. Raises DemoFailed: it leads elsewhere, or is refused."""
        answer = await self.client.get(path)
        if answer.status_code != 200:
            where = answer.headers.get("location", "")
            raise DemoFailed(f"the page {path} answered {answer.status_code} {where}")
        return answer.text

    async def submit(self, path: str, action: str, given: Mapping[str, str]) -> httpx.Response:
        """Fill in and post the form of a page that posts to `action`. Raises DemoFailed: there is none."""
        forms = Forms(await self.page(path)).fields
        if action not in forms:
            raise DemoFailed(f"the page {path} has no form for {action}, only for {sorted(forms)}")
        return await self.client.post(action, data={**forms[action], **given})

    async def call(self, path: str) -> dict[str, Any]:
        """Ask a JSON call of the pages. Raises DemoFailed."""
        return _answer(path, await self.client.get(path))

    async def do(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """Make a JSON call that changes something. Raises DemoFailed."""
        if not self._csrf:
            self._csrf = (await self.call("/staff/api/me"))["csrf"]
        return _answer(path, await self.client.post(path, json=body, headers={_CSRF: self._csrf}))


def _answer(path: str, answer: httpx.Response) -> dict[str, Any]:
    if answer.status_code != 200:
        raise DemoFailed(f"{path} answered {answer.status_code}: {answer.text[:300]}")
    found: dict[str, Any] = answer.json()
    return found


def now_s() -> float:
    """Seconds of the clock by which second factors are counted."""
    return time.time()
