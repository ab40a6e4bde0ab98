"""What a player may do now, with bounds, so that a screen never offers what would be refused.

Every answer comes from the checks that `decide` refuses by; nothing is judged twice.
"""

from __future__ import annotations

from dataclasses import dataclass

from rules_core.round import commands as c
from rules_core.round.commands import PlacedWager, Placement
from rules_core.round.decide.betting import (
    check_form,
    check_placements,
    clear_bets,
    doubled,
    undo_bet,
    withdraw_bet,
)
from rules_core.round.decide.finals import insurance_offer
from rules_core.round.decide.layout import layout_of
from rules_core.round.decide.money import may_stake
from rules_core.round.decide.options import option_bounds
from rules_core.round.events.fields import FinalChoice
from rules_core.round.hands import HandMemo, hand_of
from rules_core.round.limits import MAX_AMOUNT, MAX_STAKE, AmountRange, CurrencyLimits
from rules_core.round.refusal import Refusal
from rules_core.round.sealed import Sealed
from rules_core.round.state import BoxPlay, PlayerSeat, RoundState
from rules_core.settlement.cap import bet_winnings
from rules_core.settlement.insurance import Bounds

_IN_TIME = ""
"""Sorts before every instant: whether the time is over is the clock's matter, not this module's."""
_WAGERS: tuple[PlacedWager, ...] = ("ante", "bonus_player", "bonus_dealer")


@dataclass(frozen=True, slots=True)
class PlaceAction:
    """An amount from `min` to `max` in steps of `step` may be added to this wager of each of these boxes."""

    boxes: tuple[int, ...]
    wager: PlacedWager
    blind: tuple[int, ...]
    """Those of `boxes` that are, or would be, played blind."""
    min: int
    max: int
    step: int

    def placements(self, amount: int) -> tuple[Placement, ...]:
        """This action with an amount, as a command asks for it."""
        return tuple(Placement(box, self.wager, amount, box in self.blind) for box in self.boxes)


@dataclass(frozen=True, slots=True)
class WithdrawAction:
    """This wager may be taken back."""

    box: int
    wager: PlacedWager


@dataclass(frozen=True, slots=True)
class OptionAction:
    """The option of this box may be chosen, fold always; amounts in minor units."""

    box: int
    bet: int
    """What `bet` would stake; 0: not offered, too many wagers of the player were declined."""
    fee: int
    sixth_card: bool
    exchange_max: int


@dataclass(frozen=True, slots=True)
class FinalAction:
    """The final option of this box may be chosen; amounts in minor units."""

    box: int
    choices: tuple[FinalChoice, ...]
    bet: int
    """What `bet` would stake now; 0 when it stands already."""
    insurance: Bounds | None
    win_max: int
    """What the bet can win, both combinations, after the cap and without insurance."""
    cap_room: int | None
    """What the cap leaves above that; None for no cap."""


@dataclass(frozen=True, slots=True)
class PurchaseAction:
    """The dealer's exchange may be bought, or declined, for this box."""

    box: int
    fee: int
    """What it costs, minor units; 0: it can only be declined, too many wagers were declined."""


@dataclass(frozen=True, slots=True)
class AllowedActions:
    """Everything a player may do now."""

    place: tuple[PlaceAction, ...] = ()
    withdraw: tuple[WithdrawAction, ...] = ()
    undo: bool = False
    clear: bool = False
    double: int | None = None
    """What double would add in all, blind boxes' bets included; None: not offered."""
    repeat: bool = False
    options: tuple[OptionAction, ...] = ()
    finals: tuple[FinalAction, ...] = ()
    purchases: tuple[PurchaseAction, ...] = ()


