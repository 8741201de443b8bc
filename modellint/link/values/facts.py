"""What is known of a tensor's elements: where they come from and which values they can take.

Facts are found by following a value backwards to its sources, through what passes elements on (views, casts, lists,
concatenation, calls across functions and files). What changes elements in a way that we do not model, or limits them
(`clamp`, `%`, a mask, a comparison filter), ends the trail: no fact, no finding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import EventKind, Op, Value
from modellint.link.values.evaluator import Frame, Located
from modellint.link.values.heads import BUDGET, Heads, operand_of
from modellint.link.values.limits import (
    counts_up,
    has_comparison,
    tests_none,
)
from modellint.link.values.torch_api import (
    PASSED_BY_ATTRIBUTES,
    argument_of,
    is_float_dtype,
    operator_of,
)
from modellint.link.values.unfinished import Answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.link.values.evaluator import Evaluator, Target
    from modellint.operators import Operator


class FactKind(Enum):
    """What a fact says about elements."""

    PARAMETER = "parameter"  # the elements of a parameter of the function under study
    POSITIONS = "positions"  # 0 … n - 1, made by `arange`; `changed` where a mask decides which of them


@dataclass(eq=False, slots=True)
class Fact:
    """Some elements of a value are such, because of `origin`."""

    kind: FactKind
    origin: Located
    #: PARAMETER: its name.
    parameter: str | None = None
    #: Whether arithmetic stands between the origin and here, so that ranges no longer hold.
    changed: bool = False
    #: Whether this holds only under a condition that we cannot decide.
    conditional: bool = False


Facts = tuple[Fact, ...]

_MAX_DEPTH = 60


class FactFinder:
    """Follows values to their facts. One per project."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._answers: Answers[tuple[Value, Frame, Facts]] = Answers()
        self.steps = 0
        #: How many classes scores have.
        self.heads = Heads(evaluator)

    def facts(self, value: Value, frame: Frame, depth: int = 0) -> Facts:
        """The facts about the elements of `value`."""
        key = (id(value), id(frame))
        known = self._answers.get(key)
        if known is not None:
            return known[2]
        self.steps += 1
        self.evaluator.project.budget.spend()
        if depth > _MAX_DEPTH or self.steps > BUDGET or not self._answers.ask(key):
            return ()
        found = _distinct(self._find(value, frame, depth + 1))
        self._answers.answer(key, (value, frame, found))
        return found

    def start(self) -> None:
        """Begin with a new function: give it a budget of its own."""
        self.steps = self.heads.steps = 0
        self._answers.clear()

    def _find(self, value: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        match value.op:
            case Op.CALL:
                return self._call(value, frame, depth)
            case Op.PARAM:
                return self._parameter(value, frame, depth)
            case Op.CHOICE:
                return self._choice(value, frame, depth)
            case Op.BIN:
                return self._arithmetic(value, frame, depth)
            case Op.INDEX | Op.ITEM:
                return self._element(value, frame, depth)
            case Op.UNPACK:
                return self._unpack(value, frame, depth)
            case Op.LIST | Op.TUPLE | Op.SET:
                return self._union((arg, frame) for arg in value.args) if depth else ()
            case Op.STARRED:
                return self.facts(value.args[0], frame, depth)
            case Op.COMPREHENSION:
                return self._comprehension(value, frame, depth)
            case Op.UPDATE:
                return self._update(value, frame, depth)
            case Op.ATTR:
                return self._attribute(value, frame, depth)
            case Op.UNARY if value.data == "-":
                return _changed(self.facts(value.args[0], frame, depth))
            case _:
                return ()

    def _union(self, parts: Iterable[tuple[Value, Frame]], depth: int = 1) -> Iterator[Fact]:
        for value, frame in parts:
            yield from self.facts(value, frame, depth)

    def _parameter(self, value: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        bound = self.evaluator.argument(value, frame)
        if bound is not None:
            return self.facts(bound.value, bound.frame, depth)
        if value.data == "self" or frame.caller is not None:
            return ()
        return (Fact(FactKind.PARAMETER, Located(value, frame), parameter=str(value.data)),)

    def _choice(self, value: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        branches = [self.facts(arg, frame, depth) for arg in value.args]
        is_loop = value.data is None
        for facts in branches:
            for fact in facts:
                everywhere = all(any(_agree(fact, other) for other in facts_) for facts_ in branches)
                optional = fact.kind is FactKind.PARAMETER and tests_none(value.data, fact.parameter)
                if everywhere or is_loop or optional:
                    yield fact
                else:
                    yield replace(fact, conditional=True)

    def _arithmetic(self, value: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        left, right = value.args
        if value.data in ("%", "/"):
            return ()
        if value.data == "+" and (_is_sequence(left) or _is_sequence(right)):
            return self._union(((left, frame), (right, frame)), depth)
        if value.data == "*" and _is_sequence(left):
            return self.facts(left, frame, depth)
        both = (*self.facts(left, frame, depth), *self.facts(right, frame, depth))
        if value.data == "-" and counts_up(left, right):
            return (Fact(FactKind.POSITIONS, Located(value, frame), changed=True),)
        return _changed(both)

    def _element(self, value: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        source = value.args[0]
        if value.op is Op.INDEX:
            key = value.args[1]
            if key.op is Op.CONST and isinstance(key.data, str):
                entries = self.evaluator.entries(source, key.data, frame)
                return self._union(((e.value, e.frame) for e in entries), depth)
            if has_comparison(key):
                return ()
            if source.op is Op.CALL and source.callee.data in GIVING_PAIRS and key.op is Op.CONST:
                return self._unpacked_call(key.data, source, frame, depth) or ()
        return self.facts(source, frame, depth)

    def _unpack(self, value: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        source = value.args[0]
        if source.op is Op.CALL:
            found = self._unpacked_call(value.data, source, frame, depth)
            if found is not None:
                return found
        located = self.evaluator.elements(value, frame)
        if located:
            return self._union(((e.value, e.frame) for e in located), depth)
        if source.op is Op.ITEM:
            return self._unpacked_item(value, source, frame, depth)
        if source.op is Op.CALL:
            # A function that returns one tensor, unpacked along its first dimension, passes its elements on.
            target = self.evaluator.target(source, frame)
            return () if target.frame is not None else self.facts(source, frame, depth)
        return self.facts(source, frame, depth) if source.op not in (Op.TUPLE, Op.LIST) else ()

    def _unpacked_item(self, value: Value, item: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        iterable = item.args[0]
        if iterable.op is Op.CALL and iterable.callee.op is Op.GLOBAL:
            name, given = iterable.callee.data, iterable.positional
            if name == "enumerate" and value.data == 1 and given:
                return self.facts(given[0], frame, depth)
            if name == "zip" and 0 <= value.data < len(given):
                return self.facts(given[value.data], frame, depth)
            return ()
        return self.facts(iterable, frame, depth)

    def _unpacked_call(self, index: int, call: Value, frame: Frame, depth: int) -> Iterable[Fact] | None:
        """`values, indices = topk(x)`, `output, state = rnn(x)`."""
        target = self.evaluator.target(call, frame)
        row = self._row(target, frame)
        if row is not None and "pair" in row.facets:
            scores = operand_of(target, call)
            if scores is None:
                return ()
            return self.facts(scores, frame, depth) if index == 0 else ()
        if target.layer is not None and target.layer.external is not None:
            return self._layer(call, target, frame, depth) if index == 0 else ()
        return None

    def _comprehension(self, value: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        # A filter that compares elements limits them; which ones we do not try to know.
        return self.facts(value.args[-1], frame, depth) if value.guard is None else ()

    def _update(self, value: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        old = self.facts(value.args[0], frame, depth)
        position = _ADDED_BY.get(value.data)
        if position is not None and len(value.args) > position[0]:
            added = value.args[position[0]]
            return (*old, *self.facts(added, frame, depth))
        if value.data == "[]=":
            index, new = value.args[1], value.args[2]
            kept = () if has_comparison(index) else old
            return (*kept, *self.facts(new, frame, depth))
        return old

    def _attribute(self, value: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        if value.data in PASSED_BY_ATTRIBUTES:
            return self.facts(value.args[0], frame, depth)
        if value.data in _PARTS and value.args[0].op is Op.CALL and value.args[0].callee.data in GIVING_PAIRS:
            return self._unpacked_call(_PARTS.index(value.data), value.args[0], frame, depth) or ()
        if len(value.args) > 1:
            return self.facts(value.args[1], frame, depth)
        owner = value.args[0]
        if owner.op is Op.CALL:
            entries = self.evaluator.entries(owner, value.data, frame)
            return self._union(((e.value, e.frame) for e in entries), depth)
        return ()

    # -- calls ------------------------------------------------------------------------------------------------------

    def _call(self, call: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        target = self.evaluator.target(call, frame)
        if target.layer is not None and target.layer.external is not None:
            return self._layer(call, target, frame, depth)
        if target.frame is not None:
            return self._returned(target.frame, depth)
        row = self._row(target, frame)
        if target.name is not None:
            return () if row is None else self._function(row, target, call, frame, depth)
        if target.method is None or target.owner is None:
            return ()
        if row is None:
            return self._of_container(target.method, target.owner, call, frame, depth)
        return self._method(row, target, target.owner, call, frame, depth)

    def _returned(self, frame: Frame, depth: int) -> Iterable[Fact]:
        if frame.depth > 6 or self.evaluator.is_recursive(frame):
            return ()
        flow = frame.function.flow
        returned = [self.facts(event.value, frame, depth) for event in flow.of(EventKind.RETURN)]
        yielded = [self.facts(event.value, frame, depth) for event in flow.of(EventKind.YIELD)]
        branches = returned or yielded
        return [
            fact
            if all(any(_agree(fact, o) for o in facts_) for facts_ in branches)
            else replace(fact, conditional=True)
            for facts in branches
            for fact in facts
        ]

    def _layer(self, call: Value, target: Target, frame: Frame, depth: int) -> Iterable[Fact]:
        layer = target.layer
        assert layer is not None
        name = layer.external or ""
        if name in _PASSING_LAYERS:
            given = call.argument(0, "input")
            return () if given is None else self.facts(given, frame, depth)
        return ()

    def _row(self, target: Target, frame: Frame) -> Operator | None:
        """The row of the operator that a call reaches; a method of an object of the project's is none of a tensor."""
        row = operator_of(target)
        if row is None or target.owner is None:
            return row
        return None if any(one.cls is not None for one in self.evaluator.instances(target.owner, frame)) else row

    def _function(self, row: Operator, target: Target, call: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        operand = next((arg for name in _OPERANDS if (arg := call.argument(0, name)) is not None), None)
        if row.name == "builtins.int" and operand is not None:
            return self.facts(operand, frame, depth)
        if "real" in row.facets:
            return ()
        if "chooses" in row.facets and len(call.positional) == 3:
            return self._where(call, *call.positional, frame, depth)
        is_of_literals = operand is not None and operand.op in (Op.LIST, Op.TUPLE, Op.CONST)
        if operand is not None and "literal" in row.facets and is_of_literals:
            return self.facts(operand, frame, depth)
        if "passed" in row.facets and is_float_dtype(call.keywords.get("dtype")):
            return ()
        return self._operator(row, operand, call, frame, depth, target)

    def _method(
        self, row: Operator, target: Target, owner: Value, call: Value, frame: Frame, depth: int
    ) -> Iterable[Fact]:
        cast = row.facets.get("casts")
        if cast == "float" or (cast == "" and _casts(call, is_float_dtype)) or "real" in row.facets:
            return ()
        if "chooses" in row.facets and len(call.positional) == 2:
            return self._where(call, call.positional[0], owner, call.positional[1], frame, depth)
        return self._operator(row, owner, call, frame, depth, target)

    def _operator(
        self, row: Operator, operand: Value | None, call: Value, frame: Frame, depth: int, target: Target
    ) -> Iterable[Fact]:
        """What functions and methods alike make of the elements of their operand."""
        if "counted" in row.facets:
            return (Fact(FactKind.POSITIONS, Located(call, frame)),)
        if operand is None or "drawn" in row.facets:
            return ()
        mask = row.argument("mask")
        if mask is not None:
            where = argument_of(call, mask, target)
            return self._masked(operand, where, frame, depth)
        return self.facts(operand, frame, depth) if "passed" in row.facets else ()

    def _of_container(self, name: str, owner: Value, call: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        """What a method of a list or a dict gives of its contents."""
        if name in _ELEMENTS and call.positional and call.positional[0].op is Op.CONST:
            key = call.positional[0].data
            entries = self.evaluator.entries(owner, key, frame) if isinstance(key, str) else []
            return self._union(((e.value, e.frame) for e in entries), depth)
        return self.facts(owner, frame, depth) if name in _CONTENTS else ()

    def _masked(self, value: Value, mask: Value | None, frame: Frame, depth: int) -> Iterable[Fact]:
        kept = self.facts(value, frame, depth)
        if mask is None:
            return ()
        return _picked(kept) if has_comparison(mask) else kept

    def _where(self, call: Value, test: Value, first: Value, second: Value, frame: Frame, depth: int) -> Iterable[Fact]:
        kept = (*self.facts(first, frame, depth), *self.facts(second, frame, depth))
        return _picked(kept) if has_comparison(test) else kept


#: What gives values and their indices, and the names of these parts.
GIVING_PAIRS = operators.methods("Tensor", "pair")
_PARTS = ("values", "indices")
_PASSING_LAYERS = operators.functions("passed")
#: What functions call the tensors that they work on.
_OPERANDS = ("input", "tensors", "sequences")
#: Methods of containers that give all that is in them, or some of it.
_CONTENTS = operators.methods("dict", "contents")
_ELEMENTS = operators.methods("dict", "element")
#: Which argument of an UPDATE is added to a list.
_ADDED_BY = operators.arguments("adds", "list", "deque", "set") | operators.arguments("extends", "list", "deque")


def _picked(facts: Facts) -> Facts:
    """What stays true of elements that a comparing mask picks."""
    return tuple(replace(fact, changed=True) for fact in facts if fact.kind is FactKind.POSITIONS)


def _agree(fact: Fact, other: Fact) -> bool:
    return fact.kind is other.kind


def _changed(facts: Iterable[Fact]) -> Facts:
    return tuple(replace(fact, changed=True) for fact in facts if fact.kind is FactKind.PARAMETER)


def _distinct(facts: Iterable[Fact]) -> Facts:
    """Each fact once: the same origin, kind and state say the same."""
    seen: dict[tuple[object, ...], Fact] = {}
    for fact in facts:
        key = (
            fact.kind,
            id(fact.origin.value),
            fact.parameter,
            fact.changed,
            fact.conditional,
        )
        seen.setdefault(key, fact)
    return tuple(seen.values())


def _is_sequence(value: Value) -> bool:
    return value.op in (Op.LIST, Op.TUPLE, Op.COMPREHENSION)


def _casts(call: Value, is_dtype: object) -> bool:
    assert callable(is_dtype)
    return any(is_dtype(arg) for arg in (*call.positional, *call.keywords.values()))
