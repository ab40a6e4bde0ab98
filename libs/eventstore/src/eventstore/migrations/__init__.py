"""Migrations: numbered plain SQL files, forward only, applied once each by `migrate`."""

from eventstore.migrations.files import Migration, MigrationFileError, event_log_migrations, load_migrations
from eventstore.migrations.runner import (
    Applied,
    DatabaseIsNewer,
    MigrationBlocked,
    MigrationChanged,
    migrate,
    pending_migrations,
    prepare_event_log,
)

__all__ = [
    "Applied",
    "DatabaseIsNewer",
    "Migration",
    "MigrationBlocked",
    "MigrationChanged",
    "MigrationFileError",
    "event_log_migrations",
    "load_migrations",
    "migrate",
    "pending_migrations",
    "prepare_event_log",
]
