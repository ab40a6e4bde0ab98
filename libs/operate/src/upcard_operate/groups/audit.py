"""`upcard audit`: whether anything in a service's log was ever changed, and what."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Annotated, Final

import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from transparency.auditing import Audit, audit, one_line
from transparency.findings import Findings
from transparency.notes import NoteInvalid, SignerKey, VerifierKey
from transparency.sinks import FileSink
from upcard_operate.options import SERVICES, AsJson
from upcard_operate.output import Misused, Output, row_of
from upcard_operate.running import FAILED, pooled, run

app = typer.Typer(help="Whether anything in a log was ever changed, and what.", no_args_is_help=True)

_HEAD_BYTES: Final = 1_000
_TAIL_BYTES: Final = 1_000

Keys = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        help="A key that signs checkpoints, NAME+ID+KEY; all that ever did. Repeatable.",
        envvar="UPCARD_CHECKPOINT_PUBLIC",
    ),
]


@app.command("run")
def run_(
    keys: Keys = None,
    key_file: Annotated[
        Path | None,
        typer.Option(help="A file with such keys, one a line.", envvar="UPCARD_CHECKPOINT_KEY_FILE"),
    ] = None,
    outside: Annotated[
        Path | None,
        typer.Option(
            help="The folder where checkpoints lie outside the database.", envvar="UPCARD_CHECKPOINT_FOLDER"
        ),
    ] = None,
    service: Annotated[str | None, typer.Option(help=f"One of {', '.join(SERVICES)}; else all.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compute everything again and compare; exit status 1 if anything was changed.

    Looks at each database whose UPCARD_<SERVICE>_DSN is set. A key's name is the log's origin, whose last
    part is the service: `upcard.example/table`.
    """
    known = _keys(keys or [], key_file)

    async def work() -> bool:
        output = Output(as_json=as_json)
        clean = True
        for name, dsn in _databases(service).items():
            own = tuple(key for key in known if key.name.rpartition("/")[2] == name)
            if len({key.name for key in own}) != 1:
                raise Misused(f"give the keys of one log of {name}: its origin ends with /{name}")
            origin = own[0].name
            sink = FileSink(outside) if outside is not None else None
            async with pooled(dsn) as pool:
                with output.progress(f"audit of {name}", None) as advance:
                    asked = Audit(origin, own, sink.kept(origin) if sink else (), columns_fit, advance)
                    findings = await audit(pool, asked)
            _show(output, name, findings)
            clean = clean and findings.clean
        return clean

    if not run(work()):
        raise typer.Exit(FAILED)


@app.command()
def key(
    origin: Annotated[str, typer.Argument(help="The log's name, such as upcard.example/table.")],
    as_json: AsJson = False,
) -> None:
    """Make a key that signs a log's checkpoints: a seed for UPCARD_CHECKPOINT_KEYS, and what is public."""
    private = Ed25519PrivateKey.generate()
    try:
        public = str(SignerKey(origin, private).verifier)
    except NoteInvalid as problem:
        raise typer.BadParameter(str(problem)) from None
    Output(as_json=as_json).record(
        {"seed": base64.b64encode(private.private_bytes_raw()).decode(), "key": public}
    )


def columns_fit(content: bytes, event_id: str, stream: str, event_type: str) -> bool:
    """Whether an event's content, canonical JSON, says of itself what its columns say.

    Before its payload stands its id, behind it the stream and the type: each in one place and form.
    """
    head = f'"event_id":"{event_id}","payload":'.encode()
    tail = f'"stream":"{stream}","type":"{event_type}","version":'.encode()
    return head in content[:_HEAD_BYTES] and tail in content[-_TAIL_BYTES:]


def _show(output: Output, name: str, findings: Findings) -> None:
    if output.as_json:
        counted = row_of(findings, "found")
        output.record({"service": name, **counted, "findings": [row_of(one) for one in findings.found]})
        return
    output.say(f"{name}: {one_line(findings)}")
    output.rows([row_of(one) for one in findings.found], "")
    if findings.more:
        output.say(f"… and {findings.more} more")


def _keys(given: list[str], file: Path | None) -> list[VerifierKey]:
    texts = list(given)
    try:
        if file is not None:
            texts += [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
        found = [VerifierKey.parse(text) for text in texts]
    except (OSError, NoteInvalid) as problem:
        raise typer.BadParameter(str(problem)) from None
    if not found:
        raise typer.BadParameter("with which keys? Give --key or --key-file")
    return found


def _databases(service: str | None) -> dict[str, str]:
    """The databases to look at, by service. Raises Misused."""
    if service is not None and service not in SERVICES:
        raise Misused(f"there is no service {service!r}; name one of {', '.join(SERVICES)}")
    wanted = SERVICES if service is None else (service,)
    found = {name: os.environ.get(f"UPCARD_{name.upper()}_DSN", "") for name in wanted}
    there = {name: dsn for name, dsn in found.items() if dsn}
    if not there or (service and service not in there):
        raise Misused("nothing to look at: set UPCARD_<SERVICE>_DSN")
    return there
