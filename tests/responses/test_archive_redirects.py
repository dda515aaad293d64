"""The paths that archives had in the old service lead to the archives."""

import time
from pathlib import Path

import pytest

from generator.review.verify_server import check_server
from tests.support.site_variants import served

HOST = "https://lists.example"
DIGEST = "0123456789abcdef"
CHAPTERS = """
title: Archived
cover: c.jpg
formerly: [bound]
chapters:
- {id: 9001, volume: 1, number: 10.5, published: 2020-01-01, pages: [1.png]}
- {id: 9002, number: 1, published: 2020-01-01, pages: [1.png]}
- {id: 9003, number: 1, published: 2020-01-01, pages: [1.png]}
- {id: 9004, number: 2, published: 2020-01-01, pages: [1.png]}
- {id: 9005, number: 3, published: 2999-01-01, pages: [1.png]}
"""
PATHS = ("1/10.5", "0/1-version-9002", "0/1", None, "0/3")
LICENSED = """
title: Sold
cover: c.jpg
licensed: true
chapters:
- {id: 9010, number: 1, published: 2020-01-01, pages: [1.png]}
"""
RECORD = "".join(
    f"{9001 + index}: archives/archived/{path}.cbz 1234567 0123456789abcdef\n"
    for index, path in enumerate(PATHS)
    if path
)


@pytest.mark.end_to_end
@pytest.mark.parametrize(
    ("media", "root"),
    [("/media/", f"{HOST}/media/"), ("https://i.example/x/", "https://i.example/x/")],
)
def test_old_paths_of_archives_redirect(tmp_path: Path, media: str, root: str) -> None:
    """Those of chapters with an archive, and no others; below an old slug by way of the present one."""
    files = {
        "series/archived.yaml": CHAPTERS,
        "series/sold.yaml": LICENSED,
        "series/secret.yaml": LICENSED.replace("licensed", "restricted").replace("9010", "9011"),
        "archives.yaml": f"{RECORD}9010: archives/sold/0/1.cbz 1 {DIGEST}\n9011: archives/secret/0/1.cbz 1 {DIGEST}\n",
    }
    settings = f"pages: true\nmedia: {media}\napps: [archives]\ncache: {{v2: {{series: 8}}}}"
    with served(tmp_path, settings=settings, files=files) as (site, web):
        for path in ("1/10.5", "0/1"):
            for asked in (
                f"/reader/archived/{path}.cbz",
                f"/reader/archived/{path}.cbz/",
                f"/reader//archived/{path}.cbz?a",
            ):
                answer = web.ask(asked)
                assert (answer.status, answer["location"]) == (302, f"{root}archives/archived/{path}.cbz"), asked
                assert answer["cache-control"] == "public, max-age=8"
                assert answer.body == f'{{"url":"{answer["location"]}"}}'.encode()
        old = web.ask("/reader/bound/1/10.5.cbz")
        assert (old.status, old["location"]) == (308, f"{HOST}/reader/archived/1/10.5.cbz/")
        assert web.ask("/reader/archived/1/10.5.cbz", "HEAD")["location"] == f"{root}archives/archived/1/10.5.cbz"
        missing = (
            "archived/0/2",
            "archived/0/3",
            "archived/1/1",
            "archived/0/1-version-9002",
            "sold/0/1",
            "secret/0/1",
            "archived/01/10.5",
        )
        assert {path: web.ask(f"/reader/{path}.cbz").status for path in missing} == dict.fromkeys(missing, 404)
        assert web.ask("/reader/archived/1/10.5.CBZ").status == 404
        assert check_server(site.store, f"http://127.0.0.1:{web.port}", time.monotonic, 30, "nginx").faults == []
        assert web.complaints() == []
