"""Objects once their constructors have run: the layers they register, whether they have state, their arguments.

An answer is None where something unknown decides it: an argument, a base, a condition.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, cast

from modellint.flow.domain import (
    ANY_ARGUMENTS,
    NO_ARGUMENTS,
    NONE,
    Arguments,
    ClassRef,
    Constant,
    FunctionRef,
    SymbolicInput,
    Unknown,
)
from modellint.flow.gate import Keepers
from modellint.flow.heap import TENSORS, Shell, shells_in
from modellint.flow.object_run import covers
from modellint.flow.runs import started
from modellint.graph.value import Op
from modellint.link.classes.calls import CONTAINERS, MODULE
from modellint.link.classes.models import ClassModel
from modellint.link.names import External

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.heap import Path, Store
    from modellint.flow.interp import Interpreter
    from modellint.graph.python import Function
    from modellint.link.classes.models import Classes
    from modellint.link.project import Project

#: How deeply layers that hold each other are opened.
_MAX_DEPTH = 12


class HeldPart(NamedTuple):
    """A value that an object stores under an attribute, or holds as an entry, and the path condition of the store.

    `is_each`: each of the atoms is stored under some name, rather than one of them under one name.
    """

    name: Hashable | None
    atoms: Atoms
    path: Path
    is_each: bool = False


class Child(NamedTuple):
    """The state of a registered attribute: whether it has parameters or buffers, and whether it has parameters."""

    has_state: bool | None
    has_parameters: bool | None


def parts(run: Interpreter, shell: Shell) -> list[HeldPart]:
    """The registered attributes and entries of an object, but for those that are certainly overwritten."""
    run.objects.construct(shell)
    found: list[HeldPart] = []
    for store in shell.stores:
        if store.registers and not _tells_nothing(store):
            if store.name is not None and not store.path:
                found = [part for part in found if part.name != store.name]
            is_each = store.name is None and Constant(None) not in store.atoms
            found.append(HeldPart(store.name, _stored_atoms(store), store.path, is_each))
    if shell.is_module_container:
        found += (HeldPart(entry.key, entry.atoms, entry.path) for entry in shell.entries)
    return found


def _stored_atoms(store: Store) -> Atoms:
    """The atoms that a store keeps, but for unknown arguments to which an operator was applied."""
    is_calculated = store.value is not None and store.value.op is Op.BIN
    return tuple(atom for atom in store.atoms if not (is_calculated and isinstance(atom, SymbolicInput)))


def _tells_nothing(store: Store) -> bool:
    """True if None is registered as a parameter or buffer, which only makes a name known."""
    given = [_buffer_data(atom) for atom in store.atoms] if len(store.atoms) == 1 else []
    return store.target is None and (store.atoms == NONE or given == [NONE])


def _buffer_data(atom: Atom) -> Atoms | None:
    """The tensor that a buffer is made of; None for anything but a buffer."""
    if not isinstance(atom, Shell) or atom.kind != "buffer":
        return None
    return atom.arguments.argument(0, "data") or ()


def state(run: Interpreter, atom: Atom, *, trained: bool = False, depth: int = 0) -> bool | None:
    """True if an atom has state that moves with it: parameters or buffers, its children's included.

    With `trained` only parameters that gradients reach count.
    """
    if isinstance(atom, SymbolicInput | Unknown):
        return None
    if not isinstance(atom, Shell) or atom.is_container:
        return False
    buffered = _buffer_data(atom)
    if buffered is not None:
        return False if trained else _is_tensor(buffered)
    if atom.kind == "parameter":
        return not trained or not _is_frozen(atom)
    if atom.kind == "pretrained":
        return True
    model = atom.model
    if model is None or model.is_module is not True:
        return None if model is None else model.is_module
    return None if depth > _MAX_DEPTH else _instance_state(run, atom, model, trained, depth)


def state_in(run: Interpreter, shell: Shell, *, trained: bool = False) -> bool | None:
    """The answer of `state` for an object of a run, with a budget of steps of its own."""
    before = run.steps, run.is_complete
    run.steps, run.is_complete = 0, True
    found = state(run, shell, trained=trained)
    run.steps, run.is_complete = before
    return found


def _instance_state(run: Interpreter, shell: Shell, model: ClassModel, trained: bool, depth: int) -> bool | None:
    found = parts(run, shell)
    failures = run.objects.failures.get(shell, [])
    if () in failures:
        return None  # no object comes of these arguments
    is_undecided = (
        not model.is_complete or not run.is_complete or (model.is_container and not shell.arguments.is_complete)
    )
    paths: list[Path] = []
    for part in found:
        outcome = state_of(run, part, trained=trained, depth=depth + 1)
        if outcome:
            if not part.path or shell.is_module_container:  # which was made under conditions of its own
                return True
            paths.append(part.path)
        is_undecided = is_undecided or outcome is None
    if paths:
        return covers([*paths, *failures]) or None
    return None if is_undecided else False


def state_of(run: Interpreter, part: HeldPart, *, trained: bool = False, depth: int = 1) -> bool | None:
    """True if a registered value has state; registering a class or a function is an error, and no state."""
    registered = (atom for atom in part.atoms if not isinstance(atom, ClassRef | FunctionRef))
    outcomes = {state(run, atom, trained=trained, depth=depth) for atom in registered}
    if part.is_each and True in outcomes:
        return True
    return False if not outcomes else outcomes.pop() if len(outcomes) == 1 else None


def _is_tensor(atoms: Atoms) -> bool | None:
    """True if a buffer is made of a tensor, False if of None, and None if of either."""
    if atoms == NONE:
        return False
    return None if any(isinstance(atom, SymbolicInput) or atom == Constant(None) for atom in atoms) else True


def _is_frozen(parameter: Shell) -> bool:
    stored = parameter.history.get("requires_grad", [])
    if stored:
        return stored[-1] == ((Constant(False),), ())
    return parameter.arguments.argument(1, "requires_grad") == (Constant(False),)


def _registers(run: Interpreter, shell: Shell, wanted: Shell, depth: int) -> bool | None:
    """True if an object registers the layer `wanted` that it is passed, or a copy of it."""
    found = parts(run, shell)
    is_undecided = shell.model is None or not shell.model.is_complete or not run.is_complete
    paths: list[Path] = []
    for part in found:
        known = [atom for atom in part.atoms if not isinstance(atom, SymbolicInput | Unknown)]
        outcomes = {_holds(run, atom, wanted, depth) for atom in known or part.atoms}
        if outcomes == {True} or (part.is_each and True in outcomes):
            paths.append(part.path)
        is_undecided = is_undecided or None in outcomes or len(outcomes) > 1
    if paths:
        return covers([*paths, *run.objects.failures.get(shell, [])]) or None
    return None if is_undecided else False


def _holds(run: Interpreter, atom: Atom, wanted: Shell, depth: int) -> bool | None:
    """True if a registered value is the layer `wanted`, or registers it in turn."""
    if isinstance(atom, Unknown):
        return None if any(shell.model is wanted.model for shell in atom.held) else False
    if not isinstance(atom, Shell) or not atom.is_layer:
        return False
    if atom.model is wanted.model:
        return True
    given = shells_in((*atom.arguments.all(), *(entry.atoms for entry in atom.entries)))
    is_given = atom.is_module_container or any(shell.model is wanted.model for shell in given)
    if depth > _MAX_DEPTH or not is_given:
        return False
    return _registers(run, atom, wanted, depth + 1)


# -- questions about classes -------------------------------------------------------------------------------------------


class _Everything(Keepers):
    """A filter that lets every method run that a constructor calls."""

    def is_idle_in(self, function: Function, model: ClassModel) -> bool:
        return False


class Built:
    """An object of a class, constructed with some arguments."""

    def __init__(self, model: ClassModel, arguments: Arguments) -> None:
        project = _project_of(model)
        self.run = started(project, gate=project.of(_Everything))
        self.shell = Shell("instance", None, (), model, arguments)
        if model.name in CONTAINERS:
            self.shell.is_built = True
            self.run.objects.fill(self.shell, arguments)
        self.parts = parts(self.run, self.shell)

    def state(self, *, trained: bool = False) -> bool | None:
        """True if it has parameters or buffers; with `trained`, parameters that gradients reach."""
        return state(self.run, self.shell, trained=trained)

    def registers(self, wanted: Shell) -> bool | None:
        """True if the object registers a layer that its constructor is passed, or a copy of it."""
        return _registers(self.run, self.shell, wanted, 0)

    def child(self, name: str) -> Child:
        """The state of the value that is registered under an attribute in the end."""
        found = [part for part in self.parts if part.name == name and any(map(_may_register, part.atoms))]
        return Child(*(state_of(self.run, found[-1], trained=trained) for trained in (False, True)))


def _project_of(model: ClassModel) -> Project:
    """The project of a class, which its model knows by a narrower type."""
    return cast("Project", model.classes.project)


@contextmanager
def built(model: ClassModel, arguments: Arguments) -> Iterator[Built]:
    """A context with a constructed object, whose run is closed at the end."""
    found = Built(model, arguments)
    yield found
    _project_of(model).runs.remove(found.run)
    found.run.close()


def has_state(model: ClassModel, arguments: Arguments = ANY_ARGUMENTS, *, trained: bool = False) -> bool | None:
    """True if objects of a class have parameters or buffers, their children's included.

    With `trained` only parameters that gradients reach count.
    """
    if model.is_module is not True:
        return model.is_module
    general = model.classes.once(model, "state", lambda: _states(model, ANY_ARGUMENTS))[trained]
    return general if general is not None or arguments is ANY_ARGUMENTS else _states(model, arguments)[trained]


def _states(model: ClassModel, arguments: Arguments) -> tuple[bool | None, bool | None]:
    """The answers to whether there is state, and whether gradients reach some of it."""
    with built(model, arguments) as found:
        return found.state(), found.state(trained=True)


def children(model: ClassModel, *, by_default: bool = False) -> Mapping[str, Child]:
    """The attributes that a constructor may register, with their state.

    Whatever its arguments are; `by_default`: when each argument with a default has that one.
    """
    if by_default:
        return model.classes.once(model, "children by default", lambda: _children(model, NO_ARGUMENTS))
    return model.classes.once(model, "children", lambda: _children(model, ANY_ARGUMENTS))


def _children(model: ClassModel, arguments: Arguments) -> Mapping[str, Child]:
    with built(model, arguments) as found:
        names = dict.fromkeys(part.name for part in found.parts if any(map(_may_register, part.atoms)))
        return {name: found.child(name) for name in names if isinstance(name, str)}


def _may_register(atom: Atom) -> bool:
    """True if an atom under an attribute may be a layer, a parameter or a buffer."""
    if isinstance(atom, SymbolicInput):
        return "." not in atom.name
    buffered = _buffer_data(atom)
    if not isinstance(atom, Shell) or (buffered is not None and not _is_tensor(buffered)):
        return False
    return atom.is_layer or atom.kind in TENSORS


def keeping(model: ClassModel) -> frozenset[str]:
    """The attributes under which a constructor may keep a layer, a parameter or a buffer, also in a container."""
    with built(model, ANY_ARGUMENTS) as found:
        kept = {name: _with_entries(found.shell.get(name) or ()) for name in found.shell.history}
        return frozenset(name for name, atoms in kept.items() if any(map(_may_register, atoms)))


def _with_entries(atoms: Atoms) -> Iterator[Atom]:
    """The atoms of a value, and the atoms in lists and containers of layers among them."""
    pending, seen = list(atoms), set[object]()
    while pending:
        atom = pending.pop()
        if atom not in seen:
            seen.add(atom)
            yield atom
            if isinstance(atom, Shell) and (atom.is_container or atom.is_module_container):
                pending += (part for entry in atom.entries for part in entry.atoms)


def stores(model: ClassModel, parameter: str) -> tuple[str, ...]:
    """The attributes under which a constructor stores its argument `parameter`, or elements of it."""
    return model.classes.once(model, "stores", lambda: _stores(model)).get(parameter, ())


def _stores(model: ClassModel) -> Mapping[str, tuple[str, ...]]:
    """For each parameter of a constructor, the attributes that store its argument."""
    kept: dict[str, dict[str, None]] = {}
    with built(model, ANY_ARGUMENTS) as found:
        for store in found.shell.stores:
            for atom in _with_entries(_stored_atoms(store)) if store.name is not None else ():
                if isinstance(atom, SymbolicInput) and atom in (
                    whole := SymbolicInput(atom.parameter),
                    whole.element(),
                ):
                    kept.setdefault(atom.parameter, {})[str(store.name)] = None
    return {parameter: tuple(names) for parameter, names in kept.items()}


def moves(model: ClassModel, parameter: str) -> bool:
    """True if a class itself moves the argument that it is passed as `parameter` to a device."""
    kept = set(stores(model, parameter))
    conducts = [owner.facts.conduct for owner in model.mro()]
    return any(kept & conduct.moved or parameter in conduct.moved_parameters for conduct in conducts)


def is_device_lazy(model: ClassModel) -> bool:
    """True if a layer moves itself to the device of its input when it is called."""
    carried = {name for owner in model.mro() for name in owner.facts.conduct.carried}
    if not carried or "*" in carried:
        return bool(carried)
    return {name for name, child in children(model).items() if child.has_state is True} <= carried


def registers(model: ClassModel, parameter: str, arguments: Mapping[str, Atoms] | None = None) -> bool | None:
    """True if the constructor registers the layer that it is passed as `parameter`.

    It may also wrap the layer into a container or a child that registers it.
    """
    if not model.is_module:
        return model.is_module
    if parameter in model.plain:
        return None  # it takes numbers and the like
    layer = any_layer(model.classes)
    given: dict[str, Atoms] = {p.name: (SymbolicInput(p.name),) for p in model.signature or ()}
    given |= {**(arguments or {}), parameter: (layer,)}
    with built(model, Arguments((), given, arguments is not None)) as found:
        return found.registers(layer)


class _AnyLayer(ClassModel):
    """A layer of a class that cannot be read."""

    is_complete = False


class _AnyContainer(_AnyLayer):
    """A container of layers whose class cannot be read."""

    is_container = True


def any_layer(classes: Classes, *, is_container: bool = False) -> Shell:
    """A layer of which nothing is known; as a container, it holds itself as any of its entries."""
    module = classes.of(External(MODULE))
    assert module is not None
    kind = _AnyContainer if is_container else _AnyLayer
    found = Shell("instance", None, (), classes.once(module, kind, lambda: kind(module.facts, classes)))
    found.is_built = True
    if is_container:
        found.put((found,), ())
    return found
