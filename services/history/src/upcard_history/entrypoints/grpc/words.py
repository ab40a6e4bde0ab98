"""A round in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rules_core.explain import ENGLISH, Explanation, Unit, line_of
from rules_core.explain.catalogue import SCALE_MAX
from upcard.history.v1 import history_pb2 as pb
from upcard_history.app.reading import RoundNotEnded, RoundRow, RulesetUnknown
from upcard_history.entrypoints.grpc.asking import Context, Desk, invalid, own_player, patiently, refusal
from upcard_history.entrypoints.grpc.rounds import own_rounds
from upcard_history.entrypoints.grpc.tokens import round_name

_CURRENCIES_MAX: Final = 64


class WordCalls:
    """A part of the history's servicer."""

    _desk: Desk

    async def ExplainRound(  # noqa: N802 - the name of the call
        self,
        request: pb.ExplainRoundRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ExplainRoundResponse:
        """Why each wager of a settled round ended as it did."""
        player = own_player()
        _check_digits(request.digits)
        row = await self._row(request.round, player)
        if row is None:
            return pb.ExplainRoundResponse(refusal=refusal("round_unknown"))
        try:
            found = await patiently(lambda: self._desk.history.explained(request.round, player))
        except RoundNotEnded:
            return pb.ExplainRoundResponse(refusal=refusal("round_open"))
        except RulesetUnknown:
            return pb.ExplainRoundResponse(refusal=refusal("ruleset_unknown"))
        words = [
            _in_words(explanation, currency, request.digits)
            for currency, explanation in (found or {}).items()
        ]
        explained = pb.RoundExplained(words=words, cancelled=row.state == "cancelled")
        return pb.ExplainRoundResponse(explained=explained)

    async def _row(self, name: str, player: str | None) -> RoundRow | None:
        """The round, if who asks may know of it."""
        if round_name(name) is None:
            return None
        row = await patiently(lambda: self._desk.history.round_row(name))
        if row is not None and player is not None and not await own_rounds(self._desk, row, player):
            return None
        return row


def _check_digits(digits: Mapping[str, int]) -> None:
    if len(digits) > _CURRENCIES_MAX or not all(0 <= scale <= SCALE_MAX for scale in digits.values()):
        raise invalid(f"digits are 0 to {SCALE_MAX}, of at most {_CURRENCIES_MAX} currencies")


def _in_words(explanation: Explanation, currency: str, digits: Mapping[str, int]) -> pb.RoundInWords:
    unit = Unit(digits.get(currency), currency)
    return pb.RoundInWords(
        currency=currency,
        table=[line_of(one, ENGLISH, unit) for one in explanation.table],
        boxes=[
            pb.BoxInWords(
                box=box.box,
                player=box.player,
                sentences=[line_of(one, ENGLISH, unit) for one in box.sentences],
            )
            for box in explanation.boxes
        ],
    )
