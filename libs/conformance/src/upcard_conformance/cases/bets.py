"""Cases of bets."""

from __future__ import annotations

from dataclasses import replace

from upcard_conformance.cases.case import case
from upcard_conformance.findings import Fault
from upcard_conformance.stage import (
    NOBODY,
    REPEATS_AT_ONCE,
    Asked,
    Failed,
    NotRun,
    Stage,
    described,
    in_words,
)
from upcard_seamless.answers import Accepted, Refused
from upcard_seamless.calls import Transaction


def _says_balance(asked: Asked, amount: int) -> None:
    """Fail where an answer names a balance, and another one than the player has."""
    verdict = asked.verdict
    if isinstance(verdict, Accepted) and verdict.balance not in {None, amount}:
        found = f"the answer says that it is {verdict.balance}"
        raise Failed(Fault(f"{described(asked.call)}: a balance of {amount} afterwards", found))


@case(
    "bet/ok",
    "bet/unreadable",
    "bet/wrong_*",
    title="A bet is taken, and the answer repeats what was sent",
    why="Whatever the answer says otherwise makes the bet unclear: it is rolled back, and nobody can play.",
    mend="Take the amount, and repeat player, currency, amount and ids in the answer as they came.",
)
async def bet_is_taken(stage: Stage) -> None:
    """Taken once, to the minor unit."""
    before = await stage.balance()
    asked = await stage.done(stage.bet(250), "the player can pay")
    _says_balance(asked, before - 250)
    await stage.owns(before - 250, "a bet of 250 was taken")


@case(
    "bet/ok",
    "bet/wrong_amount",
    title="Odd amounts are taken to the minor unit",
    why="Amounts that go through floating point or whole units lose cents, one bet after the other.",
    mend="Keep amounts as whole numbers of the smallest unit; never as floating point.",
)
async def bet_of_odd_amounts(stage: Stage) -> None:
    """1, 7, 99, 101 and 1,999 minor units."""
    before = await stage.balance()
    taken = 0
    for amount in (1, 7, 99, 101, 1_999):
        await stage.done(stage.bet(amount), "the player can pay")
        taken += amount
    await stage.owns(before - taken, f"bets of {taken} in all were taken")


@case(
    "bet/ok",
    title="A bet of several transactions is taken whole",
    why="Ante, bet and side bets of one command come in one call.",
    mend="Take every transaction of the call.",
)
async def bet_of_several_is_taken(stage: Stage) -> None:
    """Three transactions."""
    before = await stage.balance()
    await stage.done(stage.bet(100, 200, 25), "the player can pay")
    await stage.owns(before - 325, "bets of 100, 200 and 25 were taken")


@case(
    "bet/refused_funds",
    title="Of a bet that the player can pay only in part, nothing is taken",
    why="A refused bet is certain to have moved nothing; Upcard does not roll it back.",
    mend="Do all of a call's transactions in one database transaction, or none.",
)
async def bet_of_several_is_all_or_nothing(stage: Stage) -> None:
    """One that can be paid, one that cannot."""
    if stage.line.one_by_one:
        raise NotRun("this dialect sends one transaction a request")
    before = await stage.balance()
    await stage.refused(stage.bet(100, before), "the player cannot pay both", "funds")
    await stage.owns(before, "a refused bet moves nothing")


@case(
    "bet/refused_funds",
    title="A bet beyond the balance is refused for want of funds",
    why="The player is told to top up; any other answer tells them that something is broken.",
    mend="Compare with the balance within the transaction that takes the money; use the code for funds.",
)
async def bet_without_funds(stage: Stage) -> None:
    """One minor unit more than there is, then all that there is."""
    before = await stage.balance()
    await stage.refused(stage.bet(before + 1), "the player has one minor unit less", "funds")
    await stage.owns(before, "a refused bet moves nothing")
    await stage.done(stage.bet(before), "the player has exactly this")
    await stage.owns(0, "everything was staked")


