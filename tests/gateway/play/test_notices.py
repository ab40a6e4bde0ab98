"""What is decided without a player is told them in words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.play.behind import TABLE, Gateway
from tests.gateway.play.conftest import Launch
from upcard_platform.play import TOLD

FINAL = {"player": "p", "box": 1, "by": "platform", "bet": 0, "insurance": 0}
DECLINED = {"player": "p", "currency": "EUR", "bet_id": "b", "stakes": [], "command": "PlaceBet"}
NOTICES: list[tuple[str, dict[str, Any], str, str]] = [
    ("FinalOptionChosen", {**FINAL, "choice": "fold"}, "final_by_rules", "your box is folded"),
    ("FinalOptionChosen", {**FINAL, "choice": "bet"}, "final_by_rules", "your box bets"),
    ("FinalOptionChosen", {**FINAL, "choice": "stand"}, "final_by_rules", "your bet stands"),
    ("PurchaseDeclined", {"player": "p", "box": 1, "by": "platform"}, "purchase_by_rules", "no new card"),
    ("BetDeclined", {**DECLINED, "reason": "betting_closed"}, "bet_declined", "was not taken. "),
]
SILENT: list[tuple[str, dict[str, Any]]] = [
    ("FinalOptionChosen", {**FINAL, "by": "player", "choice": "fold"}),
    ("PurchaseDeclined", {"player": "p", "box": 1, "by": "player"}),
]


@pytest.mark.parametrize(("type_", "payload", "code", "words"), NOTICES)
async def test_what_the_rules_decide_for_a_player_is_told_them_alone(
    gateway: Gateway, launch: Launch, type_: str, payload: dict[str, Any], code: str, words: str
) -> None:
    found, other = await launch(), await launch(player="somebody-else")
    talk = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    beside = await gateway.opened(launch_token=other["launch_token"], table=TABLE)
    await talk.hears("chat")
    await beside.hears("chat")
    for kind, silent in SILENT:
        await gateway.log.tells(kind, silent, own=found["player_ref"])
    await gateway.log.tells(type_, payload, own=found["player_ref"])
    told = await talk.hears("notice")
    assert (told["code"], told["round"], told["channel"]) == (code, 1, "none")
    assert words in told["text"]
    assert TOLD.validate_python(told).type == "notice"
    event = next(one for one in reversed(talk.heard) if one["type"] == "own" and one.get("events"))
    assert event["events"][-1]["type"] == type_
    assert len([one for one in talk.heard if one["type"] == "notice"]) == 1
    await beside.asked("ping")
    assert not [one for one in beside.heard if one["type"] == "notice"]


async def test_a_cancelled_round_is_told_everybody_at_the_table_once(
    gateway: Gateway, launch: Launch
) -> None:
    found = await launch()
    talk = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    viewer = await gateway.opened(view=True, table=TABLE)
    await talk.hears("chat")
    await viewer.hears("window")
    await gateway.log.happens(1)
    await gateway.log.tells("RoundCancelled", {"reason": "card_exposed", "unread": []})
    for one in (talk, viewer):
        told = await one.hears("notice")
        assert (told["code"], told["round"]) == ("round_cancelled", 1)
        assert one.heard[-2]["events"][-1]["type"] == "RoundCancelled"
    await gateway.log.happens(1, round_number=2)
    for one in (talk, viewer):
        await one.events(1)
        assert len([told for told in one.heard if told["type"] == "notice"]) == 1
