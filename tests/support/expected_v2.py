"""Bodies of v2 as the test site should give them, in plain Python values."""

MEDIA = "https://lists.example/media"

ITEM = {
    "slug": "full-book",
    "title": "Full Book",
    "url": "/reader/full-book/",
    "cover": f"{MEDIA}/series/full-book/my%20cover.jpg",
    "updated": "2026-03-01T10:00:00Z",
    "chapters": 6,
}
LICENSED = {
    "slug": "in-shops",
    "title": "In Shops",
    "url": "/reader/in-shops/",
    "cover": "https://images.example/in%20shops.jpg",
    "updated": "2026-02-13T00:00:00Z",
    "chapters": None,
}
DETAIL = {
    "slug": "full-book",
    "title": "Full Book",
    "url": "/reader/full-book/",
    "cover": f"{MEDIA}/series/full-book/my%20cover.jpg",
    "updated": "2026-03-01T10:00:00Z",
    "description": "Everything a series can have.\nTwice.",
    "views": 13,
    "status": "hiatus",
    "completed": False,
    "licensed": False,
    "aliases": ["The Whole Thing", "完全な本"],
    "authors": ["Ada Penn", "Ольга Ветер"],
    "artists": ["Bo Ink", "İlkay Ş."],
    "categories": ["Action", "Slice of Life"],
    "kind": "webtoon",
    "rating": "explicit",
    "language": "pt-BR",
    "links": {
        "official": "https://books.example/full-book",
        "anilist": 1,
        "mal": 2_147_483_647,
        "mangaupdates": 9_007_199_254_740_991,
        "discussion": "https://forum.example/full-book?a=1&b=%3C",
    },
}
LICENSED_DETAIL = {
    "slug": "in-shops",
    "title": "In Shops",
    "url": "/reader/in-shops/",
    "cover": "https://images.example/in%20shops.jpg",
    "updated": "2026-02-13T00:00:00Z",
    "description": "Licensed.",
    "views": 900,
    "status": "completed",
    "completed": True,
    "licensed": True,
    "aliases": [],
    "authors": [],
    "artists": [],
    "categories": ["Drama"],
    "kind": None,
    "rating": None,
    "language": None,
    "links": {},
}


def chapter(
    one: int, title: str, number: float, volume: int | None, published: str, **more: object
) -> dict[str, object]:
    place = f"{volume or 0}/{number:g}"
    said = f"Ch. {number:g}" + (f": {title}" if title else "")
    return {
        "id": one,
        "title": title,
        "number": number,
        "volume": volume,
        "published": published,
        "views": 0,
        "final": False,
        "series": "full-book",
        "groups": [],
        "full_title": f"Vol. {volume}, {said}" if volume else said,
        "url": f"/reader/full-book/{place}/",
    } | more


def newest_first(late: str, second: str, first: str) -> dict[str, object]:
    """Those of one moment: without a volume first, then by volume and number, both descending."""
    return {
        "results": [
            chapter(20, "", 0.0, None, late, views=1),
            chapter(22, "Ten", 10.0, 2, late, final=True),
            chapter(21, "Three", 3.0, 2, late),
            chapter(23, "Late", 99.0, 1, late),
            chapter(12, "Two and a half", 2.5, 1, second, views=7),
            chapter(11, "One", 1.0, 1, first, views=5, groups=["Night Shift", "Day, Inc."]),
        ]
    }


