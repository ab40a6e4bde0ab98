"""The table's events: facts of the stream `table-<id>`; what each means is the text of its class.

`…after_round` and `from_round` tie the table's stream to its rounds': they count the rounds that were opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from upcard_table.domain.config import TableConfig

DeckId = Annotated[str, "The deck's opaque id."]
AfterRound = Annotated[int, "Number of the last round that was opened by then; 0: none."]


@dataclass(frozen=True, slots=True)
class TableOpened:
    """The table was opened, for the first time or after it was closed."""

    table: Annotated[str, "The table's opaque id."]
    config: Annotated[TableConfig, "Its rules, limits, chips and times."]
    from_round: Annotated[int, "The first round that `config` counts for."]


@dataclass(frozen=True, slots=True)
class TableClosed:
    """The table was closed; the dealer was signed out and the shift ended before."""

    after_round: AfterRound


@dataclass(frozen=True, slots=True)
class LimitsChanged:
    """The table's configuration was changed, whole; a change counts from the next round."""

    config: Annotated[TableConfig, "All of it, as it is from then on."]
    from_round: Annotated[int, "The first round that `config` counts for."]


@dataclass(frozen=True, slots=True)
class DealerSignedIn:
    """A dealer took the table over."""

    dealer: Annotated[str, "The dealer's opaque id."]


@dataclass(frozen=True, slots=True)
class DealerSignedOut:
    """The dealer left the table."""

    dealer: Annotated[str, "The dealer's opaque id."]


@dataclass(frozen=True, slots=True)
class ShiftStarted:
    """A shift began."""

    shift: Annotated[str, "The shift's opaque id."]
    after_round: AfterRound


@dataclass(frozen=True, slots=True)
class ShiftEnded:
    """The shift ended; rounds after `after_round` are not its own."""

    shift: Annotated[str, "The shift's opaque id."]
    after_round: AfterRound


@dataclass(frozen=True, slots=True)
class DeckIntroduced:
    """A deck came to the table; nothing is known of its cards yet."""

    deck: DeckId


@dataclass(frozen=True, slots=True)
class DeckVerified:
    """All 52 cards of the deck were shown and are right."""

    deck: DeckId
    after_round: AfterRound


@dataclass(frozen=True, slots=True)
class DeckShuffled:
    """The deck was shuffled; it serves one round."""

    deck: DeckId
    after_round: AfterRound


@dataclass(frozen=True, slots=True)
class DeckRetired:
    """The deck was taken away for good."""

    deck: DeckId
    reason: Annotated[str, "Why, a slug."]


@dataclass(frozen=True, slots=True)
class ManualModeEntered:
    """The shoe reader is out of use; the dealer enters the cards."""

    reason: Annotated[str, "Why, a slug."]
    after_round: AfterRound


@dataclass(frozen=True, slots=True)
class ManualModeLeft:
    """The shoe reader works again; rounds after `after_round` are scanned."""

    after_round: AfterRound


@dataclass(frozen=True, slots=True)
class TipGiven:
    """A player gave a tip; the wallet had posted it before. It stays given, whatever becomes of the round."""

    player: Annotated[str, "The player's opaque id."]
    currency: Annotated[str, "Three capital letters."]
    amount: Annotated[int, "Minor units."]
    transaction: Annotated[str, "The wallet's ledger transaction, a UUID."]
    dealer: Annotated[str | None, "The dealer's opaque id; absent: nobody was signed in."] = None


TableEvent = (
    TableOpened
    | TableClosed
    | LimitsChanged
    | DealerSignedIn
    | DealerSignedOut
    | ShiftStarted
    | ShiftEnded
    | DeckIntroduced
    | DeckVerified
    | DeckShuffled
    | DeckRetired
    | ManualModeEntered
    | ManualModeLeft
    | TipGiven
)

EVENT_TYPES: Final[dict[str, tuple[int, type[TableEvent]]]] = {
    kind.__name__: (1, kind)
    for kind in (
        TableOpened,
        TableClosed,
        LimitsChanged,
        DealerSignedIn,
        DealerSignedOut,
        ShiftStarted,
        ShiftEnded,
        DeckIntroduced,
        DeckVerified,
        DeckShuffled,
        DeckRetired,
        ManualModeEntered,
        ManualModeLeft,
        TipGiven,
    )
}
"""Every type by name, with the version that is written; in the order of CONTRACTS.md section 2."""
