"""Render Jinja templates: the nginx configuration, and pages for people. The only importer of jinja2.

A value that a template uses and that is missing is an error. Values are escaped in HTML templates; a configuration
template chooses a filter for each value.
Templates of a theme come with the catalog, which may be untrusted. They run in Jinja's sandbox: they fill in values and
call no function but those that are listed here and those that an object offers in `template_methods`.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import FlatpanelError, Problem

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment

# A template of a theme can extend or include the template that it replaces: default/base.html.
ORIGINAL = "default/"
# The package of this program, in a checkout and installed.
_OWN_MODULES = {"generator", "flatpanel"}
# Types whose methods have no effects. A theme calls methods of these types only.
_HARMLESS = (str, int, float, tuple, list, dict)
# What an expression of a template can raise, besides Jinja's own errors.
_FAILURES = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)


class TemplateFault(NamedTuple):
    """What is wrong with a template of a theme."""

    file: str
    line: int
    message: str


class Html(str):
    """Text that is markup already: templates insert it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


class Templates:
    """The templates of one folder, with the filters that they may use."""

    def __init__(self, folder: Path, **filters: Callable[..., str]) -> None:
        self.folder = folder
        self._filters = filters

    @cached_property
    def _environment(self) -> "Environment":
        # Imported here: most builds render no template, and jinja2 takes long to import.
        from jinja2 import Environment, FileSystemLoader

        return self._made(Environment, FileSystemLoader(self.folder))

    def _made(self, kind: "type[Environment]", loader: "BaseLoader") -> "Environment":
        from jinja2 import StrictUndefined

        environment = kind(
            loader=loader,
            undefined=StrictUndefined,
            autoescape=lambda name: str(name).endswith(".html"),
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            # Without a look at the file for each page.
            auto_reload=False,
        )
        environment.filters.update(self._filters)
        return environment

    def render(self, name: str, values: Mapping[str, object]) -> bytes:
        """Return the template `name` filled with `values`."""
        return self._environment.get_template(name).render(values).encode()


class ThemedTemplates(Templates):
    """The templates of a folder, some of them replaced by those of a theme. All run in the sandbox."""

    def __init__(self, folder: Path, theme: Path, replaced: Mapping[str, str], **filters: Callable[..., str]) -> None:
        super().__init__(folder, **filters)
        self._theme, self._replaced = theme, replaced

    @cached_property
    def _environment(self) -> "Environment":
        from jinja2 import ChoiceLoader, FileSystemLoader, FunctionLoader, PrefixLoader

        original = FileSystemLoader(self.folder)
        prefixed = PrefixLoader({ORIGINAL.removesuffix("/"): original})
        # The second value is the name of the file in a traceback.
        own = FunctionLoader(
            lambda name: (self._replaced[name], name, lambda: True) if name in self._replaced else None
        )
        return self._made(_sandbox(), ChoiceLoader([own, original, prefixed]))

    def faults(self) -> list[TemplateFault]:
        """What prevents templates of the theme from being compiled."""
        from jinja2 import TemplateSyntaxError

        faults: list[TemplateFault] = []
        for name, text in sorted(self._replaced.items()):
            try:
                self._environment.compile(text, name, name)
            except TemplateSyntaxError as error:
                faults.append(TemplateFault(name, error.lineno, error.message or "is not a template"))
        return faults

    def render(self, name: str, values: Mapping[str, object]) -> bytes:
        """Return the template `name` filled with `values`. A template can fail in any way."""
        from jinja2 import TemplateError

        try:
            return super().render(name, values)
        except (TemplateError, *_FAILURES) as error:
            file, line, message = self._fault(name, error)
            raise FlatpanelError(str(Problem(str(self._theme / file), line, 1, "", message))) from None

    def _fault(self, name: str, error: Exception) -> TemplateFault:
        """The last line of a template of the theme that an error went through."""
        place, trace = (name, 1), error.__traceback__
        while trace:
            file = trace.tb_frame.f_code.co_filename
            if file in self._replaced:
                place = file, trace.tb_lineno
            trace = trace.tb_next
        return TemplateFault(*place, str(error) or type(error).__name__)


def _sandbox() -> "type[Environment]":
    from jinja2.environment import TemplateModule
    from jinja2.runtime import BlockReference, LoopContext, Macro
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    harmless = (*_HARMLESS, BlockReference, TemplateModule, LoopContext, Macro)

    class Sandbox(ImmutableSandboxedEnvironment):
        """Values can be read, and only harmless functions be called."""

        intercepted_binops = frozenset({"*", "**"})

        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
            # A path of this machine, for example, must not get into a page.
            if isinstance(value, PurePath | Templates):
                return False
            is_own = type(obj).__module__.partition(".")[0] in _OWN_MODULES
            return (is_own or isinstance(obj, harmless)) and super().is_safe_attribute(obj, attr, value)

        def is_safe_callable(self, obj: Any) -> bool:
            owner = getattr(obj, "__self__", None)
            name = getattr(obj, "__name__", "")
            offered = name in getattr(type(owner), "template_methods", ())
            is_harmless = offered or isinstance(owner, harmless) or isinstance(obj, Macro | BlockReference)
            return (is_harmless or obj in self.globals.values()) and super().is_safe_callable(obj)

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            if operator == "**" or not all(isinstance(value, int | float) for value in (left, right)):
                raise TypeError(f"a template of a theme cannot use {operator} here")
            return super().call_binop(context, operator, left, right)

    return Sandbox
