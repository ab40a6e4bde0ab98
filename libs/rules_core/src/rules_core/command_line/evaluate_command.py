"""`evaluate`: what five or six cards are worth."""

from __future__ import annotations

from argparse import Namespace

from rules_core.cards import InvalidCard, parse_cards
from rules_core.command_line.failure import Failure
from rules_core.command_line.json_text import spaced_line
from rules_core.command_line.streams import Streams
from rules_core.hands import InvalidHand, evaluate


def run(options: Namespace, streams: Streams) -> int:
    """Evaluate the cards."""
    try:
        hand = evaluate(parse_cards(" ".join(options.cards)), options.paired_straight)
    except InvalidCard as error:
        raise Failure("card_unreadable", str(error)) from None
    except InvalidHand as error:
        raise Failure("hand_invalid", str(error)) from None
    found = {"best": hand.best, "combinations": list(hand.combinations), "odds": hand.odds}
    streams.write(spaced_line(found))
    return 0
