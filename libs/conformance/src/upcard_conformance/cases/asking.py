"""Cases of balances, and of who may ask at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from upcard_conformance.cases.case import case
from upcard_conformance.findings import Fault
from upcard_conformance.stage import NOBODY, Failed, Stage, Wrongly, described, in_words
from upcard_seamless.answers import Accepted


@case(
    "balance/ok",
    "balance/duplicate",
    "balance/server_error",
    "balance/unreadable",
    "balance/wrong_*",
    "balance/time_out",
    "balance/late",
    title="A balance is told, as it is now",
    why="The player is shown this figure, in the currency that was asked for.",
    mend="Answer with the player's balance and currency of this moment, from no cache; nothing moves.",
)
async def balance_is_told(stage: Stage) -> None:
    """Asked twice, and again after a win of one minor unit."""
    first = await stage.balance()
    await stage.owns(first, "nothing happened since it was asked for")
    await stage.done(stage.win(1, round_=stage.new_round()), "a win is always paid")
    await stage.owns(first + 1, "one minor unit was won")
    await stage.owns(first + 1, "nothing happened since it was asked for")


@case(
    "balance/refused_*",
    title="The balance of a player who is not there is refused",
    why="A balance of somebody unknown would be shown as if it were money.",
    mend="Refuse calls about players whom you do not know, with the dialect's code for that.",
)
async def balance_of_nobody(stage: Stage) -> None:
    """Of a player whom no wallet has."""
    await stage.refused(stage.look(NOBODY), "there is no such player")


async def _not_believed(stage: Stage, how: Wrongly, why: str) -> None:
    for call in (stage.bet(100), stage.win(30, round_=stage.new_round())):
        before = await stage.balance()
        asked = await stage.ask(call, how)
        if isinstance(asked.verdict, Accepted):
            raise Failed(Fault(f"{described(call)}: not done, {why}", in_words(asked.verdict)))
        await stage.owns(before, f"nothing moves by a call that nobody has to believe: {why}")


_SIGNED: Final = "Whoever can reach the wallet could move money without a key."
_CHECK: Final = "Check the signature over the body's bytes as they came, before anything else is read."


@case(
    "bet/server_error",
    "win/server_error",
    title="A call without a signature moves nothing",
    why=_SIGNED,
    mend=_CHECK,
)
async def unsigned_is_not_done(stage: Stage) -> None:
    """A bet and a win without the header."""
    await _not_believed(stage, Wrongly(signed="not"), "it is not signed")


@case(
    "bet/server_error",
    "win/server_error",
    title="A call that somebody else signed moves nothing",
    why=_SIGNED,
    mend=_CHECK,
)
async def strangers_signature_is_not_done(stage: Stage) -> None:
    """A bet and a win under another secret or key."""
    await _not_believed(stage, Wrongly(signed="by_another"), "it is signed by somebody else")


@case(
    "bet/server_error",
    "win/server_error",
    title="A call with the signature of another body moves nothing",
    why="A signature that was seen once could be put under other amounts.",
    mend=_CHECK,
)
async def other_bodys_signature_is_not_done(stage: Stage) -> None:
    """A bet and a win with our own signature, of other bytes."""
    await _not_believed(stage, Wrongly(signed="other_body"), "the signature is another body's")


@case(
    "bet/refused_other",
    "bet/wrong_currency",
    title="A bet in a currency that the player does not have is refused",
    why="A hundred of one currency are not a hundred of another.",
    mend="Compare the call's currency with the player's before anything moves.",
)
async def bet_in_other_currency(stage: Stage) -> None:
    """The same player, another currency."""
    before = await stage.balance()
    call = replace(stage.bet(100), currency=stage.target.other_currency)
    await stage.refused(call, f"the player has no {stage.target.other_currency}")
    await stage.owns(before, "a refused bet moves nothing")


@case(
    "win/refused_other",
    "win/wrong_currency",
    title="A win in a currency that the player does not have is refused",
    why="A hundred of one currency are not a hundred of another.",
    mend="Compare the call's currency with the player's before anything moves.",
)
async def win_in_other_currency(stage: Stage) -> None:
    """The same player, another currency."""
    before = await stage.balance()
    call = replace(stage.win(100, round_=stage.new_round()), currency=stage.target.other_currency)
    await stage.refused(call, f"the player has no {stage.target.other_currency}")
    await stage.owns(before, "a refused win moves nothing")
