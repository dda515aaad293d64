"""Templates of a theme run in bounded processes and in a sandbox: they fill in values, and each fault has its line."""

import os
import re
import signal
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest

from generator import bounds
from generator.api.pages.themed_templates import ThemedTemplates
from generator.errors import FlatpanelError
from generator.pipeline.process_pool import ordered_map

# Only workers of pytest have threads when they fork; the command line has none.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

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


def bounded(function: Callable[[], object]) -> object:
    """The result of a function in a bounded process."""
    (result,) = ordered_map(1, lambda: lambda _: function(), [0], THEME)
    return result


def results(folder: Path, templates: Iterable[str]) -> dict[str, str]:
    """The page, or the message without the folder, for each template of a theme that has the one file `own.html`.

    All in one bounded process.
    """

    def result(template: str) -> str:
        own = ThemedTemplates(folder, THEME, {"own.html": template})
        try:
            faults = list(own.problems()) or own.render("own.html", {"page": Page(), "series": Page()}).decode()
        except FlatpanelError as error:
            faults = [error]
        return faults if isinstance(faults, str) else "\n".join(map(str, faults)).removeprefix(f"{THEME}/")

    asked = list(templates)
    return dict(zip(asked, ordered_map(1, lambda: result, asked, THEME), strict=True))


def test_template_replaces_the_original_and_extends_it(folder: Path) -> None:
    """A page that is not replaced uses the replaced base."""
    theme = '{% extends "default/base.html" %}{% block body %}<b>{{ super() }}</b>{% endblock %}'
    own = ThemedTemplates(folder, THEME, {"base.html": theme})
    pages = [bounded(partial(own.render, name, {"page": Page()})) for name in ("base.html", "other.html")]

    assert pages == [b"<title>Tin &amp; Moon</title><b>first</b>", b"<title>Tin &amp; Moon</title>other"]


def test_nothing_of_a_theme_runs_in_a_process_without_bounds(folder: Path) -> None:
    with pytest.raises(AssertionError, match="not a bounded process"):
        ThemedTemplates(folder, THEME, {}).render("base.html", {"page": Page()})


CAN_USE = {
    "{{ page.link('a') }}": "/a/",
    "{{ page.title.upper() | lower }}": "tin &amp; moon",
    "{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}": "<1>",
    "{% for n in range(3) %}{{ loop.index }}{{ loop.cycle('a', 'b') }}{% endfor %}": "1a2b3a",
    "{{ 2 * 3 }}": "6",
    "{{ {'a': 1}.items() | list }}": "[(&#39;a&#39;, 1)]",
    "{{ 'a' ~ 1 ~ none }}{{ [1, 2] | join('<') }}{{ [page] | join(attribute='title') }}": "a1None1&lt;2Tin &amp; Moon",
    "{{ page.titel | default('none') }}{% if page.titel is defined %}{{ page.titel }}{% endif %}": "none",
    "{% for page in [{'own': 1}] %}{{ page.own }}{% endfor %}": "1",
    "{% macro page(x) %}{{ x }}{% endmacro %}{{ page(1) }}": "1",
}


def test_theme_can_use(folder: Path) -> None:
    assert results(folder, CAN_USE) == CAN_USE


CANNOT_USE = (
    "{{ page.delete() }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ page.folder }}{{ page.folder.read_text() }}",
    "{{ page.link.__globals__ }}",
    "{{ cycler.__init__.__globals__.os.system('true') }}",
    "{{ '%c' | format(1) | attr('__class__') }}",
    "{{ 'x' * 100000000000 }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ 9 ** 999999999 }}",
    "{{ range(1000000000) }}",
    "{{ [].append(1) }}",
    "{% set _ = page.template_methods.add('delete') %}",
)


def test_theme_cannot_use(folder: Path) -> None:
    messages = results(folder, CANNOT_USE)

    assert [one for one in CANNOT_USE if not messages[one].startswith("own.html:1:1: ")] == []


DIFFERS = {
    "{{ [1, 2] | random }}": "No filter named 'random'.",
    "{{ page | pprint }}": "No filter named 'pprint'.",
    "{{ lipsum() }}": "lipsum: unknown",
    "{{ page }}": "Page cannot be written; name one of its values: folder, link, title",
    "{{ page ~ '' }}": "Page cannot be written; name one of its values: folder, link, title",
    "{{ [[page]] | join }}": "Page cannot be written; name one of its values: folder, link, title",
    "{{ {'a': page} | xmlattr }}": "Page cannot be written; name one of its values: folder, link, title",
    "{{ page.link(page) }}": "Page cannot be written; name one of its values: folder, link, title",
    "{{ ['a'] | map('upper') }}": "generator cannot be written; write a text or a number",
    "{{ range }}": "function cannot be written; write a text or a number",
    "{{ '{}'.format(page) }}": "a template of a theme cannot call format",
    "{{ page.template_methods | list }}": "access to attribute 'template_methods' of 'Page' object is unsafe.",
}


