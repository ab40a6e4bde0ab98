"""What the demonstration reads from pages, and the second factor that it computes."""

from __future__ import annotations

import pytest

from upcard_operate.demo.pages import Forms, totp

# RFC 6238, appendix B: SHA-1, its eight digits cut to the last six.
KEY = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

PAGE = """<!doctype html>
<form method="get" action="/search"><input name="q"></form>
<form method="post" action="/staff/sign-in">
  <input type="hidden" name="csrf" value="c&amp;1"><input type="hidden" name="request_id" value="r1">
  <label>Name <input name="name"></label>
</form>
<p>Your key: <code id="secret">ABCD</code> keep it</p>
"""


@pytest.mark.parametrize(
    ("at_s", "code"),
    [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (20_000_000_000, "353130")],
)
def test_the_second_factor_is_that_of_the_standard(at_s: int, code: str) -> None:
    assert totp(KEY, at_s) == code


def test_a_secret_may_come_without_padding() -> None:
    assert totp("JBSWY3DPEHPK3PXPJA", 59.9) == totp("JBSWY3DPEHPK3PXPJA======", 59.0)


def test_forms_are_told_by_where_they_post_to() -> None:
    forms = Forms(PAGE)
    assert forms.fields == {
        "/search": {"q": ""},
        "/staff/sign-in": {"csrf": "c&1", "request_id": "r1", "name": ""},
    }
    assert forms.texts == {"secret": "ABCD"}
