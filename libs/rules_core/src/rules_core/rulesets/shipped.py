"""The rulesets that come with the package, one data file each."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

from rules_core.canonical import parse_strict
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.parse import parse_ruleset

_ENDING: Final = ".json"


class UnknownRuleset(KeyError):
    """No ruleset of that id comes with the package."""


@cache
def shipped_ids() -> tuple[str, ...]:
    """The ids of all shipped rulesets, in alphabetical order."""
    names = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)))


def shipped(ruleset_id: str) -> Ruleset:
    """The shipped ruleset of that id; raises `UnknownRuleset`.

    The same object each time, so that rulesets can be compared by identity.
    """
    if ruleset_id not in shipped_ids():
        raise UnknownRuleset(ruleset_id)
    return _read(ruleset_id)


@cache
def _read(ruleset_id: str) -> Ruleset:
    match parse_ruleset(parse_strict(_folder().joinpath(ruleset_id + _ENDING).read_bytes())):
        case Ruleset(id=name) as ruleset if name == ruleset_id:
            return ruleset
        case wrong:
            raise RuntimeError(f"the package is damaged: its ruleset {ruleset_id} reads as {wrong}")


def _folder() -> resources.abc.Traversable:
    return resources.files("rules_core.rulesets") / "data"
