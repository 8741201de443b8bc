"""Class models: what is known of a class whatever it was learnt from.

A class is looked for in the project's own source, then in the packages of its interpreter, then in the shipped facts
(for `torch.nn` the facts come first: they are the same and cost nothing). The questions are those that registration
turns on: is it a layer, what does its constructor take, what does it register, does it hold state, what does it move.
What cannot be decided is None.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from modellint import knowledge
from modellint.graph.python import ModuleFacts
from modellint.graph.value import Value
from modellint.link.classes import calls
from modellint.link.classes.construction import Construction, Path
from modellint.link.classes.definitions import SourceFacts, SourceMethod
from modellint.link.classes.objects import (
    ANY_ARGUMENTS,
    PLAIN,
    UNKNOWN,
    Arguments,
    Callable,
    Choice,
    ClassObject,
    Given,
    Group,
    Instance,
    Object,
    Outside,
    Tensor,
    Trained,
    Unknown,
    contents,
    key_of,
)
from modellint.link.names import DefinedClass, DefinedFunction, DefinedModule, External
from modellint.link.requirements import required

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable as Answer
    from collections.abc import Hashable, Iterator, Mapping

    from modellint.graph.python import Class, Function, Parameter
    from modellint.link.classes.methods import ClassFacts, Method
    from modellint.link.names import Definition
    from modellint.link.project import Project

T = TypeVar("T")

#: Packages with several releases described.
_PINNED = frozenset(("speechbrain",))
_MAX_BASES = 60
#: How many method runs one question may cost.
_BUDGET = 300
_MAX_NESTING = 12


class _Lineage(NamedTuple):
    """The MRO of a class, and what follows from it. `is_layer`: an unknown base is known to be a layer."""

    mro: tuple[ClassModel, ...]
    is_complete: bool
    is_layer: bool
    is_module: bool | None
    is_container: bool


class ClassModel:
    """What is known of one class. Get one from `project.classes`."""

    def __init__(self, facts: ClassFacts, classes: Classes) -> None:
        self.facts = facts
        self._classes = classes

    def __repr__(self) -> str:
        return f"<class {self.name}>"

    @cached_property
    def name(self) -> str:
        """The dotted name by which its package offers the class."""
        return knowledge.canonical(self.facts.name)

    @property
    def cls(self) -> Class | None:
        """The class statement, where the model was read from source."""
        return self.facts.cls if isinstance(self.facts, SourceFacts) else None

    # -- inheritance -------------------------------------------------------------------------------------------

    @property
    def _lineage(self) -> _Lineage:
        return self._classes.once(self, "lineage", self._linearise)

    def _linearise(self) -> _Lineage:
        complete, layer = True, False
        chains: list[list[ClassModel]] = []
        direct: list[ClassModel] = []
        self._classes.linearising.add(id(self))
        for definition in self.facts.bases:
            base = self._classes.of(definition)
            if base is None:
                name = definition.name if isinstance(definition, External) else ""
                layer = layer or name in knowledge.LAYERS_ELSEWHERE
                complete = complete and _is_plain_base(name)
            elif id(base) in self._classes.linearising or len(self._classes.linearising) > _MAX_BASES:
                complete = False
            else:
                above = base._lineage
                complete, layer = complete and above.is_complete, layer or above.is_layer
                chains.append(list(above.mro))
                direct.append(base)
        self._classes.linearising.discard(id(self))
        mro = (self, *_merge([*chains, direct]))
        names = {model.name for model in mro}
        is_module = True if layer or calls.MODULE in names else False if complete else None
        return _Lineage(mro, complete, layer, is_module, not names.isdisjoint(calls.CONTAINERS))

    def mro(self) -> tuple[ClassModel, ...]:
        """The class and its known bases in the order of method resolution."""
        return self._lineage.mro

    @property
    def is_complete(self) -> bool:
        """Whether every base is known."""
        return self._lineage.is_complete

    @property
    def is_module(self) -> bool | None:
        """Whether it is a `torch.nn.Module`, None if a base is unknown."""
        return self._lineage.is_module

    @property
    def is_container(self) -> bool:
        """Whether it is a `ModuleList`, `ModuleDict`, `Sequential` or the like."""
        return self._lineage.is_container

    # -- methods and attributes --------------------------------------------------------------------------------

    def own_method(self, name: str) -> Method | None:
        return self.facts.method(name)

    def has_method(self, name: str) -> bool:
        return any(model.facts.has_method(name) for model in self.mro())

    def has_own_adder(self, name: str) -> bool:
        """Whether `append` or the like is a method of its own, rather than that of torch's containers."""
        return any(model.facts.has_method(name) for model in self.mro() if not model.name.startswith("torch."))

    def method(self, name: str) -> Function | None:
        """The method by that name, through the MRO, if it can be read."""
        for model in self.mro():
            if model.facts.has_method(name):
                found = model.own_method(name)
                return found.function if isinstance(found, SourceMethod) else None
        return None

    def calls_attribute(self, name: str) -> bool:
        """Whether methods other than the constructor use `self.name`."""
        return any(name in model.facts.conduct.used for model in self.mro())

    # -- the constructor ---------------------------------------------------------------------------------------

    @property
    def _constructor(self) -> Method | None:
        return next((m for m in (model.own_method("__init__") for model in self.mro()) if m is not None), None)

    @property
    def signature(self) -> tuple[Parameter, ...] | None:
        """The constructor's parameters, the receiver left out; None if they are not known."""
        for model in self.mro():
            if model.facts.fields is not None:
                return model.facts.fields
            method = model.own_method("__init__")
            if method is not None:
                return method.parameters[1:] if method.has_receiver else method.parameters
        return () if self.is_complete else None

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.signature or () if p.name == name), None)

    @property
    def takes_any_keyword(self) -> bool | None:
        """Whether the constructor has `**kwargs`."""
        return None if self.signature is None else any(p.kind == "var-keyword" for p in self.signature)

    def accepts(self, name: str) -> bool | None:
        """Whether the constructor takes an argument called `name`; None if it may, by `**kwargs`."""
        if self.signature is None:
            return None
        if any(p.name == name and p.kind in ("positional", "keyword") for p in self.signature):
            return True
        return None if self.takes_any_keyword else False

    def construct(self, arguments: Arguments | None = None) -> Construction:
        """The constructor run on paper; without arguments, for any."""
        return self._classes.constructed(self, ANY_ARGUMENTS if arguments is None else arguments)

    @property
    def _general(self) -> Construction:
        return self._classes.once(self, "general", self.construct)

    @property
    def children(self) -> dict[str, Object]:
        """What the constructor registers under which attribute, whatever its arguments."""
        found: dict[str, Object] = {}
        for registration in self._general.registrations:
            name = registration.attribute
            if name is not None and may_register(registration.value):
                found[name] = registration.value
        return found

    def has_state(
        self, arguments: Arguments | Mapping[str, Object] | None = None, *, trained: bool = False
    ) -> bool | None:
        """Whether an object built with these arguments has parameters or buffers, its children's included.

        Without arguments: whatever they are. With `trained` only parameters that gradients reach count.
        """
        if arguments is not None and not isinstance(arguments, Arguments):
            arguments = Arguments((), dict(arguments))
        built = Instance(self, ANY_ARGUMENTS if arguments is None else arguments)
        return self._classes.state(built, trained=trained)

    def registers(self, parameter: str, arguments: Mapping[str, Object] | None = None) -> bool | None:
        """Whether the constructor registers the layer that it is given as `parameter`.

        True also where it wraps the layer into a container or a child that registers it.
        """
        if not self.is_module:
            return self.is_module
        if self._constructor is not None and parameter in self._constructor.plain:
            return None  # it takes numbers and the like
        keywords: dict[str, Object] = {p.name: Given(p.name) for p in self.signature or ()}
        keywords.update(arguments or {})
        keywords[parameter] = Given(parameter, is_layer=True)
        return self._classes.registered(self, Arguments((), keywords, arguments is not None), parameter)

    def stores(self, parameter: str) -> tuple[str, ...]:
        """The attributes under which the constructor keeps what it is given as `parameter`."""
        names = {
            name: None
            for name, value in self._general.attributes.items()
            if any(isinstance(part, Given) and part.parameter == parameter for part in parts(value))
        }
        return tuple(names)

    def moves(self, parameter: str) -> bool:
        """Whether the class itself moves what it is given as `parameter` to a device."""
        kept = set(self.stores(parameter))
        for model in self.mro():
            conduct = model.facts.conduct
            if kept & conduct.moved or parameter in conduct.moved_parameters:
                return True
        return False

    def changes_state(self, method: str, arguments: Mapping[str, object] | None = None) -> bool:
        """Whether a method changes what an object hands over when a checkpoint is written.

        `arguments` are constants that its constructor is given, by name.
        """
        found = (change.partition("?") for model in self.mro() for change in model.facts.conduct.changing)
        return any(name == method and self._holds(condition, arguments or {}) for name, _, condition in found)

    def _holds(self, condition: str, arguments: Mapping[str, object]) -> bool:
        """Whether an object made with these arguments has the attribute that `name=value` says."""
        name, _, wanted = condition.partition("=")
        parameter = self.parameter(name)
        default = None if parameter is None or parameter.default is None else parameter.default.data
        return not condition or str(arguments.get(name, default)) == wanted

    @property
    def is_device_lazy(self) -> bool:
        """Whether it moves itself to the device of its input when it is called."""
        return self._classes.once(self, "lazy", self._moves_itself)

    def _moves_itself(self) -> bool:
        carried = {name for model in self.mro() for name in model.facts.conduct.carried}
        if not carried or "*" in carried:
            return bool(carried)
        stateful = {name for name, value in self.children.items() if self._classes.state(value) is True}
        return stateful <= carried


