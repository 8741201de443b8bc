"""Runs of functions and objects under a theory that a rule chooses, where no query has the answer.

with queries.run(project, Theory) as run:
    run.follow(module.functions["forward"])
    run.theory.noted
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from modellint.flow.domain import ANY_ARGUMENTS, Arguments, FunctionRef, Plain, Unknown, size_of
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell
from modellint.flow.lookups import Lookups
from modellint.flow.runs import called, follow, tensor_run
from modellint.flow.tensors import Tensors
from modellint.flow.theory import Theory
from modellint.graph.size import Size, Symbol
from modellint.graph.value import Op
from modellint.link.classes.definitions import SourceMethod

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from modellint.flow.domain import Atoms, Site
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path
    from modellint.flow.interp import Interpreter
    from modellint.flow.lookup_records import IdLayer
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project

Following = TypeVar("Following", bound=Theory)


def symbol_of_field(value: Value | None, made: Site) -> Size | None:
    """A symbol for an attribute of an object, by where the object comes from; None for other expressions."""
    owner = value.args[0] if value is not None and value.op is Op.ATTR else None
    if value is None or owner is None or made.function is None:
        return None
    path: list[str] = []
    while owner.op is Op.ATTR:
        path.append(str(owner.data))
        owner = owner.args[0]
    if owner.op is Op.CALL:
        home = f"{made.module.path}:{made.function.qualname}:{owner.line}:{owner.offset}"
    elif owner.op is Op.PARAM and owner.data == "self" and path and made.function.owner is not None:
        home = f"{made.module.path}:{made.function.owner.qualname}"
    else:
        return None
    return Size.symbol(Symbol(".".join((home, *reversed(path))), str(value.data)))


class Run(Generic[Following]):
    """A run of functions with unknown arguments; `theory` has what was noted on the way.

    A value is a tuple of its alternatives; one that is not known contains `Unknown`. Values and layers are read by
    `Lookups`, so a theory other than that names it in `rests_on` or `goes_before`. The run ends with the file that is
    checked, or by `close`.
    """

    def __init__(self, project: Project, kind: type[Following], *before: Callable[[Interpreter], Theory]) -> None:
        self._project = project
        self.interpreter, self.theory = tensor_run(project, kind, *before)
        self._objects: dict[Class, Shell] = {}

    @cached_property
    def _lookups(self) -> Lookups:
        return self.interpreter.of(Lookups)

    def __enter__(self) -> Run[Following]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the run; what its theory noted stays."""
        self.interpreter.close()

    # -- functions -------------------------------------------------------------------------------------------------

    def receivers(self, function: Function) -> Iterator[Shell | None]:
        """The objects that a method is called on: one of its class, or of each layer that a mixin is part of.

        None for a function of no object.
        """
        for reference, _ in called(function, self._objects, self._project):
            assert reference.receiver is None or isinstance(reference.receiver, Shell)
            yield reference.receiver

    def follow(self, *functions: Function) -> None:
        """Run functions, methods on each of their `receivers`."""
        for function in functions:
            follow(function, self._objects, self.interpreter)

    def call(self, function: Function, receiver: Shell | None, /, **given: Atoms) -> Atoms:
        """Run a function, and return its result, which is known only if RETURN events matter to the theory.

        Arguments are `given` by the names of their parameters; others are unknown.
        """
        arguments = Arguments((), given, is_complete=False) if given else ANY_ARGUMENTS
        return self.interpreter.start(self._reference(function, receiver), self._frame(function), arguments)

    def followed(self) -> Collection[Function]:
        """The functions that have been run, by others, too."""
        return self.interpreter.calls.done

    # -- values ----------------------------------------------------------------------------------------------------

    def body(self, function: Function, receiver: Shell | None) -> Frame:
        """The body of a function with unknown arguments, in which its values can be evaluated."""
        return self.interpreter.body(self._reference(function, receiver), self._frame(function))

    def evaluate(self, value: Value, body: Frame) -> Atoms:
        """The alternatives of a value in a body that is not being run."""
        return self._lookups.evaluated(value, body)

    def evaluate_at(self, event: Event, body: Frame) -> Atoms:
        """The alternatives of an event's value where the event happens."""
        return self._lookups.asked(lambda: self.interpreter.evaluate_at(event, body), body)

    # -- objects ---------------------------------------------------------------------------------------------------

    def object_of(self, cls: Class) -> Shell:
        """A new object of a class, constructed with unknown arguments."""
        shell = Shell("instance", None, (id(cls),), self._project.classes.model(cls), ANY_ARGUMENTS)
        self.construct(shell)
        return shell

    def construct(self, shell: Shell) -> None:
        """Run the constructor of an object, unless that was done."""
        self.interpreter.begin()
        self.interpreter.objects.construct(shell)

    def construct_layers(self) -> None:
        """Run the constructors of all layers that the run has made, of those that these make, and so on."""
        pending = list(self.objects())
        while pending:
            known = len(self.objects())
            for shell in pending:
                if shell.is_layer:
                    self.interpreter.objects.construct(shell)
                    shell.find_out()
            pending = list(islice(self.objects(), known, None))

    def objects(self) -> Collection[Shell]:
        """The objects that the run has made."""
        return self.interpreter.shells()

    def call_for_constructor(self, method: Function, shell: Shell) -> None:
        """Run a method of an object as if its constructor called it."""
        self.interpreter.objects.under_construction.append(shell)
        self.call(method, shell)
        self.interpreter.objects.under_construction.pop()

    def attribute(self, shell: Shell, name: str) -> Iterator[tuple[Atoms, Path]]:
        """The values that an object stores as `self.name`, each with the conditions under which it does."""
        assert shell.model is not None
        frame = class_frame(shell.model.facts.scope, id(shell))
        for atoms, path in list(shell.history.get(name, ())):
            yield (self._lookups.asked(atoms, frame) if callable(atoms) else atoms), path

    def method(self, shell: Shell, name: str) -> FunctionRef | None:
        """The method of an object that can be read; None if there is none."""
        return self.interpreter.objects.own_method(shell, name)

    # -- layers ----------------------------------------------------------------------------------------------------

    def layers_in(self, atoms: Atoms, path: Path = ()) -> Iterator[tuple[Shell, Path]]:
        """The layers that a value is or holds, each with the conditions under which it does; `path` holds for all."""
        return self._layers_in(atoms, path, set())

    def _layers_in(self, atoms: Atoms, path: Path, seen: set[Shell]) -> Iterator[tuple[Shell, Path]]:
        for atom in atoms:
            if not isinstance(atom, Shell) or atom in seen:
                continue
            seen.add(atom)
            if atom.is_container or atom.is_module_container:
                self.interpreter.objects.construct(atom)
                for entry in list(atom.entries):
                    yield from self._layers_in(entry.atoms, (*path, *entry.path), seen)
            elif atom.is_layer:
                yield atom, path

    def is_table(self, shell: Shell) -> bool:
        """True if an object is a layer that looks up rows, such as `nn.Embedding`."""
        return self._lookups.is_table(shell)

    def argument(self, shell: Shell, position: int, name: str) -> Atoms | None:
        """An argument of torch's constructor for a layer of torch, or of a class that derives from one."""
        return self.interpreter.of(Tensors).argument(shell, (position, name))

    def size(self, shell: Shell, *facets: str) -> Size | None:
        """The size that a layer of torch is given for the first of these facets that its row has: `width`, `own-width`.

        None if it has none of them, or if the size is unknown.
        """
        row = self._lookups.row_of(shell) if shell.kind == "instance" else None
        argument = None if row is None else next((a for facet in facets if (a := row.argument(facet))), None)
        return None if argument is None else self.size_given(shell, *argument)

    def size_given(self, shell: Shell, position: int, name: str) -> Size | None:
        """The size that a layer's constructor gets as an argument; None if it is unknown.

        A field of an object that cannot be read is a symbol: `config.hidden_size`, with another library's `config`.
        """
        given = self.argument(shell, position, name)
        size = size_of(given)
        if size is not None or given is None or not all(isinstance(atom, Unknown | Plain) for atom in given):
            return size
        made = shell.site
        is_own = shell.passed in (None, shell.arguments) and shell.model is not None
        if made is None or not is_own or made.value.op is not Op.CALL or made.value.has_unpacking:
            return None
        return symbol_of_field(made.value.argument(position, name), made)

    def padding_of(self, shell: Shell) -> tuple[Atoms, Atoms] | None:
        """The number of rows of a table and its `padding_idx`; None if it is no table or has no such row."""
        return self._lookups.padding_of(shell)

    def id_layer(self, layers: Atoms) -> IdLayer | None:
        """The number of ids that layers are made for: rows of a table, outputs of a projection; None if they differ."""
        return self._lookups.sided(layers)

    def _reference(self, function: Function, receiver: Shell | None) -> FunctionRef:
        return FunctionRef(SourceMethod(function, self._project.names), None, receiver)

    def _frame(self, function: Function) -> Frame:
        return class_frame(SourceMethod(function, self._project.names).scope, id(function))


def run(project: Project, kind: type[Following], *before: Callable[[Interpreter], Theory]) -> Run[Following]:
    """A new run that follows tensors with a theory of class `kind`, others asked `before` it."""
    return Run(project, kind, *before)
