"""Settings of players' WebSockets."""

from __future__ import annotations

from servicekit.settings import Settings


class PlaySettings(Settings):
    """How players' connections are served."""
