"""The abstract interpreter: runs functions forwards over their events and loops, by a transfer function for each `Op`.

Calls are followed if their source is readable. Known conditions decide; unknown ones become the path condition of
the events under them. Loops run once, and once more with their carried values. Nothing is imported or executed.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, TypeVar

from modellint.flow.blocks import body_block, nested_block
from modellint.flow.calls import Calls
from modellint.flow.conditions import Assumed, Conditions, longer
from modellint.flow.domain import (
    ANY_ARGUMENTS,
    NEVER,
    NONE,
    PLAIN,
    UNKNOWN,
    Arguments,
    Constant,
    FunctionRef,
    constant,
    join,
    map_join,
)
from modellint.flow.frame import Frame, class_frame
from modellint.flow.heap import LONGEST, ExactShell, Path, Shell
from modellint.flow.library import constants, containers, operations
from modellint.flow.objects import Objects
from modellint.flow.theory import Deleted, Foreign, FunctionMade, Mode, Raised, RanOut, Stored, Theories
from modellint.graph.value import NOWHERE, EventKind, InPlace, Nested, Op, PathCondition, is_self, walk_all

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable

    from modellint.flow.blocks import Block
    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.heap import Later, Trail
    from modellint.flow.theory import Gate, Theory
    from modellint.graph.methods import Method
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Event, Flow, Loop, Value
    from modellint.link.budget import Steps
    from modellint.link.project import Project

_EVALUATED = (EventKind.CALL, EventKind.AUGMENT)
#: The most values and events of a run.
MAX_STEPS = 30_000
#: The number of entries of containers that count as one step.
_ENTRIES_A_STEP = 16
#: The limit of nested expressions, over all calls under way.
MAX_NESTING = 220
_DISPLAYS = frozenset((Op.LIST, Op.DICT, Op.SET, Op.COMPREHENSION))

Known = TypeVar("Known", bound="Theory")


class Interpreter:
    """One run: its heap, its theories and its budget of steps.

    `theories` are made in the order in which they are asked.
    """

    def __init__(self, project: Project, gate: Gate, theories: Iterable[Callable[[Interpreter], Theory]]) -> None:
        self.project = project
        project.runs.append(self)
        self.gate = gate
        self.theories: tuple[Theory, ...] = ()
        self._known: dict[type[Theory], Theory] = {}
        for make in theories:
            self.theories += (make(self),)
        #: The product of the theories.
        self.asked = Theories(self.theories)
        self.mode = reduce(Mode.joined, (theory.mode for theory in self.theories), Mode())
        self.counts = self.mode.counts
        self._evaluated = frozenset((*_EVALUATED, *self.mode.events))
        #: The steps left for all functions of a file; None for a run about one object.
        self.budget: Steps | None = None
        self._max_steps = self.mode.max_steps or MAX_STEPS
        #: The path condition of the current event.
        self.guard: PathCondition | None = None
        #: The contexts of open `with` statements, with their frames.
        self.contexts: tuple[tuple[Value, Frame], ...] = ()
        self._conditions = (Assumed if self.mode.assumes else Conditions)(self)
        self.classes = project.classes
        self.objects = Objects(self)
        self.calls = Calls(self)
        #: The transfer functions.
        self._operations: dict[Op, Callable[[Value, Frame], Atoms]] = {
            Op.CONST: self._const,
            Op.PARAM: self._param,
            Op.GLOBAL: self._name,
            Op.ATTR: self._attribute,
            Op.CALL: self.calls.call,
            Op.BIN: self._binary,
            Op.UNARY: self._unary,
            Op.COMPARE: self._compare,
            Op.BOOL: self._conditions.operand,
            Op.INDEX: self._index,
            Op.SLICE: self._string,
            Op.CHOICE: self._choice,
            Op.TUPLE: self._display,
            Op.LIST: self._display,
            Op.SET: self._display,
            Op.DICT: self._dict,
            Op.STARRED: self._starred,
            Op.COMPREHENSION: self._comprehension,
            Op.ITEM: self._item,
            Op.UNPACK: self._unpack,
            Op.UPDATE: self._update,
            Op.STRING: self._string,
            Op.LAMBDA: self._lambda,
            Op.INNER: self._unknown,
            Op.UNKNOWN: self._unknown,
        }
        self.steps = 0
        #: True if everything was followed.
        self.is_complete = True
        #: Descriptions of the functions that ran out of steps.
        self.cut: dict[str, None] = {}
        self._is_stopped = False
        #: The open conditions under which the current event happens.
        self.path: Path = ()
        #: Undecided conditions that hold only inside of the expression which is being evaluated.
        self.assumed: Path = ()
        #: The file whose constructors run in order, without waiting; None if all may wait.
        self.eager: ModuleFacts | None = None
        #: The number of loops around the current event.
        self.loops = 0
        #: The number of deferred stores being computed.
        self._late = 0
        self._nesting = 0
        self._shells: dict[tuple[Trail, int, Hashable], Shell] = {}
        #: Further parts of reference cycles, for `close`: constructed objects, and frames of closures.
        self._circles: list[Shell | Frame] = []
        self._constants: dict[int, Atoms] = {}
        #: The atoms of global names that are no constants, by identity of the value (which is kept alive).
        self._named: dict[int, tuple[Atoms | None, Value]] = {}

    def close(self) -> None:
        """Break the reference cycles of the run, so that it is freed without a garbage collection."""
        if not self.__dict__:
            return
        for circle in (*self._shells.values(), *self._circles):
            circle.release()
        for theory in self.theories:
            if not theory.mode.outlives_run:
                theory.__dict__.clear()
        for part in (self.objects, self.calls, self._conditions, self):
            part.__dict__.clear()

    def of(self, kind: type[Known]) -> Known:
        """The run's theory of a class. Raises StopIteration if it has none."""
        found = self._known.get(kind)
        if found is None:
            found = self._known[kind] = next(theory for theory in self.theories if isinstance(theory, kind))
        return found  # type: ignore[return-value]

    def hold(self, part: Shell | Frame) -> None:
        """Register an object or frame to be released when the run is closed."""
        self._circles.append(part)

    # -- from outside ----------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Reset the steps, before another question."""
        self.steps = 0

    def start(self, function: FunctionRef, frame: Frame, given: Arguments = ANY_ARGUMENTS) -> Atoms:
        """Run a function as the root of the run, and return its result."""
        self.begin()
        return self.calls.apply(function, given, frame, NOWHERE)

    def body(self, function: FunctionRef, frame: Frame) -> Frame:
        """The frame of a function with unknown arguments, in which its values can be evaluated."""
        self.begin()
        return self.calls.frame(function, ANY_ARGUMENTS, frame, NOWHERE)

    # -- bodies ----------------------------------------------------------------------------------------------------

    def run(self, code: Method | Nested, frame: Frame) -> Atoms:
        """Run a body and return its result."""
        outer, self.path = self.path, frame.path
        guard, self.guard = self.guard, None  # the conditions of the call are about values of its caller
        returned: list[Atoms] = []
        yielded: list[Atoms] = []
        flow = frame.flow
        block = flow.once(nested_block, code) if isinstance(code, Nested) else flow.once(body_block)
        self.run_block(block, frame, returned, yielded)
        if isinstance(code, Nested):
            returned = [self.evaluate(value, frame) for value in code.returns]
        self.path, self.guard = outer, guard
        if yielded:
            generator = Shell("generator", None, frame.trail)
            self.hold(generator)
            generator.is_exact = False
            for atoms in yielded:
                generator.put(atoms, ())
            return (generator,)
        return join(returned) if returned else NONE

    def run_block(self, block: Block, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> bool:
        """Run the events of a block; True if it returns on every path."""
        events = frame.flow.events
        at = block.first
        for part in (*block.parts, None):
            for event in events[at : block.last if part is None else part.first]:
                if self._event(event, frame, returned, yielded):
                    return True
            if part is not None:
                if not part.is_function and self._run_loop(part, frame, returned, yielded):
                    return True
                at = part.last
        return False

    def _run_loop(self, block: Block, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> bool:
        """Run a loop; True if the function returns in it."""
        is_end = self.asked.loop(block, frame, returned, yielded)
        if is_end is not None:
            return is_end
        assert block.loop is not None
        self.run_twice(block, frame, returned, yielded, block.loop.carried)
        return False

    def run_twice(
        self,
        block: Block,
        frame: Frame,
        returned: list[Atoms],
        yielded: list[Atoms],
        changing: tuple[Value, ...],
    ) -> None:
        """Run a loop once, and once more with the `changing` values, carried from one iteration to the next."""
        loop = block.loop
        assert loop is not None
        self.loops += 1
        if len(changing) < len(loop.carried):
            self._leave(loop, changing, frame)
        carried = [(choice, self.evaluate(choice.args[0], frame)) for choice in changing]
        for choice, before in carried:
            frame.memo[id(choice)] = before
        mark = frame.mark()
        self.run_block(block, frame, returned, yielded)
        for _ in range(1 if carried else 0):
            after = [self._loop_value(choice, before, frame) for choice, before in carried]
            if all(now == before for now, (_, before) in zip(after, carried, strict=True)):
                break
            frame.back_to(mark)
            for now, (choice, _) in zip(after, carried, strict=True):
                frame.memo[id(choice)] = now
            self.run_block(block, frame, returned, yielded)
        for choice, before in carried:
            frame.memo[id(choice)] = self._loop_value(choice, before, frame)
        self.loops -= 1

    def _leave(self, loop: Loop, changing: tuple[Value, ...], frame: Frame) -> None:
        """Set the loop's variables that no theory follows.

        A number that the loop counts or sets may be any (`if index == 7` holds in time), and a container that it
        changes in place stays the same object.
        """
        for choice in loop.carried:
            if any(choice is other for other in changing):
                continue
            first = choice.args[0]
            if first.op is Op.CONST and type(first.data) in (int, bool, float):
                frame.memo[id(choice)] = PLAIN
            elif all(arg.op is Op.UPDATE for arg in choice.args[1:]) and (
                first.op in _DISPLAYS or id(first) in frame.memo
            ):
                frame.memo[id(choice)] = self.evaluate(first, frame)

    def _loop_value(self, choice: Value, before: Atoms, frame: Frame) -> Atoms:
        """The value of a loop's variable after any number of iterations; several numbers are widened to a plain one."""
        values = [before, *(self.evaluate(arg, frame) for arg in choice.args[1:])]
        found = self.asked.result(join(values), values, choice, frame)
        numbers = [a for a in found if isinstance(a, Constant) and type(a.value) in (int, float)]
        if len(numbers) < 2:
            return found
        return join([tuple(atom for atom in found if atom not in numbers), PLAIN])

    def _event(self, event: Event, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> bool:
        """Evaluate an event if its path condition may hold; True if it ends the function."""
        self.steps += 1
        if self.steps > self._max_steps:
            self._run_out()
            return True
        if self.budget is not None:
            self.budget.spend()
        kind = event.kind
        if self.asked.matters(event, frame) is False:
            return kind is EventKind.RETURN and event.guard is None and not self.loops
        conditions: Path | None = ()
        if event.guard is not None:
            conditions = self.conditions(event.guard, frame)
            if conditions is None:
                return False
        outer, contexts = self.path, self.contexts
        if conditions:
            self.path = longer(outer, conditions)
        if event.contexts:
            self.contexts = (*contexts, *((context, frame) for context in event.contexts))
        frame.event = event
        guard, self.guard = self.guard, event.guard
        if kind in self._evaluated:
            self.evaluate(event.value, frame)
        elif kind is EventKind.STORE and event.target is not None:
            self._store(event.target, event.value, frame)
        elif kind is EventKind.RETURN:
            returned.append(self._return_value(event.value, frame))
        elif kind is EventKind.DELETE:
            if event.target is not None and not conditions:
                self.asked.tell(Deleted, event.target, frame)
        elif kind is EventKind.RAISE:
            if event.guard is not None or not returned:
                self.objects.fail(frame)
            if not conditions:
                self.asked.tell(Raised)
        elif kind is EventKind.YIELD:
            atoms = self.behind(self.evaluate(event.value, frame), frame)
            yielded.extend(containers.unpacked(atoms) if event.value.op is Op.STARRED else [atoms])
        self.path, self.guard, self.contexts = outer, guard, contexts
        return not conditions and not self.loops and kind in (EventKind.RETURN, EventKind.RAISE)

    def _return_value(self, value: Value, frame: Frame) -> Atoms:
        """The returned atoms that the path condition allows; for a tuple, those of each part."""
        atoms = self.behind(self.evaluate(value, frame), frame)
        if value.op is not Op.TUPLE or self.guard is None:
            return atoms
        parts = [entry.atoms for atom in atoms if isinstance(atom, Shell) for entry in atom.entries]
        kept = [self.behind(part, frame) for part in parts]
        return atoms if kept == parts else (self.sequence("tuple", kept, value, frame, "returned"),)

    def evaluate_at(self, event: Event, frame: Frame) -> Atoms:
        """The value of an event alone, without the events before it; `NEVER` if its path condition doesn't hold."""
        return NEVER if self.conditions(event.guard, frame) is None else self.evaluate(event.value, frame)

    def _run_out(self) -> None:
        """Handle the end of the steps: values that are not evaluated yet are unknown."""
        if not self._is_stopped:
            self._cut_short()
        self.asked.tell(RanOut)
        self.is_complete = False

    def _cut_short(self) -> None:
        self.cut[f"{self.mode.asks or 'objects'} of `{self.calls.outermost}`"] = None
        self.tell()

    def takes_at_most(self, steps: int | None, act: Callable[[], None]) -> bool:
        """Do something that may take so many steps; False if they did not suffice, and it was not done to its end."""
        limit = self._max_steps
        if steps is None or self.steps + steps >= limit:
            act()
            return True
        self._max_steps = self.steps + steps
        act()
        is_whole = self.steps <= self._max_steps
        self._max_steps = limit
        if self._is_stopped:
            self.steps = limit
        return is_whole

    def give_up(self) -> None:
        """Stop the run and report it as cut short."""
        self._run_out()
        self.stop()

    def tell(self) -> None:
        """Report the functions that were cut short to the current rule; another rule may have started the run."""
        self.project.budget.cut.update(self.cut)

    def stop(self) -> None:
        """Stop the run: all further values are unknown."""
        self.steps = self._max_steps
        self.is_complete, self._is_stopped = False, True

    # -- conditions ------------------------------------------------------------------------------------------------

    def may_happen(self, guard: PathCondition, frame: Frame) -> bool:
        """True if a path condition may hold."""
        return self.conditions(guard, frame) is not None

    def conditions(self, guard: PathCondition | None, frame: Frame) -> Path | None:
        """The tests of a path condition that are undecided; None if one of them does not hold."""
        if guard is None:
            return ()
        known, key = frame.conditions, id(guard)
        return known[key] if key in known else self._conditions.undecided_tests(guard, frame)

    # -- stores ----------------------------------------------------------------------------------------------------

    def _store(self, target: Value, value: Value, frame: Frame) -> None:
        if target.op is not Op.ATTR and target.op is not Op.INDEX:
            return  # shipped facts leave out what does not matter
        owner = self.evaluate(target.args[0], frame)
        if target.op is Op.ATTR and self._may_wait(owner, target, value, frame):
            for atom in owner:
                later = self._later(atom, target, value, frame)
                self._keep(atom, later, target, value, frame, is_sure=len(owner) == 1)
            return
        atoms = self.behind(self.evaluate(value, frame), frame)
        if target.op is Op.ATTR:
            for atom in owner:
                self._keep(atom, atoms, target, value, frame, is_sure=len(owner) == 1)
                self.asked.tell(Stored, atom, (Constant(str(target.data)),), atoms, frame, target, len(owner) == 1)
        else:
            index = self.evaluate(target.args[1], frame)
            for atom in owner:
                self.asked.tell(Stored, atom, index, atoms, frame, target, len(owner) == 1)
                self.objects.store_item(atom, index, atoms, frame, value)

    def _may_wait(self, owner: Atoms, target: Value, value: Value, frame: Frame) -> bool:
        """True if the value of a constructor's store can be computed on demand.

        Only for runs with a theory that `waits`. In others, calls and stores of constructors keep their order: a
        property is a call, too, an optimizer takes the parameters that exist by then, and running out of steps ends
        the constructor.
        """
        if not self.mode.waits or not self.objects.under_construction:
            return False
        if self.eager is not None and frame.function is not None and frame.function.module is self.eager:
            return False
        layers = (atom for atom in owner if isinstance(atom, Shell) and atom.is_layer)
        has_setter = any(self.objects.own_method(layer, "__setattr__") is not None for layer in layers)
        return not has_setter and not frame.flow.once(_is_of_itself, target, value)

    def _keep(
        self, owner: Atom, atoms: Atoms | Later, target: Value, value: Value, frame: Frame, *, is_sure: bool
    ) -> None:
        """Store atoms in an attribute of one of the possible owners of a target."""
        if isinstance(owner, Shell):
            self.objects.store(owner, str(target.data), atoms, frame, target=target, value=value, is_sure=is_sure)
        else:
            self.objects.give_away(owner, atoms)

    def behind(self, atoms: Atoms, frame: Frame, guard: PathCondition | None = None) -> Atoms:
        """The atoms that the path condition of the current event, or `guard`, allows."""
        known = guard or self.guard
        return atoms if known is None else self.asked.behind(atoms, known, frame)

    def later(self, event: Event, frame: Frame, owner: Shell) -> Callable[[], None]:
        """A function that makes a deferred call of a constructor, in the circumstances of now.

        The calls under way are those of now, so that methods that call each other end.
        """
        loops, contexts = self.loops, self.contexts
        under_way = [*self.calls.under_way]
        if event.contexts:
            contexts = (*contexts, *((context, frame) for context in event.contexts))

        def happen() -> None:
            outer = self.path, self.guard, self.loops, self.contexts
            calls, self.calls.under_way = self.calls.under_way, [*under_way]
            self.path, self.guard, self.loops, self.contexts = frame.path, None, loops, contexts
            conditions = self.conditions(event.guard, frame)
            if conditions is not None:
                self.path, self.guard = longer(self.path, conditions), event.guard
                self.objects.under_construction.append(owner)
                self.evaluate(event.value, frame)
                self.objects.under_construction.pop()
            self.path, self.guard, self.loops, self.contexts = outer
            self.calls.under_way = calls

        return happen

    def _later(self, owner: Atom, target: Value, value: Value, frame: Frame) -> Later:
        """A function that computes the stored atoms on demand, in the circumstances of now."""
        is_asked = False
        at = self.path, self.guard, self.loops, self.contexts
        made = self.objects.under_construction[-1]

        def compute() -> Atoms:
            nonlocal is_asked
            known = frame.known(id(value))
            if known is not None:
                return after_store(known)
            if is_asked:  # `self.x = other.x`, where the other may be the object itself: that adds nothing
                return NEVER
            is_asked = True
            outer = self.path, self.guard, self.loops, self.contexts
            self.path, self.guard, self.loops, self.contexts = at
            self._late += 1
            self.objects.under_construction.append(made)
            atoms = self.evaluate(value, frame)
            self.objects.under_construction.pop()
            self._late -= 1
            self.path, self.guard, self.loops, self.contexts = outer
            is_asked = False
            return after_store(atoms)

        def after_store(atoms: Atoms) -> Atoms:
            atoms = self.behind(atoms, frame, at[1])
            return self.asked.store(atoms, owner, frame, target, value) if isinstance(owner, Shell) else atoms

        return compute

    # -- expressions -----------------------------------------------------------------------------------------------

    def evaluate(self, value: Value, frame: Frame) -> Atoms:
        """The atoms of a value; makes its call if it hasn't been made yet."""
        key, memo = id(value), frame.memo
        known = memo.get(key) if frame.parent is None else frame.known(key)
        if known is not None:
            return known
        self.steps += 1
        if self.steps > self._max_steps:
            self._run_out()
            found = UNKNOWN
        elif self._nesting >= MAX_NESTING:
            self.is_complete = False
            found = UNKNOWN
        else:
            memo[key] = NEVER  # what a loop leads back to adds nothing
            self._nesting += 1
            found = self._operations[value.op](value, frame)
            self._nesting -= 1
        memo[key] = found
        return found

    def shell(self, kind: str, value: Value, frame: Frame, purpose: Hashable = "") -> Shell:
        """The object of an allocation site: one for each expression, way to it, and purpose."""
        key = (frame.trail, id(value), purpose)
        found = self._shells.get(key)
        if found is None:
            make = ExactShell if self.counts else Shell
            found = self._shells[key] = make(kind, value, (*frame.trail, id(value)))
            found.function = frame.function
        return found

    def forget(self) -> None:
        """Forget all objects, so that a second run makes new ones."""
        self._shells.clear()

    def shells(self) -> Collection[Shell]:
        """All objects of the run."""
        return self._shells.values()

    def sequence(self, kind: str, values: Iterable[Atoms], value: Value, frame: Frame, purpose: str = "") -> Shell:
        """A container with these entries; beyond `LONGEST`, the rest is joined and reported as cut short."""
        found, entries = self.shell(kind, value, frame, purpose), tuple(values)
        self.steps += len(entries) // _ENTRIES_A_STEP
        if len(entries) > LONGEST:
            self._cut_short()
        found.fill(entries)
        return found

    def _unknown(self, value: Value, frame: Frame) -> Atoms:
        return UNKNOWN

    def _const(self, value: Value, frame: Frame) -> Atoms:
        return (Constant(value.data),)

    def _param(self, value: Value, frame: Frame) -> Atoms:
        return frame.parameter(value.data)

    def _name(self, value: Value, frame: Frame) -> Atoms:
        return self.named(value, frame) or UNKNOWN

    def named(self, value: Value, frame: Frame) -> Atoms | None:
        """The value of a global name, or of a chain of attributes on one; None if it isn't resolved."""
        known = self._named.get(id(value))
        if known is not None:
            return known[0]
        own = self.asked.expression(value, frame)
        if own is not None:
            return own
        definition = frame.scope.definition(value)
        stated = None if definition is None else frame.scope.constant(definition)
        if stated is None:
            found = None if definition is None else self.calls.defined(definition)
            self._named[id(value)] = found, value
            return found
        constant_value, home = stated
        key = id(constant_value)
        if key not in self._constants:
            self._constants[key] = NEVER
            self._constants[key] = self.evaluate(constant_value, class_frame(home, key))
            if not self.counts:
                self.calls.enter(definition, self._constants[key])
        return self._constants[key]

    def _attribute(self, value: Value, frame: Frame) -> Atoms:
        root = value.args[0]
        while root.op is Op.ATTR:
            root = root.args[0]
        if root.op is Op.GLOBAL:
            found = self.named(value, frame)
            if found is not None:
                return found
        owner = self.evaluate(value.args[0], frame)
        if len(value.args) > 1 and self._late:
            # What a constructor stores waits: `self.x = Wrapper(self.x)` is of what was stored before.
            return self.evaluate(value.args[1], frame)
        return map_join(owner, self.objects.attribute, str(value.data), frame, value)

    def _display(self, value: Value, frame: Frame) -> Atoms:
        kind = value.op.value
        elements: list[Atoms] = []
        is_exact = True
        for arg in value.args:
            atoms = self.evaluate(arg, frame)
            if arg.op is Op.STARRED:
                is_exact = is_exact and containers.is_exact(atoms)
                elements.extend(containers.unpacked(atoms))
            else:
                elements.append(atoms)
        found = self.sequence(kind, elements, value, frame)
        found.is_exact = found.is_exact and is_exact
        return (found,)

    def _dict(self, value: Value, frame: Frame) -> Atoms:
        found = self.shell("dict", value, frame)
        for key, arg in zip(value.data, value.args, strict=True):
            atoms = self.evaluate(arg, frame)
            if key is None:
                containers.merge(found, atoms, ())
            else:
                known = constant(self.evaluate(key, frame))
                found.put(atoms, (), None if known is None else known.value)
                found.is_exact = found.is_exact and known is not None
        return (found,)

    def _comprehension(self, value: Value, frame: Frame) -> Atoms:
        made = self.asked.expression(value, frame)
        return self.comprehension(value, frame) if made is None else made

    def comprehension(self, value: Value, frame: Frame, path: Path = ()) -> Atoms:
        """The container that a comprehension makes, whose element is taken on a path."""
        kind = "list" if value.data == "generator" else str(value.data)
        found = self.shell("generator" if value.data == "generator" else kind, value, frame)
        found.is_exact = False
        element = self.evaluate(value.args[-1], frame)
        found.put(element if value.guard is None else self.behind(element, frame, value.guard), path)
        return (found,)

    def _item(self, value: Value, frame: Frame) -> Atoms:
        atoms = self.evaluate(value.args[0], frame)
        return self.asked.result(map_join(atoms, self.objects.element, frame, value), [atoms], value, frame)

    def _starred(self, value: Value, frame: Frame) -> Atoms:
        return self.evaluate(value.args[0], frame)

    def _unpack(self, value: Value, frame: Frame) -> Atoms:
        atoms = self.evaluate(value.args[0], frame)
        index = (Constant(value.data),) if value.data >= 0 else PLAIN
        # A tuple with fewer entries than there are names raises, so it is none of those that code goes on with.
        lasting = tuple(atom for atom in atoms if not _is_shorter(atom, value.data))
        found = map_join(lasting or atoms, self.objects.part, index)
        if value.data < 0:  # a starred target holds a list of the rest
            rest = self.sequence("list", [found], value, frame)
            rest.is_exact = not self.counts and not any(isinstance(atom, Foreign) for atom in atoms)
            return (rest,)
        return found

    def _index(self, value: Value, frame: Frame) -> Atoms:
        owner = self.evaluate(value.args[0], frame)
        known = self.asked.operator(value, [owner], frame)
        if known is not None:
            return known
        if value.args[1].op is Op.SLICE:
            return containers.sliced(self, owner, value, frame)
        index = self.evaluate(value.args[1], frame)
        return self.asked.result(map_join(owner, self._part, index, value, frame), [owner], value, frame)

    def _part(self, atom: Atom, index: Atoms, value: Value, frame: Frame) -> Atoms:
        known = self.asked.element(atom, index, frame, value)
        if known is not None:
            return known
        is_object = isinstance(atom, Shell) and atom.model is not None and atom.model.is_module is False
        own = self.objects.own_method(atom, "__getitem__") if is_object and isinstance(atom, Shell) else None
        if own is None or self.counts:
            return self.objects.entry(atom, index)
        return self.calls.apply(own, Arguments((index,)), frame, value)

    def _choice(self, value: Value, frame: Frame) -> Atoms:
        test = value.data
        if test is not None and len(value.args) == 2:
            outcome = self._conditions.truth(test, frame)
            if outcome is not None:
                return self.evaluate(value.args[0 if outcome else 1], frame)
        return self._conditions.one_of(value, frame)

    def _update(self, value: Value, frame: Frame) -> Atoms:
        """The value of an UPDATE: the container that was changed in place, or what a theory makes of `x[…] = …`."""
        found = self.evaluate(value.args[0], frame)
        known = self.asked.operator(value, [found], frame) if value.data == "[]=" else None
        return self.asked.result(found, [found], value, frame) if known is None else known

    def _binary(self, value: Value, frame: Frame) -> Atoms:
        left, right = self.evaluate(value.args[0], frame), self.evaluate(value.args[1], frame)
        known = self.asked.operator(value, [left, right], frame)
        if known is not None:
            return known
        if isinstance(value.data, InPlace) and value.data in ("+", "|"):
            found = self.objects.augment(left, right, frame, value)
        else:
            found = operations.binary(self, left, right, value, frame)
        return self.asked.result(found, [left, right], value, frame)

    def _compare(self, value: Value, frame: Frame) -> Atoms:
        outcome = self._conditions.truth(value, frame)
        if outcome is not None:
            return (Constant(outcome),)
        if value.op is not Op.COMPARE:
            return PLAIN
        sides = [self.evaluate(arg, frame) for arg in value.args]
        known = self.asked.operator(value, sides, frame)
        return PLAIN if known is None else known

    def _unary(self, value: Value, frame: Frame) -> Atoms:
        if value.data == "not":
            return self._compare(value, frame)
        atoms = self.evaluate(value.args[0], frame)
        known = self.asked.operator(value, [atoms], frame)
        if known is not None:
            return known
        return self.asked.result(operations.unary(self, atoms, value, frame), [atoms], value, frame)

    def _string(self, value: Value, frame: Frame) -> Atoms:
        parts = [self.evaluate(arg, frame) for arg in value.args]
        # What paths make of a name that is given hides it where they are joined.
        return constants.formatted(value, parts) if self.counts else PLAIN

    def _lambda(self, value: Value, frame: Frame) -> Atoms:
        if isinstance(value.data, Nested):
            self.asked.tell(FunctionMade, value.data, value, frame)
            self.hold(frame)
            return (FunctionRef(value.data, frame),)
        return self.evaluate(value.args[-1], frame) if value.args else UNKNOWN


def _is_of_itself(flow: Flow, target: Value, value: Value) -> bool:
    """True if an attribute is computed from its value of before this body: `self.x = [*self.x, …]`."""
    if not is_self(target.args[0]) or target.data not in flow.once(_read_in):
        return False
    reads = (part for part in value.walk() if part.op is Op.ATTR and part.data == target.data)
    return any(len(read.args) == 1 and is_self(read.args[0]) for read in reads)


def _is_shorter(atom: Atom, at: int) -> bool:
    """True for a tuple whose known entries end before a place."""
    return isinstance(atom, Shell) and atom.kind == "tuple" and atom.items is not None and at >= len(atom.items)


def _read_in(flow: Flow) -> frozenset[object]:
    """The attributes that a body reads."""
    return frozenset(value.data for value in walk_all(flow.values) if value.op is Op.ATTR)
