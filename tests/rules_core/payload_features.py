"""What a set of payloads shows of their schema: each word, each field there and left out, null and not."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def possible(schema: Schema) -> set[str]:
    """Everything that payloads of this schema could show, as `boxes[].outcome = tie`."""
    return _possible(schema, schema, "")


def shown(schema: Schema, payload: object) -> set[str]:
    """What one payload shows."""
    return _shown(schema, schema, payload, "")


def _resolved(root: Schema, schema: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    found: Schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return found


def _possible(root: Schema, schema: Schema, path: str) -> set[str]:
    schema = _resolved(root, schema)
    if "enum" in schema:
        return {f"{path} = {word}" for word in schema["enum"]}
    if "anyOf" in schema:
        return {f"{path} is null", f"{path} is not null"} | _possible(root, schema["anyOf"][0], path)
    if schema["type"] == "array":
        return {f"{path} has items"} | _possible(root, schema["items"], f"{path}[]")
    if schema["type"] == "object":
        return _possible_in(root, schema, path)
    return {f"{path} = {word}" for word in (True, False)} if schema["type"] == "boolean" else set()


def _possible_in(root: Schema, schema: Schema, path: str) -> set[str]:
    found = set()
    for name, inner in schema["properties"].items():
        own = _own(path, name)
        inside = _possible(root, inner, own)
        if "default" in inner:
            inside -= {f"{own} is null", f"{own} is not null", f"{own} = {inner['default']}"}
            inside |= {f"{own} is there", f"{own} is left out"}
        found |= inside
    return found


def _shown(root: Schema, schema: Schema, value: Any, path: str) -> set[str]:
    schema = _resolved(root, schema)
    if "anyOf" in schema:
        if value is None:
            return {f"{path} is null"}
        return {f"{path} is not null"} | _shown(root, schema["anyOf"][0], value, path)
    if isinstance(value, dict):
        return _shown_in(root, schema, value, path)
    if isinstance(value, list):
        inside = set().union(*(_shown(root, schema["items"], item, f"{path}[]") for item in value))
        return inside | ({f"{path} has items"} if value else set())
    return {f"{path} = {value}"} if "enum" in schema or schema["type"] == "boolean" else set()


def _shown_in(root: Schema, schema: Schema, value: dict[str, Any], path: str) -> set[str]:
    found = set()
    for name, inner in schema["properties"].items():
        own = _own(path, name)
        if "default" in inner:
            found.add(f"{own} is {'there' if name in value else 'left out'}")
        if name in value:
            found |= _shown(root, inner, value[name], own)
    return found


def _own(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
