"""Webhooks: what they say, where they are sent, what became of each."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

WebhookType = Literal["round_ended", "jackpot", "table_state"]
DeliveryState = Literal["queued", "delivered", "parked", "cancelled"]

RequestId = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="the caller's id of this request")
]

ENDPOINTS_MAX: Final = 10
"""Most endpoints of one operator."""
LONGEST_URL: Final = 500


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Request(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BoxEnded(_Model):
    """What became of one box of a player."""

    box: int = Field(description="1-based, from the dealer's left")
    outcome: str = Field(description="win, tie, lose, no_game, folded or refunded")
    staked: int = Field(description="stakes and fees, minor units")
    returned: int = Field(description="what goes back to the player, stakes included, minor units")
    net: int = Field(description="returned less staked")


class PlayerEnded(_Model):
    """A player's result of a round; null amounts where every wager goes back."""

    player: str | None = Field(description="your id of the player; null: you had the player erased")
    currency: str
    revision: int = Field(description="1 at the settlement, one more with each correction; 0: cancelled")
    staked: int | None = Field(description="all stakes and fees, minor units")
    returned: int | None = Field(description="what goes back, stakes included, minor units")
    net: int | None = Field(description="returned less staked, minor units")
    boxes: list[BoxEnded] = Field(description="none where every wager goes back")


class RoundEnded(_Model):
    """A round is over, was cancelled, or was corrected later: with your players' results alone."""

    what: Literal["settled", "cancelled", "corrected"]
    table: str
    round: str = Field(description="<table>.<number>")
    number: int
    reason: str | None = Field(description="why it was cancelled, a slug")
    correction: int | None = Field(description="which correction this is, from 1")
    players: list[PlayerEnded] = Field(
        description="of a correction those alone whose result changed; of a cancelled round those who had bet"
    )
    part: int = Field(description="from 1: a round with many of your players comes in several webhooks")
    parts: int


class JackpotPlayer(_Model):
    """What one of your players gets of a jackpot."""

    player: str | None = Field(description="your id of the player; null: you had the player erased")
    box: int | None = Field(description="1-based; null in a correction")
    stake: int | None = Field(description="the stake on bonus B, minor units; null in a correction")
    amount: int = Field(description="minor units; in a correction the change, signed")


class JackpotChanged(_Model):
    """A jackpot was hit, filled up, or corrected."""

    what: Literal["hit", "seeded", "corrected"]
    jackpot: str
    currency: str
    pool: int = Field(description="what is in the pool after it, minor units")
    round: str | None = Field(description="the round that led to it")
    hand: str | None = Field(
        description="the hand that won; null: the pool had reached its secret size, or no hit"
    )
    paid: int | None = Field(description="of a hit: the sum of all winners' shares, minor units")
    winners: int | None = Field(description="of a hit: how many boxes won, your own and others'")
    amount: int | None = Field(description="of a seed: what the house put in, minor units")
    players: list[JackpotPlayer] = Field(description="your players alone")
    part: int = Field(description="from 1: a hit of very many winners comes in several webhooks")
    parts: int


class TableChanged(_Model):
    """A table was opened or closed, or has other limits."""

    what: Literal["opened", "closed", "limits"]
    table: str
    name: str | None = Field(description="what people call it; null where it was closed")
    ruleset: str | None = Field(description="name@version; null where it was closed")
    limits: list[dict[str, Any]] | None = Field(
        description="by currency, as the lobby has them; null where closed"
    )
    from_round: int | None = Field(description="the first round that they count for; null where closed")
    after_round: int | None = Field(
        description="where closed: the last round that was opened by then; 0: none"
    )


class Webhook(_Model):
    """What a webhook's body says. `data` is what `type` says: see `round_ended`, `jackpot`, `table_state`."""

    id: str = Field(description="the same each time it is sent: do nothing for one that was dealt with")
    type: WebhookType
    timestamp: dt.datetime = Field(description="when it happened")
    operator: str
    subject: str = Field(description="what it is about: webhooks of one subject are sent in order")
    position: int = Field(description="its place in the subject: later ones are higher, not always by one")
    event_id: str = Field(description="the event in Upcard's log that it tells of")
    data: dict[str, Any]

    @property
    def round_ended(self) -> RoundEnded:
        """Of a webhook of type `round_ended`. Raises pydantic's ValidationError for another."""
        return RoundEnded.model_validate(self.data)

    @property
    def jackpot(self) -> JackpotChanged:
        """Of a webhook of type `jackpot`. Raises pydantic's ValidationError for another."""
        return JackpotChanged.model_validate(self.data)

    @property
    def table_state(self) -> TableChanged:
        """Of a webhook of type `table_state`. Raises pydantic's ValidationError for another."""
        return TableChanged.model_validate(self.data)


class AddEndpoint(_Request):
    """Have webhooks sent to an address."""

    request_id: RequestId
    url: str = Field(
        max_length=LONGEST_URL, description="https:// and the rest, without name and password and without #"
    )
    types: list[WebhookType] = Field(min_length=1, max_length=3, description="which webhooks it gets")

    @field_validator("types")
    @classmethod
    def _once(cls, value: list[WebhookType]) -> list[WebhookType]:
        if len(set(value)) < len(value):
            raise ValueError("each type once")
        return value


class ChangeEndpoint(_Request):
    """Remove an endpoint, or replace its secret."""

    request_id: RequestId


class Endpoint(_Model):
    """An address that webhooks are sent to."""

    endpoint: str
    url: str
    types: list[WebhookType]
    created_at: dt.datetime
    removed_at: dt.datetime | None
    failing_since: dt.datetime | None = Field(description="since when no webhook got through; null: they do")
    old_secret_until: dt.datetime | None = Field(
        description="until when webhooks are signed with the secret before, too"
    )


class EndpointWithSecret(_Model):
    """An endpoint with its secret, which is shown here and nowhere else."""

    endpoint: Endpoint
    secret: str = Field(description="whsec_…: what webhooks to this endpoint are signed with", repr=False)


class EndpointPage(_Model):
    """All endpoints of an operator."""

    items: list[Endpoint]
    next: None = Field(default=None, description="there is one page")


class Delivery(_Model):
    """One webhook to one endpoint, and what became of it."""

    webhook: str = Field(description="the webhook's id")
    endpoint: str
    type: WebhookType
    subject: str
    position: int
    event_id: str
    state: DeliveryState = Field(
        description="queued: waits or is tried again; delivered: answered with 2xx; parked: given up, send it"
        " again once your side is mended; cancelled: its endpoint was removed"
    )
    attempts: int
    created_at: dt.datetime
    changed_at: dt.datetime
    next_try_at: dt.datetime | None = Field(description="null: over, or behind another one of its subject")
    last_status: int | None = Field(description="the HTTP status of the last answer; null: there was none")
    last_error: str | None = Field(description="what was wrong with the last try, in words")


class DeliveryPage(_Model):
    """Webhooks, the newest first."""

    items: list[Delivery]
    next: str | None


class ResendWebhook(_Request):
    """Have a webhook sent once more."""

    request_id: RequestId


class ResendParked(_Request):
    """Have the webhooks of an endpoint that were given up sent once more, the oldest first."""

    request_id: RequestId


class ParkedResent(_Model):
    """How many were queued again."""

    resent: int
    more: bool = Field(description="whether there are more: ask again, with another request_id")
