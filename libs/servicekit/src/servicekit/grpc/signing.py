"""Vouching for who acts: what the gateway does for each call that it passes on.

The signature binds the actor to one service, one call, one request and a few seconds. So a context that is
seen or kept by anyone on its way (a service, a log, a proxy) is good for nothing else than the very same
request, which a service answers from its stored answers.
"""

import contextlib
import contextvars
import hashlib
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from google.protobuf import timestamp_pb2

from servicekit.grpc.actors import Actor
from upcard.call.v1 import call_context_pb2

CONTEXT_KEY: Final = "upcard-context-bin"
"""The metadata that a signed context travels in."""
MAX_LIFETIME_S: Final = 30.0
"""Longest that a context may be valid, in seconds: as long as a call may take."""
_PREFIX: Final = b"upcard call context v1\x00"
_KEY_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

_acting: contextvars.ContextVar[Actor | None] = contextvars.ContextVar("servicekit_acting", default=None)
_passed_on: contextvars.ContextVar[tuple[bytes | None] | None] = contextvars.ContextVar(
    "servicekit_passed_on", default=None
)


@contextlib.contextmanager
def acting_as(actor: Actor) -> Iterator[None]:
    """Within the context, calls over channels with a signer are made in this actor's name."""
    token = _acting.set(actor)
    try:
        yield
    finally:
        _acting.reset(token)


def acting() -> Actor | None:
    """In whose name the running task calls."""
    return _acting.get()


@contextlib.contextmanager
def passing_on(signed: bytes | None) -> Iterator[None]:
    """Within the context, calls carry this signed context as it came in, and none of their own.

    For a service whose instances pass calls on to each other: the same method with the same bytes, which is
    what the context was signed for. None: nobody acts.
    """
    token = _passed_on.set((signed,))
    try:
        yield
    finally:
        _passed_on.reset(token)


def passed_on() -> tuple[bytes | None] | None:
    """The signed context that the running task passes on; None: it calls for itself."""
    return _passed_on.get()


def signed_bytes(context: bytes) -> bytes:
    """What the signature is made over: of no use as anything else that the key might sign."""
    return _PREFIX + context


def digest_of(request: bytes) -> bytes:
    """What ties a context to one request: SHA-256 of its bytes as they are sent."""
    return hashlib.sha256(request).digest()


class ContextSigner:
    """Signs contexts with one key; `key_id` is the name under which services know the public half."""

    def __init__(
        self, key_id: str, private_key: Ed25519PrivateKey, *, clock: Callable[[], float] = time.time
    ) -> None:
        """`clock` gives seconds since 1970. Raises ValueError for a key id that is empty, long or strange."""
        if not is_key_id(key_id):
            raise ValueError("a key id has 1 to 64 letters, digits, dots, - and _")
        self._key_id = key_id
        self._private_key = private_key
        self._clock = clock

    def sign(self, actor: Actor, *, audience: str, method: str, request: bytes, lifetime_s: float) -> bytes:
        """The signed context for one request, valid for `lifetime_s` from now (at most MAX_LIFETIME_S)."""
        now = self._clock()
        context = call_context_pb2.CallContext(
            actor=actor.to_proto(),
            audience=audience,
            method=method,
            request_digest=digest_of(request),
            issued_at=_timestamp(now),
            expires_at=_timestamp(now + min(lifetime_s, MAX_LIFETIME_S)),
        ).SerializeToString(deterministic=True)
        return call_context_pb2.SignedCallContext(
            context=context,
            key_id=self._key_id,
            signature=self._private_key.sign(signed_bytes(context)),
        ).SerializeToString()


def load_signer(key_id: str, private_key_file: Path) -> ContextSigner:
    """A signer with the Ed25519 key of a PEM file. Raises OSError, or ValueError for anything else in it."""
    return signer_from_pem(key_id, private_key_file.read_bytes())


def signer_from_pem(key_id: str, pem: bytes) -> ContextSigner:
    """A signer with an Ed25519 key in PEM. Raises ValueError, showing nothing of it, for anything else."""
    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ValueError("it has to be a private key in PEM, without a password") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("it has to be an Ed25519 key")  # noqa: TRY004 - the text is wrong, not its type
    return ContextSigner(key_id, key)


def is_key_id(text: str) -> bool:
    """Whether a text may name a key."""
    return _KEY_ID.fullmatch(text) is not None


def _timestamp(seconds: float) -> timestamp_pb2.Timestamp:
    stamp = timestamp_pb2.Timestamp()
    stamp.FromMicroseconds(round(seconds * 1_000_000))
    return stamp
