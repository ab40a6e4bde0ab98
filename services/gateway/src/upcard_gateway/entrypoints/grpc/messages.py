"""Operators as messages, and messages as operators."""

from __future__ import annotations

import datetime as dt
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from servicekit.answering import invalid
from upcard.call.v1 import refusal_pb2
from upcard.gateway.v1 import gateway_pb2 as pb
from upcard_gateway.app.administering import Refused
from upcard_gateway.domain.operators import (
    USUAL_RATE_BURST,
    USUAL_RATE_PER_S,
    Algorithm,
    CurrencyLimits,
    Environment,
    Key,
    Operator,
    Terms,
    WalletKind,
    is_operator_id,
)

_ENVIRONMENTS: Final[dict[pb.Environment.ValueType, Environment]] = {
    pb.ENVIRONMENT_SANDBOX: "sandbox",
    pb.ENVIRONMENT_LIVE: "live",
}
_WALLETS: Final[dict[pb.WalletKind.ValueType, WalletKind]] = {
    pb.WALLET_KIND_TRANSFER: "transfer",
    pb.WALLET_KIND_SEAMLESS: "seamless",
}
_ALGORITHMS: Final[dict[pb.Algorithm.ValueType, Algorithm]] = {
    pb.ALGORITHM_HMAC_SHA256: "hmac-sha256",
    pb.ALGORITHM_RSA_SHA256: "rsa-sha256",
}
_BY_ENVIRONMENT: Final = {word: value for value, word in _ENVIRONMENTS.items()}
_BY_WALLET: Final = {word: value for value, word in _WALLETS.items()}
_BY_ALGORITHM: Final = {word: value for value, word in _ALGORITHMS.items()}


def operator_id(text: str) -> str:
    """An operator's id. Raises CallError."""
    if not is_operator_id(text):
        raise invalid("operator: 1 to 64 letters, digits, - and _")
    return text


def environment(value: pb.Environment.ValueType) -> Environment:
    """An environment. Raises CallError: not said."""
    if value not in _ENVIRONMENTS:
        raise invalid("environment is not said")
    return _ENVIRONMENTS[value]


def wallet(value: pb.WalletKind.ValueType) -> WalletKind:
    """Where money lies. Raises CallError: not said."""
    if value not in _WALLETS:
        raise invalid("wallet is not said")
    return _WALLETS[value]


def algorithm(value: pb.Algorithm.ValueType) -> Algorithm:
    """How a key signs. Raises CallError: not said."""
    if value not in _ALGORITHMS:
        raise invalid("algorithm is not said")
    return _ALGORITHMS[value]


def terms(message: pb.Terms) -> Terms:
    """Terms of an operator. Raises CallError for what cannot be."""
    try:
        return Terms(
            message.name,
            tuple(
                CurrencyLimits(
                    one.currency,
                    one.min_bet if one.HasField("min_bet") else None,
                    one.max_bet if one.HasField("max_bet") else None,
                )
                for one in message.currencies
            ),
            tuple(message.addresses),
            message.rate_per_s or USUAL_RATE_PER_S,
            message.rate_burst or USUAL_RATE_BURST,
            message.launch_url or None,
            message.closed,
        )
    except ValueError as error:
        raise invalid(f"terms: {error}") from None


def operator(found: Operator) -> pb.Operator:
    """An operator as a message."""
    return pb.Operator(
        operator=found.operator,
        environment=_BY_ENVIRONMENT[found.environment],
        wallet=_BY_WALLET[found.wallet],
        terms=_terms(found.terms),
        keys=[key(one) for one in found.keys.values()],
        registered_at=_stamp(found.registered_at),
    )


def key(found: Key) -> pb.Key:
    """A key as a message."""
    return pb.Key(
        key_id=found.key_id,
        algorithm=_BY_ALGORITHM[found.algorithm],
        fingerprint=found.fingerprint,
        public_key=found.public_key or "",
        added_at=_stamp(found.added_at),
        revoked_at=_stamp(found.revoked_at),
    )


def refusal(refused: Refused) -> refusal_pb2.Refusal:
    """Why nothing was done."""
    return refusal_pb2.Refusal(reason=refused.reason, message=refused.message)


def _terms(found: Terms) -> pb.Terms:
    return pb.Terms(
        name=found.name,
        currencies=[
            pb.CurrencyLimits(currency=one.currency, min_bet=one.min_bet, max_bet=one.max_bet)
            for one in found.currencies
        ],
        addresses=found.addresses,
        rate_per_s=found.rate_per_s,
        rate_burst=found.rate_burst,
        launch_url=found.launch_url or "",
        closed=found.closed,
    )


def _stamp(at: dt.datetime | None) -> Timestamp | None:
    if at is None:
        return None
    made = Timestamp()
    made.FromDatetime(at)
    return made
