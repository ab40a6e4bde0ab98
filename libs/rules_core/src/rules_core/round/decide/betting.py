"""Deciding the betting window: place, double, repeat, withdraw, undo, clear, close (RULES.md section 4.1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide.layout import BoxBets, Layout, check_layout, layout_of
from rules_core.round.decide.money import check_may_stake, declined, in_time, money_reason, not_asked
from rules_core.round.decide.wording import is_free_bet_id
from rules_core.round.limits import MAX_AMOUNT, MAX_PLACEMENTS, MAX_STAKE
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.state import PlacementRecord, PlayerSeat, RoundState
from rules_core.round.times import plus_ms

Decision = tuple[e.RoundEvent, ...] | Refusal


def stakes_of(placements: Iterable[c.Placement]) -> tuple[e.Stake, ...]:
    """The stakes of a placement: as given, and with a blind box's ante its bet of twice that."""
    stakes: list[e.Stake] = []
    for p in placements:
        stakes.append(e.Stake(p.box, p.wager, p.amount, p.blind, p.funding))
        if p.blind and p.wager == "ante":
            stakes.append(e.Stake(p.box, "bet", 2 * p.amount, blind=True))
    return tuple(stakes)


def placements_of(stakes: Iterable[e.Stake]) -> tuple[c.Placement, ...]:
    """What was asked for, from the stakes it became: all but a blind box's own bet."""
    return tuple(
        c.Placement(s.box, s.wager, s.amount, s.blind, s.funding) for s in stakes if s.wager != "bet"
    )


def bets_to_repeat(state: RoundState, player: str) -> tuple[c.Placement, ...]:
    """What `RepeatBets` of the next round may ask for: the player's bets as they stood, for cash."""
    seat = state.seats.get(player)
    wagers: tuple[c.PlacedWager, ...] = ("ante", "bonus_player", "bonus_dealer")
    return tuple(
        c.Placement(play.box, wager, getattr(play, wager), play.blind)
        for play in (seat.ordered() if seat is not None else ())
        for wager in wagers
        if getattr(play, wager)
    )


def place_bet(command: c.PlaceBet, state: RoundState) -> Decision:
    """BetPlaced, BetDeclined (late, or its money refused), or the refusal that says what to change."""
    return _stake(command, state, "place", command.currency, command.placements)


def repeat_bets(command: c.RepeatBets, state: RoundState) -> Decision:
    """As place_bet, all or nothing, for a player without bets."""
    if command.player in state.seats and state.step == "betting":
        return refuse("bets_already_placed", "clear your bets before you repeat earlier ones, or double them")
    return _stake(command, state, "repeat", command.currency, command.previous)


def double_bets(command: c.DoubleBets, state: RoundState) -> Decision:
    """Doubles every wager that is not of one fixed amount, all or nothing."""
    seat = state.seats.get(command.player)
    if seat is None:
        return refuse("no_bets", "there is nothing to double; place a bet first")
    placements = doubled(state, seat)
    if isinstance(placements, Refusal):
        return placements
    return _stake(command, state, "double", seat.currency, placements)


def doubled(state: RoundState, seat: PlayerSeat) -> tuple[c.Placement, ...] | Refusal:
    """What double would add for this player."""
    limits = state.limits[seat.currency]
    added: list[c.Placement] = []
    for play in seat.ordered():
        for wager, amount, funding, allowed in (
            ("ante", play.ante, play.ante_funding, limits.ante_in(play.box)),
            ("bonus_player", play.bonus_player, play.bonus_player_funding, limits.bonus_player),
            ("bonus_dealer", play.bonus_dealer, play.bonus_dealer_funding, limits.bonus_dealer),
        ):
            if not amount or (allowed is not None and allowed.fixed):
                continue
            if funding is not None:
                return refuse("free_bet_not_doubled", "a free bet covers a whole wager; it cannot be doubled")
            added.append(c.Placement(play.box, wager, amount, play.blind))  # type: ignore[arg-type]  # the loop's literals
    if not added:
        return refuse("nothing_to_double", "every wager of yours is of one fixed amount")
    return tuple(added)


