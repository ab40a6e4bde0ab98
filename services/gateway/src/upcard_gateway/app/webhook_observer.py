"""What sending webhooks tells of itself: for metrics, logs and alarms."""

from __future__ import annotations

from typing import Protocol

from upcard_gateway.domain.webhooks import Decision, Outcome, WebhookType


class WebhookObserver(Protocol):
    """Is told what happens. Its methods return at once and raise nothing."""

    def tried(self, kind: WebhookType, outcome: Outcome, decision: Decision, took_s: float) -> None:
        """A webhook was sent once; this came of it."""
        ...

    def parked(self, endpoint: str, webhook: str, why: str) -> None:
        """A webhook was given up, until its operator has it sent again."""
        ...

    def failed(self, where: str, error: BaseException, pause_s: float) -> None:
        """Something of our own failed that passes."""
        ...


class Silent:
    """Tells nobody."""

    def tried(self, kind: WebhookType, outcome: Outcome, decision: Decision, took_s: float) -> None:
        """See `WebhookObserver`."""

    def parked(self, endpoint: str, webhook: str, why: str) -> None:
        """See `WebhookObserver`."""

    def failed(self, where: str, error: BaseException, pause_s: float) -> None:
        """See `WebhookObserver`."""
