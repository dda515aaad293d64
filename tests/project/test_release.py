"""A release of the program: what its workflow builds, signs and attaches, and the version in all places."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from generator import __version__
from tests.support.archives import needs_hatchling, unmeasured
from tests.support.documents import DOCUMENTS
from tests.support.paths import ROOT

WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
BUILD, RELEASE = WORKFLOW["jobs"]["build"], WORKFLOW["jobs"]["release"]
PACKAGES = {f"flatpanel-{__version__}{end}" for end in ("-py3-none-any.whl", ".tar.gz", ".cdx.json")}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of what packages are made from, outside of a repository."""
    for name in ("generator", "catalog_src", "requirements", "tools"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "build.py", ".gitignore"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    return tmp_path


def run(sources: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sources / "tools/packages", *arguments]
    return subprocess.run(command, cwd="/", env={**unmeasured(), **environment}, capture_output=True, text=True)


@pytest.mark.packages
@needs_hatchling
def test_the_packages_of_a_tag_have_digests(sources: Path) -> None:
    """Wheel, sdist and bill of materials; a second run, on another date, gives the same bytes."""
    folder, digests = sources / "build/packages", []
    for date in ("1600000000", "1700000000"):
        done = run(sources, f"v{__version__}", SOURCE_DATE_EPOCH=date)
        assert done.returncode == 0, done.stderr
        digests.append((folder / "SHA256SUMS").read_text())
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)

    assert {path.name for path in folder.iterdir()} == {*PACKAGES, "SHA256SUMS"}
    assert set(re.findall(r"^[0-9a-f]{64}  (\S+)$", digests[0], re.MULTILINE)) == PACKAGES
    assert digests[0] == digests[1]


def test_another_tag_than_that_of_the_version_is_refused(sources: Path) -> None:
    """Before anything is built."""
    for tag in (f"v{__version__}.1", __version__, ""):
        done = run(sources, tag)
        message = f"the tag {tag} is not v{__version__}, the version in generator/__init__.py\n"
        assert (done.returncode, done.stderr) == (1, f"tools/packages: {message}")
    assert not (sources / "build").exists()


def test_a_version_without_a_date_in_the_changelog_is_refused(sources: Path) -> None:
    """Its changes are still under Unreleased."""
    changelog = sources / "CHANGELOG.md"
    changelog.write_text(changelog.read_text(encoding="utf-8").replace(f"## [{__version__}] - ", "## ["), "utf-8")

    assert run(sources, f"v{__version__}").stderr == (
        f"tools/packages: CHANGELOG.md: has no section [{__version__}] with a date\n"
    )


def test_a_tag_starts_the_workflow_which_checks_it() -> None:
    """The job that runs code of packages has no right to write or to sign."""
    (command,) = (step["run"] for step in BUILD["steps"] if "run" in step)

    assert WORKFLOW[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads `on` so
    assert command.endswith('tools/packages "$GITHUB_REF_NAME"')
    assert "permissions" not in BUILD
    assert not any("${{ github.ref" in str(step) for job in (BUILD, RELEASE) for step in job["steps"])


def test_the_release_has_a_provenance_and_all_packages() -> None:
    """The draft gets the files that are signed, the bill of materials among them."""
    download, attest, create = RELEASE["steps"]
    uploaded = next(step for step in BUILD["steps"] if "upload-artifact" in step.get("uses", ""))

    assert RELEASE["permissions"] == {"contents": "write", "id-token": "write", "attestations": "write"}
    assert uploaded["with"]["path"] == "build/packages"
    assert download["with"] == {"name": uploaded["with"]["name"], "path": "packages"}
    assert attest["uses"].startswith("actions/attest-build-provenance@")
    assert attest["with"] == {"subject-path": "packages/*"}
    assert re.match(r'gh release create "\$GITHUB_REF_NAME" packages/\* --draft --verify-tag ', create["run"])


def test_all_files_name_this_version() -> None:
    """In names of packages, tags and labels; the changelog has older ones."""
    files = {name: text for name, text in DOCUMENTS.items() if name != "CHANGELOG.md"}
    for name in ("Dockerfile", ".github/ISSUE_TEMPLATE/bug.yml"):
        files[name] = (ROOT / name).read_text(encoding="utf-8")
    named = r'(?:flatpanel[- ]|rev: v|image\.version=")(\d+\.\d+\.\d+)'
    found = {name: set(re.findall(named, text)) for name, text in files.items()}

    assert {name for name, versions in found.items() if versions} == {
        *("Dockerfile", ".github/ISSUE_TEMPLATE/bug.yml", "docs/first-day.md", "docs/serving.md")
    }
    assert set().union(*found.values()) == {__version__}


def test_nothing_advises_to_install_the_program_by_its_name() -> None:
    """No package index has it, so any account could register the name: each advice has a file, a folder or a URL."""
    sources = [*ROOT.glob("generator/**/*.*"), *ROOT.glob("tools/*"), *ROOT.glob(".github/**/*.*"), ROOT / "Dockerfile"]
    texts = {str(path): path.read_text("utf-8") for path in sources if path.is_file() and path.suffix != ".pyc"}
    lines = [line for text in (texts | DOCUMENTS).values() for line in text.splitlines()]
    name = r"(?<![\w/~-])flatpanel\b(?![-/])"
    advice = [line for line in lines if re.search(rf"(?:pipx? (?:install|run)|uv\w*) .*{name}|{name}==", line)]
    by_name = [line for line in advice if not re.search(r"flatpanel(?:\[[\w,]+\])? @ |--spec ", line)]

    # That line of the changelog says what to replace.
    assert [line for line in by_name if "Replace a line" not in line] == []
    assert advice
