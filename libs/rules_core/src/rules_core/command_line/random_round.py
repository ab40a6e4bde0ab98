"""A random legal round from the first bet to the settlement, as a table would record it."""

from __future__ import annotations

from collections.abc import Iterator

from rules_core.cards import DECK, Card
from rules_core.command_line.dice import Dice
from rules_core.command_line.random_players import RandomPlayers
from rules_core.engine import ENGINE
from rules_core.log.content import Content, content_bytes, round_stream
from rules_core.round import commands as c
from rules_core.round.codec import VERSIONS, payload_of
from rules_core.round.decide import decide
from rules_core.round.decide.cards import face_down
from rules_core.round.driver import next_step
from rules_core.round.events import CardScanned, RoundEvent
from rules_core.round.evolve import evolve
from rules_core.round.limits import AmountRange, CurrencyLimits, Durations
from rules_core.round.recording import actor_of
from rules_core.round.refusal import Refusal
from rules_core.round.sealed import Sealed
from rules_core.round.state import new_round
from rules_core.round.times import from_epoch_us, to_epoch_us
from rules_core.rulesets.model import Ruleset

CURRENCY = "EUR"
DURATIONS = Durations(15_000, 20_000, 20_000, 15_000, 60_000)
START_US = 1_767_225_600 * 1_000_000
"""2026-01-01T00:00:00Z, in microseconds after 1970."""
TURNS_MAX = 8
"""Most betting commands of one player."""


def limits_for(ruleset: Ruleset) -> CurrencyLimits:
    """Limits that show everything the ruleset has; a jackpot's bonus takes one fixed stake."""
    jackpot = any(row.jackpot_share_percent is not None for row in ruleset.bonus_player or ())
    return CurrencyLimits(
        CURRENCY,
        chip=50,
        ante=AmountRange(100, 5_000),
        bonus_player=(AmountRange(100, 100) if jackpot else AmountRange(50, 1_000))
        if ruleset.bonus_player
        else None,
        bonus_dealer=AmountRange(50, 1_000) if ruleset.bonus_dealer else None,
        max_payout=1_000_000,
    )


class RandomTable:
    """A table that plays one round by itself and keeps what it recorded."""

    def __init__(self, ruleset: Ruleset, dice: Dice, players: tuple[str, ...], number: int = 1) -> None:
        self.ruleset = ruleset
        self.dice = dice
        self.players = players
        self.number = number
        self.table = "play"
        self.stream = round_stream(self.table, number)
        self.state = new_round(ruleset)
        self.sealed = Sealed()
        self.contents: list[bytes] = []
        self.events: list[RoundEvent] = []
        self.commands: list[c.Command] = []
        self._clock_us = START_US
        self._deck: Iterator[Card] = iter(dice.shuffled(DECK))
        self._correlation = dice.uuid7(self._clock_us)

    @property
    def now(self) -> str:
        """The table's clock."""
        return from_epoch_us(self._clock_us)

    def _tick(self, milliseconds: int) -> None:
        self._clock_us += milliseconds * 1000

    def _advance_to(self, instant: str) -> None:
        self._clock_us = max(self._clock_us, to_epoch_us(instant))

    def do(self, command: c.Command) -> Refusal | None:
        """Decide a command, and record and fold what it gave."""
        decision = decide(command, self.state, self.sealed)
        if isinstance(decision, Refusal):
            return decision
        cause = self.dice.uuid7(self._clock_us)
        self.commands.append(command)
        for event in decision:
            self._record(command, event, cause)
            evolve(self.state, event)
        return None

    def _record(self, command: c.Command, event: RoundEvent, cause: str) -> None:
        if (
            isinstance(command, c.ScanCard)
            and isinstance(event, CardScanned)
            and event.commitment is not None
        ):
            self._seal(command)
        name = type(event).__name__
        content = Content(
            self.dice.uuid7(self._clock_us),
            name,
            VERSIONS[name],
            self.stream,
            self.now,
            self._correlation,
            cause,
            actor_of(command, event),
            self.dice.hex(32),
            payload_of(event),
        )
        self.events.append(event)
        self.contents.append(content_bytes(content))

    def _seal(self, command: c.ScanCard) -> None:
        if command.card is not None and command.card_salt is not None:
            self.sealed.add(command.card, command.card_salt)

    def play(self) -> None:
        """Play the round to its end. Raises RuntimeError if a step of its own is refused: a defect."""
        crowd = RandomPlayers(self.dice, self.players, CURRENCY)
        while (step := next_step(self.state, self.sealed)) != "none":
            refusal = self._step(step, crowd)
            if refusal is not None:
                msg = f"{step} was refused: {refusal.code}: {refusal.message}"
                raise RuntimeError(msg)

    def _step(self, step: str, crowd: RandomPlayers) -> Refusal | None:
        self._tick(20 + self.dice.below(400))
        if step == "open":
            return self.do(self._open_round())
        if step == "close_window":
            return self._window(crowd)
        if step == "lay_card":
            return self._lay_card()
        if step == "confirm_cards":
            return self._confirm()
        if step == "proceed":
            return self.do(c.Proceed(self.now))
        return self.do(c.Settle())

    def _open_round(self) -> c.OpenRound:
        return c.OpenRound(
            self.now,
            self.table,
            self.number,
            self.ruleset.id,
            self.ruleset.sha256,
            ENGINE,
            (limits_for(self.ruleset),),
            DURATIONS,
            "deck-1",
        )

    def _window(self, crowd: RandomPlayers) -> Refusal | None:
        window = self.state.window
        if window is None:
            return None
        if window.kind == "betting":
            self._bet(crowd)
            self._advance_to(window.closes_at)
            return self.do(c.CloseBetting(self.now))
        for command in crowd.decisions(self.state, self.sealed, self.now, self._ids()):
            self._tick(5)
            refusal = self.do(command)
            if refusal is not None:
                return refusal
        if self.state.undecided:
            self._advance_to(window.closes_at)
        closing = {
            "options": c.CloseOptions,
            "final_options": c.CloseFinalOptions,
            "purchase": c.ClosePurchase,
        }
        return self.do(closing[window.kind](self.now))

    def _ids(self) -> Iterator[str]:
        while True:
            yield self.dice.uuid7(self._clock_us)

    def _bet(self, crowd: RandomPlayers) -> None:
        ids = self._ids()
        for player in self.players:
            for _ in range(TURNS_MAX):
                self._tick(3)
                command = crowd.bets(self.state, self.sealed, player, self.now, next(ids))
                if command is None:
                    break
                self.do(command)

    def _lay_card(self) -> Refusal | None:
        if self.dice.chance(1):
            return self.do(c.BurnCard(self.dice.hex(16), next(self._deck), by="dealer:d1"))
        place = self.state.awaited[0]
        salt = self.dice.hex(32) if face_down(self.state, place) else None
        return self.do(c.ScanCard(self.dice.hex(16), next(self._deck), salt, by="dealer:d1"))

    def _confirm(self) -> Refusal | None:
        return self.do(c.ConfirmCards(self.now, "dealer:d1" if self.dice.chance(80) else "system"))


def random_round(ruleset: Ruleset, seed: int, players: int) -> RandomTable:
    """Play one random round; the same arguments give the same bytes."""
    table = RandomTable(ruleset, Dice(seed), tuple(f"p{number}" for number in range(1, players + 1)))
    table.play()
    return table
