"""The linked project: facts of many files, joined on demand.

Files are loaded on first use. Linting one changed file therefore still sees its recipe, its script and
its base classes, and linting a whole tree parses each file at most once.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from modellint.frontends import python as python_frontend
from modellint.graph.immutable import dataclass
from modellint.link.budget import Budget
from modellint.link.lasting import Lasting
from modellint.link.names import Names
from modellint.link.portable import Shelves
from modellint.link.remembered import RememberedAnswers
from modellint.reading.decoding import decode_code
from modellint.reading.files import Files, Trace
from modellint.source import PYTHON, UnreadableError, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.classes.models import Classes
    from modellint.link.remembered import Form
    from modellint.operators.properties import Property
    from modellint.reading.index import Indexes

T = TypeVar("T")

#: How many files are checked before the syntax trees of a file that was read are freed.
_HELD = 48
#: The most bytes of code whose syntax trees are held, at 37 bytes of memory each: one file that imports
#: a whole package reads all of it. Without the bodies of functions a tree is a third as large.
_MAX_TREES = 1_000_000
_OF_STUBS = 3
#: One of so many such files loses its lowered bodies as well: these take longer to make again.
_BODIES = 4


class Closing(Protocol):
    """An object that is closed when the file that it was made for has been checked."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class ProjectOptions:
    """The configuration of linking.

    `python` is the interpreter whose site-packages are read (as text); `recipes` are explicit pairs of a recipe
    (or a glob of recipes) and its script, relative to `root`. Files of more than `largest` bytes count as
    unreadable, for callers in a hurry. `theories` are the factories of rule packs' theories, called for each run.
    `properties` are those that rules give tensors.
    """

    root: Path
    python: Path | None = None
    recipes: tuple[tuple[str, str], ...] = field(default=())
    largest: int | None = None
    theories: tuple[Callable[..., Any], ...] = ()
    properties: tuple[Property, ...] = ()


