"""Analyses of a whole project that outlive the file being checked."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Lasting(ABC):
    """An analysis that is made once for a project, and told when to free memory and which results to forget.

    An analysis that derives from it is kept by `Project.of` for as long as the project; any other for one file.
    """

    @abstractmethod
    def release(self) -> None:
        """Free everything that refers to bodies of functions: a file has been checked."""

    @abstractmethod
    def forget(self, keys: set[str]) -> None:
        """Forget the results that depend on any of `keys`, which have changed."""
