from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from eventstore.following import OWN, Applier, Page
from rules_core.log.content import content_bytes, parse_content
from rules_core.log.verify import verify_bundle
from rules_core.round import events as e
from tests.history.rounds import Round, history, history_names, new_event, random_round, round_content
from tests.history.world import World
from upcard_history.app.reading import RoundNotEnded
from upcard_history.app.replay_job import ReplayJob
from upcard_history.app.replay_queue import ReplayStanding, claim, replay_again, replay_standing
from upcard_history.app.replaying import replay_contents


@dataclass
class Seen:
    """An observer who remembers."""

    outcomes: dict[str, str] = field(default_factory=dict)
    failures: list[BaseException] = field(default_factory=list)
    last: ReplayStanding | None = None

    def replayed(self, round_name: str, outcome: str, took_s: float) -> None:
        assert took_s >= 0
        self.outcomes[round_name] = outcome

    def failed(self, error: BaseException) -> None:
        self.failures.append(error)

    def standing(self, standing: ReplayStanding) -> None:
        self.last = standing


async def replayed(world: World) -> Seen:
    """Replay whatever is due."""
    await world.catch_up()
    seen = Seen()
    job = ReplayJob(world.pool, world.store, seen)
    while await job.replay_next():
        pass
    return seen


def tampered(one: Round, position: int, **changes: Any) -> Round:
    """The round with another payload at a position."""
    contents = list(one.contents)
    content = parse_content(contents[position - 1])
    contents[position - 1] = content_bytes(replace(content, payload={**content.payload, **changes}))
    return replace(one, contents=tuple(contents))


@pytest.mark.parametrize("name", history_names())
def test_committed_histories_replay(name: str) -> None:
    one = history(name)
    found = replay_contents(one.stream, one.contents)
    ended = any(isinstance(event, e.RoundSettled | e.RoundCancelled) for event in one.events)
    assert found.outcome == ("agreed" if ended else "not_ended"), found.sentences


def test_a_round_that_goes_on_is_neither_right_nor_wrong() -> None:
    whole = random_round("live-shared@1", 3)
    for events in range(1, len(whole.contents)):
        one = whole.cut(events)
        assert replay_contents(one.stream, one.contents).outcome == "not_ended"


def test_a_changed_result_disagrees() -> None:
    one = random_round("live-shared@1", 3)
    at = next(n for n, event in enumerate(one.events, 1) if isinstance(event, e.PlayerSettled))
    event = one.events[at - 1]
    assert isinstance(event, e.PlayerSettled)
    found = replay_contents(one.stream, tampered(one, at, returned=event.returned + 100).contents)
    assert found.outcome == "disagreed"
    assert f"event {at}" in " ".join(found.sentences)


def test_a_ruleset_that_nobody_has_here_is_said_so() -> None:
    one = random_round("live-shared@1", 3)
    found = replay_contents(one.stream, tampered(one, 1, ruleset="house@7").contents)
    assert found.outcome == "unreadable"
    assert "house@7" in found.sentences[0]


async def test_every_round_that_ended_is_replayed_once(world: World) -> None:
    rounds = [random_round("classic@1", seed, number=seed) for seed in range(1, 4)]
    going_on = random_round("classic@1", 4, number=4).cut(20)
    await world.keep(*rounds, going_on)
    seen = await replayed(world)
    assert seen.outcomes == {one.name: "agreed" for one in rounds}
    assert (await replayed(world)).outcomes == {}
    await world.append(going_on.stream, random_round("classic@1", 4, number=4).new_events()[20:])
    assert (await replayed(world)).outcomes == {going_on.name: "agreed"}
    async with world.pool.acquire() as connection:
        standing = await replay_standing(connection)
        assert (standing.waiting, standing.oldest_s, standing.wrong) == (0, 0, 0)
        assert await replay_again(connection, after="", limit=2) == 2
    assert len((await replayed(world)).outcomes) == 2


async def test_a_difference_is_an_alarm_with_the_round_and_the_event(world: World) -> None:
    one = random_round("live-shared@1", 3)
    at = next(n for n, event in enumerate(one.events, 1) if isinstance(event, e.PlayerSettled))
    bad = tampered(one, at, returned=1)
    await world.keep(bad)
    seen = await replayed(world)
    assert seen.outcomes == {one.name: "disagreed"}
    (run,) = await world.history.replays_that_disagree(limit=10)
    assert (run.round, run.outcome, run.position) == (one.name, "disagreed", len(one.contents))
    difference = run.report["difference"]
    assert isinstance(difference, dict)
    assert difference["position"] == at
    async with world.pool.acquire() as connection:
        assert (await replay_standing(connection)).wrong == 1


async def test_a_corrected_round_is_replayed_when_the_correction_is_whole(world: World) -> None:
    one = history("scripted-corrected_round")
    decided = [n for n, event in enumerate(one.events) if isinstance(event, e.CorrectionDecided)]
    settled = next(n for n, event in enumerate(one.events) if isinstance(event, e.RoundSettled))
    await world.keep(one.cut(settled + 1))
    assert (await replayed(world)).outcomes == {one.name: "agreed"}
    # In the middle of the correction nothing is due; when it was due before, it is put back.
    await world.append(one.stream, one.new_events()[settled + 1 : decided[0] + 1])
    async with world.pool.acquire() as connection:
        await replay_again(connection, after="", limit=10)
    assert (await replayed(world)).outcomes == {}
    await world.append(one.stream, one.new_events()[decided[0] + 1 :])
    assert (await replayed(world)).outcomes == {one.name: "agreed"}
    assert await world.value("SELECT position FROM history.replay_runs") == len(one.contents)


