"""Count the parameters of layers, as numbers or expressions: objects are built on paper."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from modellint import knowledge
from modellint.flow.domain import UNKNOWN, Arguments, SymbolicInput, Tensor, Unknown, join
from modellint.flow.frame import class_frame
from modellint.flow.heap import ExactShell, Shell
from modellint.flow.library.constants import OPEN, atoms_of, value_of
from modellint.flow.library.functions import partial
from modellint.flow.objects import model_of
from modellint.flow.runs import started
from modellint.flow.unrolled import UncertainError, UnrolledLoops, described
from modellint.graph.immutable import dataclass
from modellint.graph.size import Size, Symbol
from modellint.graph.value import EventKind, Op, Value, self_attribute
from modellint.knowledge import parameter_counts
from modellint.link.recipes.items import Item, ItemKind
from modellint.mapping.model import Count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.interp import Interpreter
    from modellint.graph.python import Class
    from modellint.link.classes.models import ClassModel
    from modellint.link.names import Definition
    from modellint.link.project import Project

_MAX_DEPTH = 12
_NOTHING = Size.of(0)


@dataclass(frozen=True, slots=True)
class CountedAttribute:
    """The parameters of an attribute's value, and its class if it is an object."""

    parameters: Count
    class_name: str


class Counter:
    """Counts parameters. Reached through `counter_of`."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def item(self, item: Item) -> Count:
        """The parameters of a layer of a recipe, those of layers that it is given left out."""
        with closing(self._run()) as run:
            try:
                recipe = _Recipe(run, item)
                built = recipe.value(item)
                return Count(_Counting(run, recipe.given - {*_shells(built)}).of([built]))
            except (UncertainError, RecursionError):
                return Count(None)

    def attributes(self, cls: Class) -> dict[str, CountedAttribute]:
        """The attributes of an object of a class, with their parameters.

        It is built with its defaults; what has none is a symbol.
        """
        model = self._project.classes.model(cls)
        shell = Shell("instance", None, (), model, _symbols(model))
        with closing(self._run()) as run:
            run.objects.subject = shell
            try:
                run.objects.initialise(shell, shell.arguments)
            except (UncertainError, RecursionError):
                return {}
            counting = _Counting(run, frozenset())
            return {
                name: CountedAttribute(Count(counting.attribute(shell, name)), _class_name(shell.get(name)))
                for name in shell.history
            }

    def _run(self) -> Interpreter:
        return started(self._project, UnrolledLoops)


def _symbols(model: ClassModel) -> Arguments:
    """Symbolic arguments for the parameters without defaults, by their names."""
    return Arguments(
        keywords={
            p.name: (SymbolicInput(p.name, Symbol(model.name, p.name), f"{model.name}:{p.name}", is_there=True),)
            for p in model.signature or ()
            if p.kind in ("positional", "keyword") and p.default is None
        }
    )


def _shells(atoms: Atoms) -> Iterator[Shell]:
    return (atom for atom in atoms if isinstance(atom, Shell))


def _class_name(atoms: Atoms | None) -> str:
    shell = atoms[0] if atoms is not None and len(atoms) == 1 else None
    return shell.model.name if isinstance(shell, Shell) and shell.model is not None else ""


@dataclass(frozen=True, slots=True)
class _Part:
    """A value in an object or container, and whether it certainly is there; `turns` are the unrolled turns standing for
    many that the holder accounts for, `is_entry` says that the holder keeps the result of each turn.
    """

    atoms: Atoms
    is_sure: bool = True
    is_entry: bool = False
    turns: frozenset[int] = frozenset()


class _Counting:
    """Counts the parameters of the objects of one run; `given` are those that are counted elsewhere."""

    def __init__(self, run: Interpreter, given: Iterable[Shell]) -> None:
        self._run = run
        self._run_turns = run.of(UnrolledLoops)
        self._given = frozenset(given)

    def attribute(self, shell: Shell, name: str) -> Size | None:
        """The number of parameters of an attribute's value; None if it is not known."""
        held, is_sure = self._attribute_value(shell, name)
        if any(isinstance(atom, SymbolicInput) for atom in held) or (name, name) in _tied_attributes(model_of(shell)):
            return None
        return self._sum_of([_Part(held, is_sure)], set())

    def of(self, values: Iterable[Atoms]) -> Size | None:
        """The number of parameters of several values together, each counted once; None if it is not known."""
        return self._sum_of([_Part(atoms) for atoms in values], set())

    def _sum_of(self, pending: list[_Part], seen: set[Shell]) -> Size | None:
        total = _NOTHING
        while pending:
            part = pending.pop()
            if part.is_sure and len(part.atoms) == 1:
                atom, turns = part.atoms[0], self._turns(part)
                own = self._own(atom, seen)
                if own is None:
                    return None
                total = total + own * self._times(turns)
                pending.extend(replace(inner, turns=turns) for inner in self._parts(atom, seen))
            elif any(self._sum_of([_Part((atom,))], set()) != _NOTHING for atom in part.atoms):
                return None
        return total

    def _turns(self, part: _Part) -> frozenset[int]:
        """The unrolled turns standing for many in which a part is created, as far as each turn's part is kept."""
        trail = part.atoms[0].trail if isinstance(part.atoms[0], Shell) else ()
        made = frozenset(turn for turn in trail if turn in self._run_turns.many)
        return made if part.is_entry else made & part.turns

    def _times(self, turns: frozenset[int]) -> Size:
        times = Size.of(1)
        for turn in turns:
            times = times * self._run_turns.many[turn]
        return times

    def _own(self, atom: Atom, seen: set[Shell]) -> Size | None:
        """The number of parameters that a layer has without those of its children."""
        if isinstance(atom, Unknown):
            return None
        if not isinstance(atom, Shell) or atom in seen or atom in self._given or atom.kind == "buffer":
            return _NOTHING
        if atom.kind == "parameter":
            return _elements(atom.arguments.argument(0, "data") or ())
        if atom.kind == "pretrained":
            return None
        if atom.model is None or atom.model.is_module is False:
            return _NOTHING
        known = described(atom)
        if atom in self._run_turns.open or atom.model.is_module is None or any(_tied_attributes(atom.model)):
            return None
        if known is None:
            return _NOTHING
        return None if {"weight", "bias"} & atom.history.keys() else self._count_by_arguments(atom, *known)

    def _count_by_arguments(self, shell: Shell, name: str, arguments: dict[str, Atoms]) -> Size | None:
        """The number of parameters of a layer whose class and arguments determine it; None if they do not."""
        if not (shell.arguments if shell.passed is None else shell.passed).is_complete:
            return None
        values = {key: value_of(atoms) for key, atoms in arguments.items()}
        known = {key: Unknown() if value is OPEN else value for key, value in values.items()}
        own, added = parameter_counts.count(name, known), self._run_turns.added.get(shell, _NOTHING)
        return None if own is None or added is None else own + added

    def _parts(self, atom: Atom, seen: set[Shell]) -> Iterator[_Part]:
        """The contents of a container, or the values that a layer registers, each with whether it surely is there."""
        if not isinstance(atom, Shell) or atom in seen or atom in self._given:
            return
        seen.add(atom)
        if atom.is_container:
            yield from self._entries(atom)
        if not atom.is_layer:
            return
        is_counted = atom not in self._run_turns.rough
        for name in atom.history:
            if self._registers(atom, name):
                held, is_sure = self._attribute_value(atom, name)
                may_be_layer = any(isinstance(option, SymbolicInput) for option in held) and is_called(
                    model_of(atom), name
                )
                yield _Part(UNKNOWN if may_be_layer else held, is_sure and is_counted)
        yield from (_Part(store.atoms, not store.path and is_counted) for store in atom.stores if store.name is None)
        if atom.is_module_container:
            yield from (replace(part, is_sure=part.is_sure and is_counted) for part in self._entries(atom))

    @staticmethod
    def _entries(shell: Shell) -> Iterator[_Part]:
        """The layers and parameters in a container."""
        is_whole = shell.is_exact or (isinstance(shell, ExactShell) and shell.repeats)
        for entry in shell.entries:
            is_given = any(isinstance(option, SymbolicInput) for option in entry.atoms)
            yield _Part(UNKNOWN if is_given else entry.atoms, is_whole and not entry.path, is_entry=True)

    @staticmethod
    def _registers(shell: Shell, name: str) -> bool:
        """True if an attribute's value is registered as a part of the layer; plain containers are not."""
        held = shell.get(name) or ()
        if any(isinstance(atom, Shell) and atom.is_container for atom in held):
            return False
        return any(store.registers for store in shell.stores if store.name == name)

    @staticmethod
    def _attribute_value(shell: Shell, name: str) -> tuple[Atoms, bool]:
        """An attribute's value, and True if it certainly is set."""
        return shell.get(name) or (), any(not path for _, path in shell.history[name])


