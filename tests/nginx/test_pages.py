"""The Content-Security-Policy of pages, and the bodies of errors outside the API."""

from generator.api import policies
from generator.api.payloads.errors import MESSAGES
from generator.nginx import quoting
from tests.support.tables import each


def images(*origins: str) -> str:
    return policies.page_policy(origins).partition("img-src 'self'")[2].partition(";")[0]


@each(
    ("origins", "sources"),
    [
        ([], ""),
        (
            ["https://b.example", "https://a.example:8443", "https://b.example"],
            " https://a.example:8443 https://b.example",
        ),
        (["http://localhost:8000", "https://A_b.example"], " http://localhost:8000 https://A_b.example"),
        # These have no form in a policy.
        (["https://[::1]:8000", "https://a~b.example", "https://a..b"], " https:"),
        (["http://[::1]", "https://a.example"], " http: https://a.example"),
        # These are in no catalog. Nothing of them gets into the header.
        (["https://a.example; script-src *"], " https:"),
        (["https://a.example\n", "*", "data:x", "https://*.example"], " http: https:"),
    ],
)
def test_policy_names_the_hosts_of_images(origins: list[str], sources: str) -> None:
    assert images(*origins) == sources


def test_very_many_hosts_are_named_by_their_scheme() -> None:
    """A long header would be refused by proxies and Cloudflare, and nginx reads no longer word."""
    many = [f"https://images-{number}.example" for number in range(60)]
    too_many = [f"https://images-{number}.example" for number in range(200)]

    assert images(*many).split() == sorted(many)
    assert images(*too_many) == " https:"
    assert images(*too_many, "http://a.example") == " http: https:"
    assert len(quoting.quote(policies.page_policy(many))) < 1950


def test_error_pages_can_be_written_into_a_configuration() -> None:
    """Each names its status in words."""
    for text in MESSAGES.values():
        assert f"<h1>{text}</h1>" in policies.error_page(text)
        assert quoting.quote(policies.error_page(text)).startswith('"')
