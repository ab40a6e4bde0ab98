"""The bonus service's events: jackpots and free bets.

What the wallet reads of their payloads is written here, and in docs/wallet-events.md; the services share no
code, and a field that the wallet does not need is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final
from uuid import UUID

from eventstore import EventFilter, RecordedEvent, StreamAppend
from eventstore.following import Handler
from eventstore.postgres import Connection
from rules_core.log.content import Content
from upcard_wallet.app.draft import merged
from upcard_wallet.app.free_bets import Expired, Granted, post_free_bets
from upcard_wallet.app.jackpots import Contribution, Correction, Hit, JackpotFact, Seed, Share, post_jackpots
from upcard_wallet.app.wallet import Origin, Wallet
from upcard_wallet.entrypoints.consumer.fields import Fields
from upcard_wallet.entrypoints.consumer.reading import content_of, known

VERSION: Final = 1
"""The version of all of these payloads."""

_JACKPOTS: Final = frozenset({"JackpotContributed", "JackpotSeeded", "JackpotHit", "JackpotCorrected"})
_FREE_BETS: Final = frozenset({"FreeBetGranted", "FreeBetExpired"})

BONUS_EVENTS: Final = EventFilter(categories=frozenset({"jackpot", "freebet"}), types=_JACKPOTS | _FREE_BETS)
"""Which of the bonus service's events mean money. `FreeBetUsed` follows from a hold that the wallet has."""

Fact = JackpotFact | Granted | Expired


def bonus_handler(wallet: Wallet) -> Handler:
    """A handler of `eventstore.following` for jackpots and free bets."""

    async def handle(connection: Connection, events: Sequence[RecordedEvent]) -> Sequence[StreamAppend]:
        wanted = [content_of(event) for event in events if event.type in _JACKPOTS | _FREE_BETS]
        # One lock of balances a transaction and use case: the two kinds, and each correlation, apart.
        appends = [await _post(wallet, connection, part) for part in _parts(wanted)]
        return merged(appends)

    return handle


def _parts(contents: Sequence[Content]) -> Iterator[list[Content]]:
    """Neighbours that one use case posts with one correlation id."""
    for _, part in groupby(contents, key=lambda one: (one.type in _JACKPOTS, one.correlation_id)):
        yield list(part)


async def _post(wallet: Wallet, connection: Connection, part: list[Content]) -> Sequence[StreamAppend]:
    origin = Origin("system", part[0].correlation_id)
    facts = [fact_of(content) for content in part]
    jackpots = [fact for fact in facts if isinstance(fact, Contribution | Seed | Hit | Correction)]
    if jackpots:
        return await post_jackpots(wallet, connection, jackpots, origin)
    free_bets = [fact for fact in facts if isinstance(fact, Granted | Expired)]
    return await post_free_bets(wallet, connection, free_bets, origin)


def fact_of(content: Content) -> Fact:
    """What an event says to the ledger. Raises PayloadError, EventIsNewer."""
    known(content, VERSION)
    fields = Fields(content.payload, content.type)
    cause = UUID(content.event_id)
    match content.type:
        case "JackpotContributed":
            return Contribution(
                fields.id("jackpot"),
                fields.id("operator"),
                fields.currency("currency"),
                fields.amount("amount"),
                fields.round("round"),
                cause,
            )
        case "JackpotSeeded":
            return Seed(
                fields.id("jackpot"),
                fields.id("operator"),
                fields.currency("currency"),
                fields.amount("amount"),
                cause,
            )
        case "JackpotHit":
            return Hit(
                fields.id("jackpot"),
                fields.id("operator"),
                fields.currency("currency"),
                tuple(Share(one.id("player"), one.amount("amount")) for one in fields.objects("shares")),
                fields.round("round"),
                cause,
            )
        case "JackpotCorrected":
            return Correction(
                fields.id("jackpot"),
                fields.id("operator"),
                fields.currency("currency"),
                fields.change("pool_change"),
                tuple(
                    Share(one.id("player"), one.change("amount"))
                    for one in fields.objects("changes", missing=[])
                ),
                fields.round("round"),
                cause,
            )
        case "FreeBetGranted":
            return Granted(
                fields.id("free_bet"),
                fields.id("player"),
                fields.currency("currency"),
                fields.amount("amount"),
                cause,
            )
        case "FreeBetExpired":
            return Expired(fields.id("free_bet"), cause)
        case other:
            raise ValueError(f"{other} means nothing to the ledger")
