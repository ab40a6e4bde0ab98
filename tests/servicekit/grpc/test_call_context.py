from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from servicekit import context
from servicekit.grpc import (
    Actor,
    ActorKind,
    CallError,
    ContextSigner,
    ContextVerifier,
    GrpcServer,
    InvalidActor,
    ServerSettings,
    TrustedKey,
    acting_as,
    by,
    call_context,
    current_call,
    failure_of,
    load_signer,
    trusted_key,
)
from servicekit.grpc.signing import CONTEXT_KEY, acting, signed_bytes
from tests.servicekit.grpc.conftest import WAIT_S, serve_echo
from tests.servicekit.grpc.echo import NAME, Echo, EchoStub, Text
from tests.servicekit.grpc.keys import pem, public_base64, signer
from upcard.call.v1 import call_context_pb2

PLAYER = Actor(ActorKind.PLAYER, "p1")
METHOD = f"/{NAME}/Read"
NOW = 1_800_000_000.0


class Clock:
    """A clock that stands where it was put."""

    now = NOW

    def __call__(self) -> float:
        return self.now


@dataclasses.dataclass
class Both:
    """A signer and a verifier with clocks of their own."""

    def __post_init__(self) -> None:
        self.key = Ed25519PrivateKey.generate()
        self.signers_clock, self.clock = Clock(), Clock()
        self.signer = ContextSigner("k1", self.key, clock=self.signers_clock)
        self.trusted = TrustedKey("k1", self.key.public_key(), frozenset(ActorKind))
        self.verifier = ContextVerifier("echo", [self.trusted], clock=self.clock)

    def signed(self, actor: Actor = PLAYER, **other: object) -> bytes:
        given = {"audience": "echo", "method": METHOD, "request": b"body", "lifetime_s": 10.0} | other
        return self.signer.sign(actor, **given)  # type: ignore[arg-type]  # each test changes one of them

    def verified(self, header: bytes, method: str = METHOD, request: bytes = b"body") -> str:
        """The actor, or the reason why there is none."""
        try:
            return str(self.verifier.verify(header, method=method, request=request).actor)
        except CallError as error:
            return error.reason

    def resigned(self, **changes: object) -> bytes:
        """A context with something changed before the (good) signature."""
        made = call_context_pb2.SignedCallContext.FromString(self.signed())
        inside = call_context_pb2.CallContext.FromString(made.context)
        for name, value in changes.items():
            if isinstance(value, bytes) and name == "extra":
                made.context = inside.SerializeToString() + value
                break
            getattr(inside, name).CopyFrom(value)
            made.context = inside.SerializeToString()
        made.signature = self.key.sign(signed_bytes(made.context))
        return made.SerializeToString()


@pytest.fixture
def both() -> Both:
    return Both()


async def test_who_acts_reaches_the_handler_and_the_log() -> None:
    vouching, trusted = signer()
    seen: list[object] = []

    async def note(text: str) -> str:
        seen.append((call_context().actor, context.actor()))
        return text

    echo = Echo(note)
    async with serve_echo(
        echo,
        exposed=echo.exposed(by(ActorKind.PLAYER)),
        verifier=ContextVerifier("echo", [trusted]),
        signer=vouching,
    ) as served:
        with acting_as(PLAYER):
            assert await served.read() == "hello"
            assert [a.value async for a in served.stub.Watch(Text(value="1"), timeout=WAIT_S)] == [
                "first",
                "0",
            ]
    assert seen == [(PLAYER, "player:p1")] * 2


async def test_without_a_context_or_with_another_kind_of_actor_there_is_no_call() -> None:
    vouching, trusted = signer()
    echo = Echo()
    async with serve_echo(
        echo,
        exposed=echo.exposed(by(ActorKind.DEALER)),
        verifier=ContextVerifier("echo", [trusted]),
        signer=vouching,
    ) as served:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await served.read()
        assert failure_of(caught.value).reason == "call_context_missing"
        with acting_as(PLAYER), pytest.raises(grpc.aio.AioRpcError) as caught:
            await served.read()
        assert failure_of(caught.value).reason == "actor_not_allowed"
        with acting_as(Actor(ActorKind.DEALER, "d1")):
            assert await served.read() == "hello"
    assert echo.seen == ["hello"]


