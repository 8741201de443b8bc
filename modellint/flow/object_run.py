"""A run of one object: its constructor, then its methods, with the stores that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.devices import Devices
from modellint.flow.domain import ANY_ARGUMENTS, PLAIN, Arguments, Constant, FunctionRef, Unknown
from modellint.flow.frame import class_frame
from modellint.flow.heap import TENSORS, Shell, are_exclusive, shells_in
from modellint.flow.runs import started

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from modellint.flow.devices import Handed
    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.gate import Keepers
    from modellint.flow.heap import Path, Store
    from modellint.flow.interp import Interpreter
    from modellint.flow.objects import AttributeRead
    from modellint.flow.tensor_devices import Attribute, Meeting
    from modellint.flow.theory import Theory
    from modellint.graph.python import Function
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: The depth to which nested layers are opened.
_MAX_DEPTH = 8


class ObjectRun:
    """A run of an object of a class, with unknown arguments."""

    def __init__(
        self,
        model: ClassModel,
        project: Project,
        gate: Keepers,
        handed: Mapping[str, Handed] | None = None,
        work: frozenset[str] = frozenset(),
        theories: tuple[Callable[[Interpreter], Theory], ...] = (),
    ) -> None:
        """`theories` are asked before those that every run of an object has."""
        self.model = model
        #: Known arguments of its constructor, by name, and the layers among its arguments.
        self._handed = handed or {}
        self._given: list[Shell] = []
        self.run = started(project, *theories, gate=gate)
        self.devices = self.run.of(Devices)
        self.devices.work |= work
        self.shell = self.run.objects.subject = Shell("instance", None, (), model, ANY_ARGUMENTS)
        #: The methods that were run by calls of the object, by the number of the call.
        self.calls: dict[int, Function] = {}

    @property
    def done(self) -> Collection[Function]:
        """The functions that were run."""
        return self.run.calls.done

    @property
    def reads(self) -> Collection[AttributeRead]:
        """The reads of the object's attributes."""
        return self.run.objects.reads.values()

    @property
    def failures(self) -> Collection[Path]:
        """The paths on which its constructor raises."""
        return self.run.objects.failures.get(self.shell, ())

    def begin(self) -> None:
        """Run the constructor."""
        given = self.devices.made_outside(self.model, self._handed)
        self._given = [one for one in shells_in(given.all()) if one.is_layer]
        self.run.objects.initialise(self.shell, given)

    def follow(
        self, function: Function, *, at_work: bool = False, bare: Collection[str] = (), again: bool = False
    ) -> None:
        """Run a method of the moved object. A method that has been run is run again only if `at_work`, or if `again`.

        The parameters `bare` get plain values instead of tensors on the object's device.
        """
        if function in self.done and not at_work and not again:
            return
        self.run.objects.is_at_work = at_work
        self.calls[self.devices.move()] = function
        for above, model in enumerate(self.model.mro()):
            if model.cls is function.owner:
                method = model.own_method(function.name)
                if method is not None:
                    frame = class_frame(method.scope, id(function))
                    reference = FunctionRef(method, None, self.shell, above)
                    given = self.devices.method_arguments(function, method.plain)
                    if bare:
                        rest = {name: atoms for name, atoms in given.keywords.items() if name not in bare}
                        given = Arguments(keywords=rest | dict.fromkeys(bare, PLAIN), is_complete=False)
                    self.run.start(reference, frame, given)
                break
        self.run.objects.is_at_work = False

    def moved_again(self, work: Iterable[Function]) -> dict[tuple[Attribute, int], Meeting]:
        """Move the object again, run its methods `work`, and return the device mixes with tensors that it had kept.

        The object can't be used for other questions afterwards.
        """
        self.devices.meetings = {}
        self.devices.leave(self.shell)
        for method in work:
            self.follow(method, at_work=True)
        return self.devices.meetings

    def has_state(self, shell: Shell, depth: int = 0) -> bool:
        """True if a layer has parameters or buffers, at least under some conditions."""
        if shell.kind != "instance" or depth > _MAX_DEPTH:
            return shell.kind != "instance"
        return any(
            isinstance(atom, Shell) and (atom.kind in TENSORS or (atom.is_layer and self.has_state(atom, depth + 1)))
            for atoms, _ in self._parts(shell)
            for atom in atoms
        )

    def has_parameters(self, shell: Shell, depth: int = 0) -> bool | None:
        """True if a layer has trainable parameters on every path, False if on none; else None."""
        paths: list[Path] = []
        is_undecided = False
        for atoms, path in self._parts(shell):
            outcomes = {self._is_trained(atom, depth) for atom in atoms}
            if outcomes == {True}:
                paths.append(path)
            is_undecided = is_undecided or outcomes != {False}
        return covers(paths) or (None if is_undecided else False)

    def _is_trained(self, atom: Atom, depth: int) -> bool | None:
        if not isinstance(atom, Shell):
            return False
        if atom.kind == "parameter":
            frozen = atom.get("requires_grad") or atom.arguments.argument(1, "requires_grad")
            return frozen != (Constant(False),)
        return atom.is_layer and depth < _MAX_DEPTH and self.has_parameters(atom, depth + 1)

    def _parts(self, shell: Shell) -> Iterator[tuple[Atoms, Path]]:
        """The atoms that a layer registers, with their path conditions."""
        self.run.objects.construct(shell)
        yield from ((store.atoms, store.path) for store in shell.stores if store.registers)
        yield from ((entry.atoms, entry.path) for entry in shell.entries if shell.is_module_container)

    def registered(self, wanted: Collection[Shell], without: Store | None = None) -> dict[Shell, list[Path]]:
        """The paths on which layers and parameters become registered parts of the object; `without` is left out.

        The parts of layers that its constructor gets count, too: these are registered elsewhere.
        """
        search = _Registered(self.run, frozenset(wanted), without)
        for shell in (self.shell, *self._given):
            search.parts_of(shell, (), 0)
        for atoms, path in self.run.objects.given_away:
            search.atoms(atoms, (), path, 0)
        return search.found


