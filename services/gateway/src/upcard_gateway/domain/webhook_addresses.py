"""Addresses that webhooks may be sent to: public ones, so that nobody makes us call what is inside.

A name is judged when it is resolved, each time, by the addresses that are then called; what is written is
judged when it is registered. Decided without any I/O.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_HOST: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?\.?")
_SHOWN: Final = re.compile(r"[!-~]+")
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_NOT_PUBLIC_6: Final = (
    ipaddress.IPv6Network("64:ff9b:1::/48"),  # NAT64 within a site
    ipaddress.IPv6Network("3fff::/20"),  # documentation
)
_RELAYS_6TO4: Final = ipaddress.IPv4Network("192.88.99.0/24")
_COMPATIBLE: Final = ipaddress.IPv6Network("::/96")


def refused_url(url: str, *, inside: bool = False) -> str | None:
    """Why webhooks are not sent to an address, in words; None: they are.

    `inside`: whether http:// and private addresses may be, which is for demonstrations and tests.
    """
    if not _SHOWN.fullmatch(url) or "\\" in url:
        return "it has characters that an address cannot have"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "it is no address"
    if parts.scheme not in ({"https", "http"} if inside else {"https"}):
        return "it has to begin with https://"
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        return "it may not hold a name or a password"
    if "#" in url:
        return "it may not have a part after #"
    if port == 0 or not parts.hostname:
        return "it names no host"
    return None if inside else _refused_host(parts.hostname)


def _refused_host(host: str) -> str | None:
    literal = as_address(host)
    if literal is not None:
        return None if is_public(literal) else "its host is no public address"
    last = host.rstrip(".").rpartition(".")[2]
    # What ends in digits is a number to some resolvers, whatever it looks like.
    if not _HOST.fullmatch(host) or ".." in host or last.isdigit() or last.lower().startswith("0x"):
        return "its host is no name of a host"
    if "." not in host.rstrip(".") or last.lower() in {"localhost", "local", "internal", "arpa"}:
        return "its host is no public name"
    return None


def as_address(host: str) -> Address | None:
    """The address that a host is, when it is one and no name."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Whether an address is anybody's on the internet, and so is each one that is inside of it."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.is_site_local or any(address in network for network in _NOT_PUBLIC_6):
            return False
        inner = _inside(address)
        if inner is not None:
            return is_public(inner)
    if isinstance(address, ipaddress.IPv4Address) and address in _RELAYS_6TO4:
        return False
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not address.is_unspecified
    )


def _inside(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64 or address in _COMPATIBLE:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return None
