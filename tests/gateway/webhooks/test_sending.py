"""Sending: in order per subject, again after failures, parked at last, waiting for no other endpoint."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import uuid4

from aiohttp import web

from tests.gateway.webhooks.world import KEYRING, QUICK, HookWorld
from tests.messaging.waiting import until
from upcard_gateway.adapters.postgres import webhook_endpoints, webhook_lists, webhook_queue
from upcard_gateway.adapters.webhook_secrets import new_secret, unsealed
from upcard_gateway.domain.webhooks import Decision, Outcome
from upcard_platform.webhooks import written_secret


async def test_a_failure_is_tried_again_and_the_order_of_its_subject_stays(hooks: HookWorld) -> None:
    await hooks.endpoint("one")
    for number in range(1, 6):
        await hooks.closed("t1", number)
    hooks.receiver.script("one", 500, 204, 429, "cut", 302, 400)
    await hooks.send()
    await hooks.quiet()
    assert [one.table_state.after_round for one in hooks.receiver.taken["one"]] == [1, 2, 3, 4, 5]
    # The first came twice and the second five times, each with one id, and nothing overtook.
    seen = hooks.receiver.seen["one"]
    ids = hooks.receiver.ids("one")
    assert seen == [ids[0], ids[0], *[ids[1]] * 5, *ids[2:]]
    rows = [await hooks.row(one) for one in ids]
    assert [(row["state"], row["attempts"], row["last_status"]) for row in rows] == [
        ("delivered", 2, 204),
        ("delivered", 5, 204),
        *[("delivered", 1, 204)] * 3,
    ]
    assert not hooks.receiver.complaints


async def test_a_subject_that_fails_keeps_no_other_waiting(hooks: HookWorld) -> None:
    await hooks.endpoint("one")
    await hooks.closed("t1", 1)
    hooks.receiver.script("one", "hang")
    await hooks.send(replace(QUICK, timeout_s=30.0))
    await hooks.receiver.until("one", 1, seen=True)
    await hooks.closed("t2", 7)
    await hooks.receiver.until("one", 1)
    assert [one.subject for one in hooks.receiver.taken["one"]] == ["table-t2"]
    hooks.receiver.release()
    await hooks.quiet()
    assert [one.subject for one in hooks.receiver.taken["one"]] == ["table-t2", "table-t1"]


async def test_an_endpoint_that_hangs_keeps_no_other_endpoint_waiting(hooks: HookWorld) -> None:
    await hooks.endpoint("slow", "op1")
    await hooks.endpoint("quick", "op2")
    hooks.receiver.always["slow"] = "hang"
    tables = [f"t{number}" for number in range(30)]
    for table in tables:
        await hooks.tell(f"table-{table}", "TableClosed", {"after_round": 1})
    await hooks.follow()
    await hooks.send(replace(QUICK, timeout_s=60.0))
    await hooks.receiver.until("quick", len(tables))
    # It has as many tries under way as it may, and not one more.
    assert len(hooks.receiver.seen["slow"]) == QUICK.at_once
    assert not hooks.receiver.taken.get("slow")
    hooks.receiver.always.clear()
    hooks.receiver.release()
    await hooks.receiver.until("slow", len(tables))


async def test_an_endpoint_that_is_down_is_tried_one_by_one_and_then_gets_everything(
    hooks: HookWorld,
) -> None:
    await hooks.endpoint("one")
    hooks.receiver.always["one"] = 503
    for table in range(12):
        await hooks.tell(f"table-t{table}", "TableClosed", {"after_round": 1})
    await hooks.follow()
    # What failed would wait for an hour, did nobody see that the endpoint is back.
    await hooks.send(replace(QUICK, first_pause_s=3_600.0, longest_pause_s=3_600.0))
    failures = "SELECT failures FROM gateway.webhook_endpoints WHERE endpoint = 'one'"

    async def down() -> bool:
        return int(await hooks.value(failures)) > QUICK.down_after

    await until(down, timeout_s=60)
    assert await hooks.value("SELECT failing_since IS NOT NULL FROM gateway.webhook_endpoints")
    hooks.receiver.always.clear()
    await hooks.quiet()
    assert len(hooks.receiver.taken["one"]) == 12
    assert await hooks.value(failures) == 0
    assert await hooks.value("SELECT failing_since IS NULL FROM gateway.webhook_endpoints")


async def test_what_fails_for_too_long_is_parked_and_its_subject_goes_on(hooks: HookWorld) -> None:
    await hooks.endpoint("one")
    await hooks.closed("t1", 1)
    await hooks.closed("t1", 2)
    hooks.receiver.script("one", 500, 410)
    await hooks.send(replace(QUICK, park_after_s=0.0))
    await hooks.quiet()
    assert [one.table_state.after_round for one in hooks.receiver.taken["one"]] == [2]
    row = await hooks.row(hooks.receiver.seen["one"][0])
    assert (row["state"], row["attempts"], row["last_status"]) == ("parked", 2, 410)
    assert "410" in row["last_error"]
    async with hooks.pool.acquire() as connection, connection.transaction():
        assert await webhook_lists.send_parked(connection, "op1", "one", 10) == 1
    await hooks.quiet()
    assert [one.table_state.after_round for one in hooks.receiver.taken["one"]] == [2, 1]


async def test_instances_share_the_work_and_send_nothing_twice(hooks: HookWorld) -> None:
    for name in ("one", "two"):
        await hooks.endpoint(name)
    for number in range(1, 4):
        for table in range(20):
            await hooks.tell(f"table-t{table}", "TableClosed", {"after_round": number})
    await hooks.follow()
    for _ in range(3):
        await hooks.send()
    await hooks.quiet()
    await hooks.stop()
    for name in ("one", "two"):
        seen = hooks.receiver.seen[name]
        assert len(seen) == len(set(seen)) == 60
        for table in range(20):
            told = [one for one in hooks.receiver.taken[name] if one.subject == f"table-t{table}"]
            assert [one.table_state.after_round for one in told] == [1, 2, 3]


async def test_a_claim_whose_owner_died_runs_out(hooks: HookWorld) -> None:
    await hooks.endpoint("one")
    await hooks.closed("t1", 1)
    await hooks.pool.execute(
        "UPDATE gateway.webhook_lanes"
        " SET claim = gen_random_uuid(), due_at = clock_timestamp() + interval '1 second'"
    )
    await hooks.send()
    await hooks.receiver.until("one", 1)
    await hooks.quiet()
    assert await hooks.value("SELECT count(*) FROM gateway.webhook_lanes WHERE claim IS NOT NULL") == 0


async def test_with_a_new_secret_the_old_one_is_good_for_a_while(hooks: HookWorld) -> None:
    await hooks.endpoint("one")
    old = hooks.receiver.secrets["one"]
    secret = new_secret(KEYRING, "one", 2)
    async with hooks.pool.acquire() as connection, connection.transaction():
        await webhook_endpoints.replace_secret(connection, "one", secret, 600.0)
    await hooks.closed("t1", 1)
    await hooks.send()
    await hooks.quiet()
    hooks.receiver.secrets["one"] = written_secret(unsealed(KEYRING, "one", secret))
    await hooks.closed("t1", 2)
    await hooks.quiet()
    assert len(hooks.receiver.taken["one"]) == 2
    await hooks.pool.execute("UPDATE gateway.webhook_endpoints SET old_secret_until = now()")
    hooks.receiver.secrets["one"] = old
    await hooks.closed("t1", 3)
    await until(lambda: hooks.receiver.complaints)
    assert hooks.receiver.complaints[0] == "one: signature_wrong"


async def test_nothing_is_sent_to_an_endpoint_that_was_removed(hooks: HookWorld) -> None:
    await hooks.endpoint("gone")
    await hooks.endpoint("one")
    await hooks.closed("t1", 1)
    async with hooks.pool.acquire() as connection, connection.transaction():
        await webhook_endpoints.remove(connection, "gone")
    await hooks.closed("t1", 2)
    await hooks.send()
    await hooks.receiver.until("one", 2)
    await hooks.stop()
    assert "gone" not in hooks.receiver.seen
    # What was queued for it is still there, and what came later was not queued.
    assert await hooks.count("queued") == 1


async def test_a_full_endpoint_has_what_comes_parked_and_not_lost(hooks: HookWorld) -> None:
    await hooks.endpoint("one")
    await hooks.pool.execute("UPDATE gateway.webhook_endpoints SET is_full = true")
    await hooks.closed("t1", 1)
    assert await hooks.count("parked") == 1
    assert await hooks.value("SELECT count(*) FROM gateway.webhook_lanes WHERE due_at IS NOT NULL") == 0
    async with hooks.pool.acquire() as connection, connection.transaction():
        await webhook_lists.send_parked(connection, "op1", "one", 10)
    await hooks.send()
    await hooks.receiver.until("one", 1)


async def test_an_answer_without_end_is_cut_off(hooks: HookWorld) -> None:
    await hooks.endpoint("one")

    async def endless(request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65_536)

    runner = web.AppRunner(_app(endless), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        (address,) = runner.addresses
        url = f"http://127.0.0.1:{address[1]}/"
        await hooks.pool.execute("UPDATE gateway.webhook_endpoints SET url = $1", url)
        await hooks.closed("t1", 1)
        await hooks.send(replace(QUICK, timeout_s=50.0))
        async with asyncio.timeout(40):
            await hooks.quiet()
        assert await hooks.count("delivered") == 1
    finally:
        await runner.cleanup()


def _app(handler: object) -> web.Application:
    app = web.Application()
    app.router.add_post("/", handler)  # type: ignore[arg-type]  # a handler of the test
    return app


async def test_an_outcome_that_comes_after_its_claim_is_left_to_the_new_owner(hooks: HookWorld) -> None:
    await hooks.endpoint("one")
    await hooks.closed("t1", 1)
    claimed = []
    for claim in (uuid4(), uuid4()):
        async with hooks.pool.acquire() as connection:
            claimed += await webhook_queue.claim_due(connection, {}, 10, claim, QUICK)
            await connection.execute("UPDATE gateway.webhook_lanes SET due_at = now()")
    late, owned = claimed
    assert late.message == owned.message
    for one, attempts, state in ((late, 0, "queued"), (owned, 1, "delivered"), (owned, 1, "delivered")):
        noted = webhook_queue.Noted(one, Outcome(204), Decision("delivered"))
        async with hooks.pool.acquire() as connection, connection.transaction():
            await webhook_queue.note(connection, [noted], QUICK)
        row = await hooks.row(late.message.webhook)
        assert (row["attempts"], row["state"]) == (attempts, state)
