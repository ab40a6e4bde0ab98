"""Any sequence of commands that a table can meet, legal or not, checked after each of them."""

from __future__ import annotations

import sys
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from rules_core.cards import Card
from rules_core.round import commands as c
from rules_core.round.driver import next_step
from rules_core.round.refusal import Refusal
from tests.rules_core.stateful import anything, arguments
from tests.rules_core.stateful.agreement import Agreement
from tests.rules_core.stateful.choices import Choices, chance, pick
from tests.rules_core.stateful.ending import cancel, check_next_step, check_verified, end
from tests.rules_core.stateful.houses import House
from tests.rules_core.stateful.sensible import (
    PLAYERS,
    advance,
    bets,
    change,
    choose,
    lay,
    place,
    play_until,
    stack,
)
from tests.rules_core.stateful.table import Table

GOALS = (
    "betting",
    "betting",
    "betting",
    "deal",
    "options",
    "replace",
    "final_options",
    "final_options",
    "next",
    "revealed",
    "purchase",
    "purchase",
    "draw",
    "decided",
    "settling",
    "settled",
    "new",
)
"""Where a round can be when the drawn commands begin; one that does not come by is played to its end."""
DEALT = {"deal", "options", "replace", "next", "final_options", "revealed", "purchase"}
SEEDS = st.integers(0, 2**16 - 1)


