"""Services behind the pages of operations, as fakes that say what a test lets them say."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import grpc
import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp

from eventstore.following import OWN, ParkedStream, SkippedEvent, Stop
from messaging.dead_letters.letters import Failure
from messaging.operations import (
    ConsumerLag,
    FollowerLag,
    Lag,
    Letters,
    OperationsAway,
    OperationsRefused,
    Parked,
    RelayLag,
    Skipped,
)
from tests.gateway.world import fake_services
from upcard.bonus.v1 import bonus_pb2
from upcard.call.v1 import refusal_pb2
from upcard.history.v1 import history_pb2 as pb
from upcard.wallet.v1 import partners_pb2, wallet_pb2
from upcard_gateway.adapters.services import Services

NOW = dt.datetime(2026, 1, 31, 12, 0, 0, tzinfo=dt.UTC)
CALL = "01234567-89ab-cdef-0123-456789abcdef"
PROPOSAL = "11234567-89ab-cdef-0123-456789abcdef"


def stamp(at: dt.datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(at)
    return made


def a_parked(stream: str = "round-t1.7", **changes: Any) -> ParkedStream:
    """A parked stream of the wallet's."""
    since = NOW - dt.timedelta(minutes=12)
    made = ParkedStream(
        "wallet",
        "table",
        stream,
        17,
        9,
        4,
        5,
        "payload_wrong",
        "the stake 12 is not above 0",
        since,
        None,
        since,
    )
    return replace(made, **changes)


@dataclass
class FakeOperations:
    """One service's machinery; what was asked of it is kept."""

    service: str
    relay: RelayLag | None = None
    followers: tuple[FollowerLag, ...] = ()
    consumers: tuple[ConsumerLag, ...] = ()
    parked_streams: tuple[ParkedStream, ...] = ()
    stops: tuple[Stop, ...] = ()
    left_out: tuple[SkippedEvent, ...] = ()
    letters: tuple[Failure, ...] | None = ()
    away: bool = False
    refuses: str = ""
    asked: list[tuple[object, ...]] = field(default_factory=list)

    def _answering(self) -> None:
        if self.away:
            raise OperationsAway(f"{self.service} does not answer")

    def _doing(self, *what: object) -> None:
        self._answering()
        if self.refuses:
            raise OperationsRefused(self.refuses, "as things stand it cannot be done")
        self.asked.append(what)

    async def lag(self) -> Lag:
        self._answering()
        return Lag(self.service, self.relay, self.followers, self.consumers)

    async def parked(self, follower: str = "", source: str = "", *, limit: int = 200) -> Parked:
        del follower, source
        self._answering()
        return Parked(self.parked_streams[:limit], len(self.parked_streams) > limit)

    async def retry(self, follower: str, source: str, stream: str = "") -> int:
        self._doing("retry", follower, source, stream)
        return 1

    async def skip(
        self, follower: str, source: str, stream: str, position: int, *, by: str, why: str
    ) -> SkippedEvent:
        self._doing("skip", follower, source, stream, position, by, why)
        return SkippedEvent(follower, source, stream, position, "BetPlaced", "", by, why, NOW)

    async def stopped(self) -> Sequence[Stop]:
        self._answering()
        return self.stops

    async def resume(self, follower: str, source: str, shard: int | None = None) -> int:
        self._doing("resume", follower, source, shard)
        return 1

    async def skipped(self, *, limit: int = 200) -> Skipped:
        self._answering()
        return Skipped(self.left_out[:limit], len(self.left_out) > limit)

    async def dead_letters(self, *, limit: int = 200) -> Letters:
        self._answering()
        if self.letters is None:
            raise OperationsRefused("not_published", "it publishes nothing")
        return Letters(self.letters[:limit], 0)


class FakeWallet:
    """Partners, and calls that wait for people."""

    def __init__(self) -> None:
        self.partners: list[partners_pb2.Partner] = []
        self.calls: list[wallet_pb2.ParkedCall] = []
        self.asked: list[Any] = []
        self.refuses = ""

    async def ListPartners(  # noqa: N802 - the name of the call
        self, request: Any, **_: Any
    ) -> partners_pb2.ListPartnersResponse:
        del request
        return partners_pb2.ListPartnersResponse(partners=self.partners)

    async def ListParkedCalls(  # noqa: N802 - the name of the call
        self, request: Any, **_: Any
    ) -> wallet_pb2.ListParkedCallsResponse:
        found = [one for one in self.calls if one.operator == request.operator]
        return wallet_pb2.ListParkedCallsResponse(calls=found)

    async def RetryParkedCall(  # noqa: N802 - the name of the call
        self, request: Any, **_: Any
    ) -> wallet_pb2.RetryParkedCallResponse:
        self.asked.append(request)
        return wallet_pb2.RetryParkedCallResponse(refusal=self._refusal())

    async def ProposeParkedEnding(  # noqa: N802 - the name of the call
        self, request: Any, **_: Any
    ) -> wallet_pb2.ProposeParkedEndingResponse:
        self.asked.append(request)
        return wallet_pb2.ProposeParkedEndingResponse(refusal=self._refusal())

    async def DecideParkedEnding(  # noqa: N802 - the name of the call
        self, request: Any, **_: Any
    ) -> wallet_pb2.DecideParkedEndingResponse:
        self.asked.append(request)
        return wallet_pb2.DecideParkedEndingResponse(refusal=self._refusal())

    def _refusal(self) -> refusal_pb2.Refusal | None:
        return refusal_pb2.Refusal(reason=self.refuses) if self.refuses else None


