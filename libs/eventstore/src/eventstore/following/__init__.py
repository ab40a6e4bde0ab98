"""Following a log: events applied once each, with positions, in the transactions of their effects."""

from eventstore.following.applier import Applier
from eventstore.following.errors import (
    DatabaseAway,
    EpochChanged,
    FollowerStopped,
    FollowingError,
    ForkSeen,
    Gap,
    HandlerUnfit,
)
from eventstore.following.handler import Announcer, Handler
from eventstore.following.heads import AskHash, AskHeads, HeadsChecked, SourceHead, check_heads
from eventstore.following.live import LiveFollower
from eventstore.following.observer import Observer, Silent
from eventstore.following.pages import OWN, Applied, Page, Position
from eventstore.following.parked import (
    DeadLetter,
    OtherEventParked,
    ParkedStream,
    dead_letters,
    list_parked,
    note_dead_letters_sent,
    request_retry,
    skip_parked,
)
from eventstore.following.policy import DEFAULT_POLICY, Policy, WhenFailing
from eventstore.following.positions import all_positions, reset_position
from eventstore.following.skips import SkippedEvent, list_skipped, skipped_event
from eventstore.following.stops import Stop, list_stopped, resume, skip_stopped

__all__ = [
    "DEFAULT_POLICY",
    "OWN",
    "Announcer",
    "Applied",
    "Applier",
    "AskHash",
    "AskHeads",
    "DatabaseAway",
    "DeadLetter",
    "EpochChanged",
    "FollowerStopped",
    "FollowingError",
    "ForkSeen",
    "Gap",
    "Handler",
    "HandlerUnfit",
    "HeadsChecked",
    "LiveFollower",
    "Observer",
    "OtherEventParked",
    "Page",
    "ParkedStream",
    "Policy",
    "Position",
    "Silent",
    "SkippedEvent",
    "SourceHead",
    "Stop",
    "WhenFailing",
    "all_positions",
    "check_heads",
    "dead_letters",
    "list_parked",
    "list_skipped",
    "list_stopped",
    "note_dead_letters_sent",
    "request_retry",
    "reset_position",
    "resume",
    "skip_parked",
    "skip_stopped",
    "skipped_event",
]
