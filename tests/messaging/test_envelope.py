from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventstore import RecordedEvent, shard_of
from eventstore.streams import MAX_EVENT_BYTES, content_hash_of, first_prev_hash, hash_of
from messaging.envelope import NAMES, Envelope, EnvelopeInvalid, decode, headers_of, key_of

STREAM = "round-t1.7"


def an_event(stream: str = STREAM, position: int = 1, content: bytes = b'{"a":1}') -> RecordedEvent:
    prev_hash = first_prev_hash(stream)
    content_hash = content_hash_of(content)
    return RecordedEvent(
        stream,
        position,
        shard_of(stream),
        41,
        UUID("019aa1b2-0000-7000-8000-000000000001"),
        "BetPlaced",
        content,
        prev_hash,
        content_hash,
        hash_of(prev_hash, position, content_hash),
        dt.datetime(2026, 11, 30, 10, 5, 1, 23, tzinfo=dt.UTC),
    )


@dataclass(frozen=True)
class Record:
    """A Kafka record, to be spoilt."""

    headers: tuple[tuple[str, bytes | None], ...]
    key: bytes | None = STREAM.encode()
    value: bytes | None = b'{"a":1}'
    partition: int = shard_of(STREAM)
    service: str = "table"

    def decoded(self) -> Envelope:
        return decode(
            service=self.service,
            partition=self.partition,
            key=self.key,
            value=self.value,
            headers=self.headers,
        )

    def with_header(self, name: str, value: bytes | None) -> Record:
        return replace(self, headers=tuple((n, value if n == name else v) for n, v in self.headers))


def a_record() -> Record:
    return Record(tuple(headers_of(an_event(), "table", 3)))


def test_an_event_is_a_cloud_event_in_binary_mode() -> None:
    event = an_event()
    assert dict(headers_of(event, "table", 3)) == {
        "ce_specversion": b"1.0",
        "content-type": b"application/json",
        "ce_source": b"/upcard/table",
        "ce_id": b"019aa1b2-0000-7000-8000-000000000001",
        "ce_type": b"BetPlaced",
        "ce_subject": b"round-t1.7",
        "ce_time": b"2026-11-30T10:05:01.000023Z",
        "ce_streamposition": b"1",
        "ce_shard": str(shard_of(STREAM)).encode(),
        "ce_shardposition": b"41",
        "ce_prevhash": event.prev_hash.hex().encode(),
        "ce_contenthash": event.content_hash.hex().encode(),
        "ce_hash": event.hash.hex().encode(),
        "ce_epoch": b"3",
    }
    assert key_of(event) == b"round-t1.7"
    # CloudEvents: an attribute's name is of lower-case letters and digits, 20 at most.
    for name in NAMES - {"content-type"}:
        attribute = name.removeprefix("ce_")
        assert attribute.isalnum()
        assert attribute == attribute.lower()
        assert len(attribute) <= 20


def test_what_was_encoded_comes_back_whole() -> None:
    assert a_record().decoded() == Envelope(an_event(), "table", 3)


def test_times_of_other_zones_are_told_in_utc() -> None:
    there = an_event()._replace(
        recorded_at=dt.datetime(2026, 11, 30, 12, 0, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    )
    assert dict(headers_of(there, "table", 0))["ce_time"] == b"2026-11-30T10:00:00.000000Z"


@given(
    stream=st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=200),
    position=st.integers(1, 2**63 - 1),
    content=st.binary(min_size=1, max_size=300),
    epoch=st.integers(0, 2**63 - 1),
    recorded_at=st.datetimes(
        min_value=dt.datetime(1000, 1, 1),  # noqa: DTZ001 - the strategy adds the zone
        timezones=st.just(dt.UTC),
    ),
)
def test_any_event_survives_the_journey(
    stream: str, position: int, content: bytes, epoch: int, recorded_at: dt.datetime
) -> None:
    event = an_event(stream, position, content)._replace(recorded_at=recorded_at)
    came = decode(
        service="wallet",
        partition=event.shard,
        key=key_of(event),
        value=event.content,
        headers=headers_of(event, "wallet", epoch),
    )
    assert came == Envelope(event, "wallet", epoch)


def test_headers_of_others_are_left_alone() -> None:
    record = a_record()
    trace: tuple[str, bytes | None] = ("traceparent", b"\xff\x00")
    assert replace(record, headers=(trace, *record.headers, trace)).decoded() == record.decoded()


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_header_must_be_there_once(name: str) -> None:
    record = a_record()
    without = tuple(one for one in record.headers if one[0] != name)
    with pytest.raises(EnvelopeInvalid, match=f"headers are missing: {name}$"):
        replace(record, headers=without).decoded()
    once_more = next(one for one in record.headers if one[0] == name)
    with pytest.raises(EnvelopeInvalid, match=f"{name} is there twice"):
        replace(record, headers=(*record.headers, once_more)).decoded()
    with pytest.raises(EnvelopeInvalid, match=f"{name} is empty"):
        record.with_header(name, None).decoded()


Spoil = Callable[[Record], Record]


def _header(name: str, value: bytes) -> Spoil:
    return lambda record: record.with_header(name, value)


