"""Cycles of objects that contain themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Item(Protocol):
    """An object that contains others, each under a key or position."""

    def children(self) -> Iterable[tuple[object, Item]]: ...


class Holding(Protocol):
    """A reference inside of `holder` to `target`."""

    @property
    def holder(self) -> Item: ...
    @property
    def target(self) -> Item: ...


def closing(links: Sequence[Holding]) -> list[int]:
    """The numbers of the links that close a cycle: the target contains the holder."""
    component = _components([link.target for link in links])
    return [n for n, link in enumerate(links) if component.get(id(link.holder)) == component[id(link.target)]]


def _components(roots: list[Item]) -> dict[int, int]:
    """The strongly connected component of every object below the roots (Tarjan's algorithm, without recursion)."""
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    component: dict[int, int] = {}
    path: list[Item] = []
    for root in roots:
        if id(root) in order:
            continue
        calls: list[tuple[Item, Iterator[Item]]] = []

        def enter(item: Item, calls: list[tuple[Item, Iterator[Item]]] = calls) -> None:
            order[id(item)] = lowest[id(item)] = len(order)
            path.append(item)
            calls.append((item, (child for _, child in item.children())))

        enter(root)
        while calls:
            item, children = calls[-1]
            for child in children:
                if id(child) not in order:
                    enter(child)
                    break
                if id(child) not in component:
                    lowest[id(item)] = min(lowest[id(item)], order[id(child)])
            else:
                calls.pop()
                if calls:
                    above = id(calls[-1][0])
                    lowest[above] = min(lowest[above], lowest[id(item)])
                if lowest[id(item)] == order[id(item)]:
                    _close(item, path, component)
    return component


def _close(item: Item, path: list[Item], component: dict[int, int]) -> None:
    """Assign a new component to everything on the path down to `item`, its root."""
    number = len(component)
    while True:
        member = path.pop()
        component[id(member)] = number
        if member is item:
            return
