"""House rules of rules_core: nothing but a short list of the standard library, and no fractions of money."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.house_rules.files import CORE, ROOT, python_files, text_of

ALLOWED = {
    "__future__",
    "abc",
    "array",
    "bisect",
    "collections",
    "dataclasses",
    "datetime",
    "enum",
    "functools",
    "hashlib",
    "heapq",
    "itertools",
    "json",
    "math",
    "operator",
    "re",
    "string",
    "struct",
    "types",
    "typing",
}
ALLOWED_IN = {
    # Reads the ruleset files that are part of the package itself; nothing of the machine.
    "rulesets/shipped.py": {"importlib"},
    # Writes the readers of our own dataclasses, from their fields alone.
    "round/fast_decoder.py": {"exec()"},
}
PROGRAM = ("command_line", "__main__.py")

BUILTINS_OF_A_PROGRAM = {"__import__", "breakpoint", "compile", "eval", "exec", "input", "open", "print"}
INEXACT_CALLS = {"float", "round", "complex"}


def core_files() -> list[Path]:
    """The files of rules_core, relative to the package, that have to be pure."""
    files = [(ROOT / path).relative_to(CORE) for path in python_files() if (ROOT / path).is_relative_to(CORE)]
    return [path for path in files if path.parts[0] not in PROGRAM]


def program_files() -> list[Path]:
    """The files of the command line, relative to the package."""
    files = [(ROOT / path).relative_to(CORE) for path in python_files() if (ROOT / path).is_relative_to(CORE)]
    return [path for path in files if path.parts[0] in PROGRAM]


def imported(source: str) -> set[str]:
    """The top-level packages that a source imports, relative imports as `.`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add("." if node.level else (node.module or "").split(".")[0])
        elif isinstance(node, ast.Name) and node.id in {
            "__import__",
            "open",
            "input",
            "print",
            "eval",
            "exec",
        }:
            names.add(f"{node.id}()")
    return names


def inexact(source: str) -> list[str]:
    """Where a source could make a number that is not an integer, as `line: what`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Constant(value=float() | complex()):
                found.append(f"{node.lineno}: the literal {node.value!r}")
            case ast.BinOp(op=ast.Div(), right=ast.Constant(value=str())):
                continue  # joins a path
            case ast.BinOp(op=ast.Div()) | ast.AugAssign(op=ast.Div()):
                found.append(f"{node.lineno}: a division with /")
            case ast.Call(func=ast.Name(id=name)) if name in INEXACT_CALLS:
                found.append(f"{node.lineno}: a call of {name}()")
    return found


def test_the_core_imports_only_itself_and_a_short_list() -> None:
    wrong = {
        path.as_posix(): surplus
        for path in core_files()
        if (
            surplus := imported(text_of((CORE / path).relative_to(ROOT)))
            - ALLOWED
            - {"rules_core"}
            - ALLOWED_IN.get(path.as_posix(), set())
        )
    }
    assert wrong == {}, "rules_core is pure: hand in what it needs as an argument"


def test_the_command_line_imports_only_the_standard_library() -> None:
    known = sys.stdlib_module_names | {"rules_core", "open()", "input()", "print()"}
    wrong = {
        path.as_posix(): surplus
        for path in program_files()
        if (surplus := imported(text_of((CORE / path).relative_to(ROOT))) - known)
    }
    assert wrong == {}, "the command line needs nothing but Python"


def test_no_inexact_number_in_the_core() -> None:
    found = [
        f"{path}:{where}"
        for path in core_files()
        for where in inexact(text_of((CORE / path).relative_to(ROOT)))
    ]
    assert found == [], "integers for money, odds and ranks; // with its rounding named"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import time", {"time"}),
        ("from os import path", {"os"}),
        ("def f():\n    import random.x", {"random"}),
        ("from . import cards", {"."}),
        ("open('x')", {"open()"}),
        ("__import__('os')", {"__import__()"}),
        ("from rules_core.cards import Card", {"rules_core"}),
    ],
)
def test_imports_are_found_wherever_they_stand(source: str, names: set[str]) -> None:
    assert imported(source) == names


@pytest.mark.parametrize(
    "source", ["x = 0.5", "x = 1e3", "x = a / b", "x /= 2", "x = round(y)", "x = float(y)"]
)
def test_inexact_numbers_are_found(source: str) -> None:
    assert len(inexact(source)) == 1


@pytest.mark.parametrize(
    "source", ["x = a // b", "x = 1_000", "x = folder / 'data'", "x = isinstance(y, float)", "x: float"]
)
def test_exact_numbers_pass(source: str) -> None:
    assert inexact(source) == []


def test_the_allow_list_is_of_the_standard_library() -> None:
    assert (ALLOWED | {"importlib"}) - sys.stdlib_module_names == set()


def test_the_core_is_seen() -> None:
    assert Path("settlement/model.py") in core_files()
