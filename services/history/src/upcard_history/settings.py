"""The history's settings, read from the environment (`UPCARD_…`) and nowhere else."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import Field

from messaging.service import ConnectedSettings
from servicekit.settings import DatabaseSettings, ServiceSettings
from transparency.service import CheckpointSettings

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
_NAMESPACE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class HistorySettings(ServiceSettings, DatabaseSettings, ConnectedSettings, CheckpointSettings):
    """Everything that a history can be told."""

    table_address: str = Field(description="host:port of the table service, whose events are followed")
    wallet_address: str = Field(description="host:port of the wallet, whose events are followed")
    bonus_address: str | None = Field(
        default=None, description="host:port of the bonus service; without it no jackpots and free bets"
    )

    lease_s: Annotated[float, Field(ge=1, le=600)] = Field(
        default=10.0,
        description="after the death of the instance that fills a view another one goes on within this time",
    )
    replay_interval_s: Seconds = Field(
        default=1.0, description="how often finished rounds are looked for that were not replayed, in seconds"
    )
    replays_at_once: int = Field(
        default=2, ge=1, le=64, description="rounds that are replayed at the same time because somebody asks"
    )
    exports_at_once: int = Field(
        default=16,
        ge=1,
        le=1_000,
        description="exports and bundles that are sent at the same time; more are refused",
    )