class Project:
    """Loads facts on demand and answers questions that span files."""

    def __init__(self, options: ProjectOptions, files: Files | None = None, indexes: Indexes | None = None) -> None:
        """`indexes` have outlines and answers of earlier runs."""
        self.options = options
        self.files = files or Files()
        self._indexes = indexes
        self.names = Names(self)
        self._shelves = None if indexes is None else Shelves(indexes, self.names.path, self)
        #: The answers of earlier runs.
        self.kept = None if self._shelves is None else RememberedAnswers(self.files, self._shelves, self.python)
        self._memo: dict[Any, tuple[Any, Trace]] = {}
        self._analyses: dict[Callable[[Project], Any], Any] = {}
        #: Why Python files cannot be read.
        self._reasons: dict[Path, UnreadableError] = {}
        #: The interpreter runs for the file that is being checked.
        self.runs: list[Closing] = []
        #: The files that were read; the syntax trees of the first ones are freed next.
        self._read: deque[ModuleFacts] = deque()
        #: Those of them whose syntax trees are held, with their bytes; and the sum of the bytes.
        self._unreleased: deque[tuple[ModuleFacts, int]] = deque()
        self._bytes = 0
        #: The files that will be checked, so each is read as a whole at once.
        self.expected: set[Path] = set()

    @cached_property
    def classes(self) -> Classes:
        """The class models of the project, read from source or shipped facts."""
        from modellint.link.classes.models import Classes

        return Classes(self, self.names)

    @cached_property
    def budget(self) -> Budget:
        """The steps that are left for the file that is being checked."""
        return Budget()

    def renew_budget(self) -> None:
        """Let the next question have all steps, even if somebody has cancelled this one when it was over."""
        self.__dict__.pop("budget", None)

    def of(self, analysis: Callable[[Project], T]) -> T:
        """The object of a class that is made from a project: made on first use, one for each file that is checked.

        A class that derives from `Lasting` has one object for the whole project.
        """
        found = self._analyses.get(analysis)
        if found is None:
            found = self._analyses[analysis] = analysis(self)
        known: T = found
        return known

    def release(self, module: ModuleFacts) -> None:
        """Free a checked file's bodies and the runs that followed them, and the syntax trees of some other files.

        Runs may depend on other files than those of the next file; each file asks anew, so that its
        dependencies are complete.
        """
        self.release_bodies(module)
        for at in range(1 + len(self._read) // _HELD if self._read else 0):
            if at % _BODIES:
                self._read[0].release_source()
            else:
                self._read[0].release()
            self._read.rotate(-1)

    def release_bodies(self, module: ModuleFacts) -> None:
        """Free the bodies of a file and the runs that followed them: whoever asks next asks anew."""
        for run in self.runs:
            run.close()
        self._let_go()
        for lasting in self._lasting():
            lasting.release()
        module.release()

    def forget(self, keys: set[str]) -> None:
        """Forget the results that depend on any of `keys`, which have changed.

        Results of other files whose keys are only names are kept. The rest refers to facts in memory, which
        may be freed.
        """
        changed = {key.partition(":")[2] for key in keys}
        self._memo = {
            key: (result, trace)
            for key, (result, trace) in self._memo.items()
            if trace and keys.isdisjoint(trace) and _is_named(key, changed)
        }
        self._forget_modules()
        self.__dict__.pop("classes", None)
        if self.kept is not None:
            self.kept.forget(keys)
        for lasting in self._lasting():
            lasting.forget(keys)
        self._let_go()

    def beside(self, contents: Mapping[Path, bytes]) -> Project:
        """A project in which some YAML files have other contents; it knows what this one knows of other files."""
        other = Project(self.options, self.files.sharing(contents))
        keys = {f"file:{path.as_posix()}" for path in contents}
        other.take(self._memo, keys)
        return other

    def take(self, memo: Mapping[Any, tuple[Any, Trace]], keys: set[str]) -> None:
        """Take the results of another project over that do not depend on any of `keys`, and are about names only."""
        changed = {key.partition(":")[2] for key in keys}
        traces: dict[int, bool] = {}
        for key, known in memo.items():
            trace = known[1]
            is_same = traces.get(id(trace))
            if is_same is None:
                is_same = traces[id(trace)] = bool(trace) and keys.isdisjoint(trace)
            if is_same and _is_named(key, changed):
                self._memo[key] = known

    def _forget_modules(self) -> None:
        """Drop the files whose facts are no longer those in the memo."""
        self._read = deque(module for module in self._read if self._is_known(module))
        self._unreleased = deque(held for held in self._unreleased if self._is_known(held[0]))
        self._bytes = sum(size for _, size in self._unreleased)

    def _is_known(self, module: ModuleFacts) -> bool:
        return self.found(("python", module.file)) is module

    def _lasting(self) -> list[Lasting]:
        return [found for found in self._analyses.values() if isinstance(found, Lasting)]

    def _let_go(self) -> None:
        """Drop the analyses of one file, and break their reference cycles."""
        self.renew_budget()
        self.runs.clear()
        for kind, found in list(self._analyses.items()):
            if not isinstance(found, Lasting):
                del self._analyses[kind]
                getattr(found, "__dict__", {}).clear()

    def save(self) -> None:
        """Write outlines and answers for later runs."""
        if self.kept is not None:
            self.kept.save()
        if self._indexes is not None:
            self._indexes.flush()

    def keep(self, keys: set[str]) -> None:
        """Forget the results that depend on anything but `keys`, the dependencies that are still of interest."""
        self._memo = {key: known for key, known in self._memo.items() if keys.issuperset(known[1])}
        self._forget_modules()
        if self.kept is not None:
            self.kept.keep(keys)

    def once(self, key: Any, compute: Callable[[], T], *, kept: Form | None = None) -> T:
        """The result of `compute`, computed once per `key`; each later asker gets its dependencies.

        With a form `kept`, the result is stored for the next run if `key` is about one file and names only
        definitions of it.
        """
        known = self._memo.get(key)
        if known is None and kept is not None and self.kept is not None:
            known = self.kept.get(key, kept)
            if known is not None:
                self._memo[key] = known
        if known is None:
            known = self._memo[key] = self.files.traced(compute)
            if kept is not None and self.kept is not None:
                self.kept.put(key, known)
        elif known[1]:
            self.files.depend(known[1])
        found: T = known[0]
        return found

    def found(self, key: Any) -> Any:
        """The result that `once` has computed for a key; None if it has not."""
        known = self._memo.get(key)
        return None if known is None else known[0]

    def python(self, path: Path) -> ModuleFacts | None:
        """The outline of a Python file, None if it is missing or unreadable; bodies of functions may be no Python."""

        def load() -> ModuleFacts | None:
            self._reasons.pop(path, None)
            data = self._content(path)
            if data is None:
                return None
            module = self._readable(path, data, is_whole=True) if path in self.expected else None
            module = module or self._readable(path, data, is_whole=False)
            if module is not None:
                self._read.append(module)
                self._hold(module, len(data))
            return module

        return self.once(("python", path), load)

    def whole(self, path: Path) -> ModuleFacts | None:
        """The outline of a file that is checked itself; None if any body of a function is unreadable, too."""
        self.expected.add(path)

        def load() -> ModuleFacts | None:
            module, data = self.python(path), self._content(path)
            if module is None or data is None or module.is_whole:
                return module
            again = self._readable(path, data, is_whole=True)
            if again is None:
                return None
            module.is_whole = True
            module.trees.update(again.trees)
            self._hold(module, len(data))
            return module

        return self.once(("whole", path), load)

    def _readable(self, path: Path, data: bytes, *, is_whole: bool) -> ModuleFacts | None:
        """The outline of a Python file with the content `data`; None, with the reason noted, if it is unreadable."""
        try:
            return self._parse(path, data, is_whole=is_whole)
        except UnreadableError as error:
            self._reasons[path] = error.within(error.unit, error.span)  # which leads to nothing of the parser
            return None

    def _hold(self, module: ModuleFacts, size: int) -> None:
        """Hold the syntax trees of a file, and free those of files that were read before."""
        self._unreleased.append((module, size if module.is_whole else size // _OF_STUBS))
        self._bytes += self._unreleased[-1][1]
        while self._bytes > _MAX_TREES and len(self._unreleased) > 1:
            first, size = self._unreleased.popleft()
            first.release_source()
            self._bytes -= size

    def reason(self, path: Path) -> UnreadableError | None:
        """Why a file cannot be decoded or parsed; None if it can, was not asked for, or does not exist."""
        return self._reasons.get(path)

    def parsed(self, path: Path, data: bytes) -> ModuleFacts:
        """The outline of a Python file with the content `data`, read as a whole. Raises UnreadableError."""
        return self._parse(path, data, is_whole=True)

    def _parse(self, path: Path, data: bytes, *, is_whole: bool) -> ModuleFacts:
        source = decode_code(path, data)
        if kind_of(path.name) != PYTHON:
            return python_frontend.read(source, self.files.exists)
        name, is_package = python_frontend.module_name(path, self.files.exists)
        outline = python_frontend.outlined if is_whole else python_frontend.sketched
        shelf = None if self._shelves is None or self.files.is_overlaid(path) else self._shelves.of(path)
        if shelf is None:
            return python_frontend.facts(source, name, is_package, *outline(source, name, is_package))
        address = path.as_posix()
        about = shelf.anchors.name(address), self.files.fingerprint(f"file:{address}"), name
        known = shelf.index.get("outline", *about)
        if known is not None:
            with suppress(TypeError, ValueError, KeyError):  # which is none of ours
                module = python_frontend.facts(source, name, is_package, known, {})
                if module.is_whole or not is_whole:
                    return module
        known, trees = outline(source, name, is_package)
        shelf.index.put("outline", about[0], known, *about[1:])
        return python_frontend.facts(source, name, is_package, known, trees)

    def has_read(self, path: Path) -> bool:
        """True if a Python file was asked for and could be read."""
        known = self._memo.get(("python", path))
        return known is not None and known[0] is not None

    def recipe(self, path: Path) -> Recipe | None:
        """The recipe in a YAML file, None if it is missing, unreadable or plain YAML."""
        from modellint.frontends import recipe as recipe_frontend

        def load() -> Recipe | None:
            data = self._content(path)
            if data is None:
                return None
            try:
                return recipe_frontend.read(path, data)
            except UnreadableError:
                return None

        return self.once(("recipe", path), load)

    def config(self, path: Path) -> Recipe | None:
        """The plain configuration in a YAML file, which a key such as `_target_` shows; None for other files."""
        from modellint.frontends import recipe as recipe_frontend

        def load() -> Recipe | None:
            data = self._content(path)
            try:
                return None if data is None else recipe_frontend.read_config(path, data)
            except UnreadableError:
                return None

        return self.once(("config", path), load)

    def omegaconf(self, path: Path) -> Recipe | None:
        """The configuration in a YAML file that OmegaConf reads; None if it is missing or unreadable."""
        from modellint.frontends import recipe as recipe_frontend

        def load() -> Recipe | None:
            data = self._content(path)
            try:
                return None if data is None else recipe_frontend.read_omegaconf(path, data)
            except UnreadableError:
                return None

        return self.once(("omegaconf", path), load)

    def _content(self, path: Path) -> bytes | None:
        data = self.files.read(path)
        largest = self.options.largest
        return None if data is None or (largest is not None and len(data) > largest) else data


def _is_named(key: Any, changed: set[str]) -> bool:
    """True if a key consists only of names, none of them of a changed file."""
    if isinstance(key, tuple):
        return all(_is_named(part, changed) for part in key)
    if isinstance(key, (str, PurePath)):
        return str(key) not in changed
    return key is None
