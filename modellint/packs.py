"""Packs of rules: found through the entry points of installed packages and through `rule-paths`.

An entry point of the group `modellint.rules` names a module whose `RULES` lists rule classes. The built-in rules
are reached in no other way.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from modellint import operators
from modellint.config.errors import UsageError, closest, closest_code, nearest
from modellint.finding import Severity
from modellint.flow.queries.names import QUERIES
from modellint.graph.immutable import dataclass
from modellint.home import BUILT_IN
from modellint.link.recipes.queries.names import RECIPE_QUERIES
from modellint.reading.example_folders import EXAMPLES, TITLES, folder_of, is_rule_folder
from modellint.reading.paths import shown
from modellint.results.failures import RAISED
from modellint.rule import ENTRY_POINT_GROUP, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

    from modellint.config import Settings
    from modellint.flow.pack_theories import PackTheory
    from modellint.flow.theory import Theory
    from modellint.operators.properties import Property

T = TypeVar("T")
_CODE = re.compile(r"[A-Z]+[0-9]+\Z")
ALL = "ALL"
_QUERIES = tuple(sorted({*QUERIES, *RECIPE_QUERIES}))


@dataclass(frozen=True)
class RuleSet:
    """All available rules, by code, and the codes that the settings select."""

    rules: Mapping[str, Rule]
    selected: frozenset[str]

    @cached_property
    def codes(self) -> frozenset[str]:
        return frozenset(self.rules)

    @cached_property
    def operators(self) -> tuple[str, ...]:
        """The rows that rules, selected or not, add to the table of operators."""
        return _rows(self.rules)

    @cached_property
    def theories(self) -> tuple[PackTheory, ...]:
        """The theories of selected rules, without duplicates."""
        return tuple({kind: made for rule in self.active for kind, made in _theories_of(rule)}.values())

    @cached_property
    def properties(self) -> tuple[Property, ...]:
        """The properties that selected rules give tensors, without duplicates."""
        return _properties(self.active)

    @cached_property
    def are_built_in(self) -> bool:
        """True if all selected rules are built in."""
        return all(type(rule).__module__.partition(".")[0] == BUILT_IN for rule in self.active)

    @cached_property
    def active(self) -> tuple[Rule, ...]:
        return tuple(rule for code, rule in self.rules.items() if code in self.selected)


def load_rules(rule_paths: Iterable[Path] = ()) -> dict[str, Rule]:
    """The rules of every installed pack and of the folders and files in `rule_paths`, sorted by code."""
    rules: dict[str, Rule] = {}
    by_module: dict[str, type[Rule]] = {}
    for origin, classes in _packs(rule_paths):
        for cls in classes:
            _check(cls, origin)
            twin = by_module.setdefault(cls.__module__, cls)
            if twin is not cls and folder_of(cls) is not None:
                raise UsageError(f"{origin}: {twin.code} and {cls.code} in one folder; expected one, with its examples")
            if cls.code in rules and type(rules[cls.code]) is not cls:
                raise UsageError(f"{origin}: the code `{cls.code}` is already taken by `{rules[cls.code].name}`")
            try:
                rules[cls.code] = cls()
            except RAISED as error:
                raise UsageError(f"{origin}: {cls.code} cannot be made: {type(error).__name__}: {error}") from error
            rules[cls.code].pack = origin
            if cls.theories:
                _check_theories(cls, origin)
            if cls.operators:
                _check_operators(cls, _rows(rules), origin)
            if cls.properties:
                _check_properties(cls, _properties(rules.values()), origin)
    return dict(sorted(rules.items()))


def select_rules(settings: Settings) -> RuleSet:
    """All rules, with those that the settings select.

    Selectors are codes, their prefixes (`ML2`) and `ALL`; the longest one that fits a rule decides, and between equals
    `ignore` wins. Rules about unreadable files are selected unless they are ignored. Rules on trial are selected with
    `preview` only, and with `explicit-preview-rules` by their whole codes only. Raises UsageError for selectors that
    fit no rule.
    """
    rules = load_rules(settings.rule_paths)
    for key in ("select", "extend_select", "ignore", "fixable", "extend_fixable", "unfixable"):
        check_codes(getattr(settings, key), rules, settings.origins.get(key, key))
    check_codes([code for code, _ in settings.severity], rules, settings.origins.get("severity", "severity"))
    for key in ("per_file_ignores", "extend_per_file_ignores"):
        for _, codes in getattr(settings, key):
            check_codes(codes, rules, settings.origins.get(key, key.replace("_", "-")))
    selected = set()
    for code, rule in rules.items():
        wanted = max(fit(code, settings.select), fit(code, settings.extend_select))
        if type(rule).check_unreadable is not Rule.check_unreadable:
            wanted = max(wanted, 0)
        if rule.preview and not settings.preview:
            _check_on_trial(rule, settings)
        elif rule.preview and settings.explicit_preview_rules and code not in settings.select + settings.extend_select:
            continue
        elif wanted > fit(code, settings.ignore):
            selected.add(code)
    return RuleSet(rules, frozenset(selected))


def _check_on_trial(rule: Rule, settings: Settings) -> None:
    """Raise UsageError if a rule on trial is selected by its code without `preview`."""
    for key in ("select", "extend_select"):
        if rule.code in getattr(settings, key):
            origin = settings.origins.get(key, key)
            raise UsageError(f"{origin}: {rule.code} is on trial; expected `--preview`, or `preview = true`, with it")


def check_codes(selectors: Iterable[str], rules: Mapping[str, Rule], origin: str) -> None:
    """Raise UsageError for a selector that fits no rule, with the nearest code."""
    for selector in selectors:
        if not any(_fit(code, selector) >= 0 for code in rules):
            raise UsageError(f"{origin}: no rule has the code `{selector}`{meant(selector, rules)}")


def meant(text: str, rules: Mapping[str, Rule]) -> str:
    """A hint for an unknown code: `; did you mean …?` with the rule of the nearest code or name, or where to look."""
    names = {rule.name: code for code, rule in rules.items()}
    name = closest(text.lower(), names)
    if name is not None:
        return f"; did you mean `{names[name]}` (`{name}`)?"
    code = closest_code(text, rules)
    return f"; did you mean `{code}`?" if code is not None else "; `modellint rules` lists the codes"


def fits(code: str, selectors: Iterable[str]) -> bool:
    """True if one of `selectors` fits `code`."""
    return fit(code, selectors) >= 0


def fit(code: str, selectors: Iterable[str]) -> int:
    """The length of the longest of `selectors` that fits a code; 0 for `ALL`, -1 if none fits."""
    return max((_fit(code, selector) for selector in selectors), default=-1)


def best_match(code: str, table: Sequence[tuple[str, T]]) -> T | None:
    """The value in a table of the longest selector that fits a code (the last of equal ones); None if none fits."""
    best = max(((_fit(code, selector), number) for number, (selector, _) in enumerate(table)), default=(-1, 0))
    return table[best[1]][1] if best[0] >= 0 else None


def _fit(code: str, selector: str) -> int:
    """The length of a selector that fits a code; 0 for `ALL`, -1 if it doesn't fit."""
    if selector == ALL:
        return 0
    return len(selector) if selector and code.startswith(selector) else -1


