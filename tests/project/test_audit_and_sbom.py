"""Dependencies are locked and listed, and packages are the same bytes on every machine."""

import base64
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from generator import __version__
from tests.support import archives
from tests.support.archives import named, needs_hatchling, unpack
from tests.support.paths import ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
NPM_LOCKS = sorted((ROOT / "requirements").glob("*/package-lock.json"))
TOOLS = sorted(path for path in (ROOT / "tools").rglob("*") if path.is_file() and path.suffix != ".pyc")
SCRIPTS = [*TOOLS, *(ROOT / name for name in (".ci/run", "Makefile", "Dockerfile"))]
WORKFLOWS = sorted((ROOT / ".github/workflows").iterdir())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PIN = re.compile(r"(?P<name>[\w.-]+)==[\w.!+-]+(?: ; .+)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+")


def test_every_package_is_pinned_with_a_hash() -> None:
    """A lock has no range, no URL, no index and no package without digests."""
    for lock in LOCKS:
        text = re.sub(r"^ *#.*\n", "", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
        left = PIN.sub("", text).strip()
        assert (left, len(PIN.findall(text)) > 3) == ("", True), lock


def npm_packages(lock: Path) -> dict[str, dict[str, str]]:
    """The packages of a lock of npm, by their folders."""
    packages: dict[str, dict[str, str]] = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    return {path.rpartition("node_modules/")[2] + "@" + one["version"]: one for path, one in packages.items() if path}


def test_every_package_of_npm_is_pinned_with_a_digest() -> None:
    """All platforms have digests, no package names another registry, and package.json has no range."""
    for lock in NPM_LOCKS:
        asked = json.loads((lock.parent / "package.json").read_text(encoding="utf-8"))["devDependencies"]
        packages = npm_packages(lock)
        assert {f"{name}@{version}" for name, version in asked.items()} <= set(packages)
        assert [name for name, one in packages.items() if not one.get("integrity", "").startswith("sha512-")] == []
        assert [name for name, one in packages.items() if "resolved" in one or "link" in one] == []


def test_edge_runtimes_are_locked_for_each_platform() -> None:
    """A Mac, and a computer with ARM, can serve the example from workerd and Deno."""
    names = {name.rpartition("@")[0] for name in npm_packages(ROOT / "requirements/edge/package-lock.json")}

    for system in ("linux", "darwin"):
        assert {f"@cloudflare/workerd-{system}-64", f"@cloudflare/workerd-{system}-arm64"} <= names
    assert {"@deno/linux-x64-glibc", "@deno/linux-arm64-glibc", "@deno/darwin-x64", "@deno/darwin-arm64"} <= names


def test_npm_always_checks_digests_and_runs_no_script() -> None:
    """Only tools/setup-node installs from npm, with `npm ci`."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    lines = re.findall(r"^ *npm [a-z].*", text, re.MULTILINE)

    assert [line.strip().startswith("npm ci --prefix") and "--ignore-scripts" in line for line in lines] == [True]
    assert not re.search(r"\bnpx\b|npm (i|install)\b", text)


def test_each_dependency_group_has_a_lock() -> None:
    """tools/lock writes each, and it has the requirements of pyproject.toml."""
    script = (ROOT / "tools/lock").read_text()
    asked = {}
    line = r"^(?:groups ([\w ]+) \| )?compile requirements/(\w+)\.txt( --all-extras)?"
    for groups, lock, extras in re.findall(line, script, re.MULTILINE):
        grouped = [requirement for group in groups.split() for requirement in PROJECT["dependency-groups"][group]]
        optional = PROJECT["project"]["optional-dependencies"].values() if extras else ()
        asked[lock] = PROJECT["project"]["dependencies"] + grouped + [one for extra in optional for one in extra]

    assert sorted(asked) == [lock.stem for lock in LOCKS]
    for lock in LOCKS:
        locked = {normal(one) for one in PIN.findall(lock.read_text(encoding="utf-8"))}
        assert {normal(re.match(r"[\w.-]+", one)[0]) for one in asked[lock.stem]} <= locked


def normal(name: str) -> str:
    """The normalised name of the package index."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_a_package_has_the_same_version_in_all_locks() -> None:
    """Tests run with the versions that build sites."""
    found = {lock.stem: dict(re.findall(r"^([\w.-]+)==(\S+)", lock.read_text(), re.MULTILINE)) for lock in LOCKS}

    for other in ("dev", "bench"):
        assert {name: found[other].get(name) for name in found["run"]} == found["run"]


def test_workflows_pin_actions_by_digest_and_only_read() -> None:
    """The owner of an action can move its tag; a comment has the version. CI needs no right except reading."""
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        used = re.findall(r"uses: (.+)", text)
        assert used, path
        assert [one for one in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one)] == [], path
        assert re.findall(r"^permissions:\n((?:  .+\n)+)", text, re.MULTILINE) == ["  contents: read\n"], path
        assert text.count("actions/checkout@") == text.count("persist-credentials: false"), path


def test_pip_install_always_checks_hashes() -> None:
    """In CI and in every script except tools/lock, whose output a person reviews."""
    installing = {
        path.name: re.sub(r"\\\n\s*", "", line)
        for path in [*SCRIPTS, *WORKFLOWS]
        for line in re.findall(r"^.*\bpip install\b(?:.*\\\n)*.*$", path.read_text(encoding="utf-8"), re.MULTILINE)
    }

    assert set(installing) == {"lock", "setup", "Dockerfile"}
    assert all("--require-hashes --requirement" in one for one in installing.values())


