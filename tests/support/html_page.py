"""HTML pages as a list of elements, by the parser of the standard library."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Element:
    """An element with its attributes and all text inside it."""

    tag: str
    attributes: dict[str, str | None]
    text: str = ""
    inside: tuple[str, ...] = ()


@dataclass
class HtmlPage(HTMLParser):
    """A parsed page. Elements that are not closed in order are errors."""

    markup: str
    elements: list[Element] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._open: list[Element] = []
        self.feed(self.markup)
        self.close()
        assert not self._open, f"not closed: {[element.tag for element in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute twice: {attrs}"
        element = Element(tag, dict(attrs), inside=tuple(parent.tag for parent in self._open))
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open[-1].tag == tag, f"</{tag}> closes nothing"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def all(self, tag: str, **attributes: str) -> list[Element]:
        wanted = {name.strip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            element
            for element in self.elements
            if element.tag == tag and all(element.attributes.get(name) == value for name, value in wanted.items())
        ]

    def first(self, tag: str, **attributes: str) -> Element:
        return self.all(tag, **attributes)[0]

    def links(self) -> Iterator[str]:
        """Every address that the page names."""
        for element in self.elements:
            for name in ("href", "src", "action"):
                if value := element.attributes.get(name):
                    yield value

    @property
    def text(self) -> str:
        return self.first("body").text
