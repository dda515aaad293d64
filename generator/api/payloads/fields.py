"""The types of the fields of bodies, annotated with what the OpenAPI document states of them.

A text in `Annotated` is a description, `Keywords` are further keywords of JSON Schema. `openapi/schemas.py` reads both.
A `TypedDict` is a schema of the document by its name; a private one is written where it is used.
"""

from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from ... import encoding
from ...catalog import patterns


class Keywords:
    """Keywords of JSON Schema for the type that they annotate."""

    def __init__(self, **keywords: object) -> None:
        self.keywords = keywords


class Component:
    """The name under which other schemas refer to a type. A class has its own name; this is for any other type."""

    def __init__(self, name: str) -> None:
        self.name = name


_DAY, _MONTH = f"({'|'.join(encoding.DAYS)})", f"({'|'.join(encoding.MONTHS)})"

# Values

Count: TypeAlias = Annotated[int, Keywords(minimum=0)]
Id: TypeAlias = Annotated[int, Keywords(minimum=1, maximum=2_147_483_647)]
ForeignId: TypeAlias = Annotated[int, Keywords(minimum=1, maximum=2**53 - 1)]
Language: TypeAlias = Annotated[str, Keywords(pattern=patterns.LANGUAGE)]
Slug: TypeAlias = Annotated[str, Keywords(pattern=patterns.SLUG)]
Uri: TypeAlias = Annotated[str, Keywords(format="uri")]
Float: TypeAlias = Annotated[encoding.Number, Keywords(format="float", minimum=0)]
# Canonical: 1 and 10.5, never 1.0, 01 or 1e3. A string, because a JSON number would lose its spelling.
Decimal: TypeAlias = Annotated[str, Keywords(pattern=f"^{patterns.CANONICAL_NUMBER}$", examples=["1", "10.5"])]
VolumeNumber: TypeAlias = Annotated[int, Keywords(minimum=0, maximum=999_999_999)]
Instant: TypeAlias = Annotated[str, Keywords(format="date-time", pattern="Z$")]
HttpDate: TypeAlias = Annotated[
    str,
    Keywords(
        pattern=f"^{_DAY}, [0-9]{{2}} {_MONTH} [0-9]{{4}} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}} GMT$",
        examples=["Thu, 30 Apr 2026 18:00:00 GMT"],
    ),
]
Milliseconds: TypeAlias = Annotated[Any, Keywords(pattern="^(0|[1-9][0-9]*000)$")]
# A key of an object is a string in any case.
VolumeKey: TypeAlias = Annotated[Any, Keywords(pattern=f"^{patterns.CANONICAL_INTEGER}$")]
ChapterIdKey: TypeAlias = Annotated[Any, Keywords(pattern="^[1-9][0-9]*$")]

# Fields that several bodies have

Title: TypeAlias = Annotated[str, "Can be empty."]
FullTitle: TypeAlias = Annotated[str, "The title with volume and number, in the form chosen by the series."]
Paragraphs: TypeAlias = Annotated[str, "Can have several lines."]
Names: TypeAlias = Annotated[Sequence[str], "Names."]
OtherNames: TypeAlias = Annotated[Sequence[str], "Other names."]
OtherTitles: TypeAlias = Annotated[Sequence[str], "Other titles."]
PersonNames: TypeAlias = Annotated[
    Sequence[Annotated[Sequence[str], Keywords(minItems=1)]], "One array for each person: the name, then the aliases."
]
Final: TypeAlias = Annotated[bool, "Whether this is the last chapter of the series."]
Completed: TypeAlias = Annotated[bool, "Whether the series is completed or canceled."]
Published: TypeAlias = Annotated[HttpDate, "The time of publication."]
PageUrl: TypeAlias = Annotated[Uri, "The web page where it can be read."]
# v2 returns URLs without a host. Clients resolve them against the host of the API.
PagePath: TypeAlias = Annotated[
    Uri, "The web page where it can be read, as a path on this host.", Keywords(examples=["/reader/paper-moons/"])
]
Image: TypeAlias = Annotated[Uri, "The URL of an image."]
ImageOrNull: TypeAlias = Annotated[Uri | None, "The URL of an image, or null."]
Files: TypeAlias = Annotated[Sequence[str], "File names of the images in reading order, percent-encoded. Can be empty."]
