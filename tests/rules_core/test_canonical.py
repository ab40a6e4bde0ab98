"""Canonical JSON: RFC 8785 for the values of CONTRACTS.md section 2, and readers that forgive nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rules_core.canonical import (
    DEPTH_MAX,
    INTEGER_MAX,
    InvalidJson,
    NotCanonical,
    canonical_bytes,
    parse_canonical,
    parse_strict,
)

# ------------------------------------------------------------------------------------ an independent writer

_SHORT_ESCAPES = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 0x22: '\\"', 0x5C: "\\\\"}


def naive_string(text: str) -> str:
    written = ['"']
    for letter in text:
        code = ord(letter)
        if code in _SHORT_ESCAPES:
            written.append(_SHORT_ESCAPES[code])
        elif code < 0x20:
            written.append(f"\\u00{code:02x}")
        else:
            written.append(letter)
    return "".join([*written, '"'])


def code_units(text: str) -> list[int]:
    units: list[int] = []
    for letter in text:
        code = ord(letter)
        if code > 0xFFFF:
            units += [0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF)]
        else:
            units.append(code)
    return units


def naive_text(value: object) -> str:
    """Write RFC 8785 the slow way, without the standard library's JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return naive_string(value)
    if isinstance(value, list):
        return "[" + ",".join(naive_text(item) for item in value) + "]"
    assert isinstance(value, dict)
    keys = sorted(value, key=code_units)
    return "{" + ",".join(f"{naive_string(key)}:{naive_text(value[key])}" for key in keys) + "}"


texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text(
    '\x00\x1f\x7f"\\/\u2028é\ue000\uffff\U00010000😀'
)
integers = st.integers(-INTEGER_MAX, INTEGER_MAX)
values = st.recursive(
    st.none() | st.booleans() | integers | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=6),
    max_leaves=25,
)

