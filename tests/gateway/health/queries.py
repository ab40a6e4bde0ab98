"""Every query of the files in deploy/: where it stands, and what it asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import promql_parser as promql
import yaml

DEPLOY: Final = Path(__file__).resolve().parents[3] / "deploy"


@dataclass(frozen=True)
class Query:
    """A query, and where it stands."""

    where: str
    text: str
    legend: str = ""


@dataclass(frozen=True)
class Rule:
    """A recording rule or an alert."""

    name: str
    query: Query
    alert: bool
    texts: str
    """Its annotations and labels, which may name labels of the result."""


def dashboards() -> Iterator[tuple[Path, dict[str, Any]]]:
    """The dashboards by their files."""
    for path in sorted((DEPLOY / "grafana").glob("*.json")):
        yield path, json.loads(path.read_text())


def of_dashboards() -> Iterator[Query]:
    """The queries of all panels."""
    for path, board in dashboards():
        for panel in board["panels"]:
            for target in panel["targets"]:
                where = f"{path.name}: {panel['title']} {target['refId']}"
                yield Query(where, target["expr"], target["legendFormat"])


def rules() -> Iterator[Rule]:
    """The rules and alerts of Prometheus."""
    for name in ("rules.yml", "alerts.yml"):
        groups = yaml.safe_load((DEPLOY / "prometheus" / name).read_text())["groups"]
        for one in (rule for group in groups for rule in group["rules"]):
            title = one.get("record") or one["alert"]
            texts = json.dumps({**one.get("annotations", {}), **one.get("labels", {})})
            yield Rule(title, Query(f"{name}: {title}", one["expr"]), "alert" in one, texts)


def selectors(query: Query) -> Iterator[tuple[str, frozenset[str]]]:
    """The series that a query asks for, each with the labels that it is chosen by."""
    for node in _nodes(promql.parse(query.text)):
        if isinstance(node, promql.VectorSelector):
            yield node.name or "", frozenset(one.name for one in node.matchers.matchers)


def grouped(query: Query) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """For each aggregation: the labels that it keeps, and the series below it."""
    for node in _nodes(promql.parse(query.text)):
        if isinstance(node, promql.AggregateExpr) and node.modifier is not None:
            below = frozenset(
                one.name or "" for one in _nodes(node.expr) if isinstance(one, promql.VectorSelector)
            )
            yield frozenset(node.modifier.labels), below


def kept(query: Query) -> frozenset[str] | None:
    """The labels of the result, where an aggregation says them; None: those of a series."""
    node: Any = promql.parse(query.text)
    while True:
        if isinstance(node, promql.AggregateExpr):
            if node.modifier is not None:
                return frozenset(node.modifier.labels)
            if str(node.op) in {"topk", "bottomk"}:
                node = node.expr
                continue
            return frozenset()
        if isinstance(node, promql.BinaryExpr):
            node = node.lhs if not isinstance(node.lhs, promql.NumberLiteral | promql.Call) else node.rhs
        elif isinstance(node, promql.Call) and node.args:
            node = node.args[-1]
        elif isinstance(node, promql.ParenExpr | promql.UnaryExpr):
            node = node.expr
        else:
            return None


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    if isinstance(node, promql.MatrixSelector):
        yield from _nodes(node.vector_selector)
    for name in ("expr", "lhs", "rhs"):
        below = getattr(node, name, None)
        if below is not None:
            yield from _nodes(below)
    for below in getattr(node, "args", None) or ():
        yield from _nodes(below)