def test_no_template_writes_what_differs_in_each_build(folder: Path) -> None:
    """Random values, addresses in memory, and the order of a set."""
    assert results(folder, DIFFERS) == {one: f"own.html:1:1: {message}" for one, message in DIFFERS.items()}


FAULTS = {
    "\n\n{{ page.titel }}": "3:1: page.titel: unknown; did you mean title?",
    "\n{{ page.nothing }}": "2:1: page.nothing: unknown; it has folder, link, title",
    "{% if false %}\n{{ series.titel }}{% endif %}": "2:1: series.titel: unknown; did you mean title?",
    "\n{{ [page][0]\n.titel }}": "3:1: titel: unknown; did you mean title?",
    "\n{{ page['titel'] }}": "2:1: titel: unknown; did you mean title?",
    "\n{{ page.title.x.y }}": "2:1: page.title.x: unknown",
    "\n{{ pages.title }}": "2:1: pages: unknown; did you mean page?",
    '\n{% import "base.html" as base %}': (
        "2:1: page: unknown; an imported template has the values of the page `with context` only"
    ),
    "\n{{ 1 / 0 }}": "2:1: division by zero",
    "\n{{ 1e999 }}": "2:1: name 'inf' is not defined",
    "\n{{ [1][nothing] }}": "2:1: nothing: unknown",
    "\n{{ page.title | truncate(2) }}": "2:1: expected length >= 3, got 2",
    "{% macro m(x) %}{{ x }}{% endmacro %}\n{{ m() }}": "1:1: parameter 'x' was not provided",
    '{% extends "other.html" %}\n{% block bdoy %}{% endblock %}': (
        "2:1: block bdoy: the extended template has no such block; did you mean body?"
    ),
    # What a block has in it may be new.
    '{% extends "other.html" %}{% block body %}{% block new %}{{ page.titel }}{% endblock %}{% endblock %}': (
        "1:1: page.titel: unknown; did you mean title?"
    ),
    '\n{% extends "absent.html" %}{% block a %}{% endblock %}': "2:1: no template is named absent.html",
    '\n{% include "absent.html" %}': "2:1: no template is named absent.html",
    "{% if %}": "1:1: Expected an expression, got 'end of statement block'",
    "\n{% nothing %}": "2:1: Encountered unknown tag 'nothing'.",
    "{{ '\\ud800' }}": "1:1: 'utf-8' codec can't encode character '\\ud800' in position 0: surrogates not allowed",
}


def test_fault_has_file_and_line(folder: Path) -> None:
    """Also in a part that is not filled in now."""
    assert results(folder, FAULTS) == {one: f"own.html:{message}" for one, message in FAULTS.items()}


def test_fault_outside_of_the_theme_has_a_file_if_there_is_only_one(folder: Path) -> None:
    two = ThemedTemplates(folder, THEME, {"base.html": "{{ '\\ud800' }}", "own.html": ""})

    with pytest.raises(FlatpanelError, match=r"/srv/theme:1:1: 'utf-8'"):
        bounded(partial(two.render, "other.html", {"page": Page()}))


LONG = "{% macro m(x, n) %}{% if n %}{{ m(NEXT, n - 1) }}{% endif %}{% endmacro %}\n{{ m(FIRST, 60) }}"


TOO_LARGE = {
    "\n{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}": "2:1: is nested too deeply; divide it",
    "\n{{ 1" + "+1" * 400 + " }}": "2:1: is nested too deeply; divide it",
    "\n{{ " + "9" * 5000 + " }}": "2:1: has a number with too many digits",
    '\n{% include "own.html" %}': "2:1: is nested too deeply, or refers to itself",
    '\n{% extends "own.html" %}': "2:1: is nested too deeply, or refers to itself",
    "\n{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}": "2:1: is nested too deeply, or refers to itself",
    "\n{{ 'x' | center(2000000000) }}": "2:1: needs more than 8 MB of memory",
    "\n{{ '%2000000000d' | format(1) }}": "2:1: needs more than 8 MB of memory",
    "\n{{ range(100000) | join('x' | center(100000)) }}": "2:1: needs more than 8 MB of memory",
    LONG.replace("NEXT", "x + x").replace("FIRST", "'xx'"): "1:1: needs more than 8 MB of memory",
    "x" * 2000: "1:1: is too long; a page can have 1 million characters on average",
}


