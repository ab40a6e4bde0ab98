"""Whatever is changed in the database is found, and where; and nothing is found where nothing was changed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from eventstore.streams import shard_of
from tests.transparency.world import ORIGIN, World
from transparency.auditing import lines, one_line
from transparency.checkpoints import Checkpoint
from transparency.notes import SignerKey
from transparency.signing import keep_outside, latest_note
from transparency.sinks import FileSink

STREAM = "round-t5.1"
SHARD = shard_of(STREAM)

UNLOCKED = """
BEGIN; ALTER TABLE eventstore.events DISABLE TRIGGER append_only;
{};
ALTER TABLE eventstore.events ENABLE ALWAYS TRIGGER append_only; COMMIT
"""

# The whole stream written anew, chained rightly, so that nothing in the log itself shows it.
REHASHED = """
DO $$
DECLARE before bytea; row record;
BEGIN
    FOR row IN SELECT * FROM eventstore.events WHERE stream = 'round-t5.1' ORDER BY stream_position LOOP
        before := coalesce(before, sha256(convert_to('round-t5.1', 'UTF8')));
        UPDATE eventstore.events SET prev_hash = before, content_hash = sha256(row.content),
               hash = sha256(before || int8send(row.stream_position) || sha256(row.content))
         WHERE stream = row.stream AND stream_position = row.stream_position
     RETURNING hash INTO before;
    END LOOP;
    UPDATE eventstore.stream_heads SET hash = before WHERE stream = 'round-t5.1';
END
$$
"""

CHANGES = tomllib.loads(Path(__file__).with_name("changes.toml").read_text())
assert len(CHANGES["events"]) + len(CHANGES["tree"]) >= 30


def sql_of(kind: str, change: str) -> str:
    """What makes a change."""
    sql: str = CHANGES[kind][change]["sql"]
    return sql.replace("{rehashed}", REHASHED)


async def filled(world: World) -> None:
    """A log of 300 events and more, of which the stream in question has seven."""
    await world.append("round-long.1", 240)
    await world.chain()
    await world.fill()


async def found_after(world: World, sql: str) -> str:
    """What the audit finds after a change, as it prints it."""
    await world.pool.execute(UNLOCKED.replace("{}", sql))
    findings = await world.audit()
    assert not findings.clean
    assert one_line(findings).startswith(f"{len(findings.found)} findings in ")
    return "\n".join(lines(findings))


async def test_nothing_is_found_where_nothing_was_changed(world: World, tmp_path: Path) -> None:
    sink = FileSink(tmp_path)
    assert (await world.audit()).clean
    await filled(world)
    async with world.pool.acquire() as connection:
        await keep_outside(connection, ORIGIN, sink)
    await world.append(STREAM, 2)
    findings = await world.audit(sink.kept(ORIGIN))
    assert findings.found == []
    assert (findings.events, findings.leaves, findings.checkpoints, findings.outside) == (326, 324, 6, 1)
    assert one_line(findings) == "Nothing was changed: 326 events, 324 leaves, 6 checkpoints, 1 outside."


@pytest.mark.parametrize("change", CHANGES["events"])
async def test_a_change_of_events_is_found(world: World, change: str) -> None:
    await filled(world)
    printed = await found_after(world, sql_of("events", change))
    assert re.search(CHANGES["events"][change]["found"], printed), printed


@pytest.mark.parametrize("change", CHANGES["tree"])
async def test_a_change_of_the_tree_is_found(world: World, change: str) -> None:
    await filled(world)
    printed = await found_after(world, sql_of("tree", change))
    assert re.search(CHANGES["tree"][change]["found"], printed), printed


async def forged(world: World, work: Callable[[], Awaitable[object]]) -> None:
    """Change events, then make the tree, its checkpoints, their signatures anew: the key was stolen, too."""
    await world.pool.execute(
        "TRUNCATE transparency.kept, transparency.signatures, transparency.checkpoints, transparency.tiles,"
        " transparency.runs; UPDATE transparency.tree SET size = 0, frontier = '';"
        " UPDATE transparency.shard_positions SET position = 0"
    )
    await work()
    while (await world.chain(most=100)).behind:
        pass


async def test_a_log_that_was_made_anew_is_found_by_what_lies_outside(world: World, tmp_path: Path) -> None:
    sink = FileSink(tmp_path)
    await filled(world)
    async with world.pool.acquire() as connection:
        await keep_outside(connection, ORIGIN, sink)
        before = await latest_note(connection, ORIGIN)
    sql = sql_of("events", "the whole stream, rightly chained")
    await forged(world, lambda: world.pool.execute(UNLOCKED.replace("{}", sql)))
    # In itself it is right: nobody who has this database alone can tell.
    assert (await world.audit()).found == []
    findings = await world.audit(sink.kept(ORIGIN))
    assert before is not None
    assert [(one.kind, one.where) for one in findings.found] == [
        ("outside_disagrees", f"checkpoint {before[0]}")
    ]
    assert re.search(r"leaves 0 to 323, which are shard \d+ \d+\.\.\d+", findings.found[0].text)


async def test_a_log_that_was_cut_off_is_found_by_what_lies_outside(world: World, tmp_path: Path) -> None:
    sink = FileSink(tmp_path)
    await filled(world)
    async with world.pool.acquire() as connection:
        await keep_outside(connection, ORIGIN, sink)
    sql = sql_of("events", "the end was cut off, heads and all")
    await forged(world, lambda: world.pool.execute(UNLOCKED.replace("{}", sql)))
    assert (await world.audit()).found == []
    (finding,) = (await world.audit(sink.kept(ORIGIN))).found
    assert finding.kind == "outside_disagrees"


async def test_a_checkpoint_outside_by_nobody_known_is_told(world: World) -> None:
    await filled(world)
    stranger = SignerKey(ORIGIN, Ed25519PrivateKey.generate())
    raw = bytes(Checkpoint(ORIGIN, 5, bytes(32)).signed(stranger))
    (finding,) = (await world.audit([raw])).found
    assert (finding.kind, finding.text) == ("signature_wrong", f"no key of {ORIGIN} signed this checkpoint")
    empty = bytes(Checkpoint(ORIGIN, 0, bytes(32)).signed(world.key))
    (finding,) = (await world.audit([empty])).found
    assert finding.kind == "outside_disagrees"


async def test_findings_are_bounded(world: World) -> None:
    await world.append("round-long.1", 1_200)
    await world.pool.execute(UNLOCKED.replace("{}", "UPDATE eventstore.events SET content = '[]'"))
    findings = await world.audit()
    assert len(findings.found) == 1_000
    assert lines(findings)[-1] == f"… and {findings.more} more"
    assert len(findings.found) + findings.more == 2_400, "bytes and columns of each"
