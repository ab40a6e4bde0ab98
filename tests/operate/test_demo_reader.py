from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
import pytest

from rules_core.cards import CARD_TEXTS
from servicekit.grpc import Actor, ActorKind
from servicekit.grpc.signing import acting
from upcard.call.v1.refusal_pb2 import Refusal
from upcard.table.v1 import shoe_pb2, watching_pb2
from upcard_operate.demo import reader
from upcard_operate.demo.reader import ShoeReader, deck_of, settings_from
from upcard_operate.keys import SigningKey
from upcard_operate.output import Misused

WAIT_S = 30.0


class Failed(grpc.aio.AioRpcError):
    """A call that failed."""

    def __init__(self, code: grpc.StatusCode) -> None:
        super().__init__(code, grpc.aio.Metadata(), grpc.aio.Metadata(), "said why")


@dataclass
class Shoe:
    """A table that awaits cards, as far as a reader sees it."""

    to_lay: int
    number: int = 1
    laid: list[str] = field(default_factory=list)
    requests: list[shoe_pb2.ScanCardRequest] = field(default_factory=list)
    answers: list[str | grpc.StatusCode] = field(default_factory=list)
    """What the next scans are answered: a refusal, or a failure. One that may pass was laid all the same."""
    full: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once all lies there."""
    who: set[Actor | None] = field(default_factory=set)

    async def GetRound(self, request: Any, timeout: float) -> Any:  # noqa: N802, ASYNC109 - as the stub has it
        """See the proto."""
        assert (request.table, timeout > 0) == ("t1", True)
        left = self.to_lay - len(self.laid)
        view = {
            "round": self.number,
            "cards": {f"box.1.{n}": "hidden" for n in range(len(self.laid))},
            "burned": [],
            "desk": {"awaited": f"box.1.{len(self.laid)}" if left else None, "to_lay": left},
        }
        return watching_pb2.GetRoundResponse(view=json.dumps(view).encode())

    async def ScanCard(  # noqa: N802 - as the stub has it
        self,
        request: shoe_pb2.ScanCardRequest,
        timeout: float,  # noqa: ASYNC109 - as the stub has it
    ) -> shoe_pb2.ScanCardResponse:
        """See the proto."""
        assert timeout > 0
        self.who.add(acting())
        known = {one.scan_id for one in self.requests}
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, str):
            return shoe_pb2.ScanCardResponse(refusal=Refusal(reason=answer))
        if request.scan_id not in known and answer is not grpc.StatusCode.PERMISSION_DENIED:
            self.laid.append(request.card)
            if len(self.laid) == self.to_lay:
                self.full.set()
        if answer is not None:
            raise Failed(answer)
        return shoe_pb2.ScanCardResponse(laid=shoe_pb2.LaidCard(round=request.round))

    async def read(self, *, seed: int = 7) -> None:
        """Have a reader read until all lies there."""
        stub: Any = self
        task = asyncio.create_task(ShoeReader(stub, stub, "t1", seed=seed).run())
        done = asyncio.create_task(self.full.wait())
        await asyncio.wait({task, done}, timeout=WAIT_S, return_when=asyncio.FIRST_COMPLETED)
        for one in (task, done):
            one.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOOK_S", "HELD_UP_S", "_FIRST_PAUSE_S", "_LONGEST_PAUSE_S"):
        monkeypatch.setattr(reader, name, 0.01)


async def test_what_is_awaited_is_read_in_the_decks_order_by_the_reader_itself() -> None:
    shoe = Shoe(20)
    await shoe.read()
    assert shoe.laid == list(deck_of(7, "t1", 1)[:20])
    assert shoe.who == {Actor(ActorKind.DEALER, "shoe-t1")}
    assert len({one.scan_id for one in shoe.requests}) == 20
    assert len({one.card_salt for one in shoe.requests}) == 20, "a card salt is never used twice"
    assert {len(one.card_salt) for one in shoe.requests} == {16}


async def test_each_round_has_another_deck_of_52_cards() -> None:
    first, second = deck_of(7, "t1", 1), deck_of(7, "t1", 2)
    assert first != second
    assert sorted(first) == sorted(second) == sorted(CARD_TEXTS)
    assert deck_of(7, "t1", 1) == first
    assert deck_of(8, "t1", 1) != first != deck_of(7, "t2", 1)


async def test_a_reader_that_begins_anew_goes_on_where_the_round_is() -> None:
    deck = deck_of(7, "t1", 1)
    shoe = Shoe(20, laid=list(deck[:8]))
    await shoe.read()
    assert shoe.laid == list(deck[:20])


async def test_a_scan_without_an_answer_is_sent_again_under_its_ids() -> None:
    shoe = Shoe(3, answers=[grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED])
    await shoe.read()
    assert shoe.laid == list(deck_of(7, "t1", 1)[:3])
    assert shoe.requests[0] == shoe.requests[1] == shoe.requests[2]


async def test_a_card_that_lies_already_is_left_out() -> None:
    shoe = Shoe(2, answers=["scan_problem"])
    await shoe.read()
    assert shoe.laid == list(deck_of(7, "t1", 1)[1:3])


@pytest.mark.parametrize("reason", ["no_card_awaited", "manual_mode_on", "unheard_of"])
async def test_a_card_that_is_not_taken_comes_first_again(
    reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shoe = Shoe(2, answers=[reason])
    await shoe.read()
    assert shoe.laid == list(deck_of(7, "t1", 1)[:2])
    assert shoe.requests[0].card_salt != shoe.requests[1].card_salt
    said = capsys.readouterr().err
    assert (reason in said) == (reason != "no_card_awaited")
    assert not any(card in said for card in CARD_TEXTS)


async def test_what_fails_again_and_again_ends_the_reader() -> None:
    shoe = Shoe(1, answers=[grpc.StatusCode.PERMISSION_DENIED] * 100)
    with pytest.raises(grpc.aio.AioRpcError):
        await shoe.read()


def test_settings_are_read_and_a_wrong_one_is_told_without_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPCARD_TABLE_ADDRESS", "127.0.0.1:7001")
    key = SigningKey.generate("shoe-1")
    good = {
        "UPCARD_SIGNING_KEY_ID": "shoe-1",
        "UPCARD_SIGNING_KEY": key.pem(),
        "UPCARD_READER_TABLES": "t1,t2",
        "UPCARD_READER_SEED": "7",
        "UPCARD_READER_CARD_S": "0.5",
    }
    found = settings_from(good)
    assert (found.address, found.tables, found.seed, found.card_s) == (
        "127.0.0.1:7001",
        ("t1", "t2"),
        7,
        0.5,
    )
    assert settings_from({**good, "UPCARD_READER_SEED": ""}).seed is None
    for wrong in (
        {"UPCARD_SIGNING_KEY": ""},
        {"UPCARD_SIGNING_KEY": "not a key"},
        {"UPCARD_READER_TABLES": ""},
        {"UPCARD_READER_SEED": "seven"},
    ):
        with pytest.raises(Misused) as told:
            settings_from({**good, **wrong})
        assert "not a key" not in str(told.value)
    monkeypatch.delenv("UPCARD_TABLE_ADDRESS")
    with pytest.raises(Misused):
        settings_from(good)
