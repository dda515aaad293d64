"""A site of a test, built for a free port and served by nginx."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.conftest import Site, date
from tests.support import nginx_client


@contextmanager
def serving(site: Site) -> Iterator[nginx_client.Web]:
    with nginx_client.listening() as listener:
        with (site.folder / "catalog_src/site.yaml").open("a") as settings:
            settings.write(f"port: {listener.getsockname()[1]}\n")
        date(site.folder)
        site.build()
        with nginx_client.running(site.folder, listener) as web:
            yield web
