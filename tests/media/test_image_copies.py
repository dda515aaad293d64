"""Smaller copies of images, usual ones and hostile ones, made by the real library."""

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image, ImageCms

from generator.media import image_copies
from generator.media.image_copies import MAX_PIXELS, Copies, Unusable
from tests.support.images import image
from tests.support.pictures import picture, stored
from tests.support.runs import sample

WIDTHS = (160, 320)
# An image that is quickly encoded, and large enough for one copy.
SMALL = (170, 256)
KINDS = ("JPEG", "AVIF", "PNG", "GIF", "WEBP")
# The orientation that turns an image by 90 degrees, and its field.
QUARTER, FIELD = 6, 0x0112


def copies(content: bytes, widths: tuple[int, ...] = WIDTHS) -> Copies:
    copier = image_copies.copier()
    assert copier
    return copier(content, widths)


def opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def brightness(image: Image.Image, side: str) -> float:
    """The mean of the left or of the right half."""
    width, height = image.size
    left = 0 if side == "left" else width // 2
    values = image.convert("L").crop((left, 0, left + width // 2, height)).tobytes()
    return sum(values) / len(values)


def fault(content: bytes) -> str:
    with pytest.raises(Unusable) as raised:
        copies(content)
    return str(raised.value)


@pytest.mark.parametrize("kind", sample(KINDS, 2))
def test_copies_are_smaller_images_of_the_same_shape(kind: str) -> None:
    content = stored(picture("P" if kind == "GIF" else "RGB"), kind)
    made = copies(content)

    assert (made.width, made.converted, made.is_animated) == (400, "", False)
    assert 160 in made.by_width
    for width, copy in made.by_width.items():
        assert (opened(copy).format, opened(copy).size) == ("WEBP", (width, width * 3 // 2))
        assert len(copy) < len(content)


def test_the_same_image_gives_the_same_bytes() -> None:
    """In any thread, and with others at the same time."""
    content = stored(picture(), "JPEG")
    with ThreadPoolExecutor(4) as pool:
        results = [*pool.map(lambda _: copies(content).by_width, range(4))]

    assert all(result == results[0] for result in results)


def test_a_copy_that_is_not_smaller_is_not_made() -> None:
    """A plain image is a few bytes in its own format. No copy is wider than the image."""
    assert copies(stored(Image.new("1", (170, 100)), "PNG", optimize=True)).by_width == {}
    assert copies(stored(picture(size=(320, 480)), "PNG")).by_width.keys() == {160, 320}
    assert copies(stored(picture(size=(159, 2000)), "JPEG")) == Copies(159, {})


@pytest.mark.bounds
def test_an_image_that_is_too_high_for_the_format_has_fewer_copies() -> None:
    content = stored(picture(size=(200, 20_000)), "JPEG")

    assert copies(content, (160, 200)).by_width.keys() == {160}


def test_transparency_is_kept() -> None:
    image = picture("RGBA")
    image.putalpha(Image.new("L", image.size, 128))
    small = opened(copies(stored(image, "PNG")).by_width[160])

    assert small.mode == "RGBA" and small.getpixel((80, 100))[3] == 128  # type: ignore[index]


# Images that need a conversion


def test_an_image_of_four_inks_becomes_one_of_three_colours() -> None:
    made = copies(stored(picture("CMYK"), "JPEG"))
    small = opened(made.by_width[160])

    assert (made.converted, small.mode) == ("CMYK", "RGB")
    assert brightness(small, "left") < brightness(small, "right")


def test_sixteen_bits_become_eight() -> None:
    """They are scaled: cut off, everything but black would be white."""
    grey = picture("L")
    made = copies(
        stored(Image.frombytes("I;16", grey.size, b"".join(b"\0" + bytes([value]) for value in grey.tobytes())), "PNG")
    )
    small = opened(made.by_width[160])

    assert made.converted == "16 bits"
    assert brightness(small, "left") == pytest.approx(brightness(grey, "left"), abs=3)
    assert brightness(small, "right") == pytest.approx(brightness(grey, "right"), abs=3)


def test_a_rotated_image_is_upright() -> None:
    """Browsers turn it as its metadata says; copies have none."""
    metadata = Image.Exif()
    metadata[FIELD] = QUARTER
    made = copies(stored(picture(size=(600, 400)), "JPEG", exif=metadata))
    small = opened(made.by_width[160])

    assert (made.width, made.converted, small.size) == (400, "rotated", (160, 240))
    assert not small.getexif()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", [b"\0" * 9, b"Exif\0\0MM\0*\0\0\0\x08\xff\xff"])
def test_damaged_metadata_says_nothing(value: bytes) -> None:
    assert copies(stored(picture(), "JPEG", exif=value)).converted == ""


def test_metadata_that_cannot_be_read_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Image.Image) -> Image.Exif:
        raise SyntaxError("not a TIFF file")

    monkeypatch.setattr(Image.Image, "getexif", fail)

    assert copies(stored(picture(), "PNG")).by_width


def test_colours_of_a_profile_become_those_of_the_web() -> None:
    """A damaged profile is ignored."""
    image = picture(size=SMALL)
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("XYZ")).tobytes()
    own = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    plain = copies(stored(image, "PNG")).by_width[160]

    for profile in (own, lab, b"no profile"):
        copy = copies(stored(image, "PNG", icc_profile=profile)).by_width[160]
        assert not opened(copy).info.get("icc_profile")
        assert brightness(opened(copy), "left") == pytest.approx(brightness(opened(plain), "left"), abs=3)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
def test_an_animated_image_has_no_copies(kind: str) -> None:
    """They would not move."""
    frames = [picture(mode, SMALL).convert("RGB") for mode in ("RGB", "L")]
    content = stored(frames[0], kind, save_all=True, append_images=frames[1:])

    assert copies(content) == Copies(SMALL[0], {}, is_animated=True)


# Images of which no copy can be made


@pytest.mark.parametrize("side", [6_400, 60_000])
def test_a_bomb_is_refused_before_it_is_decoded(side: int) -> None:
    """60,000 x 60,000 pixels would be 10 GB."""
    message = f"has more than {MAX_PIXELS // 1_000_000} megapixels; make the image smaller"

    assert fault(image("a.jpg", side, side)) == message


def with_scans(count: int, image: Image.Image) -> bytes:
    """A progressive JPEG with many scans. Its comment has the marker of a scan even more often."""
    content = stored(image, "JPEG", progressive=True, comment=b"\xff\xda" * 1000)
    end = content.rindex(b"\xff\xda")
    return content[:end] + count * content[end:-2] + content[-2:]


def test_a_jpeg_of_many_scans_is_refused_before_it_is_decoded() -> None:
    """A few hundred kilobytes of them take minutes."""
    large = Image.new("L", (2_900, 2_900))

    assert fault(with_scans(101, picture())) == "has more than 100 scans; save the image again"
    assert copies(with_scans(50, picture())).width == 400
    assert fault(with_scans(26, large)) == "has more than 25 scans; save the image again"
    assert copies(with_scans(10, large)).width == 2_900


def test_a_large_image_is_no_bomb() -> None:
    assert copies(stored(Image.effect_noise((2_000, 4_100), 60), "JPEG")).by_width.keys() == {160, 320}


@pytest.mark.parametrize("kind", sample(KINDS, 2))
def test_a_truncated_image_is_one_line(kind: str) -> None:
    """Wherever it is cut."""
    content = stored(picture("P" if kind == "GIF" else "RGB"), kind)
    for length in (len(content) // 2, 40, 20, 12):
        message = fault(content[:length])
        assert message.startswith(("cannot be read: ", "is not an image")) and "\n" not in message


@pytest.mark.parametrize("content", [b"", b"<html>", b"%PDF-1.7", b"II*\0" + bytes(100), b"RIFF\0\0\0\0WEBP"])
def test_another_content_is_one_line(content: bytes) -> None:
    """Also an image of a format that browsers do not show."""
    assert fault(content).startswith(("is not an image, or of a format that cannot be read", "cannot be read: "))


@pytest.mark.bounds
@pytest.mark.filterwarnings("ignore")
def test_a_damaged_image_is_never_a_crash() -> None:
    """Each byte of the beginning changed. Most are still images."""
    for kind in KINDS:
        content = stored(picture("P" if kind == "GIF" else "RGB", (170, 200)), kind)
        for position in range(0, 120, 5):
            damaged = bytearray(content)
            damaged[position] ^= 0xFF
            try:
                copies(bytes(damaged), (160,))
            except Unusable as error:
                assert "\n" not in str(error)
