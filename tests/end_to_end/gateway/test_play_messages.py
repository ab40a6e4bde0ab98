"""Everything that a player's messages do, over a connection, on real services: a round with all of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.end_to_end.gateway.dealing import ANTE, ScriptedTable
from tests.end_to_end.gateway.playing import Told, Wire, at_table, connected, happened, welcomed, window
from tests.end_to_end.gateway.processes import CURRENCY, TRANSFER, Edge, fresh, until
from upcard_platform import play
from upcard_platform.models.sessions import Launch, SessionLimits
from upcard_platform.models.wallets import Deposit

pytestmark = pytest.mark.asyncio(loop_scope="module")

OWNED = 100_000
TIP = 50
ROUND_MAX = 12 * ANTE
"""Two antes of twice as much, with the bets that follow them."""
BOTH = [
    {"box": 1, "wager": "ante", "amount": ANTE, "blind": True},
    {"box": 2, "wager": "ante", "amount": ANTE},
]


async def bets(wire: Wire, number: int) -> None:
    """Bet, double, be stopped by the limit, take back, bet again, give a tip, talk."""
    placed = await said(wire, "bet", id="first", round=number, placements=BOTH)
    assert placed["accepted"], placed
    assert placed["money"] == "moved"
    assert sum(one["amount"] for one in placed["staked"]) == 4 * ANTE, "the blind box's bet as well"
    doubled = await said(wire, "double", round=number)
    assert doubled["accepted"], doubled
    more = await said(wire, "bet", round=number, placements=[{"box": 2, "wager": "ante", "amount": ANTE}])
    assert (more["accepted"], more["reason"]) == (False, "session_round_limit")
    assert "12.00" in more["text"]
    undone = await said(wire, "undo", round=number)
    assert sum(one["amount"] for one in undone["taken_back"]) == 4 * ANTE
    again = await said(wire, "bet", id="first", round=number, placements=BOTH)
    assert (again["staked"], again["accepted"]) == (placed["staked"], True), "the answer of then"
    back = await said(wire, "withdraw", round=number, box=1, wager="ante")
    assert back["accepted"], back
    wrong = await said(wire, "bet", round=number, placements=[{"box": 9, "wager": "ante", "amount": ANTE}])
    assert (wrong["reason"], wrong["money"]) == ("box_out_of_range", "none_moved")
    cleared = await said(wire, "clear", round=number)
    assert sum(one["amount"] for one in cleared["taken_back"]) == ANTE
    assert (await said(wire, "bet", round=number, placements=BOTH))["accepted"]
    assert (await said(wire, "tip", amount=TIP))["accepted"]
    line = await said(wire, "chat", text="Good luck,  everybody")
    assert (line["accepted"], line["data"]) == (True, {"line": 1})


def _asked_in(own: Told) -> tuple[int, str] | None:
    """The box that is asked, and its hand in words."""
    for one in own.get("boxes") or ():
        if one["asked"] and one["hand"]:
            return one["box"], one["hand"]["words"]
    return None


async def said(wire: Wire, message_type: str, /, **fields: object) -> Told:
    """Say something; its answer, of the form that is promised."""
    answer = await wire.say(message_type, **fields)
    play.Answer.model_validate(answer)
    return answer


def settled(told: Told) -> bool:
    """Whether it has the result, and the dealer's hand, which everybody is told a moment later."""
    return told["type"] == "own" and bool(told.get("settled")) and told.get("dealer") is not None


