"""Mistakes about positions: lengths and guards of position tables, and what indexes them (ML301 to ML305)."""

from __future__ import annotations

import ast
from itertools import cycle
from typing import TYPE_CHECKING, NamedTuple

from planting.catalogue import Mutant, operator
from planting.source import Class, Edit, Function, Source, argument, is_name, names, parameters, self_name
from planting.tables import tables

if TYPE_CHECKING:
    from collections.abc import Iterator


def position_classes(source: Source) -> list[Class]:
    """The layers of a file that compute cosines."""
    return [cls for cls in source.classes.values() if cls.is_module and ("cos(" in cls.text or ".cos" in cls.text)]


def _upper(node: ast.AST) -> ast.expr | None:
    """`n` in `self.table[:n]` and `self.table[:, :n]`."""
    if not isinstance(node, ast.Subscript) or self_name(node.value) is None:
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for part in parts:
        if isinstance(part, ast.Slice) and part.upper is not None and part.step is None:
            return part.upper
    return None


def _range(source: Source, node: ast.AST) -> ast.expr | None:
    """`n` in `torch.arange(n)`."""
    if source.called(node, "torch") != "arange":
        return None
    assert isinstance(node, ast.Call)
    return node.args[0] if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred) else None


def _is_run_time(source: Source, value: ast.expr, method: Function) -> bool:
    """Whether a length is a parameter of the method, a dimension, or a local name that is assigned one."""
    if isinstance(value, ast.Name):
        if value.id in parameters(method):
            return True
        return any(one is not None and _is_dimension(one) for one in source.assigned(method, value.id))
    return _is_dimension(value)


def _is_dimension(value: ast.expr) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr in ("shape", "size") for part in ast.walk(value))


def _keeps_something(method: Function) -> bool:
    """Whether a method stores attributes or buffers, so that a longer table may be cut later."""
    for node in ast.walk(method):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            return True
        if isinstance(node, ast.Call) and self_name(node.func) == "register_buffer":
            return True
    return False


class Length(NamedTuple):
    """A call `self.rotary(…, seq_len=value)` of a position class of the file, in a method that is no constructor."""

    method: Function
    call: ast.Call
    value: ast.expr


def lengths(source: Source) -> Iterator[Length]:
    """Where run-time lengths are passed to position classes that slice or count by them."""
    sized = {cls.name: found for cls in position_classes(source) if (found := _length_parameter(cls)) is not None}
    for cls in source.classes.values():
        for name, stores in cls.stores.items():
            built = [getattr(getattr(store.value, "func", None), "id", None) for store in stores]
            takes = {sized.get(callee) for callee in built if callee is not None}
            taken = takes.pop() if len(takes) == 1 and None not in built else None
            if taken is None:
                continue
            for method, call in cls.calls(name):
                passed = argument(call, *taken)
                if passed is not None and not isinstance(passed, ast.Constant):
                    yield Length(method, call, passed)


def _length_parameter(cls: Class) -> tuple[int, str] | None:
    """The parameter of `forward` that bounds a slice of an attribute, or an `arange`."""
    forward = cls.method("forward")
    if forward is None:
        return None
    given = parameters(forward)
    for node in ast.walk(forward):
        bound = _upper(node) or _range(cls.source, node)
        if isinstance(bound, ast.Name) and bound.id in given:
            return given.index(bound.id), bound.id
    return None


def _added(source: Source, value: ast.expr, number: int) -> str:
    text = source.text(value)
    is_plain = isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp))
    return f"{text} + {number}" if is_plain else f"({text}) + {number}"


# -- ML301 -------------------------------------------------------------------------------------------------------------


@operator("ML301", b"cos")
def offset_a_length(source: Source) -> Iterator[Mutant]:
    """A number is added to the length that is passed to a position class."""
    numbers = cycle((10, 32, 2, 128))
    for _, _, value in lengths(source):
        yield Mutant((source.replace(value, _added(source, value, next(numbers))),), (value,))


@operator("ML301", b"cos")
def offset_a_slice(source: Source) -> Iterator[Mutant]:
    """A number is added to the run-time length at which a position class slices an attribute."""
    numbers = cycle((10, 32, 2, 128))
    for cls in position_classes(source):
        for method in cls.methods.values():
            if method is cls.init:
                continue
            for node in ast.walk(method):
                bound = _upper(node)
                if bound is not None and _is_run_time(source, bound, method):
                    yield Mutant((source.replace(bound, _added(source, bound, next(numbers))),), (bound,))