spellings = st.fixed_dictionaries({"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 0, 3])})


@given(values)
def test_writer_agrees_with_an_independent_one(value: object) -> None:
    assert canonical_bytes(value) == naive_text(value).encode()


@given(values)
def test_what_is_written_reads_back_as_the_same_value_with_both_readers(value: object) -> None:
    written = canonical_bytes(value)
    assert parse_canonical(written) == value
    assert parse_strict(written) == value


@given(values, spellings)
def test_strict_reader_takes_any_spelling_of_a_value(value: object, spelling: dict[str, Any]) -> None:
    spelled = json.dumps(value, **spelling).encode()
    assert parse_strict(b" \t\r\n" + spelled + b"\n") == value


@given(values, spellings)
def test_canonical_reader_takes_one_spelling_only(value: object, spelling: dict[str, Any]) -> None:
    spelled = json.dumps(value, **spelling).encode()
    if spelled == naive_text(value).encode():
        assert parse_canonical(spelled) == value
    else:
        with pytest.raises(InvalidJson, match="not canonical: differs from the canonical form at byte"):
            parse_canonical(spelled)


json_like = st.text('{}[],:"\\u0019aeE.+-tflsnrd ', max_size=30)


@given(st.binary(max_size=40) | json_like.map(str.encode))
@example(b"")
@example(b'{"a":1,"a":1}')
def test_any_bytes_are_refused_or_are_exactly_the_canonical_bytes_of_what_was_read(data: bytes) -> None:
    try:
        value = parse_canonical(data)
    except InvalidJson:
        return
    assert naive_text(value).encode() == data


@given(values, st.data())
def test_a_changed_byte_never_reads_as_the_same_value(value: object, data: st.DataObject) -> None:
    written = bytearray(canonical_bytes(value))
    place = data.draw(st.integers(0, len(written) - 1))
    written[place] ^= data.draw(st.integers(1, 255))
    try:
        read = parse_canonical(bytes(written))
    except InvalidJson:
        return
    assert naive_text(read) != naive_text(value)


# ------------------------------------------------------------------------------------ vectors

VECTORS = [
    ({}, b"{}"),
    ([], b"[]"),
    ("", b'""'),
    (0, b"0"),
    (-1, b"-1"),
    (9007199254740991, b"9007199254740991"),
    (-9007199254740991, b"-9007199254740991"),
    ([None, True, False], b"[null,true,false]"),
    ({"b": 2, "a": [1, {"d": None, "c": "x"}]}, b'{"a":[1,{"c":"x","d":null}],"b":2}'),
    ({"ante": 1, "Ante": 2, "": 4, "10": 5, "9": 6}, b'{"":4,"10":5,"9":6,"Ante":2,"ante":1}'),
    ('solidus / quote " backslash \\', b'"solidus / quote \\" backslash \\\\"'),
    ("\x00\x01\x07\b\t\n\x0b\f\r\x1f \x7f", b'"\\u0000\\u0001\\u0007\\b\\t\\n\\u000b\\f\\r\\u001f \x7f"'),
    ("złoty ₽", b'"z\xc5\x82oty \xe2\x82\xbd"'),
    ("\u2028\u2029", b'"\xe2\x80\xa8\xe2\x80\xa9"'),
    # Not normalised: e with an accent as one character and as two are different keys.
    ({"\u00e9": 1, "e\u0301": 2}, b'{"e\xcc\x81":2,"\xc3\xa9":1}'),
    # U+1F0A1 (ace of spades) is D83C DCA1 in UTF-16, before U+FF21; as code points it comes after.
    ({"\uff21": 1, "\U0001f0a1": 2, "a": 3}, b'{"a":3,"\xf0\x9f\x82\xa1":2,"\xef\xbc\xa1":1}'),
    ([{"\ue000x": 1, "\U00010000": {"\uffff": 0, "\U0010ffff": 0}}],
     b'[{"\xf0\x90\x80\x80":{"\xf4\x8f\xbf\xbf":0,"\xef\xbf\xbf":0},"\xee\x80\x80x":1}]'),
]  # fmt: skip


@pytest.mark.parametrize(("value", "data"), VECTORS)
def test_vectors(value: object, data: bytes) -> None:
    assert canonical_bytes(value) == data
    assert parse_canonical(data) == value
    assert parse_strict(data) == value


def nested(levels: int) -> object:
    value: object = 1
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    return value


def test_nesting_is_bounded_by_64_levels() -> None:
    assert DEPTH_MAX == 64
    deepest = canonical_bytes(nested(64))
    assert parse_canonical(deepest) == parse_strict(deepest) == nested(64)
    with pytest.raises(NotCanonical, match=r"^nested deeper than 64 levels at \$\[0\]\[0\]\.in\[0\]\.in"):
        canonical_bytes([nested(64)])
    for read in (parse_strict, parse_canonical):
        with pytest.raises(InvalidJson, match=r"^nested deeper than 64 levels at \$\[0\]\[0\]\.in\[0\]\.in"):
            read(b"[" + deepest + b"]")


def test_many_brackets_beside_each_other_are_not_deep() -> None:
    wide = b"[" + b",".join([b"{}"] * 1000) + b"]"
    assert parse_canonical(wide) == [{}] * 1000


# ------------------------------------------------------------------------------------ refusals


class _Text(str):
    __slots__ = ()


class _Number(int):
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.0, "float is no JSON type at $"),
        ({"a": {"b": [0, float("nan")]}}, "float is no JSON type at $.a.b[1]"),
        (INTEGER_MAX + 1, "integer beyond 2^53 - 1 at $"),
        ([-INTEGER_MAX - 1], "integer beyond 2^53 - 1 at $[0]"),
        ({"cards": ("Ah", "Kd")}, "tuple is no JSON type at $.cards"),
        ({"raw": b""}, "bytes is no JSON type at $.raw"),
        ({"kind": _Text("bet")}, "_Text is no JSON type at $.kind"),
        ({"box": _Number(3)}, "_Number is no JSON type at $.box"),
        ({"boxes": {1: "open"}}, "key of type int at $.boxes"),
        ({None: 1}, "key of type NoneType at $"),
        ({"a b": 1.5}, 'float is no JSON type at $["a b"]'),
        ({"x" * 100 + " ": 1.5}, f'float is no JSON type at $["{"x" * 60}"]'),
        (["ok", "\ud83c"], "lone surrogate at $[1]"),
        ({"\udfff": 1}, 'lone surrogate at $["\\udfff"]'),
    ],
)
def test_writer_refuses_with_what_and_where(value: object, message: str) -> None:
    with pytest.raises(NotCanonical) as refusal:
        canonical_bytes(value)
    assert str(refusal.value) == message


def test_writer_refuses_a_value_that_holds_itself() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(NotCanonical, match="nested deeper than 64 levels"):
        canonical_bytes(value)


