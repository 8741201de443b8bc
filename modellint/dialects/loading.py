"""Programs that load their configurations with OmegaConf themselves: `config = OmegaConf.load("small.yaml")`.

Where the code names the file, the program is run with it. Otherwise it is run with the files that each command line in
a page or shell script gives it, and once with any configuration of the project: what none of them has is missing.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.dialects.lone import is_anywhere
from modellint.dialects.omegaconf import Configuration
from modellint.dialects.reading import ConfigNode, Reading
from modellint.dialects.spots import Layer, Merging, Spot, spots_of
from modellint.edits.similar import get_close_matches
from modellint.flow.domain import ANY_ARGUMENTS, UNKNOWN, Arguments, Constant, FunctionRef, text
from modellint.flow.frame import class_frame
from modellint.flow.runs import started
from modellint.flow.theory import Foreign
from modellint.frontends.recipe import read_config
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Dialect
from modellint.graph.value import EventKind, Op
from modellint.link.classes.definitions import SourceMethod
from modellint.link.names import External
from modellint.link.searched import files_below
from modellint.source import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from modellint.dialects.reading import Builder
    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.link.recipes.items import Item

LIBRARY = "omegaconf"
_OF = "omegaconf.OmegaConf."
_LOAD = f"{_OF}load"
_MERGES = (f"{_OF}merge", f"{_OF}unsafe_merge")
#: Functions whose result has the keys that the command line gives.
_GIVEN = (f"{_OF}from_cli", f"{_OF}from_dotlist")
_CREATE = f"{_OF}create"
#: The most configurations of a project whose keys are put together, and the most command lines of a script.
_MOST, _MOST_COMMANDS = 200, 8
#: The endings of files that show command lines, and the parts of these.
_SHOWING = (".md", ".rst", ".sh", ".slurm", ".txt")
_CONTINUED = re.compile(r"\\[ \t]*\r?\n[ \t]*")
_SCRIPT = re.compile(r"[\w./-]+\.py(?![\w.])")
_FILE = re.compile(r"[\w./-]+\.ya?ml(?![\w.])")
_KEY = re.compile(r"(?:^|[\s'\"])(?:--)?([A-Za-z_][\w.]*)=")


@dataclass(frozen=True)
class _Command:
    """A command line: the files of the project that it gives a script, in order, and the keys that it sets."""

    script: str
    files: tuple[Path, ...]
    keys: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Given(Foreign):
    """The keys that the command line gives: none, without arguments."""


class Loading(Reading):
    """The theory of a run of a program that loads configurations with OmegaConf."""

    def __init__(self, run: Interpreter) -> None:
        super().__init__(run)
        self._items = self._item_of
        self._configurations: dict[int, Configuration] = {}
        self._function: Function | None = None
        #: The command line may add keys.
        self.takes_arguments = False
        self.command: _Command | None = None

    def run(self, function: Function, builders: Mapping[Function, Builder], command: _Command | None) -> None:
        """Run a function, or the body of a file as it runs as a program, with the files of a command line."""
        self._function, self._builders, self.command = function, builders, command
        method = SourceMethod(function, self._project.names)
        self._run.start(FunctionRef(method, None, None), class_frame(method.scope, id(function)), ANY_ARGUMENTS)
        for shell in self._shells:
            self._run.objects.construct(shell)

    def _item_of(self, spot: Spot) -> Item | None:
        found = self._configurations.get(id(root_of(spot)))
        return None if found is None else found.item(spot)

    def _node(self, found: Configuration) -> Atoms:
        self._configurations[id(found.root)] = found
        return (ConfigNode(found.root),)

    def expression(self, value: Value, frame: Frame) -> Atoms | None:
        is_name = value.op is Op.GLOBAL and value.data == "__name__"
        is_own = is_name and frame.function is self._function
        return (Constant("__main__"),) if is_own else super().expression(value, frame)

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if name == _LOAD:
            found = self._load(text(arguments.argument(0, "file_") or ()), frame)
            return UNKNOWN if found is None else self._node(found)
        if name in _GIVEN or (name == _CREATE and not any(arguments.all()) and arguments.is_complete):
            self.takes_arguments = self.takes_arguments or name in _GIVEN
            return (_Given(),)
        if name in _MERGES:
            return self._merge(arguments)
        return super().function(name, arguments, frame, value)

    def _load(self, path: str | None, frame: Frame) -> Configuration | None:
        """The configuration in a file, or what all of the project have; None if neither is known."""
        project = self._project
        if path is None:
            return self._unnamed_configuration()
        root, function = project.options.root, frame.function
        above = () if function is None else function.module.file.parents
        folders = (root, *above[: above.index(root) + 1 if root in above else 1])
        files = dict.fromkeys(Path(os.path.normpath(folder / path)) for folder in folders)
        there = [file for file in files if project.files.exists(file)]
        return self._configuration(there[0]) if len(there) == 1 else None

    def _unnamed_configuration(self) -> Configuration | None:
        """The configuration in files that the code does not name."""
        if self.command is None:
            return _any_configuration(self._project, is_built=bool(self._builders))

        def find() -> Configuration | None:
            found = [self._configuration(file) for file in self.command.files] if self.command is not None else []
            layers = [layer for one in found if one is not None for layer in one.root.layers]
            is_whole = None not in found and bool(layers)
            return Configuration(Spot(tuple(layers), layers[-1].recipe, Merging())) if is_whole else None

        return self._project.once(("loaded by command", self.command.files, bool(self._builders)), find)

    def _configuration(self, file: Path) -> Configuration | None:
        project, is_built = self._project, bool(self._builders)

        def find() -> Configuration | None:
            recipe = _recipe_in(file, project, is_built=is_built) or project.omegaconf(file)
            return None if recipe is None else Configuration(spots_of(recipe))

        return project.once(("loaded configuration", file, is_built), find)

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if isinstance(atom, ConfigNode) and arguments.argument(1, "default_value") == (_Given(),):
            arguments = Arguments(arguments.positional[:1])  # an empty default has no keys
        return super().method(atom, name, arguments, frame, value)

    def _merge(self, arguments: Arguments) -> Atoms:
        """The files that are merged as one, the later ones over the earlier ones."""
        if not arguments.is_complete:
            found = self._unnamed_configuration()
            return UNKNOWN if found is None or arguments.keywords else self._node(found)
        layers: list[Layer] = []
        is_any = False
        for atoms in arguments.positional:
            atom = atoms[0] if len(atoms) == 1 else None
            if isinstance(atom, ConfigNode):
                layers += atom.spot.layers
                is_any = is_any or atom.spot.shared.is_any
            elif not isinstance(atom, _Given):
                return UNKNOWN
        if not layers:
            return UNKNOWN
        return self._node(Configuration(Spot(tuple(layers), layers[-1].recipe, Merging(is_any=is_any))))

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms | None:
        builder = self._builders.get(function.code.function) if isinstance(function.code, SourceMethod) else None
        if builder is None:
            return super().follow(function, arguments, frame, value, run)
        given = arguments.argument(0, builder.function.parameters[0].name) or ()
        # Under a condition, a loop may leave out some of its nodes.
        for atom in given if len(given) == 1 or self.is_certain(value, frame) else ():
            if isinstance(atom, ConfigNode):
                self.note_built(builder, atom, arguments, value)
        return UNKNOWN

    def truth(self, atom: Atom) -> bool | None:
        return False if isinstance(atom, _Given) else None


def root_of(spot: Spot) -> Spot:
    """The place of the whole configuration that a place is in."""
    while spot.parent is not None:
        spot = spot.parent
    return spot


def _recipe_in(path: Path, project: Project, *, is_built: bool) -> Recipe | None:
    """The configuration in a file that names classes; `is_built`: the project has functions that build such."""

    def read() -> Recipe | None:
        found = project.config(path)
        data = project.files.read(path) if found is None and is_built else None
        try:
            return found if data is None else read_config(path, data, (Dialect.LATENT,))
        except UnreadableError:
            return None

    return project.once(("loaded", path, is_built), read)


def _any_configuration(project: Project, *, is_built: bool) -> Configuration | None:
    """The keys that any configuration of a project has which names classes; None if there are none, or too many."""

    def find() -> Configuration | None:
        paths = files_below(project, project.options.root, (".yaml", ".yml"))
        found = [recipe for path in paths if (recipe := _recipe_in(path, project, is_built=is_built)) is not None]
        if not 0 < len(found) <= _MOST:
            return None
        layers = tuple(Layer(one.root, one) for one in found)
        return Configuration(Spot(layers, found[-1], Merging(is_any=True)))

    return project.once(("any configuration", is_built), find)


def readings(module: ModuleFacts, project: Project, builders: Mapping[Function, Builder]) -> tuple[Loading, ...]:
    """The runs of a file and of its functions that load configurations."""

    def find() -> tuple[Loading, ...]:
        found = []
        for function in (module.body, *module.all_functions()):
            is_body = function is module.body
            if loads(function, project) or (is_body and any(loads(one, project) for one in module.all_functions())):
                for command in (None, *_commands_of(module, project)):
                    reading = started(project, Loading).of(Loading)
                    reading.run(function, builders, command)
                    found.append(reading)
        return tuple(found)

    return project.once(("omegaconf readings", module.file), find) if module.imports_of(LIBRARY) else ()


def _commands_of(module: ModuleFacts, project: Project) -> list[_Command]:
    """The command lines of a script."""
    path = module.file.as_posix()
    return [one for one in _commands(project) if path.endswith(f"/{one.script}")][:_MOST_COMMANDS]


def _commands(project: Project) -> tuple[_Command, ...]:
    """The command lines that the project shows with a script and configurations that are there."""

    def find() -> tuple[_Command, ...]:
        found: dict[_Command, None] = {}
        for path in files_below(project, project.options.root, _SHOWING):
            data = project.files.read(path) or b""
            if b".py" in data and b".y" in data:
                lines = _CONTINUED.sub(" ", data.decode("utf-8", "replace")).splitlines()
                shown = (_command_in(line, path.parent, project) for line in lines if ".py" in line)
                found.update(dict.fromkeys(filter(None, shown)))
        return tuple(found)

    return project.once(("omegaconf commands",), find)


def _command_in(line: str, folder: Path, project: Project) -> _Command | None:
    script = _SCRIPT.search(line)
    files: list[Path] = []
    for named in _FILE.findall(line, script.end()) if script is not None else ():
        above = (project.options.root, folder)
        there = (one for base in above if project.files.exists(one := Path(os.path.normpath(base / named))))
        file = next(there, None)
        if file is None:
            return None
        files.append(file)
    if script is None or not files:
        return None
    return _Command(script[0].lstrip("./"), tuple(files), frozenset(_KEY.findall(line, script.end())))


def loads(function: Function, project: Project) -> bool:
    """True if a function calls `OmegaConf.load`."""
    callees = (event.value.callee for event in function.flow.of(EventKind.CALL))
    found = (project.names.definition(function.module, one) for one in callees if one.data == "load")
    return any(isinstance(one, External) and one.name == _LOAD for one in found)


def keys_missing(
    module: ModuleFacts, project: Project, builders: Mapping[Function, Builder]
) -> Iterator[tuple[Loading, Value, str]]:
    """The keys that a file certainly reads of the configurations that it loads, and that these lack, each once."""
    told: set[tuple[int, str]] = set()
    for reading in readings(module, project, builders):
        for (value, name), (spot, _) in reading.missing.items():
            if (id(value), name) not in told and _is_certain(name, spot, reading, project):
                told.add((id(value), name))
                yield reading, value, name


def _is_certain(name: str, spot: Spot, reading: Loading, project: Project) -> bool:
    """True if nothing else than the files decides that a key is missing.

    A program whose file the code does not name may be meant for other files: then it shows by the keys that it does
    find, or by the slip, that it is for those of the project.
    """
    is_near = bool(get_close_matches(name, list(map(str, spot.names)), n=1, cutoff=0.75))
    given = frozenset[str]() if reading.command is None else reading.command.keys
    key = ".".join((*map(str, spot.keys), name))
    if any(f"{one}.".startswith(f"{key}.") or f"{key}.".startswith(f"{one}.") for one in given):
        return False
    if reading.takes_arguments and not is_near and reading.command is None:
        return False
    if not spot.shared.is_any:
        return True
    if is_anywhere(name, project):
        return False
    far = sum(
        not get_close_matches(other, list(map(str, one.names)), n=1, cutoff=0.6)
        for (_, other), (one, _) in reading.missing.items()
    )
    return bool(reading.found) and far * 2 <= len(reading.found)
