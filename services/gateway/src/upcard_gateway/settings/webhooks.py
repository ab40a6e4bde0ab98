"""Settings of webhooks."""

from __future__ import annotations

from pydantic import Field

from servicekit.settings import Settings
from upcard_gateway.domain.webhooks import Policy


class WebhookSettings(Settings):
    """How webhooks are sent."""

    webhooks_inside: bool = Field(
        default=False,
        description="whether webhooks go to http:// and private addresses too: for demonstrations and tests",
    )
    webhook_timeout_s: float = Field(
        default=10.0,
        gt=0,
        le=60,
        allow_inf_nan=False,
        description="the longest that one try may take, in seconds",
    )
    webhook_park_after_s: float = Field(
        default=43_200.0,
        ge=43_200,
        le=2_592_000,
        allow_inf_nan=False,
        description="for how long a webhook that fails is tried, in seconds, 12 hours or more",
    )
    webhook_at_once: int = Field(
        default=4, ge=1, le=64, description="tries of one endpoint at the same time, in each instance"
    )
    webhook_queue_max: int = Field(
        default=100_000,
        ge=1_000,
        le=10_000_000,
        description="about how many webhooks may wait for one endpoint; further ones are parked at once",
    )
    webhook_kept_days: int = Field(
        default=30, ge=1, le=3_650, description="for how long webhooks that got through are listed, in days"
    )
    webhook_parked_kept_days: int = Field(
        default=90,
        ge=7,
        le=3_650,
        description="for how long webhooks that were given up can be sent again, in days",
    )
    webhook_secret_overlap_s: float = Field(
        default=86_400.0,
        ge=0,
        le=2_592_000,
        allow_inf_nan=False,
        description="for how long the secret before signs as well, once it is replaced, in seconds",
    )

    def webhook_policy(self) -> Policy:
        """Times and bounds of sending."""
        return Policy(
            timeout_s=self.webhook_timeout_s,
            park_after_s=self.webhook_park_after_s,
            at_once=self.webhook_at_once,
        )
