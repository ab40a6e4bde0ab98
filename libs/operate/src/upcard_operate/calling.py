"""Calls to the services in the name of a member of staff."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import getpass
import os
import re
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Final, TypeVar

import grpc.aio
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message

from servicekit.grpc import Actor, ActorKind, ClientChannel, acting_as, failure_of, open_channel
from servicekit.grpc.signing import signer_from_pem
from upcard_operate.options import address_of
from upcard_operate.output import CommandFailed, Misused

M = TypeVar("M", bound=Message)

KEY: Final = "UPCARD_SIGNING_KEY"
KEY_BASE64: Final = "UPCARD_SIGNING_KEY_BASE64"
KEY_ID: Final = "UPCARD_SIGNING_KEY_ID"
STAFF: Final = "UPCARD_STAFF"
ROLES: Final = frozenset({"admin", "auditor", "operations", "support"})
CALL_S: Final = 20.0
_PAUSES_S: Final = (0.3, 1.0, 3.0)


@contextlib.asynccontextmanager
async def called(service: str, *described: ServiceDescriptor) -> AsyncIterator[ClientChannel]:
    """A channel to a service; within it calls are made in the name of whoever runs this.

    Raises Misused: an address or the key that vouches for people is not set.
    """
    pem = os.environ.get(KEY) or _decoded(os.environ.get(KEY_BASE64))
    key_id = os.environ.get(KEY_ID)
    if not pem or not key_id:
        raise Misused(f"who asks? Set {KEY} (or {KEY_BASE64}) and {KEY_ID} to a key that the services trust")
    try:
        signer = signer_from_pem(key_id, pem.encode())
    except ValueError as problem:
        raise Misused(f"{KEY}: {problem}") from None
    channel = open_channel(address_of(service), audience=service, services=described, signer=signer)
    async with channel:
        with acting_as(Actor(ActorKind.STAFF, staff(), ROLES)):
            yield channel


def staff() -> str:
    """Under which id this person acts: UPCARD_STAFF, else the account's name."""
    return os.environ.get(STAFF) or re.sub(r"[^A-Za-z0-9_-]", "-", getpass.getuser())


def granted(answer: M) -> M:
    """An answer that is no refusal. Raises CommandFailed."""
    if answer.HasField("refusal"):
        refusal = answer.refusal  # type: ignore[attr-defined]  # as just seen
        raise CommandFailed(f"Refused, {refusal.reason}: {refusal.message}")
    return answer


async def all_of(begin: Callable[[], AsyncIterable[M]]) -> list[M]:
    """All that a stream of answers brings; begun anew, a few times, when the service says that it may pass.

    (Calls with one answer are repeated by the channel itself.) Raises grpc.aio.AioRpcError.
    """
    for pause_s in _PAUSES_S:
        try:
            return [one async for one in begin()]
        except grpc.aio.AioRpcError as error:
            if not failure_of(error).may_pass:
                raise
        await asyncio.sleep(pause_s)
    return [one async for one in begin()]


def _decoded(text: str | None) -> str | None:
    if not text:
        return None
    try:
        return base64.b64decode(text, validate=True).decode()
    except ValueError:
        raise Misused(f"{KEY_BASE64} is not base64") from None
