"""Text that anybody may have written -> text that a terminal shows in one line, and obeys nowhere."""


def escaped(text: str) -> str:
    """The text with an escape such as \\x1b for each character that a terminal would not show as one.

    Those are control characters (C0, C1, DEL), line breaks, marks of direction, invisible characters and halves of
    characters. The wide blank of Japanese is text.
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    is_text = character.isprintable() or character == "\u3000"
    return character if is_text else character.encode("unicode_escape").decode()
