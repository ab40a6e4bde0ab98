"""Reading and checking the bonus tables B and D of a ruleset (RULES.md section 6)."""

from __future__ import annotations

from typing import Final

from rules_core.hands import HAND_NAMES
from rules_core.rulesets.model import BonusRow
from rules_core.rulesets.reader import (
    WrongKey,
    joined,
    read_choice,
    read_integer,
    read_list,
    read_object,
)

RANKS: Final = "23456789TJQKA"
MOST_ROWS: Final = 40
HIGHEST_ODDS: Final = 1_000_000
_HANDS: Final = tuple(name for name in HAND_NAMES if name != "nothing")
_RANKED_HANDS: Final = ("three_of_a_kind", "two_pair")


def read_bonus_table(value: object, key: str, *, jackpot: bool) -> tuple[BonusRow, ...] | None:
    """The rows of a bonus table, top row first; None for a house without that bonus.

    `jackpot`: whether rows that win a share of the progressive jackpot may stand in it.
    """
    if value is None:
        return None
    rows: list[BonusRow] = []
    for number, item in enumerate(read_list(value, key, most=MOST_ROWS)):
        path = joined(key, number)
        row = _row(item, path, jackpot=jackpot)
        for above in rows:
            if above.hand == row.hand and above.rank in (None, row.rank):
                raise WrongKey(path, "can never be paid: a row above it covers the same hand")
        rows.append(row)
    return tuple(rows)


def _row(value: object, key: str, *, jackpot: bool) -> BonusRow:
    fields = read_object(value, key, ("hand",), ("rank", "pays", "jackpot_share_percent"))
    hand = read_choice(fields["hand"], joined(key, "hand"), _HANDS)
    if ("pays" in fields) == ("jackpot_share_percent" in fields):
        raise WrongKey(key, "must have either pays or jackpot_share_percent, and not both")
    share: int | None = None
    pays: int | None = None
    if "pays" in fields:
        pays = read_integer(fields["pays"], joined(key, "pays"), 1, HIGHEST_ODDS)
    else:
        path = joined(key, "jackpot_share_percent")
        if not jackpot:
            raise WrongKey(path, "only the box's own bonus (bonus_player) can win a jackpot")
        share = read_integer(fields["jackpot_share_percent"], path, 1, 100)
    return BonusRow(hand=hand, rank=_rank(fields, key, hand), pays=pays, jackpot_share_percent=share)


def _rank(fields: dict[str, object], key: str, hand: str) -> int | None:
    if "rank" not in fields:
        return None
    path = joined(key, "rank")
    if hand not in _RANKED_HANDS:
        raise WrongKey(path, f"only {' and '.join(_RANKED_HANDS)} can be of a certain rank, not {hand}")
    return RANKS.index(read_choice(fields["rank"], path, RANKS))


def bonus_table_object(rows: tuple[BonusRow, ...] | None) -> list[dict[str, object]] | None:
    """The rows as JSON; the exact inverse of `read_bonus_table`."""
    return None if rows is None else [_row_object(row) for row in rows]


def _row_object(row: BonusRow) -> dict[str, object]:
    found: dict[str, object] = {"hand": row.hand}
    if row.rank is not None:
        found["rank"] = RANKS[row.rank]
    if row.pays is not None:
        found["pays"] = row.pays
    if row.jackpot_share_percent is not None:
        found["jackpot_share_percent"] = row.jackpot_share_percent
    return found
