"""Tables that are built once for a fixed length and read up to a length that only a run knows.

The length is fixed if it is a literal, or the default of a constructor's parameter that every construction in sight
leaves alone. Whatever compares or limits the run-time length, and a method in reach that builds the table anew, ends
the claim.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import EventKind, Op, same, self_attribute, walk_all
from modellint.link.values.callers import builders
from modellint.link.values.dimensions import dimensions
from modellint.link.values.evaluator import Instance, Located
from modellint.link.values.facts import FactKind
from modellint.link.values.rotary import LengthKind, length_kind, measured_tensor, number_sources

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.size import Size
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.link.values.evaluator import Frame

_SLICES = re.compile(r"\[[^\]]*:")
#: How many steps away from a parameter a tensor is still the input.
_NEAR = 400
#: Tables of a few rows are for the parts of an architecture, not for positions.
_FEW = 16
_ORDERS = frozenset(("<", "<=", ">", ">="))
_COMPARISONS = _ORDERS | {"==", "!="}
_LIMITS = operators.words("limit", "below", "extreme smallest")


@dataclass(frozen=True, eq=False)
class FixedTable:
    """A table, made at `table`, whose rows are read at `use` for a run-time `length`.

    `rows` says how many it has; None where the constructor calls a method that builds it for any length.
    """

    table: Located
    rows: Size | None
    use: Located
    length: Located


class PositionTables:
    """Finds tables of a fixed length; one per project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._evaluator = project.evaluator

    def unguarded(self, module: ModuleFacts) -> Iterator[FixedTable]:
        """The tables that functions of a file read for a run-time length that nothing compares with theirs."""
        for found in (*self._looked_up(module), *self._sliced(module)):
            if not self._is_guarded(found):
                yield found

    # -- embeddings -------------------------------------------------------------------------------------------------

    def _looked_up(self, module: ModuleFacts) -> Iterator[FixedTable]:
        """Embeddings that are indexed by `arange(length)`."""
        if "arange" not in module.text:
            return
        for function in self._project.relevance.table_users(module):
            for arrival in self._project.arrivals.of(function):
                fact, table = arrival.fact, arrival.lookup.table
                if fact.kind is not FactKind.POSITIONS or fact.conditional or fact.changed or table is None:
                    continue
                *start, end = fact.origin.value.positional or (None,)
                if end is None or len(start) > 1:
                    continue
                rows = self._fixed(table.rows)
                length = Located(end, fact.origin.frame)
                if rows is not None and self._is_run_time(length):
                    yield FixedTable(
                        Located(table.call, table.frame),
                        rows,
                        Located(arrival.lookup.event.value, arrival.lookup.frame),
                        length,
                    )

    # -- buffers ----------------------------------------------------------------------------------------------------

    def _sliced(self, module: ModuleFacts) -> Iterator[FixedTable]:
        """Buffers and parameters of which a slice up to a length is taken."""
        for cls in module.classes.values():
            for function in cls.methods.values():
                if function.name != "__init__" and _SLICES.search(function.text):
                    yield from self._sliced_in(function, cls)

    def _sliced_in(self, function: Function, cls: Class) -> Iterator[FixedTable]:
        frame = self._evaluator.root(function)
        known: set[str] = set()
        for event in function.flow.of(EventKind.INDEX):
            base, subscript = event.value.args
            name = self_attribute(base)
            if name is None or len(base.args) > 1 or name in known:
                continue
            for position, upper in _upper_bounds(subscript):
                is_run_time = self._is_run_time(Located(upper, frame))
                if is_run_time or _is_given(upper):
                    # One use of a table says as much as all of them.
                    known.add(name)
                    use, length = Located(event.value, frame), Located(upper, frame)
                    yield from self._built_once(cls, name, use, length)
                    if is_run_time:
                        yield from self._made_once(cls, name, position, use, length)

    def _made_once(self, cls: Class, name: str, position: int, use: Located, length: Located) -> Iterator[FixedTable]:
        """A table that the constructor makes for a fixed length."""
        found = self._made(cls, name)
        if found is None:
            return
        table, made = found
        rows = self._dimension(made, position, use.value.args[1])
        size = None if rows is None else self._fixed(rows)
        if size is not None and not self._is_rebuilt(cls, name):
            yield FixedTable(table, size, use, length)

    def _built_once(self, cls: Class, name: str, use: Located, length: Located) -> Iterator[FixedTable]:
        """A table that a method builds for any length, though only the constructor calls that method."""
        builders_ = self._builders(cls, name)
        constructor = self._project.members.method(cls, "__init__")
        if not builders_ or constructor is None:
            return
        leading = self._leading_to(cls, builders_)
        if use.frame.function.name in leading or self._is_called_from_outside(cls.module, leading):
            return
        frame = self._evaluator.root(constructor)
        for event in constructor.flow.of(EventKind.CALL):
            if self_attribute(event.value.callee) in builders_ and event.value.args[1:]:
                yield FixedTable(Located(event.value, frame), None, use, length)
                return

    def _builders(self, cls: Class, name: str) -> frozenset[str]:
        """The methods, the constructor left out, that store an attribute; none if the constructor makes it itself."""
        members = self._project.members
        stored = [
            (function, event.value)
            for function, event in members.stored(cls, name)
            if not (event.value.op is Op.CONST and event.value.data is None)
        ]
        stored += [(function, event.value) for function, event in members.buffers(cls, name)]
        names = frozenset(function.name for function, _ in stored)
        return frozenset() if "__init__" in names else names

    def _leading_to(self, cls: Class, names: frozenset[str]) -> frozenset[str]:
        """Methods of a class, and those that call them in turn, the constructor left out."""
        methods = [m for owner in self._project.members.mro(cls) for m in owner.methods.values()]
        found = set(names)
        while True:
            more = {
                method.name
                for method in methods
                if method.name not in found and method.name != "__init__" and _uses(method, found)
            }
            if not more:
                return frozenset(found)
            found |= more

    @staticmethod
    def _is_called_from_outside(module: ModuleFacts, names: frozenset[str]) -> bool:
        """Whether a file calls one of the methods on an object other than the receiver."""
        for function in (*module.all_functions(), module.body):
            if not names.isdisjoint(function.words):
                callees = (event.value.callee for event in function.flow.of(EventKind.CALL))
                if any(c.op is Op.ATTR and c.data in names and not _is_receiver(c.args[0]) for c in callees):
                    return True
        return False

    def _made(self, cls: Class, name: str) -> tuple[Located, Located] | None:
        """Where the constructor makes an attribute, and the tensor that it is made of."""
        members, receiver = self._project.members, Instance(cls=cls)
        stored = [(f, e) for f, e in members.stored(cls, name) if f.name == "__init__"]
        if len(stored) == 1:
            function, event = stored[0]
            located = Located(event.value, self._evaluator.method_frame(function, receiver))
            return located, located
        registered = members.buffers(cls, name)
        if stored or len(registered) != 1 or registered[0][0].name != "__init__":
            return None
        function, event = registered[0]
        frame = self._evaluator.method_frame(function, receiver)
        tensor = event.value.argument(1, "tensor") or event.value.argument(1, "param")
        return None if tensor is None else (Located(event.value, frame), Located(tensor, frame))

    def _dimension(self, made: Located, position: int, subscript: Value) -> Located | None:
        """The number of rows of a tensor in the dimension that a subscript slices; not in its last one, the width."""
        found = dimensions(made.value, made.frame, self._evaluator)
        if found is None:
            return None
        parts = subscript.args if subscript.op is Op.TUPLE else (subscript,)
        dots = [number for number, part in enumerate(parts) if part.op is Op.CONST and part.data is Ellipsis]
        if any(part.op is Op.CONST and part.data is None for part in parts):
            return None
        if dots and dots[0] < position:
            position = len(found) - (len(parts) - position)
        return found[position] if 0 <= position < len(found) - 1 else None

    def _is_rebuilt(self, cls: Class, name: str) -> bool:
        """Whether a method that somebody may call replaces the table."""
        members = self._project.members
        writers = {function for function, _ in members.stored(cls, name) if function.name != "__init__"}
        for owner in members.mro(cls):
            writers.update(
                function
                for function in owner.methods.values()
                if function.name != "__init__" and re.search(rf"""["']{name}["']|\b{name}\.data\b""", function.text)
            )
        texts = [f.text for f in cls.module.all_functions() if f not in writers and f.name != "__init__"]
        return any(
            writer.name == "forward" or any(re.search(rf"\b{writer.name}\b", text) for text in texts)
            for writer in writers
        )

    # -- lengths ----------------------------------------------------------------------------------------------------

    def _fixed(self, rows: Located) -> Size | None:
        """The number of rows if it is fixed: a literal, or the default of a constructor that nobody overrides."""
        size = self._evaluator.size(rows.value, rows.frame)
        if size is None or size.number is None or size.number < _FEW:
            return None
        for symbol in size.symbols:
            cls = rows.frame.receiver.cls if rows.frame.receiver is not None else None
            if cls is None or not self._is_default(symbol.owner, symbol.name, cls):
                return None
        return size

    def _is_default(self, owner: str, parameter: str, cls: Class) -> bool:
        """Whether a symbol is a parameter of a class's constructor that the constructions in sight leave out.

        Where none is in sight, or only in a file's own code, which often tries something out, another package or folder
        may well give it.
        """
        constructor = self._project.members.method(cls, "__init__")
        if constructor is None or owner != f"{constructor.module.path}:{constructor.qualname}":
            return False
        if constructor.owner is not cls:
            return False
        names = constructor.argument_names
        position = names.index(parameter) if parameter in names else len(names)
        members = self._project.members
        if any(other is not cls and cls in members.mro(other) for other in cls.module.classes.values()):
            return False
        built = list(builders(self._project, cls))
        return any(function is not function.module.body for function, _ in built) and not any(
            call.has_unpacking or call.argument(position, parameter) is not None for _, call in built
        )

    def _is_run_time(self, length: Located) -> bool:
        """Whether a length is a dimension of a tensor that a method is given, and not limited on the way."""
        if any(part.op is Op.CALL and part.callee.data in _LIMITS for part in _computed_from(length.value)):
            return False
        sources = list(number_sources(length, self._evaluator))
        return any(self._is_dimension(source) for source in sources)

    @staticmethod
    def _is_dimension(source: Located) -> bool:
        if length_kind(source.value) != LengthKind.COUNT:
            return False
        tensor = measured_tensor(source.value)
        if tensor is None or self_attribute(tensor) is not None:
            return False
        return any(_is_given(part) for part in islice(tensor.walk(), _NEAR))

    # -- guards -----------------------------------------------------------------------------------------------------

    def _is_guarded(self, found: FixedTable) -> bool:
        """Whether what reads the table, or what calls it, compares lengths or cuts what it passes on."""
        functions: dict[Function, None] = {}
        for located in (found.use, found.length, found.table):
            function = located.frame.function
            if found.rows is None and function.name == "__init__":
                continue
            functions[function] = None
            owner = function.owner
            for cls in () if owner is None else self._project.members.mro(owner):
                functions.update(dict.fromkeys(m for m in cls.methods.values() if self._is_reader(m, found)))
        if any(_compares_lengths(function, _COMPARISONS) for function in functions):
            return True
        readers = frozenset(functions)
        limiting = [
            limits
            for module in {function.module for function in readers}
            for function in module.all_functions()
            if function not in readers and (limits := self._limits_callee(function, readers, found)) is not None
        ]
        # A method that builds for any length is there to be called wherever a length is not limited.
        return any(limiting) if found.rows is not None else bool(limiting) and all(limiting)

    def _is_reader(self, method: Function, found: FixedTable) -> bool:
        """Whether a method takes part in reading a table: where one builds it for any length, if it is called."""
        if found.rows is not None:
            return True
        use = found.use.frame.function
        return method is use or _uses(use, {method.name})

    def _limits_callee(self, function: Function, readers: frozenset[Function], found: FixedTable) -> bool | None:
        """Whether a function that calls one of the readers looks at lengths before; None if it calls none.

        Where a method builds the table for any length, only the length that is passed on counts.
        """
        frame = self._evaluator.root(function)
        limits = None
        for event in function.flow.of(EventKind.CALL):
            inner = self._evaluator.call_frame(event.value, frame)
            if inner is None or inner.function not in readers or inner.function.name == "__init__":
                continue
            limits = limits or False
            if found.rows is not None or inner.function is not found.length.frame.function:
                cut = any(part.op is Op.SLICE for arg in event.value.args[1:] for part in arg.walk())
                if cut or _compares_lengths(function, _ORDERS):
                    return True
            elif any(self._is_compared(passed, function) for passed in self._passed(inner, found.length)):
                return True
        return limits

    def _passed(self, inner: Frame, length: Located) -> Iterator[Located]:
        """What a call passes for the parameters that a length is made of."""
        for part in length.value.walk():
            bound = self._evaluator.argument(part, inner) if _is_given(part) else None
            if bound is not None:
                yield bound

    def _is_compared(self, passed: Located, function: Function) -> bool:
        """Whether a function compares a number or tensor that it passes on, or what that is computed from."""
        parts = [passed.value, *(source.value for source in number_sources(passed, self._evaluator))]
        operands = (
            arg
            for event in function.flow.of(EventKind.COMPARE)
            if event.value.data in _ORDERS and not _tells_none_or_one(event.value)
            for arg in event.value.args
        )
        return any(same(part, other) for part in walk_all(operands) for other in parts)


