"""Rounds of a platform's players: what was dealt, chosen, staked and paid."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from upcard_platform.models.fields import AnswerModel, MinorUnits, Moment, OpaqueId, PlayerId

__all__ = [
    "DealerHand",
    "PlayedBox",
    "PlayedHand",
    "PlayedWager",
    "PlayerRound",
    "PlayerRoundList",
    "RoundDetail",
    "RoundEvent",
    "RoundEventList",
    "RoundLink",
    "RoundOfPlayers",
    "RoundState",
]

RoundState = Literal["open", "settled", "cancelled"]


class DealerHand(AnswerModel):
    """The dealer's hand of a settled round, the latest correction counted."""

    first: str = Field(description="name of the hand as dealt, such as ace_king")
    final: str = Field(description="name of the hand at the end")
    cards: list[str] = Field(description="the five at the end, in the order dealt: rank and suit, such as Ah")
    qualified: bool = Field(description="whether the final hand is a game")
    purchased: bool = Field(description="whether somebody bought a card for the dealer")


class PlayerRound(AnswerModel):
    """A round with a bet of a player's, in few words."""

    round: str = Field(description="its name, <table>.<number>")
    table: OpaqueId
    number: int
    ruleset: str = Field(description="name@version of the rules it is played by")
    player: PlayerId
    currency: str
    state: RoundState
    reason: str | None = Field(description="why it was cancelled, a slug")
    opened_at: Moment
    ended_at: Moment | None
    staked: MinorUnits = Field(description="the player's stakes and fees: as settled, else what stands now")
    returned: MinorUnits | None = Field(description="what went back, stakes included; null while it is open")
    net: MinorUnits | None = Field(description="returned less staked; null while it is open")
    revision: int = Field(description="of the result: more than 1 after a correction, 0 before it is settled")
    decided_by_platform: int = Field(description="decisions taken for the player when a window had passed")
    dealer: DealerHand | None
    history_url: str | None = Field(
        description="shows this round to this player for ever, without signing in; null: links are not set up"
    )


class PlayerRoundList(AnswerModel):
    """A page of a player's rounds, the newest first."""

    items: list[PlayerRound]
    next: str | None = Field(description="`after` of the next page; null: this was the last one")


class PlayedHand(AnswerModel):
    """A hand as it is told."""

    name: str = Field(description="such as two_pair; nothing: no combination")
    combinations: list[str] = Field(description="those that are paid")
    odds: int = Field(description="a winning bet is paid so many to one")


class PlayedWager(AnswerModel):
    """One wager or fee of a box."""

    wager: str = Field(
        description="ante, bet, option_fee, insurance, purchase_fee, bonus_player, bonus_dealer"
    )
    stake: MinorUnits
    returned: MinorUnits | None = Field(description="what went back, the stake included; null: not settled")
    reason: str | None = Field(description="why it ended so, a slug")


class PlayedBox(AnswerModel):
    """A box that the player has bet on."""

    box: int = Field(description="1-based, from the dealer's left")
    blind: bool = Field(description="whether ante and bet were staked before the deal")
    cards: list[str] = Field(description="as dealt: rank and suit, such as Ah, or hidden")
    option: str | None = Field(description="what was chosen in the first window: bet, fold, sixth, exchange")
    positions: list[int] = Field(description="which cards were exchanged, 0-based")
    bought: int = Field(description="cards that were bought")
    final: str | None = Field(description="what was chosen in the second window: bet or fold")
    final_by: str | None = Field(description="who chose that: player, or platform when the window had passed")
    purchase: bool | None = Field(description="whether a card was bought for the dealer; null: not asked")
    folded: bool
    hand: PlayedHand | None = Field(description="what the cards made; null: not known yet")
    wagers: list[PlayedWager]
    outcome: str | None = Field(description="such as win, lose, tie, fold; null: not settled")
    staked: MinorUnits
    returned: MinorUnits | None
    net: MinorUnits | None
    words: list[str] = Field(description="why it ended so, in English sentences; none before it is settled")


class RoundDetail(PlayerRound):
    """A round as one of its players may see it: cards and choices, why each wager ended as it did."""

    step: str = Field(description="how far it is, such as betting or settled")
    corrections: int = Field(description="how often it was corrected")
    cards: dict[str, str] = Field(
        description="place to card or hidden: all cards that were laid, such as dealer.0, box.2.4, switch.1"
    )
    boxes: list[PlayedBox] = Field(description="the player's own; none while the round is open")
    words: list[str] = Field(description="about the rules and the dealer, in English sentences")


class RoundOfPlayers(AnswerModel):
    """A round with the parts that the platform's own players have in it."""

    round: str
    items: list[PlayerRound] = Field(description="one a player")
    more: bool = Field(description="whether there are more players: the transactions report has all")


class RoundEvent(AnswerModel):
    """One thing that happened in a round, as the player may see it."""

    position: int = Field(description="in the round's record")
    at: Moment
    type: str = Field(description="such as CardScanned")
    data: dict[str, Any] = Field(description="what it says; other players are not in it")


class RoundEventList(AnswerModel):
    """What happened in a round, in the order in which it was shown."""

    items: list[RoundEvent]
    next: str | None = Field(description="`after` of the next page; null: this was the last one")


class RoundLink(AnswerModel):
    """An address that shows a round to its player."""

    round: str
    player: PlayerId
    history_url: str = Field(
        description="the same each time, and never out of date: shows the round to whoever has it"
    )
