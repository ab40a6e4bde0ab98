"""Event ids: UUID version 7, which tell when they were made."""

import os
import time
from uuid import UUID


def new_event_id(now_ms: int | None = None) -> UUID:
    """A new UUIDv7 (RFC 9562): milliseconds since 1970, the rest random. `now_ms`: for who has a clock."""
    if now_ms is None:
        now_ms = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    high = random >> 68
    low = random & ((1 << 62) - 1)
    return UUID(int=now_ms << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low)
