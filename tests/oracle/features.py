"""What a case and its result show: counted, so that a comparison can prove what it compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.oracle.checks import RESERVE, Box, Case, bought_cards, cap_of, insurance_bounds, stake_of
from tests.oracle.hands import LOW_FIRST, qualifies, rank
from tests.oracle.rules import DARK_BOXES_BONUS, LIVE_SHARED_BONUS, RULESETS, Rules
from tests.oracle.settlement import Line, Result

OUTCOMES = ("win", "tie", "lose", "no_game", "folded")
EXPECTED = {
    *(f"{name} {outcome}" for name in RULESETS for outcome in OUTCOMES),
    *(f"best {name}" for name in LOW_FIRST),
    *(f"option {kind}" for kind in ("bet", "sixth", "exchange", "fold", "none")),
    *(f"exchange of {size}" for size in range(1, 6)),
    *(f"insurance {fate} on {outcome}" for fate in ("lost", "returned") for outcome in ("tie", "lose")),
    *(f"bonus_player pays {odds}" for odds in {*LIVE_SHARED_BONUS.values(), *DARK_BOXES_BONUS.values()}),
    *(f"bonus_dealer pays {odds}" for odds in set(LIVE_SHARED_BONUS.values()) - {1000, 500}),
    *("bonus_player lost", "bonus_dealer lost", "jackpot 10", "jackpot 100"),
    *("game dealt", "no game, nobody bought", "purchase brought a game", "purchase failed"),
    *("1 draws", "2 draws", "3 draws", "4 draws", "redraw not needed", "redraw used up"),
    *("decided on both hands", "several boxes", "players share a box", "shared purchases of two sizes"),
    "deck used up",
    *("two combinations won", "blind box", "blind box bought", "passed and bet", "folded in the end"),
    *("won on a bought game", "tied on a bought game", "lost on a bought game"),
    *("insured at the minimum", "insured at the maximum", "insurance won", "insurance lost on win"),
    *(
        "insured and bought",
        "insured, no game, ante 1",
        "insured, no game, ante 2",
        "insured, failed purchase",
    ),
    *("failed purchase, ante 1", "failed purchase, ante 2"),
    *("capped", "cap just reached", "cap shared with insurance", "insurance outside the cap", "cap used up"),
    *("a box's own cap", "a box without cap", "free bet"),
}
"""Every run over more than a few cases has to show these."""
EXPECTED_REFUSALS = {
    "a bet stands",
    "a blind box chooses nothing",
    "a box has five cards",
    "a card appears once",
    "a card for each position",
    "a draw is missing",
    "a draw too many",
    "a known ruleset",
    "a stake is not negative",
    "bet or fold",
    "bonus B exists here",
    "bonus D exists here",
    "distinct positions",
    "exchange size",
    "insurance between .. and ..",
    "insurance is offered",
    "no draws without a purchase",
    "nothing left to choose",
    "one entry a player and box",
    "one hand a box",
    "one player a box",
    "one sixth card",
    "positions of the hand",
    "switch cards in one order for all",
    "the box is on the table",
    "the box may purchase",
    "the dealer has five cards",
    "the deck could serve the options",
    "there is an ante",
    "this box can be blind, or open, here",
}
"""Every long run has to break these rules, in the words of the checks."""


def features_of(case: Case, result: Result, rules: Rules | None = None) -> Counter[str]:
    """How often each feature shows in a good case of a shipped ruleset, or of a house with these rules."""
    rules = rules or RULESETS[case["ruleset"]]
    found = Counter([f"ruleset {case['ruleset']}", *features_of_table(case, result, rules)])
    for box, settled in zip(case["boxes"], result["boxes"], strict=True):
        found.update([f"{case['ruleset']} {settled['outcome']}", f"best {settled['best']}"])
        found.update(features_of_choices(box, settled, bought_game=bought_game(box, result)))
        found.update(features_of_insurance(case, box, settled, rules))
        found.update(features_of_cap(case, box, settled, rules))
        found.update(features_of_bonuses(settled))
    return found


def bought_game(box: Box, result: Result) -> bool:
    """Whether the box paid for a purchase, and it made a game."""
    return bool(box["purchase"] and result["dealer"]["qualified"])


def line_of(settled: Result, wager: str) -> Line:
    """The wager's line; empty when the wager was not made."""
    lines: list[Line] = settled["lines"]
    return next((line for line in lines if line["wager"] == wager), {})


