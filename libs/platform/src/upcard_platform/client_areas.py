"""What a platform does through the API, an area each: sessions, players, wallets, lobby, webhooks.

Each method is one route, by the models of `upcard_platform.models`; players are named by the platform's own
ids, everything else by Upcard's. All raise `upcard_platform.client_errors.PlatformError`. A method that
changes something takes a request with a `request_id`: the same request again, whenever, gets the original
answer.
"""

from __future__ import annotations

from upcard_platform.client_calls import Calls, path_of
from upcard_platform.models import lobby, sessions, wallets, webhooks

MOST: int = 200
"""Most items of a page."""


class Area:
    """A part of the API."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls


class Sessions(Area):
    """Players' sessions: opened for a player, kept alive, ended."""

    async def launch(self, request: sessions.Launch) -> sessions.Launched:
        """Open a session; the player's former one ends. Send the player to `launch_url`."""
        return await self._calls.post(path_of("sessions"), request, sessions.Launched)

    async def get(self, session: str) -> sessions.Session:
        """A session as it stands."""
        return await self._calls.get(path_of("sessions", session), sessions.Session)

    async def keep_alive(self, session: str, request: sessions.KeepAlive) -> sessions.Session:
        """Say that the player is still there."""
        return await self._calls.post(path_of("sessions", session, "keep_alive"), request, sessions.Session)

    async def end(self, session: str, request: sessions.EndSession) -> sessions.Session:
        """End it; what is staked is decided by the rules."""
        return await self._calls.post(path_of("sessions", session, "end"), request, sessions.Session)

    async def reality(self, session: str) -> sessions.RealityCheck:
        """For how long the player has played in it, and what it came to."""
        return await self._calls.get(path_of("sessions", session, "reality"), sessions.RealityCheck)

    async def of_player(
        self, player: str, *, limit: int = MOST, after: str | None = None
    ) -> sessions.SessionList:
        """A player's sessions, the newest first."""
        query = {"limit": limit, "after": after}
        return await self._calls.get(path_of("players", player, "sessions"), sessions.SessionList, query)


class Players(Area):
    """What concerns a player apart from a session."""

    async def erase(self, player: str, request: sessions.ErasePlayer) -> sessions.ErasedPlayer:
        """Have a person forgotten; the records stay, under an id that means nobody."""
        return await self._calls.post(path_of("players", player, "erase"), request, sessions.ErasedPlayer)

    async def free_bets(
        self, player: str, *, limit: int = MOST, after: str | None = None
    ) -> lobby.FreeBetPage:
        """A player's free bets, spent and lapsed ones too."""
        query = {"limit": limit, "after": after}
        return await self._calls.get(path_of("players", player, "free-bets"), lobby.FreeBetPage, query)

    async def grant_free_bet(self, player: str, request: lobby.GrantFreeBet) -> lobby.FreeBet:
        """Grant a free bet."""
        return await self._calls.post(path_of("players", player, "free-bets"), request, lobby.FreeBet)

    async def revoke_free_bet(
        self, player: str, free_bet: str, request: lobby.RevokeFreeBet
    ) -> lobby.FreeBet:
        """Take back what is left of a free bet."""
        path = path_of("players", player, "free-bets", free_bet, "revoke")
        return await self._calls.post(path, request, lobby.FreeBet)


class Wallets(Area):
    """Transfer wallets: money into a player's account and out of it. Seamless operators have none."""

    async def deposit(self, player: str, request: wallets.Deposit) -> wallets.Moved:
        """Put money in, once however often it is asked for."""
        return await self._calls.post(path_of("wallets", player, "deposits"), request, wallets.Moved)

    async def withdraw(self, player: str, request: wallets.Withdrawal) -> wallets.Moved:
        """Take money out, once however often it is asked for."""
        return await self._calls.post(path_of("wallets", player, "withdrawals"), request, wallets.Moved)

    async def balances(self, player: str) -> wallets.Balances:
        """What a player has, by currency."""
        return await self._calls.get(path_of("wallets", player, "balances"), wallets.Balances)


