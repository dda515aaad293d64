"""Describes the machine and the versions of the programs."""

import os
import platform
import re
import subprocess
import time
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


class Others:
    """The share of all processors that other processes use, from creation to the end of a part of the bench.

    Processes of the bench count when they have ended. Interrupts count for no process, so they are left out.
    """

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.before = busy_seconds() - own_seconds()

    def share(self) -> float:
        elapsed = time.monotonic() - self.began
        return max(0.0, busy_seconds() - own_seconds() - self.before) / elapsed / (os.cpu_count() or 1)


def busy_seconds() -> float:
    """Seconds that all processes used, and those that another machine took from this one."""
    user, nice, system, _idle, _waiting, _irq, _softirq, steal = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    )
    return (user + nice + system + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Seconds that this process and its ended children used."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


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
