"""The function that a callee names: enough to look into it, where `reached` would ask for too much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.definitions import DefinedFunction
from modellint.graph.value import self_attribute

if TYPE_CHECKING:
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project


def named_function(callee: Value, module: ModuleFacts, owner: Class | None, project: Project) -> Function | None:
    """The function of the project that a callee in a file names; None if there is none.

    `self.encode` is the method of `owner`, the class of the object, or of its bases. Subclasses may override it, and
    other code may replace it: `CallReach` and `is_certain` tell which function a call certainly runs.
    """
    name = self_attribute(callee)
    if name is not None:
        return None if owner is None else project.classes.model(owner).method(name)
    found = project.names.definition(module, callee)
    return found.function if isinstance(found, DefinedFunction) else None
