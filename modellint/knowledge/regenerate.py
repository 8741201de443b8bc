"""Extracts the shipped facts: `python -m modellint.knowledge.regenerate --torch PATH --speechbrain PATH...`.

Each PATH is a folder that holds the unpacked package (`PATH/torch`, `PATH/speechbrain`). Several releases of a package
may be given, in any order: the newest is described in full, older ones where they differ.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint import knowledge
from modellint.flow.built import has_state, keeping
from modellint.graph.definitions import DefinedClass, DefinedConstant, DefinedFunction, DefinedModule, External
from modellint.graph.value import Event, EventKind, Op, Value, self_attribute
from modellint.knowledge import facts as form
from modellint.link.classes import calls
from modellint.link.classes.definitions import SourceFacts, SourceMethod
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from modellint.graph.definitions import Definition
    from modellint.graph.methods import Scope
    from modellint.graph.python import ModuleFacts, Parameter
    from modellint.graph.value import PathCondition
    from modellint.link.classes.models import ClassModel

_EVENT_CODES = {kind: code for code, kind in form.EVENTS.items()}
_CODES = {op: code for code, op in form.CODES.items()}
#: Functions whose result may hold what they are given.
_HOLDING = frozenset(
    ("builtins.enumerate", "builtins.zip", "builtins.dict", "collections.OrderedDict", "builtins.getattr")
)
_PLAIN_OPS = frozenset((Op.STRING, Op.SLICE))
#: Operations that take a part of their first operand.
_PARTS = frozenset((Op.ITEM, Op.UNPACK, Op.INDEX, Op.STARRED))
#: Calls on the object that never register anything.
_IDLE = frozenset(("train", "eval", "to", "cuda", "cpu", "apply", "parameters", "requires_grad_", "forward"))
_EFFECTS = frozenset(
    (
        *("add_module", "register_module", "register_parameter", "register_buffer"),
        *("append", "extend", "insert", "update", "add", "__init__"),
    )
)
#: Parts of the packages that recipes and models take classes from.
_FOLDERS = {"torch": ("nn/modules", "nn/parallel", "nn/parameter.py"), "speechbrain": ("",)}
_MAX_NODES = 1500
#: Builtins whose arguments say something.
_TELLING = frozenset(f"builtins.{name}" for name in ("isinstance", "super", "setattr", "getattr"))
#: Longer strings are prose.
_LONGEST = 32


class Nodes:
    """The table of nodes: equal ones stand once."""

    def __init__(self) -> None:
        self.table: list[Any] = []
        self._numbers: dict[str, int] = {}

    def add(self, node: Any) -> int:
        key = json.dumps(node)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.table)
            self.table.append(node)
        return number


class Encoder:
    """Encodes the values of one function."""

    def __init__(
        self,
        extraction: Extraction,
        scope: Scope,
        plain: frozenset[str] = frozenset(),
        bound: frozenset[str] = frozenset(),
    ) -> None:
        self._extraction = extraction
        self._nodes = extraction.nodes
        self._scope = scope
        self._plain = plain
        #: Names of methods: what they stand for, uncalled, is no layer.
        self._bound = bound
        self._known: dict[int, int] = {}
        self._active: set[int] = set()
        self._size = 0
        self._open: dict[int, int] = {}

    def value(self, value: Value) -> int:
        number = self._known.get(id(value))
        if number is None:
            if id(value) in self._active:
                return self._nodes.add("-")  # a loop's variable leads back to itself
            self._active.add(id(value))
            self._size += 1
            number = self._nodes.add(self._node(value) if self._size < _MAX_NODES else "?")
            self._active.discard(id(value))
            self._known[id(value)] = number
        return number

    def _node(self, value: Value) -> Any:
        op = value.op
        if op is Op.CONST:
            if isinstance(value.data, str) and len(value.data) > _LONGEST:
                return "!"
            return ["c", value.data] if isinstance(value.data, str | int | float | None) else "!"
        if op is Op.PARAM:
            return "self" if value.data == "self" else f"${value.data}"
        if op is Op.GLOBAL:
            return self._name(value) or "?"
        if op is Op.ATTR:
            return self._attribute(value)
        if op is Op.CALL:
            return self._call(value)
        if op is Op.DICT:
            keys = [-1 if key is None else self.value(key) for key in value.data]
            return ["d", keys, self._all(value.args)]
        if op is Op.CHOICE:
            test = self.value(value.data) if isinstance(value.data, Value) else -1
            return ["ch", test, self._all(value.args)]
        if op in _PLAIN_OPS or (op is Op.BIN and value.data not in ("+", "*")):
            return "!"
        if op is Op.BIN:
            sides = self._all(value.args)
            tables = [self._nodes.table[side] for side in sides]
            return ["b", value.data, sides] if not any(t == "!" or t[0] == "c" for t in tables) else "!"
        if op in _CODES:
            data = value.data if isinstance(value.data, str | int) else None
            if op in _PARTS and self._nodes.table[self.value(value.args[0])] in ("?", "!"):
                return self._nodes.table[self.value(value.args[0])]
            return [_CODES[op], data, self._all(value.args)]
        return "?"

    def _all(self, values: Iterable[Value]) -> list[int]:
        return [self.value(value) for value in values]

    def _name(self, value: Value) -> Any:
        """The node of a global name, None if it does not resolve."""
        definition = self._scope.definition(value)
        if definition is None:
            return None
        constant = self._scope.constant(definition)
        if constant is not None:
            stated, home = constant
            if self._size > _MAX_NODES or len(self._active) > 60:
                return "?"
            inner = Encoder(self._extraction, home)
            inner._active = self._active
            return self._nodes.table[inner.value(stated)]
        name = name_of(definition)
        if isinstance(definition, DefinedFunction):
            self._extraction.functions.setdefault(name, definition)
        return f"@{name}"

    def _attribute(self, value: Value) -> Any:
        owner = self_attribute(value)
        if owner is not None:
            return "!" if owner in self._bound else f".{owner}"
        found = self._name(value)
        if found is not None:
            return found
        if value.data in calls.PLAIN_ATTRIBUTES:
            return "!"
        inner = self.value(value.args[0])
        node = self._nodes.table[inner]
        if isinstance(node, str) and (node in ("!", "?") or (node[0] == "$" and value.data not in calls.FOLLOWED)):
            return "!" if node == "!" or node[1:] in self._plain else "?"
        return ["a", value.data, [inner]]

    def _call(self, value: Value) -> Any:
        own = self_attribute(value.callee)
        callee = self.value(value.callee) if own is None else self._nodes.add(f".{own}")
        node = self._nodes.table[callee]
        if isinstance(node, str) and node.startswith("@") and self._gives_plain(node[1:]):
            return "!"
        if node in ("?", "!"):
            return node
        operands = self._all(value.args[1:])
        if isinstance(node, str) and node.startswith("@") and all(map(self._is_indifferent, operands)):
            model = self._extraction.model(node[1:])
            if model is not None and model.is_module and has_state(model) is not None:
                return ["n", "", [callee]]
        return ["k", " ".join(name or "*" for name in value.data), [callee, *operands]]

    def _gives_plain(self, name: str) -> bool:
        """Whether what cannot be read under this name gives something plain, whatever it is called with."""
        if name in self._extraction.functions or name in _TELLING:
            return False
        return _gives_plain(name)

    def _is_indifferent(self, number: int) -> bool:
        """Whether a node holds nothing that could be a layer."""
        node = self._nodes.table[number]
        if isinstance(node, str):
            if node[0] == ".":
                return not self._extraction.holds_layers(node[1:])
            return node in ("!", "?") or bool(node[0] == "$" and node[1:] in self._plain)
        if node[0] in ("c", "n"):
            return bool(node[0] == "c")
        harmless: bool = node[0] in ("m", "o", "u", "i", "t", "l", "a") and all(map(self._is_indifferent, node[2]))
        return harmless

    def parameters(self, parameters: Iterable[Parameter], plain: frozenset[str]) -> list[int]:
        rows: list[int] = []
        for p in parameters:
            kind = form.KINDS.index(p.kind) + (form.PLAIN_FLAG if p.name in plain else 0)
            default = [] if p.default is None else [self.value(p.default)]
            rows.append(self._nodes.add(["p", [p.name, kind], default]))
        return rows

    def event(self, event: Event) -> list[Any] | None:
        """The row of an event, None for a call that cannot say anything."""
        if event.kind is EventKind.CALL and isinstance(self._nodes.table[self.value(event.value)], str):
            return None
        guard = self._guard(event.guard)
        target = -1 if event.target is None else self.value(event.target)
        value = self._nodes.add("!") if event.kind is EventKind.RAISE else self.value(event.value)
        if guard < 0 and event.kind is EventKind.CALL:
            return [value]
        if guard < 0 and event.kind is EventKind.STORE:
            return [value, target]
        return [_EVENT_CODES[event.kind], value, target, guard]

    def _test(self, test: Value) -> int:
        """The node of a condition; conditions that nothing decides stay different ones."""
        if test.op is Op.BOOL or (test.op is Op.UNARY and test.data == "not"):
            return self._nodes.add([_CODES[test.op], test.data, [self._test(arg) for arg in test.args]])
        number = self.value(test)
        if self._nodes.table[number] in ("?", "!"):
            return self._nodes.add(["?", self._open.setdefault(id(test), len(self._open)), []])
        return number

    def _guard(self, guard: PathCondition | None) -> int:
        if guard is None:
            return -1
        test = self._test(guard.test)
        outer = self._guard(guard.outer)
        outcome = (2 if guard.truthy else 3) if guard.raised else int(guard.truthy)
        return self._nodes.add(["g", outcome, [test] if outer < 0 else [test, outer]])


def _chain(guard: PathCondition | None) -> Iterator[PathCondition]:
    return iter(()) if guard is None else guard.chain()


def name_of(definition: Definition) -> str:
    """The canonical name of a definition."""
    if isinstance(definition, DefinedClass):
        return knowledge.canonical(f"{definition.cls.module.name}.{definition.cls.qualname}")
    if isinstance(definition, DefinedFunction):
        return f"{definition.function.module.name}.{definition.function.qualname}"
    if isinstance(definition, DefinedModule):
        return definition.module.name
    if isinstance(definition, DefinedConstant):
        return f"{definition.module.name}.{definition.name}"
    return definition.name


class Extraction:
    """The facts of one release of a package."""

    def __init__(self, root: Path, package: str, nodes: Nodes) -> None:
        self.nodes = nodes
        self.package = package
        self.project = Project(ProjectOptions(root))
        self.modules = list(self._modules(root / package))
        self.classes = {facts.name: facts for facts in self._class_facts()}
        self.functions: dict[str, DefinedFunction] = {}
        self._read: set[str] = set()
        self._built: set[str] = set()
        self._holding: dict[str, frozenset[str]] = {}

    def _modules(self, folder: Path) -> Iterator[ModuleFacts]:
        paths: set[Path] = set()
        for part in _FOLDERS[self.package]:
            place = folder / part
            paths.update(place.rglob("*.py") if place.is_dir() else [place])
        for path in sorted(paths):
            module = self.project.python(path)
            if module is not None:
                yield module

    def _class_facts(self) -> Iterator[SourceFacts]:
        for module in self.modules:
            for cls in module.classes.values():
                facts = SourceFacts(cls, self.project.names)
                facts.name = knowledge.canonical(facts.name)
                yield facts

    def encode_classes(self) -> dict[str, Any]:
        reached = self._reached_methods()
        self._find_attributes(reached)
        return {name: self._encode(facts, reached) for name, facts in sorted(self.classes.items())}

    def _reached_methods(self) -> frozenset[str]:
        """The names of methods that some constructor calls, on the object or above it, directly or not."""
        reached = {"__init__", *_EFFECTS}
        while True:
            found = {
                callee.data
                for facts in self.classes.values()
                for name in facts.cls.methods
                if name in reached
                for event in facts.cls.methods[name].flow.of(EventKind.CALL)
                if (callee := event.value.callee).op is Op.ATTR and _is_self(callee.args[0])
            } - _IDLE
            if found <= reached:
                return frozenset(reached)
            reached |= found

    def model(self, name: str) -> ClassModel | None:
        """The model of a class of this release or of a package described before."""
        facts = self.classes.get(name)
        if facts is not None:
            return self.project.classes.model(facts.cls)
        is_own = name.startswith(f"{self.package}.")
        return None if is_own else self.project.classes.of(External(name))

    def _may_hold_layers(self, facts: SourceFacts) -> bool:
        """Whether a class is a layer, or keeps anything that may be one."""
        model = self.project.classes.model(facts.cls)
        if self.package == "torch" or model.is_module is not False or facts.name in self._built:
            return True
        return bool(keeping(model))

    def _layer_attributes(self, facts: SourceFacts, lineage: set[str]) -> set[str]:
        """The attributes of a class and of those that inherit from it under which there may be a layer."""
        heirs = [name for name in self.classes if facts.name in self._lineage(name, set())]
        return {attribute for name in (*lineage, *heirs) for attribute in self._holding.get(name, ())}

    def _lineage(self, name: str, seen: set[str]) -> set[str]:
        """A class of this package and those that it inherits from."""
        facts = self.classes.get(name)
        if facts is not None and name not in seen:
            seen.add(name)
            for base in facts.bases:
                if base is not None:
                    self._lineage(name_of(base), seen)
        return seen

    def holds_layers(self, attribute: str) -> bool:
        """Whether some class may keep a layer under that attribute."""
        return any(attribute in names for names in self._holding.values())

    def _find_attributes(self, reached: frozenset[str]) -> None:
        """Which attributes constructors read, and which may hold a layer."""
        for facts in self.classes.values():
            self._holding[facts.name] = keeping(self.project.classes.model(facts.cls))
            for name in reached & facts.cls.methods.keys():
                for event in facts.cls.methods[name].flow.events:
                    if _matters(event, name):
                        self._read.update(_attributes_in(event))
                    if event.kind is EventKind.CALL:
                        built = facts.scope.definition(event.value.callee)
                        if isinstance(built, DefinedClass):
                            self._built.add(name_of(built))

    def _encode(self, facts: SourceFacts, reached: frozenset[str]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        bases = [self.nodes.add("?" if base is None else f"@{name_of(base)}") for base in facts.bases]
        if bases:
            data["b"] = bases
        methods = {name: method for name in facts.cls.methods if name in reached and (method := facts.method(name))}
        if facts.name == calls.MODULE:
            methods = {}
        if methods:
            data["m"] = {name: self._encode_method(method) for name, method in methods.items()}
            if not self._may_hold_layers(facts):
                data["m"] = {name: [*method[:2], []] for name, method in data["m"].items() if name == "__init__"}
        encoder = Encoder(self, facts.scope)
        attributes = {name: encoder.value(value) for name, value in facts.attributes.items()}
        telling = {name: n for name, n in attributes.items() if self.nodes.table[n] not in ("?", "!")}
        if telling:
            data["a"] = telling
        if facts.fields is not None:
            data["f"] = encoder.parameters(facts.fields, frozenset())
        conduct = facts.conduct
        lineage = self._lineage(facts.name, set())
        used = conduct.used & self._layer_attributes(facts, lineage)
        groups = [used, conduct.moved, conduct.moved_parameters, conduct.carried, conduct.changing]
        while groups and not groups[-1]:
            groups.pop()
        if groups:
            data["c"] = [" ".join(sorted(group)) for group in groups]
        return data

    def _encode_method(self, method: SourceMethod) -> list[Any]:
        owner = method.function.owner
        bound = frozenset(n for n, f in owner.methods.items() if not f.is_property) if owner else frozenset[str]()
        encoder = Encoder(self, method.scope, method.plain, bound)
        parameters = encoder.parameters(method.parameters, method.plain)
        events = [
            row
            for event in method.flow.events
            if _matters(event, method.name)
            and not self._is_idle_store(event, method)
            and (row := encoder.event(event)) is not None
        ]
        return [parameters, int(method.has_receiver), events]

    def _is_idle_store(self, event: Event, method: SourceMethod) -> bool:
        """Whether an assignment keeps something plain under an attribute that no constructor reads."""
        attribute = self_attribute(event.target) if event.target is not None else None
        owner = method.function.owner
        if attribute is None or attribute in self._read or owner is None:
            return False
        if knowledge.canonical(f"{owner.module.name}.{owner.qualname}") in self._built:
            return False  # another constructor may read it from the object
        return _is_plain_store(event, method)

    def encode_functions(self) -> dict[str, Any]:
        """The functions that constructors call; those that they call in turn included."""
        done: dict[str, Any] = {}
        while pending := [name for name in self.functions if name not in done]:
            for name in pending:
                method = SourceMethod(self.functions[name].function, self.project.names)
                parameters, receiver, events = self._encode_method(method)
                done[name] = [parameters, receiver, [event for event in events if event[0] == "r"]]
        return done

    def aliases(self) -> dict[str, str]:
        """Other dotted names of classes, by which packages offer them again."""
        found: dict[str, str] = {}
        for module in self.modules:
            if not module.is_package and not module.star_imports:
                continue
            names = {*module.imports, *(n for star in module.star_imports for n in self._star(star, module))}
            for name in sorted(names):
                definition = self.project.names.resolve(module, name)
                if isinstance(definition, DefinedClass):
                    target, alias = name_of(definition), f"{module.name}.{name}"
                    if alias != target and target.startswith(f"{self.package}.") and target.endswith(f".{name}"):
                        found[alias] = target
        return found

    def _star(self, star: str, module: ModuleFacts) -> Iterator[str]:
        source = self.project.names.find_module(star, module.file)
        if source is not None:
            yield from source.classes

    def redirects(self) -> dict[str, str]:
        """Modules that stand for another module."""
        top = self.project.python(self.project.options.root / self.package / "__init__.py")
        return {} if top is None else self.project.names.redirects(top)


def _gives_plain(name: str) -> bool:
    """Whether calling a function or class that cannot be read gives something plain, whatever it is called with."""
    if name in calls.COPIES | calls.WRAPPERS | calls.SEQUENCES | _HOLDING or calls.PRETRAINED.match(name):
        return False
    top = name.partition(".")[0]
    if top == "torch":
        return not calls.is_torch_class(name)
    return calls.is_standard(top) or top in ("builtins", "numpy") or name.startswith(knowledge.TOOLS_ELSEWHERE)


def _is_self(value: Value) -> bool:
    if value.op is Op.PARAM:
        return value.data == "self"  # type: ignore[no-any-return]
    return value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data == "super"


def _matters(event: Event, name: str) -> bool:
    """Whether an event can say something about what a constructor registers."""
    if event.kind is EventKind.CALL:
        callee = event.value.callee
        if callee.op is Op.GLOBAL:
            return bool(callee.data == "setattr")
        if callee.op is not Op.ATTR:
            return False
        return callee.data in _EFFECTS or (_is_self(callee.args[0]) and callee.data not in _IDLE)
    if event.kind is EventKind.STORE:
        return event.target is not None and not (event.value.op in _PLAIN_OPS or _is_arithmetic(event.value))
    if event.kind is EventKind.RETURN:
        return name != "__init__"
    return event.kind is EventKind.RAISE


def _is_plain_store(event: Event, method: SourceMethod) -> bool:
    value = event.value
    return value.op is Op.CONST or (value.op is Op.PARAM and value.data in method.plain)


def _attributes_in(event: Event) -> Iterator[str]:
    """The attributes of the object that an event reads, in its value or in its conditions."""
    for root in (event.value, *(guard.test for guard in _chain(event.guard))):
        pending, seen = [root], set[int]()
        while pending:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if (attribute := self_attribute(value)) is not None:
                yield attribute
            pending.extend(value.args)
            if value.op is Op.CHOICE and isinstance(value.data, Value):
                pending.append(value.data)
            elif value.op is Op.DICT:
                pending.extend(key for key in value.data if key is not None)


def _is_arithmetic(value: Value) -> bool:
    return value.op is Op.BIN and value.data not in ("+", "*")


def release_of(root: Path, package: str) -> str:
    """The release of an unpacked package, as its metadata or version file states it."""
    for metadata in sorted(root.glob(f"{package}-*.dist-info")):
        return metadata.name.removeprefix(f"{package}-").removesuffix(".dist-info")
    for name in ("version.txt", "version.py"):
        path = root / package / name
        if path.exists() and (match := re.search(r"\d+(?:\.\d+)+", path.read_text(encoding="utf-8"))):
            return match[0]
    raise SystemExit(f"{root}: no release of {package} found")


def release_order(release: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", release.partition("+")[0])]


def extract(package: str, roots: Sequence[Path]) -> dict[str, Any]:
    """The facts of a package, from one or more releases, in the form that is shipped."""
    releases = {release_of(root, package).partition("+")[0]: root for root in roots}
    knowledge.use(package, form.Package(form.NO_FACTS))
    nodes = Nodes()
    data: dict[str, Any] = {}
    functions: dict[str, Any] = {}
    for release in sorted(releases, key=release_order, reverse=True):
        extraction = Extraction(releases[release].resolve(), package, nodes)
        classes = extraction.encode_classes()
        functions = {**extraction.encode_functions(), **functions}
        if not data:
            data = {"release": release, "classes": classes, "aliases": {}, "redirects": {}, "older": {}}
        else:
            known = data["classes"]
            redirects = data["redirects"]
            data["older"][release] = {
                name: found
                for name, found in classes.items()
                if known.get(name) != found and _redirected(name, redirects) not in known
            }
        every = {name for found in (data["classes"], *data["older"].values()) for name in found}
        for alias, target in extraction.aliases().items():
            if alias not in every:
                data["aliases"].setdefault(alias, target)
        for old, new in extraction.redirects().items():
            data["redirects"].setdefault(old, new)
    return _renumbered({**data, "functions": functions}, nodes.table)


def _redirected(name: str, redirects: dict[str, str]) -> str | None:
    """The name that a redirection of its module gives a class."""
    return next((new + name[len(old) :] for old, new in redirects.items() if name.startswith(f"{old}.")), None)


def _renumbered(data: dict[str, Any], table: list[Any]) -> dict[str, Any]:
    """The same facts with the nodes that are used most numbered first, and unused ones left out."""
    counts: dict[int, int] = {}

    def count(number: int) -> int:
        counts[number] = counts.get(number, 0) + 1
        if counts[number] == 1:
            _map_node(table[number], count)
        return number

    _map_facts(data, count)
    order = sorted(counts, key=lambda number: (-counts[number], number))
    numbers = {old: new for new, old in enumerate(order)}
    facts: dict[str, Any] = _map_facts(data, numbers.__getitem__)
    return {
        **_packed_facts(facts),
        "nodes": [_packed_node(_map_node(table[old], numbers.__getitem__)) for old in order],
    }


def _map_node(node: Any, number: Callable[[int], int]) -> Any:
    if isinstance(node, str) or node[0] == "c":
        return node
    code, data, operands = node
    if code == "d":
        data = [key if key < 0 else number(key) for key in data]
    elif code == "ch" and data >= 0:
        data = number(data)
    return [code, data, [number(operand) for operand in operands]]


def _map_facts(data: dict[str, Any], number: Callable[[int], int]) -> dict[str, Any]:
    classes = {name: _map_class(found, number) for name, found in data["classes"].items()}
    older = {
        release: {name: _map_class(found, number) for name, found in classes.items()}
        for release, classes in data["older"].items()
    }
    functions = {name: _map_method(found, number) for name, found in data["functions"].items()}
    return {**data, "classes": classes, "older": older, "functions": functions}


def _packed_facts(data: dict[str, Any]) -> dict[str, Any]:
    """The facts with methods as texts and classes by module."""
    older = {release: _packed_classes(classes) for release, classes in data["older"].items()}
    functions = {name: _packed_method(method) for name, method in data["functions"].items()}
    aliases: dict[str, list[str]] = {}
    for alias, target in data["aliases"].items():
        aliases.setdefault(alias.rpartition(".")[0], []).append(target)
    return {
        **data,
        "classes": _packed_classes(data["classes"]),
        "aliases": {package: _text(targets) for package, targets in aliases.items()},
        "older": older,
        "functions": functions,
    }


def _packed_classes(classes: dict[str, Any]) -> dict[str, Any]:
    modules: dict[str, dict[str, Any]] = {}
    for name, found in classes.items():
        module, _, last = name.rpartition(".")
        methods = {method: _packed_method(row) for method, row in found.get("m", {}).items()}
        modules.setdefault(module, {})[last] = {**found, "m": methods} if methods else found
    return modules


def _packed_method(method: list[Any]) -> str:
    parameters, receiver, events = method
    return f"{_text(parameters)}|{receiver}|{';'.join(_text(event) for event in events)}"


def _packed_node(node: Any) -> Any:
    if isinstance(node, str):
        for mark, start in form.PREFIXES.items():
            if start and node.startswith(f"@{start}"):
                return mark + node.removeprefix(f"@{start}")
        return node
    if node[0] == "c":
        return f"'{node[1]}" if isinstance(node[1], str) else node[1]
    code, data, operands = node
    if isinstance(data, list):
        data = _text(data)
    return f"?{data}" if code == "?" else f"{code} {'' if data is None else data};{_text(operands)}"


def _text(parts: Iterable[Any]) -> str:
    return " ".join(map(str, parts))


def _map_class(data: dict[str, Any], number: Callable[[int], int]) -> dict[str, Any]:
    mapped = dict(data)
    if "b" in data:
        mapped["b"] = [number(base) for base in data["b"]]
    if "m" in data:
        mapped["m"] = {name: _map_method(method, number) for name, method in data["m"].items()}
    if "a" in data:
        mapped["a"] = {name: number(value) for name, value in data["a"].items()}
    if "f" in data:
        mapped["f"] = [number(row) for row in data["f"]]
    return mapped


def _map_method(method: list[Any], number: Callable[[int], int]) -> list[Any]:
    parameters, receiver, events = method
    return [[number(row) for row in parameters], receiver, [_map_event(event, number) for event in events]]


def _map_event(event: list[Any], number: Callable[[int], int]) -> list[Any]:
    if len(event) < 3:
        return [number(value) for value in event]
    return [event[0], *(value if value < 0 else number(value) for value in event[1:])]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m modellint.knowledge.regenerate", description=__doc__)
    parser.add_argument("--torch", type=Path, nargs="*", default=[])
    parser.add_argument("--speechbrain", type=Path, nargs="*", default=[])
    parser.add_argument("--into", type=Path, default=Path(form.__file__).parent)
    options = parser.parse_args(arguments)
    for package in knowledge.PACKAGES:
        roots = getattr(options, package)
        if roots:
            data = extract(package, roots)
            text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
            (options.into / f"{package}.json").write_text(text + "\n", encoding="utf-8")
            knowledge.use(package, form.Package(data))


if __name__ == "__main__":
    main()
