"""Projections: views of this database's log, kept up to date and rebuilt beside the live ones."""

from eventstore.projections.projection import (
    REBUILD,
    Create,
    Handle,
    Projection,
    ProjectionError,
    ProjectionOutdated,
)
from eventstore.projections.rebuild import (
    DEFAULT_REBUILDING,
    Progress,
    Rebuilding,
    RebuildRunning,
    Rebuilt,
    rebuild_projection,
)
from eventstore.projections.runner import ALL_SHARDS, DEFAULT_RUNNING, Running, run_projection
from eventstore.projections.status import ProjectionStatus, projection_status
from eventstore.projections.tables import prepare_projection

__all__ = [
    "ALL_SHARDS",
    "DEFAULT_REBUILDING",
    "DEFAULT_RUNNING",
    "REBUILD",
    "Create",
    "Handle",
    "Progress",
    "Projection",
    "ProjectionError",
    "ProjectionOutdated",
    "ProjectionStatus",
    "RebuildRunning",
    "Rebuilding",
    "Rebuilt",
    "Running",
    "prepare_projection",
    "projection_status",
    "rebuild_projection",
    "run_projection",
]
