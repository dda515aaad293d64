"""Templates of a theme in place of those of the program.

They come with the catalog, which may be untrusted. So they run in a bounded process, in a sandbox, and are compiled
with the lines of the template, so that each message and each report of a process has them.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import (
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    FunctionLoader,
    PrefixLoader,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
    nodes,
)
from jinja2.utils import missing

from ... import bounds
from ...catalog.problems.suggestions import did_you_mean
from ...errors import CatalogError, Problem
from ...templating import Templates
from .sandbox import Missing, Sandbox, UnknownName, is_own, names_of, undeclared_names

# A template of a theme can extend or include the template that it replaces: default/base.html.
ORIGINAL = "default/"
# The values that every page has.
_SHARED = ("page", "text")
# What may be done with a value that is missing.
_TESTS, _FILTERS = {"defined", "undefined"}, {"default", "d"}


class ThemedTemplates(Templates):
    """The templates of a folder, some of them replaced by those of a theme."""

    def __init__(self, folder: Path, theme: Path, replaced: Mapping[str, str]) -> None:
        super().__init__(folder)
        self._theme, self._replaced = theme, replaced
        self._checked: set[str] = set()

    @cached_property
    def _environment(self) -> Environment:
        original = FileSystemLoader(self.folder)
        prefixed = PrefixLoader({ORIGINAL.removesuffix("/"): original})
        # The second value is the name of the file in a traceback.
        own = FunctionLoader(
            lambda name: (self._replaced[name], name, lambda: True) if name in self._replaced else None
        )
        return self._made(Sandbox, ChoiceLoader([own, original, prefixed]), Missing)

    def problems(self) -> Iterator[Problem]:
        """What prevents templates of the theme from being compiled."""
        for name, text in sorted(self._replaced.items()):
            try:
                with bounds.of_process() as limits:
                    limits.begin_file(name)
                    self._environment.compile(text, name, name)
            except TemplateSyntaxError as error:
                yield self._problem(name, error.lineno, error.message or "is not a template")

    def render(self, name: str, values: Mapping[str, object]) -> bytes:
        """Return the template `name` filled with `values`. A template can fail in any way."""
        try:
            with bounds.of_process() as limits:
                self._refuse_unknown_names(name, values)
                text = super().render(name, values)
                limits.take(len(text))
                return text
        except (TemplateError, *bounds.FAILURES) as error:
            raise CatalogError([self._located(name, error, values)]) from None

    def _refuse_unknown_names(self, name: str, values: Mapping[str, object]) -> None:
        """Raise what a template reads and no value has, also in parts that are not filled in now. Checked once."""
        if name in self._checked:
            return
        shared = {key: values[key] for key in _SHARED if key in values}
        given: dict[str, Mapping[str, object]] = {} if self._checked else dict.fromkeys(self._replaced, shared)
        if name in self._replaced:
            given[name] = values
        self._checked.add(name)
        if problems := [problem for file in given for problem in self._unknown(file, given[file])]:
            raise CatalogError(problems)

    def _unknown(self, file: str, values: Mapping[str, object]) -> Iterator[Problem]:
        tree = self._environment.parse(self._replaced[file])
        names = values.keys() & undeclared_names(tree, self._environment)
        names -= {node.name for node in tree.find_all(nodes.Name) if node.ctx != "load"}
        questions = (node for node in tree.find_all((nodes.Test, nodes.Filter)) if node.name in _TESTS | _FILTERS)
        optional = {read.attr for node in questions for read in node.find_all(nodes.Getattr)}
        for read in tree.find_all(nodes.Getattr):
            if isinstance(read.node, nodes.Name) and read.node.name in names and read.attr not in optional:
                value = values[read.node.name]
                if is_own(value) and read.attr not in dir(value):
                    yield self._problem(file, read.lineno, _unknown(value, read.attr), _text_of(read))

    def _located(self, name: str, error: Exception, values: Mapping[str, object]) -> Problem:
        """The problem at the last line of a template of the theme that an error went through."""
        # A page that is too long is an error outside of all templates.
        candidates = [name] if name in self._replaced else [*self._replaced]
        file, line = candidates[0] if len(candidates) == 1 else "", 1
        trace = error.__traceback__
        while trace:
            if trace.tb_frame.f_code.co_filename in self._replaced:
                file, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
            trace = trace.tb_next
        if not isinstance(error, UnknownName):
            message = f"no template is named {error}" if isinstance(error, TemplateNotFound) else bounds.message(error)
            return self._problem(file, line, message)
        if error.owner is missing:
            is_given = error.name in values
            advice = "; an imported template has the values of the page `with context` only"
            message = f"unknown{advice if is_given else did_you_mean(error.name, values)}"
            return self._problem(file, line, message, error.name)
        tree = self._environment.parse(self._replaced.get(file, ""))
        # A statement begins at the line of the frame.
        reads = (read for read in tree.find_all(nodes.Getattr) if read.attr == error.name and read.lineno >= line)
        places = sorted((read.lineno, _text_of(read)) for read in reads)
        line, text = places[0] if places else (line, str(error.name))
        return self._problem(file, line, _unknown(error.owner, error.name), text)

    def _problem(self, file: str, line: int, message: str, field: str = "") -> Problem:
        return Problem(str(self._theme / file), line, 1, field, message)


def _unknown(value: object, name: object) -> str:
    """The message about a name that a value does not have."""
    names = names_of(value)
    advice = f"it has {', '.join(names)}" if names else ""
    return f"unknown{did_you_mean(name, names, advice)}"


def _text_of(node: Any) -> str:
    """The names of a value as a template writes them, such as page.title."""
    if isinstance(node, nodes.Getattr):
        return f"{_text_of(node.node)}.{node.attr}".removeprefix(".")
    return node.name if isinstance(node, nodes.Name) else ""
