"""What is over goes, what is not stays; and bounds are watched."""

from __future__ import annotations

from tests.gateway.webhooks.world import HookWorld
from upcard_gateway.adapters.postgres import webhook_endpoints
from upcard_gateway.adapters.webhook_upkeep import WebhookUpkeep


def upkeep(hooks: HookWorld, queue_max: int = 1_000) -> WebhookUpkeep:
    """As it runs in each instance."""
    return WebhookUpkeep(hooks.pool, queue_max, 30, 90)


async def age(hooks: HookWorld, days: int) -> None:
    """Let time pass for all webhooks."""
    await hooks.pool.execute(
        "UPDATE gateway.webhook_deliveries SET changed_at = changed_at - make_interval(days => $1)", days
    )


async def test_webhooks_go_by_their_states_and_subjects_with_their_last(hooks: HookWorld) -> None:
    await hooks.endpoint("one")
    for table in ("through", "parked", "queued"):
        await hooks.closed(table, 1)
    for table, state in (("through", "delivered"), ("parked", "parked")):
        await hooks.pool.execute(
            "UPDATE gateway.webhook_deliveries SET state = $2 WHERE subject = $1", f"table-{table}", state
        )
        await hooks.pool.execute(
            "UPDATE gateway.webhook_lanes SET due_at = NULL WHERE subject = $1", f"table-{table}"
        )

    async def left() -> list[str]:
        rows = await hooks.pool.fetch("SELECT subject FROM gateway.webhook_deliveries ORDER BY subject")
        lanes = await hooks.pool.fetch("SELECT subject FROM gateway.webhook_lanes ORDER BY subject")
        assert rows == lanes
        return [row["subject"].removeprefix("table-") for row in rows]

    await age(hooks, 29)
    await upkeep(hooks).prune()
    assert await left() == ["parked", "queued", "through"]
    await age(hooks, 2)
    await upkeep(hooks).prune()
    assert await left() == ["parked", "queued"]
    await age(hooks, 60)
    await upkeep(hooks).prune()
    assert await left() == ["queued"]
    async with hooks.pool.acquire() as connection:
        await webhook_endpoints.remove(connection, "one")
    await upkeep(hooks).prune()
    assert await left() == ["queued"]
    await hooks.pool.execute("UPDATE gateway.webhook_endpoints SET removed_at = now() - interval '31 days'")
    await upkeep(hooks).prune()
    assert await left() == []


async def test_a_round_that_never_ends_is_forgotten(hooks: HookWorld) -> None:
    await hooks.player("p1")
    await hooks.play()
    await hooks.pool.execute(
        "INSERT INTO gateway.webhook_rounds (round, player, operator, currency, noted_at)"
        " SELECT 't1.' || n, 'p1', 'op1', 'EUR', now() - make_interval(days => n)"
        " FROM unnest(ARRAY[1, 31]) AS n"
    )
    await upkeep(hooks).prune()
    rows = await hooks.pool.fetch("SELECT round FROM gateway.webhook_rounds")
    assert [row["round"] for row in rows] == ["t1.1"]


async def test_an_endpoint_is_full_and_is_not_any_more(hooks: HookWorld) -> None:
    await hooks.endpoint("one")
    await hooks.endpoint("two", "op2", ["jackpot"])
    for number in (1, 2, 3):
        await hooks.closed("t1", number)

    async def full() -> list[str]:
        rows = await hooks.pool.fetch("SELECT endpoint FROM gateway.webhook_endpoints WHERE is_full")
        return [row["endpoint"] for row in rows]

    await upkeep(hooks, 4).figures()
    assert await full() == []
    await upkeep(hooks, 3).figures()
    assert await full() == ["one"]
    await hooks.send()
    await hooks.quiet()
    await upkeep(hooks, 3).figures()
    assert await full() == []