def _uses(function: Function, names: AbstractSet[str]) -> bool:
    """Whether a function uses attributes of its object."""
    if names.isdisjoint(function.words):
        return False
    return any(self_attribute(part) in names for part in walk_all(event.value for event in function.flow.events))


def _is_receiver(owner: Value) -> bool:
    """Whether a method is called on the object itself, as its own class or a base has it."""
    if owner.op is Op.CALL:
        return owner.callee.op is Op.GLOBAL and owner.callee.data == "super"
    return owner.op is Op.PARAM and owner.data == "self"


def _computed_from(number: Value) -> Iterator[Value]:
    """A number and what it is computed from, down to the dimensions of tensors."""
    pending, seen = [number], set[int]()
    while pending:
        part = pending.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            if length_kind(part) != LengthKind.COUNT:
                pending.extend(part.args)


def _is_given(length: Value) -> bool:
    """Whether a length is an argument."""
    return length.op is Op.PARAM and length.data != "self"


def _tells_none_or_one(compare: Value) -> bool:
    """Whether a comparison only tells an empty input, or a single step, from others."""
    return any(arg.op is Op.CONST and arg.data in (0, 1) for arg in compare.args)


def _compares_lengths(function: Function, operators: frozenset[str]) -> bool:
    """Whether a function compares a dimension of a tensor, or a number that it is given, with something."""
    operands = [
        arg
        for event in function.flow.of(EventKind.COMPARE)
        if event.value.data in operators and not _tells_none_or_one(event.value)
        for arg in event.value.args
    ]
    return any(map(_is_given, operands)) or any(length_kind(part) == LengthKind.COUNT for part in walk_all(operands))


def _upper_bounds(subscript: Value) -> Iterator[tuple[int, Value]]:
    """The ends of slices that begin at the beginning, with the dimension that each slices."""
    for position, part in enumerate(subscript.args if subscript.op is Op.TUPLE else (subscript,)):
        if part.op is Op.SLICE and part.args[1].op is not Op.CONST and part.args[2].op is Op.CONST:
            yield position, part.args[1]
