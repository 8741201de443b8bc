"""Queries about the files around one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.link.calls import doubts
from modellint.link.values import callers

if TYPE_CHECKING:
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event
    from modellint.link.project import Project


def neighbours(near: ModuleFacts, project: Project, word: str) -> list[ModuleFacts]:
    """The file itself, and the files of its folder whose text contains `word`; the file alone in a large folder."""
    return callers.neighbours(project, near, word)


def is_trial(function: Function, event: Event, project: Project) -> bool:
    """True if an event stands in a test, a demonstration, or under `if __name__ == "__main__"`."""
    return doubts.is_tried_out(project, function, event)