def _stake(
    command: c.PlaceBet | c.RepeatBets | c.DoubleBets,
    state: RoundState,
    kind: str,
    currency: str,
    placements: tuple[c.Placement, ...],
) -> Decision:
    found = _check_form(state, command.bet_id, placements)
    if found is not None:
        return found
    stakes = stakes_of(placements)
    reason: str | None
    if not in_time(state, command.arrived_at, state.betting_closes_at, "betting"):
        on_time = command.arrived_at < state.betting_closes_at and command.funds == "held"
        reason = "hold_answered_late" if on_time else "betting_closed"
        return declined(state, command, currency, _declined_stakes(stakes), reason)
    found = check_placements(state, command.player, currency, placements)
    if found is not None:
        return found
    if command.funds == "not_asked":
        return not_asked()
    reason = money_reason(command.funds)
    if reason is not None:
        return declined(state, command, currency, _declined_stakes(stakes), reason)
    return (e.BetPlaced(command.player, currency, command.bet_id, kind, stakes, command.arrived_at),)  # type: ignore[arg-type]  # the three callers' literals


def _declined_stakes(stakes: Iterable[e.Stake]) -> tuple[e.DeclinedStake, ...]:
    return tuple(e.DeclinedStake(s.box, s.wager, s.amount, s.blind, s.funding) for s in stakes)


def _check_form(state: RoundState, bet_id: str, placements: tuple[c.Placement, ...]) -> Refusal | None:
    if state.opened is None:
        return refuse("round_not_open", "no round is open; wait for the next one")
    if bet_id in state.bet_ids:
        return refuse("bet_id_used", "this bet id is recorded already; use a new one for a new bet")
    return check_form(state, placements)


def check_form(state: RoundState, placements: tuple[c.Placement, ...]) -> Refusal | None:
    """Whether these are placements at all: boxes of this table, each wager once, amounts within bounds."""
    if not 0 < len(placements) <= MAX_PLACEMENTS:
        return refuse(
            "placements_out_of_range", f"give 1 to {MAX_PLACEMENTS} placements", maximum=MAX_PLACEMENTS
        )
    if len({(p.box, p.wager) for p in placements}) < len(placements):
        return refuse("placement_repeated", "name each wager of a box once in a command; add the amounts up")
    for p in placements:
        if not is_free_bet_id(p.funding):
            return refuse(
                "word_invalid", "funding: a free bet's id is 1 to 64 letters, digits, - and _", box=p.box
            )
        if not 1 <= p.box <= state.ruleset.boxes:
            return refuse("box_out_of_range", f"box {p.box} does not exist here", box=p.box)
        if p.amount <= 0:
            return refuse("amount_not_positive", "an amount must be above zero", box=p.box, amount=p.amount)
        if p.amount > MAX_STAKE:
            return refuse(
                "amount_too_large", f"an amount may be at most {MAX_STAKE}", box=p.box, amount=p.amount
            )
    return None


def check_placements(
    state: RoundState, player: str, currency: str, placements: tuple[c.Placement, ...]
) -> Refusal | None:
    """The first rule that these placements would break; money and time aside."""
    limits = state.limits.get(currency)
    if limits is None:
        taken = ", ".join(sorted(state.limits))
        return refuse("currency_not_taken", f"this table takes {taken}", currency=currency)
    seat = state.seats.get(player)
    if seat is not None and seat.currency != currency:
        text = f"your bets of this round are in {seat.currency}"
        return refuse("currency_differs", text, currency=seat.currency)
    found = check_may_stake(state, player)
    if found is not None:
        return found
    layout = layout_of(seat)
    for placement in placements:
        found = _add(layout, placement)
        if found is not None:
            return found
    added = sum(state.worst[p.wager] * p.amount for p in placements)
    if state.exposure + added > MAX_AMOUNT:
        text = "with this bet the round could pay more than can be counted exactly; stake less"
        return refuse("exposure_too_large", text, maximum=MAX_AMOUNT)
    return check_layout(state, limits, layout, player)


def _add(layout: Layout, p: c.Placement) -> Refusal | None:
    bets = layout.get(p.box)
    if bets is None:
        bets = layout[p.box] = BoxBets(p.blind)
    elif bets.blind != p.blind:
        kind = "blind" if bets.blind else "open"
        return refuse("box_kind_fixed", f"box {p.box} is played {kind} already", box=p.box)
    total = getattr(bets, p.wager)
    if total and (p.funding is not None or getattr(bets, f"{p.wager}_funding") is not None):
        text = "a free bet pays for a whole wager; withdraw the wager first"
        return refuse("funding_not_whole", text, box=p.box, wager=p.wager)
    setattr(bets, p.wager, total + p.amount)
    setattr(bets, f"{p.wager}_funding", p.funding)
    return None


