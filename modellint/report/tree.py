"""The tree of a project's modules: each class with the classes of its attributes, parameters and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.mapping.text import class_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.mapping.model import Attribute, ClassMap

#: How deep classes are unfolded within each other.
_DEEPEST = 6
#: Bytes of a parameter in torch's default dtype, float32.
_BYTES = 4


@dataclass(frozen=True, eq=False)
class Branch:
    """A module: the attribute `name` of its owner (the class itself at the top) with an object of `class_name`.

    `parameters` is None where the number is unknown. `attribute` is None at the top.
    """

    name: str
    class_name: str
    parameters: int | None
    text: str
    attribute: Attribute | None
    chart: ClassMap | None
    branches: tuple[Branch, ...]

    @property
    def memory(self) -> int | None:
        """The bytes of its parameters as float32."""
        return None if self.parameters is None else _BYTES * self.parameters


def trees(charts: Iterable[ClassMap]) -> list[Branch]:
    """The trees of classes that no other class has as an attribute; of all of them if each is one."""
    every = list(charts)
    known = _Known(every)
    held = {id(inner) for chart in every for inner in known.inside(chart)}
    roots = [chart for chart in every if id(chart) not in held] or every
    return [_tree(chart, known) for chart in roots]


class _Known:
    """The classes by name: a name means the class in the same file, or else the only one in the project."""

    def __init__(self, charts: Iterable[ClassMap]) -> None:
        self._by_name: dict[str, list[ClassMap]] = {}
        for chart in charts:
            self._by_name.setdefault(class_text(chart.name), []).append(chart)

    def get(self, name: str, user: ClassMap) -> ClassMap | None:
        """The class that `user` means by a name; None if it is none of the project, or several."""
        found = self._by_name.get(name, [])
        near = [one for one in found if one.path == user.path] or found
        return near[0] if len(near) == 1 else None

    def inside(self, chart: ClassMap) -> Iterator[ClassMap]:
        """The classes of the project that a class has as attributes."""
        found = (self.get(one.class_name, chart) for one in chart.attributes)
        return (one for one in found if one is not None)


def _tree(chart: ClassMap, known: _Known) -> Branch:
    branches = tuple(_branch(one, chart, known, (id(chart),)) for one in chart.attributes)
    return Branch(class_text(chart.name), class_text(chart.name), *_sum(branches), None, chart, branches)


def _branch(attribute: Attribute, owner: ClassMap, known: _Known, above: tuple[int, ...]) -> Branch:
    chart = known.get(attribute.class_name, owner)
    inner: tuple[Branch, ...] = ()
    if chart is not None and id(chart) not in above and len(above) < _DEEPEST:
        inner = tuple(_branch(one, chart, known, (*above, id(chart))) for one in chart.attributes)
    count = attribute.parameters
    return Branch(attribute.name, attribute.class_name, count.number, count.text, attribute, chart, inner)


def _sum(branches: Iterable[Branch]) -> tuple[int | None, str]:
    """The number of parameters of all branches, and as text; None if one of them is unknown."""
    numbers = [branch.parameters for branch in branches]
    known = [number for number in numbers if number is not None]
    total = sum(known)
    if len(known) == len(numbers):
        return total, f"{total:,}"
    return None, f"{total:,} + ?" if total else "?"