def is_called(model: ClassModel, name: str) -> bool:
    """True if an attribute is called, as layers are."""
    return any(
        self_attribute(event.value.callee) == name
        for owner in model.mro()
        for function in (owner.cls.mentioned.get(name, ()) if owner.cls is not None else ())
        for event in function.flow.of(EventKind.CALL)
    )


def _tied_attributes(model: ClassModel) -> Iterator[tuple[str, str]]:
    """Pairs of attributes that a class declares to share weights: the one that takes them over, and their owner."""
    declared = (owner.facts.attributes.get(knowledge.TIED_WEIGHTS) for owner in model.mro())
    value = next((value for value in declared if value is not None), None)
    if value is not None and value.op in (Op.DICT, Op.LIST, Op.TUPLE):
        keys = value.data if value.op is Op.DICT else value.args
        yield from zip(map(_first, keys), map(_first, value.args), strict=True)


def _first(path: Value | None) -> str:
    """The first attribute of a path to weights, which may be a pattern; "" if there is none."""
    return "" if path is None else str(path.data).lstrip("^").partition(".")[0]


def _elements(data: Atoms) -> Size | None:
    """The number of elements of a tensor; None if it is not known."""
    tensor = data[0] if len(data) == 1 else None
    if isinstance(tensor, Shell) and tensor.kind in ("parameter", "buffer"):
        return _elements(tensor.arguments.argument(0, "data") or ())
    if not isinstance(tensor, Tensor) or tensor.sizes is None:
        return None
    total = Size.of(1)
    for size in tensor.sizes:
        if not isinstance(size, Size):
            return None
        total = total * size
    return total


