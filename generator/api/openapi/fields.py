"""Fields that several bodies have, with their descriptions."""

from .schema_types import (
    DECIMAL,
    FLAG,
    FLOAT,
    HTTP_DATE,
    INSTANT,
    TEXT,
    URI,
    VOLUME,
    Schema,
    array,
    described,
    object_of,
)

NAMES = array(TEXT)
PERSON_NAMES = described(array(NAMES | {"minItems": 1}), "One array for each person: the name, then the aliases.")
FINAL = described(FLAG, "Whether this is the last chapter of the series.")
COMPLETED = described(FLAG, "Whether the series is completed or canceled.")
# v2 returns URLs without a host. Clients resolve them against the host of the API.
PATH = described(URI, "A path on this host.", examples=["/reader/paper-moons/"])
TITLE = described(TEXT, "Can be empty.")
FULL_TITLE = described(TEXT, "The title with volume and number, in the form chosen by the series.")
PARAGRAPHS = described(TEXT, "Can have several lines.")
NAMES_ONLY = described(NAMES, "Names.")
OTHER_NAMES = described(NAMES, "Other names.")
OTHER_TITLES = described(NAMES, "Other titles.")
PAGE_URL = described(URI, "The web page where it can be read.")
PAGE_PATH = described(PATH, "The web page where it can be read, as a path on this host.")
IMAGE = described(URI, "The URL of an image.")
FILES = described(NAMES, "File names of the images in reading order, percent-encoded. Can be empty.")
PUBLISHED = described(HTTP_DATE, "The time of publication.")
# A date in the format that the request asks for.
DATE = described(
    TEXT,
    "In the format of `date_format`. Milliseconds since 1970 are a string, too.",
    anyOf=[INSTANT, HTTP_DATE, {"pattern": "^(0|[1-9][0-9]*000)$"}],
)
# Cubari JSON has numbers as strings.
VOLUME_TEXT: Schema = {
    "type": "string",
    "format": "uint32",
    "pattern": "^(0|[1-9][0-9]*)$",
    "default": "0",
    "description": '`"0"` for a chapter without a volume.',
}
NUMBER_TEXT = described(DECIMAL, 'As in `"1"` and `"10.5"`.', format="float", default="0")
SECONDS_TEXT: Schema = {
    "type": "string",
    "format": "uint64",
    "pattern": "^[0-9]*$",
    "default": "",
    "description": "Seconds since 1970.",
}
LATEST_CHAPTER = object_of(
    title=TITLE,
    volume=described(VOLUME, "0 for a chapter without a volume."),
    number=described(FLOAT, "Without a decimal point for a whole number."),
    date=PUBLISHED,
)
