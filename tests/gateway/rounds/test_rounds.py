"""Rounds of a platform's players: its own alone, by its own ids, with cards and choices."""

from __future__ import annotations

import json
from typing import Any

import httpx

from rules_core.rulesets.shipped import shipped_ids
from tests.gateway.rounds.behind import known_as
from tests.gateway.sessions.behind import refused, told
from tests.gateway.world import World
from tests.history.desk.test_players import BETS
from tests.history.desk.world import World as Mirror
from tests.wallet.ledger.world import bet
from tests.wallet.seamless.world import SeamlessWorld
from upcard_platform.models.rounds import PlayerRoundList, RoundDetail, RoundEventList, RoundOfPlayers

UNKNOWN = (404, "player_unknown")


async def pages(client: httpx.AsyncClient, path: str, **query: Any) -> list[dict[str, Any]]:
    """All items of a list, page by page."""
    found: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        page = told(await client.get(path, params={**query, **after}))
        found += page["items"]
        if page["next"] is None:
            return found
        after = {"after": page["next"]}


async def test_a_players_rounds_come_in_pages(casino: httpx.AsyncClient, mirror: Mirror) -> None:
    for number in range(1, 6):
        await mirror.play(number=number)
    await mirror.apply()
    found = await pages(casino, "/v1/players/anna/rounds", limit=2)
    assert [one["round"] for one in found] == [f"t1.{number}" for number in range(5, 0, -1)]
    assert {one["player"] for one in found} == {"anna"}
    assert all(one["net"] == one["returned"] - one["staked"] for one in found)
    whole = PlayerRoundList.model_validate(told(await casino.get("/v1/players/anna/rounds")))
    assert whole.next is None
    early = {"since": found[4]["opened_at"], "until": found[3]["opened_at"]}
    assert [one["round"] for one in await pages(casino, "/v1/players/anna/rounds", **early)] == ["t1.1"]
    assert await pages(casino, "/v1/players/anna/rounds", currency="GBP") == []


async def test_a_cursor_of_nobody_is_refused(casino: httpx.AsyncClient, mirror: Mirror) -> None:
    assert mirror.rounds == {}
    for after in ("?", "AAAA", "dDEuMQ", "", "ä", "a" * 500):
        answer = await casino.get("/v1/players/anna/rounds", params={"after": after})
        assert refused(answer) == (400, "cursor_invalid"), after


async def test_nobody_else_s_player_can_be_asked_about(
    world: World, casino: httpx.AsyncClient, mirror: Mirror
) -> None:
    await mirror.play()
    await mirror.apply()
    other = await world.casino("op9")
    await known_as(world, "p3", "anna", "op9")
    await known_as(world, "p4", "carl", "op9")
    paths = ["rounds", "rounds/t1.1", "rounds/t1.1/events", "rounds/t1.1/link"]
    for path in paths:
        foreign = await casino.get(f"/v1/players/carl/{path}")
        unknown = await casino.get(f"/v1/players/nobody/{path}")
        assert refused(foreign) == UNKNOWN
        assert foreign.json() == unknown.json(), "nothing tells a foreign player from nobody"
    assert told(await other.get("/v1/players/anna/rounds"))["items"] == [], "another anna"
    assert refused(await other.get("/v1/players/anna/rounds/t1.1")) == (404, "round_unknown")
    unheard = await other.get("/v1/players/anna/rounds/t7.7")
    assert (await other.get("/v1/players/anna/rounds/t1.1")).json() == unheard.json()


async def test_rounds_are_shown_with_cards_choices_and_words(
    casino: httpx.AsyncClient, mirror: Mirror
) -> None:
    names = await one_of_each(mirror)
    settled = 0
    for ruleset, name in names.items():
        answer = await casino.get(f"/v1/players/anna/rounds/{name}")
        detail = RoundDetail.model_validate(told(answer))
        assert (detail.player, detail.ruleset, detail.round) == ("anna", ruleset, name)
        assert "p77" not in answer.text
        assert "p2" not in answer.text
        for box in detail.boxes:
            assert sum(wager.stake for wager in box.wagers) == box.staked
        if detail.state != "settled":
            continue
        settled += 1
        assert detail.boxes
        assert sum(box.staked for box in detail.boxes) == detail.staked
        assert sum(box.returned or 0 for box in detail.boxes) == detail.returned
        assert all("hidden" not in box.cards and len(box.cards) == 5 for box in detail.boxes)
        assert all(box.words for box in detail.boxes)
        assert any("dealer" in sentence for sentence in detail.words)
        assert all(f"dealer.{place}" in detail.cards for place in range(5))
    assert settled >= len(names) // 2


