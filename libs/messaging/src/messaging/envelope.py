"""How an event lies in a Kafka record: CloudEvents 1.0, binary mode.

The value is the event's content, byte for byte; the key is its stream; the partition is its shard. All the
rest is in headers. CloudEvents allows only lower-case letters and digits in the name of an attribute: what is
called `stream_position` elsewhere is `ce_streamposition` here.

What is read back is trusted for nothing that can be checked: both hashes are made again from the bytes that
came, and the shard from the stream's name.
"""

import datetime as dt
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final
from uuid import UUID

from eventstore import RecordedEvent, shard_of
from eventstore.streams import MAX_EVENT_BYTES, MAX_STREAM_LENGTH, MAX_TYPE_LENGTH, content_hash_of, hash_of

SPEC_VERSION: Final = "1.0"
"""The version of CloudEvents."""

CONTENT_TYPE: Final = "application/json"
"""What every content is."""

Headers = list[tuple[str, bytes]]
"""Headers of a Kafka record, as aiokafka takes and gives them."""

_SERVICE: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_DIGEST: Final = re.compile(rb"[0-9a-f]{64}")
_NUMBER: Final = re.compile(rb"0|[1-9][0-9]{0,18}")
_TIME: Final = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_LARGEST: Final = 2**63 - 1

_CONSTANT: Final = (
    ("ce_specversion", SPEC_VERSION.encode()),
    ("content-type", CONTENT_TYPE.encode()),
)

NAMES: Final = frozenset(
    {
        "ce_specversion",
        "content-type",
        "ce_source",
        "ce_id",
        "ce_type",
        "ce_subject",
        "ce_time",
        "ce_streamposition",
        "ce_shard",
        "ce_shardposition",
        "ce_prevhash",
        "ce_contenthash",
        "ce_hash",
        "ce_epoch",
    }
)
"""The headers that a record must have, each once. Others (those of a trace, say) are left alone."""


class EnvelopeInvalid(ValueError):
    """A Kafka record is not an event of this topic. The sentence says why; `slug` is for metrics.

    It never shows the value: that is somebody's content, or anything at all.
    """

    slug: ClassVar[str] = "envelope_invalid"


@dataclass(frozen=True, slots=True)
class Envelope:
    """An event as it came over Kafka: whose log it is from, and in which epoch it was published."""

    event: RecordedEvent
    service: str
    epoch: int


def check_service(service: str) -> str:
    """The name of a service, if it can be one: 1 to 40 of `a-z 0-9 _`, beginning with a letter.

    Raises ValueError.
    """
    if _SERVICE.fullmatch(service) is None:
        raise ValueError(
            f"a service is 1 to 40 of a-z, 0-9 and _, beginning with a letter, not {service[:40]!r}"
        )
    return service


def source_of(service: str) -> str:
    """The `source` of a service's events: `/upcard/<service>`."""
    return f"/upcard/{check_service(service)}"


def key_of(event: RecordedEvent) -> bytes:
    """The key of an event's record: its stream's name in UTF-8."""
    return event.stream.encode()


def headers_of(event: RecordedEvent, service: str, epoch: int) -> Headers:
    """The headers of an event's record. `epoch` is the epoch of the log when it is published."""
    recorded_at = event.recorded_at.astimezone(dt.UTC)
    return [
        *_CONSTANT,
        ("ce_source", _source(service)),
        ("ce_id", str(event.event_id).encode()),
        ("ce_type", event.type.encode()),
        ("ce_subject", event.stream.encode()),
        ("ce_time", recorded_at.isoformat(timespec="microseconds").replace("+00:00", "Z").encode()),
        ("ce_streamposition", b"%d" % event.stream_position),
        ("ce_shard", b"%d" % event.shard),
        ("ce_shardposition", b"%d" % event.shard_position),
        ("ce_prevhash", event.prev_hash.hex().encode()),
        ("ce_contenthash", event.content_hash.hex().encode()),
        ("ce_hash", event.hash.hex().encode()),
        ("ce_epoch", b"%d" % epoch),
    ]


