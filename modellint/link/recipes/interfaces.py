"""Interfaces of published models: the class that loads an inference recipe, and the keys and modules it needs.

Such a recipe has no script. The class is named by the folder's `config.json`, by the code in its README, or
defined in a Python file of the folder.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from modellint import knowledge
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, Value, self_attribute
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import ItemKind
from modellint.link.recipes.keys import key_work
from modellint.link.recipes.pairing import is_inference, scripts_of
from modellint.reading.files import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.graph.value import Event
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project
    from modellint.link.recipes.items import Evaluation, Item
    from modellint.source import Place

_IMPORT = re.compile(r"^[\s>!.]*from\s+([\w.]+)\s+import\s+([\w, ]+)", re.MULTILINE)
_LOADS = re.compile(r"\b([A-Za-z_][\w.]*)\.from_hparams\(\s*(?:source\s*=\s*)?[\"']([^\"'\n]*)[\"']")
_FOREIGN = re.compile(r"\bforeign_class\(([^)]*)\)")
_ARGUMENT = r"\b{}\s*=\s*[\"']([^\"'\n]*)[\"']"
_ADDS_KEYS = re.compile(r"overrides_must_match\s*=\s*False")
_CALLED = re.compile(r"\.(\w+)\(")
_CAUGHT = re.compile(r"\bexcept\b")
_METHODS = frozenset(("keys", "values", "items", "update", "pop", "get", *dir(object)))
#: Operations whose operands are evaluated conditionally, or have events of their own.
_ELSEWHERE = frozenset((Op.CALL, Op.CHOICE, Op.UPDATE, Op.COMPREHENSION, Op.BOOL, Op.LAMBDA))


@dataclass(frozen=True, eq=False)
class Interface:
    """A class that loads a recipe, the evidence for it, and the methods that the README calls on its objects."""

    model: ClassModel
    evidence: str
    called: frozenset[str]

    @property
    def name(self) -> str:
        return self.model.name.rpartition(".")[2]


@dataclass(frozen=True, eq=False)
class Unmet:
    """A key or module that an interface needs and the recipe lacks.

    `use` is where a class of the folder reads it (in `function`, as `text`), None if the interface declares it.
    `keys` are those of the recipe or its `modules`, `spare` those that the interface does not declare; `place`
    is that of the recipe or its `modules`.
    """

    interface: Interface
    name: str
    use: Place | None
    text: str
    function: str
    keys: tuple[str, ...]
    spare: tuple[str, ...]
    place: Place
    is_defined: bool


def unmet_keys(recipe: Recipe, project: Project) -> tuple[Unmet, ...]:
    """The keys that the interface of an inference recipe needs and that the recipe lacks."""
    return project.once(("unmet keys", recipe.file), lambda: tuple(_unmet(recipe, project, knowledge.INTERFACE_KEYS)))


def unmet_modules(recipe: Recipe, project: Project) -> tuple[Unmet, ...]:
    """The entries of `modules` that the interface of an inference recipe needs and that are missing."""
    key = ("unmet modules", recipe.file)
    return project.once(key, lambda: tuple(_unmet(recipe, project, knowledge.INTERFACE_MODULES)))


def recipes_beside(module: ModuleFacts, project: Project) -> tuple[Recipe, ...]:
    """The inference recipes in the folder of a file that defines an interface."""
    folder = module.file.parent
    names = project.files.listdir(folder) if module.classes else []
    recipes = [project.recipe(folder / name) for name in names if name.endswith((".yaml", ".yml"))]
    found = tuple(recipe for recipe in recipes if recipe is not None and is_inference(recipe))
    is_asked = found and any(_is_interface(project.classes.model(cls)) for cls in module.classes.values())
    return found if is_asked else ()


def _unmet(recipe: Recipe, project: Project, attribute: str) -> Iterator[Unmet]:
    interfaces = interfaces_of(recipe, project)
    if not interfaces or _adds_keys(recipe, project):
        return
    evaluation = evaluate(recipe, project)
    is_key = attribute == knowledge.INTERFACE_KEYS
    source = evaluation.root if is_key else _modules(evaluation)
    if source is None:
        return
    keys = {name for name in source.fields if isinstance(name, str)}
    known = keys | knowledge.INTERFACE_ADDED if is_key else keys
    place = recipe.place(recipe.root.entries[0].key.span) if is_key else source.place
    first = interfaces[0]
    needed = set.intersection(*(_declared_names(interface, recipe, is_key) for interface in interfaces))
    has, spare = tuple(sorted(keys)), tuple(sorted(keys - needed))
    told: set[str] = set()
    if len(interfaces) == 1:
        for name, value, function in _uses(first, recipe, project, attribute):
            if name not in known and name not in told:
                told.add(name)
                module = function.module
                use = module.place(value)
                text = module.text_of(value)
                yield Unmet(first, name, use, text, function.qualname, has, spare, place, name in evaluation.keys)
    for name in sorted(needed - known - told):
        yield Unmet(first, name, None, name, "", has, spare, place, name in evaluation.keys)


def _modules(evaluation: Evaluation) -> Item | None:
    modules = evaluation.keys.get("modules")
    return modules if modules is not None and modules.kind is ItemKind.MAPPING else None


def _declared_names(interface: Interface, recipe: Recipe, is_key: bool) -> set[str]:
    """The names that an interface declares in `HPARAMS_NEEDED` or `MODULES_NEEDED`.

    Nothing checks MODULES_NEEDED at run time, so it is ignored for a class beside the recipe, whose uses are read.
    """
    model = interface.model
    if is_key:
        return set(_names_in_list(model, knowledge.KEYS_NEEDED))
    if model.cls is not None and model.cls.module.file.parent == recipe.file.parent:
        return set()
    return set(_names_in_list(model, knowledge.MODULES_NEEDED))


def _names_in_list(model: ClassModel, declared: str) -> frozenset[str]:
    """The names in the list attribute `declared` of a class or its nearest base, common to all described releases."""
    from modellint.knowledge.facts import ShippedFacts

    for current in model.mro():
        value = current.facts.attributes.get(declared)
        if value is None:
            continue
        names = _strings(value)
        if isinstance(current.facts, ShippedFacts):
            for release in knowledge.package(current.facts.name.partition(".")[0]).releases:
                facts = knowledge.class_facts(current.facts.name, release)
                other = facts.attributes.get(declared) if facts is not None else None
                names &= _strings(other) if other is not None else frozenset()
        return names
    return frozenset()


def _strings(value: Value) -> frozenset[str]:
    """The strings of a literal list; empty if it has other elements."""
    if value.op not in (Op.LIST, Op.TUPLE) or any(arg.op is not Op.CONST for arg in value.args):
        return frozenset()
    return frozenset(str(arg.data) for arg in value.args)


# -- the interface class -----------------------------------------------------------------------------------------


def interfaces_of(recipe: Recipe, project: Project) -> tuple[Interface, ...]:
    """The classes that load a recipe without script; empty if nothing names them for certain."""
    if not is_inference(recipe) or scripts_of(recipe, project).scripts:
        return ()
    return project.once(("interfaces", recipe.file), lambda: tuple(_find(recipe, project)))


def _find(recipe: Recipe, project: Project) -> Iterator[Interface]:
    readme = _readme(recipe, project)
    called = frozenset(_CALLED.findall(readme))
    configured = _class_in_config(recipe, project)
    if configured is not None:
        model = _resolve(configured, recipe, project)
        if model is not None:
            yield Interface(model, f"`config.json` names `{configured}`", called)
        return
    loaded = _classes_in_readme(readme, recipe)
    if loaded:
        models = {name: _resolve(name, recipe, project) for name in loaded}
        if all(model is not None for model in models.values()):
            for name, model in models.items():
                if model is not None:
                    yield Interface(model, f"the README loads it with `{name.rpartition('.')[2]}`", called)
        return
    if "from_hparams(" in readme or "foreign_class(" in readme:
        return
    written = list(_interfaces_beside(recipe, project))
    if len(written) == 1:
        name = written[0].name.rpartition(".")[2]
        yield Interface(written[0], f"`{name}` stands beside the recipe", called)


def _readme(recipe: Recipe, project: Project) -> str:
    folder = recipe.file.parent
    names = [name for name in project.files.listdir(folder) if name.lower() == "readme.md"]
    return "\n".join((project.files.read(folder / name) or b"").decode("utf-8", "replace") for name in names)


def _class_in_config(recipe: Recipe, project: Project) -> str | None:
    data = project.files.read(recipe.file.parent / "config.json")
    try:
        settings = parse_json(data) if data else None
    except ValueError:
        return None
    name = settings.get(knowledge.INTERFACE_SETTING) if isinstance(settings, dict) else None
    return name if isinstance(name, str) and name else None


def _classes_in_readme(readme: str, recipe: Recipe) -> list[str]:
    """The classes that load this model in a README: by its only source, or the source named like the folder."""
    imported = {}
    for module, names in _IMPORT.findall(readme):
        for name in names.split(","):
            imported[name.split(" as ")[-1].strip()] = f"{module}.{name.split(' as ')[0].strip()}"
    by_source: dict[str, list[str]] = {}
    for name, source in _LOADS.findall(readme):
        by_source.setdefault(source.rstrip("/"), []).append(imported.get(name, name))
    for arguments in _FOREIGN.findall(readme):
        texts = {key: re.search(_ARGUMENT.format(key), arguments) for key in ("source", "pymodule_file", "classname")}
        source, file, name = (match[1] if match else "" for match in texts.values())
        name = f"{Path(file or 'custom.py').stem}.{name or 'CustomInterface'}"
        by_source.setdefault(source.rstrip("/"), []).append(name)
    if len(by_source) > 1:
        folder = recipe.file.parent.name
        by_source = {source: names for source, names in by_source.items() if source.rpartition("/")[2] == folder}
    return list(dict.fromkeys(name for names in by_source.values() for name in names)) if len(by_source) == 1 else []


def _resolve(name: str, recipe: Recipe, project: Project) -> ClassModel | None:
    """The interface with a name: dotted, or of a class in SpeechBrain's packages or in the folder; else None."""
    dotted = [name] if "." in name else [f"{package}.{name}" for package in knowledge.INTERFACE_PACKAGES]
    for candidate in dotted:
        model = project.classes.resolve(candidate, recipe.file)
        if model is not None:
            return model if _is_interface(model) else None
    beside = [model for model in _interfaces_beside(recipe, project) if model.name.rpartition(".")[2] == name]
    return beside[0] if len(beside) == 1 else None


