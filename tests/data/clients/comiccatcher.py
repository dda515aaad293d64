"""What ComicCatcher 0.7.5 reads of a catalog of OPDS, as JSON. Runs in .venv-clients: python comiccatcher.py BASE PATH.

It follows links from the start to each list of chapters, opens the first chapter of each, and loads its first and its
last page with the program's own client.
"""

import asyncio
import json
import sys
from urllib.parse import urljoin

from comiccatcher.api.client import APIClient
from comiccatcher.api.feed_reconciler import FeedReconciler
from comiccatcher.api.opds_v2 import OPDS2Client
from comiccatcher.models.feed import FeedProfile


async def read(base, start):
    found = {"lists": {}, "chapters": {}}
    async with APIClient(FeedProfile(id="1", name="Site", url=base)) as api:
        client = OPDS2Client(api)
        waiting = [urljoin(base, start)]
        while waiting:
            url = waiting.pop()
            feed = await client.get_feed(url)
            found["lists"][url.removeprefix(base)] = [link.title for link in feed.navigation or []]
            links = [link.href for link in feed.navigation or []]
            links += [link.href for link in feed.links if link.rel == "next"]
            waiting += {urljoin(url, link) for link in links} - {*waiting, *(base + path for path in found["lists"])}
            for publication in (feed.publications or [])[:1]:
                found["chapters"][url.removeprefix(base)] = await chapter(api, client, url, publication)
    return found


async def chapter(api, client, url, publication):
    archive, type, size = FeedReconciler._find_acquisition_link(publication, url)
    pages = publication.readingOrder
    if not pages:
        (manifest,) = {urljoin(url, link.href) for link in publication.links if link.type == "application/divina+json"}
        opened = await client.get_publication(manifest)
        assert opened.is_divina and opened.metadata.title == publication.metadata.title
        pages = opened.readingOrder
    loaded = []
    for page in (pages[0], pages[-1]):
        response = await api.get(urljoin(url, page.href))
        loaded.append([response.status_code, response.headers["content-type"], len(response.content)])
    metadata = publication.metadata
    return {
        "title": metadata.title,
        "authors": [author.name for author in metadata.author or []],
        "pages": metadata.numberOfPages,
        "links": len(pages),
        "images": [urljoin(url, image.href) for image in publication.images or []],
        "loaded": loaded,
        "archive": [archive, type, size],
    }


print(json.dumps(asyncio.run(read(*sys.argv[1:]))))
