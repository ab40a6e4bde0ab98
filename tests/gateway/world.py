"""A gateway in this process: its app over a fresh database, and operators whose clients sign.

    async with open_world(service_database) as world:
        casino = await world.casino("op1", wallet="transfer")
        answer = await casino.get("/v1/operator")

The services behind it are whatever a test gives: stubs of real ones, fakes, or (by default) nobody.
"""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import ipaddress
import itertools
from collections.abc import AsyncIterator, Callable, Generator
from dataclasses import dataclass, field
from typing import Any, cast

import httpx
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from fastapi import FastAPI

from eventstore.postgres import Pool, PostgresEventStore, append_in_transaction, open_pool
from servicekit.grpc import ClientSettings
from upcard_gateway.adapters.postgres.operators import KnownOperators, OperatorTables
from upcard_gateway.adapters.postgres.replays import SignedCalls
from upcard_gateway.adapters.services import Addresses, Services, open_services
from upcard_gateway.app.administering import (
    Administration,
    Done,
    Origin,
    add_key,
    change_operator,
    register_operator,
    revoke_key,
)
from upcard_gateway.app.recording import Recorder
from upcard_gateway.domain.operators import (
    EVENT_TYPES,
    CurrencyLimits,
    Environment,
    OperatorRegistered,
    Terms,
    WalletKind,
)
from upcard_gateway.entrypoints.http.app import http_app
from upcard_gateway.entrypoints.http.authenticating import Guard
from upcard_gateway.entrypoints.http.edge import Edge
from upcard_gateway.settings import GatewaySettings
from upcard_platform.signing import HmacSigner, RsaSigner, Signer, signed_headers

PASSWORD = "pass"  # noqa: S105 - of a role that lives as long as the tests
NOBODY = "127.0.0.1:1"
"""An address where nobody answers."""
BASE_URL = "http://gateway.test"
ORIGIN = Origin("staff:s1", "c-1")
EUROS = (CurrencyLimits("EUR"), CurrencyLimits("GBP"))

_KEY = Ed25519PrivateKey.generate()
_PEM = _KEY.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
).decode()
_TICKS = itertools.count(1)
_RAW = base64.b64encode(bytes(range(32))).decode()


def settings_of(dsn: str, **more: Any) -> GatewaySettings:
    """Settings of a gateway on this database; by other names what a test wants otherwise."""
    given: dict[str, Any] = {
        "instance": "tested",
        "dsn": dsn,
        "kafka_bootstrap": ("127.0.0.1:1",),
        "table_address": NOBODY,
        "wallet_address": NOBODY,
        "bonus_address": NOBODY,
        "history_address": NOBODY,
        "signing_key_id": "gateway-1",
        "signing_key": _PEM,
        "operators_fresh_s": 0,
        "secret_keys": {"secrets-1": _RAW},
        "secret_key": "secrets-1",
        "link_keys": {"links-1": _RAW},
        "link_key": "links-1",
    }
    given |= more
    known = GatewaySettings.model_fields
    return GatewaySettings(**{name: value for name, value in given.items() if name in known})


class TestClock:
    """A clock of the wall that stands still until it is moved; in UTC."""

    __test__ = False

    def __init__(self, at: dt.datetime | None = None) -> None:
        self.at = at or dt.datetime(2026, 1, 31, 12, 0, 0, tzinfo=dt.UTC)

    def __call__(self) -> dt.datetime:
        """What it shows."""
        return self.at

    def move(self, seconds: float) -> None:
        """Move it, also backwards."""
        self.at += dt.timedelta(seconds=seconds)


