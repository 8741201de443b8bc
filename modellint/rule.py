"""The interface of a rule, and how packs of rules are found.

A rule is one module: its class declares what it is called and how bad it is, its docstring is its documentation
page, its examples are its tests, and `check` turns the linked project into findings. The examples stand in it, or lie
beside it as files if it is a folder. Rules are pure: they read facts through the `Project` they are given and never
open, parse or import anything themselves.
"""

from __future__ import annotations

import contextlib
import inspect
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from modellint.finding import Confidence, Finding, Fix, Related, Severity
from modellint.probes import beside_probe as beside_probe
from modellint.probes import boundary_probe as boundary_probe
from modellint.probes import called_probe as called_probe
from modellint.probes import file_probe as file_probe
from modellint.probes import folder_probe as folder_probe
from modellint.probes import function_at as function_at
from modellint.probes import python_probe as python_probe
from modellint.probes import recipe_probe as recipe_probe
from modellint.source import PYTHON_2 as PYTHON_2
from modellint.source import PYTHON_3_6 as PYTHON_3_6
from modellint.source import TEMPLATE as TEMPLATE
from modellint.source import UnreadableError as UnreadableError
from modellint.source import plain_text as plain_text
from modellint.source import split_lines as split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from modellint.claims import Claim
    from modellint.flow.theory import Theory
    from modellint.folders import ModelFolder as ModelFolder
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project as Project
    from modellint.operators.properties import Property
    from modellint.probes import Probe as Probe
    from modellint.results.suppressions import Stale as Stale
    from modellint.source import Place

ENTRY_POINT_GROUP = "modellint.rules"
_EXPECTATION = re.compile(r"#\s*expect:\s*([A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*)")


@dataclass(frozen=True)
class Example:
    """A small project that shows a rule at work.

    `files` maps relative paths to texts. In a bad example every line that the rule must flag carries the comment
    `# expect: CODE`; a good example carries none, and the rule must stay silent on it. `fixed` gives the files
    after `--fix --unsafe-fixes`, where the rule has a fix; it may also be told by `changes`, pairs of a text that
    occurs once in the files and the text in its place. `folder` is where the files lie, if they are read from there.
    `marked` are further lines to flag, as path and number: those in files that have no comments.
    """

    title: str
    files: Mapping[str, str]
    fixed: Mapping[str, str] | None = None
    changes: tuple[tuple[str, str], ...] = ()
    folder: Path | None = field(default=None, compare=False)
    marked: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        if self.changes:
            object.__setattr__(self, "fixed", _apply_changes(self.files, self.changes))

    def expected(self, code: str) -> set[tuple[str, int]]:
        """The (path, line) pairs that the rule `code` must flag: the lines with `# expect: CODE`, and those marked."""
        places = set(self.marked)
        for path, text in self.files.items():
            for number, line in enumerate(lines_of(path, text), 1):
                match = _EXPECTATION.search(line)
                if match and code in re.split(r"\s*,\s*", match[1]):
                    places.add((path, number))
        return places


def lines_of(path: str, text: str) -> list[str]:
    """The lines of a file as findings number them; for a notebook, the lines of its code cells as one module."""
    if path.endswith(".ipynb"):
        from modellint.notebook.reading import read

        with contextlib.suppress(UnreadableError):
            text = read(text.encode("utf-8", "surrogateescape")).original
    return split_lines(text)


class _ExamplesBeside:
    """Descriptor: reads the examples in a rule's folder on first access; empty for a rule without a folder."""

    def __set_name__(self, owner: type[Rule], name: str) -> None:
        self._kind = name
        self._read: dict[type[Rule], tuple[Example, ...]] = {}

    def __get__(self, instance: Rule | None, rule: type[Rule]) -> tuple[Example, ...]:
        if rule not in self._read:
            from modellint.reading.example_folders import examples_of

            self._read[rule] = examples_of(rule, self._kind, Example)
        return self._read[rule]


