"""Responses of the original service that are not recorded, computed from those that are: filters, dates, redirects."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from tests.support.real_service import Exchange

_HOST = "https://saltshelf.example"
FILTERS = {"author", "artist", "title", "slug", "categories"}
Plain = Callable[[str], "Exchange"]


def computed(target: str, plain: Plain) -> "Exchange | None":
    """Return the response for a target of version 2; None if nothing here computes it."""
    path, _, query = target.partition("?")
    parameters = {name: values[-1] for name, values in parse_qs(query).items()}
    if re.fullmatch(r"/api/v2/chapters/[0-9]+/read", path):
        chapter = plain(path.removesuffix("/read"))
        if chapter.status != 200:
            return chapter
        return replace(chapter, status=308, headers={"Location": _HOST + json.loads(chapter.body)["url"]}, body="")
    if path == "/api/v2/chapters" and query:
        return _chapters(plain(path), parameters)
    return None


def _chapters(whole: "Exchange", parameters: dict[str, str]) -> "Exchange":
    """The list of all chapters, of one series or with other dates."""
    if whole.status != 200:
        return whole
    value = json.loads(whole.body)
    if "series" in parameters:
        value["results"] = [chapter for chapter in value["results"] if chapter["series"] == parameters["series"]]
    if parameters.get("date_format") == "rfc-5322":
        for chapter in value["results"]:
            moment = datetime.fromisoformat(chapter["published"].replace("Z", "+00:00"))
            chapter["published"] = format_datetime(moment, usegmt=True)
    return replace(whole, body=json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def matches(slug: str, parameters: dict[str, str], plain: Plain, lists: dict[str, Any]) -> bool:
    """Whether a filtered list has a series. `lists` has lists of version 1 by name, which the filters look into."""
    detail = json.loads(plain(f"/api/v2/series/{slug}").body)
    for name in ("author", "artist"):
        # The list of authors of version 1 shows artists: only names are known.
        if name in parameters and not _has(parameters[name], detail[f"{name}s"]):
            return False
    if "title" in parameters and not _has(parameters["title"], [detail["title"], *detail["aliases"]]):
        return False
    if "slug" in parameters and slug.lower() != parameters["slug"].lower():
        return False
    ids = {row["id"].lower() for row in lists["categories"] if row["name"] in detail["categories"]}
    items = [item.strip().lower() for item in parameters.get("categories", "").split(",") if item.strip()]
    includes = [item for item in items if not item.startswith("-")]
    excludes = [item[1:] for item in items if item.startswith("-")]
    return (not includes or bool(ids.intersection(includes))) and not ids.intersection(excludes)


def _has(part: str, names: list[str]) -> bool:
    return any(part.lower() in name.lower() for name in names)
