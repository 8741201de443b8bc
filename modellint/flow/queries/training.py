"""The steps of training: where a loss goes backward, where optimizers step, and what clears gradients.

A step is found from its parts: `backward()` of what may be a tensor, and methods of objects that are optimizers,
schedulers or scalers of torch. The parts that helpers do stand where these are called. Nothing is run.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from modellint import edits
from modellint.flow.queries.functions import is_plain_parameter
from modellint.flow.queries.layers import made_objects
from modellint.flow.queries.values import Context, Operand, constant_arguments, is_possible
from modellint.graph.attributes import names_in
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass, replace
from modellint.graph.python import alternatives
from modellint.graph.value import EventKind, Op, called_name, is_self, same, self_attribute, walk_all
from modellint.knowledge import signatures, surface
from modellint.link.calls.doubts import is_overridden, is_tried_out
from modellint.link.calls.reached import CallReach, Reached
from modellint.link.requirements import required
from modellint.link.values.callers import callers
from modellint.link.values.members import Members

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.finding import Place
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Flow, Loop, Nested, Value
    from modellint.link.project import Project

#: Methods of a layer that give its parameters.
_GIVING = ("parameters", "named_parameters")
_OPTIMIZERS, _SCHEDULERS = "torch.optim.", "torch.optim.lr_scheduler."
_SCALERS = frozenset(
    f"torch.{home}GradScaler" for home in ("", "amp.", "amp.grad_scaler.", "cuda.amp.", "cuda.amp.grad_scaler.")
)
_CLIPPING = frozenset(
    f"torch.nn.utils.{home}clip_grad_{kind}"
    for home in ("", "clip_grad.")
    for kind in ("norm_", "value_", "norm", "value")
)
#: Some releases of torch in which schedulers step behind optimizers.
_LATER = ("1.1.0", "1.2.0", "1.4.0", "1.6.0", "1.7.1", "1.9.0", "1.10.0", "1.12.1", "1.13.1", "2.0.0", "2.2.0", "2.4.0")
#: Libraries whose functions clear no gradients, and the parts of torch that may do so.
_PLAIN = frozenset(("builtins", "torch", "numpy", "tqdm", "torchvision"))
_CLEARING = (_OPTIMIZERS, "torch.distributed.optim.", "torch.utils.")
#: Functions of Python that call what they are given.
_CALLING = frozenset(f"builtins.{name}" for name in ("map", "filter", "getattr", "exec", "eval"))
#: Names of the parts of a step.
_PARTS = frozenset(("backward", "step", "zero_grad", "grad", "unscale_", "update"))
#: Methods by which an optimizer or a parameter gets a function that is called after a step.
_HOOKS = frozenset(
    ("register_step_post_hook", "register_optimizer_step_post_hook", "register_post_accumulate_grad_hook")
)
#: The most calls of helpers between a loop and a part of its step, the most parts, helpers and callers.
_MAX_DEPTH, _MAX_ACTIONS, _MAX_HELPERS, _MAX_CALLERS = 5, 800, 300, 6


class Act(Enum):
    """The kind of an action. `ENGINE` is `backward()` of what is no tensor, `OTHER` a call that cannot be read.

    `SET` gives gradients other values by hand, which may clear them. Those behind `OTHER` are of the courses of modes
    (`modes.py`).
    """

    BACKWARD = "backward"
    ENGINE = "engine"
    STEP = "step"
    CLEAR = "clear"
    SET = "set"
    SCHEDULE = "schedule"
    CLIP = "clip"
    UNSCALE = "unscale"
    UPDATE = "update"
    OTHER = "other"
    TRAIN = "train"
    EVAL = "eval"
    MODE = "mode"
    RUN = "run"
    RECORD = "record"
    LOAD = "load"


@dataclass(frozen=True, eq=False, slots=True)
class Action:
    """A part of a training step.

    `subject` is what it is done to: a loss, an optimizer, a scheduler, a scaler. That of a `STEP` may be a parameter
    that has the methods of an optimizer. `scaler` makes the step. `loops` are those around it, outermost first, those
    of callers among them. `tests` are the conditions under which it is done, with their outcomes, likewise. `steps` are
    the calls of helpers that lead to it.
    """

    act: Act
    event: Event
    function: Function
    project: Project
    subject: Operand | None
    loops: tuple[Loop, ...]
    tests: frozenset[tuple[int, bool]]
    steps: tuple[tuple[Event, Function], ...]
    context: Context | None = None
    scaler: Operand | None = None

    @property
    def value(self) -> Value:
        return self.event.value

    @property
    def place(self) -> Place:
        return self.function.module.place(self.event.target or self.value)

    @property
    def name(self) -> str:
        """The object that it is done to, in the words of the call: `optimizer` of `optimizer.step()`."""
        module, callee = self.function.module, self.value.callee
        if self.scaler is None:
            return module.text_of(self.value).rpartition(f".{callee.data}")[0]
        place = edits.argument_place(self.value, 0, "optimizer", module)
        return "" if place is None else edits.text_at(place, module)

    @property
    def is_tried(self) -> bool:
        """True if the file is a test or a demonstration."""
        return is_tried_out(self.project, self.function, replace(self.event, guard=None))

    @property
    def functions(self) -> tuple[Function, ...]:
        """The functions that run while it is done, the outermost first."""
        return (*(function for _, function in self.steps), self.function)

    def operand(self, value: Value) -> Operand:
        """A value of the function around the action."""
        return Operand(value, self.function, self.project, context=self.context)

    def is_within(self, loop: Loop) -> bool:
        return any(one is loop for one in self.loops)

    def is_done_before(self, other: Action) -> bool:
        """True if the action is done in each turn in which another one is, as no other condition leads to it."""
        return self.tests <= other.tests


class Course:
    """All that a function and its helpers do about training, in order; a helper does its part where it is called."""

    def __init__(self, function: Function, project: Project, wanted: frozenset[str] = _PARTS) -> None:
        """The methods of arguments and variables are looked for if their names are `wanted`."""
        self.function = function
        self._wanted = wanted
        self.project = project
        self.actions: list[Action] = []
        self.functions: dict[Function, None] = {function: None}
        #: The helpers that a subclass may override, each with the loops around its call.
        self._open: list[tuple[Reached, tuple[Loop, ...]]] = []
        #: The number of helpers that were followed.
        self._number = 0
        #: The loops around the calls of each helper.
        self._called: dict[Function, list[tuple[Loop, ...]]] = {}
        #: The helpers that have no part in training.
        self._quiet: set[Function] = set()
        #: The functions inside of functions whose actions are known.
        self._nested: list[Nested] = []
        #: False if there is more than was looked at.
        self.is_whole = True
        flow = function.flow
        self._walk(_Body(function, project, None, None), 0, len(flow.events), (), frozenset(), ())

    # -- collection --------------------------------------------------------------------------------------------------

    def _walk(
        self,
        body: _Body,
        first: int,
        last: int,
        loops: tuple[Loop, ...],
        tests: frozenset[tuple[int, bool]],
        steps: tuple[tuple[Event, Function], ...],
    ) -> None:
        """Collect the actions of a body."""
        function = body.function
        inner = [one for one in function.flow.nested if first <= one.first and one.last <= last and one is not body.own]
        own_loops = function.flow.loops if body.own is None else body.own.loops
        constants = {} if body.context is None else body.context.constants
        for number in range(first, last):
            if any(one.first <= number < one.last for one in inner):
                continue
            event = function.flow.events[number]
            if event.kind not in (EventKind.CALL, EventKind.STORE, EventKind.DELETE):
                continue
            if body.own is None and constants and not is_possible(event, constants):
                continue
            if len(self.actions) > _MAX_ACTIONS:
                self.is_whole = False
                return
            around = (*loops, *(loop for loop in own_loops if loop.first <= number < loop.last))
            self._add(At(event, body, around, tests | _tests(event), steps))

    def _add(self, at: At) -> None:
        event = at.event
        if event.kind is not EventKind.CALL:
            target = event.target
            if target is not None and any(part.op is Op.ATTR and part.data == "grad" for part in target.walk()):
                self._note(at, Act.SET, None)
            return
        callee = event.value.callee
        if callee.op is Op.LAMBDA:
            self._follow_nested(at, callee.data)
            return
        names = self.project.names
        definition = names.definition(at.body.function.module, callee)
        if isinstance(definition, External):
            self._add_outside(at, definition.name)
            return
        if callee.op is Op.ATTR and definition is None and self._add_method(at, str(callee.data)):
            return
        reached = self._reach(at)
        if reached is None or reached.function is None or len(at.steps) >= _MAX_DEPTH:
            if (reached is None or not is_forward(reached)) and not _is_harmless(event.value):
                self._note(at, Act.OTHER, None)
                self.is_whole = self.is_whole and len(at.steps) < _MAX_DEPTH
        elif at.loops or not _PARTS.isdisjoint(reached.function.words):
            self._follow(at, reached)
        else:
            self._note(at, Act.OTHER, None)

    def _add_outside(self, at: At, name: str) -> None:
        """Note the call of a function of a library."""
        value = at.event.value
        if name == "torch.autograd.backward" and value.args[1:]:
            self._note(at, Act.BACKWARD, at.operand(value.args[1]))
        elif name in _CLIPPING and value.args[1:]:
            self._note(at, Act.CLIP, at.operand(value.args[1]))
        elif name.startswith("torch._foreach_") and name.endswith("_"):
            self._note(at, Act.SET, None)
        elif name.partition(".")[0] not in _PLAIN or name in _CALLING or name.startswith(_CLEARING):
            self._note(at, Act.OTHER, None)

    def _add_method(self, at: At, name: str) -> bool:
        """Note the call of a method that has a part in training; False for another one."""
        value = at.event.value
        owner = at.operand(value.callee.args[0])
        if name == "backward":
            if _may_be_tensor(owner, value):
                self._note(at, Act.BACKWARD, owner)
                return True
            if self._reach(at) is None:
                self._note(at, Act.ENGINE, owner)
                return True
            return False
        if name == "zero_grad":
            self._note(at, Act.CLEAR, owner)
            return self._reach(at) is None
        if name == "step":
            return self._add_step(at, owner)
        if name in ("unscale_", "update"):
            if not scalers(owner):
                return False
            self._note(at, Act.UNSCALE if name == "unscale_" else Act.UPDATE, owner)
            return True
        if name.endswith("_") and any(part.op is Op.ATTR and part.data == "grad" for part in value.callee.walk()):
            self._note(at, Act.SET, None)
            return True
        return False

    def _add_step(self, at: At, owner: Operand) -> bool:
        value = at.event.value
        if scalers(owner):
            given = value.argument(0, "optimizer")
            if given is not None:
                self._note(at, Act.STEP, at.operand(given), owner)
            return True
        if schedulers(owner):
            self._note(at, Act.SCHEDULE, owner)
            return True
        is_known = bool(optimizers(owner)) or id(owner.value) in at.body.function.flow.once(_like_optimizers)
        if is_known:
            self._note(at, Act.STEP, owner)
        return is_known

    def _note(self, at: At, act: Act, subject: Operand | None, scaler: Operand | None = None) -> None:
        self.actions.append(
            Action(
                act,
                at.event,
                at.body.function,
                self.project,
                subject,
                at.loops,
                at.tests,
                at.steps,
                at.body.context,
                scaler,
            )
        )

    # -- helpers -----------------------------------------------------------------------------------------------------

    def _reach(self, at: At) -> Reached | None:
        """The function of the project that a call runs."""
        value, function, project = at.event.value, at.body.function, self.project
        reached = project.once(("call target", value), lambda: CallReach(project, function).of(value))
        if reached is not None or value.callee.op is not Op.ATTR or value.callee.args[0].op is Op.GLOBAL:
            return None if reached is None or reached.is_made else reached
        if value.callee.data not in self._wanted:
            return None
        model = at.operand(value.callee.args[0]).object_class()
        if model is None or model.cls is None:
            return None
        method = project.of(Members).method(model.cls, str(value.callee.data))
        return None if method is None else Reached(method.name, method.open_parameters, method, model)

    def _follow(self, at: At, reached: Reached) -> None:
        """Collect the actions of a helper."""
        function = reached.function
        assert function is not None
        if is_forward(reached) and "zero_grad" not in function.words:
            return
        self._called.setdefault(function, []).append(at.loops)
        if function in self._quiet:
            return
        if any(function is one for _, one in at.steps) or function is at.body.function:
            self.is_whole = False
            return
        known = len(self.actions), len(self._open), self.is_whole
        self._number += 1
        if self._number > _MAX_HELPERS:
            self.is_whole = False
            return
        if reached.may_be_overridden:
            self._open.append((reached, at.loops))
        outer = at.body.context
        given = constant_arguments(at.event.value, reached, {} if outer is None else outer.constants)
        context = Context(at.operand(at.event.value), outer, len(at.steps) + 1, constants=given)
        self.functions.setdefault(function)
        body = _Body(function, self.project, context, None)
        self._walk(body, 0, len(function.flow.events), at.loops, at.tests, (*at.steps, (at.event, at.body.function)))
        if known == (len(self.actions), len(self._open), self.is_whole) and self.is_whole:
            self._quiet.add(function)

    def _follow_nested(self, at: At, nested: Nested) -> None:
        """Collect the actions of a function inside of the function."""
        if nested.flow is not None or len(at.steps) >= _MAX_DEPTH or at.body.own is nested:
            self.is_whole = False
            return
        self._nested.append(nested)
        outer = at.body.context
        context = Context(at.operand(at.event.value), outer, len(at.steps) + 1, nested)
        steps = (*at.steps, (at.event, at.body.function))
        self._walk(
            _Body(at.body.function, self.project, context, nested), nested.first, nested.last, at.loops, at.tests, steps
        )

    # -- answers -----------------------------------------------------------------------------------------------------

    def of(self, *acts: Act, within: Loop | None = None) -> list[Action]:
        """The actions of some kinds, in order; those in a loop."""
        return [one for one in self.actions if one.act in acts and (within is None or one.is_within(within))]

    def is_certain(self, loop: Loop | None) -> bool:
        """True if all that is done in a loop was seen: no subclass overrides a helper. Ask it last: it reads files.

        Without a loop, all that the function does is meant.
        """
        return self.is_whole and not any(
            is_overridden(self.project, reached)
            for reached, loops in self._open
            if loop is None or any(one is loop for one in loops)
        )

    @cached_property
    def may_clear_unseen(self) -> bool:
        """True if code has `zero_grad` other than in a call that is seen, or hooks that run after a step."""
        return any(_hands_on_clearing(function, self._nested) for function in self.functions)

    def is_called_in(self, function: Function, loop: Loop) -> bool:
        """True if a loop calls a helper, directly or not."""
        return any(one is loop for loops in self._called.get(function, ()) for one in loops)

    def turns(self) -> list[Turn]:
        """The loops that do steps, each with the step, and what goes backward in the same turns before it."""
        found = []
        losses = self.of(Act.BACKWARD)
        for step in self.of(Act.STEP):
            loop, depth = None, 0
            for loss in losses:
                shared = _common_loops(loss.loops, step.loops)
                if len(shared) > depth:
                    loop, depth = shared[-1], len(shared)
            if loop is not None:
                found.append(Turn(self, loop, step, tuple(loss for loss in losses if loss.is_within(loop))))
        return found


@dataclass(frozen=True, eq=False, slots=True)
class Turn:
    """A step that a loop does, and what goes backward in it: the innermost loop around both."""

    course: Course
    loop: Loop
    step: Action
    losses: tuple[Action, ...]


@dataclass(frozen=True, eq=False, slots=True)
class _Body:
    """A function, or one inside of a function (`own`), and the call by which it runs."""

    function: Function
    project: Project
    context: Context | None
    own: Nested | None


@dataclass(frozen=True, eq=False, slots=True)
class At:
    """An event, and what leads to it."""

    event: Event
    body: _Body
    loops: tuple[Loop, ...]
    tests: frozenset[tuple[int, bool]]
    steps: tuple[tuple[Event, Function], ...]

    def operand(self, value: Value) -> Operand:
        return Operand(value, self.body.function, self.body.project, context=self.body.context)


def _common_loops(one: tuple[Loop, ...], other: tuple[Loop, ...]) -> list[Loop]:
    """The loops around both of two actions, outermost first."""
    found = []
    for loop, counterpart in zip(one, other, strict=False):
        if loop is not counterpart:
            break
        found.append(loop)
    return found


def _tests(event: Event) -> frozenset[tuple[int, bool]]:
    """The conditions under which an event happens, in the function that it stands in."""
    found = set[tuple[int, bool]]()
    for one in () if event.guard is None else event.guard.chain():
        if one.test.op is Op.UNKNOWN and one.test.data == "nested":
            break
        found.add((id(one.test), one.truthy))
    return frozenset(found)


def is_forward(reached: Reached) -> bool:
    """True for what runs when a layer is called."""
    function, owner = reached.function, reached.owner
    is_layer = owner is not None and owner.is_module is not False
    return is_layer and function is not None and function.name in ("forward", "__call__")


def _is_harmless(call: Value) -> bool:
    """True for a method of tensors that gets nothing: `loss.mean()`."""
    callee = call.callee
    if call.args[1:] or callee.op is not Op.ATTR or callee.data in _PARTS:
        return False
    return not is_self(callee.args[0]) and callee.data in surface.tensor_names()


def _hands_on_clearing(function: Function, seen: list[Nested]) -> bool:
    words, flow = function.words, function.flow
    if not _HOOKS.isdisjoint(words):
        return True
    if "zero_grad" not in words:
        return False
    called: set[int] = set()
    for number, event in enumerate(flow.events):
        if event.kind is not EventKind.CALL:
            continue
        if "zero_grad" in event.value.data:
            return True
        if event.value.callee.op is Op.ATTR and event.value.callee.data == "zero_grad":
            called.add(id(event.value.callee))
            around = [one for one in flow.nested if one.first <= number < one.last]
            if any(all(one is not other for other in seen) for one in around):
                return True
    return any(
        (value.op is Op.ATTR and value.data == "zero_grad" and id(value) not in called)
        or any(name == "zero_grad" for name in names_in(value))
        for value in walk_all(flow.evaluated())
    )


# -- objects ---------------------------------------------------------------------------------------------------------


def optimizers(operand: Operand) -> tuple[Operand, ...]:
    """The optimizers of torch that a value is on its paths, or the annotated parameters; empty if one is unknown."""
    return operand.conclude(_optimizers) or ()


def _optimizers(leaves: Iterable[Operand]) -> tuple[Operand, ...] | None:
    found = []
    for leaf in leaves:
        if leaf.is_none:
            continue
        if leaf.part is not None or not _is_optimizer(leaf):
            return None
        found.append(leaf)
    return tuple(found)


def _is_optimizer(leaf: Operand) -> bool:
    if leaf.value.op is Op.PARAM:
        return any(_is_of_optimizers(name) for name in _annotations(leaf))
    if leaf.value.op is not Op.CALL:
        return False
    if any(map(_is_of_optimizers, made_names(leaf))):
        return True
    callee, names = leaf.value.callee, leaf.project.names
    if callee.op is not Op.CALL or len(callee.args) != 3:
        return False
    picking, home = (names.definition(leaf.function.module, one) for one in callee.args[:2])
    is_picked = isinstance(picking, External) and picking.name == "builtins.getattr"
    return is_picked and getattr(home, "name", "") == "torch.optim"


def _is_of_optimizers(name: str) -> bool:
    return name.startswith(_OPTIMIZERS) and not name.startswith(_SCHEDULERS)


def _annotations(leaf: Operand) -> Iterator[str]:
    """The full names of the classes of libraries by which a parameter is annotated."""
    parameter = leaf.function.parameter(str(leaf.value.data))
    annotation = None if parameter is None else parameter.annotation
    for one in () if annotation is None else alternatives(annotation):
        definition = leaf.project.names.definition(leaf.function.module, one)
        if isinstance(definition, External):
            yield definition.name


def trained_layers(optimizer: Operand) -> list[Operand] | None:
    """The constructions of the layers whose parameters an optimizer is given; None if one is unknown."""
    given = optimizer.value.argument(0, "params") if optimizer.value.op is Op.CALL else None
    if given is None:
        return None
    found: list[Operand] = []
    for owner in _layers_asked(given):
        made = None if owner is None else made_objects(optimizer.of(owner))
        if made is None:
            return None
        found += made
    return found


def _layers_asked(given: Value) -> list[Value | None]:
    """The values that are asked for their parameters; None stands for what cannot be told."""
    if given.op is Op.CALL and given.callee.op is Op.ATTR and given.callee.data in _GIVING:
        return [given.callee.args[0]]
    if given.op in (Op.LIST, Op.TUPLE):
        return [owner for part in given.args for owner in _layers_asked(part)]
    if given.op is Op.DICT:
        named = zip(given.data, given.args, strict=True)
        return [
            owner for key, part in named if key is not None and key.data == "params" for owner in _layers_asked(part)
        ]
    return [None]


def schedulers(operand: Operand) -> tuple[Operand, ...]:
    """The schedulers of torch that a value is on its paths; empty if one may be something else."""

    def find(leaves: Iterable[Operand]) -> tuple[Operand, ...] | None:
        found = tuple(leaf for leaf in leaves if not leaf.is_none)
        return found if all(_is_made(leaf, _SCHEDULERS) for leaf in found) else None

    return operand.conclude(find) or ()


def scalers(operand: Operand) -> tuple[Operand, ...]:
    """The scalers of gradients that a value is on its paths; empty if one may be something else, or is switched off."""
    found: dict[Value, Operand] = {}
    seen: set[Value] = set()
    pending = [operand]
    while pending:
        for leaf in pending.pop().origins(through_operators=False):
            value = leaf.value
            if value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data == "unscale_":
                # The name of a tensor stands for the result of such a method.
                if value not in seen:
                    seen.add(value)
                    pending.append(replace(leaf, value=value.callee.args[0]))
            elif _is_made(leaf, *_SCALERS) and not _may_be_off(value):
                found[value] = leaf
            elif not leaf.is_none:
                return ()
    return tuple(found.values())


def _may_be_off(made: Value) -> bool:
    """True for a scaler that does nothing, or of which unpacked arguments may say so."""
    enabled = made.argument(5, "enabled")
    if enabled is not None:
        return enabled.op is Op.CONST and enabled.data is False
    unpacked = [
        arg for name, arg in zip(made.data, made.args[len(made.args) - len(made.data) :], strict=True) if not name
    ]
    unpacked += [arg.args[0] for arg in made.positional if arg.op is Op.STARRED]
    return any(
        one.op not in (Op.DICT, Op.TUPLE, Op.LIST)
        or any(part.data == "enabled" or part.data is False for part in one.walk())
        for one in unpacked
    )


def warns_of_early_schedules(project: Project) -> bool:
    """True unless a project requires torch before 1.1, in which schedulers step first."""
    wanted = required("torch", project)
    return wanted is None or wanted.specifiers is None or wanted.admits_any((*_LATER, signatures.release()))


def _is_made(leaf: Operand, *beginnings: str) -> bool:
    """True if a value is the construction of a class of torch whose full name begins so."""
    if leaf.part is not None or leaf.value.op is not Op.CALL:
        return False
    definition = leaf.project.names.definition(leaf.function.module, _constructor(leaf))
    return isinstance(definition, External) and _is_class(definition.name) and definition.name.startswith(beginnings)


def made_names(leaf: Operand) -> Iterator[str]:
    """The full names of the class of a library that a call constructs, or of such bases of a class of the project."""
    if leaf.part is not None or leaf.value.op is not Op.CALL:
        return
    definition = leaf.project.names.definition(leaf.function.module, _constructor(leaf))
    if isinstance(definition, External):
        if _is_class(definition.name):
            yield definition.name
        return
    model = leaf.made_class()
    for one in () if model is None else model.mro():
        yield from (base.name for base in one.facts.bases if isinstance(base, External))


def _constructor(leaf: Operand) -> Value:
    """The value that a call calls, without a `functools.partial` around it."""
    callee = leaf.value.callee
    if callee.op is Op.CALL and callee.positional:
        definition = leaf.project.names.definition(leaf.function.module, callee.callee)
        if isinstance(definition, External) and definition.name == "functools.partial":
            return callee.positional[0]
    return callee


def _is_class(name: str) -> bool:
    return name.rpartition(".")[2][:1].isupper()


def _may_be_tensor(owner: Operand, call: Value) -> bool:
    """True if `backward()` is called on what may be a tensor, for all that is known, and on nothing else."""
    if call.positional:
        return owner.is_tensor
    if is_self(owner.value):
        return False

    def may_be(leaves: Iterable[Operand]) -> bool | None:
        found = [leaf for leaf in leaves if not leaf.is_none]
        return True if found and all(map(_is_computed, found)) else None

    return bool(owner.presume(may_be))


def _is_computed(leaf: Operand) -> bool:
    """True for what is no object: a result, an element, a number that is added to."""
    value = leaf.value
    if value.op is Op.ATTR:
        base = value
        while base.op is Op.ATTR:
            base = base.args[0]
        return base.op not in (Op.PARAM, Op.GLOBAL, Op.INNER)
    if value.op is Op.PARAM or value.op is Op.INNER:
        return not is_self(value)
    if value.op in (Op.GLOBAL, Op.LAMBDA):
        return False
    return leaf.made_class() is None and not any(made_names(leaf))


# -- calls that cannot be read ---------------------------------------------------------------------------------------


def hands_over(action: Action) -> bool:
    """True if a call that cannot be read may get a model, an optimizer, or what holds one."""
    call = action.value
    callee, given = call.callee, call.args[1:]
    if callee.op is Op.ATTR and _is_call_of(callee.args[0], "super"):
        return True
    if callee.op is Op.ATTR and is_self(callee.args[0]) and not _is_held(str(callee.data), action):
        return True
    if callee.op is Op.ATTR and (_may_do_parts(action) or (callee.data != "step" and _holds_already(action))):
        return True
    if not given:
        return callee.op in (Op.PARAM, Op.INNER, Op.CALL, Op.LAMBDA)
    return any(_may_hold(part, action) for part in each_argument(given)) and not _is_model(callee, action)


def _may_do_parts(action: Action) -> bool:
    """True if a method of an object that the project defines speaks of parts of a step."""
    callee = action.value.callee
    model = None if callee.args[0].op is Op.GLOBAL else action.operand(callee.args[0]).object_class()
    if model is None or model.cls is None:
        return False
    method = action.project.of(Members).method(model.cls, str(callee.data))
    if method is None:
        return not model.is_complete
    reached = Reached(method.name, method.open_parameters, method, model)
    return not _PARTS.isdisjoint(method.words) or is_overridden(action.project, reached)


def _holds_already(action: Action) -> bool:
    """True if the object whose method is called got a model, an optimizer or `self` before, and may use it.

    One that steps beside its optimizer is a scheduler.
    """
    function, owner = action.function, action.value.callee.args[0]
    if _is_own_model(owner, function):
        return False
    for leaf in action.operand(owner).origins(through_operators=False):
        made = leaf.value
        if made.op is Op.CALL and leaf.made_class() is None and not _is_layer_call(leaf):
            asked, is_passed = leaf.function.flow.once(acting), leaf.function is not function
            prepared = made.callee.args[1:] if made.callee.op is Op.CALL else ()  # `partial(Watcher, optimizer)()`
            given = list(each_argument((*made.args[1:], *prepared)))
            if any(is_self(part) or id(part) in asked or (is_passed and part.op is Op.PARAM) for part in given):
                return True
    methods = [function] if function.owner is None else list(function.owner.methods.values())
    return any(
        event.value.callee.op is Op.ATTR
        and _are_same(event.value.callee.args[0], owner)
        and any(map(is_self, event.value.args[1:]))
        for method in methods
        for event in method.flow.of(EventKind.CALL)
    )


def _are_same(one: Value, other: Value) -> bool:
    """True for the same attribute of `self`, and for the same value."""
    name = self_attribute(one)
    return same(one, other) if name is None else name == self_attribute(other)


def _is_own_model(value: Value, function: Function) -> bool:
    return id(value) in function.flow.once(_asked_as_model)


def _is_layer_call(leaf: Operand) -> bool:
    """True for what a layer gives, or a function of torch or Python."""
    definition = leaf.project.names.definition(leaf.function.module, leaf.value.callee)
    if isinstance(definition, External):
        return definition.name.partition(".")[0] in _PLAIN
    return id(leaf.value.callee) in leaf.function.flow.once(_asked_as_model)


def _is_model(callee: Value, action: Action) -> bool:
    """True if what is called is a layer."""
    if _is_own_model(callee, action.function):
        return True
    operand = action.operand(callee)
    model = operand.object_class()
    if model is not None:
        return model.is_module is True
    leaves = operand.origins(through_operators=False)
    return all(leaf.value.op is Op.PARAM and "torch.nn.Module" in _annotations(leaf) for leaf in leaves)


def _is_held(name: str, action: Action) -> bool:
    """True if an attribute of the receiver is an object that its class stores, not a method that cannot be read."""
    owner = action.function.owner
    return owner is not None and bool(action.project.of(Members).stores(owner, name))


def each_argument(values: Iterable[Value]) -> Iterator[Value]:
    """Values, and the elements of displays among them."""
    for value in values:
        if value.op in (Op.STARRED, Op.TUPLE, Op.LIST, Op.DICT):
            yield from each_argument(value.args)
        else:
            yield value


def _may_hold(value: Value, action: Action) -> bool:
    if is_self(value) or value.op is Op.LAMBDA:
        return True
    flow = action.function.flow
    if id(value) in flow.once(acting):
        return True
    return any(_may_be_holder(leaf) for leaf in action.operand(value).origins(through_operators=False))


def _may_be_holder(leaf: Operand) -> bool:
    value = leaf.value
    if leaf.part is not None:
        return False
    if value.op is Op.PARAM:
        return is_self(value) or not _is_plain(leaf)
    if value.op is Op.ATTR:
        return is_self(value.args[0])
    if value.op is Op.INNER or value.op is Op.LAMBDA:
        return True
    model = leaf.made_class()
    is_layer = model is not None and (model.cls is not None or model.is_module is True)
    return is_layer or any(_is_of_optimizers(name) or name in _SCALERS for name in made_names(leaf))


def _is_plain(leaf: Operand) -> bool:
    """True if a parameter is a number, a string or a tensor by its annotation or its default."""
    name = str(leaf.value.data)
    parameter = leaf.function.parameter(name)
    annotation = None if parameter is None else parameter.annotation
    if annotation is not None and "Tensor" in {part.data for part in annotation.walk()}:
        return True
    return is_plain_parameter(name, leaf.function, leaf.project)


#: Methods of models, and of models and optimizers.
_OF_MODELS = frozenset(("parameters", "named_parameters", "eval"))
_OF_HOLDERS = _OF_MODELS | {"train", "state_dict", "zero_grad", "step"}


def _asked_as_model(flow: Flow) -> frozenset[int]:
    """The values that a body asks for what only models have."""
    callees = (event.value.callee for event in flow.of(EventKind.CALL))
    return frozenset(id(one.args[0]) for one in callees if one.op is Op.ATTR and one.data in _OF_MODELS)


def _like_optimizers(flow: Flow) -> frozenset[int]:
    """The parameters and attributes whose `zero_grad()` and `step()` a body calls, as only optimizers have both."""
    found: dict[str, set[int]] = {"zero_grad": set(), "step": set()}
    for event in flow.of(EventKind.CALL):
        callee = event.value.callee
        if callee.op is Op.ATTR and callee.data in found and callee.args[0].op in (Op.PARAM, Op.ATTR):
            found[callee.data].add(id(callee.args[0]))
    return frozenset(found["zero_grad"] & found["step"])


def acting(flow: Flow) -> frozenset[int]:
    """The values that a body calls, or asks for what models and optimizers have."""
    callees = [event.value.callee for event in flow.of(EventKind.CALL)]
    holders = (one.args[0] for one in callees if one.op is Op.ATTR and one.data in _OF_HOLDERS)
    return frozenset(map(id, (*callees, *holders)))


def _is_call_of(value: Value, name: str) -> bool:
    return value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data == name


# -- courses ---------------------------------------------------------------------------------------------------------


def courses(module: ModuleFacts, project: Project) -> list[Course]:
    """The courses of training in which code of a file goes backward: of its functions, and of what calls these."""
    if "backward" not in module.text:
        return []
    return project.once(("courses of training", module), lambda: _courses(module, project))


def _courses(module: ModuleFacts, project: Project) -> list[Course]:
    found: dict[Function, Course] = {}
    pending = [one for one in (*module.all_functions(), module.body) if "backward" in one.words]
    wanted = frozenset(one.name for one in pending) | _PARTS
    depth = 0
    while pending and depth <= _MAX_DEPTH:
        above: dict[Function, None] = {}
        for function in pending:
            if function not in found:
                found[function] = Course(function, project, wanted)
                if function.name != "<module>" and _goes_on_outside(found[function]):
                    above.update(dict.fromkeys(callers(project, function)[:_MAX_CALLERS]))
        pending, depth = list(above), depth + 1
        wanted |= {one.name for one in pending}
    return [course for course in found.values() if course.of(Act.BACKWARD, Act.ENGINE)]


def _goes_on_outside(course: Course) -> bool:
    """True if a loss goes backward in a loop of a caller, or if its step is made there."""
    inside = {id(loss) for turn in course.turns() for loss in turn.losses}
    others = [one for one in course.of(Act.OTHER) if called_name(one.value.callee) == "step"]
    return any(
        id(loss) not in inside and not any(_common_loops(loss.loops, one.loops) for one in others)
        for loss in course.of(Act.BACKWARD)
    )
