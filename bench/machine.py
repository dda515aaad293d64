"""Describes the machine and the versions of the programs."""

import os
import platform
import re
import subprocess
from pathlib import Path

from generator.nginx import process


def described() -> list[str]:
    """Machine and versions, as lines of a Markdown list."""
    cpu = _first("/proc/cpuinfo", r"model name\s*:\s*(.+)") or platform.machine()
    memory = int(_first("/proc/meminfo", r"MemTotal:\s*(\d+)") or 0) / 2**20
    system = f"{platform.system()} {platform.release()}"
    return [
        f"- {os.cpu_count()} cores ({cpu}), {memory:.0f} GiB of memory, load average {os.getloadavg()[0]:.1f} before",
        f"- Python {platform.python_version()}, nginx {_nginx()}, njs {_njs()}, {system}",
    ]


def _nginx() -> str:
    output = subprocess.run([process.find_nginx(), "-v"], capture_output=True, text=True, check=True).stderr
    return output.strip().rpartition("/")[2]


def _njs() -> str:
    """The version of njs, read from its module; only scripts could print it otherwise."""
    match = re.search(rb"[^_.\d](\d\.\d+\.\d+)\0", Path(process.find_js_module()).read_bytes())
    return match[1].decode() if match else "of unknown version"


def _first(file: str, pattern: str) -> str:
    match = re.search(pattern, Path(file).read_text())
    return match[1].strip() if match else ""
