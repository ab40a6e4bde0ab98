"""Write docs/play-asyncapi.json: the players' connection, from the models that both of its sides are made of.

`--check` writes nothing: it exits with 1 when the file is not as it should be.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from upcard_platform import play

FILE: Final = Path(__file__).resolve().parents[1] / "docs" / "play-asyncapi.json"
_ABOUT: Final = """\
What a player's program and the gateway say to each other over a WebSocket, JSON in text (docs/play.md).
A program says `hello` first. `seq` is opaque: the last one of each channel is given back in `resume`.
"""


def document() -> dict[str, Any]:
    """The whole description."""
    asked, told = _schemas(play.ASKED, "validation"), _schemas(play.TOLD, "serialization")
    messages = {**_messages(asked, "asked"), **_messages(told, "told")}
    schemas = {**_parts(asked), **_parts(told)}
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Upcard: the players' connection", "version": "1", "description": _ABOUT},
        "defaultContentType": "application/json",
        "channels": {
            "play": {
                "address": "/play/ws",
                "description": "One connection of a player, or of somebody who looks on.",
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
                "bindings": {
                    "ws": {
                        "method": "GET",
                        "headers": {
                            "type": "object",
                            "required": ["Sec-WebSocket-Protocol"],
                            "properties": {
                                "Sec-WebSocket-Protocol": {"type": "string", "const": play.SUBPROTOCOL}
                            },
                        },
                        "bindingVersion": "0.1.0",
                    }
                },
            }
        },
        "operations": {
            "say": _operation("receive", "What a program says.", messages, "asked"),
            "tell": _operation("send", "What the gateway tells.", messages, "told"),
        },
        "components": {"messages": messages, "schemas": dict(sorted(schemas.items()))},
    }


def _operation(action: str, summary: str, messages: dict[str, Any], side: str) -> dict[str, Any]:
    """A side of the connection, seen from the gateway."""
    own = [name for name in messages if name.startswith(f"{side}-")]
    return {
        "action": action,
        "summary": summary,
        "channel": {"$ref": "#/channels/play"},
        "messages": [{"$ref": f"#/channels/play/messages/{name}"} for name in own],
    }


def _schemas(adapter: TypeAdapter[Any], mode: Any) -> dict[str, Any]:  # noqa: ANN401 - pydantic's own word
    """The schema of a union, with its parts."""
    return adapter.json_schema(
        ref_template="#/components/schemas/{model}", mode=mode, schema_generator=GenerateJsonSchema
    )


def _messages(schema: dict[str, Any], side: str) -> dict[str, Any]:
    """A message for each member of a union, by its type."""
    mapping: dict[str, str] = schema["discriminator"]["mapping"]
    return {
        f"{side}-{type_}": {
            "name": type_,
            "summary": schema["$defs"][place.rpartition("/")[2]].get("description", type_),
            "payload": {"$ref": place},
        }
        for type_, place in mapping.items()
    }


def _parts(schema: dict[str, Any]) -> dict[str, Any]:
    parts: dict[str, Any] = schema["$defs"]
    return parts


def rendered() -> str:
    """The whole file."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare")
    wanted = rendered()
    if not parser.parse_args(arguments).check:
        FILE.write_text(wanted, encoding="utf-8")
        return 0
    if FILE.exists() and FILE.read_text(encoding="utf-8") == wanted:
        return 0
    print(
        "docs/play-asyncapi.json is not what the gateway speaks: run python -m tools.generate_play_asyncapi"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
