"""On what it was measured."""

import os
import platform
import re
import subprocess
from pathlib import Path

from generator.nginx import process


def described() -> list[str]:
    """The lines of a list."""
    cpu = _first("/proc/cpuinfo", r"model name\s*:\s*(.+)") or platform.machine()
    memory = int(_first("/proc/meminfo", r"MemTotal:\s*(\d+)") or 0) / 2**20
    system = f"{platform.system()} {platform.release()}"
    return [
        f"- {os.cpu_count()} cores ({cpu}), {memory:.0f} GiB of memory, load average {os.getloadavg()[0]:.1f} before",
        f"- Python {platform.python_version()}, nginx {_nginx()}, njs {_njs()}, {system}",
    ]


def _nginx() -> str:
    said = subprocess.run([process.find_nginx(), "-v"], capture_output=True, text=True, check=True).stderr
    return said.strip().rpartition("/")[2]


def _njs() -> str:
    """The module has its version in it, and says it to scripts only."""
    found = re.search(rb"[^_.\d](\d\.\d+\.\d+)\0", Path(process.find_js_module()).read_bytes())
    return found[1].decode() if found else "of unknown version"


def _first(file: str, pattern: str) -> str:
    found = re.search(pattern, Path(file).read_text())
    return found[1].strip() if found else ""
