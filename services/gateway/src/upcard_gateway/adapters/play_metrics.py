"""What players' connections show of themselves."""

from __future__ import annotations

from typing import Final

from servicekit.metrics import counter, gauge, histogram

__all__ = ["answered_seconds", "check_failures", "connections", "ended", "tables", "viewers", "waiting_bytes"]

connections: Final = gauge("upcard_gateway_play_connections", "Connections of players and viewers")
viewers: Final = gauge("upcard_gateway_play_viewers", "Connections that look on without signing in")
tables: Final = gauge("upcard_gateway_play_tables", "Tables that are followed for connections")
waiting_bytes: Final = gauge(
    "upcard_gateway_play_waiting_bytes", "Bytes that wait for all connections to take them"
)
ended: Final = counter(
    "upcard_gateway_play_ended_total",
    "Connections that were ended, by reason; gone: by the other side",
    ("reason",),
)
answered_seconds: Final = histogram(
    "upcard_gateway_play_answer_seconds", "How long players' messages took, by type", ("type",)
)
check_failures: Final = counter(
    "upcard_gateway_play_check_failures_total", "Failed looks at sessions and take-overs"
)
