"""Tables that are built once for a fixed length and read up to a length that only a run knows.

The objects of a class, and of those that hold or extend it, are run on paper. The length is fixed if it is a literal,
or a default that no caller overrides. A comparison or limit of the run-time length, or a method in reach that builds
the table anew, ends the claim.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.immutable import dataclass
from modellint.graph.mentions import words
from modellint.graph.size import Size, excess
from modellint.graph.value import EventKind, Op, Value, dotted, same, self_attribute, walk_all

from .keeping import ORDERS, FixedTableGate, compares_rows, constructing
from .leading import leading_home, leading_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.rule import Project

#: How many classes that keep or extend one are looked at.
_MAX_USERS = 8
#: `isinstance(x, A)`, `issubclass(x, (A, B))`.
_CLASS_TEST = re.compile(r"\bis(?:instance|subclass)\s*\((?:[^()]|\([^()]*\))*\)")


@dataclass(frozen=True, eq=False)
class FixedTable:
    """A table, made at `table`, whose rows are read at `use` for a run-time `length`.

    `rows` says how many it has; None where the constructor calls a method that builds it for any length. `is_compared`:
    a length is compared with the rows, but more of them are read. `is_row`: the length is the index of a single row.
    `is_total`: the length is a running total, whose numbers are the positions.
    """

    table: queries.Site
    rows: Size | None
    use: queries.Site
    length: queries.Site
    is_compared: bool = False
    is_row: bool = False
    is_total: bool = False


@dataclass(frozen=True, eq=False)
class _ClassRun:
    """The result of running the methods of an object of a class with any arguments."""

    cls: Class
    reads: list[queries.TableRead]
    #: The comparisons of lengths in each function.
    limits: dict[Function, dict[Value, queries.LengthComparison]]
    done: frozenset[Function]
    #: The attributes under which the object holds tables, by the value that makes each; then the functions that store
    #: to an attribute after the constructor.
    names: dict[Value, str]
    #: The values that make tables of any length, where a method compares a length with an attribute.
    compared: frozenset[Value]
    stored: dict[str, set[Function]]

    def reaches(self, read: queries.TableRead) -> bool:
        """True if the run reached the function that reads the table, for whatever length."""
        return read.use.function in self.done

    def falls_short_of(self, read: queries.TableRead) -> bool:
        """True if all comparisons in the reading function check the table's rows, and it reads more of them."""
        limits = {} if read.use.function is None else self.limits.get(read.use.function, {})
        return bool(limits) and all(_falls_short(limit, read) for limit in limits.values())


