"""A jackpot: its state, and what each event makes of it. `evolve` never validates and never raises."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

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
    JackpotSettings,
    SecretSize,
)


@dataclass(frozen=True, slots=True)
class Jackpot:
    """A jackpot between two events; amounts in minor units."""

    jackpot: str
    operator: str
    currency: str
    settings: JackpotSettings
    pool: int = 0
    remainder: int = 0
    """Millionths of a minor unit that no contribution has carried yet: 0 to 999,999."""
    cycle: int = 0
    """0: not seeded yet."""
    size: SecretSize | None = None
    """Of this cycle; None: it has no secret size."""
    fences: frozenset[str] = field(default_factory=frozenset)
    """The rounds that are about to be undone."""

    @property
    def fenced(self) -> bool:
        """Whether nothing may be paid now."""
        return bool(self.fences)


def evolve(state: Jackpot | None, event: JackpotEvent) -> Jackpot:
    """The jackpot after an event; the first one opens it."""
    if isinstance(event, JackpotOpened) or state is None:
        return _opened(event)
    match event:
        case JackpotChanged(settings=settings):
            return replace(state, settings=settings)
        case JackpotSeeded():
            size = event.secret_size if event.cycle != state.cycle or event.secret_size else state.size
            return replace(state, pool=event.pool, cycle=event.cycle, size=size)
        case JackpotContributed() | JackpotCorrected():
            return replace(state, pool=event.pool, remainder=event.remainder)
        case JackpotHit():
            ended = event.opening is not None
            return replace(state, pool=event.pool, size=None if ended else state.size)
        case JackpotFenced(round=name):
            return replace(state, fences=state.fences | {name})
        case JackpotFenceLifted(round=name):
            return replace(state, fences=state.fences - {name})


def fold(events: Iterable[JackpotEvent]) -> Jackpot | None:
    """The jackpot after all of its events; None without any."""
    state: Jackpot | None = None
    for event in events:
        state = evolve(state, event)
    return state


def _opened(event: JackpotEvent) -> Jackpot:
    if not isinstance(event, JackpotOpened):
        return Jackpot(event.jackpot, "", "", JackpotSettings(0, 0))
    return Jackpot(event.jackpot, event.operator, event.currency, event.settings)
