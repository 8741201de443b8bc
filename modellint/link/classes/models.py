"""Class models: the facts about a class, whatever they were read from.

A class is looked for in the project's own source, then in the packages of its interpreter, then in the shipped facts
(for `torch.nn` the facts come first: they are the same and cost nothing). A model answers the questions of module
registration: is it a layer, which arguments does it take and register, does it have state, what does it move.
None means undecided.
"""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from modellint import knowledge
from modellint.graph.definitions import BARE_BASES
from modellint.graph.python import ModuleFacts
from modellint.graph.value import Value
from modellint.link.classes import calls
from modellint.link.classes.definitions import SourceFacts, SourceMethod
from modellint.link.names import DefinedClass, External
from modellint.link.requirements import required

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable as Answer
    from collections.abc import Collection, Hashable, Mapping

    from modellint.graph.methods import ClassFacts, Method
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Parameter
    from modellint.link.linked import Linked
    from modellint.link.names import Definition, Names

T = TypeVar("T")

#: Packages with several releases described.
_PINNED = frozenset(("speechbrain",))
_MAX_BASES = 60


class _Lineage(NamedTuple):
    """The MRO of a class, and the facts that follow from it. `is_layer`: an unknown base is known to be a layer."""

    mro: tuple[ClassModel, ...]
    is_complete: bool
    is_layer: bool
    is_module: bool | None
    is_container: bool


class ClassModel:
    """The facts about one class. Get one from `project.classes`."""

    def __init__(self, facts: ClassFacts, classes: Classes) -> None:
        self.facts = facts
        self.classes = classes
        self._key = "lineage", id(self)
        #: An MRO, and the positions in it of the methods looked up so far, by name.
        self._found: tuple[object, dict[str, int | None]] = None, {}
        #: An MRO, and the methods in it that can be read, each with its position, by name.
        self._readable: tuple[object, dict[str, tuple[Method, int] | None]] = None, {}

    def __repr__(self) -> str:
        return f"<class {self.name}>"

    @cached_property
    def name(self) -> str:
        """The public dotted name of the class in its package."""
        return knowledge.canonical(self.facts.name)

    @property
    def cls(self) -> Class | None:
        """The class statement, if the model was read from source."""
        return self.facts.cls if isinstance(self.facts, SourceFacts) else None

    # -- inheritance -------------------------------------------------------------------------------------------

    @property
    def _lineage(self) -> _Lineage:
        return self.classes.project.once(self._key, self._linearise)

    def _linearise(self) -> _Lineage:
        complete, layer = True, False
        chains: list[list[ClassModel]] = []
        direct: list[ClassModel] = []
        self.classes.linearising.add(id(self))
        for definition in self.facts.bases:
            base = self.classes.of(definition)
            if base is None:
                name = definition.name if isinstance(definition, External) else ""
                layer = layer or name in knowledge.LAYERS_ELSEWHERE
                complete = complete and _is_plain_base(name)
            elif id(base) in self.classes.linearising or len(self.classes.linearising) > _MAX_BASES:
                complete = False
            else:
                above = base._lineage
                complete, layer = complete and above.is_complete, layer or above.is_layer
                chains.append(list(above.mro))
                direct.append(base)
        self.classes.linearising.discard(id(self))
        mro = (self, *(_merge([*chains, direct]) if len(direct) > 1 else itertools.chain.from_iterable(chains)))
        names = {model.name for model in mro}
        is_module = True if layer or calls.MODULE in names else False if complete else None
        return _Lineage(mro, complete, layer, is_module, not names.isdisjoint(calls.CONTAINERS))

    def mro(self) -> tuple[ClassModel, ...]:
        """The class and its known bases in the order of method resolution."""
        return self._lineage.mro

    @property
    def is_complete(self) -> bool:
        """True if every base of the class can be read or is described by shipped facts."""
        return self._lineage.is_complete

    @property
    def are_bases_known(self) -> bool:
        """True if every base is known, or is a layer class of another library by its name."""
        return self.is_complete or all(
            self.classes.of(base) is not None
            or (isinstance(base, External) and base.name in knowledge.LAYERS_ELSEWHERE)
            for model in self.mro()
            for base in model.facts.bases
        )

    @property
    def is_module(self) -> bool | None:
        """True for a `torch.nn.Module`; None if an unknown base decides."""
        return self._lineage.is_module

    @property
    def is_container(self) -> bool:
        """True for a `ModuleList`, `ModuleDict`, `Sequential` or a class derived from one."""
        return self._lineage.is_container

    # -- methods and attributes --------------------------------------------------------------------------------

    def own_method(self, name: str) -> Method | None:
        return self.facts.method(name)

    def nearest(self, name: str) -> int | None:
        """The position in the MRO of the class that defines a method for objects of this one; None without one."""
        mro = self.mro()
        if self._found[0] is not mro:
            self._found = mro, {}
        known = self._found[1]
        if name not in known:
            known[name] = next((at for at, model in enumerate(mro) if model.facts.has_method(name)), None)
        return known[name]

    def readable(self, name: str) -> tuple[Method, int] | None:
        """The method of the objects if it can be read before torch's classes in the MRO, and its position there."""
        mro = self.mro()
        if self._readable[0] is not mro:
            self._readable = mro, {}
        known = self._readable[1]
        if name not in known:
            known[name] = self._readable_in(mro, name) if self.has_method(name) else None
        return known[name]

    @staticmethod
    def _readable_in(mro: tuple[ClassModel, ...], name: str) -> tuple[Method, int] | None:
        for above, model in enumerate(mro):
            if model.name.startswith("torch."):
                return None
            method = model.own_method(name)
            if method is not None:
                return method, above
        return None

    def has_method(self, name: str) -> bool:
        return self.nearest(name) is not None

    def has_own_adder(self, name: str) -> bool:
        """True if a class of the MRO other than torch's defines the method: an `append` of its own."""
        return any(model.facts.has_method(name) for model in self.mro() if not model.name.startswith("torch."))

    def method(self, name: str) -> Function | None:
        """The method by that name, through the MRO, if it can be read."""
        at = self.nearest(name)
        found = None if at is None else self.mro()[at].own_method(name)
        return found.function if isinstance(found, SourceMethod) else None

    # -- the constructor ---------------------------------------------------------------------------------------

    @property
    def _constructor(self) -> Method | None:
        return next((m for m in (model.own_method("__init__") for model in self.mro()) if m is not None), None)

    @property
    def plain(self) -> Collection[str]:
        """The constructor's parameters that take numbers, strings and the like."""
        return () if self._constructor is None else self._constructor.plain

    @property
    def signature(self) -> tuple[Parameter, ...] | None:
        """The constructor's parameters without the receiver; None if they are not known."""
        for model in self.mro():
            if model.facts.fields is not None:
                return model.facts.fields
            method = model.own_method("__init__")
            if method is not None:
                return method.parameters[1:] if method.has_receiver else method.parameters
            if "__init__" in model.facts.attributes:
                return None
        return () if self.is_complete else None

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.signature or () if p.name == name), None)

    def changes_state(self, method: str, arguments: Mapping[str, object] | None = None) -> bool:
        """True if a method changes the state that the object saves in a checkpoint.

        `arguments` are the constant arguments of its constructor, by name.
        """
        found = (change.partition("?") for model in self.mro() for change in model.facts.conduct.changing)
        return any(name == method and self._holds(condition, arguments or {}) for name, _, condition in found)

    def _holds(self, condition: str, arguments: Mapping[str, object]) -> bool:
        """True if an object made with these arguments has the attribute value in the condition `name=value`."""
        name, _, wanted = condition.partition("=")
        parameter = self.parameter(name)
        default = None if parameter is None or parameter.default is None else parameter.default.data
        return not condition or str(arguments.get(name, default)) == wanted


