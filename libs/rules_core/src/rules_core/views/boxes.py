"""The boxes as a viewer sees them: wagers, choices, hand and result."""

from __future__ import annotations

from rules_core.round.sealed import Sealed
from rules_core.round.state import BoxPlay, PlayerSeat, RoundState
from rules_core.settlement.result_json import box_object
from rules_core.views.hands import current_hand, dealt_hand, hand_object

_TURN_STEPS = frozenset({"options", "replace", "final_options", "next"})


def box_objects(state: RoundState, known: Sealed) -> list[dict[str, object]]:
    """Every box of the table. On exclusive tables with its player's wagers and choices, which show at once.

    On shared tables the players' own hands differ, so that a box shows its first five alone, and nothing of
    the others' choices.
    """
    return [_box(state, known, box) for box in range(1, state.ruleset.boxes + 1)]


def _box(state: RoundState, known: Sealed, box: int) -> dict[str, object]:
    play = _only_play(state, box)
    hand = dealt_hand(state, known, box) if play is None else current_hand(state, known, play)
    return {
        "box": box,
        "dealt": box in state.boxes,
        "hand": hand_object(hand),
        "play": None if play is None else _play(state, play),
    }


def _only_play(state: RoundState, box: int) -> BoxPlay | None:
    """The hand that an exclusive table's box is played with."""
    if state.ruleset.shared:
        return None
    seat = state.seats.get(state.owners.get(box, ""))
    return seat.plays.get(box) if seat is not None else None


def _play(state: RoundState, play: BoxPlay) -> dict[str, object]:
    return {
        "player": play.player,
        "blind": play.blind,
        "turn": _turn(state, play),
        "wagers": _wagers(play),
        "staked": play.staked,
        "option": play.option,
        "positions": list(play.positions),
        "bought": play.bought,
        "final": play.final,
        "final_by": None if play.final is None else "platform" if play.defaulted else "player",
        "purchase": play.purchase,
        "folded": play.folded,
    }


def _turn(state: RoundState, play: BoxPlay) -> str | None:
    """Exclusive tables, open boxes: `ahead`, `now` or `over` (RULES.md section 4.3); None elsewhere."""
    if play.blind or state.ruleset.shared:
        return None
    if state.ended or play.box < state.current_box:
        return "over"
    if play.box > state.current_box:
        return "ahead"
    return "now" if state.step in _TURN_STEPS else "over"


def _wagers(play: BoxPlay) -> dict[str, int]:
    """What stands on the box, minor units, in the order of CONTRACTS.md section 1; zeros left out."""
    wagers = {
        "ante": play.ante,
        "bet": play.bet,
        "option_fee": play.fee,
        "insurance": play.insurance,
        "purchase_fee": play.ante if play.purchase else 0,
        "bonus_player": play.bonus_player,
        "bonus_dealer": play.bonus_dealer,
    }
    return {wager: amount for wager, amount in wagers.items() if amount}


def own_boxes(state: RoundState, known: Sealed, seat: PlayerSeat) -> list[dict[str, object]]:
    """The player's own boxes: what `box_objects` shows, whether a decision is asked now, and the result."""
    results = {result.box: box_object(result) for result in seat.results}
    return [
        {
            "box": play.box,
            **_play(state, play),
            "hand": hand_object(current_hand(state, known, play)),
            "asked": (play.box, seat.player) in state.undecided,
            "result": results.get(play.box),
        }
        for play in seat.ordered()
    ]
