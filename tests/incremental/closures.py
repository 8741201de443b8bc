"""The files that a check rests on: what its test file imports, directly or not, and the data beside that.

The search reads source and imports nothing. Where it cannot tell, it takes more: a test that hands on the root of the
repository rests on all of it, a name that is imported dynamically on the folder of the module that imports it, whoever
names `modellint` in a text (a command, say) on the command line, and the loader of packs on all built-in rules. Of
their examples it takes none: they count for tests that speak of examples.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import subprocess
from bisect import bisect_left
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from incremental import places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Folders of modules, and the package that each of them is; "" for a folder on the path.
FOLDERS = {"modellint": "modellint", "rules": "modellint_rules", "benchmarks": "", "tests": ""}
#: Folders below `tests` that `pyproject.toml` puts on the path.
ON_PATH = ("confirm", "corpus", "mapping", "notebook", "operators")
#: What every check rests on.
COMMON = ("pyproject.toml", "constraints.txt", "tests/incremental")
COMMAND, LOADER, RULES = "modellint/__main__.py", "modellint/packs.py", "rules"
#: Imports the modules of packages that offer their names lazily: those that such a package imports for type checkers.
LAZY, LAZILY = "modellint/lazy.py", "lazily("
#: Everybody imports the package, and few call it: what its function needs counts for who imports the package by name.
TOP, INTERFACE = "modellint/__init__.py", "modellint/linter.py"
_EXAMPLE = re.compile(r"^rules/ml[^/]+/((bad|good|fixed)/|examples\.toml$)")
#: What a test says that reads the examples of rules: their attributes, and the commands that show or run them.
_OF_EXAMPLES = re.compile(
    r"\.(bad|good|examples)\b|(?<!max)_examples\b|\bexamine\b|materialise|[\"\'\s](explain|test-rules)\b"
)
#: A path of the repository, from its root.
File: TypeAlias = str


class Repository:
    """The files of a work tree as they are now: those that git tracks, and those that it would."""

    def __init__(self, root: Path) -> None:
        """Raises LookupError where git knows no such work tree."""
        command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        try:
            listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split("\0")
        except (OSError, subprocess.CalledProcessError) as error:
            raise LookupError(f"{root}: expected a work tree of git") from error
        self.root = root
        self._tracked = frozenset(name for name in listed if name and (root / name).is_file())
        self.files = sorted(self._tracked)
        self._digests: dict[File, bytes] = {}
        self._edges: dict[File, frozenset[File]] = {}

    def below(self, folder: str) -> list[File]:
        """The files in a folder and its folders, or the file of this name."""
        start, end = bisect_left(self.files, f"{folder}/"), bisect_left(self.files, f"{folder}0")
        return self.files[start:end] or [name for name in (folder,) if name in self._tracked]

    def _code(self, folder: str) -> list[File]:
        """The files below a folder but for examples of rules."""
        return [name for name in self.below(folder) if not _EXAMPLE.match(name)]

    def digest(self, files: Iterable[File]) -> str:
        """A digest of the names and contents of files."""
        whole = hashlib.blake2b(digest_size=16)
        for name in sorted(set(files)):
            if name not in self._digests:
                self._digests[name] = hashlib.blake2b((self.root / name).read_bytes(), digest_size=16).digest()
            whole.update(name.encode() + b"\0" + self._digests[name])
        return whole.hexdigest()

    def closure(self, *starts: File, without: str | None = None) -> frozenset[File]:
        """The files that `starts` lead to, themselves among them, but none in the folder `without`."""
        found, pending = set(self.common), [*starts]
        while pending:
            name = pending.pop()
            if name not in found and not (without and name.startswith(f"{without}/")):
                found.add(name)
                pending += self.edges(name)
        return frozenset(found)

    def of_test(self, test: File) -> frozenset[File]:
        """The files that the tests of a file rest on, with the fixtures that they name."""
        text = self._text(test)
        fixtures: set[File] = set()
        for conftest in self._conftests(test):
            fixtures.add(conftest)
            for name, targets in self._fixtures(conftest).items():
                if not name or re.search(rf"\b{name}\b", text):
                    fixtures |= targets
        conftests = frozenset(self._conftests(test))
        return self.closure(test, *fixtures - conftests) | conftests

    @cached_property
    def common(self) -> frozenset[File]:
        """What every check rests on."""
        return frozenset(name for each in COMMON for name in self.below(each))

    @cached_property
    def modules(self) -> dict[str, File]:
        """The file of each module that can be imported."""
        folders = {**FOLDERS, **{f"tests/{name}": "" for name in ON_PATH}}
        found: dict[str, File] = {}
        for folder, package in folders.items():
            for name in self.below(folder):
                if name.endswith(".py") and not _EXAMPLE.match(name):
                    parts = name.removeprefix(f"{folder}/").removesuffix(".py").removesuffix("/__init__").split("/")
                    parts = [part for part in parts if part != "__init__"]
                    found.setdefault(".".join([*([package] if package else []), *parts]), name)
        return found

    @cached_property
    def _names(self) -> dict[File, str]:
        """The name of the module in a file."""
        return {file: name for name, file in reversed(self.modules.items())}

    def edges(self, name: File) -> frozenset[File]:
        """The files that a file leads to directly."""
        if name not in self._edges:
            self._edges[name] = frozenset(self._found(name)) if name in self._names else frozenset()
        return self._edges[name]

    def _found(self, name: File) -> Iterator[File]:
        text = self._text(name)
        tree = ast.parse(text)
        yield from self._led_to(name, [] if name == TOP else tree.body)
        folder = os.path.dirname(name)
        data = (each for each in self.below(folder) if each.endswith((".json", ".txt")))
        yield from (each for each in data if os.path.dirname(each) == folder)
        if name == LOADER:
            yield from self._code(RULES)
        is_ours = name.startswith(("modellint/", "rules/"))
        if not is_ours and _OF_EXAMPLES.search(text):
            yield from self.below(RULES)
        if is_ours:
            yield from self._code(folder) if "__file__" in text else ()
        else:
            for path in places.used(tree, name, self._constants(name, tree)):
                yield from self.below(folder if path is None else path) if path else self.files

    def _led_to(self, name: File, body: Iterable[ast.AST]) -> Iterator[File]:
        """The files of the modules that some statements import, or name in texts."""
        module = self._names[name]
        package = module if name.endswith("__init__.py") else module.rpartition(".")[0]
        is_ours = name.startswith(("modellint/", "rules/"))
        for node in _run(body, is_lazy=LAZILY in self._text(name) and name != LAZY):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
                yield from self._modules(names)
                yield from (INTERFACE,) if "modellint" in names else ()
            elif isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                names = [f"{base}.{alias.name}" for alias in node.names]
                yield from self._modules([base, *names])
                yield from (INTERFACE,) if base == "modellint" and not self.modules.keys() >= {*names} else ()
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in _DYNAMIC:
                yield from self._dynamic(name, node) if name not in (LOADER, LAZY) else ()
            elif isinstance(node, ast.Attribute) and node.attr == "__file__":
                yield from self.below("modellint") if not is_ours else ()
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from self._modules([node.value] if node.value.startswith("modellint.") else [])
                if not is_ours and "modellint" in node.value and COMMAND in self._tracked:
                    yield COMMAND

    def _constants(self, name: File, tree: ast.Module) -> dict[str, str]:
        """The paths that the names of a module stand for, those of other modules among them."""
        imported: dict[str, str] = {}
        for node in tree.body:
            file = self.modules.get(node.module or "") if isinstance(node, ast.ImportFrom) else None
            if isinstance(node, ast.ImportFrom) and file is not None and file.startswith(("tests/", "benchmarks/")):
                others = self._constants(file, ast.parse(self._text(file)))
                names = {alias.name: alias.asname or alias.name for alias in node.names}
                imported |= {names[one]: path for one, path in others.items() if one in names}
        return places.constants(tree, name, imported)

    def _dynamic(self, name: File, call: ast.Call) -> Iterator[File]:
        """What an import by a computed name may lead to: modules with the known end of the name, else its folder."""
        if not call.args or isinstance(call.args[0], ast.Constant):
            return
        texts = [part.value for part in ast.walk(call.args[0]) if isinstance(part, ast.Constant)]
        ends = [text for text in texts if isinstance(text, str) and text.startswith(".") and text != "."]
        if ends:
            yield from (file for module, file in self.modules.items() if module.endswith(tuple(ends)))
        else:
            yield from self._code(os.path.dirname(name))

    def _modules(self, names: Iterable[str]) -> Iterator[File]:
        """The files of modules, and of the packages that they are in."""
        for name in names:
            parts = name.split(".")
            for end in range(1, len(parts) + 1):
                if file := self.modules.get(".".join(parts[:end])):
                    yield file

    def _conftests(self, test: File) -> list[File]:
        folders = [str(parent) for parent in Path(test).parents]
        return [file for folder in folders if (file := f"{folder}/conftest.py") in self._tracked]

    def _fixtures(self, conftest: File) -> dict[str, frozenset[File]]:
        """The files that each fixture leads to; "" is what counts for every test (hooks, and fixtures of all)."""
        tree = ast.parse(self._text(conftest))
        definitions = {name: node for node in tree.body for name in _defined(node) if not isinstance(node, _IMPORTS)}
        imported = {name: node for node in ast.walk(tree) if isinstance(node, _IMPORTS) for name in _defined(node)}
        found: dict[str, frozenset[File]] = {}
        for name, node in definitions.items():
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                decorators = " ".join(map(ast.unparse, node.decorator_list))
                is_named = "fixture" in decorators and "autouse" not in decorators
                files = frozenset(self._led_to(conftest, _behind(name, definitions, imported)))
                key = name if is_named else ""
                found[key] = found.get(key, frozenset()) | files
        return found

    def _text(self, name: File) -> str:
        return (self.root / name).read_text("utf-8")


_DYNAMIC = ("import_module", "__import__")
_IMPORTS = (ast.Import, ast.ImportFrom)


def _run(body: Iterable[ast.AST], *, is_lazy: bool) -> Iterator[ast.AST]:
    """The nodes of statements but for docstrings and what only type checkers read, unless it is imported lazily."""
    pending = [*body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        yield node
        is_typing = not is_lazy and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        pending += node.orelse if isinstance(node, ast.If) and is_typing else ast.iter_child_nodes(node)


def _defined(node: ast.AST) -> list[str]:
    """The names that a statement binds."""
    if isinstance(node, _IMPORTS):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    name = getattr(node, "name", None) or getattr(getattr(node, "target", None), "id", None)
    return [name] if isinstance(name, str) else []


def _behind(name: str, definitions: dict[str, ast.stmt], imported: dict[str, ast.AST]) -> list[ast.AST]:
    """The definition of a name and all that it names, imports among them."""
    found: dict[str, ast.AST] = {}
    pending = [name]
    while pending:
        one = pending.pop()
        node = definitions.get(one) or imported.get(one)
        if one not in found and node is not None:
            found[one] = node
            pending += [inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)]
            pending += [inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)]
    return list(found.values())
