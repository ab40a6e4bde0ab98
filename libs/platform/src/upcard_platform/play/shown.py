"""What a player is shown of a table: events, boxes, hands in words, and what may be done."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from upcard_platform.models.fields import Amount, AnswerModel, MinorUnits

__all__ = [
    "Actions",
    "FinalAction",
    "FreeBetOffer",
    "InsuranceBounds",
    "KnownBonus",
    "OptionAction",
    "OwnBox",
    "OwnEvent",
    "OwnHand",
    "PlaceAction",
    "PurchaseAction",
    "Staked",
    "TableEvent",
    "TableNow",
    "WithdrawAction",
]


class TableNow(AnswerModel):
    """A table as it is now."""

    table: str
    name: str
    ruleset: str
    open: bool
    dealer: str | None = None
    dealer_name: str | None = Field(default=None, description="what the dealer is called; null: no dealer")
    manual_mode: bool = False
    currencies: list[str] = Field(default=[])


class TableEvent(AnswerModel):
    """An event as everybody sees it."""

    round: int = Field(description="0: an event of the table itself")
    position: int = Field(description="in the stream of the round or table; rises, with gaps")
    type: str = Field(description="such as `CardScanned` (docs/events.md)")
    payload: dict[str, Any] = Field(description="docs/events, without what not everybody may see")
    crowd: dict[str, Any] | None = Field(
        default=None, description="shared tables: what all players together did in the window that closes"
    )


class KnownBonus(AnswerModel):
    """What bonus B of a private box came to; it is paid with the round."""

    box: int
    stake: MinorUnits
    hand: str | None = Field(description="null: lost")
    returned: MinorUnits
    jackpot_share_percent: int | None = None


class OwnEvent(AnswerModel):
    """An event as its own player sees it."""

    round: int
    position: int
    type: str
    payload: dict[str, Any]
    cards: dict[str, str] = Field(
        default={}, repr=False, description="face-down cards that the player sees from here on, by place"
    )
    bonuses: list[KnownBonus] = Field(default=[])


class OwnHand(AnswerModel):
    """A hand, in words."""

    name: str = Field(description="a slug, such as `two_pair`")
    words: str = Field(description="such as `Two pair`")
    combinations: list[str] = Field(default=[])
    odds: int | None = Field(default=None, description="what its combinations pay together, to one")
    game: bool | None = Field(default=None, description="of the dealer: whether it qualifies")


class OwnBox(AnswerModel):
    """A box that the player plays."""

    box: int
    blind: bool
    cards: list[str | None] = Field(repr=False, description="as they lie; null: face down for the player")
    bought: list[str | None] = Field(default=[], repr=False, description="cards that were bought, in order")
    hand: OwnHand | None = None
    turn: Literal["ahead", "now", "over"] | None = None
    asked: bool = Field(description="whether a decision is awaited now")
    wagers: dict[str, MinorUnits]
    staked: MinorUnits
    option: str | None = None
    positions: list[int] = Field(default=[])
    final: str | None = None
    final_by: str | None = None
    purchase: bool | None = None
    folded: bool = False
    result: dict[str, Any] | None = Field(default=None, description="outcome, lines, staked, returned, net")
    words: str | None = Field(default=None, description="what is awaited, or what it came to")


class Staked(AnswerModel):
    """A wager of a box."""

    box: int
    wager: str
    amount: MinorUnits
    blind: bool = False
    funding: str | None = Field(default=None, description="the free bet that paid for it; null: cash")


class PlaceAction(AnswerModel):
    """From `min` to `max` in steps of `step` may be added to this wager of each of these boxes, at once."""

    boxes: list[int]
    wager: str
    blind: list[int] = Field(description="those of `boxes` that are, or would be, played blind")
    min: MinorUnits
    max: MinorUnits
    step: MinorUnits


class WithdrawAction(AnswerModel):
    """This wager may be taken back."""

    box: int
    wager: str


class OptionAction(AnswerModel):
    """This box's option may be chosen; `fold` always."""

    box: int
    bet: MinorUnits = Field(description="what it would stake; 0: not offered")
    fee: MinorUnits = Field(description="of a sixth card or an exchange")
    sixth_card: bool
    exchange_max: int = Field(description="most cards that may be exchanged; 0: none")


class InsuranceBounds(AnswerModel):
    """What may be insured."""

    min: MinorUnits
    max: MinorUnits
    step: MinorUnits = 1


class FinalAction(AnswerModel):
    """This box's final option may be chosen."""

    box: int
    choices: list[Literal["bet", "stand", "fold"]]
    bet: MinorUnits = Field(description="what `bet` would stake; 0: it stands already")
    insurance: InsuranceBounds | None = None
    win_max: MinorUnits
    cap_room: MinorUnits | None = None


class PurchaseAction(AnswerModel):
    """The dealer's exchange may be bought for this box, or declined."""

    box: int
    fee: MinorUnits = Field(description="0: it can only be declined")


class FreeBetOffer(AnswerModel):
    """A free bet that may pay for a placement: its id is the placement's `funding`."""

    funding: str
    wager: str
    amount: MinorUnits
    until: str | None = None


class Actions(AnswerModel):
    """Everything that may be done now, with its bounds: what is not here is not accepted."""

    place: list[PlaceAction] = Field(default=[])
    withdraw: list[WithdrawAction] = Field(default=[])
    undo: bool = False
    clear: bool = False
    double: MinorUnits | None = Field(default=None, description="what it would add in all; null: not offered")
    rebet: bool = False
    options: list[OptionAction] = Field(default=[])
    finals: list[FinalAction] = Field(default=[])
    purchases: list[PurchaseAction] = Field(default=[])
    chips: list[Amount] = Field(default=[], description="chip values to offer, none above the balance")
    free_bets: list[FreeBetOffer] = Field(default=[])
