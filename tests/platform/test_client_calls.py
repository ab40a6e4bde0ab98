from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from random import Random

import httpx
import pytest
from pydantic import BaseModel

from upcard_platform.client_calls import LONGEST_ANSWER, Calls, Patience, path_of
from upcard_platform.client_errors import NoAnswer, Refused, UnreadableAnswer
from upcard_platform.problems import MEDIA_TYPE
from upcard_platform.signing import (
    KEY_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    HmacSigner,
    decoded_signature,
    hmac_fits,
    signed_text,
)

SECRET = bytes(range(32))
NOON = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
Handler = Callable[[httpx.Request], httpx.Response]


class Ask(BaseModel):
    request_id: str
    amount: int
    note: str | None = None


class Bare(BaseModel):
    amount: int


class Done(BaseModel):
    total: int


def done(_: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"total": 5})


def lost(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("nothing came", request=request)


def between(_: httpx.Request) -> httpx.Response:
    return httpx.Response(503, html="<h1>Service Unavailable</h1>")


def problem(code: str, status: int, retry: str, **more: object) -> Handler:
    body = {
        "type": f"urn:upcard:problem:{code}",
        "title": "T",
        "status": status,
        "detail": "D",
        "code": code,
        "money": "none_moved",
        "retry": retry,
        **more,
    }

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json=body, headers={"Content-Type": MEDIA_TYPE})

    return answer


@dataclass
class Upcard:
    """Answers as it is told, the last way for ever, and keeps what it was sent."""

    answers: list[Handler]
    requests: list[httpx.Request] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def calls(self, patience: Patience | None = None) -> Calls:
        def handle(request: httpx.Request) -> httpx.Response:
            self.requests.append(request)
            return self.answers.pop(0)(request) if len(self.answers) > 1 else self.answers[0](request)

        async def pause(seconds: float) -> None:
            self.pauses.append(seconds)

        client = httpx.AsyncClient(base_url="http://127.0.0.1", transport=httpx.MockTransport(handle))
        signer = HmacSigner("key-1", SECRET)
        return Calls(client, signer, patience or Patience(), now=lambda: NOON, pause=pause, random=Random(3))


async def test_a_call_is_signed_for_the_bytes_that_are_sent() -> None:
    upcard = Upcard([done])
    calls = upcard.calls()
    await calls.post("/v1/things", Ask(request_id="r1", amount=7), Done)
    await calls.get("/v1/things", Done, {"after": "a+b/c==", "limit": 2, "open": True, "none": None})
    posted, asked = upcard.requests
    assert posted.content == b'{"request_id":"r1","amount":7}', "what is not given is left out"
    assert asked.url.raw_path == b"/v1/things?after=a%2Bb%2Fc%3D%3D&limit=2&open=true"
    for request in upcard.requests:
        text = signed_text(
            request.method, request.url.raw_path.decode(), request.headers[TIMESTAMP_HEADER], request.content
        )
        assert request.headers[KEY_HEADER] == "key-1"
        assert hmac_fits(SECRET, text, decoded_signature(request.headers[SIGNATURE_HEADER]))


async def test_no_two_calls_have_the_same_timestamp_though_the_clock_stands_still() -> None:
    upcard = Upcard([done])
    calls = upcard.calls()
    for _ in range(3):
        await calls.get("/v1/things", Done)
    assert len({request.headers[TIMESTAMP_HEADER] for request in upcard.requests}) == 3


@pytest.mark.parametrize("failure", [lost, between, problem("unavailable", 503, "same_request")])
async def test_what_may_pass_is_repeated_with_the_same_body_and_a_new_signature(failure: Handler) -> None:
    upcard = Upcard([failure, failure, done])
    answer = await upcard.calls().post("/v1/things", Ask(request_id="r1", amount=7), Done)
    assert answer.total == 5
    assert len({request.content for request in upcard.requests}) == 1
    assert len({request.headers[SIGNATURE_HEADER] for request in upcard.requests}) == 3
    first, second = upcard.pauses
    assert 0.1 <= first <= 0.2 <= second <= 0.4, "the pauses grow, and differ by chance"


