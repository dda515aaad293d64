"""`releases`, `rollback` and `export`: what to do with a release that is there already."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from ..catalog import field_values
from ..errors import FlatpanelError
from ..pipeline import rollback as rolling_back
from ..pipeline.rollback import Rollback
from ..release import census, transaction
from ..release.export import export_release
from ..release.journal import JournalEntry
from ..release.manifest_reader import ManifestReader
from ..release.store import Store
from . import options
from .build import waiting
from .output import print_json, print_lines
from .reporting import handle_errors, print_warning


@click.command()
@options.out
@options.as_json
@handle_errors
def releases(out: Path, as_json: bool) -> None:
    """List the releases that are there, newest first.

    The release that was served last comes first. `rollback RELEASE` goes to any of them.
    """
    store = Store(out)
    current = store.release()
    found = [_facts(store, one, current) for one in reversed(store.journal())]
    if as_json:
        print_json({"ok": True, "releases": found})
        return
    print_lines(*_table(found))


def _table(found: Sequence[Mapping[str, object]]) -> Iterator[str]:
    rows = [["release", "time", "series", "chapters", "URLs", ""]]
    for one in found:
        counts = [f"{one[name]:,}" for name in ("series", "chapters", "resources")]
        rows.append([str(one["release"]), str(one["time"] or "unknown"), *counts, "current" * bool(one["current"])])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        texts = [text.ljust(width) for text, width in zip(row[:2], widths[:2], strict=True)]
        numbers = [text.rjust(width) for text, width in zip(row[2:5], widths[2:5], strict=True)]
        yield "  ".join((*texts, *numbers, row[5])).rstrip()


def _facts(store: Store, one: JournalEntry, current: str) -> dict[str, object]:
    with ManifestReader(store.manifest_path(one.release)) as ledger:
        counts = census.counts(ledger)
    return {
        "release": one.release,
        "time": None if one.at is None else field_values.iso(one.at),
        "reason": one.reason,
        **counts,
        "current": one.release == current,
    }


@click.command()
@click.argument("release", required=False)
@options.out
@click.option("--reopen", is_flag=True, help="Go on where it opens what is closed today.")
@options.as_json
@handle_errors
def rollback(release: str | None, out: Path, reopen: bool, as_json: bool) -> None:
    """Switch back to the previous release.

    Again and again, it goes further back. RELEASE is the id of any release, or the beginning of one; `releases`
    lists them. The keys that count today go on to count: a revoked key stays revoked.
    """
    store = Store(out)
    store.release()  # without one, nothing is made
    with transaction.begin(store, waiting(out)) as session:
        before, found = session.current, rolling_back.plan(session, release)
        if found.reopened and not reopen:
            raise FlatpanelError(*_closed(out, found))
        rolling_back.carry_out(session, found, options.now())
    for account, count in found.left_out.items():
        keys = "1 key" if count == 1 else f"{count} keys"
        print_warning(f"release {found.target} has no account {account}; {keys} left out")
    if as_json:
        print_json({"ok": True, **_plain(found), "before": before})
    elif found.release == found.target:
        print_lines(f"{out}: release {found.release} is current again; reload nginx to serve it")
    else:
        print_lines(
            f"{out}: release {found.target} is current again as {found.release}, with the keys of release {before};"
            " reload nginx to serve it"
        )


def _closed(out: Path, found: Rollback) -> Iterator[str]:
    yield f"{out}: release {found.target} serves to everyone what is closed today; --reopen goes on all the same:"
    for name, why in found.reopened.items():
        yield f"  {name}: {why}"


def _plain(found: Rollback) -> dict[str, object]:
    return {
        "release": found.release,
        "target": found.target,
        "reopened": found.reopened,
        "keys_left_out": found.left_out,
    }


@click.command()
@options.out
@click.argument("target", metavar="DIR", type=click.Path(path_type=Path))
@handle_errors
def export(out: Path, target: Path) -> None:
    """Write the current release as a plain tree, for hosts that are not nginx."""
    count = export_release(Store(out), target)
    print_lines(f"{target}: {count} resources")
