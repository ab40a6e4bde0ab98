"""What the fold of a table's events knows, and what its owner knows of the last round beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from upcard_table.domain.config import TableConfig

RECENT_TIPS: Final = 256
"""So many of the latest tips' transactions are remembered, to know a repeated one."""
RECENT_RETIRED: Final = 512
"""So many of the latest retired decks are remembered, so that none comes back."""


@dataclass(frozen=True, slots=True)
class Deck:
    """A deck at the table. `…_after_round`: the last round opened by then (0: none); None: never."""

    deck: str
    verified_after_round: int | None = None
    shuffled_after_round: int | None = None


@dataclass(frozen=True, slots=True)
class ConfigSince:
    """A configuration and the first round that it counts for."""

    from_round: int
    config: TableConfig


@dataclass(frozen=True, slots=True)
class TableState:
    """A table so far. Immutable: `evolve` gives the next one; `domain/codec.py` writes it for snapshots."""

    table: str = ""
    """Empty before it was opened for the first time."""
    open: bool = False
    configs: tuple[ConfigSince, ...] = ()
    """Ascending by round; the last is the newest. Those that no later round can need are dropped."""
    dealer: str | None = None
    shift: str | None = None
    decks: tuple[Deck, ...] = ()
    """In the order of their introduction."""
    retired: tuple[str, ...] = ()
    manual_mode: bool = False
    recent_tips: tuple[str, ...] = ()

    @property
    def config(self) -> TableConfig | None:
        """The newest configuration: what the next round is opened with."""
        return self.configs[-1].config if self.configs else None

    def config_of(self, number: int) -> TableConfig | None:
        """The configuration that a round of this number is, or would be, played with."""
        for since in reversed(self.configs):
            if since.from_round <= number:
                return since.config
        return self.configs[0].config if self.configs else None

    def deck(self, deck: str) -> Deck | None:
        """A deck that is at the table."""
        return next((one for one in self.decks if one.deck == deck), None)


@dataclass(frozen=True, slots=True)
class LastRound:
    """The last round opened at the table, as its own stream has it; the owner keeps it beside the state."""

    number: int = 0
    """0: no round was opened yet."""
    running: bool = False
    """Whether it is neither settled nor cancelled."""
    deck: str | None = None
    """The deck it was or is played with."""
    cancelled: str | None = None
    """Why it was cancelled; None: it was not."""


NEW_TABLE: Final = TableState()
NO_ROUND: Final = LastRound()
