"""The classes that `type=` names in configurations of OpenMMLab, their parameters, and how their objects are built."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from modellint.dialects.built import Fate, built_by_programs, fate_of
from modellint.dialects.openmmlab import DELETE, config_file, leaves_of, partial_paths
from modellint.dialects.reading import Instantiation
from modellint.dialects.registries import registries
from modellint.edits.similar import get_close_matches
from modellint.frontends.openmmlab import looks_like_openmmlab
from modellint.graph.definitions import DefinedClass, DefinedFunction
from modellint.graph.immutable import dataclass, replace
from modellint.graph.recipe import TagKind
from modellint.graph.value import NOWHERE, EventKind, Op, Parameter
from modellint.knowledge.registered import registering
from modellint.link.classes.signatures import constructor_parameters
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import ItemKind
from modellint.link.recipes.targets import ResolvedName, TaggedItem, TargetKind, is_slip, locate_in, tagged_items

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from modellint.graph.python import Class, Function
    from modellint.graph.recipe import Recipe, Scalar
    from modellint.graph.value import Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.classes.signatures import Parameters
    from modellint.link.names import Definition
    from modellint.link.project import Project
    from modellint.link.recipes.items import Item

#: The modules whose classes mmengine and mmcv register in loops, under their own names.
_BY_LOOPS = ("torch.optim", "torch.optim.lr_scheduler", "torch.nn")
_UNKNOWN = ResolvedName(TargetKind.UNKNOWN)
_NEAR = 0.75
#: A name of so many letters may have two slips.
_LONG = 8
#: The keys that builders take out of what is at the top. Source: mmengine 0.10.7, `Runner.register_hook_from_cfg`,
#: `build_optim_wrapper` and `build_scheduler_from_cfg`; mmcv 1.7.2, `build_optimizer`.
_TAKEN_OUT = {
    **dict.fromkeys(("custom_hooks", "default_hooks"), frozenset(("priority",))),
    **dict.fromkeys(("optim_wrapper", "optimizer"), frozenset(("constructor", "paramwise_cfg"))),
    "param_scheduler": frozenset(("convert_to_iter_based",)),
}
#: The argument that `build_norm_layer` takes out. Source: mmcv 2.1.0, `cnn/bricks/norm.py`.
_OF_LAYERS = frozenset(("requires_grad",))
#: The most configurations that are compared with one that they inherit.
_MOST_LEAVES = 24
_TYPE = "type"
_TAKING = frozenset(("pop", "get", "setdefault"))
#: A key at the top that the runner adds to the arguments of a model. Source: mmengine 0.10.7, `Runner.__init__`.
_PREPROCESSOR = "data_preprocessor"


@dataclass(frozen=True, eq=False)
class _RegisteredItem(TaggedItem):
    """An object whose `type` names a class."""

    @cached_property
    def target(self) -> ResolvedName:
        return type_of(self.item, self.whole, self._project)


def registered_items(recipe: Recipe, project: Project, *, by_argument: bool) -> Iterator[TaggedItem]:
    """The objects with a `type` in a configuration that something may build, as `tagged_items` has them."""
    for one in tagged_items(recipe, project, by_argument=by_argument):
        if not is_left(one.item, recipe, project):
            yield _RegisteredItem(one.item, one.whole, project)


def type_of(item: Item, whole: Recipe, project: Project) -> ResolvedName:
    """The class that an object's `type` names: a registered name, a path, or the class itself."""
    entry = item.node.get("type")
    name = item.node.tag.target
    if entry is not None and entry.value.tag.kind is TagKind.OTHER:
        return _UNKNOWN if name.startswith(".") else replace(locate_in(name, whole, project), definition=name)
    if _is_of_another_scope(item, whole, project):
        return _UNKNOWN
    found = project.once(("openmmlab type", name), lambda: _of_registries(name, whole, project))
    if found.kind is TargetKind.MISSING:
        is_far = _is_in_foreign(item, whole, project) and not any(is_slip(name, one) for one in found.available)
        is_used = not found.is_sure and _is_used_elsewhere(name, whole, project)
        return _UNKNOWN if is_far or is_used else found
    is_shared = found.kind is not TargetKind.UNKNOWN and registering(name) - registries(project).scopes
    if is_shared and _is_in_foreign(item, whole, project):
        return _UNKNOWN
    return replace(found, signatures=()) if _suits_class_method(item, whole, project) else found


