"""Significant events, read from the table's, the wallet's and the gateway's own log.

What is read of payloads is written here and in docs/floor.md; a field that is not needed is not looked at. An
event of a newer version than is known is taken by what it has in common with the known one where the table
says so by itself; of a round it stops the follower, as it does for webhooks.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol
from uuid import UUID

from eventstore import EventFilter, RecordedEvent, StreamAppend
from eventstore.following import Handler, HandlerUnfit
from eventstore.postgres import Connection
from rules_core.log.content import Content, parse_content
from rules_core.round.codec import VERSIONS, PayloadError
from upcard_gateway.domain.significant import Kind, Significant, Thresholds

__all__ = [
    "ACTION_KINDS",
    "OWN_WANTED",
    "TABLE_TYPES",
    "WALLET_WANTED",
    "Book",
    "FloorNote",
    "NewerEvent",
    "significant_handler",
]

_ROUND_TYPES: Final = frozenset({"PlayerSettled", "RoundCancelled", "CorrectionDecided", "WindowExtended"})
_TABLE_KINDS: Final[Mapping[str, Kind]] = {
    "TableOpened": "table_opened",
    "TableClosed": "table_closed",
    "LimitsChanged": "limits_changed",
    "ManualModeEntered": "manual_mode_on",
    "ManualModeLeft": "manual_mode_off",
    "DeckRetired": "deck_retired",
}
_FLOOR_TYPES: Final = frozenset({"ShiftStarted", "ShiftEnded", "DealerSignedIn", "DealerSignedOut"})
_WALLET_KINDS: Final[Mapping[str, Kind]] = {
    "Adjusted": "adjustment",
    "DebtRecorded": "debt_recorded",
    "BonusCredited": "jackpot_won",
}
_STAFF_KINDS: Final[Mapping[str, Kind]] = {
    "StaffSignInFailed": "sign_in_failed",
    "StaffAdded": "staff_changed",
    "StaffRolesChanged": "staff_changed",
    "StaffDisabled": "staff_changed",
    "StaffEnabled": "staff_changed",
    "StaffReset": "staff_changed",
    "StaffErased": "staff_changed",
    "StaffActionAsked": "floor_action",
}

TABLE_TYPES: Final = _ROUND_TYPES | _FLOOR_TYPES | _TABLE_KINDS.keys()
"""Which of the table's events are looked at."""
WALLET_WANTED: Final = EventFilter(categories=frozenset({"account"}), types=frozenset(_WALLET_KINDS))
"""Which of the wallet's."""
OWN_WANTED: Final = EventFilter(categories=frozenset({"staff"}), types=frozenset(_STAFF_KINDS))
"""Which of the gateway's own."""

ACTION_KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(
        (
            "table.start_shift",
            "table.end_shift",
            "table.retire_deck",
            "table.enter_manual_mode",
            "table.leave_manual_mode",
            "table.cancel_round",
        ),
        "floor_action",
    ),
    **dict.fromkeys(
        (
            "remove_chat_line",
            "mute_player",
            "unmute_player",
            "revoke_chat",
            "restore_chat",
            "block_chat_word",
            "unblock_chat_word",
        ),
        "chat_action",
    ),
}
"""Actions of staff by their whole names: the dealer's that a manager has to know of, and the chat's."""
_ACTION_PREFIXES: Final[Mapping[str, Kind]] = {
    "floor.": "floor_action",
    "parked_": "operations_action",
    "follower_": "operations_action",
}
"""And by how they begin: everything that the floor does, and that operations do with events and calls."""
_OF_PLAYERS: Final = frozenset({"mute_player", "unmute_player", "revoke_chat", "restore_chat"})
"""Actions whose subject is a player."""

_KNOWN_VERSION: Final = 1
is_table_name: Final = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch
is_round_name: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\.[1-9][0-9]{0,15}").fullmatch
_SHOWN: Final = 2_000
"""Longest text of a payload that is kept beside an entry."""


class NewerEvent(HandlerUnfit):
    """An event has a version that this program does not know: it must not be guessed, nor parked."""

    slug = "event_is_newer"


