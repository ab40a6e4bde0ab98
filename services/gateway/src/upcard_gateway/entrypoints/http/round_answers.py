"""Rounds as the platform API answers them: with the platform's own ids of players, and links."""

from __future__ import annotations

from upcard_gateway.app.links import Linked, RoundLinks
from upcard_gateway.app.rounds import Box, Dealer, Detail, Happened, Played
from upcard_gateway.entrypoints.http.edge import Edge
from upcard_platform.models import rounds as models

__all__ = ["detail_shown", "event_shown", "history_url", "links_on", "round_shown"]


def links_on(edge: Edge) -> RoundLinks | None:
    """What makes and reads links; None: no key is set."""
    keys = edge.settings.link_signing_keys()
    return RoundLinks(keys, edge.settings.link_key) if keys else None


def history_url(edge: Edge, player: str, round_name: str) -> str | None:
    """The address that shows a round to a player (our id) for ever."""
    links = links_on(edge)
    if links is None:
        return None
    return f"{edge.settings.public_url}/r/{links.token(Linked(player, round_name))}"


def round_shown(edge: Edge, played: Played, player: str) -> models.PlayerRound:
    """A round in few words; `player` is the platform's own id."""
    return models.PlayerRound(
        round=played.round,
        table=played.table,
        number=played.number,
        ruleset=played.ruleset,
        player=player,
        currency=played.currency,
        state=played.state,
        reason=played.reason,
        opened_at=played.opened_at,
        ended_at=played.ended_at,
        staked=played.staked,
        returned=played.returned,
        net=played.net,
        revision=played.revision,
        decided_by_platform=played.by_platform,
        dealer=None if played.dealer is None else _dealer(played.dealer),
        history_url=history_url(edge, played.player, played.round),
    )


def detail_shown(edge: Edge, detail: Detail, player: str) -> models.RoundDetail:
    """A round with cards and choices."""
    return models.RoundDetail(
        **dict(round_shown(edge, detail.played, player)),
        step=detail.step,
        corrections=detail.corrections,
        cards=dict(detail.cards),
        boxes=list(map(_box, detail.boxes)),
        words=list(detail.words),
    )


def event_shown(happened: Happened) -> models.RoundEvent:
    """One thing that happened; whoever else it named is out of it already."""
    return models.RoundEvent(
        position=happened.position, at=happened.at, type=happened.type, data=dict(happened.data)
    )


def _dealer(dealer: Dealer) -> models.DealerHand:
    return models.DealerHand(
        first=dealer.first,
        final=dealer.final,
        cards=list(dealer.cards),
        qualified=dealer.qualified,
        purchased=dealer.purchased,
    )


def _box(box: Box) -> models.PlayedBox:
    hand = None
    if box.hand is not None:
        hand = models.PlayedHand(
            name=box.hand.name, combinations=list(box.hand.combinations), odds=box.hand.odds
        )
    return models.PlayedBox(
        box=box.box,
        blind=box.blind,
        cards=list(box.cards),
        option=box.option,
        positions=list(box.positions),
        bought=box.bought,
        final=box.final,
        final_by=box.final_by,
        purchase=box.purchase,
        folded=box.folded,
        hand=hand,
        wagers=[
            models.PlayedWager(wager=one.wager, stake=one.stake, returned=one.returned, reason=one.reason)
            for one in box.wagers
        ],
        outcome=box.outcome,
        staked=box.staked,
        returned=box.returned,
        net=box.net,
        words=list(box.words),
    )
