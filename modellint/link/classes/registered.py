"""Layers and parameters that an object keeps where `nn.Module` does not see them.

A constructor is run on paper; what it keeps in plain lists, tuples, sets and dicts is compared with what it
registers, object by object: a layer that is registered by another way, under another name, or in a container that is
built from the same list, is no loss.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from modellint.finding import Confidence, Related
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.classes.construction import Construction
from modellint.link.classes.definitions import SourceMethod
from modellint.link.classes.models import covers
from modellint.link.classes.objects import (
    ANY_ARGUMENTS,
    Choice,
    Group,
    Instance,
    Receiver,
    Rows,
    Tensor,
    Trained,
    alternatives,
)
from modellint.link.classes.plain import Suspects
from modellint.link.values.callers import neighbours

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.classes.construction import Frame, Path
    from modellint.link.classes.models import Classes, ClassModel
    from modellint.link.classes.objects import Arguments, Object, Origin
    from modellint.link.project import Project

#: Methods by which a layer is at work.
_WORK = ("forward", "__call__", "training_step")
#: Methods that `nn.Module` has for its children; a class that writes them for a container looks after it by hand.
_CARE = frozenset(
    """_apply apply to cuda cpu half float double train eval parameters named_parameters children named_children modules
    named_modules state_dict load_state_dict requires_grad_ __setattr__ __getstate__ __setstate__""".split()
)
#: Methods in which reading an attribute is no use of what it holds.
_IDLE = frozenset("__init__ __repr__ __str__ extra_repr __len__ __del__".split())
_REGISTRARS = frozenset(("add_module", "register_module", "register_parameter", "__setattr__"))
_REGISTERS = re.compile(
    r"add_module|register_(?:module|parameter)|setattr|(?:Module|Parameter)(?:List|Dict)|Sequential|_modules"
)
_ADDS = re.compile(
    r"add_module|register_(?:module|parameter)|setattr\(|\.\w+ = [\w.]*(?:Module|Parameter)(?:List|Dict)\("
)
_CONTAINERS = frozenset("ModuleList ModuleDict Sequential ParameterList ParameterDict".split())
_ATTRIBUTE = re.compile(r"\.(\w+)")
_MAX_READERS = 40
#: How deeply layers that are built from each other are opened.
_MAX_NESTING = 6


@dataclass(eq=False)
class Kept:
    """One assignment of an attribute: what it stores, under which conditions, and what is added to it later."""

    attribute: str
    target: Value
    value: Value
    function: Function
    path: Path
    content: Object
    added: list[tuple[Object, Path]] = field(default_factory=list)

    @cached_property
    def kind(self) -> str:
        """`list`, `tuple`, `set`, `dict`, or `container` where that cannot be told."""
        return _kind(self.value, 0)

    @property
    def is_one_tuple(self) -> bool:
        """Whether it is a tuple of one, written out."""
        value = self.value
        return value.op is Op.TUPLE and len(value.args) == 1 and value.args[0].op is not Op.STARRED

    @property
    def has_stray_comma(self) -> bool:
        """Whether nothing but a comma behind a value makes it a tuple: `self.x = f(),`."""
        return self.is_one_tuple and (self.value.line, self.value.offset) == (
            self.value.args[0].line,
            self.value.args[0].offset,
        )

    @property
    def is_nested(self) -> bool:
        """Whether a container stands within the container."""
        items = [item for group in alternatives(self.content) if isinstance(group, Group) for item in group.items]
        added = [item for group, _ in self.added if isinstance(group, Group) for item in group.items]
        return any(isinstance(option, Group | Rows) for item in (*items, *added) for option in alternatives(item))

    def leaves(self) -> Iterator[tuple[Object, Path]]:
        """What the container holds, nested containers opened, and on which paths; nothing if it is not a plain one."""
        for content, path in ((self.content, self.path), *self.added):
            for leaf in _leaves(content, inside=content is not self.content):
                yield leaf, path


@dataclass(frozen=True, eq=False)
class Use:
    """Where an attribute is read; `at_work` where `forward` gets there."""

    function: Function
    value: Value
    at_work: bool


@dataclass(frozen=True, eq=False)
class Unregistered:
    """Layers or parameters that `cls` keeps in a plain container and registers nowhere.

    Neither is there for a tuple of one, made by a comma, that is called. `doubts` say why it may be meant.
    """

    cls: Class
    kept: Kept
    layers: tuple[Instance | Trained, ...]
    parameters: tuple[Tensor, ...]
    uses: tuple[Use, ...]
    doubts: tuple[str, ...]
    #: Whether a comma makes a tuple of what was to be kept itself.
    is_accident: bool
    #: Whether the class is known to be a layer, rather than to look like one.
    is_module: bool

    @property
    def confidence(self) -> Confidence:
        """How sure it is that something is lost: used at work, used anywhere, or perhaps meant or never used."""
        if self.doubts or not self.uses:
            return Confidence.LOW
        return Confidence.HIGH if self.is_module and any(use.at_work for use in self.uses) else Confidence.MEDIUM

    @property
    def evidence(self) -> tuple[str, ...]:
        """Why it is believed that something is lost, and what speaks against it."""
        names = dict.fromkeys(type_name(layer) for layer in self.layers)
        found = [f"{' and '.join(names)} {'have' if len(names) > 1 else 'has'} parameters or buffers"] if names else []
        used = dict.fromkeys(use.function.name for use in self.uses if use.at_work)
        found.extend(f"`{name}` uses `self.{self.kept.attribute}`" for name in list(used)[:1])
        return (*found, *self.doubts)

    @property
    def related(self) -> tuple[Related, ...]:
        """Where the container is used, at work if it is."""
        first = sorted(self.uses, key=lambda use: not use.at_work)[:1]
        return tuple(Related(use.function.module.place(use.value), "used here") for use in first)


class _Run(Construction):
    """A construction that notes what goes into some attributes."""

    def __init__(self, classes: Classes, model: ClassModel, wanted: Iterable[str]) -> None:
        super().__init__(classes, model, 0)
        self.wanted = frozenset(wanted)
        self.kept: list[Kept] = []
        self.done: set[Function] = set()
        #: Whether somebody is given the object who may register something in it.
        self.is_passed_on = False

    def follow(self, function: Function) -> None:
        """Run a method that the constructor did not call."""
        if function not in self.done:
            self._method(function.name, 0, ANY_ARGUMENTS, ())

    def _call(self, method: object, arguments: Arguments, path: Path, above: int, trail: Origin) -> Object:
        if isinstance(method, SourceMethod):
            self.done.add(method.function)
        return super()._call(method, arguments, path, above, trail)  # type: ignore[arg-type]

    def _store(self, target: Value, value: Value, frame: Frame, path: Path) -> None:
        super()._store(target, value, frame, path)
        attribute = self_attribute(target)
        if attribute in self.wanted and attribute is not None:
            if isinstance(frame.method, SourceMethod):
                content = self.evaluate(value, frame)
                self.kept.append(Kept(attribute, target, value, frame.method.function, path, content))
        elif target.op is Op.INDEX:
            self._grow(target.args[0], [value], frame, path)
        elif target.op is Op.ATTR and attribute is None:
            # A part of another layer: `stage.block = block`.
            owner = self.evaluate(target.args[0], frame)
            if any(isinstance(option, Instance) and option.model.is_module for option in alternatives(owner)):
                self._register(None, self.evaluate(value, frame), path)

    def _effect(self, call: Value, frame: Frame, path: Path) -> None:
        super()._effect(call, frame, path)
        callee = call.callee
        if callee.op is Op.ATTR and callee.data in ("append", "extend", "insert", "update", "add", "setdefault"):
            self._grow(callee.args[0], call.args[1:], frame, path, is_open=callee.data in ("extend", "update"))
        elif any(arg.op is Op.PARAM and arg.data == "self" for arg in call.args[1:]):
            self.is_passed_on = self.is_passed_on or self._may_register(call, frame)

    def _may_register(self, call: Value, frame: Frame) -> bool:
        """Whether a function that is given the object may register something in it."""
        if call.callee.op is Op.ATTR and call.callee.data == "__init__":
            return False
        function = self.evaluate(call.callee, frame)
        method = getattr(function, "method", None)
        return isinstance(method, SourceMethod) and _ADDS.search(method.function.text) is not None

    def _grow(self, owner: Value, values: Iterable[Value], frame: Frame, path: Path, *, is_open: bool = False) -> None:
        """Something is put into the container under an attribute."""
        while owner.op in (Op.INDEX, Op.UPDATE):
            owner = owner.args[0]
        attribute = self_attribute(owner)
        if attribute not in self.wanted:
            return
        for kept in reversed(self.kept):
            if kept.attribute == attribute and not are_exclusive(kept.path, path):
                for value in values:
                    added = self.evaluate(value, frame)
                    kept.added.append((added if is_open else Group((added,)), path))
                if len(kept.path) <= len(path):
                    break


def are_exclusive(path: Path, other: Path) -> bool:
    """Whether two paths can never be taken together."""
    return any((test, not outcome) in other for test, outcome in path)


def _open_paths(paths: Iterable[Path], taken: Path) -> list[Path]:
    """What is left to be decided on paths where those that `taken` decides are known."""
    possible = (path for path in paths if not are_exclusive(path, taken))
    return [tuple(step for step in path if step not in taken) for path in possible]


def unregistered(module: ModuleFacts, project: Project) -> tuple[Unregistered, ...]:
    """What the classes of a file keep in plain containers though `nn.Module` should know of it."""
    return project.once(("unregistered", module.path), lambda: tuple(_search(module, project)))


def _search(module: ModuleFacts, project: Project) -> Iterator[Unregistered]:
    reported: set[int] = set()
    suspects = Suspects(project)
    for cls in module.classes.values():
        model = project.classes.model(cls)
        names = set() if is_layer(model) is None else suspects.of(cls)
        if not names or model.has_own_adder("__setattr__"):
            continue
        for found in _Inspection(cls, model, names, project).run():
            if id(found.kept.target) not in reported and id(found.kept.value) not in reported:
                reported.update((id(found.kept.target), id(found.kept.value)))
                yield found


def is_layer(model: ClassModel) -> bool | None:
    """Whether a class is a layer; False where it looks like one but has an unknown base, None where it is none."""
    if model.is_module is True:
        return True
    if model.is_module is None and model.has_method("forward"):
        return False
    return None


class _Inspection:
    """One class under construction."""

    def __init__(self, cls: Class, model: ClassModel, names: set[str], project: Project) -> None:
        self.cls = cls
        self.model = model
        self.names = names
        self.project = project
        self.classes = project.classes

    def run(self) -> Iterator[Unregistered]:
        self.classes.begin()
        run = _Run(self.classes, self.model, self.names)
        run.run(ANY_ARGUMENTS)
        for method in self.cls.methods.values():
            if any(name in self.names for name in _assigned_or_filled(method)):
                run.follow(method)
        lasting = _final(run.kept)
        registered = self._registered(run, lasting)
        for kept in lasting:
            if kept.function.module is self.cls.module and not run.is_passed_on:
                is_alone = sum(other.attribute == kept.attribute for other in lasting) == 1
                found = self._judge(kept, registered, run.done, is_alone=is_alone)
                if found is not None:
                    yield found

    # -- what is registered ------------------------------------------------------------------------------------

    def _registered(self, run: _Run, lasting: Iterable[Kept]) -> dict[Origin, list[Path]]:
        """The paths on which each object in a container is registered."""
        leaves = (option for kept in lasting for leaf, _ in kept.leaves() for option in alternatives(leaf))
        wanted = {leaf.origin for leaf in leaves if isinstance(leaf, Instance | Tensor | Trained)}
        found: dict[Origin, list[Path]] = {}
        if not wanted:
            return found
        for registration in run.registrations:
            for option in alternatives(registration.value):
                if not isinstance(option, Group):
                    for origin in _origins(option, wanted):
                        found.setdefault(origin, []).append(registration.path)
        return found

    def _judge(
        self, kept: Kept, registered: dict[Origin, list[Path]], done: set[Function], *, is_alone: bool
    ) -> Unregistered | None:
        layers: list[Instance | Trained] = []
        parameters: list[Tensor] = []
        doubts: list[str] = []
        for leaf, taken in kept.leaves():
            for option in alternatives(leaf):
                if not isinstance(option, Instance | Tensor | Trained) or option.origin is None:
                    continue
                open_paths = _open_paths(registered.get(option.origin, ()), taken)
                if covers(open_paths) or not self.classes.state(option):
                    continue
                if open_paths:
                    doubts.append("it is registered under some conditions")
                if isinstance(option, Tensor):
                    parameters.append(option)
                else:
                    layers.append(option)
        if not (layers or parameters or (kept.is_one_tuple and is_alone)):
            return None
        uses = tuple(self._uses(kept))
        is_called = kept.is_one_tuple and any(_is_called(use) for use in uses)
        if not (layers or parameters or is_called) or self._is_cared_for(kept.attribute, done):
            return None
        is_accident = kept.has_stray_comma or is_called
        if not is_accident:
            doubts.extend(self._doubts(kept, uses))
        reasons = tuple(dict.fromkeys(doubts))
        is_module = self.model.is_module is True
        return Unregistered(self.cls, kept, tuple(layers), tuple(parameters), uses, reasons, is_accident, is_module)

    # -- uses --------------------------------------------------------------------------------------------------

    @cached_property
    def _relatives(self) -> tuple[Class, ...]:
        """The class, its bases, and the classes of its file and the files beside it that derive from it."""
        found = {model.cls: None for model in self.model.mro() if model.cls is not None}
        for module in neighbours(self.project, self.cls.module, self.cls.name):
            for other in module.classes.values():
                if other not in found and any(m.cls is self.cls for m in self.classes.model(other).mro()):
                    found[other] = None
        return tuple(found)

    @cached_property
    def _at_work(self) -> frozenset[Function]:
        """The methods that `forward` reaches, by the names that they mention."""
        methods: dict[str, list[Function]] = {}
        for cls in self._relatives:
            for method in cls.methods.values():
                methods.setdefault(method.name, []).append(method)
        reached: dict[Function, None] = {}
        pending = [method for name in _WORK for method in methods.get(name, ())]
        while pending:
            method = pending.pop()
            if method not in reached:
                reached[method] = None
                for name in set(_ATTRIBUTE.findall(method.text)):
                    if name not in _IDLE:
                        pending.extend(methods.get(name, ()))
        return frozenset(reached)

    def _uses(self, kept: Kept) -> Iterator[Use]:
        for cls in self._relatives:
            for method in cls.mentioned.get(kept.attribute, ()):
                if method.name not in _IDLE and method.name not in _CARE:
                    for value in reads(method, kept.attribute):
                        yield Use(method, value, method in self._at_work)
        if f".{kept.attribute}" in self.cls.module.text:
            yield from self._uses_outside(kept)

    def _uses_outside(self, kept: Kept) -> Iterator[Use]:
        """Uses of the attribute by other code of the file: `for layer in encoder.layers`."""
        mine = set(self._relatives)
        of_others = re.compile(rf"(?<!\bself)\.{re.escape(kept.attribute)}\b")
        for function in self.cls.module.all_functions():
            if function.owner not in mine and of_others.search(function.text):
                for value in reads(function, kept.attribute, of_self=False):
                    yield Use(function, value, False)

    # -- what speaks against a mistake -------------------------------------------------------------------------

    def _is_cared_for(self, attribute: str, done: set[Function]) -> bool:
        """Whether a method registers what an attribute holds, or does for it what torch does for children."""
        for cls in self._relatives:
            for method in cls.mentioned.get(attribute, ()):
                if method.name in _CARE:
                    return True
                if method not in done and _REGISTERS.search(method.text) and self._registers(method, attribute):
                    return True
        return False

    @staticmethod
    def _registers(method: Function, attribute: str) -> bool:
        """Whether a method registers what an attribute holds, by hand or by a container that it stores."""
        for event in method.flow.events:
            value = event.value
            if event.kind is EventKind.STORE and event.target is not None:
                if self_attribute(event.target) is not None and _is_wrapped(value, attribute):
                    return True
            elif event.kind is EventKind.CALL and _is_registrar(value) and _is_given(value, attribute):
                return True
        return False

    def _doubts(self, kept: Kept, uses: tuple[Use, ...]) -> Iterator[str]:
        if _is_hiding(kept, uses):
            yield "a container of one may be meant to hide the layer"
        for use in uses:
            for event in use.function.flow.of(EventKind.CALL):
                callee = event.value.callee
                if callee.op is not Op.ATTR or self_attribute(callee.args[0]) == kept.attribute:
                    continue
                if _is_part(callee.args[0], kept.attribute):
                    if callee.data in ("to", "cuda") and use.function.name not in _CARE and use.at_work:
                        yield "`forward` moves it by hand"
                    elif callee.data in ("parameters", "named_parameters", "state_dict"):
                        yield f"`{use.function.name}` asks for its parameters by hand"


def type_name(layer: Instance | Trained) -> str:
    """What a layer is called in a message: its class."""
    return f"`{layer.model.name.rpartition('.')[2]}`" if isinstance(layer, Instance) else "the pretrained model"


def _is_called(use: Use) -> bool:
    return any(event.value.callee is use.value for event in use.function.flow.of(EventKind.CALL))


def _is_hiding(kept: Kept, uses: tuple[Use, ...]) -> bool:
    """Whether a container with one written element is only ever asked for that element: `self._model = [model]`."""
    value = kept.value
    if value.op not in (Op.LIST, Op.TUPLE) or len(value.args) != 1 or kept.added:
        return False
    if value.args[0].op is Op.STARRED:
        return False
    return all(
        any(
            event.value.args[0] is use.value and event.value.args[1].op is Op.CONST
            for event in use.function.flow.of(EventKind.INDEX)
        )
        for use in uses
    )


def reads(function: Function, attribute: str, *, of_self: bool = True) -> list[Value]:
    """Where a function reads the attribute, of its own object or of another one, each place once."""
    found: dict[tuple[int, int], Value] = {}
    for event in function.flow.events:
        for value in event.value.walk():
            if value.op is Op.ATTR and value.data == attribute:
                owner = value.args[0]
                if (owner.op is Op.PARAM and owner.data == "self") is of_self and value is not event.target:
                    found.setdefault((value.line, value.offset), value)
        if len(found) >= _MAX_READERS:
            break
    return [found[key] for key in sorted(found)]


def _mentions(value: Value, attribute: str) -> bool:
    return any(self_attribute(part) == attribute for part in value.walk())


def _is_part(value: Value, attribute: str, depth: int = 0) -> bool:
    """Whether a value is what an attribute holds, or an element of it."""
    if self_attribute(value) == attribute:
        return True
    if depth > _MAX_NESTING:
        return False
    if value.op in (Op.INDEX, Op.ITEM, Op.UNPACK, Op.STARRED):
        return _is_part(value.args[0], attribute, depth + 1)
    if value.op is Op.CHOICE:
        return any(_is_part(arg, attribute, depth + 1) for arg in value.args)
    if value.op is Op.CALL and value.callee.op is Op.GLOBAL:
        passes_on = value.callee.data in ("enumerate", "zip", "list", "tuple", "reversed", "iter", "next")
        return passes_on and any(_is_part(arg, attribute, depth + 1) for arg in value.args[1:])
    if value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data in ("values", "items", "get"):
        return _is_part(value.callee.args[0], attribute, depth + 1)
    return False


def _is_wrapped(value: Value, attribute: str) -> bool:
    """Whether a container of layers is built from the attribute."""
    return any(
        part.op is Op.CALL and part.callee.data in _CONTAINERS and _is_given(part, attribute) for part in value.walk()
    )


def _is_given(call: Value, attribute: str) -> bool:
    return any(_mentions(arg, attribute) for arg in call.args[1:])


def _is_registrar(call: Value) -> bool:
    callee = call.callee
    if callee.op is Op.GLOBAL:
        return str(callee.data) == "setattr"
    return callee.op is Op.ATTR and callee.data in _REGISTRARS


def _assigned_or_filled(method: Function) -> set[str]:
    return set(_ATTRIBUTE.findall(method.text)) if _FILLS.search(method.text) else set()


_FILLS = re.compile(
    r"self\.\w+(?:: [^=\n]+)? ?(?:=|\+=)[^=]|\]\s*=[^=]|\.(?:append|extend|insert|update|add|setdefault)\("
)


def _final(kept: list[Kept]) -> list[Kept]:
    """The assignments that last: what another one overwrites is left out, what it extends is what it was."""
    result: list[Kept] = []
    for one in kept:
        lasting: list[Kept] = []
        for before in result:
            if before.attribute != one.attribute or not set(one.path) <= set(before.path):
                lasting.append(before)
            elif _extends(one, before):
                before.added.append((one.content, one.path))
                lasting.append(before)
                one = before
        if one not in lasting:
            lasting.append(one)
        result = lasting
    return result


def _extends(one: Kept, before: Kept) -> bool:
    """Whether an assignment stores the container that is there, with more in it or less: `self.x += […]`."""
    if not any(isinstance(option, Group) for option in alternatives(one.content)):
        return False
    return _mentions(one.value, before.attribute)


def _leaves(value: Object, *, inside: bool) -> Iterator[Object]:
    """What stands in plain containers, those within each other opened."""
    if isinstance(value, Group):
        for item in value.items:
            yield from _leaves(item, inside=True)
    elif isinstance(value, Rows):
        for column in value.columns:
            yield from _leaves(column, inside=isinstance(column, Group))
    elif isinstance(value, Choice) and any(isinstance(option, Group | Rows) for option in value.options):
        for option in value.options:
            yield from _leaves(option, inside=inside)
    elif inside:
        yield value


def _origins(value: Object, wanted: Collection[Origin | None], depth: int = 0) -> Iterator[Origin]:
    """The objects among those wanted that are registered with one: itself, what it holds, and what it is built from."""
    if isinstance(value, Choice):
        for option in value.options:
            yield from _origins(option, wanted, depth)
    elif isinstance(value, Group):
        for item in value.items:
            yield from _origins(item, wanted, depth)
    elif isinstance(value, Rows):
        for column in value.columns:
            yield from _origins(column, wanted, depth)
    elif isinstance(value, Instance | Tensor | Trained):
        if value.origin is not None and value.origin in wanted:
            yield value.origin
        if isinstance(value, Instance) and value.model.is_module is not False and depth < _MAX_NESTING:
            for item in value.contents:
                yield from _origins(item, wanted, depth + 1)
            for name, item in _passed(value):
                inner = list(_origins(item, wanted, depth + 1))
                if inner and (name is None or value.model.registers(name) is not False):
                    yield from inner


def _passed(value: Instance) -> Iterator[tuple[str | None, Object]]:
    """What a layer is built from, with the names of the parameters where these matter and are known."""
    names: list[str | None] = []
    if not value.model.is_container:
        names.extend(p.name for p in value.model.signature or () if p.kind == "positional")
    for number, item in enumerate(value.arguments.positional):
        if not isinstance(item, Receiver):
            yield names[number] if number < len(names) else None, item
    for name, item in value.arguments.keywords.items():
        if not isinstance(item, Receiver):
            yield None if value.model.is_container else name, item


def _kind(value: Value, depth: int) -> str:
    kinds = {Op.LIST: "list", Op.TUPLE: "tuple", Op.SET: "set", Op.DICT: "dict"}
    if value.op in kinds:
        return kinds[value.op]
    if value.op is Op.COMPREHENSION:
        return str(value.data)
    if depth > 8:
        return "container"
    if value.op is Op.UPDATE:
        return _kind(value.args[0], depth + 1)
    if value.op in (Op.CHOICE, Op.BOOL) or (value.op is Op.BIN and value.data in ("+", "*")):
        found = {_kind(arg, depth + 1) for arg in value.args if arg.op is not Op.CONST} - {"container"}
        return found.pop() if len(found) == 1 else "container"
    if value.op is Op.CALL and value.callee.op is Op.GLOBAL:
        name = str(value.callee.data)
        return name if name in ("list", "tuple", "set", "dict") else "dict" if name.endswith("Dict") else "container"
    return "container"
