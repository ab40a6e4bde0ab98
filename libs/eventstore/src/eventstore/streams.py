"""Streams and shards: names, numbers, and the hashes that chain a stream's events."""

import functools
import hashlib

SHARDS = 64
"""Number of shards, fixed for ever: a stream's shard follows from its name."""

MAX_EVENT_BYTES = 1_000_000
"""Most bytes of one event's content. A Kafka record of 1 MiB then has room for key and headers."""

MAX_PRIVATE_BYTES = 64_000
"""Most bytes of one event's private part, before encryption."""

MAX_STREAM_LENGTH = 200
"""Most characters of a stream's name; it is repeated beside each of its events."""

MAX_TYPE_LENGTH = 100
"""Most characters of an event's type."""


@functools.lru_cache(maxsize=16_384)
def shard_of(stream: str) -> int:
    """The shard of a stream, 0 to 63: the first 8 bytes of SHA-256 of its name, big-endian, modulo 64."""
    return int.from_bytes(hashlib.sha256(stream.encode()).digest()[:8], "big") % SHARDS


def category_of(stream: str) -> str:
    """What a stream is about, the part of its name before the first hyphen: `round` for `round-t1.7`."""
    return stream.partition("-")[0]


def first_prev_hash(stream: str) -> bytes:
    """`prev_hash` of the event at position 1: SHA-256 of the stream's name in UTF-8."""
    return hashlib.sha256(stream.encode()).digest()


def content_hash_of(content: bytes) -> bytes:
    """SHA-256 of an event's content, as stored."""
    return hashlib.sha256(content).digest()


def hash_of(prev_hash: bytes, position: int, content_hash: bytes) -> bytes:
    """Hash of an event: SHA-256 of `prev_hash`, the stream position as 8 bytes big-endian.

    And `content_hash`.
    """
    return hashlib.sha256(prev_hash + position.to_bytes(8, "big") + content_hash).digest()
