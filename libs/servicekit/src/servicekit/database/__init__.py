"""The service's database: reached patiently, watched, told of in metrics and readiness."""

from servicekit.database.appending import appender_figures
from servicekit.database.connecting import Component, connect, open_when_fit, place_of, require_migrated
from servicekit.database.following import FollowerMetrics
from servicekit.database.monitor import Monitor
from servicekit.database.stage import event_log, start_database

__all__ = [
    "Component",
    "FollowerMetrics",
    "Monitor",
    "appender_figures",
    "connect",
    "event_log",
    "open_when_fit",
    "place_of",
    "require_migrated",
    "start_database",
]
