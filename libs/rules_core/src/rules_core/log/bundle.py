"""A bundle: one file with all that is needed to check a round (CONTRACTS.md section 2; docs/bundle.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from rules_core.canonical import canonical_bytes
from rules_core.log.chain import Withheld, content_hash, first_prev_hash, next_hash
from rules_core.log.content import Content, parse_content

BUNDLE_VERSION = 1
WITHHOLDABLE_TYPES = frozenset(
    {
        "BetPlaced",
        "BetDeclined",
        "BetWithdrawn",
        "OptionChosen",
        "FinalOptionChosen",
        "PurchaseMade",
        "PurchaseDeclined",
        "PlayerSettled",
    }
)
"""Events of one player alone: the only ones that a bundle for another player may withhold."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event that a bundle shows: its recorded bytes and what they say."""

    data: bytes
    content: Content


@dataclass(frozen=True, slots=True)
class StreamPart:
    """Consecutive events of one stream, and the chain's hashes before and after them (raw bytes)."""

    stream: str
    first_position: int
    """Position of the first event, from 1."""
    prev_hash: bytes
    events: tuple[Recorded | Withheld, ...]
    hash: bytes
    """The chain's hash at the last event."""

    def numbered(self) -> Iterator[tuple[int, Recorded | Withheld]]:
        """Give each event with its position in the stream."""
        return enumerate(self.events, self.first_position)

    def withheld_positions(self) -> tuple[int, ...]:
        """List the positions of the events that are not shown."""
        return tuple(position for position, event in self.numbered() if isinstance(event, Withheld))


@dataclass(frozen=True, slots=True)
class Bundle:
    """A round's events with the rules and the engine that decided it.

    Proofs, a checkpoint and keys belong to the file too; nothing makes them yet, so they are always empty.
    """

    player: str | None
    """For whom it was made: other players' own events may be withheld. None: everything is shown."""
    engine: int
    ruleset: dict[str, object]
    """The whole object."""
    round: StreamPart
    streams: tuple[StreamPart, ...] = ()
    """Parts of other streams that the round rests on."""


def recorded(data: bytes) -> Recorded:
    """Take an event from its recorded bytes; raises InvalidContent."""
    return Recorded(data, parse_content(data))


def stream_part(
    stream: str,
    events: Sequence[Recorded | Withheld],
    *,
    first_position: int = 1,
    prev_hash: bytes | None = None,
) -> StreamPart:
    """Put consecutive events of a stream into a part; `prev_hash` None: they begin the stream."""
    before = first_prev_hash(stream) if prev_hash is None else prev_hash
    return StreamPart(
        stream, first_position, before, tuple(events), last_hash(before, first_position, events)
    )


def last_hash(prev_hash: bytes, first_position: int, events: Sequence[Recorded | Withheld]) -> bytes:
    """Chain events on from `prev_hash`; gives the hash of the last one, or `prev_hash` for none."""
    for position, event in enumerate(events, first_position):
        digest = event.content_hash if isinstance(event, Withheld) else content_hash(event.data)
        prev_hash = next_hash(prev_hash, position, digest)
    return prev_hash


def bundle_bytes(bundle: Bundle) -> bytes:
    """Write a bundle's file, canonical JSON. The events' bytes go in as they were recorded."""
    members = {
        "bundle_version": canonical_bytes(BUNDLE_VERSION),
        "checkpoint": b"null",
        "engine": canonical_bytes(bundle.engine),
        "for": canonical_bytes(bundle.player),
        "keys": b"[]",
        "proofs": b"[]",
        "round": part_bytes(bundle.round),
        "ruleset": canonical_bytes(bundle.ruleset),
        "streams": array_bytes(part_bytes(part) for part in bundle.streams),
    }
    digest = sha256(object_bytes(members)).hexdigest()
    return object_bytes({**members, "sha256": canonical_bytes(digest)})


def withhold_for(bundle: Bundle, player: str, is_withheld: Callable[[Content], bool] | None = None) -> Bundle:
    """Make the bundle that one player may see: the other players' own events are withheld.

    Only events of WITHHOLDABLE_TYPES are ever withheld. Whether such a one is another player's is asked of
    `is_withheld`; without it, its payload's `player` tells. Hashes stay, so the chain is the same chain.
    Raises ValueError for a bundle that was already made for somebody else.
    """
    if bundle.player not in {None, player}:
        raise ValueError("this bundle was made for another player")
    decide = is_withheld or (lambda content: content.payload.get("player") != player)
    parts = tuple(_withhold(part, decide) for part in bundle.streams)
    return replace(bundle, player=player, round=_withhold(bundle.round, decide), streams=parts)


def _withhold(part: StreamPart, is_withheld: Callable[[Content], bool]) -> StreamPart:
    events = tuple(
        Withheld(content_hash(event.data))
        if isinstance(event, Recorded)
        and event.content.type in WITHHOLDABLE_TYPES
        and is_withheld(event.content)
        else event
        for event in part.events
    )
    return replace(part, events=events)


def part_bytes(part: StreamPart) -> bytes:
    """Write a part of a stream; its events' bytes go in as they were recorded."""
    return object_bytes(
        {
            "events": array_bytes(_event_bytes(event) for event in part.events),
            "first_position": canonical_bytes(part.first_position),
            "hash": canonical_bytes(part.hash.hex()),
            "prev_hash": canonical_bytes(part.prev_hash.hex()),
            "stream": canonical_bytes(part.stream),
        }
    )


def _event_bytes(event: Recorded | Withheld) -> bytes:
    if isinstance(event, Recorded):
        return object_bytes({"content": event.data})
    return object_bytes({"content_hash": canonical_bytes(event.content_hash.hex())})


def object_bytes(members: dict[str, bytes]) -> bytes:
    """Write an object of values that are written already; its keys are a bundle's own."""
    # These keys are ASCII: any order of characters is that of RFC 8785.
    return b"{" + b",".join(b'"%b":%b' % (key.encode(), members[key]) for key in sorted(members)) + b"}"


def array_bytes(items: Iterable[bytes]) -> bytes:
    """Write an array of values that are written already."""
    return b"[" + b",".join(items) + b"]"
