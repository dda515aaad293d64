"""The core is written in the dialect of njs 0.7.9, the oldest engine that runs a part of it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from generator.nginx.process import find_js_module, find_nginx
from tests.support.core_server import CORE
from tests.support.nginx_client import TEMPORARY_PATHS
from tests.support.tables import each

_CONFIGURATION = """load_module {module};
pid nginx.pid;
events {{ }}
http {{
    {temporary}
    js_path {folder};
    js_import respond from respond.js;
    server {{ listen unix:{folder}/socket; location / {{ js_content respond.respond; }} }}
    access_log off;
}}
"""


def parsed(folder: Path, replaced: str = "") -> str:
    """What nginx prints of a configuration that imports the core; `replaced` is the text of one module."""
    shutil.copytree(CORE, folder, dirs_exist_ok=True)
    if replaced:
        (folder / "codings.js").write_text(replaced)
    text = _CONFIGURATION.format(module=find_js_module(), folder=folder, temporary=TEMPORARY_PATHS)
    (folder / "nginx.conf").write_text(text)
    command = [find_nginx(), "-t", "-p", str(folder), "-c", "nginx.conf", "-e", "stderr"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_njs_reads_all_of_it(tmp_path: Path) -> None:
    assert "test is successful" in parsed(tmp_path)


@pytest.mark.parametrize("text", ["class A { }", "const { a } = { a: 1 };", "for (const a of []) { }"])
def test_newer_syntax_is_refused(tmp_path: Path, text: str) -> None:
    """If a newer njs reads it, the rule can be relaxed once all supported ones do."""
    assert "SyntaxError" in parsed(tmp_path, f"{text}\nexport default {{ acceptsGzip: 1 }};\n")


@each("path", sorted(CORE.glob("*.js")))
def test_core_imports_itself_only(path: Path) -> None:
    """A server's functions are handed in, so that each server can run the core."""
    imports = re.findall(r"^import (.*) from '(.*)';$", path.read_text(encoding="utf-8"), re.MULTILINE)

    assert all(re.fullmatch(r"\w+", name) and (CORE / file).is_file() for name, file in imports)
    assert not re.search(r"\b(?:Buffer|process|require|ngx)\b", re.sub("//.*", "", path.read_text(encoding="utf-8")))


@each("path", sorted(CORE.parent.rglob("*.js")))
def test_module_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300
