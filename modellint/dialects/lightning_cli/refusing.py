"""The faults of a configuration, as the programs that load it parse it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects.lightning_cli.arguments import Given, Spot, entries_of
from modellint.dialects.lightning_cli.checking import Checker
from modellint.dialects.lightning_cli.faults import Fault, FaultKind
from modellint.dialects.lightning_cli.loading import loaded_by
from modellint.dialects.lightning_cli.values import UnknownValueError, may_nest, scalar_of
from modellint.edits.similar import get_close_matches
from modellint.graph.immutable import replace
from modellint.graph.recipe import CLASS_PATH, NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.dialects.lightning_cli.loading import Loaded
    from modellint.dialects.lightning_cli.parsers import Section
    from modellint.graph.recipe import Entry, Recipe
    from modellint.link.project import Project

#: Keys that each parser takes in a configuration.
_OF_ALL = frozenset(("config", "subcommand", "$schema"))
_NEAR = 0.6
#: The faults of a file that is meant for another program.
_OF_OTHERS = (FaultKind.NO_SUBCLASSES, FaultKind.UNKNOWN_SECTION)


def faults_of(recipe: Recipe, project: Project) -> tuple[Fault, ...]:
    """The faults of a configuration that jsonargparse loads, by place."""
    return project.once(("cli faults", recipe.file), lambda: tuple(_faults(recipe, project)))


def _faults(recipe: Recipe, project: Project) -> list[Fault]:
    loaded = loaded_by(recipe, project)
    near = near_files(recipe, project)
    if not loaded:
        return _by_place(Checker(recipe, near, project).walk(Spot(recipe.root, None, "", Given(is_all=False))))
    found = [_of_program(recipe, one, near, project) for one in loaded]
    meant = [faults for faults in found if not any(fault.kind in _OF_OTHERS for fault in faults)]
    found = meant or found
    # What one program refuses, another one may take: only what all refuse is a mistake.
    common = [fault for fault in found[0] if all(any(_is_same(fault, one) for one in other) for other in found[1:])]
    return _by_place(common)


def _is_same(one: Fault, other: Fault) -> bool:
    return one.kind is other.kind and one.place == other.place and one.name == other.name


def _by_place(faults: list[Fault]) -> list[Fault]:
    """The faults by place, each once."""
    found = {
        (fault.place.span.line, fault.place.span.column, fault.kind.value, fault.name): fault
        for fault in faults
        if not fault.is_doubtful
    }
    return [found[key] for key in sorted(found)]


def near_files(recipe: Recipe, project: Project) -> tuple[Path, ...]:
    """The files from which the class paths of a configuration are resolved: the scripts of its programs, and itself."""
    scripts = [one.program.script for one in loaded_by(recipe, project)]
    return tuple(dict.fromkeys((*scripts, recipe.file)))


def _of_program(recipe: Recipe, loaded: Loaded, near: tuple[Path, ...], project: Project) -> list[Fault]:
    """The faults of a file as the configuration of one program."""
    interpolates = bool(project.files.mentioning(project.options.root, "omegaconf"))
    program = loaded.program
    checker = Checker(recipe, near, project, home=program.home, interpolates=interpolates)
    entries = entries_of(recipe.root)
    found: list[Fault] = []
    if (
        program.subcommands
        and not loaded.below
        and not (program.is_either and not program.subcommands.keys() & entries)
    ):
        for name, entry in entries.items():
            parser = program.subcommands.get(name)
            section = program.top.sections.get(name)
            if section is not None:
                path = Spot(entry.value, entry.key, name, Given(is_all=False))
                found += _of_section(checker, path, section)
            elif parser is None:
                if name not in _OF_ALL and not program.parser.is_open:
                    found.append(_unknown(recipe, name, entry, tuple(program.subcommands), program.script.name))
            elif entry.value.kind is NodeKind.MAPPING:
                inner = replace(loaded, parser=parser, below=name)
                found += _of_parser(checker, recipe, entries_of(entry.value), inner, name)
    else:
        found += _of_parser(checker, recipe, entries, loaded, "")
    found += checker.walk(Spot(recipe.root, None, "", Given(is_all=False)))
    return found


def _of_parser(
    checker: Checker, recipe: Recipe, entries: dict[str, Entry], loaded: Loaded, start: str
) -> Iterator[Fault]:
    """The faults of the sections of a parser."""
    parser = loaded.parser
    given = frozenset((*loaded.given, *parser.given))
    top = Given(given, loaded.is_whole, loaded.is_named)
    for written, entry in entries.items():
        first, _, rest = written.removesuffix("+").partition(".")
        section = parser.sections.get(first)
        if section is None:
            if first not in _OF_ALL and _is_told(first, loaded):
                yield _unknown(recipe, first, entry, tuple(parser.sections), loaded.program.script.name)
        elif not rest and not written.endswith("+"):
            path = f"{start}.{first}" if start else first
            more = frozenset(name for name in entries if name.startswith(f"{first}."))
            yield from _of_section(
                checker, Spot(entry.value, entry.key, path, replace(top, names=top.names | more).below(first)), section
            )
        elif rest and section.takes is not None and not section.takes.is_open:
            name, _, deeper = rest.partition(".")
            field = section.takes.fields.get(name)
            if field is not None and not deeper:
                path = f"{start}.{first}.{name}" if start else f"{first}.{name}"
                yield from checker.check(Spot(entry.value, entry.key, path, top.below(first).below(name)), field.type)
            elif field is None:
                near = get_close_matches(name, section.takes.fields, n=1, cutoff=_NEAR)
                place = recipe.place(entry.key.span)
                wanted = tuple(section.takes.fields)
                yield Fault(FaultKind.UNKNOWN_KEY, place, name, section.owner, wanted, tuple(near))
    if top.is_all and loaded.is_named and loaded.program.is_sure:
        yield from _missing_sections(recipe, entries, loaded, top)


def _missing_sections(recipe: Recipe, entries: dict[str, Entry], loaded: Loaded, top: Given) -> Iterator[Fault]:
    """The fault of sections that a program requires, and that nothing gives."""
    written = {name.partition(".")[0] for name in entries}
    missing = []
    for name, section in loaded.parser.sections.items():
        if name in written or name in top.names:
            continue
        if section.is_required:
            missing += [] if top.has(name) else [name]
        elif section.takes is not None:
            keys = [f"{name}.{key}" for key, one in section.takes.fields.items() if one.is_required]
            missing += [key for key in keys if not top.has(key)]
    unknown = [name for name in written if name not in loaded.parser.sections]
    if missing and entries and not unknown:
        first = next(iter(entries.values()))
        place = recipe.place(first.key.span)
        script = loaded.program.script.name
        yield Fault(FaultKind.MISSING, place, missing[0], script, tuple(missing))


def _is_told(name: str, loaded: Loaded) -> bool:
    """True if a section that a parser lacks is a mistake."""
    parser = loaded.parser
    if parser.is_open or not loaded.program.is_sure:
        return bool(get_close_matches(name, parser.sections, n=1, cutoff=0.8)) and not parser.is_open
    return True


def _unknown(recipe: Recipe, name: str, entry: Entry, wanted: tuple[str, ...], owner: str) -> Fault:
    near = get_close_matches(name, wanted, n=1, cutoff=_NEAR)
    return Fault(FaultKind.UNKNOWN_SECTION, recipe.place(entry.key.span), name, owner, wanted, tuple(near), name)


def _of_section(checker: Checker, spot: Spot, section: Section) -> list[Fault]:
    node = spot.node
    if section.takes is None:
        return checker.check(spot, section.type)
    if node.kind is NodeKind.SCALAR:
        try:
            value = scalar_of(node)
        except UnknownValueError:
            return []
        if value is not None and section.callee is None:
            return []
        if value is not None:
            is_file = isinstance(value, str) and (may_nest(node) or "." in value)
            wrong = Fault(FaultKind.WRONG_TYPE, checker.place(node), node.text, wanted=("a mapping",), path=spot.path)
            return [] if is_file else [wrong]
        place = checker.place(spot.key or node)
        return [Fault(FaultKind.EMPTY, place, section.owner, section.owner, path=spot.path)]
    if node.kind is NodeKind.SEQUENCE and section.callee is not None:
        return [Fault(FaultKind.WRONG_TYPE, checker.place(node), "a list", wanted=("a mapping",), path=spot.path)]
    if node.kind is NodeKind.MAPPING and CLASS_PATH in entries_of(node) and CLASS_PATH not in section.takes.fields:
        if section.takes.is_open:
            return []
        place = checker.place(entries_of(node)[CLASS_PATH].key)
        wanted = (section.callee.name,) if section.callee is not None else ()
        checker.seen.add(id(node))
        return [Fault(FaultKind.NO_SUBCLASSES, place, CLASS_PATH, section.owner, wanted, path=spot.path)]
    return checker.arguments(spot, section.takes, section.callee, section.owner)
