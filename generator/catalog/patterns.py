"""Regular expressions of field values, and the advice printed when a text does not match.

Editors and pydantic use the same expressions; `^` and `$` are the beginning and the end of the whole text.
"""

SLUG = r"^[-a-zA-Z0-9_]+$"
# The file name of a body is slug + "." + 32 digits + ".json.headers", and at most 255 bytes long.
MAX_SLUG = 200
# Of the settings that are paths: each of their names becomes a folder.
MAX_PATH = 200
# The form of a chapter number in URLs: 1, 10.5 or 1.25; never 1.0, 01 or 1e3.
CANONICAL_INTEGER = "(0|[1-9][0-9]{0,8})"
CANONICAL_NUMBER = rf"{CANONICAL_INTEGER}(\.[0-9]{{0,3}}[1-9])?"

_PORT = r"(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
# Names with single dots between them.
NAME = r"(?:[-A-Za-z0-9_~]+\.)*[-A-Za-z0-9_~]+\.?"
_HOST = rf"https?://{NAME}{_PORT}"
# Not of dots only: /../ would lead out of the folder of a release, of an export, of a bucket.
_FOLDERS = r"/(?:\.*[-A-Za-z0-9_~][-A-Za-z0-9._~]*/)*"
# On the site's own host, where names that begin with a dot belong to servers and to this program.
_OWN_FOLDERS = r"/(?:[-A-Za-z0-9_~][-A-Za-z0-9._~]*/)*"
# A name of a file has at least one character other than a dot: . and .. are folders.
_FILE = r"\.*[^/\\.\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*"
# Without the characters that nginx reads as part of its syntax, and without a dot at the beginning: no .., no .git.
_FOLDER_CHARACTERS = r"/\\\x00-\x1f\x7f$*?'\["
_FOLDER = rf"[^.{_FOLDER_CHARACTERS}][^{_FOLDER_CHARACTERS}]*"
_GROUP = "[0-9A-Fa-f]{1,4}"
# Eight groups, or fewer with :: for those that are left out.
_SHORT = (
    rf"(?:{_GROUP}(?::{_GROUP}){{0,{count}}})?::(?:{_GROUP}(?::{_GROUP}){{0,{5 - count}}})?" for count in range(6)
)
IPV6 = rf"\[(?:{_GROUP}(?::{_GROUP}){{7}}|{'|'.join(_SHORT)})\]"
# Without a user name: readers would take https://publisher.example:443@evil.example/ for another host.
_AUTHORITY = rf"(?:{NAME}|{IPV6}){_PORT}"
_URL = rf"https?://{_AUTHORITY}(?:[/?#](?:[-A-Za-z0-9._~:/?#@!$&'()*+,;=\[\]]|%[0-9A-Fa-f]{{2}})*)?"

