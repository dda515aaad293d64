"""The architecture as rules: which package may import which, who may use a library, write, or ask for the time."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

PACKAGE = ROOT / "generator"
MODULES = sorted(path.relative_to(PACKAGE).with_suffix("").as_posix() for path in PACKAGE.rglob("*.py"))

# Modules directly in generator/ that any package may import. A new one needs a reason.
GROUND = {
    *("__init__", "bounds", "encoding", "errors", "filesystem", "http_client", "installation"),
    *("server_url", "templating"),
}
# The packages that each package may import, besides ground modules; from the lowest to the highest.
MAY_IMPORT = {
    "ground": set(),
    "javascript": set(),
    "catalog": set(),
    "api": {"catalog"},
    "release": {"api"},
    # What sites answer. An import and a comparison of sites read them.
    "reading_sites": {"catalog", "api"},
    "imports": {"catalog", "reading_sites"},
    # `media check` and `media fetch` send requests like those of an import.
    "media": {"catalog", "reading_sites"},
    # A new chapter lists and measures the images of a folder.
    "authoring": {"catalog", "api", "media"},
    "nginx": {"javascript", "api", "release"},
    "hosts": {"javascript", "api", "release"},
    "pipeline": {"catalog", "api", "release", "nginx"},
    # `site_compare` requests the responses of two sites.
    "review": {"catalog", "api", "release", "reading_sites", "nginx", "pipeline"},
    "commands": {
        *("catalog", "api", "release", "reading_sites", "imports", "media", "authoring"),
        *("nginx", "hosts", "pipeline", "review"),
    },
    "__main__": {"commands"},
}
# Parts of a package, and the modules of the package that they may import besides their own.
ROWS = {"imports/records", "imports/spilled", "imports/unavailable"}
ALONE: dict[str, set[str]] = {
    # A site and its database yield rows of one shape; only `run` and `combine` know both.
    "imports/site/": ROWS,
    "imports/database/": ROWS,
}
# A package whose folders may import each other, and why.
FOLDERS_IN_A_CIRCLE = {
    "imports": "`run` and `combine` call the two sources, which make rows that `records` defines beside them",
}
# More than 20 modules are hard to survey. A folder with more says why.
MAX_MODULES = 20
LARGE = {
    "catalog": "one module for each step from a file to a linked record, and one for each kind of check",
    "commands": "one module for each command",
    "pipeline": "one module for each step of a build, and for what these steps share",
}

# Libraries, and the modules or packages that may import them.
LIBRARIES = {
    "yaml": {"catalog/yaml/reader", "catalog/yaml/positions"},
    "orjson": {"encoding"},
    "json": {"imports/database/dumpdata"},  # orjson cannot parse a part of a text
    "jinja2": {"templating", "api/pages/themed_templates"},
    "resource": {"bounds"},
    "click": {"commands"},
    "xml": {"authoring/comicinfo"},
    "zipfile": {"media/page_files", "media/page_images"},
    "pydantic": {
        "catalog/records",
        "catalog/site_settings",
        "catalog/messages",
        "catalog/json_schema",
        "catalog/reader",
    },
    "pydantic_core": {"catalog/messages", "catalog/json_schema"},
    "sqlite3": {
        "imports/database/sqlite_file",
        "reading_sites/response_cache",
        "pipeline/cache",
    },
    "subprocess": {
        *("catalog/git", "installation", "nginx/process"),
        *("hosts/publish/ssh/session", "hosts/announce/services"),
    },
    "fcntl": {"filesystem"},
    "http": {"http_client"},
    "socket": {"http_client", "nginx/process"},  # process: is the port free?
    "ssl": {"http_client"},
    "tempfile": {"filesystem"},
    "time": {"commands"},
    "imagesize": {"media/image_sizes"},
    "PIL": {"media/image_copies"},
    "obstore": {"hosts/publish/s3/bucket"},
    "markdown_it": {"api/pages/theme"},
    "random": set(),
    "secrets": {"catalog/api_keys"},
    "uuid": set(),
}

# Calls that change files or folders, by their last name.
WRITING_CALLS = {
    *("mkdir", "makedirs", "unlink", "remove", "rmdir", "removedirs", "rename", "renames", "replace", "rmtree", "move"),
    *("chmod", "chown", "utime", "touch", "truncate", "symlink", "symlink_to", "hardlink_to", "link", "mknod"),
    *("mkfifo", "write_text", "write_bytes", "copy", "copyfile", "copytree", "copy2"),
}
WRITERS = {
    *("catalog/confined_folder", "filesystem"),
    *("release/bodies", "release/transaction", "release/nginx_user"),
}

# `git` passes the environment on; `process` looks for nginx on the PATH.
READS_ENVIRONMENT = {"commands", "catalog/git", "nginx/process"}


@cache
def text(module: str) -> str:
    return (PACKAGE / f"{module}.py").read_text(encoding="utf-8")


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(text(module))


@cache
def all_nodes(module: str) -> list[ast.AST]:
    return [*ast.walk(tree(module))]


def nodes(module: str, *kinds: type[ast.AST]) -> Iterator[Any]:
    return (node for node in all_nodes(module) if isinstance(node, kinds))


def package(module: str) -> str:
    """The package that a module belongs to, by its name in MAY_IMPORT."""
    first = module.partition("/")[0]
    return "ground" if first in GROUND else first


def is_in(module: str, places: set[str]) -> bool:
    """Whether the module, or a package around it, is named."""
    parts = module.split("/")
    return any("/".join(parts[:count]) in places for count in range(1, len(parts) + 1))


@cache
def imports(module: str) -> set[str]:
    """The modules of the package that a module imports."""
    imported = set()
    for node in nodes(module, ast.ImportFrom):
        if node.level:
            folder = module.split("/")[: -node.level] + (node.module or "").split(".") * bool(node.module)
            for name in node.names:
                inner, whole = "/".join([*folder, name.name]), "/".join(folder)
                imported.add(
                    inner if inner in MODULES else whole if whole in MODULES else f"{whole}/__init__".lstrip("/")
                )
    return imported


def edges(place: str = "", leave: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
    """Each module below a place, with each module that it imports, except some."""
    return ((module, other) for module in MODULES if module.startswith(place) for other in imports(module) - leave)


@cache
def libraries(module: str) -> set[str]:
    """The top-level names of the other imports of a module."""
    imported = set()
    for node in nodes(module, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif not node.level:
            imported.add(str(node.module).partition(".")[0])
    return imported


def called(node: ast.Call) -> str:
    """The last name of the called function."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


