"""The result of a comparison as JSON. Nothing without a reason is left out."""

from typing import Any

from .model import Difference
from .run import CompareOptions, CompareResult
from .summary import summary


def result_json(options: CompareOptions, result: CompareResult) -> dict[str, Any]:
    groups = summary(result.differences)
    return {
        "ok": not result.unexplained,
        "first": str(options.first),
        "second": str(options.second),
        "stated": result.stated,
        "responses": result.paths,
        "equal": result.equal,
        "requests": result.requests,
        "only_first": groups.only_first,
        "only_second": groups.only_second,
        "differences": [_difference(difference) for difference in result.unexplained],
        "reasons": [
            {"reason": reason, "count": len(differences), "example": _difference(differences[0])}
            for reason, differences in groups.by_reason.items()
        ],
        "notes": result.notes,
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "path": difference.path,
        "field": difference.place,
        "change": difference.kind,
        "first": difference.first,
        "second": difference.second,
    }
