"""Attributes of a SpeechBrain Brain that some releases have, which `list_members` extracts."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILE = "speechbrain_members.json"
#: The class that has them.
BRAIN = "speechbrain.core.Brain"


class Members(NamedTuple):
    """The releases that were read, the newest first, and the first and last with an attribute that not all have."""

    releases: tuple[str, ...]
    spans: dict[str, tuple[str, str]]

    def has(self, name: str, release: str) -> bool:
        """True if the Brain of a release has the attribute, or all releases do."""
        if name not in self.spans:
            return True
        first, last = map(self.releases.index, self.spans[name])
        return last <= self.releases.index(release) <= first


@cache
def members() -> Members:
    data = json.loads(Path(__file__).with_name(FILE).read_text(encoding="utf-8"))
    return Members(tuple(data["releases"]), {name: tuple(text.split()) for name, text in data["members"].items()})
