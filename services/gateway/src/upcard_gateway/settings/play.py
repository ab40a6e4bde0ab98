"""Settings of players' WebSockets."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import Field, field_validator

from servicekit.settings import Settings

_ORIGIN: Final = re.compile(r"https?://[^\s/?#@]+")
Seconds = Annotated[float, Field(gt=0, le=3_600, allow_inf_nan=False)]


class PlaySettings(Settings):
    """How players' connections are served."""

    play_origins: tuple[str, ...] = Field(
        default=(),
        description="origins of pages that may connect beside ours and those of operators' launch links, with"
        " commas between them",
    )
    play_connections_max: int = Field(
        default=20_000, ge=1, le=1_000_000, description="most connections of this instance"
    )
    play_address_connections_max: int = Field(
        default=500, ge=1, le=1_000_000, description="most connections of one address"
    )
    play_viewers_max: int = Field(
        default=10_000, ge=0, le=1_000_000, description="most connections that look on without signing in"
    )
    play_address_viewers_max: int = Field(
        default=20, ge=0, le=1_000_000, description="most of these of one address"
    )
    play_view_s: Annotated[float, Field(ge=1, le=86_400, allow_inf_nan=False)] = Field(
        default=900.0, description="for how long one may look on without signing in, in seconds"
    )
    play_views_per_h: int = Field(
        default=20, ge=1, le=1_000_000, description="how often an hour one address may begin to look on"
    )
    play_hello_s: Seconds = Field(default=10.0, description="within how many seconds `hello` has to come")
    play_silence_s: Seconds = Field(
        default=60.0, description="a connection that says nothing for so many seconds is ended"
    )
    play_ping_s: Seconds = Field(
        default=20.0, description="how often a connection is asked whether it is there, in seconds"
    )
    play_messages_per_s: Annotated[float, Field(gt=0, le=1_000, allow_inf_nan=False)] = Field(
        default=10.0, description="messages a second of one connection, for long"
    )
    play_messages_burst: int = Field(
        default=30, ge=1, le=10_000, description="messages of one connection at once, after a pause"
    )
    play_write_buffer_bytes: int = Field(
        default=262_144,
        ge=4_096,
        le=67_108_864,
        description="bytes that may wait for one connection to take them; more: it is dropped as too slow",
    )
    play_write_total_bytes: int = Field(
        default=268_435_456,
        ge=1_048_576,
        le=17_179_869_184,
        description="bytes that may wait for all connections together; more: the slowest are dropped",
    )
    play_buffer_messages: int = Field(
        default=2_000, ge=10, le=100_000, description="messages of a table that are kept for who comes back"
    )
    play_buffer_bytes: int = Field(
        default=4_194_304, ge=65_536, le=1_073_741_824, description="bytes of these"
    )
    play_tables_kept_s: Seconds = Field(
        default=60.0, description="for how long a table is followed that nobody watches, in seconds"
    )
    play_table_away_s: Seconds = Field(
        default=60.0, description="how long the table service may be away before connections end, in seconds"
    )
    play_checked_s: Annotated[float, Field(gt=0, le=60, allow_inf_nan=False)] = Field(
        default=0.5, description="how often sessions and take-overs are looked up, in seconds"
    )
    play_answer_max_s: Seconds = Field(
        default=10.0, description="the longest that a player's message may take, in seconds"
    )

    @field_validator("play_origins")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            if not _ORIGIN.fullmatch(one):
                raise ValueError("each has to be an origin, such as https://play.example")
        return value
