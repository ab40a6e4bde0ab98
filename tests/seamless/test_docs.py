"""The page and the data say the same."""

from __future__ import annotations

import pytest

from tools import generate_seamless_docs as docs
from upcard_seamless.decisions import ROWS


def test_the_page_is_up_to_date() -> None:
    assert docs.main(["--check"]) == 0, "run tools/generate_seamless_docs.py"


def test_every_row_is_on_the_page() -> None:
    made = docs.decisions()
    for row in ROWS:
        assert f"`{row.answer}`" in made
        assert row.why in made


def test_a_page_without_marks_is_told() -> None:
    with pytest.raises(docs.MarkMissing):
        docs.page("nothing")


def test_the_example_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (docs.PAGE.parents[1] / "libs" / "seamless" / "README.md").read_text(encoding="utf-8")
    _, _, rest = text.partition("```python\n")
    example, _, _ = rest.partition("```")
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 - our own file
    asked, then = capsys.readouterr().out.splitlines()
    assert asked.startswith("/bet ")
    assert then == "rollback"
