"""The releases of a package that a project asks for, by its lock files, requirement files and settings.

The first file with more than the package's name decides. Versions are read and compared by `packaging`.
"""

from __future__ import annotations

import ast
import configparser
import re
import sys
from functools import cached_property, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from modellint import knowledge
from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from packaging.specifiers import SpecifierSet

    from modellint.link.linked import Linked

    _Reader = Callable[[str, str], Iterator[SpecifierSet | None]]

#: A version newer than every release.
_FUTURE = "9999"
#: Files with commands that install or run something.
TELLING = re.compile(r"(?:readme|install).*|makefile|.*\.(?:sh|bash|slurm|sbatch)", re.IGNORECASE)
#: In how many folders requirement files are searched.
_MOST_FOLDERS = 64
_PATH_BREAKS = re.compile(r"[:=<>\"'`]")
_EDITABLE = ("-e", "--editable")
_EXACT = frozenset(("==", "===", "~="))
_REVISION = re.compile(r"@v?(\d[\w.]*)(?:#|$)")
_CONDA = re.compile(r"\s*([\w.-]+)\s*(.*)")
_REQUIREMENT_FILES = re.compile(r"(?:\w+[-_])*requirements?(?:[-_]\w+)*\.(?:txt|in)")


@dataclass(frozen=True)
class Required:
    """The releases of a package that a project admits.

    `specifiers` is None for anything but a release: a revision of the repository, a fork, a submodule. `origin`
    is the file that says so.
    """

    package: str
    specifiers: SpecifierSet | None
    origin: Path

    @cached_property
    def admitted(self) -> tuple[str, ...]:
        """The releases among those that the shipped facts describe, the newest first."""
        described = knowledge.package(self.package).releases
        return tuple(filter(self._admits, described))

    @property
    def is_particular(self) -> bool:
        """True if it constrains the releases; a package that is only named may have any."""
        return self.specifiers is None or len(self.specifiers) > 0

    @property
    def is_described(self) -> bool:
        """True if it admits a described release, or one newer than the oldest of them."""
        from packaging.version import Version

        oldest = Version(knowledge.package(self.package).releases[-1]).release[:2]
        named = (*self.admitted, *(filter(self._admits, self._named_releases())), *filter(self._admits, (_FUTURE,)))
        return any(Version(release).release >= oldest for release in named)

    def admits_any(self, releases: Iterable[str]) -> bool:
        """True if it admits one of these releases."""
        return any(map(self._admits, releases))

    @property
    def named_releases(self) -> tuple[str, ...]:
        """The releases that the requirement names as such: `==1.9.4`, `~=2.1`."""
        return tuple(self._named_releases())

    @property
    def nearest(self) -> str | None:
        """The described release that is used, or the nearest before it; None for the newest."""
        from packaging.version import Version

        if self.admitted:
            return self.admitted[0]
        described = knowledge.package(self.package).releases
        newest = max(map(Version, self._named_releases()), default=None)
        if newest is None:
            return described[-1] if self.specifiers is not None and not self._admits(_FUTURE) else None
        return next((release for release in described if Version(release) <= newest), described[-1])

    def _admits(self, release: str) -> bool:
        return self.specifiers is not None and self.specifiers.contains(release, prereleases=True)

    def _named_releases(self) -> list[str]:
        """The releases that the requirement itself names."""
        specifiers = self.specifiers or ()
        return [one.version.removesuffix(".*") for one in specifiers if one.operator in _EXACT]


def required(package: str, project: Linked) -> Required | None:
    """The releases of a package that a project asks for; None if no file requires it."""

    def find() -> Required | None:
        first = None
        for one in _find_requirements(package, project):
            if one.is_particular:
                return one
            first = first or one
        return first

    return project.once(("required", package), find)


def _find_requirements(package: str, project: Linked) -> Iterator[Required]:
    for path, reader in _files(project):
        data = project.files.read(path) or b""
        if not _is_mentioned(package, data):
            continue
        for requirement in _read(reader, data.decode("utf-8", "replace"), package):
            yield Required(package, requirement, path)


def _is_mentioned(package: str, data: bytes) -> bool:
    """True if a file may have the name of a package, in which `-`, `_` and `.` are one."""
    text = data.lower()
    return package.encode() in (text.replace(b"_", b"-").replace(b".", b"-") if "-" in package else text)


