"""All events of the bonus service by name, with the version that is written."""

from __future__ import annotations

from typing import Final

from upcard_bonus.domain.free_bet_events import (
    FreeBetEvent,
    FreeBetExpired,
    FreeBetGranted,
    FreeBetReturned,
    FreeBetUsed,
)
from upcard_bonus.domain.jackpot_events import (
    JackpotChanged,
    JackpotContributed,
    JackpotCorrected,
    JackpotEvent,
    JackpotFenced,
    JackpotFenceLifted,
    JackpotHit,
    JackpotOpened,
    JackpotSeeded,
)
from upcard_bonus.domain.side_bet_events import BonusDetermined, BonusVoided, SideBetEvent

BonusEvent = SideBetEvent | JackpotEvent | FreeBetEvent

EVENT_TYPES: Final[dict[str, tuple[int, type[BonusEvent]]]] = {
    kind.__name__: (1, kind)
    for kind in (
        BonusDetermined,
        BonusVoided,
        JackpotOpened,
        JackpotChanged,
        JackpotSeeded,
        JackpotContributed,
        JackpotHit,
        JackpotFenced,
        JackpotFenceLifted,
        JackpotCorrected,
        FreeBetGranted,
        FreeBetUsed,
        FreeBetReturned,
        FreeBetExpired,
    )
}
"""Every type by name, with its version."""
