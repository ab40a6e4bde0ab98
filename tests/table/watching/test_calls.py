"""The calls of watchers, over gRPC and a real log."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from urllib.parse import urlsplit

import asyncpg
import grpc
import grpc.aio
import pytest

from eventstore.postgres import PostgresEventStore
from rules_core.round import events as e
from rules_core.views.table import table_view
from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer
from servicekit.grpc import Actor, ActorKind, acting_as, failure_of
from stack import Stack
from tests.messaging.waiting import until
from tests.rules_core.test_views_secrecy import leaks
from tests.table.watching.conftest import Instance, Serve
from tests.table.watching.rounds import TABLE, Played, append, append_to_table, config, opening, played
from tests.table.watching.watchers import DEADLINE_S, everything, said, shared
from upcard.table.v1 import watching_pb2 as pb
from upcard_table.app.watching.hubs import Watching
from upcard_table.domain import events as t

ACTORS: list[tuple[Actor | None, Viewer]] = [
    (Actor(ActorKind.PLAYER, "p1"), Player("p1")),
    (Actor(ActorKind.PLAYER, "p2"), Player("p2")),
    (Actor(ActorKind.PLAYER, "somebody"), Player("somebody")),
    (Actor(ActorKind.DEALER, "d1"), Dealer()),
    (Actor(ActorKind.STAFF, "s1", frozenset({"operations"})), Operations()),
    (Actor(ActorKind.PLATFORM), Public()),
    (None, Public()),
]


class Reader:
    """One who watches over gRPC."""

    def __init__(self, instance: Instance, actor: Actor | None, **asked: object) -> None:
        request = pb.WatchTableRequest(**{"table": TABLE, **asked})  # type: ignore[arg-type]  # its fields
        if actor is None:
            self.call = instance.stub.WatchTable(request, timeout=60)
        else:
            with acting_as(actor):
                self.call = instance.stub.WatchTable(request, timeout=60)
        self._messages: AsyncIterator[pb.WatchTableResponse] = self.call.__aiter__()
        self.messages: list[pb.WatchTableResponse] = []

    async def take(self) -> pb.WatchTableResponse:
        """The next message."""
        async with asyncio.timeout(DEADLINE_S):
            self.messages.append(await anext(self._messages))
        return self.messages[-1]

    async def until_shown(self, position: int) -> None:
        """Take messages until this event was shown to everybody."""
        while not any(one.position == position for got in self.messages for one in shared(got)):
            await self.take()


@pytest.mark.parametrize("ruleset", ["live-shared@1", "dark-boxes@1"])
async def test_everybody_is_told_what_they_may_see(
    ruleset: str, store: PostgresEventStore, serve: Serve
) -> None:
    """Event by event, so that whatever is sent belongs to what is hidden at that moment."""
    round_ = next(made for made in (played(ruleset, seed, 2) for seed in range(50)) if buys(made))
    await append_to_table(store, *opening(ruleset))
    shown_privately = 0
    async with serve(Watching(updates_per_s=500)) as instance:
        readers = [(viewer, Reader(instance, actor, with_view=True)) for actor, viewer in ACTORS]
        for _, reader in readers:
            assert (await reader.take()).snapshot.table.dealer == "d1"
        for index, (recorded, secrets) in enumerate(round_.secrets()):
            await append(store, round_.stream, [recorded], after=index)
            public = not hasattr(recorded.event, "player")
            for viewer, reader in readers:
                before = len(reader.messages)
                if public:
                    await reader.until_shown(index + 1)
                values = [value for message in reader.messages[before:] for value in said(message)]
                assert leaks(values, secrets.secret_from(viewer)) == []
        for viewer, reader in readers:
            _, own = everything(reader.messages)
            shown_privately += sum(
                len(event.cards) for message in reader.messages for event in message.own.events
            )
            assert bool(own) == (viewer in (Player("p1"), Player("p2")))
            view, position = await look(instance, viewer)
            assert position == len(round_.events)
            assert view == json.loads(
                json.dumps(table_view(viewer, round_.state, round_.sealed, currency="EUR"))
            )
    assert shown_privately > 0


def buys(round_: Played) -> bool:
    """Whether somebody buys cards and may see them early."""
    return any(isinstance(one.event, e.OptionChosen) and one.event.positions for one in round_.events)


async def look(instance: Instance, viewer: Viewer) -> tuple[object, int]:
    """What `GetRound` answers to such a viewer."""
    actor = next(actor for actor, its in ACTORS if its == viewer)
    request = pb.GetRoundRequest(table=TABLE, currency="EUR")
    if actor is None:
        answer = await instance.stub.GetRound(request, timeout=DEADLINE_S)
    else:
        with acting_as(actor):
            answer = await instance.stub.GetRound(request, timeout=DEADLINE_S)
    return json.loads(answer.view), answer.position


async def test_who_is_someone_may_look_as_nobody(store: PostgresEventStore, serve: Serve) -> None:
    round_ = played("dark-boxes@1", 2)
    await append_to_table(store, *opening("dark-boxes@1"))
    await append(store, round_.stream, round_.events)
    async with serve() as instance:
        for actor, _ in ACTORS:
            reader = Reader(instance, actor, viewer=pb.VIEWER_PUBLIC)
            assert json.loads((await reader.take()).snapshot.view)["viewer"] == "public"


async def test_a_session_goes_on_at_another_instance(store: PostgresEventStore, serve: Serve) -> None:
    round_ = played("dark-boxes@1", 2)
    await append_to_table(store, *opening("dark-boxes@1"))
    actor = ACTORS[0][0]
    async with serve() as one, serve() as other:
        whole = Reader(one, actor)
        await whole.take()
        first = Reader(one, actor)
        await first.take()
        await append(store, round_.stream, round_.events[:40])
        await first.until_shown(round_.last_public(40))
        first.call.cancel()
        token = first.messages[-1].resume_token
        await append(store, round_.stream, round_.events[40:], after=40)
        second = Reader(other, actor, resume_token=token)
        assert (await second.take()).seq == first.messages[-1].seq + 1
        for reader in (whole, second):
            await reader.until_shown(round_.last_public())
        got = everything(first.messages + second.messages)
        while everything(whole.messages) != got:
            await asyncio.wait({asyncio.create_task(whole.take())}, timeout=1)
            await asyncio.wait({asyncio.create_task(second.take())}, timeout=1)
            got = everything(first.messages + second.messages)


async def test_a_reader_who_takes_nothing_is_dropped(store: PostgresEventStore, serve: Serve) -> None:
    """Whatever gRPC has room for on the way fills up first."""
    position = await append_to_table(store, *opening("live-shared@1"))
    (limits,) = config("live-shared@1").limits
    (chips,) = config("live-shared@1").chips
    currencies = [f"A{first}{second}" for first in "BCDE" for second in "ABCDEFGH"]
    large = replace(
        config("live-shared@1"),
        limits=tuple(replace(limits, currency=currency) for currency in currencies),
        chips=tuple(replace(chips, currency=currency) for currency in currencies),
    )
    async with serve(write_within_s=0.2) as instance:
        reader = Reader(instance, None)
        await reader.take()
        deadline = asyncio.get_running_loop().time() + 60
        while instance.hubs.sessions and asyncio.get_running_loop().time() < deadline:
            changes = [t.LimitsChanged(large, 1)] * 100
            position = await append_to_table(store, *changes, after=position)
            await asyncio.sleep(0.05)
        assert instance.hubs.sessions == 0
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await reader.until_shown(-1)
        failure = failure_of(caught.value)
        assert (failure.code, failure.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "too_slow")


async def test_a_reader_who_goes_is_forgotten(store: PostgresEventStore, serve: Serve) -> None:
    await append_to_table(store, *opening("live-shared@1"))
    async with serve() as instance:
        reader = Reader(instance, None)
        await reader.take()
        assert instance.hubs.sessions == 1
        reader.call.cancel()
        await until(lambda: not instance.hubs.sessions, what="the session's end")
        assert instance.hubs.sessions == 0


@pytest.mark.parametrize(
    ("asked", "actor", "code", "reason"),
    [
        ({"table": "t9"}, None, grpc.StatusCode.NOT_FOUND, "table_unknown"),
        ({"table": "no id"}, None, grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument"),
        ({"own_only": True}, None, grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument"),
        ({"viewer": 9}, ACTORS[0][0], grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument"),
    ],
)
async def test_what_cannot_be_watched_is_refused(
    store: PostgresEventStore,
    serve: Serve,
    asked: dict[str, object],
    actor: Actor | None,
    code: grpc.StatusCode,
    reason: str,
) -> None:
    await append_to_table(store, *opening("live-shared@1"))
    async with serve() as instance:
        reader = Reader(instance, actor, **asked)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await reader.take()
        failure = failure_of(caught.value)
        assert (failure.code, failure.reason) == (code, reason)


async def test_a_table_and_its_rounds_can_be_looked_at(
    store: PostgresEventStore, serve: Serve, listed: object
) -> None:
    assert listed is not None
    async with serve() as instance:
        stub = instance.stub
        for call in (
            stub.GetTable(pb.GetTableRequest(table=TABLE), timeout=DEADLINE_S),
            stub.GetRound(pb.GetRoundRequest(table=TABLE), timeout=DEADLINE_S),
        ):
            assert (await call).refusal.reason == "table_unknown"
        await append_to_table(store, *opening("classic@1"))
        found = (await stub.GetTable(pb.GetTableRequest(table=TABLE), timeout=DEADLINE_S)).table
        assert (found.name, found.ruleset, found.open, found.round, found.step) == (
            "One",
            "classic@1",
            True,
            0,
            "",
        )
        assert json.loads(found.details)["config"]["confirm_cards_ms"] == 1_000
        answer = await stub.GetRound(pb.GetRoundRequest(table=TABLE), timeout=DEADLINE_S)
        assert answer.refusal.reason == "round_unknown"
        for number in range(1, 6):
            round_ = played("classic@1", number, number=number)
            await append(store, round_.stream, round_.events)
        found = (await stub.GetTable(pb.GetTableRequest(table=TABLE), timeout=DEADLINE_S)).table
        assert (found.round, found.step, found.dealer) == (5, "settled", "d1")
        for number in range(1, 6):
            answer = await stub.GetRound(pb.GetRoundRequest(table=TABLE, round=number), timeout=DEADLINE_S)
            assert json.loads(answer.view)["round"] == number
        answer = await stub.GetRound(pb.GetRoundRequest(table=TABLE, round=6), timeout=DEADLINE_S)
        assert answer.refusal.reason == "round_unknown"


async def test_watchers_outlive_a_database_that_goes_away(
    stack: Stack, store: PostgresEventStore, serve: Serve, database: str
) -> None:
    """All connections of the service are cut in the middle of a round; its watchers are told the rest."""
    round_ = played("dark-boxes@1", 2)
    await append_to_table(store, *opening("dark-boxes@1"))
    async with serve() as instance:
        reader = Reader(instance, ACTORS[0][0])
        await reader.take()
        await append(store, round_.stream, round_.events[:30])
        await reader.until_shown(round_.last_public(30))
        connection = await asyncpg.connect(stack.databases.admin_dsn)
        try:
            cut = await connection.fetch(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name LIKE 'watching%' AND datname = $1",
                urlsplit(database).path.lstrip("/"),
            )
            assert cut
        finally:
            await connection.close()
        await append(store, round_.stream, round_.events[30:], after=30)
        await reader.until_shown(round_.last_public())
        assert [message.seq for message in reader.messages] == list(range(1, len(reader.messages) + 1))
        positions = [position for _, position, _, _ in everything(reader.messages)[0]]
        assert len(positions) == len(set(positions))
