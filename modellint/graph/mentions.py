"""Names that the text of a definition mentions: a cheap test of whether its body is worth lowering."""

from __future__ import annotations

import re
from sys import intern

_WORD = re.compile(r"[^\W\d]\w*")
#: Translation table of UTF-8 bytes: those that can't be part of a name or number become blanks.
APART = bytes(byte if byte > 127 or chr(byte).isalnum() or byte == ord("_") else 32 for byte in range(256))
_ATTRIBUTE = re.compile(r"\.\s*([^\W\d]\w*)")
#: `self.x = …`, `self.x: T = …`, `self.x, self.y = …`, `(self.x, self.y) = …`, `with … as self.x`, `for self.x in …`.
_ASSIGNED = re.compile(r"\.\s*(\w+)(?=[^=\n()]*=(?!=)|(?:\s*,\s*[\w.]+)*\s*,?\s*\)\s*=(?!=))|\b(?:as|for)\s+\w+\.(\w+)")
_QUOTED = re.compile(r"""["']([^\W\d]\w*)["']""")


def words(text: str) -> frozenset[str]:
    """The names in a text, interned; of an ASCII text also the numbers, as that is faster."""
    names = text.encode().translate(APART).decode().split() if text.isascii() else _WORD.findall(text)
    return frozenset(map(intern, set(names)))


def attributes(text: str) -> set[str]:
    """The attributes that a text reads or stores and, with quotes around them, names that it may register."""
    names = set(_ATTRIBUTE.findall(text))
    if "register_" in text or "add_module" in text:
        names.update(f"'{name}'" for name in _QUOTED.findall(text))
    return names


def assigned(text: str) -> list[str]:
    """The attributes that a text assigns, without duplicates."""
    return list(dict.fromkeys(one or other for one, other in _ASSIGNED.findall(text)))
