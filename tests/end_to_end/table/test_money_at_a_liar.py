"""A partner that says that there are no funds, and takes the money: one that was caught gives it back."""

from __future__ import annotations

import pytest

from tests.end_to_end.table.partnered import (
    ANTE,
    START,
    Partnered,
    bets,
    finish,
    sixth,
    until_window,
)
from tests.end_to_end.table.play import CURRENCY
from tests.messaging.waiting import until
from tests.wallet.partner import Trick

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_what_a_liar_has_refused_and_taken_goes_back(distrusting: Partnered) -> None:
    """At the bet, at the option and at the bet by default; who bets again is none the worse for it."""
    server = distrusting.partner
    table = await distrusting.table(window_ms=2_500)
    names = at_bet, at_option, at_default = await distrusting.guests(3)
    server.script("bet", Trick.DENIES)
    refused = await bets(table, at_bet)
    assert refused.declined.reason == "funds_refused", refused
    await until(lambda: server.balances[at_bet, CURRENCY] == START, what="the money is back")
    for name in names:
        assert (await bets(table, name)).HasField("accepted")
    await until_window(table, "options")
    server.script("bet", Trick.DENIES)
    refused = await sixth(table, at_option)
    assert refused.declined.reason == "funds_refused", refused
    assert (await sixth(table, at_option)).HasField("accepted")
    await table.until_closed(("options", None))
    server.script("bet", Trick.DENIES, Trick.DENIES, Trick.DENIES)
    await finish(table)
    staked = {name: one.staked for name, one in table.settled().items()}
    assert staked == {at_bet: ANTE, at_option: 2 * ANTE, at_default: ANTE}
    await distrusting.explained(table, names)


async def test_an_honest_refusal_of_a_liar_costs_nobody_anything(distrusting: Partnered) -> None:
    """What was refused and not taken is unknown to the partner when it is rolled back."""
    table = await distrusting.table()
    poor, rich = await distrusting.guest(0), await distrusting.guest()
    refused = await bets(table, poor)
    assert refused.declined.reason == "funds_refused", refused
    assert (await bets(table, rich)).HasField("accepted")
    await finish(table)
    await distrusting.explained(table, [rich])
    assert distrusting.partner.balances[poor, CURRENCY] == 0
