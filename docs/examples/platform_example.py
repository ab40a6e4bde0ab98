"""A platform's first day with Upcard: who am I, a player, money, the lobby, a session, the books.

    export UPCARD_PLATFORM_URL=http://127.0.0.1:8000 UPCARD_KEY=k-… UPCARD_KEY_SECRET=…   # base64
    python docs/examples/platform_example.py

It is for an operator with a transfer wallet. It uses nothing but the package upcard-platform. Run it as often
as you like: each run is another player.
"""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import os
import sys
import uuid

from upcard_platform.client import (
    Day,
    HmacSigner,
    NoAnswer,
    Platform,
    PlatformError,
    Refused,
    every,
    new_request_id,
)
from upcard_platform.models.sessions import EndSession, KeepAlive, Launch, SessionLimits
from upcard_platform.models.wallets import Deposit, Moved, Withdrawal

CURRENCY = "EUR"


def show(line: str) -> None:
    """Tell what has happened."""
    sys.stdout.write(f"{line}\n")


async def paid_in(platform: Platform, player: str, amount: int) -> Moved:
    """Put money into a player's account, once, whatever becomes of the network.

    The request is made before it is sent, and in a real platform it is written down first, in the
    transaction that takes the money from the player's balance there. Whoever has no answer sends the same
    request again, in a minute or tomorrow: what was done is answered as it was the first time.
    """
    request = Deposit(
        request_id=new_request_id(), currency=CURRENCY, amount=amount, reference=str(uuid.uuid4())
    )
    while True:
        try:
            return await platform.wallets.deposit(player, request)
        except NoAnswer as nobody:
            show(f"  {nobody}")
            await asyncio.sleep(5)


async def day_of_a_platform(platform: Platform) -> None:
    """Everything in its order."""
    me = await platform.operator()
    currencies = ", ".join(one.currency for one in me.currencies)
    show(f"We are {me.operator} ({me.environment}, {me.wallet} wallet), and may use {currencies}.")

    show("The lobby:")
    async for table in every(lambda after: platform.lobby.tables(after=after)):
        antes = ", ".join(f"{one.ante.min}-{one.ante.max} {one.currency}" for one in table.limits)
        show(f"  {table.table}: {table.title}, {table.state}, antes {antes}")

    player = f"player-{uuid.uuid4().hex[:8]}"
    launched = await platform.sessions.launch(
        Launch(
            request_id=new_request_id(),
            player=player,
            nickname="Ann",
            currency=CURRENCY,
            country="NL",
            language="en",
            limits=SessionLimits(round_max=50_000),
            cashier_url="https://casino.example/cashier",
        )
    )
    show(f"{player} plays at {launched.launch_url.partition('?')[0]} until {launched.ends_by:%H:%M}.")

    moved = await paid_in(platform, player, 10_000)
    show(f"Paid in {moved.amount}: transaction {moved.transaction}; the player has {moved.balance.cash}.")

    kept = await platform.sessions.keep_alive(launched.session, KeepAlive(request_id=new_request_id()))
    reality = await platform.sessions.reality(launched.session)
    show(f"The session is {kept.state}; {reality.rounds} rounds so far, net {reality.net}.")
    async for played in every(lambda after: platform.rounds.of_player(player, after=after)):
        show(f"  {played.round}: staked {played.staked}, returned {played.returned}; {played.history_url}")

    try:
        too_much = Withdrawal(request_id=new_request_id(), currency=CURRENCY, amount=1_000_000)
        await platform.wallets.withdraw(player, too_much)
    except Refused as refused:
        problem = refused.problem
        show(f"Refused as {problem.code}: money {problem.money}, retry {problem.retry}. {problem.detail}")

    balance = (await platform.wallets.balances(player)).items[0]
    rest = Withdrawal(request_id=new_request_id(), currency=CURRENCY, amount=balance.cash)
    show(f"Paid out {(await platform.wallets.withdraw(player, rest)).amount}.")
    ended = await platform.sessions.end(launched.session, EndSession(request_id=new_request_id()))
    show(f"The session has {ended.state}: {ended.end_reason}.")

    today = dt.datetime.now(dt.UTC).date()
    total, lines = 0, 0
    async for line in every(lambda after: platform.reports.transactions(Day(today), after=after)):
        lines += 1
        total += line.changes.cash if line.player == player else 0
    show(f"Today has {lines} transactions; those of {player} come to {total}.")
    books = await platform.reports.reconciliation(today)
    show(f"The books agree: {books.agrees} ({books.lines} lines, {len(books.differences)} differences).")


async def main() -> int:
    """Run it; 0 when everything was done."""
    try:
        url, key_id = os.environ["UPCARD_PLATFORM_URL"], os.environ["UPCARD_KEY"]
        secret = base64.b64decode(os.environ["UPCARD_KEY_SECRET"], validate=True)
    except KeyError as missing:
        sys.stderr.write(f"Set {missing.args[0]}; see docs/integrate.md.\n")
        return 2
    try:
        async with Platform(url, HmacSigner(key_id, secret)) as platform:
            await day_of_a_platform(platform)
    except PlatformError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
