"""What players and dealers do in a round: always within what the table offers, and so never refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rules_core.cards import Card, parse_cards
from rules_core.round import commands as c
from rules_core.round.actions import AllowedActions, FinalAction, OptionAction, allowed_actions
from rules_core.round.driver import NextStep, next_step
from rules_core.round.events.fields import DecidedOption, FinalChoice
from rules_core.round.refusal import Refusal
from tests.rules_core.stateful.choices import Choices, chance, pick, some
from tests.rules_core.stateful.table import Table

PLAYERS = ("p1", "p2", "p3", "p4")
CLOSINGS: dict[str, Callable[[str], c.Command]] = {
    "betting": c.CloseBetting,
    "options": c.CloseOptions,
    "final_options": c.CloseFinalOptions,
    "purchase": c.ClosePurchase,
}


def bet_id(table: Table) -> str:
    """A bet id that no other command has."""
    return f"b{table.number()}"


def offered(table: Table, player: str, currency: str | None = None) -> AllowedActions:
    """What the player may do now."""
    return allowed_actions(table.state, player, table.sealed, currency=currency)


def place(table: Table, choices: Choices, player: str) -> c.PlaceBet | None:
    """A bet within the bounds of the table; None where the player can place nothing more, or it is late."""
    if not table.in_time:
        return None
    seat = table.state.seats.get(player)
    currency = pick(choices, table.limits).currency if seat is None else seat.currency
    actions = offered(table, player, currency).place
    if not actions:
        return None
    action = pick(choices, actions)
    steps = (action.max - action.min) // action.step
    amount = action.min + action.step * choices.whole(0, min(steps, 6))
    return c.PlaceBet(player, currency, bet_id(table), action.placements(amount), table.now)


def change(table: Table, choices: Choices, player: str) -> c.Command | None:
    """One of the changes that a player with bets is offered; None where there is none, or it is late."""
    actions = offered(table, player)
    changes: list[c.Command] = [
        c.WithdrawBet(player, action.box, action.wager, table.now) for action in actions.withdraw
    ]
    if actions.undo:
        changes.append(c.UndoBet(player, table.now))
    if actions.clear:
        changes.append(c.ClearBets(player, table.now))
    if actions.double is not None:
        changes.append(c.DoubleBets(player, bet_id(table), table.now))
    return pick(choices, changes) if changes and table.in_time else None


def option(table: Table, choices: Choices, player: str, action: OptionAction) -> c.ChooseOption:
    """One of the options that a box has."""
    kinds: list[DecidedOption] = ["bet"] if action.bet else []
    if action.exchange_max:
        kinds += ["exchange", "exchange"]
    if action.sixth_card:
        kinds.append("sixth")
    kind = pick(choices, [*kinds, "fold"])
    positions = tuple(some(choices, range(5), 1, action.exchange_max)) if kind == "exchange" else ()
    return c.ChooseOption(player, action.box, kind, table.now, positions, bet_id(table))


def final(table: Table, choices: Choices, player: str, action: FinalAction) -> c.ChooseFinalOption:
    """One of the final options that a box has, insured if it can be."""
    choice: FinalChoice = pick(choices, action.choices)
    insurance = 0
    if action.insurance is not None and choice != "fold" and chance(choices, 70):
        insurance = choices.whole(action.insurance.min, action.insurance.max)
    return c.ChooseFinalOption(player, action.box, choice, table.now, insurance, bet_id(table))


def choose(table: Table, choices: Choices) -> c.Command | None:
    """A choice of one of the hands that are asked; None where none is, or it is late."""
    hands = list(table.state.undecided)
    if not hands or not table.in_time:
        return None
    box, player = pick(choices, hands)
    actions = offered(table, player)
    for option_action in actions.options:
        if option_action.box == box:
            return option(table, choices, player, option_action)
    for final_action in actions.finals:
        if final_action.box == box:
            return final(table, choices, player, final_action)
    if chance(choices, 60) and any(purchase.box == box and purchase.fee for purchase in actions.purchases):
        return c.MakePurchase(player, box, bet_id(table), table.now)
    return c.DeclinePurchase(player, box, table.now)


def stack(choices: Choices) -> dict[str, Card]:
    """A deck in some order that brings what chance seldom does: three of a kind, no game, a redraw."""
    ranks = some(choices, "2467TKA9", 8, 8)
    trips = {f"box.{number}": rank for number, rank in enumerate(ranks, 1) if chance(choices, 65)}
    groups = {box: f"{rank}c {rank}d {rank}h" for box, rank in trips.items()}
    if chance(choices, 70):
        groups["dealer"] = "Qs Jd 8h 5c 3d"
    if chance(choices, 40):
        groups["draw"] = pick(choices, ("Qh Qd Qc", "Qh 8d", "8s"))
    return {
        f"{group}.{index}": card
        for group, texts in groups.items()
        for index, card in enumerate(parse_cards(texts))
    }


def next_card(table: Table, choices: Choices, where: str) -> Card:
    """The card that comes next: the one that was stacked, if it is still there, or any other."""
    deck, stacked = table.laid.deck(), table.stacked
    if stacked.get(where) in deck:
        return stacked[where]
    others = [card for card in deck if card not in stacked.values()]
    return pick(choices, others or deck)


def scan(table: Table, choices: Choices) -> None:
    """The next card laid in the place that awaits it: by the shoe, or by hand where it failed.

    Now and then the shoe misreads it, and reads it again.
    """
    where = table.state.awaited[0]
    card = next_card(table, choices, where)
    hidden = table.laid.face_down(where)
    if table.by_hand and not table.ruleset.private:
        unread = hidden and not where.startswith("switch.")
        named = None if unread else card
        table.do(c.ScanCard(f"s{table.number()}", named, None, "manual", "dealer:d1"), card)
        return
    read = pick(choices, table.laid.deck()) if chance(choices, 3) else card
    table.do(c.ScanCard(f"s{table.number()}", read, table.salt() if hidden else None))
    if read != card and not where.startswith("draw."):
        table.do(c.RescanCard(f"s{table.number()}", where, card, table.salt() if hidden else None))


def lay(table: Table, choices: Choices, most: int) -> None:
    """Lay the cards that are awaited, or the next few of them, as far as the deck goes."""
    for _ in range(most):
        if not table.state.awaited or not table.laid.deck():
            return
        scan(table, choices)


def next_hand(table: Table, command: c.ConfirmCards | c.Proceed) -> None:
    """Do the round's own step; where cards that nobody has read are opened, the dealer reads them out."""
    decision = table.ask(command)
    if isinstance(decision, Refusal) and decision.code == "card_missing":
        named = tuple((where, table.laid.truth[where]) for where in table.state.unread)
        if isinstance(command, c.ConfirmCards):
            command = c.ConfirmCards(command.at, command.by, named)
        else:
            command = c.Proceed(command.at, named)
    table.do(command)


