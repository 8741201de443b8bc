"""The Brain of a script: its attributes, its own methods and those of the framework."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from modellint.flow.domain import (
    UNKNOWN,
    Arguments,
    Constant,
    FunctionRef,
    Plain,
    Site,
    SymbolicInput,
    Unknown,
    join,
)
from modellint.flow.frame import class_frame
from modellint.flow.heap import opened
from modellint.graph.value import Op, Value
from modellint.link.classes.definitions import SourceMethod
from modellint.link.recipes.atoms import (
    Optimizer,
    Stage,
    Turn,
    atoms_of,
)

if TYPE_CHECKING:
    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path, Shell
    from modellint.flow.interp import Interpreter
    from modellint.graph.python import Function
    from modellint.link.project import Project
    from modellint.link.recipes.gradients import Gradients
    from modellint.link.recipes.notes import Notes
    from modellint.link.recipes.scripts import BrainUse
    from modellint.link.recipes.things import Objects

#: Counters of the framework's Brain during a training.
_PROGRESS = {"step": Turn(1, None), "optimizer_step": Turn(0, None)}
_PARAMETERS = ("modules", "opt_class", "hparams", "run_opts", "checkpointer")
#: Arguments that it stores under their own names.
_PASSED = frozenset(("checkpointer", "opt_class"))
_ACCUMULATION = "grad_accumulation_factor"
#: Switches of the command line, which override the recipe: off in one run, on in another.
_SWITCHES = frozenset(("auto_mix_prec", "bfloat16_mix_prec"))
#: Methods that allow a step of the optimizer; taken as true, since otherwise a training trains nothing.
_ALLOWING = frozenset(("check_gradients", "check_loss_isfinite"))
#: The methods that the framework's own batch methods call.
BATCH = {
    "fit_batch": ("compute_forward", "compute_objectives"),
    "evaluate_batch": ("compute_forward", "compute_objectives"),
}
#: The hooks with a parameter for the stage, or for whether the optimizers step, and its position.
_STAGED = {
    "compute_forward": 1,
    "compute_objectives": 2,
    "evaluate_batch": 1,
    "on_stage_start": 0,
    "on_stage_end": 0,
    "make_dataloader": 1,
}
_STEPPING = {"on_fit_batch_start": 1, "on_fit_batch_end": 3}


class _Around(Protocol):
    """The surroundings of a Brain: the run of its script."""

    run: Interpreter
    project: Project
    notes: Notes
    objects: Objects
    gradients: Gradients
    brain: Shell
    stage: str
    is_at_work: bool

    def hand(self, arguments: Arguments, value: Value) -> None: ...


class Brain:
    """The `self` of a script's Brain in one run."""

    def __init__(self, around: _Around, use: BrainUse) -> None:
        self._around = around
        self.use = use
        #: The constructor's arguments; None until it is made.
        self.given: Arguments | None = None
        #: Stored attributes by name, then by function and stage; and those stored since the last `again`.
        self._stores: dict[str, dict[tuple[Function | None, str], Atoms]] = {}
        self._fresh: set[tuple[str, Function | None, str]] = set()
        #: The path condition of the last store of each.
        self._paths: dict[tuple[str, Function | None, str], Path] = {}
        #: The value of each attribute at its first read, by name and stage.
        self._reads: dict[tuple[str, str], Atoms | None] = {}

    def again(self) -> None:
        """Start a second pass, with the attributes stored by the first one."""
        self._fresh.clear()
        self._reads.clear()

    def attribute(self, name: str, frame: Frame | None, value: Value | None) -> Atoms:
        """The value of an attribute: a special one, the one stored in this body, or the join of all stores."""
        if name == "hparams":
            return (self._around.objects.keys,)
        if name in ("modules", "mods"):
            return (self._around.objects.table,)
        if value is not None and value.op is Op.ATTR and len(value.args) > 1 and frame is not None:
            return self._around.run.evaluate(value.args[1], frame)
        stored = self._stored_value(name)
        if stored is not None:
            return stored
        method = self.use.method(name)
        if method is not None and frame is not None and value is not None:
            bound = self.bound_method(method)
            return self._around.run.calls.apply(bound, Arguments(), frame, value) if method.is_property else (bound,)
        return self._of_class(name) or self._of_framework(name)

    def _of_class(self, name: str) -> Atoms | None:
        """The value of an attribute in the class bodies of the Brain's classes; None if they have none."""
        for cls in self.use.classes:
            facts = self._around.project.classes.model(cls).facts
            value = facts.attributes.get(name)
            if value is not None:
                return self._around.run.evaluate(value, class_frame(facts.scope, id(value)))
        return None

    def _of_framework(self, name: str) -> Atoms:
        if name in _PROGRESS:
            return (_PROGRESS[name],)
        if name == _ACCUMULATION:
            item = self._around.objects._recipe.keys.get(name)
            return (Constant(1),) if item is None else atoms_of(item, self._around.project) or UNKNOWN
        if name in _SWITCHES:
            return (Turn(0, 1),)
        passed = self.argument(name) if name in _PASSED else None
        return (SymbolicInput(f"self.{name}"),) if passed is None else passed

    def argument(self, name: str) -> Atoms | None:
        """The value that the script passes to the Brain as an argument."""
        return None if self.given is None else self.given.argument(_PARAMETERS.index(name), name)

    def _stored_value(self, name: str) -> Atoms | None:
        """The join of an attribute's stores; of a function that stores in the current stage, only that store counts."""
        found = self._join_stores(name, self._around.stage)
        self._reads.setdefault((name, self._around.stage), found)
        return found

    def _join_stores(self, name: str, stage: str) -> Atoms | None:
        rows = self._stores.get(name)
        if not rows:
            return None
        now = {function for function, stored_in in rows if stored_in == stage}
        return join(atoms for (function, at), atoms in rows.items() if at == stage or function not in now)

    @property
    def is_settled(self) -> bool:
        """True if the second pass would read no other attribute values than the first."""
        for (name, stage), found in self._reads.items():
            now = self._join_stores(name, stage)
            if now != found and (found is not None or now is None or not all(map(_tells_nothing, now))):
                return False
        return True

    def keep(self, name: str, atoms: Atoms, frame: Frame) -> None:
        row, rows = (frame.function, self._around.stage), self._stores.setdefault(name, {})
        key = (name, *row)
        path = self._around.run.path
        rows[row] = join([rows[row], atoms]) if key in self._fresh and not self._follows(key, path) else atoms
        self._fresh.add(key)
        self._paths[key] = path
        for atom in opened(atoms):
            if isinstance(atom, Optimizer) and atom.item is not None:
                self._around.notes.keeps(atom)

    def _follows(self, key: tuple[str, Function | None, str], path: Path) -> bool:
        """True if a constructor, which runs once, overwrites its own store on the same path."""
        is_constructor = key[1] is not None and key[1].name == "__init__"
        return is_constructor and not self._around.run.loops and self._paths.get(key) == path

    def bound_method(self, function: Function) -> FunctionRef:
        method = SourceMethod(function, self._around.project.names)
        return FunctionRef(method, None, None if function.is_static else self._around.brain)

    def method(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        if not self._around.is_at_work:
            self._around.notes.asks(name, arguments, Site(value, frame.function))
            return UNKNOWN
        stored = self._stored_value(name)
        function = self.use.method(name) if stored is None else None
        if function is not None:
            return self._around.run.calls.apply(self.bound_method(function), arguments, frame, value)
        kept = stored or (self.argument(name) if name in _PASSED else self._of_class(name))
        if kept is not None:
            return join(self._around.run.calls.apply(atom, arguments, frame, value) for atom in kept)
        return self._framework(name, arguments, frame, value)

    def above(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        """`super().name(…)` in a method of the Brain."""
        owner = None if frame.function is None else frame.function.owner
        function = None if owner is None else self.use.method(name, after=owner)
        if function is not None:
            return self._around.run.calls.apply(self.bound_method(function), arguments, frame, value)
        return self._framework(name, arguments, frame, value)

    def _framework(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        """Run the framework's own method."""
        for called in BATCH.get(name, ()):
            method = self.use.method(called)
            if method is not None:
                given = hook_arguments(method, self._stage_of(name, arguments))
                with self._around.gradients.kept_off(name == "evaluate_batch"):
                    self._around.run.calls.apply(self.bound_method(method), given, frame, value)
        if name in _ALLOWING:
            return (Constant(True),)
        self._around.hand(arguments, value)
        return UNKNOWN

    def _stage_of(self, batch: str, arguments: Arguments) -> Atoms:
        """The stage in which the framework's batch method calls hooks: TRAIN, or its argument."""
        if batch == "fit_batch":
            return (Constant(Stage.TRAIN),)
        return arguments.argument(_STAGED[batch], "stage") or UNKNOWN


def _tells_nothing(atom: Atom) -> bool:
    return isinstance(atom, SymbolicInput | Unknown) or type(atom) is Plain


def hook_arguments(function: Function, stage: Atoms) -> Arguments:
    """The arguments that the framework passes to a hook of its loop: the stage, and whether the optimizers step."""
    given: dict[str, Atoms] = {}
    names = function.argument_names
    for positions, atoms in ((_STAGED, stage), (_STEPPING, (Turn(0, 1),))):
        position = positions.get(function.name)
        if position is not None and position < len(names):
            given[names[position]] = atoms
    return Arguments((), given, is_complete=False)
