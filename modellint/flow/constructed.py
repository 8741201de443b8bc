"""The objects of some classes that a file's code makes, through however many functions, and their arguments.

A function is run with unknown arguments, and once more with those defaults that not every caller in sight overrides. An
object belongs to the outermost function in which its arguments are known: where `helper(1.0)` calls `Dropout(p)`, that
is the caller of `helper`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import (
    ANY_ARGUMENTS,
    Arguments,
    Constant,
    FunctionRef,
    Number,
    Site,
    function_of,
    has_property,
    join,
)
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell
from modellint.flow.library.operations import are_host
from modellint.flow.lookups import Lookups
from modellint.flow.runs import called, tensor_run
from modellint.flow.sinks import Sink
from modellint.flow.table_reads import TableReads
from modellint.flow.tensors import Tensors
from modellint.flow.theory import Mode, Theory
from modellint.graph.immutable import dataclass
from modellint.graph.python import Function
from modellint.graph.value import EventKind, Nested, Op, Value, walk_all
from modellint.link.calls.doubts import subclasses
from modellint.link.classes.definitions import SourceMethod
from modellint.link.names import DefinedClass, DefinedConstant, DefinedFunction, DefinedModule, External
from modellint.link.searched import mentioning
from modellint.link.values.callers import neighbours

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.python import Class, ModuleFacts
    from modellint.link.classes.models import ClassModel
    from modellint.link.names import Definition
    from modellint.link.project import Project
    from modellint.source import Place

#: Methods that run without being named.
_RUN_UNNAMED = frozenset(("__init__", "__post_init__", "__call__", "forward"))
#: How many functions one may reach before it counts as one that may make any object.
_MAX_REACHED = 400
#: How many rounds of constructors are run, each of the objects that the last one made.
_MAX_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Argument:
    """The values of a constructor's argument; empty where it is not passed."""

    atoms: Atoms

    def is_(self, constant: object) -> bool:
        """True if it certainly is this constant, by default too; `1` equals `1.0`."""
        return bool(self.atoms) and all(_is_constant(atom, constant) for atom in self.atoms)

    @property
    def number(self) -> int | float | None:
        """The number that the argument has on all paths; None if there is no such number."""
        numbers = {_number(atom) for atom in self.atoms}
        return numbers.pop() if len(numbers) == 1 else None

    def attribute(self, name: str) -> Argument:
        """The values of an attribute of the argument; empty unless it is an object of the project that has it."""
        owners = [atom for atom in self.atoms if isinstance(atom, Shell) and atom.kind == "instance"]
        held = [owner.get(name) or () for owner in owners] if len(owners) == len(self.atoms) else []
        return Argument(join(held) if all(held) else ())

    @property
    def is_host(self) -> bool:
        """True if it certainly is the CPU."""
        return are_host(self.atoms)

    def has(self, name: str) -> bool:
        """True if it is a tensor with this property (`modellint.operators.properties`) on all paths."""
        return has_property(self.atoms, name)

    def may_have(self, name: str) -> bool:
        """True if it is a tensor with this property on at least one path."""
        return has_property(self.atoms, name, on_some_path=True)

    def may_be(self, constant: object) -> bool:
        """True if it is this constant on at least one path."""
        return any(_is_constant(atom, constant) for atom in self.atoms)


def _is_constant(atom: Atom, constant: object) -> bool:
    if type(constant) in (int, float):
        return _number(atom) == constant
    return atom == Constant(constant)


def _number(atom: Atom) -> int | float | None:
    if isinstance(atom, Number):
        return atom.size.number
    known = atom.value if isinstance(atom, Constant) else None
    return known if isinstance(known, int | float) and not isinstance(known, bool) else None