def test_what_is_too_large_has_file_and_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No template takes more memory, and none is a traceback."""
    monkeypatch.setattr(bounds, "MEMORY", 8 << 20)
    monkeypatch.setattr(bounds, "LENGTH", 1000)
    monkeypatch.setattr(bounds, "LENGTH_A_PAGE", 0)

    assert results(folder, TOO_LARGE) == {one: f"own.html:{message}" for one, message in TOO_LARGE.items()}


@pytest.mark.bounds
def test_a_template_is_compiled_with_bounds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs more than what earlier tests have left free in this process."""
    monkeypatch.setattr(bounds, "MEMORY", 8 << 20)

    assert [*results(folder, ["{{ page.title }}" * 60_000]).values()] == [
        "own.html:1:1: needs more than 8 MB of memory"
    ]


def test_blocks_are_not_nested_deeper_than_python_allows(folder: Path) -> None:
    """The line is that of the first block too many."""
    blocks = {"for a in [1]": "endfor", "if 1": "endif"}
    templates = [f"\n{{% {begin} %}}" * 150 + f"{{% {end} %}}" * 150 for begin, end in blocks.items()]
    for message in results(folder, templates).values():
        assert re.fullmatch(r"own\.html:(1[6-9]|[2-9]\d|\d{3}):1: is nested too deeply; divide it", message)


@pytest.mark.bounds
@pytest.mark.parametrize(
    "template",
    [
        "\n{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        # In one call of a C function:
        "\n{{ [1] | slice(1000000000) | list }}",
        LONG.replace("NEXT", "x * x").replace("FIRST", "99999999"),
        "\n{% macro m(x, y, n) %}{{ m([x, x], [y, y], n - 1) if n else x == y }}{% endmacro %}{{ m([1], [1], 60) }}",
    ],
)
def test_what_takes_too_long_has_file_and_line(folder: Path, monkeypatch: pytest.MonkeyPatch, template: str) -> None:
    """The system ends the process; its frames name the template."""
    monkeypatch.setattr(bounds, "SECONDS", 0.2)
    message = "takes too much processor time; a theme can take 0 seconds, and more with each page"

    with pytest.raises(FlatpanelError) as raised:
        results(folder, [template])
    assert str(raised.value) in (f"{THEME}/own.html:1:1: {message}", f"{THEME}/own.html:2:1: {message}")


def test_names_are_found_without_evaluating_expressions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for unknown names has no frame of the template, so a fault in it would have no place."""
    monkeypatch.setattr(bounds, "SECONDS", 0.3)

    with pytest.raises(FlatpanelError, match=f"^{THEME}/own.html:2:1: takes too much processor time"):
        results(folder, ["\n{{ 'x ' | center(9000000) | wordwrap(1) }}"])


def test_each_page_adds_processor_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a large site needs no larger bounds. A page inside of another page has those of the outer one."""
    monkeypatch.setattr(bounds, "SECONDS", 1.0)
    monkeypatch.setattr(bounds, "SECONDS_A_PAGE", 1.0)

    def remaining() -> list[float]:
        limits, left = bounds.of_process(), []
        for _ in range(3):
            with limits, limits:
                left.append(signal.getitimer(signal.ITIMER_PROF)[0])
        return left

    left = bounded(remaining)
    assert isinstance(left, list) and [round(seconds) for seconds in left] == [1, 2, 3]


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
def test_a_process_that_crashes_is_a_message(number: int) -> None:
    """A defect of a library that a template reaches, or a system without memory."""
    with pytest.raises((FlatpanelError, OSError)) as raised:
        bounded(lambda: os.kill(os.getpid(), number))

    crashed = "/srv/theme:1:1: ends the process that reads it; it may be nested too deeply"
    killed = "a worker process was killed, probably because memory ran out; --jobs 1 needs less"
    assert str(raised.value) == (crashed if number == signal.SIGSEGV else killed)


def test_a_system_that_tells_no_size_has_no_bound_of_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "_SIZE", "/proc/absent")
    monkeypatch.setattr(bounds, "MEMORY", 1 << 20)

    (page,) = results(folder, ["{{ 'x' | center(9000000) }}"]).values()
    assert len(page) == 9_000_000
