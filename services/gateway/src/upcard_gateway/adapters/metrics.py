"""What the gateway shows of itself."""

from __future__ import annotations

from typing import Final

from servicekit.metrics import counter, gauge, histogram

_refused = counter(
    "upcard_gateway_calls_refused_total", "Calls of platforms that were not let in, by problem", ("code",)
)
_took = histogram(
    "upcard_gateway_http_seconds", "How long calls over HTTP took, by route and status", ("route", "status")
)
secrets_unreadable: Final = gauge(
    "upcard_gateway_secrets_unreadable",
    "Operators' secrets that no key of ours decrypts; alarm on any",
)
upkeep_failures: Final = counter(
    "upcard_gateway_upkeep_failures_total", "Failures of upkeep that pass", ("what",)
)

unknown_names: Final = counter(
    "upcard_gateway_staff_unknown_names_total", "Sign-ins of staff that failed for a name that nobody has"
)


class GuardMetrics:
    """Counts what was not let in."""

    def refused(self, code: str) -> None:
        """A call was not let in, because of this problem."""
        _refused.labels(code).inc()


def answered(route: str, status: int, took_s: float) -> None:
    """A call over HTTP was answered; `route` is its path's template."""
    _took.labels(route, str(status)).observe(took_s)