def _files(project: Linked) -> Iterator[tuple[Path, _Reader]]:
    """The files that may have requirements, with their readers: in the root, then in the folders below it."""
    root = project.options.root
    names = project.files.listdir(root)
    yield from ((root / name, reader) for name, reader in _READERS.items() if name in names)
    yield from ((root / name, _requirement_lines) for name in names if _REQUIREMENT_FILES.fullmatch(name))
    yield from _listed_in(root / "requirements", re.compile(r".*\.(?:txt|in)"), project)
    yield from ((root / name, _install_commands) for name in names if TELLING.fullmatch(name))
    for name in [name for name in names if "." not in name and name != "requirements"][:_MOST_FOLDERS]:
        yield from _listed_in(root / name, _REQUIREMENT_FILES, project)


def _listed_in(folder: Path, names: re.Pattern[str], project: Linked) -> Iterator[tuple[Path, _Reader]]:
    if project.files.is_dir(folder):
        yield from (
            (folder / name, _requirement_lines) for name in project.files.listdir(folder) if names.fullmatch(name)
        )


def _read(reader: _Reader, text: str, package: str) -> Iterator[SpecifierSet | None]:
    """The requirements in a file, up to the first syntax error: other tools report that."""
    try:
        yield from reader(text, package)
    except (ValueError, KeyError, TypeError, AttributeError, SyntaxError, RecursionError, configparser.Error):
        return


# -- requirements as PEP 508 writes them ------------------------------------------------------------------------------


def _parse_requirement(line: object, package: str) -> Iterator[SpecifierSet | None]:
    """The specifiers in one requirement of the package: `speechbrain>=0.5`, `-e git+https://…@v0.5.13`."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    text = str(line).partition(" #")[0].strip()
    if text.startswith((*(f"{flag} " for flag in _EDITABLE), "git+", "http", "./", "../")):
        address = text.split(None, 1)[-1]
        if _is_of(address.lower(), package):
            yield from _revision(address)
        return
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return
    if canonicalize_name(requirement.name) == package:
        yield from _revision(requirement.url) if requirement.url else (requirement.specifier,)


def _is_of(address: str, package: str) -> bool:
    """True if the address of a folder or repository is that of a package."""
    path, _, fragment = address.partition("#")
    name = path.rstrip("/").rpartition("/")[2].partition("@")[0].removesuffix(".git")
    return package in (name, fragment.removeprefix("egg="))


def _revision(address: str) -> Iterator[SpecifierSet | None]:
    """The release that a repository's revision is named after; None for any other revision."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    named = _REVISION.search(address)
    try:
        yield None if named is None else SpecifierSet(f"=={named[1]}")
    except InvalidSpecifier:
        yield None


def _requirement_lines(text: str, package: str) -> Iterator[SpecifierSet | None]:
    for line in text.replace("\\\n", " ").splitlines():
        yield from _parse_requirement(line.partition(" --hash")[0], package)


def _install_commands(text: str, package: str) -> Iterator[SpecifierSet | None]:
    """The requirements in commands of a README or shell script: `pip install …`, or a folder in PYTHONPATH."""
    for line in text.replace("\\\n", " ").splitlines():
        _, is_install, wanted = line.partition("pip install ")
        words = [word.strip("\"'`,;()") for word in wanted.split()]
        for word, before in zip(words, ["", *words], strict=False):
            said = _parse_requirement(f"{before} {word}" if before in _EDITABLE else word, package)
            yield from (one for one in said if one is None or len(one))
        if not is_install and "PYTHONPATH" in line:
            folders = _PATH_BREAKS.sub(" ", line).split()
            yield from (None for folder in folders if folder.rstrip("/").endswith(f"/{package}"))


# -- settings of projects ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def _toml(text: str) -> dict[str, Any]:
    """The content of a file, which is read anew for each package; that of a large lock file takes a tenth of a second.

    Nobody changes it.
    """
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    found: dict[str, Any] = toml.loads(text)
    return found


def _pyproject(text: str, package: str) -> Iterator[SpecifierSet | None]:
    """PEP 621, PEP 735 and Poetry."""
    settings = _toml(text)
    project, tool = settings.get("project", {}), settings.get("tool", {})
    groups = [project.get("dependencies", []), *project.get("optional-dependencies", {}).values()]
    groups += settings.get("dependency-groups", {}).values()
    for line in (line for group in groups for line in group if isinstance(line, str)):
        yield from _parse_requirement(line, package)
    poetry = tool.get("poetry", {})
    tables = [poetry.get("dependencies", {}), poetry.get("dev-dependencies", {})]
    tables += [group.get("dependencies", {}) for group in poetry.get("group", {}).values()]
    for table in tables:
        yield from _entries(table, package)