class _Registered:
    """Collects the registered parts of an object transitively, with their paths."""

    def __init__(self, run: Interpreter, wanted: frozenset[Shell], without: Store | None) -> None:
        self._run = run
        self._without = without
        self._wanted = wanted
        self.found: dict[Shell, list[Path]] = {}

    def parts_of(self, shell: Shell, path: Path, depth: int) -> None:
        if depth > _MAX_DEPTH:
            return
        for store in shell.stores:
            if store.registers and store is not self._without:
                self.atoms(store.atoms, path, store.path, depth)
        for entry in shell.entries if shell.is_module_container else ():
            self.atoms(entry.atoms, path, entry.path, depth)

    def atoms(self, atoms: Atoms, outer: Path, inner: Path, depth: int) -> None:
        if are_exclusive(outer, inner) or are_exclusive(inner, inner):
            return
        path = (*outer, *(step for step in inner if step not in outer))
        for atom in atoms:
            if isinstance(atom, Unknown):
                for held in atom.held:
                    self._shell(held, path, depth + 1)
            elif isinstance(atom, Shell) and not atom.is_container:
                self._shell(atom, path, depth + 1)

    def _shell(self, shell: Shell, path: Path, depth: int) -> None:
        paths = self.found.setdefault(shell, [])
        if path in paths or depth > _MAX_DEPTH:
            return
        paths.append(path)
        if not shell.is_layer or shell.kind != "instance":
            return
        given = [inner for inner in shells_in(shell.arguments.all()) if inner in self._wanted]
        if given and not shell.is_built:
            self._run.objects.construct(shell)
            if not _is_readable(shell):
                for inner in given:
                    self._shell(inner, path, depth + 1)
        self.parts_of(shell, path, depth)


def _is_readable(shell: Shell) -> bool:
    """True if an object's constructor has readable source, or there is none in its MRO."""
    assert shell.model is not None
    if not shell.model.is_complete:
        return False
    for model in shell.model.mro():
        if model.own_method("__init__") is not None:
            return True
        if model.facts.has_method("__init__"):
            return False
    return True


def covers(paths: Iterable[Path]) -> bool:
    """True if one of the paths is taken for every outcome of their open conditions."""
    known = list(paths)
    if any(not path for path in known):
        return True
    for test in dict.fromkeys(path[0][0] for path in known):
        sides = [[path[1:] for path in known if path[0] == (test, side)] for side in (True, False)]
        if all(side and covers(side) for side in sides):
            return True
    return False


def undecided_on(paths: Iterable[Path], taken: Path) -> list[Path]:
    """The paths that are possible on `taken`, each without the tests that `taken` decides."""
    possible = (path for path in paths if not are_exclusive(path, taken))
    return [tuple(step for step in path if step not in taken) for path in possible]
