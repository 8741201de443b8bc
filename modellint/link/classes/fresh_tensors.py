"""Which values are tensors that torch's factories make on the default device (`torch.arange`, `torch.zeros`, …)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from modellint.graph.value import Op
from modellint.link.values.evaluator import Located

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modellint.graph.value import Value
    from modellint.link.values.evaluator import Evaluator, Frame

#: Functions that make a tensor from numbers (PyTorch documentation, "Creation Ops").
FACTORIES = frozenset(
    f"torch.{name}"
    for name in """zeros ones full empty arange range linspace logspace eye tensor as_tensor from_numpy rand randn
    randint randperm normal tril_indices triu_indices hann_window hamming_window blackman_window bartlett_window
    kaiser_window Tensor FloatTensor LongTensor IntTensor DoubleTensor BoolTensor HalfTensor""".split()
)
_FROM_DATA = frozenset(("torch.tensor", "torch.as_tensor"))
#: Methods that give no tensor.
_LEAVES = frozenset(
    """item tolist numpy size dim numel nelement stride cuda type_as new_zeros new_ones new_full new_tensor
    new_empty""".split()
)
_REDUCTIONS = frozenset("sum mean max min prod std var norm median all any argmax argmin".split())
_VIEWS = frozenset(("T", "mT", "H", "mH", "data", "real", "imag"))
_TYPES = frozenset(
    """float float16 float32 float64 double half bfloat16 long int int8 int16 int32 int64 short uint8 bool dtype
    complex64 complex128 get_default_dtype""".split()
)
_MAX_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Fresh:
    """A tensor made by `factory`. `is_scalar` where it has no dimension, None if that is not known.

    `is_conditional`: it may as well be something else (None, say).
    """

    factory: Located
    is_scalar: bool | None = False
    is_conditional: bool = False


class FreshTensors:
    """Follows values to the factory that made them. What a caller places on a device is not followed."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._active: set[tuple[int, int]] = set()

    def of(self, value: Value, frame: Frame, depth: int = 0) -> Fresh | None:
        """What is known of a tensor made on the default device; None for any other value."""
        key = (id(value), id(frame))
        if depth > _MAX_DEPTH or key in self._active:
            return None
        self._active.add(key)
        found = self._find(value, frame, depth + 1)
        self._active.discard(key)
        return found

    def _find(self, value: Value, frame: Frame, depth: int) -> Fresh | None:
        op = value.op
        if op is Op.CALL:
            return self._call(value, frame, depth)
        if op is Op.BIN:
            sides = [self.of(arg, frame, depth) for arg in value.args]
            made = [side for side in sides if side is not None]
            if not made:
                return None
            scalar = all(side.is_scalar for side in made)
            return replace(made[0], is_scalar=scalar or (None if any(m.is_scalar is None for m in made) else False))
        if op is Op.COMPARE:
            return self._first(value.args, frame, depth)
        if op is Op.UNARY:
            return None if value.data == "not" else self.of(value.args[0], frame, depth)
        if op is Op.INDEX:
            return self.of(value.args[0], frame, depth)
        if op is Op.UPDATE:
            return self.of(value.args[0], frame, depth) if value.data == "[]=" else None
        if op is Op.CHOICE:
            return self._choice(value, frame, depth)
        if op is Op.ATTR:
            if len(value.args) > 1:
                return self.of(value.args[1], frame, depth)
            return self.of(value.args[0], frame, depth) if value.data in _VIEWS else None
        if op is Op.UNPACK:
            located = self._evaluator.elements(value, frame)
            return self.of(located[0].value, located[0].frame, depth) if len(located) == 1 else None
        return None

    def _first(self, values: Iterable[Value], frame: Frame, depth: int) -> Fresh | None:
        return next((made for made in (self.of(value, frame, depth) for value in values) if made is not None), None)

    def _choice(self, value: Value, frame: Frame, depth: int) -> Fresh | None:
        options = [self.of(arg, frame, depth) for arg in value.args]
        made = [option for option in options if option is not None]
        if not made:
            return None
        is_loop = value.data is None
        unsure = (not is_loop and len(made) < len(options)) or any(option.is_conditional for option in made)
        return replace(made[0], is_conditional=unsure)

    def _call(self, call: Value, frame: Frame, depth: int) -> Fresh | None:
        callee = call.callee
        name = self._evaluator.external_name(callee, frame.module)
        if name is not None:
            return self._library_call(name, call, frame, depth)
        if callee.op is Op.ATTR:
            owner = self.of(callee.args[0], frame, depth)
            if owner is not None:
                return self._method(owner, call, frame, depth)
        returned = [self.of(found.value, found.frame, depth) for found in self._evaluator.returns(call, frame)]
        made = [found for found in returned if found is not None]
        if not made:
            return None
        return replace(made[0], is_conditional=len(made) < len(returned) or any(one.is_conditional for one in made))

    def _library_call(self, name: str, call: Value, frame: Frame, depth: int) -> Fresh | None:
        if not name.startswith("torch."):
            return None
        is_placed = _is_placed(call, frame)
        if is_placed:
            return None
        if name in FACTORIES:
            return Fresh(Located(call, frame), self._is_scalar(name, call, frame), is_placed is None)
        if name.startswith("torch.nn.init."):
            return self.of(call.positional[0], frame, depth) if call.positional else None
        if name.startswith(("torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.")) or (
            name.count(".") == 1 and name[len("torch.")].islower()
        ):
            parts = [part for arg in call.args[1:] for part in (arg.args if arg.op in (Op.LIST, Op.TUPLE) else (arg,))]
            found = self._first(parts, frame, depth)
            return None if found is None or _is_reduced(name.rpartition(".")[2], call, 1) else found
        return None

    def _method(self, owner: Fresh, call: Value, frame: Frame, depth: int) -> Fresh | None:
        name = str(call.callee.data)
        if name in _LEAVES:
            return None
        if name == "to" and is_placement(call):
            given = call.keywords.get("device", call.positional[0] if call.positional else None)
            return None if given is None or _is_given(given, frame) else replace(owner, is_conditional=True)
        if _is_reduced(name, call, 0):
            return replace(owner, is_scalar=True)
        if name in ("view", "reshape", "unsqueeze", "expand", "repeat", "unfold") and call.positional:
            return replace(owner, is_scalar=False)
        return owner

    def _is_scalar(self, name: str, call: Value, frame: Frame) -> bool | None:
        given = call.positional[0] if call.positional else None
        if name in _FROM_DATA:
            if given is None:
                return None
            if given.op is Op.CONST or self._evaluator.size(given, frame) is not None:
                return True
            if given.op is Op.PARAM:
                declared = frame.function.parameter(str(given.data))
                given = given if declared is None or declared.default is None else declared.default
            return False if given.op in (Op.LIST, Op.TUPLE, Op.COMPREHENSION) else None
        if name in ("torch.zeros", "torch.ones", "torch.empty", "torch.full", "torch.rand", "torch.randn"):
            shape = given if given is not None else call.keywords.get("size")
            return shape is None or (shape.op in (Op.TUPLE, Op.LIST) and not shape.args)
        return False