def _pipfile(text: str, package: str) -> Iterator[SpecifierSet | None]:
    settings = _toml(text)
    for table in (settings.get("packages", {}), settings.get("dev-packages", {})):
        yield from _entries(table, package)


def _entries(table: dict[str, Any], package: str) -> Iterator[SpecifierSet | None]:
    """The requirements in a table from names to versions, to tables with a version or address, or to lists of these."""
    from packaging.utils import canonicalize_name

    for name, said in table.items():
        if canonicalize_name(name) != package:
            continue
        for one in said if isinstance(said, list) else [said]:
            version = one.get("version") if isinstance(one, dict) else one
            if version is not None:
                yield _constraint(str(version))
            elif "git" in one:
                yield from _revision(f"{one['git']}@{one.get('tag') or one.get('rev') or one.get('branch') or ''}")
            else:
                yield None  # a folder, a file


def _constraint(text: str) -> SpecifierSet:
    """Poetry's constraints: those of PEP 440, carets and tildes, and a version alone, which is meant exactly."""
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    parts: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        if part in ("", "*"):
            continue
        if part[0] == "^" or (part[0] == "~" and part[1:2] != "="):
            release = Version(part[1:].strip()).release
            first = next((at for at, number in enumerate(release) if number), len(release) - 1)
            at = first if part[0] == "^" else min(1, len(release) - 1)
            above = (*release[:at], release[at] + 1)
            parts += [f">={part[1:].strip()}", f"<{'.'.join(map(str, above))}"]
        else:
            parts.append(part if part[0] in "<>=!~" else f"=={part}")
    return SpecifierSet(",".join(parts))


def _setup_cfg(text: str, package: str) -> Iterator[SpecifierSet | None]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    options = parser["options"] if parser.has_section("options") else {}
    groups = [options.get("install_requires", "")]
    groups += parser["options.extras_require"].values() if parser.has_section("options.extras_require") else []
    for line in (line for group in groups for line in group.splitlines()):
        yield from _parse_requirement(line, package)


def _setup_py(text: str, package: str) -> Iterator[SpecifierSet | None]:
    """The strings of a `setup.py` that are requirements of the package, wherever they stand."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != package:
            yield from _parse_requirement(node.value, package)


def _conda(text: str, package: str) -> Iterator[SpecifierSet | None]:
    """The requirements in a conda environment, pip's included; `name=1.2` admits releases that begin so."""
    import yaml
    from packaging.specifiers import SpecifierSet
    from packaging.utils import canonicalize_name

    for entry in yaml.safe_load(text).get("dependencies", []):
        if isinstance(entry, dict):
            for line in entry.get("pip", []):
                yield from _parse_requirement(line, package)
            continue
        parts = _CONDA.fullmatch(str(entry).rpartition("::")[2])
        if parts is not None and canonicalize_name(parts[1]) == package:
            version = parts[2].strip()
            if version[:1] == "=" and version[:2] != "==":
                version = f"=={version[1:].partition('=')[0].removesuffix('.*')}.*"
            yield SpecifierSet(version)


# -- installed releases -----------------------------------------------------------------------------------------------


def _lock_file(text: str, package: str) -> Iterator[SpecifierSet | None]:
    """The locked versions of Poetry, uv and PDM."""
    from packaging.specifiers import SpecifierSet

    for entry in _toml(text).get("package", []):
        if entry.get("name") == package:
            yield SpecifierSet(f"=={entry['version']}")


def _pipfile_lock(text: str, package: str) -> Iterator[SpecifierSet | None]:
    import json

    locked = json.loads(text)
    for table in (locked.get("default", {}), locked.get("develop", {})):
        yield from _entries(table, package)


def _submodules(text: str, package: str) -> Iterator[SpecifierSet | None]:
    """None for a git submodule of the package: only the repository knows its revision."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE))
    for section in parser.values():
        if section.get("url", "").removesuffix(".git").rpartition("/")[2].lower() == package:
            yield None


#: The files with requirements, the most exact ones first.
_READERS: dict[str, _Reader] = {
    ".gitmodules": _submodules,
    "poetry.lock": _lock_file,
    "uv.lock": _lock_file,
    "pdm.lock": _lock_file,
    "Pipfile.lock": _pipfile_lock,
    "pyproject.toml": _pyproject,
    "Pipfile": _pipfile,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    "environment.yml": _conda,
    "environment.yaml": _conda,
}
