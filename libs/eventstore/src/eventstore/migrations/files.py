"""Migration files: `0001_what_it_does.sql`, numbered without a gap."""

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

_NAME = re.compile(r"(?P<number>\d{4})_(?P<name>[a-z0-9_]+)\.sql")
_OUTSIDE = "-- migrate: outside a transaction"


class MigrationFileError(Exception):
    """A folder of migrations is not one: a name does not fit, a number is missing or there twice."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step. Its file never changes once published: `checksum` (SHA-256.

    Hex) is compared in every database.

    A file whose first line is `-- migrate: outside a transaction` holds one statement that PostgreSQL
    refuses inside one (CREATE INDEX CONCURRENTLY) and that may be run again after it failed half-way.
    """

    number: int
    name: str
    sql: str
    checksum: str

    @property
    def in_transaction(self) -> bool:
        """Whether it is applied in one transaction with the note that it was."""
        return not self.sql.startswith(_OUTSIDE)


def load_migrations(folder: Traversable) -> tuple[Migration, ...]:
    """The migrations in a folder, in their order. Raises MigrationFileError."""
    found = []
    for entry in folder.iterdir():
        if not entry.name.endswith(".sql"):
            continue
        match = _NAME.fullmatch(entry.name)
        if match is None:
            raise MigrationFileError(f"{entry.name}: a migration is named like 0001_what_it_does.sql")
        data = entry.read_bytes()
        found.append(
            Migration(int(match["number"]), match["name"], data.decode(), hashlib.sha256(data).hexdigest())
        )
    found.sort(key=lambda one: (one.number, one.name))
    for place, migration in enumerate(found, start=1):
        if migration.number != place:
            raise MigrationFileError(
                f"migration {migration.number:04}_{migration.name} stands where {place:04} should"
            )
    return tuple(found)


def event_log_migrations() -> tuple[Migration, ...]:
    """The migrations of the event log itself."""
    return load_migrations(files("eventstore.migrations") / "sql")