def _is_reduced(name: str, call: Value, dims_from: int) -> bool:
    """Whether a call gives one number: a reduction without a dimension."""
    return name in _REDUCTIONS and len(call.positional) <= dims_from and not call.keywords


def _is_placed(call: Value, frame: Frame) -> bool | None:
    """Whether a call says on which device its result is to be; None where that is left to a caller who may not care."""
    device = call.keywords.get("device")
    if device is None:
        return None if None in call.data else False
    if device.op is Op.CONST:
        return device.data not in (None, "cpu")
    return True if _is_given(device, frame) else None


def _is_given(device: Value, frame: Frame) -> bool:
    """Whether a device is known where a tensor is made; False for a parameter that is None unless somebody cares."""
    declared = frame.function.parameter(str(device.data)) if device.op is Op.PARAM else None
    default = None if declared is None else declared.default
    return default is None or default.op is not Op.CONST or default.data is not None


def is_placement(call: Value) -> bool:
    """Whether `.to(…)` may move to another device, rather than change the type only."""
    if "device" in call.keywords or "other" in call.keywords or None in call.data:
        return True
    return any(not _is_type(arg) for arg in call.positional if not isinstance(arg.data, bool))


def _is_type(value: Value) -> bool:
    if value.op is Op.CALL:
        value = value.callee
    if value.op in (Op.ATTR, Op.GLOBAL, Op.PARAM):
        return value.data in _TYPES or "dtype" in str(value.data)
    if value.op is Op.CHOICE:
        return all(_is_type(arg) for arg in value.args)
    return value.target is not None and "dtype" in value.target
