"""Answering once, as far as no database is needed; the rest is tests/wallet/edges/test_answering.py."""

from __future__ import annotations

import asyncio
import re

import pytest

from eventstore.answers import AnswerKey
from servicekit import context
from servicekit.answering import (
    body_digest_of,
    business_key_of,
    fit_correlation_id,
    key_of,
    serving,
    who_acts,
)
from servicekit.grpc import Call, CallError
from servicekit.grpc.calls import serving as in_a_call
from upcard.wallet.v1 import wallet_pb2 as pb

OPAQUE = re.compile("[A-Za-z0-9_-]{1,64}")


def a_call() -> Call:
    return Call("/upcard.wallet.v1.WalletService/Deposit", "gateway", None, 0.0)


def test_outside_of_a_call_nobody_acts() -> None:
    with pytest.raises(RuntimeError, match="outside"):
        serving()
    with pytest.raises(RuntimeError, match="outside"):
        who_acts()


def test_a_service_that_acts_for_itself_is_the_system() -> None:
    with in_a_call(a_call()):
        assert who_acts() == "system"


def test_an_answer_is_kept_under_asker_call_and_request() -> None:
    request = pb.DepositRequest(request_id="r1", amount=1)
    with in_a_call(a_call()):
        assert key_of(request) == AnswerKey("service:gateway", "Deposit", "r1")
        assert business_key_of(request) == "service:gateway/r1"


@pytest.mark.parametrize("request_id", ["", "a\nb", "x" * 201])
def test_an_impossible_request_id_is_refused(request_id: str) -> None:
    with in_a_call(a_call()), pytest.raises(CallError, match="request_id"):
        key_of(pb.DepositRequest(request_id=request_id))


def test_the_same_body_has_the_same_digest_and_no_other_has() -> None:
    one = pb.DepositRequest(request_id="r1", amount=1)
    assert body_digest_of(one) == body_digest_of(pb.DepositRequest(amount=1, request_id="r1"))
    assert body_digest_of(one) != body_digest_of(pb.DepositRequest(request_id="r1", amount=2))


def test_correlation_ids_fit_into_events() -> None:
    assert fit_correlation_id("c-1") == "c-1"
    made = fit_correlation_id("not opaque at all!")
    assert OPAQUE.fullmatch(made)
    assert fit_correlation_id("not opaque at all!") == made, "the same is made of the same"
    assert OPAQUE.fullmatch(fit_correlation_id())
    with context.bind(correlation_id="the-calls-own"):
        assert fit_correlation_id() == "the-calls-own"
        assert fit_correlation_id("given") == "given"


async def test_what_a_call_has_left_is_its_own() -> None:
    deadline = asyncio.get_running_loop().time() + 5
    with in_a_call(Call("/a/B", None, None, deadline)):
        assert 4 < serving().remaining_s() <= 5