@dataclass(frozen=True, eq=False, slots=True)
class Constructed:
    """An object that code makes, with its arguments and the calls that lead to it.

    `steps` are the calls from where its arguments are known, outermost first, and the one that makes it. `owner` is the
    dotted name of the class that was asked for: its own, or a base.
    """

    owner: str
    arguments: Arguments
    steps: tuple[Site, ...]

    @property
    def place(self) -> Place:
        """The place where class and arguments meet: the call that makes the object, or one that leads to it."""
        return self.steps[0].place

    @property
    def function(self) -> Function:
        """The function in which the place stands."""
        assert self.steps[0].function is not None
        return self.steps[0].function

    def argument(self, position: int, name: str) -> Argument:
        """The argument of the constructor at `position` (0 is the first), or called `name`."""
        return Argument(self.arguments.argument(position, name) or ())


def constructed(module: ModuleFacts, names: Collection[str], project: Project) -> list[Constructed]:
    """The objects of classes with some dotted names, and of classes derived from these, that a file makes.

    Objects that another file makes with arguments of this one are among them.
    """
    run, following = tensor_run(project, _Apart)
    following.reaching = reaching = _Reaching(frozenset(names), project)
    objects: dict[Class, Shell] = {}
    for function in (*module.all_functions(), module.body):
        if reaching.may_reach(function):
            for reference, frame in called(function, objects, project):
                for given in (ANY_ARGUMENTS, *_defaults(function, run)):
                    run.begin()
                    _start(reference, given, frame, run)
                    _open(run, reaching)
    sites = following.sites | {id(s.value): s.site for s in run.shells() if s.site is not None}
    found = [one for shell in run.shells() for one in _records(shell, names, sites)]
    return [one for one in _first(found) if one.steps[0].module is module]


def constructed_anywhere(model: ClassModel, project: Project) -> list[Constructed] | None:
    """The objects that a project makes by the constructor of a class; None if others may be made out of sight."""
    constructor, cls = model.method("__init__"), model.cls
    if constructor is None or cls is None or cls.head.decorators:
        return None
    classes = (cls, *subclasses(project, cls))
    modules: dict[ModuleFacts, None] = {}
    for one in classes:
        for module in dict.fromkeys((cls.module, *mentioning(project, cls.module, one.name))):
            is_called = _is_called(one, module, project)
            if is_called is False:
                return None
            if is_called:
                modules[module] = None
    models = map(project.classes.model, classes)
    names = [one.name for one in models if one.method("__init__") is constructor]
    found = [one for module in modules for one in constructed(module, names, project)]
    return found if all(one.arguments.is_complete for one in found) else None


def _is_called(cls: Class, module: ModuleFacts, project: Project) -> bool | None:
    """True if a file only calls a class, False if it uses it otherwise, too; None if it does not use it."""
    calls, meant = set(), []
    for part in _parts(cls, module):
        if part.op is Op.CALL:
            calls.add(id(part.callee))
        found = project.names.definition(module, part) if part.op in (Op.GLOBAL, Op.ATTR) else None
        if isinstance(found, DefinedClass) and found.cls is cls:
            meant.append(id(part))
    return calls.issuperset(meant) if meant else None


def _parts(cls: Class, module: ModuleFacts) -> Iterator[Value]:
    attributes = (value for one in module.classes.values() for value in one.attributes.values())
    values = [*module.constants.values(), *attributes]
    for function in (*module.all_functions(), module.body):
        if cls.name in function.words:
            values += (part for one in function.flow.events for part in (one.value, one.target) if part is not None)
    return walk_all(values)


def _start(reference: FunctionRef, given: Arguments, frame: Frame, run: Interpreter) -> None:
    """Run a function; of a constructor, make an object."""
    function, shell = function_of(reference.code), reference.receiver
    if function is None or function.name != "__init__" or not isinstance(shell, Shell):
        run.start(reference, frame, given)
    else:
        made = shell if given is ANY_ARGUMENTS else Shell("instance", None, shell.trail, shell.model, given)
        _settle(made, run)


