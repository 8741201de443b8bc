"""The constants that a function may write into an index tensor (`fill_`, `torch.tensor`, `x[m] = c`), by sign.

Nothing is run. A value may be a number unless it certainly is something else: a list, a slice, the result of a torch
operator, or a parameter annotated as a tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.callees import HOLDING, NONE, Callees, operands, root
from modellint.flow.domain import Filler
from modellint.graph.arguments import possible_arguments
from modellint.graph.declared import is_tensor
from modellint.graph.value import EventKind, Op, called_name, dotted, subscripts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint import operators
    from modellint.graph.value import Value

#: Operations whose value may be a number, depending on their operands.
_NAMED = frozenset(
    (
        Op.GLOBAL, Op.PARAM, Op.INNER, Op.ATTR, Op.BIN, Op.CHOICE, Op.BOOL, Op.INDEX, Op.UNPACK, Op.ITEM, Op.UNARY,
    )
)  # fmt: skip
_PART, _CHOOSING = frozenset((Op.INDEX, Op.UNPACK, Op.ITEM)), frozenset((Op.CHOICE, Op.BOOL, Op.UNARY))
#: Dictionaries other than displays.
_KEYED = frozenset(((Op.COMPREHENSION, "dict"), (Op.ATTR, "__dict__")))
#: Names of dictionaries in annotations.
_MAPPINGS = frozenset(("dict", "Dict", "Mapping", "MutableMapping"))
_MADE = frozenset(("collections.defaultdict", "collections.OrderedDict", "collections.Counter"))
#: Facets of operators that return numbers.
_GIVING_NUMBERS = frozenset(("gives", "counts", "number"))
#: Facets of operators that return the elements of their arguments, or what a function makes of them.
_GATHERING = frozenset(("gathers", "copies", "pairs"))
#: How many values a number is traced through.
_MAX_DEPTH = 8


class Below(Filler):
    """A constant that may be negative: each subscript that holds it counts as a look-up."""


class Last(Filler):
    """The constant -1, the last row: it matters to look-ups that count from 0 only."""


class Constants(Callees):
    """The constants that one function writes into index tensors."""

    def assigned_kinds(self, update: Value) -> frozenset[type]:
        """The kind of constant that `x[index] = constant` writes into a tensor; empty if it writes none."""
        if update.data != "[]=" or _is_key(update.args[1]) or not self.may_be_number(update.args[2]):
            return NONE
        return NONE if self._is_mapping(update.args[0]) else frozenset((_sign(update.args[2]),))

    def fills(self, row: operators.Operator, call: Value) -> bool:
        """True if a call may write a constant into elements, other than 0."""
        return any(map(self.may_be_number, self._written_values(row, call)))

    def sign_of(self, row: operators.Operator, call: Value) -> type:
        """The kind of the constants that a call writes: `Below` goes before `Last`, and that before `Filler`."""
        signs = {_sign(value) for value in self._written_values(row, call) if self.may_be_number(value)}
        return next((sign for sign in (Below, Last) if sign in signs), Filler)

    def _written_values(self, row: operators.Operator, call: Value) -> Iterator[Value]:
        if not row.facets.keys() & {"fill", "literal", "chooses"}:
            return
        if call.has_unpacking:
            yield from (part for arg in call.args[1:] for part in _parts(arg))
            return
        if "literal" in row.facets and call.positional:
            yield from self._numbers_in(call.positional[0])
        argument = row.argument("fill")
        if argument is not None:
            number, name = argument
            written = (call.argument(number - shift, name) for shift in self._receivers(call.callee))
            yield from (value for value in written if value is not None)
        elif "chooses" in row.facets:
            yield from call.positional[1:]

    def _numbers_in(self, value: Value, depth: int = 0) -> Iterator[Value]:
        """The possible numbers in a list, also in one that a call makes of another: `list(map(pad, rows))`."""
        for part in _parts(value):
            row = self.row(part) if part.op is Op.CALL else None
            if row is not None and not _GATHERING.isdisjoint(row.facets) and depth < _MAX_DEPTH:
                for arg in part.args[1:]:
                    yield from self._numbers_in(arg, depth + 1)
            else:
                yield from self._numbers_returned(part) if part.op is Op.CALL else (part,)

    def _numbers_returned(self, call: Value) -> Iterator[Value]:
        """The possible numbers in a list that a call returns; for a parameter, the argument that is passed."""
        yield call
        for function in self.targets(call).functions if self.row(call) is None else ():
            pairs = [*possible_arguments(function.open_parameters, call)]
            for part in (part for event in function.flow.of(EventKind.RETURN) for part in _parts(event.value)):
                if part.op is Op.CONST or part.op is Op.UNARY or part.op is Op.GLOBAL:
                    yield part
                elif part.op is Op.PARAM:
                    yield from (inner for name, arg in pairs if name == part.data for inner in _parts(arg))

    def holds_number(self, value: Value) -> bool:
        """True if a value may be a whole number other than 0, or a list that holds one."""
        return any(map(self.may_be_number, _parts(value)))

    def _receivers(self, callee: Value) -> tuple[int, ...]:
        """The possible numbers of operands before the dot: `torch.full` has none there, `ids.fill_` one.

        A name that the file does not import may stand for torch (by a star import or an assignment) or for a tensor.
        """
        name = root(callee)
        if callee.op is not Op.ATTR:
            return (0,)
        if name.op is not Op.GLOBAL:
            return (1,)
        return (0,) if name.data in self._module.imports else (0, 1)

    def may_be_number(self, value: Value, depth: int = 0) -> bool:
        """True if a value may be a whole number other than 0, which is a row of every table."""
        op = value.op
        if op is Op.CONST:
            return type(value.data) is int and value.data != 0
        if op is Op.CALL:
            return called_name(value.callee) == "int" and any(self.may_be_number(arg, depth) for arg in value.args[1:])
        if op not in _NAMED or depth > _MAX_DEPTH:
            return op in _NAMED
        if op is Op.ATTR:
            name = root(value)
            return name.op is not Op.CALL and not (name.op is Op.GLOBAL and self._is_of_torch(name))
        if op is Op.PARAM:
            return not self._is_tensor(str(value.data))
        if op in _PART:
            return not self._is_of_tensor(value)
        if op is Op.BIN:
            return value.data != "@" and all(self._may_be_operand(arg, depth + 1) for arg in value.args)
        return op is Op.GLOBAL or op is Op.INNER or any(self.may_be_number(arg, depth + 1) for arg in value.args)

    def _may_be_operand(self, value: Value, depth: int) -> bool:
        """True if an operand may be a number, rather than a tensor."""
        if value.op is Op.CONST:
            return isinstance(value.data, int | float)
        if value.op is Op.CALL:
            return not self._gives_tensor(value)
        if value.op in _CHOOSING and depth <= _MAX_DEPTH:
            return any(self._may_be_operand(arg, depth + 1) for arg in value.args)
        return value.op is Op.COMPARE or self.may_be_number(value, depth)

    def _is_of_tensor(self, value: Value) -> bool:
        """True if a value is a slice, or a part of the result of a torch operator."""
        while value.op in _PART:
            if value.op is Op.INDEX and any(part.op is Op.SLICE for part in subscripts(value)):
                return True
            value = value.args[0]
        return value.op is Op.CALL and self._gives_tensor(value)

    def _gives_tensor(self, call: Value) -> bool:
        """True if a call is of a torch operator that returns tensors."""
        callee = call.callee
        if callee.op is Op.ATTR:
            name = root(callee)
            if name.op is Op.GLOBAL and not self._is_of_torch(name):
                return False
        row = self.row(call)
        is_of_torch = row is not None and row.name.startswith(("torch.", "Tensor."))
        return row is not None and is_of_torch and _GIVING_NUMBERS.isdisjoint(row.facets)

    def _is_of_torch(self, name: Value) -> bool:
        return self._module.imports.get(str(name.data), "").partition(".")[0] == "torch"

    def _is_tensor(self, name: str) -> bool:
        """True if the parameter is annotated as a tensor."""
        parameter = self.function.parameter(name)
        return parameter is not None and is_tensor(parameter)

    def _is_mapping(self, value: Value) -> bool:
        """True if a value certainly is a dictionary, whose entries are no elements."""
        pending, seen = [value], {id(value)}
        for part in pending:
            if part.op is Op.CHOICE or part.op is Op.UPDATE:
                made = part.args if part.op is Op.CHOICE else part.args[:1]
            elif part.op is Op.CALL and (row := self.row(part)) is not None and "copies" in row.facets:
                made = part.args[1:2]
            elif not self._makes_mapping(part):
                return False
            else:
                continue
            pending.extend(one for one in made if id(one) not in seen)
            seen.update(map(id, made))
        return True

    def _makes_mapping(self, value: Value) -> bool:
        """True if a value is written as a dictionary, or is a parameter annotated as one."""
        if value.op is Op.CALL:
            name = str(value.callee.data)
            origin = self._module.imports.get(name)
            is_builtin = name == "dict" and origin is None and name not in self._record.own
            return value.callee.op is Op.GLOBAL and (is_builtin or origin in _MADE)
        if value.op is not Op.PARAM:
            return value.op is Op.DICT or (value.op, value.data) in _KEYED
        parameter = self.function.parameter(str(value.data))
        if parameter is None or parameter.annotation is None:
            return parameter is not None and parameter.kind == "var-keyword"
        written = parameter.annotation
        written = written.args[0] if written.op is Op.INDEX else written
        return parameter.kind == "var-keyword" or (dotted(written) or "").rpartition(".")[2] in _MAPPINGS


def fill_targets(call: Value) -> tuple[Value, ...]:
    """The values that a filling call may write into: its receiver, and its first argument."""
    callee, first = call.callee, call.positional[:1]
    if not first or first[0].op is Op.STARRED:
        return operands(call)
    return (callee.args[0], *first) if callee.op is Op.ATTR else first


def _parts(value: Value) -> Iterator[Value]:
    """The value itself, or the leaves of the lists and choices that it consists of."""
    pending, seen = [value], {id(value)}
    for part in pending:
        if part.op in HOLDING:
            pending.extend(arg for arg in part.args if id(arg) not in seen)
            seen.update(map(id, part.args))
        else:
            yield part


def _is_key(subscript: Value) -> bool:
    """True if a subscript is a string, which indexes no tensor."""
    return subscript.op is Op.STRING or (subscript.op is Op.CONST and isinstance(subscript.data, str))


def _sign(value: Value) -> type:
    """The kind of a constant: `Below` if it may be less than -1, `Last` for -1, `Filler` for a row."""
    if is_counter(value):
        return Filler
    if value.op is not Op.CONST:
        return Below
    number = value.data if type(value.data) is int else 0
    return Below if number < -1 else Last if number == -1 else Filler


def is_counter(value: Value) -> bool:
    """True if a value counts turns of a loop from 0: of `for i in range(n)`, `for i, x in enumerate(xs)`."""
    name = "range"
    if value.op is Op.UNPACK and value.data == 0:
        value, name = value.args[0], "enumerate"
    if value.op is not Op.ITEM or value.args[0].op is not Op.CALL:
        return False
    call = value.args[0]
    return call.callee.op is Op.GLOBAL and call.callee.data == name and len(call.args) == 2 and not call.has_unpacking
