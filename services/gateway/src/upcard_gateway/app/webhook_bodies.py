"""The bodies of webhooks: what is queued, with the operator's own ids of its players put in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from upcard_gateway.app.people import ASKED_MAX, People
from upcard_gateway.domain.webhooks import Told, WebhookType

__all__ = ["Message", "bodies"]


@dataclass(frozen=True, slots=True)
class Message:
    """A webhook as it is queued: all ids of players are Upcard's own."""

    webhook: str
    type: WebhookType
    operator: str
    told: Told
    data: Mapping[str, Any] = field(repr=False)

    def players(self) -> Iterator[str]:
        """The players it names, some perhaps more than once."""
        for one in self.data.get("players", ()):
            yield one["player"]


async def bodies(people: People, messages: Sequence[Message]) -> list[bytes]:
    """Each message's body. The same message has the same one, unless a player was erased since."""
    wanted: dict[str, dict[str, None]] = {}
    for message in messages:
        wanted.setdefault(message.operator, {}).update(dict.fromkeys(message.players()))
    known: dict[str, dict[str, str]] = {}
    for operator, players in wanted.items():
        asked = list(players)
        found = known.setdefault(operator, {})
        for at in range(0, len(asked), ASKED_MAX):
            found.update(await people.partner_ids(operator, asked[at : at + ASKED_MAX]))
    return [_body(message, known[message.operator]) for message in messages]


_WITHOUT_BLANKS: Final = (",", ":")


def _body(message: Message, partner_ids: Mapping[str, str]) -> bytes:
    data = dict(message.data)
    if "players" in data:
        data["players"] = [
            {**one, "player": partner_ids.get(one["player"])} for one in message.data["players"]
        ]
    whole = {
        "id": message.webhook,
        "type": message.type,
        "timestamp": message.told.happened_at,
        "operator": message.operator,
        "subject": message.told.subject,
        "position": message.told.position,
        "event_id": message.told.event_id,
        "data": data,
    }
    return json.dumps(whole, separators=_WITHOUT_BLANKS, ensure_ascii=False).encode()
