"""The uses that programs make of their configurations: keys that they read and lack, and objects that they build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects import latent, loading, torchtune
from modellint.dialects.apps import apps_in, programs_of
from modellint.dialects.description import describe
from modellint.dialects.lone import configuration
from modellint.dialects.placing import Composed, all_composed_with, composed_with, composition, is_added, is_option
from modellint.dialects.reading import Instantiation, Reading
from modellint.edits.similar import get_close_matches
from modellint.flow.runs import started
from modellint.graph.immutable import dataclass, replace
from modellint.graph.recipe import Dialect
from modellint.graph.value import EventKind, Op
from modellint.link.names import DefinedFunction
from modellint.link.recipes.items import ItemKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from modellint.dialects.apps import App
    from modellint.dialects.hydra import Composition
    from modellint.dialects.omegaconf import Configuration
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.recipe import Recipe, Scalar
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.link.recipes.items import Item
    from modellint.source import Place

#: The directive by which Hydra keeps objects within an object as they are.
_RECURSIVE = "_recursive_"
#: What a function is given, and a function in it.
_GIVEN = (Op.PARAM, Op.INNER)


@dataclass(frozen=True, eq=False)
class MissingKey:
    """A key that a program reads and its configuration lacks.

    `where` is the key of the mapping that lacks it, empty for the top; `function` the name of the reading function,
    `file` that of the configuration, empty for any of the project. `effect` tells what happens if the key names the
    class to build. `source` is the folder, the name and the arguments with which Hydra composes the configuration; of a
    file alone its path.
    """

    place: Place
    text: str
    name: str
    where: str
    available: tuple[str, ...]
    function: str
    file: str
    effect: str = ""
    source: tuple[str, str, tuple[str, ...]] | None = None


def readings(module: ModuleFacts, project: Project) -> Iterator[tuple[App, Composition, Reading]]:
    """The runs of Hydra's programs in a file, each with its configuration; none for one that only a run knows."""
    for app in apps_in(module, project):
        composed = composition(app, project) if app.main else None
        if composed is None or composed.root.is_open:
            continue
        reading = read(module, app.main, composed.configuration, project)
        if reading is not None:
            yield app, composed, reading


def read(module: ModuleFacts, main: str, run: Configuration, project: Project) -> Reading | None:
    """The run of a function of a file with a configuration; None if it takes none."""
    function = module.function_of(main)
    if function is None or not function.parameters or _is_given_another(function, project):
        return None
    reading = started(project, Reading).of(Reading)
    reading.start(function, run)
    return reading


def _is_given_another(function: Function, project: Project) -> bool:
    """True if a decorator of the project may call a program with another configuration than it gets."""
    for decorator in function.signature.decorators:
        called = decorator.callee if decorator.op is Op.CALL else decorator
        found = project.names.definition(function.module, called)
        calls = found.function.flow.of(EventKind.CALL) if isinstance(found, DefinedFunction) else ()
        if any(_hands_another(event.value) for event in calls):
            return True
    return False


def _hands_another(call: Value) -> bool:
    """True if a decorator calls a function that it is given with a first argument that its wrapper is not given."""
    first = call.positional[0] if call.positional and call.callee.op in _GIVEN else None
    return first is not None and first.op not in (*_GIVEN, Op.STARRED)


def _read_by_torchtune(program: torchtune.Program, recipe: Recipe, project: Project) -> Reading | None:
    """The run of a recipe of torchtune with a configuration that it is named with, or that has most keys it reads."""

    def find() -> Reading | None:
        module = project.python(program.script)
        reading = None if module is None else read(module, program.main, configuration(recipe, project), project)
        if reading is None or program.is_named:
            return reading
        missing = ((name, tuple(map(str, spot.names))) for (_, name), (spot, _) in reading.missing.items())
        far = sum(not get_close_matches(name, available, n=1, cutoff=0.6) for name, available in missing)
        return reading if far * 2 <= len(reading.found) else None

    return project.once(("torchtune run", program, recipe.file), find)


def missing_keys(module: ModuleFacts, project: Project) -> Iterator[MissingKey]:
    """The keys that the programs in a file read for certain, and that their configurations lack."""
    for app, composed, reading in readings(module, project):
        for missing in _missing_in(reading, f"{app.name}.yaml"):
            path = (*missing.where.split("."), missing.name) if missing.where else (missing.name,)
            if not is_option(path, Composed(app, composed), project) and not is_added(path, project):
                folder = "" if app.folder is None else app.folder.as_posix()
                yield replace(missing, source=(folder, app.name, composed.arguments) if folder and app.name else None)
    for program, recipe in torchtune.pairs(module, project):
        found = _read_by_torchtune(program, recipe, project)
        for missing in _missing_in(found, recipe.file.name) if found is not None else ():
            if not torchtune.is_given(missing.where, missing.name, project):
                yield replace(missing, source=(recipe.file.as_posix(), "", ()))
    for loaded, value, name in loading.keys_missing(module, project, latent.builders(project)):
        root = loading.root_of(loaded.missing[value, name][0])
        files = list(dict.fromkeys(layer.recipe.file for layer in root.layers))
        is_known = len(files) == 1 or not root.shared.is_any
        found_key = _missing_key(loaded, value, name, " + ".join(file.name for file in files) if is_known else "")
        if found_key is not None:
            yield replace(found_key, source=(files[0].as_posix(), "", ()) if len(files) == 1 else None)


