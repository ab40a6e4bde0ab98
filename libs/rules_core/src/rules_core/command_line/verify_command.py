"""`verify`: run a recorded round again from its bundle."""

from __future__ import annotations

from argparse import Namespace
from typing import Final

from rules_core.command_line.failure import Failure
from rules_core.command_line.json_text import laid_out
from rules_core.command_line.streams import Streams, display_name, read_bounded
from rules_core.log.report import UNREADABLE
from rules_core.log.verify import verify_bundle

BUNDLE_BYTES_MAX: Final = 64 << 20


def run(options: Namespace, streams: Streams) -> int:
    """Verify the bundle: status 0 agreed, 1 disagreed, 2 no bundle."""
    report = verify_bundle(read_bounded(options.bundle, streams, bytes_max=BUNDLE_BYTES_MAX))
    if options.json:
        streams.write(laid_out(report.to_object()))
    elif report.exit_code == UNREADABLE:
        raise Failure("bundle_unreadable", f"{display_name(options.bundle)}: {report.unreadable}")
    else:
        streams.write("".join(f"{said}\n" for said in report.sentences()))
    return report.exit_code
