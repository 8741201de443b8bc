"""The program that loads a configuration: by a command line, by its own code, or by the keys of the file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.dialects.lightning_cli.arguments import entries_of
from modellint.dialects.lightning_cli.commands import Command, commands
from modellint.dialects.lightning_cli.programs import Program, programs
from modellint.edits.similar import get_close_matches
from modellint.frontends.recipe import names_class_path, read_cli
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import CLASS_PATH, INIT_ARGS, NodeKind
from modellint.source import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.dialects.lightning_cli.parsers import Parser, Section
    from modellint.graph.recipe import Entry, Recipe
    from modellint.link.project import Project

#: The similarity from which on a section may be meant by another name.
_NEAR = 0.75
#: The share of the keys of its groups that a file has from a program which loads it.
_SHARE = 0.6
_YAML = (".yaml", ".yml")
_FILE = re.compile(r"""["']([^"'\n]+\.ya?ml)["']""")


@dataclass(frozen=True, eq=False, slots=True)
class Loaded:
    """A program that loads a file, as the configuration of its parser or of a subcommand (`below`).

    `given` are the keys that the same command line gives, or other files. `is_whole`: nothing else is known to be
    merged into it. `reason` tells why the program is taken to load the file.
    """

    program: Program
    parser: Parser
    below: str
    given: frozenset[str]
    is_whole: bool
    reason: str
    #: A command line names the file.
    is_named: bool = False


def may_belong(path: Path, data: bytes, project: Project) -> bool:
    """True if a file without class paths may belong to a program: a command names it, or it has sections of one."""
    if path.name in commands(project):
        return True
    for program in programs(project):
        names = {*program.parser.sections, *program.subcommands}
        found = [name for name in names if re.search(rb"(?m)^\W*%s\b" % re.escape(name.encode()), data)]
        if len(found) >= 2 or path in _named_by(program, project):
            return True
    return False


def loaded_by(recipe: Recipe, project: Project) -> tuple[Loaded, ...]:
    """The programs that load a file; several if nothing decides between them."""
    return project.once(("cli loaded", recipe.file), lambda: tuple(_loaded_by(recipe, project)))


def _loaded_by(recipe: Recipe, project: Project) -> Iterator[Loaded]:
    known = tuple(one for one in programs(project) if not one.is_handed)
    if not known:
        return
    told = list(_by_command(recipe, known, project)) or list(_by_code(recipe, known, project))
    if told:
        yield from _sure_ones(told)
        return
    entries = entries_of(recipe.root)
    if CLASS_PATH in entries and (INIT_ARGS in entries or len(entries) == 1):
        return  # the file of one object, which another one names
    for distance in sorted({_common(one.script, recipe.file) for one in known}, reverse=True):
        beside = [one for one in known if _common(one.script, recipe.file) == distance]
        found = [loaded for one in beside for loaded in _by_keys(recipe, entries, one, project)]
        if found:
            yield from _sure_ones(found)
            return


def _sure_ones(loaded: list[Loaded]) -> list[Loaded]:
    """Those of several programs that are understood, if some are: a script may have a call for tests as well."""
    sure = [one for one in loaded if one.program.is_sure]
    return sure or loaded


def _common(one: Path, other: Path) -> int:
    """The number of folders that two files have in common."""
    return len(os.path.commonpath((one.parent.as_posix(), other.parent.as_posix())).split("/"))


# -- by a command line ---------------------------------------------------------------------------------------------


def _by_command(recipe: Recipe, known: tuple[Program, ...], project: Project) -> Iterator[Loaded]:
    """The programs that command lines run with a file."""
    seen: set[tuple[int, str]] = set()
    for command in commands(project).get(recipe.file.name, ()):
        for program in known:
            if not command.runs(program.script, project) and (command.has_runner or len(known) > 1):
                continue
            paths = command.paths(program.script, project)
            names = {option for option, path in paths if path == recipe.file}
            if not names & program.options:
                continue
            yield from _of_command(recipe, command, program, paths, seen, project)


def _of_command(
    recipe: Recipe,
    command: Command,
    program: Program,
    paths: list[tuple[str, Path]],
    seen: set[tuple[int, str]],
    project: Project,
) -> Iterator[Loaded]:
    below = next((name for name in program.subcommands if name in command.words), "")
    others = [path for option, path in paths if option in program.options and path != recipe.file]
    given = {option.lstrip("-") for option in command.options if option not in program.options}
    for other in others:
        given |= _keys_in(other, project)
    parser, inside = _parser_for(recipe, program, below)
    if (id(program), inside) not in seen:
        seen.add((id(program), inside))
        names = frozenset(name.removeprefix(f"{below}.") for name in given)
        unreadable = len([one for one in command.files if one[0] in program.options]) > len(others) + 1
        yield Loaded(program, parser, inside, names, not unreadable, f"a command in {command.shown_in}", True)


def _parser_for(recipe: Recipe, program: Program, below: str) -> tuple[Parser, str]:
    """The parser that a file configures; the subcommand is empty where the file has a section for each."""
    if not program.subcommands:
        return program.parser, ""
    if any(name in program.subcommands for name in recipe.keys):
        return program.parser, ""
    if below:
        return program.subcommands[below], below
    return _union_of(program), "*"


def _union_of(program: Program) -> Parser:
    """The parser of any subcommand: the sections of all of them."""
    from modellint.dialects.lightning_cli.parsers import Parser

    sections: dict[str, Section] = {}
    for parser in program.subcommands.values():
        for name, section in parser.sections.items():
            sections.setdefault(name, section)
    first = program.parser
    return Parser(sections, first.links, first.is_open, first.given, first.files, first.options)


def _keys_in(path: Path, project: Project) -> set[str]:
    """The keys in another configuration, with dots."""

    def read() -> set[str]:
        data = project.files.read(path)
        try:
            recipe = None if data is None else read_cli(path, data)
        except UnreadableError:
            return set()
        return set() if recipe is None else set(_paths(entries_of(recipe.root), ""))

    return project.once(("cli keys", path), read)


def _paths(entries: Mapping[str, Entry], start: str) -> Iterator[str]:
    for name, entry in entries.items():
        path = f"{start}{name}"
        yield path
        if entry.value.kind is NodeKind.MAPPING and path.count(".") < 12:
            yield from _paths(entries_of(entry.value), f"{path}.")


def _named_by(program: Program, project: Project) -> set[Path]:
    """The files that the code of a program may name: beside its script, or from the root."""

    def find() -> set[Path]:
        module = project.python(program.script)
        written = _FILE.findall(module.text) if module is not None else []
        folders = (program.script.parent, project.options.root)
        names = [*program.parser.files, *written]
        return {Path(os.path.normpath(base / name)) for base in folders for name in names}

    return project.once(("cli named", program.script, tuple(program.parser.files)), find)


# -- by the code, and by the keys ----------------------------------------------------------------------------------


def _by_code(recipe: Recipe, known: tuple[Program, ...], project: Project) -> Iterator[Loaded]:
    """The programs whose code names a file, as a default configuration or otherwise."""
    for program in known:
        if recipe.file in _named_by(program, project):
            parser, below = _parser_for(recipe, program, "")
            yield Loaded(program, parser, below, frozenset(), False, f"the code of {program.script.name}")


def _by_keys(recipe: Recipe, entries: Mapping[str, Entry], program: Program, project: Project) -> Iterator[Loaded]:
    """A program whose keys a file has."""
    parser, below = _parser_for(recipe, program, "")
    if not below and program.subcommands:
        names = {*program.subcommands, *program.top.sections, "config", "subcommand"}
        if entries.keys() <= names:
            yield Loaded(program, program.parser, "", frozenset(), True, "the keys in it")
        return
    known = [name for name in entries if name.partition(".")[0] in parser.sections]
    others = [name for name in entries if name not in known]
    near = [name for name in others if get_close_matches(name, parser.sections, n=1, cutoff=_NEAR)]
    is_named = names_class_path(recipe.source.text.encode())
    least = 1 if is_named and program.is_lightning else 2
    if len(known) + len(near) < least or not known or len(others) > max(len(near), len(known) // 4):
        return
    if is_named or _fits(entries, parser):
        # A file that lacks a section is merged with others, and one that lacks a class path only may be.
        given = frozenset(_given_beside(recipe, parser, project))
        if _is_whole(entries, parser):
            given = frozenset(name for name in given if name.endswith(f".{CLASS_PATH}"))
        yield Loaded(program, parser, below, given, True, "the keys in it")


def _fits(entries: Mapping[str, Entry], parser: Parser) -> bool:
    """True if the groups of a file have the keys of a parser's groups: at least most of them."""
    found = total = 0
    for name, entry in entries.items():
        section = parser.sections.get(name)
        takes = None if section is None else section.takes
        if takes is None or takes.is_open or entry.value.kind is not NodeKind.MAPPING:
            continue
        names = [key.partition(".")[0].removesuffix("+") for key in entries_of(entry.value)]
        total += len(names)
        found += sum(bool(get_close_matches(key, takes.fields, n=1, cutoff=_NEAR)) for key in names)
    return total > 0 and found >= _SHARE * total


