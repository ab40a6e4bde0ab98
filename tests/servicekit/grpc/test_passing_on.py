"""One instance of a service passes a call on to another one: the same bytes, the same signed context."""

from __future__ import annotations

import grpc
import grpc.aio
import pytest

from servicekit.grpc import (
    Actor,
    ActorKind,
    ContextVerifier,
    acting_as,
    by,
    call_context,
    current_call,
    failure_of,
    passing_on,
)
from tests.servicekit.grpc.conftest import WAIT_S, Served, serve_echo
from tests.servicekit.grpc.echo import NAME, Echo
from tests.servicekit.grpc.keys import signer

PLAYER = Actor(ActorKind.PLAYER, "p1")


def same(data: bytes) -> bytes:
    """As it is."""
    return data


async def passed(served: Served, request: bytes, signed: bytes | None) -> bytes:
    """What another instance answers to these bytes."""
    send = served.channel.unary_unary(f"/{NAME}/Read", same, same)
    with passing_on(signed):
        return await send(request, timeout=WAIT_S)


async def test_who_acts_is_checked_again_where_a_call_is_passed_to() -> None:
    vouching, trusted = signer()
    acted: list[str] = []

    async def note(text: str) -> str:
        acted.append(str(call_context().actor))
        return text

    owner = Echo(note)
    verifier = ContextVerifier("echo", [trusted])
    async with serve_echo(owner, exposed=owner.exposed(by(ActorKind.PLAYER)), verifier=verifier) as second:
        kept: list[tuple[bytes, bytes]] = []

        async def pass_on(text: str) -> str:
            call = current_call()
            assert call is not None
            assert call.request is not None
            assert call.signed is not None
            kept.append((call.request, call.signed))
            assert text.encode() not in repr(call).encode()
            answer = await passed(second, call.request, call.signed)
            return answer[2:].decode()

        first = Echo(pass_on)
        async with serve_echo(
            first, exposed=first.exposed(by(ActorKind.PLAYER)), verifier=verifier, signer=vouching
        ) as served:
            with acting_as(PLAYER):
                assert await served.read() == "hello"
        ((request, signed),) = kept
        assert acted == ["player:p1"]
        for other, context, reason in (
            (request + b"\x10\x01", signed, "call_context_invalid"),
            (request, None, "call_context_missing"),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await passed(second, other, context)
            assert failure_of(caught.value).reason == reason
