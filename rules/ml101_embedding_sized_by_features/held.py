"""The tables and layers that objects of a file's classes hold, and the sizes of the tables, followed forwards."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.definitions import DefinedFunction
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, Value, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.size import Size
    from modellint.rule import Project

#: Operations whose result may be a number among the arguments of a call.
_NUMBERS = frozenset((Op.PARAM, Op.ATTR, Op.BIN))
#: The arguments of a table that are its sizes.
_ROWS, _COLUMNS = (0, "num_embeddings"), (1, "embedding_dim")


@dataclass(frozen=True, eq=False, slots=True)
class TableSize:
    """A size of a table, in rows or columns: its value, if it is known, and the expression that it is written as."""

    size: Size | None
    written: queries.Site | None

    @property
    def text(self) -> str:
        """The source text of the size."""
        return str(self.size) if self.written is None else self.written.module.text_of(self.written.value)

    @property
    def names(self) -> str:
        """All names of the size: in its expression, and in those of callers that pass it."""
        symbols = () if self.size is None else sorted({symbol.name for symbol in self.size.symbols})
        return " ".join((self.text, *symbols))

    @property
    def is_counted(self) -> bool:
        """`len(…)`"""
        return self.written is not None and self.written.value.op is Op.CALL and self.written.value.callee.data == "len"


@dataclass(frozen=True, eq=False, slots=True)
class Held:
    """A table that is made at `made`, and the attribute of the object that holds it, if one does.

    `call` is where a file makes it: that place, or a call of another file's function that makes it. `way` has the calls
    that lead to it, by identity.
    """

    made: queries.Site
    call: queries.Site
    way: queries.Trail
    rows: TableSize
    columns: TableSize | None
    has_padding: bool
    holder: queries.Shell | None = None
    attribute: str = ""
    path: queries.Path = ()

    @property
    def is_written_here(self) -> bool:
        """True if the call that makes it has both sizes as arguments."""
        sizes = (self.rows, self.columns)
        given = self.call.value.args
        return all(size is not None and size.written is not None and size.written.value in given for size in sizes)

    def is_made_as(self, shell: queries.Shell) -> bool:
        """True if an object is this table, perhaps in another run."""
        if shell.site != self.made:
            return False
        near = min(len(self.way), len(shell.trail))
        return not near or self.way[-near:] == shell.trail[-near:]


@dataclass(frozen=True, eq=False, slots=True)
class HeldLayer:
    """A layer that an object keeps under an attribute, on a path."""

    layer: queries.Shell
    attribute: str
    path: queries.Path


class Holders:
    """The objects of a file's classes, with the tables and layers that they hold."""

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        self._module = module
        self._project = project
        self._flow = queries.flow(module, project)
        self._run = self._flow.run_of_lookups
        self._objects: dict[Class, queries.Shell] = {}
        self._parts: dict[queries.Shell, list[HeldLayer]] = {}

    @cached_property
    def tables(self) -> list[Held]:
        """The tables that the file makes."""
        found = [table for cls in self._keeping() for table in self._held_by(cls)]
        seen = {table.call.value for table in found} | {table.made.value for table in found}
        return [*found, *self._others(seen)]

    def _keeping(self) -> list[Class]:
        """The classes of the file whose methods may make tables."""
        classes = self._module.classes.values()
        owners = {cls for cls in classes if any(map(self._gives_tables, cls.methods.values()))}
        keeping = [cls for cls in classes if any(owner in owners for owner in self._flow.mro(cls))]
        return [cls for cls in keeping if not self._is_mixed_in(cls)]

    def _gives_tables(self, function: Function) -> bool:
        """True if a function makes tables, or calls functions that return some."""
        return any(self._flow.tables_given(function))

    def _is_mixed_in(self, cls: Class) -> bool:
        """True if a class is no layer itself, but a base of other classes of the file."""
        if self._project.classes.model(cls).is_module is True:
            return False
        others = (other for other in self._module.classes.values() if other is not cls)
        return any(cls in self._flow.mro(other) for other in others)

    def object_of(self, cls: Class) -> queries.Shell:
        """An object of a class, with unknown arguments."""
        found = self._objects.get(cls)
        if found is None:
            found = self._objects[cls] = self._run.object_of(cls)
            self._set_up(found, cls)
        return found

    def _set_up(self, shell: queries.Shell, cls: Class) -> None:
        """Run the methods, other than the constructor, that store tables in attributes of an object."""
        for owner in self._flow.mro(cls):
            for method in owner.methods.values() if owner.module is self._module else ():
                is_left = not method.flow.stores.keys() <= shell.history.keys()
                if is_left and method.name != "__init__" and not method.is_static and self._gives_tables(method):
                    self._run.call_for_constructor(method, shell)

    # -- tables --------------------------------------------------------------------------------------------------

    def _held_by(self, cls: Class) -> Iterator[Held]:
        """The tables that an object keeps under the attributes that may hold some."""
        holder = self.object_of(cls)
        for name in list(holder.history):
            if self._flow.may_keep_tables(cls, name):
                for part in self._kept_under(name, holder):
                    if self._run.is_table(part.layer):
                        yield from self._table(part.layer, holder, name, part.path)

    def _table(
        self, shell: queries.Shell, holder: queries.Shell | None = None, name: str = "", path: queries.Path = ()
    ) -> Iterator[Held]:
        """A table, with its numbers of rows and columns."""
        made, call = shell.site, self._call_of(shell, holder)
        if made is None or call is None or made.value.op is not Op.CALL:
            return
        numbers = [self._number(shell, made, *argument) for argument in (_ROWS, _COLUMNS)]
        padding = self._run.padding_of(shell)
        has_padding = padding is not None and queries.constant(padding[1]) != queries.Constant(None)
        rows, columns = numbers
        if rows is not None:
            yield Held(made, call, shell.trail[3:], rows, columns, has_padding, holder, name, path)

    def _call_of(self, shell: queries.Shell, holder: queries.Shell | None) -> queries.Site | None:
        """The call in the file that makes a table, by a function of another file perhaps; None where there is none."""
        made = shell.site
        if made is None or made.function is None or made.module is self._module:
            return made
        owner = None if holder is None or holder.model is None else holder.model.cls
        for cls in () if owner is None else self._flow.mro(owner):
            for method in cls.methods.values() if cls.module is self._module else ():
                for event in method.flow.of(EventKind.CALL):
                    if id(event.value) in shell.trail:
                        return queries.Site(event.value, method)
        return None

    def _number(self, shell: queries.Shell, made: queries.Site, position: int, name: str) -> TableSize | None:
        given = self._run.argument(shell, position, name)
        if given is None:
            return None
        positional, keywords = _written_arguments(made.value)
        found: Value | None
        if shell.passed is None:
            found = keywords.get(name) or next(iter(positional[position : position + 1]), None)
        else:  # a class that derives from a table: the argument that it passes on
            by_place = zip(shell.arguments.positional, positional, strict=False)
            by_name = ((atoms, keywords.get(key)) for key, atoms in shell.arguments.keywords.items())
            found = next((value for atoms, value in (*by_place, *by_name) if atoms is given), None)
        return TableSize(
            self._run.size_given(shell, position, name), None if found is None else queries.Site(found, made.function)
        )

    def _others(self, seen: set[Value]) -> Iterator[Held]:
        """The tables that functions make, stored or not, but for those whose calls are in `seen`."""
        for function in (*self._module.all_functions(), self._module.body):
            receiver = None
            for event in self._flow.tables_made(function):
                if event.value in seen:
                    continue
                if function.owner is not None and not function.is_static:
                    receiver = self.object_of(function.owner)
                if self._is_of_function(event.value.callee, function, receiver):
                    continue
                body = self._run.body(function, receiver)
                for atom in self._run.evaluate_at(event, body):
                    if isinstance(atom, queries.Shell) and self._run.is_table(atom) and atom.value is event.value:
                        yield from self._table(atom, receiver)

    def _is_of_function(self, callee: Value, function: Function, receiver: queries.Shell | None) -> bool:
        """True if a call is of a function or method that can be read: the table is made in there, not here."""
        name = self_attribute(callee)
        if name is None:
            return isinstance(self._project.names.definition(function.module, callee), DefinedFunction)
        if receiver is None or name in receiver.history:
            return False
        return self._run.method(receiver, name) is not None

    # -- layers beside tables ------------------------------------------------------------------------------------

    def parts(self, holder: queries.Shell) -> list[HeldLayer]:
        """The layers that an object keeps, those in containers among them."""
        found = self._parts.get(holder)
        if found is None:
            cls = None if holder.model is None else holder.model.cls
            names = [name for name in holder.history if cls is None or self._flow.may_keep_layers(cls, name)]
            kept = (part for name in names for part in self._kept_under(name, holder))
            found = self._parts[holder] = list({id(part.layer): part for part in kept}.values())
        return found

    def all_parts(self, holder: queries.Shell | None, size: Size) -> Iterator[HeldLayer]:
        """The layers held by objects of the file's other classes, first of those that mention the symbols of `size`."""
        names = {str(symbol) for symbol in size.symbols}
        owners = {f.owner for f in self._module.all_functions() if not names.isdisjoint(f.words)}
        for cls in sorted(self._module.classes.values(), key=lambda cls: cls not in owners):
            other = self.object_of(cls)
            if other is not holder:
                yield from self.parts(other)

    def _kept_under(self, name: str, holder: queries.Shell) -> Iterator[HeldLayer]:
        for atoms, path in self._run.attribute(holder, name):
            yield from (HeldLayer(layer, name, taken) for layer, taken in self._run.layers_in(atoms, path))

    def width(self, layer: queries.Shell, facets: tuple[str, ...]) -> Size | None:
        """The size that a layer of torch is given for the first of `facets` that it has."""
        return self._run.size(layer, *facets)

    def given_sizes(self, layer: queries.Shell, *, with_rows: bool = True) -> Iterator[Size]:
        """The sizes among the arguments of a layer's constructor; of a table, perhaps without its number of rows."""
        rows = None
        if not with_rows and self._run.is_table(layer):
            rows = self._run.argument(layer, *_ROWS)
        for atoms in (given for given in layer.arguments.all() if given is not rows):
            size = queries.size_of(atoms)
            if size is not None:
                yield size

    def is_given_beside(self, size: Size, table: Held) -> bool:
        """True if the code that makes a table passes its size on to another layer or call as well."""
        parts = self.parts(table.holder) if table.holder is not None else []
        own = [part for part in parts if part.attribute == table.attribute or table.is_made_as(part.layer)]
        if any(size in self.given_sizes(part.layer) for part in parts if part not in own):
            return True
        calls = {id(table.call.value), *table.way, *(step for part in own for step in part.layer.trail)}
        functions = {table.call.function, self.constructor(table)}
        return any(self._gives(size, function, table, calls) for function in functions if function is not None)

    def constructor(self, table: Held) -> Function | None:
        """The constructor of the object that keeps a table."""
        model = None if table.holder is None else table.holder.model
        owner = None if model is None else model.cls
        return None if owner is None else self._flow.method(owner, "__init__")

    def _gives(self, size: Size, function: Function, table: Held, besides: set[int]) -> bool:
        """True if a function passes a size to a call, other than the calls in `besides` and their arguments."""
        body = self._run.body(function, table.holder)
        calls = [event.value for event in function.flow.of(EventKind.CALL)]
        inside = {id(part) for call in calls if id(call) in besides for part in call.walk()}
        for call in calls:
            if id(call) not in inside and self_attribute(call.callee) is None:
                given = (*call.positional, *call.keywords.values())
                if any(queries.size_of(self._run.evaluate(arg, body)) == size for arg in given if arg.op in _NUMBERS):
                    return True
        return False


def _written_arguments(call: Value) -> tuple[list[Value], Mapping[str, Value]]:
    """The positional and keyword arguments of a call, with those that it unpacks or that a `partial` has bound."""
    positional: list[Value] = []
    keywords: dict[str, Value] = {}
    callee = call.callee
    if callee.op is Op.CALL and str(callee.callee.data) == "partial":
        positional, known = _written_arguments(callee)[0][1:], callee.keywords
        keywords.update({name: value for name, value in known.items() if name is not None})
    for arg in call.positional:
        if arg.op is not Op.STARRED:
            positional.append(arg)
        elif arg.args[0].op in (Op.TUPLE, Op.LIST):
            positional += arg.args[0].args
        else:
            break
    start = len(call.args) - len(call.data)
    for name, value in zip(call.data, call.args[start:], strict=True):
        if name is not None:
            keywords[name] = value
        elif value.op is Op.DICT:
            parts = zip(value.data, value.args, strict=True)
            keywords.update({str(key.data): arg for key, arg in parts if key is not None and key.op is Op.CONST})
    return positional, keywords
