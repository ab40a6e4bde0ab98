"""Bodies from templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pydantic import JsonValue

from upcard_seamless.dialects import OF_TRANSACTION, variables_of

Values: TypeAlias = Mapping[str, JsonValue]
"""Of variables, by their names with the `$`."""


def fill(template: JsonValue, call: Values, transactions: Sequence[Values]) -> JsonValue:
    """The template with its values; outside of a list there may be one transaction's only."""
    if isinstance(template, str):
        return _value(template, call, transactions) if template.startswith("$") else template
    if isinstance(template, dict):
        return {name: fill(value, call, transactions) for name, value in template.items()}
    if isinstance(template, list):
        if len(template) == 1 and variables_of(template) & OF_TRANSACTION:
            return [fill(template[0], call, [one]) for one in transactions]
        return [fill(value, call, transactions) for value in template]
    return template


def _value(name: str, call: Values, transactions: Sequence[Values]) -> JsonValue:
    if name in OF_TRANSACTION:
        (one,) = transactions
        return one[name]
    return call[name]
