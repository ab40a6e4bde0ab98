"""Who an event is by: the `actor` of CONTRACTS.md section 2, from the command that was decided."""

from __future__ import annotations

from rules_core.round import commands as c
from rules_core.round.events import CorrectionDecided, RoundEvent

_OF_THE_OWNER = (c.ConfirmCards, c.DeclineBet, c.Settle)


def actor_of(command: c.Command, event: RoundEvent) -> str:
    """`platform` for a choice made for a player, else who commanded; `system` for the owner's own steps."""
    if getattr(event, "by", None) == "platform":
        return "platform"
    if isinstance(command, _OF_THE_OWNER):
        return "system"
    player = getattr(command, "player", None)
    if player is not None:
        return f"player:{player}"
    if isinstance(command, c.Resettle):
        return command.approver if isinstance(event, CorrectionDecided) else "system"
    return getattr(command, "by", "system")