@cache
def attributes(module: str) -> set[tuple[str, str]]:
    """Every `name.attribute`."""
    return {(node.value.id, node.attr) for node in nodes(module, ast.Attribute) if isinstance(node.value, ast.Name)}


def test_each_package_imports_only_what_the_table_allows() -> None:
    """Imports follow MAY_IMPORT: never upward, and to no package that a reader would not expect."""
    offenders = {
        (module, other)
        for module, other in edges()
        if package(other) not in {"ground", package(module), *MAY_IMPORT[package(module)]}
    }

    assert offenders == set()
    assert {package(module) for module in MODULES} == set(MAY_IMPORT)


def test_parts_of_a_package_know_only_themselves() -> None:
    """Each place of ALONE imports of its own package itself, and what the table says."""
    offenders = {
        (module, other)
        for place, shared in ALONE.items()
        for module, other in edges(place)
        if package(other) == package(module) and not other.startswith(place) and other not in shared
    }

    assert offenders == set()
    # The reader, the writer and the editor of YAML could be a package of their own: they know no comics.
    assert {other for _, other in edges("catalog/yaml/") if not other.startswith("catalog/yaml/")} == {"errors"}


def test_commands_do_not_import_each_other() -> None:
    """A command is read alone. Commands share options, help, output, results, `build_site`, and parts of an import.

    `publish` announces as `announce` does.
    """
    names = ("__init__", "announcing", "building", "command", "help", "importing", "options", "output")
    shared = frozenset(f"commands/{name}" for name in names)

    assert {(module, other) for module, other in edges("commands/", shared) if package(other) == "commands"} == set()


def test_one_module_prints_the_results_of_commands() -> None:
    """A command returns its result, or shows lines, and does not choose between text and JSON, or a stream."""
    printing = ("print_json", "print_data", "print_lines")
    users = {module for module in MODULES for name in printing if re.search(rf"\b{name}\b", text(module))}

    # `cli` prints the failures that no command can.
    assert users == {"commands/output", "commands/command", "commands/cli"}


def test_no_import_goes_in_a_circle() -> None:
    """Modules can be read in an order in which each needs only the ones before it."""
    order = TopologicalSorter({module: imports(module) for module in MODULES}).static_order()

    assert set(order) == set(MODULES)


def test_no_folders_of_a_package_import_each_other() -> None:
    """The folders of a package, too, have an order: a reader of one needs only those below it."""
    below: dict[str, dict[str, set[str]]] = {name: {} for name in MAY_IMPORT}
    for module, other in edges():
        folders = module.rpartition("/")[0], other.rpartition("/")[0]
        if package(module) == package(other) and folders[0] != folders[1]:
            below[package(module)].setdefault(folders[0], set()).add(folders[1])

    def has_circle(name: str) -> bool:
        try:
            TopologicalSorter(below[name]).prepare()
        except CycleError:
            return True
        return False

    assert {name for name in MAY_IMPORT if has_circle(name)} == set(FOLDERS_IN_A_CIRCLE)


