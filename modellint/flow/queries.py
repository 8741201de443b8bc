"""What rules ask of code that is run on paper, about one file: what it makes and looks up, and what its objects keep.

`flow(module, project)` answers, and what it found out is kept until the file has been checked. Answers hold for every
way in which a value gets where it is: through variables, branches, calls, containers, attributes, configurations and
files. Numbers are counts of what torch counts: rows of a table, positions from 0. An answer is None where it is not
known, and what is not known is never among those that are listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modellint.flow import built
from modellint.flow.constructed import Argument as Argument
from modellint.flow.constructed import Constructed, constructed
from modellint.flow.domain import ANY_ARGUMENTS, Arguments
from modellint.flow.noting import Known, theory_of
from modellint.graph.python import Class
from modellint.link.classes.object_runs import ObjectRuns
from modellint.link.values.callers import callers
from modellint.link.values.indexed import Indexed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.flow.heap import Store
    from modellint.flow.lookup_records import Lookup
    from modellint.graph.python import Function, ModuleFacts
    from modellint.link.classes.assignments import AttributeAssignment
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project


class LostLayers(NamedTuple):
    """A container that an object keeps, in which layers or parameters stand that torch is told nothing of.

    `is_conditional`: something registers them on some paths.
    """

    kept: AttributeAssignment
    is_conditional: bool


class Queries:
    """The questions. A class is a class statement, a model of one, or its dotted name: `torch.nn.Linear`."""

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        self._module = module
        self._project = project
        self._constructed: dict[tuple[str, ...], list[Constructed]] = {}

    def constructed(self, *names: str) -> list[Constructed]:
        """The objects of classes with these dotted names, or of classes that derive from them, which the file makes.

        Each has a `place`, where all is known that is known of its arguments, and `argument(position, name)`.
        """
        found = self._constructed.get(names)
        if found is None:
            found = self._constructed[names] = constructed(self._module, names, self._project)
        return found

    def lookups(self) -> Iterator[Lookup]:
        """Where elements of which something is known index a table: its `rows`, the `element`, the `steps` to there."""
        return self._project.of(Indexed).lookups(self._module)

    def stores(self, cls: Class | ClassModel | str) -> list[Store]:
        """What is stored under which attribute of an object of a class, in order: by its constructor and its methods.

        A `Store` has the `name`, what it may be (`atoms`), the open conditions (`path`), and where it is written.
        """
        model = self._model(cls)
        return [] if model is None else self._project.of(ObjectRuns).of(model).stores

    def lost(self, cls: Class | ClassModel | str) -> list[LostLayers]:
        """The containers of an object of a class with layers or parameters in them that are registered nowhere."""
        model = self._model(cls)
        finished = None if model is None else self._project.of(ObjectRuns).of(model)
        found = () if finished is None else ((kept, finished.lost(kept)) for kept in finished.final_stores)
        return [LostLayers(kept, all(shells.values())) for kept, shells in found if shells]

    def state(
        self, cls: Class | ClassModel | str, arguments: Arguments = ANY_ARGUMENTS, *, trained: bool = False
    ) -> bool | None:
        """Whether objects of a class that are given these arguments have parameters or buffers, children's included.

        With `trained` only parameters that gradients reach count.
        """
        model = self._model(cls)
        return None if model is None else built.has_state(model, arguments, trained=trained)

    def registers(self, cls: Class | ClassModel | str, argument: str) -> bool | None:
        """Whether the constructor of a class makes a layer that it is given as this argument a part of the object."""
        model = self._model(cls)
        return None if model is None else built.registers(model, argument)

    def children(self, cls: Class | ClassModel | str) -> Mapping[str, built.Child]:
        """What a constructor registers, or may register, by attribute, and whether that has state and parameters."""
        model = self._model(cls)
        return {} if model is None else built.children(model)

    def theory(self, kind: type[Known]) -> Known:
        """A theory of a rule pack, with all that it has noted when each function of the file was run, with anything."""
        return theory_of(self._module, kind, self._project)

    def callers(self, function: Function) -> list[Function]:
        """The functions in the same folder that call a function, or a method of what may be an object of its class."""
        return callers(self._project, function)

    def _model(self, cls: Class | ClassModel | str) -> ClassModel | None:
        classes = self._project.classes
        if isinstance(cls, Class):
            return classes.model(cls)
        return classes.resolve(cls, self._module.file) if isinstance(cls, str) else cls


class _Flows:
    """What was asked of the files of a project, for as long as one is checked."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[ModuleFacts, Queries] = {}

    def of(self, module: ModuleFacts) -> Queries:
        found = self._known.get(module)
        if found is None:
            found = self._known[module] = Queries(module, self._project)
        return found


def flow(module: ModuleFacts, project: Project) -> Queries:
    """What is asked of a file that is run on paper."""
    return project.of(_Flows).of(module)