@operator("ML301", b"cos", b"arange(")
def offset_a_range(source: Source) -> Iterator[Mutant]:
    """A number is added to the run-time length for which `forward` counts positions and takes their cosines.

    It keeps nothing, so that nobody can cut a longer table later.
    """
    numbers = cycle((10, 32, 2, 128))
    for cls in position_classes(source):
        for method in cls.methods.values():
            if method.name != "forward" or "cos(" not in source.text(method) or _keeps_something(method):
                continue
            for node in ast.walk(method):
                bound = _range(source, node)
                if bound is not None and _is_run_time(source, bound, method):
                    yield Mutant((source.replace(bound, _added(source, bound, next(numbers))),), (bound,))


@operator("ML301", b"max(", b"+ 1")
def plus_one_out_of_max(source: Source) -> Iterator[Mutant]:
    """`max(n, ids.max() + 1)` becomes `max(n, ids.max()) + 1`, in a file that passes lengths to a position class."""
    if not any(lengths(source)):
        return
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call) or not is_name(node.func, "max") or len(node.args) != 2:
            continue
        for arg in node.args:
            is_sum = isinstance(arg, ast.BinOp) and isinstance(arg.op, ast.Add) and isinstance(arg.right, ast.Constant)
            if not is_sum or arg.right.value != 1:  # type: ignore[attr-defined]
                continue
            if ".max()" in source.text(arg) or "[:, -1]" in source.text(arg):
                edits = (source.replace(arg, source.text(arg.left)), source.after(node, " + 1"))  # type: ignore[attr-defined]
                yield Mutant(edits, (node,))


def _covered(source: Source) -> Iterator[Length]:
    """Lengths of tables that the parameter `position_ids` indexes: it is passed on with the table's cosines."""
    for length in lengths(source):
        if "position_ids" in parameters(length.method) and _index_call(source, length) is not None:
            yield length


def _index_call(source: Source, length: Length) -> ast.Call | None:
    """The call of a function of the file that gets cosines and `position_ids`, and indexes by it."""
    target = source.parents[length.call]
    if not isinstance(target, ast.Assign) or not isinstance(target.targets[0], ast.Tuple):
        return None
    made = names(target.targets[0])
    functions = {node.name: node for node in source.tree.body if isinstance(node, Function)}
    for node in ast.walk(length.method):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in functions:
            continue
        passed = {name for arg in (*node.args, *(word.value for word in node.keywords)) for name in names(arg)}
        if made <= passed and "position_ids" in passed and "[position_ids]" in source.text(functions[node.func.id]):
            return node
    return None


@operator("ML301", b"cos", b"position_ids")
def plus_one_outside_of_max(source: Source) -> Iterator[Mutant]:
    """A covering length `max(n, positions.max() + 1)` is written first; then its `+ 1` moves out."""
    for length in _covered(source):
        text = source.text(length.value)
        correct = source.replace(length.value, f"max({text}, int(position_ids.max()) + 1)")
        mistaken = source.replace(length.value, f"max({text}, int(position_ids.max())) + 1")
        yield Mutant((mistaken,), ((mistaken, mistaken.text),), (correct,))


@operator("ML301", b"cos", b"position_ids")
def last_for_largest(source: Source) -> Iterator[Mutant]:
    """A covering length `positions.max() + 1` is written first; then the last position is taken for the largest."""
    for length in _covered(source):
        correct = source.replace(length.value, "int(position_ids.max()) + 1")
        mistaken = source.replace(length.value, "int(position_ids[:, -1].max()) + 1")
        yield Mutant((mistaken,), ((mistaken, mistaken.text),), (correct,))


# -- ML302 -------------------------------------------------------------------------------------------------------------


@operator("ML302", b"cos", b"position_ids", b"+=")
def length_without_the_past(source: Source) -> Iterator[Mutant]:
    """A length that starts as a dimension of the input and grows by the past is passed as it started.

    `position_ids` come from outside and index the table.
    """
    for length in _covered(source):
        if not isinstance(length.value, ast.Name):
            continue
        name, method = length.value.id, length.method
        first = next((v for v in source.assigned(method, name) if v is not None and _is_dimension(v)), None)
        grows = any(isinstance(n, ast.AugAssign) and is_name(n.target, name) for n in ast.walk(method))
        if first is not None and grows and not _changes(method, names(first), first, length.call):
            yield Mutant((source.replace(length.value, source.text(first)),), (length.call,))


