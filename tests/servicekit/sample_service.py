"""A service to treat badly, run by the tests as a program of its own.

`SAMPLE` in its environment is JSON: `{"stages": [{"name", "start", "stop"}, …], "main": …}`.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging as stdlib
import os
import threading
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import structlog
from pydantic import Field, SecretStr

from servicekit.broker import BrokerProbe
from servicekit.clock import measure_skew, require_clock
from servicekit.database import event_log, start_database
from servicekit.lifecycle import Service, StartRefused, run_service
from servicekit.settings import BrokerSettings, DatabaseSettings, ServiceSettings
from servicekit.tracing import span

log = structlog.get_logger("sample")
HELD: list[Any] = []


class SampleSettings(ServiceSettings):
    """What every service has, and a secret."""

    sample_password: SecretStr = Field(default=SecretStr("nothing"), description="any word")


class StoreSettings(SampleSettings, DatabaseSettings, BrokerSettings):
    """A service with a database and a broker."""


async def do(what: str, stage: str) -> None:
    """Behave in one of the ways that a stage may behave."""
    log.info("now", doing=what, stage=stage)
    await WAYS[what](stage)


async def ok(_: str) -> None:
    """Do what a stage should."""


async def slow(_: str) -> None:
    """Take a moment."""
    await asyncio.sleep(0.2)


async def hang(_: str) -> None:
    """Never end, unless cancelled."""
    await asyncio.Event().wait()


async def block(_: str) -> None:
    """Stop the event loop."""
    time.sleep(3_600)  # noqa: ASYNC251 - it is what is to be seen


async def turn(stage: str) -> None:
    """Make something else of being cancelled."""
    try:
        await hang(stage)
    except asyncio.CancelledError:
        raise RuntimeError("what was that") from None


async def turn_down(stage: str) -> None:
    """Likewise, and politely."""
    try:
        await hang(stage)
    except asyncio.CancelledError:
        raise StartRefused("not like that") from None


async def swallow(_: str) -> None:
    """Go on when cancelled."""
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


def raises(make: Callable[[str], BaseException]) -> Callable[[str], Awaitable[None]]:
    """A way that ends with an exception."""

    async def way(stage: str) -> None:
        raise make(stage)

    return way


WAYS: dict[str, Callable[[str], Awaitable[None]]] = {
    "ok": ok,
    "slow": slow,
    "hang": hang,
    "block": block,
    "swallow": swallow,
    "turn": turn,
    "turn down": turn_down,
    "fail": raises(lambda stage: RuntimeError(f"{stage} failed")),
    "cancelled": raises(lambda _: asyncio.CancelledError()),
    "refuse": raises(lambda stage: StartRefused(f"{stage} will not")),
    "exit": raises(lambda _: SystemExit(7)),
    "timeout": raises(lambda _: TimeoutError()),
}


@contextlib.asynccontextmanager
async def stage_of(description: dict[str, Any]) -> AsyncIterator[None]:
    """One stage as it was described."""
    await do(description.get("start", "ok"), description["name"])
    try:
        yield
    finally:
        await do(description.get("stop", "ok"), description["name"])


async def main(service: Service[Any]) -> None:
    """Start what was described."""
    plan = json.loads(os.environ["SAMPLE"])
    if off_s := plan.get("clock_off_s"):
        now = time.time
        for one in (measure_skew, require_clock):
            one.__kwdefaults__ = {"wall": lambda: now() + off_s}
    for description in plan.get("stages", []):
        limits = ("start_within_s", "stop_within_s")
        within = {name: description[name] for name in limits if name in description}
        if "work" in description:
            await service.run(description["name"], work_of(description), **within)
        else:
            await service.start(description["name"], stage_of(description), **within)
    await start_servers(service, plan)
    if plan.get("itself") == "ask_to_stop":
        service.ask_to_stop()
    elif plan.get("itself") == "fail":
        service.fail(RuntimeError("enough"))
    for what in plan.get("when_stopping", []):
        service.when_stopping(functools.partial(do, what, "announcing"))
    if plan.get("leak"):
        leak(service.settings)
    if plan.get("spans"):
        with span("sample span"):
            log.info("in a span")


async def start_servers(service: Service[Any], plan: dict[str, Any]) -> None:
    """Start what needs servers."""
    if plan.get("database"):
        pool = await start_database(service, service.settings, [event_log()], patience_s=plan["database"])
        log.info("a pool", connections=pool.get_size())
        if plan.get("hold"):
            HELD.append(await pool.acquire())
            log.info("now", doing="holding")
    if "topics" in plan:
        probe = BrokerProbe(service.settings, plan["topics"], client_id=service.instance)
        service.readiness.add((await service.start("broker", probe)).as_check())


def work_of(description: dict[str, Any]) -> Any:
    async def work(ending: asyncio.Event) -> None:
        if description["work"] == "until asked":
            await ending.wait()
            log.info("now", doing="ending", stage=description["name"])
        else:
            await do(description["work"], description["name"])

    return work


def leak(settings: Any) -> None:
    """Do with the secrets everything that nobody should."""
    secret = settings.sample_password.get_secret_value()
    dsn = settings.dsn.get_secret_value()
    said = f"the password is {secret}"
    log.info(said, password=secret, harmless=secret, nested={"a": [secret]}, settings=settings)
    log.warning("an address", address=dsn, quoted=repr(secret), encoded=secret.encode())
    stdlib.getLogger("library").warning("connecting to %s", dsn, extra={"header": f"Bearer {secret}"})
    warnings.warn(f"deprecated: {secret}", DeprecationWarning, stacklevel=1)
    attributes = {"address": dsn, "sample.password": secret}
    with contextlib.suppress(RuntimeError), span("leaking", attributes=attributes):
        raise RuntimeError(secret)
    thread = threading.Thread(target=fail_with, args=(secret,))
    thread.start()
    thread.join()
    asyncio.get_running_loop().call_exception_handler({"message": said, "exception": RuntimeError(dsn)})
    fail_with(f"at last: {secret} {dsn}")


def fail_with(words: str) -> None:
    """Fail."""
    raise RuntimeError(words)


if __name__ == "__main__":
    kind = StoreSettings if json.loads(os.environ["SAMPLE"]).get("store") else SampleSettings
    run_service(main, kind, name="sample", version="1.2.3")