@dataclass(frozen=True, slots=True)
class FloorNote:
    """What the floor is shown of a table beside the table's own state: who deals since when, the shift."""

    table: str
    position: int
    """In the table's stream."""
    at: dt.datetime
    type: str
    dealer: str | None = None
    shift: str | None = None
    reason: str | None = None


class Book(Protocol):
    """Where entries are kept. In the caller's transaction."""

    async def put(self, connection: Connection, found: Sequence[Significant]) -> None:
        """Keep these; those that are there already are left as they are."""
        ...

    async def note(self, connection: Connection, notes: Sequence[FloorNote]) -> None:
        """Keep what tables are by these, in their order."""
        ...


def significant_handler(book: Book, source: str, thresholds: Thresholds) -> Handler:
    """A handler of `eventstore.following`: keeps what is significant, with the position that moves."""

    async def handle(connection: Connection, events: Sequence[RecordedEvent]) -> Sequence[StreamAppend]:
        found: list[Significant] = []
        notes: list[FloorNote] = []
        for event in events:
            match read(event, source, thresholds):
                case Significant() as one:
                    found.append(one)
                case None:
                    pass
            noted = read_note(event) if source == "table" else None
            if noted is not None:
                notes.append(noted)
        if found:
            await book.put(connection, found)
        if notes:
            await book.note(connection, notes)
        return ()

    return handle


def read(event: RecordedEvent, source: str, thresholds: Thresholds) -> Significant | None:
    """What an event means to the log; None: nothing. Raises InvalidContent, PayloadError, NewerEvent."""
    kind = event.type
    if source == "table":
        if kind in _ROUND_TYPES and event.stream.startswith("round-"):
            return _shaped(event, source, lambda one: _of_round(one, thresholds))
        if kind in _TABLE_KINDS and event.stream.startswith("table-"):
            return _shaped(event, source, _of_table)
    elif source == "wallet" and kind in _WALLET_KINDS and event.stream.startswith("account-"):
        return _shaped(event, source, lambda one: _of_account(one, thresholds))
    elif source == "gateway" and kind in _STAFF_KINDS and event.stream.startswith("staff-"):
        return _shaped(event, source, _of_staff)
    return None


def read_note(event: RecordedEvent) -> FloorNote | None:
    """What an event of a table says of its dealer and shift; None: nothing. Raises as `read`."""
    if not event.stream.startswith("table-"):
        return None
    if event.type not in _FLOOR_TYPES and event.type not in {
        "TableClosed",
        "ManualModeEntered",
        "ManualModeLeft",
    }:
        return None
    content = _content(event, _KNOWN_VERSION)
    payload = content.payload
    return FloorNote(
        content.stream.removeprefix("table-"),
        event.stream_position,
        _moment(content.recorded_at),
        content.type,
        dealer=_text(payload.get("dealer")),
        shift=_text(payload.get("shift")),
        reason=_text(payload.get("reason")),
    )


_Read = tuple[Kind, Mapping[str, Any]]


def _shaped(event: RecordedEvent, source: str, reading: Any) -> Significant | None:  # noqa: ANN401 - a reader
    content = _content(event, VERSIONS.get(event.type, _KNOWN_VERSION))
    try:
        found: _Read | None = reading(content)
    except (KeyError, TypeError, ValueError) as error:
        raise PayloadError(content.type, f"it lacks what the log needs: {type(error).__name__}") from error
    if found is None:
        return None
    kind, fields = found
    return Significant(
        UUID(content.event_id),
        _moment(content.recorded_at),
        kind,
        source,
        content.stream,
        event.stream_position,
        content.actor,
        **fields,
    )


