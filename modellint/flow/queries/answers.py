"""The queries about one file, and the answers that are kept for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from modellint.flow import built
from modellint.flow.constructed import Argument as Argument
from modellint.flow.constructed import Constructed, constructed, constructed_anywhere
from modellint.flow.domain import ANY_ARGUMENTS, Arguments, has_property
from modellint.flow.noting import Known, theory_of
from modellint.flow.properties import OperatorCall, PropertyCalls
from modellint.flow.queries.calls import CallQueries
from modellint.flow.queries.names import QUERIES
from modellint.flow.queries.objects import ObjectQueries
from modellint.flow.queries.tables import TableQueries
from modellint.lazy import nearest
from modellint.link.classes.object_runs import ObjectRuns
from modellint.link.mentioned import reached
from modellint.link.values.callers import callers
from modellint.link.values.members import Members

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.flow.heap import Store
    from modellint.flow.theory import Theory
    from modellint.graph.definitions import Definition
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.link.classes.assignments import AttributeAssignment
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project


class LostLayers(NamedTuple):
    """A container in an attribute (`kept`) of an object, with layers or parameters that are not registered.

    `is_conditional`: other code registers them on some paths.
    """

    kept: AttributeAssignment
    is_conditional: bool


class Queries(TableQueries, CallQueries, ObjectQueries):
    """The queries about one file. A class is a class statement, a model of one, or a dotted name: `torch.nn.Linear`."""

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        super().__init__(module, project)
        self._constructed: dict[tuple[str, ...], list[Constructed]] = {}
        self._theories: dict[type[Theory], Theory] = {}

    def __getattr__(self, name: str) -> Any:
        """Raises AttributeError with the nearest query."""
        raise AttributeError(f"there is no query `{name}`{nearest(name, dict.fromkeys(QUERIES))}")

    def constructed(self, *names: str) -> list[Constructed]:
        """The objects that the file makes of classes with these dotted names, or of classes that derive from them.

        Each has `argument(position, name)` and a `place`: the call that determines its arguments.
        """
        objects = self._constructed.get(names)
        if objects is None:
            objects = self._constructed[names] = constructed(self._module, names, self._project)
        return objects

    def constructed_anywhere(self, cls: Class | ClassModel | str) -> list[Constructed] | None:
        """The objects that a project makes by the constructor of a class; None if others may be made out of sight."""
        model = self._model(cls)
        return None if model is None else constructed_anywhere(model, self._project)

    def stores(self, cls: Class | ClassModel | str) -> list[Store]:
        """The stores in attributes of an object of a class, in order, by its constructor and its methods.

        A `Store` has the `name`, the stored `atoms`, the path condition (`path`) and the place.
        """
        model = self._model(cls)
        return [] if model is None else self._project.of(ObjectRuns).of(model).stores

    def lost(self, cls: Class | ClassModel | str) -> list[LostLayers]:
        """The containers in attributes of a class's object that hold unregistered layers or parameters."""
        model = self._model(cls)
        finished = None if model is None else self._project.of(ObjectRuns).of(model)
        stores = () if finished is None else ((store, finished.lost(store)) for store in finished.final_stores)
        return [LostLayers(store, all(shells.values())) for store, shells in stores if shells]

    def state(
        self, cls: Class | ClassModel | str, arguments: Arguments = ANY_ARGUMENTS, *, trained: bool = False
    ) -> bool | None:
        """True if objects made with these arguments, or their children, have parameters or buffers; None if unknown.

        With `trained`, only parameters that get gradients count.
        """
        model = self._model(cls)
        return None if model is None else built.has_state(model, arguments, trained=trained)

    def registers(self, cls: Class | ClassModel | str, argument: str) -> bool | None:
        """True if the constructor of a class registers a layer that it gets as this argument; None if unknown."""
        model = self._model(cls)
        return None if model is None else built.registers(model, argument)

    def children(self, cls: Class | ClassModel | str, *, by_default: bool = False) -> Mapping[str, built.Child]:
        """The children that a constructor (perhaps) registers, by attribute, with facts about their state.

        With `by_default`, those of a call that leaves out all arguments that have a default.
        """
        model = self._model(cls)
        return {} if model is None else built.children(model, by_default=by_default)

    def theory(self, kind: type[Known]) -> Known:
        """A theory of a rule pack, after running each function of the file with unknown arguments."""
        known = self._theories.get(kind)
        if known is None:
            known = self._theories[kind] = theory_of(self._module, kind, self._project)
        return cast("Known", known)

    def calls_with(self, name: str, *names: str) -> list[OperatorCall]:
        """The calls of functions, layers or methods with these dotted names that may be given a tensor with a property.

        `flow.calls_with("probability", "torch.nn.CrossEntropyLoss", "torch.nn.functional.cross_entropy")`; each has
        `argument(position, name)`, which `has` the property on all paths, or `may_have` it on one, and a `place`.
        """
        calls = self._project.of(PropertyCalls).of(self._module)
        return [
            call
            for call in calls
            if not call.names.isdisjoint(names)
            and any(has_property(atoms, name, on_some_path=True) for atoms in call.arguments.all())
        ]

    def callers(self, function: Function) -> list[Function]:
        """The functions in the same folder that call a function, or that method of a possible object of its class."""
        return callers(self._project, function)

    def imported(self) -> Iterator[tuple[str, Definition | None]]:
        """The imported names that the file's code mentions, each with what it stands for; None if unknown.

        Those of a mentioned module follow if the code mentions them, too: `fix` in `tools.fix(ids)`.
        """
        return ((name, found) for name, _, found in reached(self._module, self._project))

    def mro(self, cls: Class) -> tuple[Class, ...]:
        """The class and its readable bases, in the order of method resolution."""
        return self._project.of(Members).mro(cls)

    def method(self, cls: Class, name: str) -> Function | None:
        """The method of an object that can be read; None also where a class stores an object under this name first."""
        return self._project.of(Members).method(cls, name)


class _Flows:
    """The queries of a project, by file."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._queries: dict[ModuleFacts, Queries] = {}

    def of(self, module: ModuleFacts) -> Queries:
        queries = self._queries.get(module)
        if queries is None:
            queries = self._queries[module] = Queries(module, self._project)
        return queries


def flow(module: ModuleFacts, project: Project) -> Queries:
    """The queries about a file."""
    return project.of(_Flows).of(module)
