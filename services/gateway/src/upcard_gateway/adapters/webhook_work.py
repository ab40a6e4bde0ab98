"""What sends the webhooks that are queued: in every instance, which share the work by claims."""

from __future__ import annotations

import asyncio
import datetime as dt
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final
from uuid import uuid4

from eventstore.postgres import Pool
from eventstore.private import Keyring
from upcard_gateway.adapters.postgres import webhook_queue as queue
from upcard_gateway.adapters.postgres.webhook_queue import Claimed, Noted
from upcard_gateway.adapters.webhook_faults import reach
from upcard_gateway.adapters.webhook_secrets import unsealed
from upcard_gateway.adapters.webhook_sender import Sender
from upcard_gateway.app.people import People
from upcard_gateway.app.webhook_bodies import bodies
from upcard_gateway.app.webhook_observer import Silent, WebhookObserver
from upcard_gateway.domain.webhooks import Decision, Policy, decide
from upcard_platform.webhooks import signed_webhook_headers

_CLAIMED_AT_ONCE: Final = 64
_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 30.0


class WebhookWork:
    """Sends what is due.

    Several at once, few of one endpoint: a slow one keeps its own webhooks waiting alone.
    """

    def __init__(  # noqa: PLR0913 - what it stands on, each a thing of its own
        self,
        pool: Pool,
        people: People,
        sender: Sender,
        keyring: Keyring,
        *,
        policy: Policy,
        now: Callable[[], dt.datetime],
        look_every_s: float = 0.5,
        observer: WebhookObserver | None = None,
    ) -> None:
        """`look_every_s`: how often an idle worker looks for what is due, in seconds."""
        self._pool = pool
        self._people = people
        self._sender = sender
        self._keyring = keyring
        self._policy = policy
        self._now = now
        self._look_every_s = look_every_s
        self._observer = Silent() if observer is None else observer
        self._under_way: dict[asyncio.Task[Noted], str] = {}

    async def run(self, ending: asyncio.Event) -> None:
        """Go on until `ending` is set; tries that are under way are finished and noted first."""
        pause_s = _FIRST_PAUSE_S
        while not ending.is_set():
            try:
                busy = await self._turn()
                pause_s = _FIRST_PAUSE_S
            except Exception as error:  # noqa: BLE001 - a database that is away comes back; it is told and tried again
                self._observer.failed("sending webhooks", error, pause_s)
                await _wait(ending, pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
                continue
            if not busy:
                await self._pause(ending)
        await self._finish()

    async def _turn(self) -> bool:
        """Note what is over, send what is due; whether there may be more at once."""
        over = [task for task in self._under_way if task.done()]
        await self._note(over)
        free = min(self._policy.at_once_in_all - len(self._under_way), _CLAIMED_AT_ONCE)
        if free <= 0:
            return False
        claim = uuid4()
        async with self._pool.acquire() as connection:
            claimed = await queue.claim_due(
                connection, Counter(self._under_way.values()), free, claim, self._policy
            )
        if claimed:
            reach("webhooks.claimed")
            found = await bodies(self._people, [one.message for one in claimed])
            for one, body in zip(claimed, found, strict=True):
                self._under_way[asyncio.create_task(self._send(one, body))] = one.endpoint
        return len(claimed) == free

    async def _send(self, claimed: Claimed, body: bytes) -> Noted:
        secrets = [unsealed(self._keyring, claimed.endpoint, one) for one in claimed.secrets]
        headers = signed_webhook_headers(secrets, claimed.message.webhook, self._now(), body)
        began = asyncio.get_running_loop().time()
        outcome = await self._sender.send(claimed.url, headers, body, timeout_s=self._policy.timeout_s)
        took_s = asyncio.get_running_loop().time() - began
        reach("webhooks.sent")
        decision = _jittered(decide(outcome, claimed.tried, self._policy))
        self._observer.tried(claimed.message.type, outcome, decision, took_s)
        return Noted(claimed, outcome, decision)

    async def _note(self, over: Sequence[asyncio.Task[Noted]]) -> None:
        # Whatever happens they are not under way any more: what is not noted is sent again after its claim.
        for task in over:
            self._under_way.pop(task)
        noted: list[Noted] = []
        for task in over:
            error = task.exception()
            if error is None:
                noted.append(task.result())
            else:
                self._observer.failed("sending a webhook", error, 0.0)
        if not noted:
            return
        async with self._pool.acquire() as connection, connection.transaction():
            await queue.note(connection, noted, self._policy)
        reach("webhooks.noted")
        for one in noted:
            if one.decision.what == "parked":
                self._observer.parked(
                    one.claimed.endpoint, one.claimed.message.webhook, one.outcome.error or ""
                )

    async def _pause(self, ending: asyncio.Event) -> None:
        """Until a try is over, everything ends, or it is time to look again."""
        stopping = asyncio.create_task(ending.wait())
        try:
            await asyncio.wait(
                {stopping, *self._under_way},
                timeout=self._look_every_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            stopping.cancel()

    async def _finish(self) -> None:
        if not self._under_way:
            return
        await asyncio.wait(self._under_way, timeout=self._policy.timeout_s + 1.0)
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        over = [task for task in self._under_way if not task.cancelled()]
        self._under_way = {task: self._under_way[task] for task in over}
        try:
            await self._note(over)
        except Exception as error:  # noqa: BLE001 - it is sent again when its claim is over
            self._observer.failed("noting webhooks", error, 0.0)


async def _wait(ending: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await ending.wait()
    except TimeoutError:
        return


def _jittered(decision: Decision) -> Decision:
    factor = random.uniform(1.0, 1.25)  # noqa: S311 - so that what failed together is not tried together
    return replace(decision, pause_s=decision.pause_s * factor)
