"""A table service that a test scripts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.message import Message

from servicekit.grpc import Actor
from servicekit.grpc.signing import acting
from upcard.call.v1.refusal_pb2 import Refusal
from upcard.table.v1 import table_pb2 as pb
from upcard.table.v1 import watching_pb2

STAFF: Final = "s-dealer"
CLOSES_AT: Final = "2026-01-31T12:00:20.000000Z"
_OF_ROUND: Final = frozenset(
    {"CloseBetting", "ConfirmCards", "LayCardByHand", "CorrectCardByHand", "BurnCardByHand", "CancelRound"}
)


class FakeAway(grpc.aio.AioRpcError):
    """A call that failed."""

    def __init__(self, code: grpc.StatusCode) -> None:
        super().__init__(code, grpc.aio.Metadata(), grpc.aio.Metadata(), "it is said why")


@dataclass
class FakeTables:
    """Answers as the table service would; keeps what was asked of it, and in whose name."""

    states: dict[str, watching_pb2.TableState] = field(default_factory=dict)
    views: dict[str, dict[str, Any]] = field(default_factory=dict)
    refusals: dict[str, Refusal] = field(default_factory=dict)
    """By call; once."""
    failures: dict[str, grpc.StatusCode] = field(default_factory=dict)
    """By call; for ever."""
    calls: list[tuple[str, Any, Actor | None]] = field(default_factory=list)
    members: dict[str, str] = field(default_factory=dict)
    """Ids in the scripts, and those that they stand for."""

    def acts(self) -> list[tuple[str, Any, Actor | None]]:
        """The calls that change something."""
        return [one for one in self.calls if not one[0].startswith(("Get", "List"))]

    async def ListTables(self, request: Any, timeout: float) -> Any:  # noqa: N802, ASYNC109 - as the stub has it
        """See the proto."""
        self._called("ListTables", request, timeout)
        return watching_pb2.ListTablesResponse(tables=[self._state(name) for name in sorted(self.states)])

    async def GetTable(self, request: Any, timeout: float) -> Any:  # noqa: N802, ASYNC109 - as the stub has it
        """See the proto."""
        self._called("GetTable", request, timeout)
        if request.table not in self.states:
            refusal = Refusal(reason="table_unknown", message="no such table")
            return watching_pb2.GetTableResponse(refusal=refusal)
        return watching_pb2.GetTableResponse(table=self._state(request.table))

    async def GetRound(self, request: Any, timeout: float) -> Any:  # noqa: N802, ASYNC109 - as the stub has it
        """See the proto."""
        self._called("GetRound", request, timeout)
        view = self.views.get(request.table)
        if view is None:
            refusal = Refusal(reason="round_unknown", message="no such round")
            return watching_pb2.GetRoundResponse(refusal=refusal)
        return watching_pb2.GetRoundResponse(view=json.dumps(view).encode(), position=9)

    def __getattr__(self, name: str) -> Any:
        """Every call that changes something."""
        kind = getattr(pb, f"{name}Response", None)
        if kind is None:
            raise AttributeError(name)

        async def call(request: Message, timeout: float) -> Message:  # noqa: ASYNC109 - as the stub has it
            self._called(name, request, timeout)
            if name in self.refusals:
                return kind(refusal=self.refusals.pop(name))  # type: ignore[no-any-return]  # a message
            changed: Message = pb.TableChanged(position=7, round=4 if name == "OpenRound" else 0)
            if name in _OF_ROUND:
                changed = pb.RoundChanged(round=4, position=12)
            return kind(changed=changed)  # type: ignore[no-any-return]  # a message

        return call

    def _state(self, table: str) -> watching_pb2.TableState:
        found = watching_pb2.TableState()
        found.CopyFrom(self.states[table])
        found.dealer = self.members.get(found.dealer, found.dealer)
        return found

    def _called(self, name: str, request: Any, timeout: float) -> None:
        assert timeout > 0, "every call has a deadline"
        self.calls.append((name, request, acting()))
        if name in self.failures:
            raise FakeAway(self.failures[name])


def state(table: str = "t1", **more: Any) -> watching_pb2.TableState:
    """A table that is open, with a verified deck, where STAFF deals."""
    decks = more.pop("decks", [{"deck": "deck-1", "verified_after_round": 0, "shuffled_after_round": 3}])
    given: dict[str, Any] = {
        "table": table,
        "name": "Live one",
        "ruleset": "live-shared@1",
        "open": True,
        "dealer": STAFF,
        "round": 3,
        "step": "settled",
        "details": json.dumps({"config": {"confirm_cards_ms": 1_000}, "decks": decks}).encode(),
    }
    return watching_pb2.TableState(**{**given, **more})


def view(step: str = "deal", **more: Any) -> dict[str, Any]:
    """A round as its dealer sees it: by default dealt, with nothing laid yet."""
    desk = {"undecided": 0, "awaited": None, "to_lay": 0, "confirm": False, **more.pop("desk", {})}
    given: dict[str, Any] = {
        "viewer": "dealer",
        "table": "t1",
        "round": 3,
        "ruleset": "live-shared@1",
        "step": step,
        "progress": [{"window": "betting", "status": "over"}, {"window": "options", "status": "ahead"}],
        "window": None,
        "cards": {},
        "burned": [],
        "corrected": [],
        "dealer": {"hand": None, "final": None},
        "boxes": [{"box": box, "dealt": True, "hand": None, "play": None} for box in (1, 2, 3)],
        "desk": desk,
    }
    return {**given, **more}


def window(kind: str, closes_at: str = CLOSES_AT) -> Mapping[str, Any]:
    """An open window."""
    return {"kind": kind, "box": None, "closes_at": closes_at, "extended_ms": 0}
