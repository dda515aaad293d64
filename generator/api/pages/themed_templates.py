"""Templates of a theme in place of those of the program.

They come with the catalog, which may be untrusted. So they run in a bounded process, in a sandbox, and are compiled
with the lines of the template, so that each message and each report of a process has them.
In the sandbox they fill in values, and write the same text in each build: they call no function but those that are
listed here and those that an object offers in `template_methods`.
"""

import ast
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial, wraps
from pathlib import Path, PurePath
from types import CodeType
from typing import Any, NoReturn

from jinja2 import (
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    FunctionLoader,
    PrefixLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
    UndefinedError,
    nodes,
    pass_eval_context,
)
from jinja2.compiler import CodeGenerator
from jinja2.environment import TemplateModule
from jinja2.exceptions import SecurityError
from jinja2.filters import do_join, make_attrgetter
from jinja2.meta import TrackingCodeGenerator
from jinja2.nodes import EvalContext
from jinja2.parser import Parser
from jinja2.runtime import BlockReference, LoopContext, Macro, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from ... import bounds
from ...catalog.suggestions import did_you_mean
from ...errors import CatalogError, Problem
from ...templating import Templates

# The package of this program, in a checkout and installed.
_OWN_MODULES = {"generator", "flatpanel"}
# Types whose methods have no effects. A theme calls methods of these types only.
_HARMLESS = (str, int, float, tuple, list, dict, BlockReference, TemplateModule, LoopContext, Macro)
# Types that are written in the same way in each build; in containers too.
_PLAIN, _CONTAINERS = (str, int, float, type(None), Undefined), (list, tuple, dict)
# Filters that write texts, and those that are removed since they show how Python writes objects, or differ each time.
_WRITING = (
    *("capitalize", "center", "e", "escape", "forceescape", "format", "indent", "lower", "replace", "safe", "string"),
    *("striptags", "title", "trim", "truncate", "upper", "urlencode", "urlize", "wordcount", "wordwrap", "xmlattr"),
)
_REMOVED = ("pprint", "random")
# In the code made from a template: pairs of a line of the template and a line of the code.
_LINES = re.compile(r"^debug_info = '([0-9=&]*)'$", re.MULTILINE)


class UnknownName(UndefinedError):
    """A template reads a name that `owner`, or the page if that is `missing`, does not have."""

    def __init__(self, owner: object, name: Any, message: str) -> None:
        super().__init__(message)
        self.owner, self.name = owner, name


class Missing(StrictUndefined):
    """A value that is not there. Each use of it is an error."""

    __slots__ = ()

    def __init__(self, hint: Any = None, obj: Any = missing, name: Any = None, exc: Any = UndefinedError) -> None:
        if isinstance(name, Missing):  # in brackets
            name._fail_with_undefined_error()
        error: Any = partial(UnknownName, obj, name) if not hint and exc is UndefinedError else exc
        super().__init__(hint, obj, name, error)


class _Generator(CodeGenerator):
    """Makes code that evaluates each expression when the template is filled in, in its line."""

    def _output_child_to_const(self, node: nodes.Expr, frame: Any, finalize: Any) -> str:
        if not isinstance(node, nodes.TemplateData):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)


