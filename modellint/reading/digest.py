"""The digest that contents, settings and findings are known by."""

from __future__ import annotations

try:
    # The same as hashlib's, but importing hashlib loads OpenSSL, a twentieth of a start.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


def digest(data: bytes, size: int = 16) -> str:
    """The BLAKE2b digest of data: `size` bytes, in hexadecimal."""
    return blake2b(data, digest_size=size).hexdigest()
