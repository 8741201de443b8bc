"""How many parameters a layer has, as a number or as an expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.mapping.model import Count

if TYPE_CHECKING:
    from modellint.graph.python import Class
    from modellint.link.project import Project
    from modellint.link.recipes.evaluation import Item


def count_of_item(item: Item, project: Project) -> Count:
    return Count(None)


class Counter:
    def __init__(self, cls: Class, project: Project) -> None:
        self.cls = cls

    def attribute(self, name: str) -> Count:
        return Count(None)
