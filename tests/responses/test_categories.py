"""Ids and names of categories may be any text: in catalogs, paths, filters and lists."""

import json
from urllib.parse import quote

from tests.conftest import Site
from tests.support.nginx_client import Web
from tests.support.tables import each

# Id, name, and whether the name has a URL.
CATEGORIES = [
    ("c, comma", "C, Comma", False),
    ("e", "A, B", False),
    ("ghost stories", "Hauntings", True),
    ("r&b", "R&B", True),
    ("sea", "Sea/Shore", False),
    ("slice of life", "Slice of Life", True),
    ("up/../down", "Up/../Down", False),
    ("\u00c9motion \u611b", "\u00c9motion", True),
]


def series(place: int, category: str) -> str:
    chapter = {"id": 9000 + place, "number": 1, "pages": [], "published": "2026-01-01T00:00:00Z"}
    return json.dumps({"title": f"Of {place}", "cover": "c.png", "categories": [category], "chapters": [chapter]})


SITE = "minimal"
FILES = {f"series/of-{place}.yaml": series(place, id) for place, (id, _, _) in enumerate(CATEGORIES)} | {
    "categories.yaml": json.dumps(
        [{"id": id, "name": name, "modified": "2026-01-01T00:00:00Z"} for id, name, _ in CATEGORIES]
    )
}


def test_every_category_is_in_lists_and_series(web: Web) -> None:
    """Lists are sorted by id."""
    v1 = json.loads(web.ask("/api/v1/categories").body)
    v2 = json.loads(web.ask("/api/v2/categories").body)["results"]

    assert [(category["id"], category["name"]) for category in v1] == [(id, name) for id, name, _ in CATEGORIES]
    assert [category["name"] for category in v2] == [name for _, name, _ in CATEGORIES]
    for place, (_, name, _) in enumerate(CATEGORIES):
        assert json.loads(web.ask(f"/api/v2/series/of-{place}").body)["categories"] == [name]
        assert [
            category["name"] for category in json.loads(web.ask(f"/api/v1/series/of-{place}").body)["categories"]
        ] == [name]


@each(("id", "name", "has_path"), CATEGORIES)
def test_name_with_a_slash_or_comma_is_404(asked_site: Site, web: Web, id: str, name: str, has_path: bool) -> None:
    """No spelling of its path is found, and no file has its name. Every other name is found as written."""
    encoded = web.ask(f"/api/v2/categories/{quote(name, safe='')}")
    plain = web.ask(f"/api/v2/categories/{quote(name, safe='/,&')}")

    if has_path:
        assert json.loads(encoded.body) == {"name": name, "description": ""}
        assert plain.body == encoded.body
    else:
        assert (encoded.status, json.loads(encoded.body)) == (404, {"detail": "Not found."})
        assert (plain.status, json.loads(plain.body)) == (404, {"detail": "Not found."})
    files = [
        published.file
        for published in asked_site.manifest.resources.values()
        if published.url.startswith("/api/v2/categories/")
    ]
    assert len(files) == sum(has_path for _, _, has_path in CATEGORIES)
    assert all(file.count("/") == 4 for file in files)


@each(("place", "id", "name"), [(place, id, name) for place, (id, name, _) in enumerate(CATEGORIES)])
def test_filter_matches_ids_and_names(web: Web, place: int, id: str, name: str) -> None:
    """Case is ignored. A comma always separates two categories."""
    slugs = {}
    for word in (id, name, id.upper(), name.upper()):
        page = json.loads(web.ask(f"/api/v2/series?categories={quote(word, safe='')}").body)
        slugs[word] = [series["slug"] for series in page["results"]]

    assert slugs == {word: [] if "," in word else [f"of-{place}"] for word in slugs}


def test_filter_combines_ids_of_any_text(web: Web) -> None:
    """The last category is excluded."""
    ids = ",".join(quote(id, safe="") for id, _, _ in CATEGORIES if "," not in id)
    listed = json.loads(web.ask(f"/api/v2/series?categories={ids},-r%26b").body)

    assert [series["slug"] for series in listed["results"]] == [f"of-{place}" for place in (1, 2, 4, 5, 6, 7)]