# JSON allows control characters, but HTTP header fields and reader apps do not.
LINE = r"^[^\x00-\x1f\x7f]*$"
# Letters and digits of all scripts and @ . + - _, as in usernames of MangAdventure: the rest of ASCII, spaces
# and usual invisible characters are excluded. Not only dots, because a username is a path segment of a URL.
_NOT_IN_USERNAMES = r"\x00-*,/:-?\[-^`{-\xa9\xad\u061c\u1680\u180e\u2000-\u206f\u3000\ue000-\uf8ff\ufeff\ufff0-\uffff"
USERNAME = rf"^[^{_NOT_IN_USERNAMES}]*[^.{_NOT_IN_USERNAMES}][^{_NOT_IN_USERNAMES}]*$"
PARAGRAPHS = r"^[^\x00-\x08\x0b-\x1f\x7f]*$"
# A category without / or comma is a path segment; the segments . and .. mean another path.
CATEGORY = r"^[^\x00-\x1f\x7f]*[^.\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"
FILE_OR_URL = rf"^(?:{_URL}|{_FILE})$"
URL = rf"^{_URL}$"
HOST = rf"^{_HOST}$"
PATH = rf"^{_OWN_FOLDERS}$"
PATH_OR_URL = rf"^(?:{_HOST})?{_FOLDERS}$"
SERVER_FOLDER = r"^(?:/\.*[-A-Za-z0-9_][-A-Za-z0-9._]*)+$"
MEDIA_FOLDER = rf"^{_FOLDER}(?:/{_FOLDER})*$"
DIGEST = r"^[0-9a-f]{64}$"
CHAPTER_ID = r"^[1-9][0-9]{0,9}$"
# BCP 47: a language of two or three letters, then script, region, variants, extensions and private subtags.
LANGUAGE = (
    r"^[A-Za-z]{2,3}(?:-[A-Za-z]{3}){0,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?"
    r"(?:-(?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3})){0,3}(?:-[0-9A-WYZa-wyz](?:-[A-Za-z0-9]{2,8}){1,3}){0,3}"
    r"(?:-x(?:-[A-Za-z0-9]{1,8}){1,3})?$"
)
_SIZE = r"(?:[1-9][0-9]{0,5}x[1-9][0-9]{0,5}|-)(?:\*[1-9][0-9]{0,4})?"
# A path below the media root: folders and a file.
MEDIA_PATH = rf"^(?:{_FILE}/)+{_FILE}$"
# Widths of the copies, the width of the image, and the beginning of the SHA-256 of its file.
VARIANTS = r"^(?:[1-9][0-9]{0,3} )*of [1-9][0-9]{0,5}, [0-9a-f]{16}$"
SIZES = rf"^{_SIZE}(?: {_SIZE})*$"
# The path of an archive below the media root, its bytes, and the beginning of the SHA-256 of its content.
ARCHIVE_PATH = rf"archives/[-a-zA-Z0-9_]+/{CANONICAL_INTEGER}/{CANONICAL_NUMBER}(?:-version-[1-9][0-9]{{0,9}})?\.cbz"
ARCHIVE = rf"^{ARCHIVE_PATH}(?: [1-9][0-9]{{0,9}} [0-9a-f]{{16}})?$"

# The end of a message, for every pattern that a field can violate.
ADVICE = {
    SLUG: "should contain only the letters A-Z a-z, digits, - and _",
    USERNAME: "should contain only letters, digits, @, ., +, - and _, and not only dots",
    LINE: "should be one line without control characters",
    CATEGORY: "should be one line without control characters, and not only dots, because it is part of a URL",
    PARAGRAPHS: "should not contain control characters other than line breaks and tabs",
    FILE_OR_URL: "should be a file name without a folder, or a complete percent-encoded http(s):// URL",
    URL: "should be a complete percent-encoded http(s):// URL",
    HOST: "should be a scheme and a host only, like https://comics.example",
    PATH: "should be a path that begins and ends with /, like /reader/, without names that begin with a dot",
    PATH_OR_URL: "should be a path or an http(s):// URL that ends with /, like /media/, without . and .. as names",
    SERVER_FOLDER: "should be an absolute folder without spaces, without . and .. as names and without / at the end, "
    "like /srv/comics",
    MEDIA_FOLDER: "should be a folder below the folder of the project, like media or files/images: without / at the "
    "beginning or end, names that begin with a dot, and the characters \\ $ * ? ' [",
    DIGEST: "should be the SHA-256 digest of a key (64 digits 0-9 a-f), never the key itself",
    LANGUAGE: "should be a language tag (BCP 47), like en, pt-BR or zh-Hant",
    CHAPTER_ID: "should be the id of a chapter",
    MEDIA_PATH: "should be the path of an image below the media, without . and .. as names, like "
    "series/paper-moons/cover.jpg",
    VARIANTS: "should be widths, the width of the image and a digest, like 160 320 of 800, 0123456789abcdef",
    ARCHIVE: "should be the path of an archive, its size and a digest, like archives/paper-moons/1/10.5.cbz 1234567 "
    "0123456789abcdef",
    SIZES: "should be sizes with one space between them, like 784x1145*23 - 1568x1145",
}
