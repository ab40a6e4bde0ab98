"""Whether the words of a command are words at all: times, ids, who acts (CONTRACTS.md section 2)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args

from rules_core.round.commands import Command
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.state import RoundState
from rules_core.round.times import is_timestamp

_is_id = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch
_is_command_id = re.compile(r"[A-Za-z0-9_.:-]{1,64}").fullmatch
_is_actor = re.compile(r"(?:dealer|staff):[A-Za-z0-9_-]{1,64}|system").fullmatch
is_staff = re.compile(r"staff:[A-Za-z0-9_-]{1,64}").fullmatch
"""Whether a text is the actor `staff:<id>`."""
is_slug = re.compile(r"[a-z][a-z0-9_]{0,63}").fullmatch
"""Whether a text is a slug, as reasons are."""
_is_currency = re.compile(r"[A-Z]{3}").fullmatch
_COMMAND_ID = "an id of a bet or scan is 1 to 64 letters, digits and _ . : -"
_ID = "an id is 1 to 64 letters, digits, hyphens and underscores"

_WORDS: dict[str, tuple[Callable[[str], object], str]] = {
    "player": (_is_id, _ID),
    "bet_id": (_is_command_id, _COMMAND_ID),
    "table": (_is_id, _ID),
    "deck": (_is_id, _ID),
    "scan_id": (_is_command_id, _COMMAND_ID),
    "by": (_is_actor, "who acts is dealer:<id>, staff:<id> or system"),
    "currency": (_is_currency, "a currency is three capital letters"),
}
_CHECKED: dict[type[Any], tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind) if field.name in _WORDS) for kind in get_args(Command)
}
_TIMES: dict[type[Any], str | None] = {
    kind: next((field.name for field in fields(kind) if field.name in {"at", "arrived_at"}), None)
    for kind in get_args(Command)
}


def check_wording(command: Command, state: RoundState) -> Refusal | None:
    """The first word of a command that is none, or a time that cannot be; None where all is well."""
    kind = type(command)
    for name in _CHECKED[kind]:
        value = getattr(command, name)
        if value is not None and not _WORDS[name][0](value):
            return refuse("word_invalid", f"{name}: {_WORDS[name][1]}", key=name)
    name_of_time = _TIMES[kind]
    return None if name_of_time is None else _check_time(name_of_time, getattr(command, name_of_time), state)


def _check_time(name: str, instant: str, state: RoundState) -> Refusal | None:
    if not is_timestamp(instant):
        return refuse("time_invalid", "times are YYYY-MM-DDThh:mm:ss.ffffffZ")
    if name == "at":
        if instant < state.last_at:
            text = f"the round is at {state.last_at} already; its time never goes back"
            return refuse("time_reversed", text, last_at=state.last_at)
    elif state.opened is not None and instant < state.opened.opened_at:
        return refuse("arrived_too_early", "this command says that it came before the round was opened")
    return None


def is_free_bet_id(text: str | None) -> bool:
    """Whether a funding is cash (None) or an id."""
    return text is None or _is_id(text) is not None
