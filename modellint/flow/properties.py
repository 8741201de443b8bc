"""The theory of properties: carries what rules say of tensors, such as "is a probability", through a run of its own.

It is asked first, asks the other theories itself, and marks the tensors among their answers. So it adds to what they
know and replaces nothing; and as no other run has it, a property changes no answer of another query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.constructed import Argument
from modellint.flow.devices import Devices
from modellint.flow.domain import (
    PLAIN,
    UNKNOWN,
    Constant,
    Counter,
    Length,
    Number,
    Plain,
    Site,
    SymbolicInput,
    Tensor,
    Unknown,
    function_of,
    join,
)
from modellint.flow.gate import Keepers
from modellint.flow.heap import Shell
from modellint.flow.interp import Interpreter
from modellint.flow.lookups import Lookups
from modellint.flow.runs import follow
from modellint.flow.sinks import Sink
from modellint.flow.tensors import Refinement, Tensors
from modellint.flow.theory import MOST_MADE, Mode, Theories, Theory
from modellint.graph.immutable import dataclass, replace
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from modellint.flow.domain import Arguments, Atom, Atoms, FunctionRef
    from modellint.flow.frame import Frame
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.operators import Operator
    from modellint.operators.properties import Property
    from modellint.source import Place

#: The names of a function's operand.
_OPERANDS = ("input", "tensors", "sequences")
_NONE: frozenset[str] = frozenset()
_CHANGING = frozenset((Op.BIN, Op.UNARY, Op.UPDATE))
_NUMBERS = (Constant, Number, Counter, Length)


@dataclass(frozen=True, eq=False, slots=True)
class OperatorCall:
    """A call of a function, of a layer of torch or of a tensor's method, by its dotted names.

    The names of a layer are those of its class and all base classes. The operand of a method is its argument 0.
    """

    names: frozenset[str]
    arguments: Arguments
    site: Site

    @property
    def place(self) -> Place:
        return self.site.place

    @property
    def function(self) -> Function:
        """The function in which the call stands."""
        assert self.site.function is not None
        return self.site.function

    def argument(self, position: int, name: str) -> Argument:
        """The argument at `position` (0 is the first), or called `name`."""
        return Argument(self.arguments.argument(position, name) or ())


class PropertyCalls:
    """The calls that are given tensors with properties, by the file whose functions are run. One for each project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._found: dict[ModuleFacts, tuple[OperatorCall, ...]] = {}

    def of(self, module: ModuleFacts) -> tuple[OperatorCall, ...]:
        found = self._found.get(module)
        if found is None:
            found = self._found[module] = tuple(_calls(module, self._project))
        return found


def _calls(module: ModuleFacts, project: Project) -> Iterator[OperatorCall]:
    """Run each function of a file with unknown arguments."""
    rows = project.options.properties
    if not rows:
        return
    theories = (lambda run: Properties(run, rows), *project.options.theories, Tensors, Lookups, Devices)
    run = Interpreter(project, project.of(Keepers), theories)
    run.of(Devices).tells_parameters = False
    run.budget = project.budget.of(Properties.mode.asks)
    found = run.of(Properties)
    found.follow_layers(run.of(Tensors))
    objects: dict[Class, Shell] = {}
    for function in (*module.all_functions(), module.body):
        follow(function, objects, run)
    yield from found.calls.values()


