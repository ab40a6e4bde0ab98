"""Whether a player's bets may stand: limits, seating, bonus on an ante, equal antes (RULES.md section 4.1).

One rule, one place: the betting commands and `allowed_actions` both ask here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rules_core.round.limits import AmountRange, CurrencyLimits
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.state import PlayerSeat, RoundState
from rules_core.rulesets.model import Ruleset


@dataclass(slots=True)
class BoxBets:
    """The totals of one box as they would stand after a command; minor units."""

    blind: bool
    ante: int = 0
    bonus_player: int = 0
    bonus_dealer: int = 0
    ante_funding: str | None = None
    bonus_player_funding: str | None = None
    bonus_dealer_funding: str | None = None

    @property
    def staked(self) -> int:
        """What the box stakes before the deal; a blind box stakes its bet too."""
        bet = 2 * self.ante if self.blind else 0
        return self.ante + bet + self.bonus_player + self.bonus_dealer


Layout = dict[int, BoxBets]


def layout_of(seat: PlayerSeat | None) -> Layout:
    """The player's bets as they stand; a copy."""
    if seat is None:
        return {}
    return {
        box: BoxBets(
            play.blind,
            play.ante,
            play.bonus_player,
            play.bonus_dealer,
            play.ante_funding,
            play.bonus_player_funding,
            play.bonus_dealer_funding,
        )
        for box, play in seat.plays.items()
    }


def check_layout(state: RoundState, limits: CurrencyLimits, layout: Layout, player: str) -> Refusal | None:
    """The first rule that these bets would break, or None."""
    for box, bets in layout.items():
        found = _check_box(state, limits, box, bets, player)
        if found is not None:
            return found
    found = _check_total(limits, layout)
    return found if found is not None else _check_seating(state.ruleset, layout)


def _check_box(
    state: RoundState, limits: CurrencyLimits, box: int, bets: BoxBets, player: str
) -> Refusal | None:
    ruleset = state.ruleset
    if not ruleset.shared and state.owners.get(box, player) != player:
        return refuse("box_taken", f"box {box} is another player's; choose a free box", box=box)
    if not ruleset.box_may_be(box, blind=bets.blind):
        kind = "blind" if bets.blind else "open"
        return refuse("box_kind_not_allowed", f"box {box} cannot be played {kind} at this table", box=box)
    if not bets.ante:
        return refuse("ante_missing", f"place an ante on box {box} first; B and D need one", box=box)
    for wager, total, allowed in (
        ("ante", bets.ante, limits.ante_in(box)),
        ("bonus_player", bets.bonus_player, limits.bonus_player),
        ("bonus_dealer", bets.bonus_dealer, limits.bonus_dealer),
    ):
        found = _check_amount(box, wager, total, allowed, limits.chip) if total else None
        if found is not None:
            return found
    return None


def _check_amount(box: int, wager: str, total: int, allowed: AmountRange | None, chip: int) -> Refusal | None:
    if allowed is None:
        return refuse("wager_not_offered", f"this table takes no {wager}", box=box, wager=wager)
    if total < allowed.min:
        text = f"{wager} on box {box} would be {total}; the minimum is {allowed.min}"
        return refuse("below_minimum", text, box=box, wager=wager, total=total, minimum=allowed.min)
    if total > allowed.max:
        text = f"{wager} on box {box} would be {total}; the maximum is {allowed.max}"
        return refuse("above_maximum", text, box=box, wager=wager, total=total, maximum=allowed.max)
    if total % chip:
        text = f"{wager} on box {box} would be {total}; use multiples of {chip}"
        return refuse("not_a_chip_multiple", text, box=box, wager=wager, total=total, chip=chip)
    return None


def _check_total(limits: CurrencyLimits, layout: Mapping[int, BoxBets]) -> Refusal | None:
    allowed = limits.player_total_max
    if allowed is None:
        return None
    total = sum(bets.staked for bets in layout.values())
    if total <= allowed:
        return None
    text = f"your bets would be {total} in all; the maximum is {allowed}"
    return refuse("above_table_maximum", text, total=total, maximum=allowed)


def _check_seating(ruleset: Ruleset, layout: Layout) -> Refusal | None:
    seating = ruleset.seating
    opened = [box for box, bets in layout.items() if not bets.blind]
    blind = len(layout) - len(opened)
    if len(opened) > seating.open_boxes_max:
        text = f"at most {seating.open_boxes_max} boxes can be played open"
        return refuse("too_many_open_boxes", text, maximum=seating.open_boxes_max)
    if seating.blind_boxes_max is not None and blind > seating.blind_boxes_max:
        text = f"at most {seating.blind_boxes_max} boxes can be played blind"
        return refuse("too_many_blind_boxes", text, maximum=seating.blind_boxes_max)
    if blind and len(opened) < seating.blind_needs_open_boxes:
        text = f"a blind box needs {seating.blind_needs_open_boxes} open ones of yours"
        return refuse("blind_needs_open_boxes", text, needed=seating.blind_needs_open_boxes)
    if seating.neighbours_only and layout and max(layout) - min(layout) + 1 != len(layout):
        return refuse("boxes_not_neighbours", "your boxes must lie side by side, without a gap")
    return _check_equal_antes(seating.equal_antes, layout)


def _check_equal_antes(rule: str, layout: Layout) -> Refusal | None:
    if rule == "no":
        return None
    antes = {bets.ante for bets in layout.values() if rule == "all_boxes" or not bets.blind}
    if len(antes) > 1:
        return refuse("antes_not_equal", "set the same ante on all boxes concerned in one command")
    return None
