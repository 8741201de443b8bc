"""Kinds of values that are certain: tensors, their number of dimensions, plain numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import EventKind, Op, subscripts
from modellint.knowledge import surface
from modellint.link.calls.reached import CallReach
from modellint.link.names import External

if TYPE_CHECKING:
    from modellint.graph.python import Function
    from modellint.graph.value import Value
    from modellint.link.project import Project

_MAX_DEPTH = 24
_METHODS = operators.methods("Tensor")
_RECURRENT = operators.functions("recurrent")
#: Layers of torch that map one tensor to one tensor, by the beginnings of their names.
_PLAIN_LAYERS = (
    *("Linear", "Conv", "LayerNorm", "BatchNorm", "GroupNorm", "InstanceNorm", "RMSNorm", "Embedding", "Dropout"),
    *("ReLU", "GELU", "SiLU", "Sigmoid", "Tanh", "Softmax", "LogSoftmax", "LeakyReLU", "ELU", "AvgPool", "Identity"),
)
#: Those that keep the number of dimensions.
_SAME_RANK = ("Linear", "LayerNorm", "RMSNorm", "Dropout", "ReLU", "GELU", "SiLU", "Sigmoid", "Tanh", "Softmax", "ELU")
_VIEWS = frozenset(("T", "mT", "H", "mH", "data", "grad", "real"))
#: Methods that tensors have and numpy's arrays lack, so a receiver of one is a tensor.
_TENSOR_ONLY = frozenset(
    ("unsqueeze", "masked_fill", "masked_fill_", "permute", "contiguous", "detach", "requires_grad_")
)
_SHAPE = re.compile(r"\(\s*(\w+(?:\s*,\s*\w+)+)\s*\)")
_NUMBERS = frozenset(("math", "builtins.len", "builtins.int", "builtins.float", "builtins.round", "builtins.abs"))


class Kinds:
    """Classifies the values of one function."""

    def __init__(self, project: Project, function: Function) -> None:
        self._project = project
        self._function = function
        self._reach = CallReach(project, function)
        self._known: dict[int, bool] = {}
        self._ranks: dict[int, int] | None = None

    def is_tensor(self, value: Value, depth: int = 0) -> bool:
        """True if a value is a tensor on every path: the result of a factory, an operator or a layer of torch."""
        key = id(value)
        found = self._known.get(key)
        if found is None:
            self._known[key] = True  # what a loop carries is what it was before, unless another turn says otherwise
            found = depth < _MAX_DEPTH and self._is_tensor(value, depth)
            self._known[key] = found
        return found

    def _is_tensor(self, value: Value, depth: int) -> bool:
        op = value.op
        if op is Op.CALL:
            return self._gives_tensor(value, depth)
        if op is Op.BIN:
            tensors = [self.is_tensor(part, depth + 1) for part in value.args]
            # The class of another operand may define a different result.
            return any(tensors) and (
                value.data == "@" or all(t or self.is_number(p) for t, p in zip(tensors, value.args, strict=True))
            )
        if op in (Op.UNARY, Op.INDEX, Op.UPDATE):
            is_changed = op is not Op.UPDATE or value.data == "[]="
            return is_changed and value.data != "not" and self.is_tensor(value.args[0], depth + 1)
        if op is Op.CHOICE:
            return bool(value.args) and all(self.is_tensor(part, depth + 1) for part in value.args)
        if op is Op.ATTR and value.data in _VIEWS:
            return self.is_tensor(value.args[0], depth + 1)
        if op is Op.ATTR and len(value.args) == 2:
            return self.is_tensor(value.args[1], depth + 1)
        return False

    def _gives_tensor(self, call: Value, depth: int) -> bool:
        definition = self._project.names.definition(self._function.module, call.callee)
        if definition is not None:
            return isinstance(definition, External) and _is_plain(definition.name, call)
        if call.callee.op is Op.ATTR:
            name = str(call.callee.data)
            if name in _METHODS and self.is_tensor(call.callee.args[0], depth + 1):
                return _is_plain(f"Tensor.{name}", call)
        return self.layer(call.callee, _PLAIN_LAYERS) is not None

    def layer(self, callee: Value, names: tuple[str, ...]) -> str | None:
        if callee.op not in (Op.ATTR, Op.CALL, Op.ITEM, Op.INDEX):
            return None
        made = self._reach.class_of(callee)
        if made is None or not made.is_module or not made.name.startswith("torch.nn.") or made.name in _RECURRENT:
            return None
        return _short(made.name, names)

    def rank(self, value: Value, depth: int = 0) -> int | None:
        """The number of dimensions of a tensor; None if it is unknown or depends on the path."""
        if depth > _MAX_DEPTH:
            return None
        told = self._unpacked_ranks().get(id(value))
        if told is not None:
            return told
        if value.op is Op.CALL:
            return self._rank_of_call(value, depth + 1)
        if value.op is Op.BIN:
            if value.data == "@":
                ranks = [self.rank(part, depth + 1) for part in value.args]
                return max(r for r in ranks if r) if None not in ranks and min(r or 0 for r in ranks) > 1 else None
            known = [self.rank(part, depth + 1) for part in value.args if not self.is_number(part)]
            return known[0] if known and None not in known and len(set(known)) == 1 else None
        if value.op is Op.UNARY:
            return self.rank(value.args[0], depth + 1)
        if value.op is Op.CHOICE:
            if value.data is None:
                return None
            parts = [part for part in value.args if not self.is_unknown_method(part)]
            ranks = [self.rank(part, depth + 1) for part in parts]
            return ranks[0] if ranks and len(set(ranks)) == 1 else None
        return None

    def is_unknown_method(self, value: Value) -> bool:
        """True for a call of a method that tensors lack on a tensor: it raises, so its path ends there."""
        if value.op is not Op.CALL or value.callee.op is not Op.ATTR:
            return False
        return str(value.callee.data) not in surface.tensor_names() and self.is_tensor(value.callee.args[0])

    def _rank_of_call(self, call: Value, depth: int) -> int | None:
        definition = self._project.names.definition(self._function.module, call.callee)
        if isinstance(definition, External):
            row, operand = operators.row(definition.name), call.argument(0, "input")
        elif definition is None and call.callee.op is Op.ATTR and call.callee.data in _METHODS:
            row, operand = operators.row(f"Tensor.{call.callee.data}"), call.callee.args[0]
        else:
            row, operand = None, None
        if row is not None:
            name = row.name.rpartition(".")[2]
            if name in ("bmm", "baddbmm"):
                return 3
            rank = None if operand is None else self.rank(operand, depth)
            if "same-shape" in row.facets or "reorders" in row.facets or name in ("softmax", "log_softmax", "dropout"):
                return rank
            if "unsqueezes" in row.facets:
                return None if rank is None else rank + 1
            if name in ("matmul", "einsum"):
                return rank if name == "matmul" and rank is not None and rank > 2 else None
            if name in ("view", "reshape") and definition is None and not call.has_unpacking:
                sizes = call.positional
                if len(sizes) == 1 and sizes[0].op in (Op.TUPLE, Op.LIST):
                    return len(sizes[0].args)
                return len(sizes) if len(sizes) > 1 else None
            return None
        if self.layer(call.callee, _SAME_RANK) is not None and call.positional:
            return self.rank(call.positional[0], depth)
        if self.layer(call.callee, ("Embedding",)) is not None and call.positional:
            inner = self.rank(call.positional[0], depth)
            return None if inner is None else inner + 1
        return None

    def rank_by_use(self, value: Value) -> int | None:
        """The number of dimensions of a value that is indexed with only slices, three or more; else None."""
        for event in self._function.flow.of(EventKind.INDEX):
            parts = subscripts(event.value)
            if event.value.args[0] is value and len(parts) > 2 and all(part.op is Op.SLICE for part in parts):
                return len(parts)
        return None

    def rank_by_comment(self, value: Value) -> int | None:
        """The number of dimensions in the comment behind a value, 3 for `# (B, T, T)`; None without one."""
        lines = self._function.module.source.lines
        number = value.end_line
        while number < len(lines) and lines[number].strip()[:1] == ")":
            number += 1
        written = self._function.module.as_written(value.end_line, number)
        shape = _SHAPE.match(written[-1].partition("#")[2].strip())
        return None if shape is None else shape[1].count(",") + 1

    def _unpacked_ranks(self) -> dict[int, int]:
        """The ranks of values whose `shape` or `size()` is unpacked into names, by `id`."""
        if self._ranks is None:
            self._ranks = {}
            for event in self._function.flow.unpackings:
                shape, names = event.value, event.target
                if shape.op is Op.ATTR and shape.data == "shape" and names is not None:
                    self._ranks[id(shape.args[0])] = len(names.args)
                callee = shape.callee if shape.op is Op.CALL and len(shape.args) == 1 else None
                if callee is not None and callee.op is Op.ATTR and callee.data == "size" and names is not None:
                    self._ranks[id(callee.args[0])] = len(names.args)
        return self._ranks

    def is_number(self, value: Value, depth: int = 0) -> bool:
        """True if a value is a plain number on every path."""
        if depth > _MAX_DEPTH:
            return False
        if value.op is Op.CONST:
            return isinstance(value.data, int | float) and not isinstance(value.data, bool)
        if value.op is Op.BIN or (value.op is Op.UNARY and value.data != "not"):
            return all(self.is_number(part, depth + 1) for part in value.args)
        if value.op is Op.CHOICE and value.data is not None:
            return bool(value.args) and all(self.is_number(part, depth + 1) for part in value.args)
        if value.op is Op.INDEX and value.args[0].op is Op.ATTR and value.args[0].data == "shape":
            return value.args[1].op is Op.CONST
        if value.op in (Op.ATTR, Op.GLOBAL):
            definition = self._project.names.definition(self._function.module, value)
            return isinstance(definition, External) and definition.name in ("math.pi", "math.e", "math.tau", "math.inf")
        if value.op is Op.CALL:
            callee = value.callee
            definition = self._project.names.definition(self._function.module, callee)
            if isinstance(definition, External):
                top = definition.name.partition(".")[0]
                return top in _NUMBERS or definition.name in _NUMBERS - {"builtins.abs"}
            return definition is None and callee.op is Op.ATTR and callee.data == "size" and len(value.positional) == 1
        return False

    def is_used_as_tensor(self, value: Value) -> bool:
        """True if a method that only tensors have is called on the value unconditionally."""
        for event in self._function.flow.of(EventKind.CALL):
            callee, given = event.value.callee, event.value.positional
            is_certain = event.guard is None or all(guard.raised for guard in event.guard.chain())
            if is_certain and callee.op is Op.ATTR and callee.args[0] is value:
                if callee.data in _TENSOR_ONLY:
                    return True
                if callee.data == "view" and len(given) > 2:
                    return True
        return False


def is_plain_layer(name: str) -> bool:
    """True for the full name of a layer of torch that maps one tensor to one tensor."""
    return name.startswith("torch.nn.") and name not in _RECURRENT and _short(name, _PLAIN_LAYERS) is not None


def _short(name: str, beginnings: tuple[str, ...]) -> str | None:
    short = name.rpartition(".")[2]
    return short if short.startswith(beginnings) and "Bag" not in short else None


def _is_plain(name: str, call: Value) -> bool:
    """True if an operator of torch returns exactly one tensor in this call."""
    row = operators.row(name)
    if row is None or not name.startswith(("torch.", "Tensor.")) or name.rpartition(".")[2][:1].isupper():
        return False
    facets = row.facets
    given = len(call.args) - 1
    if (name == "torch.where" and given < 2) or (
        "atleast" in name and given != (0 if name.startswith("Tensor.") else 1)
    ):
        return False  # a tuple: of ids, or of all tensors
    if name == "Tensor.type" and not given:
        return False  # a text
    if "gives" in facets or "wraps" in facets or "holds" in facets or "no-gradients" in facets or "reads" in facets:
        return False
    if "pair" in facets:
        return "reduces" in facets and len(call.args) <= (1 if name.startswith("Tensor.") else 2)
    return not name.startswith("torch.nn.") or name.startswith("torch.nn.functional.")