async def test_what_happened_names_no_other_player(casino: httpx.AsyncClient, mirror: Mirror) -> None:
    for name in (await one_of_each(mirror)).values():
        found = await pages(casino, f"/v1/players/anna/rounds/{name}/events", limit=50)
        text = json.dumps(found)
        assert found[0]["type"] == "RoundOpened"
        assert [one["position"] for one in found if one["type"] == "RoundOpened"] == [1]
        assert '"p1"' not in text
        assert '"p2"' not in text
        assert "p77" not in text
        assert "dealer:" not in text
        assert any(one["data"].get("player") == "anna" for one in found)
    RoundEventList.model_validate(told(await casino.get(f"/v1/players/anna/rounds/{name}/events")))
    past = await casino.get(f"/v1/players/anna/rounds/{name}/events", params={"after": "OTk5OTk5OTk5"})
    assert refused(past) == (400, "cursor_invalid")


async def one_of_each(mirror: Mirror) -> dict[str, str]:
    """A round of each ruleset in which p1 has a bet, by ruleset."""
    names: dict[str, str] = {}
    for place, ruleset in enumerate(sorted(shipped_ids())):
        for number in range(1, 10):
            made = await mirror.play(ruleset, table=f"t{place}", number=number, players=("p1", "p2", "p77"))
            if any(b'"BetPlaced"' in one and b'"player":"p1"' in one for one in made.contents):
                names[ruleset] = f"t{place}.{number}"
                break
    await mirror.apply()
    return names


async def test_an_open_round_shows_what_everybody_sees(casino: httpx.AsyncClient, mirror: Mirror) -> None:
    made = await mirror.play(seed=4, events=BETS)
    await mirror.apply()
    shown = [
        told(answer)
        for name in ("anna", "bert")
        if (answer := await casino.get(f"/v1/players/{name}/rounds/t1.1")).status_code == 200
    ]
    assert shown, "somebody has bet"
    for detail in shown:
        assert (detail["state"], detail["returned"], detail["boxes"]) == ("open", None, [])
        assert detail["words"] == []
        assert detail["staked"] > 0
    assert len(made.contents) > BETS


async def test_rounds_that_are_none(casino: httpx.AsyncClient, mirror: Mirror) -> None:
    assert mirror.rounds == {}
    assert refused(await casino.get("/v1/players/anna/rounds/nonsense")) == (400, "request_invalid")
    for path in ("", "/events", "/link"):
        assert refused(await casino.get(f"/v1/players/anna/rounds/t1.1{path}")) == (404, "round_unknown")
    assert refused(await casino.get("/v1/rounds/t1.1")) == (404, "round_unknown")


async def test_a_round_with_all_players_of_the_platform(
    world: World, casino: httpx.AsyncClient, mirror: Mirror, ledger: SeamlessWorld
) -> None:
    await mirror.play(players=("p1", "p2", "p3"))
    await mirror.apply()
    other = await world.casino("op2", wallet="seamless")
    await known_as(world, "p3", "dora", "op2")
    for name in ("p1", "p2"):
        await ledger.player(name, 1_000)
    await ledger.guest("p3", 1_000, operator="op2")
    await ledger.place(
        *(bet((1, "ante", 10), player=name, bet_id=f"b-{name}") for name in ("p1", "p2", "p3"))
    )
    found = RoundOfPlayers.model_validate(told(await casino.get("/v1/rounds/t1.1")))
    assert {one.player for one in found.items} <= {"anna", "bert"}
    assert found.items
    assert not found.more
    for one in found.items:
        own = told(await casino.get(f"/v1/players/{one.player}/rounds/t1.1"))
        assert (own["staked"], own["net"]) == (one.staked, one.net)
    theirs = await other.get("/v1/rounds/t1.1")
    assert {one["player"] for one in told(theirs)["items"]} == {"dora"}
