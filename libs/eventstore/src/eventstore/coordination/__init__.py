"""What instances of one service agree on through their database: who may act (leases), which history it is.

Safety never rests on a lease alone: what its holder writes is compared with the lease's token, or with the
position of a stream.
"""

from eventstore.coordination.epoch import Epoch, begin_epoch, current_epoch, epochs
from eventstore.coordination.holding import HeldLease, hold_lease, run_while_held
from eventstore.coordination.leases import (
    Lease,
    LeaseHolder,
    LeaseLost,
    acquire,
    lease_holders,
    release,
    renew,
    require_lease,
)

__all__ = [
    "Epoch",
    "HeldLease",
    "Lease",
    "LeaseHolder",
    "LeaseLost",
    "acquire",
    "begin_epoch",
    "current_epoch",
    "epochs",
    "hold_lease",
    "lease_holders",
    "release",
    "renew",
    "require_lease",
    "run_while_held",
]
