"""Rounds that ended, told in words: whole, and one player's part alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.rules_core.histories import FOLDER
from upcard_operate.explaining import explained
from upcard_operate.output import CommandFailed

HISTORIES = sorted(FOLDER.glob("*.json"))


def payloads(bundle: bytes, kind: str) -> list[dict[str, Any]]:
    events = [one["content"] for one in json.loads(bundle)["round"]["events"]]
    return [one["payload"] for one in events if one["type"] == kind]


def settled_players(bundle: bytes) -> list[str]:
    return sorted({one["player"] for one in payloads(bundle, "PlayerSettled")})


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
def test_every_kept_round_is_explained_whole_and_for_each_player(path: Path) -> None:
    bundle = path.read_bytes()
    whole = explained(bundle)
    players = settled_players(bundle)
    if not players:
        assert whole == "The round was cancelled: every wager and fee of it went back.\n"
    for player in players:
        assert f"player {player}" in whole
        alone = explained(bundle, player)
        assert f"player {player}" in alone
        assert not any(f"player {other}," in alone for other in players if other != player)


def test_a_card_that_another_player_bought_is_told_to_one_who_did_not_buy() -> None:
    told = []
    for path in HISTORIES:
        bundle = path.read_bytes()
        buyers = {one["player"] for one in payloads(bundle, "PurchaseMade")}
        if not payloads(bundle, "DealerRequalified") or payloads(bundle, "RoundResettled"):
            continue
        for player in set(settled_players(bundle)) - buyers:
            told.append(player)
            assert "A new dealer's card was bought" in explained(bundle, player)
    assert told, "the kept rounds have a player who did not buy beside one who did"


def test_a_player_who_was_not_there_is_refused() -> None:
    with pytest.raises(CommandFailed, match="nobody has no settled boxes"):
        explained(HISTORIES[-1].read_bytes(), "nobody")
