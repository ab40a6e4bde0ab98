"""Dashboards, rules and alerts ask for nothing that no service exports."""

from __future__ import annotations

import re
from typing import Final

import promql_parser as promql
import pytest
import yaml

from tests.gateway.health.exported import SCRAPED, exported
from tests.gateway.health.queries import (
    DEPLOY,
    Query,
    dashboards,
    grouped,
    kept,
    of_dashboards,
    rules,
    selectors,
)

SERIES: Final = exported()
RECORDED: Final = {one.name: one.query for one in rules() if not one.alert}
QUERIES: Final = [*of_dashboards(), *(one.query for one in rules())]
SERVICES: Final = {"table", "wallet", "bonus", "history", "gateway"}


def labels_of(name: str) -> frozenset[str]:
    """The labels of a series, recorded or exported. Raises KeyError."""
    if name not in RECORDED:
        return SERIES[name]
    found = kept(RECORDED[name])
    if found is not None:
        return found
    return frozenset.intersection(*(labels_of(one) for one, _ in selectors(RECORDED[name])))


@pytest.mark.parametrize("query", QUERIES, ids=lambda one: one.where)
def test_every_series_and_label_exists(query: Query) -> None:
    asked = list(selectors(query))
    assert asked, "a query asks for something"
    for name, chosen_by in asked:
        assert name in SERIES or name in RECORDED, f"no service exports {name}"
        assert chosen_by <= labels_of(name), f"{name} has no label {chosen_by - labels_of(name)}"
    for labels, below in grouped(query):
        for name in below:
            assert labels <= labels_of(name), f"{name} has no label {labels - labels_of(name)}"


@pytest.mark.parametrize("query", list(of_dashboards()), ids=lambda one: one.where)
def test_legends_name_labels_that_the_result_has(query: Query) -> None:
    named = frozenset(re.findall(r"{{\s*(\w+)\s*}}", query.legend))
    assert named <= _result(query)


@pytest.mark.parametrize("rule", [one for one in rules() if one.alert], ids=lambda one: one.name)
def test_alerts_say_what_to_look_at_in_labels_that_they_have(rule: object) -> None:
    found = next(one for one in rules() if one is rule or one == rule)
    named = frozenset(re.findall(r"\$labels\.(\w+)", found.texts))
    assert named <= _result(found.query)
    assert '"severity": "page"' in found.texts or '"severity": "ticket"' in found.texts
    assert '"summary"' in found.texts


def test_names_are_given_once() -> None:
    names = [one.name for one in rules()]
    assert len(names) == len(set(names))
    uids = [board["uid"] for _, board in dashboards()]
    assert len(uids) == len(set(uids)) == 4
    for _, board in dashboards():
        ids = [panel["id"] for panel in board["panels"]]
        assert len(ids) == len(set(ids))


def test_panels_fit_beside_each_other() -> None:
    for path, board in dashboards():
        taken: set[tuple[int, int]] = set()
        for panel in board["panels"]:
            at = panel["gridPos"]
            assert at["x"] + at["w"] <= 24, path.name
            cells = {
                (x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
            }
            assert not taken & cells, f"{path.name}: {panel['title']} lies upon another"
            taken |= cells


def test_every_service_is_scraped_under_its_name_and_all_rules_are_read() -> None:
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    assert {one["job_name"] for one in config["scrape_configs"]} == SERVICES
    assert set(config["rule_files"]) == {"rules.yml", "alerts.yml"}
    assert all((DEPLOY / "prometheus" / one).is_file() for one in config["rule_files"])
    compose = yaml.safe_load((DEPLOY.parent / "docker-compose.yml").read_text())
    for one in config["scrape_configs"]:
        for targets in one["static_configs"]:
            assert all(target.partition(":")[0] in compose["services"] for target in targets["targets"])


def test_the_check_itself_sees_what_is_wrong() -> None:
    assert "upcard_nobody_exports_this_total" not in SERIES
    wrong = Query("here", 'sum by (player) (rate(upcard_table_declined_total{bet="x"}[5m]))')
    ((name, chosen_by),) = selectors(wrong)
    assert not chosen_by <= labels_of(name)
    ((labels, below),) = grouped(wrong)
    assert not labels <= labels_of(next(iter(below)))
    with pytest.raises(ValueError, match="unclosed"):
        promql.parse("sum by (job (up)")


def _result(query: Query) -> frozenset[str]:
    found = kept(query)
    if found is not None:
        return found
    return frozenset.union(SCRAPED, *(labels_of(name) for name, _ in selectors(query)))
