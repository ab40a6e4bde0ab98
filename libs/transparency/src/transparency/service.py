"""The chainer as a stage of a service: its settings, its metrics, its alarms.

class TableSettings(ServiceSettings, DatabaseSettings, CheckpointSettings): ...
await start_chainer(service, pool, settings)
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from pathlib import Path
from typing import Any, Final

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import Field, SecretStr, ValidationInfo, field_validator

from eventstore.postgres import Pool
from servicekit.database import Component
from servicekit.lifecycle import Service
from servicekit.metrics import counter, gauge
from servicekit.settings import Settings
from transparency.chaining import Step
from transparency.checkpoints import Checkpoint
from transparency.migrations import COMPONENT, transparency_migrations
from transparency.notes import NoteInvalid, SignerKey
from transparency.sinks import FileSink, Sink
from transparency.working import Chaining, Damage, chain_for_ever

_SEED_BYTES: Final = 32
_EMPTY_ROOT: Final = bytes(32)

_size: Final = gauge("upcard_checkpoint_leaves", "Events that are in the log's tree")
_behind: Final = gauge("upcard_checkpoint_behind", "Events of the log that its tree lacks; alarm on 100,000")
_outside: Final = gauge(
    "upcard_checkpoint_outside_leaves", "Size of the latest checkpoint outside", ("sink",)
)
_failures: Final = counter(
    "upcard_checkpoint_failures_total", "Failures that pass, by what was done", ("doing",)
)
_damages: Final = counter(
    "upcard_checkpoint_damage_total", "Something was changed that never changes; alarm on any", ("kind",)
)

_log = structlog.get_logger("transparency")


class CheckpointSettings(Settings):
    """Under which name and with which keys a service's log is vouched for."""

    checkpoint_origin: str = Field(
        default="", description="the log's name in its checkpoints, such as upcard.example/table"
    )
    checkpoint_keys: tuple[SecretStr, ...] = Field(
        default=(),
        description="what signs checkpoints: Ed25519 seeds, 32 bytes in base64, with commas between; both"
        " while they are changed. Without any the log has no tree",
    )
    checkpoint_folder: Path | None = Field(
        default=None,
        description="where checkpoints lie outside the database: a folder, best on another machine's disk",
    )
    checkpoint_every_s: float = Field(
        default=1.0, ge=0.05, le=3_600, description="how long events gather for a checkpoint, in seconds"
    )

    @field_validator("checkpoint_origin")
    @classmethod
    def _named(cls, value: str) -> str:
        if value:
            try:
                Checkpoint(value, 0, _EMPTY_ROOT)
            except NoteInvalid as problem:
                raise ValueError(str(problem)) from None
        return value

    @field_validator("checkpoint_keys")
    @classmethod
    def _seeds(cls, value: tuple[SecretStr, ...], others: ValidationInfo) -> tuple[SecretStr, ...]:
        for one in value:
            _seed(one)
        if value and not others.data.get("checkpoint_origin"):
            raise ValueError("a log that is signed needs a name: set UPCARD_CHECKPOINT_ORIGIN")
        return value

    def checkpoint_signers(self) -> list[SignerKey]:
        """The keys, each with the log's name."""
        seeds = map(_seed, self.checkpoint_keys)
        return [SignerKey(self.checkpoint_origin, Ed25519PrivateKey.from_private_bytes(one)) for one in seeds]


def _seed(secret: SecretStr) -> bytes:
    try:
        found = base64.b64decode(secret.get_secret_value(), validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != _SEED_BYTES:
        raise ValueError("each has to be 32 bytes in base64")
    return found


def tree_of(settings: CheckpointSettings) -> list[Component]:
    """What the database has to have for the chainer: nothing where there is none."""
    return [Component(COMPONENT, transparency_migrations())] if settings.checkpoint_keys else []


async def start_chainer(service: Service[Any], pool: Pool, settings: CheckpointSettings) -> None:
    """Take the log into its tree while the service runs; without keys, say that nobody vouches for it."""
    signers = settings.checkpoint_signers()
    if not signers:
        _log.warning("this log has no tree: nothing is signed", mend="set UPCARD_CHECKPOINT_KEYS")
        return
    sinks: list[Sink] = []
    if settings.checkpoint_folder is None:
        _log.warning("checkpoints lie in the database alone", mend="set UPCARD_CHECKPOINT_FOLDER")
    else:
        sinks.append(FileSink(settings.checkpoint_folder))
    chaining = Chaining(settings.checkpoint_origin, signers, sinks, settings.checkpoint_every_s)
    for signer in signers:
        _log.info("checkpoints are signed", key=str(signer.verifier))

    async def work(stop: asyncio.Event) -> None:
        chainer = asyncio.create_task(chain_for_ever(pool, chaining, _Told()))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait([chainer, stopping], return_when=asyncio.FIRST_COMPLETED)
            if chainer.done():
                chainer.result()
        finally:
            for task in (chainer, stopping):
                task.cancel()
            await asyncio.gather(chainer, stopping, return_exceptions=True)

    await service.run("chainer", work)


class _Told:
    """An observer: metrics, and a line of the log for what needs people."""

    def taken_in(self, step: Step) -> None:
        """See `Observer`."""
        _size.set(step.size)
        _behind.set(step.behind)

    def kept(self, sink: str, size: int) -> None:
        """See `Observer`."""
        _outside.labels(sink).set(size)

    def failed(self, doing: str, error: Exception) -> None:
        """See `Observer`."""
        _failures.labels(doing.split(" in ", maxsplit=1)[0]).inc()
        _log.warning("a checkpoint is late", doing=doing, why=type(error).__name__)

    def damaged(self, damage: Damage) -> None:
        """See `Observer`."""
        _damages.labels(type(damage).__name__).inc()
        _log.error("the log or its tree was changed from outside", what=str(damage), mend="run upcard audit")
