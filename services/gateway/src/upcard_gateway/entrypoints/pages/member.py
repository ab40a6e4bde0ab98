"""Who is signed in."""

from __future__ import annotations

from dataclasses import dataclass

from servicekit.grpc import Actor, ActorKind
from upcard_gateway.domain.staff import Role, service_roles

__all__ = ["Member"]


@dataclass(frozen=True, slots=True)
class Member:
    """A member of staff who is signed in, as the database has them now."""

    staff: str
    """The opaque id, which events and services have."""
    name: str
    """What people call the member; shown on pages, never in an event or a log."""
    roles: frozenset[Role]
    session: str
    """The session's opaque id."""

    def actor(self) -> Actor:
        """The member, as a service is told who acts: `with acting_as(member.actor())`."""
        return Actor(ActorKind.STAFF, self.staff, service_roles(self.roles))

    def dealer(self) -> Actor:
        """The member at a table, as the dealer that the table knows by the staff id."""
        return Actor(ActorKind.DEALER, self.staff)

    def has(self, *roles: Role) -> bool:
        """Whether the member has any of these roles."""
        return not self.roles.isdisjoint(roles)
