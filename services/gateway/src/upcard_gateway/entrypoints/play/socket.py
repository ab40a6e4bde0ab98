"""The players' WebSocket, `/play/ws`: who comes in, as whom, and what they are told first."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import secrets
from functools import partial
from typing import Final
from urllib.parse import urlsplit

import structlog
from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from eventstore.coordination.outages import PASSING
from upcard_gateway.adapters.postgres.play_connections import Held
from upcard_gateway.app.player_sessions import Playing
from upcard_gateway.app.sessions import SessionUnknown
from upcard_gateway.domain.addresses import bucket_of
from upcard_gateway.entrypoints.http.limits import RateLimit, client_address
from upcard_gateway.entrypoints.play.connection import Connection, Gone, Parts, end, heard
from upcard_gateway.entrypoints.play.contract import Made
from upcard_gateway.entrypoints.play.viewing import DoorsShut
from upcard_gateway.entrypoints.play.wire import EXTENSION, Wire
from upcard_platform import play

__all__ = ["Socket"]

_ENTER_S: Final = 10.0
"""Within so many seconds somebody is signed in."""
_FILLS_IN_S: Final = 10.0
"""In so many seconds one address may fill its places again."""

_log = structlog.get_logger("upcard.gateway.play")


class Refused(Exception):
    """Somebody does not come in. `reason`: a slug for `ended`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Socket:
    """Lets connections in."""

    def __init__(self, parts: Parts, rates: RateLimit) -> None:
        self._parts = parts
        self._rates = rates
        settings = parts.edge.settings
        self._proxies = [ipaddress.ip_network(one) for one in settings.trusted_proxies]
        self._origins = {_origin(settings.public_url), *settings.play_origins}
        self.live: set[Connection] = set()

    async def serve(self, socket: WebSocket) -> None:
        """Serve a connection from its handshake to its end."""
        wire = socket.scope["extensions"].get(EXTENSION)
        if not isinstance(wire, Wire):
            raise TypeError("the server has to serve WebSockets by PlayProtocol")
        parts = self._parts
        wants = play.SUBPROTOCOL in socket.scope["subprotocols"]
        try:
            await socket.accept(subprotocol=play.SUBPROTOCOL if wants else None)
        except WebSocketDisconnect:
            return
        wire.bound(parts.edge.settings.play_write_buffer_bytes)
        wire.too_slow = partial(end, wire, parts.edge, "too_slow")
        wire.stopping = partial(end, wire, parts.edge, "server_stopping")
        try:
            if wants:
                await self._admitted(socket, wire)
            else:
                end(wire, parts.edge, "protocol_missing")
        except (DoorsShut, Refused) as refused:
            end(wire, parts.edge, refused.reason)
        except Gone:
            return
        except (*PASSING, TimeoutError) as error:
            _log.warning("a connection could not be let in", why=type(error).__name__)
            end(wire, parts.edge, "gateway_away")
        except Exception as error:  # noqa: BLE001 - told as such, and logged
            _log.error("a connection failed", exc_info=error)
            end(wire, parts.edge, "internal")

    async def _admitted(self, socket: WebSocket, wire: Wire) -> None:
        settings = self._parts.edge.settings
        address = bucket_of(self._address(socket))
        most = settings.play_address_connections_max
        if self._rates.take(address, most / _FILLS_IN_S, most):
            raise Refused("too_many_connections")
        with self._parts.doors.connected(address):
            hello = await self._hello(socket, wire)
            if hello.view:
                self._check_origin(socket, None)
                with self._parts.doors.viewing(address):
                    await self._view(socket, wire, hello)
            else:
                await self._play(socket, wire, hello)

    async def _hello(self, socket: WebSocket, wire: Wire) -> play.Hello:
        edge = self._parts.edge
        text = await heard(socket, edge.settings.play_hello_s, partial(end, wire, edge, "hello_missing"))
        try:
            return play.Hello.model_validate_json(text)
        except ValidationError:
            raise Refused("hello_invalid") from None

    async def _view(self, socket: WebSocket, wire: Wire, hello: play.Hello) -> None:
        edge = self._parts.edge
        connection = Connection(self._parts, socket, wire, None, None)
        view_s = edge.settings.play_view_s
        over = asyncio.get_running_loop().call_later(view_s, connection.leave_for, "viewing_over")
        self.live.add(connection)
        try:
            until = edge.now() + dt.timedelta(seconds=view_s)
            self._welcome(connection, {"viewing": True, "viewing_until": until})
            await connection.serve(hello.table, hello.resume)
        finally:
            over.cancel()
            self.live.discard(connection)

    async def _play(self, socket: WebSocket, wire: Wire, hello: play.Hello) -> None:
        async with asyncio.timeout(_ENTER_S):
            playing, token = await self._signed_in(socket, hello)
            session = playing.session
            held = Held(session.player, secrets.token_hex(16), session.id)
            connection = Connection(self._parts, socket, wire, playing, held)
            await self._parts.registry.enter(connection)
        self.live.add(connection)
        try:
            self._welcome(connection, _told_of(playing, token))
            await connection.serve(hello.table or session.table, hello.resume)
        finally:
            self.live.discard(connection)
            await self._parts.registry.leave(connection)

    async def _signed_in(self, socket: WebSocket, hello: play.Hello) -> tuple[Playing, str | None]:
        """The session of a token; of a launch token with a session token for later."""
        edge, sessions = self._parts.edge, self._parts.sessions
        now = edge.now()
        token: str | None = None
        try:
            if hello.launch_token is not None:
                playing, token = await sessions.redeem(hello.launch_token, now)
            else:
                playing = await sessions.of_token(hello.session_token or "", now)
        except SessionUnknown:
            raise Refused("session_over" if hello.launch_token is None else "launch_token_invalid") from None
        operator = await edge.operators.operator(playing.session.operator)
        if operator is None or operator.terms.closed:
            raise Refused("operator_closed")
        self._check_origin(socket, operator.terms.launch_url)
        return playing, token

    def _check_origin(self, socket: WebSocket, launch_url: str | None) -> None:
        """A page of somebody else's may not connect in its visitor's name. Programs have no origin."""
        said = socket.headers.getlist("origin")
        allowed = self._origins if launch_url is None else {*self._origins, _origin(launch_url)}
        if said and (len(said) != 1 or said[0].lower() not in allowed):
            raise Refused("origin_refused")

    def _welcome(self, connection: Connection, body: dict[str, object]) -> None:
        settings = self._parts.edge.settings
        bounds = {
            "message_bytes": play.MESSAGE_BYTES_MAX,
            "messages_per_s": settings.play_messages_per_s,
            "silence_s": settings.play_silence_s,
        }
        connection.tell(Made("welcome", 0, {**body, "bounds": bounds}))

    def _address(self, socket: WebSocket) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        peer = socket.client.host if socket.client is not None else ""
        return client_address(peer, socket.headers.getlist("x-forwarded-for"), self._proxies)


def _told_of(playing: Playing, token: str | None) -> dict[str, object]:
    """What `welcome` says of a player."""
    session, player = playing.session, playing.player
    return {
        "viewing": False,
        "session": session.id,
        "session_token": token,
        "nickname": player.nickname,
        "currency": session.currency,
        "language": player.language,
        "environment": session.environment,
        "cashier_url": player.cashier_url,
        "table": session.table,
        "tips": session.wallet == "transfer",
        "limits": {"wager_max": session.limits.wager_max, "round_max": session.limits.round_max},
        "ends_by": session.ends_by,
        "idle_s": session.idle_s,
    }


def _origin(url: str) -> str:
    """Scheme, host and port of an address, as browsers write an origin."""
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    port = "" if parts.port in (None, usual) else f":{parts.port}"
    host = parts.hostname or ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"
