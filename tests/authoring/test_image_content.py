"""The format of an image, and whether it is complete."""

import struct
from io import BytesIO

import pytest

from generator.media.image_content import FORMATS, SERVED, ImageContent, examine, format_of_name
from tests.support import images
from tests.support.images import image


@pytest.mark.parametrize("name", images.NAMES)
def test_the_format_is_that_of_the_content(name: str) -> None:
    """The name is not looked at."""
    assert examine(BytesIO(image(name))) == ImageContent(format_of_name(name))


def test_every_page_has_a_format() -> None:
    """The names that `new chapter` accepts have all been tried here."""
    assert {f".{name.rpartition('.')[2]}" for name in images.NAMES} == set(FORMATS) > SERVED
    assert format_of_name("A.JPG") == "JPEG"
    assert format_of_name("jpg") == ""


@pytest.mark.parametrize("name", images.NAMES)
def test_a_cut_image_is_truncated(name: str) -> None:
    """A copy was interrupted."""
    assert examine(BytesIO(image(name)[:-1])).fault == "is truncated"


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp", "a.bmp"])
def test_data_after_an_image_is_accepted(name: str) -> None:
    """Cameras and other programs append data."""
    assert examine(BytesIO(image(name) + b"\0 more")).fault == ""


@pytest.mark.parametrize(
    "text", [b"<!DOCTYPE html>", b"<svg/>", b"BM", b"\x89PNG", b"RIFF\0\0\0\0WAVE", b"\0\0\0\x14ftypmp42"]
)
def test_other_content_is_no_image(text: bytes) -> None:
    """An error page under the name of an image, a drawing with scripts, a film."""
    assert examine(BytesIO(text)) == ImageContent("", "is not an image")


def test_an_empty_file_is_empty() -> None:
    assert examine(BytesIO()) == ImageContent("", "is empty")


def test_a_compatible_brand_is_enough() -> None:
    """Some programs write another major brand."""
    assert examine(BytesIO(images.avif(brand=b"mif1"))) == ImageContent("AVIF")


def test_jxl_without_boxes_has_no_known_end() -> None:
    assert examine(BytesIO(b"\xff\x0a rest")) == ImageContent("JPEG XL")


BEGIN = images.avif()


@pytest.mark.parametrize(
    ("box", "fault"),
    [
        (struct.pack(">I4sQ", 1, b"mdat", 20) + b"data", ""),
        (struct.pack(">I4sQ", 1, b"mdat", 21) + b"data", "is truncated"),
        (struct.pack(">I4s", 0, b"mdat") + b"as long as the file", ""),
        (struct.pack(">I4s", 7, b"mdat"), "is truncated"),
        (bytes(3), "is truncated"),
        (struct.pack(">I4s", 8, b"free") * 2000, "is truncated"),
    ],
)
def test_boxes_of_any_length_are_followed(box: bytes, fault: str) -> None:
    """Lengths of 64 bits, a last box without length, invalid lengths, and more boxes than an image has."""
    assert examine(BytesIO(BEGIN + box)).fault == fault
