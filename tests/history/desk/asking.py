"""Asking in few words."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable
from typing import Any

import grpc
import pytest

from servicekit.grpc import failure_of


async def refused(call: Awaitable[object]) -> tuple[grpc.StatusCode, str]:
    """Code and reason of a call that is not carried out."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    failure = failure_of(caught.value)
    return failure.code, failure.reason


async def all_of(stream: AsyncIterable[Any]) -> list[Any]:
    """Everything that a stream gives."""
    return [message async for message in stream]


async def csv_of(stream: AsyncIterable[Any]) -> str:
    """The file that an export gives; it is whole."""
    pieces = [message.piece for message in await all_of(stream)]
    assert [piece.last for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    return b"".join(piece.data for piece in pieces).decode()
