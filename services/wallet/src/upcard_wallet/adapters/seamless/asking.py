"""Asking a partner once, and saying what came of it in our own words."""

import asyncio
from dataclasses import dataclass
from typing import Final, assert_never
from uuid import UUID, uuid4

from upcard_seamless.decisions import row_of
from upcard_wallet.adapters.seamless.observer import SeamlessObserver
from upcard_wallet.adapters.seamless.partner import (
    Accepted,
    Call,
    NotSent,
    Partner,
    Refused,
    Unclear,
    Verdict,
)
from upcard_wallet.adapters.seamless.queue import Said
from upcard_wallet.adapters.seamless.settings import PartnerSettings
from upcard_wallet.app.purse import HELD, UNKNOWN, Outcome, refused

_DETAIL_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class PartnerAt:
    """One operator's partner and how it is called."""

    partner: Partner
    settings: PartnerSettings


async def ask(
    partner: Partner, call: Call, timeout_s: float, observer: SeamlessObserver
) -> tuple[Verdict, Said]:
    """Ask once, for no longer than the timeout whatever the dialect does."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    network = uuid4()
    verdict: Verdict
    try:
        async with asyncio.timeout(timeout_s + 0.5):
            verdict = await partner.ask(call, timeout_s=timeout_s, network=network)
    except TimeoutError as error:
        verdict = Unclear(type(error).__name__, kind="time_out")
    except Exception as error:  # noqa: BLE001 - a dialect that breaks is a partner that does not answer
        verdict = Unclear(type(error).__name__)
    took_s = loop.time() - began
    observer.answered(call.operator, call.kind, verdict, took_s)
    return verdict, said(call, verdict, took_s, network)


def name_of(verdict: Verdict) -> str:
    """A verdict as a slug."""
    match verdict:
        case Accepted():
            return "accepted"
        case Refused(why=why):
            return f"refused_{why}"
        case NotSent():
            return "not_sent"
        case Unclear(contradicts=contradicts):
            return "contradicts" if contradicts else "unclear"
        case _:
            assert_never(verdict)


def said(call: Call, verdict: Verdict, took_s: float, network: UUID) -> Said:
    """The answer as it is kept for disputes, with the id under which the partner saw the try."""
    detail = "" if isinstance(verdict, Accepted) else storable(verdict.detail)
    return Said(call.call, round(took_s * 1000), name_of(verdict), detail, network)


def storable(text: str) -> str:
    """A partner's words as the database can keep them: 200 printable ASCII characters, whatever they were."""
    return ascii(text)[1:-1][:_DETAIL_MAX]


def outcome_of(verdict: Verdict) -> Outcome:
    """What an answer to a bet means for its holds, as the decision table has it."""
    row = row_of("bet", verdict.answer)
    match row.state:
        case "held":
            return HELD
        case "refused":
            return refused(row.message)
        case _:
            return UNKNOWN
