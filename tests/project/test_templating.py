"""Templates of a theme run in a sandbox: they fill in values, and a fault in one has a file and a line."""

from pathlib import Path

import pytest

from generator.errors import FlatpanelError
from generator.templating import ThemedTemplates

THEME = Path("/srv/theme")


class Page:
    """An object as templates get it. Its module counts as one of the program."""

    __module__ = "generator.api.pages.context"
    template_methods = frozenset({"link"})
    title = "Tin & Moon"
    folder = Path("/srv/secret")

    def link(self, name: str) -> str:
        return f"/{name}/"

    def delete(self) -> str:
        raise AssertionError("a template ran a method")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "base.html").write_text("<title>{{ page.title }}</title>{% block body %}first{% endblock %}")
    (tmp_path / "other.html").write_text('{% extends "base.html" %}{% block body %}other{% endblock %}')
    return tmp_path


def rendered(folder: Path, template: str) -> str:
    return ThemedTemplates(folder, THEME, {"own.html": template}).render("own.html", {"page": Page()}).decode()


def fault(folder: Path, template: str) -> str:
    """The message about a template, without the folder."""
    with pytest.raises(FlatpanelError) as raised:
        rendered(folder, template)
    return str(raised.value).removeprefix(f"{THEME}/")


def test_template_replaces_the_original_and_extends_it(folder: Path) -> None:
    """A page that is not replaced uses the replaced base."""
    theme = '{% extends "default/base.html" %}{% block body %}<b>{{ super() }}</b>{% endblock %}'
    templates = ThemedTemplates(folder, THEME, {"base.html": theme})

    assert templates.render("base.html", {"page": Page()}) == b"<title>Tin &amp; Moon</title><b>first</b>"
    assert templates.render("other.html", {"page": Page()}) == b"<title>Tin &amp; Moon</title>other"


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ page.link('a') }}", "/a/"),
        ("{{ page.title.upper() | lower }}", "tin &amp; moon"),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}", "<1>"),
        ("{% for n in range(3) %}{{ loop.index }}{{ loop.cycle('a', 'b') }}{% endfor %}", "1a2b3a"),
        ("{{ 2 * 3 }}", "6"),
        ("{{ {'a': 1}.items() | list }}", "[(&#39;a&#39;, 1)]"),
    ],
)
def test_theme_can_use(folder: Path, template: str, text: str) -> None:
    assert rendered(folder, template) == text


@pytest.mark.parametrize(
    "template",
    [
        "{{ page.delete() }}",
        "{{ page.__class__.__mro__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ page.folder }}{{ page.folder.read_text() }}",
        "{{ page.folder.name }}",
        "{{ page.link.__globals__ }}",
        "{{ self.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__.os.system('true') }}",
        "{{ '%c' | format(1) | attr('__class__') }}",
        "{{ 'x' * 100000000000 }}",
        "{{ 9 ** 999999999 }}",
        "{{ range(1000000000) }}",
        "{{ [].append(1) }}",
        "{% set _ = page.template_methods.add('delete') %}",
    ],
)
def test_theme_cannot_use(folder: Path, template: str) -> None:
    assert fault(folder, template).startswith("own.html:1:1: ")


def test_fault_has_file_and_line(folder: Path) -> None:
    """A fault inside a template of the program has the last line of the theme."""
    absent = "'generator.api.pages.context.Page object' has no attribute 'titel'"

    assert fault(folder, "\n\n{{ page.titel }}") == f"own.html:3:1: {absent}"
    assert fault(folder, "\n{{ 1 / 0 }}") == "own.html:2:1: division by zero"
    assert fault(folder, '\n{% include "absent.html" %}') == "own.html:2:1: absent.html"
    templates = ThemedTemplates(folder, THEME, {"a.html": "{{ 1 }}", "b.html": "\n{% if %}", "c.html": "{% nothing %}"})

    assert [(name, line) for name, line, _ in templates.faults()] == [("b.html", 2), ("c.html", 1)]
