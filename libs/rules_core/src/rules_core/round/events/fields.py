"""The fields that many events share, each with its meaning; `docs/events.md` is made from these."""

from __future__ import annotations

from typing import Annotated, Literal

PlayerId = Annotated[str, "The player's opaque id."]
BoxNumber = Annotated[int, "Box, 1-based from the dealer's left."]
WindowBox = Annotated[
    int | None, "The box whose window it is (exclusive tables); null: all open boxes (shared tables)."
]
BetId = Annotated[str, "Id of the command that staked; new for each command, the same in each retry."]
Amount = Annotated[int, "Minor units."]
Currency = Annotated[str, "Currency of all amounts, three capital letters."]
ArrivedAt = Annotated[
    str, "When the command arrived at the table's owner; this decides whether it was in time."
]
OpenedAt = Annotated[str, "When the window opened."]
ClosesAt = Annotated[str, "When the window closes, unless extended or every asked box has decided."]
ClosedAt = Annotated[str, "When the window was closed."]
ConfirmedBy = Annotated[
    str | None, "Who confirmed the cards laid before (`dealer:<id>` or `system`); null: none had to be."
]
ScanId = Annotated[str, "The shoe reader's id of the scan; a repeated scan has the same id."]
PlaceName = Annotated[
    str, "`box.<box>.<i>`, `dealer.<i>`, `switch.<i>`, `replacement.<box>.<i>` or `draw.<i>`."
]
CardText = Annotated[str, "Rank and suit, for example `Ah`."]
Commitment = Annotated[str, "SHA-256 of card salt and card, lower-case hex (CONTRACTS.md section 2)."]
Funding = Annotated[str | None, "Id of the free bet that pays the stake; absent: cash."]

WindowKind = Literal["betting", "options", "final_options", "purchase"]
StakeName = Literal["ante", "bet", "bonus_player", "bonus_dealer"]
FeeName = Literal["ante", "bet", "option_fee", "insurance", "purchase_fee", "bonus_player", "bonus_dealer"]
BetKind = Literal["place", "double", "repeat"]
WithdrawKind = Literal["withdraw", "undo", "clear"]
DecidedOption = Literal["bet", "sixth", "exchange", "fold"]
FinalChoice = Literal["bet", "fold", "stand"]
ChosenBy = Literal["player", "platform"]
Source = Literal["shoe", "manual"]
ExtensionReason = Literal["no_bets", "fail_over", "floor"]
DefaultReason = Literal[
    "bet_stands", "has_combination", "no_combination", "bet_not_funded", "wallet_unavailable"
]
StakingCommandName = Literal[
    "PlaceBet", "DoubleBets", "RepeatBets", "ChooseOption", "ChooseFinalOption", "MakePurchase", "DeclineBet"
]
CorrectedOption = Literal["bet", "sixth", "exchange", "fold", "none"]
CorrectedFinal = Literal["bet", "fold"]
