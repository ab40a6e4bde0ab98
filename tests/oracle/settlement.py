"""The slow settlement: the table of RULES.md section 5, read row by row."""

from __future__ import annotations

from typing import Any

from tests.oracle.checks import (
    Box,
    Broken,
    Case,
    cap_of,
    check_case,
    final_hand,
    folded,
    funding_of,
    need,
    stake_of,
)
from tests.oracle.hands import SEVEN, Combination, best, odds, paid, qualifies, rank, strength
from tests.oracle.rules import RULESETS, Rules

Result = dict[str, Any]
Line = dict[str, Any]
REDRAWS = {"never": 0, "once": 1, "until_different": 3}
GIVEN_BACK = {"lost": 0, "returned": 1, "1:1": 2}


def settle_slow(case: Case, rules: Rules | None = None) -> Result:
    """The result of a case, without reasons and digest; `{"error": True}` where it breaks a rule.

    `rules` stands in for the shipped ruleset that the case names.
    """
    try:
        return settled(case, rules or ruleset_of(case))
    except Broken:
        return {"error": True}


def why_broken(case: Case, rules: Rules | None = None) -> str | None:
    """The rule that the case breaks, in words; None for a good case."""
    try:
        settled(case, rules or ruleset_of(case))
    except Broken as broken:
        return str(broken)
    return None


def ruleset_of(case: Case) -> Rules:
    """The ruleset that the case names."""
    need(isinstance(case, dict), "an object")
    name = case.get("ruleset")
    need(isinstance(name, str) and name in RULESETS, "a known ruleset")
    return RULESETS[str(name)]


def settled(case: Case, rules: Rules) -> Result:
    """The result of a good case; raises Broken."""
    check_case(case, rules)
    first = list(case["dealer"]["cards"])
    purchased = any(box["purchase"] for box in case["boxes"])
    final = after_draws(first, case["dealer"]["draws"], rules) if purchased else first
    need(purchased or not case["dealer"]["draws"], "no draws without a purchase")
    return {
        "ruleset": case["ruleset"],
        "engine": 1,
        "dealer": {
            "first": best(first),
            "final_cards": final,
            "final": best(final),
            "qualified": qualifies(final),
            "purchased": purchased,
        },
        "boxes": [
            settled_box(case, box, rules, final if box["purchase"] else first) for box in case["boxes"]
        ],
    }


def wants_another(hand: list[str], replaced: str, drawn: list[str], rules: Rules) -> bool:
    """Whether a dealer who bought, and drew these cards so far, draws one more."""
    if not drawn:
        return True
    free_draws_taken = len(drawn) - 1
    return (
        rank(drawn[-1]) == rank(replaced)
        and not qualifies(hand)
        and free_draws_taken < REDRAWS[rules["same_rank_redraw"]]
    )


def after_draws(first: list[str], draws: list[str], rules: Rules) -> list[str]:
    """The dealer's hand with the highest card replaced; there must be as many draws as the rules need."""
    place = max(range(5), key=lambda position: rank(first[position]))
    hand, waiting, drawn = list(first), list(draws), list[str]()
    while wants_another(hand, first[place], drawn, rules):
        need(waiting, "a draw is missing")
        drawn.append(waiting.pop(0))
        hand[place] = drawn[-1]
    need(not waiting, "a draw too many")
    return hand


