"""What files tell by names: what gives kinds of elements, what looks up what it is given, and where it is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.domain import Filler, Ids, Positions, Real
from modellint.graph.value import Op, dotted, walk_all
from modellint.link.names import DefinedClass, DefinedFunction, DefinedModule, External

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from modellint.graph.python import Class, ModuleFacts
    from modellint.link.names import Definition
    from modellint.link.project import Project

#: The kinds of elements, and those that are followed through what functions give and objects keep.
KINDS: tuple[type, ...] = (Ids, Filler, Positions, Real)
GIVEN: tuple[type, ...] = (Ids, Filler, Positions)
#: Names under which ids are drawn by what cannot be read.
_ELSEWHERE = frozenset(("sample", "generate"))
#: Words of what draws ids, writes constants, and looks something up. Views, which know of rows that are added.
_DRAWING = operators.words("drawn", "pair", "distribution")
_FILLING = operators.words("fill", "literal", "chooses")
_COUNTING = operators.words("counted fresh:default", "sums-up")
_LOOKING = operators.words("ids")


@dataclass(slots=True)
class _Names:
    """What gives a kind of elements: functions and methods, classes whose objects are called, and attributes."""

    functions: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    #: The attributes under which objects of the classes are kept.
    holding: set[str] = field(default_factory=set)

    def all(self) -> set[str]:
        return self.functions | self.classes | self.stored | self.holding


@dataclass(frozen=True, slots=True)
class Offered:
    """What a file offers to those that import it: what gives kinds of elements, and what takes some.

    `makers` make tables, or objects that look up what they are given, and `taking` are what does so when it is called;
    `padding` are functions that write constants among what they are given;
    `asking` are functions that look something up with elements that they make.
    `owners` are classes with methods that do so, and `held` such methods of objects that others keep.
    `own` are names of the project's, which stand for no operator, and `starred` those that star imports bring from
    elsewhere.
    """

    giving: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple((frozenset(), frozenset()) for _ in GIVEN)
    makers: frozenset[str] = frozenset()
    taking: frozenset[str] = frozenset()
    padding: frozenset[str] = frozenset()
    asking: frozenset[str] = frozenset()
    owners: tuple[tuple[str, frozenset[str]], ...] = ()
    held: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    starred: frozenset[str] = frozenset()


class Learned:
    """What the code of a file, and of those that it imports, tells by names."""

    def __init__(self, module: ModuleFacts, imported: Offered) -> None:
        self.names: dict[type | None, _Names] = {
            kind: _Names(set(functions), set(classes))
            for kind, (functions, classes) in zip(GIVEN, imported.giving, strict=True)
        }
        self.names[Ids].functions |= _ELSEWHERE
        #: What makes tables or objects that look something up, and the names of what does so when it is called.
        self.makers: set[str] = {*operators.words("table"), *imported.makers}
        self.taking: set[str] = set()
        #: With each of these, the class whose objects keep it as an attribute; with no name, any may.
        self.homes: set[tuple[str, str]] = set()
        self.take(imported.taking)
        #: Functions that write constants among what they are given.
        self.padding: set[str] = set(imported.padding)
        #: The attributes under which matrices are kept, which may be indexed themselves.
        self.matrices: set[str] = set()
        #: Functions that look something up with elements that they make, perhaps in what they are given.
        self.asking: set[str] = set(imported.asking)
        #: Classes with methods that look up what they are given, and such methods of objects that others keep.
        self.owners: dict[str, set[str]] = {name: set(methods) for name, methods in imported.owners}
        self.held: set[str] = set(imported.held)
        #: Whether there are classes that derive from tables.
        self.are_tables = False
        #: What is no operator, of whatever name.
        self.own = frozenset(
            (*(f.name for f in module.all_functions()), *imported.own, *(n for f, _ in imported.giving for n in f))
        )

        self.starred = imported.starred
        #: The words of what draws ids, writes constants, counts up and looks something up, as the file calls it.
        self.drawing, self.filling, self.counting, self.looking = (
            _as_called(words, module) for words in (_DRAWING, _FILLING, _COUNTING, _LOOKING)
        )

    def take(self, names: Iterable[str], home: str = "") -> None:
        """Note what looks up what it is given, where objects of a class keep it, or anybody may."""
        for name in names:
            self.taking.add(name)
            self.homes.add((name, home))

    def all(self) -> set[str]:
        given = {name for names in self.names.values() for name in names.all()}
        return self.makers.union(self.taking, self.padding, self.asking, self.owners, self.held, given)

    def offered(self) -> Offered:
        """What the file offers to others."""
        giving = [self.names[kind] for kind in GIVEN]
        return Offered(
            tuple((frozenset(names.functions - _ELSEWHERE), frozenset(names.classes)) for names in giving),
            frozenset(self.makers),
            frozenset(self.taking),
            frozenset(self.padding),
            frozenset(self.asking),
            tuple((name, frozenset(methods)) for name, methods in sorted(self.owners.items())),
            frozenset(self.held),
        )


def _as_called(words: AbstractSet[str], module: ModuleFacts) -> AbstractSet[str]:
    """Words, and by what other names a file imports what they are the names of."""
    names = {name for name, origin in module.imports.items() if str(origin).rpartition(".")[2] in words}
    return words if names <= words else words | names


def imported(module: ModuleFacts, project: Project, offered: Callable[[ModuleFacts], Offered]) -> Offered:
    """What a file imports of what gives elements, and takes some, by what the files that it comes from offer."""
    giving = [(set[str](), set[str]()) for _ in GIVEN]
    makers, taking, padding, asking, held, own, starred = (set[str]() for _ in range(7))
    owners: dict[str, frozenset[str]] = {}
    for word, home, found in reached(module, project):
        if isinstance(found, DefinedModule):
            there = offered(found.module)
            for (functions, classes), (others, other_classes) in zip(giving, there.giving, strict=True):
                functions |= others
                classes |= other_classes
            makers |= there.makers
            taking |= there.taking | there.held
            padding |= there.padding
            asking |= there.asking
        elif isinstance(found, DefinedFunction) and found.function.module is not module:
            own.add(word)
            there = offered(found.function.module)
            name = found.function.name
            for (functions, _), (others, _) in zip(giving, there.giving, strict=True):
                functions |= {word} if name in others else set()
            makers |= {word} if name in there.makers else set()
            taking |= {word} if name in there.taking else set()
            padding |= {word} if name in there.padding else set()
            asking |= {word} if name in there.asking else set()
        elif isinstance(found, DefinedClass) and found.cls.module is not module:
            there = offered(found.cls.module)
            methods = _methods_of(found.cls)
            own |= methods
            for (functions, classes), (others, other_classes) in zip(giving, there.giving, strict=True):
                functions |= others & methods
                classes |= {word} if found.cls.name in other_classes else set()
            makers |= {word} if found.cls.name in there.makers else set()
            held |= there.held
            taking |= (there.taking & (methods | found.cls.built.keys())) | there.held
            owners[word] = there.taking & methods
            padding |= there.padding & methods
        elif home.imports.get(word) is not None:
            is_table = str(home.imports[word]).rpartition(".")[2] in operators.words("table")
            makers |= {word} if is_table else set()
        elif isinstance(found, External) and home is module and not found.name.startswith("builtins."):
            starred.add(word)
    kinds = tuple((frozenset(functions), frozenset(classes)) for functions, classes in giving)
    return Offered(
        kinds,
        frozenset(makers),
        frozenset(taking),
        frozenset(padding),
        frozenset(asking),
        tuple((name, methods) for name, methods in sorted(owners.items()) if methods),
        frozenset(held),
        frozenset(own),
        frozenset(starred),
    )


def reached(module: ModuleFacts, project: Project) -> tuple[tuple[str, ModuleFacts, Definition | None], ...]:
    """What a file's code mentions by imported names, each with the file that imports it."""
    return project.once(("reached", module), lambda: tuple(_reached(module, project)))