def decode(
    *,
    service: str,
    partition: int,
    key: bytes | None,
    value: bytes | None,
    headers: Iterable[tuple[str, bytes | None]],
) -> Envelope:
    """The event in a record of a service's topic, checked.

    Checked are: every header is there once and well formed; the source is this service; key, subject, shard
    and partition belong together; the content has the hash that the header says, and the event's hash follows
    from it. Raises EnvelopeInvalid.
    """
    found = _only_ours(headers)
    _same(found, "ce_specversion", SPEC_VERSION.encode())
    _same(found, "content-type", CONTENT_TYPE.encode())
    _same(found, "ce_source", _source(service))
    stream = _text(found, "ce_subject", MAX_STREAM_LENGTH)
    if key != found["ce_subject"]:
        raise EnvelopeInvalid("the key is not the stream that ce_subject names")
    shard = _number(found, "ce_shard", 0)
    if shard != shard_of(stream):
        raise EnvelopeInvalid(f"ce_shard is {shard}; the stream's shard is {shard_of(stream)}")
    if partition != shard:
        raise EnvelopeInvalid(f"it lies in partition {partition}, and belongs in {shard}")
    if value is None or not 0 < len(value) <= MAX_EVENT_BYTES:
        size = "nothing" if not value else f"{len(value)} bytes"
        raise EnvelopeInvalid(f"a content has 1 to {MAX_EVENT_BYTES} bytes; the value has {size}")
    stream_position = _number(found, "ce_streamposition", 1)
    prev_hash = _digest(found, "ce_prevhash")
    content_hash = content_hash_of(value)
    if content_hash != _digest(found, "ce_contenthash"):
        raise EnvelopeInvalid("the content has another hash than ce_contenthash says")
    own_hash = hash_of(prev_hash, stream_position, content_hash)
    if own_hash != _digest(found, "ce_hash"):
        raise EnvelopeInvalid("ce_hash does not follow from ce_prevhash, ce_streamposition and the content")
    event = RecordedEvent(
        stream,
        stream_position,
        shard,
        _number(found, "ce_shardposition", 1),
        _event_id(found),
        _text(found, "ce_type", MAX_TYPE_LENGTH),
        value,
        prev_hash,
        content_hash,
        own_hash,
        _time(found),
    )
    return Envelope(event, service, _number(found, "ce_epoch", 0))


def _only_ours(headers: Iterable[tuple[str, bytes | None]]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, value in headers:
        if name not in NAMES:
            continue
        if name in found:
            raise EnvelopeInvalid(f"{name} is there twice")
        if value is None:
            raise EnvelopeInvalid(f"{name} is empty")
        found[name] = value
    if len(found) < len(NAMES):
        raise EnvelopeInvalid(f"these headers are missing: {', '.join(sorted(NAMES - found.keys()))}")
    return found


def _same(found: dict[str, bytes], name: str, wanted: bytes) -> None:
    if found[name] != wanted:
        raise EnvelopeInvalid(f"{name} is not {wanted.decode()}")


def _text(found: dict[str, bytes], name: str, longest: int) -> str:
    try:
        text = found[name].decode()
    except UnicodeDecodeError as error:
        raise EnvelopeInvalid(f"{name} is not UTF-8") from error
    if not 0 < len(text) <= longest or not text.isprintable():
        raise EnvelopeInvalid(f"{name} is not 1 to {longest} printable characters")
    return text


def _number(found: dict[str, bytes], name: str, least: int) -> int:
    digits = found[name]
    if _NUMBER.fullmatch(digits) is None or not least <= int(digits) <= _LARGEST:
        raise EnvelopeInvalid(f"{name} is not a number from {least} to 2^63 - 1")
    return int(digits)


def _digest(found: dict[str, bytes], name: str) -> bytes:
    if _DIGEST.fullmatch(found[name]) is None:
        raise EnvelopeInvalid(f"{name} is not 64 lower-case hexadecimal digits")
    return bytes.fromhex(found[name].decode())


def _event_id(found: dict[str, bytes]) -> UUID:
    try:
        text = found["ce_id"].decode()
        event_id = UUID(text)
    except ValueError as error:
        raise EnvelopeInvalid("ce_id is not a UUID") from error
    if str(event_id) != text:
        raise EnvelopeInvalid("ce_id is a UUID in an unusual form")
    return event_id


def _time(found: dict[str, bytes]) -> dt.datetime:
    if _TIME.fullmatch(found["ce_time"]) is None:
        raise EnvelopeInvalid("ce_time is not YYYY-MM-DDThh:mm:ss.ffffffZ")
    try:
        return dt.datetime.fromisoformat(found["ce_time"].decode())
    except ValueError as error:
        raise EnvelopeInvalid("ce_time is no time that exists") from error


@functools.lru_cache(maxsize=64)
def _source(service: str) -> bytes:
    return source_of(service).encode()
