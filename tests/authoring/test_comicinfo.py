"""ComicInfo.xml: what is taken from it, what is passed over, and what is refused."""

import pytest

from generator.authoring import comicinfo
from generator.errors import FlatpanelError
from tests.support.page_archives import info


def told(inside: str, *groups: str) -> dict[str, object]:
    return comicinfo.chapter_fields(info(inside).encode(), set(groups))


def test_everything_that_a_chapter_knows_is_taken() -> None:
    """Number, volume, title, day and group become fields as they stand there."""
    inside = """
      <Title> Ten &amp; a
        half </Title><Series>Paper Moons</Series><Number>010.50</Number><Volume>2</Volume>
      <Year>2024</Year><Month>5</Month><Day>7</Day><ScanInformation>Night Shift</ScanInformation>
      <PageCount>18</PageCount><Pages><Page Image="0"><Title>no</Title></Page></Pages>"""

    assert told(inside) == {
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
def test_what_is_not_told_is_no_field(inside: str) -> None:
    """Empty elements, the -1 or 0 of programs that know nothing, half a date, and what lies deeper say nothing."""
    assert told(inside) == {}


@pytest.mark.parametrize(
    ("inside", "groups"),
    [
        ("<Translator>A, B</Translator>", ["A", "B"]),
        ("<Translator>A</Translator><ScanInformation>C; D</ScanInformation>", ["C", "D"]),
        ("<ScanInformation>Salt, Pepper and Co.</ScanInformation>", ["Salt, Pepper and Co."]),
    ],
)
def test_groups_are_names_between_commas(inside: str, groups: list[str]) -> None:
    """Unless a group is called so; and who scanned it is asked before who translated it."""
    assert told(inside, "Salt, Pepper and Co.") == {"groups": groups}


@pytest.mark.parametrize(("volume", "field"), [("007", 7), ("one", "one"), ("2.5", "2.5"), ("-2", "-2")])
def test_a_volume_is_handed_on(volume: str, field: object) -> None:
    """What is no whole number stays what it is, and the model says so."""
    assert told(f"<Volume>{volume}</Volume>") == {"volume": field}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_the_encoding_is_the_one_that_it_names(encoding: str) -> None:
    """Programs on Windows write more than UTF-8."""
    text = f'<?xml version="1.0" encoding="{encoding}"?><ComicInfo><Title>Été</Title></ComicInfo>'

    assert comicinfo.chapter_fields(text.encode(encoding), ()) == {"title": "Été"}


def test_another_document_tells_nothing() -> None:
    """Only what stands directly in ComicInfo counts."""
    assert comicinfo.chapter_fields(b"<Other><Title>A</Title></Other>", ()) == {}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"no xml",
        b"<ComicInfo>",
        b"<ComicInfo><Title>&copy;</Title></ComicInfo>",
        b"<ComicInfo>\xff</ComicInfo>",
        b'<?xml version="1.0" encoding="klingon"?><ComicInfo/>',
        b'<?xml version="1.0" encoding="shift_jis"?><ComicInfo/>',
    ],
)
def test_what_is_no_xml_is_refused(text: bytes) -> None:
    """With what the parser has to say, encodings included that it does not know."""
    with pytest.raises(FlatpanelError, match=r"^not valid XML: "):
        comicinfo.chapter_fields(text, ())


@pytest.mark.parametrize(
    "document_type",
    [
        '<!DOCTYPE ComicInfo [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>',
        '<!DOCTYPE ComicInfo [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE ComicInfo SYSTEM "http://evil.example/a.dtd">',
    ],
)
def test_a_document_type_is_refused(document_type: str) -> None:
    """Nothing that grows, and nothing that is fetched: not even the declaration is read to its end."""
    with pytest.raises(FlatpanelError, match="contains a document type"):
        comicinfo.chapter_fields(f"{document_type}<ComicInfo><Title>&b;</Title></ComicInfo>".encode(), ())