class Properties(Theory, Sink):
    """The properties of the tensors of one run."""

    mode = Mode(asks="properties of tensors", most_made=MOST_MADE)
    follows_everything = True
    alike = (SymbolicInput, Unknown, Plain)

    def __init__(self, run: Interpreter, rows: Iterable[Property]) -> None:
        self._run = run
        self._rows = tuple(rows)
        self._names = frozenset(row.name for row in self._rows)
        self._making: dict[tuple[str, ...], bool] = {}
        #: The product of the theories that are asked after this one.
        self._others: Theories | None = None
        #: The calls that are given tensors with properties, by their places and arguments.
        self.calls: dict[Hashable, OperatorCall] = {}

    def follow_layers(self, tensors: Tensors) -> None:
        """Follow properties through layers of torch, too."""
        tensors.add(self)
        tensors.refine(_Layers(self))

    @property
    def others(self) -> Theories:
        """The product of the theories that are asked after this one."""
        if self._others is None:
            self._others = Theories(self._run.theories[1:])
        return self._others

    # -- calls -----------------------------------------------------------------------------------------------------

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        self._note((name,), arguments, frame, value)
        key, operand = _operand(arguments)

        def ask(atoms: Atoms) -> Atoms | None:
            given = arguments
            if key:
                given = replace(arguments, keywords={**arguments.keywords, key: atoms})
            elif arguments.positional:
                given = replace(arguments, positional=(atoms, *arguments.positional[1:]))
            return self.others.function(name, given, frame, value)

        return self.marked((name,), operand, ask)

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if not isinstance(atom, Tensor | SymbolicInput | Unknown | Plain):
            return None
        full = f"Tensor.{name}"
        self._note((full,), replace(arguments, positional=((atom,), *arguments.positional)), frame, value)

        def ask(atoms: Atoms) -> Atoms | None:
            return self.others.method(atoms[0], name, arguments, frame, value)

        return self.marked((full,), (atom,), ask)

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms | None:
        code = function_of(function.code)
        if code is None or function.receiver is not None:
            return None
        names = (f"{code.module.name}.{code.qualname}",)
        self._note(names, arguments, frame, value)
        if not self._names_function(names):
            return None
        _, operand = _operand(arguments)

        def ask(_: Atoms) -> Atoms | None:
            return self.others.follow(function, arguments, frame, value, run)

        return self.marked(names, operand, ask)

    def at_work(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> None:
        self._note(names_of(shell), arguments, frame, value)

    def _note(self, names: tuple[str, ...], arguments: Arguments, frame: Frame, value: Value) -> None:
        if frame.function is not None and any(_holds(atom) for atoms in arguments.all() for atom in atoms):
            call = OperatorCall(frozenset(names), arguments, Site(value, frame.function))
            self.calls.setdefault((id(value), call.names, arguments), call)

    # -- operators -------------------------------------------------------------------------------------------------

    def operator(self, value: Value, operands: list[Atoms], frame: Frame) -> Atoms | None:
        if value.op not in _CHANGING or all(isinstance(atom, _NUMBERS) for atoms in operands for atom in atoms):
            return None
        names = (str(value.data),)
        if not any(_holds(atom) for atoms in operands for atom in atoms) and not self._makes(names):
            return None
        if value.op is Op.UPDATE:
            known = self.others.operator(value, operands, frame)
            return self._with(_NONE, operands[0] if known is None else known)
        left, *right = operands

        def ask(atoms: Atoms) -> Atoms | None:
            return self.others.operator(value, [atoms, *right], frame)

        if not any(self._having(atom) for atoms in right for atom in atoms):
            return self.marked(names, left, ask, is_alone=not _has_tensors(right))
        beside = frozenset.intersection(*(having for atom in right[0] if (having := self._having(atom)) is not None))
        found = [
            self.marked(names, (atom,), ask, beside=beside, is_alone=not isinstance(atom, Tensor)) or PLAIN
            for atom in left
        ]
        return join(found)

    # -- marks -----------------------------------------------------------------------------------------------------

    def marked(
        self,
        names: tuple[str, ...],
        operand: Atoms,
        ask: Callable[[Atoms], Atoms | None],
        *,
        beside: frozenset[str] = _NONE,
        is_alone: bool = True,
    ) -> Atoms | None:
        """The answer of the other theories, with properties; None if they know nothing, and there are none.

        The possible operands are asked about by their properties. Not `is_alone`: there is another tensor, which has
        the properties `beside`.
        """
        groups: dict[frozenset[str], list[Atom]] = {}
        for atom in operand:
            groups.setdefault(self._having(atom) or _NONE, []).append(atom)
        if not beside and not self._makes(names) and not any(map(_holds, operand)):
            return None
        found: list[Atoms | None] = []
        for having, atoms in groups.items() or ((_NONE, ()),):
            there = (having | beside) if is_alone else (having & beside)
            after = frozenset(row.name for row in self._rows if row.after(names, is_there=row.name in there))
            answer = ask(tuple(atoms))
            found.append((Tensor(properties=after),) if answer is None and after else self._with(after, answer))
        if all(answer is None for answer in found):
            return None
        return join(UNKNOWN if answer is None else answer for answer in found)

    def _names_function(self, names: tuple[str, ...]) -> bool:
        """True if a row names a function that can be read."""
        return any(name in (*row.made_by, *row.kept_by, *row.ended_by) for row in self._rows for name in names)

    def _makes(self, names: tuple[str, ...]) -> bool:
        """True if an operator makes a property of anything."""
        known = self._making.get(names)
        if known is None:
            known = self._making[names] = any(row.after(names, is_there=False) for row in self._rows)
        return known

    def _having(self, atom: Atom) -> frozenset[str] | None:
        """The properties of a tensor, or of all tensors in a container; None if it is something else."""
        if isinstance(atom, Tensor):
            return atom.properties
        if not isinstance(atom, Shell) or not atom.is_container:
            return None
        found = [self._having(inner) for inner in atom.contents() if not isinstance(inner, Shell)]
        return frozenset.intersection(*(one or _NONE for one in found)) if found else None

    def _with(self, properties: frozenset[str], atoms: Atoms | None) -> Atoms | None:
        """An answer with these properties, in place of those that rules describe."""
        return None if atoms is None else tuple(self._mark(atom, properties) for atom in atoms)

    def _mark(self, atom: Atom, properties: frozenset[str]) -> Atom:
        if isinstance(atom, Tensor):
            return replace(atom, properties=(atom.properties - self._names) | properties)
        return Tensor(properties=properties) if properties and isinstance(atom, Plain | Unknown) else atom


class _Layers(Refinement):
    """The transfer function of torch's layers for properties."""

    def __init__(self, properties: Properties) -> None:
        self._properties = properties

    def layer(self, shell: Shell, row: Operator | None, given: Atoms | None, frame: Frame, value: Value) -> Atoms:
        def ask(atoms: Atoms) -> Atoms:
            return self.inner.layer(shell, row, atoms, frame, value)

        found = self._properties.marked(names_of(shell), given or (), ask)
        return ask(given or ()) if found is None else found


def _operand(arguments: Arguments) -> tuple[str | None, Atoms]:
    """The operand of a function, and the name by which it is passed; the first argument where none is."""
    key = next((one for one in _OPERANDS if one in arguments.keywords), None)
    if key is not None:
        return key, arguments.keywords[key]
    return None, arguments.positional[0] if arguments.positional else ()


def names_of(layer: Shell) -> tuple[str, ...]:
    """The dotted names of a layer's class and of its base classes."""
    return () if layer.model is None else tuple(model.name for model in layer.model.mro())


def _holds(atom: Atom) -> bool:
    """True if an atom is a tensor with properties, or a container that holds one."""
    if isinstance(atom, Shell):
        return atom.is_container and any(isinstance(one, Tensor) and bool(one.properties) for one in atom.contents())
    return isinstance(atom, Tensor) and bool(atom.properties)


def _has_tensors(operands: Iterable[Atoms]) -> bool:
    return any(isinstance(atom, Tensor) for atoms in operands for atom in atoms)
