"""B and D of whole rounds: announced when their cards are public, and as the table settles them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rules_core.command_line.random_round import random_round
from rules_core.log.content import Content, content_of, parse_content
from rules_core.round import events as e
from rules_core.round.codec import event_of
from rules_core.rulesets.shipped import shipped, shipped_ids
from tests.bonus.office.world import DEALER, World, opened, placed
from upcard_bonus.domain import side_bets
from upcard_bonus.domain.side_bet_events import BonusDetermined, BonusStake, BonusVoided, VoidTotal

HISTORIES = sorted((Path(__file__).parents[2] / "golden" / "histories").glob("*.json"))
ROUND = "t1.1"
SEVENS = ("7s", "7h", "7d", "2c", "9d")


def history(path: Path) -> list[Content]:
    bundle = json.loads(path.read_bytes())
    return [content_of(one["content"]) for one in bundle["round"]["events"]]


def decoded(contents: Sequence[Content]) -> list[e.RoundEvent]:
    return [event_of(one.type, one.version, one.payload) for one in contents]


def batches(contents: Sequence[Content], dice: random.Random) -> Iterator[Sequence[Content]]:
    """The same events in pieces of any size."""
    at = 0
    while at < len(contents):
        size = dice.randrange(1, 12)
        yield contents[at : at + size]
        at += size


def decided(events: Sequence[Any]) -> dict[tuple[str, int, str], BonusStake]:
    """What was announced last of each stake, by player, box and wager."""
    found = {}
    for event in events:
        if isinstance(event, BonusDetermined):
            for stake in event.stakes:
                found[stake.player, stake.box, f"bonus_{event.bonus}"] = stake
    return found


async def hear_all(world: World, contents: Sequence[Content], seed: int) -> list[Any]:
    dice = random.Random(seed)
    for batch in batches(contents, dice):
        await world.hear_contents(batch)
    return await world.events(contents[0].stream.replace("round-", "bonus-"))


def check(contents: Sequence[Content], told: Sequence[Any]) -> None:
    """What was announced is what the table paid; a round that was undone says so."""
    results: dict[str, e.PlayerSettled] = {}
    refunded = cancelled = False
    for event in decoded(contents):
        match event:
            case e.PlayerSettled():
                results[event.player] = event
            case e.CorrectionDecided(refund=refund):
                refunded = refunded or refund
            case e.RoundCancelled():
                cancelled = True
            case _:
                pass
    lines = {
        (box.player, box.box, line.wager): line
        for result in results.values()
        for box in result.boxes
        for line in box.lines
        if line.wager in {"bonus_player", "bonus_dealer"}
    }
    found = decided(told)
    voids = [event for event in told if isinstance(event, BonusVoided)]
    if cancelled or refunded:
        assert len(voids) == bool(found or voids)
    else:
        assert not voids
        assert found.keys() == lines.keys()
        for key, line in lines.items():
            wins = line.returned - line.stake if line.returned > line.stake else 0
            assert (found[key].stake, found[key].wins) == (line.stake, wins), key
    assert {event.round for event in told} <= {contents[0].stream.removeprefix("round-")}


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
async def test_every_recorded_round_is_announced_as_it_was_paid(world: World, path: Path) -> None:
    contents = history(path)
    check(contents, await hear_all(world, contents, 1))


@pytest.mark.parametrize("ruleset", ["dark-boxes@1", "live-shared@1"])
async def test_random_rounds_are_announced_as_they_are_paid(world: World, ruleset: str) -> None:
    rules = shipped(ruleset)
    players = 3 if rules.shared else 2
    number = 0
    for seed in range(101, 109):
        table = random_round(rules, seed, players)
        contents = [
            content_of({**_members(content), "stream": f"round-play.{seed}"}) for content in table.contents
        ]
        told = await hear_all(world, contents, seed)
        check(contents, told)
        number += len(told)
    assert number


@pytest.mark.parametrize("ruleset", sorted(shipped_ids()))
async def test_a_ruleset_without_bonuses_says_nothing(world: World, ruleset: str) -> None:
    rules = shipped(ruleset)
    if rules.bonus_player is not None:
        return
    table = random_round(rules, 5, 2)
    told = await hear_all(world, [parse_content(one) for one in table.contents], 5)
    assert told == []
    assert await world.value("SELECT cards::text FROM bonus.rounds") == "{}"


def scans(box: int, cards: Sequence[str]) -> list[tuple[str, e.RoundEvent]]:
    return [
        (ROUND, e.CardScanned(f"box.{box}.{index}", f"s-{box}-{index}", "shoe", card))
        for index, card in enumerate(cards)
    ]


def openings(prefix: str, cards: Sequence[str], *, superseded: bool = False) -> tuple[e.CardOpening, ...]:
    return tuple(
        e.CardOpening(f"{prefix}.{index}", card, superseded=superseded) for index, card in enumerate(cards)
    )


async def shared_round(world: World) -> None:
    await world.hear(
        (ROUND, opened(ROUND, "live-shared@1")),
        (ROUND, placed("p1", (2, "bonus_player", 10), (2, "bonus_dealer", 20))),
        (ROUND, placed("p2", (2, "bonus_player", 30))),
        (ROUND, placed("p2", (2, "bonus_player", 5), bet_id="b2")),
        (ROUND, placed("p2", (1, "bonus_player", 50), bet_id="b3")),
        *scans(2, SEVENS),
    )


OPTIONS = e.OptionsOpened(None, "2026-11-30T12:00:00.000000Z", "2026-11-30T12:00:20.000000Z", "system")


async def test_cards_that_lie_face_up_decide_when_they_are_confirmed(world: World) -> None:
    await shared_round(world)
    assert await world.events(f"bonus-{ROUND}") == []
    await world.hear((ROUND, OPTIONS))
    (told,) = await world.events(f"bonus-{ROUND}")
    assert told == BonusDetermined(
        ROUND, "player", 2, SEVENS, "three_of_a_kind", 20, None,
        (BonusStake("p1", 2, "EUR", 10, 200), BonusStake("p2", 2, "EUR", 35, 700)),
    )  # fmt: skip
    assert world.seen.decided == {"player": 2}


async def test_a_card_that_was_misread_is_not_what_decides(world: World) -> None:
    await shared_round(world)
    await world.hear((ROUND, e.CardRescanned("box.2.2", "s-new", "shoe", "Kd")), (ROUND, OPTIONS))
    (told,) = await world.events(f"bonus-{ROUND}")
    assert isinstance(told, BonusDetermined)
    assert (told.cards[2], told.hand, told.stakes[0].wins) == ("Kd", None, 0)


async def test_blind_boxes_and_the_dealer_follow_at_the_showdown(world: World) -> None:
    await shared_round(world)
    straight = ("5s", "6h", "7c", "8d", "9c")
    misread = openings("box.1", ("As",), superseded=True)
    await world.hear(
        (ROUND, OPTIONS),
        (ROUND, e.CardsRevealed((*misread, *openings("box.1", straight)), final=False)),
        (ROUND, e.CardScanned("dealer.4", "s-up", "shoe", "2h")),
        (ROUND, e.DealerRevealed(openings("dealer", ("Ac", "Kh", "Qd", "3s")), "ace_king", qualified=True)),
    )
    _, blind, dealer = await world.events(f"bonus-{ROUND}")
    assert isinstance(blind, BonusDetermined)
    assert (blind.box, blind.cards, blind.pays, blind.stakes) == (
        1,
        straight,
        40,
        (BonusStake("p2", 1, "EUR", 50, 2_000),),
    )
    assert dealer == BonusDetermined(
        ROUND, "dealer", None, ("Ac", "Kh", "Qd", "3s", "2h"), "ace_king", 1, None,
        (BonusStake("p1", 2, "EUR", 20, 20),),
    )  # fmt: skip


async def test_the_last_openings_of_a_cancelled_round_decide_nothing(world: World) -> None:
    await shared_round(world)
    await world.hear(
        (ROUND, e.CardsRevealed(openings("box.1", ("5s", "6h", "7c", "8d", "9c")), final=True)),
        (ROUND, e.RoundCancelled("dealer_mistake")),
    )
    assert await world.events(f"bonus-{ROUND}") == [
        BonusVoided(ROUND, "dealer_mistake", (VoidTotal("EUR", 5, 115),))
    ]


async def test_folded_private_boxes_follow_with_the_settlement(world: World) -> None:
    flush = ("2s", "5s", "7s", "9s", "Ks")
    await world.hear(
        (ROUND, opened(ROUND)),
        (ROUND, placed("p1", (1, "bonus_player", 10))),
        (ROUND, e.CardsRevealed(openings("box.1", flush), final=True)),
    )
    assert await world.events(f"bonus-{ROUND}") == []
    await world.hear((ROUND, e.RoundSettled(DEALER, ())))
    (told,) = await world.events(f"bonus-{ROUND}")
    assert isinstance(told, BonusDetermined)
    assert (told.hand, told.pays) == ("flush", 50)


async def test_a_share_of_a_jackpot_is_named(world: World) -> None:
    await world.hear(
        (ROUND, opened(ROUND)),
        (ROUND, placed("p1", (1, "bonus_player", 100))),
        (ROUND, e.CardsRevealed(openings("box.1", ("5s", "6s", "7s", "8s", "9s")), final=False)),
    )
    (told,) = await world.events(f"bonus-{ROUND}")
    assert isinstance(told, BonusDetermined)
    assert (told.hand, told.pays, told.jackpot_share_percent) == ("straight_flush", None, 10)
    assert told.stakes[0].wins == 0


async def test_a_correction_announces_what_it_changes_and_nothing_else(world: World) -> None:
    await shared_round(world)
    await world.hear((ROUND, OPTIONS))
    fix = e.CardCorrection("box.2.2", "7c")
    other = e.CardCorrection("box.2.4", "Td")
    for number, cards in enumerate(((fix,), (other,), (e.CardCorrection("switch.0", "2d"),)), start=1):
        decision = e.CorrectionDecided(number, "wrong_card_read", "staff:a", "staff:b", False, cards)  # noqa: FBT003 - its field
        await world.hear((ROUND, decision))
    told = await world.events(f"bonus-{ROUND}")
    assert [one.correction for one in told if isinstance(one, BonusDetermined)] == [0, 1, 2]


async def test_a_refunded_round_is_void(world: World) -> None:
    await shared_round(world)
    await world.hear((ROUND, OPTIONS))
    await world.resettle(ROUND, refund=True)
    assert isinstance((await world.events(f"bonus-{ROUND}"))[-1], BonusVoided)


async def test_very_many_stakes_are_several_events(world: World) -> None:
    number = 2 * side_bets.STAKES_AN_EVENT + 1
    await world.hear((ROUND, opened(ROUND, "live-shared@1")))
    await world.hear(*((ROUND, placed(f"p{n:04}", (2, "bonus_player", 10))) for n in range(number)))
    await world.hear(*scans(2, SEVENS), (ROUND, OPTIONS))
    told = await world.events(f"bonus-{ROUND}")
    assert [(one.part, one.parts, len(one.stakes)) for one in told if isinstance(one, BonusDetermined)] == [
        (1, 3, 500),
        (2, 3, 500),
        (3, 3, 1),
    ]


def _members(content: bytes) -> dict[str, object]:
    found: dict[str, object] = json.loads(content)
    return found
