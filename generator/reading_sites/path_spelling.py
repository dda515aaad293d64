"""The final slash of paths in the older versions: some sites have these paths with it only.

The original service answers 501 or a redirect to a path of version 1 without a final slash. All other modules have
paths without it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from .site_client import MOVED, SiteClient, TimedResponse

OK, NOT_IMPLEMENTED = 200, 501
# An older version and a path in it.
_OLD = re.compile(r"(/api(?:/v1)?)/(?!v[12]/)[^?]*[^?/]")


@dataclass(slots=True)
class SpelledClient:
    """Requests each path in the spelling of the site; a response shows it once for each version."""

    client: SiteClient
    _has_final_slash: dict[str, bool] = field(default_factory=dict)

    def get(self, path: str, headers: Mapping[str, str]) -> TimedResponse:
        old = _OLD.fullmatch(path)
        if not old:
            return self.client.get(path, headers)
        version = old[1]
        if version in self._has_final_slash:
            return self.client.get(f"{path}/" if self._has_final_slash[version] else path, headers)
        response = self.client.get(path, headers, follows=False)
        adds_slash = urlsplit(response.headers.get("location", "")).path.endswith(f"{path}/")
        if response.status in MOVED and not adds_slash:
            response = self.client.get(path, headers)
        if response.status == OK:
            self._has_final_slash[version] = False
        elif response.status in (NOT_IMPLEMENTED, *MOVED):
            response = self.client.get(f"{path}/", headers)
            if response.status != NOT_IMPLEMENTED:
                self._has_final_slash[version] = True
        return response
