"""`rulesets`: the rulesets that come with the package."""

from __future__ import annotations

from argparse import Namespace

from rules_core.command_line.failure import Failure
from rules_core.command_line.json_text import laid_out
from rules_core.command_line.streams import Streams
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.parse import ruleset_object
from rules_core.rulesets.shipped import UnknownRuleset, shipped, shipped_ids


def run(options: Namespace, streams: Streams) -> int:
    """List them, or print the whole of one."""
    if options.id is None:
        listed = [_named(known_ruleset(name)) for name in shipped_ids()]
        streams.write(laid_out(listed))
    else:
        ruleset = known_ruleset(options.id)
        whole = {"id": ruleset.id, "sha256": ruleset.sha256, "ruleset": ruleset_object(ruleset)}
        streams.write(laid_out(whole))
    return 0


def known_ruleset(name: str) -> Ruleset:
    """The shipped ruleset of that id; Failure for any other."""
    try:
        return shipped(name)
    except UnknownRuleset:
        known = ", ".join(shipped_ids())
        raise Failure("ruleset_unknown", f"no ruleset {name[:80]} is known; use {known}") from None


def _named(ruleset: Ruleset) -> dict[str, object]:
    return {"id": ruleset.id, "title": ruleset.title, "sha256": ruleset.sha256}