async def test_a_context_is_checked_even_where_none_is_needed() -> None:
    _, trusted = signer()
    async with (
        serve_echo(verifier=ContextVerifier("echo", [trusted])) as served,
        grpc.aio.insecure_channel(served.server.address) as bare,
    ):
        for forged in (
            b"",
            b"\xff",
            signer()[0].sign(
                PLAYER,
                audience="echo",
                method=METHOD,
                request=Text(value="x").SerializeToString(),
                lifetime_s=9,
            ),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await EchoStub(bare).Read(Text(value="x"), timeout=WAIT_S, metadata=((CONTEXT_KEY, forged),))
            assert failure_of(caught.value).reason == "call_context_invalid"
    assert served.echo.seen == []


async def test_a_stolen_context_is_of_no_use_for_another_request(both: Both) -> None:
    echo = Echo()
    both.verifier = ContextVerifier("echo", [both.trusted])
    both.signer = ContextSigner("k1", both.key)
    stolen = both.signed(request=Text(value="fold").SerializeToString(), method=f"/{NAME}/Write")
    async with (
        serve_echo(echo, exposed=echo.exposed(by(ActorKind.PLAYER)), verifier=both.verifier) as served,
        grpc.aio.insecure_channel(served.server.address) as bare,
    ):
        stub, metadata = EchoStub(bare), ((CONTEXT_KEY, stolen),)
        await stub.Write(Text(value="fold"), timeout=WAIT_S, metadata=metadata)
        for call, text in ((stub.Write, "bet"), (stub.Once, "fold")):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call(Text(value=text), timeout=WAIT_S, metadata=metadata)
            assert failure_of(caught.value).reason == "call_context_invalid"
    assert echo.seen == ["fold"]


async def test_a_stream_of_requests_is_never_in_an_actors_name() -> None:
    vouching, trusted = signer()
    async with serve_echo(verifier=ContextVerifier("echo", [trusted]), signer=vouching) as served:
        with acting_as(PLAYER), pytest.raises(ValueError, match="stream of requests"):
            served.stub.Collect(iter([Text(value="a")]), timeout=WAIT_S)
    with pytest.raises(ValueError, match="stream of requests"):
        GrpcServer(
            ServerSettings(),
            [Echo().exposed(Chat=by(ActorKind.PLAYER))],
            verifier=ContextVerifier("echo", [trusted]),
        )
    with pytest.raises(ValueError, match="verifier"):
        GrpcServer(ServerSettings(), [Echo().exposed(Read=by(ActorKind.PLAYER))])


async def test_whoever_starts_a_server_does_not_act_in_its_calls() -> None:
    _, trusted = signer()
    seen: list[object] = []

    async def note(text: str) -> str:
        seen.append((acting(), context.actor(), current_call() is not None))
        return text

    verifier = ContextVerifier("echo", [trusted])
    with acting_as(PLAYER), context.bind(actor="staff:s1", correlation_id="the-start"):
        async with serve_echo(Echo(note), verifier=verifier) as served:
            await served.read()
    assert seen == [(None, None, True)]


async def test_outside_of_a_call_nobody_acts() -> None:
    with pytest.raises(CallError, match="call_context_missing"):
        call_context()


def test_a_good_context(both: Both) -> None:
    assert both.verified(both.signed()) == "player:p1"
    assert both.verified(both.signed(Actor(ActorKind.PLATFORM))) == "platform"
    manager = Actor(ActorKind.STAFF, "s1", frozenset({"shift_manager", "disputes"}))
    found = both.verifier.verify(both.signed(manager), method=METHOD, request=b"body")
    assert (found.actor, found.key_id, found.issued_at, found.expires_at) == (manager, "k1", NOW, NOW + 10)


def test_every_binding_counts(both: Both) -> None:
    wrong = "call_context_invalid"
    assert both.verified(both.signed(audience="wallet")) == wrong
    assert both.verified(both.signed(method=f"/{NAME}/Write")) == wrong
    assert both.verified(both.signed(request=b"other")) == wrong
    assert both.verified(both.signed(), request=b"body ") == wrong
    assert both.verified(both.signed(), method=f"/{NAME}/Once") == wrong


def test_every_byte_of_it_counts(both: Both) -> None:
    header = both.signed()
    changed = [header[:i] + bytes([header[i] ^ 1]) + header[i + 1 :] for i in range(len(header))]
    assert {both.verified(one) for one in changed} == {"call_context_invalid"}
    assert {both.verified(header[:length]) for length in range(len(header))} == {"call_context_invalid"}
    signed = call_context_pb2.SignedCallContext(context=b"\xff", key_id="k1")
    signed.signature = both.key.sign(signed_bytes(signed.context))
    assert both.verified(signed.SerializeToString()) == "call_context_invalid"
    endless = "/" + "x" * 5_000
    assert both.verified(both.signed(method=endless), method=endless) == "call_context_invalid"


@pytest.mark.parametrize(
    ("signer_ahead_s", "later_s", "outcome"),
    [
        (0.0, 11.9, "player:p1"),
        (0.0, 12.1, "call_context_expired"),
        (1.9, 0.0, "player:p1"),
        (2.1, 0.0, "call_context_invalid"),
        (-11.9, 0.0, "player:p1"),
        (-12.1, 0.0, "call_context_expired"),
    ],
)
def test_it_lasts_seconds(both: Both, signer_ahead_s: float, later_s: float, outcome: str) -> None:
    both.signers_clock.now = NOW + signer_ahead_s
    header = both.signed()
    both.clock.now = NOW + later_s
    assert both.verified(header) == outcome


def test_no_signer_makes_one_that_lasts(both: Both) -> None:
    found = both.verifier.verify(both.signed(lifetime_s=86_400.0), method=METHOD, request=b"body")
    assert found.expires_at - found.issued_at == 30
    inside = call_context_pb2.CallContext()
    inside.expires_at.FromSeconds(int(NOW) + 3_600)
    assert both.verified(both.resigned(expires_at=inside.expires_at)) == "call_context_invalid"


def test_a_newer_context_is_not_half_understood(both: Both) -> None:
    assert both.verified(both.resigned(extra=b"\x78\x01")) == "call_context_invalid"


@pytest.mark.parametrize(
    ("kind", "id_", "roles"),
    [
        (0, "p1", []),
        (99, "p1", []),
        (call_context_pb2.ACTOR_KIND_PLAYER, "", []),
        (call_context_pb2.ACTOR_KIND_PLAYER, "p1:x", []),
        (call_context_pb2.ACTOR_KIND_PLAYER, "p1", ["manager"]),
        (call_context_pb2.ACTOR_KIND_PLATFORM, "p1", []),
        (call_context_pb2.ACTOR_KIND_STAFF, "s", ["Not a slug"]),
        (call_context_pb2.ACTOR_KIND_STAFF, "s", [f"r{number}" for number in range(33)]),
    ],
)
def test_nobody_is_that(both: Both, kind: Any, id_: str, roles: list[str]) -> None:
    actor = call_context_pb2.Actor(kind=kind, id=id_, roles=roles)
    with pytest.raises(InvalidActor):
        Actor.from_proto(actor)
    assert both.verified(both.resigned(actor=actor)) == "call_context_invalid"


def test_a_key_vouches_for_its_own_kinds_only(both: Both) -> None:
    both.verifier.trust([dataclasses.replace(both.trusted, kinds=frozenset({ActorKind.DEALER}))])
    assert both.verified(both.signed()) == "call_context_invalid"
    assert both.verified(both.signed(Actor(ActorKind.DEALER, "d1"))) == "dealer:d1"


def test_keys_are_changed_one_after_the_other(both: Both) -> None:
    new = Ed25519PrivateKey.generate()
    old_header = both.signed()
    both.signer = ContextSigner("k2", new, clock=both.signers_clock)
    assert both.verified(both.signed()) == "call_context_invalid"
    both.verifier.trust([both.trusted, TrustedKey("k2", new.public_key(), frozenset(ActorKind))])
    assert [both.verified(old_header), both.verified(both.signed())] == ["player:p1"] * 2
    both.verifier.trust([TrustedKey("k2", new.public_key(), frozenset(ActorKind))])
    assert [both.verified(old_header), both.verified(both.signed())] == ["call_context_invalid", "player:p1"]


def test_a_key_ends_by_itself(both: Both) -> None:
    both.verifier.trust([dataclasses.replace(both.trusted, not_after=NOW + 5)])
    header = both.signed()
    assert both.verified(header) == "player:p1"
    both.clock.now = NOW + 6
    assert both.verified(header) == "call_context_invalid"


def test_the_key_of_one_id_is_not_taken_for_another(both: Both) -> None:
    other = TrustedKey("k1", Ed25519PrivateKey.generate().public_key(), frozenset(ActorKind))
    both.verifier.trust([other])
    assert both.verified(both.signed()) == "call_context_invalid"
    with pytest.raises(ValueError, match="same id"):
        both.verifier.trust([both.trusted, other])


def test_keys_come_from_files_and_settings(both: Both, tmp_path: Path) -> None:
    file = tmp_path / "gateway.key"
    file.write_bytes(pem(both.key))
    loaded = load_signer("k1", file)
    header = loaded.sign(PLAYER, audience="echo", method=METHOD, request=b"body", lifetime_s=9)
    both.verifier = ContextVerifier("echo", [trusted_key("k1", public_base64(both.key), [ActorKind.PLAYER])])
    assert both.verified(header) == "player:p1"
    file.write_bytes(pem(ec.generate_private_key(ec.SECP256R1())))
    with pytest.raises(ValueError, match="Ed25519"):
        load_signer("k1", file)
    file.write_bytes(b"not a key")
    with pytest.raises(ValueError, match="private key in PEM") as caught:
        load_signer("k1", file)
    assert "not a key" not in str(caught.value)
    for key_id, key in (("", "AAAA"), ("k", "!"), ("k", "AAAA")):
        with pytest.raises(ValueError, match=r"\w"):
            trusted_key(key_id, key, [])
    with pytest.raises(ValueError, match="key id"):
        ContextSigner("no spaces", both.key)
