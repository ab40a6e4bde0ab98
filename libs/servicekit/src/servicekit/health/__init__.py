"""Is the service alive, and is it ready."""

from servicekit.health.checks import below, mirror_readiness
from servicekit.health.heartbeat import Heartbeat
from servicekit.health.readiness import Check, NotReady, Phase, Readiness, Report, Result

__all__ = [
    "Check",
    "Heartbeat",
    "NotReady",
    "Phase",
    "Readiness",
    "Report",
    "Result",
    "below",
    "mirror_readiness",
]
