"""Settings: `[tool.modellint]` in pyproject.toml, or modellint.toml, and what the command line says on top.

The configuration is the nearest one upward from the common folder of the paths that are checked. Keys and values
are checked as they are read: whatever is not understood is refused, with the file, the line and the nearest name.

Begin with `keys.py`, which has a row for each key.
It imports `reading/`, `results/`.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.config.errors import UsageError as UsageError
from modellint.config.errors import nearest
from modellint.reading.sizes import DEFAULT_LIMIT, EXPECTED, PATTERN, parse_size
from modellint.results.levels import Confidence, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from modellint.config.confirming import ConfirmSettings

#: Names of folders and files that are never walked into.
DEFAULT_EXCLUDES = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".hg",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".modellint_cache",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)
#: The files in folders that are checked by default.
DEFAULT_INCLUDES = ("*.py", "*.pyi", "*.yaml", "*.yml", "*.ipynb")
OUTPUT_FORMATS = (
    "full",
    "concise",
    "json",
    "json-lines",
    "azure",
    "github",
    "gitlab",
    "junit",
    "markdown",
    "pylint",
    "rdjson",
    "sarif",
)
#: Settings that extend the settings below them, rather than replace them.
_ADDING = (
    "extend_select",
    "ignore",
    "extend_per_file_ignores",
    "extend_fixable",
    "unfixable",
    "extend_include",
    "extend_exclude",
)
_ROOT_MARKS = (".git", "pyproject.toml", "modellint.toml", ".hg", "setup.py", "setup.cfg")


@dataclass(frozen=True)
class Settings:
    """Everything that decides what is checked and how it is shown.

    `root` is the project's folder: patterns and the cache are relative to it. `origins` says where a setting came
    from (`pyproject.toml:12: \\`select\\`` or `--select`), for errors that are found later.
    """

    root: Path
    source: Path | None = None
    extend: Path | None = None
    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    extend_per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    preview: bool = False
    explicit_preview_rules: bool = False
    fix: bool = False
    unsafe_fixes: bool = False
    show_fixes: bool = False
    fixable: tuple[str, ...] = ("ALL",)
    extend_fixable: tuple[str, ...] = ()
    unfixable: tuple[str, ...] = ()
    include: tuple[str, ...] = DEFAULT_INCLUDES
    extend_include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDES
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    min_confidence: Confidence = Confidence.MEDIUM
    fail_on: Severity = Severity.WARNING
    output_format: str = "full"
    python: Path | None = None
    recipes: tuple[tuple[str, str], ...] = ()
    rule_paths: tuple[Path, ...] = ()
    cache_dir: Path | None = None
    index_dir: Path | None = None
    baseline: Path | None = None
    jobs: int | None = None
    max_file_size: int = DEFAULT_LIMIT
    confirm: ConfirmSettings | None = None
    #: True if findings that comments silence are shown.
    show_ignored: bool = False
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def cache_folder(self) -> Path:
        return self.cache_dir or self.root / ".modellint_cache"

    @property
    def index_folder(self) -> Path | None:
        """The folder of the index of installed packages, which projects share; None without a home folder."""
        return self.index_dir or _user_cache()

    @property
    def includes(self) -> tuple[str, ...]:
        """The patterns of the files that are looked at in folders."""
        return self.include + self.extend_include

    def with_options(self, **options: Any) -> Settings:
        """These settings with those of the command line on top; None means "not given".

        `select` replaces what the configuration selects and ignores, `fixable` what it says of fixes, and
        `per-file-ignores` its own; the other lists of codes and patterns add, also to `exclude`.
        """
        given = {key: value for key, value in options.items() if value is not None}
        return self.on_top(_leaving_out(given), {key: f"--{key.replace('_', '-')}" for key in given})

    def with_table(self, table: Any, whose: str) -> Settings:
        """These settings with those of another table on top, as options of the command line would be.

        `table` has the keys of a configuration file, and `whose` is what errors name. Raises UsageError.
        """
        given = _Reader(self.root / whose, whose, None, "").values(table)
        if "extend" in given:
            raise UsageError(f"{whose}: `extend` leads from file to file; expected it in a configuration file")
        return self.on_top(_leaving_out(given), {key: f"{whose}: `{key.replace('_', '-')}`" for key in given})

    def with_text(self, text: str, whose: str) -> Settings:
        """These settings with others on top that are written as in a configuration file. Raises UsageError."""
        try:
            table = _parse_toml(text)
        except (ValueError, RecursionError):
            said = f"{text!r} is neither a file nor a setting"
            raise UsageError(f'{whose}: {said}; expected a path, or TOML such as `fail-on = "error"`') from None
        return self.with_table(table, whose)

    def on_top(self, given: dict[str, Any], origins: Mapping[str, str]) -> Settings:
        """These settings with others on top: lists that extend add to what is there, all else replaces it."""
        base = replace(self, extend_select=(), ignore=()) if "select" in given else self
        base = replace(base, extend_fixable=(), unfixable=()) if "fixable" in given else base
        added = {key: getattr(base, key) + given[key] for key in _ADDING if key in given}
        return replace(base, origins={**self.origins, **origins}, **{**given, **added})


def _leaving_out(given: dict[str, Any]) -> dict[str, Any]:
    """Settings whose `exclude` adds to what is left out."""
    if "exclude" not in given:
        return given
    rest = {key: value for key, value in given.items() if key != "exclude"}
    return {**rest, "extend_exclude": given.get("extend_exclude", ()) + given["exclude"]}


def settings_for(paths: Iterable[Path], config: Path | None = None, *, isolated: bool = False) -> Settings:
    """The settings for checking `paths`: from `config`, or from the nearest configuration upward."""
    start = _common_folder(paths)
    if isolated and config is not None:
        raise UsageError(f"--isolated uses no configuration file; expected it, or `--config {config}`, but not both")
    if isolated:
        return Settings(_project_root(start))
    if config is not None:
        if not os.path.isfile(config):
            raise UsageError(f"{config}: no such configuration file")
        return _load(Path(os.path.abspath(config)), must_configure=True) or Settings(config.parent)
    for folder in (start, *start.parents):
        for name in ("modellint.toml", "pyproject.toml"):
            candidate = folder / name
            if os.path.isfile(candidate) and (settings := _load(candidate)) is not None:
                return settings
    return Settings(_project_root(start))


def _common_folder(paths: Iterable[Path]) -> Path:
    absolute = [os.path.abspath(path) for path in paths]
    if not absolute:
        return Path.cwd()
    try:
        common = Path(os.path.commonpath(absolute))
    except ValueError:  # different drives
        return Path.cwd()
    return common if os.path.isdir(common) else common.parent


def _project_root(start: Path) -> Path:
    for folder in (start, *start.parents):
        if any(os.path.exists(folder / mark) for mark in _ROOT_MARKS):
            return folder
    cwd = Path.cwd()
    return cwd if start == cwd or (start.is_relative_to(cwd) and _is_searched(cwd)) else start


def _is_searched(folder: Path) -> bool:
    """True if a folder has few enough files for rules to search it for those that belong together."""
    from modellint.reading.files import Files
    from modellint.reading.mentioning import MAX_FILES, found_below

    return len(found_below(Files(), folder, (".py",))) <= MAX_FILES


def _load(path: Path, *, must_configure: bool = False, extending: tuple[Path, ...] = ()) -> Settings | None:
    """The settings in a configuration file; None if it is a pyproject.toml that does not configure modellint.

    `extending` are the files that lead here, each of which extends the next.
    """
    from modellint.reading.files import read_file  # which takes longer than all else here, and not each start needs it

    shown = _path_text(path)
    try:
        data = read_file(path)
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x} at offset {error.start}"
        raise UsageError(f"{shown}: not valid TOML: {byte} is not valid UTF-8; expected text in UTF-8") from None
    except OSError as error:
        raise UsageError(f"{shown}: cannot be read: {error.strerror}") from None
    is_pyproject = path.name == "pyproject.toml"
    if is_pyproject and "modellint" not in text and "\0" not in text and not must_configure:  # NUL: it is no text
        return None
    try:
        document = _parse_toml(text)
    except RecursionError:
        raise UsageError(f"{shown}: not valid TOML: nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{shown}: not valid TOML: {error}") from None
    section = "tool.modellint" if is_pyproject else ""
    table: Any = document
    if is_pyproject:
        tool = document.get("tool")
        table = tool.get("modellint") if isinstance(tool, dict) else None
        if table is None:
            return Settings(path.parent, source=path) if must_configure else None
    return _Reader(path, shown, text, section).settings(table, extending)


def _parse_toml(text: str) -> dict[str, Any]:
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    document: dict[str, Any] = toml.loads(text)
    return document


def _path_text(path: Path) -> str:
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


@dataclass(frozen=True)
class _Reader:
    """Turns the tables of one configuration file into settings, refusing what it does not know."""

    path: Path
    shown: str
    #: None for a source of settings without lines, such as an editor.
    text: str | None
    section: str

    def settings(self, table: Any, extending: tuple[Path, ...] = ()) -> Settings:
        values = self.values(table)
        origins = {key: f"{self.where(key.replace('_', '-'))}: `{key.replace('_', '-')}`" for key in values}
        base = (
            self._base_settings(values["extend"], (*extending, self.path))
            if "extend" in values
            else Settings(self.root)
        )
        return replace(base, root=self.root, source=self.path).on_top(values, origins)

    @property
    def root(self) -> Path:
        return self.path.parent

    def _base_settings(self, file: Path, extending: tuple[Path, ...]) -> Settings:
        """The settings that those here extend."""
        if not os.path.isfile(file):
            raise UsageError(f"{self.where('extend')}: `extend`: {_path_text(file)}: no such configuration file")
        if file in extending:
            raise UsageError(f"{self.where('extend')}: `extend`: {_path_text(file)} extends itself")
        return _load(file, must_configure=True, extending=extending) or Settings(self.root)

    def values(self, table: Any) -> dict[str, Any]:
        """The values in a table, by the names of the settings."""
        if not isinstance(table, dict):
            raise UsageError(f"{self.shown}: `{self.section}` must be a table")
        values: dict[str, Any] = {}
        for key, value in table.items():
            kind = KINDS.get(key)
            if kind is None:
                where = self.where(key)
                raise UsageError(f"{where}: unknown key `{key}`{nearest(key, KINDS, _one_of(KINDS))}")
            values[key.replace("-", "_")] = kind.read(self, key, value)
        return values

    def where(self, key: str, table: str = "") -> str:
        if self.text is None:
            return self.shown
        return f"{self.shown}:{self._line(self.text, key, '.'.join(filter(None, (self.section, table))))}"

    def refuse(self, key: str, expected: str, value: Any) -> UsageError:
        return UsageError(f"{self.where(key)}: `{key}` must be {expected}, not {_value_text(value)}")

    @staticmethod
    def _line(text: str, key: str, section: str) -> int:
        """The line of `key` in `section`; TOML parsers keep no places, so this is read off the text."""
        current, fallback = "", 1
        name = re.compile(rf"""["']?{re.escape(key)}["']?\s*[.=]""")
        full = f"{section}.{key}" if section else key
        for number, line in enumerate(text.split("\n"), 1):
            header = re.match(r"\s*\[+([^\[\]]+)\]+\s*(#.*)?$", line)
            if header:
                current = re.sub(r"[\s\"']", "", header[1])
                if current == full or current.startswith(f"{full}."):
                    return number
                if current == section:
                    fallback = number
            elif current == section and name.match(line.strip()):
                return number
        return fallback

    def strings(self, key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.refuse(key, "a list of strings", _other_than_text(value))
        return tuple(value)

    def string(self, key: str, value: Any) -> str:
        if not isinstance(value, str):
            raise self.refuse(key, "a string", value)
        return value

    def file(self, key: str, value: Any) -> Path:
        path = self.string(key, value)
        if not path or "\0" in path:
            raise self.refuse(key, "a path", value)
        return Path(os.path.abspath(self.path.parent / path))

    def folder(self, key: str, value: Any) -> Path:
        path = self.file(key, value)
        if path.is_file():
            raise UsageError(f"{self.where(key)}: `{key}` must be a folder, but `{value}` is a file")
        return path

    def files(self, key: str, value: Any) -> tuple[Path, ...]:
        return tuple(self.file(key, item) for item in self.strings(key, value))

    def count(self, key: str, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.refuse(key, "a whole number from 1 up", value)
        return value

    def size(self, key: str, value: Any) -> int:
        try:
            return parse_size(value)
        except ValueError:
            raise self.refuse(key, EXPECTED, value) from None

    def choice(self, key: str, value: Any, choices: Iterable[str]) -> str:
        choices = list(choices)
        if not isinstance(value, str) or value not in choices:
            hint = nearest(value, choices, "") if isinstance(value, str) else ""
            expected = f"one of {', '.join(map(repr, choices))}"
            raise UsageError(f"{self.where(key)}: `{key}` must be {expected}, not {_value_text(value)}{hint}")
        return value

    def table(self, key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.refuse(key, "a table", value)
        return value

    def code_lists(self, key: str, value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
        entries = self.table(key, value)
        for codes in entries.values():
            if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
                raise self.refuse(key, "a table from a pattern to a list of codes", _other_than_text(codes))
        return tuple((pattern, tuple(codes)) for pattern, codes in entries.items())

    def severities(self, key: str, value: Any) -> tuple[tuple[str, Severity], ...]:
        entries, names = self.table(key, value), [level.value for level in Severity]
        for severity in entries.values():
            if severity not in names:
                raise self.refuse(key, f"a table from a code to one of {', '.join(map(repr, names))}", severity)
        return tuple((code, Severity(severity)) for code, severity in entries.items())

    def switch(self, key: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self.refuse(key, "true or false", value)
        return value

    def pairs(self, key: str, value: Any) -> tuple[tuple[str, str], ...]:
        entries = self.table(key, value)
        for script in entries.values():
            if not isinstance(script, str):
                raise self.refuse(key, "a table from a recipe (or a pattern) to its script", script)
        return tuple(entries.items())

    def confirm(self, key: str, value: Any) -> ConfirmSettings:
        from modellint.config.confirming import read_confirm

        return read_confirm(self.table(key, value), f"{self.where(key)}: `{key}`")


@dataclass(frozen=True)
class Kind:
    """How a value is read, and the JSON schema of what is accepted."""

    read: Callable[[_Reader, str, Any], Any]
    schema: Mapping[str, Any]


def _choice(choices: Iterable[str], make: Callable[[str], Any]) -> Kind:
    names = list(choices)
    return Kind(lambda reader, key, value: make(reader.choice(key, value, names)), {"enum": names})


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
#: A name that files can have.
_PATH = {"type": "string", "pattern": "^[^\\u0000]+$"}
_STRINGS = Kind(_Reader.strings, _TEXTS)
_FILE = Kind(_Reader.file, _PATH)
_FOLDER = Kind(_Reader.folder, _PATH)
_FILES = Kind(_Reader.files, {"type": "array", "items": _PATH})
_COUNT = Kind(_Reader.count, {"type": "integer", "minimum": 1})
_SIZE = Kind(_Reader.size, {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": PATTERN}]})
_CONFIRM = Kind(_Reader.confirm, {"type": "object"})
_CODE_LISTS = Kind(_Reader.code_lists, {"type": "object", "additionalProperties": _TEXTS})
_SWITCH = Kind(_Reader.switch, {"type": "boolean"})
_SEVERITIES = Kind(
    _Reader.severities,
    {"type": "object", "additionalProperties": {"enum": [level.value for level in Severity]}},
)
_PAIRS = Kind(_Reader.pairs, {"type": "object", "additionalProperties": _TEXT})
#: Every key, with how it is read.
KINDS: Mapping[str, Kind] = {
    "extend": _FILE,
    "select": _STRINGS,
    "extend-select": _STRINGS,
    "ignore": _STRINGS,
    "per-file-ignores": _CODE_LISTS,
    "extend-per-file-ignores": _CODE_LISTS,
    "severity": _SEVERITIES,
    "preview": _SWITCH,
    "explicit-preview-rules": _SWITCH,
    "fix": _SWITCH,
    "unsafe-fixes": _SWITCH,
    "show-fixes": _SWITCH,
    "fixable": _STRINGS,
    "extend-fixable": _STRINGS,
    "unfixable": _STRINGS,
    "include": _STRINGS,
    "extend-include": _STRINGS,
    "exclude": _STRINGS,
    "extend-exclude": _STRINGS,
    "force-exclude": _SWITCH,
    "respect-gitignore": _SWITCH,
    "min-confidence": _choice([level.value for level in Confidence], Confidence),
    "fail-on": _choice([level.value for level in Severity], Severity),
    "output-format": _choice(OUTPUT_FORMATS, str),
    "python": _FILE,
    "recipes": _PAIRS,
    "rule-paths": _FILES,
    "cache-dir": _FOLDER,
    "index-dir": _FOLDER,
    "baseline": _FILE,
    "jobs": _COUNT,
    "max-file-size": _SIZE,
    "confirm": _CONFIRM,
}


def _user_cache() -> Path | None:
    """The folder in which the system wants the caches of a user's programs; None without a home folder.

    Sources: the XDG Base Directory Specification; Apple's File System Programming Guide; Microsoft's KNOWNFOLDERID.
    """
    asked = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "")
    if os.path.isabs(asked):
        return Path(asked, "modellint")
    try:
        return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "modellint"
    except RuntimeError:
        return None


def _one_of(names: Iterable[str]) -> str:
    return f"; expected one of {', '.join(f'`{name}`' for name in names)}"


def _other_than_text(value: Any) -> Any:
    """The part of a value that makes it no list of strings: its first item that is none, or all of it."""
    return next((item for item in value if not isinstance(item, str)), value) if isinstance(value, list) else value


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, (str, int, float)):
        return f"the {'string' if isinstance(value, str) else 'number'} {value!r}"
    return "a table" if isinstance(value, dict) else f"a {type(value).__name__}"