def allowed_actions(
    state: RoundState,
    player: str,
    sealed: Sealed,
    *,
    currency: str | None = None,
    previous: tuple[Placement, ...] = (),
) -> AllowedActions:
    """What `player` may do now, for cash. `previous`: the bets of the table's previous round, for repeat.

    `currency` is needed only for a player without bets at a table of several currencies.
    """
    if state.step == "betting":
        return _betting(state, player, currency, previous)
    seat = state.seats.get(player)
    plays = seat.ordered() if seat is not None else []
    mine = [play for play in plays if (play.box, player) in state.undecided]
    if state.step == "options":
        return AllowedActions(options=tuple(_option(state, play) for play in mine))
    if state.step == "final_options":
        return AllowedActions(finals=tuple(_final(state, sealed, play) for play in mine))
    if state.step == "purchase":
        return AllowedActions(purchases=tuple(_purchase(state, play) for play in mine))
    return AllowedActions()


def _betting(
    state: RoundState, player: str, currency: str | None, previous: tuple[Placement, ...]
) -> AllowedActions:
    seat = state.seats.get(player)
    if seat is not None:
        currency = seat.currency
    elif currency is None and len(state.limits) == 1:
        currency = next(iter(state.limits))
    limits = state.limits.get(currency or "")
    if limits is None or currency is None:
        return AllowedActions()
    place = tuple(_placeable(state, player, limits, seat))
    if seat is None:
        repeat = _takes(state, player, currency, previous)
        return AllowedActions(place=place, repeat=repeat)
    return AllowedActions(
        place=place,
        withdraw=tuple(_withdrawable(state, seat)),
        undo=not isinstance(undo_bet(c.UndoBet(player, _IN_TIME), state), Refusal),
        clear=not isinstance(clear_bets(c.ClearBets(player, _IN_TIME), state), Refusal),
        double=_double(state, seat),
    )


def _takes(state: RoundState, player: str, currency: str, placements: tuple[Placement, ...]) -> bool:
    """Whether these placements, made by one command, would be accepted."""
    found = check_form(state, placements) or check_placements(state, player, currency, placements)
    return found is None


def _placeable(
    state: RoundState, player: str, limits: CurrencyLimits, seat: PlayerSeat | None
) -> list[PlaceAction]:
    stake = _Placing(state, player, limits, seat)
    found = [
        stake.action((box,), wager, (box,) if blind else ())
        for box in range(1, state.ruleset.boxes + 1)
        for blind in (False, True)
        for wager in _WAGERS
    ]
    together = _ante_together(state, seat)
    if together:
        blind = tuple(play.box for play in together if play.blind)
        found.append(stake.action(tuple(play.box for play in together), "ante", blind))
    return [action for action in found if action is not None]


def _ante_together(state: RoundState, seat: PlayerSeat | None) -> list[BoxPlay]:
    """Boxes whose antes must stay equal, so that only one command for all of them can raise them."""
    rule = state.ruleset.seating.equal_antes
    if seat is None or rule == "no":
        return []
    concerned = [play for play in seat.ordered() if rule == "all_boxes" or not play.blind]
    return concerned if len(concerned) > 1 else []


