"""Recording the betting window."""

from __future__ import annotations

from typing import Any

from rules_core.round import events as e
from rules_core.round.events.fields import StakeName
from rules_core.round.places import deal_order
from rules_core.round.state import BoxPlay, PlacementRecord, PlayerSeat, RoundState, Window

COUNTED_DECLINES = frozenset({"betting_closed", "window_closed", "funds_refused", "wallet_unavailable"})
"""Reasons of BetDeclined that count towards a player's bound of 20 a round (ARCHITECTURE.md, Refusals)."""


def round_opened(state: RoundState, event: e.RoundOpened) -> None:
    state.opened = event
    state.limits = {limit.currency: limit for limit in event.limits}
    state.step = "betting"
    state.betting_closes_at = event.closes_at
    state.window = Window("betting", None, event.opened_at, event.closes_at)
    state.last_at = event.opened_at


def bet_placed(state: RoundState, event: e.BetPlaced) -> None:
    player = event.player
    seat = state.seats.get(player)
    if seat is None:
        seat = state.seats[player] = PlayerSeat(player, event.currency)
    state.bet_ids.add(event.bet_id)
    plays = seat.plays
    placed: dict[tuple[int, Any], int] = {}
    for stake in event.stakes:
        box = stake.box
        play = plays.get(box)
        if play is None:
            play = plays[box] = BoxPlay(player, box, blind=stake.blind)
            state.standing += 1
            state.owners[box] = player
        _add_stake(play, stake)
        state.exposure += state.worst[stake.wager] * stake.amount
        key = (box, stake.wager)
        placed[key] = placed.get(key, 0) + stake.amount
    seat.placements.append(PlacementRecord(event.bet_id, event.kind, placed))


def _add_stake(play: BoxPlay, stake: e.Stake) -> None:
    wager = stake.wager
    if wager == "ante":
        play.ante += stake.amount
        play.ante_funding = stake.funding
    elif wager == "bet":
        play.bet += stake.amount
    elif wager == "bonus_player":
        play.bonus_player += stake.amount
        play.bonus_player_funding = stake.funding
    else:
        play.bonus_dealer += stake.amount
        play.bonus_dealer_funding = stake.funding


def bet_declined(state: RoundState, event: e.BetDeclined) -> None:
    state.bet_ids.add(event.bet_id)
    if event.reason in COUNTED_DECLINES:
        state.declined[event.player] = state.declined.get(event.player, 0) + 1


def bet_withdrawn(state: RoundState, event: e.BetWithdrawn) -> None:
    seat = state.seats.get(event.player)
    if seat is None:
        return
    gone: dict[str, set[tuple[int, StakeName]]] = {}
    for stake in event.stakes:
        gone.setdefault(stake.bet_id, set()).add((stake.box, stake.wager))
        play = seat.plays.get(stake.box)
        if play is not None:
            _take_stake(play, stake)
            state.exposure -= state.worst[stake.wager] * stake.amount
    for record in seat.placements:
        for key in gone.get(record.bet_id, ()):
            record.stakes.pop(key, None)
    seat.placements = [record for record in seat.placements if record.stakes]
    for box in [box for box, play in seat.plays.items() if play.ante <= 0]:
        del seat.plays[box]
        state.standing -= 1
        state.owners.pop(box, None)
    if not seat.plays:
        del state.seats[event.player]


def _take_stake(play: BoxPlay, stake: e.WithdrawnStake) -> None:
    wager, amount = stake.wager, stake.amount
    if wager == "ante":
        play.ante -= amount
        play.ante_funding = play.ante_funding if play.ante else None
    elif wager == "bet":
        play.bet -= amount
    elif wager == "bonus_player":
        play.bonus_player -= amount
        play.bonus_player_funding = play.bonus_player_funding if play.bonus_player else None
    else:
        play.bonus_dealer -= amount
        play.bonus_dealer_funding = play.bonus_dealer_funding if play.bonus_dealer else None


def betting_closed(state: RoundState, event: e.BettingClosed) -> None:
    state.window = None
    state.last_at = event.closed_at
    state.step = "deal"
    state.boxes = event.boxes
    state.order = tuple(state.seats)
    state.awaited = deal_order(event.boxes)
    state.laid = ()