class RoundMachine(RuleBasedStateMachine):
    """One round of one house."""

    table: Table
    rolled: Choices

    def __init__(self, house: House) -> None:
        super().__init__()
        self.house = house
        self.begun = False
        self.cancelled = False
        self.steps = 0

    @initialize(
        limits=st.integers(0, 2),
        goal=st.sampled_from(GOALS),
        laid=st.sampled_from((52, 0, 1, 4)),
        by_hand=st.integers(0, 3),
        cancelled=st.integers(0, 3),
        seed=SEEDS,
    )
    def begin(self, limits: int, goal: str, laid: int, by_hand: int, cancelled: int, seed: int) -> None:
        """Play as far as the goal, and lay some of the cards that are awaited there."""
        self.rolled = Choices(seed)
        self.table = Table(self.house, self.house.limits[limits], (pick(self.rolled, PLAYERS),))
        self.table.by_hand = by_hand == 3 and not self.house.ruleset.private
        self.cancelled = cancelled == 3
        if chance(self.rolled, 70):
            self.table.stacked = stack(self.rolled)
        if goal != "new":
            self.table.do(self.table.open_command())
            if goal == "betting":
                bets(self.table, self.rolled)
            play_until(self.table, self.rolled, goal)
            lay(self.table, self.rolled, laid)
        self._inspect(self.rolled)
        self.begun = True

    @rule(seed=SEEDS)
    def go_on(self, seed: int) -> None:
        """While a window is open somebody plays, mostly; else the table does its next own step."""
        choices = self._choices(seed)
        if self.table.in_time and chance(choices, 75):
            self._play(choices)
        elif not self.table.state.awaited or self.table.laid.deck():
            advance(self.table, choices, pick(choices, (52, 1, 3)))

    def _play(self, choices: Choices) -> None:
        """Somebody bets or chooses what the table offers."""
        table = self.table
        if table.state.step != "betting":
            command = choose(table, choices)
        elif table.players and chance(choices, 50):
            command = change(table, choices, pick(choices, table.players))
        else:
            command = place(table, choices, pick(choices, PLAYERS))
        if command is not None:
            table.do(command)

    @rule(seed=SEEDS)
    def in_place(self, seed: int) -> None:
        """A command of a kind that is in place now; its arguments may not be."""
        choices = self._choices(seed)
        makers = anything.IN_PLACE[self.table.state.step]
        self._attempt(pick(choices, makers)(choices, self.table), choices)

    @rule(seed=SEEDS)
    def in_place_again(self, seed: int) -> None:
        """The same once more: most of what can go wrong is near what is right."""
        self.in_place(seed)

    @rule(seed=SEEDS)
    def out_of_place(self, seed: int) -> None:
        """A command of any kind at any time; a cancellation seldom, since little can follow it."""
        choices = self._choices(seed)
        command = pick(choices, anything.MAKERS)(choices, self.table)
        if isinstance(command, c.CancelRound) and not chance(choices, 20):
            self.table.ask(command)
            self.table.unchanged()
        else:
            self._attempt(command, choices)

    def _choices(self, seed: int) -> Choices:
        """The choices of this step: a seed that is drawn again gives others."""
        self.steps += 1
        return Choices(seed, self.steps)

    def _attempt(self, command: c.Command, choices: Choices) -> None:
        came: Card | None = None
        if isinstance(command, (c.ScanCard, c.BurnCard)) and command.card is None:
            deck = self.table.laid.deck()
            if not deck:
                return
            came = pick(choices, deck)
        self.table.attempt(command, came)

    @precondition(lambda self: self.table.in_time and self.table.state.step == "betting")
    @rule(who=st.sampled_from(PLAYERS), times=st.sampled_from((1, 19, 21)), seed=SEEDS)
    def run_out_of_money(self, who: str, times: int, seed: int) -> None:
        """Bets that break no rule, but whose money is refused again and again."""
        choices = self._choices(seed)
        for _ in range(times):
            bet = place(self.table, choices, who)
            if bet is not None:
                self.table.attempt(replace(bet, funds="refused"))

    @rule(seed=SEEDS, looked=st.booleans())
    def inspect(self, seed: int, *, looked: bool) -> None:
        """What somebody is offered is what would be accepted; or everybody looks at the table."""
        choices, table = self._choices(seed), self.table
        if looked:
            table.look()
        else:
            self._inspect(choices)

    def _inspect(self, choices: Choices) -> None:
        """What the table can do next, and what somebody, mostly of those that are asked, can do now."""
        check_next_step(self.table)
        _, player = arguments.hand(choices, self.table)
        Agreement(self.table, player, choices).check()

    @precondition(lambda self: self.table.state.step in DEALT and len(self.table.laid.deck()) > 6)
    @rule(seed=SEEDS)
    def lose_cards(self, seed: int) -> None:
        """Seldom: most of the deck is burned unread, so that it cannot serve everything any more."""
        choices = self._choices(seed)
        if chance(choices, 25):
            left = pick(choices, (0, 1, 3, 6))
            while len(self.table.laid.deck()) > left:
                self.table.do(c.BurnCard(f"s{self.table.number()}"), pick(choices, self.table.laid.deck()))

    @rule(milliseconds=st.sampled_from((1_000, 0, 1, 60_000)))
    def meanwhile(self, milliseconds: int) -> None:
        """Time passes; or the shoe fails, so that the dealer types the cards in, or works again."""
        if milliseconds:
            self.table.wait(milliseconds)
        else:
            self.table.by_hand = not self.table.by_hand and not self.table.ruleset.private

    @precondition(lambda self: self.table.state.step == "settled" and self.table.state.correction < 3)
    @rule(seed=SEEDS)
    def correct(self, seed: int) -> None:
        """A correction, carried through player by player."""
        decision = self.table.attempt(anything.resettle(self._choices(seed), self.table))
        while (
            not isinstance(decision, Refusal) and next_step(self.table.state, self.table.sealed) == "settle"
        ):
            decision = self.table.do(c.Settle(1))

    def teardown(self) -> None:
        """The round can always be ended, and then be verified."""
        if not self.begun or sys.exc_info()[0] is not None:
            return
        table, rolled = self.table, self.rolled
        if self.cancelled and table.state.step not in {"new", "settling"} and not table.state.ended:
            cancel(table)
        end(table, rolled)
        table.look()
        table.onlookers.all_seen()
        check_next_step(table)
        Agreement(table, pick(rolled, PLAYERS), rolled).check()
        check_verified(table, pick(rolled, (*table.players, "nobody")))
