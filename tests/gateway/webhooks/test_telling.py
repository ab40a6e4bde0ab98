"""Who is told what: each operator of its own players, by its own ids; sandboxes of their own tables."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rules_core.round.events import RoundCancelled
from tests.gateway.webhooks.world import HookWorld, hit, table_config
from upcard_gateway.app.webhook_facts import EventIsNewer
from upcard_gateway.domain import webhooks
from upcard_platform.models.webhooks import Webhook


async def sent(hooks: HookWorld) -> dict[str, list[Webhook]]:
    """Follow and send everything; what each endpoint took."""
    await hooks.follow()
    await hooks.send()
    await hooks.quiet()
    await hooks.stop()
    assert not hooks.receiver.complaints
    return hooks.receiver.taken


async def test_each_operator_is_told_of_its_own_players_by_its_own_ids(hooks: HookWorld) -> None:
    await hooks.player("p1", "op1", "alice")
    await hooks.player("p2", "op2", "alice")
    await hooks.endpoint("one", "op1")
    await hooks.endpoint("two", "op2")
    await hooks.endpoint("three", "op3")
    made = await hooks.play(players=("p1", "p2", "p3"))
    taken = await sent(hooks)
    results = settled(made.contents)
    assert "three" not in taken
    for name, player in (("one", "p1"), ("two", "p2")):
        (webhook,) = taken[name]
        assert (webhook.type, webhook.subject) == ("round_ended", "round-t1.1")
        ended = webhook.round_ended
        assert (ended.what, ended.table, ended.round, ended.number) == ("settled", "t1", "t1.1", 1)
        (result,) = ended.players
        recorded = results[player]
        assert result.player == "alice"
        assert (result.staked, result.returned, result.net) == (
            recorded["staked"],
            recorded["returned"],
            recorded["net"],
        )
        assert [box.model_dump() for box in result.boxes] == [
            {key: box[key] for key in ("box", "outcome", "staked", "returned", "net")}
            for box in recorded["boxes"]
        ]
    text = json.dumps([webhook.model_dump(mode="json") for found in taken.values() for webhook in found])
    assert '"p1"' not in text
    assert '"p3"' not in text


def settled(contents: list[bytes]) -> dict[str, dict[str, Any]]:
    """The recorded results by player."""
    parsed = [json.loads(data) for data in contents]
    return {one["payload"]["player"]: one["payload"] for one in parsed if one["type"] == "PlayerSettled"}


async def test_events_that_come_again_queue_nothing_twice(hooks: HookWorld) -> None:
    await hooks.player("p1")
    await hooks.endpoint("one")
    await hooks.play()
    await hooks.follow()
    before = await hooks.value("SELECT count(*) FROM gateway.webhook_deliveries")
    await hooks.follow(again=True)
    assert before == 1 == await hooks.value("SELECT count(*) FROM gateway.webhook_deliveries")
    assert await hooks.value("SELECT count(*) FROM gateway.webhook_rounds") == 0


async def test_a_cancelled_round_names_those_whose_bets_stood(hooks: HookWorld) -> None:
    for player in ("p1", "p2"):
        await hooks.player(player)
    await hooks.endpoint("one")
    await hooks.tell("round-t1.1", "BetPlaced", bet("p1", 300))
    await hooks.tell("round-t1.1", "BetPlaced", bet("p2", 300))
    await hooks.tell("round-t1.1", "BetWithdrawn", withdrawn("p2", 300))
    await hooks.tell_round("t1.1", RoundCancelled("card_dropped"))
    (webhook,) = (await sent(hooks))["one"]
    ended = webhook.round_ended
    assert (ended.what, ended.reason) == ("cancelled", "card_dropped")
    assert [(one.player, one.currency, one.staked, one.boxes) for one in ended.players] == [
        ("op1:p1", "EUR", None, [])
    ]


async def test_a_correction_names_those_whose_result_changed(hooks: HookWorld) -> None:
    for player in ("p1", "p2"):
        await hooks.player(player)
    await hooks.endpoint("one")
    made = await hooks.play()
    results = settled(made.contents)
    await hooks.tell("round-t1.1", "PlayerSettled", {**results["p2"], "revision": 2})
    dealer = next(json.loads(data) for data in made.contents if json.loads(data)["type"] == "RoundSettled")
    await hooks.tell("round-t1.1", "RoundResettled", {"number": 1, **dealer["payload"]})
    first, second = (await sent(hooks))["one"]
    assert [one.player for one in first.round_ended.players] == ["op1:p1", "op1:p2"]
    ended = second.round_ended
    assert (ended.what, ended.correction) == ("corrected", 1)
    assert [(one.player, one.revision) for one in ended.players] == [("op1:p2", 2)]
    assert first.subject == second.subject
    assert first.position < second.position


async def test_many_players_of_a_round_come_in_parts(
    hooks: HookWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "PLAYERS_IN_ONE", 3)
    names = ["p1", "p2", "p3", "p4", "p5"]
    await hooks.endpoint("one")
    for name in names:
        await hooks.player(name)
        await hooks.tell("round-t1.1", "BetPlaced", bet(name, 100))
    await hooks.tell_round("t1.1", RoundCancelled("technical_failure"))
    first, second = (await sent(hooks))["one"]
    assert [(one.round_ended.part, one.round_ended.parts) for one in (first, second)] == [(1, 2), (2, 2)]
    assert first.id != second.id
    told = [[one.player for one in webhook.round_ended.players] for webhook in (first, second)]
    assert told == [["op1:p1", "op1:p2", "op1:p3"], ["op1:p4", "op1:p5"]]


async def test_an_erased_player_is_named_by_nothing(hooks: HookWorld) -> None:
    await hooks.player("p1", "op1", "alice")
    await hooks.endpoint("one")
    await hooks.play()
    await hooks.follow()
    await hooks.pool.execute("DELETE FROM gateway.people WHERE player = 'p1'")
    (webhook,) = (await sent(hooks))["one"]
    (result,) = webhook.round_ended.players
    assert result.player is None
    assert result.staked is not None


async def test_jackpots_are_told_to_all_and_winners_to_their_own_operator(hooks: HookWorld) -> None:
    await hooks.player("p1", "op1", "alice")
    await hooks.player("p2", "op2", "bob")
    await hooks.endpoint("one", "op1", ["jackpot"])
    await hooks.endpoint("two", "op2", ["jackpot"])
    await hooks.endpoint("sandbox", "op9", ["jackpot"], environment="sandbox")
    await hooks.endpoint("rounds", "op1", ["round_ended"])
    await hooks.tell("jackpot-j1", "JackpotHit", hit(("p1", 600), ("px", 400), part=1, parts=2))
    await hooks.tell("jackpot-j1", "JackpotHit", hit(("p2", 100), part=2, parts=2))
    seeded = {
        "jackpot": "j1",
        "operator": "house",
        "currency": "EUR",
        "amount": 900,
        "pool": 1_400,
        "cycle": 2,
    }
    await hooks.tell("jackpot-j1", "JackpotSeeded", {**seeded, "why": "new_cycle", "round": "t1.1"})
    taken = await sent(hooks)
    assert set(taken) == {"one", "two"}
    one, two = ([webhook.jackpot for webhook in taken[name]] for name in ("one", "two"))
    assert [(jackpot.what, jackpot.pool) for jackpot in one] == [("hit", 500), ("seeded", 1_400)]
    assert (one[0].winners, one[0].paid, one[0].hand) == (2, 1_000, "royal_flush")
    assert [(share.player, share.amount) for share in one[0].players] == [("alice", 600)]
    assert one[1].amount == 900
    # The second part has a winner of op2's alone: op1 learns nothing from it.
    assert [(jackpot.what, [share.player for share in jackpot.players]) for jackpot in two] == [
        ("hit", []),
        ("hit", ["bob"]),
        ("seeded", []),
    ]


async def test_a_corrected_jackpot_tells_the_change(hooks: HookWorld) -> None:
    await hooks.player("p1", "op1", "alice")
    await hooks.endpoint("one")
    await hooks.tell(
        "jackpot-j1",
        "JackpotCorrected",
        {
            "jackpot": "j1",
            "operator": "house",
            "currency": "EUR",
            "round": "t1.1",
            "correction": 1,
            "hit_followed": False,
            "pool_change": 600,
            "house": 0,
            "contributed": 0,
            "remainder": 0,
            "pool": 1_100,
            "changes": [{"player": "p1", "amount": -600}],
        },
    )
    (webhook,) = (await sent(hooks))["one"]
    assert webhook.jackpot.what == "corrected"
    assert [(one.player, one.amount) for one in webhook.jackpot.players] == [("alice", -600)]


async def test_tables_are_told_of_in_order_and_sandboxes_see_their_own(hooks: HookWorld) -> None:
    await hooks.endpoint("live", "op1")
    await hooks.endpoint("sandbox", "op2", environment="sandbox")
    config = table_config()
    for table in ("t1", "sand"):
        await hooks.tell(f"table-{table}", "TableOpened", {"table": table, "config": config, "from_round": 1})
    await hooks.tell("table-t1", "LimitsChanged", {"config": table_config("Other"), "from_round": 8})
    await hooks.tell("table-t1", "DealerSignedIn", {"dealer": "d1"})
    await hooks.tell("table-t1", "TableClosed", {"after_round": 9})
    taken = await sent(hooks)
    assert [(one.subject, one.table_state.what) for one in taken["live"]] == [
        ("table-t1", "opened"),
        ("table-t1", "limits"),
        ("table-t1", "closed"),
    ]
    assert [one.position for one in taken["live"]] == [1, 2, 4]
    opened, limits, closed = (one.table_state for one in taken["live"])
    assert (opened.name, opened.ruleset, opened.from_round) == ("Table one", "live-shared@1", 1)
    assert opened.limits == config["limits"]
    assert (limits.name, limits.from_round) == ("Other", 8)
    assert (closed.limits, closed.after_round) == (None, 9)
    assert [one.subject for one in taken["sandbox"]] == ["table-sand"]


async def test_what_is_newer_than_the_gateway_stops_it_and_what_is_broken_is_parked(
    hooks: HookWorld,
) -> None:
    await hooks.endpoint("one")
    await hooks.tell("table-t1", "TableClosed", {})
    await hooks.tell("table-t2", "TableOpened", {"table": "t2", "config": {}, "from_round": 1})
    with pytest.raises(AssertionError):
        await hooks.follow()
    parked = await hooks.pool.fetch("SELECT stream FROM eventstore.parked_streams ORDER BY stream")
    assert [row["stream"] for row in parked] == ["table-t1", "table-t2"]
    for stream, kind in (("table-t3", "TableClosed"), ("round-t1.1", "RoundSettled")):
        await hooks.tell(stream, kind, {"after_round": 1}, version=2)
        with pytest.raises(EventIsNewer, match="upgrade it"):
            await hooks.follow()
    assert await hooks.value("SELECT count(*) FROM gateway.webhook_deliveries") == 0


def bet(player: str, amount: int) -> dict[str, Any]:
    """The payload of a BetPlaced."""
    return {
        "player": player,
        "currency": "EUR",
        "bet_id": f"b-{player}",
        "kind": "place",
        "stakes": [{"box": 2, "wager": "ante", "amount": amount}],
        "arrived_at": "2026-01-31T12:00:00.000000Z",
    }


def withdrawn(player: str, amount: int) -> dict[str, Any]:
    """The payload of a BetWithdrawn."""
    return {
        "player": player,
        "kind": "clear",
        "stakes": [{"bet_id": f"b-{player}", "box": 2, "wager": "ante", "amount": amount}],
        "arrived_at": "2026-01-31T12:00:01.000000Z",
    }
