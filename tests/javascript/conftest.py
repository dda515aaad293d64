"""Functions of the core, called one by one under Node.js."""

import json
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support import core_server
from tests.support.paths import DATA

Core = Callable[..., Any]


@pytest.fixture(scope="session")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Core]:
    """`core("paths", "parsed", "/x")` calls a function of a module. A dict `{"headers": …}` is a function there."""
    modules = core_server.write_modules(tmp_path_factory.mktemp("core") / "modules")
    command = [str(core_server.NODE), str(DATA / "javascript/call.mjs"), str(modules)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def call(module: str, function: str, *values: Any) -> Any:
            process.stdin.write(json.dumps({"module": module, "call": function, "values": values}) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield call
        process.stdin.close()
