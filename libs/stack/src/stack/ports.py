"""Free ports of this machine, chosen so that a server can come back to its own.

Below the range from which the system takes ports for outgoing connections: while a server is down, no
client's connection can happen to take its port, nor connect to itself there. Another program may still be
faster than the server that a port was chosen for; whoever starts a server tries another port then.
"""

from __future__ import annotations

import random
import socket
from contextlib import closing

HOST = "127.0.0.1"
# Linux hands out 32768-60999, macOS and Windows 49152-65535.
LOWEST, HIGHEST = 20_000, 31_999
TRIES = 200

_random = random.SystemRandom()


def is_free(port: int) -> bool:
    """Whether nobody listens at the port, and a server could."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as candidate:
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind((HOST, port))
            candidate.listen(1)
        except OSError:
            return False
    return True


def free_ports(count: int) -> tuple[int, ...]:
    """Different ports that were free a moment ago.

    Raises:
        OSError: None was found in a bounded number of tries.
    """
    found: list[int] = []
    for _ in range(TRIES):
        port = _random.randint(LOWEST, HIGHEST)
        if port not in found and is_free(port):
            found.append(port)
        if len(found) == count:
            return tuple(found)
    raise OSError(f"no {count} free ports between {LOWEST} and {HIGHEST} in {TRIES} tries")


def answers(port: int) -> bool:
    """Whether someone accepts a connection at the port."""
    try:
        with socket.create_connection((HOST, port), timeout=1.0):
            return True
    except OSError:
        return False
