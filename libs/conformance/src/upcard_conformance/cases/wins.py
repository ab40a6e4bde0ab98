"""Cases of wins."""

from __future__ import annotations

from dataclasses import replace

from upcard_conformance.cases.case import case
from upcard_conformance.findings import Fault
from upcard_conformance.stage import NOBODY, Failed, NotRun, Stage, in_words
from upcard_seamless.answers import Accepted
from upcard_seamless.calls import Call, Transaction


async def _round_with(stage: Stage, stake: int, player: str | None = None) -> Call:
    bet = stage.bet(stake, player=player)
    await stage.done(bet, "the player can pay")
    return bet


@case(
    "win/ok",
    "win/refused_funds",
    "win/unreadable",
    "win/wrong_*",
    title="A win is paid, and the answer repeats what was sent",
    why="Whatever the answer says otherwise is asked again, five times; then people have to look at it.",
    mend="Pay the amount, and repeat player, currency, amount and ids in the answer as they came.",
)
async def win_is_paid(stage: Stage) -> None:
    """After a bet of its round."""
    before = await stage.balance()
    bet = await _round_with(stage, 200)
    asked = await stage.done(stage.win(601, round_=bet.round, closes=True), "a win is always paid")
    if isinstance(asked.verdict, Accepted) and asked.verdict.balance not in {None, before + 401}:
        found = f"the answer says that it is {asked.verdict.balance}"
        raise Failed(Fault(f"a balance of {before + 401} after the win", found))
    await stage.owns(before + 401, "200 were staked and 601 won")


@case(
    "win/ok",
    title="A win of nothing, which closes a round, is accepted",
    why="It tells the wallet that the round is over and paid nothing.",
    mend="Accept an amount of 0 in wins, and note that the round is over.",
)
async def win_of_nothing(stage: Stage) -> None:
    """0, after a bet."""
    before = await stage.balance()
    bet = await _round_with(stage, 200)
    await stage.done(stage.win(0, round_=bet.round, closes=True), "the round paid nothing")
    await stage.owns(before - 200, "200 were staked and nothing won")


@case(
    "win/ok",
    "win/refused_not_found",
    title="A win without a bet is paid",
    why="Shares of jackpots and gifts have no bet of their own, some have no round either.",
    mend="Pay wins whether or not there is a bet in the same round.",
)
async def win_without_bets(stage: Stage) -> None:
    """In a round without bets, then without a round."""
    before = await stage.balance()
    await stage.done(stage.win(77, round_=stage.new_round()), "it is owed, bet or no bet")
    await stage.done(stage.win(23, round_=None), "a gift belongs to no round")
    await stage.owns(before + 100, "77 and 23 were won")


@case(
    "win/ok",
    "win/wrong_amount",
    title="Odd and large wins are paid to the minor unit",
    why="Amounts that go through floating point or 32 bits come out as others.",
    mend="Keep amounts as whole numbers of the smallest unit in 64 bits; never as floating point.",
)
async def win_of_odd_amounts(stage: Stage) -> None:
    """1, 99, and more than 2^31."""
    before = await stage.balance()
    paid = 0
    for amount in (1, 99, 2_147_483_649):
        await stage.done(stage.win(amount, round_=stage.new_round()), "a win is always paid")
        paid += amount
    await stage.owns(before + paid, f"{paid} were won in all")


@case(
    "win/refused_player",
    "win/wrong_player",
    title="A win of a player who is not there is refused",
    why="The win would be nobody's, and Upcard would believe it paid.",
    mend="Refuse calls about players whom you do not know, with the dialect's code for that.",
)
async def win_of_nobody(stage: Stage) -> None:
    """Of a player whom no wallet has."""
    call = stage.win(100, round_=stage.new_round(), player=NOBODY)
    await stage.refused(call, "there is no such player")


@case(
    "win/duplicate",
    title="A win that comes twice is paid once, and is done both times",
    why="A win is told again until its answer arrives.",
    mend="Look the transaction's id up before anything moves; answer with what was answered at first.",
)
async def win_repeated(stage: Stage) -> None:
    """Three times in all."""
    before = await stage.balance()
    win = stage.win(340, round_=stage.new_round())
    await stage.done(win, "a win is always paid")
    for _ in range(2):
        await stage.done(win, "an earlier try was done")
    await stage.owns(before + 340, "one win of 340 was paid, however often it came")


@case(
    "win/duplicate",
    "win/server_error",
    title="A win that comes several times at once is paid once",
    why="The second try may arrive while the first is under way.",
    mend="Make the transaction's id unique in the database; a check before the insert is no protection.",
)
async def win_repeated_at_once(stage: Stage) -> None:
    """Five times at once, then once more."""
    before = await stage.balance()
    win = stage.win(340, round_=stage.new_round())
    await stage.repeated_at_once(win)
    await stage.owns(before + 340, "one win of 340 was paid, however often it came")


@case(
    "win/refused_other",
    "win/wrong_amount",
    title="A win with another amount under an id that was used is not done",
    why="It is not what was done before; a yes to it is a yes to money that never moved.",
    mend="Compare amount, player, currency and round with what the id stands for; refuse what differs.",
)
async def win_changed(stage: Stage) -> None:
    """The same id, one minor unit more."""
    before = await stage.balance()
    win = stage.win(340, round_=stage.new_round())
    await stage.done(win, "a win is always paid")
    asked = await stage.ask(replace(win, transactions=(Transaction(win.transactions[0].id, 341),)))
    if isinstance(asked.verdict, Accepted):
        raise Failed(Fault("a refusal: under this id 340 were paid, not 341", in_words(asked.verdict)))
    await stage.owns(before + 340, "one win of 340 was paid")


@case(
    "win/ok",
    "win/refused_other",
    title="A correction is paid after its round was closed",
    why="A result that is corrected later pays the difference in the round that is over.",
    mend="Take wins of a round whether or not it was closed.",
)
async def win_after_close(stage: Stage) -> None:
    """Closed with nothing, then corrected to a win."""
    before = await stage.balance()
    bet = await _round_with(stage, 200)
    await stage.done(stage.win(0, round_=bet.round, closes=True), "the round paid nothing")
    await stage.done(stage.win(450, round_=bet.round), "the round was corrected")
    await stage.owns(before + 250, "200 were staked, and 450 won by the correction")


@case(
    "win/ok",
    "win/refused_player",
    title="A win of a player whose session has expired is paid",
    why="The round was played while the session was good; the win is the player's all the same.",
    mend="Check the session of bets alone, never of wins and rollbacks.",
)
async def win_without_session(stage: Stage) -> None:
    """Of a player who is signed out."""
    player = stage.target.signed_out
    if player is None:
        raise NotRun("name a player whose session has expired (--signed-out-player)")
    before = await stage.balance(player)
    call = stage.win(340, round_=stage.new_round(), player=player)
    await stage.done(call, "a win is paid whether or not the player is still signed in")
    await stage.owns(before + 340, "340 were won", player)
