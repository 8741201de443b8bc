"""Links of arguments whose keys a parser does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects.lightning_cli.programs import programs, programs_in
from modellint.dialects.lightning_cli.types import Object, options_of
from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.dialects.lightning_cli.parsers import Parser, Section
    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project
    from modellint.source import Place


@dataclass(frozen=True, eq=False, slots=True)
class UnmetLink:
    """A key of a link that its parser lacks, and the keys that there are instead.

    `on_instantiate`: the key leads to an attribute of an object, which is read once that is made.
    """

    place: Place
    key: str
    available: tuple[str, ...]
    on_instantiate: bool = False


def unmet_links(module: ModuleFacts, project: Project) -> tuple[UnmetLink, ...]:
    """The keys that the links of the programs in a file lack, each once.

    jsonargparse raises `ValueError` when it builds the parser, whatever the configuration.
    """
    if "link_arguments" not in module.text:
        return ()
    found: dict[tuple[int, int, str], UnmetLink] = {}
    for program in programs(project) or programs_in(module, project):  # another file may call the class with the links
        for one in _unmet(program.parser):
            if one.place.path == module.path:
                found[one.place.span.line, one.place.span.column, one.key] = one
    return tuple(found[key] for key in sorted(found))


def _unmet(parser: Parser) -> Iterator[UnmetLink]:
    """The keys of links that a parser does not have."""
    for link in parser.links:
        for key, place in link.sources:
            available = _lacks(parser, key, is_target=False, on_instantiate=link.on_instantiate)
            if available is not None:
                yield UnmetLink(place, key, available, link.on_instantiate)
        available = _lacks(parser, link.target, is_target=True, on_instantiate=link.on_instantiate)
        if available is not None:
            yield UnmetLink(link.place, link.target, available)


def _lacks(parser: Parser, key: str, *, is_target: bool, on_instantiate: bool) -> tuple[str, ...] | None:
    """The keys that a parser has in the place of one that it lacks; None if it has it, or may have it."""
    first, _, rest = key.partition(".")
    section = parser.sections.get(first)
    if section is None:
        return None if parser.is_open else tuple(parser.sections)
    if section.takes is not None:
        name = rest.partition(".")[0]
        if not name or name in section.takes.fields or section.takes.is_open:
            return None
        if on_instantiate and not is_target:
            return _lacks_attribute(section, first, name)
        return tuple(f"{first}.{one}" for one in section.takes.fields)
    is_object = any(isinstance(option, Object) for option in options_of(section.type))
    if is_object and is_target and rest and not rest.startswith("init_args."):
        return (f"{first}.init_args.{rest}",)
    return None


def _lacks_attribute(section: Section, first: str, name: str) -> tuple[str, ...] | None:
    """The attributes of a class that has none of this name; None if it has, or may have it."""
    model = None if section.callee is None else section.callee.model
    if model is None or not model.is_complete:
        return None
    found: dict[str, None] = {}
    for one in model.mro():
        if one.cls is None:
            continue
        if one.facts.has_method("__getattr__"):
            return None
        found.update(dict.fromkeys((*one.cls.assigned, *one.cls.methods, *one.cls.attributes, *one.cls.annotations)))
    return None if name in found else tuple(f"{first}.{one}" for one in found if not one.startswith("_"))