def _defaults(function: Function, run: Interpreter) -> Iterator[Arguments]:
    """Arguments with a function's defaults, but for those that every caller in sight passes; none if there are none."""
    defaults = {one.name: one.default for one in function.parameters if one.default is not None}
    if not defaults:
        return
    passed: frozenset[str] | None = None
    for call in calls_of(function, run.project):
        bound = function.bind(call)
        now = frozenset(defaults if call.has_unpacking else bound)
        passed = now if passed is None else passed & now
    scope = SourceMethod(function, run.project.names).scope
    given = {
        name: run.evaluate(value, class_frame(scope, id(value)))
        for name, value in defaults.items()
        if name not in (passed or ())
    }
    if given:
        yield Arguments((), given, is_complete=False)


def calls_of(function: Function, project: Project) -> Iterator[Value]:
    """The calls of a function, or of the class that it constructs, in its file and in those of its folder."""
    is_constructor = function.owner is not None and function.name == "__init__"
    meant = function.owner if is_constructor else function
    name = meant.name if meant is not None else function.name
    for module in neighbours(project, function.module, name):
        for caller in (*module.all_functions(), module.body):
            for event in caller.flow.of(EventKind.CALL) if name in caller.words else ():
                found = project.names.definition(module, event.value.callee)
                if (isinstance(found, DefinedClass) and found.cls is meant) or (
                    isinstance(found, DefinedFunction) and found.function is meant
                ):
                    yield event.value


def _open(run: Interpreter, reaching: _Reaching) -> None:
    """Run the constructors of all objects that may make one of the classes, and evaluate their stores."""
    known = 0
    for _ in range(_MAX_ROUNDS):
        shells = list(run.shells())
        for shell in shells[known:]:
            if reaching.may_construct(shell):
                _settle(shell, run)
        if len(shells) == known:
            return
        known = len(shells)


def _settle(shell: Shell, run: Interpreter) -> None:
    """Run the constructor of an object, and evaluate its deferred stores."""
    run.objects.construct(shell)
    shell.find_out()


def _records(shell: Shell, names: Collection[str], sites: dict[int, Site]) -> Iterator[Constructed]:
    """The record of an object, if a call makes it and it is of one of the classes."""
    if shell.kind != "instance" or shell.model is None or shell.site is None or shell.site.value.op is not Op.CALL:
        return
    owner = next((model.name for model in shell.model.mro() if model.name in names), None)
    arguments = shell.arguments if owner == shell.model.name else shell.passed
    if owner is None or arguments is None:
        return
    steps = tuple(dict.fromkeys(sites[key] for key in shell.trail if key in sites))
    yield Constructed(owner, arguments, steps)


def _first(found: Iterable[Constructed]) -> Iterator[Constructed]:
    """The objects, but for those that a shorter way makes with the same constants."""
    known: dict[tuple[Site, ...], set[Hashable]] = {}
    for one in sorted(found, key=lambda one: len(one.steps)):
        constants = _constants(one.arguments)
        inner = (one.steps[at:] for at in range(len(one.steps)))
        if not any(constants in known.get(steps, ()) for steps in inner):
            known.setdefault(one.steps, set()).add(constants)
            yield one


def _constants(arguments: Arguments) -> Hashable:
    """The constants among the arguments: they tell two calls from each other."""

    def constant_atoms(atoms: Atoms) -> Hashable:
        return atoms if all(isinstance(atom, Constant | Number) for atom in atoms) else None

    keywords = tuple(sorted((name, constant_atoms(atoms)) for name, atoms in arguments.keywords.items()))
    return tuple(map(constant_atoms, arguments.positional)), keywords


