"""The plan of the house: who may import whom, who holds which door, and how large a room may be."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1] / "generator"
MODULES = sorted(path.relative_to(HOUSE).with_suffix("").as_posix() for path in HOUSE.rglob("*.py"))

# Every room and its floor: a module, or a folder of them. Imports lead to a lower floor; inside a folder they go round
# in no circle. A new room gets its line here.
FLOORS = [
    ["escaping", "loopback", "nearest", "scalars", "slips"],
    [
        "__init__",
        "address",
        "artifact",
        "crew",
        "dates",
        "directory",
        "disk",
        "encode",
        "errors",
        "explained",
        "keys",
        "values",
        "yaml12",
    ],
    [
        "anchors",
        "bare",
        "cache",
        "comicinfo",
        "confined",
        "excerpts",
        "http_client",
        "manifest",
        "model",
        "phrasing",
        "sizes",
        "views",
        "words",
    ],
    [
        "catalog",
        "edit",
        "journal",
        "ledger",
        "messages",
        "pageids",
        "pagenames",
        "parsing",
        "schema",
        "shelving",
        "templating",
    ],
    ["census", "cut_texts", "maps", "named_files", "news", "payloads", "places", "store"],
    ["history", "nginx", "openapi", "source", "subjects", "viewer"],
    ["checks", "link", "press", "routes", "serve", "verify_files", "verify_server"],
    ["commits", "facts", "review", "rollback", "runs", "scaffold", "tending"],
    ["adding", "field_help", "reading"],
    ["remembered", "removals", "rendering", "schedule"],
    ["assembly", "cache_folder", "survey"],
    ["building", "report"],
    ["importing", "pipeline"],
    ["revisions", "trial"],
    ["repair"],
    ["commands"],
    ["cli"],
]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

# Libraries, and the rooms that may know them.
DOORS = {
    "yaml": {"yaml12"},
    "orjson": {"encode"},
    "json": set(),
    "jinja2": {"templating"},
    "click": {"cli", "commands"},
    "xml": {"comicinfo"},
    "zipfile": {"pagenames"},
    "pydantic": {"model", "messages", "schema", "source"},
    "pydantic_core": {"messages", "schema"},
    "subprocess": {"history", "serve"},  # git, and nginx
    "fcntl": {"disk"},
    "http": {"http_client"},
    "socket": {"http_client", "serve"},  # serve: whether the port is free
    "ssl": {"http_client"},
    "tempfile": {"disk"},
    "time": {"commands"},
    "random": set(),
    "secrets": {"keys"},
    "uuid": set(),
}

# Calls that change something on the disk, by their last name.
WRITES = {
    *("mkdir", "makedirs", "unlink", "remove", "rmdir", "removedirs", "rename", "renames", "replace", "rmtree", "move"),
    *(
        "chmod",
        "chown",
        "utime",
        "touch",
        "truncate",
        "symlink",
        "symlink_to",
        "hardlink_to",
        "link",
        "mknod",
        "mkfifo",
    ),
    *("write_text", "write_bytes", "copy", "copyfile", "copytree", "copy2"),
}
WRITERS = {"confined", "disk", "shelving", "store"}

# `history` hands the environment on to git; `serve` looks for nginx on the PATH.
ENVIRONMENT = {"commands", "history", "serve"}

MAX_MODULE = 300
MAX_FUNCTION = 40


@cache
def text(module: str) -> str:
    return (HOUSE / f"{module}.py").read_text(encoding="utf-8")


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(text(module))


def nodes(module: str, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    return (node for node in ast.walk(tree(module)) if isinstance(node, kinds))


def room(module: str) -> str:
    return module.partition("/")[0]


def imports(module: str) -> set[str]:
    """The modules of the house that a module imports."""
    found = set()
    for node in nodes(module, ast.ImportFrom):
        assert isinstance(node, ast.ImportFrom)
        if node.level:
            folder = module.split("/")[: -node.level] + (node.module or "").split(".") * bool(node.module)
            for name in node.names:
                inner, whole = "/".join([*folder, name.name]), "/".join(folder)
                found.add(inner if inner in MODULES else whole if whole in MODULES else f"{whole}/__init__".lstrip("/"))
    return found


def libraries(module: str) -> set[str]:
    """The names of everything else that it imports, without their insides."""
    found = set()
    for node in nodes(module, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module).partition(".")[0])
    return found


def called(node: ast.Call) -> str:
    """The last name of what is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def test_every_room_has_a_floor() -> None:
    """The plan lists every module there is, and none that there is not."""
    assert {room(module) for module in MODULES} == set(FLOOR)


@pytest.mark.parametrize("module", MODULES)
def test_imports_lead_downward(module: str) -> None:
    """A module knows only what lies below its floor, or beside it in the same folder."""
    upward = {
        other for other in imports(module) if room(other) != room(module) and FLOOR[room(other)] >= FLOOR[room(module)]
    }

    assert upward == set()


def test_nothing_goes_round_in_a_circle() -> None:
    """No module imports itself by way of others, inside a folder neither."""
    order = list(TopologicalSorter({module: imports(module) for module in MODULES}).static_order())

    assert set(order) == set(MODULES)


