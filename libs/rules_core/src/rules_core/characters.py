"""Which characters a text may show, by a rule of our own.

Python's `str.isprintable` follows the Unicode tables of the interpreter: a new letter or emoji is printable
for one version and not for the version before it, so that a ruleset would be valid here and invalid there.
The ranges below never change; what Unicode has not assigned yet counts as printable, now and later.
"""

from __future__ import annotations

from bisect import bisect_right

_HIDDEN = sorted(
    (
        # the controls C0, and DEL with C1
        *((0x00, 0x1F), (0x7F, 0x9F)),
        # spaces other than the common one
        *(
            (0xA0, 0xA0),
            (0x1680, 0x1680),
            (0x2000, 0x200A),
            (0x202F, 0x202F),
            (0x205F, 0x205F),
            (0x3000, 0x3000),
        ),
        # line and paragraph separator
        (0x2028, 0x2029),
        # of no width: soft hyphen, joiners and their like, byte order mark
        *((0xAD, 0xAD), (0x180E, 0x180E), (0x200B, 0x200D), (0x2060, 0x2065), (0xFEFF, 0xFEFF)),
        # direction of writing, and deprecated ones beside them
        *((0x061C, 0x061C), (0x200E, 0x200F), (0x202A, 0x202E), (0x2066, 0x206F)),
        # invisible formats: annotations, shorthand, music, tags
        *((0xFFF9, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE007F)),
        # surrogates
        (0xD800, 0xDFFF),
        # private use: no two machines show the same (with the last four noncharacters)
        *((0xE000, 0xF8FF), (0xF0000, 0x10FFFF)),
        # noncharacters
        *((0xFDD0, 0xFDEF), *((plane | 0xFFFE, plane | 0xFFFF) for plane in range(0, 0xF0000, 0x10000))),
    )
)
"""First and last code point of what does not show; no two of them overlap."""
_FIRST = [first for first, _ in _HIDDEN]


def is_printable(text: str) -> bool:
    """Whether every character of `text` shows, on each Python alike; of the spaces, U+0020 alone does."""
    return all(map(_shows, text))


def printable(text: str) -> str:
    r"""`text` with an escape, such as `\u000a`, for each character that does not show."""
    return "".join([letter if _shows(letter) else f"\\u{ord(letter):04x}" for letter in text])


def _shows(letter: str) -> bool:
    code = ord(letter)
    return code > _HIDDEN[bisect_right(_FIRST, code) - 1][1]
