"""Members of classes that can be read: methods by the MRO, and the attributes that they store on `self`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modellint.graph.value import Event, EventKind, Op, self_attribute
from modellint.link.names import DefinedClass

if TYPE_CHECKING:
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Value
    from modellint.link.project import Project

Stored = tuple["Function", Event]


class Held(NamedTuple):
    """A value that an attribute may hold, and the function that it stands in; that of a file for a class body."""

    value: Value
    function: Function


#: How many classes of an MRO are considered.
_MAX_CLASSES = 40


class Members:
    """Looks up members of classes that can be read. Reached as `project.of(Members)`."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._mro: dict[Class, tuple[Class, ...]] = {}
        self._calls_on: dict[tuple[Class, str, tuple[str, ...]], list[Stored]] = {}

    def mro(self, cls: Class) -> tuple[Class, ...]:
        """The class and its readable bases in the order of method resolution, at most `_MAX_CLASSES`."""
        found = self._mro.get(cls)
        if found is None:
            own = self._project.classes.model(cls)
            is_first = not any(isinstance(base, DefinedClass) for base in own.facts.bases)
            models = (own,) if is_first else own.mro()  # what is known of libraries is read for no more than that
            classes = [model.cls for model in models if model.cls is not None]
            found = self._mro[cls] = tuple(classes[:_MAX_CLASSES])
        return found

    def method(self, cls: Class, name: str) -> Function | None:
        """The method `name` by the MRO; None if a class stores an object under this name first."""
        for owner in self.mro(cls):
            found = owner.methods.get(name)
            if found is not None or any(owner.stores(name)):
                return found
        return None

    def method_after(self, cls: Class, below: Class, name: str) -> Function | None:
        """The method that `super().name` in class `below` resolves to for an object of `cls`."""
        mro = self.mro(cls)
        rest = mro[mro.index(below) + 1 :] if below in mro else ()
        return next((c.methods[name] for c in rest if name in c.methods), None)

    def attribute(self, cls: Class, name: str) -> list[Held]:
        """The values that `self.name` may be: those of `stores`, else the one in the first class body that has one."""
        found = [Held(event.value, function) for function, event in self.stores(cls, name)]
        owner = None if found else next((one for one in self.mro(cls) if name in one.attributes), None)
        return found if owner is None else [Held(owner.attributes[name], owner.module.body)]

    def stores(self, cls: Class, name: str) -> list[Stored]:
        """Every `self.name = …` in the methods of the first class of the MRO that has one, each with its method."""
        return next(filter(None, (list(owner.stores(name)) for owner in self.mro(cls))), [])

    def calls_on(self, cls: Class, name: str, methods: tuple[str, ...]) -> list[Stored]:
        """Calls of some methods of `self.name`, like `self.name.append(…)`, in a class and its bases."""
        key = (cls, name, methods)
        found = self._calls_on.get(key)
        if found is None:
            found = self._calls_on[key] = self._find_calls_on(cls, name, methods)
        return found

    def _find_calls_on(self, cls: Class, name: str, methods: tuple[str, ...]) -> list[Stored]:
        return [
            (function, event)
            for owner in self.mro(cls)
            for function in owner.mentioned.get(name, ())
            for event in function.flow.of(EventKind.CALL)
            if event.value.callee.op is Op.ATTR
            and event.value.callee.data in methods
            and self_attribute(event.value.callee.args[0]) == name
        ]
