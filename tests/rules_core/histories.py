"""Whole rounds that are kept for ever in tests/golden/histories/ and must replay with every later version.

    python -m tests.rules_core.histories

writes those that are not there yet. A file that is there is never written again: it is what an older
version recorded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from rules_core.command_line.random_round import random_round
from rules_core.engine import ENGINE
from rules_core.log.bundle import Bundle, Recorded, bundle_bytes, recorded, stream_part
from rules_core.log.content import Content, content_bytes, round_stream
from rules_core.round.codec import VERSIONS, payload_of
from rules_core.round.command_of import Fact
from rules_core.round.commands import CancelRound
from rules_core.round.decide.ending import CANCEL_REASONS
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.parse import ruleset_object
from rules_core.rulesets.shipped import shipped, shipped_ids
from tests.rules_core import recorded_rounds
from tests.rules_core.recording import Recording
from tests.rules_core.round.scripted import ante

FOLDER = Path(__file__).parents[1] / "golden" / "histories"
RANDOM_SEEDS = (1, 2, 3)


def bundle_of(ruleset: Ruleset, events: list[Recorded]) -> Bundle:
    """A bundle that shows everything of these events."""
    part = stream_part(events[0].content.stream, events)
    return Bundle(None, ENGINE, ruleset_object(ruleset), part)


def bundle_of_recording(table: Recording) -> Bundle:
    """The bundle of a scripted round, with ids made from positions."""
    opened = table.state.opened
    assert opened is not None
    stream = round_stream(opened.table, opened.number)
    events = [
        recorded(content_bytes(_content(stream, position, fact)))
        for position, fact in enumerate(table.facts, 1)
    ]
    return bundle_of(table.ruleset, events)


def _content(stream: str, position: int, fact: Fact) -> Content:
    name = type(fact.event).__name__
    digits = hashlib.sha256(f"{stream}/{position}".encode()).hexdigest()
    event_id = f"019b7a3c-{position:04x}-7{digits[:3]}-8{digits[3:6]}-{digits[6:18]}"
    salt, payload = digits[32:], payload_of(fact.event)
    return Content(
        event_id, name, VERSIONS[name], stream, fact.recorded_at, "history", None, fact.actor, salt, payload
    )


def _random(ruleset: str, seed: int) -> Callable[[], Bundle]:
    def make() -> Bundle:
        rules = shipped(ruleset)
        players = 6 if rules.shared else min(rules.boxes, seed + 1)
        table = random_round(rules, seed, players)
        return bundle_of(rules, [recorded(data) for data in table.contents])

    return make


def _cancelled(reason: str) -> Callable[[], Bundle]:
    def make() -> Bundle:
        table = Recording("four-box@1", {})
        table.open()
        table.place("p1", ante(1), ante(2))
        table.deal()
        table.do(CancelRound(reason, "staff:floor-1"))
        return bundle_of_recording(table)

    return make


def _scripted(play: Callable[[], Recording]) -> Callable[[], Bundle]:
    return lambda: bundle_of_recording(play())


def histories() -> Iterator[tuple[str, Callable[[], Bundle]]]:
    """Give the name of each history and what plays it."""
    for ruleset in shipped_ids():
        for seed in RANDOM_SEEDS:
            yield f"random-{ruleset}-{seed}", _random(ruleset, seed)
    for reason in CANCEL_REASONS:
        yield f"cancelled-{reason}", _cancelled(reason)
    for name, play in vars(recorded_rounds).items():
        if getattr(play, "__module__", "") == recorded_rounds.__name__ and not name.startswith("_"):
            yield f"scripted-{name}", _scripted(play)


def main() -> None:
    """Write the histories that are missing."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, play in histories():
        path = FOLDER / f"{name}.json"
        if not path.exists():
            path.write_bytes(bundle_bytes(play()))


if __name__ == "__main__":
    main()
