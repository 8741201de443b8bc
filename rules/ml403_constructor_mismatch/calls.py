"""Arguments of a recipe's tags that the named class or function does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import edits
from modellint.graph.immutable import dataclass, replace
from modellint.graph.recipe import Dialect, NodeKind, TagKind
from modellint.link.recipes import queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.graph.recipe import Recipe
    from modellint.rule import Project

#: Tags whose class or function is called later, perhaps with more arguments.
_OPEN_CALLS = (TagKind.NAME, TagKind.TARGET)


@dataclass(frozen=True, slots=True)
class BadCall:
    """Arguments of a tag that do not fit the parameters of the named class or function."""

    item: queries.Item
    target: queries.ResolvedName
    misfits: tuple[queries.Misfit, ...]
    #: The number of arguments by position, and the names of the others.
    given: tuple[int, tuple[str, ...]]
    #: A program of Hydra is known to build the object; and no other arguments follow.
    is_built: bool = False
    is_final: bool = False
    #: The configuration, if it inherits others.
    whole: Recipe | None = None

    def probable_argument(self, misfit: queries.Misfit) -> str | None:
        """The argument in `**kwargs` whose name is close to that of a missing one; None if there is none."""
        declared = {p.name for p in self.target.signatures[0] if not p.kind.startswith("var")}
        others = [str(name) for name in self.item.fields if name not in declared]
        return next((near[0] for name in misfit.missing if (near := edits.get_close_matches(name, others, n=1))), None)

    def place(self, misfit: queries.Misfit) -> Place:
        """The key of a wrong argument, where it stands in the recipe's own mapping; else the tag."""
        wrong = misfit.unknown or self.probable_argument(misfit)
        if wrong is None and self.whole is not None and self.item.recipe is not self.whole:
            own = next((one for one in self.item.fields.values() if one.recipe is self.whole and one.key), None)
            return self.item.place if own is None else own.place
        entry = self.item.recipe.argument(self.item.node, wrong) if wrong else None
        if entry is None:
            return self.item.recipe.place(self.item.node.tag.span)
        given = self.item.fields.get(wrong)
        recipe = given.recipe if given is not None and given.key is entry.key else self.item.recipe
        if self.inherited_place(misfit) is not None:
            return self.item.recipe.place(self.item.node.tag.span)
        return recipe.place(entry.key.span)

    def inherited_place(self, misfit: queries.Misfit) -> Place | None:
        """The place of a wrong argument that `whole` inherits, while it names another class; None of other ones."""
        given = self.item.fields.get(misfit.unknown)
        if self.whole is None or self.item.recipe is not self.whole or given is None or given.key is None:
            return None
        return given.recipe.place(given.key.span) if given.recipe is not self.whole else None


def bad_calls(recipe: Recipe, project: Project) -> Iterator[BadCall]:
    """The tags of a recipe whose arguments do not fit the parameters of the named class or function."""
    asked = queries.about(recipe, project)
    for tagged in () if asked.dialect.is_typed else asked.tags(by_argument=True):
        item, tag = tagged.item, tagged.item.node.tag.kind
        given = _arguments(item)
        is_open = tag is TagKind.TARGET and item.kind is queries.ItemKind.UNKNOWN
        if tag is TagKind.MODULE or is_open or given is None or tagged.is_refused:
            continue
        target = tagged.whole_target
        is_known = tag is TagKind.TARGET and bool(target.signatures)
        built = asked.instantiation(item) if is_known else None
        if built is not None:
            given = built.positional or given[0], [*dict.fromkeys((*given[1], *built.keywords))]
        is_final = tag not in _OPEN_CALLS or (built is not None and built.is_final)
        found = target.misfits(*given, is_final=is_final)
        if built is not None:
            found = [one for one in found if built.changed.isdisjoint((one.unknown, *one.missing))]
        found = [one for one in found if not (one.unknown and asked.is_taken_out(one.unknown, item))]
        found = [one for one in found if not (one.missing and asked.is_given_by_choosers(one.missing, item))]
        whole = recipe if recipe.dialect is Dialect.OPENMMLAB else None
        bad = BadCall(item, target, tuple(found), (given[0], tuple(given[1])), built is not None, is_final, whole)
        if tag is TagKind.TARGET:  # what stands in another file is told of that file
            found = [one for one in found if bad.place(one).path == recipe.path]
        if found and not _is_replaced(tagged, target, given, project):
            yield replace(bad, misfits=tuple(found))


def _is_replaced(
    tagged: queries.TaggedItem, target: queries.ResolvedName, given: tuple[int, list[str]], project: Project
) -> bool:
    """True if the project has a file to replace a package's module, whose class takes the arguments.

    It is called like that module, defines the same class, and lies beside the recipe or above it.
    """
    if not target.package:
        return False
    owner, _, last = tagged.name.rpartition(".")
    name = f"{owner.rpartition('.')[2]}.py"
    asked = queries.about(tagged.whole, project)
    for folder in asked.folders():
        path = folder / name
        module = project.python(path) if project.files.exists(path) else None
        cls = None if module is None else module.classes.get(last)
        if cls is not None:
            own = asked.constructor(cls)
            is_final = tagged.item.node.tag.kind not in _OPEN_CALLS
            return bool(own.signatures) and not own.misfits(*given, is_final=is_final)
    return False


def _arguments(item: queries.Item) -> tuple[int, list[str]] | None:
    """The number of positional arguments and the names of the others, None if they are not known."""
    if item.node.kind is NodeKind.SCALAR:
        return 0, []
    names = list(item.fields)
    if item.node.tag.kind is TagKind.APPLYREF and set(names) == {"_args", "_kwargs"}:
        positional, keywords = item.fields["_args"], item.fields["_kwargs"]
        if positional.kind is not queries.ItemKind.SEQUENCE or keywords.kind is not queries.ItemKind.MAPPING:
            return None
        return len(positional.elements), [str(name) for name in keywords.fields]
    if not all(isinstance(name, str) for name in names):
        return None
    return len(item.elements), [str(name) for name in names]
