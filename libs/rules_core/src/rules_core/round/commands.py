"""What can be asked of a round. Time, ids, salts and cards come in as arguments; nothing here reads a clock.

`arrived_at` is when a player's command reached the table's owner; `at` when the owner acts. `funds` says what
became of the money: a wager is accepted only when it is held (ARCHITECTURE.md, The round).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rules_core.cards import Card
from rules_core.round.events.betting import DeclinedStake
from rules_core.round.events.ending import CardCorrection, ChoiceCorrection
from rules_core.round.events.fields import DecidedOption, FinalChoice, Source
from rules_core.round.limits import CurrencyLimits, Durations

Funds = Literal["held", "refused", "unavailable", "not_asked"]
PlacedWager = Literal["ante", "bonus_player", "bonus_dealer"]
ExtensionReason = Literal["fail_over", "floor"]
Unfunded = Literal["refused", "unavailable"]

SETTLE_CHUNK_MAX = 500
"""Most `PlayerSettled` in one decision (ARCHITECTURE.md, Settling)."""


@dataclass(frozen=True, slots=True)
class OpenRound:
    """Open the round; refused unless the state is new and was made with this ruleset."""

    at: str
    table: str
    number: int
    ruleset: str
    ruleset_sha256: str
    engine: int
    limits: tuple[CurrencyLimits, ...]
    durations: Durations
    deck: str | None = None
    by: str = "system"


@dataclass(frozen=True, slots=True)
class Placement:
    """An amount (minor units) to add to one wager of one box; a blind box's bet is added by itself."""

    box: int
    wager: PlacedWager
    amount: int
    blind: bool = False
    funding: str | None = None


@dataclass(frozen=True, slots=True)
class PlaceBet:
    """Add to wagers; several boxes in one command stand or fall together (RULES.md section 4.1)."""

    player: str
    currency: str
    bet_id: str
    placements: tuple[Placement, ...]
    arrived_at: str
    funds: Funds = "held"


@dataclass(frozen=True, slots=True)
class DoubleBets:
    """Double every wager of the player that is not of one fixed amount, all or nothing."""

    player: str
    bet_id: str
    arrived_at: str
    funds: Funds = "held"


@dataclass(frozen=True, slots=True)
class RepeatBets:
    """Place the bets of the table's previous round again, all or nothing; `previous` comes from the table."""

    player: str
    currency: str
    bet_id: str
    previous: tuple[Placement, ...]
    arrived_at: str
    funds: Funds = "held"


@dataclass(frozen=True, slots=True)
class WithdrawBet:
    """Take one wager of a box back, whole; an ante takes its bet, B and D with it."""

    player: str
    box: int
    wager: PlacedWager
    arrived_at: str


@dataclass(frozen=True, slots=True)
class UndoBet:
    """Take back the player's latest placement that stands, whole."""

    player: str
    arrived_at: str


@dataclass(frozen=True, slots=True)
class ClearBets:
    """Take back all the player's bets."""

    player: str
    arrived_at: str


@dataclass(frozen=True, slots=True)
class DeclineBet:
    """Record that a hold without a stake is refused, so that it can be freed; after the round's end too."""

    player: str
    currency: str | None
    bet_id: str
    stakes: tuple[DeclinedStake, ...]
    reason: str
    arrived_at: str


@dataclass(frozen=True, slots=True)
class CloseBetting:
    """Close the betting window; without a bet it starts again."""

    at: str


@dataclass(frozen=True, slots=True)
class ScanCard:
    """Lay the next card in the place that awaits it. `card_salt`: 16 bytes as hex, needed face down.

    In manual mode (`source` manual) a face-down card comes without `card`; it is named when opened.
    """

    scan_id: str
    card: Card | None = field(repr=False)
    card_salt: str | None = field(default=None, repr=False)
    source: Source = "shoe"
    by: str = "system"


@dataclass(frozen=True, slots=True)
class RescanCard:
    """Read a misread card again, before the cards are confirmed (RULES.md section 7)."""

    scan_id: str
    place: str
    card: Card = field(repr=False)
    card_salt: str | None = field(default=None, repr=False)
    source: Source = "shoe"
    by: str = "system"


