"""What the declarations of the events do not say themselves: when and by whom an event is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

ActorKind = Literal["player", "dealer", "staff", "platform", "system"]

WRITTEN: Final[Mapping[str, str]] = {
    "RoundOpened": "When a round is opened (`OpenRound`): always the first event of its stream.",
    "BetPlaced": "During the betting window, once the money of every wager of a `PlaceBet`, `DoubleBets` "
    "or `RepeatBets` is held.",
    "BetDeclined": "When a wager's money was asked for and is not held, when a wager comes after the "
    "close of its window, and for each hold that is found without a stake (`DeclineBet`), after the end "
    "of the round too.",
    "BetWithdrawn": "During the betting window, for a `WithdrawBet`, `UndoBet` or `ClearBets`.",
    "BettingClosed": "At the end of the betting window (`CloseBetting`), not before its announced time, "
    "if there is a bet; else `WindowExtended` is written instead.",
    "CardScanned": "For each card that is laid in the place that awaits one (`ScanCard`).",
    "CardRescanned": "When a card is read again (`RescanCard`), up to the confirmation of the cards.",
    "CardBurned": "When a card is put aside (`BurnCard`), from the close of betting to the settlement.",
    "CardsRevealed": "At the showdown beside `DealerRevealed` where boxes lie face down, and once at the "
    "end of the round, settled or cancelled, with everything not yet opened (none when nothing is left).",
    "OptionsOpened": "When the cards of the deal are confirmed and a box is open; on exclusive tables "
    "again for each open box, in number order, when the box before it is done.",
    "OptionChosen": "During an options window (`ChooseOption`), once the money is held; a fold needs none.",
    "OptionsClosed": "At the end of an options window, or as soon as every asked box has decided "
    "(`CloseOptions`).",
    "FinalOptionsOpened": "When the replacement cards are confirmed, or nothing is to be laid, and a box "
    "is asked; skipped when none is.",
    "FinalOptionChosen": "During a final options window (`ChooseFinalOption`), once the money is held; "
    "and by the platform at its end, for each asked box without a choice, right before "
    "`FinalOptionsClosed`.",
    "FinalOptionsClosed": "At the end of a final options window, or as soon as every asked box has "
    "decided (`CloseFinalOptions`).",
    "WindowExtended": "When betting would close without a bet, and for each `ExtendWindow`.",
    "DealerRevealed": "Once a round, when every box has decided: on shared tables after the blind boxes "
    "have opened, on private tables before the boxes that did not fold.",
    "PurchaseOffered": "After the showdown, when the dealer has no game and a box may buy; else skipped.",
    "PurchaseMade": "During the purchase window (`MakePurchase`), once the money is held.",
    "PurchaseDeclined": "During the purchase window (`DeclinePurchase`); and by the platform at its end, "
    "for each asked box without a decision, right before `PurchaseClosed`.",
    "PurchaseClosed": "At the end of the purchase window, or as soon as every asked box has decided "
    "(`ClosePurchase`).",
    "DealerRequalified": "Once, when the cards drawn after a purchase are confirmed.",
    "PlayerSettled": "For each player with a bet, in the order of their first bets, once everything is "
    "decided and opened (`Settle`); again for each player whose lines a correction changes. At most 500 "
    "in one append.",
    "RoundSettled": "Right after the last player's `PlayerSettled`.",
    "RoundCancelled": "At any time before the settlement (`CancelRound`), right after the last "
    "`CardsRevealed` if a card lies face down.",
    "CorrectionDecided": "When a settled round is corrected (`Resettle`).",
    "RoundResettled": "Right after the last `PlayerSettled` of a correction, also when there is none.",
}
"""When each event is written, by its name; names in brackets are commands."""

ACTORS: Final[Mapping[str, tuple[ActorKind, ...]]] = {
    "RoundOpened": ("staff", "system"),
    "BetPlaced": ("player",),
    "BetDeclined": ("player", "system"),
    "BetWithdrawn": ("player",),
    "BettingClosed": ("system",),
    "CardScanned": ("dealer", "system"),
    "CardRescanned": ("dealer", "system"),
    "CardBurned": ("dealer", "system"),
    "CardsRevealed": ("dealer", "staff", "system"),
    "OptionsOpened": ("system",),
    "OptionChosen": ("player",),
    "OptionsClosed": ("system",),
    "FinalOptionsOpened": ("system",),
    "FinalOptionChosen": ("player", "platform"),
    "FinalOptionsClosed": ("system",),
    "WindowExtended": ("staff", "system"),
    "DealerRevealed": ("system",),
    "PurchaseOffered": ("system",),
    "PurchaseMade": ("player",),
    "PurchaseDeclined": ("player", "platform"),
    "PurchaseClosed": ("system",),
    "DealerRequalified": ("system",),
    "PlayerSettled": ("system",),
    "RoundSettled": ("system",),
    "RoundCancelled": ("dealer", "staff", "system"),
    "CorrectionDecided": ("staff",),
    "RoundResettled": ("system",),
}
"""Who can be an event's `actor` (CONTRACTS.md section 2)."""

