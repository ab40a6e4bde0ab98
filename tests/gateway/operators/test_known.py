"""Operators as the edge knows them: kept for a moment, looked at again, none locked out by another."""

from __future__ import annotations

import asyncio

from eventstore import Keyring
from tests.gateway.world import EUROS, World
from upcard_gateway.adapters.postgres.operators import KnownOperators, OperatorTables
from upcard_gateway.domain.operators import Terms


class Clock:
    """Seconds that go on by hand."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        """What it shows."""
        return self.now_s


class Counting(OperatorTables):
    """Counts how often all operators are read."""

    read = 0

    async def all_of(self, connection):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - as it is inherited
        """See `OperatorTables`."""
        self.read += 1
        return await super().all_of(connection)


async def test_what_is_known_is_as_old_as_may_be_and_no_older(world: World) -> None:
    clock, tables = Clock(), Counting(world.edge.settings.keyring())
    known = KnownOperators(world.pool, tables, fresh_s=5, clock=clock)
    assert await known.all() == ()
    await world.register("op1")
    key = await world.hmac_key("op1")
    clock.now_s = 4.9
    assert await known.signing_key(key.key_id) is None
    clock.now_s = 5.0
    found = await known.signing_key(key.key_id)
    assert found is not None
    assert found.operator.operator == "op1"
    await world.revoke("op1", key.key_id)
    clock.now_s = 9.9
    assert await known.signing_key(key.key_id) is not None
    clock.now_s = 10.0
    assert await known.signing_key(key.key_id) is None


async def test_nothing_is_read_again_that_did_not_change(world: World) -> None:
    clock, tables = Clock(), Counting(world.edge.settings.keyring())
    known = KnownOperators(world.pool, tables, fresh_s=1, clock=clock)
    await world.register("op1")
    for second in range(5):
        clock.now_s = float(second)
        assert len(await asyncio.gather(*(known.all() for _ in range(4)))) == 4
    assert tables.read == 1
    await world.change("op1", Terms("Other", EUROS))
    clock.now_s = 9.0
    found = await known.operator("op1")
    assert found is not None
    assert (found.terms.name, tables.read) == ("Other", 2)
    assert await known.operator("op2") is None


async def test_a_secret_that_cannot_be_read_locks_nobody_else_out(world: World) -> None:
    await world.register("op1")
    old, other = await world.hmac_key("op1"), await world.rsa_key("op1")
    ring = Keyring({"secrets-2": b"2" * 32}, writes_with="secrets-2")
    known = KnownOperators(world.pool, OperatorTables(ring), fresh_s=0)
    assert await known.signing_key(old.key_id) is None
    assert await known.signing_key(other.key_id) is not None
    both = Keyring({"secrets-1": bytes(range(32)), "secrets-2": b"2" * 32}, writes_with="secrets-2")
    rotated = KnownOperators(world.pool, OperatorTables(both), fresh_s=0)
    assert await rotated.signing_key(old.key_id) is not None


async def test_a_secret_does_not_show(world: World) -> None:
    await world.register("op1")
    key = await world.hmac_key("op1")
    found = await world.edge.operators.signing_key(key.key_id)
    assert found is not None
    assert found.secret is not None
    for shown in (repr(found), repr(key), repr(world.edge.settings), repr(world.tables)):
        assert repr(found.secret)[2:-1] not in shown
        assert found.secret.hex() not in shown
        assert "AAECAwQFBgcICQ" not in shown
