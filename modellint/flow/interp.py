"""Runs functions on paper, forwards over their events and loops: the only place that says what an `Op` does.

A call is followed where its code can be read; conditions that are known decide, those that are not make the path of
what happens under them. Loops run once, and once more with what they carry. Nothing is imported or executed.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeVar

from modellint.flow import exact, library, sizes, turns
from modellint.flow.blocks import body_block, nested_block
from modellint.flow.calls import Calls
from modellint.flow.devices import Devices
from modellint.flow.domain import (
    NEVER,
    NONE,
    PLAIN,
    UNKNOWN,
    Arguments,
    Bound,
    Constant,
    Counter,
    FunctionRef,
    Given,
    Number,
    Plain,
    Site,
    Tensor,
    constant,
    join,
    size_of,
)
from modellint.flow.elements import of_second
from modellint.flow.environment import Sometimes
from modellint.flow.frame import Frame, class_frame
from modellint.flow.gate import Keepers
from modellint.flow.heap import Counted, Path, Shell
from modellint.flow.newborn import Newborn
from modellint.flow.objects import Objects
from modellint.flow.training import Training
from modellint.flow.truth import identity, open_part, truth
from modellint.flow.turns import Turns
from modellint.graph.value import EventKind, Guard, InPlace, Nested, Op, called_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator

    from modellint.flow.blocks import Block
    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.environment import Environment
    from modellint.flow.heap import Later, Trail
    from modellint.flow.lookups import Lookups
    from modellint.flow.tensors import Tensors
    from modellint.graph.methods import Method
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Event, Flow, Loop, Value
    from modellint.link.project import Project

_EVALUATED = (EventKind.CALL, EventKind.AUGMENT)
#: How many values and events a run may look at.
MAX_STEPS = 30_000
#: How deeply expressions may be nested in each other, those of all calls under way together.
MAX_NESTING = 220
#: How many containers that one expression makes are told from each other, and what makes an empty one.
MAX_SLOTS = 16
_EMPTY = frozenset((Op.LIST, Op.DICT, Op.SET, Op.CALL))
_DISPLAYS = frozenset((Op.LIST, Op.DICT, Op.SET, Op.COMPREHENSION))
#: Comparisons that tensors answer element by element.
_ELEMENTWISE = frozenset(("==", "!=", "<", "<=", ">", ">="))

#: Operators that make real numbers of any, or may do.
_MAKING_REAL = frozenset(("/", "@"))

Following = TypeVar("Following", bound="Lookups")


class Interpreter:
    """One run: a heap, and what is left of its steps."""

    def __init__(
        self,
        project: Project,
        gate: Keepers,
        following: type[Lookups] | None = None,
        *,
        trained_in: ModuleFacts | None = None,
        environment: Environment | None = None,
        turn_by_turn: bool = False,
    ) -> None:
        self.project = project
        project.runs.append(self)
        self.gate = gate
        #: What runs loops turn by turn and numbers as they come out, where objects are to be counted.
        self.turns = Turns(self) if turn_by_turn else None
        self._max_steps = turns.MAX_STEPS if turn_by_turn else MAX_STEPS
        #: What follows tensors, and where they are looked up; None where that is not asked.
        self.tensors: Tensors | None = None
        self.lookups: Lookups | None = None
        if following is not None:
            self.tensors = following.TENSORS(self)
            self.lookups = following(self, self.tensors)
        #: What follows parameters to optimizers, where that is asked of the functions of a file.
        self.training = None if trained_in is None else Training(self, trained_in)
        #: What the program runs in, if that is more than its files.
        self.environment = environment
        #: The conditions of the event that happens.
        self.guard: Guard | None = None
        self.classes = project.classes
        self.objects = Objects(self)
        self.calls = Calls(self)
        self.devices = Devices(self)
        self.newborn = Newborn(self)
        self.steps = 0
        #: Whether everything was followed.
        self.is_complete = True
        #: The open conditions under which the current event happens.
        self.path: Path = ()
        #: Those of them that only what is being looked at stands under.
        self.assumed: Path = ()
        #: How many loops are being run.
        self.loops = 0
        self._nesting = 0
        self._shells: dict[tuple[Trail, int, str], Shell] = {}
        #: What leads in circles beside these: objects that were constructed, and frames that functions were made in.
        self._circles: list[Shell | Frame] = []
        self._constants: dict[int, Atoms] = {}
        #: By identity, each with what has it: what names stand for that are no constants.
        self._named: dict[int, tuple[Atoms | None, Value]] = {}
        #: By identity, each with the body that it is of, so that nothing else can come to have that identity.
        self._blocks: dict[int, tuple[Block, Flow]] = {}

    def close(self) -> None:
        """Break the circles that the run leads in, so that it is freed without a garbage collection."""
        if not self.__dict__:
            return
        for circle in (*self._shells.values(), *self._circles):
            circle.release()
        followers = self.tensors, self.lookups, self.training, self.turns
        for part in (self.objects, self.calls, self.devices, self.newborn, *followers):
            if part is not None:
                part.__dict__.clear()
        self.__dict__.clear()

    def hold(self, part: Shell | Frame) -> None:
        """Let go of what something leads to when the run is closed."""
        self._circles.append(part)

    # -- bodies ----------------------------------------------------------------------------------------------------

    def run(self, code: Method | Nested, frame: Frame) -> Atoms:
        """Run a body, and say what it returns."""
        outer, self.path = self.path, frame.path
        guard, self.guard = self.guard, None  # the conditions of the call are about values of its caller
        returned: list[Atoms] = []
        yielded: list[Atoms] = []
        block = self._block(code, frame)
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

    def _block(self, code: Method | Nested, frame: Frame) -> Block:
        key = id(code) if isinstance(code, Nested) else id(frame.flow)
        if key not in self._blocks:
            flow = frame.flow
            block = nested_block(code, flow) if isinstance(code, Nested) else body_block(flow)
            self._blocks[key] = block, flow
        return self._blocks[key][0]

    def run_block(self, block: Block, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> bool:
        """Run the events of a block; True if it returns on every path."""
        events = frame.flow.events
        at = block.first
        for part in (*block.parts, None):
            end = block.last if part is None else part.first
            while at < end:
                if self._event(events[at], frame, returned, yielded):
                    return True
                at += 1
            if part is not None:
                if self.turns is not None and not part.is_function:
                    if self.turns.loop(part, frame, returned, yielded):
                        return True
                elif not part.is_function:
                    self._run_loop(part, frame, returned, yielded)
                at = part.last
        return False

    def _run_loop(self, block: Block, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> None:
        """Run a loop once, and once more with what it carries from one turn to the next."""
        loop = block.loop
        assert loop is not None
        self.loops += 1
        changing = loop.carried if self.lookups is None else self.lookups.carried(loop, frame)
        if len(changing) < len(loop.carried):
            self._leave(loop, changing, frame)
        carried = [(choice, self.evaluate(choice.args[0], frame)) for choice in changing]
        for choice, before in carried:
            frame.memo[id(choice)] = before
        mark = frame.mark()
        self.run_block(block, frame, returned, yielded)
        for _ in range(1 if carried else 0):
            after = [self._carried(choice, before, frame) for choice, before in carried]
            if all(now == before for now, (_, before) in zip(after, carried, strict=True)):
                break
            frame.back_to(mark)
            for now, (choice, _) in zip(after, carried, strict=True):
                frame.memo[id(choice)] = now
            self.run_block(block, frame, returned, yielded)
        for choice, before in carried:
            frame.memo[id(choice)] = self._carried(choice, before, frame)
        self.loops -= 1

    def _leave(self, loop: Loop, changing: tuple[Value, ...], frame: Frame) -> None:
        """Say what variables are of which a loop carries nothing that is asked for.

        A number that it counts or sets may be any (`if index == 7` holds in time), and a container that it changes in
        place is the same all along.
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

    def _carried(self, choice: Value, before: Atoms, frame: Frame) -> Atoms:
        """What a loop's variable is after any number of turns; counted numbers are just numbers."""
        values = [before, *(self.evaluate(arg, frame) for arg in choice.args[1:])]
        found = join(values)
        if self.tensors is not None:
            found = self.tensors.after_loop(found)
        numbers = [a for a in found if isinstance(a, Constant) and type(a.value) in (int, float)]
        if len(numbers) < 2:
            return found
        return join([tuple(atom for atom in found if atom not in numbers), PLAIN])

    def _event(self, event: Event, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> bool:
        """Let an event happen, if its conditions may hold; True if nothing comes after it."""
        self.steps += 1
        if self.steps > self._max_steps:
            self._run_out()
            return True
        if self.lookups is not None:
            self.project.budget.spend()
            if not self.lookups.matters(event, frame):
                return False
        conditions = self.conditions(event.guard, frame)
        if conditions is None:
            return False
        outer, self.path = self.path, _longer(self.path, conditions)
        contexts = self.devices.contexts
        if event.contexts:
            self.devices.contexts = (*contexts, *((context, frame) for context in event.contexts))
        frame.event = event
        guard, self.guard = self.guard, event.guard
        kind = event.kind
        if kind in _EVALUATED or (kind is EventKind.INDEX and self.tensors is not None):
            self.evaluate(event.value, frame)
        elif kind is EventKind.STORE and event.target is not None:
            self._store(event.target, event.value, frame)
        elif kind is EventKind.RETURN and (self.lookups is None or self.lookups.is_asked_for(frame)):
            returned.append(self._returned(event.value, frame))
        elif kind is EventKind.DELETE and self.turns is not None and event.target is not None and not conditions:
            self.turns.delete(event.target, frame)
        elif kind is EventKind.RAISE:
            if event.guard is not None or not returned:
                self.objects.fail(frame)
            if self.turns is not None and not conditions:
                self.turns.fail()
        elif kind is EventKind.YIELD:
            atoms = self.behind(self.evaluate(event.value, frame), frame)
            yielded.extend(library.unpacked(atoms) if event.value.op is Op.STARRED else [atoms])
        self.path, self.guard, self.devices.contexts = outer, guard, contexts
        return not conditions and not self.loops and kind in (EventKind.RETURN, EventKind.RAISE)

    def _returned(self, value: Value, frame: Frame) -> Atoms:
        """What a body returns, where the conditions of that hold: of a tuple, each part."""
        atoms = self.behind(self.evaluate(value, frame), frame)
        if value.op is not Op.TUPLE or self.tensors is None or self.guard is None:
            return atoms
        parts = [entry.atoms for atom in atoms if isinstance(atom, Shell) for entry in atom.entries]
        kept = [self.behind(part, frame) for part in parts]
        return atoms if kept == parts else (self.sequence("tuple", kept, value, frame, "returned"),)

    def evaluate_at(self, event: Event, frame: Frame) -> Atoms:
        """What an event gives where its conditions may hold, whatever has happened before."""
        return NEVER if self.conditions(event.guard, frame) is None else self.evaluate(event.value, frame)

    def _run_out(self) -> None:
        """No steps are left: what is not followed is unknown. Raises UncertainError where all has to be known."""
        if self.turns is not None:
            raise turns.UncertainError
        self.is_complete = False

    def stop(self) -> None:
        """Follow nothing more."""
        self.steps = self._max_steps
        self.is_complete = False

    # -- conditions ------------------------------------------------------------------------------------------------

    def may_happen(self, guard: Guard, frame: Frame) -> bool:
        """Whether the conditions of something may hold."""
        return self.conditions(guard, frame) is not None

    def conditions(self, guard: Guard | None, frame: Frame) -> Path | None:
        """The conditions of a guard that stay open, None if one of them does not hold."""
        if guard is None:
            return ()
        key = id(guard)
        if key not in frame.conditions:
            decide = self._decided if self.environment is None else self._decided_one_by_one
            frame.conditions[key] = decide(guard, frame)
        return frame.conditions[key]

    def _decided(self, guard: Guard, frame: Frame) -> Path | None:
        steps: list[tuple[object, bool]] = []
        for link in guard.chain():
            test = link.test
            if frame.is_nested and test.op is Op.UNKNOWN and test.data == "nested":
                break  # what stands around a function inside of a function was decided when it was made
            if self.turns is not None and test.op is Op.UNKNOWN and test.data == "except":
                return None
            outcome = self._truth(test, frame)
            if outcome is None:
                if not link.raised:  # otherwise it holds wherever the run goes on
                    steps.append(self._step(test, link.truthy, frame))
            elif outcome is not link.truthy:
                return None
        return tuple(reversed(steps))

    def _decided_one_by_one(self, guard: Guard, frame: Frame) -> Path | None:
        """The same, where what a condition reads stands under those around it."""
        test = guard.test
        if frame.is_nested and test.op is Op.UNKNOWN and test.data == "nested":
            return ()
        outer = self.conditions(guard.outer, frame)
        if outer is None:
            return None
        before, self.path = self.path, _longer(self.path, outer)
        outcome = self._truth(test, frame)
        step = (self._step(test, guard.truthy, frame),) if outcome is None and not guard.raised else ()
        self.path = before
        return (*outer, *step) if outcome is None or outcome is guard.truthy else None

    def _truth(self, test: Value, frame: Frame) -> bool | None:
        assume = None if self.environment is None else lambda part, outcome: self._assuming(part, outcome, frame)
        return truth(test, lambda value: self.evaluate(value, frame), assume)

    def _step(self, test: Value, outcome: bool, frame: Frame) -> tuple[Hashable, bool]:
        """An open condition, as a path tells it."""
        part, negated = open_part(test, lambda value: self.evaluate(value, frame))
        key = identity(part), frame.trail
        if self.training is not None:
            self.training.picks.note(key, part, frame)
        is_sometimes = self.environment is not None and self.environment.is_sometimes(part, frame)
        return Sometimes(key) if is_sometimes else key, outcome is not negated

    @contextmanager
    def _assuming(self, test: Value, outcome: bool, frame: Frame) -> Iterator[None]:
        """Look at something that stands under an open condition."""
        step = (self._step(test, outcome, frame),)
        outer, self.path = self.path, _longer(self.path, step)
        assumed, self.assumed = self.assumed, _longer(self.assumed, step)
        yield
        self.path, self.assumed = outer, assumed

    # -- stores ----------------------------------------------------------------------------------------------------

    def _store(self, target: Value, value: Value, frame: Frame) -> None:
        if target.op is not Op.ATTR and target.op is not Op.INDEX:
            return  # shipped facts leave out what does not matter
        owner = self.evaluate(target.args[0], frame)
        if self.lookups is not None and target.op is Op.ATTR and self.objects.under_construction:
            for atom in owner:
                if isinstance(atom, Shell):
                    atom.set(str(target.data), self._later(value, frame, atom), self.path)
            return
        atoms = self.behind(self.evaluate(value, frame), frame)
        if target.op is Op.ATTR:
            name, is_sure = str(target.data), len(owner) == 1
            for atom in owner:
                if isinstance(atom, Shell):
                    self.objects.store(atom, name, atoms, frame, target=target, value=value, is_sure=is_sure)
                else:
                    self.objects.give_away(atom, atoms)
                    if self.turns is not None and isinstance(atom, Given):
                        self.turns.changed.add(atom.part(name))
                if self.environment is not None:
                    self.environment.store(atom, (Constant(name),), atoms, frame, target, is_sure=is_sure)
        else:
            index = self.evaluate(target.args[1], frame)
            for atom in owner:
                if self.environment is not None:
                    self.environment.store(atom, index, atoms, frame, target, is_sure=len(owner) == 1)
                self.objects.store_item(atom, index, atoms, frame, value)

    def behind(self, atoms: Atoms, frame: Frame, guard: Guard | None = None) -> Atoms:
        """What the conditions of the event that happens, or `guard`, leave of a value."""
        known = guard or self.guard
        return atoms if self.tensors is None or known is None else self.tensors.behind(atoms, known, frame)

    def later(self, event: Event, frame: Frame, owner: Shell) -> Callable[[], None]:
        """A call of a constructor of an object, to be made when it matters, as it would be made now."""
        loops, contexts = self.loops, self.devices.contexts
        if event.contexts:
            contexts = (*contexts, *((context, frame) for context in event.contexts))

        def happen() -> None:
            outer = self.path, self.guard, self.loops, self.devices.contexts
            self.path, self.guard, self.loops, self.devices.contexts = frame.path, None, loops, contexts
            conditions = self.conditions(event.guard, frame)
            if conditions is not None:
                self.path, self.guard = _longer(self.path, conditions), event.guard
                self.objects.under_construction.append(owner)
                self.evaluate(event.value, frame)
                self.objects.under_construction.pop()
            self.path, self.guard, self.loops, self.devices.contexts = outer

        return happen

    def _later(self, value: Value, frame: Frame, owner: Shell) -> Later:
        """What a constructor stores in its object, found out when it is asked for."""
        is_asked = False

        def found() -> Atoms:
            nonlocal is_asked
            known = frame.known(id(value))
            if known is not None:
                return sizes.kept(known, Site(value, frame.function))
            if is_asked:  # `self.x = other.x`, where the other may be the object itself: that adds nothing
                return NEVER
            is_asked = True
            outer = self.path, self.guard, self.loops
            self.path, self.guard, self.loops = frame.path, None, 0
            self.objects.under_construction.append(owner)
            atoms = self.evaluate(value, frame)
            self.objects.under_construction.pop()
            self.path, self.guard, self.loops = outer
            is_asked = False
            return sizes.kept(atoms, Site(value, frame.function))

        return found

    # -- expressions -----------------------------------------------------------------------------------------------

    def evaluate(self, value: Value, frame: Frame) -> Atoms:
        """What a value may be; a call that has not happened yet happens now."""
        key = id(value)
        known = frame.memo.get(key) if frame.parent is None else frame.known(key)
        if known is not None:
            return known
        self._nesting += 1
        self.steps += 1
        if self.steps > self._max_steps:
            self._run_out()
        if self._nesting > MAX_NESTING or self.steps > self._max_steps:
            self.is_complete = False
            found = UNKNOWN
        else:
            frame.memo[key] = NEVER  # what a loop leads back to adds nothing
            operation = _OPERATIONS.get(value.op)
            found = UNKNOWN if operation is None else operation(self, value, frame)
        self._nesting -= 1
        frame.memo[key] = found
        return found

    def shell(self, kind: str, value: Value, frame: Frame, purpose: str = "") -> Shell:
        """The object that an expression makes in a frame: the same one whenever that is looked at."""
        key = (frame.trail, id(value), purpose)
        found = self._shells.get(key)
        if found is None:
            make = Shell if self.turns is None else Counted
            found = self._shells[key] = make(kind, value, (*frame.trail, id(value)))
            found.function = frame.function
        return found

    def forget(self) -> None:
        """Make everything anew, if the same is run again."""
        self._shells.clear()

    def shells(self) -> Collection[Shell]:
        """All that expressions have made."""
        return self._shells.values()

    def sequence(self, kind: str, values: Iterable[Atoms], value: Value, frame: Frame, purpose: str = "") -> Shell:
        """A container with known elements."""
        found = self.shell(kind, value, frame, purpose)
        found.fill(tuple(values))
        return found

    def _const(self, value: Value, frame: Frame) -> Atoms:
        return (Constant(value.data),)

    def _param(self, value: Value, frame: Frame) -> Atoms:
        return frame.parameter(value.data)

    def _name(self, value: Value, frame: Frame) -> Atoms:
        return self.named(value, frame) or UNKNOWN

    def named(self, value: Value, frame: Frame) -> Atoms | None:
        """What a global name, or a chain of attributes on one, stands for; None if it leads nowhere."""
        known = self._named.get(id(value))
        if known is not None:
            return known[0]
        own = None if self.environment is None else self.environment.named(value, frame)
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
            if self.lookups is None and self.turns is None:
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
        if len(value.args) > 1 and self.lookups is not None and self.objects.under_construction:
            # What a constructor stores waits: `self.x = Wrapper(self.x)` is of what was stored before.
            return self.evaluate(value.args[1], frame)
        return join(self.objects.attribute(atom, str(value.data), frame, value) for atom in owner)

    def _call(self, value: Value, frame: Frame) -> Atoms:
        return self.calls.call(value, frame)

    def _display(self, value: Value, frame: Frame) -> Atoms:
        kind = {Op.LIST: "list", Op.TUPLE: "tuple", Op.SET: "set"}[value.op]
        elements: list[Atoms] = []
        is_exact = True
        for arg in value.args:
            atoms = self.evaluate(arg, frame)
            if arg.op is Op.STARRED:
                is_exact = is_exact and library.is_exact(atoms)
                elements.extend(library.unpacked(atoms))
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
                library.merge(found, atoms, ())
            else:
                known = constant(self.evaluate(key, frame))
                found.put(atoms, (), None if known is None else known.value)
                found.is_exact = found.is_exact and known is not None
        return (found,)

    def _comprehension(self, value: Value, frame: Frame) -> Atoms:
        counted = None if self.turns is None else self.turns.comprehension(value, frame)
        if counted is not None:
            return (counted,)
        slots = self._slots(value, frame) if value.data == "list" and value.guard is None else 0
        if slots:
            return (self._empty(value, slots, frame),)
        kind = "list" if value.data == "generator" else str(value.data)
        found = self.shell("generator" if value.data == "generator" else kind, value, frame)
        found.is_exact = False
        element = self.evaluate(value.args[-1], frame)
        path = () if self.training is None else self.training.picks.filters(value.guard, frame)
        found.put(element if value.guard is None else self.behind(element, frame, value.guard), path)
        return (found,)

    def _slots(self, value: Value, frame: Frame) -> int:
        """How many empty containers a comprehension makes, which are filled one by one: `[[] for _ in range(8)]`."""
        element = value.args[0]
        if self.lookups is None or element.args[element.op is Op.CALL :] or element.op not in _EMPTY:
            return 0
        if element.op is Op.CALL and called_name(element.callee) not in ("list", "dict", "set"):
            return 0
        loop = next((loop for loop in frame.flow.loops if loop.result is value), None)
        if loop is None or len(loop.turns) != 1:
            return 0
        over = self.evaluate(loop.turns[0][1], frame)
        counted = over[0].element() if len(over) == 1 and isinstance(over[0], Shell) else ()
        end = counted[0].end if len(counted) == 1 and isinstance(counted[0], Counter) else None
        return end if end is not None and end <= MAX_SLOTS else 0

    def _empty(self, value: Value, slots: int, frame: Frame) -> Shell:
        made = self.evaluate(value.args[0], frame)
        kind = made[0].kind if made and isinstance(made[0], Shell) else "list"
        each = [(self.shell(kind, value.args[0], frame, f"slot {number}"),) for number in range(slots)]
        return self.sequence("list", each, value, frame)

    def _item(self, value: Value, frame: Frame) -> Atoms:
        atoms = self.evaluate(value.args[0], frame)
        found = join(self.objects.element(atom, frame, value) for atom in atoms)
        return found if found or self.training is None or not atoms else UNKNOWN  # somebody else may fill it

    def _starred(self, value: Value, frame: Frame) -> Atoms:
        return self.evaluate(value.args[0], frame)

    def _unpack(self, value: Value, frame: Frame) -> Atoms:
        atoms = self.evaluate(value.args[0], frame)
        index = (Constant(value.data),) if value.data >= 0 else PLAIN
        found = join(self.objects.part(atom, index) for atom in atoms)
        if value.data < 0:  # a starred target holds a list of the rest
            rest = self.sequence("list", [found], value, frame)
            rest.is_exact = self.turns is None
            return (rest,)
        return found

    def _index(self, value: Value, frame: Frame) -> Atoms:
        owner = self.evaluate(value.args[0], frame)
        if self.lookups is not None and self.tensors is not None:
            return self._index_of_tensor(owner, value, frame)
        if value.args[1].op is Op.SLICE:
            return owner if self.turns is None else exact.sliced(self, owner, value, frame)
        index = self.evaluate(value.args[1], frame)
        found = join(self._part(atom, index, value, frame) for atom in owner)
        return self.devices.indexed(owner, found, value, frame)

    def _part(self, atom: Atom, index: Atoms, value: Value, frame: Frame) -> Atoms:
        known = None if self.environment is None else self.environment.part(atom, index, frame, value)
        if known is not None:
            return known
        is_object = isinstance(atom, Shell) and atom.model is not None and atom.model.is_module is False
        own = self.objects.own_method(atom, "__getitem__") if is_object and isinstance(atom, Shell) else None
        if own is None or self.turns is not None:
            return self.objects.part(atom, index)
        return self.calls.apply(own, Arguments((index,)), frame, value)

    def _index_of_tensor(self, owner: Atoms, value: Value, frame: Frame) -> Atoms:
        assert self.tensors is not None
        assert self.lookups is not None
        is_slice = value.args[1].op is Op.SLICE
        self.lookups.sliced(owner, value, frame)
        index = () if is_slice else self.behind(self.evaluate(value.args[1], frame), frame)
        found: list[Atoms] = []
        for atom in owner:
            self.lookups.indexed(atom, index, frame, value)
            if self.lookups.measures:
                atom = self.tensors.cut(atom, value, frame)
            if isinstance(atom, Tensor):
                found.append(self.tensors.index(atom, value, frame))
            elif is_slice and isinstance(atom, Shell) and atom.is_container and atom.items is not None:
                found.append(exact.sliced(self, (atom,), value, frame) if _is_told(value.args[1]) else (atom,))
            elif is_slice:  # some rows of a weight are not the weight
                found.append(UNKNOWN if isinstance(atom, Bound) else (atom,))
            else:
                found.append(self.tensors.part(atom, index, self.objects.part(atom, index)))
        return self.tensors.picked(join(found), owner, value, frame)

    def _choice(self, value: Value, frame: Frame) -> Atoms:
        test = value.data
        if test is not None and len(value.args) == 2:
            outcome = self._truth(test, frame)
            if outcome is not None:
                return self.evaluate(value.args[0 if outcome else 1], frame)
            if self.environment is not None:
                return join(self._under(test, at == 0, arg, frame) for at, arg in enumerate(value.args))
        branches = [self.evaluate(arg, frame) for arg in value.args]
        if self.tensors is None or test is None:
            return join(self.devices.one_of(test, branches))
        kept = [self.behind(atoms, frame, Guard(test, at == 0)) for at, atoms in enumerate(branches)]
        return self.tensors.one_of(kept, test, frame)

    def _under(self, test: Value, outcome: bool, value: Value, frame: Frame) -> Atoms:
        with self._assuming(test, outcome, frame):
            return self.evaluate(value, frame)

    def _bool(self, value: Value, frame: Frame) -> Atoms:
        if self.environment is not None:
            return self._one_operand(value, frame)
        options: list[Atoms] = []
        for number, arg in enumerate(value.args):
            outcome = truth(arg, lambda inner: self.evaluate(inner, frame))
            is_last = number == len(value.args) - 1
            if is_last or outcome is None or outcome is (value.data == "or"):
                found = self.evaluate(arg, frame)
                options.append(found if is_last else self.behind(found, frame, Guard(arg, value.data == "or")))
            if outcome is (value.data == "or"):
                break
        return join(options)

    def _one_operand(self, value: Value, frame: Frame) -> Atoms:
        """Which operand `and` and `or` give; what is looked at behind an open one is under it."""
        options: list[Atoms] = []
        decisive = bool(value.data == "or")
        with ExitStack() as assumed:
            for number, arg in enumerate(value.args):
                outcome = self._truth(arg, frame)
                is_last = number == len(value.args) - 1
                if is_last or outcome is None or outcome is decisive:
                    options.append(self.evaluate(arg, frame))
                if outcome is decisive:
                    break
                if outcome is None and not is_last:
                    assumed.enter_context(self._assuming(arg, not decisive, frame))
        return join(options)

    def _update(self, value: Value, frame: Frame) -> Atoms:
        """A container that was changed in place is what it was."""
        found = self.evaluate(value.args[0], frame)
        if self.tensors is None or value.data != "[]=":
            return found
        tensors = self.tensors
        return join(tensors.assigned(atom, value, frame) for atom in found)

    def _binary(self, value: Value, frame: Frame) -> Atoms:
        left, right = self.evaluate(value.args[0], frame), self.evaluate(value.args[1], frame)
        if self.environment is not None:
            known = self.environment.binary(str(value.data), left, right)
            if known is not None:
                return known
        is_number = self.tensors is not None and self.tensors.is_number(left)
        if isinstance(value.data, InPlace) and value.data in ("+", "|") and not is_number:
            found = self.objects.augmented(left, right, frame, value)
        elif self.turns is not None and (known := exact.binary(self, left, right, value, frame)) is not None:
            return known
        elif self.tensors is not None and (value.data in _MAKING_REAL or self.tensors.are_known(left, right)):
            return self.tensors.binary(str(value.data), left, right, Site(value, frame.function))
        else:
            found = join(library.binary(self, side, left, right, frame, value) for side in (left, right))
            if not found and left and right:
                found = PLAIN
            found = tuple(atom for atom in found if not isinstance(atom, Plain)) or found
        return self.devices.operation([left, right], found, frame, value)

    def _compare(self, value: Value, frame: Frame) -> Atoms:
        outcome = self._truth(value, frame)
        if outcome is not None:
            return (Constant(outcome),)
        if value.op is not Op.COMPARE:
            return PLAIN
        sides = [self.evaluate(arg, frame) for arg in value.args]
        if self.tensors is not None:
            return self.tensors.compared(*sides)
        return self.devices.operation(sides, PLAIN, frame, value) if value.data in _ELEMENTWISE else PLAIN

    def _unary(self, value: Value, frame: Frame) -> Atoms:
        if value.data == "not":
            return self._compare(value, frame)
        atoms = self.evaluate(value.args[0], frame)
        size = size_of(atoms) if value.data == "-" and (self.tensors or self.turns) is not None else None
        if size is not None:
            return (Number(-size),) if size.constant is None else (Constant(-size.constant),)
        if self.turns is not None and (number := exact.negative(value.data, atoms)) is not None:
            return number
        if self.tensors is not None and any(isinstance(atom, Tensor) for atom in atoms):
            return tuple(of_second(value.data, atom) if isinstance(atom, Tensor) else atom for atom in atoms)
        found = join(library.changed(atom, f"`{value.data}`", value) for atom in atoms)
        return self.devices.operation([atoms], found, frame, value)

    def _string(self, value: Value, frame: Frame) -> Atoms:
        parts = [self.evaluate(arg, frame) for arg in value.args]
        return PLAIN if self.turns is None else exact.formatted(value, parts)

    def _lambda(self, value: Value, frame: Frame) -> Atoms:
        if isinstance(value.data, Nested):
            if self.turns is not None:
                self.turns.prepare(value.data, value, frame)
            self.hold(frame)
            return (FunctionRef(value.data, frame),)
        return self.evaluate(value.args[-1], frame) if value.args else UNKNOWN


_OPERATIONS: dict[Op, Callable[[Interpreter, Value, Frame], Atoms]] = {
    Op.CONST: Interpreter._const,
    Op.PARAM: Interpreter._param,
    Op.GLOBAL: Interpreter._name,
    Op.ATTR: Interpreter._attribute,
    Op.CALL: Interpreter._call,
    Op.BIN: Interpreter._binary,
    Op.UNARY: Interpreter._unary,
    Op.COMPARE: Interpreter._compare,
    Op.BOOL: Interpreter._bool,
    Op.INDEX: Interpreter._index,
    Op.SLICE: Interpreter._string,
    Op.CHOICE: Interpreter._choice,
    Op.TUPLE: Interpreter._display,
    Op.LIST: Interpreter._display,
    Op.SET: Interpreter._display,
    Op.DICT: Interpreter._dict,
    Op.STARRED: Interpreter._starred,
    Op.COMPREHENSION: Interpreter._comprehension,
    Op.ITEM: Interpreter._item,
    Op.UNPACK: Interpreter._unpack,
    Op.UPDATE: Interpreter._update,
    Op.STRING: Interpreter._string,
    Op.LAMBDA: Interpreter._lambda,
}


def followed(project: Project, kind: type[Following]) -> tuple[Interpreter, Following]:
    """A run that follows tensors, and what does so."""
    run = Interpreter(project, project.of(Keepers), kind)
    assert isinstance(run.lookups, kind)
    return run, run.lookups


def _is_told(part: Value) -> bool:
    """Whether the ends of a slice are written as numbers."""
    return all(arg.op is Op.CONST or (arg.op is Op.UNARY and arg.args[0].op is Op.CONST) for arg in part.args)


def _longer(path: Path, more: Path) -> Path:
    return path + tuple(step for step in more if step not in path) if more else path