def is_code(text: str) -> bool:
    """True if a text has the form of a code: capital letters, then digits."""
    return _CODE.match(text) is not None


def pack_files(rule_paths: Iterable[Path]) -> Iterator[Path]:
    """The files that all rules come from, found without importing them."""
    for _, module in _entry_points():
        spec = importlib.util.find_spec(module.partition(":")[0])
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            yield from _modules_in(Path(folder))
        if spec and spec.origin and not spec.submodule_search_locations:
            yield Path(spec.origin)
    for path in rule_paths:
        for source in _sources_of(path):
            yield from _modules_in(source) if os.path.isdir(source) else (source,)


def _modules_in(package: Path) -> Iterator[Path]:
    """The modules of a package and of its subpackages, without the examples of rules."""
    with os.scandir(package) as scan:
        entries = sorted(scan, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name.endswith(".py"):
            yield Path(entry.path)
        elif entry.name not in EXAMPLES and os.path.isfile(os.path.join(entry.path, "__init__.py")):
            yield from _modules_in(Path(entry.path))


def rules_at(path: Path) -> tuple[dict[str, Rule], list[Rule]]:
    """All rules, and those whose source is `path` or lies below it; their pack need not be installed.

    Raises UsageError if there is nothing at `path`, or no rule.
    """
    if not os.path.exists(path):
        raise UsageError(f"{path}: no such file or folder")
    for paths in ((), (path,)):
        rules = load_rules(paths)
        own = [rule for rule in rules.values() if _source_of(rule).is_relative_to(path.resolve())]
        if own:
            return rules, own
    raise UsageError(f"{path}: no rules; expected classes that derive from `modellint.rule.Rule` and have a `code`")


def _source_of(rule: Rule) -> Path:
    return Path(inspect.getfile(type(rule))).resolve()


def _sources_of(path: Path) -> list[Path]:
    """The files and folders of the rules at a path: the path itself, or those in it."""
    if path.name == "__init__.py" and is_rule_folder(path.parent):
        return [path.parent]
    if os.path.isfile(path) or is_rule_folder(path):
        return [path]
    return sorted([*filter(os.path.isfile, path.glob("*.py")), *filter(is_rule_folder, path.glob("*"))])


def _packs(rule_paths: Iterable[Path]) -> Iterator[tuple[str, Sequence[type[Rule]]]]:
    for name, value in _entry_points():
        origin = f"rule pack `{name}` ({value})"
        module_name, _, attribute = value.partition(":")
        try:
            module = importlib.import_module(module_name)
            offered = getattr(module, attribute or "RULES")
            yield origin, tuple(offered() if callable(offered) else offered)
        except RAISED as error:
            raise UsageError(f"{origin} cannot be loaded: {type(error).__name__}: {error}{_hint(error)}") from error
    for folder in rule_paths:
        if not os.path.exists(folder):
            raise UsageError(f"`rule-paths`: {folder}: no such folder")
        for path in _sources_of(folder):
            rules = rules_in(_load(path))
            if not rules and os.path.isdir(path):
                raise UsageError(f"{shown(path)}: no rule; expected one in its `__init__.py`, as it has {TITLES}")
            yield shown(path), rules


def rules_in(module: ModuleType) -> tuple[type[Rule], ...]:
    """The rules that a module defines (not those that it imports)."""
    return tuple(
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Rule)
        and value.__module__ == module.__name__
        and hasattr(value, "code")
    )


