"""A scripted table that keeps each step: what was commanded, and what was recorded of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from rules_core.cards import Card, parse_card
from rules_core.command_line.random_round import RandomTable
from rules_core.log.content import parse_content
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.codec import event_of
from rules_core.round.command_of import Fact
from rules_core.round.recording import actor_of
from tests.rules_core.round.scripted import DEALER, Scripted, at

Staking = c.PlaceBet | c.DoubleBets | c.RepeatBets | c.ChooseOption | c.ChooseFinalOption | c.MakePurchase


@dataclass(frozen=True, slots=True)
class Step:
    """A command and the events that it gave, as their envelopes name them."""

    command: c.Command
    facts: tuple[Fact, ...]


class Recording(Scripted):
    """A scripted table that keeps its steps."""

    @cached_property
    def steps(self) -> list[Step]:
        """What was done so far."""
        return []

    def do(self, command: c.Command) -> tuple[e.RoundEvent, ...]:
        """Decide, record, fold, and keep the step."""
        decided = super().do(command)
        facts = tuple(Fact(event, actor_of(command, event), self.now) for event in decided)
        self.steps.append(Step(command, facts))
        return decided

    @property
    def facts(self) -> list[Fact]:
        """Everything recorded."""
        return [fact for step in self.steps for fact in step.facts]

    def tick(self) -> None:
        """Let a second pass."""
        self.now = at(60 * int(self.now[14:16]) + int(self.now[17:19]) + 1)

    def lay_by_hand(self) -> Recording:
        """Lay the awaited cards in manual mode: face-down ones unread, the others typed in."""
        while self.state.awaited:
            place = self.state.awaited[0]
            card = self.next_card(place)
            self.laid[place] = card
            up = place == "dealer.4" or place.startswith(("switch.", "draw.", "box.2."))
            self.do(c.ScanCard(place, parse_card(card) if up else None, None, "manual", DEALER))
        return self

    def unread(self, *groups: str) -> tuple[tuple[str, Card], ...]:
        """The cards that the dealer reads out when these groups of places open in manual mode."""
        return tuple(
            (place, parse_card(self.laid[place]))
            for place in self.laid
            if place.startswith(groups) and place in self.state.unread
        )

    def declined(self, command: Staking, *funds: c.Funds) -> None:
        """Give a command that will be declined, once with each answer of the wallet, under ids of its own."""
        for number, answer in enumerate(funds):
            bet_id = f"declined-{len(self.steps)}-{number}"
            self.do(replace(command, bet_id=bet_id, funds=answer))


def recorded_facts(table: RandomTable) -> list[Fact]:
    """What the stored bytes of a random round say."""
    contents = [parse_content(data) for data in table.contents]
    return [
        Fact(event_of(content.type, content.version, content.payload), content.actor, content.recorded_at)
        for content in contents
    ]
