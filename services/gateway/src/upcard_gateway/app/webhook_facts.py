"""What webhooks tell of, read from the table's and the bonus service's events.

What the gateway reads of the bonus service's and of a table's payloads is written here, and in
docs/webhooks.md; the services share no code, and a field that is not needed is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from eventstore import EventFilter, RecordedEvent
from eventstore.following import HandlerUnfit
from rules_core.log.content import Content, parse_content
from rules_core.round.codec import VERSIONS, PayloadError, event_of
from rules_core.round.events import (
    BetPlaced,
    BetWithdrawn,
    PlayerSettled,
    RoundCancelled,
    RoundResettled,
    RoundSettled,
)
from upcard_gateway.domain.webhooks import Fact, Told

_ROUND: Final = "round-"
_ROUND_TYPES: Final = frozenset(
    {"BetPlaced", "BetWithdrawn", "PlayerSettled", "RoundSettled", "RoundCancelled", "RoundResettled"}
)
_TABLE_TYPES: Final = frozenset({"TableOpened", "TableClosed", "LimitsChanged"})
_JACKPOT_TYPES: Final = frozenset({"JackpotHit", "JackpotSeeded", "JackpotCorrected"})

TABLE_WANTED: Final = EventFilter(categories=frozenset({"round", "table"}), types=_ROUND_TYPES | _TABLE_TYPES)
"""Which of the table's events webhooks tell of."""
BONUS_WANTED: Final = EventFilter(categories=frozenset({"jackpot"}), types=_JACKPOT_TYPES)
"""Which of the bonus service's."""

VERSION: Final = 1
"""The version of the payloads of tables and jackpots."""


class EventIsNewer(HandlerUnfit):
    """An event has a version that this program does not know: it must not be guessed, nor parked.

    The gateway is upgraded before the service that writes such events; until then it stands still and says
    so.
    """

    slug = "event_is_newer"


@dataclass(frozen=True, slots=True)
class Staked:
    """A player's stakes of a round changed before the deal."""

    round: str
    player: str
    currency: str | None
    """None: taken back, in the currency it was staked in."""
    change: int
    """Minor units, signed."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A player's result of a round, whole."""

    round: str
    player: str
    currency: str
    revision: int
    staked: int
    returned: int
    net: int
    boxes: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Ended:
    """A round is over, or was corrected: its players' results are known by now."""

    round: str
    what: Literal["settled", "cancelled", "corrected"]
    told: Told
    reason: str | None = None
    correction: int | None = None


Note = Staked | Settled | Ended
"""What is kept of a round until it ends."""


@dataclass(frozen=True, slots=True)
class SharedOut:
    """A fact about players of whichever operators: each operator is told of its own alone."""

    fact: Fact
    shares: Mapping[str, Sequence[Mapping[str, Any]]]
    """What concerns each player, in order."""


def read(event: RecordedEvent) -> Note | Fact | SharedOut | None:
    """What an event means to webhooks; None: nothing. Raises InvalidContent, PayloadError, EventIsNewer."""
    if event.type in _ROUND_TYPES:
        return _round_note(event) if event.stream.startswith(_ROUND) else None
    if event.type not in _TABLE_TYPES and event.type not in _JACKPOT_TYPES:
        return None
    content = _content_of(event, VERSION)
    told = Told(event.stream, event.stream_position, content.event_id, content.recorded_at)
    try:
        if event.type in _TABLE_TYPES:
            return _table_fact(content, told)
        return _jackpot_fact(content, told)
    except (KeyError, TypeError, ValueError) as error:
        raise PayloadError(content.type, f"it lacks what webhooks need: {type(error).__name__}") from error


def _content_of(event: RecordedEvent, version: int) -> Content:
    content = parse_content(event.content)
    if content.version > version:
        raise EventIsNewer(
            f"{content.type} has version {content.version}, and this gateway knows {version}: upgrade it"
        )
    return content


def _round_note(event: RecordedEvent) -> Note:
    content = _content_of(event, VERSIONS[event.type])
    name = event.stream.removeprefix(_ROUND)
    told = Told(event.stream, event.stream_position, content.event_id, content.recorded_at)
    match event_of(content.type, content.version, content.payload):
        case BetPlaced(player=player, currency=currency, stakes=stakes):
            return Staked(name, player, currency, sum(one.amount for one in stakes))
        case BetWithdrawn(player=player, stakes=withdrawn):
            return Staked(name, player, None, -sum(one.amount for one in withdrawn))
        case PlayerSettled() as result:
            return _settled(name, result)
        case RoundSettled():
            return Ended(name, "settled", told)
        case RoundCancelled(reason=reason):
            return Ended(name, "cancelled", told, reason=reason)
        case RoundResettled(number=number):
            return Ended(name, "corrected", told, correction=number)
        case other:
            raise ValueError(f"{type(other).__name__} means nothing to webhooks")


def _settled(name: str, result: PlayerSettled) -> Settled:
    boxes = [
        {
            "box": box.box,
            "outcome": box.outcome,
            "staked": box.staked,
            "returned": box.returned,
            "net": box.net,
        }
        for box in result.boxes
    ]
    return Settled(
        name,
        result.player,
        result.currency,
        result.revision,
        result.staked,
        result.returned,
        result.net,
        boxes,
    )


def _table_fact(content: Content, told: Told) -> Fact:
    payload: Mapping[str, Any] = content.payload
    table = content.stream.removeprefix("table-")
    data: dict[str, Any] = {"table": table}
    if content.type == "TableClosed":
        data |= {"what": "closed", "name": None, "ruleset": None, "limits": None, "from_round": None}
        data |= {"after_round": int(payload["after_round"])}
    else:
        config = payload["config"]
        data |= {"what": "opened" if content.type == "TableOpened" else "limits", "after_round": None}
        data |= {name: config[name] for name in ("name", "ruleset", "limits")}
        data |= {"from_round": int(payload["from_round"])}
    return Fact("table_state", told, data, table=table)


def _jackpot_fact(content: Content, told: Told) -> SharedOut:
    payload: Mapping[str, Any] = content.payload
    round_name = payload.get("round")
    first = payload.get("part", 1) == 1
    data: dict[str, Any] = {
        "what": {"JackpotHit": "hit", "JackpotSeeded": "seeded"}.get(content.type, "corrected"),
        "jackpot": payload["jackpot"],
        "currency": payload["currency"],
        "pool": int(payload["pool"]),
        "round": round_name,
        "hand": payload.get("hand"),
        "paid": None,
        "winners": None,
        "amount": None,
    }
    shares: dict[str, list[Mapping[str, Any]]] = {}
    if content.type == "JackpotHit":
        data |= {"paid": int(payload["paid"]), "winners": len(payload["shares"])}
        for one in payload["shares"]:
            share = {"box": one["box"], "stake": one["stake"], "amount": int(one["amount"])}
            shares.setdefault(one["player"], []).append(share)
    elif content.type == "JackpotSeeded":
        data |= {"amount": int(payload["amount"])}
    else:
        for one in payload.get("changes", []):
            change = {"box": None, "stake": None, "amount": int(one["amount"])}
            shares.setdefault(one["player"], []).append(change)
    table = None if round_name is None else str(round_name).rpartition(".")[0]
    # Further parts of one hit say nothing new but their shares.
    fact = Fact("jackpot", told, data, players={}, table=table, only_with_players=not first)
    return SharedOut(fact, shares)
