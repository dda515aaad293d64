"""Paths in the core, which nginx normalises itself."""

from tests.support.core_server import needs_node
from tests.support.tables import each

pytestmark = needs_node


@each(
    ("target", "path", "query"),
    [
        ("/", "/", ""),
        ("/?a=b", "/", "a=b"),
        ("/x/", "/x", ""),
        ("//x///y//", "/x/y", ""),
        ("/x?a?b#c?d", "/x", "a?b"),
        ("/x#y?z", "/x", ""),
        ("/%41%2e%7E", "/A.~", ""),
        ("/a%20b%C3%A9", "/a bé", ""),
        ("/é?é", "/é", "é"),
        ("/%ff", "/\ufffd", ""),
        ("/x%2Fy%2F", "/x/y", ""),
        ("/x%3Fy%23%25?z", "/x?y#%", "z"),
        ("/./x/./y/.", "/x/y", ""),
        ("/x/../y", "/y", ""),
        ("/x/y/%2e%2E/z", "/x/z", ""),
        ("/x/..?a", "/", "a"),
        ("/x/...", "/x/...", ""),
        ("/.x/..y", "/.x/..y", ""),
        ("http://a.example/x?y", "/x", "y"),
        ("http://a.example?y", "/", "y"),
        ("/http://a", "/http:/a", ""),
    ],
)
def test_path_is_read_as_nginx_reads_it(core, target: str, path: str, query: str) -> None:
    """Escapes, slashes, dot segments; the query ends at a fragment."""
    parsed = core("paths", "parsed", target)

    assert (parsed["path"], parsed["query"]) == (path, query)


@each(
    "target",
    ["", "*", "x", "/%", "/%4", "/%4g", "/%00", "/x/../..", "/..", "/../x", "/%2e%2e", "/ ", "/\x7f", "/x?\n", "a:b"],
)
def test_other_target_is_refused(core, target: str) -> None:
    """nginx answers 400 to these, and so does the core."""
    assert core("paths", "parsed", target) is None


@each(
    ("target", "is_hidden"),
    [("/x", False), ("/x%2fy", True), ("/x%2Fy", True), ("/x?y=%2F", False), ("/x#%2F", True), ("/x%252F", False)],
)
def test_escaped_slash_is_told(core, target: str, is_hidden: bool) -> None:
    assert core("paths", "parsed", target)["isHidden"] is is_hidden
