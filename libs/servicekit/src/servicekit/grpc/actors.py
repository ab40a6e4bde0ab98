"""Who acts in a call."""

import enum
import re
from dataclasses import dataclass
from typing import Final

from upcard.call.v1 import call_context_pb2

MAX_ROLES: Final = 32
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ROLE = re.compile(r"[a-z][a-z0-9_]{0,62}")


class ActorKind(enum.Enum):
    """What someone who acts is; the values are those of the protos."""

    PLAYER = call_context_pb2.ACTOR_KIND_PLAYER
    DEALER = call_context_pb2.ACTOR_KIND_DEALER
    STAFF = call_context_pb2.ACTOR_KIND_STAFF
    PLATFORM = call_context_pb2.ACTOR_KIND_PLATFORM


class InvalidActor(ValueError):
    """Nobody can be this."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: what they are, Upcard's opaque id of them, and what a member of staff may do.

    A platform has no id. Raises InvalidActor.
    """

    kind: ActorKind
    id: str = ""
    roles: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.kind is ActorKind.PLATFORM:
            if self.id:
                raise InvalidActor("a platform has no id")
        elif not _ID.fullmatch(self.id):
            raise InvalidActor("an id has 1 to 64 letters, digits, - and _")
        if self.roles and self.kind is not ActorKind.STAFF:
            raise InvalidActor("only staff have roles")
        if len(self.roles) > MAX_ROLES or not all(_ROLE.fullmatch(role) for role in self.roles):
            raise InvalidActor(f"at most {MAX_ROLES} roles, each a slug")

    def __str__(self) -> str:
        """As events write it: `player:<id>`, `dealer:<id>`, `staff:<id>` or `platform`."""
        name = self.kind.name.lower()
        return f"{name}:{self.id}" if self.id else name

    def to_proto(self) -> call_context_pb2.Actor:
        """The message that stands for it."""
        return call_context_pb2.Actor(kind=self.kind.value, id=self.id, roles=sorted(self.roles))

    @classmethod
    def from_proto(cls, message: call_context_pb2.Actor) -> "Actor":
        """The actor that a message stands for. Raises InvalidActor, also for a kind that is not known."""
        try:
            kind = ActorKind(message.kind)
        except ValueError:
            raise InvalidActor(f"{message.kind} is no kind of actor") from None
        return cls(kind, message.id, frozenset(message.roles))