def _suits_class_method(item: Item, whole: Recipe, project: Project) -> bool:
    """True if code that does not certainly build an object may hand all its arguments to a method of the class."""
    names = {str(name) for name in item.fields}
    return any(
        method.is_class_method and names <= {one.name for one in method.parameters}
        for definition in registries(project).names.get(item.node.tag.target, ())
        if names
        if isinstance(definition, DefinedClass)
        for method in definition.cls.methods.values()
    ) and fate(item, whole, project) not in (Fate.PLAIN, Fate.BUILT)


def _is_of_another_scope(item: Item, whole: Recipe, project: Project) -> bool:
    """True if the registries of another package than the project's are asked for an object."""
    scopes = registries(project).scopes

    def default() -> bool:
        scope = evaluate(whole, project).keys.get("default_scope")
        return scope is not None and isinstance(scope.value, str) and bool(scopes) and scope.value not in scopes

    if project.once(("openmmlab scope", whole.file), default):
        return True
    current: Item | None = item
    while current is not None:
        entry = current.node.get("_scope_")
        if entry is not None and entry.value.scalar not in scopes:
            return True
        current = owners(whole, project).get(id(current), (None, ()))[0]
    return False


def _is_in_foreign(item: Item, whole: Recipe, project: Project) -> bool:
    """True if an object around this one, or the model of the configuration, is of a class that nothing registers here.

    Their packages ask their own registries first.
    """
    known = registries(project).names
    model = evaluate(whole, project).keys.get("model")
    if (
        model is not None
        and model is not item
        and (model.node.tag.kind is not TagKind.TARGET or not _is_here(model, known))
    ):
        return True
    current = owners(whole, project).get(id(item), (None, ()))[0]
    while current is not None:
        if not _is_here(current, known):
            return True
        current = owners(whole, project).get(id(current), (None, ()))[0]
    return False


def _is_here(item: Item, known: Mapping[str, object]) -> bool:
    return item.node.tag.target.rpartition(".")[2] in known


def _of_registries(name: str, whole: Recipe, project: Project) -> ResolvedName:
    known = registries(project)
    definitions = known.names.get(name)
    if definitions is None and "." in name:
        target = locate_in(name, whole, project)
        if target.kind in (TargetKind.CLASS, TargetKind.FUNCTION):
            return replace(target, definition=name)
        if target.kind is TargetKind.MISSING and name.count(".") > 1:
            return target  # a shorter one may have a scope in front
        scope, _, last = name.rpartition(".")
        if scope in known.scopes:
            return _of_registries(last, whole, project)
        return _UNKNOWN
    if definitions is not None:
        return _as_target(definitions, project)
    if registering(name) or any(
        locate_in(f"{package}.{name}", whole, project).kind is TargetKind.CLASS for package in _BY_LOOPS
    ):
        return _UNKNOWN
    others = [one for one, found in known.names.items() for definition in found if _own_name(definition) == name]
    if others:  # a class counts by the names that it is registered under
        return ResolvedName(TargetKind.MISSING, missing=name, available=frozenset(others))
    near = get_close_matches(name, list(known.names), n=3, cutoff=_NEAR)
    if not any(_edits(name, one) <= (1 if len(name) < _LONG else 2) for one in near):
        return _UNKNOWN  # more likely a name of another package
    return ResolvedName(TargetKind.MISSING, missing=name, available=frozenset(known.names), is_sure=False)


