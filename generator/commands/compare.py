"""`compare`: show what differs between two running sites."""

import time
from pathlib import Path

import click

from ..review.site_compare import run
from ..review.site_compare.summary import comparison_lines, result_json
from ..server_url import ServerUrl
from . import options
from .command import Command, Result
from .importing import RequestOptions, Url, progress_of_requests, request_options
from .output import bold

CACHE = ".flatpanel_compare_cache"


@click.command(
    cls=Command,
    examples=[
        "compare https://comics.example http://localhost:8000",
        "compare https://comics.example https://new.comics.example --every --json",
    ],
)
@click.argument("first", metavar="URL1", type=Url())
@click.argument("second", metavar="URL2", type=Url())
@click.option("--every", is_flag=True, help="Request each chapter and its pages, not three of each series.")
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    default=CACHE,
    show_default=True,
    help="Cache of the responses; an interrupted comparison resumes.",
)
@request_options
@options.as_json
def compare(first: ServerUrl, second: ServerUrl, every: bool, cache: Path, requests: RequestOptions) -> Result:
    """Show what differs between two sites.

    Requests everything that both sites have, and names the known reasons for differences between the original service
    (URL1) and a site that was imported from it (URL2). The exit code is 1 if a difference has no known reason.
    """
    compare_options = run.CompareOptions(
        first=first,
        second=second,
        cache=cache,
        now=options.now(),
        clock=time.monotonic,
        sleep=time.sleep,
        key=requests.key(),
        rate=requests.rate,
        every=every,
        timeout=requests.timeout,
        max_response=requests.max_response,
    )
    with progress_of_requests() as progress:
        result = run.run(compare_options, progress)
    return Result(
        lambda: [bold(f"{first} → {second}"), *comparison_lines(result)],
        lambda: result_json(compare_options, result),
        ok=not result.unexplained,
    )
