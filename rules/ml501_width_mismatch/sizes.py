"""Numbers as symbolic sizes: constants, configuration fields, parameters and arithmetic on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.definitions import DefinedConstant
from modellint.graph.size import Size, Symbol
from modellint.graph.value import Op, Value, self_attribute
from modellint.link.values.members import Members

if TYPE_CHECKING:
    from modellint.graph.python import Class

    from .evaluator import Activation, Evaluator, Instance, Located

#: How many steps a number is followed.
_MAX_DEPTH = 24


class Sizes:
    """Evaluates numbers to symbolic sizes."""

    __slots__ = ("_evaluator",)

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def size(self, value: Value | None, frame: Activation, depth: int = 0) -> Size | None:
        """The symbolic size of a number, None if it is not one that can be written down."""
        if value is None or depth > _MAX_DEPTH:
            return None
        self._evaluator.project.budget.spend()
        match value.op:
            case Op.CONST:
                return Size.of(value.data) if type(value.data) is int else None
            case Op.UNARY if value.data == "-":
                operand = self.size(value.args[0], frame, depth + 1)
                return None if operand is None else -operand
            case Op.BIN:
                return self._arithmetic(value, frame, depth)
            case Op.PARAM:
                return self._parameter_size(value, frame, depth)
            case Op.ATTR:
                return self._attribute_size(value, frame, depth)
            case Op.GLOBAL:
                return self._constant_size(value, frame, depth)
            case Op.CHOICE:
                return self._common_size([self.size(arg, frame, depth + 8) for arg in value.args])
            case Op.CALL if value.callee.op is Op.GLOBAL and value.callee.data == "int" and value.positional:
                return self.size(value.positional[0], frame, depth + 1)
            case Op.CALL:
                found = [
                    self.size(r.value, r.frame, depth + 4) for r in self._evaluator.returns(value, frame, depth + 1)
                ]
                return self._common_size(found) if found else None
            case _:
                return None

    @staticmethod
    def _common_size(sizes: list[Size | None]) -> Size | None:
        first, *rest = sizes
        return first if all(size == first for size in rest) else None

    def _arithmetic(self, value: Value, frame: Activation, depth: int) -> Size | None:
        left = self.size(value.args[0], frame, depth + 1)
        right = self.size(value.args[1], frame, depth + 1)
        return None if left is None or right is None else left.calculated(str(value.data), right)

    def _parameter_size(self, value: Value, frame: Activation, depth: int) -> Size | None:
        bound = self._evaluator.argument(value, frame)
        if bound is not None:
            return self.size(bound.value, bound.frame, depth + 1)
        declared = frame.function.parameter(str(value.data))
        if declared is None:
            return None
        default = None
        if declared.default is not None:
            known = self.size(declared.default, self._evaluator.top_level(frame.module), depth + 1)
            default = None if known is None else known.number
        owner = f"{frame.module.path}:{frame.function.qualname}"
        return Size.symbol(Symbol(owner, str(value.data), default))

    def _attribute_size(self, value: Value, frame: Activation, depth: int) -> Size | None:
        found = self._evaluator.project.names.definition(frame.module, value)
        if isinstance(found, DefinedConstant):
            return self.size(found.value, self._evaluator.top_level(found.module), depth + 1)
        stored = [
            located
            for located in self._evaluator.attribute(value, frame, depth + 1)
            if not (located.value.op is Op.CONST and located.value.data is None)
        ]
        owners = self._evaluator.instances(value.args[0], frame, depth + 1)
        if len(owners) == 1 and owners[0].cls is not None and self._is_configuration(owners[0]):
            field = self._field_size(owners[0], value.data, stored, depth)
            return self._opaque_attribute(value, frame) if field is None else field
        if stored:
            sizes = [self.size(located.value, located.frame, depth + 1) for located in stored]
            agreed = self._common_size(sizes)
            if agreed is not None:
                return agreed
            if len(stored) == 1 and frame.caller is None and self_attribute(value) is not None:
                # A number that cannot be computed is still the same number wherever the class reads it.
                owner = stored[0].frame.function
                return Size.symbol(Symbol(f"{owner.module.path}:{owner.qualname}", str(value.data)))
        return self._opaque_attribute(value, frame)

    def _is_configuration(self, instance: Instance) -> bool:
        """True if an object is a record of settings whose fields keep their names: no layer."""
        cls = instance.cls
        if cls is None:
            return False
        members = self._evaluator.project.of(Members)
        known = self._evaluator.project.classes.model(cls).mro()
        if any(model.cls is None and model.name.startswith("torch.nn.") for model in known):
            return False
        return not any("forward" in owner.methods for owner in members.mro(cls))

    def _field_size(self, owner: Instance, name: str, stored: list[Located], depth: int) -> Size | None:
        """A configuration's field: the field is the symbol, its default the symbol's number.

        The keyword that the object was built with counts if it is known.
        """
        cls = owner.cls
        assert cls is not None
        if owner.call is not None and owner.frame is not None:
            given = owner.call.keywords.get(name)
            if given is not None:
                return self.size(given, owner.frame, depth + 1)
        if not stored and not self._declares(cls, name):
            return None
        default = None
        for located in stored:
            size = self.size(located.value, located.frame, depth + 1)
            if size is not None:
                default = size.number
                break
        return Size.symbol(Symbol(f"{cls.module.path}:{cls.qualname}", name, default))

    def _declares(self, cls: Class, name: str) -> bool:
        return any(name in c.annotations for c in self._evaluator.project.of(Members).mro(cls))

    def _opaque_attribute(self, value: Value, frame: Activation) -> Size | None:
        """`config.hidden_size` of an object whose class is not known: a symbol without a default."""
        parts: list[str] = []
        root = value
        while root.op is Op.ATTR:
            parts.append(root.data)
            root = root.args[0]
        if root.op is Op.PARAM and root.data == "self":
            stored = self._evaluator.attribute(_first_attribute(value), frame) if len(parts) > 1 else []
            if len(stored) == 1 and stored[0].value.op is Op.PARAM:
                return self._opaque_parameter_attribute(stored[0].value, stored[0].frame, parts[:-1])
            return None
        if root.op is not Op.PARAM:
            return None
        return self._opaque_parameter_attribute(root, frame, parts)

    def _opaque_parameter_attribute(self, value: Value, frame: Activation, parts: list[str]) -> Size | None:
        bound = self._evaluator.argument(value, frame)
        while bound is not None:
            value, frame = bound.value, bound.frame
            if value.op is not Op.PARAM:
                return None
            bound = self._evaluator.argument(value, frame)
        return Size.symbol(Symbol(f"{frame.module.path}:{value.data}", ".".join(reversed(parts))))

    def _constant_size(self, value: Value, frame: Activation, depth: int) -> Size | None:
        found = self._evaluator.project.names.definition(frame.module, value)
        if isinstance(found, DefinedConstant):
            return self.size(found.value, self._evaluator.top_level(found.module), depth + 1)
        return None


def _first_attribute(value: Value) -> Value:
    while value.args[0].op is Op.ATTR:
        value = value.args[0]
    return value
