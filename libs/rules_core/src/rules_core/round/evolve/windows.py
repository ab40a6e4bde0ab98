"""Recording the decision windows."""

from __future__ import annotations

from rules_core.round import events as e
from rules_core.round.events.fields import WindowKind
from rules_core.round.places import SWITCH_CARDS, draw_place, replacement_place, switch_place
from rules_core.round.state import BoxPlay, RoundState, Window


def _play(state: RoundState, player: str, box: int) -> BoxPlay:
    """The player's hand in a box; one that belongs to nobody where the events name an unknown one."""
    seat = state.seats.get(player)
    play = seat.plays.get(box) if seat is not None else None
    return play if play is not None else BoxPlay(player, box, blind=False)


def close_window(state: RoundState) -> None:
    """Keep the cut-off of the window that ends."""
    window = state.window
    if window is not None:
        state.closed[window.kind, window.box] = window.closes_at
    state.window = None


def _open_window(
    state: RoundState,
    kind: WindowKind,
    box: int | None,
    event: e.OptionsOpened | e.FinalOptionsOpened | e.PurchaseOffered,
) -> None:
    state.window = Window(kind, box, event.opened_at, event.closes_at)
    state.last_at = event.opened_at


def options_opened(state: RoundState, event: e.OptionsOpened) -> None:
    state.step = "options"
    state.laid = ()
    _open_window(state, "options", event.box, event)
    if event.box is not None:
        state.current_box = event.box
        owner = state.owners.get(event.box, "")
        state.undecided = {(event.box, owner): _play(state, owner, event.box)}
        return
    state.undecided = {
        (play.box, seat.player): play
        for seat in state.seats.values()
        for play in seat.plays.values()
        if not play.blind
    }


def option_chosen(state: RoundState, event: e.OptionChosen) -> None:
    play = _play(state, event.player, event.box)
    play.option = event.kind
    play.positions = event.positions
    if event.kind == "bet":
        play.bet = event.amount
    else:
        play.fee = event.amount
    if event.bet_id is not None:
        state.bet_ids.add(event.bet_id)
    state.undecided.pop((event.box, event.player), None)


def options_closed(state: RoundState, event: e.OptionsClosed) -> None:
    for group in event.passed:
        for player in group.players:
            _play(state, player, group.box).option = "none"
    close_window(state)
    state.last_at = event.closed_at
    state.undecided = {}
    if event.box is None:
        state.step = "replace"
        state.awaited = tuple(switch_place(i) for i in range(SWITCH_CARDS))
        return
    bought = _play(state, state.owners.get(event.box, ""), event.box).bought
    state.step = "replace" if bought else "next"
    state.awaited = tuple(replacement_place(event.box, i) for i in range(bought))


def final_options_opened(state: RoundState, event: e.FinalOptionsOpened) -> None:
    state.step = "final_options"
    state.laid = ()
    _open_window(state, "final_options", event.box, event)
    state.undecided = _asked(state, event.asked)
    for play in state.undecided.values():
        play.asked_final = True


def _asked(state: RoundState, groups: tuple[e.BoxPlayers, ...]) -> dict[tuple[int, str], BoxPlay]:
    return {
        (group.box, player): _play(state, player, group.box) for group in groups for player in group.players
    }


def final_option_chosen(state: RoundState, event: e.FinalOptionChosen) -> None:
    play = _play(state, event.player, event.box)
    play.final = event.choice
    play.defaulted = event.by == "platform"
    play.bet += event.bet
    play.insurance = event.insurance
    if event.bet_id is not None:
        state.bet_ids.add(event.bet_id)
    state.undecided.pop((event.box, event.player), None)


def final_options_closed(state: RoundState, event: e.FinalOptionsClosed) -> None:
    close_window(state)
    state.last_at = event.closed_at
    state.undecided = {}
    state.step = "next"


def window_extended(state: RoundState, event: e.WindowExtended) -> None:
    window = state.window
    if window is None:
        return
    state.last_at = event.decided_at
    window.closes_at = event.closes_at
    if event.window == "betting":
        state.betting_closes_at = event.closes_at
    # Without bets the window starts again, with all its room for extensions.
    window.extended_ms = 0 if event.reason == "no_bets" else window.extended_ms + event.extended_ms


def purchase_offered(state: RoundState, event: e.PurchaseOffered) -> None:
    state.step = "purchase"
    _open_window(state, "purchase", None, event)
    state.undecided = _asked(state, event.asked)


def purchase_made(state: RoundState, event: e.PurchaseMade) -> None:
    _play(state, event.player, event.box).purchase = True
    state.purchases += 1
    state.bet_ids.add(event.bet_id)
    state.undecided.pop((event.box, event.player), None)


def purchase_declined(state: RoundState, event: e.PurchaseDeclined) -> None:
    _play(state, event.player, event.box).purchase = False
    state.undecided.pop((event.box, event.player), None)


def purchase_closed(state: RoundState, event: e.PurchaseClosed) -> None:
    close_window(state)
    state.last_at = event.closed_at
    state.undecided = {}
    if state.purchases:
        state.step = "draw"
        state.awaited = (draw_place(0),)
    else:
        state.step = "decided"
