"""The tables of a rules page: limits, odds, doubles, bonuses, and what becomes of each wager."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rules_core.rulesets.model import Ruleset
from rules_core.settlement.model import WAGER_ORDER
from upcard_gateway.app.boards import BonusPayout, CurrencyBoard, LimitsBoard, PayoutsBoard
from upcard_gateway.app.boards_outcomes import Outcome, outcomes


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a language: `kind` says of which list, such as `hand`."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Amount:
    """Money, in minor units."""

    minor: int
    currency: str


@dataclass(frozen=True, slots=True)
class Odds:
    """So much to one."""

    to_one: int


@dataclass(frozen=True, slots=True)
class Both:
    """Two words together."""

    first: Word
    second: Word


Value = str | int | Word | Amount | Odds | Both | None
"""What stands in a sentence or a cell; None: nothing."""


@dataclass(frozen=True, slots=True)
class RuleTable:
    """A table; columns are slugs of their headings."""

    code: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


_SHARE: Final = "share"


def limits_table(board: LimitsBoard) -> Iterator[RuleTable]:
    """What may be staked in each currency, and in each box where boxes differ."""
    for currency in board.currencies:
        rows = tuple(_limits(currency))
        yield RuleTable(f"limits:{currency.currency}", ("wager", "least", "most"), rows)
        boxes = {(box.ante, box.max_payout) for box in currency.boxes}
        if len(boxes) > 1:
            rows = tuple(
                (
                    box.box,
                    Amount(box.ante.min, currency.currency),
                    Amount(box.ante.max, currency.currency),
                    None if box.max_payout is None else Amount(box.max_payout, currency.currency),
                )
                for box in currency.boxes
            )
            columns = ("box", "ante_least", "ante_most", "max_payout")
            yield RuleTable(f"boxes:{currency.currency}", columns, rows)


def _limits(board: CurrencyBoard) -> Iterator[tuple[Value, ...]]:
    def row(name: str, least: int | None, most: int | None) -> tuple[Value, ...]:
        return (
            Word("limit", name),
            None if least is None else Amount(least, board.currency),
            None if most is None else Amount(most, board.currency),
        )

    yield row("ante", board.ante.min, board.ante.max)
    yield row("bet", board.bet.min, board.bet.max)
    for name, bounds in (("bonus_player", board.bonus_player), ("bonus_dealer", board.bonus_dealer)):
        if bounds is not None:
            yield row(name, bounds.min, bounds.max)
    for name, most in (
        ("insurance", board.insurance_max),
        ("player_total", board.player_total_max),
        ("max_payout", board.max_payout),
        ("operator", board.operator_max_bet),
    ):
        if most is not None:
            yield row(name, board.operator_min_bet if name == "operator" else None, most)
    yield row("chip", board.chip, None)


def odds_table(board: PayoutsBoard) -> RuleTable:
    """What each combination pays on the bet."""
    rows = tuple((Word("hand", row.hand), Odds(row.pays)) for row in board.bet)
    return RuleTable("odds", ("hand", "pays"), rows)


def doubles_table(board: PayoutsBoard) -> RuleTable:
    """What each pair of combinations pays together."""
    rows = tuple((Both(*(Word("hand", hand) for hand in row.hands)), Odds(row.pays)) for row in board.doubles)
    return RuleTable("doubles", ("hands", "pays"), rows)


def bonus_table(board: PayoutsBoard) -> Iterator[RuleTable]:
    """The bonus tables that the table plays."""
    for name, rows in (("bonus_player", board.bonus_player), ("bonus_dealer", board.bonus_dealer)):
        if rows is not None:
            yield RuleTable(name, ("hand", "pays"), tuple(map(_bonus, rows)))


def _bonus(row: BonusPayout) -> tuple[Value, ...]:
    hand: Value = Word("hand", row.hand)
    if row.rank is not None:
        hand = Both(Word("hand", row.hand), Word("rank", row.rank))
    if row.pays is not None:
        return (hand, Odds(row.pays))
    return (hand, Word(_SHARE, str(row.jackpot_share_percent)))


def outcome_tables(rules: Ruleset) -> Iterator[RuleTable]:
    """What becomes of each wager, in each case that the ruleset has: not insured, then insured."""
    found = outcomes(rules)
    for code, insured in (("outcomes", False), ("outcomes_insured", True)):
        cases = [one for one in found if one.insured is insured]
        if not cases:
            continue
        present = {wager.wager for one in cases for wager in one.wagers}
        wagers = tuple(wager for wager in WAGER_ORDER if wager in present)
        rows = tuple((Word("case", one.case), *_fates(one, wagers)) for one in cases)
        yield RuleTable(code, ("case", *wagers), rows)


def _fates(one: Outcome, wagers: tuple[str, ...]) -> Iterator[Value]:
    fates = {wager.wager: wager.fate for wager in one.wagers}
    for wager in wagers:
        yield Word("fate", fates[wager]) if wager in fates else None
