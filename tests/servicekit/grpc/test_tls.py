from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from pydantic import ValidationError

from servicekit.grpc import (
    Access,
    ClientSettings,
    GrpcServer,
    ServerDidNotStart,
    ServerSettings,
    TlsSettings,
    current_call,
    failure_of,
    for_services,
    open_channel,
)
from servicekit.grpc.tls import caller_of
from tests.servicekit.grpc.conftest import WAIT_S, Served, serve_echo
from tests.servicekit.grpc.echo import ECHO, NAME, Echo, EchoStub, Text
from tests.servicekit.grpc.keys import Authority

HISTORY = "spiffe://upcard/service/history"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def server_settings(tls: TlsSettings, **more: Any) -> ServerSettings:
    return ServerSettings(tls=tls, grace_s=1, **more)


async def read_as(served: Served, tls: TlsSettings | None) -> str:
    """What a client with these files is answered."""
    client = ClientSettings(tls=tls, attempts=1)
    async with open_channel(
        served.server.address, audience="echo", services=[ECHO], settings=client
    ) as channel:
        answer = await EchoStub(channel).Once(Text(value="hello"), timeout=WAIT_S)
    value: str = answer.value
    return value


async def test_the_callers_name_is_in_its_certificate(authority: Authority) -> None:
    callers: list[str | None] = []

    async def note(text: str) -> str:
        call = current_call()
        assert call is not None
        callers.append(call.caller)
        return text

    async with serve_echo(
        Echo(note),
        settings=server_settings(authority.issue("echo")),
        client=ClientSettings(tls=authority.issue("history", HISTORY)),
    ) as served:
        assert await served.read() == "hello"
    assert callers == ["history"]