class PositionTables:
    """Finds tables of a fixed length; one for each file, since a run distinguishes the values of its bodies."""

    def __init__(self, project: Project) -> None:
        self._project = project
        #: The runs, by class, by the attributes whose readers in other files are run, too, and by whether a class that
        #: holds no table is left; each with the files that the result rests on.
        self._known: dict[tuple[Class, frozenset[str], bool], tuple[_ClassRun | None, tuple[str, ...]]] = {}

    def unguarded(self, module: ModuleFacts) -> Iterator[FixedTable]:
        """The tables made in a file that are read for a run-time length that nothing compares with their rows."""
        found: dict[Value, FixedTable] = {}
        for cls in module.classes.values():
            if self._project.of(FixedTableGate).may_hold_fixed_table(cls):
                for table in self._tables_of(cls):
                    found.setdefault(table.table.value, table)
        yield from found.values()

    # -- which classes ----------------------------------------------------------------------------------------------

    def _users(self, cls: Class) -> list[Class]:
        """The layers in the files around that derive from a class, or hold objects of it or of one that does."""
        names = {cls.name}
        found: dict[Class, None] = {}
        flow = queries.flow(cls.module, self._project)
        above = flow.mro(cls)
        modules = queries.neighbours(cls.module, self._project, cls.name)
        for module in (*modules, *modules):  # what derives from it may come behind what keeps it
            functions = {f.name for f in module.functions.values() if _mentions(f, names)}
            for other in module.classes.values():
                if other in above or not self._class_mentions(other, names | functions):
                    continue
                if self._project.classes.model(other).is_module is True:
                    found[other] = None
                    if cls in flow.mro(other):
                        names.add(other.name)
        return list(found)[:_MAX_USERS]

    def _class_mentions(self, cls: Class, names: AbstractSet[str]) -> bool:
        """True if a class mentions one of `names`: in its methods, or as its base."""
        is_base = any((dotted(base) or "").rpartition(".")[2] in names for base in cls.bases)
        return is_base or any(_mentions(method, names) for method in _methods(cls, self._project))

    # -- tables that are read ---------------------------------------------------------------------------------------

    def _tables_of(self, cls: Class) -> Iterator[FixedTable]:
        own = self._own_run(cls)
        if own is None:
            return
        overrun = {read.table.value: read for read in reversed(own.reads) if own.falls_short_of(read)}
        for read in overrun.values():
            yield FixedTable(read.table, read.rows, read.use, read.length, is_compared=True)
        if own.names.keys() <= overrun.keys():
            return
        rows = {
            read.table.value: read for read in reversed(own.reads) if read.use.module is cls.module and _is_added(read)
        }
        for read in rows.values():
            yield FixedTable(read.table, read.rows, read.use, read.length, is_row=True)
        overrun |= rows
        names = frozenset(own.names.values())
        everything = [own, *(self._run_with_readers(user, names) for user in self._users(cls))]
        reads = [read for ran in everything for read in ran.reads if read.table.value in own.names]
        for table in dict.fromkeys(read.table.value for read in reads if read.table.value not in overrun):
            here = [read for read in reads if read.table.value is table]
            limits = _Limits(cls, here, everything, self._project)
            found = None
            if not self._is_rebuilt(cls, own, own.names[table]):
                found = self._fixed_table(here, limits) or self._default_table(cls, here, limits)
            found = found or self._built_once(cls, own, here, limits)
            if found is not None:
                yield found

    def _own_run(self, cls: Class) -> _ClassRun | None:
        """The run of a class; None where its objects hold no table whose rows may run out."""
        ran = self._run_of(cls, frozenset(), is_keeping=True)
        return ran if ran is not None and (ran.names or ran.compared) else None

    def _run_with_readers(self, cls: Class, names: frozenset[str]) -> _ClassRun:
        """The run of a class whose bases in other files may read tables under the attributes `names`."""
        kept = self._run_of(cls, frozenset(), is_keeping=True) if (cls, frozenset(), True) in self._known else None
        ran = kept if kept is not None and names <= set(kept.names.values()) else self._run_of(cls, names)
        assert ran is not None
        return ran

    def _run_of(self, cls: Class, names: frozenset[str], *, is_keeping: bool = False) -> _ClassRun | None:
        known = self._known.get((cls, names, is_keeping))
        if known is None:
            run = partial(_run, cls, names, self._project, is_keeping=is_keeping)
            known = self._known[cls, names, is_keeping] = self._project.files.traced(run)
        else:
            self._project.files.depend(known[1])
        return known[0]

    @staticmethod
    def _fixed_table(reads: list[queries.TableRead], limits: _Limits) -> FixedTable | None:
        """A table that the constructor makes for a fixed length, and that no limit guards; None where there is none."""
        for read in reads:
            same = [other.rows for other in reads if other.use.value is read.use.value and other.rows is not None]
            fixed = next((size for size in same if size.constant is not None and size.constant >= queries.FEW), None)
            may_exceed = not read.is_given or read.is_length
            if fixed is not None and may_exceed and not limits.apply_to(read):
                named = next((size for size in same if size.number == fixed.number and size.symbols), fixed)
                return FixedTable(read.table, named, read.use, read.length, is_total=read.ahead is not None)
        return None

    def _default_table(self, cls: Class, reads: list[queries.TableRead], limits: _Limits) -> FixedTable | None:
        """A table that has its default number of rows in an object that a program makes, and that no limit guards."""
        for read in reads:
            names = (
                {symbol.name for symbol in read.rows.symbols} if read.rows is not None and read.rows.number else None
            )
            if names and not read.is_given and not limits.apply_to(read) and self._is_left(cls, names):
                return FixedTable(read.table, read.rows, read.use, read.length)
        return None

    def _is_left(self, cls: Class, names: AbstractSet[str]) -> bool:
        """True if code other than a test makes an object of a class without any of these arguments."""
        constructor = queries.flow(cls.module, self._project).method(cls, "__init__")
        parameters = [] if constructor is None else [parameter.name for parameter in constructor.open_parameters]
        if not names <= set(parameters):
            return False
        name = self._project.classes.model(cls).name
        return any(
            made.arguments.is_complete
            and all(made.arguments.argument(parameters.index(one), one) is None for one in names)
            and not queries.is_trial_site(made.steps[0], self._project)
            for module in dict.fromkeys((cls.module, *queries.files_mentioning(cls.module, self._project, cls.name)))
            for made in queries.flow(module, self._project).constructed(name)
        )

    def _built_once(
        self, cls: Class, own: _ClassRun, reads: list[queries.TableRead], limits: _Limits
    ) -> FixedTable | None:
        """A table that a method builds for any length, though only the constructor calls that method."""
        table = reads[0].table
        writers = own.stored.get(own.names[table.value], set())
        constructor = queries.flow(cls.module, self._project).method(cls, "__init__")
        if constructor is None or table.function not in writers or all(read.rows is None for read in reads):
            return None
        builders = {writer.name for writer in writers}
        leading = leading_to(_methods(cls, self._project), builders)
        if limits.are_given or self._is_called_from_outside(cls, leading):
            return None
        call = next(_building(constructor, _methods(cls, self._project), builders), None)
        for read in reads if call is not None else ():
            assert call is not None
            is_reading = read.use.function is not None and read.use.function.name not in leading
            if is_reading and read.use.value.op is Op.INDEX and not limits.apply_to_any(read):
                return FixedTable(call, None, read.use, read.length)
        return None

    def _is_called_from_outside(self, cls: Class, names: frozenset[str]) -> bool:
        """True if code in the files around calls one of the methods on an object other than the receiver."""
        return any(
            callee.op is Op.ATTR and callee.data in names and not _is_receiver(callee.args[0])
            for module in dict.fromkeys(
                m for name in names for m in queries.neighbours(cls.module, self._project, name)
            )
            for function in (*module.all_functions(), module.body)
            if not names.isdisjoint(function.words)
            for callee in (event.value.callee for event in function.flow.of(EventKind.CALL))
        )

    def _is_rebuilt(self, cls: Class, own: _ClassRun, name: str) -> bool:
        """True if a method that may be called after the constructor replaces the table."""
        writers = own.stored.get(name, set())
        return any(writer.name == "forward" or self._is_called(writer, cls, writers) for writer in writers)

    def _is_called(self, writer: Function, cls: Class, writers: set[Function]) -> bool:
        """True if code in the files around calls a method, but for constructors and other writers."""
        for module in queries.neighbours(cls.module, self._project, writer.name):
            for function in (*module.all_functions(), module.body):
                is_other = function not in writers and function.name != "__init__"
                if is_other and writer.name in function.words:
                    callees = (event.value.callee for event in function.flow.of(EventKind.CALL))
                    if any(callee.op is Op.ATTR and callee.data == writer.name for callee in callees):
                        return True
        return False


