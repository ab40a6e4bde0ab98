"""What an operator is: a casino platform that sends players here; its keys, what it may do, its events."""

from __future__ import annotations

import datetime as dt
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Final, Literal

Environment = Literal["sandbox", "live"]
WalletKind = Literal["transfer", "seamless"]
Algorithm = Literal["hmac-sha256", "rsa-sha256"]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MOST_KEYS: Final = 10
"""Keys of one operator that may be in force at a time."""
MOST_CURRENCIES: Final = 50
MOST_ADDRESSES: Final = 200
MOST_RATE: Final = 100_000
USUAL_RATE_PER_S: Final = 50
USUAL_RATE_BURST: Final = 100

is_operator_id: Final = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch
"""Whether a text may be an operator's id; of the log's streams it takes 64 characters at the most."""

_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_LONGEST_NAME: Final = 100
_MOST_AMOUNT: Final = 2**53 - 1
_WEB_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]{1,253}(/[^\s#]{0,1000})?")


@dataclass(frozen=True, slots=True)
class CurrencyLimits:
    """A currency that an operator's players may have, and its own limits. Raises ValueError: wrong ones."""

    currency: Annotated[str, "ISO 4217, three capital letters."]
    min_bet: Annotated[int | None, "Least minor units of one wager; null: as the table has it."] = None
    max_bet: Annotated[int | None, "Most minor units of one wager; null: as the table has it."] = None

    def __post_init__(self) -> None:
        if not _CURRENCY.fullmatch(self.currency):
            raise ValueError(f"currencies: {self.currency[:20]!r} is no ISO 4217 code")
        for name, amount in (("min_bet", self.min_bet), ("max_bet", self.max_bet)):
            if amount is not None and not 0 < amount <= _MOST_AMOUNT:
                raise ValueError(f"{name} of {self.currency} is an amount above zero, in minor units")
        if self.min_bet is not None and self.max_bet is not None and self.min_bet > self.max_bet:
            raise ValueError(f"min_bet of {self.currency} is above its max_bet")


@dataclass(frozen=True, slots=True)
class Terms:
    """What may be changed of an operator after it was registered. Raises ValueError for what cannot be."""

    name: Annotated[str, "What people call it."]
    currencies: Annotated[tuple[CurrencyLimits, ...], "What its players may have, one or more."]
    addresses: Annotated[tuple[str, ...], "Networks that calls may come from; empty: anywhere."] = ()
    rate_per_s: Annotated[int, "Calls that each of its keys may make a second, for long."] = USUAL_RATE_PER_S
    rate_burst: Annotated[int, "Calls that each of its keys may make at once, after a pause."] = (
        USUAL_RATE_BURST
    )
    launch_url: Annotated[str | None, "What a launch link begins with; null: the gateway's address."] = None
    closed: Annotated[bool, "Whether none of its calls is taken."] = False

    def __post_init__(self) -> None:
        if not 0 < len(self.name) <= _LONGEST_NAME or not self.name.isprintable():
            raise ValueError(f"name has 1 to {_LONGEST_NAME} printable characters")
        if not 0 < len(self.currencies) <= MOST_CURRENCIES:
            raise ValueError(f"currencies: 1 to {MOST_CURRENCIES} of them")
        if len({one.currency for one in self.currencies}) != len(self.currencies):
            raise ValueError("currencies: one is there twice")
        if len(self.addresses) > MOST_ADDRESSES:
            raise ValueError(f"addresses: {MOST_ADDRESSES} at the most")
        self.networks()
        for name, rate in (("rate_per_s", self.rate_per_s), ("rate_burst", self.rate_burst)):
            if not 1 <= rate <= MOST_RATE:
                raise ValueError(f"{name} is 1 to {MOST_RATE}")
        if self.launch_url is not None and not _WEB_ADDRESS.fullmatch(self.launch_url):
            raise ValueError("launch_url has to begin with https:// or http://")

    def networks(self) -> tuple[Network, ...]:
        """The networks that calls may come from. Raises ValueError."""
        found: list[Network] = []
        for text in self.addresses:
            try:
                found.append(ipaddress.ip_network(text))
            except ValueError:
                raise ValueError(f"addresses: {text[:60]!r} is no network such as 192.0.2.0/24") from None
        return tuple(found)

    def limits_of(self, currency: str) -> CurrencyLimits | None:
        """The limits in a currency; None: its players may not have it."""
        return next((one for one in self.currencies if one.currency == currency), None)


@dataclass(frozen=True, slots=True)
class Key:
    """A key that an operator signs with, or signed with."""

    key_id: str
    algorithm: Algorithm
    fingerprint: str
    public_key: str | None = None
    """In PEM; None: it is a secret, which lies encrypted elsewhere."""
    added_at: dt.datetime | None = None
    revoked_at: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class Operator:
    """A casino platform as it is now."""

    operator: str
    environment: Environment
    wallet: WalletKind
    terms: Terms
    keys: Mapping[str, Key] = field(default_factory=dict)
    registered_at: dt.datetime | None = None
    version: int = 0
    """So many events its stream has."""

    @property
    def keys_in_force(self) -> tuple[Key, ...]:
        """Its keys that calls may be signed with."""
        return tuple(key for key in self.keys.values() if key.revoked_at is None)


@dataclass(frozen=True, slots=True)
class OperatorRegistered:
    """An operator was registered; the stream's first event."""

    operator: Annotated[str, "The operator's opaque id."]
    environment: Annotated[Environment, "Whether its players play for real."]
    wallet: Annotated[WalletKind, "Where its players' money lies: here, or with the operator."]
    terms: Annotated[Terms, "What may be changed later."]


@dataclass(frozen=True, slots=True)
class OperatorChanged:
    """Terms of an operator were changed; from now on they are these."""

    operator: Annotated[str, "The operator's opaque id."]
    terms: Annotated[Terms, "All of its terms, also those that did not change."]


@dataclass(frozen=True, slots=True)
class KeyAdded:
    """An operator may sign with a further key."""

    operator: Annotated[str, "The operator's opaque id."]
    key_id: Annotated[str, "The key's id, which each call names."]
    algorithm: Annotated[Algorithm, "How it signs."]
    fingerprint: Annotated[str, "What people compare keys by, in hex; nothing of a secret."]
    public_key: Annotated[str | None, "In PEM; null: it is a secret, which no event has."] = None


@dataclass(frozen=True, slots=True)
class KeyRevoked:
    """An operator may not sign with a key any more, from now on."""

    operator: Annotated[str, "The operator's opaque id."]
    key_id: Annotated[str, "The key's id."]


OperatorEvent = OperatorRegistered | OperatorChanged | KeyAdded | KeyRevoked

EVENT_TYPES: Final[dict[str, tuple[int, type[OperatorEvent]]]] = {
    kind.__name__: (1, kind) for kind in (OperatorRegistered, OperatorChanged, KeyAdded, KeyRevoked)
}
"""Every type by name, with the version that is written."""


def partner_stream(operator: str) -> str:
    """The stream of an operator."""
    return f"partner-{operator}"


def evolve(before: Operator | None, event: OperatorEvent, at: dt.datetime) -> Operator:
    """The operator after an event. Raises ValueError for an event that cannot follow."""
    if isinstance(event, OperatorRegistered):
        if before is not None:
            raise ValueError("the operator is registered twice")
        return Operator(event.operator, event.environment, event.wallet, event.terms, {}, at, 1)
    if before is None:
        raise ValueError("the operator was never registered")
    after = replace(before, version=before.version + 1)
    if isinstance(event, OperatorChanged):
        return replace(after, terms=event.terms)
    if isinstance(event, KeyAdded):
        key = Key(event.key_id, event.algorithm, event.fingerprint, event.public_key, at)
        return replace(after, keys={**before.keys, key.key_id: key})
    revoked = replace(before.keys[event.key_id], revoked_at=at)
    return replace(after, keys={**before.keys, event.key_id: revoked})
