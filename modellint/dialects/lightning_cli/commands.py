"""Command lines in the files of a project that run a program with configurations: in pages and shell scripts."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.link.requirements import TELLING
from modellint.link.searched import files_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.link.project import Project

#: The endings of files that show command lines; others do by their names (`Makefile`).
_SHOWING = (
    ".md",
    ".rst",
    ".sh",
    ".bash",
    ".slurm",
    ".sbatch",
    ".txt",
    ".toml",
    ".cfg",
    ".yml",
    ".yaml",
    "akefile",
    "ustfile",
)
_YAML = (".yaml", ".yml")
_FOLDERS = (".github/workflows", ".vscode", ".circleci")
#: What a configuration's option looks like, before it is compared with those of a program.
_OPTION = re.compile(r"--?[A-Za-z][\w.-]*")
_WORD = re.compile(r"""[^\s"'`,;()|&]+""")
_MODULE = "-m"
#: A page that is longer than this shows no command lines.
_LARGEST = 400_000


@dataclass(frozen=True, slots=True)
class Command:
    """A line that names configurations by options.

    `words` are the words before the first option, `files` the configurations in order, each with its option, `options`
    the names of all options and `folder` the folder of the file that shows it.
    """

    words: tuple[str, ...]
    files: tuple[tuple[str, str], ...]
    options: tuple[str, ...]
    folder: Path
    shown_in: str

    def paths(self, script: Path, project: Project) -> list[tuple[str, Path]]:
        """The configurations that exist, each with its option, in the folders that the line may be run in."""
        bases = dict.fromkeys((project.options.root, self.folder, script.parent, *script.parents[1:3]))
        found = []
        for option, name in self.files:
            paths = (Path(os.path.normpath(base / name)) for base in bases)
            path = next((one for one in paths if project.files.exists(one)), None)
            if path is not None:
                found.append((option, path))
        return found

    def runs(self, script: Path, project: Project) -> bool:
        """True if the line runs a script: by its path, as a module, or as a console script of the project."""
        dotted = ".".join(script.with_suffix("").parts)
        for before, word in zip(("", *self.words), self.words, strict=False):
            if word.endswith(".py"):
                return Path(word).name == script.name
            if before == _MODULE:
                return dotted == word or dotted.endswith((f".{word}", f".{word}.__main__"))
        consoles = project.once(("console scripts",), lambda: _console_scripts(project))
        for word in self.words:
            module = consoles.get(word)
            if module is not None:
                return f".{dotted}".endswith((f".{module}", f".{module}.__main__", f".{module}.__init__"))
        return False

    @property
    def has_runner(self) -> bool:
        """True if the line says what it runs."""
        return any(word.endswith(".py") or word == _MODULE for word in self.words)


def commands(project: Project) -> Mapping[str, tuple[Command, ...]]:
    """The commands in a project by the names of the configurations that they name."""

    def find() -> Mapping[str, tuple[Command, ...]]:
        found: dict[str, dict[Command, None]] = {}
        for path in _showing(project):
            data = project.files.read(path) or b""
            if len(data) > _LARGEST or (b".yaml" not in data and b".yml" not in data):
                continue
            if path.suffix in _YAML and b".py" not in data and b" -m " not in data:
                continue
            for command in _commands_in(data.decode("utf-8", "replace"), path):
                for _, name in command.files:
                    found.setdefault(name.rpartition("/")[2], {})[command] = None
        return {name: tuple(one) for name, one in found.items()}

    return project.once(("cli commands",), find)


def _showing(project: Project) -> Iterator[Path]:
    root = project.options.root
    for path in files_below(project, root, _SHOWING):
        is_workflow = path.suffix not in _YAML or path.name.startswith(".gitlab")
        if is_workflow or TELLING.fullmatch(path.name):
            yield path
    for folder in _FOLDERS:
        for name in project.files.listdir(root / folder):
            if name.endswith((*_YAML, ".json")):
                yield root / folder / name


def _commands_in(text: str, path: Path) -> Iterator[Command]:
    for line in re.sub(r"[\\^]\r?\n", " ", text).splitlines():
        if ".yaml" not in line and ".yml" not in line:
            continue
        words = _WORD.findall(line)
        first = next(
            (at for at, word in enumerate(words) if _OPTION.fullmatch(word.partition("=")[0]) and word != _MODULE), None
        )
        if first is None:
            continue
        named, options = [], []
        subcommands = []
        for at in range(first, len(words)):
            option, equals, value = words[at].partition("=")
            if not _OPTION.fullmatch(option):
                before = words[at - 1]
                if not _OPTION.fullmatch(before):
                    subcommands.append(words[at])
                continue
            options.append(option)
            follows = value if equals else (words[at + 1] if at + 1 < len(words) else "")
            if follows.endswith(_YAML):
                named.append((option, follows))
        if named:
            yield Command((*words[:first], *subcommands), tuple(named), tuple(options), path.parent, path.name)


def _console_scripts(project: Project) -> dict[str, str]:
    """The modules that the console scripts of the project run, by the names of the scripts."""
    found: dict[str, str] = {}
    root = project.options.root
    for name in ("pyproject.toml", "setup.cfg", "setup.py"):
        text = (project.files.read(root / name) or b"").decode("utf-8", "replace")
        for script, module in re.findall(r"""["']?([\w.-]+)["']?\s*=\s*["']?([\w.]+):[\w.]+""", text):
            found.setdefault(script, module)
    return found
