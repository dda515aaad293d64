"""The theme: templates, styles, texts and pages of the owner in place of those of the program, or beside them.

Pages are Markdown, converted by the optional library markdown-it-py. HTML in them is shown as text, and links lead to
http, https and mailto addresses or into the site.
"""

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import bounds, installation
from ...catalog import patterns
from ...catalog.site_paths import APPS_PAGE, RESERVED
from ...catalog.site_settings import Site
from ...catalog.suggestions import did_you_mean
from ...catalog.theme_files import ICONS, Text, ThemeFiles
from ...catalog.yaml import reader
from ...catalog.yaml.positions import read_positions
from ...errors import Problem
from ...templating import Html
from .context import TEMPLATES, OwnPage, PageContext
from .texts import MAX_LENGTH, MAX_PARTS, TEXTS, Texts, parts, translation

if TYPE_CHECKING:
    from .themed_templates import ThemedTemplates

TABLE, STYLE, EXTRA_STYLE, ICON = "texts.yaml", "style.css", "extra.css", "icon.svg"
_PNG = struct.Struct(">8s4x4sII")
# Characters of a title, which each page has.
_MAX_TITLE = 200


def context(site: Site, files: ThemeFiles, *, preview: bool = False) -> PageContext:
    """What the pages of a site need, with the theme, which has no problems."""
    page = PageContext(site, preview=preview, text=_texts(site, {}))
    if not (files.files or files.images):
        return page
    if files.template_folder:
        page = replace(page, templates=_templates(files))
    return replace(
        page,
        text=_texts(site, _table(files)),
        assets={name: files.files[name] for name in (STYLE, EXTRA_STYLE, ICON) if name in files.files},
        icons=files.images,
        own_pages={own.name: own for own in _own_pages(files)},
    )


def problems(files: ThemeFiles, site: Site) -> Iterator[Problem]:
    """What is wrong with the content of a theme, without its templates and texts; see `examine`."""
    yield from _unused_files(files)
    yield from _icon_problems(files)
    yield from _table_problems(files)
    yield from _own_page_problems(files, site)


def warnings(files: ThemeFiles) -> Iterator[Problem]:
    """Values of `texts.yaml` that pages have in attributes, and browsers ignore. The theme has no problems."""
    rules = {
        "lang": (re.compile(patterns.LANGUAGE), patterns.ADVICE[patterns.LANGUAGE]),
        "dir": (re.compile("ltr|rtl"), "should be ltr or rtl"),
    }
    for name, text in _table(files).items():
        if name in rules and not rules[name][0].fullmatch(text):
            position = read_positions(files.files[TABLE].encode()).position((name,))
            yield files.problem(TABLE, rules[name][1], *position, name)


def needs_examination(files: ThemeFiles) -> bool:
    return bool(files.named(".html") or files.named(".md"))


def examination_key(files: ThemeFiles) -> str:
    """What the result of `examine` depends on: the files, and for texts the version of the library."""
    return f"{files.digest} {_markdown_version()}" if files.named(".md") else files.digest


def examine(files: ThemeFiles) -> tuple[list[Problem], dict[str, Text]]:
    """Compile the templates and convert the texts, in a bounded process: what is wrong with them, and the texts."""
    faults: list[Problem] = []
    if files.template_folder:
        faults += _templates(files).problems()
    texts: dict[str, Text] = {}
    # Without the library, the texts are a problem of `problems`.
    if not (convert := markdown_converter()):
        return faults, texts
    for name, content in files.named(".md").items():
        try:
            with bounds.of_process() as limits:
                limits.begin_file(name)
                texts[name] = convert(content)
                limits.take(len(texts[name].html))
        except bounds.FAILURES as error:
            faults.append(files.problem(name, bounds.message(error)))
        else:
            if len(texts[name].title) > _MAX_TITLE:
                faults.append(files.problem(name, f"the first heading has more than {_MAX_TITLE} characters"))
    return faults, texts


def _templates(files: ThemeFiles) -> "ThemedTemplates":
    # Imported here: jinja2 takes long to import.
    from .themed_templates import ThemedTemplates

    return ThemedTemplates(TEMPLATES, files.folder, files.named(".html"))


def _unused_files(files: ThemeFiles) -> Iterator[Problem]:
    """Files that replace nothing."""
    templates = {path.name for path in TEMPLATES.glob("*.html")}
    replaceable = {".html": templates, ".css": {STYLE, EXTRA_STYLE}, ".svg": {ICON}, ".yaml": {TABLE}, ".png": {*ICONS}}
    for name in (*files.files, *files.images):
        names = replaceable.get(Path(name).suffix)
        if names is not None and name not in names:
            hint = did_you_mean(name, names, f"a theme can have {', '.join(sorted(names))}")
            yield files.problem(name, f"replaces no file of the pages{hint}")


