"""`settle`: the result of a case, or of one case a line."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import BinaryIO, Final

from rules_core.canonical import InvalidJson, parse_strict
from rules_core.command_line.failure import FAILURE_STATUS, Failure
from rules_core.command_line.json_text import compact_line, laid_out, spaced_line
from rules_core.command_line.quick_json import parse_quickly, result_line
from rules_core.command_line.streams import Streams, display_name, read_bounded
from rules_core.settlement.case_json import parse_case
from rules_core.settlement.model import Case, CaseError, Settlement
from rules_core.settlement.result_json import error_object, settlement_object
from rules_core.settlement.settle import settle

CASE_BYTES_MAX: Final = 16 << 20
LINE_BYTES_MAX: Final = 1 << 20
CHUNK_BYTES: Final = 1 << 16

Line = bytes | None
"""A line without its end; None for one that is longer than is read."""


def run(options: Namespace, streams: Streams) -> int:
    """Settle."""
    if options.jsonl:
        return settle_lines(streams)
    settled = settled_case(options.case, streams)
    if isinstance(settled, CaseError):
        streams.write(spaced_line(error_object(settled)))
        return FAILURE_STATUS
    streams.write(laid_out(settlement_object(settled[1])))
    return 0


def settled_case(name: str, streams: Streams) -> tuple[Case, Settlement] | CaseError:
    """The case of a file with its settlement, or the rule that it breaks; Failure for no JSON."""
    data = read_bounded(name, streams, bytes_max=CASE_BYTES_MAX)
    try:
        parsed = parse_strict(data)
    except InvalidJson as error:
        raise Failure("json_invalid", f"{display_name(name)}: {error}") from None
    case = parse_case(parsed)
    if isinstance(case, CaseError):
        return case
    result = settle(case)
    return result if isinstance(result, CaseError) else (case, result)


def settle_lines(streams: Streams) -> int:
    """Answer each line with one line.

    Whatever has come in is answered before more is waited for, so that a slow writer at the other end gets
    each answer at once, and a fast one gets many answers in one piece. Memory is bounded by one chunk and one
    line.
    """
    try:
        for lines in batches(streams.source()):
            streams.write("".join(map(answer, lines)))
            streams.stdout.flush()
    except _SourceBroken as broken:
        raise Failure("file_unreadable", f"standard input cannot be read: {broken}") from None
    return 0


def answer(line: Line) -> str:
    """The line that answers this one."""
    if line is None:
        return compact_line(Failure("line_too_long", f"longer than {LINE_BYTES_MAX} bytes").to_object())
    try:
        case = parse_case(parse_quickly(line))
    except InvalidJson as error:
        return compact_line(Failure("json_invalid", str(error)).to_object())
    result = case if isinstance(case, CaseError) else settle(case)
    return compact_line(error_object(result)) if isinstance(result, CaseError) else result_line(result)


class _SourceBroken(Exception):
    """The input, not the output, cannot go on."""


def batches(source: BinaryIO) -> Iterator[list[Line]]:
    """The lines of `source` as they come in, those of one chunk together; the last may lack its line feed."""
    begun = bytearray()
    skipping = False
    while chunk := _next_chunk(source):
        *ended, rest = chunk.split(b"\n")
        lines: list[Line] = []
        if ended:
            ended[0] = bytes(begun + ended[0])
            whole = ended[1:] if skipping else ended
            lines += [line if len(line) <= LINE_BYTES_MAX else None for line in whole]
            begun.clear()
            skipping = False
        if not skipping:
            begun += rest
            if len(begun) > LINE_BYTES_MAX:
                lines.append(None)
                begun.clear()
                skipping = True
        yield lines
    if begun:
        yield [bytes(begun)]


def _next_chunk(source: BinaryIO) -> bytes:
    """What has come in, or the next that comes; nothing at the end."""
    try:
        return source.read1(CHUNK_BYTES)  # type: ignore[attr-defined, no-any-return]  # not in BinaryIO's stub
    except OSError as error:
        raise _SourceBroken(error.strerror) from None
