"""Where two things meet: a close and a late answer, two loads of one round, a correction and its fence."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from eventstore import AppendFailed
from eventstore.answers import Answer, AnswerKey
from rules_core.round import commands as c
from rules_core.round import events as e
from tests.table.owner.hands import HELD
from tests.table.owner.shaky import ShakyLog, once
from tests.table.owner.world import DEALER, SHOE, STAFF, Owned, player_by
from upcard_table.app.calls import By, Declined, Refused, RoundWork, TableWork
from upcard_table.app.owner import closing
from upcard_table.app.ports import Batch, HoldsAnswer, StoredStream, WantedHolds
from upcard_table.domain import commands as t

MOST_MS = 20_000


@dataclass
class SlowLog(ShakyLog):
    """Looks answers up, and gives what it has loaded of a stream, when the test says so."""

    held_back: asyncio.Event = field(default_factory=asyncio.Event)
    slow_stream: str = ""
    loads: list[asyncio.Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.held_back.set()

    async def find_answers(self, keys: Sequence[AnswerKey]) -> Mapping[AnswerKey, Answer]:
        """See `TableLog`."""
        await self.held_back.wait()
        return await self.log.find_answers(keys)

    async def store(self, batch: Batch) -> None:
        """See `TableLog`."""
        await super().store(batch)
        await asyncio.sleep(0)  # so that what the test does after a batch is heard before the next one

    async def load(self, stream: str) -> StoredStream:
        """See `TableLog`."""
        found = await self.log.load(stream)
        if stream == self.slow_stream:
            self.loads.append(asyncio.Event())
            await self.loads[-1].wait()
        return found


async def with_log(owned: Owned) -> SlowLog:
    """Another owner, over a log in the test's hands."""
    await owned.end()
    log = SlowLog(owned.log)
    await owned.begin(token=2, log=log)
    return log


def decline(bet_id: str, number: int) -> RoundWork:
    """The wallet's question about a hold."""
    stakes = (e.DeclinedStake(2, "ante", 100),)
    return RoundWork(c.DeclineBet("p1", "EUR", bet_id, stakes, "hold_answered_late", ""), SHOE, number)


async def test_a_bet_by_default_whose_box_decides_at_last_is_declined(owned: Owned) -> None:
    log = await with_log(owned)
    await owned.prepare()
    await owned.open_round()
    await owned.final_window("p1")
    owned.funds.at_once = lambda wanted: None if wanted.by_platform else HELD
    log.held_back.clear()
    choice = RoundWork(c.ChooseFinalOption("p1", 2, "bet", "", bet_id="own"), player_by("p1"))
    answer = owned.send(choice, request_id="r1")
    before = owned.live.position
    owned.clock.move(20_000)
    await owned.until(owned.closing_began)
    owned.clock.move(1_500)
    await owned.until(owned.defaults_asked)
    log.held_back.set()
    await answer
    await owned.until(lambda: owned.live.state.step != "final_options")
    names = [type(event).__name__ for event in (await owned.events())[before:]]
    assert names[:3] == ["FinalOptionChosen", "BetDeclined", "FinalOptionsClosed"]
    assert not owned.owner._deciding.defaults


async def test_a_hold_that_was_declined_is_nobodys_bet_by_default(
    owned: Owned, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closing, "DECLINES_AT_ONCE", 1)
    log = await with_log(owned)
    await owned.prepare()
    await owned.open_round()
    await owned.final_window("p1", "p2", "p3")
    owned.funds.at_once = lambda _: None
    own = [
        owned.send(
            RoundWork(c.ChooseFinalOption(player, 2, "bet", "", bet_id=f"own-{player}"), player_by(player))
        )
        for player in ("p2", "p3")
    ]
    await owned.until(lambda: len(owned.funds.bets()) == 5)
    owned.clock.move(20_000)
    await owned.until(owned.closing_began)
    owned.clock.move(1_500)
    await owned.until(owned.defaults_asked)
    (wanted,) = [wanted for wanted, _ in owned.funds.asked if wanted.by_platform]

    def answered(batch: Batch) -> Exception | None:
        if b"BetDeclined" in b"".join(event.content for append in batch.appends for event in append.events):
            owned.funds.answer(wanted.bet_id)
        return None

    log.after = answered
    owned.clock.move(1_500)
    await owned.until(lambda: owned.live.state.step != "final_options")
    chosen = {one.player: one for one in await owned.events() if isinstance(one, e.FinalOptionChosen)}
    assert (chosen["p1"].choice, chosen["p1"].reason) == ("fold", "wallet_unavailable")
    assert all(isinstance(result, Declined) for (result,) in await asyncio.gather(*own))


