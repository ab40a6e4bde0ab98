"""Secrets do not get out: by the name they stand under, by their value, by what they look like."""

import base64
import re
from typing import Final
from urllib.parse import quote, unquote, urlsplit

MASK: Final = "[masked]"
SHORTEST_SECRET: Final = 4
"""Characters. A shorter value is not looked for in texts: it would be found in every word."""
MOST_SECRETS: Final = 1_000

_NAMES: Final = re.compile(
    r"passw|passphrase|pwd|secret|token|authori[sz]ation|api[_-]?key|private|signing_?key|credential|cookie|dsn|salt",
    re.IGNORECASE,
)
# Without one of these none of the patterns below can be found: most texts are short and have none.
_CLUE: Final = re.compile(r"[=:]|-----|bearer|eyj", re.IGNORECASE)
# Each has bounded repetitions only in places that cannot be matched in two ways: no text makes them slow.
_LOOKS: Final = (
    # The password of an address; up to the last @ before its path, since people forget to encode it.
    (
        re.compile(r"(\b[a-z][a-z0-9+.-]{0,20}://[^\s:/@]{0,100}):[^\s/]{1,300}@", re.IGNORECASE),
        rf"\1:{MASK}@",
    ),
    (
        re.compile(
            r"\b((?:[a-z0-9]{1,20}[_-]){0,3}(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key)[\"']?\s{0,3}[=:]\s{0,3})"
            r"(?:'[^']{0,500}'|\"[^\"]{0,500}\"|[^\s,;&'\"]{1,500})",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"\b(Bearer)\s{1,3}[A-Za-z0-9._~+/=-]{4,4000}", re.IGNORECASE), rf"\1 {MASK}"),
    (
        re.compile(
            r"\b(authorization[\"']?\s{0,3}[=:]\s{0,3}[\"']?)(?:[A-Za-z-]{1,20}\s{1,3})?[^\s\"',;]{1,4000}",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"\beyJ[\w-]{5,2000}\.[\w-]{2,4000}\.[\w-]{0,2000}"), MASK),
    (
        re.compile(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,20000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
        ),
        MASK,
    ),
)


class Redactor:
    """Takes secrets out of what is about to be written down."""

    def __init__(self) -> None:
        self._forms: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self._longest = 0

    @property
    def longest(self) -> int:
        """Characters of the longest form of a secret known."""
        return self._longest

    def add(self, secret: str) -> None:
        """Look for this value from now on, also encoded for addresses, in base64, or escaped.

        Of an address the password alone is looked for too, of a text of several lines each longer line.
        """
        if len(self._forms) >= MOST_SECRETS:
            raise ValueError(f"more than {MOST_SECRETS} secrets")
        for part in _parts(secret):
            self._forms |= {form for form in _forms(part) if len(form) >= SHORTEST_SECRET}
        self._longest = max(map(len, self._forms), default=0)
        self._pattern = None  # made anew when it is needed

    def text(self, text: str) -> str:
        """A text without secrets."""
        if self._forms:
            text = (self._pattern or self._compiled()).sub(MASK, text)
        if _CLUE.search(text) is None:
            return text
        for pattern, instead in _LOOKS:
            text = pattern.sub(instead, text)
        return text

    def _compiled(self) -> re.Pattern[str]:
        # The longest first: a secret may contain another one.
        ordered = sorted(self._forms, key=lambda form: (-len(form), form))
        self._pattern = pattern = re.compile("|".join(map(re.escape, ordered)))
        return pattern


def names_a_secret(name: str) -> bool:
    """Whether what stands under this name is not to be shown, whatever it is."""
    return _NAMES.search(name) is not None


def _parts(secret: str) -> set[str]:
    parts = {secret, secret.strip()}
    parts |= {line.strip() for line in secret.splitlines() if len(line.strip()) >= 16}
    try:
        password = urlsplit(secret).password
    except ValueError:  # not an address
        password = None
    return parts | ({password, unquote(password)} if password else set())


def _forms(secret: str) -> set[str]:
    return {
        secret,
        quote(secret, safe=""),
        quote(secret),
        repr(secret)[1:-1],
        secret.encode("unicode_escape").decode("ascii"),
        base64.b64encode(secret.encode()).decode("ascii").rstrip("="),
    }
