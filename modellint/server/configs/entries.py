"""The entries of a defaults list that is being typed: groups, names, words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.dialects.defaults import SELF
from modellint.dialects.omegaconf import DEFAULTS
from modellint.graph.recipe import NodeKind
from modellint.server.configs.groups import groups_of
from modellint.server.configs.offers import Offer, OfferKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.server.configs.cursor import Cursor

_WORDS = {"override": "change what another entry chooses", "optional": "leave it out if there is no such file"}
_PACKAGES = {
    "_global_": "the top of the configuration",
    "_here_": "the package of this file",
    "_group_": "the package of the group",
}
_WORD = re.compile(r"((?:override|optional)[ \t]+)*")


def is_in_defaults(cursor: Cursor) -> bool:
    """True if the cursor is in the defaults list of a file."""
    return bool(cursor.path) and cursor.path[0] == DEFAULTS and bool(cursor.holders[1:])


def entry_offers(cursor: Cursor, recipe: Recipe, project: Project) -> Iterator[Offer]:
    """The offers for the entry at the cursor: its words, its group or file, or the name in its group."""
    groups = groups_of(recipe.file, project)
    key = _group_key(cursor)
    if key is not None:
        words, named = _split(key)
        group = named.partition("@")[0]
        chosen = cursor.typed_text
        inside, _, last = chosen.rpartition("/")
        for name in groups.options(f"{group}/{inside}" if inside else group, project):
            yield Offer(name, OfferKind.FILE, len(last), detail=f"{groups.absolute(group)}/{name}.yaml")
        for inner in groups.below(groups.absolute(f"{group}/{inside}" if inside else group), project):
            short = inner[len(groups.absolute(group)) + 1 :] if not inside else inner.rpartition("/")[2]
            yield Offer(short, OfferKind.FOLDER, len(last), f"{short}/", order="1")
        yield Offer("null", OfferKind.KEYWORD, len(last), detail="nothing", order="2")
        if "override" not in words:
            yield Offer("???", OfferKind.KEYWORD, len(last), detail="the command line has to choose", order="3")
        return
    words, named = _split(cursor.typed_text)
    if "@" in named:
        package = named.rpartition("@")[2]
        yield from (Offer(name, OfferKind.KEYWORD, len(package), detail=text) for name, text in _PACKAGES.items())
        return
    yield from _named_offers(cursor, named, words, recipe, project)


def _named_offers(
    cursor: Cursor, named: str, words: tuple[str, ...], recipe: Recipe, project: Project
) -> Iterator[Offer]:
    """The groups and files that an entry without a colon may begin with."""
    groups = groups_of(recipe.file, project)
    colon = "" if cursor.marked.had_colon else ": "
    is_absolute = named.startswith("/")
    own = groups.absolute("/" if is_absolute else "")
    own = "" if is_absolute else groups.base
    for group in groups.below(own, project):
        short = f"/{group}" if is_absolute else group[len(own) + 1 :] if own else group
        if short.startswith(named) or not named or short.rpartition("/")[2].startswith(named):
            detail = ", ".join(groups.search.options(group, project))
            yield Offer(short, OfferKind.FOLDER, len(named), f"{short}{colon}", detail, order="0")
    inside, _, last = named.rpartition("/")
    if not words or words == ("optional",):
        folder = inside.lstrip("/") if is_absolute else "/".join(part for part in (own, inside) if part)
        for name in groups.search.options(folder, project):
            if f"{folder}/{name}".lstrip("/") != _own_name(recipe, groups.base):
                yield Offer(name, OfferKind.FILE, len(last), order="1")
    if not named and not words:
        yield Offer(SELF, OfferKind.KEYWORD, 0, detail="this file's own content", order="1")
    for word, text in _WORDS.items():
        if word.startswith(named) and word not in words:
            yield Offer(word, OfferKind.KEYWORD, len(named), f"{word} ", text, order="2")
    if not named and own:
        for group in groups.below("", project):
            yield Offer(f"/{group}", OfferKind.FOLDER, 0, f"/{group}{colon}", order="3")


def _own_name(recipe: Recipe, base: str) -> str:
    return f"{base}/{recipe.file.stem}".lstrip("/")


def _split(text: str) -> tuple[tuple[str, ...], str]:
    """The words `override` and `optional` at the beginning of an entry, and what follows them."""
    match = _WORD.match(text)
    end = match.end() if match is not None else 0
    return tuple(text[:end].split()), text[end:].lstrip()


def _group_key(cursor: Cursor) -> str | None:
    """The key of the entry whose value is at the cursor; None if the cursor is not in a value."""
    if cursor.is_key:
        return None
    holders = cursor.holders
    if holders[-1].kind is NodeKind.SEQUENCE and len(holders) > 2 and holders[-2].kind is NodeKind.MAPPING:
        key = cursor.path[-2]
        return key if isinstance(key, str) and key != DEFAULTS else None
    return cursor.key if isinstance(cursor.key, str) and cursor.key != DEFAULTS else None
