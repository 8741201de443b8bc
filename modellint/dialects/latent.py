"""Configurations of latent-diffusion style: `target:` names a class, `params:` has its arguments.

No library builds them. A function of the project imports the string under `target` and calls it with `**params`; it is
known by doing so, whatever its name. Objects within `params` are built by the class that receives them: nothing ever
imports a `target` that no class builds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects.loading import LIBRARY, loads, readings
from modellint.dialects.lone import configuration
from modellint.dialects.reading import Builder, Reading
from modellint.edits.similar import get_close_matches
from modellint.flow.runs import started
from modellint.frontends.recipe import names_target, read_config
from modellint.graph.immutable import dataclass, replace
from modellint.graph.recipe import Dialect, NodeKind
from modellint.graph.value import EventKind, Op
from modellint.link.names import DefinedFunction, External

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.dialects.reading import Instantiation
    from modellint.dialects.spots import Spot
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.recipe import Recipe, Scalar
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.link.recipes.items import Item

_WRITING = Dialect.LATENT.writing
#: The words of a function that imports a name.
_IMPORTING = ("import_module", "__import__", "locate")
#: How deep a value is looked into.
_DEEPEST = 6


@dataclass(frozen=True)
class _Built:
    """A node that a script builds; its keys are those that lead to it, with those that lead to the configuration."""

    script: Path
    how: Instantiation


def latent_config(path: Path, data: bytes, project: Project) -> Recipe | None:
    """The configuration in a YAML file with `target:`, in a project that builds such; None for other files.

    Raises UnreadableError where such a file is not valid YAML.
    """
    if not names_target(data, Dialect.LATENT) or not builders(project):
        return None
    return read_config(path, data, (Dialect.LATENT,))


def builders(project: Project) -> dict[Function, Builder]:
    """The functions of a project that build the object of a node; none if the project has too many files."""

    def find() -> dict[Function, Builder]:
        root = project.options.root
        paths = dict.fromkeys(path for word in _IMPORTING for path in project.files.mentioning(root, word))
        modules = filter(None, map(project.python, paths))
        functions = (one for module in modules for one in module.functions.values())
        found = (_builder(one, project) for one in functions)
        return {one.function: one for one in found if one is not None}

    return project.once(("latent builders",), find)


def _builder(function: Function, project: Project) -> Builder | None:
    """A function that returns a call, with `**` of the arguments, of what it imports by the name of the target."""
    if not function.parameters or not {_WRITING.target, _WRITING.arguments} <= function.words:
        return None
    config = function.parameters[0].name
    rest = {one.name for one in function.parameters if one.kind == "var-keyword"}
    found: list[Builder] = []
    words = function.words
    for event in function.flow.of(EventKind.RETURN):
        call = event.value
        if call.op is Op.CALL and any(_reads(one, config, _WRITING.arguments) for one in _unpacked_values(call)):
            made = call.callee
            is_made = made.op is Op.CALL and any(_reads(one, config, _WRITING.target) for one in made.walk())
            if is_made and (_imports(made.callee, function.module, project) or not words.isdisjoint(_IMPORTING)):
                others = [one for one in _unpacked_values(call) if not _reads(one, config, _WRITING.arguments)]
                is_known = all(one.op is Op.PARAM and one.data in rest for one in others)
                is_final = is_known and all(one.op is not Op.STARRED for one in call.positional)
                found.append(Builder(function, len(call.positional), frozenset(call.keywords), is_final))
    if not found:
        return None
    return found[0] if len(set(found)) == 1 else replace(found[0], is_final=False)


def _unpacked_values(call: Value) -> Iterator[Value]:
    """The values that a call unpacks by `**`."""
    for name, value in zip(reversed(call.data), reversed(call.args), strict=False):
        if name is None:
            yield value


def _reads(value: Value, owner: str, key: str, depth: int = 0) -> bool:
    """True if a value is `owner[key]`, `owner.key` or `owner.get(key, …)`, or a choice or copy of that."""
    if depth > _DEEPEST:
        return False
    if value.op is Op.CHOICE or (value.op is Op.CALL and value.callee.op is Op.GLOBAL):
        parts = value.args if value.op is Op.CHOICE else value.positional
        return any(_reads(one, owner, key, depth + 1) for one in parts)
    if value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data in ("get", "pop"):
        first = value.argument(0)
        named = first.data if first is not None and first.op is Op.CONST else None
        return named == key and _is_parameter(value.callee.args[0], owner)
    name, inside = _step(value)
    return name == key and inside is not None and _is_parameter(inside, owner)


def _is_parameter(value: Value, name: str) -> bool:
    return value.op is Op.PARAM and value.data == name


def _step(value: Value) -> tuple[str | None, Value | None]:
    """The key of `owner.key` or `owner["key"]`, and the owner."""
    if value.op is Op.ATTR:
        return str(value.data), value.args[0]
    if value.op is Op.INDEX and value.args[1].op is Op.CONST and isinstance(value.args[1].data, str):
        return value.args[1].data, value.args[0]
    return None, None


def _imports(callee: Value, module: ModuleFacts, project: Project) -> bool:
    """True if a function imports a module by a name that is computed."""
    found = project.names.definition(module, callee)
    if isinstance(found, External):
        return found.name.rpartition(".")[2] in _IMPORTING
    return isinstance(found, DefinedFunction) and not found.function.words.isdisjoint(_IMPORTING)


def is_loaded_strictly(project: Project) -> bool:
    """True if the scripts that build objects load YAML with OmegaConf only, which refuses a key that stands twice."""

    def find() -> bool:
        paths = dict.fromkeys(one.script for one in _roots(project))
        scripts = list(filter(None, map(project.python, paths)))
        is_other = any(module.imports_of("yaml", "ruamel") for module in scripts)
        functions = (function for module in scripts for function in (*module.all_functions(), module.body))
        return not is_other and any(loads(function, project) for function in functions)

    return project.once(("latent loading",), find)


# -- objects that are built --------------------------------------------------------------------------------------------


def instantiation_of(item: Item, recipe: Recipe, project: Project) -> Instantiation | None:
    """The call that builds an object of a configuration; None if nothing is known to build it."""
    spot = configuration(recipe, project).spots.get(id(item))
    found = built_in(recipe, project)
    return None if spot is None else found.get(tuple(spot.keys))


def built_in(recipe: Recipe, project: Project) -> dict[tuple[Scalar, ...], Instantiation]:
    """The calls that build objects of a configuration, by the keys of the objects."""
    return _reading_of(recipe, project)[0]


def untargeted_in(recipe: Recipe, project: Project) -> list[Spot]:
    """The mappings of a configuration that something certainly builds and that name no class."""
    return [spot for spot in _reading_of(recipe, project)[1] if spot.key is not None]


def readings_of(recipe: Recipe, project: Project) -> list[Reading]:
    """The runs of the constructors that get parts of a configuration."""
    return _reading_of(recipe, project)[2]


def _reading_of(
    recipe: Recipe, project: Project
) -> tuple[dict[tuple[Scalar, ...], Instantiation], list[Spot], list[Reading]]:
    def find() -> tuple[dict[tuple[Scalar, ...], Instantiation], list[Spot], list[Reading]]:
        runs: list[Reading] = []
        untargeted: dict[str, Spot] = {}
        run = configuration(recipe, project)
        changed = _changed_names(project)
        found: dict[tuple[Scalar, ...], Instantiation] = {}
        roots: dict[tuple[Scalar, ...], list[Instantiation]] = {}
        for one in _roots(project):
            spots = (run.root.find(keys) for keys in _ends(one.how.keys))
            spot = next(filter(None, spots), None)
            if spot is not None:
                keys = tuple(spot.keys)
                roots.setdefault(keys, []).append(replace(one.how, keys=keys))
        for keys, calls in roots.items():
            spot = run.root.at(keys)
            if spot.kind is NodeKind.MAPPING and _WRITING.target not in spot.names:
                if _is_near(spot):
                    untargeted[spot.path] = spot
            elif spot.kind is NodeKind.MAPPING:
                reading = started(project, Reading).of(Reading)
                reading.build(spot, run, builders(project))
                runs.append(reading)
                untargeted.update((each.path, each) for each in reading.untargeted)
                for each in (*calls, *reading.built.values()):
                    known = found.get(each.keys)
                    if known is None or (known.is_final and not each.is_final):
                        found[each.keys] = replace(each, changed=changed)
        return found, list(untargeted.values()), runs

    return project.once(("latent built", recipe.file), find)


def _ends(keys: tuple[Scalar, ...]) -> Iterator[tuple[Scalar, ...]]:
    """The last keys, as many as there may be first."""
    return (keys[start:] for start in range(len(keys)))


def _is_near(spot: Spot) -> bool:
    """True if a mapping has a key that is meant to be the one of the target; another file may give that."""
    return bool(get_close_matches(_WRITING.target, [str(name) for name in spot.names], n=1, cutoff=0.75))


def _roots(project: Project) -> tuple[_Built, ...]:
    """The nodes that scripts build: `model` of `build(config.model)`, or each of those that a loop builds."""

    def find() -> tuple[_Built, ...]:
        known, root = builders(project), project.options.root
        found: dict[_Built, None] = {}
        for builder, how in known.items():
            for module in filter(None, map(project.python, project.files.mentioning(root, builder.name))):
                for function in (module.body, *module.all_functions()):
                    if builder.name in function.words or function is module.body:
                        found.update(dict.fromkeys(_roots_in(function, how, project)))
        for module in filter(None, map(project.python, project.files.mentioning(root, LIBRARY))):
            built = (one for reading in readings(module, project, known) for one in reading.built.values())
            found.update((_Built(module.file, one), None) for one in built)
        return tuple(found)

    return project.once(("latent roots",), find)


def _roots_in(function: Function, how: Builder, project: Project) -> Iterator[_Built]:
    builder = how.function
    for event in function.flow.of(EventKind.CALL):
        call = event.value
        given = call.argument(0, builder.parameters[0].name) if call.positional or call.keywords else None
        keys = () if given is None else tuple(_steps(given))[::-1]
        if not keys:
            continue
        found = project.names.definition(function.module, call.callee)
        if isinstance(found, DefinedFunction) and found.function is builder:
            made = how.instantiation(keys, len(call.positional), call.keywords, is_all=not call.has_unpacking)
            yield _Built(function.module.file, made)


def _steps(value: Value) -> Iterator[str]:
    """The keys of `config.model.net`, the last one first."""
    for _ in range(_DEEPEST):
        name, owner = _step(value)
        if name is None or owner is None:
            return
        yield name
        value = owner


def _changed_names(project: Project) -> frozenset[str]:
    """The names that the project stores in arguments of a node: `x` of `config.model.params.x = …`."""

    def find() -> frozenset[str]:
        names: set[str] = set()
        for path in project.files.mentioning(project.options.root, _WRITING.arguments):
            module = project.python(path)
            for function in (module.body, *module.all_functions()) if module is not None else ():
                for event in function.flow.of(EventKind.STORE):
                    name, owner = (None, None) if event.target is None else _step(event.target)
                    if name is not None and owner is not None and _step(owner)[0] == _WRITING.arguments:
                        names.add(name)
        return frozenset(names)

    return project.once(("latent changed",), find)
