"""Which objects of an OpenMMLab configuration are built: classes build those of their arguments that they choose to."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from modellint.graph.definitions import DefinedClass, DefinedFunction, External
from modellint.graph.value import EventKind, Op, self_attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.names import Definition
    from modellint.link.project import Project

#: The protocol of registries: `MODELS.build(cfg)`, and functions that are made for it: `build_backbone(cfg)`.
_BUILD = "build"
#: Calls that leave a mapping as it is and build nothing.
_HARMLESS = frozenset(("isinstance", "len", "print", "bool", "type", "hasattr", "getattr", "str", "repr", "super"))
_CHANGING = frozenset(("pop", "update", "setdefault", "clear", "popitem"))
_READING = frozenset(("get", "items", "keys", "values", "copy", "format"))
#: The function of mmengine and mmcv that takes a configuration and a registry.
_FROM_CONFIG = "build_from_cfg"
_DEEPEST = 6
#: What `mmengine.runner.Runner` builds with nothing but what is in the configuration. Source: mmengine 0.10.7.
_BY_RUNNER: tuple[tuple[str, ...], ...] = (
    ("model",),
    ("train_dataloader", "dataset"),
    ("val_dataloader", "dataset"),
    ("test_dataloader", "dataset"),
)
_RUNNERS = ("from_cfg",)


class Fate(Enum):
    """The ways in which a class treats an argument that describes an object."""

    PLAIN = "it is built of what is in the configuration"
    BUILT = "it is built, perhaps of more or less than that"
    ELSEWHERE = "code that cannot be read gets it"
    MAYBE = "something is done with it"
    NEVER = "it is not built"


#: The fates by which of several counts.
_ORDER = (Fate.PLAIN, Fate.BUILT, Fate.ELSEWHERE, Fate.MAYBE, Fate.NEVER)


def fate_of(definition: Definition, name: str, depth: int, project: Project) -> Fate:
    """The way in which a class treats an argument; `depth` mappings and lists are around the object asked about."""
    if isinstance(definition, DefinedFunction):
        return _Following(definition.function, name, depth, project).fate
    if not isinstance(definition, DefinedClass):
        return Fate.ELSEWHERE
    return _in_class(definition, name, depth, project, 0)


def _in_class(definition: DefinedClass, name: str, depth: int, project: Project, level: int) -> Fate:
    def find() -> Fate:
        model = project.classes.of(definition)
        return Fate.ELSEWHERE if model is None else _from(model, model.mro(), name, depth, project, level)

    cls = definition.cls
    return project.once(("openmmlab fate", cls.module.file, cls.qualname, name, str(depth)), find)


def _from(model: ClassModel, mro: Sequence[ClassModel], name: str, depth: int, project: Project, level: int) -> Fate:
    """The way in which the first constructor of these classes treats an argument."""
    for number, current in enumerate(mro):
        function = None if current.cls is None else current.cls.methods.get("__init__")
        if function is None:
            if current.cls is None:
                return Fate.ELSEWHERE
            continue
        rest = mro[number + 1 :]
        if function.parameter(name) is None:
            rests = [one.name for one in function.parameters if one.kind == "var-keyword"]
            above = filter(_is_super, _calls(function))
            is_passed = any(_is_param(part, *rests) for call in above for one in call.args[1:] for part in one.walk())
            return _from(model, rest, name, depth, project, level) if is_passed else Fate.MAYBE
        found = _Following(function, name, depth, project, level, model, rest).fate
        return Fate.ELSEWHERE if found is Fate.NEVER and not model.is_complete else found
    return Fate.ELSEWHERE


class _Following:
    """Follows a parameter through a function; through a constructor, into the other methods of its class."""

    def __init__(
        self,
        function: Function,
        name: str,
        depth: int,
        project: Project,
        level: int = 0,
        model: ClassModel | None = None,
        rest: Sequence[ClassModel] = (),
    ) -> None:
        self._depth = depth
        self._project = project
        self._level = level
        self._model = model
        self._rest = rest
        self._found: set[Fate] = set()
        self._is_changed = False
        if level > _DEEPEST:
            self._found.add(Fate.MAYBE)
        else:
            self._follow(function, lambda value: _is_param(value, name))
            self._follow_stored(function, name)

    @property
    def fate(self) -> Fate:
        found = next((one for one in _ORDER if one in self._found), Fate.NEVER)
        return Fate.BUILT if found is Fate.PLAIN and self._is_changed else found

    def _follow(self, function: Function, is_it: Callable[[Value], bool]) -> None:
        for call in _calls(function):
            callee = call.callee
            if callee.op is Op.ATTR and callee.data in _CHANGING and any(map(is_it, callee.args[0].walk())):
                self._is_changed = True
            arguments: dict[int | str, Value] = dict(enumerate(call.positional))
            arguments.update(call.keywords)
            unpacked = call.args[1 + len(call.positional) :] if call.has_unpacking else ()
            if any(is_it(part) for one in unpacked for part in one.walk() if one not in call.keywords.values()):
                self._found.add(Fate.MAYBE)
            using = {key: value for key, value in arguments.items() if any(map(is_it, value.walk()))}
            if using and not _is_harmless(call):
                self._found.add(self._of_call(call, function, using, is_it))

    def _of_call(
        self, call: Value, function: Function, using: dict[int | str, Value], is_it: Callable[[Value], bool]
    ) -> Fate:
        """The way in which a call treats the value that it gets in some arguments."""
        key, value = next(iter(using.items()))
        steps = _steps(value, is_it)
        if _is_building(call):
            if steps == self._depth and not call.has_unpacking and self._is_plain(call, function.module):
                return Fate.PLAIN
            return Fate.BUILT if steps is None or steps == self._depth else Fate.MAYBE
        if _is_super(call):
            if self._model is None or steps is None:
                return Fate.MAYBE
            names = _argument_names(self._rest)
            name = key if isinstance(key, str) else names[key] if key < len(names) else None
            if name is None:
                return Fate.ELSEWHERE
            return _from(self._model, self._rest, name, self._depth, self._project, self._level + 1)
        definition = self._project.names.definition(function.module, call.callee)
        if not isinstance(definition, DefinedClass | DefinedFunction):
            is_far = isinstance(definition, External) or (definition is None and call.callee.op is Op.GLOBAL)
            return Fate.ELSEWHERE if is_far and steps is not None else Fate.MAYBE
        if steps is None or steps > self._depth:
            return Fate.MAYBE
        return self._inside(definition, key, self._depth - steps)

    def _inside(self, definition: DefinedClass | DefinedFunction, key: int | str, depth: int) -> Fate:
        if isinstance(definition, DefinedFunction):
            names = definition.function.argument_names
        else:
            model = self._project.classes.of(definition)
            names = [] if model is None else _argument_names(model.mro())
        name = key if isinstance(key, str) else names[key] if key < len(names) else None
        if name is None:
            return Fate.MAYBE
        if isinstance(definition, DefinedFunction):
            return _Following(definition.function, name, depth, self._project, self._level + 1).fate
        return _in_class(definition, name, depth, self._project, self._level + 1)

    def _is_plain(self, call: Value, module: ModuleFacts) -> bool:
        """True if a call builds an object of the mapping alone."""
        is_alone = len(call.args) == 2
        if call.callee.op is Op.ATTR and call.callee.data == _BUILD:
            return is_alone
        found = self._project.names.definition(module, call.callee)
        if isinstance(found, External):
            return found.name.endswith(f".{_FROM_CONFIG}") and len(call.args) == 3
        if not is_alone:
            return False
        if not isinstance(found, DefinedFunction):
            return False
        names = found.function.argument_names
        inner = _Following(found.function, names[0], 0, self._project, self._level + 1) if names else None
        return inner is not None and inner.fate is Fate.PLAIN

    def _follow_stored(self, function: Function, name: str) -> None:
        for event in function.flow.of(EventKind.STORE):
            attribute = self_attribute(event.target) if event.target is not None else None
            if _steps(event.value, lambda value: _is_param(value, name)) == 0:
                if attribute is None or self._model is None:
                    self._found.add(Fate.MAYBE)
                    continue
                for current in self._model.mro():
                    for method in current.cls.mentioned.get(attribute, ()) if current.cls is not None else ():
                        self._follow(method, lambda value, named=attribute: self_attribute(value) == named)  # type: ignore[misc]
        for event in function.flow.of(EventKind.RETURN):
            if any(_is_param(part, name) for part in event.value.walk()) and event.value.op is not Op.CALL:
                self._found.add(Fate.MAYBE)


def _argument_names(mro: Sequence[ClassModel]) -> list[str]:
    """The names of the positional parameters of the first constructor of these classes."""
    for current in mro:
        function = None if current.cls is None else current.cls.methods.get("__init__")
        if function is not None:
            return function.argument_names
        if current.cls is None:
            return []
    return []


def _calls(function: Function) -> Iterator[Value]:
    return (event.value for event in function.flow.of(EventKind.CALL))


def _is_param(value: Value, *names: str) -> bool:
    return value.op is Op.PARAM and value.data in names


def _steps(value: Value, is_it: Callable[[Value], bool]) -> int | None:
    """How many elements are taken of the value that is followed; None for another value."""
    steps = 0
    for _ in range(_DEEPEST):
        if is_it(value):
            return steps
        if value.op in (Op.ITEM, Op.INDEX):
            value, steps = value.args[0], steps + 1
        elif value.op in (Op.BOOL, Op.CHOICE):  # `heads or []`
            value = next((one for one in value.args if any(map(is_it, one.walk()))), value.args[0])
        else:
            return None
    return None


def _is_super(call: Value) -> bool:
    callee = call.callee
    return callee.op is Op.ATTR and callee.data == "__init__"


def _is_harmless(call: Value) -> bool:
    callee = call.callee
    return (callee.op is Op.GLOBAL and callee.data in _HARMLESS) or (callee.op is Op.ATTR and callee.data in _READING)


def _is_building(call: Value) -> bool:
    """True if a call is one of the protocol of registries."""
    callee = call.callee
    return callee.op in (Op.GLOBAL, Op.ATTR) and str(callee.data).startswith(_BUILD)


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
                    _note(call, found)
        return found

    return project.once(("openmmlab programs",), find)


def _note(call: Value, found: dict[tuple[str, ...], Fate]) -> None:
    callee = call.callee
    if callee.op is Op.ATTR and callee.data in _RUNNERS:
        for keys in _BY_RUNNER:
            found.setdefault(keys, Fate.PLAIN)
    elif call.positional and _is_building(call):
        keys = _keys(call.positional[0])
        if keys:
            is_alone = len(call.args) == 2 and not call.has_unpacking
            was = found.get(keys, Fate.PLAIN)
            found[keys] = was if is_alone else Fate.BUILT


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