class Signing(httpx.Auth):
    """Signs each request of a client, as a platform does; each of all clients at a microsecond of its own."""

    requires_request_body = True

    def __init__(self, signer: Signer, now: Callable[[], dt.datetime]) -> None:
        self.signer = signer
        self._now = now

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Put the signature on."""
        at = self._now() + dt.timedelta(microseconds=next(_TICKS))
        target = request.url.raw_path.decode()
        request.headers.update(signed_headers(self.signer, request.method, target, request.content, at))
        yield request


@dataclass
class World:
    """A gateway, and what a test does with it."""

    edge: Edge
    app: FastAPI
    tables: OperatorTables
    clock: TestClock
    signed: SignedCalls
    stack: contextlib.AsyncExitStack
    admin: Administration = field(init=False)

    def __post_init__(self) -> None:
        self.admin = Administration(self.tables, Recorder(EVENT_TYPES, now=self.clock), self.clock)

    @property
    def pool(self) -> Pool:
        """The database, with the service's rights."""
        return self.edge.pool

    async def register(
        self,
        operator: str = "op1",
        *,
        environment: Environment = "live",
        wallet: WalletKind = "transfer",
        terms: Terms | None = None,
    ) -> Done:
        """Register an operator, by the use case."""
        wanted = OperatorRegistered(
            operator, environment, wallet, terms or Terms(f"Casino {operator}", EUROS, rate_burst=10_000)
        )
        return await self._commit(
            lambda connection: register_operator(self.admin, connection, wanted, ORIGIN)
        )

    async def change(self, operator: str, terms: Terms) -> Done:
        """Give an operator other terms."""
        return await self._commit(
            lambda connection: change_operator(self.admin, connection, operator, terms, ORIGIN)
        )

    async def hmac_key(self, operator: str = "op1") -> HmacSigner:
        """Add a key for HMAC; what signs with it."""
        async with self.pool.acquire() as connection:
            async with connection.transaction():
                added = await add_key(self.admin, connection, operator, "hmac-sha256", None, ORIGIN)
                assert isinstance(added, tuple), added
                await append_in_transaction(connection, added[0].appends)
            secret = await self.tables.secret_of(connection, added[1].key_id)
        assert secret is not None
        return HmacSigner(added[1].key_id, secret)

    async def rsa_key(self, operator: str = "op1") -> RsaSigner:
        """Add a key for RSA; what signs with it."""
        key = rsa.generate_private_key(65_537, 2_048)
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        async with self.pool.acquire() as connection, connection.transaction():
            added = await add_key(self.admin, connection, operator, "rsa-sha256", public.decode(), ORIGIN)
            assert isinstance(added, tuple), added
            await append_in_transaction(connection, added[0].appends)
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return RsaSigner(added[1].key_id, pem)

    async def revoke(self, operator: str, key_id: str) -> Done:
        """Revoke a key."""
        return await self._commit(
            lambda connection: revoke_key(self.admin, connection, operator, key_id, ORIGIN)
        )

    async def casino(
        self,
        operator: str = "op1",
        *,
        environment: Environment = "live",
        wallet: WalletKind = "transfer",
        terms: Terms | None = None,
    ) -> httpx.AsyncClient:
        """Register an operator with a key; its client, which signs."""
        await self.register(operator, environment=environment, wallet=wallet, terms=terms)
        return await self.client(await self.hmac_key(operator))

    async def client(
        self, signer: Signer | None = None, *, address: str = "198.51.100.7"
    ) -> httpx.AsyncClient:
        """A client of the app in this process; with a signer it signs each call."""
        transport = httpx.ASGITransport(self.app, client=(address, 40_000))
        auth = Signing(signer, self.clock) if signer is not None else None
        made = httpx.AsyncClient(transport=transport, base_url=BASE_URL, auth=auth, timeout=60.0)
        return await self.stack.enter_async_context(made)

    async def _commit(self, work: Callable[[Any], Any]) -> Done:
        async with self.pool.acquire() as connection, connection.transaction():
            done = await work(connection)
            assert isinstance(done, Done), done
            if done.appends:
                await append_in_transaction(connection, done.appends)
            return done


def fake_services(**fakes: object) -> Services:
    """Services of fakes, by name: `fake_services(wallet=MyWallet())`; who is left out fails when called."""
    given = {name: fakes.get(name) for name in ("table", "wallet", "bonus", "history")}
    return Services(**cast("dict[str, Any]", given))


@contextlib.asynccontextmanager
async def open_world(
    dsn: str, *, services: Services | None = None, clock: TestClock | None = None, **more: Any
) -> AsyncIterator[World]:
    """A gateway's app on a database; `more`: settings by their names."""
    settings = settings_of(dsn, **more)
    async with contextlib.AsyncExitStack() as stack:
        pool = await stack.enter_async_context(await open_pool(dsn, application_name="gateway", max_size=10))
        store = await stack.enter_async_context(PostgresEventStore(pool))
        if services is None:
            nobody = Addresses(NOBODY, NOBODY, NOBODY, NOBODY)
            opened = open_services(nobody, ClientSettings(default_timeout_s=2.0), settings.signer())
            services = await stack.enter_async_context(opened)
        shown = clock or TestClock()
        tables = OperatorTables(settings.keyring())
        operators = KnownOperators(pool, tables, fresh_s=settings.operators_fresh_s)
        signed = SignedCalls(pool)
        guard = Guard(
            operators,
            signed.first,
            window_s=settings.signature_window_s,
            proxies=[ipaddress.ip_network(one) for one in settings.trusted_proxies],
        )
        edge = Edge(pool, store, services, operators, settings, shown, guard)
        yield World(edge, http_app(edge), tables, shown, signed, stack)
