"""How large files may be: sizes as people write them, and the files that are larger."""

from __future__ import annotations

import math
import re

from modellint.graph.immutable import dataclass

#: The size limit of files to be read, by default, in bytes.
DEFAULT_LIMIT = 2_000_000
EXPECTED = 'a number of bytes from 1 up, or a size such as "2 MB" or "500 kB"'
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
#: Texts that are sizes, as JSON schemas and Python understand it.
PATTERN = r"^(?=.*[1-9])([0-9]{1,15}(?:\.[0-9]{1,15})?) *((?:[kKmMgG]i?)?[bB])?$"


#: Comments and strings, and everything else that takes memory of its own when a file is parsed.
_TOKEN = re.compile(
    r"""\"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"{3}|'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}"""
    r"""|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'|#[^\n]*|\w+|[^\w\s]""",
    re.DOTALL,
)
_INSIDE = re.compile(r"\w+|[^\w\s\"\\]")


@dataclass(frozen=True, slots=True)
class Oversized:
    """The file `path`, which was not read: it has `size` bytes, of which `limit` are allowed, or too many `tokens`."""

    path: str
    size: int
    limit: int
    tokens: int | None = None

    @property
    def reason(self) -> str:
        """Why it was not read, as messages have it."""
        size, limit = described(self.size), described(self.limit)
        if size == limit:
            size, limit = f"{self.size} bytes", f"{self.limit} bytes"
        if self.tokens is not None:
            return f"it has {self.tokens} tokens, more than a file may have that `max-file-size` allows ({limit})"
        return f"it has {size}, more than `max-file-size` allows ({limit})"


def most_tokens(limit: int) -> int:
    """The most tokens of a file of at most `limit` bytes.

    A token takes up to 760 bytes of memory while Python is parsed, or YAML that is as dense: of two megabytes, that is
    a gigabyte.
    """
    return limit * 2 // 3


def tokens_in(data: bytes, *, is_json: bool = False) -> int:
    """An estimate of the number of tokens in Python or YAML, or in the strings of JSON."""
    return sum(1 for _ in (_INSIDE if is_json else _TOKEN).finditer(data.decode("utf-8", "replace")))


def parse_size(value: object) -> int:
    """Bytes, from their number or from a text such as "2 MB". Raises ValueError for anything else, and below 1."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    match = re.match(PATTERN, value) if isinstance(value, str) and "\n" not in value else None
    if match is None:
        raise ValueError(f"no size: {value!r}")
    return math.ceil(float(match[1]) * _UNITS[(match[2] or "").lower()])


def described(size: int) -> str:
    """A number of bytes for people: `850 bytes`, `1.9 MB`."""
    for unit in ("GB", "MB", "kB"):
        factor = _UNITS[unit.lower()]
        if size >= factor:
            return f"{10 * size // factor / 10:.1f} {unit}".replace(".0 ", " ")
    return f"{size} byte{'s' * (size != 1)}"
