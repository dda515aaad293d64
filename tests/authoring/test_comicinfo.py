"""ComicInfo.xml: the fields that are read, ignored and refused."""

import pytest

from generator.authoring import comicinfo
from generator.errors import FlatpanelError
from tests.support.images import info


def fields_of(inside: str, *groups: str) -> dict[str, object]:
    return comicinfo.chapter_fields(info(inside).encode(), set(groups))


def test_all_supported_elements_become_fields() -> None:
    """Number, volume, title, day and groups."""
    inside = """
      <Title> Ten &amp; a
        half </Title><Series>Paper Moons</Series><Number>010.50</Number><Volume>2</Volume>
      <Year>2024</Year><Month>5</Month><Day>7</Day><ScanInformation>Night Shift</ScanInformation>
      <PageCount>18</PageCount><Pages><Page Image="0"><Title>no</Title></Page></Pages>"""

    assert fields_of(inside) == {
        "volume": 2,
        "number": "010.50",
        "title": "Ten & a half",
        "published": "2024-05-07T00:00:00Z",
        "groups": ["Night Shift"],
    }


@pytest.mark.parametrize(
    "inside",
    [
        "",
        "<Title/><Number></Number><Volume>-1</Volume><Year>-1</Year><Month>-1</Month><Day>-1</Day>",
        "<Title> </Title><Volume>0</Volume><ScanInformation> ; ,</ScanInformation>",
        "<Year>2024</Year><Month>5</Month>",
        "<Year>2024</Year><Month>5</Month><Day>0</Day>",
        "<Year>2024</Year><Month>00</Month><Day>7</Day>",
        "<x><Title>inside</Title></x>",
    ],
)
def test_empty_and_placeholder_values_are_ignored(inside: str) -> None:
    """Also -1 and 0, incomplete dates and nested elements."""
    assert fields_of(inside) == {}


@pytest.mark.parametrize(
    ("inside", "groups"),
    [
        ("<Translator>A, B</Translator>", ["A", "B"]),
        ("<Translator>A</Translator><ScanInformation>C; D</ScanInformation>", ["C", "D"]),
        ("<ScanInformation>Salt, Pepper and Co.</ScanInformation>", ["Salt, Pepper and Co."]),
        ("<Translator>A, Salt, Pepper and Co. ;B</Translator>", ["A", "Salt, Pepper and Co.", "B"]),
        ("<Translator>Salt, Pepper, Salt; Vinegar, Salt</Translator>", ["Salt, Pepper", "Salt; Vinegar", "Salt"]),
        ("<Translator>Two blanks, Two  blanks</Translator>", ["Two  blanks", "Two  blanks"]),
        ("<Translator>,, and Sons, -1</Translator>", [", and Sons", "-1"]),
    ],
)
def test_groups_are_split_at_commas(inside: str, groups: list[str]) -> None:
    """Unless they are in the name of a group, of which the longest counts; ScanInformation comes before Translator."""
    known = ("Salt, Pepper and Co.", "Salt, Pepper", "Salt; Vinegar", "Two  blanks", ", and Sons")
    assert fields_of(inside, *known) == {"groups": groups}


def test_a_title_may_look_like_a_placeholder() -> None:
    """Programs write -1 for unknown numbers only."""
    assert fields_of("<Title>-1</Title><Number>-1</Number>") == {"title": "-1"}


@pytest.mark.parametrize(("volume", "field"), [("007", 7), ("one", "one"), ("2.5", "2.5"), ("-2", "-2")])
def test_an_invalid_volume_is_passed_to_the_model(volume: str, field: object) -> None:
    """The model reports what is wrong with it."""
    assert fields_of(f"<Volume>{volume}</Volume>") == {"volume": field}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_the_declared_encoding_is_used(encoding: str) -> None:
    """Programs on Windows write other encodings than UTF-8."""
    text = f'<?xml version="1.0" encoding="{encoding}"?><ComicInfo><Title>Été</Title></ComicInfo>'

    assert comicinfo.chapter_fields(text.encode(encoding), ()) == {"title": "Été"}


def test_other_root_elements_have_no_fields() -> None:
    """Only direct children of ComicInfo are read."""
    assert comicinfo.chapter_fields(b"<Other><Title>A</Title></Other>", ()) == {}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"<ComicInfo>",
        b"<ComicInfo><Title>&copy;</Title></ComicInfo>",
        b"<ComicInfo>\xff</ComicInfo>",
        b'<?xml version="1.0" encoding="klingon"?><ComicInfo/>',
        b'<?xml version="1.0" encoding="shift_jis"?><ComicInfo/>',
    ],
)
def test_invalid_xml_is_refused(text: bytes) -> None:
    """The message has the parser's reason, including unknown encodings."""
    with pytest.raises(FlatpanelError, match=r"^not valid XML: "):
        comicinfo.chapter_fields(text, ())


@pytest.mark.parametrize(
    "document_type",
    [
        '<!DOCTYPE ComicInfo [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>',
        '<!DOCTYPE ComicInfo SYSTEM "http://evil.example/a.dtd">',
    ],
)
def test_a_document_type_is_refused(document_type: str) -> None:
    """Entities are neither expanded nor fetched."""
    with pytest.raises(FlatpanelError, match="contains a document type"):
        comicinfo.chapter_fields(f"{document_type}<ComicInfo><Title>&b;</Title></ComicInfo>".encode(), ())