class _NameReader(_Generator, TrackingCodeGenerator):
    """Finds names without evaluating an expression, which may take as much as a page."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.optimizer = None


def undeclared_names(tree: nodes.Template, environment: Environment) -> set[str]:
    """The names that a template reads and does not set."""
    reader = _NameReader(environment)
    reader.visit(tree)
    return reader.undeclared_identifiers


class Sandbox(ImmutableSandboxedEnvironment):
    """Values can be read, and only harmless functions be called."""

    code_generator_class = _Generator
    intercepted_binops = frozenset({"*", "**", "%"})

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, finalize=_written, optimized=False)
        self.filters |= {name: _writing(self.filters[name]) for name in _WRITING} | {"join": _join}
        for name in _REMOVED:
            del self.filters[name]
        del self.globals["lipsum"]  # random words

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        # A path of this machine, for example, must not get into a page. The order of a set differs in each build.
        if isinstance(value, PurePath | Templates | set | frozenset):
            return False
        return (is_own(obj) or isinstance(obj, _HARMLESS)) and super().is_safe_attribute(obj, attr, value)

    def is_safe_callable(self, obj: Any) -> bool:
        owner = getattr(obj, "__self__", None)
        name = getattr(obj, "__name__", "")
        offered = name in getattr(type(owner), "template_methods", ())
        is_harmless = offered or isinstance(owner, _HARMLESS) or isinstance(obj, Macro | BlockReference)
        return (is_harmless or obj in self.globals.values()) and super().is_safe_callable(obj)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        name = getattr(__obj, "__name__", type(__obj).__name__)
        # Some versions of Jinja permit `format`, which writes any object.
        if name in ("format", "format_map") or not __self.is_safe_callable(__obj):
            raise SecurityError(f"a template of a theme cannot call {name}")
        if is_own(getattr(__obj, "__self__", None)):
            _written([*args, *kwargs.values()])
        return super().call(__context, __obj, *args, **kwargs)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" or not all(isinstance(value, int | float) for value in (left, right)):
            raise TypeError(f"a template of a theme cannot use {operator} here")
        return super().call_binop(context, operator, left, right)

    def handle_exception(self, source: str | None = None) -> NoReturn:
        """Raise the error as it is: the frames of a theme have the lines of their templates."""
        raise

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        parser = Parser(self, source, name, filename)
        try:
            tree = parser.parse()
            for joined in tree.find_all(nodes.Concat):
                place = {"lineno": joined.lineno, "environment": self}
                joined.nodes = [nodes.Filter(node, "string", [], [], None, None, **place) for node in joined.nodes]
        except bounds.FAILURES as error:
            raise _refusal(error, parser.stream.current.lineno, name) from None
        return tree

    def _generate(self, source: nodes.Template, name: Any, filename: Any, defer_init: bool = False) -> str:
        try:
            return super()._generate(source, name, filename, defer_init)
        except bounds.FAILURES as error:
            raise _refusal(error, _line_of_node(error), name) from None

    def _compile(self, source: str, filename: str) -> CodeType:
        if filename.startswith("/"):  # not of the theme
            return super()._compile(source, filename)
        try:
            return compile(_with_lines_of_template(source, filename), filename, "exec")
        except (SyntaxError, *bounds.FAILURES) as error:
            raise _refusal(error, getattr(error, "lineno", None) or 1, filename) from None


def _with_lines_of_template(source: str, filename: str) -> ast.Module:
    """Parse the code that Jinja made from a template; each node has the line of the template."""
    pairs = [pair.split("=") for pair in _LINES.findall(source)[-1].split("&") if pair]
    lines, begins = [1, *(int(line) for line, _ in pairs)], [int(begin) for _, begin in pairs]
    try:
        tree = ast.parse(source, filename)
    except SyntaxError as error:
        error.lineno = lines[bisect_right(begins, error.lineno or 1)]
        raise
    node: Any
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = lines[bisect_right(begins, node.lineno)]
            node.col_offset = node.end_col_offset = 0
    return tree


def is_own(value: object) -> bool:
    """Whether a value is an object of this program."""
    return type(value).__module__.partition(".")[0] in _OWN_MODULES


def names_of(value: object) -> list[str]:
    """The names that a template can read from a value."""
    kind, offered = type(value), getattr(value, "template_methods", ())
    names = (name for name in dir(value) if is_own(value) and not name.startswith(("_", "model_", "template")))
    return [name for name in names if name in offered or not callable(getattr(kind, name, None))]


def _refusal(error: Exception, line: int, file: str | None) -> TemplateSyntaxError:
    """The message about a template that cannot be compiled."""
    deep = isinstance(error, RecursionError | SyntaxError)
    message = "is nested too deeply; divide it" if deep else bounds.message(error)
    return TemplateSyntaxError(message, line, file, file)


def _line_of_node(error: Exception) -> int:
    """The line of the last node that an error of Jinja's compiler went through."""
    line, trace = 1, error.__traceback__
    while trace:
        line = getattr(trace.tb_frame.f_locals.get("node"), "lineno", None) or line
        trace = trace.tb_next
    return line


def _written(value: Any) -> Any:
    """The value, if Python writes it in the same way in each build. An object may be written with its address."""
    if isinstance(value, _CONTAINERS):
        for part in value.items() if isinstance(value, dict) else value:
            _written(part)
    elif not isinstance(value, _PLAIN):
        names = names_of(value)
        advice = f"name one of its values: {', '.join(names)}" if names else "write a text or a number"
        raise TypeError(f"{type(value).__name__} cannot be written; {advice}")
    return value


def _writing(filter: Callable[..., Any]) -> Callable[..., Any]:
    """The filter, for values that can be written."""

    @wraps(filter)
    def checked(*args: Any, **kwargs: Any) -> Any:
        _written([arg for arg in (*args, *kwargs.values()) if not isinstance(arg, EvalContext | Environment)])
        try:
            return filter(*args, **kwargs)
        except AssertionError as error:  # `truncate` checks its arguments so
            raise ValueError(str(error)) from None

    return checked


@pass_eval_context
def _join(context: EvalContext, values: Iterable[Any], separator: str = "", attribute: Any = None) -> str:
    read = make_attrgetter(context.environment, attribute) if attribute is not None else None
    joined: str = do_join(context, _written([read(value) if read else value for value in values]), separator)
    return joined


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
        yield from self._unknown_blocks(file, tree)
        names = values.keys() & undeclared_names(tree, self._environment)
        names -= {node.name for node in tree.find_all(nodes.Name) if node.ctx != "load"}
        questions = (node for node in tree.find_all((nodes.Test, nodes.Filter)) if node.name in _TESTS | _FILTERS)
        optional = {read.attr for node in questions for read in node.find_all(nodes.Getattr)}
        for read in tree.find_all(nodes.Getattr):
            if isinstance(read.node, nodes.Name) and read.node.name in names and read.attr not in optional:
                value = values[read.node.name]
                if is_own(value) and read.attr not in dir(value):
                    yield self._problem(file, read.lineno, _unknown(value, read.attr), _text_of(read))

    def _unknown_blocks(self, file: str, tree: nodes.Template) -> Iterator[Problem]:
        """Blocks that replace none of the templates that a file extends: Jinja writes nothing of them."""
        extended = list(self._extended(tree))
        blocks = {block.name for above in extended for block in above.find_all(nodes.Block)}
        for block in tree.body if extended else ():
            if isinstance(block, nodes.Block) and block.name not in blocks:
                advice = did_you_mean(block.name, blocks, f"it has {', '.join(sorted(blocks))}")
                message = f"the extended template has no such block{advice}"
                yield self._problem(file, block.lineno, message, f"block {block.name}")

    def _extended(self, tree: nodes.Template) -> Iterator[nodes.Template]:
        """The template that one extends, that which this one extends, and so on; none that is missing."""
        loader: Any = self._environment.loader
        names = set[str]()
        while (extends := tree.find(nodes.Extends)) and isinstance(extends.template, nodes.Const):
            name = extends.template.value
            try:
                tree = self._environment.parse(loader.get_source(self._environment, name)[0])
            except TemplateNotFound:
                return
            if name in names:
                return
            names.add(name)
            yield tree

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