def _reached(module: ModuleFacts, project: Project) -> Iterator[tuple[str, ModuleFacts, Definition | None]]:
    """What a file's code mentions by imported names, each with the file that imports it.

    Of a module that is mentioned, what that one only hands on is reached where its name is mentioned, too.
    """
    used = _used(module)
    seen: set[ModuleFacts] = set()
    pending: list[tuple[str, ModuleFacts]] = []

    def look_into(home: ModuleFacts) -> None:
        if home not in seen:
            seen.add(home)
            names = used if home is module and home.star_imports else used & home.imports.keys()
            pending.extend((name, home) for name in sorted(names))

    look_into(module)
    for name, home in pending:
        found = project.names.resolve(home, name)
        if isinstance(found, DefinedModule):
            look_into(found.module)
        yield name, home, found


def _used(module: ModuleFacts) -> set[str]:
    """The names that a file's own code mentions, rather than handing them on."""
    values = [event.value for event in module.body.flow.events]
    values += [value for cls in module.classes.values() for value in cls.bases]
    names = {str(value.data) for value in walk_all(values) if value.op is Op.GLOBAL or value.op is Op.ATTR}
    return names.union(*(function.words for function in module.all_functions()))


def _methods_of(cls: Class) -> set[str]:
    """The methods that a class has of its own, or of classes of its file."""
    classes = {cls.name: cls}
    for name in (pending := [cls.name]):
        for base in classes[name].bases:
            above = cls.module.classes.get((dotted(base) or "").rpartition(".")[2])
            if above is not None and above.name not in classes:
                classes[above.name] = above
                pending.append(above.name)
    return {method for each in classes.values() for method in each.methods}