def bill() -> str:
    command = [sys.executable, "-I", ROOT / "tools/sbom"]
    return subprocess.run(command, cwd="/", check=True, capture_output=True, text=True).stdout


def test_the_bill_of_materials_is_complete() -> None:
    """It has every locked package with its digests, Swagger UI and this project, and no dangling reference.

    It contains no time and no random number.
    """
    npm = {name: one for lock in NPM_LOCKS for name, one in npm_packages(lock).items()}
    printed = bill()
    assert printed == bill()
    told = json.loads(printed)
    own = told["metadata"]["component"]["bom-ref"]
    components = {one["bom-ref"]: one for one in told["components"]}
    locked = {pin for lock in LOCKS for pin in re.findall(r"^([\w.-]+==[^\s;]+)", lock.read_text(), re.MULTILINE)}

    assert (told["bomFormat"], told["specVersion"]) == ("CycloneDX", "1.6")
    foreign = {f"{one['name']}@{one['version']}" for one in told["components"] if one["purl"].startswith("pkg:npm/")}
    assert foreign == {"swagger-ui-dist@5.35.0", *npm}
    assert {f"{one['name']}=={one['version']}" for one in told["components"]} >= locked
    assert len(components) == len(told["components"]) == len(locked) + len(foreign)
    for lock in LOCKS:
        pins = dict(re.findall(r"^([\w.-]+==[^\s;]+)((?: .*\n|\n? +--hash.*\n?)+)", lock.read_text(), re.MULTILINE))
        for one in told["components"]:
            digests = re.findall(r"sha256:(\w+)", pins.get(f"{one['name']}=={one['version']}", ""))
            listed = [found["content"] for more in one.get("externalReferences", []) for found in more["hashes"]]
            assert set(digests) <= set(listed)
    for one in told["components"]:
        if (name := f"{one['name']}@{one['version']}") in npm:
            (listed,) = one["externalReferences"][0]["hashes"]
            digest = base64.b64encode(bytes.fromhex(listed["content"])).decode()
            assert (listed["alg"], f"sha512-{digest}") == ("SHA-512", npm[name]["integrity"])
    required = {one["name"] for one in told["components"] if one["scope"] == "required"}
    assert required == {*re.findall(r"^([\w.-]+)==", LOCKS[-1].read_text(), re.MULTILINE), "swagger-ui-dist"}
    asked = {reference for one in told["dependencies"] for reference in one["dependsOn"]}
    assert {one["ref"] for one in told["dependencies"]} == {own, *components}
    assert asked == set(components)


def test_swagger_ui_is_unchanged() -> None:
    """Its files have the digests in its README."""
    folder = ROOT / "generator/api/docs_page"
    listed = re.findall(r"^\| `([0-9a-f]{64})` \| `(.+)` \|", (folder / "README.md").read_text(), re.MULTILINE)

    assert {"swagger-ui-bundle.js", "swagger-ui.css"} <= {name for _, name in listed}
    assert [name for digest, name in listed if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest] == []


@pytest.mark.packages
@needs_hatchling
def test_packages_are_reproducible(packages: dict[str, Path], tmp_path: Path) -> None:
    """Another folder, time, time zone and umask give the same bytes."""
    others = archives.packages(tmp_path / "two of them", umask=0o077, date=1_700_000_000, seed="9")
    contents = [{name: path.read_bytes() for name, path in found.items()} for found in (packages, others)]

    assert list(contents[0]) == [f"flatpanel-{__version__}.tar.gz", f"flatpanel-{__version__}-py3-none-any.whl"]
    assert contents[0] == contents[1]


def tracked() -> set[str]:
    """The files of the program, below the name of the installed package."""
    files = {path for path in (ROOT / "generator").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    return {f"flatpanel/{path.relative_to(ROOT / 'generator').as_posix()}" for path in files}


@pytest.mark.packages
@needs_hatchling
def test_the_wheel_contains_the_program_only(packages: dict[str, Path]) -> None:
    """It includes templates, shim and Swagger UI, and no other files."""
    with zipfile.ZipFile(named(packages, ".whl")) as wheel:
        names = set(wheel.namelist())

    assert {
        "flatpanel/nginx/templates/nginx.conf",
        "flatpanel/javascript/nginx/flatpanel.js",
        "flatpanel/api/docs_page/index.html",
    } <= names
    assert {name for name in names if not name.startswith(f"flatpanel-{__version__}.dist-info/")} == tracked()
    assert not [name for name in names if "generator" in name], "another project may have that name"


@pytest.mark.packages
@needs_hatchling
def test_the_sdist_builds_the_same_wheel_and_its_example(packages: dict[str, Path], tmp_path: Path) -> None:
    """It contains the example catalog, `build.py` works in it, and it names no account."""
    with tarfile.open(named(packages, ".tar.gz")) as archive:
        assert {(one.uid, one.gid, one.uname, one.gname) for one in archive} == {(0, 0, "", "")}
    unpack(named(packages, ".tar.gz"), tmp_path)
    folder = tmp_path / f"flatpanel-{__version__}"
    again = archives.made_of(folder, tmp_path / "out")
    subprocess.run([sys.executable, "build.py", "--quiet", "--no-cache"], cwd=folder, check=True)

    assert [path.read_bytes() for path in again.values()] == [path.read_bytes() for path in packages.values()]
    assert again.keys() == packages.keys()
    assert (folder / "dist/current/http.conf").exists()
