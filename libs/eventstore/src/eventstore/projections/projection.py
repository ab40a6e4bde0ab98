"""What a projection is: tables in a schema of their own, made of the events of this database's log."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from eventstore.events import EVERYTHING, EventFilter, RecordedEvent
from eventstore.following.errors import HandlerUnfit
from eventstore.postgres.connections import Connection

REBUILD: Final = "_rebuild"
"""Appended to a projection's name: what is being built beside it, and its follower."""

REPLACED: Final = "_old"
"""Appended to a projection's name: what was replaced and is about to be dropped."""

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_TAKEN: Final = frozenset({"eventstore", "public", "information_schema"})

Create: TypeAlias = Callable[[Connection, str], Awaitable[None]]
"""Makes the empty tables in a schema, which exists and is empty. Inside a transaction."""

Handle: TypeAlias = Callable[[Connection, str, Sequence[RecordedEvent]], Awaitable[None]]
"""Writes what events mean into the tables of a schema; up to 500 at once, by shard and position.

Everything that `following.Handler` says holds here. Names of tables are written with the schema: the same
code fills the live tables and, during a rebuild, the new ones.
"""


class ProjectionError(HandlerUnfit):
    """This process and the tables do not fit: no event is at fault, and nothing goes on by itself."""

    slug = "projection_error"


class ProjectionOutdated(ProjectionError):
    """The tables were made by another version of the projection: rebuild it, or run the code that fits."""

    slug = "projection_outdated"

    def __init__(self, name: str, wanted: int, found: int | None) -> None:
        self.name = name
        self.wanted = wanted
        self.found = found
        there = "none" if found is None else f"those of version {found}"
        super().__init__(f"projection {name}: tables of version {wanted} are needed, there are {there}")


@dataclass(frozen=True, slots=True)
class Projection:
    """A view of the log. `name` is that of its schema and of its follower; `version` grows with its code.

    Whenever `create` or `handle` would make other rows than before, `version` has to grow, and the projection
    be rebuilt.
    """

    name: str
    version: int
    create: Create
    handle: Handle
    wanted: EventFilter = EVERYTHING

    def __post_init__(self) -> None:
        if (
            not _NAME.fullmatch(self.name)
            or self.name in _TAKEN
            or self.name.startswith("pg_")
            or self.name.endswith((REBUILD, REPLACED))
        ):
            raise ValueError(
                "a projection is named with 1 to 40 of a-z, 0-9 and _, unlike other schemas:"
                f" not {self.name!r}"
            )
        if self.version < 1:
            raise ValueError(f"a projection's version is 1 or more, not {self.version}")
