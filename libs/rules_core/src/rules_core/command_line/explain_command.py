"""`explain`: a settlement in plain English."""

from __future__ import annotations

from argparse import Namespace

from rules_core.command_line.failure import FAILURE_STATUS, Failure
from rules_core.command_line.json_text import spaced_line
from rules_core.command_line.settle_command import settled_case
from rules_core.command_line.streams import Streams
from rules_core.explain import explain, in_english
from rules_core.settlement.model import CaseError
from rules_core.settlement.result_json import error_object


def run(options: Namespace, streams: Streams) -> int:
    """Settle the case and explain the result."""
    settled = settled_case(options.case, streams)
    if isinstance(settled, CaseError):
        streams.write(spaced_line(error_object(settled)))
        return FAILURE_STATUS
    explanation = explain(*settled)
    if options.player is not None:
        explanation = explanation.for_player(options.player)
        if not explanation.boxes:
            raise Failure("player_unknown", f"no box of the case is of player {options.player}")
    streams.write(in_english(explanation, scale=options.scale, currency=options.currency))
    return 0