def _is_whole(entries: Mapping[str, Entry], parser: Parser) -> bool:
    """True if a file has each section that the parser requires."""
    for name, section in parser.sections.items():
        needs = section.is_required or (
            section.takes is not None and any(one.is_required for one in section.takes.fields.values())
        )
        if needs and name not in entries:
            return False
    return True


def _given_beside(recipe: Recipe, parser: Parser, project: Project) -> Iterator[str]:
    """The keys in other files with sections of a parser, in the same folder and around it, which may be merged."""
    folders = (recipe.file.parent, recipe.file.parent.parent)
    root = project.options.root
    for folder in folders:
        if folder != root and root not in folder.parents:
            continue
        for name in project.files.listdir(folder):
            path = folder / name
            if name.endswith(_YAML) and path != recipe.file:
                keys = _keys_in(path, project)
                if keys & parser.sections.keys():
                    yield from keys


def groups_of(recipe: Recipe, loaded: tuple[Loaded, ...]) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The classes of the groups in a file, by the keys that lead to them."""
    found: dict[tuple[str, ...], str] = {}
    for one in loaded[:1]:
        subcommands = one.program.subcommands if not one.below else {}
        tops: list[tuple[tuple[str, ...], Parser]] = [
            ((name,), parser) for name, parser in subcommands.items() if name in recipe.keys
        ]
        for keys, parser in tops or [((), one.parser)]:
            for name, section in parser.sections.items():
                if section.callee is not None and section.callee.model is not None and section.takes is not None:
                    path = (*keys, name)
                    found[path] = section.callee.name
    return tuple(found.items())