def _load(path: Path) -> ModuleType:
    """The module of a file, or of a folder that is a rule."""
    name = f"modellint_rule_path_{crc32(os.fsencode(path)):x}_{path.stem}"
    if os.path.isdir(path):
        for inner in [other for other in sys.modules if other.startswith(f"{name}.")]:
            del sys.modules[inner]  # loaded before, perhaps from other text
        folder = os.path.abspath(path)
        source = os.path.join(folder, "__init__.py")
        spec = importlib.util.spec_from_file_location(name, source, submodule_search_locations=[folder])
    else:
        spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{shown(path)}: not a Python file; expected rules")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except RAISED as error:
        raise UsageError(f"{shown(path)}: cannot be loaded: {type(error).__name__}: {error}{_hint(error)}") from error
    return module


def _hint(error: BaseException) -> str:
    """The nearest name, where a rule imports one that a package of modellint does not offer."""
    module = sys.modules.get(error.name or "") if isinstance(error, ImportError) else None
    name = re.search(r"cannot import name '(\w+)'", str(error))
    try:
        return "" if module is None or name is None else str(getattr(module, name[1]) and "")
    except AttributeError as unknown:
        return str(unknown)[str(unknown).find(";") :] if ";" in str(unknown) else ""


def _check(cls: type[Rule], origin: str) -> None:
    if not (isinstance(cls, type) and issubclass(cls, Rule)):
        raise UsageError(f"{origin}: {cls!r} is no rule; expected a class that derives from `modellint.rule.Rule`")
    for attribute, kind in (("code", str), ("name", str), ("severity", Severity)):
        if not hasattr(cls, attribute):
            raise UsageError(f"{origin}: the rule `{cls.__name__}` has no `{attribute}`")
        if not isinstance(getattr(cls, attribute), kind):
            raise UsageError(f"{origin}: `{attribute}` of the rule `{cls.__name__}` is no {kind.__name__}")
    for attribute, item in (("bad", Example), ("good", Example)):
        values = inspect.getattr_static(cls, attribute)
        if values is inspect.getattr_static(Rule, attribute):
            continue  # examples in files are read, and checked, when they are asked for
        if not isinstance(values, (tuple, list)) or not all(isinstance(value, item) for value in values):
            raise UsageError(f"{origin}: `{attribute}` of the rule `{cls.__name__}` is no tuple of {item.__name__}")
    _check_what_it_asks(cls, origin)
    if not is_code(cls.code):
        raise UsageError(f"{origin}: `{cls.code}` is not a code; expected capital letters and digits")


