"""Which objects of an OpenMMLab configuration are built: classes build those of their arguments that they choose to."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from modellint.graph.definitions import DefinedClass, DefinedFunction, External
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.names import DefinedConstant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.names import Definition
    from modellint.link.project import Project

#: The protocol of registries: `MODELS.build(cfg)`, and functions that are made for it: `build_backbone(cfg)`.
_BUILD = "build"
#: Calls that leave a mapping as it is and build nothing.
_HARMLESS = frozenset(("isinstance", "len", "print", "bool", "type", "hasattr", "getattr", "str", "repr", "super"))
_READING = frozenset(("get", "items", "keys", "values", "copy", "format"))
_DEEPEST = 6
#: What `mmengine.runner.Runner` builds with nothing but what is in the configuration. Source: mmengine 0.10.7.
_BY_RUNNER = (
    ("model",),
    ("train_dataloader", "dataset"),
    ("val_dataloader", "dataset"),
    ("test_dataloader", "dataset"),
)
_RUNNERS = ("from_cfg",)


class Fate(Enum):
    """Does a class build an argument: with what is in the configuration only, perhaps, or certainly not."""

    PLAIN = "built as it is"
    MAYBE = "perhaps"
    NEVER = "never"


def fate_of(definition: Definition, name: str, depth: int, project: Project) -> Fate:
    """What a class does with an argument; `depth` mappings and lists are between it and the object asked about."""
    if isinstance(definition, DefinedFunction):
        return _in_function(definition.function, name, depth, project, 0)
    if not isinstance(definition, DefinedClass):
        return Fate.MAYBE
    cls = definition.cls
    key = ("openmmlab fate", cls.module.file, cls.qualname, name, str(depth))
    return project.once(key, lambda: _in_class(definition, name, depth, project))


def _in_class(definition: DefinedClass, name: str, depth: int, project: Project) -> Fate:
    model = project.classes.of(definition)
    return Fate.MAYBE if model is None else _from(model, model.mro(), name, depth, project)


def _from(model: ClassModel, mro: Sequence[ClassModel], name: str, depth: int, project: Project) -> Fate:
    """What the first constructor of these classes does with an argument."""
    for number, current in enumerate(mro):
        function = None if current.cls is None else current.cls.methods.get("__init__")
        if function is None:
            if current.cls is None:
                return Fate.MAYBE
            continue
        if function.parameter(name) is None:
            return _passed_on(function, model, mro[number + 1 :], name, depth, project)
        found = _in_function(function, name, depth, project, 0, (model, mro[number + 1 :]))
        if found is not Fate.NEVER:
            return found
        return Fate.NEVER if model.is_complete else Fate.MAYBE
    return Fate.MAYBE


def _passed_on(
    function: Function, model: ClassModel, rest: Sequence[ClassModel], name: str, depth: int, project: Project
) -> Fate:
    """The fate of an argument that a constructor takes in `**kwargs` and hands to the next one."""
    rests = [one.name for one in function.parameters if one.kind == "var-keyword"]
    for call in _calls(function):
        if rests and _is_super(call) and any(_is_param(value, rests[0]) for value in call.args):
            return _from(model, rest, name, depth, project)
    return Fate.MAYBE


def _in_function(
    function: Function,
    name: str,
    depth: int,
    project: Project,
    level: int,
    above: tuple[ClassModel, Sequence[ClassModel]] | None = None,
) -> Fate:
    found = Fate.NEVER
    if level > _DEEPEST:
        return Fate.MAYBE
    for call in _calls(function):
        arguments = [*call.positional, *call.keywords.values()]
        using = [value for value in arguments if any(_is_param(part, name) for part in value.walk())]
        if not using or _is_harmless(call):
            continue
        exact = _distance(using[0], name)
        if _is_building(call, function.module, project):
            is_alone = len(arguments) == 1 and not call.has_unpacking
            if exact == depth and is_alone:
                return Fate.PLAIN
            found = Fate.MAYBE
        elif exact == 0 and _is_super(call) and above is not None:
            passed = next((one for one, value in call.keywords.items() if value is using[0]), name)
            inner = _from(above[0], above[1], passed, depth, project)
            found = inner if inner is not Fate.NEVER else found
            if inner is Fate.PLAIN:
                return inner
        else:
            found = Fate.MAYBE
    for event in function.flow.of(EventKind.STORE):
        attribute = self_attribute(event.target) if event.target is not None else None
        if any(_is_param(part, name) for part in event.value.walk()):
            if attribute is None or above is None:
                found = Fate.MAYBE
            elif _distance(event.value, name) == 0:
                kept = _kept(attribute, depth, above[0], project)
                if kept is Fate.PLAIN:
                    return kept
                found = kept if kept is not Fate.NEVER else found
            elif not _is_built_inside(event.value, function.module, project):
                found = Fate.MAYBE
    for event in function.flow.of(EventKind.RETURN):
        if any(_is_param(part, name) for part in event.value.walk()) and event.value.op is not Op.CALL:
            found = Fate.MAYBE
    return found


def _is_built_inside(value: Value, module: ModuleFacts, project: Project) -> bool:
    return value.op is Op.CALL


def _kept(attribute: str, depth: int, model: ClassModel, project: Project) -> Fate:
    """The fate of what a constructor stores in an attribute."""
    found = Fate.NEVER
    for current in model.mro():
        if current.cls is None:
            continue
        for method in current.cls.mentioned.get(attribute, ()):
            for call in _calls(method):
                arguments = [*call.positional, *call.keywords.values()]
                using = [one for one in arguments if any(self_attribute(part) == attribute for part in one.walk())]
                if not using or _is_harmless(call):
                    continue
                is_alone = len(arguments) == 1 and not call.has_unpacking
                if _is_building(call, method.module, project) and is_alone and not depth:
                    if self_attribute(using[0]) == attribute:
                        return Fate.PLAIN
                found = Fate.MAYBE
    return found


def _calls(function: Function) -> Iterator[Value]:
    return (event.value for event in function.flow.of(EventKind.CALL))


def _is_param(value: Value, name: str) -> bool:
    return value.op is Op.PARAM and value.data == name


def _distance(value: Value, name: str) -> int | None:
    """How many elements are taken of a parameter; None for another value."""
    steps = 0
    while value.op in (Op.ITEM, Op.INDEX) and value.args:
        value, steps = value.args[0], steps + 1
    return steps if _is_param(value, name) else None


def _is_super(call: Value) -> bool:
    callee = call.callee
    return callee.op is Op.ATTR and callee.data == "__init__"


def _is_harmless(call: Value) -> bool:
    callee = call.callee
    return (callee.op is Op.GLOBAL and callee.data in _HARMLESS) or (callee.op is Op.ATTR and callee.data in _READING)


def _is_building(call: Value, module: ModuleFacts, project: Project) -> bool:
    """True if a call builds what its first argument describes."""
    callee = call.callee
    if callee.op not in (Op.GLOBAL, Op.ATTR) or not str(callee.data).startswith(_BUILD):
        return False
    if callee.op is Op.ATTR and callee.data == _BUILD:
        return True
    found = project.names.definition(module, callee)
    if isinstance(found, DefinedFunction):
        names = found.function.argument_names
        return bool(names) and _in_function(found.function, names[0], 0, project, 1) is not Fate.NEVER
    return isinstance(found, External | DefinedConstant) or callee.op is Op.ATTR


# -- what programs build ---------------------------------------------------------------------------------------


def built_by_programs(project: Project) -> dict[tuple[str, ...], Fate]:
    """The fate of what programs take of a configuration, by its keys: `("model",)` of `MODELS.build(cfg.model)`."""

    def find() -> dict[tuple[str, ...], Fate]:
        found: dict[tuple[str, ...], Fate] = {}
        for path in project.files.mentioning(project.options.root, "fromfile"):
            module = project.python(path)
            if module is None:
                continue
            for function in (module.body, *module.functions.values()):
                for call in _calls(function):
                    _note(call, module, project, found)
        return found

    return project.once(("openmmlab programs",), find)


def _note(call: Value, module: ModuleFacts, project: Project, found: dict[tuple[str, ...], Fate]) -> None:
    callee = call.callee
    if callee.op is Op.ATTR and callee.data in _RUNNERS:
        for keys in _BY_RUNNER:
            found.setdefault(keys, Fate.PLAIN)
    elif call.positional and _is_building(call, module, project):
        keys = _keys(call.positional[0])
        if keys:
            is_alone = len(call.args) == 2 and not call.has_unpacking
            was = found.get(keys, Fate.PLAIN)
            found[keys] = was if is_alone else Fate.MAYBE


def _keys(value: Value) -> tuple[str, ...]:
    """The keys that lead from a configuration to a value: `("data", "train")` of `cfg.data.train`."""
    keys: list[str] = []
    while value.op in (Op.ATTR, Op.INDEX):
        key = value.data if value.op is Op.ATTR else value.args[1].data if value.args[1].op is Op.CONST else None
        if not isinstance(key, str):
            return ()
        keys.insert(0, key)
        value = value.args[0]
    return tuple(keys)
