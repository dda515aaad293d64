"""ComicInfo.xml read with a parser of its own, and compared with the facts of the schema 2.1 of the Anansi Project."""

import zipfile
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

# The elements of the sequence in their order, those with whole numbers, and those with a choice of values.
SEQUENCE = (
    *("Title", "Series", "Number", "Count", "Volume", "AlternateSeries", "AlternateNumber", "AlternateCount"),
    *("Summary", "Notes", "Year", "Month", "Day", "Writer", "Penciller", "Inker", "Colorist", "Letterer"),
    *("CoverArtist", "Editor", "Translator", "Publisher", "Imprint", "Genre", "Tags", "Web", "PageCount"),
    *("LanguageISO", "Format", "BlackAndWhite", "Manga", "Characters", "Teams", "Locations", "ScanInformation"),
    *("StoryArc", "StoryArcNumber", "SeriesGroup", "AgeRating", "Pages", "CommunityRating", "MainCharacterOrTeam"),
    *("Review", "GTIN"),
)
INTEGERS = {"Count", "Volume", "AlternateCount", "Year", "Month", "Day", "PageCount"}
CHOICES = {
    "Manga": {"Unknown", "No", "Yes", "YesAndRightToLeft"},
    "AgeRating": {
        *("Unknown", "Adults Only 18+", "Early Childhood", "Everyone", "Everyone 10+", "G", "Kids to Adults", "M"),
        *("MA15+", "Mature 17+", "PG", "R18+", "Rating Pending", "Teen", "X18+"),
    },
}
PAGE_INTEGERS = {"Image", "ImageSize", "ImageWidth", "ImageHeight"}


class ComicInfo(NamedTuple):
    """The texts of the elements, the attributes of the pages, and what the schema does not allow."""

    values: dict[str, str]
    pages: list[dict[str, str]]
    faults: list[str]


def read_archive(path: Path) -> ComicInfo:
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist()[0] == "ComicInfo.xml"
        return parse(archive.read("ComicInfo.xml"))


def parse(text: bytes) -> ComicInfo:
    root = ElementTree.fromstring(text)
    names = [element.tag for element in root]
    faults = [] if root.tag == "ComicInfo" else [root.tag]
    if names != [name for name in SEQUENCE if name in names]:
        faults.append(f"order: {names}")
    values = {element.tag: element.text or "" for element in root if element.tag != "Pages"}
    faults += [f"{name}: {values[name]}" for name in INTEGERS & values.keys() if not values[name].isdecimal()]
    faults += [
        f"{name}: {values[name]}" for name, allowed in CHOICES.items() if values.get(name) not in {None, *allowed}
    ]
    pages = [dict(page.attrib) for page in root.findall("Pages/Page")]
    for number, page in enumerate(pages):
        if page.keys() - PAGE_INTEGERS or page["Image"] != str(number) or not all(map(str.isdecimal, page.values())):
            faults.append(f"page: {page}")
    return ComicInfo(values, pages, faults)
