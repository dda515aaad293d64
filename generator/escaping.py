"""Escape untrusted text for a terminal: the result is one line without control sequences."""


def escaped(text: str) -> str:
    """Replace each unprintable character by an escape such as \\x1b.

    These are control characters (C0, C1, DEL), line breaks, direction marks, invisible characters and unpaired
    surrogates. The ideographic space is printable.
    """
    return text if text.isprintable() else "".join(map(_escaped_character, text))


def _escaped_character(character: str) -> str:
    is_text = character.isprintable() or character == "\u3000"
    return character if is_text else character.encode("unicode_escape").decode()
