"""`python -m bench.parsing CATALOG`: print the seconds that the program's own parser takes for its YAML."""

import gc
import sys
import time
from pathlib import Path

from generator.catalog.yaml import reader


def seconds(catalog: Path) -> float:
    started = time.perf_counter()
    for path in sorted(catalog.rglob("*.yaml")):
        reader.load(path.read_bytes())
    return time.perf_counter() - started


if __name__ == "__main__":
    gc.disable()  # as the program does while it reads
    print(seconds(Path(sys.argv[1])))
