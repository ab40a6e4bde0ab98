"""Settings of the chats of tables."""

from __future__ import annotations

from pydantic import Field

from servicekit.settings import Settings


class ChatSettings(Settings):
    """How chats are kept and told."""

    chat_kept_days: int = Field(
        default=30, ge=1, le=3_650, description="after so many days lines of chats are removed"
    )
    chat_every_s: float = Field(
        default=0.5,
        gt=0,
        le=10,
        allow_inf_nan=False,
        description="how often what other instances were told is looked for, in seconds",
    )