def test_a_folder_has_few_modules() -> None:
    """A folder with more than MAX_MODULES modules is in LARGE, with the reason."""
    sizes = Counter(module.rpartition("/")[0] for module in MODULES if not module.endswith("__init__"))

    assert {folder for folder, size in sizes.items() if size > MAX_MODULES} == set(LARGE)


def test_each_library_has_one_place() -> None:
    """A library is imported by the modules listed for it, and by all of them."""
    for library, places in LIBRARIES.items():
        users = {module for module in MODULES if library in libraries(module)}
        assert [module for module in sorted(users) if not is_in(module, places)] == [], library
        assert [place for place in sorted(places) if not any(is_in(module, {place}) for module in users)] == [], library


def test_imports_inside_the_package_are_relative() -> None:
    """The package works under another name."""
    assert [module for module in MODULES if {"generator", "flatpanel"} & libraries(module)] == []


def writes(module: str) -> Iterator[str]:
    for node in nodes(module, ast.Call):
        name = called(node)
        harmless = (name == "replace" and is_of_text(node)) or (name == "link" and isinstance(node.func, ast.Name))
        if (name in WRITING_CALLS and not harmless) or (name in ("open", "fdopen") and not only_reads(node)):
            yield f"{module}: {name} in line {node.lineno}"


def is_of_os(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "os"


def is_of_text(node: ast.Call) -> bool:
    """text.replace(old, new), or dataclasses.replace(record, field=…); the `replace` of a path has one argument."""
    return not is_of_os(node) and (len(node.args) == 2 or bool(node.keywords))


def only_reads(node: ast.Call) -> bool:
    """open(…), path.open(), path.open("rb") or os.open(…, os.O_RDONLY); any other mode counts as writing."""
    if is_of_os(node):
        return [ast.unparse(argument) for argument in node.args[1:]] == ["os.O_RDONLY"]
    given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
    modes = [argument.value for argument in given if isinstance(argument, ast.Constant)]
    return len(modes) == len(given) and not set("wax+") & set("".join(map(str, modes)))


def test_only_writers_write() -> None:
    """No module outside WRITERS makes, changes, renames or removes a file or a folder."""
    assert [call for module in MODULES if not is_in(module, WRITERS) for call in writes(module)] == []


def test_the_writers_are_seen_writing() -> None:
    """The test above can see what it forbids."""
    calls = {call.split()[1] for module in MODULES if is_in(module, WRITERS) for call in writes(module)}

    assert calls >= {"open", "mkdir", "unlink", "rename", "replace", "utime", "symlink_to", "rmtree", "chmod", "rmdir"}


def test_only_commands_ask_the_clock() -> None:
    """Below the command line the current time is a parameter."""
    clock = {(kind, name) for kind in ("datetime", "date") for name in ("now", "utcnow", "today")}

    assert [module for module in MODULES if package(module) != "commands" and attributes(module) & clock] == []


def test_only_commands_ask_the_environment() -> None:
    """Below the command line nothing depends on variables, on the user, or on the current folder."""
    environment = {("os", name) for name in ("environ", "getenv", "environb", "getcwd", "getlogin", "uname")}
    environment |= {("os", "cpu_count"), ("Path", "cwd"), ("Path", "home"), ("sys", "argv")}
    asking = [module for module in MODULES if attributes(module) & environment]

    assert [module for module in asking if not is_in(module, READS_ENVIRONMENT)] == []


def test_no_handler_catches_everything() -> None:
    """A defect of the program is a traceback in development, and never silence."""
    caught = {
        (module, node.lineno, ast.unparse(kind))
        for module in MODULES
        for node in nodes(module, ast.ExceptHandler)
        for kind in getattr(node.type, "elts", [node.type or ast.Name("BaseException")])
    }

    assert [one for one in sorted(caught) if one[2] in ("Exception", "BaseException")] == []


def test_nothing_is_left_to_do() -> None:
    """No module holds notes of unfinished work."""
    assert [module for module in MODULES if re.search("TODO|FIXME|XXX|HACK", text(module))] == []


def test_a_class_name_stands_for_one_thing() -> None:
    """No class name exists twice, except that a record of the catalog and its linked entity share their name."""
    classes = {(node.name, module) for module in MODULES for node in nodes(module, ast.ClassDef)}
    places = Counter(name for name, _ in {(name, module.replace("records", "entities")) for name, module in classes})

    assert [name for name, count in places.items() if count > 1] == []


def test_each_module_begins_with_its_purpose() -> None:
    """Every module has a docstring, and none has a name that says nothing."""
    silent = [module for module in MODULES if not (ast.get_docstring(tree(module)) or "").endswith((".", "?"))]
    vague = {"utils", "util", "helpers", "common", "misc", "base"}

    assert silent + [module for module in MODULES if Path(module).name in vague] == []