def _interfaces_beside(recipe: Recipe, project: Project) -> Iterator[ClassModel]:
    """The interfaces defined in the Python files of a recipe's folder."""
    folder = recipe.file.parent
    for name in project.files.listdir(folder):
        module = project.python(folder / name) if name.endswith(".py") else None
        for cls in module.classes.values() if module is not None else ():
            model = project.classes.model(cls)
            if _is_interface(model):
                yield model


def _is_interface(model: ClassModel) -> bool:
    return any(base.name == knowledge.INTERFACE_BASE for base in model.mro())


def _adds_keys(recipe: Recipe, project: Project) -> bool:
    """True if the README has users load the recipe with keys of their own."""
    return _ADDS_KEYS.search(_readme(recipe, project)) is not None


# -- reads in a class of the folder ------------------------------------------------------------------------------


def _uses(
    interface: Interface, recipe: Recipe, project: Project, attribute: str
) -> Iterator[tuple[str, Value, Function]]:
    """The certain reads of `self.hparams` or `self.mods` in an interface of the recipe's folder.

    They are those of its constructor and of the methods that the README calls.
    """
    classes = [model.cls for model in interface.model.mro() if model.cls is not None]
    classes = [cls for cls in classes if cls.module.file.parent == recipe.file.parent]
    work = key_work((method for cls in classes for method in cls.methods.values()), partial(_is_held, attribute))
    if work.may_have_more_keys:
        return
    methods: dict[str, Function] = {}
    for cls in classes:
        for name, method in cls.methods.items():
            methods.setdefault(name, method)
    pending = ["__init__", *sorted(interface.called)]
    seen: set[str] = set()
    for name in pending:
        found = methods.get(name)
        if found is None or name in seen or _CAUGHT.search(found.text):
            continue
        seen.add(name)
        for event in found.flow.events:
            if event.guard is not None or event.kind is EventKind.DELETE:
                continue
            if event.kind is EventKind.CALL and (own := self_attribute(event.value.callee)) is not None:
                pending.append(own)
            for value in _parts(event):
                if value.op is Op.ATTR and self_attribute(value.args[0]) == attribute:
                    read = str(value.data)
                    if read not in work.optional and read not in work.stored and read not in _METHODS:
                        yield read, value, found


def _is_held(attribute: str, value: Value) -> bool:
    """True if a value is the attribute of `self`, or its `__dict__`."""
    while value.op is Op.UPDATE or (value.op is Op.ATTR and value.data == "__dict__"):
        value = value.args[0]
    return self_attribute(value) == attribute


def _parts(event: Event) -> Iterator[Value]:
    """The values that an event certainly evaluates."""
    stack = [event.value] if event.value.op is Op.CALL or event.value.op not in _ELSEWHERE else []
    seen: set[int] = set()
    while stack:
        value = stack.pop()
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            stack.extend(arg for arg in value.args if arg.op not in _ELSEWHERE)
