"""Make the Python code under libs/protos from the files of proto/, and the record of what was published.

In this order: lint (buf), compare with `proto/baseline.json` for changes that would break a program built
with it, generate code, write the new baseline. A breaking change writes nothing; it belongs in a new package
(`v2`). `--accept-breaking` is for packages that no released program speaks yet. `--check` writes nothing: it
prints what is wrong and exits with 1 if anything is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROTOS = ROOT / "proto"
GENERATED = ROOT / "libs" / "protos" / "src"
PACKAGE = "upcard"
BASELINE = "baseline.json"
STUB_REMARK = (
    b"# The generator narrows the type of DESCRIPTOR.\n# mypy: disable-error-code=mutable-override\n"
)
TIMEOUT_S = 120
"""Longest that one of the programs may take, in seconds."""


class ProgramFailed(Exception):
    """A program of the tool chain found something wrong; its words are the message."""


@dataclass(frozen=True)
class Folders:
    """Where the protos are read (`protos`) and the code is written (`generated`)."""

    protos: Path
    generated: Path

    @property
    def baseline(self) -> Path:
        """What was published, as a buf image in JSON."""
        return self.protos / BASELINE


def lint(folders: Folders) -> None:
    """Raise ProgramFailed unless the protos keep the rules of buf.yaml and are formatted."""
    _run("buf", "lint", ".", cwd=folders.protos)
    _run("buf", "format", ".", "--diff", "--exit-code", cwd=folders.protos)


def find_breaking(folders: Folders) -> None:
    """Raise ProgramFailed if a program built with the baseline would not understand these protos."""
    if not folders.baseline.exists():
        raise ProgramFailed(f"{folders.baseline.name} is missing: nothing to compare with")
    _run("buf", "breaking", ".", "--against", BASELINE, cwd=folders.protos)


def wanted(folders: Folders) -> dict[Path, bytes]:
    """Every file that follows from the protos, with its bytes: the code, and the baseline."""
    with tempfile.TemporaryDirectory(prefix="upcard-protos-") as name:
        scratch = Path(name)
        code = {folders.generated / path: data for path, data in _generate(folders.protos, scratch).items()}
        image = scratch / "image.json"
        _run("buf", "build", ".", "--exclude-source-info", "-o", str(image), cwd=folders.protos)
        content = json.dumps(json.loads(image.read_bytes()), indent=1) + "\n"
        return code | {folders.baseline: content.encode()}


def differing(folders: Folders, files: Mapping[Path, bytes]) -> list[Path]:
    """Files that are missing, differ, or lie among the generated ones without a proto behind them."""
    wrong = [path for path, data in files.items() if not path.is_file() or path.read_bytes() != data]
    return sorted(wrong + _orphans(folders, files))


def write(folders: Folders, files: Mapping[Path, bytes]) -> None:
    """Write what differs, and remove generated files that have no proto any more."""
    for path in _orphans(folders, files):
        path.unlink()
    for path, data in files.items():
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def _orphans(folders: Folders, files: Mapping[Path, bytes]) -> list[Path]:
    """Files below the generated packages that nothing wants; the package's own files are not generated."""
    below = (path for path in (folders.generated / PACKAGE).glob("*/**/*") if path.is_file())
    return [path for path in below if path not in files and "__pycache__" not in path.parts]


def _generate(protos: Path, scratch: Path) -> dict[Path, bytes]:
    """The code of all protos by its path below the source folder."""
    sources = sorted(path.relative_to(protos).as_posix() for path in protos.rglob("*.proto"))
    out = scratch / "out"
    out.mkdir()
    _protoc(protos, sources, f"--python_out={out}", f"--mypy_out=quiet:{out}")
    services = [source for source in sources if _has_service(protos / source)]
    if services:
        _protoc(protos, services, f"--grpc_python_out={out}", f"--mypy_grpc_out=quiet,only_async:{out}")
    files = {path.relative_to(out): _with_remarks(path) for path in out.rglob("*") if path.is_file()}
    return files | _package_files(sources)


def _with_remarks(path: Path) -> bytes:
    """The bytes of a generated file; stubs get a word to mypy about what their generator does."""
    return STUB_REMARK + path.read_bytes() if path.suffix == ".pyi" else path.read_bytes()


def _has_service(proto: Path) -> bool:
    """Whether the file declares a service; buf's format puts the word at the beginning of a line."""
    return any(line.startswith("service ") for line in proto.read_text(encoding="utf-8").splitlines())


def _package_files(sources: Sequence[str]) -> dict[Path, bytes]:
    """An `__init__.py` for each package below the first, which says where its code comes from."""
    packages = {Path(source).parents[level] for source in sources for level in (0, 1)}
    return {
        package / "__init__.py": f'"""Generated from proto/{package.as_posix()}; do not edit."""\n'.encode()
        for package in packages
    }


def _protoc(protos: Path, sources: Sequence[str], *outputs: str) -> None:
    _run(sys.executable, "-m", "grpc_tools.protoc", "-I.", *outputs, *sources, cwd=protos)


def _run(*command: str, cwd: Path) -> None:
    """Run a program of this environment; what it printed is the message when it fails."""
    scripts = sysconfig.get_path("scripts")
    environment = os.environ | {"PATH": os.pathsep.join([scripts, os.environ.get("PATH", os.defpath)])}
    program = command[0] if Path(command[0]).is_absolute() else str(Path(scripts) / command[0])
    done = subprocess.run(  # noqa: S603 - programs of our own environment, with our own arguments
        (program, *command[1:]),
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        raise ProgramFailed(f"{Path(program).name} {command[1]}:\n{done.stdout}{done.stderr}".rstrip())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; 1 when something is wrong."""
    parser = argparse.ArgumentParser(description="Make the Python code of the protos.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if something is wrong"
    )
    parser.add_argument(
        "--accept-breaking", action="store_true", help="let the baseline forget what was published before"
    )
    parser.add_argument("--protos", type=Path, default=PROTOS, help="the folder of the protos")
    parser.add_argument("--generated", type=Path, default=GENERATED, help="the source folder of the code")
    options = parser.parse_args(arguments)
    folders = Folders(options.protos.resolve(), options.generated.resolve())
    try:
        lint(folders)
        if not options.accept_breaking:
            find_breaking(folders)
        files = wanted(folders)
    except ProgramFailed as failure:
        print(failure)
        return 1
    if options.check:
        found = differing(folders, files)
        for path in found:
            print(f"{path.name}: not what the protos say; run `python -m tools.generate_protos` ({path})")
        return int(bool(found))
    write(folders, files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