def features_of_table(case: Case, result: Result, rules: Rules) -> Iterator[str]:
    """The dealer, and the boxes together."""
    dealer, draws = result["dealer"], case["dealer"]["draws"]
    if draws:
        yield f"{len(draws)} draws"
        yield "purchase brought a game" if dealer["qualified"] else "purchase failed"
        if rank(draws[-1]) == max(map(rank, case["dealer"]["cards"])):
            yield "redraw not needed" if dealer["qualified"] else "redraw used up"
        if not all(box["purchase"] for box in case["boxes"]):
            yield "decided on both hands"
    else:
        yield "game dealt" if dealer["qualified"] else "no game, nobody bought"
    dealt = 5 + sum(5 + len(bought_cards(box)) for box in case["boxes"])
    if not rules["shared"] and dealt + RESERVE[rules["same_rank_redraw"]] == 52:
        yield "deck used up"
    places = [box["box"] for box in case["boxes"]]
    if len(set(places)) > 1:
        yield "several boxes"
    if len(set(places)) < len(places):
        yield "players share a box"
    sizes = {len(bought_cards(box)) for box in case["boxes"]} - {0}
    if rules["shared"] and len(sizes) > 1:
        yield "shared purchases of two sizes"


def features_of_choices(box: Box, settled: Result, *, bought_game: bool) -> Iterator[str]:
    """What the box did, and how it ended."""
    option, outcome = box["option"], settled["outcome"]
    yield f"option {option['kind']}"
    if option["kind"] == "exchange":
        yield f"exchange of {len(option['positions'])}"
    if len(settled["combinations"]) == 2 and outcome == "win":
        yield "two combinations won"
    if box["blind"]:
        yield "blind box bought" if box["purchase"] else "blind box"
    elif option["kind"] == "none" and box["final"] == "bet":
        yield "passed and bet"
    if box["final"] == "fold":
        yield "folded in the end"
    if bought_game:
        yield f"{ {'win': 'won', 'tie': 'tied', 'lose': 'lost'}[outcome] } on a bought game"
    if box["purchase"] and outcome == "no_game":
        ante = line_of(settled, "ante")
        yield f"failed purchase, ante {ante['returned'] // ante['stake']}"
    if any("funding" in line for line in settled["lines"]):
        yield "free bet"


def features_of_insurance(case: Case, box: Box, settled: Result, rules: Rules) -> Iterator[str]:
    """How much was insured, and what became of it."""
    line, ante = line_of(settled, "insurance"), line_of(settled, "ante")
    if not line:
        return
    for bound, place in zip(insurance_bounds(case, box, rules) or (), ("minimum", "maximum"), strict=True):
        if box["insurance"] == bound:
            yield f"insured at the {place}"
    if line["returned"] > line["stake"]:
        yield "insurance won"
    else:
        yield f"insurance {'returned' if line['returned'] else 'lost'} on {settled['outcome']}"
    if box["purchase"]:
        yield "insured and bought"
        if settled["outcome"] == "no_game":
            yield "insured, failed purchase"
    elif settled["outcome"] == "no_game":
        yield f"insured, no game, ante {ante['returned'] // ante['stake']}"


def features_of_cap(case: Case, box: Box, settled: Result, rules: Rules) -> Iterator[str]:
    """What a maximum payout did to the bet's winnings."""
    if "max_payout" in box:
        yield "a box without cap" if box["max_payout"] is None else "a box's own cap"
    cap, bet = cap_of(case, box), line_of(settled, "bet")
    if settled["outcome"] != "win" or cap is None:
        return
    uncapped, won = settled["odds"] * 2 * stake_of(box, "ante"), bet["returned"] - bet["stake"]
    if uncapped == cap == won:
        yield "cap just reached"
    if won < uncapped:
        yield "capped"
        insurance_won = box["insurance"] > 0 and not qualifies(case["dealer"]["cards"])
        if insurance_won:
            yield (
                "cap shared with insurance"
                if rules["cap_includes_insurance"]
                else "insurance outside the cap"
            )
        if won == 0:
            yield "cap used up"


def features_of_bonuses(settled: Result) -> Iterator[str]:
    """What the bonuses paid."""
    for wager in ("bonus_player", "bonus_dealer"):
        line = line_of(settled, wager)
        if "jackpot_share_percent" in line:
            yield f"jackpot {line['jackpot_share_percent']}"
        elif line:
            times = line["returned"] // line["stake"]
            yield f"{wager} pays {times - 1}" if times else f"{wager} lost"