def _edits(one: str, other: str) -> int:
    """How many letters are lost, added, changed, or swapped with the next between two words."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        earlier, before, row = before, row, [number]
        for at, written in enumerate(other, 1):
            cost = min(before[at] + 1, row[at - 1] + 1, before[at - 1] + (letter != written))
            if at > 1 and number > 1 and letter == other[at - 2] and written == one[number - 2]:
                cost = min(cost, earlier[at - 2] + 1)
            row.append(cost)
    return row[-1]


def _own_name(definition: Definition) -> str:
    match definition:
        case DefinedClass(cls):
            return cls.name
        case DefinedFunction(function):
            return function.name
    return ""


def _is_used_elsewhere(name: str, whole: Recipe, project: Project) -> bool:
    """True if other files of the project use an unknown name as well, so that another package has it."""
    found = project.files.mentioning(project.options.root, f"' {name}")
    return any(path != whole.file for path in found)


def _as_target(definitions: Sequence[Definition], project: Project) -> ResolvedName:
    signatures: list[Parameters] = []
    for definition in definitions:
        found = _parameters(definition, project)
        if not found:
            signatures.clear()
            break
        signatures += found

    def target(kind: TargetKind, first: Class | Function) -> ResolvedName:
        name = f"{first.module.name}.{first.qualname}" if len(definitions) == 1 else ""
        return ResolvedName(kind, tuple(signatures), place=first.place, definition=name)

    match definitions[0] if definitions else None:
        case DefinedFunction(function):
            return target(TargetKind.FUNCTION, function)
        case DefinedClass(cls):
            return target(TargetKind.CLASS, cls)
    return _UNKNOWN


def _parameters(definition: Definition, project: Project) -> tuple[Parameters, ...]:
    if isinstance(definition, DefinedFunction):
        signature = definition.function.signature
        return (signature.parameters,) if len(signature.decorators) < 2 else ()
    model = project.classes.of(definition) if isinstance(definition, DefinedClass) else None
    return () if model is None else _all_parameters(model, model.mro(), project)


def _all_parameters(model: ClassModel, mro: Sequence[ClassModel], project: Project) -> tuple[Parameters, ...]:
    """The parameters of a constructor, those included that `**kwargs` hands to the next one."""
    found = constructor_parameters(model, project.classes, any_release=True)
    if len(found) != 1 or all(one.kind != "var-keyword" for one in found[0]):
        return found
    at = next((number for number, one in enumerate(mro) if one.facts.has_method("__init__")), None)
    passed = None if at is None else _handed_on(mro[at], found[0])
    if at is None or passed is None or at + 1 >= len(mro):
        return found
    # Mixins without a constructor leave it to the next class.
    rest = mro[at + 1 :]
    above = next((number for number, one in enumerate(rest) if one.facts.has_method("__init__")), 0)
    inner = _all_parameters(rest[above], rest[above:], project)
    # With one base each, no class that cannot be read lies between two.
    is_known = model.is_complete or all(len(list(one.facts.bases)) == 1 for one in mro[: at + 1 + above])
    if len(inner) != 1 or not is_known:
        return found
    given, taken = passed
    own = [one for one in found[0] if one.kind != "var-keyword"]
    names = {one.name for one in own}
    more = [
        replace(one, kind="keyword") if one.kind == "positional" else one
        for one in inner[0][given[0] :]
        if one.name not in names and one.name not in given[1] and one.kind != "var-positional"
    ]
    options = [Parameter(name, "keyword", NOWHERE, None) for name in taken]
    return ((*own, *options, *more),)


def _handed_on(model: ClassModel, parameters: Parameters) -> tuple[tuple[int, frozenset[str]], list[str]] | None:
    """The arguments that a constructor hands on besides `**kwargs`, and the names that it takes out of these.

    None if something else happens to them.
    """
    function = None if model.cls is None else model.cls.methods.get("__init__")
    rest = next((one.name for one in parameters if one.kind == "var-keyword"), "")
    if function is None:
        return None
    given: tuple[int, frozenset[str]] | None = None
    taken: list[str] = []
    for event in function.flow.events:
        for value in (event.value, event.target):
            is_of_rest = event.kind is EventKind.CALL and _is_taking(event.value, rest)
            if value is None or (not is_of_rest and not _uses(value, rest)):
                continue
            call = event.value
            callee = call.callee if event.kind is EventKind.CALL else None
            if callee is None or callee.op is not Op.ATTR:
                return None
            if callee.data == "__init__" and given is None and _is_next(callee.args[0], model):
                # Configurations give names only, so there is nothing in `*args`.
                known = [one for one in call.positional if one.op is not Op.STARRED]
                given = len(known), frozenset(call.keywords)
            elif is_of_rest and call.positional and call.positional[0].op is Op.CONST:
                taken.append(str(call.positional[0].data))
            else:
                return None
    return None if given is None else (given, taken)


def _is_next(value: Value, model: ClassModel) -> bool:
    """True for `super()`, or `super(Net, self)` in `Net`: the next class in the order of method resolution."""
    if value.op is not Op.CALL or value.callee.op is not Op.GLOBAL or value.callee.data != "super":
        return False
    return not value.positional or (model.cls is not None and value.positional[0].data == model.cls.name)


def _is_taking(value: Value, rest: str) -> bool:
    """True if a call takes something out of `**kwargs`."""
    if value.op is not Op.CALL or value.callee.op is not Op.ATTR or value.callee.data not in _TAKING:
        return False
    return any(one.op is Op.PARAM and one.data == rest for one in value.callee.args[0].walk())


def _uses(value: Value, rest: str) -> bool:
    """True if a value has `**kwargs` in it, and not only what was taken out of it."""
    pending, seen = [value], set()
    while pending:
        one = pending.pop()
        if id(one) in seen or _is_taking(one, rest):
            continue
        seen.add(id(one))
        if one.op is Op.PARAM and one.data == rest:
            return True
        pending.extend(one.args)
    return False


# -- how objects are built -------------------------------------------------------------------------------------


def owners(recipe: Recipe, project: Project) -> dict[int, tuple[Item | None, tuple[Scalar, ...]]]:
    """The object around each one in a configuration, with the keys that lead from it to the inner one."""

    def find() -> dict[int, tuple[Item | None, tuple[Scalar, ...]]]:
        found: dict[int, tuple[Item | None, tuple[Scalar, ...]]] = {}
        root = evaluate(recipe, project).root
        pending: list[tuple[Item, Item | None, tuple[Scalar, ...]]] = [(root, None, ())]
        for item, owner, keys in pending:
            found[id(item)] = (owner, keys)
            is_object = item.node.tag.kind is TagKind.TARGET
            for key, child in item.children():
                pending.append((child, item, (key,)) if is_object else (child, owner, (*keys, key)))
        return found

    return project.once(("openmmlab owners", recipe.file), find)


def fate(item: Item, recipe: Recipe, project: Project) -> Fate:
    """How an object of a configuration is built, by the class around it, or by the programs of the project."""
    owner, keys = owners(recipe, project).get(id(item), (None, ()))
    if not keys:
        return Fate.MAYBE
    if owner is None:
        names = tuple(str(key) for key in keys)
        return built_by_programs(project).get(names, Fate.ELSEWHERE)
    definitions = registries(project).names.get(owner.node.tag.target.rpartition(".")[2])
    if not definitions:
        return Fate.ELSEWHERE
    found = {fate_of(one, str(keys[0]), len(keys) - 1, project) for one in definitions}
    return found.pop() if len(found) == 1 else Fate.MAYBE


def is_left(item: Item, recipe: Recipe, project: Project) -> bool:
    """True if nothing builds an object, as the class around it certainly leaves it, or one around that."""
    current: Item | None = item
    while current is not None:
        if fate(current, recipe, project) is Fate.NEVER:
            return True
        current = owners(recipe, project).get(id(current), (None, ()))[0]
    return False


def _is_compared(name: str, project: Project) -> bool:
    """True if code of the project compares something with a registered name: it may build that class by itself."""
    compared = re.compile(rf"""[=!]=\s*["']{re.escape(name)}["']|["']{re.escape(name)}["']\s*[=!]=""")

    def find() -> bool:
        found = project.files.mentioning(project.options.root, f"' {name}")
        modules = (project.python(path) for path in found if path.suffix == ".py")
        return any(module is not None and compared.search(module.text) is not None for module in modules)

    return project.once(("compared name", name), find)


