"""The messages mean what the documents say: names, numbers and sizes that others rely on."""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid

import pytest
from google.protobuf import timestamp_pb2
from google.protobuf.descriptor_pb2 import MethodOptions

from upcard.call.v1 import call_context_pb2, refusal_pb2
from upcard.feed.v1 import event_feed_pb2
from upcard.log.v1 import event_pb2

FEED = event_feed_pb2.DESCRIPTOR.services_by_name["EventFeedService"]


def test_the_feed_has_what_the_contract_names() -> None:
    assert FEED.full_name == "upcard.feed.v1.EventFeedService"
    assert [method.name for method in FEED.methods] == ["ReadShard", "ReadStream", "Heads", "EventAt"]
    assert {method.GetOptions().idempotency_level for method in FEED.methods} == {
        MethodOptions.NO_SIDE_EFFECTS
    }
    assert not any(method.client_streaming or method.server_streaming for method in FEED.methods)


def test_an_event_comes_back_as_it_was() -> None:
    recorded_at = timestamp_pb2.Timestamp()
    recorded_at.FromDatetime(dt.datetime(2026, 11, 30, 12, 0, 0, 123_456, tzinfo=dt.UTC))
    event = event_pb2.RecordedEvent(
        stream="round-t1.7",
        stream_position=2**53,
        shard=63,
        shard_position=2**62,
        event_id=uuid.uuid4().bytes,
        type="BetPlaced",
        content=b'{"a":1}',
        prev_hash=hashlib.sha256(b"p").digest(),
        content_hash=hashlib.sha256(b"c").digest(),
        hash=hashlib.sha256(b"h").digest(),
        recorded_at=recorded_at,
    )
    again = event_pb2.RecordedEvent.FromString(event.SerializeToString())
    assert again == event
    assert again.recorded_at.ToDatetime(dt.UTC).microsecond == 123_456


def test_an_event_at_a_position_may_be_absent() -> None:
    assert not event_feed_pb2.EventAtResponse(head=3).HasField("event")
    assert not event_feed_pb2.ReadShardRequest(shard=1).HasField("wanted")


def test_nobody_names_the_actor_in_a_field_of_a_request() -> None:
    """Who acts comes from the signed context. Only that message has such a field."""
    for file in (event_feed_pb2, event_pb2, refusal_pb2):
        for message in file.DESCRIPTOR.message_types_by_name.values():
            assert "actor" not in message.fields_by_name
    context = call_context_pb2.CallContext.DESCRIPTOR
    assert [field.name for field in context.fields] == [
        "actor",
        "audience",
        "method",
        "request_digest",
        "issued_at",
        "expires_at",
    ]


@pytest.mark.parametrize("kind", ["PLAYER", "DEALER", "STAFF", "PLATFORM"])
def test_kinds_of_actors(kind: str) -> None:
    assert f"ACTOR_KIND_{kind}" in call_context_pb2.ActorKind.keys()  # noqa: SIM118 - no mapping


def test_system_is_nobody_that_could_be_vouched_for() -> None:
    assert "ACTOR_KIND_SYSTEM" not in call_context_pb2.ActorKind.keys()  # noqa: SIM118 - no mapping
