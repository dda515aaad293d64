"""Programs that `tools/setup-node` installs: axe-core and html-validate check pages, wrangler and s3rver take sites."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from tests.support.browser import Tab
from tests.support.needed import needs
from tests.support.paths import DATA, ROOT

MODULES = ROOT / ".node/node_modules"
AXE = MODULES / "axe-core/axe.min.js"
HTML_VALIDATE = MODULES / "html-validate/bin/html-validate.mjs"
WRANGLER = MODULES / "wrangler/bin/wrangler.js"
S3RVER = MODULES / "s3rver/bin/s3rver.js"
# A rule of WCAG 2.2 that axe leaves out by default. Without what its other results tell, it takes a third of the time.
AXE_OPTIONS = "{ rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'], preload: false }"
_OPTIONAL = "WITHOUT_NODE_TOOLS"
needs_node_tools = needs(
    AXE.exists() and HTML_VALIDATE.exists(),
    "no checkers of pages: tools/setup-node installs axe-core and html-validate",
    unless=_OPTIONAL,
)
needs_wrangler = needs(WRANGLER.exists(), "no wrangler: tools/setup-node installs it", unless=_OPTIONAL)
needs_s3rver = needs(S3RVER.exists(), "no s3rver: tools/setup-node installs it", unless=_OPTIONAL)


def accessibility_faults(tab: Tab) -> list[tuple[str, list[str]]]:
    """What axe-core finds in the page of a tab: rules, with the markup that violates them."""
    if not tab.run("typeof axe === 'object'"):
        tab.run(f"{AXE.read_text(encoding='utf-8')}; 0")
    violations = tab.run(f"axe.run({AXE_OPTIONS}).then((result) => result.violations)")
    return [(rule["id"], [f"{node['html']} {node['failureSummary']}" for node in rule["nodes"]]) for rule in violations]


def markup_faults(files: Iterable[Path]) -> list[str]:
    """What html-validate finds in files, a line for each fault."""
    command = ["node", HTML_VALIDATE, "--config", DATA / "html-validate.json", "--formatter", "json", *files]
    # Not a pipe: the program ends before it has written more than 64 kB into one.
    with TemporaryFile() as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True)
        assert done.returncode in (0, 1), done.stderr
        output.seek(0)
        results: list[dict[str, Any]] = json.load(output)
    return [
        f"{Path(result['filePath']).name}:{fault['line']}:{fault['column']}: {fault['ruleId']}: {fault['message']}"
        for result in results
        for fault in result["messages"]
    ]
