"""Values of the catalog as pages show them: dates, paragraphs, URLs, and data inside a script element."""

import re
from datetime import UTC, datetime
from functools import lru_cache

from ... import encoding
from ...templating import Html

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
# Characters that could end a script element, or a line of a script.
_UNSAFE_IN_SCRIPT = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
_URL = re.compile(r"https?://[^\s\x00-\x20\"<>\\^`{|}]+")
DESCRIPTION = 200


@lru_cache(maxsize=4096)
def time(seconds: int) -> Html:
    """An instant as a `time` element that shows the UTC day."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return Html(f'<time datetime="{moment:%Y-%m-%dT%H:%M:%SZ}">{moment:%Y-%m-%d}</time>')


def paragraphs(text: str) -> list[str]:
    """The parts of a text that are separated by empty lines."""
    return [part for part in _PARAGRAPH.split(text.strip()) if part]


def file_size(size: int) -> str:
    """A size without a fraction, which languages write in different ways."""
    return f"{-(-size // 1000)} kB" if size < 1_000_000 else f"{round(size / 1_000_000)} MB"


def shortened(text: str) -> str:
    """A text on one line, cut at a word."""
    line = " ".join(text.split())
    return line if len(line) <= DESCRIPTION else f"{line[:DESCRIPTION].rpartition(' ')[0] or line[:DESCRIPTION]} …"


def http_url(text: str) -> str:
    """The text if it is a URL that a link may have, or nothing. Texts such as `javascript:` URLs are no links."""
    return text if _URL.fullmatch(text) else ""


def own_path(url: str, base_url: str) -> str:
    """The path of a URL of this site. Other URLs are unchanged, and paths that would be read as the name of a host."""
    is_own = url.startswith(f"{base_url}/") and not url.startswith(f"{base_url}//")
    return url[len(base_url) :] if is_own else url


def script_data(value: object) -> Html:
    """JSON inside a script element."""
    return Html(encoding.json_text(value).translate(_UNSAFE_IN_SCRIPT))
