"""Calls that load a recipe: of the library's functions by any name, or of functions that return their result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, Value, dotted
from modellint.link.names import DefinedClass, DefinedConstant, DefinedFunction, External

if TYPE_CHECKING:
    from modellint.graph.python import Function, ModuleFacts
    from modellint.link.project import Project

#: The functions that load a recipe; packages re-export them.
LOADERS = ("load_hyperpyyaml", "load_extended_yaml")
_PARTIAL = "functools.partial"
#: Functions that return a copy of a mapping.
_COPIES = frozenset(("dict", "copy", "deepcopy"))
_MAX_DEPTH = 8


class Loading:
    """The calls of a file that load a recipe.

    Callees are resolved by `learn`; the other methods only use the names learnt so far.
    """

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        self._module = module
        self._project = project
        self._names: dict[str, bool] = {}

    def learn(self, call: Value) -> bool:
        """Resolve the callee of a call; return whether the call loads a recipe."""
        callee: Value | None = call.callee
        if callee is not None and callee.op is Op.CALL:
            callee = callee.argument(0)  # of `functools.partial`
        name = None if callee is None else _callee_text(callee)
        if callee is not None and name is not None and name not in self._names:
            self._names[name] = self._is_loader(callee, self._module, 0)
        return self.is_load(call)

    def is_loader(self, name: str) -> bool:
        """True if a learnt name is that of a function that loads a recipe."""
        return self._names.get(name, False)

    def is_load(self, call: Value) -> bool:
        """True if a call loads a recipe, by the names learnt so far."""
        callee = call.callee
        if callee.op is Op.CALL:
            first = callee.argument(0)
            return first is not None and self.is_loader(_callee_text(first) or "") and self._is_partial(callee)
        if callee.op is Op.LAMBDA:
            return bool(callee.args) and self.is_loaded(callee.args[0])
        name = _callee_text(callee)
        return name is not None and (self.is_loader(name) or name.rpartition(".")[2] in LOADERS)

    def is_loaded(self, value: Value, depth: int = 0) -> bool:
        """True if a value of the file is a loaded recipe."""
        if value.op is Op.GLOBAL and depth < _MAX_DEPTH:
            constant = self._module.constants.get(value.data)
            return constant is not None and self.is_loaded(constant, depth + 1)
        return value.op is Op.CALL and self.is_load(value)

    def _is_partial(self, call: Value) -> bool:
        found = self._project.names.definition(self._module, call.callee)
        return isinstance(found, External) and found.name == _PARTIAL

    # -- callees -----------------------------------------------------------------------------------------------

    def _is_loader(self, callee: Value, module: ModuleFacts, depth: int) -> bool:
        """True if a callee returns a loaded recipe."""
        if depth > _MAX_DEPTH:
            return False
        if callee.op is Op.LAMBDA:
            return bool(callee.args) and self._loads(callee.args[0], module, depth + 1)
        if callee.op is Op.CALL:
            first = callee.argument(0)
            return first is not None and self._is_partial(callee) and self._is_loader(first, module, depth + 1)
        if (callee_name(callee) or "").rpartition(".")[2] in LOADERS:
            return True
        found = self._project.names.definition(module, callee)
        if isinstance(found, External):
            return found.name.rpartition(".")[2] in LOADERS
        if isinstance(found, DefinedConstant):
            return self._is_loader(found.value, found.module, depth + 1)
        function = found.function if isinstance(found, DefinedFunction) else self._method(callee, module)
        return function is not None and (function.name in LOADERS or self._returns(function, depth))

    def _method(self, callee: Value, module: ModuleFacts) -> Function | None:
        """The method of `Reader().read`."""
        if callee.op is not Op.ATTR or callee.args[0].op is not Op.CALL:
            return None
        found = self._project.names.definition(module, callee.args[0].callee)
        return found.cls.methods.get(callee.data) if isinstance(found, DefinedClass) else None

    def _returns(self, function: Function, depth: int) -> bool:
        """True if a function near the file returns a loaded recipe on all paths."""
        module = function.module
        is_near = module is self._module or module.file.is_relative_to(self._module.file.parent)
        if not is_near and not any(loader in module.text for loader in LOADERS):
            return False
        returned = [event.value for event in function.flow.of(EventKind.RETURN)]
        return bool(returned) and all(self._loads(value, module, depth + 1) for value in returned)

    def _loads(self, value: Value, module: ModuleFacts, depth: int) -> bool:
        if value.op is Op.CALL:
            is_copy = (callee_name(value.callee) or "").rpartition(".")[2] in _COPIES and len(value.positional) == 1
            if is_copy and self._loads(value.positional[0], module, depth + 1):
                return True
            return self._is_loader(value.callee, module, depth)
        if value.op is Op.UPDATE:
            return self._loads(value.args[0], module, depth)
        if value.op is Op.CHOICE and depth < _MAX_DEPTH:
            options = [arg for arg in value.args if not (arg.op is Op.CONST and arg.data is None)]
            return bool(options) and all(self._loads(arg, module, depth + 1) for arg in options)
        return False


def _callee_text(callee: Value) -> str | None:
    """The text of a callee that is a name, an attribute, or a method of a new object; else None."""
    if callee.op is Op.ATTR and callee.args[0].op is Op.CALL:
        owner = callee_name(callee.args[0].callee)
        return None if owner is None else f"{owner}().{callee.data}"
    return callee_name(callee)


def callee_name(callee: Value) -> str | None:
    """The dotted name of a callee; None for other expressions."""
    if callee.op in (Op.INNER, Op.UNKNOWN) and isinstance(callee.data, str):
        return callee.data
    return dotted(callee)
