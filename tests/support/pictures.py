"""Pictures as large as those of a comic, made by the library that makes smaller copies of them."""

import io
from pathlib import Path
from typing import Any

from PIL import Image


def picture(mode: str = "RGB", size: tuple[int, int] = (400, 600)) -> Image.Image:
    """A picture that changes everywhere, so that it does not become tiny. Its left half is darker."""
    width, height = size
    grey = Image.effect_noise(size, 60)
    grey.paste(grey.crop((0, 0, width // 2, height)).point(lambda value: value // 4), (0, 0))
    return grey.convert("RGB").convert(mode)


def stored(image: Image.Image, kind: str, **options: Any) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def write(path: Path, size: tuple[int, int] = (400, 600)) -> bytes:
    """Write a picture in the format that its name states."""
    kind = {".jpg": "JPEG", ".png": "PNG", ".webp": "WEBP", ".gif": "GIF"}[path.suffix]
    content = stored(picture("P" if kind == "GIF" else "RGB", size), kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return content
