"""Learned tensors that are moved after an optimizer was given them: it goes on with the old ones, now unused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.devices import parts
from modellint.flow.domain import (
    ANY_ARGUMENTS,
    NO_ARGUMENTS,
    NONE,
    ClassRef,
    Constant,
    FunctionRef,
    Outside,
    Plain,
    Prepared,
    join,
)
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell, are_exclusive
from modellint.flow.optimizer_builders import OptimizerBuilders
from modellint.flow.runs import started
from modellint.flow.theory import Comparable, Escaped, Theory
from modellint.flow.training import is_optimizer
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, Value, same, walk_all
from modellint.link.classes.definitions import SourceMethod

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path
    from modellint.flow.interp import Interpreter
    from modellint.flow.theory import Occurrence
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.rule import Project

#: Methods that move a tensor, and return another one if it was elsewhere.
_MOVING = operators.methods("Tensor", "moves")
#: Methods whose results need no gradient of the tensor.
_ASIDE = frozenset(("detach", "numpy", "item", "tolist", "size", "dim", "numel"))
#: The namespace of types, to which nothing is moved.
_TYPES = operators.attributes("torch", "type:float")
_PARAMETERS = frozenset(("torch.nn.Parameter", "torch.nn.parameter.Parameter"))
_ASKING = "requires_grad"
_CONSTRUCTOR = "__init__"


@dataclass(frozen=True, eq=False, slots=True)
class Moved:
    """A learned tensor that is given to an optimizer before it is moved, each by a call in a function."""

    made: Call
    optimizer: Call
    move: Call


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is written in a function; `start` is the function from which the run got there."""

    value: Value
    function: Function
    start: Function

    @property
    def place(self) -> Place:
        return self.function.module.place(self.value)


@dataclass(frozen=True, slots=True)
class _Leaf(Plain, Comparable):
    """A new tensor that asks for gradients, or a parameter."""

    value: Value
    function: Function


@dataclass(frozen=True, slots=True)
class _Copy(Plain, Comparable):
    """A learned tensor, moved by the call `value`."""

    leaf: _Leaf
    value: Value
    function: Function


@dataclass(frozen=True, slots=True)
class _Optimizer(Plain, Comparable):
    """An optimizer."""

    value: Value
    function: Function


def moved_late(module: ModuleFacts, project: Project) -> Iterator[Moved]:
    """The learned tensors of a file that are moved too late."""
    functions = (module.body, *module.all_functions())
    if all(function.words.isdisjoint(_MOVING) for function in functions):
        return
    if not any(_makes_learned(function, project) for function in functions):
        return
    builders = OptimizerBuilders(module, project)
    starts = [*builders.first, *builders.others]
    if starts:
        run = started(project, _Moves)
        run.of(_Moves).begin_at(starts)
        yield from run.of(_Moves).found.values()
        run.close()


def _makes_learned(function: Function, project: Project) -> bool:
    """True if a function may make a tensor that asks for gradients, and that is no parameter of a layer."""
    if _ASKING not in function.text and "Parameter" not in function.text:
        return False
    calls = [event.value for event in function.flow.of(EventKind.CALL)]
    if any(_asks(call) for call in calls):
        return True
    is_making = any(call.callee.data == "Parameter" for call in calls)
    return is_making and (function.owner is None or project.classes.model(function.owner).is_module is False)


def _asks(call: Value) -> bool:
    asked = call.keywords.get(_ASKING)
    if asked is not None:
        return not (asked.op is Op.CONST and asked.data is False)
    is_told = call.callee.op is Op.ATTR and call.callee.data == f"{_ASKING}_"
    return is_told and not any(arg.op is Op.CONST and arg.data is False for arg in call.args[1:])