class Classes:
    """Finds class models. Reached as `project.classes`."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._models: dict[int, ClassModel] = {}
        self._shipped: dict[str, ClassModel | None] = {}
        self._running: list[tuple[str, int]] = []
        self._budget = _BUDGET
        #: How many expressions are being evaluated, one within the other.
        self.depth = 0
        #: Classes whose bases are being followed, by identity: an inheritance cycle ends there.
        self.linearising: set[int] = set()

    def model(self, cls: Class) -> ClassModel:
        """The model of a class statement."""
        found = self._models.get(id(cls))
        if found is None:
            found = self._models[id(cls)] = ClassModel(SourceFacts(cls, self._project.names), self)
        return found

    def resolve(self, name: str | Value, where: ModuleFacts | pathlib.Path) -> ClassModel | None:
        """The class that a dotted name stands for.

        `where` is the module in which it is written, or, for an absolute name, the file that asks for it.
        """
        names = self._project.names
        if isinstance(where, ModuleFacts):
            found = names.definition(where, name) if isinstance(name, Value) else names.resolve(where, name)
            return self.of(found)
        return None if isinstance(name, Value) else self.of(names.absolute(name, where))

    def of(self, definition: Definition | None) -> ClassModel | None:
        """The model of a resolved name, None if it is no class that is known."""
        if isinstance(definition, DefinedClass):
            return self.model(definition.cls)
        if isinstance(definition, External):
            return self._from_facts(definition.name)
        return None

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
        wanted = required(top, self._project)
        return None if wanted is None else wanted.nearest

    # -- objects -----------------------------------------------------------------------------------------------

    def object_of(self, definition: Definition | None) -> Object:
        """What a resolved name is, seen from an expression."""
        model = self.of(definition)
        if model is not None:
            return ClassObject(model)
        if isinstance(definition, DefinedFunction):
            return Callable(SourceMethod(definition.function, self._project.names))
        if isinstance(definition, External):
            owner = self._from_facts(definition.name.rpartition(".")[0])
            if owner is not None:
                return calls.attribute_of(ClassObject(owner), definition.name.rpartition(".")[2])
            function = self.function(definition.name)
            return Outside(definition.name) if function is None else Callable(function)
        if isinstance(definition, DefinedModule):
            return Outside(definition.module.name)
        return UNKNOWN

    @staticmethod
    def function(name: str) -> Method | None:
        """A function of a library that the shipped facts describe."""
        return knowledge.function_facts(name)

    def named(self, name: str, asker: ClassModel | None) -> ClassModel | None:
        """The class with an absolute name that an expression in `asker` puts together."""
        if asker is not None and asker.cls is not None:
            return self.of(self._project.names.absolute(name, asker.cls.module.file))
        return self._from_facts(knowledge.canonical(name))

    def attribute(self, owner: Instance, name: str) -> Object:
        """What an object keeps under an attribute once it is constructed."""
        self.begin()
        if len(self._running) >= _MAX_NESTING:
            return UNKNOWN
        if name in calls.PLAIN_ATTRIBUTES:
            return PLAIN
        return self.constructed(owner.model, owner.arguments).attributes.get(name, UNKNOWN)

    def constructed(self, model: ClassModel, arguments: Arguments) -> Construction:
        """The constructor of a class run on paper."""
        self.begin()
        return self._once_built(model, "construction", arguments, lambda: self._construct(model, arguments))

    def _construct(self, model: ClassModel, arguments: Arguments) -> Construction:
        self._running.append((model.name, len(self._running)))
        try:
            return Construction(self, model, len(self._running)).run(arguments)
        finally:
            self._running.pop()

    def once(self, model: ClassModel, question: Hashable, answer: Answer[[], T]) -> T:
        """The answer to a question about a class, and whatever files it rests on, for whoever asks again."""
        return self._project.once(("class", id(model), question), answer)

    def _once_built(self, model: ClassModel, question: str, arguments: Arguments, answer: Answer[[], T]) -> T:
        """The answer to a question about objects that are built with these arguments.

        What is asked while another question is being answered has only what is left of its budget, and is not kept.
        """
        key = None if self._running else key_of(arguments)
        return answer() if key is None else self.once(model, (question, key), answer)

    def begin(self) -> None:
        """Grant a question its budget, unless it is asked while another one is being answered."""
        if not self._running:
            self._budget = _BUDGET

    def spend(self) -> bool:
        """Use up one run of a method; False when the question has cost enough."""
        self._budget -= 1
        return self._budget > 0

    def state(self, value: Object, *, trained: bool = False) -> bool | None:
        """Whether an object has state that moves with it: parameters or buffers, its children's included.

        With `trained` only parameters that gradients reach count.
        """
        self.begin()
        if isinstance(value, Tensor):
            return value.trained or not trained
        if isinstance(value, Trained):
            return True
        if isinstance(value, Instance):
            return self._instance_state(value, trained)
        if isinstance(value, Choice):
            return _agreed({self.state(option, trained=trained) for option in value.options}, value.is_each)
        if isinstance(value, Given | Unknown):
            return None
        return False

    def _instance_state(self, value: Instance, trained: bool) -> bool | None:
        model = value.model
        if model.is_module is not True:
            return model.is_module
        question = "parameters" if trained else "state"
        own = self.once(model, question, lambda: self._built_state(model, ANY_ARGUMENTS, trained))
        if own is None:
            own = self._once_built(
                model, question, value.arguments, lambda: self._built_state(model, value.arguments, trained)
            )
        return _agreed({own, *(self.state(item, trained=trained) for item in value.contents)}, True)

    def _built_state(self, model: ClassModel, arguments: Arguments, trained: bool) -> bool | None:
        """Whether an object built with these arguments has state."""
        if len(self._running) >= _MAX_NESTING or sum(1 for name, _ in self._running if name == model.name) > 2:
            return None
        run = self._construct(model, arguments) if self._running else self.constructed(model, arguments)
        self._running.append((model.name, len(self._running)))
        try:
            return self._run_state(run, trained)
        finally:
            self._running.pop()

    def _run_state(self, run: Construction, trained: bool) -> bool | None:
        if () in run.failures:
            return None  # no object comes of these arguments
        open_paths: list[Path] = list(run.failures)
        is_open = not run.is_complete
        found = False
        for registration in run.registrations:
            outcome = self.state(registration.value, trained=trained)
            if outcome and not registration.path:
                return True
            if outcome:
                open_paths.append(registration.path)
                found = True
            elif outcome is None:
                is_open = True
        if found:
            return True if covers(open_paths) else None
        return None if is_open else False

    def registered(self, model: ClassModel, arguments: Arguments, parameter: str) -> bool | None:
        """Whether a constructor run with these arguments registers the argument `parameter`."""
        self.begin()
        if len(self._running) >= _MAX_NESTING:
            return None
        question = f"registers {parameter}"
        return self._once_built(model, question, arguments, lambda: self._registered(model, arguments, parameter))

    def _registered(self, model: ClassModel, arguments: Arguments, parameter: str) -> bool | None:
        self._running.append((model.name, len(self._running)))
        try:
            run = Construction(self, model, len(self._running)).run(arguments)
            paths: list[Path] = []
            is_open = not run.is_complete
            for registration in run.registrations:
                outcome = self._holds(registration.value, parameter)
                if outcome:
                    paths.append(registration.path)
                elif outcome is None:
                    is_open = True
            if paths:
                return True if covers([*paths, *run.failures]) else None
            return None if is_open else False
        finally:
            self._running.pop()

    def _holds(self, value: Object, parameter: str) -> bool | None:
        """Whether what is registered is the argument, or registers it in turn."""
        if isinstance(value, Given):
            return value.is_layer and value.parameter == parameter
        if isinstance(value, Choice):
            return _agreed({self._holds(option, parameter) for option in value.options}, value.is_each)
        if isinstance(value, Instance):
            passed = (*value.contents, *value.arguments.positional, *value.arguments.keywords.values())
            if not any(_mentions(item, parameter) for item in passed):
                is_open = value.model.is_container and UNKNOWN in value.arguments.positional
                return None if is_open else False
            if not value.model.is_module:
                return value.model.is_module
            if any(_mentions(item, parameter) for item in value.contents):
                return True
            return self.registered(value.model, value.arguments, parameter)
        return False


def _agreed(outcomes: set[bool | None], is_each: bool) -> bool | None:
    """What several outcomes come to: of one object among several, or of all of them together."""
    if is_each:
        return True if True in outcomes else None if None in outcomes else False
    return outcomes.pop() if len(outcomes) == 1 else None


def _mentions(value: Object, parameter: str) -> bool:
    return any(isinstance(part, Given) and part.parameter == parameter for part in parts(value))


def parts(value: Object) -> Iterator[Object]:
    """A value, and what it holds if it is a list or a container of layers."""
    pending = [value]
    while pending:
        current = pending.pop()
        yield current
        if isinstance(current, Choice):
            pending.extend(current.options)
        elif isinstance(current, Group):
            pending.extend(contents(current))
        elif isinstance(current, Instance) and current.model.is_container:
            pending.extend((*current.contents, *current.arguments.positional, *current.arguments.keywords.values()))


def may_register(value: Object) -> bool:
    """Whether an attribute's value may be a layer, a parameter or a buffer."""
    if isinstance(value, Choice):
        return any(may_register(option) for option in value.options)
    if isinstance(value, Instance):
        return value.model.is_module is not False
    return isinstance(value, Tensor | Trained | Given)


def covers(paths: list[Path]) -> bool:
    """Whether one of the paths is taken, however the open conditions on them turn out."""
    if any(not path for path in paths):
        return True
    for test in dict.fromkeys(path[0][0] for path in paths):
        sides = [[path[1:] for path in paths if path[0] == (test, side)] for side in (True, False)]
        if all(side and covers(side) for side in sides):
            return True
    return False


def _is_plain_base(name: str) -> bool:
    """Whether a base that is not described is known to be no layer."""
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
