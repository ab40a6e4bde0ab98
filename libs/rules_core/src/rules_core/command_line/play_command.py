"""`play`: a random legal round, printed as its bundle."""

from __future__ import annotations

from argparse import Namespace
from typing import Final

from rules_core.command_line.arguments import PLAYERS_MAX
from rules_core.command_line.failure import Failure
from rules_core.command_line.random_round import RandomTable, random_round
from rules_core.command_line.rulesets_command import known_ruleset
from rules_core.command_line.streams import Streams
from rules_core.engine import ENGINE
from rules_core.log.bundle import Bundle, bundle_bytes, recorded, stream_part
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.parse import ruleset_object

PLAYERS: Final = 3
"""How many play where nobody says how many."""


def run(options: Namespace, streams: Streams) -> int:
    """Play the round. No line feed ends it: the bytes are canonical JSON, as `verify` wants them."""
    ruleset = known_ruleset(options.ruleset)
    players = seats(ruleset, options.players)
    streams.stdout.write(bundle_of(random_round(ruleset, options.seed, players)))
    return 0


def seats(ruleset: Ruleset, wished: int | None) -> int:
    """How many players play: as wished, or as many as usual; Failure for more than there is room for."""
    most = PLAYERS_MAX if ruleset.shared else ruleset.boxes
    if wished is None:
        return min(PLAYERS, most)
    if wished < 1:
        raise Failure("usage", "a round needs at least one player")
    if wished > most:
        raise Failure("players_too_many", f"{ruleset.id} has room for {most} players here, not for {wished}")
    return wished


def bundle_of(table: RandomTable) -> bytes:
    """The bundle of a round that was played."""
    part = stream_part(table.stream, [recorded(content) for content in table.contents])
    return bundle_bytes(Bundle(None, ENGINE, ruleset_object(table.ruleset), part))
