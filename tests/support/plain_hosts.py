"""Servers that serve an export, on free loopback ports, and the comparison of one with nginx."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tests.conftest import Site
from tests.hosts.plain_cases import Case
from tests.support import node_tools, servers
from tests.support.needed import needs
from tests.support.nginx_client import Answer, Web, listening

Seen: TypeAlias = tuple[int, dict[str, str], bytes]


def seen(answer: Answer) -> Seen:
    """What is compared: all but the date and the name of the server."""
    fields = answer.fields
    for name in ("server", "connection"):
        fields.pop(name, None)
    return answer.status, fields, answer.body


class Pair(NamedTuple):
    """A site, served by nginx and by another server."""

    site: Site
    nginx: Web
    other: Web
    # What is left out of the comparison, since the other server cannot answer so.
    simplified: Callable[[Seen], Seen]

    def differences(self, cases: Iterable[Case]) -> str:
        """How the other server answers requests otherwise, one line for each request."""
        return "\n".join(filter(None, map(self._difference, cases)))

    def _difference(self, case: Case) -> str:
        expected, answer = (self.simplified(seen(case.send(web))) for web in (self.nginx, self.other))
        if answer == expected:
            return ""
        headers = {
            name: (expected[1].get(name), answer[1].get(name))
            for name in sorted(expected[1].keys() | answer[1].keys())
            if expected[1].get(name) != answer[1].get(name)
        }
        body = "" if expected[2] == answer[2] else f" {expected[2][:200]!r}, {answer[2][:200]!r}"
        return f"{case.method} {case.path} {dict(case.headers)}: {expected[0]}, {answer[0]} {headers}{body}"


def without(answer: Seen, *names: str) -> Seen:
    """A response without some headers."""
    status, fields, body = answer
    return status, {name: value for name, value in fields.items() if name not in names}, body


# The wheel has the binary beside the interpreter.
_CADDY = shutil.which("caddy", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
needs_caddy = needs(_CADDY, "no Caddy: requirements/dev.txt has it")
# Without certificates and a port for administration. The site inherits a socket that listens already.
_CADDYFILE = """{
	admin off
	persist_config off
	auto_https off
}
import flatpanel.caddy
http:// {
	bind fd/%d
	root * site
	import flatpanel
}
"""
_CADDY_IS_UP = "serving initial configuration"


@contextmanager
def caddy(export: Path) -> Iterator[Web]:
    """Caddy on the snippet of an export."""
    with listening() as listener:
        conf = export.parent / f"{export.name}.Caddyfile"
        conf.write_text(
            _CADDYFILE.replace("import flatpanel.caddy", f"import {export}/flatpanel.caddy") % listener.fileno()
        )
        command = [str(_CADDY), "run", "--adapter", "caddyfile", "--config", str(conf)]
        port = listener.getsockname()[1]
        with servers.running(command, lambda log: _CADDY_IS_UP in log, listener=listener, cwd=export) as process:
            yield Web(port, export, process)


def caddy_accepts(conf: Path) -> None:
    """Check a configuration in its folder."""
    command = [str(_CADDY), "validate", "--adapter", "caddyfile", "--config", conf.name]
    subprocess.run(command, cwd=conf.parent, check=True, capture_output=True)


# /usr/sbin is not on the PATH of all accounts.
_APACHE = shutil.which("apache2", path=f"{os.environ['PATH']}:/usr/sbin")
needs_apache = needs(_APACHE, "no Apache: `tools/apt-install tests apache2-bin` installs it", unless="WITHOUT_APACHE")
_MODULES = ("mpm_event", "authz_core", "mime", "headers", "rewrite", "cern_meta", "dir")
_APACHE_CONF = """ServerName test
PidFile {folder}/apache.pid
ErrorLog /dev/stderr
Mutex pthread
Listen 127.0.0.1:{port}
{modules}
{account}
TypesConfig /dev/null
AddType application/x-gzip .gz
AddType text/html .html
"""


@contextmanager
def readable_folder() -> Iterator[Path]:
    """A temporary folder that the accounts of servers can read."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@contextmanager
def apache(export: Path) -> Iterator[Web]:
    """Apache on the .htaccess of an export, with its example of a server."""
    assert _APACHE
    folder = Path(_APACHE).resolve().parents[1] / "lib/apache2/modules"
    modules = "".join(f"LoadModule {name}_module {folder}/mod_{name}.so\n" for name in _MODULES)
    port = servers.free_port()
    conf = export.parent / "apache.conf"
    # Apache does not run as root.
    account = "" if os.geteuid() else "User nobody\nGroup nogroup"
    values = {"folder": export.parent, "port": port, "modules": modules, "account": account}
    example = (export / "apache.conf").read_text().replace("/srv/comics/site", str(export / "site"))
    conf.write_text(_APACHE_CONF.format(**values) + example.replace("*:80", f"127.0.0.1:{port}"))
    with servers.running([_APACHE, "-f", conf, "-D", "FOREGROUND"], servers.answers(port)) as process:
        yield Web(port, export, process)


@contextmanager
def wrangler(export: Path) -> Iterator[Web]:
    """Cloudflare's static assets on this machine, with the settings of an export."""
    port = servers.free_port()
    command = ["node", str(node_tools.WRANGLER), "dev", "--ip", "127.0.0.1", "--port", str(port)]
    command += ["--inspector-port", "0", "--show-interactive-dev-session=false"]
    environment = {
        **os.environ,
        "CI": "true",
        "WRANGLER_SEND_METRICS": "false",
        "WRANGLER_LOG_PATH": str(export.parent),
    }
    log = export.parent / "wrangler.log"
    with servers.running(command, servers.answers(port), log=log, cwd=export, env=environment) as process:
        yield Web(port, export, process)
