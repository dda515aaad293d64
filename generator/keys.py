"""Keys to what is restricted: made once, shown once, and known by their digests from then on."""

import hashlib
import secrets

# By which a key is recognised when it turns up where it should not.
PREFIX = "fpk_"
_BYTES = 32


def new_key() -> str:
    """A key of 256 bits from the system, in letters that need no escaping anywhere."""
    return PREFIX + secrets.token_urlsafe(_BYTES)


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
