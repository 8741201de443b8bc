"""How many classes scores have: from the last dimension of logits back to the layer that made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op
from modellint.link.values.evaluator import Located
from modellint.link.values.torch_api import SAME_WIDTH_LAYERS, argument_of, operator_of

if TYPE_CHECKING:
    from modellint.graph.size import Size
    from modellint.graph.value import Value
    from modellint.link.values.evaluator import Evaluator, Frame, Target
    from modellint.operators import Operator

#: Steps that the analysis of one function may take; beyond them its values are unknown.
BUDGET = 20_000


def operand_of(target: Target, call: Value) -> Value | None:
    """The tensor that a function or method works on."""
    return target.owner if target.method is not None else call.argument(0, "input")


class Heads:
    """Follows scores to the layer that sizes their last dimension."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.steps = 0

    def classes(self, value: Value, frame: Frame, depth: int = 0) -> list[tuple[Size, Located, bool]]:
        """How many classes the last dimension of scores has, the head that says so, and if that is conditional."""
        self.steps += 1
        if depth > 30 or self.steps > BUDGET:
            return []
        match value.op:
            case Op.CALL:
                return self._classes_of_call(value, frame, depth + 1)
            case Op.PARAM:
                bound = self.evaluator.argument(value, frame)
                return [] if bound is None else self.classes(bound.value, bound.frame, depth + 1)
            case Op.BIN:
                left = self.classes(value.args[0], frame, depth + 1)
                return left or self.classes(value.args[1], frame, depth + 1)
            case Op.CHOICE:
                return self._merged([self.classes(arg, frame, depth + 4) for arg in value.args], value.data is None)
            case Op.UPDATE if value.data == "[]=" and self._keeps_best(value):
                return self.classes(value.args[0], frame, depth + 1)
            case Op.INDEX:
                return self._classes_of_index(value, frame, depth + 1)
            case Op.UNPACK:
                return [
                    found
                    for e in self.evaluator.elements(value, frame)
                    for found in self.classes(e.value, e.frame, depth + 4)
                ]
            case Op.ATTR:
                if len(value.args) > 1:
                    return self.classes(value.args[1], frame, depth + 1)
                entries = self.evaluator.entries(value.args[0], value.data, frame)
                return [found for e in entries for found in self.classes(e.value, e.frame, depth + 4)]
            case _:
                return []

    @staticmethod
    def _merged(branches: list[list[tuple[Size, Located, bool]]], is_loop: bool) -> list[tuple[Size, Located, bool]]:
        partial = not is_loop and not all(branches)
        merged: list[tuple[Size, Located, bool]] = []
        for found in branches:
            for bound, head, conditional in found:
                if all(bound != other for other, _, _ in merged):
                    merged.append((bound, head, conditional or partial))
        if len(merged) > 1:
            return [(bound, head, True) for bound, head, _ in merged]
        return merged

    def _classes_of_call(self, call: Value, frame: Frame, depth: int) -> list[tuple[Size, Located, bool]]:
        target = self.evaluator.target(call, frame)
        if target.layer is not None and target.layer.external is not None:
            return self._classes_of_layer(call, target, frame, depth)
        if target.frame is not None:
            if target.frame.depth > 6 or self.evaluator.is_recursive(target.frame):
                return []
            returned = [
                self.classes(event.value, target.frame, depth)
                for event in target.frame.function.flow.of(EventKind.RETURN)
            ]
            return self._merged(returned, False)
        row, operand = operator_of(target), operand_of(target, call)
        if operand is None or row is None:
            return []
        if "mask" in row.facets:
            mask = argument_of(call, row.argument("mask"), target)
            # Masking by the scores themselves (top-k, top-p) leaves every class possible for some input.
            if mask is not None and self._compares(mask, operand):
                return self.classes(operand, frame, depth)
            return []
        if _keeps_classes(row, call, target):
            return self.classes(operand, frame, depth)
        if ("stacks" in row.facets or "joins" in row.facets) and target.method is None:
            return self._classes_of_joined(call, operand, frame, depth, is_stack="stacks" in row.facets)
        if "sizes" in row.facets:
            sizes = call.positional if target.method else call.positional[1:]
            measured = _last_size_of(sizes[-1]) if len(sizes) > 1 else None
            if measured is not None:
                return self.classes(measured, frame, depth)
            if sizes and sizes[-1].op is Op.CONST and sizes[-1].data == -1:
                return []
            size = self.evaluator.size(sizes[-1], frame) if sizes else None
            return [] if size is None else [(size, Located(call, frame), False)]
        return []

    def _classes_of_joined(
        self, call: Value, operand: Value, frame: Frame, depth: int, *, is_stack: bool
    ) -> list[tuple[Size, Located, bool]]:
        """`torch.stack(scores, 1)`: each one's classes, if they are joined along another dimension."""
        dim = call.argument(1, "dim")
        along = 0 if dim is None else whole_number(dim)
        if along is None or along == -1 or along > (1 if is_stack else 0):
            return []
        members = _members(operand)
        found = [self.classes(member, frame, depth + 2) for member in members or ()]
        if not found or any(len(classes) != 1 or classes[0][0] != found[0][0][0] for classes in found):
            return []
        return found[0]

    def _keeps_best(self, update: Value) -> bool:
        """`scores[scores < best[:, -1:]] = -inf`: every class stays possible for some input."""
        scores, mask = update.args[0], update.args[1]
        return self._compares(mask, scores) and any(part is scores for part in mask.args[1].walk())

    @staticmethod
    def _compares(mask: Value, scores: Value) -> bool:
        """Whether a mask is a comparison of the scores with something made from them."""
        if mask.op is not Op.COMPARE or mask.data not in ("<", "<=", ">", ">="):
            return False
        return mask.args[0] is scores and mask.args[1].op is not Op.CONST

    def _classes_of_layer(
        self, call: Value, target: Target, frame: Frame, depth: int
    ) -> list[tuple[Size, Located, bool]]:
        layer = target.layer
        assert layer is not None
        if layer.call is None or layer.frame is None:
            return []
        if layer.external in SAME_WIDTH_LAYERS:
            given = call.argument(0, "input")
            return [] if given is None else self.classes(given, frame, depth)
        if layer.external == "torch.nn.Linear":
            size = self.evaluator.size(layer.call.argument(1, "out_features"), layer.frame)
            return [] if size is None else [(size, Located(layer.call, layer.frame), False)]
        if layer.external == "torch.nn.Sequential":
            parts = self.evaluator.contained(layer.call, layer.frame)
            for part in reversed(parts):
                for instance in self.evaluator.instances(part.value, part.frame):
                    if instance.external == "torch.nn.Linear" and instance.call is not None and instance.frame:
                        size = self.evaluator.size(instance.call.argument(1, "out_features"), instance.frame)
                        return [] if size is None else [(size, Located(instance.call, instance.frame), False)]
                    if instance.external not in SAME_WIDTH_LAYERS:
                        return []
        return []

    def _classes_of_index(self, value: Value, frame: Frame, depth: int) -> list[tuple[Size, Located, bool]]:
        """`logits[:, -1]`, `logits[..., :n]`: the last dimension, cut or not."""
        base, index = value.args
        parts = index.args if index.op is Op.TUPLE else (index,)
        has_ellipsis = any(p.op is Op.CONST and p.data is Ellipsis for p in parts)
        last = parts[-1]
        cuts = [p for p in parts if p.op is Op.SLICE and not all(a.op is Op.CONST and a.data is None for a in p.args)]
        if has_ellipsis and last.op is not Op.SLICE and not (last.op is Op.CONST and last.data is Ellipsis):
            return []
        if not cuts:
            return self.classes(base, frame, depth) if _keeps_last(parts) else []
        if len(cuts) > 1 or cuts[0] is not last:
            # A cut of another dimension, if the one behind it is taken whole.
            whole = last.op is Op.SLICE and cuts[-1] is not last
            return self.classes(base, frame, depth) if whole else []
        if not has_ellipsis:
            return []
        lower, upper, step = last.args
        size = self.evaluator.size(upper, frame)
        starts_at_zero = lower.op is Op.CONST and lower.data in (None, 0) and step.data is None
        if size is None or not starts_at_zero or (upper.op is Op.CONST and upper.data is None):
            return []
        return [(size, Located(value, frame), conditional) for _, _, conditional in self.classes(base, frame, depth)]


