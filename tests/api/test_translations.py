"""The texts of the pages in other languages than English."""

import re
from pathlib import Path

import pytest

from generator.api.pages import theme
from generator.api.pages.texts import MAX_LENGTH, TEXTS, TRANSLATIONS, Texts, translation
from generator.catalog.site_settings import Site
from generator.catalog.theme_files import ThemeFiles

FILES = sorted(TRANSLATIONS.iterdir())
PLACEHOLDER = re.compile(r"\{\w*\}")
# Words that are the same in several languages.
INTERNATIONAL = {
    *("dir", "api", "feeds", "website", "status", "series", "series_many", "manga", "comic", "webtoon", "fit_original"),
    *("about_site", "lang", "apps"),
}


def texts(language: str, **of_theme: str) -> Texts:
    table = "".join(f"{name}: {text}\n" for name, text in of_theme.items())
    files = ThemeFiles(Path("theme"), {"texts.yaml": table}) if table else ThemeFiles(Path("theme"), {})
    return theme.context(Site(base_url="https://comics.example", language=language), files).text


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_translation_is_complete(file: Path) -> None:
    """It has all names in the order of the English texts, and each text has the same parts in braces."""
    table = translation(file.stem)

    assert [*table] == [*TEXTS]
    assert table["lang"] == file.stem
    for name, text in table.items():
        assert isinstance(text, str) and text == text.strip() and 0 < len(text) <= MAX_LENGTH, name
        assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(TEXTS[name])), name
    assert {name for name in table if table[name] == TEXTS[name]} <= INTERNATIONAL


def test_there_are_german_and_spanish() -> None:
    assert [file.name for file in FILES] == ["de.yaml", "es.yaml"]


@pytest.mark.parametrize(
    ("language", "lang", "library"),
    [
        ("de", "de", "Bibliothek"),
        ("DE-at", "DE-at", "Bibliothek"),
        ("es-419", "es-419", "Biblioteca"),
        ("fr", "fr", "Library"),
    ],
)
def test_the_language_of_the_site_chooses_the_texts(language: str, lang: str, library: str) -> None:
    """Regions share the texts. Without a file, they are English, and a theme can have all of them."""
    table = texts(language)

    assert (table.lang, table.library) == (lang, library)


def test_texts_of_the_theme_win(tmp_path: Path) -> None:
    table = texts("de", library="Regal", lang="en")

    assert (table.lang, table.library, table.search) == ("de", "Regal", "Suche")