async def test_attempts_are_bounded_and_the_end_says_that_nothing_is_known() -> None:
    upcard = Upcard([lost])
    with pytest.raises(NoAnswer, match="repeat it with the same request_id") as found:
        await upcard.calls().post("/v1/things", Ask(request_id="r1", amount=7), Done)
    assert found.value.attempts == len(upcard.requests) == 5
    assert isinstance(found.value.__cause__, httpx.ReadTimeout)


async def test_what_something_between_says_is_no_answer_in_the_end() -> None:
    upcard = Upcard([between])
    with pytest.raises(NoAnswer, match="503"):
        await upcard.calls(Patience(attempts=2)).get("/v1/things", Done)


@pytest.mark.parametrize("retry", ["never", "after_change"])
async def test_a_refusal_that_does_not_pass_is_raised_at_once(retry: str) -> None:
    upcard = Upcard([problem("wallet_is_seamless", 409, retry)])
    with pytest.raises(Refused) as found:
        await upcard.calls().post("/v1/things", Ask(request_id="r1", amount=7), Done)
    assert (found.value.code, found.value.problem.money) == ("wallet_is_seamless", "none_moved")
    assert (len(upcard.requests), upcard.pauses) == (1, [])


async def test_it_waits_as_long_as_it_is_told_and_not_beyond_its_patience() -> None:
    limited = problem("rate_limited", 429, "same_request", retry_after_s=2.5)
    upcard = Upcard([limited, done])
    assert (await upcard.calls().get("/v1/things", Done)).total == 5
    assert upcard.pauses == [2.5]
    hasty = Upcard([limited, done])
    with pytest.raises(Refused, match="rate_limited"):
        await hasty.calls(Patience(in_all_s=2.0)).get("/v1/things", Done)
    assert (len(hasty.requests), hasty.pauses) == (1, [])


async def test_a_call_that_could_be_done_twice_is_sent_once() -> None:
    upcard = Upcard([lost])
    with pytest.raises(NoAnswer):
        await upcard.calls().post("/v1/things", Bare(amount=7), Done)
    assert len(upcard.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, json={"sum": 5}),
        httpx.Response(200, text="OK"),
        httpx.Response(302, headers={"Location": "http://elsewhere/"}),
        httpx.Response(500, html="<h1>Oops</h1>"),
        httpx.Response(400, json={"code": "none"}, headers={"Content-Type": MEDIA_TYPE}),
        httpx.Response(200, content=b" " * (LONGEST_ANSWER + 1)),
    ],
)
async def test_an_answer_that_is_none_is_said_and_not_asked_for_again(answer: httpx.Response) -> None:
    upcard = Upcard([lambda _: answer])
    with pytest.raises(UnreadableAnswer) as found:
        await upcard.calls().get("/v1/things", Done)
    assert found.value.status == answer.status_code
    assert len(upcard.requests) == 1


async def test_the_lines_of_a_report_come_as_they_are() -> None:
    upcard = Upcard([lambda _: httpx.Response(200, text="a,b\r\n1,2\r\n")])
    assert [line async for line in upcard.calls().lines("/v1/report", {"day": "2026-01-31"})] == [
        "a,b",
        "1,2",
    ]


async def test_a_report_that_breaks_off_is_not_taken_for_a_whole_one() -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"a,b\r\n1,"
        raise httpx.RemoteProtocolError("peer closed the connection")

    upcard = Upcard([lambda _: httpx.Response(200, content=broken())])
    with pytest.raises(NoAnswer, match="peer closed"):
        _ = [line async for line in upcard.calls().lines("/v1/report")]


async def test_a_refused_report_is_a_refusal() -> None:
    upcard = Upcard([problem("day_unknown", 404, "never")])
    with pytest.raises(Refused, match="day_unknown"):
        _ = [line async for line in upcard.calls().lines("/v1/report")]


def test_a_path_escapes_ids_and_takes_none_that_leads_elsewhere() -> None:
    assert path_of("wallets", "a/b c?", "deposits") == "/v1/wallets/a%2Fb%20c%3F/deposits"
    for wrong in ("", ".", ".."):
        with pytest.raises(ValueError, match="an id may not be"):
            path_of("wallets", wrong)


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"in_all_s": 0.0}, {"each_s": -1.0}])
def test_patience_has_bounds(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="patience needs"):
        Patience(**wrong)  # type: ignore[arg-type]  # as wrong as a caller may be