class _Limits:
    """The comparisons and cuts that limit the lengths for which tables are read."""

    def __init__(
        self, cls: Class, reads: list[queries.TableRead], everything: list[_ClassRun], project: Project
    ) -> None:
        self._reads = reads
        self._users = everything[1:]
        self._flow = queries.flow(cls.module, project)
        self._keepers = [user for user in self._users if cls not in self._flow.mro(user.cls)]
        self._compared: dict[Function, list[queries.LengthComparison]] = {}
        for ran in everything:
            for function, limits in ran.limits.items():
                if function.name != "__init__":
                    self._compared.setdefault(function, []).extend(limits.values())

    def apply_to(self, read: queries.TableRead) -> bool:
        """True if a length is compared near a read of a table of fixed length, or by one of its callers."""
        for site in (read.use, read.length, read.table):
            owner = None if site.function is None else site.function.owner
            if site.function in self._compared:
                return True
            for cls in () if owner is None else self._flow.mro(owner):
                if any(method in self._compared for method in cls.methods.values()):
                    return True
        return any(map(self._is_limited, self._callers_of(read))) or any(map(self._cuts(read), self._users))

    @property
    def are_given(self) -> bool:
        """True if an object that holds one of the class determines its table's number of rows."""
        reads = [read for keeper in self._keepers for read in keeper.reads if read in self._reads]
        return any(read.rows is None or read.rows.number is None for read in reads)

    def apply_to_any(self, read: queries.TableRead) -> bool:
        """True if the reader of a table that is built for any length compares it, or all callers of the reader do."""
        if read.use.function in self._compared:
            return True
        limited = [self._is_limited(other) for other in self._callers_of(read)]
        limited += [True for user in self._users if self._cuts(read)(user)]
        return bool(limited) and all(limited)

    def _callers_of(self, read: queries.TableRead) -> list[queries.TableRead]:
        return [other for other in self._reads if other.use.value is read.use.value and other.calls]

    def _is_limited(self, read: queries.TableRead) -> bool:
        """True if a function on the way to a read compares the length of an argument that it passes on."""
        for call in read.calls:
            limits = [] if call.function is None else self._compared.get(call.function, [])
            measured = [value for limit in limits if limit.operator in ORDERS for value in limit.measured]
            passed = walk_all(call.value.args[1:]) if measured else ()
            if any(
                part is value or (part.op is Op.PARAM and same(part, value)) for part in passed for value in measured
            ):
                return True
        return False

    @staticmethod
    def _cuts(read: queries.TableRead) -> Callable[[_ClassRun], bool]:
        """A test for a run that reaches the function of a read, but never reads for a run-time length there."""
        return lambda ran: ran.reaches(read) and not any(other.use.value is read.use.value for other in ran.reads)