class FakeHistory:
    """Figures, open rounds, and how it stands."""

    def __init__(self) -> None:
        self.rows: list[pb.FigureRow] = []
        self.refuses = ""
        self.open: list[pb.TableInPlay] = []
        self.replays: list[pb.Replay] = []
        self.standing = pb.GetStandingResponse()
        self.queries: list[pb.FigureQuery] = []
        self.away = False

    async def GetFigures(  # noqa: N802 - the name of the call
        self, request: Any, **_: Any
    ) -> pb.GetFiguresResponse:
        self._answering()
        self.queries.append(request.query)
        if self.refuses:
            return pb.GetFiguresResponse(refusal=refusal_pb2.Refusal(reason=self.refuses))
        return pb.GetFiguresResponse(figures=pb.Figures(rows=self.rows))

    async def ListTablesInPlay(  # noqa: N802 - the name of the call
        self, request: Any, **_: Any
    ) -> pb.ListTablesInPlayResponse:
        del request
        self._answering()
        return pb.ListTablesInPlayResponse(rounds=self.open)

    async def ListDifferences(  # noqa: N802 - the name of the call
        self, request: Any, **_: Any
    ) -> pb.ListDifferencesResponse:
        del request
        self._answering()
        return pb.ListDifferencesResponse(replays=self.replays)

    async def GetStanding(  # noqa: N802 - the name of the call
        self, request: Any, **_: Any
    ) -> pb.GetStandingResponse:
        del request
        self._answering()
        return self.standing

    def _answering(self) -> None:
        if self.away:
            raise grpc.aio.AioRpcError(
                grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata(), "it is away"
            )


class FakeBonus:
    """Jackpots, in pages of two."""

    def __init__(self) -> None:
        self.jackpots: list[bonus_pb2.Jackpot] = []

    async def ListJackpots(  # noqa: N802 - the name of the call
        self, request: Any, **_: Any
    ) -> bonus_pb2.ListJackpotsResponse:
        left = [one for one in self.jackpots if one.jackpot > request.after]
        return bonus_pb2.ListJackpotsResponse(jackpots=left[:2], more=len(left) > 2)


@dataclass
class Behind:
    """All of them; at first everything is well and nobody has played."""

    wallet: FakeWallet = field(default_factory=FakeWallet)
    history: FakeHistory = field(default_factory=FakeHistory)
    bonus: FakeBonus = field(default_factory=FakeBonus)
    operations: dict[str, FakeOperations] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for service in ("table", "wallet", "bonus"):
            relay = RelayLag(f"upcard.{service}.v1", f"{service}-1", 0, 0, NOW)
            self.operations[service] = FakeOperations(service, relay)
        self.operations["history"] = FakeOperations("history", letters=None)
        self.operations["wallet"].followers = (
            FollowerLag("wallet", "table", 5_000, None, 0, 0, NOW),
            FollowerLag("audit", OWN, 9_000, 3, 0, 0, NOW),
        )
        self.operations["wallet"].consumers = (
            ConsumerLag(
                "table", connected=True, shards=64, behind=12, asked_s=0.4, stopped_shards=0, filling_shards=0
            ),
        )

    def services(self) -> Services:
        """As the gateway has them."""
        made = fake_services(wallet=self.wallet, history=self.history, bonus=self.bonus)
        return replace(made, operations=dict(self.operations))


def a_row(
    hours_ago: int, key: str = "", *, turnover: int = 100_000, returned: int = 95_000, **more: Any
) -> pb.FigureRow:
    """Figures of one hour (of the day of `NOW`), in euros."""
    at = NOW - dt.timedelta(hours=hours_ago)
    money = pb.Money(currency="EUR", players=40, turnover=turnover, returned=returned, tips=150)
    return pb.FigureRow(starts_at=stamp(at), key=key, rounds=21, settled=20, money=[money], **more)
