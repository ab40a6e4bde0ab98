"""Every Round event of CONTRACTS.md section 2: facts in the past tense, frozen, integers and texts only."""

from __future__ import annotations

from rules_core.round.events.betting import (
    BetDeclined,
    BetPlaced,
    BettingClosed,
    BetWithdrawn,
    DeclinedStake,
    RoundOpened,
    Stake,
    WithdrawnStake,
)
from rules_core.round.events.cards import (
    CardBurned,
    CardOpening,
    CardRescanned,
    CardScanned,
    CardsRevealed,
    DealerRequalified,
    DealerRevealed,
)
from rules_core.round.events.ending import (
    CardCorrection,
    ChoiceCorrection,
    CorrectionDecided,
    CurrencyTotal,
    PlayerSettled,
    RoundCancelled,
    RoundResettled,
    RoundSettled,
)
from rules_core.round.events.windows import (
    BoxPlayers,
    FinalOptionChosen,
    FinalOptionsClosed,
    FinalOptionsOpened,
    OptionChosen,
    OptionsClosed,
    OptionsOpened,
    PurchaseClosed,
    PurchaseDeclined,
    PurchaseMade,
    PurchaseOffered,
    WindowExtended,
)

RoundEvent = (
    RoundOpened
    | BetPlaced
    | BetDeclined
    | BetWithdrawn
    | BettingClosed
    | CardScanned
    | CardRescanned
    | CardBurned
    | CardsRevealed
    | OptionsOpened
    | OptionChosen
    | OptionsClosed
    | FinalOptionsOpened
    | FinalOptionChosen
    | FinalOptionsClosed
    | WindowExtended
    | DealerRevealed
    | PurchaseOffered
    | PurchaseMade
    | PurchaseDeclined
    | PurchaseClosed
    | DealerRequalified
    | PlayerSettled
    | RoundSettled
    | RoundCancelled
    | CorrectionDecided
    | RoundResettled
)
EVENT_TYPES: tuple[type[RoundEvent], ...] = (
    RoundOpened,
    BetPlaced,
    BetDeclined,
    BetWithdrawn,
    BettingClosed,
    CardScanned,
    CardRescanned,
    CardBurned,
    CardsRevealed,
    OptionsOpened,
    OptionChosen,
    OptionsClosed,
    FinalOptionsOpened,
    FinalOptionChosen,
    FinalOptionsClosed,
    WindowExtended,
    DealerRevealed,
    PurchaseOffered,
    PurchaseMade,
    PurchaseDeclined,
    PurchaseClosed,
    DealerRequalified,
    PlayerSettled,
    RoundSettled,
    RoundCancelled,
    CorrectionDecided,
    RoundResettled,
)
"""In the order of CONTRACTS.md section 2."""

__all__ = [
    "EVENT_TYPES",
    "BetDeclined",
    "BetPlaced",
    "BetWithdrawn",
    "BettingClosed",
    "BoxPlayers",
    "CardBurned",
    "CardCorrection",
    "CardOpening",
    "CardRescanned",
    "CardScanned",
    "CardsRevealed",
    "ChoiceCorrection",
    "CorrectionDecided",
    "CurrencyTotal",
    "DealerRequalified",
    "DealerRevealed",
    "DeclinedStake",
    "FinalOptionChosen",
    "FinalOptionsClosed",
    "FinalOptionsOpened",
    "OptionChosen",
    "OptionsClosed",
    "OptionsOpened",
    "PlayerSettled",
    "PurchaseClosed",
    "PurchaseDeclined",
    "PurchaseMade",
    "PurchaseOffered",
    "RoundCancelled",
    "RoundEvent",
    "RoundOpened",
    "RoundResettled",
    "RoundSettled",
    "Stake",
    "WindowExtended",
    "WithdrawnStake",
]
