"""Settings of the pages that show how everything stands."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import Field, field_validator

from servicekit.settings import Settings

_ADDRESS: Final = re.compile(r"[^\s:/]+:[0-9]{1,5}|\[[0-9a-fA-F:]+\]:[0-9]{1,5}")
_SERVICE: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_MOST_INSTANCES: Final = 64


class OperationsSettings(Settings):
    """Where services tell their metrics, and how long that is waited for."""

    metrics_addresses: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="host:port of each instance's metrics by service, as JSON, such as "
        '{"table": ["table:9100"]}; services without one are shown without their metrics',
    )
    metrics_timeout_s: Annotated[float, Field(gt=0, le=10, allow_inf_nan=False)] = Field(
        default=2.0, description="the longest that an instance's metrics are waited for, in seconds"
    )

    @field_validator("metrics_addresses")
    @classmethod
    def _addresses(cls, value: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for service, addresses in value.items():
            if not _SERVICE.fullmatch(service):
                raise ValueError("each key has to be a service, such as table")
            if len(addresses) > _MOST_INSTANCES or not all(map(_ADDRESS.fullmatch, addresses)):
                raise ValueError(f"{service}: at most {_MOST_INSTANCES} instances, each host:port")
        return value
