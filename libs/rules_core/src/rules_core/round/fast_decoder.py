"""Reading a payload without a loop over its fields: a function written for each dataclass.

It takes only what is right; for anything else it asks the careful reader of `codec`, which names what is
wrong. (The standard library makes the `__init__` of a dataclass in the same way.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Decode = Callable[[Any], Any]


class FieldForm(NamedTuple):
    """What a field's value has to be."""

    name: str
    default: Any
    """`required` of the call below when there is none."""
    plain: type | None
    """The one type that a value may have as it is."""
    words: frozenset[str] | None
    """The texts that a value may be."""
    decode: Decode
    """How to read any other value."""


def fast_decoder(make: type[Any], forms: Sequence[FieldForm], required: object, careful: Decode) -> Decode:
    """Write the reader of one dataclass; `careful` reads, or refuses, what is out of the ordinary."""
    names: dict[str, Any] = {"make": make, "careful": careful, "required": required}
    lines = ["def decode(payload):", " if type(payload) is not dict: return careful(payload)", " try:"]
    needed = [index for index, form in enumerate(forms) if form.default is required]
    lines += [f"  v{index} = payload[{forms[index].name!r}]" for index in needed]
    lines.append(f"  seen = {len(needed)}")
    for index, form in enumerate(forms):
        value = f"v{index}"
        names[f"d{index}"], names[f"r{index}"] = form.default, form.decode
        steps = _steps(index, form, names)
        if form.default is required:
            lines += [f"  {step}" for step in steps]
            continue
        lines.append(f"  {value} = payload.get({form.name!r}, required)")
        lines.append(f"  if {value} is required: {value} = d{index}")
        lines.append("  else:")
        lines += [f"   {step}" for step in ("seen += 1", *steps)]
        lines.append(f"   if {value} == d{index}: return careful(payload)")
    lines.append(" except (KeyError, ValueError): return careful(payload)")
    lines.append(" if seen != len(payload): return careful(payload)")
    lines.append(f" return make({', '.join(f'v{index}' for index in range(len(forms)))})")
    exec("\n".join(lines), names)  # noqa: S102 - made of the field names and numbers of our own classes
    decode: Decode = names["decode"]
    return decode


def _steps(index: int, form: FieldForm, names: dict[str, Any]) -> list[str]:
    value = f"v{index}"
    if form.words is not None:
        names[f"w{index}"] = form.words
        return [f"if type({value}) is not str or {value} not in w{index}: return careful(payload)"]
    if form.plain is None:
        return [f"{value} = r{index}({value})"]
    names[f"t{index}"] = form.plain
    return [f"if type({value}) is not t{index}: {value} = r{index}({value})"]
