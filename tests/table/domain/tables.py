"""Configurations and tables to test with, in few words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rules_core.round.limits import AmountRange, CurrencyLimits, Durations
from rules_core.round.refusal import Refusal
from rules_core.rulesets.shipped import shipped
from upcard_table.domain import commands as c
from upcard_table.domain import events as e
from upcard_table.domain.config import ChipValues, TableConfig
from upcard_table.domain.decide import Decision, decide
from upcard_table.domain.evolve import evolve
from upcard_table.domain.state import NEW_TABLE, NO_ROUND, LastRound, TableState

CHIPS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
DURATIONS = Durations(15_000, 20_000, 20_000, 15_000, 60_000)
FLOOR = "staff:floor-1"
RULESETS = ("classic@1", "dark-boxes@1", "four-box@1", "live-shared@1", "three-box@1")
TRANSACTION = "0190a0f3-6f4e-7c2b-8d1a-2b3c4d5e6f70"


def limits_of(ruleset: str, currency: str = "EUR") -> CurrencyLimits:
    """Limits for everything that the ruleset has; a jackpot's bonus takes one fixed stake."""
    rules = shipped(ruleset)
    jackpot = any(row.jackpot_share_percent is not None for row in rules.bonus_player or ())
    fixed = AmountRange(100, 100)
    return CurrencyLimits(
        currency,
        chip=100,
        ante=AmountRange(100, 5_000),
        bonus_player=None if rules.bonus_player is None else fixed if jackpot else AmountRange(100, 1_000),
        bonus_dealer=None if rules.bonus_dealer is None else AmountRange(100, 1_000),
    )


def config_of(ruleset: str = "live-shared@1", **changes: Any) -> TableConfig:
    """A configuration that a table can have."""
    jackpot = any(row.jackpot_share_percent is not None for row in shipped(ruleset).bonus_player or ())
    made = TableConfig(
        name="Table 1",
        ruleset=ruleset,
        limits=(limits_of(ruleset),),
        chips=(ChipValues("EUR", CHIPS),),
        durations=DURATIONS,
        confirm_cards_ms=3_000,
        jackpot="jackpot-1" if jackpot else None,
    )
    return replace(made, **changes)


@dataclass
class Table:
    """A table, and what its owner knows of its rounds."""

    state: TableState = NEW_TABLE
    last: LastRound = NO_ROUND

    def decide(self, command: c.TableCommand, actor: str = FLOOR) -> Decision:
        """Decide a command and record nothing."""
        return decide(command, self.state, self.last, actor)

    def do(self, command: c.TableCommand, actor: str = FLOOR) -> tuple[e.TableEvent, ...]:
        """Decide a command that must not be refused, and fold what it gives."""
        decided = self.decide(command, actor)
        assert not isinstance(decided, Refusal), decided
        for event in decided:
            self.state = evolve(self.state, event)
        return decided

    def refused(self, command: c.TableCommand, actor: str = FLOOR) -> str:
        """The slug with which a command is refused, with a sentence for people."""
        decided = self.decide(command, actor)
        assert isinstance(decided, Refusal), decided
        assert decided.message
        return decided.code

    def open(self, ruleset: str = "live-shared@1", **changes: Any) -> Table:
        """Open it."""
        self.do(c.OpenTable("t1", config_of(ruleset, **changes)))
        return self

    def ready(self, deck: str = "deck-1") -> Table:
        """A dealer, and a deck that is verified and shuffled."""
        if self.state.dealer is None:
            self.do(c.SignInDealer("d1"))
        if self.state.deck(deck) is None:
            self.do(c.IntroduceDeck(deck))
            self.do(c.VerifyDeck(deck))
        self.do(c.ShuffleDeck(deck))
        return self

    def round(self, deck: str = "deck-1") -> Table:
        """Open the next round."""
        self.last = LastRound(self.last.number + 1, running=True, deck=deck)
        return self

    def over(self, cancelled: str | None = None) -> Table:
        """End the round."""
        self.last = replace(self.last, running=False, cancelled=cancelled)
        return self


def opened(ruleset: str = "live-shared@1", **changes: Any) -> Table:
    """An open table at which nothing has happened yet."""
    return Table().open(ruleset, **changes)
