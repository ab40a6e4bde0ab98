"""Behind the floor's pages: a table service that says what it is told, and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rules_core.canonical import canonical_bytes
from rules_core.command_line.random_round import RandomTable
from rules_core.log.content import parse_content
from rules_core.round.codec import codec_of, event_of
from rules_core.round.evolve import fold
from rules_core.round.sealed import Sealed
from rules_core.round.state import new_round
from rules_core.views.table import table_view
from rules_core.views.viewers import Operations
from servicekit.grpc.signing import acting
from tests.table.domain.tables import config_of
from upcard.call.v1.refusal_pb2 import Refusal
from upcard.table.v1 import table_pb2 as pb
from upcard.table.v1 import watching_pb2
from upcard.wallet.v1 import operator_reports_pb2 as reports_pb

CONFIG: dict[str, Any] = json.loads(canonical_bytes(codec_of(type(config_of())).encode(config_of())))
"""A configuration, plain."""


def view_of(made: RandomTable, events: int | None = None) -> tuple[dict[str, Any], int]:
    """A round's view for operations after so many of its events, and how many these are."""
    contents = made.contents[:events]
    parsed = [parse_content(one) for one in contents]
    state = fold(new_round(made.ruleset), [event_of(one.type, one.version, one.payload) for one in parsed])
    return json.loads(canonical_bytes(table_view(Operations(), state, Sealed()))), len(contents)


@dataclass
class SaidTable:
    """A table service: what it shows, what it was asked to do and by whom, what it answers."""

    tables: dict[str, watching_pb2.TableState] = field(default_factory=dict)
    rounds: dict[tuple[str, int], tuple[dict[str, Any], int]] = field(default_factory=dict)
    asked: list[tuple[str, Any, str]] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    refusal_data: dict[str, str] = field(default_factory=dict)
    decided_by: str = ""
    """Whose word a correction is; empty: of who asks."""
    proposals: dict[str, str] = field(default_factory=dict)

    def show(self, table: str, *, is_open: bool = True, dealer: str = "d1", **more: Any) -> None:
        """Have a table; `more`: fields of its state."""
        details = {
            "config": {**CONFIG, "name": more.pop("name", f"Table {table}")},
            "decks": more.pop(
                "decks", [{"deck": "deck-1", "verified_after_round": 0, "shuffled_after_round": 99}]
            ),
        }
        self.tables[table] = watching_pb2.TableState(
            table=table,
            name=details["config"]["name"],
            ruleset="live-shared@1",
            open=is_open,
            dealer=dealer,
            currencies=["EUR"],
            details=canonical_bytes(details),
            position=3,
            **more,
        )

    def show_round(self, made: RandomTable, number: int, events: int | None = None) -> None:
        """Have a round at its table, after so many of its events."""
        view, position = view_of(made, events)
        self.rounds[made.table, number] = view, position
        state = self.tables[made.table]
        state.round, state.step = number, view["step"]

    async def GetTable(self, request: Any, timeout: float) -> Any:  # noqa: ASYNC109, N802 - as a stub has it
        """A table."""
        assert timeout > 0
        found = self.tables.get(request.table)
        if found is None:
            return watching_pb2.GetTableResponse(refusal=Refusal(reason="table_unknown"))
        return watching_pb2.GetTableResponse(table=found)

    async def ListTables(self, request: Any, timeout: float) -> Any:  # noqa: ASYNC109, N802 - as a stub has it
        """Tables."""
        assert timeout > 0
        after = [one for name, one in sorted(self.tables.items()) if name > request.after]
        return watching_pb2.ListTablesResponse(tables=after)

    async def GetRound(self, request: Any, timeout: float) -> Any:  # noqa: ASYNC109, N802 - as a stub has it
        """A round."""
        assert timeout > 0
        assert "floor" in _roles()
        found = self.rounds.get((request.table, request.round))
        if found is None:
            return watching_pb2.GetRoundResponse(refusal=Refusal(reason="round_unknown"))
        return watching_pb2.GetRoundResponse(view=canonical_bytes(found[0]), position=found[1])

    async def ProposeResettlement(self, request: Any, timeout: float) -> Any:  # noqa: ASYNC109, N802 - likewise
        """A proposal: the same request gives the same one."""
        assert timeout > 0
        self.asked.append(("ProposeResettlement", request, _actor()))
        known = self.proposals.setdefault(
            request.request_id, f"0190a0f3-6f4e-7c2b-8d1a-{len(self.proposals):012}"
        )
        return pb.ProposeResettlementResponse(
            resettlement=pb.Resettlement(
                resettlement=known, table=request.table, round=request.round, proposer=_actor()
            )
        )

    async def DecideResettlement(self, request: Any, timeout: float) -> Any:  # noqa: ASYNC109, N802 - likewise
        """A word on a proposal."""
        assert timeout > 0
        self.asked.append(("DecideResettlement", request, _actor()))
        if (refused := self.refusals.get("DecideResettlement")) is not None:
            told = Refusal(reason=refused, message="a sentence", data=self.refusal_data)
            return pb.DecideResettlementResponse(refusal=told)
        return pb.DecideResettlementResponse(
            resettlement=pb.Resettlement(
                resettlement=request.resettlement,
                table=request.table,
                decided_by=self.decided_by or _actor(),
            )
        )

    def __getattr__(self, name: str) -> Any:
        if not name[0].isupper():
            raise AttributeError(name)

        async def call(request: Any, timeout: float) -> Any:  # noqa: ASYNC109 - as a stub takes it
            assert timeout > 0
            self.asked.append((name, request, _actor()))
            kind = getattr(pb, f"{name}Response")
            if (refused := self.refusals.get(name)) is not None:
                return kind(refusal=Refusal(reason=refused, message="a sentence for logs"))
            changed = pb.RoundChanged if name in {"ExtendWindow", "CancelRound"} else pb.TableChanged
            return kind(changed=changed(round=request.round if hasattr(request, "round") else 0, position=4))

        return call

    def calls(self) -> Sequence[str]:
        """The names of the calls that change something, in their order."""
        return [name for name, _, _ in self.asked]


@dataclass
class SaidWallet:
    """The one call of the wallet that the round's page makes."""

    transactions: dict[tuple[str, str], list[reports_pb.OperatorTransaction]] = field(default_factory=dict)
    lone: dict[tuple[str, str], list[reports_pb.LonePartnerCall]] = field(default_factory=dict)

    async def ListOperatorTransactions(  # noqa: N802 - the name of the call
        self,
        request: Any,
        timeout: float,  # noqa: ASYNC109 - as a stub takes it
    ) -> Any:
        """What a round did to the money of an operator's players."""
        assert timeout > 0
        found = self.transactions.get((request.operator, request.round), [])
        lone = self.lone.get((request.operator, request.round), [])
        page = reports_pb.OperatorTransactions(transactions=found, lone_calls=lone)
        return reports_pb.ListOperatorTransactionsResponse(page=page)


def _actor() -> str:
    actor = acting()
    return "" if actor is None else str(actor)


def _roles() -> frozenset[str]:
    actor = acting()
    return frozenset() if actor is None else actor.roles
