"""Settings of staff's sign-in."""

from __future__ import annotations

from pydantic import Field

from servicekit.settings import Settings


class StaffSettings(Settings):
    """How members of staff sign in, and for how long."""

    staff_idle_s: int = Field(
        default=1_800,
        ge=30,
        le=86_400,
        description="a session of staff without a sign locks itself after so long",
    )
    staff_dealer_idle_s: int = Field(
        default=300, ge=30, le=86_400, description="likewise a dealer's, in seconds"
    )
    staff_session_longest_s: int = Field(
        default=43_200, ge=60, le=604_800, description="a session of staff ends after so many seconds"
    )
    staff_sessions_max: int = Field(
        default=5,
        ge=1,
        le=100,
        description="most sessions that one member has; a further one ends the oldest",
    )
    staff_one_time_s: int = Field(
        default=259_200,
        ge=60,
        le=2_592_000,
        description="for how long a one-time password is good, in seconds",
    )
    staff_password_memory_kib: int = Field(
        default=65_536, ge=8_192, le=4_194_304, description="memory that hashing a password takes, in KiB"
    )
    staff_password_passes: int = Field(default=3, ge=1, le=100, description="passes of a password's hash")
    staff_hashing_max: int = Field(
        default=2, ge=1, le=64, description="passwords that are hashed at a time; others wait for a moment"
    )
    staff_refusal_s: float = Field(
        default=0.5,
        ge=0,
        le=10,
        description="a sign-in that fails is answered after so long, whatever was wrong",
    )
    staff_swept_s: float = Field(
        default=10.0, gt=0, le=3_600, description="how often idle sessions of staff are locked, in seconds"
    )