def _field(**changes: Any) -> Spoil:
    return lambda record: replace(record, **changes)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        pytest.param(_header("ce_specversion", b"0.3"), "ce_specversion is not 1.0", id="ce-specversion-1"),
        pytest.param(
            _header("content-type", b"text/plain"),
            "content-type is not application/json",
            id="content-type-1",
        ),
        pytest.param(
            _header("ce_source", b"/upcard/wallet"), "ce_source is not /upcard/table", id="ce-source-1"
        ),
        pytest.param(_field(service="wallet"), "ce_source is not /upcard/wallet", id="service-1"),
        pytest.param(_field(key=None), "the key is not the stream", id="key-1"),
        pytest.param(_field(key=b"round-t1.8"), "the key is not the stream", id="key-2"),
        pytest.param(_header("ce_subject", b"round-t1.8"), "the key is not the stream", id="ce-subject-1"),
        pytest.param(_field(partition=(shard_of(STREAM) + 1) % 64), "it lies in partition", id="partition-1"),
        pytest.param(
            _header("ce_shard", b"%d" % ((shard_of(STREAM) + 1) % 64)),
            "the stream's shard is",
            id="ce-shard-1",
        ),
        pytest.param(_field(value=None), "the value has nothing", id="value-1"),
        pytest.param(_field(value=b""), "the value has nothing", id="value-2"),
        pytest.param(_field(value=b"x" * (MAX_EVENT_BYTES + 1)), "the value has 1000001 bytes", id="value-3"),
        pytest.param(
            _field(value=b'{"a":2}'), "the content has another hash than ce_contenthash says", id="value-4"
        ),
        pytest.param(
            _header("ce_contenthash", b"0" * 64), "the content has another hash", id="ce-contenthash-1"
        ),
        pytest.param(_header("ce_prevhash", b"0" * 64), "ce_hash does not follow", id="ce-prevhash-1"),
        pytest.param(_header("ce_hash", b"0" * 64), "ce_hash does not follow", id="ce-hash-1"),
        pytest.param(_header("ce_streamposition", b"2"), "ce_hash does not follow", id="ce-streamposition-1"),
        pytest.param(_header("ce_hash", b"F" * 64), "ce_hash is not 64 lower-case", id="ce-hash-2"),
        pytest.param(
            _header("ce_prevhash", b"0" * 63), "ce_prevhash is not 64 lower-case", id="ce-prevhash-2"
        ),
        pytest.param(
            _header("ce_streamposition", b"0"),
            "ce_streamposition is not a number from 1",
            id="ce-streamposition-2",
        ),
        pytest.param(
            _header("ce_shardposition", b"01"),
            "ce_shardposition is not a number from 1",
            id="ce-shardposition-1",
        ),
        pytest.param(
            _header("ce_shardposition", b"9223372036854775808"),
            "ce_shardposition is not a number",
            id="ce-shardposition-2",
        ),
        pytest.param(
            _header("ce_shardposition", "\u0661".encode()),
            "ce_shardposition is not a number",
            id="ce-shardposition-3",
        ),
        pytest.param(_header("ce_epoch", b"-1"), "ce_epoch is not a number from 0", id="ce-epoch-1"),
        pytest.param(_header("ce_epoch", b"1\n"), "ce_epoch is not a number from 0", id="ce-epoch-2"),
        pytest.param(_header("ce_id", b"not-a-uuid"), "ce_id is not a UUID", id="ce-id-1"),
        pytest.param(_header("ce_id", b"\xff"), "ce_id is not a UUID", id="ce-id-2"),
        pytest.param(
            _header("ce_id", b"019AA1B2-0000-7000-8000-000000000001"),
            "ce_id is a UUID in an unusual form",
            id="ce-id-3",
        ),
        pytest.param(_header("ce_type", b"\xff"), "ce_type is not UTF-8", id="ce-type-1"),
        pytest.param(_header("ce_type", b""), "ce_type is not 1 to 100 printable", id="ce-type-2"),
        pytest.param(_header("ce_type", b"a\nb"), "ce_type is not 1 to 100 printable", id="ce-type-3"),
        pytest.param(_header("ce_time", b"2026-11-30T10:05:01Z"), "ce_time is not YYYY", id="ce-time-1"),
        pytest.param(
            _header("ce_time", b"2026-13-30T10:05:01.000000Z"),
            "ce_time is no time that exists",
            id="ce-time-2",
        ),
    ],
)
def test_garbage_is_refused_with_a_reason(spoil: Spoil, why: str) -> None:
    with pytest.raises(EnvelopeInvalid, match=why):
        spoil(a_record()).decoded()


@given(
    key=st.none() | st.binary(max_size=20),
    value=st.none() | st.binary(max_size=20),
    headers=st.lists(st.tuples(st.sampled_from(sorted(NAMES)), st.none() | st.binary(max_size=40))),
)
def test_anything_else_is_refused_and_nothing_worse(
    key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes | None]]
) -> None:
    with pytest.raises(EnvelopeInvalid):
        decode(service="table", partition=1, key=key, value=value, headers=headers)


def test_a_refusal_does_not_show_the_content() -> None:
    with pytest.raises(EnvelopeInvalid) as caught:
        replace(a_record(), value=b"a secret").decoded()
    assert "secret" not in str(caught.value)
