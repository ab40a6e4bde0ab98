"""A table that plays a round from explicit cards and choices, with a clock that stands until a test moves it.

given events / when a command / then events or a refusal: `given(...).when(command).then(...)`.
Instants, salts and commitments are made here, without rules_core, so that its own making of them is tested.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from rules_core.cards import DECK, card_text, parse_card, parse_cards
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.command_of import Fact, command_of
from rules_core.round.decide import Decision, decide
from rules_core.round.events.fields import DecidedOption, FinalChoice
from rules_core.round.evolve import evolve
from rules_core.round.limits import AmountRange, CurrencyLimits, Durations
from rules_core.round.recording import actor_of
from rules_core.round.refusal import Refusal
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState, new_round
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.shipped import shipped

DEALER = "dealer:d1"
DURATIONS = Durations(
    betting_ms=15_000, options_ms=20_000, final_options_ms=25_000, purchase_ms=10_000, extension_max_ms=60_000
)


def at(seconds: int, milliseconds: int = 0) -> str:
    """The instant so long after the round opened: 2026-01-01, 12:00."""
    minutes, seconds = divmod(seconds, 60)
    return f"2026-01-01T12:{minutes:02}:{seconds:02}.{milliseconds:03}000Z"


def salt_of(scan_id: str) -> str:
    """The card salt of a scan: 32 hex digits."""
    return hashlib.sha256(scan_id.encode()).hexdigest()[:32]


def commitment(card: str, scan_id: str) -> str:
    """SHA-256 of the salt's 16 bytes and the card's two characters (CONTRACTS.md section 2)."""
    return hashlib.sha256(bytes.fromhex(salt_of(scan_id)) + card.encode()).hexdigest()


def opening(place: str, card: str, scan_id: str | None = None, *, superseded: bool = False) -> e.CardOpening:
    """What opens a face-down card that was scanned in this place (scan id: the place's name)."""
    scan_id = scan_id or place
    return e.CardOpening(
        place,
        card,
        committed=True,
        salt=salt_of(scan_id),
        commitment=commitment(card, scan_id),
        superseded=superseded,
    )


def ante(box: int, amount: int = 100, *, blind: bool = False, funding: str | None = None) -> c.Placement:
    """An ante to place."""
    return c.Placement(box, "ante", amount, blind, funding)


def bonus_b(box: int, amount: int, *, blind: bool = False, funding: str | None = None) -> c.Placement:
    """A bonus B to place."""
    return c.Placement(box, "bonus_player", amount, blind, funding)


def bonus_d(box: int, amount: int, *, blind: bool = False) -> c.Placement:
    """A bonus D to place."""
    return c.Placement(box, "bonus_dealer", amount, blind)


def limits_for(ruleset: Ruleset, currency: str = "EUR") -> CurrencyLimits:
    """Limits for everything that the ruleset has: antes 100..5000, B and D 50..1000, chips of 50."""
    bonus = AmountRange(50, 1_000)
    return CurrencyLimits(
        currency,
        chip=50,
        ante=AmountRange(100, 5_000),
        bonus_player=bonus if ruleset.bonus_player else None,
        bonus_dealer=bonus if ruleset.bonus_dealer else None,
    )


@dataclass(frozen=True, slots=True)
class Then:
    """What became of a command."""

    decision: Decision

    def then(self, *events: e.RoundEvent) -> None:
        """Exactly these events."""
        assert self.decision == events

    def refused(self, code: str, **data: int | str) -> None:
        """Refused with this slug and exactly these figures, and a sentence for the player."""
        assert isinstance(self.decision, Refusal), self.decision
        assert (self.decision.code, dict(self.decision.data)) == (code, data)
        assert self.decision.message


class Scripted:
    """A table of one round. Cards that the script does not name come from the rest of the deck."""

    def __init__(
        self,
        ruleset: str | Ruleset = "live-shared@1",
        cards: Mapping[str, str] | None = None,
        *,
        limits: CurrencyLimits | tuple[CurrencyLimits, ...] | None = None,
        durations: Durations = DURATIONS,
    ) -> None:
        """`cards`: what lies where, `{"box.2": "Ah Ad Kc 7s 3d", "dealer": …, "replacement.1": …}`."""
        self.ruleset = shipped(ruleset) if isinstance(ruleset, str) else ruleset
        found = limits_for(self.ruleset) if limits is None else limits
        self.limits = found if isinstance(found, tuple) else (found,)
        self.durations = durations
        self.state: RoundState = new_round(self.ruleset)
        self.sealed = Sealed()
        self.events: list[e.RoundEvent] = []
        self.now = at(0)
        self.laid: dict[str, str] = {}
        self._script = _script(cards or {})
        self._rest = _rest(self._script.values())
        self._bets = 0

    def when(self, command: c.Command) -> Then:
        """Decide a command and record nothing."""
        before = repr(self.state)
        decision = decide(command, self.state, self.sealed)
        assert repr(self.state) == before, "deciding changed the state"
        return Then(decision)

    def do(self, command: c.Command) -> tuple[e.RoundEvent, ...]:
        """Decide a command that must not be refused, and record its events.

        Of every decision: its events carry all its inputs, so that they give it again.
        """
        decision = decide(command, self.state, self.sealed)
        assert not isinstance(decision, Refusal), decision
        if isinstance(command, c.ScanCard | c.RescanCard) and command.card is not None and command.card_salt:
            self.sealed.add(command.card, command.card_salt)
        facts = [Fact(event, actor_of(command, event), self.now) for event in decision]
        assert decide(command_of(facts, self.sealed), self.state, self.sealed) == decision
        for event in decision:
            evolve(self.state, event)
        self.events.extend(decision)
        return decision

    def open(self) -> Scripted:
        """Open the round at this instant."""
        self.do(self.open_command())
        return self

    def open_command(self) -> c.OpenRound:
        """What opens the round."""
        return c.OpenRound(
            self.now, "t1", 7, self.ruleset.id, self.ruleset.sha256, 1, self.limits, self.durations, "deck-3"
        )

    def place_command(self, player: str, *placements: c.Placement) -> c.PlaceBet:
        """A bet with an id of its own."""
        self._bets += 1
        return c.PlaceBet(player, self.limits[0].currency, f"bet-{self._bets}", placements, self.now)

    def place(self, player: str, *placements: c.Placement) -> Scripted:
        """Place a bet."""
        self.do(self.place_command(player, *placements))
        return self

    def close_betting(self) -> Scripted:
        """Let the betting time pass and close it."""
        self._let_pass()
        self.do(c.CloseBetting(self.now))
        return self

    def _let_pass(self) -> None:
        assert self.state.window is not None
        self.now = max(self.now, self.state.window.closes_at)

    def _closed(self, closing: c.Command) -> tuple[e.RoundEvent, ...]:
        events = self.do(closing)
        assert (self.state.window, self.state.undecided) == (None, {})
        return events

    def next_card(self, place: str) -> str:
        """The card that the script, or else the rest of the deck, has for a place."""
        return self._script.get(place) or next(self._rest)

    def scan_command(self, card: str | None = None, scan_id: str | None = None) -> c.ScanCard:
        """The next card laid by the shoe reader; its scan id is its place."""
        place = self.state.awaited[0] if self.state.awaited else "nowhere"
        scan_id = scan_id or place
        text = card or self.next_card(place)
        return c.ScanCard(scan_id, parse_card(text), salt_of(scan_id), by=DEALER)

    def lay(self, count: int = 52) -> Scripted:
        """Lay the cards that are awaited, or the next `count` of them."""
        while self.state.awaited and count:
            place = self.state.awaited[0]
            command = self.scan_command()
            self.do(command)
            assert command.card is not None
            self.laid[place] = card_text(command.card)
            count -= 1
        return self

    def rescan_command(self, place: str, card: str) -> c.RescanCard:
        """A misread card read again."""
        scan_id = f"{place}-again"
        return c.RescanCard(scan_id, place, parse_card(card), salt_of(scan_id), by=DEALER)

    def confirm(self) -> tuple[e.RoundEvent, ...]:
        """The dealer confirms the cards."""
        return self.do(c.ConfirmCards(self.now, DEALER))

    def proceed(self) -> tuple[e.RoundEvent, ...]:
        """The round's own next step."""
        return self.do(c.Proceed(self.now))

    def deal(self) -> Scripted:
        """Close betting, lay the deal and confirm it."""
        self.close_betting().lay()
        self.confirm()
        return self

    def option_command(
        self, player: str, box: int, kind: DecidedOption, *positions: int, again: int = 0
    ) -> c.ChooseOption:
        """The choice of an option, under an id of its own."""
        return c.ChooseOption(player, box, kind, self.now, positions, f"{player}.{box}.option.{again}")

    def option(self, player: str, box: int, kind: DecidedOption, *positions: int) -> Scripted:
        """Choose an option."""
        self.do(self.option_command(player, box, kind, *positions))
        return self

    def close_options(self) -> tuple[e.RoundEvent, ...]:
        """Close the options window: early when every asked box has decided, else when its time is over."""
        if self.state.undecided:
            self._let_pass()
        return self._closed(c.CloseOptions(self.now))

    def final_command(
        self, player: str, box: int, choice: FinalChoice, insurance: int = 0, *, again: int = 0
    ) -> c.ChooseFinalOption:
        """The choice of a final option, under an id of its own."""
        return c.ChooseFinalOption(player, box, choice, self.now, insurance, f"{player}.{box}.final.{again}")

    def final(self, player: str, box: int, choice: FinalChoice, insurance: int = 0) -> Scripted:
        """Choose a final option."""
        self.do(self.final_command(player, box, choice, insurance))
        return self

    def close_finals(self, *unfunded: tuple[int, str, c.Unfunded]) -> tuple[e.RoundEvent, ...]:
        """Close the final window: early when every asked box has decided, else when its time is over."""
        if self.state.undecided:
            self._let_pass()
        return self._closed(c.CloseFinalOptions(self.now, unfunded))

    def buy_command(self, player: str, box: int, *, again: int = 0) -> c.MakePurchase:
        """A purchase, under an id of its own."""
        return c.MakePurchase(player, box, f"{player}.{box}.purchase.{again}", self.now)

    def buy(self, player: str, box: int) -> Scripted:
        """Buy the dealer's exchange for a box."""
        self.do(self.buy_command(player, box))
        return self

    def decline(self, player: str, box: int) -> Scripted:
        """Do not buy."""
        self.do(c.DeclinePurchase(player, box, self.now))
        return self

    def close_purchase(self) -> tuple[e.RoundEvent, ...]:
        """Close the purchase window: early when every asked box has decided, else when its time is over."""
        if self.state.undecided:
            self._let_pass()
        return self._closed(c.ClosePurchase(self.now))

    def settle(self, limit: int = 500) -> tuple[e.RoundEvent, ...]:
        """Settle the next players, each for all that was staked on the way and nothing else."""
        events = self.do(c.Settle(limit))
        for event in events:
            if isinstance(event, e.PlayerSettled) and event.revision == 1:
                plays = self.state.seats[event.player].plays.values()
                assert event.staked == sum(play.staked for play in plays)
        return events

    def awaited(self) -> tuple[str, ...]:
        """The places that await a card, the next one first."""
        return self.state.awaited

    def openings(self, *groups: str) -> tuple[e.CardOpening, ...]:
        """What opens all laid cards of these groups of places (`box.1`, `dealer`, `switch`)."""
        return tuple(
            opening(place, self.laid[place])
            for group in groups
            for place in sorted(self.laid)
            if place.startswith(f"{group}.") and place != "dealer.4"
        )

    def settled(self) -> dict[str, e.PlayerSettled]:
        """Each player's latest settlement."""
        return {event.player: event for event in self.events if isinstance(event, e.PlayerSettled)}


def _script(cards: Mapping[str, str]) -> dict[str, str]:
    places = {
        f"{group}.{index}": card_text(card)
        for group, texts in cards.items()
        for index, card in enumerate(parse_cards(texts))
    }
    assert len(set(places.values())) == len(places), "the script names a card twice"
    return places


def _rest(named: Iterable[str]) -> Iterator[str]:
    """The deck without the named cards, in an order that makes no hand by itself."""
    taken = set(named)
    scattered = [card_text(DECK[index * 7 % 52]) for index in range(52)]
    return (card for card in scattered if card not in taken)


def given(table: Scripted, *events: e.RoundEvent) -> Scripted:
    """A table at which these events have happened."""
    for event in events:
        evolve(table.state, event)
    table.events.extend(events)
    return table


def ruleset_with(base: str, **changes: object) -> Ruleset:
    """A house's own ruleset: a shipped one with some parameters changed."""
    return replace(shipped(base), **changes)  # type: ignore[arg-type]  # any field of the ruleset
