"""Sizes of one vocabulary in a recipe: of the table and the head of a searcher, of its scorers, of the tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Dialect, TagKind
from modellint.knowledge import vocabularies as known
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import Item, ItemKind
from modellint.link.recipes.moved import layers_of
from modellint.link.recipes.pairing import including
from modellint.link.recipes.targets import class_of_item

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.moved import Layers
    from modellint.source import Place


@dataclass(frozen=True, eq=False)
class Sized:
    """A layer or tokenizer, the argument that sizes it, and the number of that."""

    item: Item
    argument: str
    value: Item
    number: int

    @property
    def place(self) -> Place:
        """The argument, or the object if it is given by position."""
        entry = self.item.node.get(self.argument)
        return self.item.recipe.place(entry.span if entry is not None else self.item.node.span)

    @property
    def described(self) -> str:
        """The size in a message, with the key that it comes from."""
        name = self.value.path
        return f"{self.number} (`{name}`)" if name and not name.startswith(f"{self.item.path}[") else str(self.number)


@dataclass(frozen=True, eq=False)
class Search:
    """A searcher with its head, which draws ids, and the table that looks them up; either may be unknown."""

    item: Item
    table: Sized | None
    head: Sized | None


def searches(recipe: Recipe, project: Project) -> Iterator[Search]:
    """The searchers of a recipe, as it is within the recipes that are loaded."""
    for _, items in _wholes(recipe, project):
        yield from _searches(items, project)


def disagreements(recipe: Recipe, project: Project) -> Iterator[tuple[Search, Sized, Sized]]:
    """The searchers whose scorers have another number of ids than the head: search, head, scorer.

    Also (search, head, tokenizer) if the only tokenizer has more tokens than the only head has classes.
    """
    layers = layers_of(project)
    for _, items in _wholes(recipe, project):
        found = list(_searches(items, project))
        for search in found:
            for scored in _scorer_sizes(search.item, layers):
                if search.head is not None and scored.number != search.head.number:
                    yield search, search.head, scored
        heads = {search.head.number: search for search in found if search.head is not None}
        tokenizers = [sized for item in items if (sized := _find_size(item, known.TOKENIZERS, layers)) is not None]
        if len(heads) == 1 and len(tokenizers) == 1:
            [(number, search)] = heads.items()
            if search.head is not None and tokenizers[0].number > number:
                yield search, search.head, tokenizers[0]


def _wholes(recipe: Recipe, project: Project) -> Iterator[tuple[Recipe, list[Item]]]:
    for whole in including(recipe, project):
        found = evaluate(whole, project)
        # All objects of a composed configuration are dear, and most have no searcher.
        if whole.dialect is not Dialect.OMEGACONF or any(_names_searcher(one, project) for one in found.recipes):
            yield whole, [item for item in found.objects if item.kind in (ItemKind.NEW, ItemKind.NAME)]


def _names_searcher(recipe: Recipe, project: Project) -> bool:
    """True if a mapping of a file names the class of a searcher."""

    def find() -> bool:
        targets = (node for node in recipe.nodes() if node.tag.kind is TagKind.TARGET)
        items = (Item(ItemKind.NEW, node, recipe, "", target=node.tag.target) for node in targets)
        models = (class_of_item(item, project) for item in items)
        return any(model is not None and model.name in known.SEARCHERS for model in models)

    return project.once(("names searcher", recipe), find)


def _searches(items: list[Item], project: Project) -> Iterator[Search]:
    layers = layers_of(project)
    for item in items:
        arguments = known.SEARCHERS.get(_class_name(item, layers))
        if arguments is not None:
            table, head = (_argument(item, argument, layers) for argument in arguments)
            yield Search(item, _size(table, known.ROWS, layers), _size(head, known.CLASSES, layers))


def _scorer_sizes(searcher: Item, layers: Layers) -> Iterator[Sized]:
    """The scorers of a searcher, beside its head."""
    seen: set[int] = set()
    pending = [child for name, child in layers.arguments(searcher) if name == "scorer"]
    for item in pending:
        if id(item) in seen:
            continue
        seen.add(id(item))
        argument = known.SCORERS.get(_class_name(item, layers))
        if argument is None:
            pending.extend(child for _, child in item.children())
            continue
        scored = _size(_argument(item, (argument, None), layers), known.CLASSES, layers)
        if scored is not None:
            yield scored


def _class_name(item: Item, layers: Layers) -> str:
    model = layers.class_of(item)
    return "" if model is None else model.name


def _argument(item: Item, argument: known.Argument, layers: Layers) -> Item | None:
    """The argument of an object in a recipe, or an element of that argument."""
    name, index = argument
    given = next((child for named, child in layers.arguments(item) if named == name), None)
    if given is None or index is None:
        return given
    return given.elements[index] if given.kind is ItemKind.SEQUENCE and index < len(given.elements) else None


def _size(item: Item | None, sizes: Mapping[str, str], layers: Layers) -> Sized | None:
    return None if item is None or item.kind is not ItemKind.NEW else _find_size(item, sizes, layers)


def _find_size(item: Item, sizes: Mapping[str, str], layers: Layers) -> Sized | None:
    """The object with the argument that is its number of ids; None if its value is unknown."""
    argument = sizes.get(_class_name(item, layers))
    value = None if argument is None else _argument(item, (argument, None), layers)
    number = value.number if value is not None else None
    return Sized(item, argument, value, number) if argument and value and isinstance(number, int) else None
