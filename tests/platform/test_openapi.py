from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools import generate_openapi
from upcard_platform.problems import MEDIA_TYPE

PAGES = {"GET /r/{token}"}
"""What people open in a browser."""


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    return generate_openapi.document()


def operations(described: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    }


def test_the_document_is_what_the_gateway_serves(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate_openapi.main(["--check"]) == 0, capsys.readouterr().out


def test_a_document_that_is_old_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate_openapi, "FILE", tmp_path / "openapi.json")
    assert generate_openapi.main(["--check"]) == 1
    assert "generate_openapi" in capsys.readouterr().out
    assert generate_openapi.main([]) == 0
    assert generate_openapi.main(["--check"]) == 0
    made = json.loads((tmp_path / "openapi.json").read_text(encoding="utf-8"))
    del made["paths"]["/v1/operator"]
    (tmp_path / "openapi.json").write_text(json.dumps(made), encoding="utf-8")
    assert generate_openapi.main(["--check"]) == 1


def test_every_operation_has_a_name_of_its_own_and_says_what_it_does(described: dict[str, Any]) -> None:
    found = operations(described)
    names = [operation["operationId"] for operation in found.values()]
    assert len(names) == len(set(names)) > 30
    assert [name for name, one in found.items() if not (one.get("summary") and one.get("description"))] == []


def test_every_refusal_is_a_problem(described: dict[str, Any]) -> None:
    for name, operation in operations(described).items():
        refusals = {status: answer for status, answer in operation["responses"].items() if int(status) >= 400}
        assert refusals, name
        for status, answer in refusals.items():
            allowed = {MEDIA_TYPE, "text/html"} if name in PAGES else {MEDIA_TYPE}
            assert set(answer["content"]) <= allowed, (name, status)


def test_whatever_changes_something_needs_a_request_id(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    without = set()
    for name, operation in operations(described).items():
        if not name.startswith("GET "):
            reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            body = schemas[reference.rpartition("/")[2]]
            if "request_id" not in body["required"]:
                without.add(name)
    assert without == {"POST /v1/launch"}, "its token is good once"
