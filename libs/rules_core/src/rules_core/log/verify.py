"""Verifying a bundle: bytes, chain, commitments, and every decision made again (CONTRACTS.md section 1)."""

from __future__ import annotations

from hashlib import sha256

from rules_core.canonical import canonical_bytes_of_parsed
from rules_core.log.bundle import Bundle, Recorded
from rules_core.log.bundle_reading import Problem, UnreadableBundle, parse_bundle
from rules_core.log.content import round_stream
from rules_core.log.difference import Difference
from rules_core.log.engines import ENGINES, Engine
from rules_core.log.openings import check_openings
from rules_core.log.partial import check_partial
from rules_core.log.partial_order import check_end
from rules_core.log.replay import replay
from rules_core.log.report import DISAGREED, UNREADABLE, Report
from rules_core.round.codec import PayloadError, event_of
from rules_core.round.command_of import Fact
from rules_core.round.events import RoundOpened
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.parse import RulesetError, parse_ruleset
from rules_core.rulesets.shipped import shipped, shipped_ids

_ENDED = frozenset({"settled", "cancelled"})
_INSTANTS = ("opened_at", "closed_at", "decided_at", "arrived_at")


def verify_bundle(data: bytes) -> Report:
    """Verify the bytes of a bundle's file; never raises for any bytes."""
    report = Report()
    try:
        bundle, problems = parse_bundle(data)
    except UnreadableBundle as error:
        report.exit_code, report.unreadable = UNREADABLE, str(error)
        return report
    report.problems += problems
    if bundle is not None:
        _check(report, bundle)
    if report.problems or report.difference is not None:
        report.exit_code = DISAGREED
    return report


def _check(report: Report, bundle: Bundle) -> None:
    report.stream, report.player, report.engine = bundle.round.stream, bundle.player, bundle.engine
    report.events = len(bundle.round.events)
    report.withheld = len(bundle.round.withheld_positions())
    facts = _facts(report, bundle)
    ruleset = _ruleset(report, bundle)
    engine = ENGINES.get(bundle.engine)
    if engine is None:
        known = ", ".join(str(number) for number in ENGINES)
        report.problems.append(Problem("engine_unknown", f"no engine {bundle.engine} here; known: {known}"))
    if facts is None or ruleset is None or engine is None:
        return
    _check_pinned(report, bundle, ruleset, facts[0] if facts else None)
    if not report.problems:
        _check_round(report, bundle, ruleset, engine, facts)


def _facts(report: Report, bundle: Bundle) -> list[Fact | None] | None:
    facts: list[Fact | None] = []
    for position, item in bundle.round.numbered():
        if not isinstance(item, Recorded):
            facts.append(None)
            continue
        content = item.content
        try:
            event = event_of(content.type, content.version, content.payload)
        except PayloadError as error:
            text = f"event {position} is no {content.type} of version {content.version}: {error}"
            report.problems.append(Problem("payload_invalid", text))
            return None
        facts.append(Fact(event, content.actor, content.recorded_at))
    return facts


def _ruleset(report: Report, bundle: Bundle) -> Ruleset | None:
    known = _published(bundle.ruleset)
    if known is not None:
        report.ruleset = known.id
        return known
    ruleset = parse_ruleset(bundle.ruleset)
    if isinstance(ruleset, RulesetError):
        text = f"$.ruleset.{ruleset.key}: {ruleset.message}"
        report.problems.append(Problem("ruleset_invalid", text))
        return None
    report.ruleset = ruleset.id
    if ruleset.id in shipped_ids() and shipped(ruleset.id).sha256 != ruleset.sha256:
        text = (
            f"{ruleset.id} is published with SHA-256 {shipped(ruleset.id).sha256}; $.ruleset is another one"
        )
        report.problems.append(Problem("ruleset_changed", text))
    return ruleset


def _published(ruleset: dict[str, object]) -> Ruleset | None:
    """The published ruleset that this object is, to the byte."""
    name = f"{ruleset.get('id')}"
    if name not in shipped_ids():
        return None
    known = shipped(name)
    return known if sha256(canonical_bytes_of_parsed(ruleset)).hexdigest() == known.sha256 else None


def _check_pinned(report: Report, bundle: Bundle, ruleset: Ruleset, first: Fact | None) -> None:
    """RoundOpened pins table, number, ruleset and engine (ARCHITECTURE.md, The log, 6)."""
    event = first.event if first is not None else None
    if not isinstance(event, RoundOpened):
        report.problems.append(Problem("not_opened", "the first event of $.round is not RoundOpened"))
        return
    pinned = (event.ruleset, event.ruleset_sha256, event.engine)
    if pinned != (ruleset.id, ruleset.sha256, bundle.engine):
        text = "the ruleset and engine pinned in RoundOpened are not $.ruleset and $.engine"
        report.problems.append(Problem("rules_not_pinned", text))
    try:
        stream = round_stream(event.table, event.number)
    except ValueError:
        stream = ""
    if stream != bundle.round.stream:
        text = "the table and number in RoundOpened are not those of $.round.stream"
        report.problems.append(Problem("wrong_stream", text))


def _check_round(
    report: Report, bundle: Bundle, ruleset: Ruleset, engine: Engine, facts: list[Fact | None]
) -> None:
    openings = check_openings([fact.event if fact is not None else None for fact in facts])
    report.cards_opened, report.cards_uncommitted = openings.opened, openings.uncommitted
    report.difference = openings.difference
    if report.difference is not None:
        return
    report.difference = _check_times(facts)
    if report.difference is not None:
        return
    shown = [fact for fact in facts if fact is not None]
    if len(shown) == len(facts):
        run = replay(engine, ruleset, shown, openings.sealed)
        state, report.difference, report.decisions = run.state, run.difference, run.decisions
    else:
        part = check_partial(engine, ruleset, facts, openings.sealed, bundle.player or "")
        state, report.difference, report.decisions = part.state, part.difference, part.checked
        report.not_checked = part.not_checked
        missing = check_end(part)
        if missing is not None and report.difference is None:
            report.problems.append(Problem("player_not_settled", missing))
    if report.difference is None:
        _check_ended(report, state.step, openings.unopened)


def _check_times(facts: list[Fact | None]) -> Difference | None:
    """Recorded time never goes back, and nothing is recorded before it happened."""
    last = ""
    for position, fact in enumerate(facts, 1):
        if fact is None:
            continue
        recorded_at = fact.recorded_at
        name = type(fact.event).__name__
        if recorded_at < last:
            return Difference(position, name, "recorded_at", f"no earlier than {last}", recorded_at)
        last = recorded_at
        for key in _INSTANTS:
            instant = getattr(fact.event, key, None)
            if instant is not None and instant > recorded_at:
                return Difference(position, name, f"payload.{key}", f"no later than {recorded_at}", instant)
    return None


def _check_ended(report: Report, step: str, unopened: tuple[str, ...]) -> None:
    if step not in _ENDED:
        report.problems.append(
            Problem("round_not_ended", f"the round is not settled or cancelled; its step is {step}")
        )
    if unopened:
        places = ", ".join(unopened)
        report.problems.append(Problem("card_never_opened", f"face-down cards were never opened: {places}"))
