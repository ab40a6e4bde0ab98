"""Cases of rollbacks."""

from __future__ import annotations

from dataclasses import replace

from upcard_conformance.cases.case import case
from upcard_conformance.findings import Fault
from upcard_conformance.stage import Asked, Failed, NotRun, Stage, described, in_words
from upcard_seamless.answers import Accepted, Refused


def _must_be_over(asked: Asked, why: str) -> None:
    """Fail unless the answer ends a rollback of what is not there: done, or no such transaction."""
    verdict = asked.verdict
    if isinstance(verdict, Accepted) or (isinstance(verdict, Refused) and verdict.why == "not_found"):
        return
    wanted = f"{described(asked.call)}: done, or refused as not found: {why}"
    raise Failed(Fault(wanted, in_words(verdict)))


@case(
    "rollback/ok/bet_held",
    "rollback/refused_*/bet_held",
    "rollback/unreadable/bet_held",
    "rollback/wrong_*/bet_held",
    title="A rollback gives a bet back, whole",
    why="A round that is cancelled gives every stake back.",
    mend="Undo each transaction that is named, and repeat player, currency, amount and ids as they came.",
)
async def rollback_of_bet(stage: Stage) -> None:
    """Of two transactions."""
    before = await stage.balance()
    bet = stage.bet(150, 75)
    await stage.done(bet, "the player can pay")
    await stage.done(stage.rollback(bet), "the bet is there")
    await stage.owns(before, "a bet of 225 was taken and given back")


@case(
    "rollback/ok/bet_held",
    title="One transaction of a bet can be rolled back alone",
    why="A player may take one wager back while the others stand.",
    mend="Find what is undone by the transaction's id, not by the call's or the round's.",
)
async def rollback_of_a_part(stage: Stage) -> None:
    """The second of two, then the first."""
    before = await stage.balance()
    bet = stage.bet(150, 75)
    await stage.done(bet, "the player can pay")
    await stage.done(stage.rollback(bet, bet.transactions[1]), "this transaction is there")
    await stage.owns(before - 150, "of bets of 150 and 75, 75 were given back")
    await stage.done(stage.rollback(bet, bet.transactions[0]), "this transaction is there")
    await stage.owns(before, "both were given back")


@case(
    "rollback/duplicate/bet_held",
    title="A rollback that comes twice gives back once, and is done both times",
    why="A rollback is told again until its answer arrives.",
    mend="Mark a transaction as undone in the same database transaction that gives the money back.",
)
async def rollback_repeated(stage: Stage) -> None:
    """Three times in all."""
    before = await stage.balance()
    bet = stage.bet(150)
    await stage.done(bet, "the player can pay")
    rollback = stage.rollback(bet)
    await stage.done(rollback, "the bet is there")
    for _ in range(2):
        await stage.done(rollback, "an earlier try was done")
    await stage.owns(before, "one bet of 150 was taken and given back once")


@case(
    "rollback/duplicate/bet_held",
    "rollback/server_error/bet_held",
    title="A rollback that comes several times at once gives back once",
    why="The second try may arrive while the first is under way.",
    mend="Mark a transaction as undone under a condition that only one can win.",
)
async def rollback_repeated_at_once(stage: Stage) -> None:
    """Five times at once, then once more."""
    before = await stage.balance()
    bet = stage.bet(150)
    await stage.done(bet, "the player can pay")
    rollback = stage.rollback(bet)
    await stage.repeated_at_once(rollback)
    await stage.owns(before, "one bet of 150 was taken and given back once")


@case(
    "rollback/ok/win",
    "rollback/duplicate/win",
    "rollback/refused_not_found/win",
    "rollback/refused_other/win",
    "rollback/unreadable/win",
    "rollback/server_error/win",
    "rollback/wrong_*/win",
    title="A rollback takes a win back, once",
    why="A result that is corrected takes back what was paid wrongly, then pays what is right.",
    mend="Let rollbacks name wins as well as bets.",
)
async def rollback_of_win(stage: Stage) -> None:
    """Taken back twice, then a lower win."""
    before = await stage.balance()
    round_ = stage.new_round()
    win = stage.win(500, round_=round_, closes=True)
    await stage.done(win, "a win is always paid")
    rollback = stage.rollback(win)
    await stage.done(rollback, "the win is there, and the player still has it")
    await stage.done(rollback, "an earlier try was done")
    await stage.done(stage.win(120, round_=round_), "the corrected win")
    await stage.owns(before + 120, "a win of 500 was corrected to 120")