MEANINGS: Final[Mapping[str, str]] = {
    "BetWithdrawn.kind": "One wager of a box (an ante takes the box's others with it), the latest "
    "placement that stands, or everything.",
    "WithdrawnStake.wager": "Which wager went back; a blind box's `bet` goes with its ante.",
    "CardRescanned.source": "Read by the shoe, or typed in by the dealer.",
    "OptionChosen.kind": "What was chosen.",
    "BoxPlayers.players": "The players' ids, in the order of their first bets.",
    "FinalOptionChosen.choice": "Bet now, give the box up, or leave the bet that stands as it is.",
    "WindowExtended.window": "Which window.",
    "PurchaseDeclined.by": "`platform` where the window passed (RULES.md section 4.6).",
    "RoundSettled.dealer": "The dealer's hand as dealt and at the end.",
    "ChoiceCorrection.box": "Box, 1-based from the dealer's left.",
    "CorrectionDecided.cards": "Places in which another card lay than was recorded.",
    "CorrectionDecided.choices": "Boxes that did something else than was recorded.",
    "RoundResettled.dealer": "The dealer's hand as dealt and at the end, after the correction.",
    "BoxResult.box": "Box, 1-based from the dealer's left.",
    "BoxResult.player": "The player's opaque id.",
    "BoxResult.outcome": "The box against the dealer; `refunded` in a correction that gives every wager "
    "back.",
    "BoxResult.best": "Name of the box's best hand (CONTRACTS.md section 1).",
    "BoxResult.combinations": "Names of the paid combinations, at most two, high to low, whoever wins.",
    "BoxResult.odds": "Sum of the odds of the combinations, to one.",
    "BoxResult.lines": "One entry a wager that was made, in the order of CONTRACTS.md section 1.",
    "BoxResult.staked": "All stakes and fees of the box, minor units.",
    "BoxResult.returned": "What goes back to the player, stakes included, minor units.",
    "BoxResult.net": "returned less staked.",
    "Line.wager": "Which wager.",
    "Line.stake": "Minor units.",
    "Line.returned": "What goes back to the player, the stake included where it does, minor units.",
    "Line.reason": "A stable slug that an explanation can be written from.",
    "Line.jackpot_share_percent": "Of a bonus B that won a share of the jackpot: how much of it, in "
    "percent; the amount is the bonus service's.",
    "Line.funding": "Id of the free bet that paid the stake; absent: cash.",
    "DealerResult.first": "Name of the hand as dealt.",
    "DealerResult.final_cards": "The dealer's five at the end, in the order dealt.",
    "DealerResult.final": "Name of the hand at the end.",
    "DealerResult.qualified": "Whether the hand at the end is a game: Ace-King or better.",
    "DealerResult.purchased": "Whether a box bought the exchange of the dealer's highest card.",
}
"""Meanings of the fields whose declaration carries none, as `Class.field`."""
