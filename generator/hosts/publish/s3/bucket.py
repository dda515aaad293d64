"""The objects of a bucket. The only importer of obstore, which is an optional library."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, NamedTuple

from .... import installation
from ....errors import FlatpanelError
from . import store_errors
from .target import BucketTarget, Connection

# Keys in one request; the limit of S3.
_DELETED_AT_ONCE = 1000
_BACKOFF: Any = {"init_backoff": timedelta(milliseconds=200), "max_backoff": timedelta(seconds=10), "base": 2}


class Conflict(FlatpanelError):
    """An object was changed by another publisher."""


class Stored(NamedTuple):
    """An object of the bucket, and the tag that names this version of it."""

    data: bytes
    tag: str


class Bucket:
    """The objects below the prefix of a target.

    A conditional write changes an object only if it still is what it was. Some stores ignore the condition.
    """

    def __init__(self, target: BucketTarget, connection: Connection) -> None:
        try:
            import obstore
            from obstore.store import S3Store
        except ImportError:
            raise FlatpanelError(
                f"publishing to a bucket needs the library obstore; install it: {installation.how_to_add('obstore')}"
            ) from None
        self.target, self._api = target, obstore
        # False for a store that refuses or ignores conditions.
        self.is_conditional = True
        self._explained = store_errors.explained(target, connection)
        settings: dict[str, Any] = {"endpoint": connection.endpoint, "region": connection.region}
        with self._translated():
            self._store = S3Store(
                target.bucket,
                prefix=target.prefix or None,
                client_options={
                    "allow_http": True,
                    "timeout": f"{connection.seconds}s",
                    "connect_timeout": "10s",
                },
                retry_config={
                    "max_retries": connection.retries,
                    "retry_timeout": timedelta(minutes=4),
                    "backoff": _BACKOFF,
                },
                **{name: value for name, value in settings.items() if value},
            )

    def get(self, key: str) -> Stored | None:
        """The object of a key, or None."""
        with self._translated(), suppress(FileNotFoundError):
            result = self._get(key)
            return Stored(bytes(result.bytes()), _tag(result.meta["e_tag"]))
        return None

    def attributes(self, key: str) -> Mapping[str, str]:
        """The headers that the store sends with an object; none for a missing one."""
        with self._translated(), suppress(FileNotFoundError):
            return dict(self._get(key, {"head": True}).attributes)
        return {}

    def put(self, key: str, data: bytes, headers: Mapping[str, str]) -> str:
        """Write an object in one part, and return its tag."""
        with self._translated():
            return self._put(key, data, headers, "overwrite")

    def swap(self, key: str, data: bytes, headers: Mapping[str, str], old: str | None) -> str:
        """Write an object that still has the tag `old`, or that does not exist yet, and return its tag."""
        if not self.is_conditional:
            return self.put(key, data, headers)
        with self._translated():
            try:
                return self._put(key, data, headers, {"e_tag": f'"{old}"'} if old else "create")
            except (self._api.exceptions.AlreadyExistsError, self._api.exceptions.PreconditionError):
                pass
        # A repeated request meets its own first try, whose response was lost.
        stored = self.get(key)
        if stored and stored.data == data:
            return stored.tag
        raise Conflict(f"{self.target}: another publish has changed {key}")

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects; missing ones are no error."""
        for start in range(0, len(keys), _DELETED_AT_ONCE):
            with self._translated(), suppress(FileNotFoundError):
                self._api.delete(self._store, list(keys[start : start + _DELETED_AT_ONCE]))

    def tags(self) -> Iterator[tuple[str, str]]:
        """The key and the tag of every object below the prefix."""
        with self._translated():
            for objects in self._api.list(self._store):
                for meta in objects:
                    yield meta["path"], _tag(meta["e_tag"])

    def _get(self, key: str, options: Any = None) -> Any:
        try:
            return self._api.get(self._store, key, options=options)
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise self._explained(error) from None
            raise

    def _put(self, key: str, data: bytes, headers: Mapping[str, str], mode: Any) -> str:
        # The ETag of several parts is no MD5, and clients would get another ETag than from nginx.
        result = self._api.put(self._store, key, data, attributes=dict(headers), mode=mode, use_multipart=False)
        return _tag(result["e_tag"])

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Errors of the library as sentences."""
        try:
            yield
        except (self._api.exceptions.BaseError, FileNotFoundError, ValueError) as error:
            raise self._explained(error) from None


def _tag(header: str | None) -> str:
    """A tag without quotes; empty if the store sends none."""
    return (header or "").strip('"')
