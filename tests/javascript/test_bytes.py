"""What njs has functions of its own for, and the core for other engines."""

import base64
import struct
from urllib.parse import unquote

from tests.support.core_server import needs_node
from tests.support.tables import each

pytestmark = needs_node


@each(
    "text", ["", "a", "%41", "%zz", "%", "%4", "%é", "é%C3%A9", "%ff", "%c3", "a%00b", "%e2%82", "%EF%BB%BFa%EF%BB%BF"]
)
def test_escapes_are_decoded(core, text: str) -> None:
    """Invalid escapes stay, invalid UTF-8 is replaced."""
    assert core("bytes", "unescaped", text) == unquote(text, errors="replace")


def test_numbers_are_decoded(core) -> None:
    numbers = [0, 1, -1, 2**31 - 1, -(2**31)]
    text = base64.b64encode(struct.pack("<5i", *numbers)).decode()

    assert list(core("bytes", "numbers", text).values()) == numbers