def _is_lacking_in_all(names: set[str], item: Item, project: Project) -> bool:
    """True if each configuration that has an object, inherited or not, lacks the same arguments of it."""
    found = False
    for path in leaves_of(item.recipe.file, project)[:_MOST_LEAVES]:
        file = config_file(path, project)
        same = None if file is None else _at(item.path, file.recipe, project)
        if same is None or same.recipe.file != item.recipe.file or same.node.tag.span != item.node.tag.span:
            continue  # it has another object there
        if same.kind is ItemKind.UNKNOWN or not names.isdisjoint(map(str, same.fields)):
            return False
        found = True
    return found


def _at(path: str, recipe: Recipe, project: Project) -> Item | None:
    return next((one for one in evaluate(recipe, project).objects if one.path == path), None)


def untyped_mappings(recipe: Recipe, project: Project) -> Iterator[tuple[Item, str]]:
    """The mappings without a `type` that a class certainly builds, each with the name of the class."""
    for item in evaluate(recipe, project).objects:
        owner, keys = owners(recipe, project).get(id(item), (None, ()))
        is_mapping = item.kind is ItemKind.MAPPING and bool(item.fields) and _TYPE not in item.fields
        if not is_mapping or owner is None or owner.kind is not ItemKind.NEW or len(keys) > 2:
            continue
        is_own = item.recipe is recipe or any(one.recipe is recipe for one in item.fields.values())
        if not is_own or fate(item, recipe, project) is not Fate.PLAIN:
            continue
        if type_of(owner, recipe, project).kind is TargetKind.CLASS and _is_lacking_in_all({_TYPE}, item, project):
            yield item, owner.node.tag.target