class _Apart(Theory, Sink):
    """Follows each call that may lead to one of the classes by itself."""

    mode = Mode(asks="objects made")
    rests_on = (Tensors,)
    goes_before = (TableReads, Lookups)
    reaching: _Reaching

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        run.of(Tensors).add(self)
        #: The call sites, by the identity of the call.
        self.sites: dict[int, Site] = {}
        #: The way to the call that is followed, where calls with the same arguments are told apart by it; else None.
        self._way: Hashable = None

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> None:
        code = function.code if isinstance(function.code, Nested) else function_of(function.code)
        self._take(code, Site(value, frame.function))

    def state(self) -> Hashable:
        return self._way

    def _take(self, code: object, site: Site) -> None:
        """Note a call, and whether it is told from others by the way to it."""
        if site.function is not None:
            self.sites[id(site.value)] = site
        is_apart = isinstance(code, Nested) or (isinstance(code, Function) and self.reaching.may_reach(code))
        self._way = (*(id(call) for _, call in self._run.calls.way), id(site.value)) if is_apart else None


class _Reaching:
    """A filter for functions that may lead to one of the classes, by the names in them; only its False is certain."""

    def __init__(self, names: frozenset[str], project: Project) -> None:
        self._names = names
        self._words = frozenset(name.rpartition(".")[2] for name in names)
        self._project = project
        self._known: dict[Function, bool] = {}

    def may_reach(self, function: Function) -> bool:
        found = self._known.get(function)
        if found is None:
            found = self._known[function] = self._find(function)
        return found

    def may_construct(self, shell: Shell) -> bool:
        """True if an object is of one of the classes, or its constructor may make an object of one."""
        if shell.kind != "instance" or shell.model is None:
            return False
        if self._is_meant(shell.model):
            return True
        own = (model.own_method("__init__") for model in shell.model.mro())
        functions = (function_of(method) for method in own if method is not None)
        return any(function is not None and self.may_reach(function) for function in functions)

    def _is_meant(self, model: ClassModel) -> bool:
        return any(above.name in self._names for above in model.mro())

    def _find(self, function: Function) -> bool:
        pending, seen = [function], {function}
        while pending:
            current = pending.pop()
            if self._known.get(current) or not self._words.isdisjoint(current.words) or len(seen) > _MAX_REACHED:
                return True
            for found in self._mentioned_definitions(current):
                model = self._project.classes.of(found) if isinstance(found, External | DefinedClass) else None
                if model is not None and self._is_meant(model):
                    return True
                for other in _functions(found, current.words):
                    if other not in seen and self._known.get(other) is not False:
                        seen.add(other)
                        pending.append(other)
        self._known.update(dict.fromkeys(seen, False))
        return False

    def _mentioned_definitions(self, function: Function) -> Iterator[Definition]:
        """The definitions that the words of a function resolve to, the methods of its object among them."""
        if function.owner is not None:
            for model in self._project.classes.model(function.owner).mro():
                for name, method in model.cls.methods.items() if model.cls is not None else ():
                    if name in function.words:
                        yield DefinedFunction(method)
        yield from self._word_definitions(function.words, function.module)

    def _word_definitions(self, words: Collection[str], module: ModuleFacts) -> Iterator[Definition]:
        own = (module.imports, module.classes, module.functions, module.constants)
        for word in words if module.star_imports else {word for names in own for word in names if word in words}:
            found = self._project.names.resolve(module, word)
            if isinstance(found, DefinedModule):
                if found.module is not module:
                    yield from self._word_definitions(words, found.module)
            elif isinstance(found, DefinedConstant):
                parts = (self._project.names.definition(found.module, part) for part in walk_all((found.value,)))
                yield from (part for part in parts if part is not None and not isinstance(part, DefinedConstant))
            elif found is not None:
                yield found


def _functions(found: Definition, words: Collection[str]) -> Iterable[Function]:
    """The functions that code which mentions a definition may run."""
    if isinstance(found, DefinedFunction):
        return (found.function,)
    methods = found.cls.methods if isinstance(found, DefinedClass) else {}
    return [method for name, method in methods.items() if name in words or name in _RUN_UNNAMED]
