"""What can be asked of a table beside its rounds. Who asks comes with the call, never in a field."""

from __future__ import annotations

from dataclasses import dataclass

from upcard_table.domain.config import TableConfig


@dataclass(frozen=True, slots=True)
class OpenTable:
    """Open a table, for the first time or after it was closed."""

    table: str
    config: TableConfig


@dataclass(frozen=True, slots=True)
class CloseTable:
    """Close the table; not while a round runs."""


@dataclass(frozen=True, slots=True)
class ChangeLimits:
    """Change the table's configuration, limits and all, from the next round on."""

    config: TableConfig


@dataclass(frozen=True, slots=True)
class SignInDealer:
    """The dealer takes the table over; nobody else is signed in."""

    dealer: str


@dataclass(frozen=True, slots=True)
class SignOutDealer:
    """The dealer leaves; during a round only staff can do this."""


@dataclass(frozen=True, slots=True)
class StartShift:
    """A shift begins; its figures are counted together."""

    shift: str


@dataclass(frozen=True, slots=True)
class EndShift:
    """The shift that runs ends."""


@dataclass(frozen=True, slots=True)
class IntroduceDeck:
    """Bring a deck to the table."""

    deck: str


@dataclass(frozen=True, slots=True)
class VerifyDeck:
    """All 52 cards of the deck were shown and are right."""

    deck: str


@dataclass(frozen=True, slots=True)
class ShuffleDeck:
    """The deck was shuffled."""

    deck: str


@dataclass(frozen=True, slots=True)
class RetireDeck:
    """Take a deck away for good."""

    deck: str
    reason: str
    """A slug, such as `worn` or `card_damaged`."""


@dataclass(frozen=True, slots=True)
class EnterManualMode:
    """The shoe reader is out of use: the dealer enters the cards. Cancels a running private round."""

    reason: str
    """A slug, such as `reader_failed`."""


@dataclass(frozen=True, slots=True)
class LeaveManualMode:
    """The shoe reader works again."""


@dataclass(frozen=True, slots=True)
class RecordTip:
    """A tip that the wallet has posted; `dealer` as the wallet was told."""

    player: str
    currency: str
    amount: int
    """Minor units."""
    transaction: str
    """The ledger's transaction, a UUID."""
    dealer: str | None = None


TableCommand = (
    OpenTable
    | CloseTable
    | ChangeLimits
    | SignInDealer
    | SignOutDealer
    | StartShift
    | EndShift
    | IntroduceDeck
    | VerifyDeck
    | ShuffleDeck
    | RetireDeck
    | EnterManualMode
    | LeaveManualMode
    | RecordTip
)
