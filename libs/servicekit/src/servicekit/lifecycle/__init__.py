"""The life of a service: an ordered start, work, an ordered stop, an exit status that says how it went."""

from servicekit.lifecycle.exits import ExitCode, StartRefused, WorkEnded
from servicekit.lifecycle.running import Main, run_service
from servicekit.lifecycle.service import Service, Work

__all__ = ["ExitCode", "Main", "Service", "StartRefused", "Work", "WorkEnded", "run_service"]
