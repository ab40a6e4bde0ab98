"""Settings of players' sessions."""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator

from servicekit.settings import Settings


class SessionSettings(Settings):
    """How long sessions last."""

    launch_token_s: int = Field(
        default=120, ge=5, le=3_600, description="for how long a launch token is good, in seconds"
    )
    session_idle_s: int = Field(
        default=900,
        ge=10,
        le=86_400,
        description="a session without a sign of its player ends after so many seconds",
    )
    session_longest_s: int = Field(
        default=43_200, ge=60, le=604_800, description="a session ends after so many seconds whatever happens"
    )
    sessions_swept_s: float = Field(
        default=5.0, gt=0, le=3_600, description="how often sessions are ended that are over, in seconds"
    )

    @field_validator("session_longest_s")
    @classmethod
    def _longer_than_idle(cls, value: int, others: ValidationInfo) -> int:
        idle = others.data.get("session_idle_s")
        if idle is not None and value < idle:
            raise ValueError("it has to be UPCARD_SESSION_IDLE_S or more")
        return value
