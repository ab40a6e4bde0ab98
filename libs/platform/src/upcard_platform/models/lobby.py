"""The lobby: tables, their boards and rules, free bets, jackpots. Amounts are minor units."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from upcard_platform.models.fields import (
    Amount,
    AskedMoment,
    Currency,
    Language,
    MinorUnits,
    Moment,
    OpaqueId,
    PlayerId,
    RequestId,
    RequestModel,
)

__all__ = [
    "AmountRange",
    "BonusPayout",
    "BoxLimits",
    "CurrencyLimits",
    "Dealer",
    "DealerHand",
    "DoublePayout",
    "Durations",
    "FreeBet",
    "FreeBetPage",
    "GrantFreeBet",
    "Jackpot",
    "JackpotPage",
    "LimitsBoard",
    "LobbyTable",
    "Payout",
    "PayoutsBoard",
    "RevokeFreeBet",
    "RoundResult",
    "RuleSection",
    "RuleSentence",
    "RuleTable",
    "RulesPage",
    "Seats",
    "TableAnswer",
    "TableAntes",
    "TablePage",
]

HandName = Annotated[str, Field(description="such as `full_house`: the names of docs/RULES.md, section 2")]
FreeBetWager = Literal["ante", "bonus_player", "bonus_dealer"]


class _Shown(BaseModel):
    """An answer. Fields may be added later; readers pass over those that they do not know."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class AmountRange(_Shown):
    """The least and the most of one wager."""

    min: MinorUnits
    max: MinorUnits


class TableAntes(_Shown):
    """What may be staked on the ante of a box, in one currency."""

    currency: Currency
    ante: AmountRange
    max_payout: MinorUnits | None = Field(description="most that a bet wins there; null: no cap")


class Dealer(_Shown):
    """Who deals."""

    id: OpaqueId
    name: str | None = Field(description="shown to players; null: none is set for this dealer")


class Seats(_Shown):
    """Which boxes are taken."""

    boxes: int
    shared: bool = Field(description="whether any number of players play the same boxes")
    taken: list[int] = Field(
        description="boxes that have a player in the round that runs; shared tables: none"
    )
    free: list[int] = Field(description="boxes that can be taken, as far as the rules of seating allow")
    players: int | None = Field(description="people who sit there; null at shared tables")


class DealerHand(_Shown):
    """The dealer's hand of a settled round."""

    first: HandName = Field(description="as dealt")
    final: HandName
    cards: list[str] = Field(description="the five at the end, such as Ah, in the order dealt")
    qualified: bool = Field(description="whether the final hand is a game")
    purchased: bool = Field(description="whether a card was bought for the dealer")


class RoundResult(_Shown):
    """How a round ended, as everybody may know it."""

    round: str = Field(description="the round's id")
    number: int
    end: Literal["settled", "cancelled"]
    reason: str | None = Field(description="why it was cancelled")
    ended_at: Moment
    dealer: DealerHand | None = Field(description="null: it was cancelled")
    corrections: int = Field(description="how often it was corrected afterwards")


class LobbyTable(_Shown):
    """A table, as a lobby shows it."""

    table: OpaqueId
    name: str
    ruleset: str = Field(description="name@version; boards and rules page are made of it")
    title: str = Field(description="the ruleset's own name")
    kind: Literal["shared", "exclusive"]
    boxes: int
    state: Literal["closed", "waiting", "betting", "playing"] = Field(
        description="closed; open without a round that runs; bets are taken; bets are closed"
    )
    step: str | None = Field(description="of the latest round; null: none was opened yet")
    round: int = Field(description="number of the latest round; 0: none was opened yet")
    manual_mode: bool = Field(
        description="whether the dealer enters the cards, since the shoe reader is out of use"
    )
    languages: list[Language] = Field(description="that are spoken at the table")
    dealer: Dealer | None = Field(description="null: nobody is signed in")
    limits: list[TableAntes] = Field(description="by currency: those of yours that the table takes")
    jackpot: OpaqueId | None = Field(description="the progressive jackpot that bonus B plays for")
    seats: Seats | None = Field(description="null: not known at the moment")
    last_results: list[RoundResult] | None = Field(
        description="newest first, a few; null: not known at the moment"
    )


class _Aged(_Shown):
    as_of: Moment = Field(description="when the oldest part of this was read")
    stale: bool = Field(
        description="whether a part is older than it should be, since what it comes from does not answer"
    )


class TablePage(_Aged):
    """Tables by id."""

    items: list[LobbyTable]
    next: str | None = Field(description="`after` of the following page; null at the end")


class TableAnswer(_Aged):
    """One table."""

    item: LobbyTable


class Durations(_Shown):
    """How long windows stay open, in milliseconds."""

    betting_ms: int
    options_ms: int
    final_options_ms: int
    purchase_ms: int
    extension_max_ms: int = Field(description="most that one window may be extended, all extensions together")


class BoxLimits(_Shown):
    """What holds in one box."""

    box: int
    kinds: list[Literal["open", "blind"]] = Field(description="how it can be played")
    ante: AmountRange
    bet: AmountRange
    max_payout: MinorUnits | None


