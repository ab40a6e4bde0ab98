"""Upcasting: old versions of an event's payload are brought up to the present one when they are read.

What is stored never changes. Each step brings a payload of one type from a version to the next; steps are
pure. A version newer than the program knows is an error, and never a guess.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from eventstore.errors import EventStoreError

Payload = Mapping[str, Any]
"""What an event says, as parsed from its content."""


@dataclass(frozen=True, slots=True)
class Upcast:
    """One step: payloads of this type from `version` to `version + 1`.

    `step` gets a payload that it must leave as it is, and returns another.
    """

    type: str
    version: int
    step: Callable[[Payload], Payload]


class EventIsNewer(EventStoreError):
    """An event has a version that this program does not know yet."""

    slug: ClassVar[str] = "event_is_newer"

    def __init__(self, event_type: str, version: int, known: int) -> None:
        self.type = event_type
        self.version = version
        self.known = known
        super().__init__(
            f"{event_type} has version {version}, and this program knows it up to version {known}:"
            " upgrade this service first, then the one that writes these events"
        )


class UnknownEventType(EventStoreError):
    """An event has a type, or a version below 1, that this program knows nothing of."""

    slug: ClassVar[str] = "unknown_event_type"


class UpcastersIncomplete(ValueError):
    """Steps and present versions do not fit together: a defect of the program, found when it starts."""


class Upcasters:
    """All steps of a service. `present` names every type that it reads, and the version that it has now.

    Raises UpcastersIncomplete: a step is missing or there twice, leads beyond the present version, or is of a
    type that is not named.
    """

    def __init__(self, present: Mapping[str, int], steps: Iterable[Upcast] = ()) -> None:
        self._present = dict(present)
        self._steps: dict[tuple[str, int], Callable[[Payload], Payload]] = {}
        faults = [f"{name}: version {version} is below 1" for name, version in present.items() if version < 1]
        for one in steps:
            if (one.type, one.version) in self._steps:
                faults.append(f"{one.type}: two steps from version {one.version}")
            elif one.type not in self._present:
                faults.append(f"{one.type}: a step from version {one.version}, and no present version")
            elif not 1 <= one.version < self._present[one.type]:
                faults.append(
                    f"{one.type}: a step from version {one.version}, and the present one is"
                    f" {self._present[one.type]}"
                )
            self._steps[one.type, one.version] = one.step
        faults += [
            f"{name}: no step from version {version}"
            for name, present_version in self._present.items()
            for version in range(1, present_version)
            if (name, version) not in self._steps
        ]
        if faults:
            raise UpcastersIncomplete("; ".join(faults))

    @property
    def present(self) -> Mapping[str, int]:
        """The version that each type has now."""
        return dict(self._present)

    def upcast(self, event_type: str, version: int, payload: Payload) -> Payload:
        """The payload as the present version of its type has it; itself when it has that already.

        Raises EventIsNewer, UnknownEventType, or what a step raises.
        """
        present = self._present.get(event_type)
        if present is None:
            raise UnknownEventType(f"{event_type} is no type of event that this program reads")
        if version > present:
            raise EventIsNewer(event_type, version, present)
        if version < 1:
            raise UnknownEventType(f"{event_type} has version {version}; versions begin at 1")
        for reached in range(version, present):
            payload = self._steps[event_type, reached](payload)
        return payload
