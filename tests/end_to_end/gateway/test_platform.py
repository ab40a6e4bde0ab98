"""A platform with a transfer wallet: from the first signed call to a day that agrees, over real processes."""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from stack.project import project_folder
from tests.end_to_end.gateway.dealing import ANTE, ScriptedTable, ante
from tests.end_to_end.gateway.processes import CURRENCY, SEAMLESS, TRANSFER, WAIT_S, Edge, fresh, until
from upcard_platform.client import HmacSigner, OneRound, Patience, Platform, Refused, every
from upcard_platform.models.sessions import EndSession, KeepAlive, Launched, Redeem, Redeemed
from upcard_platform.models.wallets import Deposit, Moved, Withdrawal

pytestmark = pytest.mark.asyncio(loop_scope="module")

EXAMPLE = project_folder() / "docs" / "examples" / "platform_example.py"
PAID_IN = 10_000
STAKED = 6 * ANTE
RETURNED = 5 * ANTE + 7 * ANTE
"""Box 1: the ante back, the bet at 1:1. Box 2: the ante back, the bet at 2:1 for its pair and ace-king."""


@dataclass
class Played:
    """What there is to look at: one round of one player."""

    edge: Edge
    platform: Platform
    launched: Launched
    round: str
    began: dt.datetime

    @property
    def player(self) -> str:
        """The platform's own id."""
        return self.launched.player


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def played(edge: Edge) -> AsyncIterator[Played]:
    platform = edge.platforms[TRANSFER]
    began = dt.datetime.now(dt.UTC)
    launched = await edge.launched(TRANSFER, "p1")
    deposit = Deposit(request_id=fresh(), currency=CURRENCY, amount=PAID_IN, reference="pay-1")
    first = await platform.wallets.deposit("p1", deposit)
    assert await platform.wallets.deposit("p1", deposit) == first, "the original answer, and no money twice"
    assert first.balance.cash == PAID_IN
    table = ScriptedTable(edge.casino, "t-platform")
    await table.open()
    who, said = launched.player_ref, []

    async def betting(number: int) -> None:
        said.append(await table.bet(number, who, ante(1), ante(2)))

    async def options(number: int) -> None:
        said.append(await table.choose_bet(number, who, 2))

    number = await table.play({"betting": betting, "options": options})
    assert said == ["accepted", "accepted"]
    yield Played(edge, platform, launched, f"t-platform.{number}", began)


async def test_a_platform_knows_who_it_is(edge: Edge) -> None:
    for operator, wallet in ((TRANSFER, "transfer"), (SEAMLESS, "seamless")):
        found = await edge.platforms[operator].operator()
        assert (found.operator, found.wallet, found.environment) == (operator, wallet, "live")
        assert [key.key for key in found.keys] == [found.signed_with]


async def test_the_money_is_what_the_rules_say(played: Played) -> None:
    async def cash() -> int:
        (balance,) = (await played.platform.wallets.balances(played.player)).items
        return balance.cash - balance.held

    await until("the settled balance", cash, lambda found: found == PAID_IN - STAKED + RETURNED)


async def test_the_table_is_in_the_lobby(played: Played) -> None:
    tables = [one async for one in every(lambda after: played.platform.lobby.tables(limit=1, after=after))]
    (table,) = [one for one in tables if one.table == "t-platform"]
    assert table.ruleset == "live-shared@1"
    assert [one.currency for one in table.limits] == [CURRENCY]
    limits = await played.platform.lobby.limits("t-platform")
    assert limits.currencies[0].currency == CURRENCY
    payouts = await played.platform.lobby.payouts("t-platform")
    assert {one.hand: one.pays for one in payouts.bet}["royal_flush"] == 100
    rules = await played.platform.lobby.rules("t-platform")
    page = await played.platform.lobby.rules_page("t-platform")
    assert page.lower().startswith("<!doctype html>")
    assert rules.sections[0].title in page


async def test_the_round_is_told_as_it_was(played: Played) -> None:
    async def rounds() -> list[str]:
        found = await played.platform.rounds.of_player(played.player)
        return [one.round for one in found.items if one.state == "settled"]

    await until("the round in history", rounds, lambda found: played.round in found)
    detail = await played.platform.rounds.detail(played.player, played.round)
    assert (detail.staked, detail.returned) == (STAKED, RETURNED)
    open_box = next(one for one in detail.boxes if one.box == 2)
    assert open_box.cards == ["As", "Ah", "Kd", "7c", "2s"]
    assert (open_box.option, open_box.outcome) == ("bet", "win")
    assert detail.words
    events = [
        one.type
        async for one in every(
            lambda after: played.platform.rounds.events(played.player, played.round, limit=10, after=after)
        )
    ]
    assert events[0] == "RoundOpened"
    assert "RoundSettled" in events
    everybody = await played.platform.rounds.of_players(played.round)
    assert [one.player for one in everybody.items] == [played.player]


