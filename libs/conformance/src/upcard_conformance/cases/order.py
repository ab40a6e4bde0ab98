"""Cases of calls that overtake one another, are cut off, come late, or fall into a crash."""

from __future__ import annotations

import asyncio
from typing import Final

from upcard_conformance.cases.case import case
from upcard_conformance.findings import Fault
from upcard_conformance.stage import Failed, NotRun, Stage, Wrongly, described, in_words
from upcard_seamless.answers import Accepted, NotSent, Refused, Unclear
from upcard_seamless.calls import Call

_CUTS: Final = (Wrongly(cut_after_s=0.0), Wrongly(cut_after_s=0.05), Wrongly(half=True))
"""Hung up at once, a moment later, and before everything was sent."""
_TRIES: Final = 20
_PAUSE_S: Final = 0.25


async def _until_known(stage: Stage, call: Call, why: str) -> None:
    """Repeat a call as Upcard would until its answer is clear; it has to be done."""
    for _ in range(_TRIES):
        asked = await stage.ask(call)
        if not isinstance(asked.verdict, Unclear | NotSent):
            return stage.must_be_done(asked, why)
        await asyncio.sleep(_PAUSE_S)
    raise Failed(Fault(f"{described(call)}: a clear answer within {_TRIES} tries", "none"))


async def _over(stage: Stage, rollback: Call) -> None:
    """Repeat a rollback of a bet that may have come, until its answer is clear."""
    for _ in range(_TRIES):
        verdict = (await stage.ask(rollback)).verdict
        if isinstance(verdict, Accepted) or (isinstance(verdict, Refused) and verdict.why == "not_found"):
            return
        if isinstance(verdict, Refused):
            raise Failed(Fault(f"{described(rollback)}: done, or refused as not found", in_words(verdict)))
        await asyncio.sleep(_PAUSE_S)
    raise Failed(Fault(f"{described(rollback)}: a clear answer within {_TRIES} tries", "none"))


@case(
    "bet/time_out",
    "win/time_out",
    "rollback/time_out/bet_held",
    "rollback/time_out/win",
    title="Bets, wins and rollbacks are answered in time",
    why="A bet that is answered late is given back, and the player cannot play; slow wins fill the queue.",
    mend="Answer within a second at most; do what may take longer after the answer.",
)
async def answers_in_time(stage: Stage) -> None:
    """Three of each, one after another."""
    before = await stage.balance()
    for _ in range(3):
        bet = stage.bet(100)
        await stage.done(bet, "done, and answered in time")
        win = stage.win(40, round_=bet.round)
        await stage.done(win, "done, and answered in time")
        for undone in (win, bet):
            await stage.done(stage.rollback(undone), "done, and answered in time")
    await stage.owns(before, "bets and wins were taken back")


@case(
    "bet/time_out",
    "bet/late",
    "rollback/ok/bet_unknown",
    "rollback/late/bet_unknown",
    "rollback/time_out/bet_unknown",
    title="A bet whose answer nobody heard is given back by its rollback",
    why="Upcard hangs up at its deadline, and the round goes on without the bet.",
    mend="Finish what was begun when the caller hangs up, with its id; then the rollback finds it.",
)
async def bet_cut_off(stage: Stage) -> None:
    """Hung up at several moments, each time rolled back; the bet is refused afterwards."""
    for how in _CUTS:
        before = await stage.balance()
        bet = stage.bet(150)
        rollback = stage.rollback(bet)
        await stage.ask(bet, how)
        await stage.ask(rollback, how)
        await _over(stage, rollback)
        # Whatever of the bet was still under way finds that it is over.
        await stage.refused(bet, "it was rolled back")
        await _over(stage, rollback)
        await stage.owns(before, "a bet was cut off and rolled back")


@case(
    "win/time_out",
    "win/late",
    "win/duplicate",
    title="A win whose answer nobody heard is paid once when it is told again",
    why="Upcard tells a win again until it knows that it arrived.",
    mend="Write money and id in one database transaction: a try that was cut off did both, or neither.",
)
async def win_cut_off(stage: Stage) -> None:
    """Hung up at several moments, each time told again until it is known."""
    for how in _CUTS:
        before = await stage.balance()
        win = stage.win(340, round_=stage.new_round())
        await stage.ask(win, how)
        await _until_known(stage, win, "a win is always paid")
        await stage.done(win, "an earlier try was done")
        await stage.owns(before + 340, "one win of 340 was paid, however often it came")


