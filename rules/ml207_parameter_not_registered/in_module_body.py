"""Layers and parameters that a file makes outside of classes, and that a layer of the file works with.

They belong to no object. The file does nothing else with them: it passes them to no optimizer, moves, loads or freezes
none, and puts none into another layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.immutable import dataclass
from modellint.graph.python import WORK
from modellint.graph.value import EventKind, Op, walk_all

from .in_class_body import made_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project


@dataclass(frozen=True, slots=True)
class InModuleBody:
    """A layer or parameter of the class `made`, at `value`, that objects of `cls` use at `use` in `function`."""

    cls: Class
    name: str
    value: Value
    made: str
    function: Function
    use: Value


def in_module_bodies(module: ModuleFacts, project: Project) -> Iterator[InModuleBody]:
    """The layers and parameters outside of classes that layers of the file work with, and that nobody registers."""
    names = {name for name, value in module.constants.items() if value.op is Op.CALL and name not in module.rebound}
    methods = [
        (cls, method)
        for cls in module.classes.values()
        for method in cls.methods.values()
        if not names.isdisjoint(method.words) and method.name in WORK
    ]
    for name in sorted(names) if methods else ():
        made = made_classes(module.constants[name], module, project) if _is_used(name, methods) else ()
        for cls, method in methods if made else ():
            use = next(_uses(name, method), None)
            if use is None or not _is_layer(cls, project) or _is_taken(name, module, project):
                continue
            yield InModuleBody(cls, name, module.constants[name], made[0], method, use)
            break


def _is_used(name: str, methods: list[tuple[Class, Function]]) -> bool:
    return any(name in method.words and next(_uses(name, method), None) is not None for _, method in methods)


def _is_layer(cls: Class, project: Project) -> bool:
    model = project.classes.model(cls)
    return model.is_module is True and model.are_bases_known


def _uses(name: str, method: Function) -> Iterator[Value]:
    """The calls of a global layer in a method, and the sums and products of a global parameter."""
    for value in walk_all(method.flow.evaluated()):
        parts = value.args[:1] if value.op is Op.CALL else value.args if value.op is Op.BIN else ()
        if any(_is_global(part, name) for part in parts):
            yield value


def _is_taken(name: str, module: ModuleFacts, project: Project) -> bool:
    """True if code does anything else with a global layer or parameter than to compute with it."""
    if queries.is_mentioned_elsewhere(module, project, name, module.file.stem):
        return True
    made = module.constants[name]
    for function in (*module.all_functions(), module.body):
        if name not in function.words:
            continue
        for event in function.flow.events:
            is_stored = event.kind is EventKind.STORE and event.target is not None and _is_it(event.value, name, made)
            if is_stored and (function is not module.body or event.target.op is not Op.GLOBAL):  # type: ignore[union-attr]
                return True
        for value in walk_all(function.flow.evaluated()):
            if _is_it(value, name, made):
                continue
            computed = value.args[:1] if value.op is Op.CALL else value.args if value.op is Op.BIN else ()
            others = [part for part in value.args if not any(part is one for one in computed)]
            if any(_is_it(part, name, made) for part in others):
                return True
    return False


def _is_it(value: Value, name: str, made: Value) -> bool:
    is_made = value.op is Op.CALL and (value.line, value.offset) == (made.line, made.offset)
    return is_made or _is_global(value, name)


def _is_global(value: Value, name: str) -> bool:
    return value.op is Op.GLOBAL and value.data == name
