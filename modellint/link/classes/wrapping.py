"""The edit that makes a plain container a registering one, and whether it preserves correct code."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from modellint.edits import python as python_edit
from modellint.finding import Applicability, Edit, Fix
from modellint.flow.heap import Shell
from modellint.graph.value import EventKind, Op
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modellint.flow.objects import AttributeRead
    from modellint.graph.value import Value
    from modellint.link.classes.assignments import AttributeAssignment

#: Methods of lists and dicts that torch's containers lack.
_MISSING = {
    "List": frozenset("index remove copy sort reverse count clear".split()),
    "Dict": frozenset("get setdefault copy popitem".split()),
}
_DISPLAYS = (ast.List, ast.ListComp, ast.Tuple, ast.Set, ast.SetComp, ast.Dict, ast.DictComp, ast.GeneratorExp)
_EMPTY = frozenset(("[]", "list()", "{}", "dict()", "()", "tuple()"))


def without_comma(kept: AttributeAssignment) -> Fix | None:
    """The fix that deletes the comma which makes a tuple; None if the tuple is written differently."""
    module = kept.function.module
    found = python_edit.assigned(kept.target, module)
    if found is None or not isinstance(found[0], ast.Tuple) or len(found[0].elts) != 1:
        return None
    inner = python_edit.within(kept.target, found[0].elts[0], module).span
    outer = found[1].span
    behind = Span(inner.end_line, inner.end_column, outer.end_line, outer.end_column)
    if not python_edit.text_at(Place(module.path, behind), module).startswith(","):
        return None
    comma = Place(module.path, Span(inner.end_line, inner.end_column, inner.end_line, inner.end_column + 1))
    return Fix("Drop the comma", Applicability.SAFE, (Edit(comma, ""),))


def wrapped(kept: AttributeAssignment, uses: Iterable[AttributeRead], kind: str) -> Fix | None:
    """The fix that wraps the container in a registering one; `kind` is `Module` or `Parameter`."""
    module = kept.function.module
    stored = python_edit.assigned(kept.target, module)
    if stored is None or kept.kind in ("container", "instance", "namespace", "partial", "function"):
        return None
    shape = "Dict" if kept.kind == "dict" else "List"
    container = python_edit.nn_name(module, f"{kind}{shape}")
    wanted = all(
        isinstance(leaf, Shell) and (leaf.is_layer if kind == "Module" else leaf.kind == "parameter")
        for leaf, _ in kept.leaves()
    )
    if container is None or kept.is_nested or not wanted:
        return None
    parts = _parts(stored[0])
    if not parts:
        return None
    edits = []
    for node in parts:
        place = python_edit.within(kept.target, node, module)
        text = python_edit.text_at(place, module)
        inside = "" if text in _EMPTY else f"({text})" if isinstance(node, ast.Tuple) and text[:1] != "(" else text
        edits.append(Edit(place, f"{container}({inside})"))
    is_safe = not _misses_something(uses, _MISSING[shape]) and (shape == "List" or _has_plain_keys(kept.value))
    return Fix(f"Wrap it in `{container}`", Applicability.SAFE if is_safe else Applicability.UNSAFE, tuple(edits))


def _parts(node: ast.expr) -> list[ast.expr]:
    """The container expressions to wrap: the node itself, or the branches of a conditional."""
    if isinstance(node, ast.IfExp):
        branches = [node.body, node.orelse]
        if all(isinstance(b, _DISPLAYS) or (isinstance(b, ast.Constant) and b.value is None) for b in branches):
            return [branch for branch in branches if isinstance(branch, _DISPLAYS)]
        return []
    return [node]


def _misses_something(uses: Iterable[AttributeRead], missing: frozenset[str]) -> bool:
    """True if a use calls a method that torch's container lacks."""
    for use in uses:
        for event in use.function.flow.of(EventKind.CALL):
            callee = event.value.callee
            if callee.op is Op.ATTR and callee.data in missing and callee.args[0] is use.value:
                return True
    return False


def _has_plain_keys(value: Value) -> bool:
    """True if all keys of a dict are strings that `ModuleDict` accepts: no dots in them."""
    if value.op is Op.DICT:
        return all(
            key is not None and key.op is Op.CONST and isinstance(key.data, str) and "." not in key.data and key.data
            for key in value.data
        )
    return value.op is Op.COMPREHENSION and value.args[0].op is Op.STRING