def _check_what_it_asks(cls: type[Rule], origin: str) -> None:
    """Raise UsageError for queries that do not exist, and for names of libraries that nobody knows."""
    for attribute in ("requires", "about"):
        names = getattr(cls, attribute)
        if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
            raise UsageError(f"{origin}: `{attribute}` of the rule `{cls.__name__}` is no tuple of names")
    for name in cls.requires:
        if name not in _QUERIES:
            hint = nearest(name, _QUERIES, f"; expected {', '.join(_QUERIES)}")
            raise UsageError(f"{origin}: `requires` of `{cls.name}`: there is no query `{name}`{hint}")
    if cls.__module__.partition(".")[0] != BUILT_IN:
        _check_names(cls, origin)


def _check_names(cls: type[Rule], origin: str) -> None:
    from modellint import knowledge
    from modellint.knowledge import surface

    libraries = {*knowledge.PACKAGES, *(row.name.partition(".")[0] for row in operators.rows())}
    for name in cls.about:
        module, _, last = name.rpartition(".")
        library = name.partition(".")[0]
        names = surface.module_names(module)
        if library not in libraries and library not in cls.operators:
            hint = nearest(library, libraries, "; expected torch, or a library that `operators` describes")
            raise UsageError(f"{origin}: `about` of `{cls.name}`: nothing is known of `{library}`{hint}")
        if names is not None and last not in names and operators.row(name) is None:
            hint = nearest(last, names, "")
            raise UsageError(f"{origin}: `about` of `{cls.name}`: `{module}` has no `{last}`{hint}")


def _rows(rules: Mapping[str, Rule]) -> tuple[str, ...]:
    return tuple(rule.operators for _, rule in sorted(rules.items()) if rule.operators)


def _check_operators(cls: type[Rule], rows: tuple[str, ...], origin: str) -> None:
    """Raise UsageError for malformed rows of operators, and for rows that another rule adds, too."""
    try:
        operators.add(rows)
    except ValueError as error:
        raise UsageError(f"{origin}: `operators` of `{cls.name}`: {error}") from error


def _properties(rules: Iterable[Rule]) -> tuple[Property, ...]:
    return tuple(dict.fromkeys(one for rule in rules for one in rule.properties))


def _check_properties(cls: type[Rule], properties: tuple[Property, ...], origin: str) -> None:
    """Raise UsageError for what is no property, and for one that another rule describes in another way."""
    from modellint.operators.properties import check

    try:
        check(properties)
    except ValueError as error:
        raise UsageError(f"{origin}: `properties` of `{cls.name}`: {error}") from error


def _theories_of(rule: Rule) -> Iterator[tuple[type[Theory], PackTheory]]:
    if rule.theories:
        from modellint.flow.pack_theories import PackTheory

        yield from ((kind, PackTheory(kind, rule.pack)) for kind in rule.theories)


def _check_theories(cls: type[Rule], origin: str) -> None:
    """Raise UsageError for classes that are no theories, or that use more than packs may."""
    from modellint.flow.pack_theories import reason_against

    if not isinstance(cls.theories, (tuple, list)):
        raise UsageError(f"{origin}: `theories` of `{cls.name}` is no tuple of theories")
    for kind in cls.theories:
        if reason := reason_against(kind):
            raise UsageError(f"{origin}: `theories` of `{cls.name}`: {reason}")


def _entry_points() -> Iterator[tuple[str, str]]:
    """Name and value of each entry point of our group, sorted, without duplicate values.

    `importlib.metadata` takes longer than the rest of the start-up, so this reads the files itself; it falls back on
    `importlib.metadata` for packages that are not installed as folders.
    """
    found: dict[str, str] = {}
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except NotADirectoryError:
            return (yield from _entry_points_of_metadata())
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                found.update(_read_entry_points(os.path.join(folder, name, "entry_points.txt")))
    if not found:
        return (yield from _entry_points_of_metadata())
    yield from sorted((name, value) for value, name in found.items())


def _read_entry_points(path: str) -> Iterator[tuple[str, str]]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return
    if f"[{ENTRY_POINT_GROUP}]" not in text:
        return
    section = text.partition(f"[{ENTRY_POINT_GROUP}]")[2].partition("\n[")[0]
    for line in section.splitlines():
        name, equals, value = line.partition("=")
        if equals:
            yield value.strip(), name.strip()


def _entry_points_of_metadata() -> Iterator[tuple[str, str]]:
    from importlib import metadata

    found = {point.value: point.name for point in metadata.entry_points(group=ENTRY_POINT_GROUP)}
    yield from sorted((name, value) for value, name in found.items())
