"""The list of tables: about now while it runs, exact in the end, and the same when it is rebuilt."""

from __future__ import annotations

import asyncpg

from eventstore import Expect
from eventstore.postgres import PostgresEventStore, open_pool
from eventstore.projections import rebuild_projection
from tests.messaging.waiting import until
from tests.table.watching.conftest import Serve
from tests.table.watching.rounds import (
    TABLE,
    append,
    append_to_table,
    config,
    new_event,
    opening,
    played,
)
from tests.table.watching.watchers import DEADLINE_S
from upcard.table.v1 import watching_pb2 as pb
from upcard_table.app.watching.sources import KnownTable
from upcard_table.domain import events as t
from upcard_table.domain.words import table_stream
from upcard_table.projections.table_list import TABLE_LIST, PostgresTableIndex


async def test_the_list_follows_tables_and_their_rounds(
    store: PostgresEventStore, listed: PostgresTableIndex, database: str
) -> None:
    position = await append_to_table(store, *opening("classic@1"))
    for number in (1, 2):
        round_ = played("classic@1", number, number=number)
        for first in range(0, len(round_.events), 20):
            await append(store, round_.stream, round_.events[first : first + 20], after=first)
    await append_to_table(store, t.DealerSignedOut("d1"), t.TableClosed(2), after=position)

    async def done() -> bool:
        known = await listed.find(TABLE)
        return known.position == position + 2 and (known.last_round, known.step) == (2, "settled")

    await until(done, what="the list")
    known = await listed.find(TABLE)
    assert (known.state.open, known.state.dealer, known.state.config) == (False, None, config("classic@1"))
    assert await listed.find("t9") == KnownTable()

    async def rows() -> list[asyncpg.Record]:
        connection = await asyncpg.connect(database)
        try:
            return await connection.fetch("SELECT * FROM table_list.tables ORDER BY table_id")
        finally:
            await connection.close()

    live = await rows()
    async with await open_pool(database, application_name="rebuilding") as owners:
        await rebuild_projection(store, owners, TABLE_LIST)
    assert await rows() == live


async def test_tables_are_listed_in_pages(
    store: PostgresEventStore, listed: PostgresTableIndex, serve: Serve
) -> None:
    names = [f"t{number}" for number in range(10, 17)]
    for number, name in enumerate(names):
        events: list[t.TableEvent] = [t.TableOpened(name, config("four-box@1"), 1)]
        events += [t.TableClosed(0)] if number % 2 else []
        stream = table_stream(name)
        await store.append(stream, [new_event(stream, one) for one in events], expected=Expect.NONE)

    async def all_there() -> bool:
        return len(await listed.page(after="", limit=100, open_only=False)) == len(names)

    await until(all_there, what="the list")
    async with serve() as instance:
        got: list[str] = []
        while True:
            request = pb.ListTablesRequest(after=got[-1] if got else "", limit=3)
            page = await instance.stub.ListTables(request, timeout=DEADLINE_S)
            got += [one.table for one in page.tables]
            if not page.more:
                break
        assert got == names
        page = await instance.stub.ListTables(pb.ListTablesRequest(open_only=True), timeout=DEADLINE_S)
        assert [(one.table, list(one.currencies)) for one in page.tables] == [
            (name, ["EUR"]) for name in names[::2]
        ]