async def test_a_link_shows_the_round_to_whoever_has_it(played: Played) -> None:
    link = await played.platform.rounds.link(played.player, played.round)
    assert link == await played.platform.rounds.link(played.player, played.round)
    async with httpx.AsyncClient() as browser:
        page = await browser.get(link.history_url)
        other = await browser.get(link.history_url[:-2])
    assert page.status_code == 200
    assert "script" not in page.headers["content-security-policy"].replace("script-src 'none'", "")
    assert played.round in page.text
    assert other.status_code == 404


async def test_another_operator_sees_nothing_of_it(played: Played) -> None:
    other = played.edge.platforms[SEAMLESS]
    for call in (
        other.rounds.detail(played.player, played.round),
        other.rounds.of_player(played.player),
        other.sessions.of_player(played.player),
        other.sessions.get(played.launched.session),
        other.rounds.of_players(played.round),
    ):
        with pytest.raises(Refused) as refused:
            await call
        assert refused.value.problem.status == 404
    lines = await other.reports.transactions(OneRound(played.round))
    assert lines.items == []


async def test_every_line_is_traced_and_the_day_agrees(played: Played) -> None:
    platform = played.platform
    lines = await platform.reports.transactions(OneRound(played.round))
    assert sum(line.changes.cash + line.changes.held for line in lines.items) == RETURNED - STAKED
    assert all(line.event for line in lines.items)
    assert [line.cause_event for line in lines.items if line.kind == "settlement"] != [None]
    until_now = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=1)
    statement = await platform.reports.statement(played.player, CURRENCY, played.began, until_now)
    assert (statement.opening.cash, statement.closing.cash) == (0, PAID_IN - STAKED + RETURNED)
    assert sum(line.cash for line in statement.items) == statement.closing.cash
    csv = [line async for line in platform.reports.transactions_csv(OneRound(played.round))]
    assert len(csv) == 1 + len(lines.items)
    day = await until(
        "a day that agrees",
        lambda: platform.reports.reconciliation(played.began.date()),
        lambda found: bool(found.agrees),
    )
    assert (day.checked, day.differences) == (True, [])
    (have,) = [one for one in day.balances if one.currency == CURRENCY]
    assert have.closing.cash == PAID_IN - STAKED + RETURNED


async def test_webhooks_come_signed_and_are_listed(played: Played) -> None:
    receiver = played.edge.receivers[TRANSFER]
    (webhook,) = await receiver.until(1, "round_ended")
    ended = webhook.round_ended
    assert (ended.round, ended.what) == (played.round, "settled")
    (player,) = ended.players
    assert (player.player, player.staked, player.returned) == (played.player, STAKED, RETURNED)
    delivery = await until(
        "a delivered webhook",
        lambda: played.platform.webhooks.get(webhook.id),
        lambda found: found.state == "delivered",
    )
    listed = await played.platform.webhooks.list(type="round_ended")
    assert delivery in listed.items
    other = played.edge.receivers[SEAMLESS]
    assert [one for one in other.received if one.type == "round_ended"] == [], "its players were not there"
    assert receiver.refused == other.refused == []


async def test_a_session_is_redeemed_once_kept_and_ended(edge: Edge) -> None:
    platform = edge.platforms[TRANSFER]
    launched = await edge.launched(TRANSFER, "p2")
    body = Redeem(token=launched.launch_token).model_dump()
    async with httpx.AsyncClient(base_url=edge.fleet.platform_url) as page:
        first = await page.post("/v1/launch", json=body)
        second = await page.post("/v1/launch", json=body)
    assert Redeemed.model_validate_json(first.content).session == launched.session
    assert (second.status_code, second.json()["code"]) == (403, "launch_token_invalid")
    kept = await platform.sessions.keep_alive(launched.session, KeepAlive(request_id=fresh()))
    assert kept.state == "live"
    reality = await platform.sessions.reality(launched.session)
    assert (reality.rounds, reality.net) == (0, 0)
    again = await edge.launched(TRANSFER, "p2")
    former = await platform.sessions.get(launched.session)
    assert (former.state, former.end_reason) == ("ended", "replaced")
    ended = await platform.sessions.end(again.session, EndSession(request_id=fresh()))
    assert (ended.state, ended.end_reason) == ("ended", "platform")
    with pytest.raises(Refused, match="session_ended"):
        await platform.sessions.keep_alive(again.session, KeepAlive(request_id=fresh()))
    listed = await platform.sessions.of_player("p2")
    assert [one.session for one in listed.items] == [again.session, launched.session]