@case(
    "rollback/refused_funds/win",
    title="A win that was spent is taken back whole, or not at all",
    why="Upcard waits for people where the money is gone; half a rollback would be seen by nobody.",
    mend="Refuse it for want of funds, or let the balance go below zero; never take what happens to be left.",
)
async def rollback_of_spent_win(stage: Stage) -> None:
    """Win, stake everything, then take the win back."""
    before = await stage.balance()
    win = stage.win(500, round_=stage.new_round())
    await stage.done(win, "a win is always paid")
    rest = stage.bet(before + 500)
    await stage.done(rest, "the player has exactly this")
    asked = await stage.ask(stage.rollback(win))
    match asked.verdict:
        case Accepted():
            await stage.owns(-500, "a rollback of 500 of a player who has nothing was done")
        case Refused(why="funds"):
            await stage.owns(0, "the rollback was refused")
        case other:
            raise Failed(Fault("refused for want of funds, or done", in_words(other)))
    await stage.done(stage.rollback(rest), "the bet is there")


@case(
    "rollback/refused_not_found/bet_unknown",
    "rollback/ok/bet_unknown",
    "rollback/refused_other/bet_unknown",
    "rollback/refused_funds/bet_unknown",
    "rollback/duplicate/bet_unknown",
    "rollback/unreadable/bet_unknown",
    "rollback/server_error/bet_unknown",
    "rollback/wrong_*/bet_unknown",
    title="A rollback of what never came moves nothing and is answered clearly",
    why="A bet whose answer was lost is rolled back whether or not it arrived.",
    mend="Answer with the dialect's words for it (done, or no such transaction), never with a failure.",
)
async def rollback_of_unknown(stage: Stage) -> None:
    """Twice: the second time is no surprise."""
    before = await stage.balance()
    rollback = stage.rollback(stage.bet(150))
    for _ in range(2):
        _must_be_over(await stage.ask(rollback), "no such bet ever came")
    await stage.owns(before, "nothing was there to give back")


@case(
    "bet/refused_other",
    "bet/late",
    "rollback/refused_not_found/bet_unknown",
    title="A bet that comes after its rollback is refused",
    why="The network may deliver them the other way round; the round has gone on without the bet.",
    mend="Remember the ids of rollbacks of unknown transactions, and refuse these when they come.",
)
async def rollback_comes_first(stage: Stage) -> None:
    """Rollback, bet, bet, rollback."""
    before = await stage.balance()
    bet = stage.bet(150)
    rollback = stage.rollback(bet)
    _must_be_over(await stage.ask(rollback), "the bet has not come yet")
    for _ in range(2):
        await stage.refused(bet, "it was rolled back before it came")
    _must_be_over(await stage.ask(rollback), "the bet was refused")
    await stage.owns(before, "a bet that was rolled back before it came is never taken")


@case(
    "bet/refused_other",
    title="A bet that was rolled back is refused when it comes again",
    why="A copy of the request may arrive after everything is over.",
    mend="Keep transactions that were undone, and refuse them.",
)
async def undone_bet_again(stage: Stage) -> None:
    """Bet, rollback, bet."""
    before = await stage.balance()
    bet = stage.bet(150)
    await stage.done(bet, "the player can pay")
    await stage.done(stage.rollback(bet), "the bet is there")
    await stage.refused(bet, "it was rolled back")
    await stage.owns(before, "a bet that was rolled back is not taken again")


@case(
    "rollback/ok/win",
    "rollback/refused_player/win",
    "rollback/refused_player/bet_unknown",
    title="A rollback of a player whose session has expired is done",
    why="The stake of a cancelled round is the player's, signed in or not.",
    mend="Check the session of bets alone, never of wins and rollbacks.",
)
async def rollback_without_session(stage: Stage) -> None:
    """Of a win, the one thing that a signed-out player can still get, and of a bet that never came."""
    player = stage.target.signed_out
    if player is None:
        raise NotRun("name a player whose session has expired (--signed-out-player)")
    before = await stage.balance(player)
    win = stage.win(340, round_=stage.new_round(), player=player)
    await stage.done(win, "a win is paid whether or not the player is still signed in")
    await stage.done(stage.rollback(win), "it is taken back whether or not the player is still signed in")
    _must_be_over(await stage.ask(stage.rollback(stage.bet(50, player=player))), "no such bet ever came")
    await stage.owns(before, "340 were won and taken back", player)


@case(
    "rollback/refused_other/win",
    "rollback/refused_not_found/win",
    title="A rollback of what is another player's is refused",
    why="One player's money must never move by a call about another.",
    mend="Compare player and currency of a rollback with those of what it undoes.",
)
async def rollback_of_anothers_win(stage: Stage) -> None:
    """The other player is the one who is signed out."""
    other = stage.target.signed_out
    if other is None:
        raise NotRun("name a second player (--signed-out-player)")
    mine, theirs = await stage.balance(), await stage.balance(other)
    win = stage.win(340, round_=stage.new_round(), player=other)
    await stage.done(win, "a win is always paid")
    rollback = replace(stage.rollback(win), player=stage.target.player)
    await stage.refused(rollback, "the win is another player's")
    await stage.owns(mine, "nothing was theirs to give back")
    await stage.owns(theirs + 340, "the win stands", other)
