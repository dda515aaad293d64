"""Values as bytes, and what HTTP says of bytes."""

import gzip
import hashlib
import json
import random
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator import encoding

# Text without halves of surrogate pairs, which no catalog can hold.
text = st.text()
value = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=10,
)


@given(value)
def test_json_is_compact_utf8(value: object) -> None:
    """No blanks, no escapes but the necessary ones, keys in the order in which they are given."""
    body = encoding.json(value)

    assert body.decode() == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_keys_keep_their_order() -> None:
    """What is written first is sent first."""
    assert encoding.json({"b": 1, "a": {"d": (), "c": None}}) == b'{"b":1,"a":{"d":[],"c":null}}'


@pytest.mark.parametrize("number", ["0", "1", "10", "10.5", "0.0001", "1.25", "999999999.9999", "123456.789"])
def test_a_decimal_is_written_digit_for_digit(number: str) -> None:
    """No exponent, no rounding, no .0 behind a whole number."""
    assert encoding.json([encoding.decimal(number)]) == f"[{number}]".encode()


def test_the_pretty_form_is_for_people() -> None:
    """Sorted, indented, and ending with a line break."""
    assert encoding.pretty({"b": [], "a": 1}) == b'{\n  "a": 1,\n  "b": []\n}\n'


@given(value)
def test_what_was_written_can_be_read(value: object) -> None:
    """Parsing gives the value back."""
    assert encoding.parse(encoding.json(value)) == value


@pytest.mark.parametrize("damaged", [b"", b"{", b'{"a":1}x', b"\xff", b"NaN"])
def test_what_is_no_json_is_a_value_error(damaged: bytes) -> None:
    """Callers catch one kind of error, the one that they expect."""
    with pytest.raises(ValueError):
        encoding.parse(damaged)


@given(st.binary())
def test_the_tag_is_the_md5_and_the_digest_the_sha256(body: bytes) -> None:
    """Both are lower-case hexadecimal digits of the bytes as they are sent."""
    assert encoding.etag(body) == hashlib.md5(body).hexdigest()
    assert encoding.sha256(body) == hashlib.sha256(body).hexdigest()


@given(st.integers(0, 253_402_300_799))
def test_a_date_is_an_imf_fixdate(seconds: int) -> None:
    """The form that RFC 9110 wants, always 29 characters, from 1970 to 9999."""
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)

    assert encoding.http_date(seconds) == format_datetime(at, usegmt=True)


@pytest.mark.parametrize(("size", "packed"), [(0, False), (1399, False), (1400, True), (100_000, True)])
def test_gzip_begins_where_it_saves_a_packet(size: int, packed: bool) -> None:
    """Bodies below 1400 bytes are sent as they are."""
    assert (encoding.gzip(b"a" * size) is not None) == packed


def test_gzip_that_saves_nothing_is_not_kept() -> None:
    """What cannot be compressed is sent as it is, however long."""
    assert encoding.gzip(random.Random(1).randbytes(5000)) is None


@given(st.integers(1400, 5000), st.sampled_from([b"a", b"ab", "é{}".encode()]))
def test_gzip_gives_the_body_back(size: int, pattern: bytes) -> None:
    """What a client unpacks is the body."""
    body = pattern * size

    assert gzip.decompress(encoding.gzip(body) or b"") == body


def test_gzip_holds_no_time_and_no_name() -> None:
    """The same body compresses to the same bytes, whenever and wherever it does: no flag, no moment."""
    packed = encoding.gzip(b"a" * 5000) or b""

    assert (packed[:4], packed[4:8]) == (b"\x1f\x8b\x08\x00", b"\0\0\0\0")
