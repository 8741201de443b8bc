"""What a function does with an object that it has just made: calls it, returns it, keeps it, or changes its weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.classes import calls

if TYPE_CHECKING:
    from modellint.graph.python import Function
    from modellint.graph.value import Value
    from modellint.link.project import Project

#: Methods of a layer that give back the layer, or its layers.
_ITSELF = frozenset(
    """to cuda cpu eval train float half double bfloat16 type requires_grad_ values items children modules append
    extend insert""".split()
)
#: Builtins that pass on what they are given.
_PASS = frozenset(("list", "tuple", "reversed", "enumerate", "zip", "iter", "next", "set"))
#: Methods by which a layer is at work.
_WORK = frozenset(("forward", "__call__"))
_HOLDERS = frozenset((Op.CHOICE, Op.BOOL, Op.LIST, Op.TUPLE, Op.SET, Op.DICT, Op.COMPREHENSION, Op.STARRED, Op.UPDATE))
_PARTS = frozenset((Op.INDEX, Op.ITEM, Op.UNPACK))


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of an object: the call that uses it, the attribute of `self` that keeps it, whether it is returned.

    `is_altered`: its weights come from elsewhere, or what happens to it is not known.
    """

    use: Value | None = None
    attribute: str | None = None
    is_returned: bool = False
    is_altered: bool = False


class Usage:
    """Follows objects through one function."""

    def __init__(self, function: Function, project: Project) -> None:
        self._function = function
        self._project = project

    def of(self, made: Value) -> Fate:
        """The fate of the object that the call `made` gives."""
        return _Search(self._function, self._project, made).fate()


class _Search:
    def __init__(self, function: Function, project: Project, made: Value) -> None:
        self.function = function
        self.project = project
        self.made = made
        self.known: dict[int, bool] = {id(made): True}

    def carries(self, value: Value) -> bool:
        """Whether a value is the object, or holds it."""
        known = self.known.get(id(value))
        if known is None:
            self.known[id(value)] = False  # what a loop leads back to adds nothing
            known = self.known[id(value)] = self._carries(value)
        return known

    def _carries(self, value: Value) -> bool:
        if value.op in _HOLDERS:
            return any(self.carries(arg) for arg in value.args)
        if value.op in _PARTS:
            return self.carries(value.args[0])
        if value.op is Op.ATTR:
            return len(value.args) > 1 and self.carries(value.args[1])
        return value.op is Op.CALL and self._passes_on(value)

    def _passes_on(self, call: Value) -> bool:
        """Whether a call gives what holds the object: a container or another layer built from it, or itself moved."""
        callee = call.callee
        if callee.op is Op.ATTR and callee.data in _ITSELF and self.carries(callee.args[0]):
            return True
        if not any(self.carries(arg) for arg in call.args[1:]):
            return False
        if callee.op is Op.GLOBAL and callee.data in _PASS:
            return True
        model = self.project.classes.resolve(callee, self.function.module)
        return model is not None and model.is_module is True

    def fate(self) -> Fate:
        use: Value | None = None
        attribute: str | None = None
        returned = altered = False
        for event in self.function.flow.events:
            value = event.value
            if event.kind is EventKind.CALL:
                if self._is_use(value):
                    use = use or value
                elif self._is_alteration(value):
                    altered = True
            elif event.kind is EventKind.STORE and event.target is not None:
                target = event.target
                if self.carries(value):
                    name = self_attribute(target)
                    if name is not None:
                        attribute = name
                    elif not self._is_local(target):
                        altered = True  # kept where it may be found again
                elif self._is_part(target):
                    altered = True
            elif event.kind in (EventKind.RETURN, EventKind.YIELD):
                returned = returned or self.carries(value)
        return Fate(use, attribute, returned, altered)

    def _is_local(self, target: Value) -> bool:
        """Whether something is put into a container that this function made."""
        root = target
        while root.op in (Op.INDEX, Op.UPDATE):
            root = root.args[0]
        return root.op in (Op.LIST, Op.DICT, Op.CALL, Op.COMPREHENSION, Op.CHOICE)

    def _is_part(self, target: Value) -> bool:
        """`layer.weight`, `layer.weight.data`, `layer.weight[0]`."""
        while target.op in (Op.ATTR, Op.INDEX):
            target = target.args[0]
            if self.carries(target):
                return True
        return False

    def _is_use(self, call: Value) -> bool:
        callee = call.callee
        if self.carries(callee):
            return True
        if callee.op is Op.ATTR and self.carries(callee.args[0]):
            return callee.data in _WORK or self._is_own_method(callee)
        is_checkpoint = callee.op in (Op.ATTR, Op.GLOBAL) and "checkpoint" in str(callee.data)
        return is_checkpoint and any(self._reaches(arg) for arg in call.args[1:])

    def _reaches(self, value: Value) -> bool:
        """The object, or a method of it that is passed on uncalled."""
        return self.carries(value) or (value.op is Op.ATTR and self.carries(value.args[0]))

    def _is_own_method(self, callee: Value) -> bool:
        """Whether a method that its class defines, not torch, is called on the object."""
        if callee.data in _ITSELF or self.made.op is not Op.CALL:
            return False
        model = self.project.classes.resolve(self.made.callee, self.function.module)
        if model is None:
            return False
        owners = (owner for owner in model.mro() if not owner.name.startswith("torch."))
        return any(owner.facts.has_method(str(callee.data)) for owner in owners)

    def _is_alteration(self, call: Value) -> bool:
        """Whether a call may change the object's weights, or do something with it that cannot be seen."""
        callee = call.callee
        if callee.op is Op.ATTR and self._is_part_of_object(callee.args[0]):
            return not (callee.data in _ITSELF and self.carries(callee.args[0])) and _changes(str(callee.data))
        given = [arg for arg in call.args[1:] if self._is_part_of_object(arg)]
        if not given or self._passes_on(call):
            return False
        if callee.op is Op.ATTR and self_attribute(callee.args[0]) is None and callee.data in ("append", "extend"):
            return not self._is_local(callee.args[0])
        return callee.op is not Op.GLOBAL or callee.data not in ("print", "isinstance", "len", "id", "type")

    def _is_part_of_object(self, value: Value) -> bool:
        if self.carries(value):
            return True
        if value.op is Op.ATTR and value.data in calls.PLAIN_ATTRIBUTES:
            return False
        return value.op in (Op.ATTR, Op.INDEX) and self._is_part_of_object(value.args[0])


def _changes(method: str) -> bool:
    return (method.endswith("_") and not method.endswith("__")) or method in (
        *("load_state_dict", "parameters", "named_parameters", "state_dict", "apply", "register_parameter"),
        *("register_buffer", "load_weights", "copy_weights"),
    )
