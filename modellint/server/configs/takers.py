"""The class or function that takes the keys at a place of a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.server.configs.callables import callable_of
from modellint.server.configs.cursor import called_at
from modellint.server.configs.trees import is_plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from modellint.graph.recipe import Node, Scalar
    from modellint.link.project import Project
    from modellint.server.configs.callables import Callable
    from modellint.server.configs.cursor import Cursor
    from modellint.server.configs.trees import Tree


def target_at(cursor: Cursor, tree: Tree) -> str:
    """The name that the object around the cursor calls, in this file or in another; empty if there is none."""
    path = cursor.path if cursor.is_key else cursor.path[:-1]
    return _target(path, cursor.holders, tree)


def taker_at(cursor: Cursor, tree: Tree, files: Sequence[Path], project: Project) -> Callable | None:
    """The class or function that takes the keys around the cursor as arguments; None if there is none that is known.

    A mapping that is itself an argument has the fields of the dataclass that annotates the parameter.
    """
    path = cursor.path if cursor.is_key else cursor.path[:-1]
    target = _target(path, cursor.holders, tree)
    if target:
        return callable_of(target, files, project)
    for end in range(len(path) - 1, -1, -1) if is_plain(cursor.recipe) else ():
        target = _target(path[:end], cursor.holders[: end + 1], tree)
        if target:
            return _field(callable_of(target, files, project), path[end:], files, project)
    return None


def _target(path: Sequence[Scalar], holders: Sequence[Node], tree: Tree) -> str:
    call = called_at(holders)
    if call is not None and call.target:
        return call.target
    found = tree.key(tree.path_in(path))
    return "" if found is None else found.target


def _field(known: Callable | None, path: Sequence[Scalar], files: Sequence[Path], project: Project) -> Callable | None:
    """The dataclass that annotates a parameter, that which annotates a field of it, and so on."""
    for name in path:
        argument = known.argument(str(name)) if known is not None else None
        found = (callable_of(one, files, project) for one in (argument.types if argument is not None else ()))
        known = next((one for one in found if one is not None and one.is_dataclass), None)
    return known
