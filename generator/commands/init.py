"""`init`: create a project."""

import os
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click

from ..catalog.confined_folder import ConfinedFolder
from ..errors import counted
from ..imports import run
from ..imports.run import ImportOptions, ImportResult
from ..server_url import ServerUrl
from . import importing, options
from .command import Command, Result

_BASE_URL = "http://localhost:8000"


@click.command(
    cls=Command,
    examples=[
        'init my-comics --name "My Comics"',
        "init my-comics --import https://comics.example",
        "init my-comics --import https://comics.example --from-database db.sqlite3",
    ],
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--name", help="Name of the project, and title of the site.  [default: name of DIR, and no title of its own]"
)
@click.option("--base-url", help=f"Scheme and host of the site.  [default: {_BASE_URL}, or those of the imported site]")
@click.option(
    "--import",
    "source",
    type=importing.Source(),
    help="Begin with the catalog of a running site, or of the database in a file.",
)
@importing.database_options
@importing.request_options
@options.as_json
def init(
    folder: Path,
    name: str | None,
    base_url: str | None,
    source: ServerUrl | Path | None,
    database: importing.DatabaseOptions,
    requests: importing.RequestOptions,
) -> Result:
    """Create a project in the folder DIR.

    Writes a small catalog that builds, a README, workflows and an nginx configuration.
    With --import, the catalog is that of another site, and the project is built.
    An interrupted import resumes if the command is run again.
    """
    if source is None:
        _refuse_import_options()
        return _create(folder, name, base_url or _BASE_URL)
    # Slow to import, and not used by other commands.
    from ..authoring.scaffold.project_folder import CATALOG

    if isinstance(source, Path):
        if database.file:
            raise click.UsageError("--import has a file already; --from-database needs --import URL")
        source, database = None, replace(database, file=source)
    accounts = database.account_data()
    import_options = replace(
        requests.import_options(source, ConfinedFolder(folder / CATALOG), None),
        database=database.file and database.file.absolute(),
        base_url=base_url or "",
        accounts=accounts,
    )
    return _import(folder, name, base_url, import_options)


def _refuse_import_options() -> None:
    context = click.get_current_context()
    for parameter in context.command.params:
        is_given = context.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE
        if is_given and parameter.name not in ("folder", "name", "base_url", "as_json"):
            raise click.UsageError(f"{parameter.opts[0]} needs --import")


def _create(folder: Path, title: str | None, base_url: str) -> Result:
    # Slow to import, and not used by other commands.
    from ..authoring import scaffold

    files = scaffold.create_project(folder, title or folder.resolve().name, title, base_url, options.now())
    program = _program()
    readme = "README.md describes them" if "README.md" in files else "kept your README"
    return Result(
        lambda: [
            f"{folder}: created {len(files)} files; {readme}. Next steps:",
            *_steps(
                folder,
                f"{program} serve --watch",
                f'{program} new series my-comic --title "My comic"',
                f"{program} new chapter my-comic --pages FOLDER",
            ),
        ],
        lambda: {"ok": True, "folder": str(folder), "files": files},
    )


def _import(folder: Path, title: str | None, base_url: str | None, import_options: ImportOptions) -> Result:
    # Slow to import, and not used without --import.
    from ..authoring import scaffold
    from ..authoring.scaffold import project_folder
    from ..pipeline.build_options import Options
    from .building import build_site

    name = title or folder.resolve().name
    scaffold.check_values(name, base_url or _BASE_URL, is_given=bool(title))
    project_folder.begin(folder, _arguments("init", import_options))
    with importing.progress_of_requests() as progress:
        result = run.run(import_options, progress, importing.announce)
    # Other people keep the database in another folder.
    file = import_options.database and Path(import_options.database.name)
    again = _arguments("import", replace(import_options, database=file))
    files = scaffold.complete_project(folder, name, title, base_url, shlex.join(["flatpanel", "import", *again]))
    # With the default paths of the folder.
    out, nginx, cache = (folder / path for path in ("dist", "nginx.conf", ".flatpanel_cache"))
    jobs = os.cpu_count() or 1
    build_options = Options(import_options.catalog, out, nginx, import_options.now, jobs=jobs, cache=cache)
    resources = build_site(build_options, quiet=True).result.resources
    project_folder.finish(folder)
    facts = {
        "ok": True,
        "folder": str(folder),
        "files": files,
        "import": importing.result_json(result),
        "resources": resources,
    }
    return Result(lambda: _imported(folder, import_options, result, resources), lambda: facts)


def _imported(folder: Path, import_options: ImportOptions, result: ImportResult, resources: int) -> list[str]:
    program, site = _program(), import_options.site
    series, chapters, others = importing.added(result.counts)
    return [
        f"{folder}: imported {series}, {chapters} and {others}; built {resources} resources",
        f"{counted(len(result.notes), 'note')} about the source site: {importing.shown(result.report)}",
        "Next steps:",
        *_steps(
            folder,
            f"{program} serve",
            *([f"{program} compare {shlex.quote(str(site))} {_BASE_URL}"] if site else []),
            f"{program} import {shlex.join(_arguments('import', import_options))}",
        ),
    ]


def _arguments(command: str, import_options: ImportOptions) -> list[str]:
    """Return the arguments of `init` or `import` that name the same sources."""
    sources, data = import_options.sources, import_options.accounts
    if command == "init":
        sources = ["--import", *(sources if import_options.site else sources[1:])]
    flags = {
        "--accounts": bool(data),
        "--personal-data": data == "personal data",
        "--allow-missing-ids": import_options.allows_missing_ids,
    }
    return [*sources, *(flag for flag, is_set in flags.items() if is_set)]


def _steps(folder: Path, *commands: str) -> list[str]:
    return [f"  {command}" for command in (f"cd {shlex.quote(str(folder.resolve()))}", *commands)]


def _program() -> str:
    """Return the command that runs this program in a new shell, in any folder.

    A virtual environment is active in the current shell only, so its commands are printed with their full path.
    """
    script = Path(sys.argv[0]).absolute()
    in_environment = sys.prefix != sys.base_prefix
    if script.suffix == ".py":
        return f"{_command(Path(sys.executable), in_environment)} {shlex.quote(str(script))}"
    return _command(script, in_environment)


def _command(path: Path, in_environment: bool) -> str:
    on_path = shutil.which(path.name)
    is_on_path = not in_environment and on_path is not None and Path(on_path).resolve() == path.resolve()
    return path.name if is_on_path else shlex.quote(str(path))