class CurrencyLimits(_Shown):
    """What may be staked in one currency."""

    currency: Currency
    chip: MinorUnits = Field(description="the smallest chip: totals are multiples of it")
    chips: list[MinorUnits] = Field(description="the ten chip values that are offered, rising")
    ante: AmountRange
    bet: AmountRange
    bonus_player: AmountRange | None = Field(description="bonus B; null: not taken")
    bonus_dealer: AmountRange | None = Field(description="bonus D; null: not taken")
    insurance_max: MinorUnits | None = Field(description="lowers the insurance's most; null: no limit")
    max_payout: MinorUnits | None = Field(
        description="most that a bet wins, per player, box and round; null: no cap"
    )
    player_total_max: MinorUnits | None = Field(
        description="most that one player may have staked before the deal; null: no limit"
    )
    boxes: list[BoxLimits] = Field(description="every box, with what holds there")
    operator_min_bet: MinorUnits | None = Field(description="your own least, as agreed; null: the table's")
    operator_max_bet: MinorUnits | None = Field(description="your own most, as agreed; null: the table's")


class LimitsBoard(_Shown):
    """The limits board of a table: what the next round is opened with."""

    table: OpaqueId
    name: str
    ruleset: str
    currencies: list[CurrencyLimits] = Field(description="those of yours that the table takes")
    durations: Durations
    reserve_bet_with_ante: bool = Field(description="whether an open box's bet is set aside with its ante")


class Payout(_Shown):
    """What a combination pays on the bet."""

    hand: HandName
    pays: int = Field(description="to one")


class DoublePayout(_Shown):
    """What two combinations of one hand pay together."""

    hands: tuple[HandName, HandName]
    pays: int = Field(description="to one")


class BonusPayout(_Shown):
    """A row of a bonus table: fixed odds, or a share of the jackpot with the stake given back."""

    hand: HandName
    rank: str | None = Field(
        description="only of this rank, or with a pair of it: 2 to 9, T, J, Q, K, A; null: any"
    )
    pays: int | None = Field(description="to one")
    jackpot_share_percent: int | None


class PayoutsBoard(_Shown):
    """The pay-outs board of a table."""

    table: OpaqueId
    name: str
    ruleset: str
    bet: list[Payout]
    doubles: list[DoublePayout]
    bonus_player: list[BonusPayout] | None = Field(description="bonus B; null: the table has none")
    bonus_dealer: list[BonusPayout] | None = Field(description="bonus D; null: the table has none")
    jackpot: OpaqueId | None
    insurance_pays: int | None = Field(description="to one; null: there is no insurance")


class RuleSentence(_Shown):
    """A sentence of the rules."""

    code: str = Field(description="stays the same, whatever the words become")
    text: str


class RuleTable(_Shown):
    """A table of the rules, in words."""

    code: str
    title: str
    columns: list[str]
    rows: list[list[str]]


class RuleSection(_Shown):
    """Sentences and tables under one heading."""

    code: str
    title: str
    sentences: list[RuleSentence]
    tables: list[RuleTable]


class RulesPage(_Shown):
    """The rules of a table in words."""

    table: OpaqueId
    name: str
    ruleset: str
    title: str
    sha256: str = Field(description="of the ruleset, as each round records it")
    language: Language
    sections: list[RuleSection]


class Jackpot(_Shown):
    """A progressive jackpot."""

    jackpot: OpaqueId
    currency: Currency
    pool: MinorUnits = Field(description="what is in it")
    must_hit_by: MinorUnits | None = Field(description="it is paid at a secret size of at most this")
    cycle: int = Field(description="counts from 1; a new one begins when the whole pool was paid")
    commitment: str | None = Field(
        description="of this cycle's secret size, hex: docs/bonus.md says how to check"
    )
    tables: list[OpaqueId] = Field(description="your tables whose bonus B plays for it")


class JackpotPage(_Aged):
    """Jackpots by id."""

    items: list[Jackpot]
    next: str | None


class GrantFreeBet(RequestModel):
    """A free bet for a player."""

    request_id: RequestId
    currency: Currency
    amount: Amount
    wagers: Annotated[list[FreeBetWager], Field(min_length=1, max_length=3)] = Field(
        description="what it may pay, each once: whole antes, bonus B, bonus D"
    )
    expires_at: AskedMoment = Field(
        description="when what is left of it lapses: later than now, within 400 days"
    )


class RevokeFreeBet(RequestModel):
    """Takes back what is left of a free bet."""

    request_id: RequestId


class FreeBet(_Shown):
    """A free bet of a player."""

    free_bet: OpaqueId
    player: PlayerId
    currency: Currency
    amount: MinorUnits = Field(description="what was granted")
    wagers: list[FreeBetWager]
    expires_at: Moment
    left: MinorUnits = Field(description="what can be staked now")
    used: MinorUnits = Field(description="what is staked, or was and did not come back")
    state: Literal["granted", "spent", "expired"]


class FreeBetPage(_Shown):
    """Free bets of a player, by id."""

    items: list[FreeBet]
    next: str | None
