"""What dashboards, rules and alerts ask for is in the `/metrics` of services that run."""

from __future__ import annotations

import re
from typing import Final

from tests.end_to_end.gateway.processes import Servers
from tests.gateway.health.queries import of_dashboards, rules, selectors

_SUFFIX: Final = re.compile(r"_(bucket|sum|count)$")


def test_running_services_export_every_series_that_is_asked_for(servers: Servers) -> None:
    told: set[str] = set()
    for process in servers.fleet.processes.values():
        status, body = process.ask("/metrics")
        assert status == 200
        told |= set(re.findall(r"^# TYPE (\S+) ", body, re.MULTILINE))
    found = list(rules())
    recorded = {one.name for one in found if not one.alert}
    for query in (*of_dashboards(), *(one.query for one in found)):
        for name, _ in selectors(query):
            if name in recorded or name == "up":
                continue
            assert name in told or _SUFFIX.sub("", name) in told, f"{query.where}: nobody exports {name}"
