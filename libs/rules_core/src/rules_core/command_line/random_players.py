"""What random players do in each window, always within what `allowed_actions` offers."""

from __future__ import annotations

from collections.abc import Iterator

from rules_core.command_line.dice import Dice
from rules_core.round import commands as c
from rules_core.round.actions import FinalAction, OptionAction, PlaceAction, allowed_actions
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState

PASSES_PERCENT = 8
REFUSED_PERCENT = 3


class RandomPlayers:
    """Draws the commands of players; `now` and `new_id` come from the table that they play at."""

    def __init__(self, dice: Dice, players: tuple[str, ...], currency: str) -> None:
        self._dice = dice
        self._players = players
        self._currency = currency

    def bets(self, state: RoundState, sealed: Sealed, player: str, now: str, bet_id: str) -> c.Command | None:
        """One more command of the betting window, or None when the player has had enough."""
        allowed = allowed_actions(state, player, sealed, currency=self._currency)
        seated = player in state.seats
        if seated and self._dice.chance(35):
            return None
        if seated and self._dice.chance(8):
            return self._change(state, sealed, player, now, bet_id)
        place = [action for action in allowed.place if action.wager == "ante" or self._dice.chance(50)]
        if not place:
            return None
        action = self._dice.pick(place)
        return c.PlaceBet(player, self._currency, bet_id, self._placements(action), now, self._funds())

    def _placements(self, action: PlaceAction) -> tuple[c.Placement, ...]:
        steps = min((action.max - action.min) // action.step, 8)
        amount = action.min + action.step * self._dice.below(steps + 1)
        return action.placements(amount)

    def _change(
        self, state: RoundState, sealed: Sealed, player: str, now: str, bet_id: str
    ) -> c.Command | None:
        allowed = allowed_actions(state, player, sealed, currency=self._currency)
        changes: list[c.Command] = [
            c.WithdrawBet(player, action.box, action.wager, now) for action in allowed.withdraw
        ]
        if allowed.undo:
            changes.append(c.UndoBet(player, now))
        if allowed.double is not None:
            changes.append(c.DoubleBets(player, bet_id, now))
        return self._dice.pick(changes) if changes else None

    def _funds(self) -> c.Funds:
        return "refused" if self._dice.chance(REFUSED_PERCENT) else "held"

    def decisions(
        self, state: RoundState, sealed: Sealed, now: str, bet_ids: Iterator[str]
    ) -> Iterator[c.Command]:
        """The commands of the open window, a player at a time; some players let it pass."""
        for player in self._dice.shuffled(self._players):
            allowed = allowed_actions(state, player, sealed)
            for option in allowed.options:
                if not self._dice.chance(PASSES_PERCENT):
                    yield self._option(option, player, now, next(bet_ids))
            for final in allowed.finals:
                if not self._dice.chance(PASSES_PERCENT):
                    yield self._final(final, player, now, next(bet_ids))
            for purchase in allowed.purchases:
                if self._dice.chance(45):
                    yield c.MakePurchase(player, purchase.box, next(bet_ids), now, self._funds())
                elif not self._dice.chance(PASSES_PERCENT):
                    yield c.DeclinePurchase(player, purchase.box, now)

    def _option(self, option: OptionAction, player: str, now: str, bet_id: str) -> c.ChooseOption:
        roll = self._dice.below(100)
        if roll < 35:
            return c.ChooseOption(player, option.box, "bet", now, (), bet_id, self._funds())
        if roll < 60 and option.sixth_card:
            return c.ChooseOption(player, option.box, "sixth", now, (), bet_id, self._funds())
        if roll < 90 and option.exchange_max:
            count = 1 + self._dice.below(option.exchange_max)
            positions = tuple(self._dice.shuffled(range(5))[:count])
            return c.ChooseOption(player, option.box, "exchange", now, positions, bet_id, self._funds())
        return c.ChooseOption(player, option.box, "fold", now)

    def _final(self, final: FinalAction, player: str, now: str, bet_id: str) -> c.ChooseFinalOption:
        choice = final.choices[0] if final.win_max or self._dice.chance(30) else final.choices[-1]
        insurance = 0
        if final.insurance is not None and choice != "fold" and self._dice.chance(60):
            insurance = final.insurance.min + self._dice.below(final.insurance.max - final.insurance.min + 1)
        funds = self._funds() if choice == "bet" or insurance else "held"
        return c.ChooseFinalOption(player, final.box, choice, now, insurance, bet_id, funds)
