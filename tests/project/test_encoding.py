"""JSON, digests, gzip and HTTP dates."""

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
    """No blanks and only the necessary escapes; keys keep their order."""
    body = encoding.json(value)

    assert body.decode() == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_decimal_is_written_digit_for_digit() -> None:
    """No exponent, no rounding, no `.0` after a whole number."""
    for number in ["0", "1", "10", "10.5", "0.0001", "1.25", "999999999.9999", "123456.789"]:
        assert encoding.json([encoding.decimal(number)]) == f"[{number}]".encode()


def test_pretty_json_is_sorted_and_indented() -> None:
    """It ends with a line break."""
    assert encoding.pretty({"b": [], "a": 1}) == b'{\n  "a": 1,\n  "b": []\n}\n'


@given(value)
def test_parse_returns_the_encoded_value(value: object) -> None:
    """For any JSON value."""
    assert encoding.parse(encoding.json(value)) == value


@pytest.mark.parametrize("damaged", [b"", b"{", b'{"a":1}x', b"\xff", b"NaN"])
def test_invalid_json_raises_value_error(damaged: bytes) -> None:
    """For any kind of damage."""
    with pytest.raises(ValueError):
        encoding.parse(damaged)


@given(st.binary())
def test_etag_is_md5_and_sha256_is_sha256(body: bytes) -> None:
    """Both as lower-case hexadecimal digits."""
    assert encoding.etag(body) == hashlib.md5(body).hexdigest()
    assert encoding.sha256(body) == hashlib.sha256(body).hexdigest()


@given(st.integers(0, 253_402_300_799))
def test_http_date_is_an_imf_fixdate(seconds: int) -> None:
    """The form that RFC 9110 requires, from 1970 to 9999."""
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)

    assert encoding.http_date(seconds) == format_datetime(at, usegmt=True)


@pytest.mark.parametrize(("size", "packed"), [(0, False), (1399, False), (1400, True), (100_000, True)])
def test_bodies_below_1400_bytes_are_not_compressed(size: int, packed: bool) -> None:
    """They fit into one packet anyway. Nor is one that does not get shorter."""
    assert (encoding.gzip(b"a" * size) is not None) == packed
    assert encoding.gzip(random.Random(1).randbytes(size)) is None


@given(st.integers(1400, 5000), st.sampled_from([b"a", b"ab", "é{}".encode()]))
def test_gunzip_returns_the_body(size: int, pattern: bytes) -> None:
    """Python's own gzip reads the file."""
    body = pattern * size

    assert gzip.decompress(encoding.gzip(body) or b"") == body


def test_gzip_header_has_no_time_and_no_name() -> None:
    """Equal bodies give equal files at any time on any machine."""
    packed = encoding.gzip(b"a" * 5000) or b""

    assert (packed[:4], packed[4:8]) == (b"\x1f\x8b\x08\x00", b"\0\0\0\0")
