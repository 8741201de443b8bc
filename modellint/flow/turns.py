"""Runs turn by turn: what a loop goes through one element at a time, and numbers as they come out.

A run that counts needs each object that a loop makes, not one for all of them. Where it is not known what a loop goes
through, or whether it is left early, it is run as any other run would, and all that it does is under a condition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import library
from modellint.flow.domain import PLAIN, UNKNOWN, Constant, Given, constant, join
from modellint.flow.heap import Counted, Shell
from modellint.flow.tensors import Tensors
from modellint.graph.value import Op, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from modellint.flow.blocks import Block
    from modellint.flow.domain import Atoms, FunctionRef
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.size import Size
    from modellint.graph.value import Flow, Loop, Nested, Value

#: How many values and events such a run may look at, and how deeply calls may be nested in it.
MAX_STEPS = 400_000
_MAX_CALLS = 24
_MAX_PERHAPS = 2
_MAX_TURNS = 512
#: From here on down turns are numbered that stand for many.
_MANY = -1_000_000
_DISPLAYS = frozenset((Op.LIST, Op.SET, Op.DICT, Op.COMPREHENSION))


class UncertainError(Exception):
    """What follows cannot be told: it takes too long to find out, or no object comes of it."""


class Turns:
    """The loops of one run, and what it knows besides its heap."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self.tensors = Tensors(run)
        #: Objects that something which was not followed may have added to.
        self.open: set[Shell] = set()
        #: Objects whose constructors are known in outline: which layers they make, though not how many of which size.
        self.rough: set[Shell] = set()
        #: How many parameters were added to layers that torch describes; None where that is not known.
        self.added: dict[Shell, Size | None] = {}
        #: The lengths of ranges that are sums of symbols, and how many turns one stands for that was run for all.
        self.lengths: dict[Shell, Size] = {}
        self.many: dict[int, Size] = {}
        #: The parts of what is given that were stored in it since: what they are then is not known.
        self.changed: set[Given] = set()
        #: By the value that they make, with the body that they are of.
        self._comprehensions: dict[int, tuple[dict[int, Loop], Flow]] = {}
        #: What stands before loops and functions, and is used in them.
        self._before: dict[int, tuple[list[Value], object]] = {}

    def lose(self, atoms: Iterable[Atoms]) -> None:
        """Something that is not followed is given these."""
        making = self._run.objects.under_construction
        for given in atoms:
            self.open.update(atom for atom in given if isinstance(atom, Shell) and atom in making)

    def note_copy(self, shell: Shell, copy: Shell) -> None:
        """What is known of an object is known of its copy."""
        for known in (self.open, self.rough):
            if shell in known:
                known.add(copy)
        if shell in self.added:
            self.added[copy] = self.added[shell]
        if any(turn in self.many and turn not in copy.trail for turn in shell.trail):
            self.open.add(copy)  # it stands for many, which its place does not tell

    def fail(self) -> None:
        """No object comes of the constructor that is run."""
        self.open.update(self._run.objects.under_construction[-1:])

    def delete(self, target: Value, frame: Frame) -> None:
        """`del x.name`, `del x[i]`."""
        for atom in self._run.evaluate(target.args[0], frame):
            if isinstance(atom, Shell) and target.op is Op.ATTR:
                atom.history.pop(str(target.data), None)
            elif isinstance(atom, Counted):
                atom.lose()

    @property
    def limits(self) -> tuple[int, int]:
        """How many calls may be under way, and how many of one function: few of what may not happen at all."""
        return _MAX_CALLS, _MAX_PERHAPS if self._run.path else _MAX_CALLS

    def cut(self, function: FunctionRef) -> None:
        """A call is not followed."""
        if self._run.path:
            self.lose([() if function.receiver is None else (function.receiver,)])
        else:
            self.fail()

    # -- loops -----------------------------------------------------------------------------------------------------

    def loop(self, block: Block, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> bool:
        """Run a loop; whether the function ends in it."""
        run, loop = self._run, block.loop
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
        elements = self.elements(run.evaluate(loop.turns[0][1], frame)) if known else None
        if elements is None:
            self._any_turns(block, loop, frame, returned, yielded)
            return False
        trail = frame.trail
        for choice in loop.carried:
            frame.memo[id(choice)] = run.evaluate(choice.args[0], frame) if choice.args else UNKNOWN
        for turn in self.each(len(elements), frame):
            frame.memo[id(loop.turns[0][0])] = elements[turn]
            if run.run_block(block, frame, returned, yielded):
                frame.trail = trail
                return True
            after = [(choice, run.evaluate(choice.args[1], frame)) for choice in loop.carried if len(choice.args) > 1]
            frame.memo.update((id(choice), atoms) for choice, atoms in after)
        return False

    def _any_turns(self, block: Block, loop: Loop, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> None:
        """Run a loop that is run any number of times: once, under a condition, with what it changes unknown."""
        run = self._run
        for choice in loop.carried:
            before = run.evaluate(choice.args[0], frame) if choice.args else ()
            frame.memo[id(choice)] = join((before, UNKNOWN))
        outer, run.path = run.path, (*run.path, ((id(loop), frame.trail), True))
        run.loops += 1
        run.run_block(block, frame, returned, yielded)
        run.loops -= 1
        run.path = outer

    @staticmethod
    def each(count: int, frame: Frame) -> Iterator[int]:
        """Some turns, in each of which nothing is left of what was found out in the one before."""
        trail, mark = frame.trail, frame.mark()
        for turn in range(count):
            frame.back_to(mark)
            frame.trail = (*trail, -1 - turn)
            yield turn
            frame.trail = trail

    @staticmethod
    def elements(atoms: Atoms) -> list[Atoms] | None:
        """What iterating over a value yields, None if that is not known."""
        known = constant(atoms)
        if known is not None and isinstance(known.value, str):
            return [(Constant(letter),) for letter in known.value] if len(known.value) <= _MAX_TURNS else None
        shell = atoms[0] if len(atoms) == 1 else None
        if not isinstance(shell, Shell) or not (shell.is_container or shell.is_module_container):
            return None
        if shell.items is None or len(shell.entries) > _MAX_TURNS:
            return None
        return list(library.unpacked(atoms))

    def comprehension(self, value: Value, frame: Frame) -> Shell | None:
        """What a comprehension makes, None if it is not known what it goes through."""
        loop = self._loops_of(frame).get(id(value))
        if loop is None:
            return None
        self.prepare(loop, value, frame)
        times = self._times(loop, frame) if value.data == "list" and value.guard is None else None
        if times is not None:
            return self._repeated(value, loop, times, frame)
        made: list[tuple[tuple[Atoms, ...], bool]] = []
        if not self._collect(value, loop.turns, frame, made):
            return None
        kind = {"list": "list", "set": "set", "dict": "dict"}.get(str(value.data), "generator")
        found = self._run.shell(kind, value, frame)
        found.clear()
        found.is_exact = True
        for parts, is_sure in made:
            key = constant(parts[0]) if kind == "dict" else None
            found.is_exact = found.is_exact and is_sure and (kind != "dict" or key is not None)
            found.put(parts[-1], (), None if key is None else key.value)
        return found

    def _times(self, loop: Loop, frame: Frame) -> Size | None:
        """How many turns there are, as a sum of symbols."""
        if len(loop.turns) != 1:
            return None
        over = self._run.evaluate(loop.turns[0][1], frame)
        return self.lengths.get(over[0]) if len(over) == 1 and isinstance(over[0], Shell) else None

    def _repeated(self, value: Value, loop: Loop, times: Size, frame: Frame) -> Shell:
        """One element that stands for as many as there are turns: what it is may not depend on which one it is."""
        run, trail, mark = self._run, frame.trail, frame.mark()
        turn = _MANY - len(self.many)
        self.many[turn] = times
        frame.trail, outer, run.path = (*trail, turn), run.path, (*run.path, ((id(loop), trail), True))
        frame.memo[id(loop.turns[0][0])] = PLAIN
        element = run.evaluate(value.args[0], frame)
        frame.trail, run.path = trail, outer
        frame.back_to(mark)
        found = run.shell("list", value, frame)
        assert isinstance(found, Counted)
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
        run = self._run
        if not turns:
            conditions = run.conditions(value.guard, frame)
            if conditions is not None:
                is_sure = all(step in run.path for step in conditions)
                made.append((tuple(run.evaluate(arg, frame) for arg in value.args), is_sure))
            return True
        (item, iterable), *rest = turns
        elements = self.elements(run.evaluate(iterable, frame))
        if elements is None or len(elements) > _MAX_TURNS:
            return False
        is_known = True
        for turn in self.each(len(elements), frame):
            frame.memo[id(item)] = elements[turn]
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
        """Make the containers that stand before a loop or function and are first spoken of in it: one for all turns."""
        if id(part) not in self._before:
            self._before[id(part)] = list(_displays_before(part, stands, frame.flow)), part
        for value in self._before[id(part)][0]:
            self._run.evaluate(value, frame)


def _displays_before(part: Loop | Nested, stands: Value | None, flow: Flow) -> Iterator[Value]:
    if stands is None or not stands.at:
        return
    start = stands.line, stands.offset
    events = flow.events[part.first : part.last]
    spoken_of = (value for event in events for value in (event.value, event.target) if value is not None)
    for value in walk_all(spoken_of):
        if value.op in _DISPLAYS and value.line > 0 and (value.end_line, value.end_offset) < start:
            yield value