def _changes(method: Function, tensors: set[str], after: ast.expr, before: ast.expr) -> bool:
    """Whether a tensor is assigned anew between two lines."""
    return any(
        isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and node.id in tensors
        and after.lineno < node.lineno < before.lineno
        for node in ast.walk(method)
    )


# -- ML303 -------------------------------------------------------------------------------------------------------------


@operator("ML303", b"cos", b"if ")
def drop_a_growth_guard(source: Source) -> Iterator[Mutant]:
    """`if n > self.longest: self.build(n)` goes from a position class whose constructor builds the table.

    The method then slices, at a run-time length, an attribute that the builder stores.
    """
    for cls in position_classes(source):
        for method in cls.methods.values():
            if method is cls.init or cls.init is None:
                continue
            sliced = _sliced(source, method)
            for statement in method.body:
                if not source.stands_alone(statement) or len(method.body) < 2 or not _grows(statement, cls):
                    continue
                for builder in _own_calls(statement):
                    built = [*_calls_of(source, cls.init, builder), *_stores(cls, builder, sliced)]
                    if builder in cls.methods and _own_calls(cls.init).count(builder) and len(built) > 1:
                        yield Mutant((source.without(statement),), tuple(built))
                        break


#: Attributes that tell the kind of a tensor, and nothing of its length.
_NO_LENGTHS = {"dtype", "device", "type", "is_cuda"}
_UNEQUAL = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.NotEq)


def _grows(statement: ast.stmt, cls: Class) -> bool:
    """`if n > self.longest: …`, or a call of a method of the class that has such a test of its own."""
    if isinstance(statement, ast.If):
        return not statement.orelse and _compares_lengths(statement.test)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    method = cls.methods.get(self_name(statement.value.func) or "")
    return method is not None and any(
        isinstance(node, ast.If) and _compares_lengths(node.test) for node in ast.walk(method)
    )


def _compares_lengths(test: ast.expr) -> bool:
    """Whether a condition compares numbers: one is larger, or they differ and are no types or devices."""
    for node in ast.walk(test):
        if isinstance(node, ast.Compare):
            attributes = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
            if isinstance(node.ops[0], _UNEQUAL) and not attributes & _NO_LENGTHS:
                return True
    return False


def _own_calls(node: ast.AST) -> list[str]:
    """The own methods that a piece of code calls."""
    return [name for part in ast.walk(node) if isinstance(part, ast.Call) and (name := self_name(part.func))]


def _calls_of(source: Source, function: Function, builder: str) -> list[ast.stmt]:
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Call) and self_name(node.func) == builder)
    return [source.statement_of(node) for node in nodes]


def _sliced(source: Source, method: Function) -> set[str]:
    """The attributes that a method slices at a run-time length."""
    found = set()
    for node in ast.walk(method):
        bound = _upper(node)
        if bound is not None and _is_run_time(source, bound, method):
            assert isinstance(node, ast.Subscript)
            found.add(self_name(node.value) or "")
    return found


def _stores(cls: Class, builder: str, attributes: set[str]) -> list[ast.stmt]:
    """Where a method stores attributes, as buffers too."""
    found: list[ast.stmt] = []
    for name in sorted(attributes):
        found += [store.statement for store in cls.stores.get(name, []) if store.method.name == builder]
    if builder in cls.methods:
        for node in ast.walk(cls.methods[builder]):
            if isinstance(node, ast.Call) and self_name(node.func) == "register_buffer" and node.args:
                label = node.args[0]
                if isinstance(label, ast.Constant) and label.value in attributes:
                    found.append(cls.source.statement_of(node))
    return found


# -- ML304 -------------------------------------------------------------------------------------------------------------