def is_taken_out(name: str, item: Item, recipe: Recipe, project: Project) -> bool:
    """True if something may take an argument out of a mapping before it builds the object of the rest, if it does."""
    owner, keys = owners(recipe, project).get(id(item), (None, ()))
    if owner is None and keys and name in _TAKEN_OUT.get(str(keys[0]), ()):
        return True
    if name == DELETE and fate(item, recipe, project) not in (Fate.PLAIN, Fate.BUILT):
        return True  # mmengine leaves it where nothing is inherited, which only fails where something is built
    if name in _OF_LAYERS or _is_compared(item.node.tag.target, project):
        return True
    found = project.files.mentioning(project.options.root, f"' {name}", "pop")
    return any(not looks_like_openmmlab(project.files.read(path) or b"") for path in found)


def construction(item: Item, recipe: Recipe, project: Project) -> Instantiation | None:
    """How an object is built; None if that is not known."""
    found = fate(item, recipe, project)
    if item.kind is not ItemKind.NEW or found is Fate.MAYBE:
        return None
    owner, keys = owners(recipe, project)[id(item)]
    if found is not Fate.PLAIN or _is_compared(item.node.tag.target, project):
        return Instantiation(tuple(keys), is_final=False)
    target = type_of(item, recipe, project)
    lacking = {name for one in target.misfits(0, [*map(str, item.fields)], is_final=True) for name in one.missing}
    is_final = not lacking or _is_lacking_in_all(lacking, item, project) == (item.recipe is recipe)
    is_changed = owner is None and _PREPROCESSOR in evaluate(recipe, project).keys
    if is_changed or item.path in partial_paths(recipe, project):
        is_final = False
    return Instantiation(tuple(keys), is_final=is_final)
