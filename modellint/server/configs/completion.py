"""The completions at a place of a configuration: targets, arguments, references, entries of defaults lists, tags.

They are values of no protocol: an `Offer` has the text that replaces what is typed, from a column of the line on.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Dialect, NodeKind, TagKind
from modellint.server.configs.cursor import CALLING, TARGETS, cursor_in, directives_of
from modellint.server.configs.entries import entry_offers, is_in_defaults
from modellint.server.configs.names import NameKind, names_below, near
from modellint.server.configs.offers import Offer, OfferKind
from modellint.server.configs.others import names_called
from modellint.server.configs.references import is_open, reference_offers
from modellint.server.configs.takers import taker_at, target_at
from modellint.server.configs.trees import is_plain, tree_of

if TYPE_CHECKING:
    from collections.abc import Callable as Function
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.server.configs.callables import Argument, Callable
    from modellint.server.configs.cursor import Cursor
    from modellint.server.configs.trees import Tree

_KINDS = {
    NameKind.MODULE: OfferKind.MODULE,
    NameKind.CLASS: OfferKind.CLASS,
    NameKind.FUNCTION: OfferKind.FUNCTION,
    NameKind.VALUE: OfferKind.VALUE,
}
#: The tags of HyperPyYAML, as they are typed, with what they do.
_TAGS = {
    "!new:": "an object of a class",
    "!name:": "a class or function, with arguments for later",
    "!apply:": "the result of a function",
    "!ref <": "another key",
    "!copy <": "a copy of another key",
    "!include:": "another file",
    "!tuple": "a tuple",
    "!module:": "a module",
    "!PLACEHOLDER": "a value that has to be given",
}
_COMMENT = re.compile(r"(?:^|[ \t])#")
_PACKAGE = re.compile(r"#[ \t]*@package[ \t]+([\w.]*)\Z")
_PACKAGES = {"_global_": "the top of the configuration", "_group_": "the group of the file"}
_LITERAL = re.compile(r"(?:typing\.)?Literal\[(.*)\]")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_BOOLEANS = ("true", "false")
#: Keys of a recipe whose entries are objects that it defines: what `Brain` moves, and what a checkpoint saves.
_HOLDING = ("modules", "recoverables")


@dataclass(frozen=True)
class Situation:
    """A configuration at the moment of a question: the cursor, and the file without the word at the cursor."""

    cursor: Cursor
    recipe: Recipe
    project: Project
    files: tuple[Path, ...]

    @cached_property
    def tree(self) -> Tree:
        """The configuration that the file is, or is a part of."""
        return tree_of(self.recipe, self.project)

    @property
    def target(self) -> str:
        """The name that the object around the cursor calls; empty if there is none."""
        return target_at(self.cursor, self.tree)

    @property
    def taker(self) -> Callable | None:
        """The class or function that takes the keys around the cursor as arguments, or as fields; None if none does."""
        return taker_at(self.cursor, self.tree, self.files, self.project)


def completions(
    path: Path,
    lines: Sequence[str],
    line: int,
    column: int,
    dialect: Dialect,
    beside: Function[[str], tuple[Recipe, Project] | None],
) -> list[Offer]:
    """The completions before a character of a line (from 0), best first.

    `beside` gives the configuration, and the project, in which the file has another text.
    """
    before = lines[line][:column] if line < len(lines) else ""
    header = _PACKAGE.search(before)
    if header is not None and dialect is Dialect.OMEGACONF:
        return [Offer(name, OfferKind.KEYWORD, len(header[1]), detail=text) for name, text in _PACKAGES.items()]
    if _is_comment(before):
        return []
    cursor = cursor_in(path, lines, line, column, dialect)
    known = None if cursor is None else beside(cursor.neutral)
    if cursor is None or known is None:
        return []
    recipe, project = known
    situation = Situation(cursor, recipe, project, near(recipe, project))
    found: dict[str, Offer] = {}
    for offer in sorted(_offers(situation), key=lambda offer: offer.rank):
        found.setdefault(offer.label, offer)
    return list(found.values())


def _is_comment(before: str) -> bool:
    """True if a comment begins before the end of a text that is the beginning of a line."""
    quote = ""
    for at, character in enumerate(before):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and (not before[:at].strip() or before[at - 1] in " \t[{,:"):
            quote = character
        elif character == "#" and _COMMENT.search(before[max(at - 1, 0) : at + 1]):
            return True
    return False


def _offers(situation: Situation) -> Iterator[Offer]:
    cursor = situation.cursor
    typed, project = cursor.typed_text, situation.project
    if cursor.is_tag:
        yield from _tag_offers(situation)
        return
    if not cursor.node.plain and cursor.node.kind is NodeKind.SCALAR and "\n" in cursor.node.text:
        return
    if not cursor.is_key and is_open(typed, situation.recipe.dialect, cursor.node):
        yield from reference_offers(cursor, situation.recipe, situation.tree, project)
        return
    if situation.recipe.dialect is Dialect.OMEGACONF and is_in_defaults(cursor):
        yield from entry_offers(cursor, situation.recipe, project)
        return
    if cursor.is_key or cursor.holder is None or cursor.holder.kind is NodeKind.SEQUENCE:
        yield from _key_offers(situation)
    if cursor.is_key:
        return
    if cursor.key == situation.recipe.dialect.writing.target or (cursor.key in TARGETS and "." in typed):
        yield from _target_offers(typed, situation, None)
    else:
        yield from _value_offers(situation)


# -- targets -----------------------------------------------------------------------------------------------------------


def _target_offers(typed: str, situation: Situation, tag: TagKind | None) -> Iterator[Offer]:
    owner, _, last = typed.rpartition(".")
    for name in names_below(owner, situation.files, situation.project):
        if name.text.startswith("_") and not last.startswith("_"):
            continue
        if tag is not TagKind.NEW or name.kind is not NameKind.FUNCTION:
            order = "0" if name.is_own else "1"
            full = f"{owner}.{name.text}" if owner else ""
            yield Offer(name.text, _KINDS[name.kind], len(last), order=order, of=full)
    yield from _called_elsewhere(owner, last, situation)


def _called_elsewhere(owner: str, last: str, situation: Situation) -> Iterator[Offer]:
    """The names, or their next parts, that other configurations call; whole ones if nothing but a word is typed."""
    begin = f"{owner}." if owner else ""
    for name in names_called(situation.recipe, situation.project):
        if name.startswith(begin):
            part, dot, _ = name[len(begin) :].partition(".")
            kind = OfferKind.MODULE if dot else OfferKind.CLASS if part[:1].isupper() else OfferKind.FUNCTION
            yield Offer(part, kind, len(last), order="2", of="" if dot else name)
        if not owner and "." in name and last and last.lower() in name.rpartition(".")[2].lower():
            yield Offer(name, OfferKind.CLASS, len(last), order="3", of=name)


def _tag_offers(situation: Situation) -> Iterator[Offer]:
    """The rest of a tag that is being typed: its name, or the name behind its colon."""
    cursor = situation.cursor
    tag = cursor.node.tag
    if tag.kind in CALLING or tag.kind is TagKind.MODULE:
        yield from _target_offers(tag.target.partition(cursor.marked.mark)[0], situation, tag.kind)
    elif tag.kind is TagKind.INCLUDE:
        yield from _file_offers(tag.target.partition(cursor.marked.mark)[0], situation)
    elif situation.recipe.dialect is Dialect.HYPERPYYAML:
        typed = cursor.typed_text
        for text, detail in _TAGS.items():
            if text.startswith(typed):
                yield Offer(text, OfferKind.KEYWORD, len(typed), detail=detail)


def _file_offers(typed: str, situation: Situation) -> Iterator[Offer]:
    """The YAML files and folders below the folder that a path begins with."""
    inside, _, last = typed.rpartition("/")
    folder = situation.recipe.file.parent / inside
    files = situation.project.files
    for name in files.listdir(folder):
        if name.startswith(".") or folder / name == situation.recipe.file:
            continue
        if name.endswith((".yaml", ".yml")):
            yield Offer(name, OfferKind.FILE, len(last))
        elif "." not in name and files.is_dir(folder / name):
            yield Offer(name, OfferKind.FOLDER, len(last), f"{name}/", order="1")


# -- keys --------------------------------------------------------------------------------------------------------------


def _key_offers(situation: Situation) -> Iterator[Offer]:
    cursor = situation.cursor
    holder, called = cursor.holder, cursor.call
    typed = cursor.typed_text
    is_mapping = cursor.is_key and holder is not None
    given = {str(entry.name) for entry in holder.entries} if holder is not None and is_mapping else set()
    given.discard(cursor.node.text)
    colon = "" if cursor.is_key and cursor.marked.had_colon else ": "
    if is_mapping and called is not None and called.is_shell and called.writing is not None:
        yield from _directives(directives_of(called.writing), given, typed, colon)
        return
    name = situation.target if is_mapping else ""
    known = situation.taker if is_mapping else None
    for one in (known.arguments if known is not None else None) or ():
        if one.is_named and one.name not in given:
            yield _argument_offer(one, typed, colon, _elsewhere(situation, one.name))
    if name and (known is None or known.arguments is None):
        for argument in names_called(situation.recipe, situation.project).get(name, ()):
            if argument not in given:
                yield Offer(argument, OfferKind.ARGUMENT, len(typed), f"{argument}{colon}", "given elsewhere")
    if situation.recipe.dialect is Dialect.HYPERPYYAML:
        yield from _held_offers(situation, given, typed, colon)
    elif name and called is not None and called.writing is not None:
        if not called.writing.arguments:
            yield from _directives(directives_of(called.writing), given, typed, colon)
    elif _may_begin_object(situation, given):
        target = situation.recipe.dialect.writing.target
        yield from _directives({target: ("the class or function to call", ())}, given, typed, colon)
    if is_mapping and not name and is_plain(situation.recipe):
        yield from _composed_offers(situation, given, typed, colon)


def _directives(
    directives: Mapping[str, tuple[str, tuple[str, ...]]], given: set[str], typed: str, colon: str
) -> Iterator[Offer]:
    for name, (text, _) in directives.items():
        if name not in given:
            yield Offer(name, OfferKind.KEYWORD, len(typed), f"{name}{colon}", text, order="3")


def _argument_offer(one: Argument, typed: str, colon: str, elsewhere: str) -> Offer:
    detail = one.words if one.annotation or one.default is not None else "required"
    detail = f"{detail} (is {elsewhere})" if elsewhere else detail
    order = "1" if elsewhere else "0" if one.is_required else "1"
    return Offer(one.name, OfferKind.ARGUMENT, len(typed), f"{one.name}{colon}", detail, order=order)


def _elsewhere(situation: Situation, name: str) -> str:
    """The value that another file of the configuration gives an argument; empty if none does."""
    if not is_plain(situation.recipe):
        return ""
    tree = situation.tree
    found = tree.key((*tree.path_in(situation.cursor.path), name))
    return "" if found is None else found.value


def _may_begin_object(situation: Situation, given: set[str]) -> bool:
    """True if a mapping may become an object: it does not name a class yet."""
    return is_plain(situation.recipe) and given.isdisjoint(TARGETS)


def _composed_offers(situation: Situation, given: set[str], typed: str, colon: str) -> Iterator[Offer]:
    """The keys that other files of the configuration have in the same mapping: these may be overridden."""
    cursor, tree = situation.cursor, situation.tree
    for key in tree.below(tree.path_in(cursor.path)):
        is_here = key.place.path == situation.recipe.path
        if key.name not in given and not is_here and not key.name.startswith("_"):
            yield Offer(key.name, OfferKind.KEY, len(typed), f"{key.name}{colon}", key.value, order="2")


def _held_offers(situation: Situation, given: set[str], typed: str, colon: str) -> Iterator[Offer]:
    """The objects of a recipe that `modules` or the `recoverables` of a checkpointer may hold, by their names."""
    cursor = situation.cursor
    if not cursor.is_key or not cursor.path or cursor.path[-1] not in _HOLDING:
        return
    for key in situation.tree.below(()):
        if key.is_object and key.name not in given:
            text = f"{key.name}{colon}!ref <{key.name}>" if colon else key.name
            yield Offer(key.name, OfferKind.KEY, len(typed), text, key.value, order="0")


# -- values ------------------------------------------------------------------------------------------------------------


def _value_offers(situation: Situation) -> Iterator[Offer]:
    cursor = situation.cursor
    typed, called = cursor.typed_text, cursor.call
    dialect = situation.recipe.dialect
    if dialect is Dialect.HYPERPYYAML and cursor.node.tag.kind is TagKind.NONE and not typed:
        yield from (Offer(text, OfferKind.KEYWORD, 0, detail=detail, order="2") for text, detail in _TAGS.items())
    key = cursor.key
    if not isinstance(key, str):
        return
    if dialect is Dialect.HYPERPYYAML and len(cursor.path) > 1 and cursor.path[-2] in _HOLDING and not typed:
        for one in situation.tree.below(()):
            if one.is_object:
                order = "0" if one.name == key else "1"
                text = f"<{one.name}>" if cursor.node.tag.kind in (TagKind.REF, TagKind.COPY) else f"!ref <{one.name}>"
                yield Offer(text, OfferKind.REFERENCE, 0, detail=one.value, order=order)
    directives = directives_of(called.writing) if called is not None and called.writing is not None else {}
    if key in directives:
        for value in directives[key][1]:
            yield Offer(value, OfferKind.VALUE, len(typed))
        return
    known = situation.taker
    argument = None if known is None else known.argument(key)
    if argument is not None and (called is None or not called.is_shell):
        yield from _argument_values(argument, typed)


def _argument_values(argument: Argument, typed: str) -> Iterator[Offer]:
    """The values that a parameter's annotation or default tells: of `bool`, of a `Literal`, and `null`."""
    annotation = argument.annotation
    literal = _LITERAL.search(annotation)
    for match in _QUOTED.finditer(literal[1] if literal else ""):
        yield Offer(match[1] or match[2] or "", OfferKind.VALUE, len(typed))
    if re.search(r"\bbool\b", annotation) or argument.default in ("True", "False"):
        yield from (Offer(text, OfferKind.VALUE, len(typed)) for text in _BOOLEANS)
    if re.search(r"\bOptional\[|\bNone\b", annotation) or argument.default == "None":
        yield Offer("null", OfferKind.VALUE, len(typed), order="1")