@operator("ML304", b"masked_fill", b"position_ids")
def fill_positions_with_a_sentinel(source: Source) -> Iterator[Mutant]:
    """`position_ids.masked_fill(mask == 0, 1)` fills in -100, in a file that looks `position_ids` up in a table."""
    looked_up = any("position_ids" in names(call) for table in tables(source) for _, call in table.calls)
    if not looked_up and b"[position_ids]" not in source.data:
        return
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or len(node.args) != 2:
            continue
        fills = node.func.attr in ("masked_fill", "masked_fill_") and isinstance(node.args[1], ast.Constant)
        if fills and is_name(node.func.value, "position_ids"):
            yield Mutant((source.replace(node.args[1], "-100"),), (node,))


@operator("ML304", b"Embedding(", b"torch")
def pad_with_a_sentinel(source: Source) -> Iterator[Mutant]:
    """What a table is called with is padded or filled with -100, written out or as a constant."""
    ways = cycle(("pad", "constant", "mask"))
    for table in tables(source):
        for method, call in table.calls[:1]:
            given = call.args[0]
            if not isinstance(given, ast.Name) or source.imports.get("torch") != "torch":
                continue
            way, edits = next(ways), tuple[Edit, ...]()
            mask = next((name for name in parameters(method) if name.endswith("mask")), None)
            value = "-100"
            if way == "constant":
                edits, value = (source.line_before(table.cls.node, "IGNORE_INDEX = -100"),), "IGNORE_INDEX"
                if table.cls.node.decorator_list:
                    continue
            filled = f"torch.nn.functional.pad({given.id}, (0, 1), value={value})"
            if way == "mask" and mask is not None:
                filled = f"{given.id}.masked_fill({mask} == 0, {value})"
            edit = source.replace(given, filled)
            yield Mutant((*edits, edit), ((edit, filled),))


@operator("ML304", b"cos", b"position_ids")
def pad_rotary_positions_with_a_sentinel(source: Source) -> Iterator[Mutant]:
    """The `position_ids` that index a table of cosines are padded with -100."""
    for length in _covered(source):
        call = _index_call(source, length)
        assert call is not None
        for arg in (*call.args, *(word.value for word in call.keywords)):
            if is_name(arg, "position_ids"):
                edit = source.replace(arg, "torch.nn.functional.pad(position_ids, (0, 1), value=-100)")
                yield Mutant((edit,), ((edit, edit.text),))


# -- ML305 -------------------------------------------------------------------------------------------------------------


@operator("ML305", b"max(", b"height")
def drop_a_lower_bound(source: Source) -> Iterator[Mutant]:
    """`max(patch, side // patch * patch)` loses its `max`, in a function that speaks of a height.

    The side is an image's own: a parameter of the function, or what it unpacks from a size. What the function has
    computed from other numbers, or kept above one patch before, needs no second bound.
    """
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call) or not is_name(node.func, "max") or len(node.args) != 2 or node.keywords:
            continue
        bound, rounded = source.text(node.args[0]), node.args[1]
        if not isinstance(rounded, ast.BinOp) or not isinstance(rounded.op, ast.Mult):
            continue
        is_multiple = bound in (source.text(rounded.left), source.text(rounded.right))
        function = _function_of(source, node)
        if is_multiple and _rounds_down(rounded) and "height" in source.text(function) and _has_side(source, rounded):
            yield Mutant((source.replace(node, source.text(rounded)),), (source.statement_of(node),))


def _rounds_down(value: ast.expr) -> bool:
    return any(
        (isinstance(part, ast.BinOp) and isinstance(part.op, ast.FloorDiv))
        or (isinstance(part, ast.Attribute) and part.attr == "floor")
        for part in ast.walk(value)
    )


def _has_side(source: Source, rounded: ast.BinOp) -> bool:
    """Whether what is rounded comes from a parameter of the function around, or from a tuple that it unpacks."""
    function = _function_of(source, rounded)
    if not isinstance(function, Function):
        return False
    divisions = (part for part in ast.walk(rounded) if isinstance(part, ast.BinOp))
    divided = next((part.left for part in divisions if isinstance(part.op, (ast.Div, ast.FloorDiv))), rounded)
    while isinstance(divided, ast.BinOp):
        divided = divided.left
    return any(name in parameters(function) or None in source.assigned(function, name) for name in names(divided))


def _function_of(source: Source, node: ast.expr) -> ast.stmt:
    """The innermost function around an expression, or else its statement."""
    statement = around = source.statement_of(node)
    while not isinstance(around, Function) and not isinstance(source.parents[around], ast.Module):
        around = source.statement_of(source.parents[around])
    return around if isinstance(around, Function) else statement