def _icon_problems(files: ThemeFiles) -> Iterator[Problem]:
    for name, content in files.images.items():
        size = ICONS.get(name)
        start = content[: _PNG.size].ljust(_PNG.size)
        if size and _PNG.unpack(start) != (b"\x89PNG\r\n\x1a\n", b"IHDR", size, size):
            yield files.problem(name, f"should be a PNG image, {size} pixels wide and high")


def _texts(site: Site, table: Mapping[str, str]) -> Texts:
    """The texts of a site in its language, which wins over that of the theme. A text of the theme wins."""
    if not site.language:
        return Texts(table)
    return Texts({**translation(site.language), **table, "lang": site.language})


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
            hint = did_you_mean(name, TEXTS, f"valid names: {', '.join(sorted(TEXTS))}")
            yield files.problem(TABLE, f"is not the name of a text{hint}", line, column, name)
        elif not isinstance(text, str):
            yield files.problem(TABLE, "should be a text; put it in quotes", line, column, name)
        elif len(text) > MAX_LENGTH or text.count("{") > MAX_PARTS:
            message = f"is too long; a text has at most {MAX_LENGTH} characters and {MAX_PARTS} parts in braces"
            yield files.problem(TABLE, message, line, column, name)
        elif unknown := [part for part in parts(text) if part not in parts(TEXTS[name])]:
            valid = " and ".join(f"{{{part}}}" for part in parts(TEXTS[name]))
            advice = f"the text can have {valid}" if valid else "the text has no parts; remove the braces"
            yield files.problem(TABLE, f"unknown part {{{unknown[0]}}}; {advice}", line, column, name)


def _own_pages(files: ThemeFiles) -> Iterator[OwnPage]:
    for file, text in files.texts.items():
        name = file.removesuffix(".md")
        yield OwnPage(name, text.title or name, Html(text.html), text.image_origins)


def _own_page_problems(files: ThemeFiles, site: Site) -> Iterator[Problem]:
    first_segments = (path.split("/")[1] for path in (site.reader, site.media) if path.startswith("/"))
    used = {*(RESERVED - {APPS_PAGE}), *first_segments}
    names = files.named(".md")
    if names and not markdown_converter():
        advice = f"needs the library markdown-it-py; install it: {installation.how_to_add('markdown-it-py')}"
        yield files.problem(next(iter(names)), advice)
    for file in names:
        if (name := file.removesuffix(".md")) in used:
            yield files.problem(file, f"/{name}/ has other pages; choose another name")


# Markdown to HTML

_SCHEMES = {"http", "https", "mailto"}
# Scheme, host and port of an image. Other hosts are not permitted by the Content-Security-Policy of the pages.
_ORIGIN = re.compile(r"\Ahttps?://[-a-z0-9._]+(?::[0-9]{1,5})?(?=[/?#]|\Z)", re.IGNORECASE)
# The alignment of a column, which the Content-Security-Policy forbids as a style of the element.
_CLASSES = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}


def markdown_converter() -> Callable[[str], Text] | None:
    """The function that converts a text; None if the library is not installed."""
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        return None
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    # The library's own rule refuses schemes that it knows as dangerous; this one permits the schemes that are known.
    markdown.validateLink = _is_permitted  # type: ignore[method-assign]

    def convert(text: str) -> Text:
        tokens = markdown.parse(text)
        origins: set[str] = set()
        for token in _all(tokens):
            if style := token.attrs.pop("style", None):
                token.attrSet("class", _CLASSES.get(str(style), ""))
            if token.type == "image":
                origins |= {match[0].lower() for match in _ORIGIN.finditer(str(token.attrs["src"]))}
        return Text(markdown.renderer.render(tokens, markdown.options, {}), _title(tokens), tuple(sorted(origins)))

    return convert


def _markdown_version() -> str:
    try:
        from markdown_it import __version__
    except ImportError:
        return ""
    return __version__


def _is_permitted(url: str) -> bool:
    scheme = re.match(r"([^/?#]*?):", url.strip())
    return not scheme or scheme[1].lower() in _SCHEMES


def _all(tokens: list[Any]) -> list[Any]:
    return [item for token in tokens for item in (token, *_all(token.children or []))]


def _title(tokens: list[Any]) -> str:
    for token, following in pairwise(tokens):
        if token.type == "heading_open" and token.tag == "h1":
            inline = ((item.type, item.content) for item in following.children or [])
            # A line break has no content.
            shown = {"text", "code_inline", "softbreak", "hardbreak"}
            return " ".join("".join(content or " " for kind, content in inline if kind in shown).split())
    return ""
