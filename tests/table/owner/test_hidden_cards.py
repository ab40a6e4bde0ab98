"""A face-down card is nowhere before its reveal: not in the database, answers, exceptions or any repr."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest

from rules_core.cards import CARD_OF
from rules_core.round import commands as c
from rules_core.round import events as e
from tests.table.owner.world import SHOE, Owned
from upcard_table.app.calls import Done, RoundWork
from upcard_table.app.ports import StoredStream
from upcard_table.app.rounds.live import RoundUnreadable, load_round

SALT = "5a17" * 8
TABLES = """
SELECT format('%I.%I', schemaname, tablename) FROM pg_catalog.pg_tables
 WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
"""


@dataclass
class Session:
    """A connection that is closed at the end of a context."""

    connection: asyncpg.Connection[asyncpg.Record]

    async def aclose(self) -> None:
        """Close it."""
        await self.connection.close()


async def dump(database: str) -> bytes:
    """All rows of all tables, as text and as the bytes in it, as the database's owner sees them."""
    found = b""
    async with contextlib.aclosing(Session(await asyncpg.connect(database))) as session:
        connection = session.connection
        for (name,) in await connection.fetch(TABLES):
            for (row,) in await connection.fetch(f"SELECT t::text FROM {name} AS t"):  # noqa: S608 - a name of the catalogue
                found += row.encode()
                for part in row.split("\\x")[1:]:
                    digits = part.split('"')[0].split(",")[0].rstrip(')"')
                    found += bytes.fromhex(digits) if len(digits) % 2 == 0 else b""
    return found


@pytest.fixture
async def dealt(owned: Owned) -> tuple[Owned, list[Any]]:
    """A round with a face-down queen of spades in box 1, scanned by a call with a request id."""
    await owned.prepare()
    await owned.open_round()
    await owned.done(owned.bet("p1"))
    await owned.pass_window()
    work = RoundWork(c.ScanCard("s1", CARD_OF["Qs"], SALT), SHOE)
    answers = [await owned.ask(work, request_id="scan-1")]
    answers.append(await owned.ask(work, request_id="scan-1"))
    return owned, answers


async def test_the_database_holds_neither_card_nor_salt(
    dealt: tuple[Owned, list[Any]], database: str
) -> None:
    owned, answers = dealt
    assert (await owned.names())[-1] == "CardScanned"
    everything = await dump(database)
    assert b"CardScanned" in everything  # the search looks where it should
    for needle in (SALT.encode(), bytes.fromhex(SALT), b'"Qs"', b"'Qs'", b"Qs\x00"):
        assert needle not in everything
    assert SALT not in repr(answers)
    assert "Qs" not in repr(answers)


async def test_no_repr_of_what_the_owner_has_in_hand_shows_it(dealt: tuple[Owned, list[Any]]) -> None:
    owned, _ = dealt
    work = RoundWork(c.ScanCard("s9", CARD_OF["Qs"], SALT), SHOE)
    live = owned.live
    shown = repr([work, live, live.sealed, owned.owner._deciding.draft.batch()])
    stored = await owned.log.load("round-t1.1")
    assert stored.private
    shown += repr(stored)
    assert SALT not in shown
    assert "Qs" not in shown


async def test_a_duplicate_of_a_hidden_card_shows_everyone_a_scan_problem(
    dealt: tuple[Owned, list[Any]],
) -> None:
    owned, _ = dealt
    result: Any = await owned.one(RoundWork(c.ScanCard("s2", CARD_OF["Qs"], "1" * 32), SHOE))
    assert result.refusal.code == "scan_problem"
    assert "Qs" not in repr(result)


async def test_the_next_owner_opens_what_the_last_one_sealed(dealt: tuple[Owned, list[Any]]) -> None:
    owned, _ = dealt
    await owned.kill(owned.owner)
    await owned.begin(token=2)
    await owned.lay()
    cancelled = await owned.round(c.CancelRound("dealer_mistake", ""))
    (revealed, _) = cancelled.events
    assert isinstance(revealed.event, e.CardsRevealed)
    assert ("box.1.0", "Qs", SALT) in [
        (opening.place, opening.card, opening.salt) for opening in revealed.event.openings
    ]
    await owned.check_replay()


async def test_a_rescan_keeps_the_old_commitment_and_both_are_opened(owned: Owned) -> None:
    await owned.prepare()
    await owned.open_round()
    await owned.done(owned.bet("p1"))
    await owned.pass_window()
    await owned.round(c.ScanCard("s1", CARD_OF["Qs"], SALT), SHOE)
    rescan = c.RescanCard("s2", "box.1.0", CARD_OF["Qh"], "2" * 32)
    first = await owned.round(rescan, SHOE)
    assert await owned.round(rescan, SHOE) == first
    await owned.end()
    await owned.begin(token=2)
    result = await owned.round(c.CancelRound("dealer_mistake", ""))
    assert isinstance(result, Done)
    await owned.check_replay()


def test_a_private_part_that_cannot_be_read_says_nothing_of_itself() -> None:
    stored = StoredStream("round-t1.1", (b'{"card":"Qs"}',), {1: b'{"card":"Qs","salt":"00"}'})
    with pytest.raises(RoundUnreadable) as raised:
        load_round("t1", 1, stored)
    assert "Qs" not in repr(raised.value)
    assert raised.value.__cause__ is None