async def lists(wire: Wire, number: int, net: int) -> None:
    """History, statement and lobby, newest first."""

    async def rounds() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await said(wire, "history"))["data"]["rounds"]
        return found

    (last,) = await until("the round in the history", rounds, lambda found: bool(found and found[0]["net"]))
    assert (last["number"], last["state"], last["net"]) == (number, "settled", net)

    async def lines() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await said(wire, "statement"))["data"]["lines"]
        return found

    statement = await until(
        "the settlement in the statement",
        lines,
        lambda found: bool(found) and any(one["kind"] == "settlement" for one in found),
    )
    assert [one["at"] for one in statement] == sorted((one["at"] for one in statement), reverse=True)
    assert statement[-1]["kind"] == "deposit"
    assert {"tip", "hold", "release"} <= {one["kind"] for one in statement}
    wrong = await said(wire, "statement", after="nonsense")
    assert (wrong["accepted"], wrong["reason"]) == (False, "after_unknown")
    (table,) = [one for one in (await said(wire, "lobby"))["data"]["tables"] if one["table"] == "t-messages"]
    assert table["limits"][0]["currency"] == CURRENCY


async def test_a_round_with_everything(edge: Edge) -> None:
    table = ScriptedTable(edge.casino, "t-messages")
    table._config.durations.betting_ms = 20_000
    await table.open()
    platform = edge.platforms[TRANSFER]
    launched = await platform.sessions.launch(
        Launch(
            request_id=fresh(),
            player="says-all",
            nickname="Ann",
            currency=CURRENCY,
            country="NL",
            language="en",
            limits=SessionLimits(round_max=ROUND_MAX),
        )
    )
    deposit = Deposit(request_id=fresh(), currency=CURRENCY, amount=OWNED)
    await platform.wallets.deposit("says-all", deposit)
    url = edge.fleet.platform_url
    async with connected(url, launch_token=launched.launch_token, table="t-messages") as wire:
        await welcomed(wire)
        await at_table(wire)

        async def betting(number: int) -> None:
            opened = await window(wire, number, "betting")
            assert 0 < opened["remaining_ms"] <= 20_000
            offered = await wire.until(
                "what may be placed",
                lambda told: told["type"] == "own" and bool((told.get("actions") or {}).get("place")),
            )
            assert len(offered["actions"]["chips"]) == 10
            await bets(wire, number)

        async def options(number: int) -> None:
            await window(wire, number, "options")
            # What is the player's own may overtake the public's cards: it is told again with their names.
            own = await wire.until(
                "the open box is asked, and its hand has a name",
                lambda told: told["type"] == "own" and _asked_in(told) == (2, "Pair of aces"),
            )
            assert own["actions"]["options"][0]["bet"] == 2 * ANTE
            chosen = await said(wire, "option", round=number, box=2, kind="bet")
            assert chosen["accepted"], chosen
            twice = await said(wire, "option", round=number, box=2, kind="fold")
            assert (twice["accepted"], twice["reason"]) == (False, "already_decided")

        number = await table.play({"betting": betting, "options": options})
        await happened(wire, number, "PlayerSettled", "own")
        result = await wire.until("the result", settled)
        assert result["dealer"]["game"] is True
        assert {one["words"] for one in result["boxes"]} == {"You win."}
        net = result["settled"]["net"]
        won = await wire.until(
            "the last win", lambda told: told["type"] == "bets" and told["last_round"] == number
        )
        assert won["last_win"] == result["settled"]["returned"]
        await wire.until(
            "the balance",
            lambda told: told["type"] == "balance" and told["amount"] == OWNED + net - TIP,
        )
        await lists(wire, number, net)
        assert any(
            one["type"] == "chat" and [line["text"] for line in one["lines"]] == ["Good luck, everybody"]
            for one in wire.told
        )

        async def same_again(following: int) -> None:
            await window(wire, following, "betting")
            repeated = await said(wire, "rebet", round=following)
            assert repeated["accepted"], repeated
            assert sum(one["amount"] for one in repeated["staked"]) == 4 * ANTE
            late = await said(wire, "bet", round=number, placements=BOTH)
            assert (late["accepted"], late["reason"]) == (False, "round_over")

        table._config.durations.betting_ms = 6_000
        following = await asyncio.wait_for(table.play({"betting": same_again}), 120)
        await happened(wire, following, "PlayerSettled", "own")
    assert len({(one["round"]) for one in wire.told}) > 1
