"""The hash chain over a stream's events (CONTRACTS.md section 2).

Each event's hash seals its place, its content and everything before it. The content itself may be withheld:
its `content_hash` then stands for it and the chain is checked all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True)
class Withheld:
    """An event of which only the hash of its content is known."""

    content_hash: bytes


@dataclass(frozen=True, slots=True)
class Chained:
    """One event in its place in the chain; digests are raw bytes."""

    position: int
    """Place in the stream, from 1."""
    content: bytes | None
    """The recorded bytes; None where they are withheld."""
    content_hash: bytes
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChainDifference:
    """The first thing in a chain that is not as it must be."""

    position: int
    """Where the chain stood when it broke: the position that was due."""
    field: Literal["prev_hash", "position", "content_hash", "hash"]

    def __str__(self) -> str:
        return f"{self.field} is wrong at position {self.position}"


def content_hash(content: bytes) -> bytes:
    """Hash the recorded bytes of an event."""
    return sha256(content).digest()


def first_prev_hash(stream: str) -> bytes:
    """Give what stands for the previous hash at position 1: the hash of the stream's name."""
    return sha256(stream.encode()).digest()


def next_hash(prev_hash: bytes, position: int, content_hash: bytes) -> bytes:
    """Hash an event in its place: previous hash, position as 8 bytes big-endian, hash of its content."""
    return sha256(prev_hash + position.to_bytes(8, "big") + content_hash).digest()


def chain(prev_hash: bytes, first_position: int, items: Iterable[bytes | Withheld]) -> list[Chained]:
    """Put events, in order and from `first_position` on, into the chain that stands at `prev_hash`."""
    chained = []
    for position, item in enumerate(items, first_position):
        content = None if isinstance(item, Withheld) else item
        digest = item.content_hash if isinstance(item, Withheld) else sha256(item).digest()
        prev_hash = next_hash(prev_hash, position, digest)
        chained.append(Chained(position, content, digest, prev_hash))
    return chained


def check_chain(
    stream: str, first_position: int, prev_hash: bytes, items: Iterable[Chained]
) -> list[bytes] | ChainDifference:
    """Check recorded events against the chain: their hashes, or the first difference.

    `first_position` and `prev_hash` say where the items begin; from position 1 the stream's name fixes
    `prev_hash`, and later ones rest on whatever vouches for it (an earlier part, a checkpoint).
    """
    if first_position == 1 and prev_hash != first_prev_hash(stream):
        return ChainDifference(1, "prev_hash")
    hashes = []
    for position, item in enumerate(items, first_position):
        if item.position != position:
            return ChainDifference(position, "position")
        if item.content is not None and item.content_hash != sha256(item.content).digest():
            return ChainDifference(position, "content_hash")
        prev_hash = next_hash(prev_hash, position, item.content_hash)
        if item.hash != prev_hash:
            return ChainDifference(position, "hash")
        hashes.append(prev_hash)
    return hashes
