"""Width and height of images, with the optional library and without it."""

from io import BytesIO

import pytest

from generator.media import image_sizes
from tests.support.images import NAMES, image


@pytest.mark.parametrize("name", NAMES[:-1])
def test_images_are_measured(name: str) -> None:
    measure = image_sizes.measuring()
    assert measure

    assert measure(BytesIO(image(name, 30, 20))) == (30, 20)


@pytest.mark.parametrize("data", [b"", b"text", image("a.png")[:12], image("a.jxl")])
def test_other_content_has_no_size(data: bytes) -> None:
    measure = image_sizes.measuring()
    assert measure

    assert measure(BytesIO(data)) is None
