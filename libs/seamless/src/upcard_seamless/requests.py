"""A call as the requests that a partner gets."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from pydantic import JsonValue

from upcard_seamless.amounts import to_partner
from upcard_seamless.calls import Call, movement_of
from upcard_seamless.dialects import Dialect
from upcard_seamless.signing import Signer
from upcard_seamless.templates import fill


@dataclass(frozen=True, slots=True)
class Request:
    """One POST: its path follows the partner's address."""

    call: Call
    """What this request asks: with dialects of single transactions a part of the call."""
    network: UUID
    path: str
    headers: dict[str, str]
    body: bytes
    values: dict[str, JsonValue]
    """What its variables stood for: an answer is compared with them."""


def parts_of(dialect: Dialect, call: Call) -> Sequence[Call]:
    """The call as it goes out: whole, or a transaction at a time, in their order."""
    if dialect.transactions == "batch" or len(call.transactions) <= 1:
        return [call]
    return [replace(call, transactions=(one,)) for one in call.transactions]


def request_of(dialect: Dialect, call: Call, network: UUID, signer: Signer) -> Request:
    """One request, signed; the call is one of `parts_of`. But for `$network` it is the same in each try."""
    shape = dialect.calls[call.kind]

    def amount(minor: int) -> JsonValue:
        return to_partner(dialect.amounts, call.currency, minor)

    of_call: dict[str, JsonValue] = {
        "$network": str(network),
        "$call": str(call.call),
        "$operator": call.operator,
        "$player": call.player,
        "$currency": call.currency,
        "$round": call.round,
        "$closes_round": call.closes_round,
        "$total": amount(call.total),
    }
    transactions = [_of_transaction(call, place, amount) for place in range(len(call.transactions))]
    body = json.dumps(fill(shape.body, of_call, transactions), separators=(",", ":")).encode()
    values = {**of_call, **transactions[0]} if len(transactions) == 1 else of_call
    headers = {
        "Content-Type": "application/json",
        dialect.signature.header: signer.sign(body),
        **{name: str(values.get(value, value)) for name, value in dialect.headers.items()},
    }
    return Request(call, network, shape.path, headers, body, values)


def _of_transaction(call: Call, place: int, amount: Callable[[int], JsonValue]) -> dict[str, JsonValue]:
    one = call.transactions[place]
    return {
        "$transaction": str(one.id),
        "$movement": str(movement_of(call.kind, call.call, one.id)),
        "$amount": amount(one.amount),
    }