@pytest.mark.parametrize("library", DOORS)
def test_a_library_has_one_door(library: str) -> None:
    """Each library is known by the rooms that are there for it, and by all of them."""
    assert {room(module) for module in MODULES if library in libraries(module)} == DOORS[library]


def test_house_imports_are_relative() -> None:
    """A module finds its neighbours wherever the package lies."""
    assert [module for module in MODULES if "generator" in libraries(module)] == []


def writes(module: str) -> Iterator[str]:
    for node in nodes(module, ast.Call):
        assert isinstance(node, ast.Call)
        name = called(node)
        harmless = (name == "replace" and is_of_text(node)) or (name == "link" and isinstance(node.func, ast.Name))
        if (name in WRITES and not harmless) or (name in ("open", "fdopen") and not only_reads(node)):
            yield f"{name} in line {node.lineno}"


def is_of_os(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "os"


def is_of_text(node: ast.Call) -> bool:
    """text.replace(old, new), or dataclasses.replace(record, field=…); a path's has one argument."""
    return not is_of_os(node) and (len(node.args) == 2 or bool(node.keywords))


def only_reads(node: ast.Call) -> bool:
    """open(…), path.open(), path.open("rb") or os.open(…, os.O_RDONLY); whatever else is said is taken for writing."""
    if is_of_os(node):
        return [ast.unparse(one) for one in node.args[1:]] == ["os.O_RDONLY"]
    given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
    modes = [one.value for one in given if isinstance(one, ast.Constant)]
    return len(modes) == len(given) and not set("wax+") & set("".join(map(str, modes)))


@pytest.mark.parametrize("module", [module for module in MODULES if room(module) not in WRITERS])
def test_only_the_store_writes(module: str) -> None:
    """Nothing outside of the store makes, changes, renames or removes a file or a folder."""
    assert list(writes(module)) == []


def test_the_store_is_seen_writing() -> None:
    """The test above can see what it forbids."""
    found = {one.partition(" ")[0] for room in sorted(WRITERS) for one in writes(room)}

    assert found >= {"open", "mkdir", "unlink", "rename", "replace", "utime", "symlink_to", "rmtree", "chmod", "rmdir"}


def attributes(module: str) -> set[tuple[str, str]]:
    """Every `name.attribute`."""
    return {
        (node.value.id, node.attr)
        for node in nodes(module, ast.Attribute)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }


@pytest.mark.parametrize("module", [module for module in MODULES if room(module) != "commands"])
def test_only_commands_ask_the_clock(module: str) -> None:
    """Below the command line, "now" is a number that was handed in."""
    asked = {(kind, name) for kind in ("datetime", "date") for name in ("now", "utcnow", "today")}

    assert attributes(module) & asked == set()


@pytest.mark.parametrize("module", [module for module in MODULES if room(module) not in ENVIRONMENT])
def test_only_commands_ask_the_environment(module: str) -> None:
    """Below the command line nothing depends on variables, on who asks, or on where."""
    asked = {("os", name) for name in ("environ", "getenv", "environb", "getcwd", "getlogin", "uname", "cpu_count")}
    asked |= {("Path", "cwd"), ("Path", "home"), ("sys", "argv")}

    assert attributes(module) & asked == set()


@pytest.mark.parametrize("module", MODULES)
def test_nothing_is_swallowed(module: str) -> None:
    """No handler catches everything: a defect of ours shows."""
    for node in nodes(module, ast.ExceptHandler):
        assert isinstance(node, ast.ExceptHandler)
        assert node.type is not None, f"line {node.lineno}"
        caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        assert not {ast.unparse(one) for one in caught} & {"Exception", "BaseException"}, f"line {node.lineno}"


@pytest.mark.parametrize("module", MODULES)
def test_nothing_is_printed_or_put_off(module: str) -> None:
    """Only commands speak, through click; what has to be done is done or stands elsewhere."""
    prints = [node.lineno for node in nodes(module, ast.Call) if isinstance(node, ast.Call) and called(node) == "print"]

    assert prints == []
    assert [word for word in ("TODO", "FIXME", "XXX", "HACK") if word in text(module)] == []


@pytest.mark.parametrize("module", MODULES)
def test_rooms_are_small(module: str) -> None:
    """A module that grows beyond its bound is split; so is a function."""
    long = [
        f"{node.name} has {node.end_lineno - node.lineno + 1} lines"
        for node in nodes(module, ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, ast.FunctionDef) and node.end_lineno and node.end_lineno - node.lineno >= MAX_FUNCTION
    ]

    assert len(text(module).splitlines()) <= MAX_MODULE
    assert long == []


@pytest.mark.parametrize("module", MODULES)
def test_a_room_says_what_it_is_for(module: str) -> None:
    """Every module begins with what it does, and none is named after nothing in particular."""
    assert (ast.get_docstring(tree(module)) or "").endswith((".", "?"))
    assert Path(module).name not in ("utils", "util", "helpers", "common", "misc", "base")