class Lobby(Area):
    """Tables, their boards and rules, jackpots."""

    async def tables(
        self,
        *,
        closed: bool = False,
        currency: str | None = None,
        ruleset: str | None = None,
        language: str | None = None,
        limit: int = MOST,
        after: str | None = None,
    ) -> lobby.TablePage:
        """Tables by id, with how they stand now."""
        query = {
            "closed": closed,
            "currency": currency,
            "ruleset": ruleset,
            "language": language,
            "limit": limit,
            "after": after,
        }
        return await self._calls.get(path_of("tables"), lobby.TablePage, query)

    async def table(self, table: str) -> lobby.TableAnswer:
        """One table, open or closed."""
        return await self._calls.get(path_of("tables", table), lobby.TableAnswer)

    async def limits(self, table: str) -> lobby.LimitsBoard:
        """The limits board of a table."""
        return await self._calls.get(path_of("tables", table, "limits"), lobby.LimitsBoard)

    async def payouts(self, table: str) -> lobby.PayoutsBoard:
        """The pay-outs board of a table."""
        return await self._calls.get(path_of("tables", table, "payouts"), lobby.PayoutsBoard)

    async def rules(self, table: str) -> lobby.RulesPage:
        """The rules of a table in words, in parts."""
        return await self._calls.get(path_of("tables", table, "rules"), lobby.RulesPage)

    async def rules_page(self, table: str) -> str:
        """The same as a page of HTML."""
        return await self._calls.text(path_of("tables", table, "rules"), "text/html", {"format": "html"})

    async def jackpots(self, *, limit: int = MOST, after: str | None = None) -> lobby.JackpotPage:
        """Progressive jackpots of your tables."""
        query = {"limit": limit, "after": after}
        return await self._calls.get(path_of("jackpots"), lobby.JackpotPage, query)


class Webhooks(Area):
    """Where webhooks go, and what became of each. `upcard_platform.webhooks` checks those that come."""

    async def endpoints(self) -> webhooks.EndpointPage:
        """Your endpoints, the newest first."""
        return await self._calls.get(path_of("webhook-endpoints"), webhooks.EndpointPage)

    async def add_endpoint(self, request: webhooks.AddEndpoint) -> webhooks.EndpointWithSecret:
        """Have webhooks sent to an address; keep the secret."""
        return await self._calls.post(path_of("webhook-endpoints"), request, webhooks.EndpointWithSecret)

    async def remove_endpoint(self, endpoint: str, request: webhooks.ChangeEndpoint) -> webhooks.Endpoint:
        """Have nothing more sent to an endpoint."""
        path = path_of("webhook-endpoints", endpoint, "remove")
        return await self._calls.post(path, request, webhooks.Endpoint)

    async def replace_secret(
        self, endpoint: str, request: webhooks.ChangeEndpoint
    ) -> webhooks.EndpointWithSecret:
        """Replace an endpoint's secret; for a while webhooks are signed with both."""
        path = path_of("webhook-endpoints", endpoint, "secret")
        return await self._calls.post(path, request, webhooks.EndpointWithSecret)

    async def resend_parked(self, endpoint: str, request: webhooks.ResendParked) -> webhooks.ParkedResent:
        """Have an endpoint's webhooks that were given up sent once more."""
        path = path_of("webhook-endpoints", endpoint, "resend-parked")
        return await self._calls.post(path, request, webhooks.ParkedResent)

    async def list(
        self,
        *,
        endpoint: str | None = None,
        type: webhooks.WebhookType | None = None,  # noqa: A002 - the API's name of it
        state: webhooks.DeliveryState | None = None,
        limit: int = MOST,
        after: str | None = None,
    ) -> webhooks.DeliveryPage:
        """Webhooks, the newest first."""
        query = {"endpoint": endpoint, "type": type, "state": state, "limit": limit, "after": after}
        return await self._calls.get(path_of("webhooks"), webhooks.DeliveryPage, query)

    async def get(self, webhook: str) -> webhooks.Delivery:
        """What became of a webhook."""
        return await self._calls.get(path_of("webhooks", webhook), webhooks.Delivery)

    async def resend(self, webhook: str, request: webhooks.ResendWebhook) -> webhooks.Delivery:
        """Have a webhook sent once more."""
        return await self._calls.post(path_of("webhooks", webhook, "resend"), request, webhooks.Delivery)
