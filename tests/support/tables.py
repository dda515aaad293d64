"""Tables of cases in one test, which runs all of them and fails with each that differs."""

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import pytest

# How many differences a failure shows in full. Of the others it shows the cases.
SHOWN = 20
Test = Callable[..., None]


def each(names: str | tuple[str, ...], table: Iterable[Any] | Mapping[str, Any]) -> Callable[[Test], Test]:
    """Call a test for each row of a table, as `pytest.mark.parametrize` does, but in one test.

    A mapping names its rows. With several tables, the test is called for each combination of their rows.
    The calls share the fixtures of the test, so its fixtures may not collect anything that a call expects to be new.
    """
    rows = _rows(names, table)
    assert rows, f"no rows for {names}"

    def decorate(test: Test) -> Test:
        tables = [rows, *getattr(test, "tables", ())]
        call = getattr(test, "call", test)

        @functools.wraps(call)
        def run(*instance: object, **fixtures: object) -> None:
            differences = []
            for combination in product(*tables):
                case = ", ".join(label for label, _ in combination)
                arguments = {name: value for _, values in combination for name, value in values.items()}
                try:
                    call(*instance, **fixtures, **arguments)
                except Exception as error:
                    differences.append((case, error))
                except BaseException as end:
                    end.add_note(f"in the case {case}")
                    raise
            if differences:
                pytest.fail(_report(differences), pytrace=False)

        given = {name for table in tables for _, values in table[:1] for name in values}
        signature = inspect.signature(call)
        parameters = [one for name, one in signature.parameters.items() if name not in given]
        assert len(parameters) == len(signature.parameters) - len(given), f"{call.__name__} does not take {given}"
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.tables, run.call = tables, call  # type: ignore[attr-defined]
        return run

    return decorate


def _rows(names: str | tuple[str, ...], table: Iterable[Any] | Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The label and the arguments of each row."""
    columns = (names,) if isinstance(names, str) else names
    rows = []
    for label, row in table.items() if isinstance(table, Mapping) else ((None, row) for row in table):
        arguments = dict(zip(columns, (row,) if isinstance(names, str) else row, strict=True))
        rows.append((label or ", ".join(f"{name}={value!r:.90}" for name, value in arguments.items()), arguments))
    return rows


def _report(differences: list[tuple[str, Exception]]) -> str:
    lines = [f"{len(differences)} cases differ:"]
    for case, error in differences[:SHOWN]:
        place = traceback.extract_tb(error.__traceback__)[1]
        text = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
        lines += [f"{case} (line {place.lineno}):", *(f"    {line}" for line in text.splitlines())]
    return "\n".join([*lines, *(case for case, _ in differences[SHOWN:])])
