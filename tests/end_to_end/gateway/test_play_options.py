"""Insurance, a purchase and a sixth card over a player's connection, on real services and known cards."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import pytest

from tests.end_to_end.gateway.dealing import ANTE, Act, ScriptedTable
from tests.end_to_end.gateway.playing import Told, Wire, at_table, connected, happened, welcomed, window
from tests.end_to_end.gateway.processes import CURRENCY, TRANSFER, Edge, fresh
from upcard_platform import play
from upcard_platform.models.wallets import Deposit

pytestmark = pytest.mark.asyncio(loop_scope="module")

OWNED: Final = 100_000
BOX: Final = 2
INSURED: Final = 150
WINDOW_MS: Final = 60_000
"""Each window closes as soon as everybody has decided."""
BETTING_MS: Final = 15_000
"""But for that of bets, which never closes before its time."""


class Choosing:
    """A player who plays box 2 alone, and does in each window what a test says."""

    def __init__(self, table: ScriptedTable, wire: Wire) -> None:
        self.table = table
        self.wire = wire

    async def plays(self, acts: Mapping[str, Act]) -> tuple[int, Told]:
        """A round with an ante and these choices, in which the dealer ends with a game: number and result."""

        async def bets(number: int) -> None:
            await window(self.wire, number, "betting")
            ante = {"box": BOX, "wager": "ante", "amount": ANTE}
            await self.says("bet", round=number, placements=[ante])

        number = await self.table.play({"betting": bets, **acts})
        await happened(self.wire, number, "PlayerSettled", "own")
        result = await self.wire.until("the result", won)
        return number, result

    async def says(self, message_type: str, /, **fields: object) -> Told:
        """Say something that has to be accepted; its answer."""
        answer = await self.wire.say(message_type, **fields)
        play.Answer.model_validate(answer)
        assert answer["accepted"], answer
        return answer

    async def offered(self, what: str) -> dict[str, Any]:
        """What the player may do with box 2 now, as soon as that is told."""
        told = await self.wire.until(
            f"{what} are offered",
            lambda told: told["type"] == "own" and bool((told.get("actions") or {}).get(what)),
        )
        (action,) = told["actions"][what]
        assert action["box"] == BOX
        found: dict[str, Any] = action
        return found

    async def has(self, amount: int) -> None:
        """Wait until the balance is told to be this."""
        await self.wire.until(
            f"a balance of {amount}", lambda told: told["type"] == "balance" and told["amount"] == amount
        )


@contextlib.asynccontextmanager
async def seated(edge: Edge, name: str, hands: Mapping[str, str]) -> AsyncIterator[Choosing]:
    """A player with money at a table of their own, where these cards are dealt."""
    table = ScriptedTable(edge.casino, name, hands)
    durations = table._config.durations
    durations.betting_ms = BETTING_MS
    durations.options_ms = durations.final_options_ms = durations.purchase_ms = WINDOW_MS
    await table.open()
    player = f"player-{name}"
    launched = await edge.launched(TRANSFER, player)
    deposit = Deposit(request_id=fresh(), currency=CURRENCY, amount=OWNED)
    await edge.platforms[TRANSFER].wallets.deposit(player, deposit)
    async with connected(edge.fleet.platform_url, launch_token=launched.launch_token, table=name) as wire:
        await welcomed(wire)
        await at_table(wire)
        yield Choosing(table, wire)


def won(told: Told) -> bool:
    """Whether it has the result, and the dealer's last hand, which everybody is told a moment later."""
    dealer = told.get("dealer") or {}
    return told["type"] == "own" and bool(told.get("settled")) and bool(dealer.get("game"))


def lines(result: Told) -> dict[str, tuple[int, int]]:
    """What was staked on each wager of box 2, and what came back of it."""
    (box,) = result["boxes"]
    return {one["wager"]: (one["stake"], one["returned"]) for one in box["result"]["lines"]}


async def test_a_hand_is_insured_and_the_dealer_is_bought_a_card(edge: Edge) -> None:
    """The dealer has no game, and with the bought nine a pair, which loses to three aces."""
    hands = {f"box.{BOX}": "As Ah Ad 7c 2s", "dealer": "Kc Qd 9h 8s 5c", "draw": "9d"}
    async with seated(edge, "t-insured", hands) as player:

        async def bets_on(number: int) -> None:
            option = await player.offered("options")
            assert option["bet"] == 2 * ANTE
            await player.says("option", round=number, box=BOX, kind="bet")

        async def insures(number: int) -> None:
            final = await player.offered("finals")
            assert (final["choices"], final["bet"]) == (["stand"], 0)
            assert final["insurance"] == {"min": ANTE, "max": 3 * ANTE, "step": 1}
            too_much = await player.wire.say(
                "final", round=number, box=BOX, choice="stand", insurance=3 * ANTE + 1
            )
            assert (too_much["accepted"], too_much["money"]) == (False, "none_moved")
            told = await player.says("final", round=number, box=BOX, choice="stand", insurance=INSURED)
            assert [(one["wager"], one["amount"]) for one in told["staked"]] == [("insurance", INSURED)]

        async def buys(number: int) -> None:
            assert (await player.offered("purchases"))["fee"] == ANTE
            told = await player.says("purchase", round=number, box=BOX, buy=True)
            assert [(one["wager"], one["amount"]) for one in told["staked"]] == [("purchase_fee", ANTE)]

        acts: dict[str, Act] = {"options": bets_on, "final_options": insures, "purchase": buys}
        number, result = await player.plays(acts)
        await happened(player.wire, number, "DealerRequalified")
        assert lines(result) == {
            "ante": (ANTE, ANTE),
            "bet": (2 * ANTE, 8 * ANTE),
            "insurance": (INSURED, 2 * INSURED),
            "purchase_fee": (ANTE, 0),
        }
        net = 6 * ANTE + INSURED - ANTE
        assert result["settled"]["net"] == net
        assert result["boxes"][0]["purchase"] is True
        await player.has(OWNED + net)


async def test_a_sixth_card_makes_the_hand(edge: Edge) -> None:
    """The bought ace makes a pair, which beats the dealer's queens; the fee is lost."""
    hands = {f"box.{BOX}": "As Th 9d 7c 2s", "switch": "Ac 3h 4h 6s Jd", "dealer": "Qc Qd 8h 5c 3d"}
    async with seated(edge, "t-sixth", hands) as player:

        async def takes_a_card(number: int) -> None:
            option = await player.offered("options")
            assert (option["sixth_card"], option["fee"]) == (True, ANTE)
            told = await player.says("option", round=number, box=BOX, kind="sixth")
            assert [(one["wager"], one["amount"]) for one in told["staked"]] == [("option_fee", ANTE)]

        async def bets_on(number: int) -> None:
            final = await player.offered("finals")
            assert ("bet" in final["choices"], final["bet"], final["insurance"]) == (True, 2 * ANTE, None)
            await player.says("final", round=number, box=BOX, choice="bet")

        acts: dict[str, Act] = {"options": takes_a_card, "final_options": bets_on}
        _, result = await player.plays(acts)
        (box,) = result["boxes"]
        assert box["bought"] == ["Ac"]
        assert lines(result) == {
            "ante": (ANTE, ANTE),
            "bet": (2 * ANTE, 4 * ANTE),
            "option_fee": (ANTE, 0),
        }
        assert result["settled"]["net"] == ANTE
        await player.has(OWNED + ANTE)
