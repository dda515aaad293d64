"""Errors of an object store in one sentence. The library describes them in many lines."""

import re
from collections.abc import Callable

from ....errors import FlatpanelError
from .target import BucketTarget, Connection

_STATUS = re.compile(r"status code: (\d+)")
_CODE = re.compile(r"<Code>([^<]+)</Code>")
_MESSAGE = re.compile(r"<Message>([^<]+)</Message>")
# The address of the service that gives credentials to machines in a cloud. It is asked if the environment has none.
_MACHINE = "169.254.169.254"
_REFUSED = {401, 403}
_BUSY = {429, 500, 502, 503, 504}


def explained(target: BucketTarget, connection: Connection) -> Callable[[Exception], FlatpanelError]:
    """The function that makes one sentence of an error of this store."""
    store = connection.endpoint or "the endpoint of the environment"

    def sentence(error: Exception) -> str:
        text = str(error)
        status, code, message = (_first(pattern, text) for pattern in (_STATUS, _CODE, _MESSAGE))
        answer = ": ".join(filter(None, (status, code, message)))
        if _MACHINE in text:
            return "no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        if code == "NoSuchBucket":
            return f"the bucket {target.bucket} does not exist at {store}; create it, or check the endpoint"
        if status and int(status) in _REFUSED:
            return f"the store refuses this ({answer}); check the credentials and what they permit in the bucket"
        if status and int(status) in _BUSY:
            return f"the store is busy or broken ({answer}); run it again later, what was sent is not sent again"
        if "redirect" in text:
            return f"{store} sends this to another place; check --region and --endpoint"
        if status:
            return f"{store} does not answer like an object store ({answer}); check --endpoint and --region"
        if "error sending request" in text or "timed out" in text:
            return f"no connection to {store}; check --endpoint and the network"
        return text.partition("\n")[0]

    return lambda error: FlatpanelError(f"{target}: {sentence(error)}")


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""
