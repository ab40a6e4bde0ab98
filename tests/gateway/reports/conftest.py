"""A gateway over a real history and a real wallet."""

from tests.gateway.rounds.conftest import (
    behind_history,
    behind_wallet,
    casino,
    ledger,
    mirror,
    services,
    wallet,
)

__all__ = ["behind_history", "behind_wallet", "casino", "ledger", "mirror", "services", "wallet"]
