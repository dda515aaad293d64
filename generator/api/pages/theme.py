"""The theme: templates, styles, texts and pages of the owner in place of those of the program, or beside them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ... import installation
from ...catalog.problems.suggestions import did_you_mean
from ...catalog.site_paths import RESERVED
from ...catalog.site_settings import Site
from ...catalog.theme_files import ThemeFiles
from ...catalog.yaml import reader
from ...catalog.yaml.positions import read_positions
from ...errors import Problem
from ...templating import Html, ThemedTemplates
from . import markdown
from .context import TEMPLATES, OwnPage, PageContext
from .texts import TEXTS, Texts

TABLE, STYLE, EXTRA_STYLE, ICON = "texts.yaml", "style.css", "extra.css", "icon.svg"


def context(site: Site, files: ThemeFiles, *, preview: bool = False) -> PageContext:
    """What the pages of a site need, with the theme, which has no problems."""
    page = PageContext(site, preview=preview)
    if not files.files:
        return page
    replaced = _named(files, ".html")
    return replace(
        page,
        templates=ThemedTemplates(TEMPLATES, files.folder, replaced) if replaced else page.templates,
        text=Texts(_table(files)),
        assets={name: files.files[name] for name in (STYLE, EXTRA_STYLE, ICON) if name in files.files},
        own_pages={own.name: own for own in _own_pages(files)},
    )


def problems(files: ThemeFiles, site: Site) -> Iterator[Problem]:
    """Everything that is wrong with the content of a theme."""
    yield from _unused_files(files)
    replaced = _named(files, ".html")
    faults = ThemedTemplates(TEMPLATES, files.folder, replaced).faults() if replaced else []
    yield from (files.problem(file, message, line) for file, line, message in faults)
    yield from _table_problems(files)
    yield from _own_page_problems(files, site)


def _named(files: ThemeFiles, suffix: str) -> dict[str, str]:
    return {name: text for name, text in files.files.items() if name.endswith(suffix)}


def _unused_files(files: ThemeFiles) -> Iterator[Problem]:
    """Files that replace nothing."""
    templates = {path.name for path in TEMPLATES.glob("*.html")}
    replaceable = {".html": templates, ".css": {STYLE, EXTRA_STYLE}, ".svg": {ICON}, ".yaml": {TABLE}}
    for name in files.files:
        names = replaceable.get(Path(name).suffix)
        if names is not None and name not in names:
            hint = did_you_mean(name, names, f"a theme can have {', '.join(sorted(names))}")
            yield files.problem(name, f"replaces no file of the pages{hint}")


def _table(files: ThemeFiles) -> Mapping[str, str]:
    """The texts that the theme translates."""
    table: Mapping[str, str] = reader.load(files.files.get(TABLE, "{}").encode()) or {}
    return table


def _table_problems(files: ThemeFiles) -> Iterator[Problem]:
    content = files.files.get(TABLE, "{}").encode()
    positions = read_positions(content)
    if positions.flaws:
        yield from (files.problem(TABLE, message, line, column) for line, column, message in positions.flaws)
        return
    table = reader.load(content)
    if not isinstance(table, dict):
        if table is not None:
            yield files.problem(TABLE, "should be a mapping of names to texts, like search: Suche")
        return
    for name, text in table.items():
        line, column = positions.position((name,), of_key=name not in TEXTS)
        if name not in TEXTS:
            hint = did_you_mean(name, TEXTS, "docs/theming.md tells where the names are")
            yield files.problem(TABLE, f"is not the name of a text{hint}", line, column, name)
        elif not isinstance(text, str):
            yield files.problem(TABLE, "should be a text; put it in quotes", line, column, name)


def _own_pages(files: ThemeFiles) -> Iterator[OwnPage]:
    convert = markdown.converter()
    for file, content in _named(files, ".md").items():
        assert convert, "a theme without problems"
        name, text = file.removesuffix(".md"), convert(content)
        yield OwnPage(name, text.title or name, Html(text.html), text.image_origins)


def _own_page_problems(files: ThemeFiles, site: Site) -> Iterator[Problem]:
    used = {*RESERVED, *(path.split("/")[1] for path in (site.reader, site.media) if path.startswith("/"))}
    names = _named(files, ".md")
    if names and not markdown.converter():
        advice = f"needs the library markdown-it-py; install it: {installation.how_to_add('markdown-it-py')}"
        yield files.problem(next(iter(names)), advice)
    for file in names:
        if (name := file.removesuffix(".md")) in used:
            yield files.problem(file, f"/{name}/ has other pages; choose another name")
