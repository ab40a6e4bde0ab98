"""What keeps one caller from taking what all need: rates of keys, sizes, calls at a time."""

from __future__ import annotations

import ipaddress
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from upcard_gateway.domain.operators import Network

MOST_HEADER_BYTES: Final = 16_384
"""Most bytes of all headers of a call together."""
MOST_TARGET_BYTES: Final = 4_096
"""Most bytes of a call's path and query."""


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at_s: float


class RateLimit:
    """Buckets of tokens by name: each call takes one, so many come back a second, so many there are at most.

    Keeps the most recently used names only: a bucket that was dropped begins full again.
    """

    def __init__(self, clock: Callable[[], float], *, most_names: int = 10_000) -> None:
        """`clock` gives seconds and never jumps."""
        self._clock = clock
        self._most_names = most_names
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, name: str, per_s: float, burst: int) -> float:
        """Take one token: 0.0, or for how many seconds there is none, and then none was taken."""
        now_s = self._clock()
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = _Bucket(float(burst), now_s)
            if len(self._buckets) > self._most_names:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(name)
            gained = max(0.0, now_s - bucket.at_s) * per_s
            bucket.tokens = min(float(burst), bucket.tokens + gained)
            bucket.at_s = now_s
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return 0.0
        return (1 - bucket.tokens) / per_s

    def give_back(self, name: str, burst: int) -> None:
        """Give a token back that was taken for nothing."""
        bucket = self._buckets.get(name)
        if bucket is not None:
            bucket.tokens = min(float(burst), bucket.tokens + 1)


def client_address(
    peer: str, forwarded: Sequence[str], proxies: Sequence[Network]
) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Where a call comes from: its connection, or what proxies of ours say was before them.

    `forwarded`: the values of X-Forwarded-For. It is read from its end, for as long as the address before is
    a proxy's that is trusted; what a client puts there by itself is never believed. None: it cannot be told.
    """
    found = _address(peer)
    hops = [hop.strip() for value in forwarded for hop in value.split(",")]
    while found is not None and hops and any(found in proxy for proxy in proxies):
        found = _address(hops.pop())
    return found


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None
    # An IPv4 client of a socket for both is listed as what it is.
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def whole_seconds(seconds: float) -> int:
    """So many seconds, rounded up: what Retry-After may say."""
    return max(1, math.ceil(seconds))
