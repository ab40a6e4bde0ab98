"""The client against the gateway's own routes: each signed route has a method, and each method a route."""

from __future__ import annotations

import datetime as dt
import inspect
import json
import re
from collections.abc import AsyncIterator, Awaitable
from typing import Any, get_type_hints

import httpx
import pytest
from pydantic import BaseModel

from tools.generate_openapi import document
from upcard_platform.client import HmacSigner, Patience, Platform
from upcard_platform.client_areas import Area
from upcard_platform.client_errors import UnreadableAnswer
from upcard_platform.client_records import Day

NOT_FOR_PLATFORMS = {"POST /v1/launch"}
"""What players' pages call."""
ARGUMENTS: dict[Any, Any] = {
    str: "x1",
    dt.date: dt.date(2026, 1, 31),
    dt.datetime: dt.datetime(2026, 1, 31, tzinfo=dt.UTC),
}


def operations() -> dict[str, dict[str, Any]]:
    """What the API documents, by `METHOD /path`."""
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }


def methods_of(platform: Platform) -> list[Any]:
    areas = [one for one in vars(platform).values() if isinstance(one, Area)]
    found = [
        getattr(area, name)
        for area in areas
        for name, value in vars(type(area)).items()
        if inspect.isfunction(value) and not name.startswith("_")
    ]
    return [platform.operator, *found]


def arguments_of(method: Any) -> list[Any]:
    """Something for each parameter that has to be given."""
    hints = get_type_hints(method)
    found = []
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.default is not inspect.Parameter.empty:
            continue
        hint = hints[name]
        if inspect.isclass(hint) and issubclass(hint, BaseModel):
            found.append(hint.model_construct(request_id="r1"))
        else:
            found.append(ARGUMENTS.get(hint, Day(dt.date(2026, 1, 31))))
    return found


async def sent_by(method: Any, requests: list[httpx.Request]) -> httpx.Request:
    answer: Awaitable[Any] | AsyncIterator[str] = method(*arguments_of(method))
    whole = anext(answer) if isinstance(answer, AsyncIterator) else answer
    with pytest.raises(UnreadableAnswer, match="nobody is here"):
        await whole
    return requests.pop()


async def test_every_route_has_a_method_and_every_method_a_route() -> None:
    requests: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(500, text="nobody is here")

    wanted = {name: operation for name, operation in operations().items() if "security" in operation}
    reached = set()
    signer = HmacSigner("key-1", bytes(32))
    transport = httpx.MockTransport(handle)
    async with Platform(
        "http://127.0.0.1", signer, patience=Patience(attempts=1), transport=transport
    ) as platform:
        for method in methods_of(platform):
            request = await sent_by(method, requests)
            name, operation = route_of(request, wanted)
            check_query(request, operation)
            if request.method == "POST":
                assert "request_id" in json.loads(request.content)
            reached.add(name)
    assert reached == set(wanted) - NOT_FOR_PLATFORMS
    assert len(reached) > 30


def route_of(request: httpx.Request, wanted: dict[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    """The route that a request reaches: of several the one with the fewest parameters, as routers choose."""
    fitting = [
        name
        for name in wanted
        if re.fullmatch(
            re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(name)), f"{request.method} {request.url.path}"
        )
    ]
    assert fitting, f"{request.method} {request.url.path} is no route"
    name = min(fitting, key=lambda one: one.count("{"))
    return name, wanted[name]


def check_query(request: httpx.Request, operation: dict[str, Any]) -> None:
    """Every parameter that is sent is one of the route's, and none is missing."""
    described = [one for one in operation.get("parameters", ()) if one["in"] == "query"]
    sent = set(request.url.params.keys())
    assert sent <= {one["name"] for one in described}, request.url
    assert {one["name"] for one in described if one.get("required")} <= sent, request.url
