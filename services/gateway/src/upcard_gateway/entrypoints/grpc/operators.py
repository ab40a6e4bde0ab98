"""The calls about operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import grpc.aio

from eventstore import StreamAppend
from eventstore.postgres import Connection
from servicekit.answering import answer_once, invalid, read
from upcard.gateway.v1 import gateway_pb2 as pb
from upcard.gateway.v1 import gateway_pb2_grpc as pb_grpc
from upcard_gateway.app.administering import (
    Refused,
    add_key,
    change_operator,
    register_operator,
    revoke_key,
    shown_secret,
)
from upcard_gateway.domain.operators import Operator, OperatorRegistered
from upcard_gateway.entrypoints.grpc import messages
from upcard_gateway.entrypoints.grpc.desk import Desk, check_role, origin

Context = grpc.aio.ServicerContext[Any, Any]
Appends = Sequence[StreamAppend]

_MOST: Final = 500
_USUAL: Final = 100
_UNKNOWN: Final = Refused("operator_unknown", "no operator of this id is registered")


class OperatorCalls(pb_grpc.GatewayServiceServicer):
    """All calls of the gateway."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def RegisterOperator(  # noqa: N802 - the name of the call
        self,
        request: pb.RegisterOperatorRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.RegisterOperatorResponse:
        """Register an operator."""
        check_role()
        wanted = OperatorRegistered(
            messages.operator_id(request.operator),
            messages.environment(request.environment),
            messages.wallet(request.wallet),
            messages.terms(request.terms),
        )

        async def work(connection: Connection) -> tuple[pb.RegisterOperatorResponse, Appends]:
            done = await register_operator(self._desk.admin, connection, wanted, origin())
            if isinstance(done, Refused):
                return pb.RegisterOperatorResponse(refusal=messages.refusal(done)), ()
            return pb.RegisterOperatorResponse(operator=messages.operator(done.operator)), done.appends

        return await answer_once(self._desk.answering, request, pb.RegisterOperatorResponse, work)

    async def ChangeOperator(  # noqa: N802 - the name of the call
        self,
        request: pb.ChangeOperatorRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ChangeOperatorResponse:
        """Give an operator other terms."""
        check_role()
        operator, terms = messages.operator_id(request.operator), messages.terms(request.terms)

        async def work(connection: Connection) -> tuple[pb.ChangeOperatorResponse, Appends]:
            done = await change_operator(self._desk.admin, connection, operator, terms, origin())
            if isinstance(done, Refused):
                return pb.ChangeOperatorResponse(refusal=messages.refusal(done)), ()
            return pb.ChangeOperatorResponse(operator=messages.operator(done.operator)), done.appends

        return await answer_once(self._desk.answering, request, pb.ChangeOperatorResponse, work)

    async def AddKey(  # noqa: N802 - the name of the call
        self,
        request: pb.AddKeyRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.AddKeyResponse:
        """Let an operator sign with a further key. No stored answer has the secret: it is put in at last."""
        check_role()
        operator, algorithm = messages.operator_id(request.operator), messages.algorithm(request.algorithm)
        admin = self._desk.admin

        async def work(connection: Connection) -> tuple[pb.AddKeyResponse, Appends]:
            try:
                done = await add_key(
                    admin, connection, operator, algorithm, request.public_key or None, origin()
                )
            except ValueError as error:
                raise invalid(f"public_key: {error}") from None
            if isinstance(done, Refused):
                return pb.AddKeyResponse(refusal=messages.refusal(done)), ()
            added = pb.AddedKey(key=messages.key(done[1]))
            return pb.AddKeyResponse(added=added), done[0].appends

        answer = await answer_once(self._desk.answering, request, pb.AddKeyResponse, work)
        if answer.HasField("added"):
            key_id = answer.added.key.key_id

            async def secret(connection: Connection) -> bytes:
                found = await admin.tables.find(connection, operator)
                key = found.keys.get(key_id) if found is not None else None
                return b"" if key is None else await shown_secret(admin, connection, key) or b""

            answer.added.secret = await read(self._desk.answering, secret)
        return answer

    async def RevokeKey(  # noqa: N802 - the name of the call
        self,
        request: pb.RevokeKeyRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.RevokeKeyResponse:
        """Let an operator not sign with a key any more."""
        check_role()
        operator = messages.operator_id(request.operator)

        async def work(connection: Connection) -> tuple[pb.RevokeKeyResponse, Appends]:
            done = await revoke_key(self._desk.admin, connection, operator, request.key_id, origin())
            if isinstance(done, Refused):
                return pb.RevokeKeyResponse(refusal=messages.refusal(done)), ()
            revoked = messages.key(done.operator.keys[request.key_id])
            return pb.RevokeKeyResponse(key=revoked), done.appends

        return await answer_once(self._desk.answering, request, pb.RevokeKeyResponse, work)

    async def ListOperators(  # noqa: N802 - the name of the call
        self,
        request: pb.ListOperatorsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListOperatorsResponse:
        """A page of operators."""
        check_role()
        if not 0 <= request.limit <= _MOST:
            raise invalid(f"limit is 0 to {_MOST}")
        limit = request.limit or _USUAL

        async def work(connection: Connection) -> tuple[Operator, ...]:
            return await self._desk.admin.tables.page(connection, request.after, limit + 1)

        found = await read(self._desk.answering, work)
        return pb.ListOperatorsResponse(
            operators=[messages.operator(one) for one in found[:limit]], more=len(found) > limit
        )

    async def GetOperator(  # noqa: N802 - the name of the call
        self,
        request: pb.GetOperatorRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.GetOperatorResponse:
        """One operator."""
        check_role()
        operator = messages.operator_id(request.operator)

        async def work(connection: Connection) -> Operator | None:
            return await self._desk.admin.tables.find(connection, operator)

        found = await read(self._desk.answering, work)
        if found is None:
            return pb.GetOperatorResponse(refusal=messages.refusal(_UNKNOWN))
        return pb.GetOperatorResponse(operator=messages.operator(found))