def close(table: Table) -> None:
    """Close the open window: early if every asked box has decided, else when its time is over."""
    window = table.state.window
    assert window is not None
    if table.state.undecided or window.kind == "betting":
        table.wait_until(window.closes_at)
    table.do(CLOSINGS[window.kind](table.now))


def advance(table: Table, choices: Choices, cards: int = 52) -> NextStep:
    """Do what the table has to do next, and say what that was."""
    step = next_step(table.state, table.sealed)
    if step == "open":
        table.do(table.open_command())
    elif step == "close_window":
        close(table)
    elif step == "lay_card":
        lay(table, choices, cards)
    elif step == "confirm_cards":
        next_hand(table, c.ConfirmCards(table.now, pick(choices, ("dealer:d1", "system"))))
    elif step == "proceed":
        next_hand(table, c.Proceed(table.now))
    elif step == "settle":
        table.do(c.Settle(pick(choices, (1, 1, c.SETTLE_CHUNK_MAX))))
    return step


def bets(table: Table, choices: Choices) -> None:
    """Some players bet, some of them on several boxes."""
    for player in some(choices, PLAYERS, 1, len(PLAYERS)):
        for _ in range(choices.whole(1, 6)):
            changes = player in table.players and chance(choices, 20)
            command = change(table, choices, player) if changes else place(table, choices, player)
            if command is not None:
                table.do(command)


def run_out_of_money(table: Table, choices: Choices, player: str, times: int) -> None:
    """Bets that break no rule, but whose money is refused again and again."""
    for _ in range(times):
        bet = place(table, choices, player)
        if bet is not None:
            table.attempt(replace(bet, funds="refused"))


def lose_cards(table: Table, choices: Choices) -> None:
    """Burn most of the deck unread, so that it cannot serve everything any more."""
    left = pick(choices, (0, 1, 3, 4, 6))
    while len(table.laid.deck()) > left:
        table.do(c.BurnCard(f"s{table.number()}"), pick(choices, table.laid.deck()))


def play_window(table: Table, choices: Choices) -> None:
    """Most hands that are asked choose."""
    while not chance(choices, 15):
        command = choose(table, choices)
        if command is None:
            return
        table.do(command)


def play_until(table: Table, choices: Choices, goal: str) -> None:
    """Play on until the round has come to a step, or has ended, or can only be cancelled."""
    for _ in range(120):
        if table.state.step == goal or next_step(table.state, table.sealed) == "none":
            return
        if table.state.awaited and not table.laid.deck():
            return
        if table.state.step == "betting":
            bets(table, choices)
            if not table.state.seats:
                return
        elif table.state.window is not None:
            play_window(table, choices)
        advance(table, choices)
