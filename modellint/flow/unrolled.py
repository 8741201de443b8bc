"""The theory of unrolled loops: runs a loop iteration by iteration, with one object for each.

A run that counts parameters needs each object that a loop makes. A loop whose elements are unknown, or that may end
early, is run once, as in other runs, and all its effects are under a path condition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.calls import STORING
from modellint.flow.copying import copied
from modellint.flow.domain import (
    NONE,
    PLAIN,
    UNKNOWN,
    Constant,
    Site,
    Super,
    SymbolicInput,
    Tensor,
    constant,
    function_of,
    join,
    size_of,
    text,
)
from modellint.flow.heap import ExactShell, Shell
from modellint.flow.library.constants import pure, value_of
from modellint.flow.library.containers import elements
from modellint.flow.library.functions import FUNCTIONS
from modellint.flow.tensors import Tensors
from modellint.flow.theory import (
    CutOff,
    Deleted,
    Escaped,
    FunctionMade,
    Limits,
    Made,
    Mode,
    Raised,
    RanOut,
    Stored,
    Theory,
    UnreadableSuper,
)
from modellint.graph.size import Size
from modellint.graph.value import InPlace, Op, walk_all
from modellint.knowledge import parameter_counts
from modellint.link.classes import calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from modellint.flow.blocks import Block
    from modellint.flow.domain import Arguments, Atom, Atoms, FunctionRef
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.theory import Occurrence
    from modellint.graph.value import Flow, Loop, Nested, Value

#: The limits of steps and of nested calls (the latter also under an open condition) for such a run.
MAX_STEPS = 400_000
_MAX_CALLS = 24
_MAX_PERHAPS = 2
#: Iterations that stand for many are numbered from here downwards.
_MANY = -1_000_000
_ONLOOKERS = operators.functions("looks")
_WEIGHT_NORMS = operators.functions("weight-norm")
_DISPLAYS = frozenset((Op.LIST, Op.SET, Op.DICT, Op.COMPREHENSION))


class UncertainError(Exception):
    """The run ran out of steps, or makes no object."""


class UnrolledLoops(Theory):
    """The unrolled loops of one run, and facts about objects that their heap doesn't hold."""

    mode = Mode(
        asks="numbers of parameters",
        max_steps=MAX_STEPS,
        limits=Limits(_MAX_CALLS, _MAX_CALLS, _MAX_PERHAPS),
        keeps=(SymbolicInput,),
        counts=True,
        names_parts=True,
        skips_handlers=True,
    )
    observes = (Made, UnreadableSuper, Stored, Escaped, RanOut, Raised, Deleted, CutOff, FunctionMade)

    def __init__(self, run: Interpreter) -> None:
        self.run = run
        self.tensors = Tensors(run)
        #: Objects that unfollowed code may have added layers or parameters to.
        self.open: set[Shell] = set()
        #: Objects with a constructor from shipped facts: their layers are known, but not number and sizes.
        self.rough: set[Shell] = set()
        #: The number of parameters added to layers of torch; None if unknown.
        self.added: dict[Shell, Size | None] = {}
        #: The number of iterations that a single one stands for, by its number.
        self.many: dict[int, Size] = {}
        #: Attributes of arguments that were stored to, which makes them unknown.
        self.changed: set[SymbolicInput] = set()
        #: Comprehensions by the identity of their result, for each body (which is kept alive).
        self._comprehensions: dict[int, tuple[dict[int, Loop], Flow]] = {}
        #: Displays that stand before a loop or nested function and are used in it (which is kept alive).
        self._before: dict[int, tuple[list[Value], object]] = {}

    # -- what is known one by one ----------------------------------------------------------------------------------

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        if isinstance(atom, Shell):
            return self._argument_of(atom, name)
        if isinstance(atom, SymbolicInput) and atom.part(name) in self.changed:
            return UNKNOWN
        return self.tensors.of_tensor(atom, name) if isinstance(atom, Tensor) else None

    def _argument_of(self, shell: Shell, name: str) -> Atoms | None:
        """The argument that a layer of torch keeps under a name; None if something else was stored under it."""
        if shell.kind != "instance" or shell.get(name, self.run.path) is not None:
            return None
        self.run.objects.construct(shell)
        known = None if shell.get(name, self.run.path) is not None else described(shell)
        return None if known is None else known[1].get(name)

    def expression(self, value: Value, frame: Frame) -> Atoms | None:
        made = self._evaluate_comprehension(value, frame) if value.op is Op.COMPREHENSION else None
        return None if made is None else (made,)

    def operator(self, value: Value, operands: list[Atoms], frame: Frame) -> Atoms | None:
        return self._binary(value, operands[0], operands[1], frame) if value.op is Op.BIN else None

    def _binary(self, value: Value, left: Atoms, right: Atoms, frame: Frame) -> Atoms | None:
        if not any(isinstance(atom, Tensor) for atom in (*left, *right)):
            return None
        is_growing = isinstance(value.data, InPlace) and value.data in ("+", "|")
        site = Site(value, frame.function)
        return None if is_growing else self.tensors.arithmetic(str(value.data), left, right, site)

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if isinstance(atom, Super):
            return self._super_method(atom, name, arguments)
        if not isinstance(atom, Tensor):
            return None
        return self.tensors.method(atom, name, arguments, frame, value) or (Tensor(),)

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if name in STORING or name == "builtins.vars" or name in FUNCTIONS or pure(name) is not None:
            return None
        if name in _WEIGHT_NORMS:
            return self._with_norms(arguments)
        if name in calls.COPIES and arguments.positional:
            return copied(self, arguments.positional[0], frame, value, is_deep=name.endswith("deepcopy"))
        row = operators.row(name)
        made = None if row is None else self.tensors.function(name, arguments, frame, value)
        tensor = made[0] if made is not None and len(made) == 1 else None
        is_known = isinstance(tensor, Tensor) and tensor.sizes is not None
        if row is not None and "literal" in row.facets and not is_known:
            return (_literal(arguments),)
        if isinstance(tensor, Tensor):
            return made
        if name not in _ONLOOKERS and not name.startswith("torch.nn.init."):
            self.lose(arguments.all())
        return None

    def _with_norms(self, arguments: Arguments) -> Atoms | None:
        """The layer after weight normalisation, which adds a parameter with one number per output channel."""
        layers = arguments.argument(0, "module") or ()
        for layer in layers:
            if not isinstance(layer, Shell):
                continue
            name, known = described(layer) or ("", {})
            side = "in_channels" if "Transpose" in name else "out_channels"
            size = size_of(known.get(side) or known.get("out_features"))
            is_plain = len(layers) == len(arguments.positional) + len(arguments.keywords) == 1
            self.added[layer] = size if is_plain and layer not in self.added else None
        return layers

    # -- objects ---------------------------------------------------------------------------------------------------

    def follows(self, function: FunctionRef, arguments: Arguments, relation: str) -> bool:
        return True

    def observe(self, event: Occurrence) -> None:
        if isinstance(event, Made):
            self.run.objects.construct(event.shell)  # what it is given may be something else later on
        elif isinstance(event, Stored):
            self._note_store(event)
        elif isinstance(event, Escaped):
            self.lose(event.arguments.all())
        elif isinstance(event, FunctionMade):
            self.prepare(*event)
        elif isinstance(event, UnreadableSuper):
            self._note_unreadable(event.atom.shell, event.name)
        elif isinstance(event, CutOff):
            self._note_cut(event.function)
        elif isinstance(event, Deleted):
            self._delete(event.target, event.frame)
        elif isinstance(event, Raised):
            self._fail()
        elif isinstance(event, RanOut):
            raise UncertainError

    def _super_method(self, atom: Super, name: str, arguments: Arguments) -> Atoms | None:
        for _, owner in self.run.calls.reached(atom, name):
            if name == "__init__" and parameter_counts.describes(owner.name):
                atom.shell.passed, atom.shell.is_initialised = arguments, True
                return NONE
            if owner.name != calls.MODULE and owner.name not in calls.CONTAINERS:
                method = owner.own_method(name)
                if method is not None and function_of(method) is None:
                    self.rough.add(atom.shell)
        return None

    def _note_unreadable(self, shell: Shell, name: str) -> None:
        model = shell.model
        if name == "__init__" and model is not None and not (model.is_complete and model.is_module is False):
            self.open.add(shell)

    def _note_store(self, event: Stored) -> None:
        name = text(event.key)
        if event.target.op is Op.ATTR and isinstance(event.owner, SymbolicInput) and name is not None:
            self.changed.add(event.owner.part(name))

    def lose(self, atoms: Iterable[Atoms]) -> None:
        """Note the objects under construction that are passed to a call which is not followed: it may store in them."""
        making = self.run.objects.under_construction
        for given in atoms:
            self.open.update(atom for atom in given if isinstance(atom, Shell) and atom in making)

    def note_copy(self, shell: Shell, copy: Shell) -> None:
        """Note for a copy the facts about its original."""
        for known in (self.open, self.rough):
            if shell in known:
                known.add(copy)
        if shell in self.added:
            self.added[copy] = self.added[shell]
        if any(turn in self.many and turn not in copy.trail for turn in shell.trail):
            self.open.add(copy)  # it stands for many, which its place does not tell

    def _fail(self) -> None:
        """Note that the object under construction is incomplete."""
        self.open.update(self.run.objects.under_construction[-1:])

    def _delete(self, target: Value, frame: Frame) -> None:
        for atom in self.run.evaluate(target.args[0], frame):
            if isinstance(atom, Shell) and target.op is Op.ATTR:
                atom.history.pop(str(target.data), None)
            elif isinstance(atom, ExactShell):
                atom.lose()

    def _note_cut(self, function: FunctionRef) -> None:
        if self.run.path:
            self.lose([() if function.receiver is None else (function.receiver,)])
        else:
            self._fail()

    # -- loops -----------------------------------------------------------------------------------------------------

    def loop(self, block: Block, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> bool:
        run, loop = self.run, block.loop
        assert loop is not None
        if loop.result is not None:
            conditions = run.conditions(loop.guard, frame)
            if conditions is not None:
                outer, run.path = run.path, (*run.path, *(step for step in conditions if step not in run.path))
                run.evaluate(loop.result, frame)
                run.path = outer
            return False
        self.prepare(loop, loop.turns[0][0] if loop.turns else None, frame)
        known = len(loop.turns) == 1 and not loop.is_left
        over = elements(run.evaluate(loop.turns[0][1], frame)) if known else None
        if over is None:
            self._any_turns(block, loop, frame, returned, yielded)
            return False
        trail = frame.trail
        for choice in loop.carried:
            frame.memo[id(choice)] = run.evaluate(choice.args[0], frame) if choice.args else UNKNOWN
        for turn in frame.turns(len(over)):
            frame.memo[id(loop.turns[0][0])] = over[turn]
            if run.run_block(block, frame, returned, yielded):
                frame.trail = trail
                return True
            after = [(choice, run.evaluate(choice.args[1], frame)) for choice in loop.carried if len(choice.args) > 1]
            frame.memo.update((id(choice), atoms) for choice, atoms in after)
        return False

    def _any_turns(self, block: Block, loop: Loop, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> None:
        """Run a loop with an unknown number of iterations: once, under a condition, with its variables unknown."""
        run = self.run
        for choice in loop.carried:
            before = run.evaluate(choice.args[0], frame) if choice.args else ()
            frame.memo[id(choice)] = join((before, UNKNOWN))
        outer, run.path = run.path, (*run.path, ((id(loop), frame.trail), True))
        run.loops += 1
        run.run_block(block, frame, returned, yielded)
        run.loops -= 1
        run.path = outer

    def _evaluate_comprehension(self, value: Value, frame: Frame) -> Shell | None:
        """The container that a comprehension makes; None if its elements are unknown."""
        loop = self._loops_of(frame).get(id(value))
        if loop is None:
            return None
        self.prepare(loop, value, frame)
        times = self._times(loop, frame) if value.data == "list" and value.guard is None else None
        if times is not None:
            return self._repeat_entry(value, loop, times, frame)
        made: list[tuple[tuple[Atoms, ...], bool]] = []
        if not self._collect(value, loop.turns, frame, made):
            return None
        kind = {"list": "list", "set": "set", "dict": "dict"}.get(str(value.data), "generator")
        found = self.run.shell(kind, value, frame)
        found.clear()
        found.is_exact = True
        for parts, is_sure in made:
            key = constant(parts[0]) if kind == "dict" else None
            found.is_exact = found.is_exact and is_sure and (kind != "dict" or key is not None)
            found.put(parts[-1], (), None if key is None else key.value)
        return found

    def _times(self, loop: Loop, frame: Frame) -> Size | None:
        """The number of iterations as a sum of symbols; None if it isn't one."""
        if len(loop.turns) != 1:
            return None
        over = self.run.evaluate(loop.turns[0][1], frame)
        return over[0].length if len(over) == 1 and isinstance(over[0], ExactShell) else None

    def _repeat_entry(self, value: Value, loop: Loop, times: Size, frame: Frame) -> Shell:
        """A list with one entry for all iterations, evaluated with an unknown counter."""
        run, trail, mark = self.run, frame.trail, frame.mark()
        turn = _MANY - len(self.many)
        self.many[turn] = times
        frame.trail, outer, run.path = (*trail, turn), run.path, (*run.path, ((id(loop), trail), True))
        frame.memo[id(loop.turns[0][0])] = PLAIN
        element = run.evaluate(value.args[0], frame)
        frame.trail, run.path = trail, outer
        frame.back_to(mark)
        found = run.shell("list", value, frame)
        assert isinstance(found, ExactShell)
        found.fill((element,))
        found.is_exact, found.repeats = False, True
        return found

    def _collect(
        self,
        value: Value,
        turns: Sequence[tuple[Value, Value]],
        frame: Frame,
        made: list[tuple[tuple[Atoms, ...], bool]],
    ) -> bool:
        run = self.run
        if not turns:
            conditions = run.conditions(value.guard, frame)
            if conditions is not None:
                is_sure = all(step in run.path for step in conditions)
                made.append((tuple(run.evaluate(arg, frame) for arg in value.args), is_sure))
            return True
        (item, iterable), *rest = turns
        over = elements(run.evaluate(iterable, frame))
        if over is None:
            return False
        is_known = True
        for turn in frame.turns(len(over)):
            frame.memo[id(item)] = over[turn]
            is_known = is_known and self._collect(value, rest, frame, made)
        return is_known

    def _loops_of(self, frame: Frame) -> dict[int, Loop]:
        flow = frame.flow
        if id(flow) not in self._comprehensions:
            loops = (*flow.loops, *(loop for nested in flow.nested for loop in nested.loops))
            self._comprehensions[id(flow)] = {id(one.result): one for one in loops}, flow
        return self._comprehensions[id(flow)][0]

    # -- what is there before --------------------------------------------------------------------------------------

    def prepare(self, part: Loop | Nested, stands: Value | None, frame: Frame) -> None:
        """Evaluate displays that stand before a loop or function and are first used in it: one for all iterations."""
        if id(part) not in self._before:
            self._before[id(part)] = list(_displays_before(part, stands, frame.flow)), part
        for value in self._before[id(part)][0]:
            self.run.evaluate(value, frame)


def _displays_before(part: Loop | Nested, stands: Value | None, flow: Flow) -> Iterator[Value]:
    if stands is None or not stands.at:
        return
    start = stands.line, stands.offset
    events = flow.events[part.first : part.last]
    spoken_of = (value for event in events for value in (event.value, event.target) if value is not None)
    for value in walk_all(spoken_of):
        if value.op in _DISPLAYS and value.line > 0 and (value.end_line, value.end_offset) < start:
            yield value


def _literal(arguments: Arguments) -> Tensor:
    """The result of `torch.tensor(…)`, with sizes if the argument is a number or a known list of numbers."""
    known = value_of(arguments.argument(0, "data") or ())
    if isinstance(known, int | float | Size):
        return Tensor(sizes=())
    if isinstance(known, list | tuple) and all(isinstance(one, int | float) for one in known):
        return Tensor(sizes=(Size.of(len(known)),))
    return Tensor()


def described(shell: Shell) -> tuple[str, dict[str, Atoms]] | None:
    """The torch class, of an object or its bases, whose arguments determine its parameters; and these arguments."""
    mro = shell.model.mro() if shell.model is not None and shell.kind == "instance" else ()
    name = next((model.name for model in mro if parameter_counts.describes(model.name)), None)
    if name is None:
        return None
    passed = shell.arguments if shell.passed is None else shell.passed
    bound = parameter_counts.arguments_of(name, passed.positional, passed.keywords)
    return name, {key: value if isinstance(value, tuple) else (Constant(value),) for key, value in bound.items()}
