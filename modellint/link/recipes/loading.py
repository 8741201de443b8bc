"""Which calls load a recipe: the library's functions by any name, and whatever hands on what they return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, Value, dotted
from modellint.link.names import DefinedClass, DefinedConstant, DefinedFunction, External

if TYPE_CHECKING:
    from modellint.graph.python import Function, ModuleFacts
    from modellint.link.project import Project

#: The functions that load a recipe; packages hand them on under their own names.
LOADERS = ("load_hyperpyyaml", "load_extended_yaml")
_PARTIAL = "functools.partial"
#: What gives back a mapping like the one that it is given.
_COPIES = frozenset(("dict", "copy", "deepcopy"))
_MAX_DEPTH = 8


class Loading:
    """The calls of a file that load a recipe.

    What names stand for is looked up while the file's calls are learnt, and known from then on.
    """

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        self._module = module
        self._project = project
        self._names: dict[str, bool] = {}

    def learn(self, call: Value) -> bool:
        """Whether a call of the file loads a recipe; what it calls is looked up."""
        callee: Value | None = call.callee
        if callee is not None and callee.op is Op.CALL:
            callee = callee.argument(0)  # of `functools.partial`
        name = None if callee is None else _written(callee)
        if callee is not None and name is not None and name not in self._names:
            self._names[name] = self._is_loader(callee, self._module, 0)
        return self.is_load(call)

    def is_loader(self, name: str) -> bool:
        """Whether what is called by a name loads a recipe."""
        return self._names.get(name, False)

    def is_load(self, call: Value) -> bool:
        """Whether a call loads a recipe, as far as its function has been learnt."""
        callee = call.callee
        if callee.op is Op.CALL:
            first = callee.argument(0)
            return first is not None and self.is_loader(_written(first) or "") and self._is_partial(callee)
        if callee.op is Op.LAMBDA:
            return bool(callee.args) and self.is_loaded(callee.args[0])
        name = _written(callee)
        return name is not None and (self.is_loader(name) or name.rpartition(".")[2] in LOADERS)

    def is_loaded(self, value: Value, depth: int = 0) -> bool:
        """Whether a value of the file is what a call has loaded."""
        if value.op is Op.GLOBAL and depth < _MAX_DEPTH:
            constant = self._module.constants.get(value.data)
            return constant is not None and self.is_loaded(constant, depth + 1)
        return value.op is Op.CALL and self.is_load(value)

    def _is_partial(self, call: Value) -> bool:
        found = self._project.names.definition(self._module, call.callee)
        return isinstance(found, External) and found.name == _PARTIAL

    # -- what names stand for ----------------------------------------------------------------------------------

    def _is_loader(self, callee: Value, module: ModuleFacts, depth: int) -> bool:
        """Whether what is called returns what a recipe is loaded as."""
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
        """The method that `Reader().read` is."""
        if callee.op is not Op.ATTR or callee.args[0].op is not Op.CALL:
            return None
        found = self._project.names.definition(module, callee.args[0].callee)
        return found.cls.methods.get(callee.data) if isinstance(found, DefinedClass) else None

    def _returns(self, function: Function, depth: int) -> bool:
        """Whether all that a function returns is a recipe that it has loaded; libraries have no such functions."""
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


def _written(callee: Value) -> str | None:
    """A callee as it is written, where that is a name, an attribute of one, or a method of what a name makes."""
    if callee.op is Op.ATTR and callee.args[0].op is Op.CALL:
        owner = callee_name(callee.args[0].callee)
        return None if owner is None else f"{owner}().{callee.data}"
    return callee_name(callee)


def callee_name(callee: Value) -> str | None:
    """The dotted name that a call goes to, where it is a name."""
    if callee.op in (Op.INNER, Op.UNKNOWN) and isinstance(callee.data, str):
        return callee.data
    return dotted(callee)
