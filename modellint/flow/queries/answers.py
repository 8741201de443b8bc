"""The queries about one file, and the answers that are kept for it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from modellint.flow import built
from modellint.flow.constructed import Argument as Argument
from modellint.flow.constructed import Constructed, constructed
from modellint.flow.domain import ANY_ARGUMENTS, Arguments
from modellint.flow.noting import Known, theory_of
from modellint.flow.queries.calls import Argument as CallArgument
from modellint.flow.queries.calls import Call, Calls
from modellint.flow.queries.names import QUERIES
from modellint.flow.queries.objects import ObjectQueries
from modellint.flow.queries.values import Operand
from modellint.lazy import nearest
from modellint.link.classes.object_runs import ObjectRuns
from modellint.link.values.callers import callers
from modellint.link.values.indexed import Indexed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from modellint.flow.heap import Store
    from modellint.flow.lookup_records import Lookup
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.classes.assignments import AttributeAssignment
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project


class LostLayers(NamedTuple):
    """A container in an attribute (`kept`) of an object, with layers or parameters that are not registered.

    `is_conditional`: other code registers them on some paths.
    """

    kept: AttributeAssignment
    is_conditional: bool


class Queries(ObjectQueries):
    """The queries about one file. A class is a class statement, a model of one, or a dotted name: `torch.nn.Linear`."""

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        self._module = module
        self._project = project
        self._constructed: dict[tuple[str, ...], list[Constructed]] = {}

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

    @cached_property
    def _all_calls(self) -> Calls:
        return Calls(self._module, self._project)

    def calls(self, *names: str) -> Sequence[Call]:
        """The calls of functions, methods and layers with these dotted names; all calls of the file without a name.

        `torch.nn.functional.cross_entropy`, `torch.Tensor.view` (on what certainly is a tensor), or a class:
        `torch.nn.CrossEntropyLoss` are the calls of its objects, wherever these are made and kept, and of objects of
        classes that derive from it. Its constructions are `constructed`.
        """
        return self._all_calls.of(names) if names else self._all_calls.all

    def constructions(self, *names: str) -> list[Call]:
        """The calls in the file that construct a class with one of these dotted names, as they are written.

        `constructed` follows helpers, subclasses and files, and knows the arguments' values; this costs less.
        """
        return self._all_calls.of_functions(names)

    def dropped_calls(self) -> Iterator[Call]:
        """The calls that are statements of their own, so that nothing gets their result."""
        for function in (*self._module.all_functions(), self._module.body):
            yield from (Call(event, function, self._project) for event in function.flow.dropped)

    def reaches(
        self, sources: Collection[str], sinks: Collection[str], barriers: Collection[str] = ()
    ) -> Iterator[tuple[Operand, Call, CallArgument]]:
        """The arguments of calls of `sinks` that may come from a call of `sources`, not through one of `barriers`.

        Each with the call that it comes from.
        """
        for call in self.calls(*sinks):
            names = (*range(len(call.value.positional)), *call.value.keywords)
            for name in names:
                argument = call.argument(name) if isinstance(name, int) else call.argument(len(names), name)
                source = None if argument is None else argument.made_by(*sources, barriers=barriers)
                if argument is not None and source is not None:
                    yield source, call, argument

    def operand(self, value: Value, function: Function) -> Operand:
        """A value of one of the file's functions, to ask for its kind and where it comes from."""
        return Operand(value, function, self._project)

    def lookups(self) -> Iterator[Lookup]:
        """The look-ups of known elements in tables, each with the table's `rows`, the `element` and the `steps`."""
        return self._project.of(Indexed).lookups(self._module)

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

    def children(self, cls: Class | ClassModel | str) -> Mapping[str, built.Child]:
        """The children that a constructor (perhaps) registers, by attribute, with facts about their state."""
        model = self._model(cls)
        return {} if model is None else built.children(model)

    def theory(self, kind: type[Known]) -> Known:
        """A theory of a rule pack, after running each function of the file with unknown arguments."""
        return theory_of(self._module, kind, self._project)

    def callers(self, function: Function) -> list[Function]:
        """The functions in the same folder that call a function, or that method of a possible object of its class."""
        return callers(self._project, function)


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
