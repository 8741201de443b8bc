"""The theory of a training script under one recipe: its keys, a Brain with `modules`, the stages of a training.

It records the operations on objects of the recipe: used, moved, trained and saved.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from modellint.flow.domain import (
    ANY_ARGUMENTS,
    NEVER,
    NONE,
    PLAIN,
    UNKNOWN,
    Arguments,
    Bound,
    ClassRef,
    Constant,
    FunctionRef,
    Outside,
    Site,
    Super,
    constant,
    function_of,
    join,
    text,
)
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell, opened
from modellint.flow.runs import started
from modellint.flow.theory import Escaped, Foreign, Mode, Sometimes, Stored, Theory
from modellint.flow.training import is_optimizer
from modellint.graph.arguments import bind
from modellint.graph.value import NOWHERE, EventKind, Nested, Op, Value
from modellint.link.classes import calls
from modellint.link.classes.definitions import SourceMethod
from modellint.link.recipes.atoms import (
    Data,
    Keys,
    ModulesEntry,
    ModulesTable,
    ObjectPart,
    Optimizer,
    Partial,
    RecipeObject,
    Recoverables,
    Stage,
    Thing,
    Turn,
    Weights,
)
from modellint.link.recipes.brains import Brain
from modellint.link.recipes.fates import Fates
from modellint.link.recipes.gradients import Gradients
from modellint.link.recipes.items import ItemKind
from modellint.link.recipes.members import member_named, member_of
from modellint.link.recipes.notes import Notes
from modellint.link.recipes.scripts import BrainUse
from modellint.link.recipes.things import PARAMETERS, Objects

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path
    from modellint.flow.theory import Occurrence
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import PathCondition
    from modellint.link.project import Project
    from modellint.link.recipes.items import Evaluation
    from modellint.link.recipes.scripts import Script

_ADDS = frozenset(("add_recoverable", "add_recoverables"))
#: Functions of torch that get parameters and train nothing.
_ONLOOKERS = frozenset(("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"))
_CHECKPOINTERS = frozenset(("speechbrain.utils.checkpoints.Checkpointer",))
_STAGES = frozenset(("speechbrain.Stage", "speechbrain.core.Stage"))
_MAIN = ".if_main_process"
#: Classes whose keyword arguments become attributes.
_NAMESPACES = frozenset(("types.SimpleNamespace", "argparse.Namespace"))
_FRAMEWORK = "speechbrain"
#: Beginnings of names of dataset and loader classes.
_DATA = ("speechbrain.dataio.", "torch.utils.data.")
#: The method that adds a function to a dataset's pipeline.
_ADDS_ITEM = ".add_dynamic_item"
#: The open condition of a path: the function is called at all.
_CALLED_AT_ALL = "called"


class Surroundings(Theory):
    """A script under one recipe: the run of one Brain, or of the code around Brains, which are then not interpreted."""

    mode = Mode(asks="recipes", assumes=True, outlives_run=True)
    observes = (Stored, Escaped)

    def __init__(self, script: Script, brain: BrainUse | None, evaluation: Evaluation, project: Project) -> None:
        self._script = script
        self.project = project
        self.run = started(project, lambda run: self)
        self.notes = Notes(self.run)
        use = brain or BrainUse(script.module, (), NOWHERE, frozenset(), (), False)
        model = project.classes.model(use.classes[0]) if use.classes else None
        self.brain = Shell("brain", use.call, (), model)
        self.own = Brain(self, use)
        #: The Brains that are made but not interpreted, with their arguments.
        self.brains_made: dict[BrainUse, Arguments | None] = {}
        #: The Brains that are not interpreted, by call; None in the run of a Brain.
        self._aside = {other.call.at: other for other in script.brains} if brain is None else None
        #: The calls that load the recipe, each with its function and path.
        self.loads: list[tuple[Value, Function, Path]] = []
        #: The functions that get the keys, with the names of those parameters.
        self.told: list[tuple[Function, frozenset[str]]] = []
        self.objects = Objects(self, evaluation)
        self.fates = Fates(self)
        self.gradients = Gradients(self.run, project)
        #: The stage of the training, and whether a method of the Brain runs rather than the script.
        self.stage = ""
        self.is_at_work = False
        self._files = {script.module, *(cls.module for cls in use.classes)}
        #: The conditions of the calls of each body, by identity.
        self._guards: dict[int, dict[int, PathCondition]] = {}
        #: The functions on the call stack, and the code of those passed to unknown callees.
        self._functions: list[Function | None] = []
        self._handed: set[object] = set()

    def close(self) -> None:
        """Free the run."""
        self.run.close()

    def start(self, function: Function, stage: str = "", *, arguments: Arguments = ANY_ARGUMENTS) -> None:
        """Run a function of the script or, with a stage, a method that the training loop calls in it."""
        run = self.run
        run.steps, run.path = 0, () if stage else (((_CALLED_AT_ALL, function), True),)
        self._handed.clear()
        self.stage, self.is_at_work = stage, function.owner is not None
        method = SourceMethod(function, self.project.names)
        receiver = self.brain if function.owner is not None and not function.is_static else None
        frame = class_frame(method.scope, id(function), (hash(stage),))
        run.calls.apply(FunctionRef(method, None, receiver), arguments, frame, NOWHERE)

    def make(self, cls: Class) -> None:
        """Construct an object of a class of the script."""
        model = self.project.classes.model(cls)
        shell = Shell("instance", None, (id(cls),), model, ANY_ARGUMENTS)
        self.run.steps, self.run.path = 0, ()
        self.run.objects.construct(shell)

    def train(self, function: Function, stage: str, *, learns: bool, arguments: Arguments) -> None:
        """Run a method that the training loop calls."""
        self.gradients.learns = learns
        self.notes.stage = stage
        self.start(function, stage, arguments=arguments)
        self.notes.stage, self.gradients.learns = "", False

    def again(self) -> None:
        """Start a second pass, with the attributes stored by the first one."""
        self.own.again()
        self.run.forget()

    def expression(self, value: Value, frame: Frame) -> Atoms | None:
        if value.op is Op.CALL:
            return self._call_result(value, frame)
        return None if value.op is Op.COMPREHENSION else self._named(value, frame)

    def _named(self, value: Value, frame: Frame) -> Atoms | None:
        module = None if frame.function is None else frame.function.module
        if value.op is Op.GLOBAL and module is self._script.module:
            if value.data in self._script.names:
                return (self.objects.keys,)
            if value.data == self.own.use.call.target:
                return (self.brain,)
            if value.data == "__name__":
                return (Constant("__main__"),)
        name = None if module is None else _of_framework(value, module)
        if name is None:
            member = None if module is None else member_named(value, module, self.project)
            return None if member is None else (member,)
        owner, _, last = name.rpartition(".")
        is_stage = owner in _STAGES and last in Stage.__members__
        return (Constant(Stage[last]),) if is_stage else (Outside(name),)

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        if name == "recoverables" and not isinstance(atom, Shell):
            return (Recoverables(),)
        if atom is self.brain:
            return self.own.attribute(name, frame, value)
        if isinstance(atom, Super) and atom.shell is self.brain:
            return (Bound(atom, name),)
        if isinstance(atom, Keys):
            return self.objects.key(name, frame, value)
        if isinstance(atom, ModulesTable):
            return self.objects.entry(name, frame, value)
        if isinstance(atom, ModulesEntry | RecipeObject):
            return self.objects.part_of(atom, name)
        if isinstance(atom, ObjectPart):
            return (atom,)
        return UNKNOWN if isinstance(atom, Foreign) else None

    def element(self, atom: Atom, index: Atoms | None, frame: Frame | None, value: Value | None) -> Atoms | None:
        if index is None:
            return self._any_element(atom)
        return None if frame is None or value is None else self._part(atom, index, frame, value)

    def _part(self, atom: Atom, index: Atoms, frame: Frame, value: Value) -> Atoms | None:
        if isinstance(atom, Keys | ModulesTable | RecipeObject) and any(isinstance(part, Constant) for part in index):
            if len(index) > 1 and isinstance(atom, Keys) and not all(map(atom.names.__contains__, _constants(index))):
                return UNKNOWN  # one of them need not be asked for
            return join(self.objects.at(atom, part, frame, value) for part in index)
        if isinstance(atom, ModulesEntry):
            return self.objects.part_of(atom, "[]")
        if isinstance(atom, Weights):
            return (atom,)
        return UNKNOWN if isinstance(atom, Foreign) else None

    def _any_element(self, atom: Atom) -> Atoms | None:
        if isinstance(atom, RecipeObject) and atom.item.kind is ItemKind.SEQUENCE:
            return self.objects.fields(atom.item)
        if isinstance(atom, Weights):
            return (atom,)
        if isinstance(atom, Keys | ModulesTable) or (
            isinstance(atom, RecipeObject) and atom.item.kind is ItemKind.MAPPING
        ):
            return PLAIN
        return UNKNOWN if isinstance(atom, Foreign) else None

    def operator(self, value: Value, operands: list[Atoms], frame: Frame) -> Atoms | None:
        if value.op is not Op.BIN:
            return None
        left, right = operands
        turn, number = (left[0], constant(right)) if len(left) == 1 else (None, None)
        if not isinstance(turn, Turn) or number is None or value.data != "%":
            return None
        found = turn.modulo(number.value)
        return UNKNOWN if found is None else (found,)

    def condition(self, key: Hashable, test: Value, frame: Frame) -> Hashable:
        return Sometimes(key) if self._is_sometimes(test, frame) else key

    def _is_sometimes(self, test: Value, frame: Frame) -> bool:
        if test.op is Op.COMPARE:
            left, right = (self.run.evaluate(arg, frame) for arg in test.args)
            if len(left) != 1 or len(right) != 1:
                return False
            if isinstance(left[0], Turn):
                return len(left[0].outcomes(test.data, right[0]) or ()) > 1
            return isinstance(right[0], Turn) and len(right[0].outcomes(_mirror_operator(test.data), left[0]) or ()) > 1
        found = self.run.evaluate(test, frame)
        return len(found) == 1 and isinstance(found[0], Turn) and found[0].comes_and_goes

    def observe(self, event: Occurrence) -> None:
        if isinstance(event, Stored):
            self._store(*event)
        elif isinstance(event, Escaped):
            self.hand(*event)

    def _store(self, owner: Atom, key: Atoms, atoms: Atoms, frame: Frame, target: Value, is_sure: bool = True) -> None:
        name = text(key)
        if owner is self.brain and name is not None:
            self.own.keep(name, atoms, frame)
        elif isinstance(owner, Keys) and name is not None:
            self.objects.change(name, atoms)
        elif isinstance(owner, ModulesTable):
            self.objects.add(owner, name, atoms)
        elif isinstance(owner, RecipeObject):
            self.objects.add(owner.item, name, atoms)
        elif isinstance(owner, Recoverables):
            self.fates.save(atoms, target, frame)
        elif isinstance(owner, Weights) and name == "requires_grad":
            flag = constant(atoms)
            self.fates.freeze(owner.owner, flag is None or not flag.value, target, frame, is_sure=is_sure)

    def _call_result(self, value: Value, frame: Frame) -> Atoms | None:
        if self._is_left_out(value, frame):
            return NEVER
        function = frame.function
        is_here = function is not None and function.module is self._script.module
        if is_here and value.at == self.own.use.call.at:  # the body may have been read anew since
            arguments = self.run.calls.arguments(value, frame)
            if self.own.given is None:
                self.own.given = arguments
            return (self.brain,)
        if is_here and self._aside is not None and value.at in self._aside:
            self.brains_made[self._aside[value.at]] = self.run.calls.arguments(value, frame)
            return UNKNOWN
        if function is not None and self._script.is_load(value) and (is_here or self._aside is not None):
            self.loads.append((value, function, self.run.path))
            return (self.objects.keys,)
        return None

    def _is_left_out(self, call: Value, frame: Frame) -> bool:
        """True if the condition of a call is certainly false, so that its result never exists."""
        guards = self._guards.get(id(frame.flow))
        if guards is None:
            calls_of = frame.flow.of(EventKind.CALL)
            guards = {id(event.value): event.guard for event in calls_of if event.guard is not None}
            self._guards[id(frame.flow)] = guards
        guard = guards.get(id(call))
        return guard is not None and not self.run.may_happen(guard, frame)

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if name in _ADDS:
            return self.fates.checkpoint(name, arguments, frame, value)
        if name == "update" and isinstance(atom, Recoverables):
            self.notes.saves_more = True
        if atom is self.brain:
            return self.own.method(name, arguments, frame, value)
        if isinstance(atom, Super) and atom.shell is self.brain:
            return self.own.above(name, arguments, frame, value)
        if isinstance(atom, Keys):
            return self.objects.keys_method(name, arguments, frame, value)
        if isinstance(atom, ModulesTable):
            return self.objects.table_method(name, arguments, frame, value)
        if isinstance(atom, ModulesEntry | RecipeObject | ObjectPart):
            return self.objects.method(atom, name, arguments, frame, value)
        if isinstance(atom, Weights):
            return self.objects.weights_method(atom, name, arguments, frame, value)
        if isinstance(atom, Optimizer) and name == "state_dict":
            self.notes.added.add(atom)
        if isinstance(atom, Shell) and atom.is_layer and name in PARAMETERS:
            return self.objects.weights(atom, name, frame, value)
        return UNKNOWN if isinstance(atom, Foreign) else None

    def apply(self, function: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if isinstance(function, Outside | ClassRef) and is_optimizer(function):
            return self.fates.optimizer(None, arguments, frame, value)
        if isinstance(function, Outside | ClassRef) and _name(function) in _CHECKPOINTERS:
            return self.fates.checkpointer(arguments, frame, value)
        cls = function.model.cls if isinstance(function, ClassRef) else None
        given = arguments.argument(0, "value") if cls is not None else None
        if cls is not None and given is not None and len(given) == 1:
            member = member_of(cls, given[0], self.project)
            if member is not None:
                return (member,)
        if isinstance(function, Partial):
            return self.run.calls.apply(function.function, function.arguments.then(arguments), frame, value)
        if isinstance(function, ObjectPart):
            self.objects.use(function.owner, function.name, frame, value)
        elif isinstance(function, RecipeObject) and function.item.kind is ItemKind.NAME:
            return self.fates.call_named(function.item, arguments, frame, value)
        elif isinstance(function, ModulesEntry | RecipeObject):
            self.objects.use(function, "", frame, value)
            self.hand(arguments, value)
            return PLAIN
        if isinstance(function, Foreign):
            self.hand(arguments, value)
            return UNKNOWN
        return None

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        given = arguments.positional
        first = given[0] if given else ()
        is_foreign = any(isinstance(atom, Foreign) or atom is self.brain for atom in first)
        if name in ("builtins.hasattr", "builtins.getattr") and len(given) > 1 and is_foreign:
            answer = self.objects.has if name == "builtins.hasattr" else self.objects.attribute
            return join(answer(atom, text(given[1]), given[2:], frame, value) for atom in first)
        if name == "builtins.setattr" and len(given) == 3:
            for atom in first:
                self._store(atom, given[1], given[2], frame, value)
            return NONE if is_foreign else None
        if name in ("builtins.vars", "builtins.dict") or name in calls.COPIES:
            return self.objects.like(first) if is_foreign and not arguments.keywords else None
        if name == "torch.save":
            for item, _ in self.objects.items(tuple(opened(join(arguments.all())))):
                self.notes.saves(item, Site(value, frame.function), sure=False)
            return NONE
        if name in _ONLOOKERS:
            return PLAIN
        if name in _NAMESPACES and value.data == (None,) and self._aside is not None:
            return self.run.evaluate(value.args[-1], frame)
        if name.endswith(_MAIN):
            return (Turn(0, 1),)
        if name.endswith(_ADDS_ITEM) and self._aside is not None:
            for step in opened(join(arguments.all())):
                if isinstance(step, FunctionRef):
                    self._call(step, self.run.path)
            return NONE
        if name == "functools.partial":
            return tuple(Partial(atom, arguments.without_first()) for atom in first)
        if not name.startswith(("builtins.", "itertools.", "functools.", "collections.")):
            self.hand(arguments, value)
        if self._aside is not None and self.project.classes.resolve(name, self._script.module.file) is not None:
            return (Thing(),)
        return (Data(),) if name.startswith(_DATA) else None

    def hand(self, arguments: Arguments, value: Value) -> None:
        for atom in opened(join(arguments.all())):
            if isinstance(atom, FunctionRef):
                self._perhaps(atom)
            elif isinstance(atom, ModulesEntry):
                self.objects.compute(atom)
            elif isinstance(atom, Weights):
                found = [item for item, _ in self.objects.items((atom.owner,))]
                self.notes.trains_perhaps(Site(value, self._functions[-1]), found)

    def _perhaps(self, function: FunctionRef) -> None:
        """Run a function that is passed to an unknown callee, which may call it."""
        self._call(function, (*self.run.path, ((_CALLED_AT_ALL, function.code), True)))

    def _call(self, function: FunctionRef, path: Path) -> None:
        """Run a function that unknown code calls, once, on a path."""
        if function.code in self._handed:
            return
        self._handed.add(function.code)
        outer, self.run.path = self.run.path, path
        method = function.frame or class_frame(function.code.scope, id(function.code))  # type: ignore[union-attr]
        self.run.calls.apply(function, ANY_ARGUMENTS, method, NOWHERE)
        self.run.path = outer

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms:
        code = function_of(function.code)
        if code is not None and self._aside is not None:
            self._tell(code, arguments)
        if not isinstance(function.code, Nested) and not self._matters(function, code, arguments):
            return self.run.calls.unknown(arguments, value)
        quiet = self.gradients.is_detached(value, frame) or (
            code is not None
            and any(self.gradients.is_quiet(decorator, code) for decorator in code.signature.decorators)
        )
        with self._within(code or frame.function, quiet=quiet):
            return run()

    def _tell(self, function: Function, arguments: Arguments) -> None:
        given = bind(function.open_parameters, arguments.positional, arguments.keywords).given
        names = frozenset(name for name, atoms in given.items() if self.objects.keys in atoms)
        if names:
            self.told.append((function, names))

    @contextmanager
    def _within(self, function: Function | None, *, quiet: bool) -> Iterator[None]:
        self._functions.append(function)
        with self.gradients.kept_off(quiet):
            yield
        self._functions.pop()

    def _matters(self, function: FunctionRef, code: Function | None, arguments: Arguments) -> bool:
        """True if a function may use the recipe: it is the script's, or gets its objects and lies beside the script."""
        if code is None:
            return False
        if code.module in self._files:
            return True
        is_given = any(
            isinstance(atom, Foreign | Weights) or atom is self.brain for atom in self._argument_atoms(arguments)
        )
        return is_given and code.module.file.is_relative_to(self._script.module.file.parent)

    def _argument_atoms(self, arguments: Arguments) -> Iterator[Atom]:
        return opened(join(arguments.all()))


def _constants(index: Atoms) -> Iterator[object]:
    return (atom.value for atom in index if isinstance(atom, Constant))


def _name(function: Outside | ClassRef) -> str:
    return function.name if isinstance(function, Outside) else function.model.name


def _of_framework(value: Value, module: ModuleFacts) -> str | None:
    """The full name of an import from the framework, which is modelled here instead of read; else None."""
    names: list[str] = []
    while value.op is Op.ATTR:
        names.append(str(value.data))
        value = value.args[0]
    origin = module.imports.get(value.data) if value.op is Op.GLOBAL else None
    is_framework = origin is not None and origin.partition(".")[0] == _FRAMEWORK
    return ".".join((str(origin), *reversed(names))) if is_framework else None


def _mirror_operator(operator: str) -> str:
    return {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
