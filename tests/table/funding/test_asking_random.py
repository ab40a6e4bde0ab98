"""Whatever the wallet does to its calls, each command is told once, and what it is told is true. Seeded."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import grpc
import pytest

from tests.table.funding.calls import DEADLINE_S, HELD, REFUSED, UNKNOWN, Observed, all_of, failure, wanted
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_table.adapters.wallet.asking import HoldAsking
from upcard_table.adapters.wallet.settings import AskingSettings

COMMANDS = 400
SETTINGS = AskingSettings(
    waiting_max=150, commands_max=40, wagers_max=60, calls_max=6, head_start_s=0.001, first_pause_s=0.001
)
FAILURES = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.CANCELLED,
)


@dataclass
class MoodyWallet:
    """Decides each command once and for ever; tells it now, later, in part, or not at all."""

    dice: random.Random
    decided: dict[str, pb.PlacedHolds] = field(default_factory=dict)
    open_calls: int = 0
    most_calls: int = 0

    async def __call__(
        self,
        request: pb.AskHoldsRequest,
        *,
        timeout: float,  # noqa: ASYNC109 - as stubs have it
        wait_for_ready: bool,
    ) -> AsyncIterator[pb.AskHoldsResponse]:
        assert wait_for_ready
        assert timeout > 0
        assert 0 < len(request.commands) <= SETTINGS.commands_max
        assert len({command.bet_id for command in request.commands}) == len(request.commands)
        self.open_calls += 1
        self.most_calls = max(self.most_calls, self.open_calls)
        try:
            async with asyncio.timeout(timeout):
                async for answers in self._answers(request):
                    yield answers
        except TimeoutError:
            raise failure(grpc.StatusCode.DEADLINE_EXCEEDED) from None
        finally:
            self.open_calls -= 1

    async def _answers(self, request: pb.AskHoldsRequest) -> AsyncIterator[pb.AskHoldsResponse]:
        dice = self.dice
        if dice.random() < 0.1:
            raise failure(dice.choice(FAILURES))  # it heard nothing
        order = [*enumerate(request.commands)]
        dice.shuffle(order)
        for command in request.commands:
            self.decided.setdefault(command.bet_id, self._decision())
        while order:
            mood = dice.random()
            if mood < 0.04:
                raise failure(dice.choice(FAILURES))
            if mood < 0.08:
                return
            if mood < 0.10:
                await asyncio.sleep(0.02)
            await asyncio.sleep(0)
            part = [order.pop() for _ in range(min(len(order), dice.randrange(1, 30)))]
            answers = [pb.AnsweredHolds(index=at, placed=self.decided[one.bet_id]) for at, one in part]
            yield pb.AskHoldsResponse(answers=answers)

    def _decision(self) -> pb.PlacedHolds:
        outcome = self.dice.choices([HELD, REFUSED, UNKNOWN], [80, 15, 5])[0]
        return pb.PlacedHolds(outcome=outcome, reason="funds_refused" if outcome == REFUSED else "")


@pytest.mark.parametrize("seed", range(6))
async def test_each_command_is_told_once_and_the_truth(seed: int) -> None:
    dice = random.Random(seed)
    wallet, observed = MoodyWallet(dice), Observed()
    asking = HoldAsking(wallet, SETTINGS, observed)
    ending = asyncio.Event()
    running = asyncio.create_task(asking.run(ending))
    loop = asyncio.get_running_loop()
    answers = []
    for number in range(COMMANDS):
        bet = wanted(f"b{number}", *range(1, dice.choice([2, 2, 2, 3, 5])))
        answers.append(asking.ask(bet, loop.time() + dice.choice([0.003, 0.02, 0.5, DEADLINE_S])))
        if dice.random() < 0.2:
            await asyncio.sleep(dice.choice([0, 0.002]))
    told = await all_of(answers)
    ending.set()
    async with asyncio.timeout(DEADLINE_S):
        await running
    assert len(observed.outcomes) == COMMANDS
    assert wallet.most_calls <= SETTINGS.calls_max
    for number, answer in enumerate(told):
        decided = wallet.decided.get(f"b{number}")
        if answer.outcome == "overloaded":
            assert decided is None, "of what was never asked no hold can exist"
        elif answer.outcome != "unknown":
            assert decided is not None
            assert decided.outcome == (HELD if answer.outcome == "held" else REFUSED)
    outcomes = {answer.outcome for answer in told}
    assert outcomes >= {"held", "refused", "unknown"}
