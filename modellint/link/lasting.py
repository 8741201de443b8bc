"""What is known of a whole project and outlives the file that is being checked."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Lasting(ABC):
    """An analysis that is made once for a project, and told what it has to let go of.

    An analysis that derives from it is kept by `Project.of` for as long as the project; any other for one file.
    """

    @abstractmethod
    def release(self) -> None:
        """Let go of what holds bodies of functions: a file has been checked."""

    @abstractmethod
    def forget(self, keys: set[str]) -> None:
        """Forget what rests on any of `keys`, the dependencies that have changed."""
