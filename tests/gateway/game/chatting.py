"""People who talk at tables, for the tests of chats."""

from __future__ import annotations

import datetime as dt

from tests.gateway.world import World
from upcard_gateway.adapters.postgres.chat import PostgresChat
from upcard_gateway.adapters.postgres.people import PeopleTables
from upcard_gateway.adapters.postgres.session_checks import PostgresChecks
from upcard_gateway.app.chat import Said, Saying
from upcard_gateway.app.people import Person
from upcard_gateway.domain.chat import NotSaid
from upcard_gateway.entrypoints.play.commands_chat import TableChat


async def person(world: World, player: str, *, operator: str = "op1") -> str:
    """Make somebody known, under a nickname of their own."""
    told = Person(operator, f"{player}-there", f"Nick {player}", "MT", "en")
    async with world.pool.acquire() as connection, connection.transaction():
        return await PeopleTables.link(connection, player, told)


def table_chat(world: World, *, every_s: float = 0.05) -> TableChat:
    """The chats of one gateway on this world's database."""
    return TableChat(
        PostgresChat(world.pool),
        PostgresChecks(world.pool),
        world.clock,
        every_s=every_s,
        kept=dt.timedelta(days=1),
    )


async def say(chat: TableChat, player: str, text: str, *, message: str, table: str = "t1") -> Said | NotSaid:
    """Have somebody say something."""
    return await chat.say(Saying(table, player, message, f"Nick {player}", text))
