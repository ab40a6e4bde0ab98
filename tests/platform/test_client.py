from __future__ import annotations

import httpx
import pytest

from upcard_platform.client import HmacSigner, Platform, every, new_request_id

SIGNER = HmacSigner("key-1", bytes(32))
OPERATOR = {
    "operator": "casino-1",
    "name": "Casino One",
    "environment": "live",
    "wallet": "transfer",
    "currencies": [{"currency": "EUR"}],
    "addresses": [],
    "rate_per_s": 50,
    "rate_burst": 100,
    "webhooks": [],
    "signed_with": "key-1",
    "keys": [],
    "time": "2026-01-31T12:00:00.000000Z",
    "new_one": "a field that this client does not know yet",
}


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000",
        "http://127.0.0.1:8000/",
        "http://localhost",
        "http://[::1]:1",
        "https://upcard.example",
    ],
)
async def test_an_address_that_is_taken(url: str) -> None:
    requests: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json=OPERATOR)

    async with Platform(url, SIGNER, transport=httpx.MockTransport(handle)) as platform:
        assert (await platform.operator()).operator == "casino-1"
    assert requests[0].url.raw_path == b"/v1/operator"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://upcard.example", "this machine alone"),
        ("http://127.0.0.1.example", "this machine alone"),
        ("https://upcard.example/api", "no path"),
        ("https://upcard.example?x=1", "no path"),
        ("https://name:word@upcard.example", "without name and password"),
        ("upcard.example", "https://"),
        ("ftp://upcard.example", "https://"),
    ],
)
def test_an_address_that_would_go_wrong_is_refused(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Platform(url, SIGNER)


async def test_every_page_is_gone_through_once() -> None:
    pages = {None: ([1, 2], "b"), "b": ([], "c"), "c": ([3], None)}
    asked = []

    class Page:
        def __init__(self, items: list[int], following: str | None) -> None:
            self.items, self.next = items, following

    async def page(after: str | None) -> Page:
        asked.append(after)
        return Page(*pages[after])

    assert [item async for item in every(page)] == [1, 2, 3]
    assert asked == [None, "b", "c"]


def test_request_ids_are_new_and_fit() -> None:
    made = {new_request_id() for _ in range(100)}
    assert len(made) == 100
    assert all(len(one) <= 64 for one in made)


def test_no_secret_shows() -> None:
    platform = Platform("https://upcard.example", HmacSigner("key-1", b"this must not be seen! " * 2))
    assert "must not" not in repr(vars(platform)) + repr(vars(platform._calls))
