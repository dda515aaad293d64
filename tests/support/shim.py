"""The shim as modules of Node.js."""

from pathlib import Path

from generator.javascript import modules


def copy_modules(folder: Path) -> Path:
    """Write the files of a release to a folder where Node.js reads them as modules, not as scripts."""
    folder.mkdir(parents=True)
    for name, text in modules.of_nginx().items():
        (folder / name).write_bytes(text)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder
