"""Failures of our own, told beside the findings of everything that did not fail."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from modellint import process
from modellint.reading.paths import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The exceptions that a rule's code may raise, other than Ctrl-C and signals.
RAISED = (Exception, SystemExit)


@dataclass(frozen=True, slots=True)
class Crash:
    """A rule, or another `part` of modellint, that failed on the file `path`: the `error` in one line, and where."""

    part: str
    path: str
    error: str
    traceback: str = ""

    @classmethod
    def of(cls, part: str, path: str, error: BaseException) -> Crash:
        """The crash that an exception is. Raises it again if it ends the process, as a signal wants."""
        if isinstance(error, SystemExit) and process.is_ending():
            raise error
        import traceback

        return cls(part, path, _error_text(error), "".join(traceback.format_exception(error)))

    @property
    def message(self) -> str:
        """The crash in one line, without its file."""
        return f"internal error in {self.part}: {self.error}"

    def __str__(self) -> str:
        return f"internal error in {self.part} on {shown(Path(self.path))}: {self.error}"


@contextmanager
def noted(crashes: list[Crash], part: str, path: str) -> Iterator[None]:
    """Note a crash of the block, and go on."""
    try:
        yield
    except RAISED as error:
        crashes.append(Crash.of(part, path, error))


def _error_text(error: BaseException) -> str:
    try:
        said = " ".join(str(error).split())
    except Exception:
        said = "it cannot say why"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
