"""Encode pictures of few colours as small PNG, JPEG and WebP files, with the same bytes on every machine.

A picture is a list of rows. A row has one byte per pixel: the index of its colour in a palette.
Only the compression of a PNG comes from a library, zlib; another version of it may write other bytes.
"""

import heapq
import math
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

Rows = Sequence[bytes]
Palette = Sequence[tuple[int, int, int]]

_ZIGZAG = sorted(
    range(64), key=lambda i: (i // 8 + i % 8, i // 8 if (i // 8 + i % 8) % 2 else i % 8)
)  # by diagonal, in alternating direction
_COSINES = [
    [(math.sqrt(0.125) if k == 0 else 0.5) * math.cos((2 * x + 1) * k * math.pi / 16) for x in range(8)]
    for k in range(8)
]
# A symbol of no pixel. Without it, the last code of a table would have ones only, which JPEG forbids.
_RESERVED = 256
# The order in which WebP stores the lengths of the codes of code lengths.
_LENGTH_ORDER = (17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
# WebP's short names of two distances: the pixel above, and the pixel to the left.
_ABOVE, _LEFT = 0, 1


def code_lengths(counts: dict[int, int], limit: int) -> dict[int, int]:
    """The length of the Huffman code of each symbol, at most `limit`."""
    while True:
        heap = [(count, -symbol, (symbol,)) for symbol, count in counts.items()]
        heapq.heapify(heap)
        lengths = dict.fromkeys(counts, 0)
        while len(heap) > 1:
            first, second = heapq.heappop(heap), heapq.heappop(heap)
            for symbol in first[2] + second[2]:
                lengths[symbol] += 1
            heapq.heappush(heap, (first[0] + second[0], first[1], first[2] + second[2]))
        if max(lengths.values()) <= limit:
            return lengths
        counts = {symbol: (count + 1) // 2 for symbol, count in counts.items()}


def canonical_codes(lengths: dict[int, int]) -> dict[int, tuple[int, int]]:
    """The canonical code of each symbol and its length."""
    codes, code, previous = {}, 0, 0
    for length, symbol in sorted((length, symbol) for symbol, length in lengths.items() if length):
        code <<= length - previous
        codes[symbol], code, previous = (code, length), code + 1, length
    return codes


# PNG


def png(rows: Rows, palette: Palette) -> bytes:
    """A PNG with a palette of at most 16 colours, four bits per pixel."""
    width = len(rows[0])
    packed = b"".join(b"\0" + _nibbles(row, first_high=True) for row in rows)
    header = struct.pack(">IIBBBBB", width, len(rows), 4, 3, 0, 0, 0)
    colours = b"".join(map(bytes, palette))
    parts = ((b"IHDR", header), (b"PLTE", colours), (b"IDAT", zlib.compress(packed, 9)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _nibbles(row: bytes, *, first_high: bool) -> bytes:
    """Two pixels per byte."""
    padded = row + b"\0" * (len(row) % 2)
    pairs = zip(padded[::2], padded[1::2], strict=True)
    return bytes(left << 4 | right if first_high else right << 4 | left for left, right in pairs)


# JPEG


def jpeg(rows: Rows, palette: Palette, *, coarse: int, grey: bool) -> bytes:
    """A baseline JPEG, with or without colours. Width and height are multiples of 8; `coarse` is the quantisation."""
    planes = [_translation(palette, weights) for weights in (_LUMA, _BLUE, _RED)[: 1 if grey else 3]]
    components = range(len(planes))
    table = bytes([8] + [min(255, coarse + coarse * index // 12) for index in range(1, 64)])
    symbols: list[tuple[int, int, int]] = []  # the table, the symbol, and bits that follow it
    last = [0] * len(planes)
    for top in range(0, len(rows), 8):
        for left in range(0, len(rows[0]), 8):
            block = b"".join(row[left : left + 8] for row in rows[top : top + 8])
            for component in components:
                coefficients = _quantised(block, planes[component], table)
                _append_block(symbols, coefficients, last[component], 2 * bool(component))
                last[component] = coefficients[0]
    tables = sorted({table for table, _, _ in symbols})
    codes, segments = {}, []
    for number in tables:
        counts = Counter(symbol for table, symbol, _ in symbols if table == number)
        lengths = code_lengths({**counts, _RESERVED: 0}, 16)
        codes[number] = canonical_codes(lengths)
        segments.append(_segment(0xC4, _huffman_table(number, codes[number])))
    sampling = b"".join(bytes([component + 1, 0x11, 0]) for component in components)
    scan = b"".join(bytes([component + 1, 0x11 * bool(component)]) for component in components)
    size = struct.pack(">BHHB", 8, len(rows), len(rows[0]), len(planes))
    return b"".join(
        (
            b"\xff\xd8",
            _segment(0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"),
            _segment(0xDB, b"\0" + table),
            _segment(0xC0, size + sampling),
            *segments,
            _segment(0xDA, bytes([len(planes)]) + scan + b"\0\x3f\0"),
            _entropy_coded(symbols, codes),
            b"\xff\xd9",
        )
    )


_LUMA, _BLUE, _RED = (0.299, 0.587, 0.114, 0), (-0.168736, -0.331264, 0.5, 128), (0.5, -0.418688, -0.081312, 128)


def _translation(palette: Palette, weights: tuple[float, ...]) -> bytes:
    """The value of each colour of the palette in one component."""
    *factors, offset = weights
    values = (sum(f * part for f, part in zip(factors, colour, strict=True)) + offset for colour in palette)
    return bytes(min(255, max(0, round(value))) for value in values).ljust(256, b"\0")


# Cached: all pages have blocks in common.
@lru_cache(maxsize=1 << 16)
def _quantised(block: bytes, plane: bytes, table: bytes) -> list[int]:
    """The coefficients of a block in the order of the file, without zeros at the end."""
    values = [value - 128 for value in block.translate(plane)]
    if len(set(values)) == 1:
        return [_rounded(8 * values[0] / table[0])]
    rows = [
        [sum(c * v for c, v in zip(_COSINES[k], values[8 * y : 8 * y + 8], strict=True)) for k in range(8)]
        for y in range(8)
    ]
    both = [[sum(_COSINES[k][y] * rows[y][x] for y in range(8)) for x in range(8)] for k in range(8)]
    ordered = [_rounded(both[i // 8][i % 8] / step) for i, step in zip(_ZIGZAG, table, strict=True)]
    while len(ordered) > 1 and not ordered[-1]:
        ordered.pop()
    return ordered


def _rounded(value: float) -> int:
    """The nearest integer; the small offset makes ties the same on every machine."""
    return math.floor(value + 0.5 + 1e-6)


def _append_block(symbols: list[tuple[int, int, int]], coefficients: list[int], last: int, table: int) -> None:
    difference = coefficients[0] - last
    symbols.append((table, abs(difference).bit_length(), difference))
    zeros = 0
    for value in coefficients[1:]:
        if not value:
            zeros += 1
            continue
        symbols += [(table + 1, 0xF0, 0)] * (zeros // 16)
        symbols.append((table + 1, zeros % 16 << 4 | abs(value).bit_length(), value))
        zeros = 0
    if len(coefficients) < 64:
        symbols.append((table + 1, 0, 0))


def _huffman_table(number: int, codes: dict[int, tuple[int, int]]) -> bytes:
    ordered = sorted((length, code, symbol) for symbol, (code, length) in codes.items() if symbol != _RESERVED)
    counts = Counter(length for length, _, _ in ordered)
    # Tables of lightness are 0, of colours 1; coefficients other than the first are in the upper half.
    head = bytes([(number % 2) << 4 | number // 2])
    return head + bytes(counts[length] for length in range(1, 17)) + bytes(symbol for _, _, symbol in ordered)


def _entropy_coded(symbols: Iterable[tuple[int, int, int]], codes: dict[int, dict[int, tuple[int, int]]]) -> bytes:
    bits = []
    for table, symbol, value in symbols:
        code, length = codes[table][symbol]
        bits.append(f"{code:0{length}b}")
        if extra := symbol & 15:
            bits.append(f"{value if value > 0 else value + (1 << extra) - 1:0{extra}b}")
    text = "".join(bits)
    text += "1" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big").replace(b"\xff", b"\xff\0")


def _segment(marker: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


# WebP


def webp(rows: Rows, palette: Palette) -> bytes:
    """A lossless WebP with a palette of 5 to 16 colours."""
    width, height = len(rows[0]), len(rows)
    bits = _Bits()
    bits.write(0x2F, 8)
    bits.write(width - 1, 14)
    bits.write(height - 1, 14)
    bits.write(0, 4)  # no transparency, version 0
    bits.write(1, 1)
    bits.write(3, 2)  # a transform: the palette
    bits.write(len(palette) - 1, 8)
    _write_palette(bits, palette)
    bits.write(0, 1)  # no other transform
    bits.write(0, 1)  # no cache of colours
    bits.write(0, 1)  # the same codes for the whole picture
    _write_pixels(bits, b"".join(_nibbles(row, first_high=False) for row in rows), (width + 1) // 2)
    data = bits.value.to_bytes((bits.length + 7) // 8, "little")
    chunk = b"VP8L" + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
    return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk


class _Bits:
    """Bits, the first one in the lowest place."""

    def __init__(self) -> None:
        self.value = self.length = 0

    def write(self, value: int, count: int) -> None:
        self.value |= value << self.length
        self.length += count

    def write_code(self, code: tuple[int, int]) -> None:
        if code[1]:
            self.write(int(f"{code[0]:0{code[1]}b}"[::-1], 2), code[1])


def _write_palette(bits: _Bits, palette: Palette) -> None:
    """The colours as a picture of one row. Each is the difference to the one before."""
    before = (0, 0, 0)
    differences = []
    for colour in palette:
        differences.append(tuple((part - last) % 256 for part, last in zip(colour, before, strict=True)))
        before = colour
    bits.write(0, 1)  # no cache of colours
    red, green, blue = (Counter(difference[i] for difference in differences) for i in range(3))
    alpha = Counter([255] + [0] * (len(palette) - 1))
    tables = [
        _write_code_lengths(bits, counts, size)
        for counts, size in ((green, 280), (red, 256), (blue, 256), (alpha, 256))
    ]
    _write_code_lengths(bits, Counter([0]), 40)
    for number, difference in enumerate(differences):
        values = (difference[1], difference[0], difference[2], 0 if number else 255)
        for table, value in zip(tables, values, strict=True):
            bits.write_code(table[value])


def _write_pixels(bits: _Bits, pixels: bytes, width: int) -> None:
    tokens = list(_tokens(pixels, width))
    greens = Counter(value if kind is None else 256 + _prefix(value)[0] for kind, value in tokens)
    green = _write_code_lengths(bits, greens, 280)
    for _ in range(2):
        _write_code_lengths(bits, Counter([0]), 256)
    _write_code_lengths(bits, Counter([255]), 256)
    distance = _write_code_lengths(bits, Counter(kind for kind, _ in tokens if kind is not None), 40)
    for kind, value in tokens:
        if kind is None:
            bits.write_code(green[value])
        else:
            symbol, count, extra = _prefix(value)
            bits.write_code(green[256 + symbol])
            bits.write(extra, count)
            bits.write_code(distance[kind])


def _tokens(pixels: bytes, width: int) -> Iterable[tuple[int | None, int]]:
    """Single pixels, and copies: the distance and the number of pixels."""
    position, end = 0, len(pixels)
    while position < end:
        length, kind = 0, 0
        for name, distance in ((_ABOVE, width), (_LEFT, 1)):
            stop = position
            while position >= distance and stop < min(end, position + 4096) and pixels[stop] == pixels[stop - distance]:
                stop += 1
            if stop - position > length:
                length, kind = stop - position, name
        if length > 2:
            yield kind, length
            position += length
        else:
            yield None, pixels[position]
            position += 1


def _prefix(length: int) -> tuple[int, int, int]:
    """The symbol of a length, the number of its extra bits, and these bits."""
    value = length - 1
    if value < 4:
        return value, 0, 0
    high = value.bit_length() - 1
    second = value >> (high - 1) & 1
    return 2 * high + second, high - 1, value & ((1 << (high - 1)) - 1)


def _write_code_lengths(bits: _Bits, counts: Counter[int], size: int) -> dict[int, tuple[int, int]]:
    """Write the lengths of the codes of an alphabet, and return the codes."""
    used = sorted(counts) or [0]
    if len(used) <= 2 and used[-1] < 256:
        bits.write(1, 1)
        bits.write(len(used) - 1, 1)
        bits.write(1, 1)
        bits.write(used[0], 8)
        if len(used) == 2:
            bits.write(used[1], 8)
        return {symbol: (number, len(used) - 1) for number, symbol in enumerate(used)}
    while len(used) < 2:
        used.append(0)
    lengths = code_lengths({symbol: counts[symbol] for symbol in set(used)}, 15)
    stored = _runs([lengths.get(symbol, 0) for symbol in range(size)])
    inner = Counter(symbol for symbol, _, _ in stored)
    if len(inner) == 1:
        inner[0 if 0 not in inner else 1] = 0
    inner_lengths = code_lengths(dict(inner), 7)
    bits.write(0, 1)
    listed = max(4, 1 + max(_LENGTH_ORDER.index(symbol) for symbol in inner_lengths))
    bits.write(listed - 4, 4)
    for symbol in _LENGTH_ORDER[:listed]:
        bits.write(inner_lengths.get(symbol, 0), 3)
    bits.write(0, 1)  # all lengths are listed
    codes = canonical_codes(inner_lengths)
    for symbol, count, extra in stored:
        bits.write_code(codes[symbol])
        bits.write(extra, count)
    return canonical_codes(lengths)


def _runs(lengths: list[int]) -> list[tuple[int, int, int]]:
    """The lengths with runs of zeros shortened: the symbol, the number of its extra bits, and these bits."""
    stored, position = [], 0
    while position < len(lengths):
        run = 0
        while position + run < len(lengths) and run < 138 and not lengths[position + run]:
            run += 1
        if run >= 11:
            stored.append((18, 7, run - 11))
        elif run >= 3:
            stored.append((17, 3, run - 3))
        else:
            run = 1
            stored.append((lengths[position], 0, 0))
        position += run
    return stored