def _of_round(content: Content, thresholds: Thresholds) -> _Read | None:
    payload: Mapping[str, Any] = content.payload
    name = content.stream.removeprefix("round-")
    where = {"table": name.rpartition(".")[0], "round": name}
    if content.type == "PlayerSettled":
        currency, net = str(payload["currency"]), int(payload["net"])
        if not thresholds.large(currency, net):
            return None
        more = {name: payload[name] for name in ("staked", "returned", "revision")}
        who = {"player": str(payload["player"]), "currency": currency, "amount": net}
        return "large_win", {**where, **who, "data": more}
    if content.type == "RoundCancelled":
        return "round_cancelled", {**where, "reason": str(payload["reason"])}
    if content.type == "WindowExtended":
        return "window_extended", {**where, "data": _small(payload)}
    more = {name: payload[name] for name in ("number", "proposer", "approver", "refund")}
    more |= {"cards": len(payload.get("cards", ())), "choices": len(payload.get("choices", ()))}
    return "round_corrected", {**where, "reason": str(payload["reason"]), "data": more}


def _of_table(content: Content) -> _Read:
    payload: Mapping[str, Any] = content.payload
    where = {"table": content.stream.removeprefix("table-")}
    data: dict[str, Any] = {
        name: payload[name] for name in ("from_round", "after_round", "deck") if name in payload
    }
    config = payload.get("config")
    if config is not None:
        data |= {"name": config["name"], "ruleset": config["ruleset"]}
    return _TABLE_KINDS[content.type], {**where, "reason": _text(payload.get("reason")), "data": data}


def _of_account(content: Content, thresholds: Thresholds) -> _Read | None:
    payload: Mapping[str, Any] = content.payload
    name = _text(payload.get("round"))
    fields: dict[str, Any] = {
        "account": content.stream.removeprefix("account-"),
        "round": name,
        "table": name.rpartition(".")[0] if name else None,
        "amount": int(payload["amount"]),
        "reason": _text(payload.get("reason")),
    }
    if content.type == "BonusCredited":
        if payload["kind"] != "jackpot" or int(payload["amount"]) < thresholds.else_:
            return None
        return "jackpot_won", {**fields, "data": {"jackpot": _text(payload.get("source"))}}
    more = {name: payload[name] for name in ("book", "against", "proposer", "approver") if name in payload}
    return _WALLET_KINDS[content.type], {**fields, "data": {**more, "transaction": payload["transaction"]}}


def _of_staff(content: Content) -> _Read | None:
    payload: Mapping[str, Any] = content.payload
    if content.type == "StaffActionAsked":
        return _of_action(content)
    fields = {"staff": content.stream.removeprefix("staff-"), "reason": _text(payload.get("reason"))}
    return _STAFF_KINDS[content.type], {**fields, "data": {"what": content.type, **_small(payload)}}


def _of_action(content: Content) -> _Read | None:
    """What somebody asked for: the services' own events do not have the reason in words."""
    payload: Mapping[str, Any] = content.payload
    action, subject = str(payload["action"]), str(payload["subject"])
    kind = ACTION_KINDS.get(action)
    if kind is None:
        kind = next((one for start, one in _ACTION_PREFIXES.items() if action.startswith(start)), None)
    if kind is None:
        return None
    if kind != "floor_action":
        return kind, {
            "staff": content.stream.removeprefix("staff-"),
            "player": subject if action in _OF_PLAYERS else None,
            "reason": _text(payload.get("reason")),
            "data": {"action": action, "subject": subject},
        }
    is_round = is_round_name(subject) is not None
    table = subject.rpartition(".")[0] if is_round else subject
    return "floor_action", {
        "staff": content.stream.removeprefix("staff-"),
        "table": table if is_table_name(table) else None,
        "round": subject if is_round else None,
        "reason": _text(payload.get("reason")),
        "data": {"action": action, "subject": subject},
    }


def _small(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The plain members of a payload, none of them long."""
    return {
        name: value
        for name, value in payload.items()
        if isinstance(value, (int, bool)) or (isinstance(value, str) and len(value) <= _SHOWN)
    }


def _content(event: RecordedEvent, version: int) -> Content:
    content = parse_content(event.content)
    if content.version > version:
        raise NewerEvent(
            f"{content.type} has version {content.version}, and this gateway knows {version}: upgrade it"
        )
    return content


def _moment(text: str) -> dt.datetime:
    return dt.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=dt.UTC)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
