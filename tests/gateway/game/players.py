"""Players with sessions, for tests that need no database."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field

from upcard_gateway.app.game_orders import Verdict
from upcard_gateway.app.game_seen import Purse
from upcard_gateway.app.people import Player
from upcard_gateway.app.player_sessions import Playing
from upcard_gateway.domain.sessions import Limits, Session, WalletKind

NOW = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)


def playing(
    player: str = "p1",
    *,
    session: str = "s1",
    limits: Limits | None = None,
    wallet: WalletKind = "transfer",
    table: str | None = None,
) -> Playing:
    """Somebody who plays for euros."""
    return Playing(
        Session(
            id=session,
            player=player,
            operator="op1",
            account=f"account-{player}",
            currency="EUR",
            environment="live",
            wallet=wallet,
            table=table,
            limits=limits or Limits(),
            opened_at=NOW,
            launch_until=NOW,
            ends_by=NOW + dt.timedelta(hours=1),
            idle_s=600,
            seen_at=NOW,
            events=2,
            redeemed_at=NOW,
        ),
        Player(player, "op1", f"{player}-there", f"Nick {player}", "MT", "en"),
    )


@dataclass
class Money:
    """Plays wallet and bonus service."""

    purses: list[Purse] = field(default_factory=lambda: [Purse("EUR", 10_000)])
    asked: int = 0

    async def purse(self, session: Session) -> Purse:
        """The next purse; the last one stays."""
        assert session.currency == "EUR"
        self.asked += 1
        return self.purses.pop(0) if len(self.purses) > 1 else self.purses[0]


@dataclass
class Checks:
    """Keeps words of limits in memory."""

    kept: dict[tuple[str, str], Verdict] = field(default_factory=dict)

    async def known(self, session: str, request_id: str) -> Verdict | None:
        """See `SessionChecks`."""
        return self.kept.get((session, request_id))

    async def keep(self, session: str, request_id: str, verdict: Verdict) -> Verdict:
        """See `SessionChecks`."""
        return self.kept.setdefault((session, request_id), verdict)
