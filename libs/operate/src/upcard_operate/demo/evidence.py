"""What the log says of the rounds that were played: read back over the feed, and decided again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Final

from rules_core.log.bundle import Bundle, bundle_bytes, recorded, stream_part
from rules_core.log.content import Content, parse_content, round_stream
from rules_core.log.verify import verify_bundle
from rules_core.rulesets.parse import ruleset_object
from rules_core.rulesets.shipped import shipped
from upcard.feed.v1 import event_feed_pb2
from upcard.feed.v1.event_feed_pb2_grpc import EventFeedServiceStub
from upcard_operate.demo.casino import Casino
from upcard_operate.demo.house import DemoFailed

_CALL_S: Final = 30.0
_PAGE: Final = 500


@dataclass(slots=True)
class RoundEvidence:
    """One round as its events tell it."""

    stream: str
    ruleset: str
    events: int
    bets: int
    declined: Counter[str]
    cancelled: str | None
    settled: dict[str, tuple[int, int]]
    """By player: staked and returned, of the latest revision."""
    plays_for_jackpot: bool = False
    """Whether a settled player has staked bonus B."""
    problems: list[str] = field(default_factory=list)
    """What a replay did not find as it is recorded; empty: every decision agreed."""


async def evidence_of(casino: Casino, table: str, number: int) -> RoundEvidence:
    """Read a round from the log, and decide everything in it again. Raises DemoFailed (it is not there)."""
    stream = round_stream(table, number)
    contents = [content async for content in contents_of(casino.rounds, stream)]
    if not contents:
        raise DemoFailed(f"the log has no {stream}")
    parsed = [parse_content(content) for content in contents]
    found = _told(stream, parsed)
    found.problems = _replayed(stream, contents, parsed[0])
    return found


async def contents_of(feed: EventFeedServiceStub, stream: str) -> AsyncIterator[bytes]:
    """The contents of a stream, from its first event on."""
    after = 0
    while True:
        request = event_feed_pb2.ReadStreamRequest(stream=stream, after=after, limit=_PAGE)
        page = await feed.ReadStream(request, timeout=_CALL_S)
        for event in page.events:
            yield event.content
            after = event.stream_position
        if not page.events:
            return


def _told(stream: str, contents: Iterable[Content]) -> RoundEvidence:
    found = RoundEvidence(stream, "", 0, 0, Counter(), None, {})
    for content in contents:
        payload = content.payload
        found.events += 1
        if content.type == "RoundOpened":
            found.ruleset = str(payload["ruleset"])
        elif content.type == "BetPlaced":
            found.bets += 1
        elif content.type == "BetDeclined":
            found.declined[str(payload["reason"])] += 1
        elif content.type == "RoundCancelled":
            found.cancelled = str(payload["reason"])
        elif content.type == "PlayerSettled":
            found.plays_for_jackpot |= '"bonus_player"' in json.dumps(payload["boxes"])
            staked, returned = payload["staked"], payload["returned"]
            if isinstance(staked, int) and isinstance(returned, int):
                found.settled[str(payload["player"])] = (staked, returned)
    return found


def _replayed(stream: str, contents: list[bytes], opened: Content) -> list[str]:
    ruleset, engine = opened.payload["ruleset"], opened.payload["engine"]
    if not isinstance(ruleset, str) or not isinstance(engine, int):
        return ["the round does not begin with RoundOpened"]
    part = stream_part(stream, [recorded(content) for content in contents])
    report = verify_bundle(bundle_bytes(Bundle(None, engine, ruleset_object(shipped(ruleset)), part)))
    return [] if report.exit_code == 0 else report.sentences()
