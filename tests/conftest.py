"""What every test may rely on."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# A busy machine is no defect: no deadline for an example, no complaint about slow generation.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", settings.get_profile("repeatable"), derandomize=False, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