async def test_a_refusal_after_the_end_is_replayed_too(world: World) -> None:
    one = random_round("live-shared@1", 3)
    await world.keep(one)
    await replayed(world)
    stake = e.DeclinedStake(2, "ante", 100)
    late = e.BetDeclined(
        "p9", "EUR", "b9", (stake,), "betting_closed", "2026-01-01T22:00:00.000000Z", "PlaceBet"
    )
    await world.append(one.stream, [new_event(round_content(one.name, late))])
    seen = await replayed(world)
    assert list(seen.outcomes) == [one.name]
    assert await world.value("SELECT position FROM history.replay_runs") == len(one.contents) + 1


async def test_a_claim_of_the_dead_is_taken_over(world: World) -> None:
    await world.keep(random_round("classic@1", 1))
    await world.catch_up()
    async with world.pool.acquire() as connection:
        due = await claim(connection)
        assert due is not None
        assert await claim(connection) is None
    assert (await replayed(world)).outcomes == {}
    await world.pool.execute(
        "UPDATE history.replay_queue SET claimed_until = clock_timestamp() - interval '1 s'"
    )
    assert (await replayed(world)).outcomes == {due.round: "agreed"}


async def test_what_comes_while_a_round_is_replayed_makes_it_due_again(world: World) -> None:
    one = history("scripted-corrected_round")
    settled = next(n for n, event in enumerate(one.events) if isinstance(event, e.RoundSettled))
    await world.keep(one.cut(settled + 1))
    await world.catch_up()
    seen = Seen()

    def reach(point: str) -> None:
        if point == "replay.replayed" and not seen.outcomes:
            seen.outcomes["reached"] = point

    job = ReplayJob(world.pool, world.store, seen, reach=reach)
    async with world.pool.acquire() as connection:
        due = await claim(connection)
        assert due is not None
        # Between its claim and its end the whole correction comes.
        await world.append(one.stream, one.new_events()[settled + 1 :])
        await world.catch_up()
        again = await claim(connection)
        assert again is not None
        assert again.position == len(one.contents)
        await connection.execute("UPDATE history.replay_queue SET claimed_until = '-infinity'")
    assert await job.replay_next()
    assert not await job.replay_next()
    assert seen.outcomes[one.name] == "agreed"


async def test_the_job_goes_on_until_told_to_end(world: World) -> None:
    await world.keep(random_round("classic@1", 1))
    await world.catch_up()
    seen, ending = Seen(), asyncio.Event()

    class Ends(Seen):
        def standing(self, standing: ReplayStanding) -> None:
            super().standing(standing)
            ending.set()

    seen = Ends()
    async with asyncio.timeout(30):
        await ReplayJob(world.pool, world.store, seen, interval_s=0.01).run(ending)
    assert list(seen.outcomes.values()) == ["agreed"]
    assert seen.last == ReplayStanding(0, 0, 0)


async def test_a_round_whose_log_is_away_is_tried_again(world: World) -> None:
    await world.keep(random_round("classic@1", 1))
    await world.catch_up()
    ending = asyncio.Event()

    class Broken:
        def iterate_contents(self, *_: object, **__: object) -> None:
            ending.set()
            raise ConnectionResetError

    seen = Seen()
    async with asyncio.timeout(30):
        await ReplayJob(world.pool, Broken(), seen, interval_s=0.01).run(ending)  # type: ignore[arg-type] # it reads nothing
    assert [type(error) for error in seen.failures] == [ConnectionResetError]
    assert await world.value("SELECT count(*) FROM history.replay_queue") == 1


async def test_a_bundle_is_for_everybody_or_for_one_player(world: World) -> None:
    one = history("scripted-shared_round")
    await world.keep(one)
    everything = await world.history.bundle(one.name, None)
    assert everything is not None
    assert verify_bundle(everything).exit_code == 0
    for player in sorted(one.players):
        data = await world.history.bundle(one.name, player)
        assert data is not None
        report = verify_bundle(data)
        assert (report.exit_code, report.player) == (0, player), report.sentences()
        shown = [event["content"] for event in json.loads(data)["round"]["events"] if "content" in event]
        assert {content["payload"].get("player", player) for content in shown} == {player}
    assert await world.history.bundle("t1.999", None) is None
    assert await world.history.replay("t1.999") is None
    run = await world.history.replay(one.name)
    assert run is not None
    assert (run.outcome, run.ran_at) == ("agreed", None)


async def test_a_round_that_goes_on_has_no_bundle(world: World) -> None:
    one = random_round("live-shared@1", 3).cut(30)
    await world.keep(one)
    for player in (None, "p1"):
        with pytest.raises(RoundNotEnded):
            await world.history.bundle(one.name, player)


async def test_noting_what_is_due_twice_is_noting_it_once(world: World) -> None:
    one = random_round("classic@1", 1)
    await world.keep(one)
    await replayed(world)
    await world.catch_up()
    shard = (await world.store.read_stream(one.stream, limit=1))[0].shard
    page = await world.store.read_shard(shard, after=0)
    applied = await Applier(world.pool, "history-replay", OWN, _never).apply([Page.of_shard(page, after=0)])
    assert applied.applied == 0


async def _never(*_: object) -> None:
    raise AssertionError("the position is behind it")