async def test_a_call_that_is_for_another_service_is_refused(authority: Authority) -> None:
    echo = Echo()
    async with serve_echo(
        echo,
        settings=server_settings(authority.issue("echo")),
        exposed=echo.exposed(for_services("history", "bonus")),
    ) as served:
        assert await read_as(served, authority.issue("history", HISTORY)) == "hello"
        for stranger in (
            authority.issue("gateway", "spiffe://upcard/service/gateway"),
            authority.issue("nobody"),
            authority.issue("two", HISTORY, "spiffe://upcard/service/bonus"),
            authority.issue("other", "spiffe://elsewhere/service/history"),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await read_as(served, stranger)
            assert failure_of(caught.value).reason == "caller_not_allowed"
    assert echo.seen == ["hello"]


async def test_without_a_certificate_nobody_gets_in(authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    others = Authority(tmp_path / "others", "authority")
    async with serve_echo(settings=server_settings(authority.issue("echo"))) as served:
        forged = others.issue("history", HISTORY).model_copy(update={"authorities_file": authority.file})
        for tls in (None, TlsSettings(authorities_file=authority.file), forged):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await read_as(served, tls)
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert served.echo.seen == []


async def test_a_client_does_not_believe_another_server(authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    others = Authority(tmp_path / "others", "authority")
    settings = server_settings(authority.issue("echo"), callers_must_show_certificates=False)
    async with serve_echo(settings=settings) as served:
        with pytest.raises(grpc.aio.AioRpcError):
            await read_as(served, TlsSettings(authorities_file=others.file))
        assert await read_as(served, TlsSettings(authorities_file=authority.file)) == "hello"


async def test_where_certificates_are_not_asked_for_a_named_caller_is_still_needed(
    authority: Authority,
) -> None:
    echo = Echo()
    settings = server_settings(authority.issue("echo"), callers_must_show_certificates=False)
    async with serve_echo(echo, settings=settings, exposed=echo.exposed(for_services("history"))) as served:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await read_as(served, TlsSettings(authorities_file=authority.file))
    assert failure_of(caught.value).code is grpc.StatusCode.PERMISSION_DENIED


async def test_a_renewed_certificate_is_shown_without_a_restart(authority: Authority, tmp_path: Path) -> None:
    tls = authority.issue("echo")
    async with serve_echo(settings=server_settings(tls, callers_must_show_certificates=False)) as served:
        assert await read_as(served, TlsSettings(authorities_file=authority.file)) == "hello"
        (tmp_path / "next").mkdir()
        successor = Authority(tmp_path / "next", "successor")
        new = successor.issue("echo")
        for old_file, new_file in (
            (tls.key_file, new.key_file),
            (tls.certificate_file, new.certificate_file),
        ):
            assert old_file is not None
            assert new_file is not None
            new_file.replace(old_file)
        assert await read_as(served, TlsSettings(authorities_file=successor.file)) == "hello"


@pytest.mark.parametrize("halfway", ["missing", "garbage", "another key", "empty"])
async def test_a_renewal_that_is_halfway_changes_nothing_yet(authority: Authority, halfway: str) -> None:
    tls = authority.issue("echo")
    believed = TlsSettings(authorities_file=authority.file)
    assert tls.key_file is not None
    assert tls.certificate_file is not None
    async with serve_echo(settings=server_settings(tls, callers_must_show_certificates=False)) as served:
        assert await read_as(served, believed) == "hello"
        match halfway:
            case "missing":
                tls.certificate_file.unlink()
            case "garbage":
                tls.certificate_file.write_bytes(b"no certificate")
            case "empty":
                tls.certificate_file.write_bytes(b"")
            case _:
                other = authority.issue("other").key_file
                assert other is not None
                other.replace(tls.key_file)
        assert await read_as(served, believed) == "hello"
        renewed = authority.issue("echo")
        assert renewed == tls
        assert await read_as(served, believed) == "hello"


async def test_a_missing_file_is_said_at_the_start(authority: Authority, tmp_path: Path) -> None:
    tls = authority.issue("echo").model_copy(update={"key_file": tmp_path / "nowhere.key"})
    with pytest.raises(ServerDidNotStart, match="nowhere"):
        await GrpcServer(server_settings(tls), [Echo().exposed()]).start()


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"host": "0.0.0.0"}, "can be reached from other machines"),  # noqa: S104 - it is refused
        ({"host": "10.0.0.1"}, "can be reached from other machines"),
        ({"host": "example.invalid"}, "can be reached from other machines"),
        ({"tls": {"authorities_file": "a"}}, "needs certificate_file"),
        ({"tls": {"certificate_file": "c"}}, "belong together"),
        ({"tls": {"certificate_file": "c", "key_file": "k"}}, "needs tls.authorities_file"),
        ({"port": 70_000}, "port"),
        ({"max_call_s": 0}, "max_call_s"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_settings_that_cannot_be_meant(settings: dict[str, Any], what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        ServerSettings.model_validate(settings)


@pytest.mark.parametrize(
    ("host", "address"), [("::1", "[::1]:0"), ("[::1]", "[::1]:0"), ("127.0.0.1", "127.0.0.1:0")]
)
def test_the_address_is_one_that_a_client_can_take(host: str, address: str) -> None:
    assert GrpcServer(ServerSettings(host=host), []).address == address


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "localhost", "::1", "[::1]"])
def test_plaintext_is_for_this_machine(host: str) -> None:
    assert ServerSettings(host=host).tls is None
    assert ServerSettings(host="0.0.0.0", plaintext_beyond_this_machine=True).tls is None  # noqa: S104 - allowed on purpose


@pytest.mark.parametrize(
    ("names", "caller"),
    [
        ([HISTORY.encode()], "history"),
        ([b"localhost", HISTORY.encode()], "history"),
        ([HISTORY.encode(), HISTORY.encode()], None),
        ([b"spiffe://upcard/service/"], None),
        ([b"spiffe://upcard/service/a/b"], None),
        (["spiffe://upcard/service/caf\u00e9".encode()], None),
        ([b"spiffe://upcard/service/" + b"a" * 64], None),
        ([b"\xff"], None),
        ([], None),
        (None, None),
    ],
)
def test_what_a_certificate_names(names: object, caller: str | None) -> None:
    given = {} if names is None else {"x509_subject_alternative_name": names}
    assert caller_of(given, "spiffe://upcard/service/") == caller


async def test_handlers_that_nobody_opened_stop_the_start() -> None:
    class More(Echo):
        def register(self, server: Any) -> None:
            super().register(server)
            server.add_registered_method_handlers(
                "upcard.tests.v1.Other", {"Open": grpc.unary_unary_rpc_method_handler(self.unary)}
            )

    class Fewer(Echo):
        def register(self, server: Any) -> None:
            server.add_registered_method_handlers(
                NAME, {"Read": grpc.unary_unary_rpc_method_handler(self.unary)}
            )

    for echo, what in ((More(), "Other/Open"), (Fewer(), "Write")):
        with pytest.raises(ValueError, match=what):
            await GrpcServer(ServerSettings(), [echo.exposed()]).start()


def test_access_is_all_or_named() -> None:
    with pytest.raises(ValueError, match="who may call"):
        Echo().exposed(None, Read=Access())
    with pytest.raises(ValueError, match="has no Wrong"):
        Echo().exposed(Wrong=Access())
