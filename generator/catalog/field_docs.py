"""What each field of a catalog means, in the words of docs/catalog.md, and a value for each that can be copied.

For schemas only, so that nothing else has to load it; a test compares it with the tables on the page.
"""

from typing import Any

# By the name of the record and of the field.
FIELDS: dict[str, dict[str, tuple[str, list[Any]]]] = {
    "Site": {
        "base_url": (
            "scheme, host and, if need be, port; with no path and no `/` at its end; every absolute address "
            "begins with it",
            ["https://comics.example"],
        ),
        "reader": ("the path of the pages on which people read; begins and ends with `/`", ["/read/"]),
        "media": (
            "where images lie: a path below `base_url`, or an address on another host; ends with `/`",
            ["https://images.example/media/"],
        ),
        "port": ("the port on which the emitted nginx configuration listens, 1 to 65535", [8080]),
        "ipv6": (
            "`true` lets the emitted nginx configuration listen on IPv6 as well; nginx does not start with it on a "
            "machine without IPv6",
            [True],
        ),
        "server_folder": (
            "the folder in which a server keeps `dist/`, absolute, without blanks and without `/` at its end; "
            "without it, paths suit an nginx that is started from the project's folder",
            ["/srv/comics"],
        ),
        "hide_licensed": ("`true` keeps licensed series out of `/api` and `/api/v1` altogether", [True]),
        "restricted": (
            "routes of `/api/v2` that want a key, by their paths below it: `/series`, `/series/{slug}`, "
            "`/series/{slug}/chapters`, `/chapters`, `/chapters/{id}`, `/chapters/{id}/pages`, "
            "`/chapters/{id}/read`, `/pages`, `/cubari/{slug}`, and `/categories`, `/authors`, `/artists`, "
            "`/groups`, `/members`, each also with `/{id}` (categories: `/{name}`); in quotes, because of the "
            "braces",
            [["/members", "/members/{id}"]],
        ),
        "page_size": ("how many series a page of `/api/v2/series` has when a client does not say, 1 to 999", [50]),
        "body_budget": (
            "how many MiB a body may have before a build warns of it, 1 to 1000000; many hosts take no file above 25",
            [100],
        ),
        "keep_releases": (
            "how many releases stay in `dist/`, the current one among them, 2 to 100; serving.md says who needs more",
            [5],
        ),
        "views_per_second": (
            "how many views from one address are counted, with a burst of ten times that, 0 to 1000; "
            "`0` is without limit; keys-and-views.md says what this means behind a CDN",
            [20],
        ),
        "cache": ("for how long caches may keep answers", [{"errors": 30}]),
    },
    "CacheAges": {
        "unversioned": ("ages of the answers below `/api`, by what they are about", [{"series": 120}]),
        "v1": ("ages of the answers below `/api/v1`, likewise", [{"categories": 86400}]),
        "v2": ("ages of the answers below `/api/v2`, likewise", [{"series": 60}]),
        "index": ("age of what is answered at `/`, and of `/api/v2/openapi.json` and `/api/v2/docs/`", [600]),
        "errors": ("age of the answer that something is not there", [30]),
    },
    "VersionAges": {
        "people": ("authors and artists; in `v2` also bookmarks and profiles", [86400]),
        "series": ("series, volumes, chapters and pages", [120]),
        "releases": ("the latest releases; in `v2` the list of all chapters", [30]),
        "categories": ("categories (`unversioned` has none)", [86400]),
        "groups": ("groups (`unversioned` has none); in `v2` also members", [86400]),
    },
    "Person": {
        "modified": ("when the entry last changed", ["2025-11-02T09:30:00Z"]),
        "id": ("a whole number from 1 to 2147483647, unique in the file", [1]),
        "name": ("the name as it is shown and referred to", ["Mira Okafor"]),
        "aliases": ("other names", [["M. Okafor", "大川ミラ"]]),
    },
    "Category": {
        "modified": ("when the entry last changed", ["2023-09-01T12:00:00Z"]),
        "id": (
            "one line of any text, with blanks, not only dots, no `-` at the beginning, no blank at either end, "
            "and at most 200 characters, unique in the file; series refer to it",
            ["slice of life"],
        ),
        "name": (
            "the name as it is shown: as an id, but at most 50 characters. A name with `/` or a comma has no "
            "address of its own, and filters find a category by the id where a name has a comma",
            ["Slice of life"],
        ),
        "description": ("what belongs here; may have several lines", ["Nothing happens, beautifully."]),
    },
    "Group": {
        "modified": ("when the entry last changed", ["2026-04-01T04:12:00Z"]),
        "id": ("a whole number from 1 to 2147483647, unique in the file", [1]),
        "name": ("the name as it is shown and referred to", ["Night Shift"]),
        "description": ("about the group; may have several lines", ["We letter after dark."]),
        "website": ("its address on the web", ["https://night-shift.example"]),
        "email": ("its e-mail address", ["hello@night-shift.example"]),
        "discord": ("its Discord invitation", ["https://discord.example/night-shift"]),
        "twitter": ("its name on Twitter, without `@`", ["nightshift_reads"]),
        "reddit": ("its name on Reddit", ["r/nightshift_reads"]),
        "irc": ("its IRC channel; in quotes, because of the `#`", ["irc://irc.example/#night-shift"]),
        "logo": ("an image: a file in `{media}/groups/{id}/`, or an address", ["owl with lamp.png"]),
        "members": ("who does what in the group", []),
    },
    "Role": {
        "member": ("a reference to `members.yaml`, by name or id", ["Wren"]),
        "role": ("what they do in this group", ["Translator"]),
    },
    "Member": {
        "modified": ("when the entry last changed", ["2025-12-24T23:59:00Z"]),
        "id": ("a whole number from 1 to 2147483647, unique in the file", [1]),
        "name": ("the name as it is shown and referred to", ["Wren"]),
        "twitter": ("their name on Twitter, without `@`", ["wren_after_dark"]),
        "discord": ("their name on Discord", ["wren.owl"]),
        "irc": ("their nickname on IRC", ["wren"]),
        "reddit": ("their name on Reddit", ["u/wren_after_dark"]),
    },
    "Account": {
        "modified": ("when the entry last changed", ["2026-05-17T20:00:00Z"]),
        "username": ("letters A-Z and a-z, digits, `-`, `_`, at most 200, unique in the file", ["lamplighter"]),
        "first_name": ("their first name", ["Noor"]),
        "last_name": ("their last name", ["Castellane"]),
        "email": ("their e-mail address", ["noor@mail.example"]),
        "bio": ("a few words about them; may have several lines", ["Reads standing up."]),
        "avatar": ("an image: a file in `{media}/users/{username}/`, or an address", ["lamp.png"]),
        "url": ("the whole address of their own page", ["https://lamplighter.example/about"]),
        "bookmarks": ("slugs of series", [["paper-moons", "window-sill-cactus-club"]]),
        "keys": ("their keys, known by digests only", []),
    },
    "Key": {
        "name": ("what the key is for, to recognise it by", ["tablet"]),
        "sha256": ("the SHA-256 digest of the key, 64 digits `0-9 a-f`", []),
    },
    "IssuedKey": {
        "name": ("what the key is for; no two keys have the same, in `accounts.yaml` neither", ["reading room"]),
        "sha256": ("the SHA-256 digest of the key, 64 digits `0-9 a-f`", []),
        "account": ("the username of an account, whose bookmarks and profile the key opens as well", ["lamplighter"]),
    },
    "Series": {
        "modified": ("when the series last changed", ["2026-05-01T12:00:00Z"]),
        "title": ("the title as it is shown", ["Paper Moons"]),
        "aliases": ("other titles", [["紙の月たち"]]),
        "description": ("what it is about; may have several lines", ["A lonely probe writes home."]),
        "authors": ("references to `authors.yaml`, by name or id", [["Mira Okafor", 6]]),
        "artists": ("references to `artists.yaml`, by name or id", [["Mira Okafor", 7]]),
        "categories": ("ids from `categories.yaml`", [["adventure", "fantasy"]]),
        "status": ("`ongoing`, `completed`, `hiatus`, or `canceled`", ["hiatus"]),
        "licensed": ("`true`: chapters are not served in `/api/v2`", [True]),
        "restricted": ("`true`: chapters need a key", [True]),
        "cover": ("an image: a file in `{media}/series/{slug}/`, or an address", ["cover.jpg"]),
        "chapter_title": (
            "how the full title of a chapter is made; `{volume}`, `{number}`, `{title}`, `{date}` and "
            "`{series}` are filled in",
            ["#{number} {title}"],
        ),
        "chapters": ("the chapters; those in files of their own come to them", []),
    },
    "Chapter": {
        "modified": ("when the chapter last changed", ["2026-05-01T12:00:00Z"]),
        "id": (
            "a whole number from 1 to 2147483647, unique in the whole catalog, never changed once published; "
            "without it the chapter is missing from `/api/v2`, and the build says so; `python build.py ids` "
            "writes missing ones",
            [12],
        ),
        "volume": ("a whole number from 1 to 999999999; without it, the chapter is in no volume", [1]),
        "number": ("a chapter number, unique in its volume", [10.5]),
        "title": ("the title of the chapter alone", ["Ten and a half"]),
        "published": ("the instant of publication; in the future: scheduled", ["2026-04-30T18:00:00Z"]),
        "final": ("`true` on the last chapter of a finished story", [True]),
        "groups": ("references to `groups.yaml`, by name or id", [["Night Shift", 2]]),
        "pages": ("the pages in reading order: a list of images, or a run", ["001.jpg .. 018.jpg"]),
        "views": ("how often the chapter had been read before anything was counted; `views.yaml` is added", [1204]),
    },
}