@case(
    "rollback/time_out/bet_held",
    "rollback/time_out/win",
    "rollback/late/bet_held",
    "rollback/late/win",
    "rollback/duplicate/bet_held",
    "rollback/duplicate/win",
    title="A rollback whose answer nobody heard gives back once when it is told again",
    why="Upcard tells a rollback again until it knows that it arrived.",
    mend="Mark a transaction as undone in the same database transaction that gives the money back.",
)
async def rollback_cut_off(stage: Stage) -> None:
    """Of a bet and of a win: hung up at several moments, each time told again until it is known."""
    for how in _CUTS:
        for undone in (stage.bet(150), stage.win(70, round_=stage.new_round())):
            before = await stage.balance()
            await stage.done(undone, "nothing is in its way")
            rollback = stage.rollback(undone)
            await stage.ask(rollback, how)
            await _until_known(stage, rollback, f"the {undone.kind} is there")
            await stage.done(rollback, "an earlier try was done")
            await stage.owns(before, f"one {undone.kind} was done and undone once")


@case(
    "bet/late",
    "bet/refused_other",
    "rollback/ok/bet_unknown",
    "rollback/refused_not_found/bet_unknown",
    title="A bet and its rollback at once come to nothing, whichever is first",
    why="The rollback of a bet without an answer is sent while the bet may still be on its way.",
    mend="Let bet and rollback of one id exclude each other in the database.",
)
async def bet_and_rollback_at_once(stage: Stage) -> None:
    """Several pairs side by side."""
    before = await stage.balance()
    for _ in range(4):
        bet = stage.bet(150)
        rollback = stage.rollback(bet)
        await stage.at_once([bet, rollback])
        await _over(stage, rollback)
        await stage.refused(bet, "it was rolled back")
    await stage.owns(before, "four bets came together with their rollbacks")


@case(
    "bet/ok",
    "win/ok",
    "rollback/ok/bet_held",
    title="A whole round adds up",
    why="Bets, a second bet, one taken back, a win, a correction: what every round is made of.",
    mend="Look at the cases before this one.",
)
async def whole_round(stage: Stage) -> None:
    """300 staked, 50 of them taken back, 900 won, corrected to 700."""
    before = await stage.balance()
    round_ = stage.new_round()
    first, second = stage.bet(100, round_=round_), stage.bet(150, 50, round_=round_)
    await stage.done(first, "the player can pay")
    await stage.done(second, "the player can pay")
    await stage.done(stage.rollback(second, second.transactions[1]), "this transaction is there")
    win = stage.win(900, round_=round_, closes=True)
    await stage.done(win, "a win is always paid")
    await stage.done(stage.rollback(win), "the win is there")
    await stage.done(stage.win(700, round_=round_), "the corrected win")
    await stage.owns(before - 250 + 700, "250 were staked and 700 won in the end")


@case(
    "bet/duplicate",
    "win/duplicate",
    "rollback/duplicate/bet_held",
    "rollback/duplicate/win",
    title="Nothing that was answered is lost when the wallet is killed",
    why="What was answered with yes is in Upcard's books; a wallet that forgets it owes the difference.",
    mend="Commit to the disk before you answer.",
)
async def nothing_is_lost_in_a_crash(stage: Stage) -> None:
    """A bet, a win, a rollback; the wallet is killed and started; then everything once more."""
    if stage.target.restart is None:
        raise NotRun("say how the wallet is killed and started (--restart-command)")
    before = await stage.balance()
    bet, undone = stage.bet(150), stage.bet(60)
    win = stage.win(340, round_=bet.round, closes=True)
    rollback = stage.rollback(undone)
    for call in (bet, undone, win, rollback):
        await stage.done(call, "nothing is in its way")
    await stage.target.restart()
    await _until_known(stage, stage.look(), "the wallet was started again")
    await stage.owns(before - 150 + 340, "a bet of 150 and a win of 340 were answered before the crash")
    for call in (bet, win, rollback):
        await stage.done(call, "it was answered before the crash")
    await stage.owns(before - 150 + 340, "nothing moves twice after a crash")