class Classes:
    """Finds class models. Reached as `project.classes`."""

    def __init__(self, project: Linked, names: Names) -> None:
        self.project = project
        self.names = names
        self._models: dict[int, ClassModel] = {}
        self._shipped: dict[str, ClassModel | None] = {}
        #: Classes whose bases are being followed, by identity: an inheritance cycle ends there.
        self.linearising: set[int] = set()

    def model(self, cls: Class) -> ClassModel:
        """The model of a class statement."""
        found = self._models.get(id(cls))
        if found is None:
            found = self._models[id(cls)] = ClassModel(SourceFacts(cls, self.names), self)
        return found

    def resolve(self, name: str | Value, where: ModuleFacts | pathlib.Path) -> ClassModel | None:
        """The model of the class that a dotted name stands for.

        `where` is the module in which it is written, or, for an absolute name, the file that asks for it.
        """
        names = self.names
        if isinstance(where, ModuleFacts):
            found = names.definition(where, name) if isinstance(name, Value) else names.resolve(where, name)
            return self.of(found)
        return None if isinstance(name, Value) else self.of(names.absolute(name, where))

    def of(self, definition: Definition | None) -> ClassModel | None:
        """The model of a resolved name; None if it is no class, or an unknown one."""
        if isinstance(definition, DefinedClass):
            return self.model(definition.cls)
        if isinstance(definition, External):
            return self._from_facts(definition.name)
        return None

    def is_known_base(self, definition: Definition | None) -> bool:
        """True if a base is a class that is read or described, or one that gives nothing."""
        if isinstance(definition, External) and definition.name in BARE_BASES:
            return True
        return self.of(definition) is not None

    def _from_facts(self, name: str) -> ClassModel | None:
        release = self._release(name)
        if name not in self._shipped:
            facts = knowledge.class_facts(name, release)
            self._shipped[name] = None if facts is None else ClassModel(facts, self)
        return self._shipped[name]

    def _release(self, name: str) -> str | None:
        """The described release that the project pins, or the nearest before it; None for the newest."""
        top = name.partition(".")[0]
        if top not in _PINNED:
            return None
        wanted = required(top, self.project)
        return None if wanted is None else wanted.nearest

    @staticmethod
    def function(name: str) -> Method | None:
        """The shipped facts of a library's function."""
        return knowledge.function_facts(name)

    def named(self, name: str, asker: ClassModel | None) -> ClassModel | None:
        """The model of the class with an absolute name, as `asker` would import it."""
        if asker is not None and asker.cls is not None:
            return self.of(self.names.absolute(name, asker.cls.module.file))
        return self._from_facts(knowledge.canonical(name))

    def once(self, model: ClassModel, question: Hashable, answer: Answer[[], T]) -> T:
        """The memoised answer to a question about a class; each asker gets its file dependencies."""
        return self.project.once(("class", id(model), question), answer)


def _is_plain_base(name: str) -> bool:
    """True if a base that is not described is certainly no layer."""
    top = name.partition(".")[0]
    return name.startswith(calls.NON_LAYERS) or top == "builtins" or calls.is_standard(top)


def _merge(chains: list[list[ClassModel]]) -> list[ClassModel]:
    """C3 linearisation; where there is none, the chains one after another."""
    result: list[ClassModel] = []
    pending = [chain for chain in chains if chain]
    while pending:
        for chain in pending:
            head = chain[0]
            if not any(head.name == other.name for rest in pending for other in rest[1:]):
                break
        else:
            head = pending[0][0]
        result.append(head)
        pending = [[m for m in chain if m.name != head.name] for chain in pending]
        pending = [chain for chain in pending if chain]
    return result
