"""The messages of a worker, read as untrusted data.

The worker shares its process with the code that it runs, so that whatever the worker can say, that code can say, too.
A message counts only if it is one that was to be expected next: bounded, of the known form, about a probe that was
asked for, and answered once and in order. Anything else makes the whole conversation doubtful.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import field
from typing import TYPE_CHECKING, Any

from modellint.finding import Extent, Status, Verdict
from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Bytes in one message, and in all messages of a process.
MAX_LINE, MAX_TOTAL = 64 << 10, 4 << 20
#: Characters of a text that is shown.
_SHOWN = 2000
_DEVICES = ("fake", "cpu", "cuda")
_EXTENTS = {extent.value: extent for extent in Extent}
_STATUSES = {status.value: status for status in (Status.CONFIRMED, Status.REFUTED, Status.UNCONFIRMED)}


@dataclass
class Conversation:
    """The state of a conversation with a worker about the probes `asked`, by their numbers."""

    asked: Sequence[int]
    #: The parts of the guard that it runs under, as its launcher has told.
    guard: tuple[str, ...] = ()
    stage: str = "starting"
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    #: The reason why it could not be started.
    failure: str = ""
    is_done: bool = False
    #: True if a message came that no worker sends.
    is_doubtful: bool = False
    _lines: int = 0

    def take(self, line: bytes) -> None:
        """Take one line."""
        self._lines += 1
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict) or len(message) != 1 or self.is_done or not self._accept(*message.popitem()):
            self.is_doubtful = True

    def _accept(self, kind: str, content: Any) -> bool:
        """Accept a message that may come now, and note its content; False for any other one."""
        if kind == "stage" and isinstance(content, str):
            self.stage = printable(content)
        elif kind == "verdict" and isinstance(content, dict):
            return self._take_verdict(**content) if content.keys() <= _VERDICT else False
        elif kind == "guard" and self._lines == 1 and _are_texts(content):
            self.guard = tuple(printable(part) for part in content)
        elif kind == "failed" and self._lines == 2 and isinstance(content, str):
            self.failure = printable(content)
        elif kind == "done":
            self.is_done = True
        else:
            return False
        return True

    def _take_verdict(
        self,
        id: Any = None,
        status: Any = None,
        device: Any = None,
        detail: Any = "",
        assumed: Any = (),
        extent: Any = Extent.WHOLE.value,
    ) -> bool:
        is_next = len(self.verdicts) < len(self.asked) and id == self.asked[len(self.verdicts)]
        if not is_next or isinstance(id, bool) or not isinstance(status, str) or status not in _STATUSES:
            return False
        if not (device is None or device in _DEVICES) or not isinstance(detail, str) or not _are_texts(assumed):
            return False
        if not isinstance(extent, str) or extent not in _EXTENTS:
            return False
        told = detail + (f" ({'; '.join(assumed)})" if assumed else "")
        self.verdicts[id] = Verdict(_STATUSES[status], device, printable(told), _EXTENTS[extent])
        return True


_VERDICT = {"id", "status", "device", "detail", "assumed", "extent"}


def _are_texts(content: Any) -> bool:
    return isinstance(content, list | tuple) and all(isinstance(text, str) for text in content)


def printable(text: str) -> str:
    """A text of one line, of bounded length, and without characters that do something to a terminal."""
    text = "".join(map(_visible, text[: 2 * _SHOWN]))
    return text if len(text) <= _SHOWN else text[: _SHOWN - 2] + " …"


def _visible(character: str) -> str:
    if character in "\n\r\t\v\f\x85\u2028\u2029":
        return " "
    return "" if unicodedata.category(character) in ("Cc", "Cf", "Cs") else character