def _mentions(function: Function, names: AbstractSet[str]) -> bool:
    """True if a function mentions one of `names`, other than to ask for the class of an object."""
    if names.isdisjoint(function.words):
        return False
    return not names.isdisjoint(words(_CLASS_TEST.sub("", function.text)))


def _is_added(read: queries.TableRead) -> bool:
    """True if a row of a table, picked by the length of a tensor, is added to that tensor, as all rows up to it are."""
    function, row = read.use.function, read.use.value
    if read.is_length or read.is_given or function is None or row.op is not Op.INDEX:
        return False
    measured = [part for part in read.length.value.walk() if part.op is Op.PARAM]
    sums = walk_all(event.value for event in (*function.flow.computed, *function.flow.events))
    for value in (value for value in sums if value.op is Op.BIN and value.data == "+"):
        others = [side for side in value.args if _core(side) is not row]
        if len(others) == 1 and any(part in measured for part in others[0].walk()):
            return True
    return False


def _core(value: Value) -> Value:
    """A value without the subscripts and methods around it: `self.table[n]` of `self.table[n].unsqueeze(0)`."""
    while value.op is Op.CALL and value.callee.op is Op.ATTR:
        value = value.callee.args[0]
    return value


def _falls_short(limit: queries.LengthComparison, read: queries.TableRead) -> bool:
    """True if a comparison limits a length to the rows of a table that is read beyond that length."""
    if read.ahead is not None:
        return limit.most is not None and read.goes_beyond(limit.most, by_default=True)
    is_bound = limit.bound is not None and read.rows is not None and excess(limit.bound, read.rows) == 0
    return is_bound and read.is_ahead


