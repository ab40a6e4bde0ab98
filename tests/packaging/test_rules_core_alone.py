"""rules_core as others get it: one wheel, nothing beside it, on every Python that is supported."""

from __future__ import annotations

import json
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.packaging.environments import NEWEST, OLDEST, empty_environment, python_of, run

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "libs" / "rules_core"
GOLDEN = ROOT / "tests" / "golden"

pytestmark = pytest.mark.packaging


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of rules_core, built without the network from what `make setup` installed."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", folder)
    built = run(sys.executable, "-m", "pip", "wheel", *options, PACKAGE, cwd=folder)
    assert built.status == 0, built.errors
    (path,) = folder.glob("rules_core-*.whl")
    return path


@pytest.fixture(scope="session")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files in a folder, as any Python can import them."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def cases() -> str:
    """The golden settlement cases, one a line."""
    entries = json.loads((GOLDEN / "settlements.json").read_text(encoding="utf-8"))
    return "".join(json.dumps(entry["case"]) + "\n" for entry in entries)


def test_the_wheel_holds_every_file_of_the_package(unpacked: Path) -> None:
    source = PACKAGE / "src" / "rules_core"
    wanted = {
        p.relative_to(source) for p in source.rglob("*") if p.is_file() and "__pycache__" not in p.parts
    }
    held = {
        p.relative_to(unpacked / "rules_core") for p in (unpacked / "rules_core").rglob("*") if p.is_file()
    }
    assert held == wanted
    assert Path("py.typed") in held
    assert len([path for path in held if path.match("rulesets/data/*.json")]) >= 5


def test_the_wheel_asks_for_nothing_but_python(unpacked: Path) -> None:
    (metadata,) = unpacked.glob("rules_core-*.dist-info/METADATA")
    fields = Parser().parsestr(metadata.read_text(encoding="utf-8"))
    assert fields.get_all("Requires-Dist") is None
    assert fields["Requires-Python"] == ">=3.11"
    assert fields["License-Expression"] == "Apache-2.0"


def test_it_runs_alone_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    python = empty_environment(tmp_path / "environment")
    options = ("--no-deps", "--no-index", "--quiet", wheel)
    installed = run(sys.executable, "-m", "pip", "--python", python, "install", *options, cwd=tmp_path)
    assert installed.status == 0, installed.errors
    listed = run(python, "-I", "-m", "rules_core", "rulesets", cwd=tmp_path)
    assert (listed.status, listed.errors) == (0, "")
    assert "live-shared@1" in listed.output


@pytest.mark.parametrize("minor", range(OLDEST, NEWEST + 1))
def test_every_python_settles_and_plays_the_same_bytes(minor: int, unpacked: Path, cases: str) -> None:
    python = python_of(minor)
    if python is None:
        pytest.skip(f"no Python 3.{minor} on this machine")
    assert settled_and_played(python, unpacked, cases) == settled_and_played(
        Path(sys.executable), unpacked, cases
    )


def settled_and_played(python: Path, folder: Path, cases: str) -> list[str]:
    """What one Python prints for the golden cases and for a random round of each ruleset."""
    settled = run(python, "-W", "error", "-m", "rules_core", "settle", "--jsonl", cwd=folder, stdin=cases)
    assert (settled.status, settled.errors) == (0, "")
    outputs = [settled.output]
    for name in ("live-shared@1", "dark-boxes@1", "classic@1", "three-box@1", "four-box@1"):
        arguments = ("play", "--ruleset", name, "--seed", "7")
        played = run(python, "-W", "error", "-m", "rules_core", *arguments, cwd=folder)
        assert (played.status, played.errors) == (0, "")
        outputs.append(played.output)
    return outputs
