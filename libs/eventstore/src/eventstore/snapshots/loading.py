"""The state of a stream: from its snapshot where that fits the log, then the events after it."""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from eventstore.errors import LogBroken
from eventstore.events import RecordedEvent
from eventstore.port import PAGE_EVENTS, Reader
from eventstore.snapshots.model import Snapshot, Snapshots
from eventstore.streams import first_prev_hash

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Fold(Generic[State]):
    """How events become a state, and a state bytes.

    `evolve` returns the next state, or changes the state in place and returns None. Whenever `evolve`,
    `encode` or what they mean changes, `version` does too: states of other versions are not looked at.
    """

    kind: str
    version: int
    initial: Callable[[], State]
    evolve: Callable[[State, RecordedEvent], State | None]
    encode: Callable[[State], bytes]
    decode: Callable[[bytes], State]


class Ignored(enum.Enum):
    """Why a snapshot was left aside."""

    OTHER_HISTORY = "other_history"
    """The log has another event at its position, or none: a restore, or a fork. Worth an alarm."""
    UNREADABLE = "unreadable"
    """Its bytes could not be decoded: the version should have changed."""


@dataclass(frozen=True, slots=True)
class LoadedState(Generic[State]):
    """A state and where it stands: after the event at `position` (0: no events), whose hash is `hash`."""

    stream: str
    state: State
    position: int
    hash: bytes
    events_read: int
    """Events read on the way: many of them are the reason to save a snapshot."""


OnIgnored = Callable[[Snapshot, Ignored], None]
"""Is told of a snapshot that was left aside: for a log line and a metric."""


def unheard(_snapshot: Snapshot, _why: Ignored) -> None:
    """Tells nobody."""


async def load_state(
    reader: Reader,
    snapshots: Snapshots,
    stream: str,
    fold: Fold[State],
    *,
    page: int = PAGE_EVENTS,
    on_ignored: OnIgnored = unheard,
) -> LoadedState[State]:
    """The state of a stream after its last event. Holds one page of events in memory.

    A snapshot is believed when the log goes on from it: the next event's `prev_hash`, or the stream's head if
    there is no next one, is the snapshot's hash. One that does not fit is reported to `on_ignored` and
    forgotten, and everything is read. Raises what the reader raises.
    """
    snapshot = await snapshots.load(stream, fold.kind, fold.version)
    if snapshot is not None:
        state = _decoded(fold, snapshot)
        if state is None:
            on_ignored(snapshot, Ignored.UNREADABLE)
        else:
            begun = LoadedState(stream, state.value, snapshot.position, snapshot.hash, 0)
            loaded = await _read_on(reader, fold, page, begun)
            if loaded is not None:
                return loaded
            on_ignored(snapshot, Ignored.OTHER_HISTORY)
        await snapshots.discard(snapshot)
    loaded = await _read_on(
        reader, fold, page, LoadedState(stream, fold.initial(), 0, first_prev_hash(stream), 0)
    )
    if loaded is None:
        raise LogBroken(f"stream {stream}: its first event does not begin its chain")
    return loaded


async def save_state(snapshots: Snapshots, fold: Fold[State], loaded: LoadedState[State]) -> None:
    """Save a state as a snapshot; nothing for a stream without events. Raises ValueError (too large).

    Worth it when the next load would read many events: a few hundred, say. It may fail or be left out without
    harm.
    """
    if loaded.position > 0:
        await snapshots.save(
            Snapshot(
                loaded.stream,
                fold.kind,
                fold.version,
                loaded.position,
                loaded.hash,
                fold.encode(loaded.state),
            )
        )


@dataclass(frozen=True, slots=True)
class _Decoded(Generic[State]):
    value: State


def _decoded(fold: Fold[State], snapshot: Snapshot) -> _Decoded[State] | None:
    try:
        return _Decoded(fold.decode(snapshot.state))
    except Exception:  # noqa: BLE001 - whatever is wrong with the bytes, the events are there
        return None


async def _read_on(
    reader: Reader, fold: Fold[State], page: int, begun: LoadedState[State]
) -> LoadedState[State] | None:
    """Fold the events after a state; None when the log does not go on from there."""
    state, position, last_hash = begun.state, begun.position, begun.hash
    while True:
        events = await reader.read_stream(begun.stream, after=position, limit=page)
        if not events and position == begun.position and position > 0:
            # Nothing follows the snapshot: it has to be the stream's end.
            head = await reader.stream_head(begun.stream)
            if head.position > position:
                continue  # something came between the two questions
            if (head.position, head.hash) != (position, last_hash):
                return None
        for event in events:
            if event.prev_hash != last_hash:
                return None
            after = fold.evolve(state, event)
            if after is not None:
                state = after
            position, last_hash = event.stream_position, event.hash
        if len(events) < page:
            return LoadedState(begun.stream, state, position, last_hash, position - begun.position)
