"""What is offered is accepted, what is not offered is refused: `allowed_actions` and `decide`, both ways.

Each offer is tried at its bounds, between them and just outside; everything else is tried too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.actions import (
    AllowedActions,
    FinalAction,
    OptionAction,
    PlaceAction,
    allowed_actions,
)
from rules_core.round.decide.money import DECLINED_MAX
from rules_core.round.events.fields import DecidedOption, FinalChoice
from rules_core.round.refusal import Refusal
from rules_core.round.times import from_epoch_us, plus_ms, to_epoch_us
from rules_core.settlement.insurance import Bounds
from rules_core.views.entitlement import known_to
from rules_core.views.viewers import Player
from tests.rules_core.stateful.choices import Choices, pick, some
from tests.rules_core.stateful.table import Table

PlayersCommand = c.PlaceBet | c.ClearBets | c.ChooseOption | c.ChooseFinalOption | c.DeclinePurchase
FREE = "free-id"
"""A bet id that is never recorded."""
WAGERS: tuple[c.PlacedWager, ...] = get_args(c.PlacedWager)


def last_before(instant: str) -> str:
    """The last instant before another one: a microsecond earlier."""
    return from_epoch_us(to_epoch_us(instant) - 1)


class Agreement:
    """One player's offers, tried; nothing is recorded."""

    def __init__(self, table: Table, player: str, choices: Choices) -> None:
        self.table = table
        self.state = table.state
        self.player = player
        self.choices = choices
        seat = table.state.seats.get(player)
        self.limits = pick(choices, table.limits)
        if seat is not None:
            self.limits = table.state.limits[seat.currency]
        self.boxes = range(table.ruleset.boxes + 2)
        self.when = table.now if self.state.window is None else self.state.window.opened_at

    def check(self) -> None:
        """Try everything that the player is offered, and everything else."""
        previous = self._previous()
        offers = allowed_actions(
            self.state, self.player, self.table.sealed, currency=self.limits.currency, previous=previous
        )
        if len(self.table.limits) == 1:
            assert offers == allowed_actions(self.state, self.player, self.table.sealed, previous=previous)
        known = known_to(Player(self.player), self.state, self.table.sealed)
        assert offers == allowed_actions(
            self.state, self.player, known, currency=self.limits.currency, previous=previous
        )
        self._check_places(offers.place)
        self._check_changes(offers, previous)
        self._check_options({offer.box: offer for offer in offers.options})
        self._check_finals({offer.box: offer for offer in offers.finals})
        self._check_purchases({offer.box: offer.fee for offer in offers.purchases})
        self._check_cut_off(offers)
        self.table.unchanged()

    def _check_cut_off(self, offers: AllowedActions) -> None:
        """Up to the cut-off a choice is in time, from then on it is late: the arrival alone counts."""
        window = self.state.window
        if window is None:
            return
        early = plus_ms(window.opened_at, -1)
        for command in self._some_offered(offers):
            for when, in_time in (
                (early, False),
                (window.opened_at, True),
                (last_before(window.closes_at), True),
                (window.closes_at, False),
            ):
                assert self._accepts(replace(command, arrived_at=when)) == in_time, (command, when)

    def _some_offered(self, offers: AllowedActions) -> Iterator[PlayersCommand]:
        """One command for each kind of offer."""
        for place in offers.place[:1]:
            yield self._place(*place.placements(place.min))
        if offers.clear:
            yield c.ClearBets(self.player, self.when)
        for option in offers.options[:1]:
            yield self._choose(option.box, "fold")
        for final in offers.finals[:1]:
            yield self._final(final.box, final.choices[-1])
        for purchase in offers.purchases[:1]:
            yield c.DeclinePurchase(self.player, purchase.box, self.when)

    def _accepts(self, command: c.Command) -> bool:
        return self.table.accepts(command)

    def _event(self, command: c.Command) -> e.RoundEvent:
        decision = self.table.ask(command)
        assert not isinstance(decision, Refusal), (command, decision)
        return decision[0]

    def _place(self, *placements: c.Placement) -> c.PlaceBet:
        return c.PlaceBet(self.player, self.limits.currency, FREE, placements, self.when)

    def _check_places(self, offers: tuple[PlaceAction, ...]) -> None:
        for offer in offers:
            between = offer.min + (offer.max - offer.min) // offer.step // 2 * offer.step
            outside = [offer.min - offer.step, offer.max + offer.step]
            outside += [offer.min + 1, offer.max - 1] if offer.step > 1 else []
            for amount in {offer.min, between, offer.max}:
                assert self._accepts(self._place(*offer.placements(amount))), (offer, amount)
            for amount in outside:
                assert not self._accepts(self._place(*offer.placements(amount))), (offer, amount)
        offered = {(offer.boxes, offer.wager, bool(offer.blind)) for offer in offers}
        limits = self.limits
        amounts = {limits.chip, limits.ante.min, limits.ante.max}
        amounts |= self._antes()
        amounts |= {allowed.min for allowed in (limits.bonus_player, limits.bonus_dealer) if allowed}
        for box in self.boxes:
            for wager in WAGERS:
                for blind in (False, True):
                    if ((box,), wager, blind) not in offered:
                        for amount in amounts:
                            placement = c.Placement(box, wager, amount, blind)
                            assert not self._accepts(self._place(placement)), placement

    def _antes(self) -> set[int]:
        seat = self.state.seats.get(self.player)
        return set() if seat is None else {play.ante for play in seat.plays.values()}

    def _previous(self) -> tuple[c.Placement, ...]:
        """Bets of a previous round: some that this table takes, and some that it does not."""
        ante = self.limits.ante.min
        boxes = some(self.choices, self.boxes, 0, 2)
        return tuple(c.Placement(box, "ante", ante, self.choices.whole(0, 1) == 1) for box in boxes)

    def _check_changes(self, offers: AllowedActions, previous: tuple[c.Placement, ...]) -> None:
        player = self.player
        assert self._accepts(c.UndoBet(player, self.when)) == offers.undo
        assert self._accepts(c.ClearBets(player, self.when)) == offers.clear
        for change in (c.UndoBet(player, self.when), c.ClearBets(player, self.when)):
            if self._accepts(change):
                taken_back = self._event(change)
                assert isinstance(taken_back, e.BetWithdrawn)
                self.table.books.check_taken_back(taken_back)
        withdrawn = {(offer.box, offer.wager) for offer in offers.withdraw}
        for box in self.boxes:
            for wager in WAGERS:
                accepted = self._accepts(c.WithdrawBet(player, box, wager, self.when))
                assert accepted == ((box, wager) in withdrawn)
        double = c.DoubleBets(player, FREE, self.when)
        assert self._accepts(double) == (offers.double is not None)
        if offers.double is not None:
            placed = self._event(double)
            assert isinstance(placed, e.BetPlaced)
            assert sum(stake.amount for stake in placed.stakes) == offers.double
        added = self._doubled()
        cash = all(placement.funding is None for placement in added)
        betting = self.state.step == "betting"
        assert (offers.double is not None) == (betting and cash and self._accepts(self._place(*added)))
        repeat = c.RepeatBets(player, self.limits.currency, FREE, previous, self.when)
        assert self._accepts(repeat) == offers.repeat

    def _doubled(self) -> list[c.Placement]:
        """What a double has to add (RULES.md section 4.1)."""
        boxes, placements = self.table.books.boxes, []
        for (box, wager), amount in self.table.books.doubled(self.player).items():
            book = boxes[self.player, box]
            if wager != "bet":
                funding = book.funding[wager]
                placements.append(c.Placement(box, wager, amount, book.blind, funding))  # type: ignore[arg-type]  # all but the bet are placed
        return placements

    def _choose(self, box: int, kind: DecidedOption, *positions: int) -> c.ChooseOption:
        return c.ChooseOption(self.player, box, kind, self.when, positions, FREE)

    def _check_options(self, offers: dict[int, OptionAction]) -> None:
        for box in self.boxes:
            offer = offers.get(box)
            most = 0 if offer is None else offer.exchange_max
            sixth = offer is not None and offer.sixth_card
            if offer is not None and offer.bet:
                spare = self.table.due.spare_cards()
                assert (sixth, most) == (spare >= 1, min(spare, self.table.ruleset.exchange_max))
            assert self._accepts(self._choose(box, "bet")) == (offer is not None and offer.bet > 0)
            assert self._accepts(self._choose(box, "fold")) == (offer is not None)
            assert self._accepts(self._choose(box, "sixth")) == sixth
            for count in range(7):
                positions = some(self.choices, range(5), min(count, 5), min(count, 5))
                positions += [5] * (count - 5)
                assert self._accepts(self._choose(box, "exchange", *positions)) == (0 < count <= most)
            for wrong in ((0, 0), (5,), (-1,)):
                assert not self._accepts(self._choose(box, "exchange", *wrong))
            if offer is not None:
                costs: dict[DecidedOption, int] = {"bet": offer.bet, "fold": 0}
                costs |= {"sixth": offer.fee} if sixth else {}
                self._check_costs(box, costs)

    def _check_costs(self, box: int, costs: dict[DecidedOption, int]) -> None:
        for kind, cost in costs.items():
            if cost or kind == "fold":
                chosen = self._event(self._choose(box, kind))
                assert isinstance(chosen, e.OptionChosen)
                assert chosen.amount == cost

    def _final(self, box: int, choice: FinalChoice, insurance: int = 0) -> c.ChooseFinalOption:
        return c.ChooseFinalOption(self.player, box, choice, self.when, insurance, FREE)

    def _check_finals(self, offers: dict[int, FinalAction]) -> None:
        for box in self.boxes:
            offer = offers.get(box)
            choices = () if offer is None else offer.choices
            bounds = None if offer is None else offer.insurance
            for choice in get_args(FinalChoice):
                assert self._accepts(self._final(box, choice)) == (choice in choices)
                insured = choice in choices and choice != "fold" and bounds is not None
                self._check_insurance(box, choice, bounds if insured else None)
            if offer is not None:
                chosen = self._event(self._final(box, choices[0]))
                assert isinstance(chosen, e.FinalOptionChosen)
                assert chosen.bet == offer.bet
                few_declined = self.state.declined.get(self.player, 0) < DECLINED_MAX
                book = self.table.books.boxes[self.player, box]
                assert bounds == (self.table.due.insurance(book) if few_declined else None)

    def _check_insurance(self, box: int, choice: FinalChoice, bounds: Bounds | None) -> None:
        assert not self._accepts(self._final(box, choice, -1))
        if bounds is None:
            book = self.table.books.boxes.get((self.player, box))
            ante = 100 if book is None else book.ante
            for amount in (1, ante, 2 * ante, 10_000):
                assert not self._accepts(self._final(box, choice, amount))
            return
        for amount in {bounds.min, (bounds.min + bounds.max) // 2, bounds.max}:
            assert self._accepts(self._final(box, choice, amount))
        for amount in {bounds.min - 1, bounds.max + 1} - {0}:
            assert not self._accepts(self._final(box, choice, amount))

    def _check_purchases(self, offers: dict[int, int]) -> None:
        for box in self.boxes:
            buy = c.MakePurchase(self.player, box, FREE, self.when)
            assert self._accepts(buy) == (offers.get(box, 0) > 0)
            assert self._accepts(c.DeclinePurchase(self.player, box, self.when)) == (box in offers)
            if offers.get(box):
                made = self._event(buy)
                assert isinstance(made, e.PurchaseMade)
                assert made.fee == offers[box]
