"""The limits board and the pay-outs board of a table, made of its ruleset and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rules_core.hands import HAND_NAMES, ODDS
from rules_core.round.limits import AmountRange, CurrencyLimits, Durations
from rules_core.rulesets.bonus_table import RANKS
from rules_core.rulesets.model import BonusRow, Ruleset
from upcard_gateway.app.boards_doubles import Pair, double_combinations
from upcard_gateway.app.lobby_tables import TableNow
from upcard_gateway.domain import operators

ANTES_A_BET = 2
"""A bet is exactly so many antes (RULES.md section 1)."""


@dataclass(frozen=True, slots=True)
class BoxBoard:
    """What holds in one box, in minor units."""

    box: int
    kinds: tuple[str, ...]
    """`open`, `blind`: how it can be played."""
    ante: AmountRange
    bet: AmountRange
    max_payout: int | None
    """Most that the bet can win there; None: no cap."""


@dataclass(frozen=True, slots=True)
class CurrencyBoard:
    """What players of one currency may stake, in minor units."""

    currency: str
    chip: int
    """The smallest chip: totals are multiples of it."""
    chips: tuple[int, ...]
    """The chip values that are offered, rising."""
    ante: AmountRange
    bet: AmountRange
    bonus_player: AmountRange | None
    bonus_dealer: AmountRange | None
    insurance_max: int | None
    max_payout: int | None
    player_total_max: int | None
    boxes: tuple[BoxBoard, ...]
    """Every box, with what holds there: its own limits or the table's."""
    operator_min_bet: int | None
    """What the operator allows its players besides; None: no such limit."""
    operator_max_bet: int | None


@dataclass(frozen=True, slots=True)
class LimitsBoard:
    """What may be staked at a table, and how long its windows stay open."""

    table: str
    name: str
    ruleset: str
    currencies: tuple[CurrencyBoard, ...]
    durations: Durations
    reserve_bet_with_ante: bool
    """Whether the money of an open box's bet is set aside with its ante."""


@dataclass(frozen=True, slots=True)
class Payout:
    """What one combination pays, to one."""

    hand: str
    pays: int


@dataclass(frozen=True, slots=True)
class DoublePayout:
    """What two combinations of one hand pay together, to one."""

    hands: Pair
    pays: int


@dataclass(frozen=True, slots=True)
class BonusPayout:
    """One row of a bonus table: odds to one, or a share of the jackpot with the stake given back."""

    hand: str
    rank: str | None
    """`2` to `9`, `T`, `J`, `Q`, `K`, `A`: only of this rank, or with a pair of it; None: any."""
    pays: int | None
    jackpot_share_percent: int | None


@dataclass(frozen=True, slots=True)
class PayoutsBoard:
    """What a table pays."""

    table: str
    name: str
    ruleset: str
    bet: tuple[Payout, ...]
    doubles: tuple[DoublePayout, ...]
    bonus_player: tuple[BonusPayout, ...] | None
    """None: the ruleset has no bonus B, or the table takes none."""
    bonus_dealer: tuple[BonusPayout, ...] | None
    jackpot: str | None
    insurance_pays: int | None
    """To one; None: there is no insurance."""


def limits_board(
    table: TableNow, allowed: Mapping[str, operators.CurrencyLimits] | None = None
) -> LimitsBoard:
    """The limits of a table. `allowed`: an operator's currencies, others are left out; None: all."""
    known = {} if allowed is None else allowed
    return LimitsBoard(
        table=table.table,
        name=table.name,
        ruleset=table.ruleset.id,
        currencies=tuple(
            _currency(table, limits, known.get(limits.currency))
            for limits in table.limits
            if allowed is None or limits.currency in allowed
        ),
        durations=table.durations,
        reserve_bet_with_ante=table.reserve_bet_with_ante,
    )


def payouts_board(table: TableNow) -> PayoutsBoard:
    """The pay-outs of a table. Slow the first time (`double_combinations`): not for the event loop."""
    rules = table.ruleset
    takes_player = any(limits.bonus_player is not None for limits in table.limits)
    takes_dealer = any(limits.bonus_dealer is not None for limits in table.limits)
    return PayoutsBoard(
        table=table.table,
        name=table.name,
        ruleset=rules.id,
        bet=tuple(Payout(hand, ODDS[hand]) for hand in HAND_NAMES if ODDS[hand]),
        doubles=tuple(
            DoublePayout(pair, ODDS[pair[0]] + ODDS[pair[1]])
            for pair in double_combinations(rules.paired_straight)
        ),
        bonus_player=_bonus(rules.bonus_player) if takes_player else None,
        bonus_dealer=_bonus(rules.bonus_dealer) if takes_dealer else None,
        jackpot=table.jackpot,
        insurance_pays=None if rules.insurance is None else 1,
    )


def bet_of(ante: AmountRange) -> AmountRange:
    """The bets that belong to these antes."""
    return AmountRange(ANTES_A_BET * ante.min, ANTES_A_BET * ante.max)


def box_kinds(ruleset: Ruleset, box: int) -> tuple[str, ...]:
    """How a box can be played: `open`, `blind`, or both."""
    return tuple(kind for kind in ("open", "blind") if ruleset.box_may_be(box, blind=kind == "blind"))


def _currency(table: TableNow, limits: CurrencyLimits, own: operators.CurrencyLimits | None) -> CurrencyBoard:
    return CurrencyBoard(
        currency=limits.currency,
        chip=limits.chip,
        chips=table.chips_in(limits.currency),
        ante=limits.ante,
        bet=bet_of(limits.ante),
        bonus_player=limits.bonus_player,
        bonus_dealer=limits.bonus_dealer,
        insurance_max=limits.insurance_max,
        max_payout=limits.max_payout,
        player_total_max=limits.player_total_max,
        boxes=tuple(
            BoxBoard(
                box=box,
                kinds=box_kinds(table.ruleset, box),
                ante=limits.ante_in(box),
                bet=bet_of(limits.ante_in(box)),
                max_payout=limits.max_payout_in(box),
            )
            for box in range(1, table.ruleset.boxes + 1)
        ),
        operator_min_bet=None if own is None else own.min_bet,
        operator_max_bet=None if own is None else own.max_bet,
    )


def _bonus(rows: tuple[BonusRow, ...] | None) -> tuple[BonusPayout, ...] | None:
    if rows is None:
        return None
    return tuple(
        BonusPayout(
            row.hand, None if row.rank is None else RANKS[row.rank], row.pays, row.jackpot_share_percent
        )
        for row in rows
    )
