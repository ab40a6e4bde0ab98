"""What a sensible player decides in each window, from the view that they are shown and what it allows."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from upcard_operate.demo.house import View
from upcard_operate.demo.strategy import advise, bets_at_last, worth_insuring
from upcard_operate.demo.tables import BONUS_STAKE


@dataclass(frozen=True, slots=True)
class Stake:
    """A wager of the betting window, in minor units."""

    box: int
    wager: str
    amount: int
    blind: bool


@dataclass(frozen=True, slots=True)
class Option:
    """What an open box does after the deal."""

    box: int
    kind: Literal["bet", "sixth", "exchange", "fold"]
    positions: tuple[int, ...] = ()
    """Which of its cards are exchanged."""


@dataclass(frozen=True, slots=True)
class Final:
    """What a box does that has bought cards or may be insured."""

    box: int
    choice: str
    insurance: int = 0
    """Minor units; 0: none."""

    @property
    def stakes(self) -> bool:
        """Whether it costs money."""
        return self.choice == "bet" or self.insurance > 0


@dataclass(frozen=True, slots=True)
class Purchase:
    """Whether a box buys the dealer a new card."""

    box: int
    buy: bool


def stakes_together(random: Random) -> list[Stake]:
    """Bets at a shared table, where box 2 is open and the others are blind."""
    ante = 50 * random.randint(2, 10)
    boxes = [2] if random.random() < 0.6 else random.sample([1, 2, 3], random.randint(1, 3))
    found = []
    for box in boxes:
        found.append(Stake(box, "ante", ante, blind=box != 2))
        if random.random() < 0.3:
            found.append(Stake(box, "bonus_player", BONUS_STAKE, blind=box != 2))
    return found


def stakes_alone(view: View, random: Random) -> list[Stake]:
    """One of the bets that an exclusive table allows now; none: nothing is allowed that is cheap enough."""
    places = [place for place in view["actions"]["place"] if place["min"] <= 1_000]
    if not places:
        return []
    bonus = [place for place in places if place["wager"] == "bonus_player"]
    place = random.choice(bonus if bonus and random.random() < 0.5 else places)
    return [Stake(box, place["wager"], place["min"], blind=box in place["blind"]) for box in place["boxes"]]


def options(view: View) -> list[Option]:
    """A decision for each open box that has one to make."""
    up_card = view["cards"].get("dealer.4", "hidden")
    found = []
    for action in view["actions"]["options"]:
        cards = [view["cards"][f"box.{action['box']}.{place}"] for place in range(5)]
        advice = advise(cards, up_card)
        kind, positions = advice.kind, advice.positions
        if (kind == "sixth" and not action["sixth_card"]) or len(positions) > action["exchange_max"]:
            kind, positions = "bet", ()
        if kind == "bet" and not action["bet"]:
            kind = "fold"
        found.append(Option(action["box"], kind, positions))
    return found


def finals(view: View) -> list[Final]:
    """A final decision for each box that has one to make."""
    found = []
    for action in view["actions"]["finals"]:
        hand = _hand_of(view, action["box"])
        if "stand" in action["choices"]:
            choice = "stand"
        else:
            choice = "bet" if bets_at_last(hand) and "bet" in action["choices"] else "fold"
        insured = choice != "fold" and action["insurance"] is not None and worth_insuring(hand)
        found.append(Final(action["box"], choice, action["insurance"]["min"] if insured else 0))
    return found


def purchases(view: View) -> list[Purchase]:
    """A decision for each box that may buy the dealer a card."""
    return [
        Purchase(action["box"], action["fee"] > 0 and worth_insuring(_hand_of(view, action["box"])))
        for action in view["actions"]["purchases"]
    ]


def _hand_of(view: View, box: int) -> str | None:
    own: list[dict[str, Any]] = view["own"]["boxes"]
    hand = next((one["hand"] for one in own if one["box"] == box), None)
    return None if hand is None else hand["name"]
