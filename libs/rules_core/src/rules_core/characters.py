"""Which characters a text may show, by a rule of our own.

Python's `str.isprintable` follows the Unicode tables of the interpreter: a new letter or emoji is printable
for one version and not for the version before it, so that a ruleset would be valid here and invalid there.
The ranges below never change; what Unicode has not assigned yet counts as printable, now and later.
"""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # controls: C0, DEL, C1
    "\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"  # spaces that look like the common one, or like nothing
    "\u2028\u2029"  # line and paragraph separator
    "\xad\u180e\u200b-\u200d\u2060-\u2065\ufeff"  # of no width: soft hyphen, joiners, byte order mark
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # direction of writing, and its obsolete relatives
    "\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"  # invisible formats, tags
    "\ud800-\udfff"  # surrogates
    "\ue000-\uf8ff\U000f0000-\U0010ffff"  # private use: no two machines show the same
    "\ufdd0-\ufdef"  # noncharacters, here and at the end of each plane
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000))
    + "]"
)


def is_printable(text: str) -> bool:
    """Whether every character of `text` shows, on each Python alike; of the spaces, U+0020 alone does."""
    return _UNPRINTABLE.search(text) is None


def printable(text: str) -> str:
    r"""`text` with an escape, such as `\u000a`, for each character that does not show."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
