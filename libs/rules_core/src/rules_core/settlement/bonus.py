"""Bonus B and D: which row of the table a hand wins, and what that gives (RULES.md section 6)."""

from __future__ import annotations

from rules_core.hands import Evaluation
from rules_core.rulesets.model import BonusRow
from rules_core.settlement import reasons
from rules_core.settlement.model import Line


def player_bonus_row(rows: tuple[BonusRow, ...], hand: Evaluation) -> BonusRow | None:
    """The row that B wins on a box's first five cards, or None.

    Of two combinations that are both in the table the higher one counts, else the one that is.
    """
    for name, ranks in zip(hand.combinations, hand.combination_ranks, strict=True):
        row = _row_of(rows, name, ranks)
        if row is not None:
            return row
    return None


def dealer_bonus_row(rows: tuple[BonusRow, ...], hand: Evaluation) -> BonusRow | None:
    """The row that D wins on the dealer's first hand, or None: only the best hand counts."""
    if not hand.combinations:
        return None
    return _row_of(rows, hand.combinations[0], hand.combination_ranks[0])


def _row_of(rows: tuple[BonusRow, ...], name: str, ranks: tuple[int, ...]) -> BonusRow | None:
    """The first row, from the top, that covers this combination."""
    for row in rows:
        if row.hand == name and (row.rank is None or row.rank in ranks):
            return row
    return None


def player_bonus_line(row: BonusRow | None, stake: int, funding: str | None) -> Line:
    """The line of a B that was staked; `row` is the one it wins."""
    if row is None:
        return Line("bonus_player", stake, 0, reasons.BONUS_PLAYER_LOST, None, funding)
    if row.pays is None:
        share = row.jackpot_share_percent
        return Line("bonus_player", stake, stake, reasons.BONUS_PLAYER_JACKPOT, share, funding)
    return Line("bonus_player", stake, stake + stake * row.pays, reasons.BONUS_PLAYER_PAID, None, funding)


def dealer_bonus_line(row: BonusRow | None, stake: int, funding: str | None) -> Line:
    """The line of a D that was staked; `row` is the one it wins."""
    if row is None or row.pays is None:
        return Line("bonus_dealer", stake, 0, reasons.BONUS_DEALER_LOST, None, funding)
    return Line("bonus_dealer", stake, stake + stake * row.pays, reasons.BONUS_DEALER_PAID, None, funding)
