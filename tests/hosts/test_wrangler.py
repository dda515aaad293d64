"""Cloudflare's own program accepts a packed folder."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Site
from tests.support import host_sites
from tests.support.node_tools import WRANGLER, needs_wrangler


@needs_wrangler
@pytest.mark.edge
def test_wrangler_accepts_a_packed_folder(site: Site, tmp_path: Path) -> None:
    """`wrangler deploy --dry-run` bundles the worker, and counts the files as assets."""
    site.build()
    packed = host_sites.pack(site, tmp_path / "packed")
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "home"), "WRANGLER_SEND_METRICS": "false"}
    done = subprocess.run(
        ["node", WRANGLER, "deploy", "--dry-run", "--outdir", tmp_path / "bundle"],
        cwd=packed,
        env={**os.environ, **home, "NO_COLOR": "1", "CI": "true"},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Total Upload" in done.stdout
    assert "env.ASSETS" in done.stdout
    assert (tmp_path / "bundle/cloudflare.js").exists()
