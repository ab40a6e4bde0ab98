"""PostgreSQL and Kafka on this machine: three lanes, one setting.

    with Stack() as stack:
        stack.addresses.postgres_dsn, stack.addresses.kafka_bootstrap

The lane comes from UPCARD_LANE (`embedded`, `native`, `containers`) or from the argument. See docs/stack.md.

Names are imported when they are first used: the pytest plugin is loaded by every test run, and most of
them never need the servers' clients, which take a while to import.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stack.addresses import Addresses
    from stack.errors import (
        FolderInUseError,
        LaneUnavailableError,
        NotOursError,
        ServerDidNotStartError,
        StackError,
    )
    from stack.lanes import Lane, LaneFacts, Settings, why_unavailable
    from stack.names import fresh_name
    from stack.postgres.databases import Databases, with_database
    from stack.servers import Server
    from stack.stack import Stack

_MODULES = {
    "Addresses": "stack.addresses",
    "Databases": "stack.postgres.databases",
    "FolderInUseError": "stack.errors",
    "Lane": "stack.lanes",
    "LaneFacts": "stack.lanes",
    "LaneUnavailableError": "stack.errors",
    "NotOursError": "stack.errors",
    "Server": "stack.servers",
    "ServerDidNotStartError": "stack.errors",
    "Settings": "stack.lanes",
    "Stack": "stack.stack",
    "StackError": "stack.errors",
    "fresh_name": "stack.names",
    "why_unavailable": "stack.lanes",
    "with_database": "stack.postgres.databases",
}

__all__ = [
    "Addresses",
    "Databases",
    "FolderInUseError",
    "Lane",
    "LaneFacts",
    "LaneUnavailableError",
    "NotOursError",
    "Server",
    "ServerDidNotStartError",
    "Settings",
    "Stack",
    "StackError",
    "fresh_name",
    "why_unavailable",
    "with_database",
]


def __getattr__(name: str) -> object:
    """Import what is asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
