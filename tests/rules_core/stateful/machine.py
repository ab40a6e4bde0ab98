"""Any sequence of commands that a table can meet, legal or not, checked after each of them."""

from __future__ import annotations

import sys

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
    lose_cards,
    place,
    play_until,
    run_out_of_money,
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
        mishap=st.integers(0, 3),
        cancelled=st.integers(0, 3),
        seed=SEEDS,
    )
    def begin(  # noqa: PLR0913, PLR0917 - what a failure shrinks to is named here, a word for each
        self, limits: int, goal: str, laid: int, by_hand: int, mishap: int, cancelled: int, seed: int
    ) -> None:
        """Play as far as the goal, and lay some of the cards that are awaited there."""
        self.rolled = Choices(seed)
        self.table = Table(self.house, self.house.limits[limits], (pick(self.rolled, PLAYERS),))
        self.table.by_hand = by_hand == 3 and not self.house.ruleset.private
        self.cancelled = cancelled == 3
        if chance(self.rolled, 85):
            self.table.stacked = stack(self.rolled)
        if goal != "new":
            self.table.do(self.table.open_command())
            if goal == "betting":
                bets(self.table, self.rolled)
            play_until(self.table, self.rolled, goal)
            lay(self.table, self.rolled, laid)
            if mishap == 3:
                self._mishap()
        self._inspect(self.rolled)
        self.begun = True

    def _mishap(self) -> None:
        """Somebody has no money left, or the deck hardly a card."""
        if self.table.state.step == "betting":
            run_out_of_money(self.table, self.rolled, "p1", 21)
        elif self.table.state.step in DEALT:
            lose_cards(self.table, self.rolled)

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
    def lose_credit(self, who: str, times: int, seed: int) -> None:
        """Somebody's bets are refused for want of money, perhaps once too often."""
        run_out_of_money(self.table, self._choices(seed), who, times)

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
        self._correct(self._choices(seed))

    def _correct(self, choices: Choices) -> None:
        table = self.table
        decision = table.attempt(anything.resettle(choices, table))
        while not isinstance(decision, Refusal) and next_step(table.state, table.sealed) == "settle":
            decision = table.do(c.Settle(1))

    def teardown(self) -> None:
        """The round can always be ended, corrected or not, and then be verified."""
        if not self.begun or sys.exc_info()[0] is not None:
            return
        table, rolled = self.table, self.rolled
        if self.cancelled and table.state.step not in {"new", "settling"} and not table.state.ended:
            cancel(table)
        end(table, rolled)
        for _ in range(2):
            self._correct(rolled)
        table.look()
        table.onlookers.all_seen()
        self._inspect(rolled)
        check_verified(table, pick(rolled, (*table.players, "nobody")))
