"""Webhooks: what is told to whom, and what becomes of one that was tried. Decided without any I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

WebhookType = Literal["round_ended", "jackpot", "table_state"]
Environment = Literal["sandbox", "live"]

PLAYERS_IN_ONE: Final = 200
"""Most players in one webhook of a round: about 100 kB."""

_SECONDS_12_H: Final = 12 * 3600.0
_ENDED: Final = frozenset(range(200, 300))


@dataclass(frozen=True, slots=True)
class Policy:
    """Times and bounds of sending. Times in seconds."""

    timeout_s: float = 10.0
    """Longest time for one try."""
    claim_margin_s: float = 15.0
    """By how much a claim outlives a try: its outcome has to be noted in it."""
    first_pause_s: float = 5.0
    """Pause after the first failed try; doubled with each, up to `longest_pause_s`."""
    longest_pause_s: float = 600.0
    park_after_s: float = _SECONDS_12_H
    """A webhook that has failed for so long is parked."""
    at_once: int = 4
    """Tries of one endpoint that are under way at the same time, in each process."""
    at_once_in_all: int = 256
    """Tries that are under way at the same time, in each process."""
    down_after: int = 5
    """So many failed tries of an endpoint in a row, and it counts as down: one try at a time."""
    down_pause_s: float = 5.0
    """How often an endpoint that is down is tried at first; doubled with each failure, up to a minute."""
    down_longest_pause_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where webhooks are sent, as those who queue them see it."""

    endpoint: str
    operator: str
    environment: Environment
    types: frozenset[str]
    full: bool = False
    """Whether so much waits for it that what comes is parked at once."""


@dataclass(frozen=True, slots=True)
class Told:
    """The event that webhooks tell of."""

    subject: str
    """Its stream."""
    position: int
    """Its place in it."""
    event_id: str
    happened_at: str
    """`YYYY-MM-DDThh:mm:ss.ffffffZ`."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that webhooks tell of. All ids of players are Upcard's own."""

    type: WebhookType
    told: Told
    data: Mapping[str, Any]
    """What is said, but for `players`, `part`, `parts`."""
    players: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
    """What concerns players, by their operators; None: nobody in particular."""
    table: str | None = None
    """The table it is about, where it is about one that sandboxes may not see."""
    only_with_players: bool = True
    """Whether an operator none of whose players it names is told nothing of it."""


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """One webhook to one endpoint, to be queued."""

    endpoint: str
    part: int
    fact: Fact
    data: dict[str, Any] = field(repr=False)
    parked: bool = False
    """Too much waits for the endpoint already."""


def deliveries(
    facts: Sequence[Fact], endpoints: Sequence[Endpoint], sandbox_tables: frozenset[str]
) -> list[NewDelivery]:
    """Who is told what: each operator of its own players alone, sandboxes of their own tables alone."""
    return [
        NewDelivery(endpoint.endpoint, part, fact, data, endpoint.full)
        for fact in facts
        for endpoint in endpoints
        if fact.type in endpoint.types and _sees(endpoint, fact, sandbox_tables)
        for part, data in enumerate(_parts(fact, endpoint.operator), start=1)
    ]


def _sees(endpoint: Endpoint, fact: Fact, sandbox_tables: frozenset[str]) -> bool:
    own = fact.players is not None and bool(fact.players.get(endpoint.operator))
    if own:
        return True
    if fact.only_with_players and fact.players is not None:
        return False
    return (endpoint.environment == "sandbox") == (fact.table in sandbox_tables)


def _parts(fact: Fact, operator: str) -> list[dict[str, Any]]:
    """The data for one operator, in as many parts as its players need."""
    if fact.players is None:
        return [dict(fact.data)]
    own = list(fact.players.get(operator, ()))
    groups = [own[at : at + PLAYERS_IN_ONE] for at in range(0, max(len(own), 1), PLAYERS_IN_ONE)]
    return [
        {**fact.data, "players": group, "part": part, "parts": len(groups)}
        for part, group in enumerate(groups, start=1)
    ]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one try."""

    status: int | None
    """Of the answer; None: there was none."""
    error: str | None = None
    """What was wrong, in words for the platform's programmer."""
    retry_after_s: float | None = None
    """What the answer asked for."""

    @property
    def delivered(self) -> bool:
        """Whether the receiver has it."""
        return self.error is None and self.status in _ENDED


@dataclass(frozen=True, slots=True)
class Tried:
    """What is known of a webhook's subject at its endpoint when the outcome of a try is judged."""

    failures: int
    """Failed tries in a row before this one."""
    failing_for_s: float
    """Since the first of them."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a webhook that was tried."""

    what: Literal["delivered", "again", "parked"]
    pause_s: float = 0.0
    """Before it is tried again."""


def decide(outcome: Outcome, tried: Tried, policy: Policy) -> Decision:
    """Any 2xx ends it. Everything else is tried again, and parked once it has failed for long enough."""
    if outcome.delivered:
        return Decision("delivered")
    if tried.failures and tried.failing_for_s >= policy.park_after_s:
        return Decision("parked")
    pause_s = min(policy.first_pause_s * 2.0 ** min(tried.failures, 30), policy.longest_pause_s)
    asked_s = min(outcome.retry_after_s or 0.0, policy.longest_pause_s)
    return Decision("again", max(pause_s, asked_s))
