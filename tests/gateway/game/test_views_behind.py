"""Views follow the log by a moment: limits are judged by one that knows of what was accepted before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from upcard.table.v1 import watching_pb2
from upcard.table.v1.table_pb2_grpc import TableServiceStub
from upcard_gateway.adapters import table_play
from upcard_gateway.adapters.table_play import GrpcTablePlay
from upcard_gateway.app.game_orders import TableAway


@dataclass
class Behind:
    """A table service whose view knows of one event more at each question."""

    position: int = 2
    asked: list[int] = field(default_factory=list)

    async def GetRound(self, request: watching_pb2.GetRoundRequest, **_: Any) -> Any:  # noqa: N802 - the call's name
        self.asked.append(request.round)
        self.position += 1
        view = b'{"own": {"known": %d}}' % self.position
        return watching_pb2.GetRoundResponse(view=view, position=self.position)


async def test_a_view_is_waited_for_that_knows_of_what_was_accepted() -> None:
    service = Behind()
    table = GrpcTablePlay(cast("TableServiceStub", service))
    assert await table.own("t1", 7, "p1", "EUR", 5) == {"known": 5}
    assert service.asked == [7, 7, 7]
    assert await table.own("t1", 7, "p1", "EUR") == {"known": 6}


async def test_one_that_never_knows_is_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_play, "VIEW_S", 0.2)
    table = GrpcTablePlay(cast("TableServiceStub", Behind()))
    with pytest.raises(TableAway):
        await table.own("t1", 7, "p1", "EUR", 1_000)
