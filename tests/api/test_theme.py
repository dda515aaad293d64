"""The theme of a site: what it changes in the pages, and what is wrong with it."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from generator import bounds
from generator.api.pages import theme
from generator.api.pages.texts import TEXTS
from generator.catalog import api_keys
from generator.errors import CatalogError, FlatpanelError
from generator.installation import how_to_add
from generator.pipeline import run as pipeline
from tests.conftest import AS_OF, copy_of
from tests.support import images
from tests.support.paths import ROOT

BODY = "{% block main %}"
LOOPS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


class Project:
    """Two series with pages, and a theme."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.site = folder, copy_of("minimal", folder)
        (folder / "theme").mkdir()
        self.set_pages("true")

    def set_pages(self, value: str) -> None:
        self.site.write("site.yaml", f"base_url: https://minimal.example\npages: {value}\n")

    def write(self, name: str, text: str) -> None:
        (self.folder / "theme" / name).write_text(text)

    def build(self) -> None:
        self.result = pipeline.build(replace(self.site.options, cache=self.folder / "c"))

    def body(self, url: str) -> str:
        return self.bytes(url).decode()

    def bytes(self, url: str) -> bytes:
        return (self.site.store.root / self.site.manifest.resources[url].file).read_bytes()

    def problems(self) -> list[str]:
        with pytest.raises(FlatpanelError) as raised:
            self.build()
        return [line.removeprefix(f"{self.folder}/") for line in str(raised.value).splitlines()]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_language_and_direction_are_checked(project: Project) -> None:
    """Browsers ignore other values, so that a site with them is built."""
    project.write("texts.yaml", "search: Suche\nlang: Deutsch!\ndir: left\n")
    project.build()
    for _ in range(2):  # also if nothing has changed
        project.build()

        assert [str(warning).removeprefix(f"{project.folder}/") for warning in project.result.located] == [
            "theme/texts.yaml:2:7: lang: should be a language tag (BCP 47), like en, pt-BR or zh-Hant",
            "theme/texts.yaml:3:6: dir: should be ltr or rtl",
        ]

    project.write("texts.yaml", "lang: ar-EG\ndir: rtl\n")
    project.build()

    assert project.result.located == []


def test_theme_changes_pages(project: Project) -> None:
    """Each kind of file, added after a first build: the pages are made again, and no body of the API changes."""
    project.build()
    before = project.site.store.current()
    project.write("extra.css", "body{color:red}")
    project.write("icon.svg", "<svg/>")
    project.write("texts.yaml", "lang: de\nsearch: Suche\n")
    project.write(
        "series.html", f'{{% extends "default/series.html" %}}{BODY}<b>own</b>{{{{ super() }}}}{{% endblock %}}'
    )
    project.write("about.md", "About *us*\nand `them`\n===\n\n![](https://pictures.example/a.png)")
    project.write("rules.md", "Be kind.")
    project.build()
    series = project.body("/reader/first/")

    assert project.site.store.current() != before
    assert project.body("/assets/style.css").endswith("}\nbody{color:red}")
    assert project.body("/assets/icon.svg") == "<svg/>"
    assert '<html lang="de"' in series and "<b>own</b><article" in series
    assert "Suche" in series and ">Search<" not in series
    assert "<h1>About <em>us</em>\nand <code>them</code></h1>" in project.body("/about/")
    assert '<a href="/about/">About us and them</a>' in series and '<a href="/rules/">rules</a>' in series
    assert "/about/" in project.body("/sitemaps/1.xml")
    conf = (project.site.store.root / "current/pages.conf").read_text()
    assert "https://pictures.example" in conf
    assert {url for url in project.result.changed_series if "/api/" in url} == set()


def test_png_icons_are_for_devices_that_show_no_svg(project: Project) -> None:
    """Chrome installs a site with them, iPhones show the small one; a replaced image is published."""
    for size in (192, 512):
        (project.folder / f"theme/icon-{size}.png").write_bytes(images.png(size, size))
    project.build()
    manifest = json.loads(project.body("/manifest.webmanifest"))

    assert manifest["icons"][1:] == [
        {"src": f"/assets/icon-{size}.png", "sizes": f"{size}x{size}", "type": "image/png"} for size in (192, 512)
    ]
    assert '<link rel="apple-touch-icon" href="/assets/icon-192.png">' in project.body("/")
    assert project.bytes("/assets/icon-512.png") == images.png(512, 512)

    (project.folder / "theme/icon-512.png").write_bytes(images.png(512, 512) + b"trailing")
    project.build()
    assert project.bytes("/assets/icon-512.png").endswith(b"trailing")

    (project.folder / "theme/icon-192.png").write_bytes(images.png(512, 192))
    (project.folder / "theme/icon-512.png").write_bytes(b"GIF89a")
    (project.folder / "theme/icon.png").write_bytes(images.png())
    assert project.problems() == [
        "theme/icon-192.png:1:1: should be a PNG image, 192 pixels wide and high",
        "theme/icon-512.png:1:1: should be a PNG image, 512 pixels wide and high",
        "theme/icon.png:1:1: replaces no file of the pages; did you mean icon-512.png?",
    ]


