"""The theory of training: optimizers and the parameters they get, and other code that may train a layer."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.flow.domain import NO_ARGUMENTS, UNKNOWN, ClassRef, Outside, Plain, Prepared, function_of, join
from modellint.flow.heap import TENSORS, Shell, opened, shells_in
from modellint.flow.library.functions import PARTIAL, partial
from modellint.flow.parameter_names import ParameterName, Picks
from modellint.flow.theory import (
    MOST_MADE,
    Escaped,
    LayerCalled,
    Made,
    Mode,
    StoredOutside,
    Theory,
    Undecided,
    Unreached,
)
from modellint.flow.unpassed import asked_for
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op
from modellint.link.names import External

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from modellint.flow.domain import Arguments, Atom, Atoms, FunctionRef
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path, Slot
    from modellint.flow.interp import Interpreter
    from modellint.flow.theory import Occurrence
    from modellint.graph.methods import Method
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Parameter, Value
    from modellint.link.classes.models import ClassModel

#: The layers and parameters whose parameters a value gives, with the path conditions.
Owners = dict[Shell, list["Path"]]

OPTIMIZERS = "torch.optim."
#: Modules of torch there that hold no optimizers.
_OTHERS = (OPTIMIZERS + "lr_scheduler.", OPTIMIZERS + "swa_utils.")
#: Methods of a layer that yield its parameters, alone or with their names.
GIVING = ("parameters", "named_parameters")
#: Methods that train a layer by hand, load its state, or keep it from being trained.
SETTLING = frozenset(("requires_grad_", "load_state_dict", "state_dict", "eval"))
#: Methods of a layer that aren't followed, as they don't train it.
_WORK = frozenset(("forward", "__call__"))
#: The depth to which an optimizer's argument is opened.
_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Weights(Plain):
    """The parameters of a layer, or one parameter."""

    owner: Shell


@dataclass(frozen=True, eq=False, slots=True)
class BuiltOptimizer:
    """An optimizer: the call that makes it, and the owners of its parameters; None if they may be any.

    At that time, `stores` counts the stores in these layers, and `entries` the entries of container layers among them
    and their parts (both empty for one made in a loop); `worked` are the layers that had been called, or had escaped.
    """

    call: Value
    function: Function | None
    given: Owners | None
    path: Path
    stores: Mapping[Shell, int]
    worked: frozenset[Shell] = frozenset()
    entries: Mapping[Shell, int] = field(default_factory=dict)


class Training(Theory):
    """The optimizers that one run makes, and the parameters that they get."""

    mode = Mode(asks="optimizers", most_made=MOST_MADE)
    observes = (LayerCalled, Undecided, Unreached, Made, Escaped, StoredOutside)

    def __init__(self, run: Interpreter, home: ModuleFacts) -> None:
        self._run = run
        self._home = home
        self.built: list[BuiltOptimizer] = []
        #: Layers whose parameters, some or all, escaped or were changed.
        self.settled: set[Shell] = set()
        #: Layers that escaped, were loaded, or were kept from being trained.
        self.kept: set[Shell] = set()
        #: Layers whose parameters somebody asked for.
        self.asked: set[Shell] = set()
        #: The layers that each call runs, by the identity of the call.
        self.calls: dict[int, set[Shell]] = {}
        #: The layers that were called.
        self.worked: set[Shell] = set()
        self.picks = Picks(run)

    # -- parameters --------------------------------------------------------------------------------------------------

    def parameter(self, parameter: Parameter, code: Method, frame: Frame) -> Atoms:
        return asked_for(self._run, parameter, code, frame)

    def result(self, found: Atoms, operands: list[Atoms], value: Value, frame: Frame) -> Atoms:
        if value.op is Op.ITEM and not found and operands[0]:
            return UNKNOWN  # of an empty container, which somebody else may fill
        return found

    def expression(self, value: Value, frame: Frame) -> Atoms | None:
        if value.op is not Op.COMPREHENSION or value.guard is None:
            return None
        self._run.evaluate(value.args[-1], frame)
        return self._run.comprehension(value, frame, self.picks.filters(value.guard, frame))

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if isinstance(atom, Weights):
            if name.endswith("_") and not name.endswith("__"):
                self.settled.add(atom.owner)
                return (atom,)
            return None
        if not isinstance(atom, Shell) or not atom.is_layer:
            return None
        if name in SETTLING:
            self.kept.add(atom)
        if name in _WORK:
            self.worked.add(atom)
        if name in GIVING:
            self.asked.add(atom)
        if name not in GIVING or self._run.objects.own_method(atom, name) is not None:
            return None
        if arguments != NO_ARGUMENTS:
            return UNKNOWN
        return self._parameter_generator(atom, name, frame, value)

    def _parameter_generator(self, layer: Shell, name: str, frame: Frame, value: Value) -> Atoms:
        found = self._run.shell("generator", value, frame, name)
        found.is_exact = False
        element: Atoms = (Weights(layer),)
        if name == "named_parameters":
            row = self._run.shell("tuple", value, frame, f"{name} {id(layer)}")
            row.fill(((ParameterName(layer),), element))
            element = (row,)
        found.put(element, ())
        return (found,)

    def observe(self, event: Occurrence) -> None:
        if isinstance(event, StoredOutside):  # `p.requires_grad = False`
            if isinstance(event.owner, Weights):
                self.settled.add(event.owner.owner)
        elif isinstance(event, LayerCalled):
            self.worked.add(event.shell)
            self.calls.setdefault(id(event.value), set()).add(event.shell)
        elif isinstance(event, Undecided):
            self.picks.note(*event)
        elif isinstance(event, Unreached):
            for atom in self._run.evaluate(event.value.callee, event.frame):
                self.builds(atom, None, event.frame, event.value)
        elif isinstance(event, Made):
            self._note_made(*event)
        elif isinstance(event, Escaped):
            self._note_escape(*event)

    # -- calls -------------------------------------------------------------------------------------------------------

    def follows(self, function: FunctionRef, arguments: Arguments, relation: str) -> bool:
        return relation != "super" and getattr(function.code, "name", None) not in _WORK

    def is_foreign(self, defined: Function | Class | None) -> bool:
        """True if a definition is from an installed package, and the file under analysis is not."""
        names = self._run.project.names
        return (
            defined is not None and names.path.is_installed(defined.module) and not names.path.is_installed(self._home)
        )

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms | None:
        code = function_of(function.code)
        if not self._run.is_complete:
            self._run.give_up()  # nothing is said of layers that something may train which was not followed
        if self.is_foreign(code):
            return self._run.calls.unknown(arguments, value)
        return None if self._is_aside(code) else run()

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if self.builds(Outside(name), arguments, frame, value):
            return UNKNOWN
        if name not in PARTIAL or not arguments.positional:
            return None
        rest = arguments.without_first()
        return join(
            (_partial_of(atom, rest),) if isinstance(atom, Outside) else partial((atom,), rest)
            for atom in arguments.positional[0]
        )

    def builds(self, function: Atom, arguments: Arguments | None, frame: Frame, value: Value) -> bool:
        """Record an optimizer and return True if the callee makes one; no `arguments`: one of them never exists."""
        if not is_optimizer(function):
            return False
        params = None if arguments is None else arguments.argument(0, "params")
        given = None if params is None else self._owners(params, (), are_all=self._run.loops > 0)
        stores = {} if self._run.loops else self._count_stores(given or {})
        entries = {} if self._run.loops else entries_in(given or {})
        worked = frozenset((*self.worked, *self.kept, *self.settled))
        self.built.append(BuiltOptimizer(value, frame.function, given, self._run.path, stores, worked, entries))
        if given is None:
            self._run.stop()  # nothing is to be said of any layer
        return True

    def _count_stores(self, layers: Iterable[Shell]) -> dict[Shell, int]:
        found: dict[Shell, int] = {}
        for shell in layers:
            if shell.model is not None and shell.model.cls is not None:
                self._run.objects.construct(shell)
                found[shell] = len(shell.stores)
        return found

    def _note_made(self, shell: Shell, cls: ClassRef, frame: Frame, value: Value) -> None:
        """Record an optimizer that is made; construct an object that may make one at once."""
        if not self.builds(cls, shell.arguments, frame, value) and not shell.is_layer:
            given = list(opened(join(shell.arguments.all())))
            if any(isinstance(atom, Shell | Weights) for atom in given) or self._concerns(cls.model):
                self._run.objects.construct(shell)
            self.settled.update(atom.owner for atom in given if isinstance(atom, Weights))

    def _concerns(self, model: ClassModel) -> bool:
        """True if a class has methods that may have to do with training, or a base without readable source."""
        classes = [one.cls for one in model.mro()]
        return None in classes or any(
            self._is_concerned(method) for cls in classes if cls is not None for method in cls.methods.values()
        )

    def _is_concerned(self, function: Function) -> bool:
        from modellint.flow.optimizer_builders import concerns

        return concerns(function, self._run.project)

    def _is_aside(self, function: Function | None) -> bool:
        """True if a function has nothing to do with training."""
        return function is not None and not self._is_concerned(function)

    def _note_escape(self, arguments: Arguments, value: Value) -> None:
        """Note layers and parameters that escape, as they may be trained; containers that escape become inexact."""
        name = str(value.callee.data).lower() if value.op is Op.CALL else ""
        if "clip" in name:
            return
        is_making = any(shell.is_layer for shell in self._run.objects.under_construction)
        for atom in opened(join(arguments.all())):
            if isinstance(atom, Weights):
                self.settled.add(atom.owner)
            elif isinstance(atom, Shell) and atom.is_layer and not is_making:
                self.kept.add(atom)
                if "optim" in name:
                    self.settled.add(atom)
        for atom in join(arguments.all()):
            if isinstance(atom, Shell) and atom.is_container:
                atom.is_exact = False
                atom.put(UNKNOWN, self._run.path)

    # -- what they are given -----------------------------------------------------------------------------------------

    def _owners(self, atoms: Atoms, path: Path, depth: int = 0, *, are_all: bool) -> Owners | None:
        """The owners of the parameters that a value gives, with path conditions; None if there may be more.

        `are_all`: the atoms are all given, one after the other, as elements of a container or in a loop.
        """
        found: list[Owners] = []
        for atom in atoms:
            if isinstance(atom, Weights):
                inner: Owners | None = {atom.owner: [path]}
            elif isinstance(atom, Shell) and (atom.kind in TENSORS or atom.is_module_container):
                inner = {atom: [path]}
            elif isinstance(atom, Shell) and atom.is_container and depth < _MAX_DEPTH:
                inner = self._contents(atom, path, depth, are_all=are_all)
            else:
                inner = None
            if inner is None:
                return None
            found.append(inner)
        are_containers = [isinstance(atom, Shell) and atom.is_container for atom in atoms]
        if not are_all and any(are_containers) and any(inner.keys() != found[0].keys() for inner in found):
            return None  # one or the other
        return _union(found)

    def _contents(self, container: Shell, path: Path, depth: int, *, are_all: bool) -> Owners | None:
        entries = _parameters_of(container)
        if entries is None:
            return None
        found: list[Owners] = []
        for entry in entries:
            taken = (*path, *(step for step in entry.path if step not in path))
            inner = self._owners(entry.atoms, taken, depth + 1, are_all=are_all or not container.is_exact)
            if inner is None:
                return None
            found.append(inner)
        return _union(found)


def entries_in(layers: Iterable[Shell]) -> dict[Shell, int]:
    """The number of entries of each container layer among some layers and their parts."""
    found: dict[Shell, int] = {}
    seen, pending = set[Shell](), list(layers)
    while pending:
        shell = pending.pop()
        if shell not in seen:
            seen.add(shell)
            pending += shells_in((*(store.atoms for store in shell.stores), *(entry.atoms for entry in shell.entries)))
            if shell.is_module_container:
                found[shell] = len(shell.entries)
    return found


def _partial_of(function: Outside, rest: Arguments) -> Prepared:
    """The `partial` of an outside function with arguments."""
    return Prepared(function.name, function.arguments.then(rest) if isinstance(function, Prepared) else rest)


def is_optimizer(atom: Atom) -> bool:
    """True if an atom is an optimizer class of torch, or a class that derives from one."""
    if isinstance(atom, ClassRef):
        bases = [base for model in atom.model.mro() for base in model.facts.bases]
        return any(isinstance(base, External) and is_torch_optimizer(base.name) for base in bases)
    return isinstance(atom, Outside) and is_torch_optimizer(atom.name)


def is_torch_optimizer(name: str) -> bool:
    """True if a dotted name is that of an optimizer class of torch."""
    return name.rpartition(".")[2][:1].isupper() and may_be_optimizer(name)


def may_be_optimizer(name: str) -> bool:
    """True if a dotted name is of torch's module of optimizers, and of no module in it that has none."""
    return name.startswith(OPTIMIZERS) and not name.startswith(_OTHERS)


def _parameters_of(container: Shell) -> list[Slot] | None:
    """The entries of a container that hold parameters, also for a parameter group or a named parameter; else None."""
    entries = container.entries
    if container.kind == "dict":
        found = [entry for entry in entries if entry.key == "params"]
        return found if found and all(entry.key is not None for entry in entries) else None
    if container.kind == "tuple" and len(entries) == 2 and all(map(_is_name, entries[0].atoms)):
        return entries[1:]
    return entries or None


def _is_name(atom: Atom) -> bool:
    return type(atom) in (Plain, ParameterName)


def _union(found: Iterable[Owners]) -> Owners:
    union: Owners = {}
    for inner in found:
        for shell, paths in inner.items():
            known = union.setdefault(shell, [])
            known.extend(path for path in paths if path not in known)
    return union
