"""What sending webhooks shows of itself: metrics, and a line of the log for what is an alarm."""

from __future__ import annotations

from typing import Final

import structlog

from servicekit.metrics import counter, gauge, histogram
from upcard_gateway.domain.webhooks import Decision, Outcome, WebhookType

_log = structlog.get_logger("upcard_gateway.webhooks")

_tries = counter(
    "upcard_gateway_webhook_tries_total",
    "Webhooks that were sent once, by what came of it",
    ("type", "outcome"),
)
_took = histogram("upcard_gateway_webhook_try_seconds", "How long endpoints took to answer", ("type",))
_parked = counter("upcard_gateway_webhooks_parked_total", "Webhooks that were given up")
_failures = counter("upcard_gateway_webhook_failures_total", "Failures of our own that pass", ("where",))
waiting: Final = gauge("upcard_gateway_webhooks", "Webhooks that are not through, by state", ("state",))
failing_endpoints: Final = gauge(
    "upcard_gateway_webhook_endpoints_failing", "Endpoints whose last try failed"
)
oldest: Final = gauge(
    "upcard_gateway_webhook_oldest_due_seconds", "For how long the webhook that is due longest has been due"
)


class WebhookMetrics:
    """A `WebhookObserver`."""

    def tried(self, kind: WebhookType, outcome: Outcome, decision: Decision, took_s: float) -> None:  # noqa: ARG002 - as the port has it
        """See `WebhookObserver`."""
        _tries.labels(kind, decision.what).inc()
        _took.labels(kind).observe(took_s)

    def parked(self, endpoint: str, webhook: str, why: str) -> None:
        """See `WebhookObserver`."""
        _parked.inc()
        _log.warning("a webhook is given up", endpoint=endpoint, webhook=webhook, why=why)

    def failed(self, where: str, error: BaseException, pause_s: float) -> None:
        """See `WebhookObserver`."""
        _failures.labels(where).inc()
        _log.warning("work with webhooks failed", where=where, why=type(error).__name__, pause_s=pause_s)
