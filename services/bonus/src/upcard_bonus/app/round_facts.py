"""What is followed of the table's rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from eventstore.following import HandlerUnfit
from rules_core.round.events import RoundEvent
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.shipped import UnknownRuleset, shipped
from upcard_bonus.app.recording import Origin

FOLLOWED: Final = frozenset(
    {
        "RoundOpened",
        "BetPlaced",
        "BetWithdrawn",
        "CardScanned",
        "CardRescanned",
        "CardsRevealed",
        "OptionsOpened",
        "DealerRevealed",
        "PlayerSettled",
        "RoundSettled",
        "RoundCancelled",
        "CorrectionDecided",
        "RoundResettled",
    }
)
"""Types of events that mean something here; others may be left out."""


@dataclass(frozen=True, slots=True)
class RoundFact:
    """One event of a round's stream, decoded."""

    round: str
    """`<table>.<number>`: the stream's name without `round-`."""
    event_id: UUID
    correlation_id: str
    event: RoundEvent

    @property
    def origin(self) -> Origin:
        """What led to the events that follow from it."""
        return Origin("system", self.correlation_id, str(self.event_id))


class RoundUnknown(Exception):
    """A round's beginning was not seen: never, when events come in order."""


class RulesetUnknown(HandlerUnfit):
    """A round is played by rules that this program does not have: it must not guess, nor park the round.

    The service is upgraded before a table plays by new rules; until then it stands still and says so.
    """

    slug = "ruleset_unknown"


def ruleset_of(ruleset_id: str, sha256: str | None = None) -> Ruleset:
    """The ruleset of a round; `sha256` as its opening has it. Raises RulesetUnknown."""
    try:
        found = shipped(ruleset_id)
    except UnknownRuleset:
        raise RulesetUnknown(f"a round is played by {ruleset_id}, which is not known: upgrade it") from None
    if sha256 is not None and found.sha256 != sha256:
        raise RulesetUnknown(f"{ruleset_id} of the table differs from the one here: install the same rules")
    return found
