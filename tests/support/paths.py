"""Where the project and the test data are."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests/data"
EXAMPLE = ROOT / "catalog_src"
BUILD = ROOT / "build.py"
