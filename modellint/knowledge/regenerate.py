"""Extracts the shipped facts: `python -m modellint.knowledge.regenerate --torch PATH --speechbrain PATH...`.

`--einops PATH` does the same for einops. Each PATH is a folder that holds the unpacked package (`PATH/torch`,
`PATH/speechbrain`). Several releases of a package may be given, in any order: the newest is described in full, older
ones where they differ.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint import knowledge
from modellint.flow.built import keeping
from modellint.graph.definitions import DefinedClass, DefinedFunction, External
from modellint.graph.value import Event, EventKind, Op, Value, self_attribute
from modellint.knowledge import facts as form
from modellint.knowledge.encoding import PLAIN_OPS, Encoder, Nodes, is_arithmetic, name_of
from modellint.knowledge.packing import renumbered
from modellint.link.classes import calls
from modellint.link.classes.definitions import SourceFacts, SourceMethod
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import PathCondition
    from modellint.link.classes.models import ClassModel

#: Calls on the object that never register anything.
_IDLE = frozenset(("train", "eval", "to", "cuda", "cpu", "apply", "parameters", "requires_grad_", "forward"))
_EFFECTS = frozenset(
    (
        *("add_module", "register_module", "register_parameter", "register_buffer"),
        *("append", "extend", "insert", "update", "add", "__init__"),
    )
)
#: Parts of the packages that recipes and models take classes from.
_FOLDERS = {
    "torch": ("nn/modules", "nn/parallel", "nn/parameter.py"),
    "speechbrain": ("",),
    "einops": ("layers/__init__.py", "layers/_einmix.py", "layers/torch.py"),
}


def _chain(guard: PathCondition | None) -> Iterator[PathCondition]:
    return iter(()) if guard is None else guard.chain()


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
        """True if a class is a layer, or may store one."""
        model = self.project.classes.model(facts.cls)
        if self.package == "torch" or facts.name in self._built or bool(keeping(model)):
            return True
        classes = (self.project.classes.model(heir.cls) for heir in self.classes.values())
        return any(heir.is_module for heir in classes if model in heir.mro())

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
        """True if some class may store a layer in that attribute."""
        return any(attribute in names for names in self._holding.values())

    def _find_attributes(self, reached: frozenset[str]) -> None:
        """Collect the attributes that constructors read, and those that may hold a layer."""
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
        """True if an assignment stores a plain value in an attribute that no constructor reads."""
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


def _is_self(value: Value) -> bool:
    if value.op is Op.PARAM:
        return value.data == "self"  # type: ignore[no-any-return]
    return value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data == "super"


def _matters(event: Event, name: str) -> bool:
    """True if an event can affect what a constructor registers."""
    if event.kind is EventKind.CALL:
        callee = event.value.callee
        if callee.op is Op.GLOBAL:
            return bool(callee.data == "setattr")
        if callee.op is not Op.ATTR:
            return False
        return callee.data in _EFFECTS or (_is_self(callee.args[0]) and callee.data not in _IDLE)
    if event.kind is EventKind.STORE:
        return event.target is not None and not (event.value.op in PLAIN_OPS or is_arithmetic(event.value))
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
                if known.get(name) != found and _redirected_name(name, redirects) not in known
            }
        every = {name for found in (data["classes"], *data["older"].values()) for name in found}
        for alias, target in extraction.aliases().items():
            if alias not in every:
                data["aliases"].setdefault(alias, target)
        for old, new in extraction.redirects().items():
            data["redirects"].setdefault(old, new)
    return renumbered({**data, "functions": functions}, nodes.table)


def _redirected_name(name: str, redirects: dict[str, str]) -> str | None:
    """The name that a redirection of its module gives a class."""
    return next((new + name[len(old) :] for old, new in redirects.items() if name.startswith(f"{old}.")), None)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m modellint.knowledge.regenerate", description=__doc__)
    for package in knowledge.DESCRIBED:
        parser.add_argument(f"--{package}", type=Path, nargs="*", default=[])
    parser.add_argument("--into", type=Path, default=Path(form.__file__).parent)
    options = parser.parse_args(arguments)
    for package in knowledge.DESCRIBED:
        roots = getattr(options, package)
        if roots:
            data = extract(package, roots)
            text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
            (options.into / f"{package}.json").write_text(text + "\n", encoding="utf-8")
            knowledge.use(package, form.Package(data))


if __name__ == "__main__":
    main()