def _apply_changes(files: Mapping[str, str], changes: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Apply replacements to the files and return those that differ.

    Raises ValueError for a text that does not occur exactly once.
    """
    changed: dict[str, str] = {}
    for old, new in changes:
        paths = [path for path, text in files.items() if old in text]
        if len(paths) != 1 or files[paths[0]].count(old) != 1:
            raise ValueError(f"{old!r} must occur exactly once in the files of an example")
        changed[paths[0]] = changed.get(paths[0], files[paths[0]]).replace(old, new)
    return changed


def any_of(names: Sequence[str]) -> str:
    """Names to choose from, for messages: `a`, `b` or `c`."""
    quoted = [f"`{name}`" for name in names]
    return " or ".join((*([", ".join(quoted[:-1])] if quoted[:-1] else ()), *quoted[-1:]))


@dataclass(frozen=True)
class RuleDocs:
    """A rule's documentation page, split into its title line and its body (Markdown)."""

    summary: str
    body: str


class Rule:
    """Base class of all rules.

    A rule about Python code overrides `check_python`, one about recipes overrides `check_recipe`, one about published
    models overrides `check_folder`; a rule that reports on several sides overrides several (equal findings are reported
    once).
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    #: True for a rule on trial, which only runs with `--preview`.
    preview: ClassVar[bool] = False
    #: True if `check_recipe` also takes plain configurations, which name classes to build by `_target_:`.
    takes_configs: ClassVar[bool] = False
    #: The queries that the rule asks, such as `calls`: about a Python file (`modellint.flow.queries.QUERIES`), about
    #: recipes and scripts (`modellint.link.recipes.queries.RECIPE_QUERIES`).
    requires: ClassVar[tuple[str, ...]] = ()
    #: The functions and classes of libraries that the rule is about, by dotted names. A Python file is left out that
    #: reaches none of these libraries.
    about: ClassVar[tuple[str, ...]] = ()
    #: Rows to add to the table of operators, for operators that modellint does not know (see `modellint.operators`).
    operators: ClassVar[str] = ""
    #: Theories to add to the abstract interpreter: classes that derive from `modellint.flow.theory.Theory`.
    theories: ClassVar[tuple[type[Theory], ...]] = ()
    #: Properties that the rule gives tensors, such as "is a probability": `modellint.operators.properties`.
    properties: ClassVar[tuple[Property, ...]] = ()
    #: The pack that the rule belongs to, as messages name it.
    pack = ""
    #: The address of a page about the rule, which reports and editors link to.
    url: ClassVar[str] = ""
    #: Examples that the rule must flag (`bad`) and must not flag (`good`). A rule that does not set them keeps them as
    #: files in its folder, as `modellint.reading.example_folders` describes.
    bad: ClassVar[tuple[Example, ...]] = _ExamplesBeside()  # type: ignore[assignment]
    good: ClassVar[tuple[Example, ...]] = _ExamplesBeside()  # type: ignore[assignment]

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        """Yield the rule's findings about a Python file; they may lie in other files, too."""
        return iter(())

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        """Yield the rule's findings about a recipe; they may lie in other files, too."""
        return iter(())

    def check_folder(self, folder: ModelFolder, project: Project) -> Iterator[Finding]:
        """Yield the rule's findings about the folder of a published model: in its documents, or at its files."""
        return iter(())

    def check_unreadable(self, path: str, error: UnreadableError) -> Iterator[Finding]:
        """Yield findings for a file that cannot be read or parsed."""
        return iter(())

    def check_suppressions(self, path: str, stale: Sequence[Stale]) -> Iterator[Finding]:
        """Yield findings for a file's suppression comments that silence nothing."""
        return iter(())

    def probe(self, claim: Any, project: Project) -> Probe | None:
        """The probe that builds and runs something to judge the claim of a finding; None if nothing can be run."""
        return None

    @classmethod
    def docs(cls) -> RuleDocs:
        text = inspect.cleandoc(cls.__doc__ or "")
        summary, _, body = text.partition("\n\n")
        return RuleDocs(" ".join(summary.split()), body.strip())

    @classmethod
    def is_fixable(cls) -> bool:
        if inspect.getattr_static(cls, "bad") is inspect.getattr_static(Rule, "bad"):
            from modellint.reading.example_folders import has_fixes

            return has_fixes(cls)
        return any(example.fixed is not None for example in cls.bad)

    @classmethod
    def is_confirmable(cls) -> bool:
        return cls.probe is not Rule.probe

    def finding(
        self,
        place: Place,
        message: str,
        *,
        symbol: str,
        confidence: Confidence,
        evidence: Iterable[str] = (),
        related: Iterable[Related] = (),
        help: str = "",
        fix: Fix | None = None,
        severity: Severity | None = None,
        claim: Claim | None = None,
        cause: str = "",
    ) -> Finding:
        """A finding with the code, name and severity of this rule."""
        return Finding(
            code=self.code,
            name=self.name,
            message=message,
            severity=severity or self.severity,
            confidence=confidence,
            place=place,
            symbol=symbol,
            evidence=tuple(evidence),
            related=tuple(related),
            help=help,
            fix=fix,
            claim=claim,
            cause=cause,
        )
