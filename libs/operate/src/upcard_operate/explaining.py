"""From a round's bundle to plain English: the settlement case that it amounts to, explained."""

from __future__ import annotations

from typing import Final

from rules_core.explain import in_english
from rules_core.explain.played import SETTLED, explain_played
from rules_core.log.bundle import Recorded
from rules_core.log.bundle_reading import UnreadableBundle, parse_bundle
from rules_core.round.codec import event_of
from rules_core.round.evolve import evolve
from rules_core.round.state import RoundState, new_round
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.parse import parse_ruleset
from upcard_operate.output import CommandFailed

_SCALE: Final = 2


def explained(bundle: bytes, player: str | None = None) -> str:
    """Why each wager of an ended round was settled as it was, in sentences; of one player, or of all.

    Raises CommandFailed: the bundle cannot be read, withholds events, or its round is not settled.
    """
    state = _state_of(bundle)
    if state.step == "cancelled":
        return "The round was cancelled: every wager and fee of it went back.\n"
    if state.step not in SETTLED:
        raise CommandFailed(f"The round is not settled yet: {state.step}.")
    players = [name for name in state.order if player in {None, name}]
    if not players:
        raise CommandFailed(f"{player} has no settled boxes in this round.")
    return "\n".join(
        in_english(explanation, scale=_SCALE, currency=currency)
        for currency, explanation in explain_played(state, players).items()
    )


def _state_of(bundle: bytes) -> RoundState:
    try:
        parsed, problems = parse_bundle(bundle)
    except UnreadableBundle as error:
        raise CommandFailed(f"The bundle cannot be read: {error}") from None
    if parsed is None:
        raise CommandFailed(f"The bundle is wrong: {problems}")
    ruleset = parse_ruleset(parsed.ruleset)
    if not isinstance(ruleset, Ruleset):
        raise CommandFailed(f"The bundle's ruleset is wrong: {ruleset.message}")
    state = new_round(ruleset)
    for item in parsed.round.events:
        if not isinstance(item, Recorded):
            raise CommandFailed("Events of the bundle are withheld; take one that shows everything.")
        content = item.content
        state = evolve(state, event_of(content.type, content.version, content.payload))
    return state
