"""Replaying a round from the mirrored log, and its bundle (CONTRACTS.md section 2).

What takes long is plain code over bytes, so that whoever calls may run it beside the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from eventstore.port import Reader
from rules_core.log.bundle import Bundle, Recorded, bundle_bytes, recorded, stream_part, withhold_for
from rules_core.log.report import AGREED, UNREADABLE, Report
from rules_core.log.verify import verify_bundle
from rules_core.rulesets.parse import ruleset_object
from rules_core.rulesets.shipped import shipped, shipped_ids
from upcard_history.app.reading import ReplayOutcome, RoundNotEnded, RulesetUnknown

_ENDS = frozenset({"RoundSettled", "RoundCancelled", "RoundResettled"})
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Replayed:
    """What one replay found, of the first `position` events."""

    position: int
    outcome: ReplayOutcome
    report: Mapping[str, object]
    sentences: tuple[str, ...]


async def replay_round(
    reader: Reader, round_name: str, *, through: int | None = None, executor: Executor | None = None
) -> Replayed | None:
    """Decide a round again; None where it is not known. `through`: no further than to this position."""
    stream = f"round-{round_name}"
    contents = await read_contents(reader, stream, through)
    if not contents:
        return None
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(executor, replay_contents, stream, contents)


async def bundle_of(
    reader: Reader, round_name: str, player: str | None, *, executor: Executor | None = None
) -> bytes | None:
    """The bundle's bytes; None where the round is not known. Raises RoundNotEnded, RulesetUnknown."""
    stream = f"round-{round_name}"
    contents = await read_contents(reader, stream, None)
    if not contents:
        return None
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(executor, ended_bundle, stream, contents, player)


async def read_contents(reader: Reader, stream: str, through: int | None) -> list[bytes]:
    """The contents of a stream from its beginning, whole or up to a position."""
    contents: list[bytes] = []
    async for page in reader.iterate_contents(stream, page=_PAGE):
        contents += page
        if through is not None and len(contents) >= through:
            return contents[:through]
    return contents


def replay_contents(stream: str, contents: Sequence[bytes]) -> Replayed:
    """Decide a round again from its events' bytes, position 1 first."""
    try:
        events = [recorded(data) for data in contents]
        data = bundle_bytes(_bundle(stream, events))
    except RulesetUnknown as error:
        report = Report(exit_code=UNREADABLE, unreadable=str(error), stream=stream)
        return _replayed(len(contents), "unreadable", report)
    except ValueError as error:  # what is in the log is no content: somebody wrote past the append
        report = Report(exit_code=UNREADABLE, unreadable=str(error), stream=stream)
        return _replayed(len(contents), "unreadable", report)
    report = verify_bundle(data)
    return _replayed(len(contents), _outcome(report, ended=is_ended(events)), report)


def ended_bundle(stream: str, contents: Sequence[bytes], player: str | None) -> bytes:
    """The bundle of a round that has ended. Raises RoundNotEnded, RulesetUnknown."""
    events = [recorded(data) for data in contents]
    if not is_ended(events):
        raise RoundNotEnded(f"{stream} has not ended yet: its bundle is made then")
    bundle = _bundle(stream, events)
    return bundle_bytes(bundle if player is None else withhold_for(bundle, player))


def is_ended(events: Sequence[Recorded]) -> bool:
    """Whether the round has ended, and no correction is under way."""
    for event in reversed(events):
        if event.content.type in _ENDS:
            return True
        if event.content.type == "CorrectionDecided":
            return False
    return False


def _bundle(stream: str, events: Sequence[Recorded]) -> Bundle:
    pinned = events[0].content.payload
    ruleset = str(pinned.get("ruleset"))
    if ruleset not in shipped_ids():
        raise RulesetUnknown(f"ruleset {ruleset} is not known here")
    engine = pinned.get("engine")
    if type(engine) is not int:
        raise ValueError("the first event pins no engine")
    return Bundle(None, engine, ruleset_object(shipped(ruleset)), stream_part(stream, events))


def _outcome(report: Report, *, ended: bool) -> ReplayOutcome:
    if report.exit_code == AGREED:
        return "agreed"
    if report.exit_code == UNREADABLE:
        return "unreadable"
    return "disagreed" if ended else "not_ended"


def _replayed(position: int, outcome: ReplayOutcome, report: Report) -> Replayed:
    return Replayed(position, outcome, report.to_object(), tuple(report.sentences()))