@case(
    "bet/refused_funds",
    "bet/server_error",
    title="Of bets at once that the player cannot pay together, only one is taken",
    why="Two tables at once must not spend the same money twice.",
    mend="Lock the player's balance while a bet is taken, or change it under a condition.",
)
async def bets_beyond_the_balance_at_once(stage: Stage) -> None:
    """Five, each of more than half."""
    before = await stage.balance()
    amount = before // 2 + 1
    asked = await stage.at_once([stage.bet(amount) for _ in range(REPEATS_AT_ONCE)])
    taken = sum(isinstance(one.verdict, Accepted) for one in asked)
    if taken != 1:
        raise Failed(Fault(f"one of {REPEATS_AT_ONCE} bets of {amount} each is done", f"{taken} are done"))
    for one in asked:
        if not isinstance(one.verdict, Accepted | Refused):
            raise Failed(Fault("done, or refused for want of funds", in_words(one.verdict)))
    await stage.owns(before - amount, "one of them was taken")


@case(
    "bet/ok",
    title="Different bets at once are all taken",
    why="A lost update gives the player money that nobody misses until the books are compared.",
    mend="Change the balance by the amount within the database; never read it, compute and write it back.",
)
async def different_bets_at_once(stage: Stage) -> None:
    """Five, of different amounts."""
    before = await stage.balance()
    amounts = [100 + 11 * number for number in range(REPEATS_AT_ONCE)]
    for asked in await stage.at_once([stage.bet(amount) for amount in amounts]):
        stage.must_be_done(asked, "the player can pay all of them")
    await stage.owns(before - sum(amounts), f"bets of {sum(amounts)} in all were taken")


@case(
    "bet/refused_player",
    "bet/refused_not_found",
    "bet/wrong_player",
    title="A bet of a player who is not there is refused",
    why="The stake would be nobody's.",
    mend="Refuse calls about players whom you do not know, with the dialect's code for that.",
)
async def bet_of_nobody(stage: Stage) -> None:
    """Of a player whom no wallet has."""
    await stage.refused(stage.bet(100, player=NOBODY), "there is no such player")


@case(
    "bet/duplicate",
    title="A bet that comes twice is taken once, and is done both times",
    why="Proxies and networks repeat requests; the money moves once however often a transaction comes.",
    mend="Look the transaction's id up before anything moves; answer with what was answered at first.",
)
async def bet_repeated(stage: Stage) -> None:
    """Three times in all."""
    before = await stage.balance()
    bet = stage.bet(130)
    await stage.done(bet, "the player can pay")
    for _ in range(2):
        await stage.done(bet, "an earlier try was done")
    await stage.owns(before - 130, "one bet of 130 was taken, however often it came")


@case(
    "bet/duplicate",
    "bet/server_error",
    title="A bet that comes several times at once is taken once",
    why="The second try may arrive while the first is under way.",
    mend="Make the transaction's id unique in the database; a check before the insert is no protection.",
)
async def bet_repeated_at_once(stage: Stage) -> None:
    """Five times at once, then once more."""
    before = await stage.balance()
    bet = stage.bet(130)
    await stage.repeated_at_once(bet)
    await stage.owns(before - 130, "one bet of 130 was taken, however often it came")


@case(
    "bet/refused_other",
    "bet/wrong_amount",
    title="A bet with another amount under an id that was used is not done",
    why="It is not what was done before; a yes to it is a yes to money that never moved.",
    mend="Compare amount, player, currency and round with what the id stands for; refuse what differs.",
)
async def bet_changed(stage: Stage) -> None:
    """The same ids, one minor unit more."""
    before = await stage.balance()
    bet = stage.bet(130)
    await stage.done(bet, "the player can pay")
    changed = replace(bet, transactions=(Transaction(bet.transactions[0].id, 131),))
    asked = await stage.ask(changed)
    if isinstance(asked.verdict, Accepted):
        raise Failed(Fault("a refusal: under this id 130 were taken, not 131", in_words(asked.verdict)))
    await stage.owns(before - 130, "one bet of 130 was taken")
