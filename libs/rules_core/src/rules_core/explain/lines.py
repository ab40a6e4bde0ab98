"""Each wager of a box: its sum, and why it ended so. The slug of such a sentence is the line's reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rules_core.explain.comparison import best_holding, paid_holdings
from rules_core.explain.sentence import Holding, Money, Sentence, Value, Wager, sentence
from rules_core.hands import Evaluation
from rules_core.rulesets.model import BonusRow, Ruleset
from rules_core.settlement import reasons
from rules_core.settlement.bonus import dealer_bonus_row, player_bonus_row
from rules_core.settlement.model import BoxCase, BoxResult, Line

Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Background:
    """What the lines of a box follow from."""

    ruleset: Ruleset
    box: BoxCase
    result: BoxResult
    first_five: Evaluation
    dealer_first: Evaluation


def line_sentences(line: Line, background: Background) -> Iterator[Sentence]:
    """The wager with its sum and why, then what a cap or a free bet has to do with it."""
    more = _MORE_VALUES.get(line.reason)
    yield Sentence(line.reason, _values(line) | (more(line, background) if more else {}))
    if line.reason == reasons.BET_PAID_CAPPED:
        yield from _insurance_in_cap(background)
    yield from _free_bet(line)


def refunded_line(line: Line) -> Iterator[Sentence]:
    """A wager or fee that goes back (RULES.md section 4.9)."""
    yield sentence(line.reason, wager=Wager(line.wager), stake=Money(line.stake))
    yield from _free_bet(line)


def _values(line: Line) -> dict[str, Value]:
    won = line.returned - line.stake
    return {"stake": Money(line.stake), "returned": Money(line.returned), "won": Money(won)}


def _cap(background: Background) -> dict[str, Value]:
    return {"cap": Money(background.box.max_payout or 0)}


def _odds(line: Line, background: Background) -> dict[str, Value]:
    odds = background.result.odds
    return {"odds": odds, "full": Money(odds * line.stake), **_cap(background)}


def _insurance_in_cap(background: Background) -> Iterator[Sentence]:
    """Where insurance counts towards the cap, what it has won is no longer there for the bet."""
    if not background.ruleset.cap_includes_insurance:
        return
    for line in background.result.lines:
        if line.reason == reasons.INSURANCE_PAID:
            counted = Money(line.returned - line.stake)
            yield sentence("bet_cap_less_insurance", counted=counted, **_cap(background))


def _free_bet(line: Line) -> Iterator[Sentence]:
    """What a free bet's wallet sees of the line (CONTRACTS.md section 1, funding)."""
    if line.funding is None:
        return
    won = line.returned - line.stake
    slug = "free_bet_won" if won > 0 else "free_bet_given_back" if won == 0 else "free_bet_used_up"
    yield sentence(slug, free_bet=line.funding, won=Money(won))


def _first_five_best(_line: Line, background: Background) -> dict[str, Value]:
    return {"hand": best_holding(background.first_five)}


def _dealer_best(_line: Line, background: Background) -> dict[str, Value]:
    return {"hand": best_holding(background.dealer_first)}


def _player_row(line: Line, background: Background) -> dict[str, Value]:
    row = player_bonus_row(background.ruleset.bonus_player or (), background.first_five)
    return _row(line, row, background.first_five)


def _dealer_row(line: Line, background: Background) -> dict[str, Value]:
    row = dealer_bonus_row(background.ruleset.bonus_dealer or (), background.dealer_first)
    return _row(line, row, background.dealer_first)


def _row(line: Line, row: BonusRow | None, hand: Evaluation) -> dict[str, Value]:
    """The row of the bonus table that was won, and the cards that won it."""
    if row is None:
        raise ValueError(f"the case and its settlement do not belong together: {line.reason}")
    return {
        "hand": _named(hand, row.hand),
        "pays": row.pays or 0,
        "percent": line.jackpot_share_percent or 0,
    }


def _named(hand: Evaluation, name: str) -> Holding:
    return next(holding for holding in paid_holdings(hand) if holding.name == name)


_MORE_VALUES: Final[Mapping[str, Callable[[Line, Background], dict[str, Value]]]] = {
    reasons.BET_PAID: _odds,
    reasons.BET_PAID_CAPPED: _odds,
    reasons.BONUS_PLAYER_PAID: _player_row,
    reasons.BONUS_PLAYER_JACKPOT: _player_row,
    reasons.BONUS_PLAYER_LOST: _first_five_best,
    reasons.BONUS_DEALER_PAID: _dealer_row,
    reasons.BONUS_DEALER_LOST: _dealer_best,
}
