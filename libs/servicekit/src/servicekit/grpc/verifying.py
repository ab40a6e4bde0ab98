"""Believing who acts: only what a known key signed for this very request."""

import base64
import binascii
import hmac
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NoReturn

import grpc
import structlog
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from servicekit.grpc.actors import Actor, ActorKind, InvalidActor
from servicekit.grpc.errors import CallError
from servicekit.grpc.signing import MAX_LIFETIME_S, digest_of, is_key_id, signed_bytes
from upcard.call.v1 import call_context_pb2

MAX_CONTEXT_BYTES: Final = 4_096
CLOCK_TOLERANCE_S: Final = 2.0
"""How far the signer's clock may be ahead or behind, in seconds."""

_log = structlog.get_logger("servicekit.grpc")


@dataclass(frozen=True, slots=True)
class TrustedKey:
    """A key that may vouch for actors of some kinds, and for no others.

    To change a signer's key: trust the new one everywhere, let the signer use it, then trust the old one no
    more. `not_after` (seconds since 1970) ends a key by itself.
    """

    key_id: str
    public_key: Ed25519PublicKey
    kinds: frozenset[ActorKind]
    not_after: float | None = None


@dataclass(frozen=True, slots=True)
class CallContext:
    """Who acts in a call, as a signer vouched for it; times in seconds since 1970."""

    actor: Actor
    key_id: str
    issued_at: float
    expires_at: float


def trusted_key(
    key_id: str, public_key: str, kinds: Iterable[ActorKind], *, not_after: float | None = None
) -> TrustedKey:
    """A trusted key from its 32 raw bytes in base64, as settings hold it. Raises ValueError."""
    if not is_key_id(key_id):
        raise ValueError("a key id has 1 to 64 letters, digits, dots, - and _")
    try:
        raw = base64.b64decode(public_key, validate=True)
    except binascii.Error:
        raise ValueError(f"the public key {key_id} is not base64") from None
    return TrustedKey(key_id, Ed25519PublicKey.from_public_bytes(raw), frozenset(kinds), not_after)


class ContextVerifier:
    """Checks the contexts of calls to one service."""

    def __init__(
        self, service: str, keys: Iterable[TrustedKey], *, clock: Callable[[], float] = time.time
    ) -> None:
        """`service` is the audience that contexts must name. Raises ValueError for two keys of one id."""
        self._service = service
        self._clock = clock
        self._keys: dict[str, TrustedKey] = {}
        self.trust(keys)

    def trust(self, keys: Iterable[TrustedKey]) -> None:
        """Believe these keys from now on, and no others. Raises ValueError for two keys of one id."""
        listed = list(keys)
        by_id = {key.key_id: key for key in listed}
        if len(by_id) != len(listed):
            raise ValueError("two trusted keys have the same id")
        self._keys = by_id

    def verify(self, header: bytes, *, method: str, request: bytes) -> CallContext:
        """Who acts in this call. `request` as its bytes came in.

        Raises CallError with UNAUTHENTICATED and the reason `call_context_expired` or `call_context_invalid`.
        What exactly is wrong goes to the log only.
        """
        signed, context, key = self._signed(header)
        if context.audience != self._service:
            _refuse("for another service", key_id=key.key_id)
        if context.method != method:
            _refuse("for another call", key_id=key.key_id)
        if not hmac.compare_digest(context.request_digest, digest_of(request)):
            _refuse("for another request", key_id=key.key_id)
        issued_at, expires_at = self._times(context, key)
        try:
            actor = Actor.from_proto(context.actor)
        except InvalidActor as problem:
            _refuse(str(problem), key_id=key.key_id)
        if actor.kind not in key.kinds:
            _refuse(f"this key may not vouch for a {actor.kind.name.lower()}", key_id=key.key_id)
        return CallContext(actor, signed.key_id, issued_at, expires_at)

    def _signed(
        self, header: bytes
    ) -> tuple[call_context_pb2.SignedCallContext, call_context_pb2.CallContext, TrustedKey]:
        """What was signed, after its signature was found good."""
        if len(header) > MAX_CONTEXT_BYTES:
            _refuse("too long")
        try:
            signed = call_context_pb2.SignedCallContext.FromString(header)
        except DecodeError:
            _refuse("no message")
        key = self._keys.get(signed.key_id)
        if key is None:
            _refuse("an unknown key", key_id=signed.key_id[:64])
        try:
            key.public_key.verify(signed.signature, signed_bytes(signed.context))
        except InvalidSignature:
            _refuse("a wrong signature", key_id=key.key_id)
        try:
            context = call_context_pb2.CallContext.FromString(signed.context)
        except DecodeError:
            _refuse("no context", key_id=key.key_id)
        # A field that is not known here might take away what the others grant.
        if len(UnknownFieldSet(context)) or len(UnknownFieldSet(context.actor)):
            _refuse("a newer context than this service knows: upgrade the service first", key_id=key.key_id)
        return signed, context, key

    def _times(self, context: call_context_pb2.CallContext, key: TrustedKey) -> tuple[float, float]:
        """When the context begins and ends, if that is now."""
        now = self._clock()
        issued_at = context.issued_at.ToMicroseconds() / 1_000_000
        expires_at = context.expires_at.ToMicroseconds() / 1_000_000
        if key.not_after is not None and now > key.not_after:
            _refuse("a key that has ended", key_id=key.key_id)
        if issued_at > now + CLOCK_TOLERANCE_S:
            _refuse("not begun yet: compare the clocks", key_id=key.key_id)
        if not 0 < expires_at - issued_at <= MAX_LIFETIME_S + CLOCK_TOLERANCE_S:
            _refuse("valid for too long, or never", key_id=key.key_id)
        if now >= expires_at + CLOCK_TOLERANCE_S:
            raise CallError(
                grpc.StatusCode.UNAUTHENTICATED, "call_context_expired", "the call context has expired"
            )
        return issued_at, expires_at


def _refuse(why: str, *, key_id: str | None = None) -> NoReturn:
    """Refuse a context: one answer for all that may be wrong with it, the cause in the log."""
    _log.warning("call context refused", why=why, key_id=key_id)
    raise CallError(grpc.StatusCode.UNAUTHENTICATED, "call_context_invalid", "the call context is not valid")