@dataclass(frozen=True, slots=True)
class BurnCard:
    """Put aside a card that belongs in no place; `card` None when it was not read."""

    scan_id: str
    card: Card | None = field(default=None, repr=False)
    by: str = "system"


@dataclass(frozen=True, slots=True)
class ConfirmCards:
    """Confirm the cards laid; what the round does next follows at once. `by`: the dealer, or `system`."""

    at: str
    by: str
    manual_cards: tuple[tuple[str, Card], ...] = field(default=(), repr=False)
    """In manual mode, the cards of the places that this opens."""


@dataclass(frozen=True, slots=True)
class Proceed:
    """Do the round's next own step when no card has to be confirmed: open a window or a hand."""

    at: str
    manual_cards: tuple[tuple[str, Card], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class ChooseOption:
    """Choose the option of an open box; final once recorded."""

    player: str
    box: int
    kind: DecidedOption
    arrived_at: str
    positions: tuple[int, ...] = ()
    bet_id: str | None = None
    funds: Funds = "held"


@dataclass(frozen=True, slots=True)
class CloseOptions:
    """Close the options window: its time is over, or every asked box has decided."""

    at: str


@dataclass(frozen=True, slots=True)
class ChooseFinalOption:
    """Bet, stand or fold, with insurance (minor units) where it is offered."""

    player: str
    box: int
    choice: FinalChoice
    arrived_at: str
    insurance: int = 0
    bet_id: str | None = None
    funds: Funds = "held"


@dataclass(frozen=True, slots=True)
class CloseFinalOptions:
    """Close the final window; boxes without a choice get the platform's (RULES.md section 4.6).

    `unfunded` names the default bets whose money was refused or not answered: (box, player, what).
    """

    at: str
    unfunded: tuple[tuple[int, str, Unfunded], ...] = ()


@dataclass(frozen=True, slots=True)
class MakePurchase:
    """Buy the exchange of the dealer's highest card for one box."""

    player: str
    box: int
    bet_id: str
    arrived_at: str
    funds: Funds = "held"


@dataclass(frozen=True, slots=True)
class DeclinePurchase:
    """Do not buy, for one box; final once recorded."""

    player: str
    box: int
    arrived_at: str


@dataclass(frozen=True, slots=True)
class ClosePurchase:
    """Close the purchase window."""

    at: str


@dataclass(frozen=True, slots=True)
class ExtendWindow:
    """Keep the open window open for longer."""

    at: str
    extend_ms: int
    reason: ExtensionReason
    by: str = "system"


@dataclass(frozen=True, slots=True)
class Settle:
    """Settle the next `limit` players; the last chunk ends the round, or the correction that runs."""

    limit: int = SETTLE_CHUNK_MAX


@dataclass(frozen=True, slots=True)
class CancelRound:
    """Give every wager back (RULES.md sections 4.9 and 7). `manual_cards`: what manual mode read by then."""

    reason: str
    by: str
    manual_cards: tuple[tuple[str, Card], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Resettle:
    """Correct a settled round: cards, choices, or a refund of every wager."""

    reason: str
    proposer: str
    approver: str
    refund: bool = False
    cards: tuple[CardCorrection, ...] = ()
    choices: tuple[ChoiceCorrection, ...] = ()
    limit: int = SETTLE_CHUNK_MAX


Command = (
    OpenRound
    | PlaceBet
    | DoubleBets
    | RepeatBets
    | WithdrawBet
    | UndoBet
    | ClearBets
    | DeclineBet
    | CloseBetting
    | ScanCard
    | RescanCard
    | BurnCard
    | ConfirmCards
    | Proceed
    | ChooseOption
    | CloseOptions
    | ChooseFinalOption
    | CloseFinalOptions
    | MakePurchase
    | DeclinePurchase
    | ClosePurchase
    | ExtendWindow
    | Settle
    | CancelRound
    | Resettle
)
