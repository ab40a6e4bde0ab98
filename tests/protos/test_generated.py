"""The generated code is what the protos say, and the tool tells when it is not."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from tools.generate_protos import GENERATED, PACKAGE, PROTOS, main


class Copy:
    """A copy of protos and code to be tampered with."""

    def __init__(self, folder: Path) -> None:
        self.protos, self.generated = folder / "proto", folder / "src"
        shutil.copytree(PROTOS, self.protos)
        shutil.copytree(GENERATED, self.generated)

    def run(self, *arguments: str) -> int:
        """The tool's exit code."""
        return main([*arguments, "--protos", str(self.protos), "--generated", str(self.generated)])

    def replace(self, file: str, old: str, new: str) -> None:
        """Change a proto."""
        path = self.protos / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def files(self) -> dict[str, bytes]:
        """All generated files, and the baseline."""
        found = [path for path in (self.generated / PACKAGE).rglob("*") if path.suffix in {".py", ".pyi"}]
        return {str(path): path.read_bytes() for path in (*found, self.protos / "baseline.json")}


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_what_is_committed_is_what_the_protos_say(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--check"])
    assert (code, capsys.readouterr().out) == (0, "")


def test_a_file_that_differs_is_named(copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    changed = copy.generated / PACKAGE / "log/v1/event_pb2.pyi"
    changed.write_text("", encoding="utf-8")
    (copy.generated / PACKAGE / "feed/v1/event_feed_pb2_grpc.py").unlink()
    stray = copy.generated / PACKAGE / "feed/v1/gone_pb2.py"
    stray.write_text("", encoding="utf-8")
    assert copy.run("--check") == 1
    told = capsys.readouterr().out
    assert [name in told for name in ("event_pb2.pyi", "event_feed_pb2_grpc.py", "gone_pb2.py")] == [True] * 3
    assert copy.run() == 0
    assert (changed.stat().st_size > 0, stray.exists(), copy.run("--check")) == (True, False, 0)


def test_an_addition_is_generated_and_remembered(copy: Copy) -> None:
    event = "upcard/log/v1/event.proto"
    field = "// Hash of its last event, 32 bytes; empty where it has none.\n  bytes hash = 3;\n"
    copy.replace(event, field, field + "  // New.\n  bytes extra = 4;\n")
    assert copy.run("--check") == 1
    assert copy.run() == 0
    assert copy.run("--check") == 0
    copy.replace(event, "  // New.\n  bytes extra = 4;\n", "")
    assert copy.run() == 1, "what was published once may not vanish"


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("bytes hash = 3;", "bytes hash = 4;", "hash"),
        ("bytes hash = 3;", "string hash = 3;", "type"),
        ("bytes hash = 3;", "bytes digest = 3;", "name"),
    ],
)
def test_a_breaking_change_writes_nothing(
    copy: Copy, capsys: pytest.CaptureFixture[str], old: str, new: str, what: str
) -> None:
    before = copy.files()
    copy.replace(
        "upcard/log/v1/event.proto",
        f"empty where it has none.\n  {old}",
        f"empty where it has none.\n  {new}",
    )
    assert copy.run() == 1
    assert what in capsys.readouterr().out
    assert copy.files() == before
    assert copy.run("--accept-breaking") == 0
    assert copy.run("--check") == 0


def test_without_a_baseline_nothing_is_compared_by_mistake(
    copy: Copy, capsys: pytest.CaptureFixture[str]
) -> None:
    (copy.protos / "baseline.json").unlink()
    assert copy.run("--check") == 1
    assert "baseline.json is missing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("// Where a shard ends.", "// Odd.\nmessage shardHead {}\n\n// Where a shard ends.", "PascalCase"),
        (
            "  // One of 64.\n  int32 shard = 1;\n  // Position",
            "  int32 shard = 1;\n  // Position",
            "comment",
        ),
        ("int32 shard = 1;\n  // Position", "int32   shard = 1;\n  // Position", "int32"),
        ('syntax = "proto3";', "syntax = proto3;", "syntax"),
    ],
)
def test_lint_keeps_the_style(
    copy: Copy, capsys: pytest.CaptureFixture[str], old: str, new: str, what: str
) -> None:
    copy.replace("upcard/log/v1/event.proto", old, new)
    assert copy.run("--check") == 1
    assert what in capsys.readouterr().out


def test_a_proto_that_goes_takes_its_code_with_it(copy: Copy) -> None:
    (copy.protos / "upcard/wallet/v1/wallet.proto").unlink()
    assert copy.run() == 1
    assert copy.run("--accept-breaking") == 0
    assert not (copy.generated / PACKAGE / "wallet/v1/wallet_pb2.py").exists()
    assert (copy.generated / PACKAGE / "py.typed").exists()


def test_the_package_asks_for_libraries_as_new_as_its_generators() -> None:
    """Generated code refuses to be loaded by anything older."""
    folder = GENERATED.parent
    asked = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    code = "".join(path.read_text(encoding="utf-8") for path in sorted(GENERATED.rglob("*_pb2*.py")))
    protobuf = set(re.findall(r"^# Protobuf Python Version: ([\d.]+)$", code, re.MULTILINE))
    grpcio = set(re.findall(r"^GRPC_GENERATED_VERSION = '([\d.]+)'$", code, re.MULTILINE))
    assert (len(protobuf), len(grpcio)) == (1, 1)
    assert {f"protobuf>={protobuf.pop()}", f"grpcio>={grpcio.pop()}"} <= set(asked)
