"""States that are not saved on purpose, as comments or the code say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function

    from .states import UnsavedState

#: A comment that something is not kept: "do not save the optimizer here", "never restored".
_NOT_KEPT = re.compile(
    r"(?:\b(?:not|never|no|without|skips?|avoid|instead of)\b|n't)[^.;]{0,40}"
    r"\b(?:sav|load|reload|recover|checkpoint|resum|restor|stor|keep|kept)",
    re.IGNORECASE,
)
#: The distance of a comment, in lines, from the thing that it is about.
_NEAR = 3


def is_on_purpose(state: UnsavedState) -> bool:
    """True if a comment says that a state is not saved, or the script removes it from the recoverables."""
    item, recipe = state.item, state.item.recipe
    names = {item.name.lower(), *_kinds(state)}
    at = item.place.span.line
    written = recipe.source.lines
    held = state.saved.place
    beside = set(range(at - _NEAR, at + 1))
    if held is not None and held.path == recipe.path:
        beside |= set(range(held.span.line - 1, held.span.line + len(state.saved.roots) + _NEAR))
    if any(_says(written[n - 1], names if n < at - 1 or n > at else None) for n in beside if 0 < n <= len(written)):
        return True
    methods = (method for cls in state.brain.classes for method in cls.methods.values())
    functions = (*methods, *state.brain.module.functions.values())
    return any(_is_left_out(function, item.name, names) for function in functions)


def _kinds(state: UnsavedState) -> Iterator[str]:
    """Words for the kind of a state: an optimizer, a scheduler, a counter."""
    if state.makes:
        yield "optim"
    target = (state.item.target or "").rpartition(".")[2]
    yield from (word.lower() for word in re.findall(r"[A-Z][a-z]+", target)[-1:])


def _says(line: str, names: set[str] | None) -> bool:
    """True if a line's comment says that something is not kept: one of `names`, or with None anything."""
    comment = line.partition("#")[2].lower()
    return _NOT_KEPT.search(comment) is not None and (names is None or any(name in comment for name in names))


def _is_left_out(function: Function, name: str, names: set[str]) -> bool:
    """True if a function says in a comment that a state is not kept, or removes it from the recoverables."""
    lines = function.module.as_written(function.line, function.end_line)
    if any("#" in line and _says(line, names) for line in lines):
        return True
    if "recoverables" not in function.words:
        return False
    for event in function.flow.events:
        if event.kind is EventKind.DELETE or (event.kind is EventKind.CALL and event.value.callee.data == "pop"):
            parts = list(walk_all([event.value]))
            is_kept = any(part.op is Op.ATTR and part.data == "recoverables" for part in parts)
            if is_kept and any(part.op is Op.CONST and part.data == name for part in parts):
                return True
    return False
