"""A program that appends and kills itself at a fault point: started by a test, never imported."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from uuid import UUID

import asyncpg

from eventstore import Expect, NewEvent
from eventstore.faults import arm
from eventstore.postgres import PostgresEventStore, open_pool

STREAMS = ("round-k.1", "round-k.2", "account-k")
EACH = 12


def event_of(stream: str, number: int) -> NewEvent:
    """The same event in each life: its id follows from what it is."""
    place = STREAMS.index(stream)
    return NewEvent(
        UUID(f"0197a0a0-7a00-7000-8000-{place:04}{number:08}"), "Opened", f'{{"n":{number}}}'.encode()
    )


async def cut_sessions(dsn: str) -> None:
    """Have the server end this program's other sessions, so that answers are lost."""
    connection = await asyncpg.connect(dsn)
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'doomed' AND datname = current_database()"
    )
    await connection.close()


async def main(dsn: str, die_at: str, after: int) -> None:
    """Append everything, an event an append, and say what was answered; die at the n-th such point."""
    reached = 0

    def die(point: str) -> None:
        nonlocal reached
        reached += point == die_at
        if reached == after:
            os.kill(os.getpid(), signal.SIGKILL)

    async def call(store: PostgresEventStore, stream: str) -> None:
        for number in range(1, EACH + 1):
            if die_at == "append.unknown":
                await cut_sessions(dsn)
            appended = await store.append(stream, [event_of(stream, number)], expected=Expect.ANY)
            print(stream, number, appended.first_position, flush=True)  # noqa: T201 - the test reads it

    async with await open_pool(dsn, application_name="doomed") as pool, PostgresEventStore(pool) as store:
        with arm(die):
            await asyncio.gather(*(call(store, stream) for stream in STREAMS))
            await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