ISO = newest_first("2026-03-01T10:00:00Z", "2026-02-02T10:00:00Z", "2026-02-01T10:00:00Z")
MAIL = newest_first("Sun, 01 Mar 2026 10:00:00 GMT", "Mon, 02 Feb 2026 10:00:00 GMT", "Sun, 01 Feb 2026 10:00:00 GMT")
MILLISECONDS = newest_first("1772359200000", "1770026400000", "1769940000000")
PAGES = {
    "results": [
        {
            "id": 11001,
            "image": f"{MEDIA}/series/full-book/1/1/001.png",
            "number": 1,
            "url": "/reader/full-book/1/1/1/",
        },
        {
            "id": 11002,
            "image": f"{MEDIA}/series/full-book/1/1/two%20%26%20a%20half.png",
            "number": 2,
            "url": "/reader/full-book/1/1/2/",
        },
        {
            "id": 11003,
            "image": f"{MEDIA}/series/full-book/1/1/%E4%B8%89.png",
            "number": 3,
            "url": "/reader/full-book/1/1/3/",
        },
    ]
}
NIGHT_SHIFT = {
    "id": 1,
    "name": "Night Shift",
    "website": "https://night.example/",
    "description": "We work late.",
    "email": "hi@night.example",
    "discord": "https://discord.example/n",
    "twitter": "night_t",
    "reddit": "night_r",
    "irc": "irc://irc.example/night",
    "logo": f"{MEDIA}/groups/1/night%20logo.png",
    "members": ["Translator: Mo", "Letterer: Nia", "Leader: Mo"],
}
DAY = {
    "id": 2,
    "name": "Day, Inc.",
    "website": "",
    "description": "",
    "email": "",
    "discord": "",
    "twitter": "",
    "reddit": "",
    "irc": "",
    "logo": None,
    "members": ["Guest: Mo"],
}
MO = {
    "id": 1,
    "name": "Mo",
    "twitter": "mo_t",
    "discord": "mo_d",
    "irc": "mo_i",
    "reddit": "mo_r",
    "groups": ["Night Shift (Translator, Leader)", "Day, Inc. (Guest)"],
}
NIA = {
    "id": 2,
    "name": "Nia",
    "twitter": "",
    "discord": "",
    "irc": "",
    "reddit": "",
    "groups": ["Night Shift (Letterer)"],
}
ALONE = {"id": 3, "name": "Alone", "twitter": "", "discord": "", "irc": "", "reddit": "", "groups": []}


def reader_chapter(title: str, place: str, pages: list[str], updated: str, groups: str = "N/A") -> dict[str, object]:
    volume, number = place.split("/")
    images = [f"{MEDIA}/series/full-book/{place}/{page}" for page in pages]
    return {
        "title": title,
        "volume": volume,
        "number": number,
        "groups": {groups: images},
        "last_updated": updated,
    }


CUBARI = {
    "title": "Full Book",
    "cover": f"{MEDIA}/series/full-book/my%20cover.jpg",
    "original_url": "/reader/full-book/",
    "description": "Everything a series can have.\nTwice.",
    "author": "Ada Penn, Ольга Ветер",
    "artist": "Bo Ink, İlkay Ş.",
    "alt_titles": ["The Whole Thing", "完全な本"],
    "metadata": [["Author", "Ada Penn, Ольга Ветер"], ["Artist", "Bo Ink, İlkay Ş."]],
    "chapters": {
        "11": reader_chapter(
            "One",
            "1/1",
            ["001.png", "two%20%26%20a%20half.png", "%E4%B8%89.png"],
            "1770285600",
            "Night Shift, Day, Inc.",
        ),
        "12": reader_chapter("Two and a half", "1/2.5", ["1.png"], "1770026400"),
        "23": reader_chapter("Late", "1/99", ["1.png"], "1772359200"),
        "21": reader_chapter("Three", "2/3", ["1.png"], "1772359200"),
        "22": reader_chapter("Ten", "2/10", ["1.png"], "1772359200"),
        "20": reader_chapter("", "0/0", ["1.png"], "1772359200"),
    },
}
DRAMA = {"name": "Drama", "description": ""}
AUTHORS = [
    {"id": 1, "name": "Ada Penn"},
    {"id": 2, "name": "Émile Straß"},
    {"id": 3, "name": "Ольга Ветер"},
    {"id": 10, "name": "Q & A, 100%"},
]
CATEGORIES = [
    {"name": "constructor", "description": ""},
    {"name": "Action", "description": "Things happen."},
    DRAMA,
    {"name": "Été", "description": ""},
    {"name": "Steins;Gate", "description": ""},
    {"name": "100% why? #&+\"'$1\\", "description": ""},
    {"name": "Slice of Life", "description": "Tea, mostly."},
    {"name": "Unused", "description": ""},
]
