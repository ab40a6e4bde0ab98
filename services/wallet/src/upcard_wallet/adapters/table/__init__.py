"""The table service, as far as the wallet asks it something."""

from upcard_wallet.adapters.table.round_owner import TABLE, GrpcRoundOwner

__all__ = ["TABLE", "GrpcRoundOwner"]