class _NoNames:
    """A scope without names: a recipe's values are no globals of a module."""

    def definition(self, value: Value) -> None:
        return None

    def constant(self, definition: Definition) -> None:
        return None


class _Recipe:
    """The objects of a recipe, in a run."""

    def __init__(self, run: Interpreter, root: Item) -> None:
        self._run = run
        self._frame = class_frame(_NoNames(), id(root))
        self._made: dict[int, Atoms] = {}
        #: The values that create the objects, which identify them.
        self._values: list[Value] = []
        #: Layers passed to others, which are counted elsewhere.
        self.given: set[Shell] = set()

    def value(self, item: Item, depth: int = 0) -> Atoms:
        """The value that stands for an object of a recipe in a run."""
        if depth > _MAX_DEPTH:
            return UNKNOWN
        if id(item) not in self._made:
            value = Value(Op.UNKNOWN, (), None, None)
            self._values.append(value)
            self._made[id(item)] = found = self._value(item, value, depth)
            if depth and item.kind is ItemKind.NEW:
                self.given.update(shell for shell in _shells(found) if shell.is_layer)
        return self._made[id(item)]

    def _value(self, item: Item, value: Value, depth: int) -> Atoms:
        elements = [self.value(child, depth + 1) for child in item.elements]
        fields = {str(name): self.value(child, depth + 1) for name, child in item.fields.items()}
        match item.kind:
            case ItemKind.CONSTANT:
                return atoms_of(self._run, item.value if item.values is None else item.values, value, self._frame)
            case ItemKind.MAPPING:
                made = self._run.shell("dict", value, self._frame)
                for name, child in item.fields.items():
                    made.put(self.value(child), (), name)
                return (made,)
            case ItemKind.SEQUENCE:
                return (self._run.sequence("list", elements, value, self._frame),)
            case ItemKind.NEW:
                arguments = Arguments(tuple(elements), fields)
                return join(
                    self._run.calls.apply(atom, arguments, self._frame, value) for atom in self._defined_object(item)
                )
            case ItemKind.NAME:
                return partial(self._defined_object(item), Arguments(tuple(elements), fields))
        return UNKNOWN

    def _defined_object(self, item: Item) -> Atoms:
        definition = self._run.project.names.absolute(item.target, item.recipe.file)
        return UNKNOWN if definition is None else self._run.calls.defined(definition)


def counter_of(project: Project) -> Counter:
    """The project's counter."""
    return project.once(("parameter counter",), lambda: Counter(project))
