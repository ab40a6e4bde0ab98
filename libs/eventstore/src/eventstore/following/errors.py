"""Why a follower cannot go on. Positions in the database tell how far it came; nothing is applied twice."""

from eventstore.errors import EventStoreError
from eventstore.events import RecordedEvent


class FollowingError(EventStoreError):
    """Anything that a follower raises on purpose."""

    slug = "following_error"


class Gap(FollowingError):
    """Events are missing before those that came: the caller reads them from the source.

    `expected` is the first missing position of the shard, `found` the position that came instead.
    """

    slug = "gap"

    def __init__(self, shard: int, expected: int, found: int) -> None:
        self.shard = shard
        self.expected = expected
        self.found = found
        super().__init__(f"shard {shard}: position {expected} was expected, {found} came")


class ForkSeen(FollowingError):
    """The source's history is not the one that was applied: it lost events and went on differently.

    `Applier.apply` and `check_heads` note it in the database: the shard stays stopped until a person resumes
    it. `known` and `found` are hashes (`known` perhaps only its first 8 bytes; `found` None: the source has
    no event at this position).
    """

    slug = "fork_seen"

    def __init__(self, shard: int, position: int, known: bytes | None, found: bytes | None) -> None:
        self.shard = shard
        self.position = position
        self.known = known
        self.found = found
        super().__init__(
            f"shard {shard} at {position}: known with hash {_shown(known)}, the source has {_shown(found)}"
        )


class EpochChanged(FollowingError):
    """The source has begun another epoch (it was restored): `check_heads` comes before all else of it."""

    slug = "epoch_changed"

    def __init__(self, shard: int, known: int, found: int) -> None:
        self.shard = shard
        self.known = known
        self.found = found
        super().__init__(f"shard {shard}: epoch {found} came, and {known} is the last one that was checked")


class FollowerStopped(FollowingError):
    """The follower stands still, as the database notes, until a person resumes it.

    `kind` is `failed`: an event could not be applied, and the policy is to stop; it holds for all shards. Or
    `forked`: the shard's history was found to be another one, now or earlier; the other shards go on.
    """

    slug = "follower_stopped"

    def __init__(self, follower: str, source: str, shard: int, kind: str, why: str = "as noted") -> None:
        self.follower = follower
        self.source = source
        self.shard = shard
        self.kind = kind
        super().__init__(f"{follower} of {source} is stopped ({kind}) in shard {shard}: {why}")


class TooManyKept(FollowingError):
    """So many events are kept for parked streams that the follower stops at this one, the first too many.

    Never raised by `apply`, which notes it and raises FollowerStopped.
    """

    slug = "too_many_kept"

    def __init__(self, event: RecordedEvent, kept: int) -> None:
        self.event = event
        super().__init__(f"{kept} events are kept for parked streams already")


class DatabaseAway(FollowingError):
    """The database could not be reached, or not be written to, for as long as the policy waits.

    Nobody's event is at fault: the same pages may be handed in again.
    """

    slug = "database_away"


class HandlerUnfit(FollowingError):
    """A handler raises this when not an event but this process is at fault: it is older than its tables, say.

    Raised through `apply` as it is: nothing is tried again, halved or parked.
    """

    slug = "handler_unfit"


def _shown(digest: bytes | None) -> str:
    return "none" if digest is None else digest[:8].hex()
