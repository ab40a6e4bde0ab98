"""The wallet's calls (proto/upcard/wallet/v1)."""

from upcard_wallet.entrypoints.grpc.access import exposed_wallet
from upcard_wallet.entrypoints.grpc.answering import AGAIN, Desk
from upcard_wallet.entrypoints.grpc.errors import WALLET_ERRORS

__all__ = ["AGAIN", "WALLET_ERRORS", "Desk", "exposed_wallet"]
