"""Webhooks of events: what is kept of rounds until they end, and who is told what in the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from eventstore import RecordedEvent, StreamAppend
from eventstore.following import Handler
from eventstore.postgres import Connection
from upcard_gateway.app.webhook_facts import Ended, Note, Settled, SharedOut, Staked, read
from upcard_gateway.domain.webhooks import Endpoint, Fact, NewDelivery, deliveries

__all__ = ["KeptResult", "Queue", "RoundBook", "webhook_handler"]


@dataclass(frozen=True, slots=True)
class KeptResult:
    """What is known of a player in a round that has just ended."""

    round: str
    player: str
    operator: str
    currency: str
    placed: int
    """Staked before the deal and not taken back, minor units."""
    revision: int
    """0: not settled."""
    staked: int | None
    returned: int | None
    net: int | None
    boxes: Sequence[Mapping[str, Any]]


class RoundBook(Protocol):
    """What is kept of rounds until they end: of operators' players alone. In the caller's transaction."""

    async def note(
        self, connection: Connection, staked: Sequence[Staked], settled: Sequence[Settled]
    ) -> None:
        """Keep changes of stakes, at most one a round and player, and then results, likewise."""
        ...

    async def take(self, connection: Connection, rounds: Sequence[str]) -> Sequence[KeptResult]:
        """What is kept of these rounds, in the order of players, which is forgotten with it."""
        ...

    async def operators_of(self, connection: Connection, players: Sequence[str]) -> Mapping[str, str]:
        """The operators of players; those that no operator sent are missing."""
        ...


class Queue(Protocol):
    """Where webhooks wait to be sent. In the caller's transaction."""

    async def endpoints(self, connection: Connection) -> Sequence[Endpoint]:
        """All endpoints that were not removed."""
        ...

    async def put(self, connection: Connection, new: Sequence[NewDelivery]) -> None:
        """Queue webhooks at the ends of their subjects; those that are known already are left as they are."""
        ...


def webhook_handler(book: RoundBook, queue: Queue, sandbox_tables: frozenset[str]) -> Handler:
    """A handler of `eventstore.following`: queues the webhooks of events, with the position that moves."""

    async def handle(connection: Connection, events: Sequence[RecordedEvent]) -> Sequence[StreamAppend]:
        found = [one for event in events if (one := read(event)) is not None]
        if found:
            facts = await _facts(book, connection, found)
            endpoints = await queue.endpoints(connection) if facts else ()
            await queue.put(connection, deliveries(facts, endpoints, sandbox_tables))
        return ()

    return handle


async def _facts(
    book: RoundBook, connection: Connection, found: Sequence[Note | Fact | SharedOut]
) -> list[Fact]:
    facts: list[Fact] = []
    shared = [one for one in found if isinstance(one, SharedOut)]
    players = sorted({player for one in shared for player in one.shares})
    operators = await book.operators_of(connection, players) if players else {}
    gathered = _Gathered()
    for one in found:
        if isinstance(one, Fact):
            facts.append(one)
        elif isinstance(one, SharedOut):
            facts.append(_by_operator(one, operators))
        elif not gathered.takes(one):
            facts.extend(await gathered.end(book, connection))
            gathered = _Gathered()
            gathered.takes(one)
    facts.extend(await gathered.end(book, connection))
    return facts


def _by_operator(shared: SharedOut, operators: Mapping[str, str]) -> Fact:
    players: dict[str, list[Mapping[str, Any]]] = {}
    for player, shares in shared.shares.items():
        if (operator := operators.get(player)) is not None:
            players.setdefault(operator, []).extend({"player": player, **share} for share in shares)
    return replace(shared.fact, players=players)


@dataclass(slots=True)
class _Gathered:
    """Notes of rounds that can be kept at once, and the ends that follow them."""

    staked: dict[tuple[str, str], Staked] = field(default_factory=dict)
    settled: dict[tuple[str, str], Settled] = field(default_factory=dict)
    ended: dict[str, Ended] = field(default_factory=dict)

    def takes(self, note: Note) -> bool:
        """Take a note, unless its round has ended among these: a correction is another turn."""
        if note.round in self.ended:
            return False
        match note:
            case Staked():
                key = (note.round, note.player)
                before = self.staked.get(key)
                if before is None:
                    self.staked[key] = note
                else:
                    currency = note.currency or before.currency
                    self.staked[key] = replace(note, change=before.change + note.change, currency=currency)
            case Settled():
                self.settled[note.round, note.player] = note
            case Ended():
                self.ended[note.round] = note
        return True

    async def end(self, book: RoundBook, connection: Connection) -> list[Fact]:
        """Keep what was noted, and tell of the rounds that ended."""
        if self.staked or self.settled:
            await book.note(connection, list(self.staked.values()), list(self.settled.values()))
        if not self.ended:
            return []
        kept: dict[str, list[KeptResult]] = {name: [] for name in self.ended}
        for one in await book.take(connection, list(self.ended)):
            kept[one.round].append(one)
        return [_round_fact(ended, kept[name]) for name, ended in self.ended.items()]


_NOTHING_SETTLED: Final[Mapping[str, object]] = {"staked": None, "returned": None, "net": None, "boxes": []}


def _round_fact(ended: Ended, kept: Sequence[KeptResult]) -> Fact:
    table, _, number = ended.round.rpartition(".")
    players: dict[str, list[Mapping[str, Any]]] = {}
    for one in kept:
        who = {"player": one.player, "currency": one.currency, "revision": one.revision}
        if ended.what == "cancelled":
            if one.placed > 0:
                players.setdefault(one.operator, []).append({**who, "revision": 0, **_NOTHING_SETTLED})
        elif one.revision > 0:
            result = {"staked": one.staked, "returned": one.returned, "net": one.net, "boxes": one.boxes}
            players.setdefault(one.operator, []).append({**who, **result})
    data = {
        "what": ended.what,
        "table": table,
        "round": ended.round,
        "number": int(number),
        "reason": ended.reason,
        "correction": ended.correction,
    }
    return Fact("round_ended", ended.told, data, players=players, table=table)