async def test_a_hold_is_declined_also_where_another_owner_closed_the_window(owned: Owned) -> None:
    await owned.prepare()
    await owned.open_round()
    first = owned.owner
    await owned.done(owned.bet("p2"))

    def answer(wanted: WantedHolds) -> Any:
        return None if wanted.bet_id == "slow" else HELD

    owned.funds.at_once = answer
    slow = owned.send(owned.bet("p1", bet_id="slow"))
    await owned.until(lambda: "slow" in owned.funds.bets())
    await owned.begin(token=2)
    owned.clock.move(15_000)
    await owned.until(lambda: owned.live.state.step == "deal")  # nothing is in flight for the second one
    owned.clock.move(1_500)
    owned.owner = first
    (result,) = await asyncio.wait_for(slow, 5)
    assert isinstance(result, Declined), result
    assert (await owned.names()).count("BetDeclined") == 1


async def test_a_hold_whose_decline_could_not_be_stored_is_declined_all_the_same(owned: Owned) -> None:
    log = await with_log(owned)
    await owned.prepare()
    await owned.open_round()
    await owned.done(owned.bet("p2"))
    # The first question is left open; then there is no time left to ask once more.
    asked = iter([None, HoldsAnswer("overloaded")])
    owned.funds.at_once = lambda _: next(asked)
    slow = owned.send(owned.bet("p1", bet_id="slow"))
    await owned.until(lambda: "slow" in owned.funds.bets())
    log.before = once(AppendFailed("the database refused"))
    owned.clock.move(15_000)
    await owned.until(owned.closing_began)
    owned.clock.move(1_500)
    (result,) = await asyncio.wait_for(slow, 5)
    assert isinstance(result, Declined), result
    assert (await owned.names())[-2:] == ["BetDeclined", "BettingClosed"]
    assert owned.figures.dropped_for == ["append_failed"]


async def test_questions_about_one_round_that_is_over_disturb_nobody(owned: Owned) -> None:
    log = await with_log(owned)
    await owned.prepare()
    for number in (1, 2):
        await owned.open_round()
        await owned.done(owned.bet("p1"))
        await owned.pass_window()
        if number == 1:
            await owned.play_out()
    await owned.until(lambda: set(owned.owner._deciding.memory.rounds) == {2})
    log.slow_stream = "round-t1.1"
    answers = [owned.send(decline("x1", 1))]
    await owned.until(lambda: len(log.loads) == 1)
    answers.append(owned.send(decline("x2", 1)))
    await owned.one(owned.bet("p3"))  # by now the second question was decided, too
    for loaded in log.loads:
        loaded.set()
        await owned.one(owned.bet("p3"))
    log.slow_stream = ""
    results = [(await asyncio.wait_for(answer, 5))[0] for answer in answers]
    assert all(isinstance(result, Declined) for result in results)
    assert owned.figures.dropped_for == []


async def test_a_correction_that_the_rules_refuse_fences_nothing(owned: Owned) -> None:
    await owned.prepare("dark-boxes@1")
    await owned.open_round()
    await owned.done(owned.bet("p1", (1, "ante", 100), (1, "bonus_player", 100)))
    await owned.pass_window()
    await owned.play_out()
    refused = await owned.one(RoundWork(c.Resettle("wrong_result", "staff:a", "staff:b"), STAFF))
    assert isinstance(refused, Refused)
    assert owned.fence.asked == []


async def test_a_round_that_manual_mode_cancels_waits_for_the_floor_no_more(owned: Owned) -> None:
    await owned.prepare("classic@1")
    await owned.open_round()
    await owned.done(owned.bet("p1", (1, "ante", 200), (2, "ante", 200)))
    await owned.kill(owned.owner)
    owned.clock.move(1)
    await owned.pool.execute("UPDATE tables.tables SET floor_round = 1")
    await owned.begin(token=2)
    assert owned.owner.waits_for_floor
    await owned.done(TableWork(t.EnterManualMode("reader_failed"), STAFF))
    assert (await owned.names())[-1] == "RoundCancelled"
    await owned.until_hints(lambda hints: hints.floor_round is None)
    await owned.until(lambda: owned.figures.floor[-1] is False)


async def test_a_card_is_burned_by_hand_by_this_tables_dealer_alone(owned: Owned) -> None:
    await owned.prepare()
    await owned.open_round()
    await owned.done(owned.bet("p1"))
    await owned.pass_window()
    other = By("dealer:d2", "corr-other")
    burn = c.BurnCard("burn-1", None, other.actor)
    refused = await owned.one(RoundWork(burn, other, by_hand=True))
    assert isinstance(refused, Refused)
    assert refused.refusal.code == "dealer_differs"
    refused = await owned.one(RoundWork(c.BurnCard("burn-1", None, DEALER.actor), DEALER, by_hand=True))
    assert isinstance(refused, Refused)
    assert refused.refusal.code == "manual_mode_off"
    await owned.done(RoundWork(burn, other))  # a shoe reader signs for itself