def _missing_in(reading: Reading, file: str) -> Iterator[MissingKey]:
    return filter(None, (_missing_key(reading, value, name, file) for value, name in reading.missing))


def _missing_key(reading: Reading, value: Value, name: str, file: str) -> MissingKey | None:
    """A key that a program reads and its configuration lacks; None if the program may store it."""
    spot, frame = reading.missing[value, name]
    function = frame.function
    if function is None or name in reading.stored or None in reading.stored:
        return None
    home, about = function.module, describe(spot.recipe.dialect)
    where, available = ".".join(map(str, spot.keys)), tuple(map(str, spot.names))
    effect = about.untargeted if name == about.writing.target else ""
    place, text = home.place(value), home.text_of(value)
    return MissingKey(place, text, name, where, available, function.qualname, file, effect)


def instantiation_of(item: Item, recipe: Recipe, project: Project) -> Instantiation | None:
    """How a program instantiates an object of a configuration; None if it is not known to.

    An object in one that is instantiated gets no more arguments than it has.
    """
    if recipe.dialect is Dialect.TORCHTUNE:
        return _of_torchtune(item, recipe, project)
    if recipe.dialect is Dialect.LATENT:
        return latent.instantiation_of(item, recipe, project)
    composed = composed_with(recipe.file, project)
    keys = None if composed is None else composed.composition.keys_of(item)
    if composed is None or keys is None:
        return None
    app = composed.app
    built = _calls_in(app, project)
    found = [one for one in built or () if one.keys == keys[: len(one.keys)]]
    if not found or built is None:
        return None
    if not any(one.keys == keys for one in found):
        around = (composed.composition.root.at(keys[:end]) for one in found for end in range(len(one.keys), len(keys)))
        is_left = any(_RECURSIVE in one.keywords for one in found) or any(_RECURSIVE in spot.names for spot in around)
        return None if is_left else Instantiation(keys, is_final=item.kind is ItemKind.NEW)
    joined, plain = _join_calls(keys, found, item), composition(app, project)
    if joined is None or plain is None or plain.has(recipe.file):
        return joined
    # A choice may be meant for another program.
    others = (one for one in programs_of(recipe.file, project) if one != app and one.folder == app.folder)
    given = (one.keywords for other in others for one in _calls_in(other, project) or () if one.keys == keys)
    return replace(joined, changed=joined.changed.union(*given))


def is_given_by_choosers(names: Collection[str], item: Item, recipe: Recipe, project: Project) -> bool:
    """True if a file is only a choice, and each file that chooses it gives the object in it some arguments."""
    composed = composed_with(recipe.file, project)
    keys = None if composed is None else composed.composition.keys_of(item)
    plain = None if composed is None else composition(composed.app, project)
    if composed is None or keys is None or plain is None or plain.has(recipe.file):
        return False
    wholes = [one.composition for one in all_composed_with(recipe.file, project) if one.app == composed.app]
    others = [whole.root for whole in wholes if whole is not composed.composition]
    return bool(others) and all(root.find((*keys, name)) is not None for root in others for name in names)


def _calls_in(app: App, project: Project) -> tuple[Instantiation, ...] | None:
    return project.once(("instantiated", app.script, app.main), lambda: _instantiations(app, project))


def _join_calls(keys: tuple[Scalar, ...], found: list[Instantiation], item: Item) -> Instantiation | None:
    """The calls that build an object as one; None if one of them makes something else of it."""
    exact = [one for one in found if one.keys == keys]
    writing = item.recipe.dialect.writing
    changes = {writing.target, writing.partial, writing.positional}
    if any(not changes.isdisjoint(one.keywords) for one in exact):
        return None
    names = frozenset(name for one in exact for name in one.keywords if name not in writing.reserved_keys)
    is_final = item.kind is ItemKind.NEW and all(one.is_final for one in exact)
    return Instantiation(keys, max(one.positional for one in exact), names, is_final, found[0].changed)


def _of_torchtune(item: Item, recipe: Recipe, project: Project) -> Instantiation | None:
    """The calls of torchtune's `instantiate` that build an object, if all programs of the configuration do it."""
    spot = configuration(recipe, project).spots.get(id(item))
    keys = () if spot is None else tuple(spot.keys)
    found: list[Instantiation] = []
    given = torchtune.given_in(keys, recipe, project)
    shipped = torchtune.shipped_call(keys, recipe, project) if keys else None
    if shipped is not None:
        return _join_calls(keys, [Instantiation(keys, *shipped, changed=given)], item)
    for program in torchtune.programs_of(recipe, project):
        reading = _read_by_torchtune(program, recipe, project)
        built = [] if reading is None else [one for one in reading.built.values() if one.keys == keys]
        if reading is None or not built or None in reading.stored:
            return None
        changed = frozenset(filter(None, reading.stored)) | given
        found += (replace(one, changed=changed) for one in built)
    return _join_calls(keys, found, item) if found else None


def _instantiations(app: App, project: Project) -> tuple[Instantiation, ...] | None:
    """The calls of `instantiate` in a program; None if it changes its configuration before in ways that are unknown."""
    module = project.python(app.script)
    found: list[Instantiation] = []
    for one, _, reading in readings(module, project) if module is not None else ():
        if one == app:
            if None in reading.stored:
                return None
            changed = frozenset(filter(None, reading.stored))
            found += (replace(each, changed=changed) for each in reading.built.values())
    return tuple(found)