def test_a_page_about_apps_of_the_theme_wins(project: Project) -> None:
    site = project.folder / "catalog_src/site.yaml"
    site.write_text(f"{site.read_text(encoding='utf-8')}\napps: [komga]\n", encoding="utf-8")
    project.build()
    assert "/komga</code>" in project.body("/apps/")
    project.write("apps.md", "# Our apps")
    project.build()

    assert "<h1>Our apps</h1>" in project.body("/apps/") and "/komga" not in project.body("/apps/")
    assert project.body("/").count('href="/apps/"') == 1


def test_style_of_the_theme_replaces_the_other(project: Project) -> None:
    project.write("style.css", "a{}")
    project.write("extra.css", "b{}")
    project.build()

    assert project.body("/assets/style.css") == "a{}b{}"


def test_every_problem_of_a_theme_is_reported(project: Project) -> None:
    project.write("seris.html", "x")
    project.write("colours.css", "x")
    project.write("logo.svg", "x")
    project.write("text.yaml", "x")
    project.write("series.html", "\n\n{% if %}")
    project.write(
        "texts.yaml",
        f"lang: de\nserach: Suche\nlibrary: 1\nzzz: x\nlatest: {'a' * 1001}\ngroups: '{'{' * 9}'\n"
        "page_of: Seite {pag} {page\nsearch: 'Suche {site}'\nvolume: Band {number}\n",
    )
    project.write("reader.md", "x")
    project.write("api.md", "x")
    project.write("apps.md", "a page of the site, which a theme may replace")
    project.write("long.md", f"# {'a' * 201}")
    project.write("keys.md", f"# Keys\nUse {api_keys.new_key()}")

    assert project.problems() == [
        "theme/api.md:1:1: /api/ has other pages; choose another name",
        "theme/colours.css:1:1: replaces no file of the pages; a theme can have extra.css, style.css",
        f"theme/keys.md:2:5: {api_keys.PLAINTEXT}",
        "theme/logo.svg:1:1: replaces no file of the pages; a theme can have icon.svg",
        "theme/long.md:1:1: the first heading has more than 200 characters",
        "theme/reader.md:1:1: /reader/ has other pages; choose another name",
        "theme/series.html:3:1: Expected an expression, got 'end of statement block'",
        "theme/seris.html:1:1: replaces no file of the pages; did you mean series.html?",
        "theme/text.yaml:1:1: replaces no file of the pages; did you mean texts.yaml?",
        "theme/texts.yaml:2:1: serach: is not the name of a text; did you mean search?",
        "theme/texts.yaml:3:10: library: should be a text; put it in quotes",
        f"theme/texts.yaml:4:1: zzz: is not the name of a text; valid names: {', '.join(sorted(TEXTS))}",
        "theme/texts.yaml:5:9: latest: is too long; a text has at most 1000 characters and 8 parts in braces",
        "theme/texts.yaml:6:9: groups: is too long; a text has at most 1000 characters and 8 parts in braces",
        "theme/texts.yaml:7:10: page_of: unknown part {pag}; the text can have {page} and {count}",
        "theme/texts.yaml:8:9: search: unknown part {site}; the text has no parts; remove the braces",
    ]


