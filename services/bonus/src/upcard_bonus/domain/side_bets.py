"""Bonus B and D of a round: which of them the public cards decide, and what they win (RULES.md section 6).

Only cards that everybody may see are ever known here: face-up ones, and openings. So B of a private or blind
box is decided when the box is opened, and D when the dealer's hand is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from rules_core.cards import CARD_OF
from rules_core.hands import evaluate
from rules_core.round.events import CardOpening
from rules_core.round.places import HAND_SIZE, box_place, dealer_place
from rules_core.rulesets.model import BonusRow, Ruleset
from rules_core.settlement.bonus import dealer_bonus_row, player_bonus_row
from upcard_bonus.domain.side_bet_events import Bonus, BonusDetermined, BonusStake, BonusVoided, VoidTotal

STAKES_AN_EVENT: Final = 500
"""Most stakes of one event."""

DEALER: Final = 0
"""The subject of D; those of B are the boxes' numbers."""

BONUS_WAGERS: Final = frozenset({"bonus_player", "bonus_dealer"})


class SideBet(NamedTuple):
    """One stake on B or D."""

    player: str
    bet_id: str
    box: int
    wager: str
    amount: int
    currency: str

    @property
    def subject(self) -> int:
        """Whose cards decide it."""
        return self.box if self.wager == "bonus_player" else DEALER


class Verdict(NamedTuple):
    """What five cards win."""

    cards: tuple[str, ...]
    row: BonusRow | None


def opened(openings: Iterable[CardOpening]) -> dict[str, str]:
    """The cards of openings by their places; misread ones are left out."""
    return {one.place: one.card for one in openings if not one.superseded}


def verdict_of(ruleset: Ruleset, cards: Mapping[str, str], subject: int) -> Verdict | None:
    """What the first five of a box, or the dealer's, win; None while not all of them are public."""
    place = box_place if subject else _dealers
    five = tuple(cards.get(place(subject, index), "") for index in range(HAND_SIZE))
    if not all(five):
        return None
    hand = evaluate(tuple(CARD_OF[card] for card in five))
    rows, row_of = (
        (ruleset.bonus_player, player_bonus_row) if subject else (ruleset.bonus_dealer, dealer_bonus_row)
    )
    return Verdict(five, None if rows is None else row_of(rows, hand))


def subjects_of(ruleset: Ruleset) -> range:
    """All whose cards may decide a bonus: the boxes, and the dealer."""
    return range(DEALER, ruleset.boxes + 1)


def determined(
    round_name: str, subject: int, verdict: Verdict, bets: Iterable[SideBet], correction: int = 0
) -> list[BonusDetermined]:
    """A decided bonus as events: none without a stake on it, several where there are many."""
    stakes: defaultdict[tuple[str, int, str], int] = defaultdict(int)
    for bet in bets:
        if bet.subject == subject:
            stakes[bet.player, bet.box, bet.currency] += bet.amount
    row = verdict.row
    odds = 0 if row is None or row.pays is None else row.pays
    lines = [BonusStake(*key, stake, stake * odds) for key, stake in sorted(stakes.items())]
    bonus: Bonus = "player" if subject else "dealer"
    parts = [lines[at : at + STAKES_AN_EVENT] for at in range(0, len(lines), STAKES_AN_EVENT)]
    return [
        BonusDetermined(
            round_name,
            bonus,
            subject or None,
            verdict.cards,
            None if row is None else row.hand,
            None if row is None else row.pays,
            None if row is None else row.jackpot_share_percent,
            tuple(part),
            correction,
            number,
            len(parts),
        )
        for number, part in enumerate(parts, start=1)
    ]


def voided(round_name: str, reason: str, bets: Sequence[SideBet]) -> list[BonusVoided]:
    """All bonuses of a round as void; nothing without a stake."""
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for bet in bets:
        sums[bet.currency][0] += 1
        sums[bet.currency][1] += bet.amount
    totals = tuple(VoidTotal(currency, *those) for currency, those in sorted(sums.items()))
    return [BonusVoided(round_name, reason, totals)] if totals else []


def _dealers(_: int, index: int) -> str:
    return dealer_place(index)
