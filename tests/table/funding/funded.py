"""Random rounds whose money is held as the owner of a table would have it held."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rules_core.command_line.dice import Dice
from rules_core.command_line.random_round import RandomTable
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide import decide
from rules_core.round.refusal import Refusal
from rules_core.rulesets.shipped import shipped
from upcard_table.adapters.wallet.freeing import reserves_gone
from upcard_table.app.funding import (
    Needed,
    default_bets,
    is_default_stake,
    may_stake_money,
    standing_of,
    wagers_to_hold,
)
from upcard_table.app.ports import OpenHold


@dataclass(frozen=True, slots=True)
class Held:
    """One hold that a wallet would have."""

    player: str
    bet_id: str
    wager: e.DeclinedStake


class FundedTable(RandomTable):
    """A random table that asks for money first, and checks what it is told to hold."""

    def __init__(self, ruleset: str, seed: int, players: int, *, reserve: bool) -> None:
        names = tuple(f"p{number}" for number in range(1, players + 1))
        super().__init__(shipped(ruleset), Dice(seed), names)
        self.reserve = reserve
        self.held: list[Held] = []
        self.asked = 0
        self.by_bet: dict[str, e.RoundEvent] = {}

    @property
    def round_name(self) -> str:
        return f"{self.table}.{self.number}"

    def do(self, command: c.Command) -> Refusal | None:
        if may_stake_money(command):
            self._hold(command)
        elif isinstance(command, c.CloseFinalOptions):
            self._hold_defaults()
        before = len(self.events)
        refused = super().do(command)
        for event in self.events[before:]:
            self._note(event)
        if refused is None and not isinstance(command, c.ScanCard | c.Settle):
            self.check_holds()
        return refused

    def _hold(self, command: Any) -> None:
        """The wallet is asked exactly when the command would otherwise be accepted, and for its stakes."""
        needed = wagers_to_hold(command, self.state, self.sealed, reserve=self.reserve)
        decided = decide(replace(command, funds="held"), self.state, self.sealed)
        if isinstance(decided, Refusal):
            assert isinstance(needed, Refusal)
            assert needed.code == decided.code
            return
        assert isinstance(needed, Needed)
        if not needed.wagers:
            return
        assert needed.currency == "EUR"
        self.asked += 1
        if command.funds == "held":
            self.held += [Held(command.player, command.bet_id, wager) for wager in needed.wagers]

    def _hold_defaults(self) -> None:
        for bet in default_bets(self.state, self.sealed, self.round_name, "corr", reserve=self.reserve):
            assert (bet.wanted is None) == self.reserve
            if bet.wanted is not None:
                (wager,) = bet.wanted.wagers
                self.held.append(Held(bet.player, bet.wanted.bet_id, wager))

    def _note(self, event: Any) -> None:
        bet_id = getattr(event, "bet_id", None)
        if bet_id is not None:
            self.by_bet[bet_id] = event
        if isinstance(event, e.BetWithdrawn):
            gone = {(stake.bet_id, stake.box, stake.wager) for stake in event.stakes}
            gone |= {(one.bet_id, one.box, "bet") for one in reserves_gone(self.round_name, event)}
            self.held = [one for one in self.held if (one.bet_id, one.wager.box, one.wager.wager) not in gone]

    def check_holds(self) -> None:
        """Every hold is known to the round, and every stake is covered by holds."""
        for one in self.held:
            hold = OpenHold(one.player, one.bet_id, (one.wager,))
            standing = standing_of(self.state, self.round_name, self.by_bet.get, hold, one.wager)
            assert standing == "staked", one
            known = one.bet_id in self.by_bet
            assert known or is_default_stake(self.state, self.round_name, one.player, one.bet_id)
        for seat in self.state.seats.values():
            for play in seat.plays.values():
                covered = self._held_for(seat.player, play.box)
                stakes = {
                    "ante": play.ante,
                    "bet": play.bet,
                    "bonus_player": play.bonus_player,
                    "bonus_dealer": play.bonus_dealer,
                    "insurance": play.insurance,
                    "purchase_fee": play.ante if play.purchase else 0,
                    "option_fee": play.fee,
                }
                if self.reserve and not play.blind:
                    assert covered.pop("bet", 0) == 2 * play.ante, "the bet's money is there from the start"
                    assert stakes.pop("bet") in {0, 2 * play.ante}
                assert covered == {wager: amount for wager, amount in stakes.items() if amount}

    def _held_for(self, player: str, box: int) -> dict[str, int]:
        sums: dict[str, int] = {}
        for one in self.held:
            if one.player == player and one.wager.box == box:
                sums[one.wager.wager] = sums.get(one.wager.wager, 0) + one.wager.amount
        return sums


def played(ruleset: str, seed: int, players: int, *, reserve: bool) -> FundedTable:
    """A whole round, checked on its way."""
    table = FundedTable(ruleset, seed, players, reserve=reserve)
    table.play()
    return table