def settled_box(case: Case, box: Box, rules: Rules, dealer: list[str]) -> Result:
    """One box against the dealer's hand that counts for it: the first, or the bought one."""
    hand = final_hand(box)
    outcome = outcome_of(box, hand, dealer)
    ante = stake_of(box, "ante")
    lines: list[Line] = []

    def line(wager: str, stake: int, returned: int) -> None:
        if stake:
            lines.append({"wager": wager, "stake": stake, "returned": returned})
            if funding_of(box, wager):
                lines[-1]["funding"] = funding_of(box, wager)

    line("ante", ante, ante * ante_factor(box, rules, outcome))
    line("bet", 0 if outcome == "folded" else 2 * ante, bet_returned(case, box, rules, outcome))
    line("option_fee", ante if box["option"]["kind"] in ("sixth", "exchange") else 0, 0)
    line("insurance", box["insurance"], box["insurance"] * insurance_factor(case, rules, outcome))
    line("purchase_fee", ante if box["purchase"] else 0, 0)
    bonus = stake_of(box, "bonus_player")
    won, jackpot = bonus_b(box["cards"], rules)
    line("bonus_player", bonus, 0 if won is None else bonus * (1 + won))
    if bonus and jackpot:
        lines[-1]["jackpot_share_percent"] = jackpot
    bonus = stake_of(box, "bonus_dealer")
    won = bonus_d(case["dealer"]["cards"], rules)
    line("bonus_dealer", bonus, 0 if won is None else bonus * (1 + won))

    staked = sum(one["stake"] for one in lines)
    returned = sum(one["returned"] for one in lines)
    return {
        "box": box["box"],
        "player": box["player"],
        "outcome": outcome,
        "best": best(hand),
        "combinations": [one.name for one in paid(hand, rules["paired_straight"])],
        "odds": odds(hand, rules["paired_straight"]),
        "lines": lines,
        "staked": staked,
        "returned": returned,
        "net": returned - staked,
    }


def outcome_of(box: Box, hand: list[str], dealer: list[str]) -> str:
    """Which row of the table of section 5 applies."""
    if folded(box):
        return "folded"
    if not qualifies(dealer):
        return "no_game"
    mine, theirs = strength(frozenset(hand)), strength(frozenset(dealer))
    if mine > theirs:
        return "win"
    return "tie" if mine == theirs else "lose"


def ante_factor(box: Box, rules: Rules, outcome: str) -> int:
    """How many times the ante comes back."""
    if outcome == "no_game" and box["purchase"]:
        return GIVEN_BACK[rules["ante_after_failed_purchase"]]
    if outcome == "no_game" and box["insurance"]:
        return GIVEN_BACK[rules["insured_ante_on_no_game"]]
    return {"folded": 0, "no_game": 2, "win": 1, "tie": 1, "lose": 0}[outcome]


def bet_returned(case: Case, box: Box, rules: Rules, outcome: str) -> int:
    """The bet's stake and winnings, in minor units, after the cap."""
    bet = 2 * stake_of(box, "ante")
    if outcome in ("folded", "lose"):
        return 0
    if outcome in ("no_game", "tie"):
        return bet
    winnings = odds(final_hand(box), rules["paired_straight"]) * bet
    cap = cap_of(case, box)
    if cap is not None:
        insurance_won = 0 if qualifies(case["dealer"]["cards"]) else box["insurance"]
        room = cap - insurance_won if rules["cap_includes_insurance"] else cap
        winnings = max(0, min(winnings, room))
    return bet + winnings


def insurance_factor(case: Case, rules: Rules, outcome: str) -> int:
    """How many times the insurance comes back; the dealer's first hand decides."""
    if not qualifies(case["dealer"]["cards"]):
        return GIVEN_BACK["1:1"]
    row = {"win": "lost", "tie": rules["insurance_on_tie"], "lose": rules["insurance_when_beaten"]}
    return GIVEN_BACK[row.get(outcome, "lost")]


def pays(combination: Combination, table: dict[str, int]) -> int | None:
    """What the bonus table pays for a combination; None when it is not in the table."""
    sevens = sum(rank(card) == SEVEN for card in combination.cards)
    if combination.name in table:
        return table[combination.name]
    if combination.name == "three_of_a_kind" and sevens == 3:
        return table.get("three_sevens")
    if combination.name == "two_pair" and sevens == 2:
        return table.get("two_pair_with_sevens")
    return None


def bonus_b(five: list[str], rules: Rules) -> tuple[int | None, int]:
    """(odds or None when lost, share of the jackpot in percent) for a box's first five cards."""
    jackpot = rules["jackpot_percent"].get(best(five), 0)
    if jackpot:
        return 0, jackpot
    for combination in paid(five, rules["paired_straight"]):
        won = pays(combination, rules["bonus_player"] or {})
        if won is not None:
            return won, 0
    return None, 0


def bonus_d(five: list[str], rules: Rules) -> int | None:
    """Odds for the dealer's first five cards, the best hand only; None when lost."""
    combinations = paid(five, rules["paired_straight"])
    return pays(combinations[0], rules["bonus_dealer"] or {}) if combinations else None
