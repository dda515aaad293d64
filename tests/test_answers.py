"""Every file of every golden site, as a client receives it."""
import pytest
from tests.conftest import SITES

def test_minimal(serve):
    site, web = serve("minimal")
    for one in site.manifest.resources.values():
        a = web.ask(one.url)
        assert a.status == 200
        assert a.body == (site.folder/"dist"/one.file).read_bytes()
        assert web.ask(one.url, If_None_Match=a["etag"]).status == 304
