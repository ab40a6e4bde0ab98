"""Network addresses as what is counted by them."""

from __future__ import annotations

import ipaddress
from typing import Final

__all__ = ["bucket_of"]

_OWN_BITS: Final = 64
"""Of an IPv6 address; the rest is for whoever has the network to choose from."""


def bucket_of(address: ipaddress.IPv4Address | ipaddress.IPv6Address | None) -> str:
    """What is counted as one address: an IPv4 address, or the whole /64 network of an IPv6 address.

    Whoever has one IPv6 address has 2^64 of them. All whose address cannot be told (None) are one as well.
    """
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Network((address, _OWN_BITS), strict=False))
    return str(address or "")
