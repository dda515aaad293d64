"""`make bench`: a full build, a rebuild after one edit, one after none; against what parsing and unpacking cost.

Everything lies in memory-backed storage and is timed in turns, so that a slow moment of the machine hits all alike.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench import catalogs
from generator import yaml12

MEMORY = Path("/dev/shm")


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    options.add_argument("--series", type=int, default=200)
    options.add_argument("--chapters", type=int, default=50, help="of each series")
    options.add_argument("--rounds", type=int, default=3)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        report = measured(Path(folder), asked.series, asked.chapters, asked.rounds)
    print(report)
    Path(__file__).with_name("RESULTS.md").write_text(report + "\n", encoding="utf-8")


def measured(folder: Path, series: int, chapters: int, rounds: int) -> str:
    size = catalogs.write(folder / "catalog", series=series, chapters=chapters)
    edited = folder / "catalog/series/series-00000.yaml"
    build(folder)
    subprocess.run(["tar", "-cf", folder / "dist.tar", "-C", folder, "dist"], check=True)
    times: dict[str, list[float]] = {}
    for turn in range(rounds):
        shutil.rmtree(folder / "dist")
        times.setdefault("full build, one process", []).append(timed(lambda: build(folder, "--jobs", "1")))
        shutil.rmtree(folder / "dist")
        times.setdefault("full build, two processes", []).append(timed(lambda: build(folder, "--jobs", "2")))
        times.setdefault("build with nothing changed", []).append(timed(lambda: build(folder)))
        edited.write_text(edited.read_text() + catalogs.chapter(10_000_000 + turn, 1000 + turn, 1, 20))
        times.setdefault("build after one chapter", []).append(timed(lambda: build(folder)))
        times.setdefault("parse the YAML", []).append(timed(lambda: parse(folder / "catalog")))
        times.setdefault("unpack dist with tar", []).append(timed(lambda: unpack(folder)))
    floor = median(times["parse the YAML"]) + median(times["unpack dist with tar"])
    lines = [
        "# Results",
        "",
        f"{series} series, {series * chapters:,} chapters, {size / 1e6:.0f} MB of YAML; "
        f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}; medians of {rounds} rounds.",
        "The last column is against the floor: parsing the YAML and unpacking the result.",
        "",
        "| what | seconds | ÷ floor |",
        "|---|---|---|",
        *(f"| {name} | {median(taken):.2f} | {median(taken) / floor:.2f} |" for name, taken in times.items()),
    ]
    return "\n".join(lines)


def build(folder: Path, *options: str) -> None:
    command = [sys.executable, "build.py", "build", "--quiet", "--as-of", "2026-06-01", *options]
    places = ["--catalog", folder / "catalog", "--out", folder / "dist", "--nginx", folder / "nginx.conf"]
    subprocess.run([*command, *places], check=True)


def parse(folder: Path) -> None:
    for path in sorted(folder.rglob("*.yaml")):
        yaml12.load(path.read_bytes())


def unpack(folder: Path) -> None:
    target = folder / "unpacked"
    target.mkdir()
    subprocess.run(["tar", "-xf", folder / "dist.tar", "-C", target], check=True)
    shutil.rmtree(target)


def timed(action: Callable[[], None]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
