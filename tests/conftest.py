"""What every test may rely on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no defect: no deadline for an example, no complaint about slow generation.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", settings.get_profile("repeatable"), derandomize=False, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# A shell starts what runs in its background with SIGINT ignored, and whatever that starts inherits it: the
# programs that tests interrupt would never hear of it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Half a minute each, most of it waiting: they have a target and a lane of their own.
FAULTS = (
    "messaging/consumer/test_killed.py",
    "messaging/relay/test_one_at_a_time.py",
    "messaging/test_end_to_end.py",
    "table/owner/test_random_lives.py",
    "wallet/edges/test_killed.py",
    "wallet/ledger/test_killed.py",
    "wallet/ledger/test_random_lives.py",
    "wallet/seamless/test_killed.py",
    "wallet/seamless/test_random_lives.py",
    "eventstore/following/test_away.py",
    "eventstore/following/test_killed.py",
    "eventstore/following/test_random_lives.py",
    "eventstore/projections/test_rebuild_killed.py",
    "eventstore/projections/test_runner_killed.py",
    "eventstore/test_killed_appender.py",
    "eventstore/test_server_killed.py",
    "messaging/consumer/test_servers_away.py",
    "messaging/relay/test_failures.py",
    "faults/test_everything_at_once.py",
    "faults/test_casino.py",
    "gateway/webhooks/test_killed.py",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of these files, before anything is chosen by marks."""
    files = {Path(__file__).parent / name for name in FAULTS}
    gone = sorted(str(path) for path in files if not path.exists())
    if gone:
        raise pytest.UsageError(f"tests/conftest.py marks files that are not there: {', '.join(gone)}")
    for item in items:
        if item.path in files and item.get_closest_marker("soak") is None:
            item.add_marker(pytest.mark.faults)
