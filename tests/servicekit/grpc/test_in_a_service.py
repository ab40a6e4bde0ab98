"""The server as a stage of a service, its settings from the environment, the log's exceptions at the edge."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from grpc_health.v1 import health_pb2

from eventstore import errors as log
from eventstore.events import Expect
from servicekit.grpc import (
    LOG_ERRORS,
    Actor,
    ActorKind,
    GrpcSettings,
    ServerSettings,
    SigningSettings,
    acting_as,
    by,
    current_call,
    failure_of,
    open_channel,
    start_grpc,
)
from servicekit.grpc.errors import call_error
from servicekit.health import Check, NotReady
from servicekit.lifecycle import Service, StartRefused, WorkEnded
from servicekit.settings import ServiceSettings, WrongSettings, load_settings, shown
from tests.servicekit.grpc.conftest import WAIT_S, serve_echo
from tests.servicekit.grpc.echo import ECHO, Echo, EchoStub, Text
from tests.servicekit.grpc.keys import pem, public_base64

Health = health_pb2.HealthCheckResponse
QUICK = ServerSettings(grace_s=0.05)


@contextlib.asynccontextmanager
async def running(main: Any) -> AsyncIterator[Service[Any]]:
    """A service that has started, and is stopped in the end."""
    service: Service[Any] = Service("echo", ServiceSettings(instance="test"))
    try:
        await service.begin(main)
        yield service
    finally:
        await service.stop(WAIT_S)


async def test_its_health_is_the_services_readiness() -> None:
    problem = "the database is away"
    well = False

    async def database() -> None:
        if not well:
            raise NotReady(problem)

    async def main(service: Service[Any]) -> None:
        service.readiness.add(Check("database", database))
        servers.append(await start_grpc(service, QUICK, [Echo().exposed()]))

    servers: list[Any] = []
    async with running(main) as service:
        channel = open_channel(servers[0].address, audience="echo", services=[ECHO])
        watch: Any = channel.unary_stream(
            "/grpc.health.v1.Health/Watch",
            health_pb2.HealthCheckRequest.SerializeToString,
            Health.FromString,
        )
        states = watch(health_pb2.HealthCheckRequest(), timeout=WAIT_S)
        assert (await states.read()).status == Health.NOT_SERVING
        well = True
        assert (await states.read()).status == Health.SERVING
        service.ask_to_stop()
        await service.announce_stop()
        assert (await states.read()).status == Health.NOT_SERVING
        await channel.close()
    assert service.failed_to_stop == ()


async def test_a_server_that_ends_by_itself_ends_the_service() -> None:
    async def main(service: Service[Any]) -> None:
        servers.append(await start_grpc(service, QUICK, [Echo().exposed()]))

    servers: list[Any] = []
    async with running(main) as service:
        await servers[0]._server.stop(None)
        await asyncio.wait_for(service.until_stop_wanted(), WAIT_S)
        assert isinstance(service.failure, WorkEnded)


async def test_a_port_that_is_taken_refuses_the_start() -> None:
    async with serve_echo() as served:
        taken = ServerSettings(port=served.server.port)

        async def main(service: Service[Any]) -> None:
            await start_grpc(service, taken, [Echo().exposed()])

        service: Service[Any] = Service("echo", ServiceSettings(instance="test"))
        with pytest.raises(StartRefused, match="cannot listen"):
            await service.begin(main)
        await service.stop(WAIT_S)


async def test_a_stage_that_has_no_time_left_cuts_calls_off() -> None:
    entered = asyncio.Event()

    async def hang(_text: str) -> str:
        entered.set()
        await asyncio.Event().wait()
        return ""

    async def main(service: Service[Any]) -> None:
        servers.append(await start_grpc(service, ServerSettings(grace_s=3_600), [Echo(hang).exposed()]))

    servers: list[Any] = []
    service: Service[Any] = Service("echo", ServiceSettings(instance="test"))
    await service.begin(main)
    async with open_channel(servers[0].address, audience="echo", services=[ECHO]) as channel:
        call = asyncio.ensure_future(EchoStub(channel).Once(Text(value="x"), timeout=3_600))
        await asyncio.wait_for(entered.wait(), WAIT_S)
        await asyncio.wait_for(service.stop(0.2), WAIT_S)
        with pytest.raises(grpc.aio.AioRpcError):
            await asyncio.wait_for(call, WAIT_S)
    assert service.failed_to_stop == ("grpc",)


class AllSettings(ServiceSettings, GrpcSettings, SigningSettings):
    """A service that does everything."""


async def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    key = Ed25519PrivateKey.generate()
    secret = pem(key).decode()
    for name, value in {
        "GRPC__PORT": "0",
        "GRPC__MAX_CALLS": "7",
        "CALLS__DEFAULT_TIMEOUT_S": "3.5",
        "TRUSTED_KEYS": f"gateway-1:player+staff:{public_base64(key)}",
        "SIGNING_KEY_ID": "gateway-1",
        "SIGNING_KEY": secret,
    }.items():
        monkeypatch.setenv(f"UPCARD_{name}", value)
    settings = load_settings(AllSettings)
    assert (settings.grpc.max_calls, settings.calls.default_timeout_s) == (7, 3.5)
    assert secret.splitlines()[1] not in str(shown(settings)) + repr(settings)
    asked: list[str] = []

    async def note(text: str) -> str:
        call = current_call()
        assert call is not None
        asked.append(call.asker)
        return text

    echo = Echo(note)
    async with serve_echo(
        echo,
        settings=settings.grpc,
        client=settings.calls,
        exposed=echo.exposed(Write=by(ActorKind.PLAYER)),
        verifier=settings.verifier("echo"),
        signer=settings.signer(),
    ) as served:
        with acting_as(Actor(ActorKind.PLAYER, "p1")):
            await served.stub.Write(Text(value="x"))
        await served.stub.Once(Text(value="x"))
        with acting_as(Actor(ActorKind.DEALER, "d1")), pytest.raises(grpc.aio.AioRpcError) as caught:
            await served.stub.Once(Text(value="x"))
    assert failure_of(caught.value).reason == "call_context_invalid"
    assert asked == ["player:p1", "service:"]


def test_a_signing_key_may_be_one_line_of_base64(monkeypatch: pytest.MonkeyPatch) -> None:
    key = pem(Ed25519PrivateKey.generate())
    monkeypatch.setenv("UPCARD_SIGNING_KEY_ID", "k")
    found = []
    for written in (key.decode(), base64.b64encode(key).decode()):
        monkeypatch.setenv("UPCARD_SIGNING_KEY", written)
        found.append(load_settings(AllSettings).signing_key.get_secret_value())
    assert [one.strip() for one in found] == [key.decode().strip()] * 2


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("GRPC__HOST", "0.0.0.0", "can be reached from other machines"),  # noqa: S104 - it is refused
        ("GRPC__PORT", "70000", "UPCARD_GRPC__PORT is '70000', but it has to be at most 65535"),
        ("GRPC__TLS__KEY_FILE", "k", "belong together"),
        ("CALLS__FIRST_BACKOFF_S", "0", "at least 0.01"),
        ("TRUSTED_KEYS", "a", "each key has to be id:kinds:key"),
        ("TRUSTED_KEYS", "a:system:AAAA", "the kinds are player, dealer, staff, platform"),
        ("TRUSTED_KEYS", "a:player:!", "not base64"),
        ("SIGNING_KEY_ID", "two words", "UPCARD_SIGNING_KEY_ID"),
        ("SIGNING_KEY", "not-a-key", "private key in PEM"),
        ("SIGNING_KEY", "bm90LWEta2V5", "private key in PEM"),
    ],
)
def test_a_wrong_setting_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv("UPCARD_SIGNING_KEY_ID", "k")
    monkeypatch.setenv("UPCARD_SIGNING_KEY", pem(Ed25519PrivateKey.generate()).decode())
    monkeypatch.setenv(f"UPCARD_{name}", value)
    with pytest.raises(WrongSettings) as caught:
        load_settings(AllSettings)
    (problem,) = caught.value.problems
    assert sentence in problem
    assert "not-a-key" not in problem


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (log.VersionConflict("round-t1.7", Expect.NONE, 3), grpc.StatusCode.ABORTED, "version_conflict"),
        (log.Overloaded("full"), grpc.StatusCode.UNAVAILABLE, "overloaded"),
        (log.OutcomeUnknown([], "lost"), grpc.StatusCode.UNAVAILABLE, "outcome_unknown"),
        (log.DeadlineExceeded("late"), grpc.StatusCode.DEADLINE_EXCEEDED, "deadline_exceeded"),
        (log.HistoryDetached("old"), grpc.StatusCode.OUT_OF_RANGE, "history_detached"),
        (log.LogBroken("gap"), grpc.StatusCode.DATA_LOSS, "log_broken"),
    ],
)
def test_what_the_logs_exceptions_mean(error: Exception, code: grpc.StatusCode, reason: str) -> None:
    meant = call_error(error, LOG_ERRORS)
    assert meant is not None
    assert (meant.code, meant.reason) == (code, reason)
    assert str(error) not in meant.message


def test_a_mistake_of_the_service_itself_stays_unexpected() -> None:
    assert call_error(log.InvalidAppend("too long"), LOG_ERRORS) is None
    assert call_error(log.UnknownKey("k9"), LOG_ERRORS) is None
