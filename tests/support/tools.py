"""The programs in tools/ as modules, for tests that run them in this process."""

import io
from contextlib import redirect_stdout
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from types import ModuleType

from tests.support.paths import ROOT


@cache
def tool(name: str) -> ModuleType:
    loader = SourceFileLoader(name.replace("-", "_"), str(ROOT / "tools" / name))
    found = spec_from_loader(loader.name, loader)
    assert found
    module = module_from_spec(found)
    loader.exec_module(module)
    return module


def run(program: ModuleType, *arguments: object) -> tuple[int, str]:
    """The exit code, and what it prints."""
    output = io.StringIO()
    with redirect_stdout(output):
        code = program.main([*map(str, arguments)])
    return code, output.getvalue()


@cache
def _writer_of_documents() -> ModuleType:
    module = tool("write-docs")
    module.example_bodies = cache(module.example_bodies)
    return module


def write_docs(*arguments: object) -> tuple[int, str]:
    """Run tools/write-docs. All runs take their examples from one build."""
    return run(_writer_of_documents(), *arguments)