@dataclass(frozen=True, slots=True)
class _Placing:
    """What may be added to the wagers of one player, other boxes staying as they are."""

    state: RoundState
    player: str
    limits: CurrencyLimits
    seat: PlayerSeat | None

    def action(
        self, boxes: tuple[int, ...], wager: PlacedWager, blind: tuple[int, ...]
    ) -> PlaceAction | None:
        """The bounds of one placement, the same amount on each of `boxes`; None: it would be refused."""
        limits = self.limits
        alone = len(boxes) == 1
        ranges = [self._range(box, wager, blind=box in blind, alone=alone) for box in boxes]
        known = [allowed for allowed in ranges if allowed is not None]
        if len(known) < len(ranges):
            return None
        low = max(allowed.min for allowed in known)
        high = min(self._most(len(boxes), wager, len(blind)), *(allowed.max for allowed in known))
        if low > high:
            return None
        action = PlaceAction(boxes, wager, blind, low, high, limits.chip)
        refused = check_placements(self.state, self.player, limits.currency, action.placements(low))
        return action if refused is None else None

    def _most(self, boxes: int, wager: PlacedWager, blind: int) -> int:
        """Most that may be added to each box by what bounds all bets; a blind ante stakes its bet too."""
        most = [MAX_STAKE, (MAX_AMOUNT - self.state.exposure) // (boxes * self.state.worst[wager])]
        room = _room(self.limits, self.seat)
        if room is not None:
            most.append(room // (boxes + (2 * blind if wager == "ante" else 0)))
        chip = self.limits.chip
        return max(0, min(most)) // chip * chip

    def _range(self, box: int, wager: PlacedWager, *, blind: bool, alone: bool) -> AmountRange | None:
        limits, seat = self.limits, self.seat
        play = seat.plays.get(box) if seat is not None else None
        total = getattr(play, wager) if play is not None else 0
        allowed = limits.ante_in(box) if wager == "ante" else getattr(limits, wager)
        if allowed is None:
            return None
        low, high = allowed.min, allowed.max
        if wager == "ante" and alone:
            equal = self._ante_of_others(box, blind=blind)
            if equal is not None:
                low, high = max(low, equal), min(high, equal)
        return AmountRange(max(limits.chip, low - total), high - total)

    def _ante_of_others(self, box: int, *, blind: bool) -> int | None:
        rule = self.state.ruleset.seating.equal_antes
        if self.seat is None or rule == "no" or (rule == "open_boxes" and blind):
            return None
        for play in self.seat.plays.values():
            if play.box != box and (rule == "all_boxes" or not play.blind):
                return play.ante
        return None


def _room(limits: CurrencyLimits, seat: PlayerSeat | None) -> int | None:
    if limits.player_total_max is None:
        return None
    return limits.player_total_max - sum(bets.staked for bets in layout_of(seat).values())


def _withdrawable(state: RoundState, seat: PlayerSeat) -> list[WithdrawAction]:
    return [
        WithdrawAction(play.box, wager)
        for play in seat.ordered()
        for wager in _WAGERS
        if getattr(play, wager)
        and not isinstance(
            withdraw_bet(c.WithdrawBet(seat.player, play.box, wager, _IN_TIME), state), Refusal
        )
    ]


def _double(state: RoundState, seat: PlayerSeat) -> int | None:
    added = doubled(state, seat)
    if isinstance(added, Refusal) or not _takes(state, seat.player, seat.currency, added):
        return None
    return sum(p.amount * (3 if p.blind and p.wager == "ante" else 1) for p in added)


def _purchase(state: RoundState, play: BoxPlay) -> PurchaseAction:
    return PurchaseAction(play.box, play.ante if may_stake(state, play.player) else 0)


def _option(state: RoundState, play: BoxPlay) -> OptionAction:
    if not may_stake(state, play.player):
        return OptionAction(play.box, bet=0, fee=play.ante, sixth_card=False, exchange_max=0)
    bounds = option_bounds(state)
    return OptionAction(play.box, 2 * play.ante, play.ante, bounds.sixth_card, bounds.exchange_max)


def _final(state: RoundState, sealed: Sealed, play: BoxPlay) -> FinalAction:
    memo: HandMemo = {}
    hand = hand_of(state, sealed, play, memo)
    limits = state.limits[state.seats[play.player].currency]
    cap = limits.max_payout_in(play.box)
    win = bet_winnings(odds=hand.odds, bet=2 * play.ante, max_payout=cap, counted_insurance=0)
    room = None if cap is None else cap - win
    stands = play.option == "bet"
    if not may_stake(state, play.player):
        return FinalAction(play.box, ("stand",) if stands else ("fold",), 0, None, win, room)
    insurance = insurance_offer(state, sealed, play, memo)
    if stands:
        return FinalAction(play.box, ("stand",), 0, insurance, win, room)
    return FinalAction(play.box, ("bet", "fold"), 2 * play.ante, insurance, win, room)
