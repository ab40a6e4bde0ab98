"""What the command line answers when it cannot do what was asked: an error object and exit status 2."""

from __future__ import annotations

from typing import Final

from rules_core.command_line.json_text import JsonObject

FAILURE_STATUS: Final = 2

FAILURES: Final[dict[str, str]] = {
    "usage": "The arguments are not those of a command.",
    "file_unreadable": "The file cannot be opened or read.",
    "input_too_large": "The input is larger than the command reads.",
    "json_invalid": "The input is not JSON of the accepted kind; the message says what and at which byte.",
    "line_too_long": "A line of cases is longer than the command reads; the rest of it is skipped.",
    "card_unreadable": "A card that is not rank 23456789TJQKA and suit cdhs.",
    "hand_invalid": "Not five or six different cards.",
    "ruleset_unknown": "No ruleset of that id comes with the package.",
    "players_too_many": "More players than the ruleset's table has room for.",
    "player_unknown": "No box of the case is this player's.",
    "bundle_unreadable": "The file is not a bundle; the message says why.",
}
"""Code to meaning, of errors that are the command line's own; those of a case are in `settlement.codes`."""


class Failure(Exception):
    """Ends a command with the error object of a code and a message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def to_object(self) -> JsonObject:
        """The error in the form of CONTRACTS.md section 1."""
        return {"error": {"code": self.code, "message": self.message}}
