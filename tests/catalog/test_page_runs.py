"""Runs of pages, and the names of images in URLs."""

from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from generator.catalog import field_values, records
from generator.errors import CatalogError
from generator.pipeline import run
from tests.conftest import Site

FILES = TypeAdapter(records.FileOrUrl)


def test_run_is_every_page_from_first_to_last() -> None:
    """The numbers have as many digits as the first."""
    cases: list[Any] = [
        ("1.png .. 3.png", ["1.png", "2.png", "3.png"]),
        ("  1.png ..  3.png ", ["1.png", "2.png", "3.png"]),
        ("v2-p9.webp .. v2-p10.webp", ["v2-p9.webp", "v2-p10.webp"]),
        ("p1-v1.png .. p2-v1.png", ["p1-v1.png", "p2-v1.png"]),
        *((f"p1..p{dots}p2..p", ["p1..p", "p2..p"]) for dots in (" .. ", ".. ", " ..")),
        *((run, ["p1.png", "p2.png"]) for run in ("p1.png..p2.png", "p1.png.. p2.png", "p1.png ..p2.png ")),
        ("頁01.jpg .. 頁02.jpg", ["頁01.jpg", "頁02.jpg"]),
        (
            "https://a.example/2/1.png .. https://a.example/2/2.png",
            ["https://a.example/2/1.png", "https://a.example/2/2.png"],
        ),
    ]
    assert [field_values.pages(run) for run, _ in cases] == [pages for _, pages in cases]


@pytest.mark.parametrize("pages", [[], ["1.png"], ["1.png .. 3.png"], [1, None]])
def test_list_of_pages_is_unchanged(pages: list[Any]) -> None:
    """The model checks its entries."""
    assert field_values.pages(pages) is pages


def test_run_has_at_most_ten_thousand_pages() -> None:
    """A longer run is refused before it is expanded."""
    assert len(field_values.pages("1.png .. 10000.png")) == 10_000  # type: ignore[arg-type]
    for last in ("10001", "999999999"):
        with pytest.raises(ValueError, match=r"^should have at most 10000 pages; split the chapter$"):
            field_values.pages(f"1.png .. {last}.png")


