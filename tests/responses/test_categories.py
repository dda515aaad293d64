"""Ids and names of categories hold any text: in catalogs, in paths, in filters and in the list."""

import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.conftest import Site, copy_of
from tests.support.nginx_client import Web, listening, running

# Id, name, and whether the name is a path of its own.
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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = copy_of("minimal", tmp_path_factory.mktemp("categories"))
    records = [{"id": id, "name": name, "modified": "2026-01-01T00:00:00Z"} for id, name, _ in CATEGORIES]
    made.write("categories.yaml", json.dumps(records))
    for place, (id, _, _) in enumerate(CATEGORIES):
        chapter = {"id": 9000 + place, "number": 1, "pages": [], "published": "2026-01-01T00:00:00Z"}
        series = {"title": f"Of {place}", "cover": "c.png", "categories": [id], "chapters": [chapter]}
        made.write(f"series/of-{place}.yaml", json.dumps(series))
    return made


@pytest.fixture(scope="module")
def web(site: Site) -> Iterator[Web]:
    with listening() as listener:
        with (site.folder / "catalog_src/site.yaml").open("a") as settings:
            settings.write(f"port: {listener.getsockname()[1]}\n")
        site.build()
        with running(site.folder, listener) as server:
            yield server
            assert server.complaints() == []


def test_every_category_is_listed(web: Web) -> None:
    """By id in v1, with ids of any text; in v2 likewise, and in the series themselves."""
    v1 = json.loads(web.ask("/api/v1/categories").body)
    v2 = json.loads(web.ask("/api/v2/categories").body)["results"]

    assert [(one["id"], one["name"]) for one in v1] == [(id, name) for id, name, _ in CATEGORIES]
    assert [one["name"] for one in v2] == [name for _, name, _ in CATEGORIES]
    for place, (_, name, _) in enumerate(CATEGORIES):
        assert json.loads(web.ask(f"/api/v2/series/of-{place}").body)["categories"] == [name]
        assert [one["name"] for one in json.loads(web.ask(f"/api/v1/series/of-{place}").body)["categories"]] == [name]


@pytest.mark.parametrize(("id", "name", "has_path"), CATEGORIES)
def test_a_name_with_a_slash_or_a_comma_has_no_path(site: Site, web: Web, id: str, name: str, has_path: bool) -> None:
    """It is not found in any spelling, and no file is called after it; every other name is found as it is written."""
    encoded = web.ask(f"/api/v2/categories/{quote(name, safe='')}")
    plain = web.ask(f"/api/v2/categories/{quote(name, safe='/,&')}")

    if has_path:
        assert json.loads(encoded.body) == {"name": name, "description": ""}
        assert plain.body == encoded.body
    else:
        assert (encoded.status, json.loads(encoded.body)) == (404, {"detail": "Not found."})
        assert (plain.status, json.loads(plain.body)) == (404, {"detail": "Not found."})
    files = [one.file for one in site.manifest.resources.values() if one.url.startswith("/api/v2/categories/")]
    assert len(files) == sum(one for _, _, one in CATEGORIES)
    assert all(file.count("/") == 4 for file in files)


@pytest.mark.parametrize(("place", "id", "name"), [(place, *one[:2]) for place, one in enumerate(CATEGORIES)])
def test_a_filter_finds_a_category_by_what_has_no_comma(web: Web, place: int, id: str, name: str) -> None:
    """By its id and by its name, in any case; a comma is always between two categories."""
    found = {}
    for word in (id, name, id.upper(), name.upper()):
        answer = json.loads(web.ask(f"/api/v2/series?categories={quote(word, safe='')}").body)
        found[word] = [one["slug"] for one in answer["results"]]

    assert found == {word: [] if "," in word else [f"of-{place}"] for word in found}


def test_a_series_refers_to_an_id_of_any_text(site: Site, web: Web) -> None:
    """Several of them at once, and the filter takes all but one away."""
    wanted = ",".join(quote(id, safe="") for id, _, _ in CATEGORIES if "," not in id)
    listed = json.loads(web.ask(f"/api/v2/series?categories={wanted},-r%26b").body)

    assert [one["slug"] for one in listed["results"]] == [f"of-{place}" for place in (1, 2, 4, 5, 6, 7)]