def withdraw_bet(command: c.WithdrawBet, state: RoundState) -> Decision:
    """BetWithdrawn of one wager; an ante takes bet, B and D with it."""
    found = _check_changeable(state, command.player, command.arrived_at)
    if isinstance(found, Refusal):
        return found
    play = found.plays.get(command.box)
    # A recorded withdrawal can name a blind box's bet, which stands and falls with its ante.
    placed = command.wager in get_args(c.PlacedWager)
    if play is None or not placed or not getattr(play, command.wager):
        return refuse("no_such_bet", f"you have no {command.wager} on box {command.box}", box=command.box)
    wagers = ("ante", "bet", "bonus_player", "bonus_dealer") if command.wager == "ante" else (command.wager,)
    stakes = [stake for wager in wagers for stake in _standing(found, command.box, wager)]
    return _withdrawn(state, found, "withdraw", stakes, command.arrived_at)


def undo_bet(command: c.UndoBet, state: RoundState) -> Decision:
    """BetWithdrawn of the player's latest placement that stands, whole."""
    found = _check_changeable(state, command.player, command.arrived_at)
    if isinstance(found, Refusal):
        return found
    stakes = _record_stakes(found.placements[-1])
    return _withdrawn(state, found, "undo", stakes, command.arrived_at)


def clear_bets(command: c.ClearBets, state: RoundState) -> Decision:
    """BetWithdrawn of everything the player has on the table."""
    found = _check_changeable(state, command.player, command.arrived_at)
    if isinstance(found, Refusal):
        return found
    stakes = [stake for record in found.placements for stake in _record_stakes(record)]
    return _withdrawn(state, found, "clear", stakes, command.arrived_at)


def _check_changeable(state: RoundState, player: str, arrived_at: str) -> PlayerSeat | Refusal:
    if not in_time(state, arrived_at, state.betting_closes_at, "betting"):
        return refuse("betting_closed", "bets can only be changed during the betting time")
    seat = state.seats.get(player)
    return seat if seat is not None else refuse("no_bets", "you have no bets on this table")


def _record_stakes(record: PlacementRecord) -> list[e.WithdrawnStake]:
    return [
        e.WithdrawnStake(record.bet_id, box, wager, amount) for (box, wager), amount in record.stakes.items()
    ]


def _standing(seat: PlayerSeat, box: int, wager: str) -> list[e.WithdrawnStake]:
    return [
        stake
        for record in seat.placements
        for stake in _record_stakes(record)
        if stake.box == box and stake.wager == wager
    ]


def _withdrawn(
    state: RoundState, seat: PlayerSeat, kind: str, stakes: list[e.WithdrawnStake], arrived_at: str
) -> Decision:
    layout = layout_of(seat)
    for stake in stakes:
        if stake.wager != "bet":
            bets = layout[stake.box]
            setattr(bets, stake.wager, getattr(bets, stake.wager) - stake.amount)
    remaining = {box: bets for box, bets in layout.items() if bets.staked}
    found = check_layout(state, state.limits[seat.currency], remaining, seat.player)
    if found is not None:
        return found
    return (e.BetWithdrawn(seat.player, kind, tuple(stakes), arrived_at),)  # type: ignore[arg-type]  # the three callers' literals


def close_betting(command: c.CloseBetting, state: RoundState) -> Decision:
    """BettingClosed, or WindowExtended by a whole window when there is no bet."""
    window, opened = state.window, state.opened
    if state.step != "betting" or window is None or opened is None:
        return refuse("betting_closed", "the betting window is not open")
    if command.at < window.closes_at:
        return refuse(
            "window_still_open", f"betting closes at {window.closes_at}", closes_at=window.closes_at
        )
    if not state.standing:
        betting_ms = opened.durations.betting_ms
        closes_at = plus_ms(command.at, betting_ms)
        return (e.WindowExtended("betting", None, closes_at, betting_ms, "no_bets", command.at),)
    every = range(1, state.ruleset.boxes + 1)
    boxes = tuple(every if state.ruleset.shared else sorted(state.owners))
    return (e.BettingClosed(command.at, boxes),)
