"""House rules for every file: no traces of a machine, and documents that are there and true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house_rules.files import ROOT, repository_files, text_of

# Put together so that this file does not find itself.
SLASH = "/"
MACHINE_TRACES = [
    re.compile(pattern)
    for pattern in (
        *(rf"(?<![\w.-]){SLASH}{folder}{SLASH}" for folder in ("work", "root", "farm", "Users")),
        rf"(?<![\w.-]){SLASH}home{SLASH}\w",
        rf"{SLASH}tmp{SLASH}bash_jobs",
        r"[A-Z]:\\+" + "Users",
        *(
            re.escape(host)
            for host in (
                "pypi" + ".org",
                "python" + "hosted",
                "registry." + "npmjs",
                "deb." + "debian",
                "repo1." + "maven",
                "repo." + "maven",
                "crates" + ".io",
                "proxy." + "golang",
                "static." + "rust-lang",
            )
        ),
        r"--(?:extra-)?index" + "-url",
        r"--find" + "-links",
    )
]

DOCUMENTS = (
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "docs/glossary.md",
    "libs/rules_core/README.md",
    "libs/rules_core/LICENSE",
    "tests/golden/README.md",
)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s#]+)(#[^)\s]*)?\)")
MAKE_COMMAND = re.compile(r"(?:^|[`;&] ?)make ((?:[a-z]+[ \n`])+)", re.MULTILINE)


def traces(text: str) -> list[str]:
    """Traces of one machine, or of the registry that it uses, in a text."""
    return [found.group() for pattern in MACHINE_TRACES for found in pattern.finditer(text)]


def make_targets() -> set[str]:
    """The targets of the Makefile that a person calls."""
    return set(re.findall(r"^([a-z-]+):", text_of(Path("Makefile")), re.MULTILINE))


def documents() -> list[Path]:
    """Every Markdown file of the repository."""
    return [path for path in repository_files() if path.suffix == ".md"]


def test_no_file_names_a_machine_or_a_registry() -> None:
    found = {str(path): hits for path in repository_files() if (hits := traces(text_of(path)))}
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "see " + "/work" + "/main",
        '"' + "/root" + '/.venv"',
        "/home" + "/me/x",
        "https://" + "pypi" + ".org/simple",
        "--index" + "-url x",
        "/" + "tmp/bash_jobs.0",
    ],
)
def test_a_trace_of_a_machine_is_found(text: str) -> None:
    assert len(traces(text)) == 1


@pytest.mark.parametrize("text", ["docs/work/x", "the root/ of", "/rooted", "a home/page", "tests/work"])
def test_plain_words_are_no_trace(text: str) -> None:
    assert traces(text) == []


def test_locks_are_pinned_with_hashes() -> None:
    for name in ("requirements.lock", "requirements-bench.lock"):
        requirements = re.findall(r"^\S[^\n]*(?:\n[ ]+[^\n]*)*", text_of(Path(name)), re.MULTILINE)
        loose = [
            r.split("\n")[0]
            for r in requirements
            if "==" not in r.split("\n")[0] or "--hash=sha256:" not in r
        ]
        assert (name, bool(requirements), loose) == (name, True, [])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_document_is_there(name: str) -> None:
    assert Path(name) in repository_files()
    assert len(text_of(Path(name))) > 200


def test_license_travels_with_the_package() -> None:
    assert text_of(Path("libs/rules_core/LICENSE")) == text_of(Path("LICENSE"))


def test_readme_has_the_two_commands() -> None:
    blocks = re.findall(r"```[a-z]*\n(.*?)```", text_of(Path("README.md")), re.DOTALL)
    lines = {line.split("#")[0].strip() for block in blocks for line in block.splitlines()}
    assert {"make demo", "make test"} <= lines


def test_changelog_has_a_place_for_what_is_new() -> None:
    assert "\n## [Unreleased]\n" in text_of(Path("CHANGELOG.md"))


def test_every_make_command_in_a_document_exists() -> None:
    named = {
        (str(path), target)
        for path in documents()
        for words in MAKE_COMMAND.findall(text_of(path))
        for target in re.findall(r"[a-z]+", words)[:1]
    }
    assert {(path, target) for path, target in named if target not in make_targets()} == set()
    assert ("README.md", "demo") in named


def test_every_link_in_a_document_leads_somewhere() -> None:
    broken = [
        f"{path}: {target}"
        for path in documents()
        for target, _ in LINK.findall(text_of(path))
        if "://" not in target and not (ROOT / path.parent / target).exists()
    ]
    assert broken == []


def test_every_target_says_what_it_does() -> None:
    makefile = text_of(Path("Makefile"))
    phony = set(re.findall(r"^\.PHONY: ([a-z-]+)$", makefile, re.MULTILINE))
    documented = set(re.findall(r"^([a-z-]+):.*?## \S", makefile, re.MULTILINE))
    assert phony - documented == {"tests"}
