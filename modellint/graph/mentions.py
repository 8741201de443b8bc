"""What the text of a definition mentions: a cheap answer to the question whether it is worth lowering."""

from __future__ import annotations

import re
from sys import intern

_WORD = re.compile(r"[^\W\d]\w*")
#: What makes blanks of all bytes of UTF-8 that are no part of a name or number.
APART = bytes(byte if byte > 127 or chr(byte).isalnum() or byte == ord("_") else 32 for byte in range(256))
_ATTRIBUTE = re.compile(r"\.\s*([^\W\d]\w*)")
#: `self.x = …`, `self.x: T = …`, `self.x, self.y = …`.
_ASSIGNED = re.compile(r"\.\s*(\w+)(?=[^=\n()]*=(?!=))")
_QUOTED = re.compile(r"""["']([^\W\d]\w*)["']""")


def words(text: str) -> frozenset[str]:
    """The names in a text, each held once, however many texts it is in; of ASCII also the numbers, which is faster."""
    found = text.encode().translate(APART).decode().split() if text.isascii() else _WORD.findall(text)
    return frozenset(map(intern, set(found)))


def attributes(text: str) -> set[str]:
    """The attributes that a text speaks of, and in quotes the names that it registers something under."""
    names = set(_ATTRIBUTE.findall(text))
    if "register_" in text or "add_module" in text:
        names.update(f"'{name}'" for name in _QUOTED.findall(text))
    return names


def assigned(text: str) -> list[str]:
    """The attributes that a text assigns, each once."""
    return list(dict.fromkeys(_ASSIGNED.findall(text)))
