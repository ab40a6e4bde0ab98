"""The chainer: every event is one leaf, whoever chains and however often it dies; proofs hold."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rules_core.merkle import (
    Frontier,
    check_consistency,
    check_inclusion,
    check_multiproof,
    leaf_hash,
)
from tests.transparency.world import ORIGIN, World
from transparency.chaining import LogDamaged, take_in
from transparency.checkpoints import opened
from transparency.notes import Note, SignerKey
from transparency.proving import NotInTree, growth, inclusion, indices_of, prove
from transparency.signing import keep_outside, latest_note, notes_of, sign_committed
from transparency.sinks import FileSink, SinkDisagrees
from transparency.tiles import TreeDamaged


async def leaves_of(world: World) -> list[tuple[int, int, bytes]]:
    """Every leaf in the tree's order, by shard, position and the event's hash."""
    return [
        (row["shard"], row["shard_position"], row["hash"])
        for row in await world.pool.fetch(
            "SELECT e.shard, e.shard_position, e.hash FROM transparency.runs AS r JOIN eventstore.events AS e"
            " ON e.shard = r.shard AND e.shard_position >= r.first_position"
            " AND e.shard_position < r.first_position + r.events"
            " ORDER BY r.first_index + (e.shard_position - r.first_position)"
        )
    ]


async def test_every_event_is_one_leaf_and_the_tree_is_theirs(world: World) -> None:
    await world.fill()
    leaves = await leaves_of(world)
    total = await world.pool.fetchval("SELECT count(*) FROM eventstore.events")
    assert len(leaves) == len(set(leaves)) == total == 84
    size, note = await latest_of(world)
    tree, _ = Frontier().grown(leaf_hash(value) for _, _, value in leaves)
    found, _ = opened(bytes(note), ORIGIN, (world.key.verifier,))
    assert (found.size, found.root) == (size, tree.root) == (total, found.root)
    step = await world.chain()
    assert (step.events, step.size, step.behind) == (0, total, 0)


async def latest_of(world: World) -> tuple[int, Note]:
    async with world.pool.acquire() as connection:
        found = await latest_note(connection, ORIGIN)
    assert found is not None
    return found


async def test_steps_are_bounded_and_shards_take_turns(world: World) -> None:
    await world.append("round-big.1", 500)
    for number in range(20):
        await world.append(f"round-t{number}.1")
    step = await world.chain(most=100)
    assert (step.events, step.behind) == (100, 420)
    shards = {shard for shard, _, _ in await leaves_of(world)}
    assert len(shards) > 10, "the long backlog of one shard kept the others waiting"
    while step.behind:
        step = await world.chain(most=100)
    assert step.size == 520
    assert (await world.audit()).found == []


async def test_a_large_tree_fills_tiles_of_two_levels(world: World) -> None:
    for _ in range(3):
        await world.append("round-t1.1", 250)
        await world.chain()
    await world.append("round-t1.1", 5)
    await world.chain()
    rows = await world.pool.fetch(
        "SELECT level, index, octet_length(hashes) / 32 AS hashes FROM transparency.tiles ORDER BY 1, 2"
    )
    assert [tuple(row) for row in rows] == [(0, 0, 256), (0, 1, 256), (0, 2, 243), (1, 0, 2)]
    leaves = [leaf_hash(value) for _, _, value in await leaves_of(world)]
    async with world.pool.acquire() as connection:
        for index, size in ((0, 755), (600, 755), (754, 755), (100, 500), (0, 250)):
            proof = await inclusion(connection, index, size)
            tree, _ = Frontier().grown(leaves[:size])
            assert check_inclusion(leaves[index], index, size, proof, tree.root)
        first, _ = Frontier().grown(leaves[:250])
        second, _ = Frontier().grown(leaves)
        assert check_consistency(await growth(connection, 250, 755), first.root, second.root)
    assert (await world.audit()).found == []


async def test_events_are_proved_by_where_they_are(world: World) -> None:
    await world.fill()
    appended = await world.append("round-new.1", 3)
    asked = [
        (row["shard"], row["shard_position"], row["hash"])
        for row in await world.pool.fetch(
            "SELECT shard, shard_position, hash FROM eventstore.events WHERE stream = $1"
            " ORDER BY stream_position",
            "round-new.1",
        )
    ]
    assert len(asked) == 3
    places = [(shard, position) for shard, position, _ in asked]
    async with world.pool.acquire() as connection:
        with pytest.raises(NotInTree, match=f"no event {places[0][1]} of shard"):
            await prove(connection, ORIGIN, places)
        await take_in(connection)
        with pytest.raises(NotInTree, match="signed"):
            await prove(connection, ORIGIN, places)
        await sign_committed(connection, ORIGIN, [world.key])
        proved = await prove(connection, ORIGIN, places)
        assert await indices_of(connection, places) == list(proved.indices)
        with pytest.raises(ValueError, match="1 to"):
            await prove(connection, ORIGIN, [])
    checkpoint, _ = opened(proved.checkpoint, ORIGIN, (world.key.verifier,))
    leaves = {index: leaf_hash(value) for index, (_, _, value) in zip(proved.indices, asked, strict=True)}
    assert check_multiproof(leaves, proved.size, proved.hashes, checkpoint.root)
    assert appended.first_position == 1


async def test_chainers_at_once_never_fork(world: World) -> None:
    """Several chainers and signers and writers at once: one tree, and one root a size."""

    async def write(number: int) -> None:
        for _ in range(10):
            await world.append(f"round-t{number}.1", 3)

    async def chain() -> None:
        async with world.pool.acquire() as connection:
            for _ in range(15):
                await take_in(connection, most=17)
                await sign_committed(connection, ORIGIN, [world.key])

    async with asyncio.timeout(60):
        await asyncio.gather(*(write(number) for number in range(4)), *(chain() for _ in range(4)))
        while (await world.chain()).behind:
            pass
    leaves = await leaves_of(world)
    assert len(leaves) == len(set(leaves)) == 120
    assert (await world.audit()).found == []


async def test_a_chainer_that_dies_in_the_middle_has_done_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.fill(3, 2)
    before = await latest_of(world)
    await world.append("round-t1.1", 4)

    class Died(BaseException):
        pass

    def dies(*_: object) -> dict[object, bytes]:
        raise Died

    with monkeypatch.context() as patched:
        patched.setattr("transparency.chaining.additions", dies)
        with pytest.raises(Died):
            await world.chain()
    assert await latest_of(world) == before
    assert (await world.chain()).events == 4
    assert (await world.audit()).found == []


async def test_an_unsigned_checkpoint_is_signed_later_and_a_new_key_signs_from_then_on(world: World) -> None:
    await world.append("round-t1.1")
    async with world.pool.acquire() as connection:
        await take_in(connection)
        assert await latest_note(connection, ORIGIN) is None
        assert (await world.audit()).found == []
        assert await sign_committed(connection, ORIGIN, [world.key]) == 1
        assert await sign_committed(connection, ORIGIN, [world.key]) == 0
        old, new = world.key, SignerKey(ORIGIN, Ed25519PrivateKey.generate())
        await world.append("round-t1.1")
        await take_in(connection)
        # While keys change both sign.
        assert await sign_committed(connection, ORIGIN, [old, new]) == 1
        notes = await notes_of(connection, ORIGIN, [1, 2])
    assert [len(notes[size].signatures) for size in (1, 2)] == [1, 2]
    for one in (old, new):
        assert opened(bytes(notes[2]), ORIGIN, (one.verifier,))[0].size == 2


async def test_checkpoints_lie_outside_and_never_in_anothers_place(world: World, tmp_path: Path) -> None:
    sink = FileSink(tmp_path)
    await world.fill(3, 3)
    async with world.pool.acquire() as connection:
        size = await keep_outside(connection, ORIGIN, sink)
        assert size == await connection.fetchval("SELECT max(size) FROM transparency.checkpoints")
        assert await keep_outside(connection, ORIGIN, sink) is None
        # Dying before it is noted that it lies there repeats it.
        await connection.execute("DELETE FROM transparency.kept")
        assert await keep_outside(connection, ORIGIN, sink) == size
        kept = list(sink.kept(ORIGIN))
        assert [opened(raw, ORIGIN, (world.key.verifier,))[0].size for raw in kept] == [size]
        assert (await world.audit(kept)).outside == 1
        # Another tree of that size is not taken.
        await connection.execute("DELETE FROM transparency.kept")
        await connection.execute(
            "UPDATE transparency.checkpoints SET root = sha256(root) WHERE size = $1", size
        )
        with pytest.raises(SinkDisagrees, match="another checkpoint"):
            await keep_outside(connection, ORIGIN, sink)
    assert [path.name[0] for path in (tmp_path / "upcard.test_table").iterdir()] == ["0"]
    assert list(sink.kept("nobody")) == []


async def test_nothing_is_taken_from_a_log_with_a_hole(world: World) -> None:
    await world.append("round-t1.1", 3)
    await world.pool.execute(
        "BEGIN; ALTER TABLE eventstore.events DISABLE TRIGGER append_only;"
        " DELETE FROM eventstore.events WHERE stream_position = 2;"
        " ALTER TABLE eventstore.events ENABLE ALWAYS TRIGGER append_only; COMMIT"
    )
    with pytest.raises(LogDamaged, match="no event at 2"):
        await world.chain()
    assert await world.pool.fetchval("SELECT size FROM transparency.tree") == 0
    await world.pool.execute("DELETE FROM transparency.tree")
    with pytest.raises(TreeDamaged, match="own row"):
        await world.chain()