def test_problems_name_files_as_those_of_the_catalog_do(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative to the working folder if the catalog is: of names, texts and templates."""
    project.write("series.html", BODY + "{{ page.titel }}{% endblock %}")
    project.write("texts.yaml", "zzz: x\n")
    (project.folder / "theme/bad name.css").touch()
    monkeypatch.chdir(project.folder)

    def files(catalog: Path) -> list[str]:
        with pytest.raises(CatalogError) as raised:
            pipeline.check(catalog, AS_OF, 1)
        return [problem.file for problem in raised.value.problems]

    for catalog, folder in (
        ("catalog_src", "theme"),
        ("../" + project.folder.name + "/catalog_src", f"../{project.folder.name}/theme"),
        (str(project.folder / "catalog_src"), f"{project.folder}/theme"),
    ):
        assert files(Path(catalog)) == [f"{folder}/bad name.css", f"{folder}/texts.yaml"]
    for name in ("texts.yaml", "bad name.css"):
        (project.folder / "theme" / name).unlink()
    assert files(Path("catalog_src")) == ["theme/series.html"]
    monkeypatch.chdir("catalog_src")
    assert files(Path()) == [f"{project.folder}/theme/series.html"]


def test_texts_are_a_table_that_may_be_empty(project: Project) -> None:
    for text, problem in (
        ("- a\n", "theme/texts.yaml:1:1: should be a mapping of names to texts, like search: Suche"),
        ("a: b: c\n", "theme/texts.yaml:1:"),
    ):
        project.write("texts.yaml", text)
        assert project.problems()[0].startswith(problem)
    project.write("texts.yaml", "# nothing yet\n")
    project.build()
    assert "Search" in project.body("/reader/first/")


def test_check_fills_in_a_sample_of_all_pages(project: Project) -> None:
    """It reports every unknown name with the names that exist, as a build does."""
    (project.folder / "catalog_src/artists.yaml").write_text("- {id: 1, name: Ada Penn}\n")
    chapter = '{% extends "default/chapter.html" %}\n' + BODY
    project.write("chapter.html", chapter + "\n{{ series.titel }}{% endblock %}")
    project.write("error.html", "{{ page.site.prot }}{% block main %}{% endblock %}")
    project.write("people.html", "{{ links[0].pth }}{% block main %}{% endblock %}")
    project.write("card.html", "\n{% if false %}{{ page.titel }}{% endif %}")
    with pytest.raises(CatalogError) as raised:
        pipeline.check(project.folder / "catalog_src", AS_OF, 2)
    messages = [str(problem).removeprefix(f"{project.folder}/") for problem in raised.value.problems]

    assert messages == [
        "theme/card.html:2:1: page.titel: unknown; did you mean title?",
        "theme/chapter.html:3:1: series.titel: unknown; did you mean title?",
        "theme/error.html:1:1: page.site.prot: unknown; did you mean port?",
        "theme/people.html:1:1: pth: unknown; did you mean path?",
    ]
    assert project.problems() == messages


# Templates of pages without modes of reading and without a shelf, as a theme may have copied them, and what is missing.
EARLIER = ROOT / "tests/data/earlier_templates"
GONE = {
    "chapter.html": "chapter.html:44:1: text.one_by_one: unknown",
    "help.html": "help.html:1:1: replaces no file of the pages",
    "macros.html": "macros.html:1:1: the template 'macros.html' (imported on line 2 in 'list.html') does not export",
    "search.html": "search.html:27:1: text.title_only: unknown",
}


@pytest.mark.end_to_end
def test_earlier_templates_are_built_or_the_message_names_what_is_gone(project: Project) -> None:
    """Each of the others is built beside templates of today."""
    for name, message in GONE.items():
        project.write(name, (EARLIER / name).read_text())
        assert project.problems()[0].startswith(f"theme/{message}")
        (project.folder / "theme" / name).unlink()
    for path in EARLIER.glob("*.html"):
        if path.name not in GONE:
            project.write(path.name, path.read_text())
    project.build()

    assert "<h2>Chapters</h2>" in project.body("/reader/first/")


OUTSIDE_OF_THE_SAMPLE = {
    "chapter.html": ("chapter.id == 3", LOOPS, "takes too much processor time"),
    "person.html": ("person.id == 3", "{{ 'x' | center(1000000000) }}", "needs more than 256 MB of memory"),
}


@pytest.mark.end_to_end
def test_every_page_is_rendered_with_bounds(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also pages that are not in the sample of `check`, which has the first two and the last. The release stays."""
    numbers = range(1, 6)
    chapters = "".join(f"- {{id: {one}, number: {one}, published: 2026-01-0{one}, pages: []}}\n" for one in numbers)
    people = "".join(f"- {{id: {one}, name: Ada {one}}}\n" for one in numbers)
    (project.folder / "catalog_src/authors.yaml").write_text(people)
    series = f"title: First\ncover: a.jpg\nauthors: [1, 2, 3, 4, 5]\nchapters:\n{chapters}"
    (project.folder / "catalog_src/series/first.yaml").write_text(series)
    project.build()
    before = project.site.store.current()
    monkeypatch.setattr(bounds, "SECONDS", 0.5)
    for file, (condition, fault, problem) in OUTSIDE_OF_THE_SAMPLE.items():
        project.write(file, f"{{% if {condition} %}}\n{fault}{{% endif %}}")
        pipeline.check(project.folder / "catalog_src", AS_OF, 1)
        assert [message.partition("; ")[0] for message in project.problems()] == [f"theme/{file}:2:1: {problem}"]
        project.write(file, "")

    assert project.site.store.current() == before


def test_texts_are_converted_with_bounds(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "SECONDS", 0.3)
    project.write("about.md", "|a" * 3000 + "\n" + "|-" * 3000 + "\n" + "|a\n" * 3000)
    slow = project.problems()
    monkeypatch.setattr(bounds, "LENGTH", -bounds.LENGTH_A_PAGE)
    project.write("about.md", "a")

    seconds = "takes too much processor time; a theme can take 0 seconds, and more with each page"
    assert slow == [f"theme/about.md:1:1: {seconds}"]
    assert project.problems() == ["theme/about.md:1:1: is too long; a page can have 1 million characters on average"]


@pytest.mark.end_to_end
def test_no_template_shows_a_path_of_this_machine(project: Project) -> None:
    for expression in (
        "{{ page.templates.folder }}",
        "{{ page | attr('templates') }}",
        "{{ [page] | map(attribute='templates.folder') | list }}",
        "{{ page.templates }}",
    ):
        project.write("footer.html", expression)
        assert project.problems()[0].startswith("theme/footer.html:1:1: "), expression


def test_no_template_gets_a_scheduled_chapter(project: Project) -> None:
    file = project.folder / "catalog_src/series/first.yaml"
    later = "  - {number: 99, published: 2099-01-01, title: Later, pages: []}\n"
    file.write_text(re.sub(r"(?m)^chapters:.*\n", f"\\g<0>{later}", file.read_text(encoding="utf-8")), encoding="utf-8")
    each = "{% for chapter in series.record.chapters %}{{ chapter.title }}{% endfor %}"
    project.write("series.html", f'{{% extends "default/series.html" %}}{BODY}own {each}{{% endblock %}}')
    project.build()

    assert "own <" in project.body("/reader/first/")


def test_texts_need_a_library(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "markdown_it", None)
    project.write("about.md", "x")
    project.write("rules.md", "x")

    assert theme.markdown_converter() is None
    assert project.problems() == [
        f"theme/about.md:1:1: needs the library markdown-it-py; install it: {how_to_add('markdown-it-py')}"
    ]


def test_site_without_pages_has_no_theme(project: Project) -> None:
    project.set_pages("false")
    project.write("seris.html", "x")
    project.build()


@pytest.mark.end_to_end
def test_examples_of_the_guide(project: Project) -> None:
    """Each example names its file in the first line."""
    guide = (ROOT / "docs/theming.md").read_text()
    examples = re.findall(r"```\w+\n(\S+ theme/(\S+)[^\n]*\n.*?)```", guide, re.DOTALL)
    for text, name in examples:
        project.write(name, text)
    project.build()

    assert [name for _, name in examples] == ["extra.css", "texts.yaml", "series.html"]
    assert project.body("/assets/style.css").endswith(examples[0][0])
    assert "Recherche" in project.body("/reader/first/")
    assert "<p>Read First with us!</p>" in project.body("/reader/first/")


def test_limits_of_the_guide_are_those_of_the_processes() -> None:
    """Tests of what exceeds them lower most of them: processor time is spent until the limit."""
    guide = (ROOT / "docs/theming.md").read_text()

    assert f"| processor time | {bounds.SECONDS:.0f} seconds | {bounds.SECONDS_A_PAGE * 1000:.0f} ms;" in guide
    assert f"| text | {bounds.LENGTH >> 20} MB | {bounds.LENGTH_A_PAGE >> 20} MB |" in guide
    assert f"| memory | {bounds.MEMORY >> 20} MB |" in guide


def test_colour_of_the_guide_is_one_of_the_style_sheet() -> None:
    """A misspelt name would have no effect."""
    names = re.findall(r"(--\w+):", (ROOT / "docs/theming.md").read_text())
    first = (ROOT / "generator/api/pages/assets/style.css").read_text()[:500]

    assert names and [name for name in names if f"{name}:" not in first] == []


def test_another_version_of_the_library_converts_texts_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache has the converted texts for one version."""
    project.write("about.md", "# About *us*")
    project.build()
    monkeypatch.setattr(MarkdownIt, "parse", lambda *_: [])
    project.set_pages("true\nkeep_releases: 3")
    project.build()
    assert "<em>us</em>" in project.body("/about/")
    monkeypatch.setattr("markdown_it.__version__", "0")
    project.set_pages("true")
    project.build()

    assert "<em>us</em>" not in project.body("/about/")
