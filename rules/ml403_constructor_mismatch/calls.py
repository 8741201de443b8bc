"""Arguments of a recipe's tags that the named class or function does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import edits
from modellint.graph.immutable import dataclass
from modellint.graph.python import Misfit, misfits
from modellint.graph.recipe import NodeKind, Recipe, TagKind
from modellint.link.classes.signatures import constructor_parameters
from modellint.link.recipes.eras import is_for_earlier
from modellint.link.recipes.items import Item, ItemKind
from modellint.link.recipes.pairing import upwards
from modellint.link.recipes.targets import (
    CALLS,
    ResolvedName,
    as_of_earlier,
    refused,
    tag_name,
    tagged_items,
    target_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.rule import Project

#: Tags whose class or function is called later, perhaps with more arguments.
_OPEN_CALLS = (TagKind.NAME, TagKind.TARGET)


@dataclass(frozen=True, slots=True)
class BadCall:
    """Arguments of a tag that do not fit the parameters of the named class or function."""

    item: Item
    target: ResolvedName
    misfits: tuple[Misfit, ...]

    def probable_argument(self, misfit: Misfit) -> str | None:
        """The argument in `**kwargs` whose name is close to that of a missing one; None if there is none."""
        declared = {p.name for p in self.target.signatures[0] if not p.kind.startswith("var")}
        others = [str(name) for name in self.item.fields if name not in declared]
        return next((near[0] for name in misfit.missing if (near := edits.get_close_matches(name, others, n=1))), None)

    def place(self, misfit: Misfit) -> Place:
        """The key of a wrong argument, where it stands in the recipe's own mapping; else the tag."""
        wrong = misfit.unknown or self.probable_argument(misfit)
        entry = self.item.node.get(wrong) if wrong else None
        return self.item.recipe.place(entry.key.span if entry is not None else self.item.node.tag.span)


def bad_calls(recipe: Recipe, project: Project) -> Iterator[BadCall]:
    """The tags of a recipe whose arguments do not fit the parameters of the named class or function."""
    for item, whole in tagged_items(recipe, project):
        tag = item.node.tag.kind
        if tag not in CALLS or (tag is TagKind.TARGET and item.kind is ItemKind.UNKNOWN):
            continue
        given = _arguments(item)
        target = target_of(item, whole, project)
        if given is None or target.kind in refused(tag, True):
            continue
        if target.package and is_for_earlier(whole, target.package, project):
            target = as_of_earlier(target, tag_name(item))
        positional, keywords = given
        found = [misfits(one, positional, keywords, is_final=tag not in _OPEN_CALLS) for one in target.signatures]
        if found and all(found) and not _is_replaced(item, whole, target, given, project):
            yield BadCall(item, target, tuple(found[0]))


def _is_replaced(
    item: Item, whole: Recipe, target: ResolvedName, given: tuple[int, list[str]], project: Project
) -> bool:
    """True if the project has a file to replace a package's module, whose class takes the arguments.

    It is called like that module, defines the same class, and lies beside the recipe or above it.
    """
    if not target.package:
        return False
    owner, _, last = tag_name(item).rpartition(".")
    name = f"{owner.rpartition('.')[2]}.py"
    for folder in upwards(whole.file, project):
        path = folder / name
        module = project.python(path) if project.files.exists(path) else None
        cls = None if module is None else module.classes.get(last)
        if cls is not None:
            is_final = item.node.tag.kind not in _OPEN_CALLS
            own = constructor_parameters(project.classes.model(cls), project.classes, any_release=True)
            return any(not misfits(one, *given, is_final=is_final) for one in own)
    return False


def _arguments(item: Item) -> tuple[int, list[str]] | None:
    """The number of positional arguments and the names of the others, None if they are not known."""
    if item.node.kind is NodeKind.SCALAR:
        return 0, []
    names = list(item.fields)
    if item.node.tag.kind is TagKind.APPLYREF and set(names) == {"_args", "_kwargs"}:
        positional, keywords = item.fields["_args"], item.fields["_kwargs"]
        if positional.kind is not ItemKind.SEQUENCE or keywords.kind is not ItemKind.MAPPING:
            return None
        return len(positional.elements), [str(name) for name in keywords.fields]
    if not all(isinstance(name, str) for name in names):
        return None
    return len(item.elements), [str(name) for name in names]
