"""The AsyncAPI document of what goes over Kafka, made from the code that does it.

`python -m messaging.asyncapi FILE` writes it, with `--check` compares.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from eventstore import SHARDS
from eventstore.streams import MAX_STREAM_LENGTH, MAX_TYPE_LENGTH
from messaging.dead_letters.letters import FAILURE_NAMES
from messaging.envelope import CONTENT_TYPE, NAMES, SPEC_VERSION
from messaging.topics import TopicSettings, TopicSpec, dead_letters_topic, events_topic

BINDING_VERSION: Final = "0.5.0"
_TOPIC: Final = "upcard.{service}.v1"

Schema = dict[str, Any]

_POSITION: Final[Schema] = {"type": "string", "pattern": "^[1-9][0-9]{0,18}$"}
_DIGEST: Final[Schema] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_MICROSECONDS: Final[Schema] = {
    "type": "string",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$",
}

_HEADERS: Final[dict[str, Schema]] = {
    "ce_specversion": {"const": SPEC_VERSION, "description": "The version of CloudEvents."},
    "content-type": {"const": CONTENT_TYPE, "description": "What the value is."},
    "ce_source": {
        "type": "string",
        "pattern": "^/upcard/[a-z][a-z0-9_]{0,39}$",
        "description": "Whose log it is from: `/upcard/` and the service.",
    },
    "ce_id": {"type": "string", "format": "uuid", "description": "The event's id."},
    "ce_type": {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_TYPE_LENGTH,
        "description": "The event's type, such as `BetPlaced`.",
    },
    "ce_subject": {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_STREAM_LENGTH,
        "description": "The event's stream, such as `round-t1.7`; the record's key too.",
    },
    "ce_time": {**_MICROSECONDS, "description": "When it was appended, by the database's clock."},
    "ce_streamposition": {**_POSITION, "description": "1, 2, … without a gap, in its stream."},
    "ce_shard": {
        "type": "string",
        "pattern": "^([0-9]|[1-5][0-9]|6[0-3])$",
        "description": f"One of {SHARDS}: the record's partition.",
    },
    "ce_shardposition": {**_POSITION, "description": "1, 2, … without a gap, over its shard."},
    "ce_prevhash": {
        **_DIGEST,
        "description": "Hash of the event before it in its stream; of the first: of the stream's name.",
    },
    "ce_contenthash": {**_DIGEST, "description": "SHA-256 of the value."},
    "ce_hash": {
        **_DIGEST,
        "description": "SHA-256 of the previous hash, the stream position as 8 bytes big-endian, and the"
        " content's hash, over raw digests.",
    },
    "ce_epoch": {
        "type": "string",
        "pattern": "^(0|[1-9][0-9]{0,18})$",
        "description": "The log's epoch when it was published: grows with each restore. 0 in a dead letter.",
    },
}

_FAILURE: Final[dict[str, Schema]] = {
    "failure-follower": {"type": "string", "description": "The consumer that could not apply it."},
    "failure-reason": {"type": "string", "maxLength": 100, "description": "The kind of error, for grouping."},
    "failure-error": {"type": "string", "maxLength": 2000, "description": "What the last try raised."},
    "failure-attempts": {"type": "string", "pattern": "^[1-9][0-9]*$", "description": "How many tries."},
    "failure-since": {"type": "string", "format": "date-time", "description": "Since when it is parked."},
    "failure-at": {"type": "string", "format": "date-time", "description": "When it last failed."},
}

_CONTENT: Final[Schema] = {
    "type": "object",
    "description": "Canonical JSON (RFC 8785) in UTF-8, byte for byte as it was stored and hashed.",
    "properties": {
        "event_id": {"type": "string", "format": "uuid"},
        "type": {"type": "string"},
        "version": {"type": "integer", "minimum": 1},
        "stream": {"type": "string"},
        "recorded_at": _MICROSECONDS,
        "correlation_id": {"type": "string"},
        "causation_id": {"type": ["string", "null"]},
        "actor": {"type": "string"},
        "salt": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
        "payload": {"type": "object"},
    },
    "required": [
        "event_id",
        "type",
        "version",
        "stream",
        "recorded_at",
        "correlation_id",
        "causation_id",
        "actor",
        "salt",
        "payload",
    ],
    "additionalProperties": False,
}


def document() -> dict[str, Any]:
    """The whole document. The service is a parameter: every one has a topic, and all are alike."""
    settings = TopicSettings()
    events, letters = events_topic(_TOPIC, settings), dead_letters_topic(_TOPIC, settings)
    assert _HEADERS.keys() == NAMES  # noqa: S101 - what is described is what is sent
    assert _FAILURE.keys() == FAILURE_NAMES  # noqa: S101 - likewise
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Upcard: events on Kafka",
            "version": "1",
            "description": "Every service publishes its log, event by event, as CloudEvents in binary mode. A"
            " shard of the log is a partition; within it events come in the order of their positions, at"
            " least once. Kafka is transport: what does not come, or has gone, is read over the event feed.",
        },
        "defaultContentType": CONTENT_TYPE,
        "channels": {
            "events": _channel(events, "The events of one service.", "event"),
            "deadLetters": _channel(
                letters, "Copies of its events that some consumer could not apply.", "deadLetter"
            ),
        },
        "operations": {
            "publishEvents": _operation("send", "events", "event", "The service's relay publishes its log."),
            "consumeEvents": _operation("receive", "events", "event", "Other services' consumers follow it."),
            "publishDeadLetters": _operation(
                "send", "deadLetters", "deadLetter", "A consumer that has parked a stream copies the event."
            ),
        },
        "components": {
            "messages": {
                "event": _message("An event", _HEADERS),
                "deadLetter": _message("An event that could not be applied", _HEADERS | _FAILURE),
            },
            "schemas": {"content": _CONTENT},
        },
    }


def _channel(spec: TopicSpec, description: str, message: str) -> dict[str, Any]:
    configs = dict(spec.configs)
    return {
        "address": spec.name,
        "description": description,
        "parameters": {"service": {"description": "The service's name, such as `table`."}},
        "messages": {message: {"$ref": f"#/components/messages/{message}"}},
        "bindings": {
            "kafka": {
                "topic": spec.name,
                "partitions": spec.partitions,
                "replicas": spec.replication_factor,
                "topicConfiguration": {
                    "cleanup.policy": [configs["cleanup.policy"]],
                    "retention.ms": int(configs["retention.ms"]),
                    "max.message.bytes": int(configs["max.message.bytes"]),
                },
                "bindingVersion": BINDING_VERSION,
            }
        },
    }


def _operation(action: str, channel: str, message: str, summary: str) -> dict[str, Any]:
    return {
        "action": action,
        "summary": summary,
        "channel": {"$ref": f"#/channels/{channel}"},
        "messages": [{"$ref": f"#/channels/{channel}/messages/{message}"}],
    }


def _message(title: str, headers: dict[str, Schema]) -> dict[str, Any]:
    return {
        "title": title,
        "contentType": CONTENT_TYPE,
        "headers": {
            "type": "object",
            "properties": headers,
            "required": sorted(headers),
            "additionalProperties": True,
        },
        "payload": {"$ref": "#/components/schemas/content"},
        "bindings": {
            "kafka": {
                "key": {"type": "string", "description": "The event's stream, as `ce_subject`."},
                "bindingVersion": BINDING_VERSION,
            }
        },
    }


def text() -> str:
    """The document as it is committed."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the document, or compare it; 1 when it differs."""
    parser = argparse.ArgumentParser(prog="python -m messaging.asyncapi", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--check", action="store_true", help="only compare")
    named = parser.parse_args(arguments)
    if not named.check:
        named.file.write_text(text(), encoding="utf-8")
        return 0
    if named.file.is_file() and named.file.read_text(encoding="utf-8") == text():
        return 0
    sys.stderr.write(f"{named.file} is not what the code says: make it anew\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