def _keeps_classes(row: Operator, call: Value, target: Target) -> bool:
    """Whether an operator leaves the last dimension as it is."""
    if row.facets.keys() & {"same-shape", "squeezes", "unsqueezes"}:
        return True
    if "flattens" in row.facets:
        return _flattens_before_last(call, target)
    if "reduces" not in row.facets or "pair" in row.facets or "drawn" in row.facets:
        return False
    # Over one dimension, counted from the front or before the last.
    dim = argument_of(call, row.argument("along"), target)
    return dim is not None and dim.op is Op.CONST and dim.data not in (None, -1)


def _keeps_last(parts: tuple[Value, ...]) -> bool:
    """Whether an index of integers, `None` and whole slices can leave the last dimension as it is."""
    return all(p.op in (Op.CONST, Op.SLICE, Op.UNARY) or p.target is not None for p in parts)


def whole_number(value: Value) -> int | None:
    if value.op is Op.UNARY and value.data == "-" and type(value.args[0].data) is int:
        return -value.args[0].data
    return value.data if value.op is Op.CONST and type(value.data) is int else None


def _last_size_of(size: Value) -> Value | None:
    """`x` of `x.size(-1)` and `x.shape[-1]`."""
    if size.op is Op.CALL and size.callee.op is Op.ATTR and size.callee.data == "size":
        dim = size.argument(0, "dim")
        return size.callee.args[0] if dim is not None and whole_number(dim) == -1 else None
    if size.op is Op.INDEX and size.args[0].op is Op.ATTR and size.args[0].data == "shape":
        return size.args[0].args[0] if whole_number(size.args[1]) == -1 else None
    return None


def _flattens_before_last(call: Value, target: Target) -> bool:
    """`flatten(0, 1)` of batch, time and classes."""
    first = 0 if target.method else 1
    start, end = call.argument(first, "start_dim"), call.argument(first + 1, "end_dim")
    if start is None or end is None:
        return False
    return whole_number(start) == 0 and whole_number(end) in (1, -2)


def _members(value: Value) -> list[Value] | None:
    """The tensors of a list, as it is written or appended to; None if some are not known."""
    members: list[Value] = []
    seen: set[int] = set()
    queue = [value]
    for part in queue:
        if id(part) in seen:
            continue
        seen.add(id(part))
        if part.op in (Op.LIST, Op.TUPLE):
            members.extend(part.args)
        elif part.op is Op.COMPREHENSION and part.guard is None and part.data in ("list", "generator"):
            members.append(part.args[-1])
        elif part.op is Op.UPDATE and part.data == "append":
            queue.append(part.args[0])
            members.append(part.args[1])
        elif part.op is Op.CHOICE:
            queue.extend(part.args)
        else:
            return None
    return members