def _methods(cls: Class, project: Project) -> list[Function]:
    above = queries.flow(cls.module, project).mro(cls)
    return [method for owner in above for method in owner.methods.values()]


def _run(cls: Class, read: frozenset[str], project: Project, *, is_keeping: bool = False) -> _ClassRun | None:
    """Run the methods of an object of a class with any arguments, each on the object as its constructor left it.

    Of the methods of other files, only those run that may read the attributes `read`, or call a definition of the
    class's file. With `is_keeping`, None if the object holds neither a table of a fixed length nor one with whose rows
    a length is compared.
    """
    with queries.run(project, queries.TableReads) as run:
        shell = run.object_of(cls)
        names, compared = _names(shell, cls, run.theory, project)
        if is_keeping and not names and not compared:
            return None
        before = len(shell.stores)
        built = {name: list(stored) for name, stored in shell.history.items()}
        model = project.classes.model(cls)
        for method in leading_home(_methods(cls, project), cls.module, read | set(names.values())):
            if method.name != "__init__" and not method.is_static and model.method(method.name) is method:
                run.call(method, shell)
                shell.history = {name: list(stored) for name, stored in built.items()}
        stored: dict[str, set[Function]] = {}
        for store in shell.stores[before:]:
            if store.name is not None and store.function is not None:
                stored.setdefault(store.name, set()).add(store.function)
        reads = list(run.theory.reads.values())
        return _ClassRun(cls, reads, run.theory.limits, frozenset(run.followed()), names, compared, stored)


def _names(
    shell: queries.Shell, cls: Class, lookups: queries.TableReads, project: Project
) -> tuple[dict[Value, str], frozenset[Value]]:
    """The attributes that hold tables of a fixed length, by the value that makes each, and the makers of other tables.

    The others only where a method compares a length with an attribute of the object.
    """
    flow = queries.flow(cls.module, project)
    constructor = flow.method(cls, "__init__")
    own = None if constructor is None else f"{constructor.module.path}:{constructor.qualname}"
    found: dict[Value, str] = {}
    others: set[Value] = set()

    @cache
    def is_comparing() -> bool:
        methods = _methods(cls, project)
        return compares_rows(methods, constructing(methods, project), project)

    for name in [name for name in shell.history if flow.may_keep_layers(cls, name)]:
        for table, sides in lookups.tables(shell.get(name) or ()):
            owner = None if table.function is None else table.function.owner
            is_above = owner is not None and owner.module is not cls.module
            rows = () if is_above else tuple(size for size in sides[:-1] if isinstance(size, Size))
            if any(_may_be_fixed(size, own) for size in rows):
                found[table.value] = name
            elif rows and is_comparing():
                others.add(table.value)
    return found, frozenset(others)


def _may_be_fixed(size: Size, constructor: str | None) -> bool:
    """True if a size is a number, or is one by a default of the constructor."""
    is_own = all(symbol.owner == constructor for symbol in size.symbols)
    return is_own and size.number is not None and size.number >= queries.FEW


def _building(constructor: Function, methods: list[Function], builders: set[str]) -> Iterator[queries.Site]:
    """The calls by which a constructor, or a method that it calls, passes sizes to one of `builders`."""
    named = {method.name: method for method in reversed(methods)}
    pending = [constructor]
    for function in pending:
        for event in function.flow.of(EventKind.CALL):
            name = self_attribute(event.value.callee)
            if name in builders and len(event.value.args) > 1:
                yield queries.Site(event.value, function)
            elif name in named and len(event.value.args) > 1 and named[name] not in pending:
                pending.append(named[name])


def _is_receiver(owner: Value) -> bool:
    """True if a method is called on the object itself, by `self` or `super()`."""
    if owner.op is Op.CALL:
        return owner.callee.op is Op.GLOBAL and owner.callee.data == "super"
    return owner.op is Op.PARAM and owner.data == "self"
