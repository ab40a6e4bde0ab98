"""What the calls about a service's machinery carry, as protocol buffers and back."""

import datetime as dt

from google.protobuf.timestamp_pb2 import Timestamp

from eventstore.following import ParkedStream, SkippedEvent, Stop
from messaging.dead_letters.letters import Failure
from messaging.operations.model import ConsumerLag, FollowerLag, Lag, Letters, RelayLag
from upcard.operations.v1 import operations_pb2 as pb


def stamp(at: dt.datetime | None) -> Timestamp | None:
    """A time, as the protos have it."""
    if at is None:
        return None
    made = Timestamp()
    made.FromDatetime(at.astimezone(dt.UTC))
    return made


def lag_to_proto(lag: Lag) -> pb.GetLagResponse:
    """How far things are."""
    relay = lag.relay
    return pb.GetLagResponse(
        service=lag.service,
        relay=None
        if relay is None
        else pb.RelayLag(
            topic=relay.topic,
            active=relay.active,
            behind=relay.behind,
            shards_behind=relay.shards_behind,
            moved_at=stamp(relay.moved_at),
        ),
        followers=[
            pb.FollowerLag(
                follower=one.follower,
                source=one.source,
                passed=one.passed,
                behind=one.behind,
                parked_streams=one.parked_streams,
                stopped_shards=one.stopped_shards,
                moved_at=stamp(one.moved_at),
            )
            for one in lag.followers
        ],
        consumers=[
            pb.ConsumerLag(
                source=one.source,
                connected=one.connected,
                shards=one.shards,
                behind=one.behind,
                asked_ms=None if one.asked_s is None else round(one.asked_s * 1_000),
                stopped_shards=one.stopped_shards,
                filling_shards=one.filling_shards,
            )
            for one in lag.consumers
        ],
    )


def lag_from_proto(message: pb.GetLagResponse) -> Lag:
    """How far things are."""
    relay = message.relay
    return Lag(
        message.service,
        RelayLag(relay.topic, relay.active, relay.behind, relay.shards_behind, _maybe(relay, "moved_at"))
        if message.HasField("relay")
        else None,
        tuple(
            [
                FollowerLag(
                    one.follower,
                    one.source,
                    one.passed,
                    one.behind if one.HasField("behind") else None,
                    one.parked_streams,
                    one.stopped_shards,
                    _maybe(one, "moved_at"),
                )
                for one in message.followers
            ]
        ),
        tuple(
            [
                ConsumerLag(
                    one.source,
                    one.connected,
                    one.shards,
                    one.behind if one.HasField("behind") else None,
                    one.asked_ms / 1_000 if one.HasField("asked_ms") else None,
                    one.stopped_shards,
                    one.filling_shards,
                )
                for one in message.consumers
            ]
        ),
    )


def parked_to_proto(one: ParkedStream) -> pb.ParkedStream:
    """A parked stream."""
    return pb.ParkedStream(
        follower=one.follower,
        source=one.source,
        stream=one.stream,
        shard=one.shard,
        failed_position=one.failed_position,
        events=one.events,
        attempts=one.attempts,
        reason=one.reason,
        error=one.error,
        since=stamp(one.since),
        retry_asked_at=stamp(one.retry_requested_at),
        dead_letter_at=stamp(one.dead_letter_sent_at),
    )


def parked_from_proto(one: pb.ParkedStream) -> ParkedStream:
    """A parked stream."""
    return ParkedStream(
        one.follower,
        one.source,
        one.stream,
        one.shard,
        one.failed_position,
        one.events,
        one.attempts,
        one.reason,
        one.error,
        one.since.ToDatetime(dt.UTC),
        _maybe(one, "retry_asked_at"),
        _maybe(one, "dead_letter_at"),
    )


def skipped_to_proto(one: SkippedEvent) -> pb.SkippedEvent:
    """An event that was left out."""
    return pb.SkippedEvent(
        follower=one.follower,
        source=one.source,
        stream=one.stream,
        position=one.stream_position,
        type=one.type,
        error=one.error,
        skipped_by=one.skipped_by,
        why=one.why,
        skipped_at=stamp(one.skipped_at),
    )


def skipped_from_proto(one: pb.SkippedEvent) -> SkippedEvent:
    """An event that was left out."""
    return SkippedEvent(
        one.follower,
        one.source,
        one.stream,
        one.position,
        one.type,
        one.error,
        one.skipped_by,
        one.why,
        one.skipped_at.ToDatetime(dt.UTC),
    )


def stop_to_proto(one: Stop) -> pb.StoppedShard:
    """A follower or shard that stands still."""
    return pb.StoppedShard(
        follower=one.follower,
        source=one.source,
        shard=one.shard,
        kind=one.kind,
        position=one.shard_position,
        since=stamp(one.since),
        attempts=one.attempts,
        reason=one.reason,
        error=one.error,
        stream=one.stream or "",
        type=one.type or "",
    )


def stop_from_proto(one: pb.StoppedShard) -> Stop:
    """A follower or shard that stands still; the place in the stream does not come along."""
    return Stop(
        one.follower,
        one.source,
        one.shard,
        one.kind,
        one.position,
        one.since.ToDatetime(dt.UTC),
        one.attempts,
        one.reason,
        one.error,
        one.stream or None,
        None,
        one.type or None,
    )


def letters_to_proto(letters: Letters) -> pb.DeadLetters:
    """Dead letters."""
    return pb.DeadLetters(
        letters=[
            pb.DeadLetter(
                follower=one.follower,
                stream=one.stream,
                position=one.stream_position,
                type=one.type,
                reason=one.reason,
                error=one.error,
                attempts=one.attempts,
                since=stamp(one.since),
                failed_at=stamp(one.failed_at),
            )
            for one in letters.failures
        ],
        unreadable=letters.unreadable,
    )


def letters_from_proto(service: str, message: pb.DeadLetters) -> Letters:
    """Dead letters of this service's events."""
    return Letters(
        tuple(
            [
                Failure(
                    one.follower,
                    service,
                    one.stream,
                    one.position,
                    one.type,
                    one.reason,
                    one.error,
                    one.attempts,
                    one.since.ToDatetime(dt.UTC),
                    one.failed_at.ToDatetime(dt.UTC),
                )
                for one in message.letters
            ]
        ),
        message.unreadable,
    )


def _maybe(message: pb.RelayLag | pb.FollowerLag | pb.ParkedStream, name: str) -> dt.datetime | None:
    if not message.HasField(name):  # type: ignore[arg-type]  # the stubs know each message's names alone
        return None
    found: Timestamp = getattr(message, name)
    return found.ToDatetime(dt.UTC)