def test_long_text_is_refused_at_once() -> None:
    """In linear time: with the square of this length, it would take hours."""
    for text in ("1..1" * 1_000_000 + " x", ". " * 1_000_000, "1 " + "." * 1_000_000 + " 2"):
        with pytest.raises(ValueError, match="should be a list of files or a run"):
            field_values.pages(text)


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("MAX_SERIES_PAGES", r"^the series has more than 7 pages up to this chapter; split the series$"),
        ("MAX_SERIES_PAGE_NAMES", r"^the names of the pages of the series have more than 7 characters up to this chap"),
    ],
)
def test_the_pages_of_a_series_have_a_limit(limit: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the chapters that exceed it, the first is a problem, and no run of a later one is expanded."""
    monkeypatch.setattr(field_values, limit, 7)
    for value in (["1"] * 4, "1 .. 4"):
        total = field_values.PageTotal()
        assert len(field_values.pages(value, total)) == 4  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=message):
            field_values.pages(value, total)
        assert field_values.pages(value, total) == field_values.pages("1 .. 4", total) == []


def test_run_of_long_names_is_refused_before_it_is_expanded() -> None:
    """10,000 names of a megabyte do not fit into memory."""
    name = "a" * 1_000_000
    with pytest.raises(ValueError, match=r"^should have names of at most 2000 characters, has 1000005$"):
        field_values.pages(f"{name}1.png .. {name}9999.png".replace("1.png", "0001.png").replace(".png", "."))


@pytest.mark.parametrize(
    "value",
    [
        *("", "1.png", "..", "1.png ..", ".. 2.png", "1.png - 2.png", "1.png .. 1.png", "1.png .. 2.jpg"),
        *("a.png .. b.png", "a1.png .. b2.png", "1 .png .. 2 .png", "1.png .. 1000000000.png", "１.png .. ２.png"),
        *(None, 3, {"first": 1}),
    ],
)
def test_invalid_run_is_answered_with_an_example(value: Any) -> None:
    """A run is two names that differ in one number of at most nine digits."""
    with pytest.raises(ValueError, match=r"^should be a list of files or a run like 001\.jpg \.\. 018\.jpg$"):
        field_values.pages(value)


def test_zeros_in_the_last_number_alone_are_refused() -> None:
    """The message has both numbers as written."""
    with pytest.raises(ValueError, match=r"^should have numbers of the same length at both ends, unlike 1 and 01$"):
        field_values.pages("1.png .. 01.png")


@given(st.integers(0, 9999), st.integers(1, 60), st.integers(1, 5))
def test_run_equals_the_list_of_its_pages(first: int, count: int, width: int) -> None:
    """For any first page and count, with and without leading zeros."""
    names = [f"p{number:0{width}}x.png" for number in range(first, first + count + 1)]
    padded = len(str(first)) < width < len(str(first + count))

    if padded:
        with pytest.raises(ValueError, match="same length"):
            field_values.pages(f"{names[0]} .. {names[-1]}")
    else:
        assert field_values.pages(f"{names[0]} .. {names[-1]}") == names


def test_url_is_split_into_folder_and_file_name() -> None:
    """A query belongs to the file name, with its slashes; a URL without a file name has none."""
    for url, parts in [
        ("https://a.example/1.png", ("https://a.example/", "1.png")),
        ("http://a.example:8080/b//1.png", ("http://a.example:8080/b//", "1.png")),
        ("https://a.example/1.png?size=a/b", ("https://a.example/", "1.png?size=a/b")),
        ("https://a.example/b/1.png#c/d?e", ("https://a.example/b/", "1.png#c/d?e")),
        ("https://a.example/", ("https://a.example/", "")),
        ("https://a.example", ("https://a.example", "")),
        ("https://a.example?b=/c", ("https://a.example?b=/c", "")),
        ("https://a.example/b/?c=d.png", ("https://a.example/b/?c=d.png", "")),
    ]:
        assert field_values.split_url(url) == parts
        assert "".join(parts) == url


def test_pages_keep_their_order() -> None:
    """A page can be in the list twice, and a list has at most as many pages as a run."""
    for pages in (["b", "a", "a"], ["1.png"] * 10_000, ["https://a.example/1.png", "https://a.example/2"]):
        assert field_values.check_pages(pages) == pages
    with pytest.raises(ValueError, match=r"^should have at most 10000 pages; split the chapter$"):
        field_values.check_pages(["1.png"] * 10_001)


def test_file_name_is_percent_encoded() -> None:
    """Only the unreserved characters of RFC 3986 stay."""
    cases: list[Any] = [
        ("a+b&c=d?e#f%20.png", "a%2Bb%26c%3Dd%3Fe%23f%2520.png"),
        ("été.png", "%C3%A9t%C3%A9.png"),
        ("頁~_-.png", "%E9%A0%81~_-.png"),
        ("(it's)!*.png", "%28it%27s%29%21%2A.png"),
    ]
    assert [field_values.percent_encoded(file) for file, _ in cases] == [encoded for _, encoded in cases]


@given(st.text(min_size=1).filter(lambda text: not set(text) <= set(".")))
def test_encoded_file_name_decodes_to_itself(file: str) -> None:
    """Every valid file name is one segment of a path."""
    try:
        FILES.validate_python(file, strict=True)
    except ValidationError:
        assert any(character in "/\\\x7f" or character < " " for character in file)
    else:
        encoded = field_values.percent_encoded(file)
        assert unquote(encoded) == file
        assert encoded.isascii() and "/" not in encoded


def test_url_is_unchanged() -> None:
    """Ports, queries and percent-encoding are valid; a name that resembles a scheme is a file name."""
    for url in [
        "https://a.example/1.png",
        "http://a.example",
        "https://a.example:8080/%20?a=b#c",
        "https://[::1]/a",
        "https.png",
    ]:
        assert FILES.validate_python(url, strict=True) == url


@pytest.mark.parametrize(
    "url",
    [
        *("https://", "https:///1.png", "https://a.example/é.png", "https://a.example/a b", "https://a.example/\n"),
        *("//a.example/1.png", "HTTPS://a.example/1.png", "ftp://a.example/1.png", 'https://a.example/"'),
        *("a/b", "/a", ".", "..", "...", ""),
    ],
)
def test_invalid_image_is_refused(url: str) -> None:
    """An incomplete URL would be a broken image, and a folder would leave the media root."""
    with pytest.raises(ValidationError):
        FILES.validate_python(url, strict=True)


def test_pages_of_unchanged_files_count(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build with a cache refuses what one without a cache refuses, and publishes no chapter without its pages."""
    monkeypatch.setattr(field_values, "MAX_SERIES_PAGES", 5)
    cached = replace(site.options, cache=site.folder / "cache")
    site.write("series/x/series.yaml", "title: X\ncover: c.png\n")
    for number, pages in ((1, "1.png .. 2.png"), (2, "1.png .. 3.png")):
        site.write(f"series/x/chapters/{number}.yaml", f"number: {number}\npublished: 2026-01-01\npages: {pages}\n")
    run.build(cached)
    site.write("series/x/chapters/1.yaml", "number: 1\npublished: 2026-01-01\npages: 1.png .. 3.png\n")

    for options in (cached, site.options):
        with pytest.raises(
            CatalogError, match=r"chapters/2\.yaml.*: pages: the series has more than 5 pages up to this"
        ):
            run.build(options)