REFUSED_BY_BOTH = [
    (b"\xef\xbb\xbf{}", "byte order mark at byte 0"),
    (b'{"a":"\xff"}', "not UTF-8 at byte 6"),
    (b'"\xed\xa0\x80"', "not UTF-8 at byte 1"),
    (b'"\xc0\xaf"', "not UTF-8 at byte 1"),
    (b'{"a":1.0}', "1.0 is no integer at $.a"),
    (b"[0,1e2]", "1e2 is no integer at $[1]"),
    (b"1e400", "1e400 is no integer at $"),
    (b"0." + b"1" * 100, "0." + "1" * 58 + " is no integer at $"),
    (b'{"a":[NaN]}', "NaN is no integer at $.a[0]"),
    (b"Infinity", "Infinity is no integer at $"),
    (b"[-Infinity]", "-Infinity is no integer at $[0]"),
    (b'{"a":9007199254740992}', "integer beyond 2^53 - 1 at $.a"),
    (b"[-9007199254740992]", "integer beyond 2^53 - 1 at $[0]"),
    (b"[1,99999999999999999]", "integer beyond 2^53 - 1 at $[1]"),
    (b"1" * 100_000, "integer beyond 2^53 - 1 at $"),
    (b'{"a":1,"a":1}', 'duplicate key "a" at $'),
    (b'{"b":[{"x":0},{"c":1,"a":2,"c":3}]}', 'duplicate key "c" at $.b[1]'),
    (b'{"a":1,"\\u0061":2}', 'duplicate key "a" at $'),
    (b'"\\ud83c"', "lone surrogate at $"),
    (b'{"a":"\\udca1\\ud83c"}', "lone surrogate at $.a"),
    (b'{"\\ud83c":1}', 'lone surrogate at $["\\ud83c"]'),
    (b'{"\\ud83c":1,"\xf0\x9f\x82\xa1":2}', 'lone surrogate at $["\\ud83c"]'),
    (b"[" * 65 + b"]" * 65, "nested deeper than 64 levels at $" + "[0]" * 64),
    (b"[" * 100_000 + b"]" * 100_000, "nested deeper than 64 levels"),
    (b"[" * 100_000, "nested deeper than 64 levels"),
    (b'{"":' * 100_000, "nested deeper than 64 levels"),
    (b"", "Expecting value at byte 0"),
    (b"{} {}", "Extra data at byte 3"),
    (b'"\xc3\xa9"x', "Extra data at byte 4"),
    (b'["abc', "Unterminated string starting at byte 1"),
    (b'["\\q"]', "Invalid \\escape at byte 2"),
    (b'{"a":1', "Expecting ',' delimiter at byte 6"),
    (b'"a\nb"', "Invalid control character at byte 2"),
    (b"[01]", "Expecting ',' delimiter at byte 2"),
    (b"{'a':1}", "Expecting property name enclosed in double quotes at byte 1"),
    (b"[\xc2\xa01]", "Expecting value at byte 1"),
    (b"nul", "Expecting value at byte 0"),
]


@pytest.mark.parametrize(("data", "message"), REFUSED_BY_BOTH, ids=range(len(REFUSED_BY_BOTH)))
def test_readers_refuse_with_what_and_where(data: bytes, message: str) -> None:
    for read in (parse_strict, parse_canonical):
        with pytest.raises(InvalidJson) as refusal:
            read(data)
        assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("data", "value", "message"),
    [
        (b'{"b":1,"a":2}', {"a": 2, "b": 1}, "at byte 2"),
        (b'{"a": 1}', {"a": 1}, "at byte 5"),
        (b"[1]\n", [1], "at byte 3"),
        (b"-0", 0, "at byte 0"),
        (b'"\\u0041"', "A", "at byte 1"),
        (b'"\\/"', "/", "at byte 1"),
        (b'"\\u000A"', "\n", "at byte 2"),
        (b'"\\u001F"', "\x1f", "at byte 6"),
        (b'["\xc3\xa9","\\ud83c\\udca1"]', ["é", "\U0001f0a1"], "at byte 7"),
        (b'{"\xef\xbc\xa1":1,"\xf0\x9f\x82\xa1":2}', {"\uff21": 1, "\U0001f0a1": 2}, "at byte 2"),
    ],
)
def test_canonical_reader_refuses_what_only_the_strict_one_takes(
    data: bytes, value: object, message: str
) -> None:
    assert parse_strict(data) == value
    with pytest.raises(InvalidJson) as refusal:
        parse_canonical(data)
    assert str(refusal.value) == f"not canonical: differs from the canonical form {message}"


def test_canonical_reader_refuses_white_space_in_front() -> None:
    assert parse_strict(b" 1") == 1
    with pytest.raises(InvalidJson, match="Expecting value at byte 0"):
        parse_canonical(b" 1")