async def test_more_than_there_is_cannot_be_withdrawn(edge: Edge) -> None:
    platform = edge.platforms[TRANSFER]
    await edge.launched(TRANSFER, "p3")
    deposit = Deposit(request_id=fresh(), currency=CURRENCY, amount=500)
    await platform.wallets.deposit("p3", deposit)
    with pytest.raises(Refused, match="request_id_reused") as reused:
        await platform.wallets.deposit("p3", deposit.model_copy(update={"amount": 600}))
    assert reused.value.problem.money == "none_moved"
    withdrawal = Withdrawal(request_id=fresh(), currency=CURRENCY, amount=501)
    with pytest.raises(Refused, match="funds_refused"):
        await platform.wallets.withdraw("p3", withdrawal)
    moved = await platform.wallets.withdraw(
        "p3", Withdrawal(request_id=fresh(), currency=CURRENCY, amount=500)
    )
    assert moved.balance.cash == 0


async def test_the_example_of_the_documentation_runs(edge: Edge) -> None:
    key = edge.keys[TRANSFER]
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, str(EXAMPLE)],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
        env={
            "PATH": "/usr/bin:/bin",
            "UPCARD_PLATFORM_URL": edge.fleet.platform_url,
            "UPCARD_KEY": key.key.key_id,
            "UPCARD_KEY_SECRET": base64.b64encode(key.secret).decode(),
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for said in (
        f"We are {TRANSFER} (live, transfer wallet)",
        "Paid in 10000",
        "Refused as funds_refused",
        "Paid out 10000",
        "has ended: platform",
        "The books agree: True",
    ):
        assert said in done.stdout
    assert "come to 0." in done.stdout, "what came in has gone out"


async def test_the_commands_of_the_documentation_run(edge: Edge) -> None:
    text = (project_folder() / "docs" / "integrate.md").read_text(encoding="utf-8")
    (commands,) = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    done = await asyncio.to_thread(
        subprocess.run,
        ["/bin/sh", "-e", "-c", commands],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", **edge.fleet.environment()},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "casino-1" in done.stdout
    assert "secret" in done.stdout


async def test_a_gateway_that_is_killed_moves_no_money_twice(edge: Edge) -> None:
    await edge.launched(TRANSFER, "p4")
    key, gateway = edge.keys[TRANSFER], edge.fleet.processes["gateway"]
    signer = HmacSigner(key.key.key_id, key.secret)
    patience = Patience(attempts=200, in_all_s=2 * WAIT_S, each_s=5.0, longest_pause_s=0.5)
    requests = [Deposit(request_id=fresh(), currency=CURRENCY, amount=amount) for amount in range(1, 41)]
    some_done, turns = asyncio.Event(), asyncio.Semaphore(4)

    async with Platform(edge.fleet.platform_url, signer, patience=patience) as platform:

        async def deposit(request: Deposit) -> Moved:
            async with turns:
                moved = await platform.wallets.deposit("p4", request)
            some_done.set()
            return moved

        def killed_and_started() -> None:
            gateway.kill()
            gateway.start()
            gateway.until_ready(WAIT_S)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(deposit(request)) for request in requests]
            await some_done.wait()
            await asyncio.to_thread(killed_and_started)
        answers = [task.result() for task in tasks]
        assert len({one.transaction for one in answers}) == len(requests)
        assert [await platform.wallets.deposit("p4", one) for one in requests] == answers
        (balance,) = (await platform.wallets.balances("p4")).items
    assert balance.cash == sum(request.amount for request in requests)


async def test_a_seamless_operator_has_no_transfer_wallet(edge: Edge) -> None:
    await edge.launched(SEAMLESS, "p1")
    deposit = Deposit(request_id=fresh(), currency=CURRENCY, amount=500)
    with pytest.raises(Refused, match="wallet_is_seamless") as refused:
        await edge.platforms[SEAMLESS].wallets.deposit("p1", deposit)
    assert (refused.value.problem.money, refused.value.problem.retry) == ("none_moved", "never")
