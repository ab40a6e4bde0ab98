"""Which services a server offers, and who may make each call: nothing is open that was not opened."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import grpc.aio
from google.protobuf.descriptor import ServiceDescriptor

from servicekit.grpc.actors import ActorKind


@dataclass(frozen=True, slots=True)
class Access:
    """Who may make a call: both conditions hold.

    `actors`: the signed context has to name an actor of one of these kinds; empty: none is needed.
    `callers`: the service that calls, by its certificate, has to be one of these; None: any that may connect.
    Callers are checked where connections show certificates, which plaintext on one machine does not.
    """

    actors: frozenset[ActorKind] = frozenset()
    callers: frozenset[str] | None = None


ANY_SERVICE: Final = Access()
"""Whoever can connect; nobody needs to be acting."""


def by(*kinds: ActorKind, callers: frozenset[str] | None = None) -> Access:
    """A call in the name of an actor of one of these kinds."""
    return Access(frozenset(kinds), callers)


def for_services(*callers: str) -> Access:
    """A call that these services make for themselves."""
    return Access(callers=frozenset(callers))


@dataclass(frozen=True, slots=True)
class Exposed:
    """A service that a server offers.

    `register` adds its handlers to a server: `partial(add_EventFeedServiceServicer_to_server, servicer)`.
    `access` says for each call of the service, by its name, who may make it; `everything` says it for all.
    Raises ValueError when a call is left out or does not exist.
    """

    descriptor: ServiceDescriptor
    register: Callable[[grpc.aio.Server], None]
    access: Mapping[str, Access] = field(default_factory=dict)
    everything: Access | None = None

    def __post_init__(self) -> None:
        there = set(self.descriptor.methods_by_name)
        if unknown := set(self.access) - there:
            raise ValueError(f"{self.descriptor.full_name} has no {', '.join(sorted(unknown))}")
        if self.everything is None and (open_ := there - set(self.access)):
            raise ValueError(f"{self.descriptor.full_name}: who may call {', '.join(sorted(open_))}?")

    def rules(self) -> dict[str, Access]:
        """Who may make each call, by its full name `/package.Service/Method`."""
        found: dict[str, Access] = {}
        for name in self.descriptor.methods_by_name:
            access = self.access.get(name, self.everything)
            if access is not None:
                found[f"/{self.descriptor.full_name}/{name}"] = access
        return found
