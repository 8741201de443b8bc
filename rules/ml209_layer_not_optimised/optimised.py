"""The children of a model that no optimizer is given, where its parameters are listed child by child."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from modellint.flow.built import state_in
from modellint.flow.domain import Constant, SymbolicInput, Unknown
from modellint.flow.heap import TENSORS, Shell, Store, are_exclusive, shells_in
from modellint.flow.object_run import covers
from modellint.flow.optimizer_builders import OptimizerBuilders
from modellint.flow.parameter_names import UnsureError
from modellint.flow.runs import started
from modellint.flow.training import Training
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op
from modellint.link.classes.object_runs import ObjectRuns

from .beside import beside, within
from .settled import TrainedElsewhere
from .starts import Start, is_filled_elsewhere, run_from

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from modellint.flow.domain import Atom
    from modellint.flow.heap import Path
    from modellint.flow.interp import Interpreter
    from modellint.flow.training import BuiltOptimizer, Owners
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.link.classes.models import ClassModel
    from modellint.link.classes.object_runs import FinishedObject
    from modellint.rule import Project

    from .beside import Beside


@dataclass(frozen=True, eq=False)
class LeftOut:
    """`child` of a model is trained by no optimizer, though `optimizer` lists `listed`, all of the other children.

    `made` is where the child is stored; `start` is the function from which one gets to the optimizer. `is_late`: the
    optimizer is given all that the model has, before it has the child; `is_part`: before it has that part of the child,
    a container. Where the model is a container of torch's itself, `cls` is the name of its class, `child` its own.
    `others` are the other children of which the same is true.
    """

    cls: Class | str
    child: str
    made: Store
    listed: tuple[str, ...]
    optimizer: BuiltOptimizer
    start: Function
    is_late: bool = False
    is_part: bool = False
    others: tuple[str, ...] = ()


def left_out(module: ModuleFacts, project: Project) -> Iterator[LeftOut | Beside]:
    """The children that the optimizers of a file leave out of an explicit list, and models beside those they get."""
    builders = OptimizerBuilders(module, project)
    if not builders.first:
        return
    run = started(project, partial(Training, home=module))
    objects: dict[Class, Shell] = {}
    starts = run_from(builders.first, objects, run, project)
    if starts and _are_known(run):
        starts += run_from(builders.others, objects, run, project)
        if _are_known(run) and not any(is_filled_elsewhere(shell, run) for shell in objects.values()):
            yield from _missing(run, objects.values(), starts, project)
            yield from beside(run, objects.values(), starts, module, project)
    run.close()


def _missing(run: Interpreter, objects: Collection[Shell], starts: list[Start], project: Project) -> Iterator[LeftOut]:
    try:
        listed = _ListedLayers(run, objects, starts, project)
    except UnsureError:
        return
    yield from listed.missing()


def _are_known(run: Interpreter) -> bool:
    """True if the parameters of all optimizers that a run builds are known."""
    return run.is_complete and all(built.given is not None for built in run.of(Training).built)


class _ListedLayers:
    """The layers whose parameters the optimizers of one run are given."""

    def __init__(
        self,
        run: Interpreter,
        objects: Collection[Shell],
        starts: list[Start],
        project: Project,
    ) -> None:
        self._project = project
        self._run = run
        self._training = run.of(Training)
        self._starts = starts
        self._all = [built for start in starts for built in start.optimizers]
        #: The paths on which each is given, without the conditions that all optimizers of one start share.
        self._given: Owners = {}
        self._picked_from: set[Shell] = set()
        for start in starts:
            self._add(start.optimizers)
        self._given = self._given_layers()
        self._models: dict[ClassModel, list[Shell]] = {}
        if len(self._given) > 1:
            self._make(run, objects)
        if not run.is_complete:
            self._models.clear()
        self._parts: dict[Shell, set[Shell]] = {}
        self._reached = {part for shell in self._given for part in self._within(shell)} | self._picked_from

    def _make(self, run: Interpreter, objects: Collection[Shell]) -> None:
        """Run the constructors of all layers in sight, and of those that they make."""
        run.begin()
        pending = [*objects, *run.shells()]
        while pending:
            known = len(run.shells())
            for shell in pending:
                cls = None if shell.model is None or not shell.is_layer else shell.model.cls
                if cls is not None and shell.model is not None and not self._training.is_foreign(cls):
                    run.objects.construct(shell)
                    self._models.setdefault(shell.model, []).append(shell)
            pending = list(islice(run.shells(), known, None))

    def _add(self, optimizers: list[BuiltOptimizer]) -> None:
        common = set(optimizers[0].path).intersection(*(set(built.path) for built in optimizers))
        for built in optimizers:
            for shell, paths in (built.given or {}).items():
                for path in paths:
                    taken = (*built.path, *(step for step in path if step not in built.path))
                    self._given.setdefault(shell, []).append(tuple(step for step in taken if step not in common))

    def _given_layers(self) -> Owners:
        """The layers that are given; in place of one whose parameters are chosen by name, its chosen children."""
        picks = self._training.picks
        found: Owners = {}
        for shell, paths in self._given.items():
            if covers(paths) or not picks.is_asked(shell, paths):
                found.setdefault(shell, []).extend(paths)
                continue
            self._picked_from.add(shell)
            for part, known in picks.children(shell, paths).items():
                found.setdefault(part, []).extend(known)
        return found

    def missing(self) -> Iterator[LeftOut]:
        """The children that are in no list, or that come too late."""
        yield from self._late_children()
        for model, shells in self._models.items():
            if model.cls is not None and model.is_module is True and model.are_bases_known:
                found = self._missing(model, model.cls, shells)
                if found is not None:
                    yield found

    def _missing(self, model: ClassModel, cls: Class, shells: list[Shell]) -> LeftOut | None:
        listed = self._listed_children(shells)
        if listed is None or len(listed) < 2:
            return None
        finished = self._project.of(ObjectRuns).of(model)
        reached = {
            name for shell in shells for name, parts in _held_parts(shell) if not parts.isdisjoint(self._reached)
        }
        rest = _learning(finished, shells) - listed - reached
        if not rest or len(rest) > len(listed):
            return None
        made_last = next((s.name for s in reversed(finished.first_stores) if s.name in rest | listed), None)
        if len(rest) > 1 and made_last not in rest:
            return None  # only the last layers are trained, by choice
        start, optimizer = self._optimizer_of(shells)
        if optimizer.function is None:
            return None
        places: dict[str, Store] = {}
        for name in rest:
            made = _stores_of_child(finished, name, shells) if finished.is_used(name) else None
            if made is None or not self._is_near(made[0]) or self._is_settled(name, shells):
                return None
            if TrainedElsewhere(self._project, finished, name, made, optimizer.function).is_likely:
                return None
            places[name] = made[0]
        first, *others = [store.name for store in finished.first_stores if places.get(str(store.name)) is store]
        return LeftOut(
            cls, str(first), places[str(first)], tuple(sorted(listed)), optimizer, start, others=tuple(map(str, others))
        )

    def _late_children(self) -> Iterator[LeftOut]:
        """The children that a model gets after an optimizer was given all that it had."""
        told: set[int] = set()
        for start in self._starts:
            for built in start.optimizers:
                for shell, known in built.stores.items():
                    for number in range(known, start.stores.get(shell, 0)):
                        store = shell.stores[number]
                        if id(store.place) not in told and self._comes_late(shell, number, built):
                            told.add(id(store.place))
                            yield self._latecomer(shell, store, built, start.function)
                    for store in self._made_at_work(shell, built, start):
                        if id(store.place) not in told:
                            told.add(id(store.place))
                            yield self._latecomer(shell, store, built, start.function)
                for container, known in built.entries.items():
                    for number in range(known, start.entries.get(container, 0)):
                        found = self._late_entry(container, number, built, start.function)
                        if found is not None and id(found.made.value) not in told:
                            told.add(id(found.made.value))
                            yield found

    def _late_entry(self, container: Shell, number: int, built: BuiltOptimizer, start: Function) -> LeftOut | None:
        """A layer that a container gets once there is an optimizer, and that nobody trains; None if there is none."""
        entry = container.entries[number]
        layers = [atom for atom in entry.atoms if isinstance(atom, Shell) and atom.is_layer]
        if not layers or len(layers) < len(entry.atoms) or built.function is None:
            return None
        owner, name = self._keeper(container, built)
        taken = self._training.settled | self._training.kept
        parts = {part for layer in layers for part in self._within(layer)}
        if owner is None or not parts.isdisjoint(taken) or are_exclusive(built.path, entry.path):
            return None
        roots = [shell for shell in built.given or () if container in self._within(shell)]
        if any(shell in self._training.settled for shell in roots):
            return None
        for other in self._all:
            is_before = other.call is built.call or other.entries.get(container, 0) <= number
            given = {shell for shell in other.given or () if shell not in roots or not is_before}
            if any(not parts.isdisjoint(self._within(one)) for one in given):
                return None
        first = layers[0]
        if first.function is None or not all(state_in(self._run, layer, trained=True) for layer in layers):
            return None
        store = Store(name, entry.atoms, entry.path, first.function, None, first.value)
        finished = self._project.of(ObjectRuns).of(owner)
        is_used = container in self._training.worked if owner.cls is None else finished.is_used(name)
        if (
            not is_used
            or not self._is_near(store)
            or TrainedElsewhere(self._project, finished, name, [store], built.function).is_likely
        ):
            return None
        return LeftOut(owner.cls or owner.name, name, store, (), built, start, is_late=True, is_part=True)

    def _keeper(self, container: Shell, built: BuiltOptimizer) -> tuple[ClassModel | None, str]:
        """The class whose object holds a container, and the attribute; of a model that is one, its own class."""
        for shell in (part for given in built.given or () for part in self._within(given)):
            for store in shell.stores:
                if container in store.atoms and store.name is not None and shell.model is not None:
                    return (shell.model if shell.model.are_bases_known else None), store.name
        is_alone = container in (built.given or ()) and container.value is not None
        return (container.model if is_alone else None), str(getattr(container.value, "target", ""))

    def _made_at_work(self, shell: Shell, built: BuiltOptimizer, start: Start) -> Iterator[Store]:
        """The stores by which a model, not called before there was an optimizer, makes layers at its first call."""
        model = shell.model
        if model is None or not model.are_bases_known or built.function is None or not _is_new(shell, built, start):
            return
        if any(shell in self._within(worked) for worked in built.worked) or shell in self._training.settled:
            return
        if any(shell in (other.given or {}) and shell in other.worked for other in self._all):
            return
        finished = self._project.of(ObjectRuns).of(model)
        for store in finished.work_stores:
            layers = [atom for atom in store.atoms if isinstance(atom, Shell) and atom.is_layer]
            is_first = store.name is not None and not any(
                map(_is_layer, (atom for first in finished.first_stores_of(store.name) for atom in first.atoms))
            )
            if not is_first or not store.registers or not layers or len(layers) < len(store.atoms):
                continue
            is_trained = all(finished.is_trained(layer) is True for layer in layers)
            if not is_trained or not self._is_near(store) or not finished.is_used(str(store.name)):
                continue
            if not TrainedElsewhere(self._project, finished, str(store.name), [store], built.function).is_likely:
                yield store

    @staticmethod
    def _latecomer(shell: Shell, store: Store, built: BuiltOptimizer, start: Function) -> LeftOut:
        model = shell.model
        assert model is not None
        assert model.cls is not None
        own = model.method("__init__") if start.name == "__init__" else None
        is_own = own is not None and start.owner in [one.cls for one in model.mro()]
        return LeftOut(
            model.cls, str(store.name), store, (), built, own if own is not None and is_own else start, is_late=True
        )

    def _comes_late(self, shell: Shell, number: int, built: BuiltOptimizer) -> bool:
        """True if a store, made once there is an optimizer, is of a layer or parameter that nobody trains."""
        model, store = shell.model, shell.stores[number]
        name, layers = store.name, [atom for atom in store.atoms if isinstance(atom, Shell) and _may_be_trained(atom)]
        if name is None or not store.registers or not layers or len(layers) < len(store.atoms):
            return False
        if model is None or not model.are_bases_known or not self._is_near(store) or shell in self._training.settled:
            return False
        if are_exclusive(built.path, store.path) or built.function is None:
            return False
        parts = {part for layer in layers for part in self._within(layer)}
        taken = self._training.settled | self._training.kept
        if not parts.isdisjoint(taken) or any(self._takes(other, shell, number, parts, built) for other in self._all):
            return False
        finished = self._project.of(ObjectRuns).of(model)
        is_trained = all(layer.kind == "parameter" or finished.is_trained(layer) is True for layer in layers)
        if not is_trained or not finished.is_used(name):
            return False
        return not TrainedElsewhere(self._project, finished, name, [store], built.function).is_likely

    def _takes(
        self, other: BuiltOptimizer, shell: Shell, number: int, parts: set[Shell], built: BuiltOptimizer
    ) -> bool:
        """True if an optimizer is given a part of a layer that a model got by its store `number`."""
        given = set(other.given or {})
        if shell in given and (other.call is built.call or other.stores.get(shell, 0) <= number):
            given.discard(shell)
        return any(not parts.isdisjoint(self._within(one)) for one in given)

    def _is_near(self, made: Store) -> bool:
        """True if a child is made in a file of the project itself."""
        is_written = made.function is not None and made.value is not None
        return is_written and not self._training.is_foreign(made.function)

    def _listed_children(self, shells: list[Shell]) -> set[str] | None:
        """The children of objects that are listed for sure; None if something else of the objects is given, too."""
        paths: dict[str, list[Path]] = {}
        known: set[Shell] = set()
        for shell in shells:
            for name, parts in _children(shell):
                for part in parts:
                    found = self._paths_of(part)
                    if found is not None:
                        paths.setdefault(name, []).extend(found)
                        known |= self._within(part) if part.is_module_container else {part}
            known.update(own for store in shell.stores for own in shells_in((store.atoms,)) if own.kind in TENSORS)
        if not all(map(covers, paths.values())) or any(self._is_mixed(shell, known) for shell in shells):
            return None
        return set(paths)

    def _paths_of(self, shell: Shell) -> list[Path] | None:
        """The paths on which a layer is given, itself or, of a container, each of its layers; None if it is not."""
        if shell in self._given:
            return self._given[shell]
        if not shell.is_module_container or not shell.entries:
            return None
        held = [list(shells_in((entry.atoms,))) for entry in shell.entries]
        is_listed = all(any(covers(self._paths_of(inner) or ()) for inner in each) for each in held)
        return [()] if is_listed else None

    def _is_mixed(self, model: Shell, known: set[Shell]) -> bool:
        """True if something is given that holds a model, or that lies in or beside it and is no known child."""
        outer = [shell for shells in self._models.values() for shell in shells if model in self._within(shell)]
        family = {part for shell in outer for part in self._within(shell)}
        return any(model in self._within(shell) or (shell in family and shell not in known) for shell in self._given)

    def _within(self, shell: Shell) -> set[Shell]:
        """A layer and all that is in it."""
        if shell not in self._parts:
            self._parts[shell] = within(shell)
        return self._parts[shell]

    def _is_settled(self, name: str, shells: list[Shell]) -> bool:
        """True if something else may train a child of the objects, or the objects as a whole."""
        settled, kept = self._training.settled, self._training.settled | self._training.kept
        holders = [shell for known in self._models.values() for shell in known]
        for shell in shells:
            if any(holder in settled and shell in self._within(holder) for holder in holders):
                return True
            for other, parts in _children(shell):
                if other == name and any(not kept.isdisjoint(self._within(part)) for part in parts):
                    return True
        return False

    def _optimizer_of(self, shells: list[Shell]) -> tuple[Function, BuiltOptimizer]:
        """The first optimizer that is given children of some objects, and the function that leads to it."""
        children = {part for shell in shells for _, parts in _children(shell) for part in parts}
        parts = {*shells, *(inner for part in children for inner in self._within(part))}
        return next(
            (start.function, built)
            for start in self._starts
            for built in start.optimizers
            if not parts.isdisjoint(built.given or {})
        )


def _is_new(shell: Shell, built: BuiltOptimizer, start: Start) -> bool:
    """True if a model is as its constructor made it when an optimizer is made, unless it was called since."""
    function, cls = built.function, None if shell.model is None else shell.model.cls
    if function is None or cls is None:
        return False
    if shell.value is None:  # the object that makes it for itself
        return function.name in ("__init__", "configure_optimizers")
    return shell.value.op is Op.CALL and shell.function in (function, start.function)


def _children(shell: Shell) -> Iterator[tuple[str, set[Shell]]]:
    """The layers that an object registers, by name."""
    for store in shell.stores:
        layers = {part for part in store.atoms if isinstance(part, Shell) and part.is_layer}
        if store.registers and store.name is not None and layers:
            yield store.name, layers


def _held_parts(shell: Shell) -> Iterator[tuple[str, set[Shell]]]:
    """The layers and parameters that an object registers, by name."""
    for store in shell.stores:
        parts = {part for part in store.atoms if isinstance(part, Shell) and (part.is_layer or part.kind in TENSORS)}
        if store.registers and store.name is not None and parts:
            yield store.name, parts


def _learning(finished: FinishedObject, shells: Collection[Shell]) -> set[str]:
    """The attributes of some objects that are, or may be, layers with parameters, or parameters."""
    found: set[str] = set()
    for store in (*finished.stores, *(store for shell in shells for store in shell.stores)):
        if not store.registers:
            continue
        name = store.name or ""
        for atom in store.atoms:
            if isinstance(atom, Shell) and atom.kind == "parameter":
                found |= {name} if _may_be_trained(atom) else set()
            elif isinstance(atom, Shell) and atom.is_layer:
                found |= {name} if finished.is_trained(atom) is not False else set()
            elif isinstance(atom, SymbolicInput | Unknown) and finished.is_called(name):
                found.add(name)
    return found


def _stores_of_child(finished: FinishedObject, name: str, shells: list[Shell]) -> list[Store] | None:
    """The stores by which a constructor makes a child that surely has parameters to train; None if it may differ."""
    found = [store for store in finished.first_stores if store.name == name and any(map(_is_child, store.atoms))]
    places = [store.place for store in found]
    stores = (*finished.stores, *(store for shell in shells for store in shell.stores))
    is_replaced = any(s.name == name and any(map(_is_child, s.atoms)) and s.place not in places for s in stores)
    is_sure = covers(store.path for store in found) and not is_replaced
    atoms = [atom for store in found for atom in store.atoms]
    layers = [atom for atom in atoms if isinstance(atom, Shell) and _is_surely_trained(atom, finished)]
    is_own = len(layers) == len(atoms) and not any(map(finished.is_tied, layers))
    return found if found and is_sure and is_own else None


def _is_surely_trained(shell: Shell, finished: FinishedObject) -> bool:
    """True for a layer that has parameters to train, and for a parameter that nothing freezes."""
    return finished.is_trained(shell) is True or (shell.kind == "parameter" and _may_be_trained(shell))


def _is_child(atom: Atom) -> bool:
    """True for a layer and for a parameter."""
    return isinstance(atom, Shell) and (atom.is_layer or atom.kind == "parameter")


def _may_be_trained(shell: Shell) -> bool:
    """True if an atom is a layer, or a parameter that nothing freezes."""
    frozen = shell.get("requires_grad") or shell.arguments.argument(1, "requires_grad")
    return shell.is_layer or (shell.kind == "parameter" and frozen != (Constant(False),))


def _is_layer(atom: Atom) -> bool:
    return isinstance(atom, Shell) and atom.is_layer
