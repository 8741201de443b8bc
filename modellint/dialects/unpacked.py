"""Mappings of configurations that programs and constructors pass on as arguments: `pl.Trainer(**cfg.trainer)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects import latent
from modellint.dialects.placing import composed_with
from modellint.dialects.uses import readings
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Dialect
from modellint.graph.value import Op
from modellint.link.names import External
from modellint.link.recipes.targets import locate_in, resolve_definition

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.dialects.reading import Reading, Unpacking
    from modellint.graph.arguments import Misfit
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.targets import ResolvedName
    from modellint.source import Place


@dataclass(frozen=True, eq=False)
class UnpackedCall:
    """A call that certainly gets the entries of a mapping of a configuration as arguments, and that fails by them.

    `callee` is its name as written, `place` that of the mapping, `keys` those of its entries in this file, and `path`
    the keys that lead to it. `positional` and `names` are all arguments, and `misfits` why they do not fit.
    """

    callee: str
    target: ResolvedName
    place: Place
    path: str
    keys: Mapping[str, Place]
    positional: int
    names: tuple[str, ...]
    misfits: tuple[Misfit, ...]
    call: Place


def unpacked_calls(recipe: Recipe, project: Project) -> Iterator[UnpackedCall]:
    """The calls that get the entries of mappings of a file and fail by them, each once for a mapping."""
    told: set[tuple[str, str]] = set()
    for reading in _readings_with(recipe, project):
        for one in reading.unpacked.values() if None not in reading.stored else ():
            found = _call(one, reading.stored, recipe, project)
            if found is not None and (found.path, found.callee) not in told:
                told.add((found.path, found.callee))
                yield found


def _readings_with(recipe: Recipe, project: Project) -> Iterator[Reading]:
    """The runs that read a file."""
    if recipe.dialect is Dialect.LATENT:
        yield from latent.readings_of(recipe, project)
        return
    composed = composed_with(recipe.file, project) if recipe.dialect is Dialect.OMEGACONF else None
    module = None if composed is None else project.python(composed.app.script)
    for app, _, reading in readings(module, project) if module is not None else ():
        if composed is not None and app == composed.app:
            yield reading


def _call(one: Unpacking, stored: set[str | None], recipe: Recipe, project: Project) -> UnpackedCall | None:
    """A call with what does not fit, but for names that the program stores; None if all fits, or is not known."""
    call, spot, function = one.call, one.spot, one.frame.function
    layers = [layer for layer in spot.layers if layer.recipe.file == recipe.file]
    if function is None or not layers or any(part.op is Op.STARRED for part in call.positional):
        return None
    definition = project.names.definition(function.module, call.callee)
    if isinstance(definition, External):
        target = locate_in(definition.name, recipe, project)
    else:
        target = resolve_definition(definition, project)
    if not target.signatures:
        return None
    children = {str(name): child for name, child in spot.children.items()}
    own = {
        name: recipe.place(child.key.span)
        for name, child in children.items()
        if child.key is not None and child.recipe.file == recipe.file
    }
    place = recipe.place((layers[-1].key or layers[-1].node).span)
    given = (*children, *call.keywords)
    count = len(call.positional)
    misfits = target.misfits(count, list(given), is_final=True)
    misfits = [misfit for misfit in misfits if stored.isdisjoint((misfit.unknown, *misfit.missing))]
    if not misfits or not stored.isdisjoint(map(str, spot.keys)):
        return None
    text, called = function.module.text_of(call.callee), function.module.place(call)
    return UnpackedCall(text, target, place, spot.path, own, count, given, tuple(misfits), called)
