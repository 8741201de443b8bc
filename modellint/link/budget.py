"""How much work one file may cause: a number of steps, so that the same input always ends at the same place."""

from __future__ import annotations

#: The most demanding file of the libraries that modellint was measured on takes a four-hundredth of this.
STEPS = 1_000_000


class ExhaustedError(Exception):
    """A file asks for more steps than a file may take."""


class LeftOutError(Exception):
    """A rule asks for a theory that runs do not have: of its pack, where that has failed on the file and was told."""

    def __init__(self, kind: type) -> None:
        super().__init__(f"`{kind.__name__}` is in the `theories` of no rule that is selected")
        self.kind = kind


class Budget:
    """The steps that are left for the file under study.

    `is_short`: a run had more to follow than it may, and went on without the rest.
    """

    __slots__ = ("is_short", "left")

    def __init__(self) -> None:
        self.left = STEPS
        self.is_short = False

    def spend(self, steps: int = 1) -> None:
        """Take steps. Raises ExhaustedError when none are left."""
        self.left -= steps
        if self.left < 0:
            raise ExhaustedError