class _Moves(Theory):
    """A theory that follows the learned tensors of one run to optimizers, moves and uses."""

    observes = (Escaped,)

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        #: The tensors that are moved too late, by the move.
        self.found: dict[Value, Moved] = {}
        self._start: Function | None = None
        self._time = 0
        #: The optimizers that were given a tensor, each with the path on which it was.
        self._taken: dict[_Leaf | _Copy, dict[_Optimizer, Path]] = {}
        #: Moves of tensors that an optimizer holds: the function started, the number of loops, and the time.
        self._late: dict[_Copy, tuple[Function | None, int, int]] = {}
        #: The last use of each tensor since the start: the number of loops, and the time.
        self._used: dict[_Leaf | _Copy, tuple[int, int]] = {}

    # -- functions that run ------------------------------------------------------------------------------------------

    def begin_at(self, functions: list[Function]) -> None:
        """Run the functions that no earlier one has called; if one moves its object's tensor, all methods as well."""
        done = self._run.calls.done
        for function in functions:
            if function in done or not self._run.is_complete:
                continue
            owner = None if function.is_static or function.is_class_method else function.owner
            known, receiver = len(self._late), None if owner is None else self._object(owner)
            if receiver is None or function.name != _CONSTRUCTOR:
                self._begin(function, receiver)
            if owner is not None and len(self._late) > known:
                for method in owner.methods.values():
                    if method is not function and method not in done and not method.is_static:
                        self._begin(method, receiver)

    def _object(self, cls: Class) -> Shell:
        """An object of a class."""
        self._start_at(cls.methods.get(_CONSTRUCTOR))
        found = Shell("instance", None, (id(cls),), self._run.classes.model(cls), ANY_ARGUMENTS)
        self._run.objects.construct(found)
        return found

    def _begin(self, function: Function, receiver: Shell | None) -> None:
        self._start_at(function)
        code = SourceMethod(function, self._run.project.names)
        self._run.start(FunctionRef(code, None, receiver), class_frame(code.scope, id(function)))

    def _start_at(self, function: Function | None) -> None:
        self._run.begin()
        self._start = function
        self._used.clear()

    # -- tensors that are made, given and moved ----------------------------------------------------------------------

    def apply(self, function: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        at = frame.function
        if isinstance(function, FunctionRef) or at is None:
            return None
        if is_optimizer(function):
            given = function.arguments.then(arguments) if isinstance(function, Prepared) else arguments
            taking = _Optimizer(value, at)
            self._give(taking, given)
            return (taking,)
        name = function.model.name if isinstance(function, ClassRef) else getattr(function, "name", "")
        is_asking = isinstance(function, Outside) and arguments.keywords.get(_ASKING) == (Constant(True),)
        if name in _PARAMETERS or (is_asking and name.startswith("torch.")):
            return (_Leaf(value, at),)
        self._note_uses(arguments)
        return None

    def _give(self, taking: _Optimizer, arguments: Arguments) -> None:
        pending, seen = list(join(arguments.all())), set[Shell]()
        while pending:
            atom = pending.pop()
            if isinstance(atom, _Leaf | _Copy):
                self._taken.setdefault(atom, {}).setdefault(taking, self._run.path)
            elif isinstance(atom, Shell) and atom.is_container and atom not in seen:
                seen.add(atom)
                pending.extend(atom.contents())

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        at = frame.function
        if at is None:
            return None
        if isinstance(atom, _Optimizer):
            return self._ask(atom, name, arguments, frame, value)
        if isinstance(atom, _Leaf | _Copy):
            is_move = name in _MOVING and value.op is Op.CALL
            if name not in _ASIDE and (self._run.loops or not is_move):
                self._use((atom,))
            if is_move:
                return (self._move(atom, value, at),)
        if name == f"{_ASKING}_" and not isinstance(atom, Shell) and arguments.argument(0, _ASKING) in (None, _TRUE):
            return (atom if isinstance(atom, _Leaf | _Copy) else _Leaf(value, at),)
        return None

    def _move(self, tensor: _Leaf | _Copy, value: Value, at: Function) -> _Leaf | _Copy:
        """The result of a move: another tensor, unless it is there already."""
        if isinstance(tensor, _Copy) or _stays(tensor, value, at):
            return tensor
        copy = _Copy(tensor, value, at)
        is_given = any(not are_exclusive(path, self._run.path) for path in self._taken.get(tensor, {}).values())
        if is_given and copy not in self._late:
            self._time += 1
            self._late[copy] = (self._start, self._run.loops, self._time)
        return copy

    def _ask(self, taking: _Optimizer, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        if name == "add_param_group":
            self._give(taking, arguments)
        elif name == "step":
            for atom in join(arguments.all()):
                if isinstance(atom, FunctionRef):  # what calculates the loss
                    self._run.calls.apply(atom, NO_ARGUMENTS, frame, value)
            for copy in self._late:
                if taking in self._taken.get(copy.leaf, {}) and self._is_stale(copy):
                    self._note_late_move(copy, taking)
        return NONE

    def _is_stale(self, copy: _Copy) -> bool:
        """True if a copy that was moved once is used in later steps, in place of the tensor that is trained."""
        start, loops, time = self._late[copy]
        used = self._used.get(copy)
        if used is None or used[1] < time or copy in self._taken or self._used.get(copy.leaf, (0, 0))[1] > time:
            return False
        return start is not self._start or (used[0] > loops and self._run.loops > loops)

    def _note_late_move(self, copy: _Copy, taking: _Optimizer) -> None:
        start = self._late[copy][0]
        if start is not None:
            leaf = copy.leaf
            made, optimizer = (Call(each.value, each.function, start) for each in (leaf, taking))
            self.found.setdefault(copy.value, Moved(made, optimizer, Call(copy.value, copy.function, start)))

    # -- uses --------------------------------------------------------------------------------------------------------

    def _use(self, atoms: Atoms) -> None:
        """Note a use of the tensors that a value may be; where a moved copy may be used, its original is not."""
        for part in parts(atoms):
            copies = [atom for atom in part if isinstance(atom, _Copy)]
            left = {copy.leaf for copy in copies}
            for atom in part:
                if isinstance(atom, _Leaf | _Copy) and atom not in left:
                    self._time += 1
                    self._used[atom] = (max(self._run.loops, self._used.get(atom, (0, 0))[0]), self._time)

    def observe(self, event: Occurrence) -> None:
        if isinstance(event, Escaped):
            self._note_uses(event.arguments)

    def _note_uses(self, arguments: Arguments) -> None:
        for atoms in arguments.all():
            self._use(atoms)

    def operator(self, value: Value, operands: list[Atoms], frame: Frame) -> None:
        if value.op is Op.INDEX:
            self._use(tuple(atom for atom in operands[0] if isinstance(atom, _Leaf | _Copy)))
        elif value.op in (Op.BIN, Op.UNARY):
            for atoms in operands:
                self._use(atoms)


_TRUE = (Constant(True),)


def _stays(tensor: _Leaf, move: Value, at: Function) -> bool:
    """True if a tensor may be made on the device that it is moved to, or the move changes its type."""
    if "dtype" in move.keywords or any(arg.data in _TYPES for arg in move.positional):
        return True
    parts = [part for part in walk_all((tensor.value,)) if part.op is Op.CALL]
    made = [part.keywords["device"] for part in parts if "device" in part.keywords]
    for part in parts:
        if part.callee.op is Op.ATTR and part.callee.data in _MOVING:
            made += [*part.args[1:], part.callee]
    to = (*move.positional, *move.keywords.values())
    if not made:
        return move.callee.data == "cpu" or any(device.data == "cpu" for device in to)
    if tensor.function is not at:
        return True  # nobody knows which devices these are
    if move.callee.data == "cuda" and any(str(device.data).startswith("cuda") for device in made):
        return True
    return any(same(device, other) for device in made for other in to)
