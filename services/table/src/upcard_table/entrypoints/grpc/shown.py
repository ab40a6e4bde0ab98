"""What watchers are shown, as messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rules_core.canonical import canonical_bytes
from rules_core.round.codec import codec_of
from upcard.table.v1 import watching_pb2 as pb
from upcard_table.app.watching.crowd import Crowd
from upcard_table.app.watching.hub import Encoding
from upcard_table.app.watching.looking import TableNow
from upcard_table.app.watching.session import OwnUpdate, SharedUpdate, SnapshotUpdate, Told
from upcard_table.app.watching.shown import Item, KnownBonus


def table_message(found: TableNow) -> pb.TableState:
    """A table as it is now, without what is the floor's own: shifts and tips."""
    state, config = found.state, found.state.config
    details: dict[str, object] = {
        "config": None if config is None else codec_of(type(config)).encode(config),
        "decks": [codec_of(type(deck)).encode(deck) for deck in state.decks],
    }
    return pb.TableState(
        table=state.table,
        name="" if config is None else config.name,
        ruleset="" if config is None else config.ruleset,
        open=state.open,
        dealer=state.dealer or "",
        round=found.round,
        step=found.step,
        currencies=[] if config is None else [limits.currency for limits in config.limits],
        manual_mode=state.manual_mode,
        details=canonical_bytes(details),
        position=found.position,
    )


def message(told: Told) -> pb.WatchTableResponse:
    """One message of a session."""
    made = pb.WatchTableResponse(seq=told.seq, resume_token=told.token, resume_expired=told.resume_expired)
    match told.update:
        case SharedUpdate(body=body):
            made.shared = body
        case OwnUpdate() as own:
            made.own.events.extend(event_message(own.round, item) for item in own.items)
            made.own.view = own.view
        case SnapshotUpdate() as snapshot:
            now = TableNow(snapshot.table, snapshot.table_position, snapshot.round, snapshot.step)
            made.snapshot.table.CopyFrom(table_message(now))
            made.snapshot.round = snapshot.round
            made.snapshot.position = snapshot.position
            made.snapshot.view = snapshot.view
    return made


def event_message(number: int, item: Item) -> pb.ShownEvent:
    """A shown event of a round, or (0) of the table. Both kinds are written by the same codec."""
    shown = pb.ShownEvent(
        round=number,
        position=item.position,
        type=type(item.event).__name__,
        payload=canonical_bytes(codec_of(type(item.event)).encode(item.event)),
    )
    if item.cards:
        shown.cards.extend(pb.PrivateCard(place=one.place, card=one.card) for one in item.cards)
    if item.bonuses:
        shown.bonuses.extend(_bonus(one) for one in item.bonuses)
    if item.crowd is not None:
        shown.crowd.CopyFrom(_crowd(item.crowd))
    return shown


def _bonus(bonus: KnownBonus) -> pb.KnownBonus:
    return pb.KnownBonus(
        box=bonus.box,
        stake=bonus.stake,
        hand=bonus.hand or "",
        returned=bonus.returned,
        jackpot_share_percent=bonus.jackpot_share_percent or 0,
    )


def _crowd(crowd: Crowd) -> pb.Crowd:
    return pb.Crowd(
        players=crowd.players,
        stakes=[
            pb.CrowdStake(
                currency=one.currency,
                wager=one.wager,
                box=one.box,
                players=one.players,
                amount=one.amount,
            )
            for one in crowd.stakes
        ],
        choices=[pb.CrowdChoice(choice=choice, boxes=boxes) for choice, boxes in crowd.choices],
    )


def _events(number: int, items: Sequence[Item]) -> bytes:
    return pb.SharedUpdate(events=[event_message(number, item) for item in items]).SerializeToString()


def _state(plain: bytes) -> bytes:
    return pb.SharedUpdate(state=plain).SerializeToString()


ENCODING: Final = Encoding(_events, _state)
"""How what is shared becomes bytes."""
