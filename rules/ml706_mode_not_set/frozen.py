"""Norms and parts that a constructor puts into evaluation mode, which `train()` undoes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, is_self, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

#: Methods of a layer that give its parts.
_PARTS = frozenset(("modules", "children", "named_modules", "named_children"))


@dataclass(frozen=True, eq=False, slots=True)
class Undone:
    """A call of `eval` that a constructor makes, of the parts `name`; a call of `train` on the object or what holds it.

    Not `is_certain`: nobody knows which object it is that `train` is called on.
    """

    cls: Class
    function: Function
    event: Event
    name: str
    train: queries.Call
    is_certain: bool


def undone_by_train(module: ModuleFacts, project: Project) -> Iterator[Undone]:
    """The calls of `eval` by constructors of a file that `train` undoes."""
    if "eval" not in module.text:
        return
    for cls in module.classes.values():
        model = project.classes.model(cls)
        if "__init__" not in cls.methods or not model.is_module or not model.is_complete:
            continue
        family = [one.cls for one in model.mro() if one.cls is not None]
        if any("train" in one.methods for one in (*family, *queries.subclasses(cls, project))):
            continue
        for function, event, name in _frozen_parts(cls, project):
            if _is_set_again(cls, function, name, project):
                continue
            found = _call_of_train(cls, project)
            if found is not None:
                yield Undone(cls, function, event, name, *found)


def _frozen_parts(cls: Class, project: Project) -> Iterator[tuple[Function, Event, str]]:
    """The calls of `eval` that run in the constructor, and in methods that only it calls."""
    constructor = cls.methods["__init__"]
    pending, seen = [constructor], {constructor}
    for function in pending:
        for event in function.flow.of(EventKind.CALL):
            callee = event.value.callee
            name = self_attribute(callee)
            if name in cls.methods and cls.methods[name] not in seen:
                method = cls.methods[name]
                if "eval" in method.words and not _is_called_elsewhere(cls, method, project):
                    seen.add(method)
                    pending.append(method)
            elif callee.op is Op.ATTR and callee.data == "eval" and len(event.value.args) == 1:
                found = _part(callee.args[0], event, function, cls, project)
                if found:
                    yield function, event, found


def _is_called_elsewhere(cls: Class, method: Function, project: Project) -> bool:
    """True if code other than the constructor names a method."""
    for other in cls.methods.values():
        if other is not method and other.name != "__init__" and method.name in other.words:
            return True
    if not queries.is_searchable(cls.module, project) or any(
        method.name in one.methods or any(method.name in other.words for other in one.methods.values())
        for one in queries.subclasses(cls, project)
    ):
        return True
    functions = (*cls.module.all_functions(), cls.module.body)  # the search leaves out notebooks
    if any(_names(event.value, method.name) for one in functions for event in one.flow.of(EventKind.CALL)):
        return True
    words = (f". {method.name}", f"' {method.name}")
    return any(queries.paths_mentioning(cls.module, project, word) for word in words)


def _names(call: Value, method: str) -> bool:
    """True if a call is one of a method of this name on another object than `self`, or is given its name."""
    callee = call.callee
    is_called = callee.op is Op.ATTR and callee.data == method and not is_self(callee.args[0])
    return is_called or any(given.op is Op.CONST and given.data == method for given in call.args[1:])


def _part(owner: Value, event: Event, function: Function, cls: Class, project: Project) -> str:
    """The parts that are put into evaluation mode, in words, if they act by mode; else empty."""
    name = self_attribute(owner)
    if name is not None:
        stored = queries.stored_values(cls, name, project)
        made = [leaf for one in stored for leaf in one.origins(through_operators=False)]
        return f"self.{name}" if made and all(queries.acts_by_mode(one) for one in made) else ""
    root = owner
    while root.op in (Op.ITEM, Op.UNPACK):
        root = root.args[0]
    is_of_self = root.op is Op.CALL and root.callee.op is Op.ATTR and root.callee.data in _PARTS
    if not is_of_self or not _is_of_self(root.callee.args[0]):
        return ""
    return "the norms" if event.guard is not None and _is_norm(event.guard.test, owner, function, project) else ""


def _is_of_self(value: Value) -> bool:
    while value.op is Op.ATTR:
        value = value.args[0]
    return is_self(value)


def _is_norm(test: Value, owner: Value, function: Function, project: Project) -> bool:
    """True for `isinstance(part, nn.BatchNorm2d)`."""
    if test.op is not Op.CALL or len(test.positional) != 2 or test.positional[0] is not owner:
        return False
    if test.callee.op is not Op.GLOBAL or test.callee.data != "isinstance":
        return False
    kinds = test.positional[1]
    found = [
        project.names.definition(function.module, one) for one in (kinds.args if kinds.op is Op.TUPLE else (kinds,))
    ]
    return any(isinstance(one, External) and "batchnorm" in one.name.lower() for one in found)


def _is_set_again(cls: Class, function: Function, name: str, project: Project) -> bool:
    """True if other code may put the parts into evaluation mode again."""
    for one in (cls, *queries.subclasses(cls, project)):
        for method in one.methods.values():
            if method is not function and method.name != "__init__" and "eval" in method.words:
                return True
    bare = name.removeprefix("self.")
    pattern = re.compile(rf"\.{re.escape(bare)}\b[^()]*\.(?:eval|train)\(") if bare != name else None
    family = {one.cls for one in project.classes.model(cls).mro()} | set(queries.subclasses(cls, project))
    for module in _files_with(". eval", cls, project):
        for other in (*module.all_functions(), module.body):
            if other in (function, cls.methods["__init__"]) or "eval" not in other.words:
                continue
            is_of_other_layer = other.owner is not None and queries.is_layer(other.owner, project) is not False
            if (not is_of_other_layer or other.owner in family) and _sets_mode(other, pattern, project):
                return True
    return False


def _files_with(word: str, cls: Class, project: Project) -> dict[ModuleFacts, None]:
    """The file of a class, which may be a notebook, and those of the project that mention a word."""
    return dict.fromkeys((cls.module, *queries.files_mentioning(cls.module, project, word)))


def _sets_mode(function: Function, pattern: re.Pattern[str] | None, project: Project) -> bool:
    """True if code calls `eval` or `train` of a part that the pattern names; without one, of norms."""
    for event in function.flow.of(EventKind.CALL):
        callee = event.value.callee
        if callee.op is not Op.ATTR or callee.data not in ("eval", "train"):
            continue
        if pattern is not None and pattern.search(function.module.text_of(event.value)):
            return True
        tests = () if event.guard is None else [link.test for link in event.guard.chain()]
        if pattern is None and any(_is_norm(test, callee.args[0], function, project) for test in tests):
            return True
    return False


def _call_of_train(cls: Class, project: Project) -> tuple[queries.Call, bool] | None:
    """A call of `train` on an object of a class or on what holds one, and whether that is certain."""
    perhaps: queries.Call | None = None
    for module in _files_with(". train", cls, project):
        for function in (*module.all_functions(), module.body):
            if "train" not in function.words:
                continue
            for event in function.flow.of(EventKind.CALL):
                callee = event.value.callee
                if callee.op is not Op.ATTR or callee.data != "train" or not _sets_training(event.value):
                    continue
                call = queries.Call(event, function, project)
                found = _holds(call, cls)
                if found and not call.is_tried_out:
                    return call, True
                is_layer = found is None and "backward" in module.text and "BatchNorm" in cls.module.text
                if perhaps is None and is_layer and not is_self(callee.args[0]):
                    perhaps = call
    return None if perhaps is None else (perhaps, False)


def _sets_training(call: Value) -> bool:
    return len(call.args) == 1 or (len(call.args) == 2 and call.args[1].op is Op.CONST and call.args[1].data is True)


def _holds(call: queries.Call, cls: Class) -> bool | None:
    """True if the receiver of a call is an object of a class, or holds one; None if it is not known."""
    owner = queries.Operand(call.value.callee.args[0], call.function, call.project)
    if is_self(owner.value):
        return None
    made = queries.made_objects(owner)
    if not made:
        return None
    models = [one.made_class() for one in made]
    return any(model is not None and cls in queries.classes_inside(model, call.project) for model in models)
