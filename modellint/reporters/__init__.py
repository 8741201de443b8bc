"""Turn a report into text: one module for each output format, with a function `lines`.

Begin with `concise.py`, which is the shortest; `text.py` has what formats for people share.
It imports `finding.py`, `home.py`, `notebook/`, `reading/`, `results/`, `rule.py`, `source.py`, `version.py`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.reading.files import Files
from modellint.reading.paths import shown
from modellint.source import NOTEBOOK, YAML, UnreadableError, decode_python, decode_yaml, kind_of, split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from modellint.finding import Edit
    from modellint.notebook.places import Locator
    from modellint.results.report import Report
    from modellint.rule import Rule
    from modellint.source import Place


class View:
    """The context of a report: base folder, sources, rules, and style.

    Lines are wrapped to `width` columns if there is one, codes are `links`, and `packages` tells which ones are known.
    """

    def __init__(
        self,
        base: Path,
        files: Files,
        *,
        rules: Mapping[str, Rule] | None = None,
        colour: bool = False,
        quiet: bool = False,
        links: bool = False,
        width: int | None = None,
        packages: Callable[[], str] = lambda: "",
    ) -> None:
        self.base = base
        self.rules = rules or {}
        self.colour = colour
        self.quiet = quiet
        self.links = links
        self.width = width
        self.packages = packages
        self._files = files
        self._paths: dict[str, str] = {}
        self._lines: dict[tuple[str, int], list[str]] = {}

    def path(self, path: str) -> str:
        """A path relative to the working directory, with `/`."""
        if path not in self._paths:
            self._paths[path] = shown(path, self.base)
        return self._paths[path]

    def page(self, code: str) -> str | None:
        """The address of a rule's page; None if it is not known, or has none."""
        from modellint.home import page_of

        rule = self.rules.get(code)
        return None if rule is None else page_of(type(rule))

    def source_lines(self, path: str, cell: int = 0) -> list[str]:
        """The lines of a file, or of a cell of a notebook; none if it cannot be read."""
        if (path, cell) not in self._lines:
            lines = decoded_lines(Path(path), self._files) if not cell else self._locator.lines(path, cell)
            self._lines[path, cell] = lines
        return self._lines[path, cell]

    def located(self, report: Report) -> Report:
        """The report with places in notebooks translated to cells."""
        if not any(kind_of(place.path) == NOTEBOOK for finding in report.findings for place in finding.places):
            return report
        return replace(report, findings=tuple(map(self._locator.finding, report.findings)))

    def place(self, place: Place) -> Place:
        """A place as people find it: in a notebook, by cell."""
        return self._locator.place(place) if kind_of(place.path) == NOTEBOOK else place

    def on_disk(self, place: Place) -> Place:
        """A place in the file as stored, for tools that know nothing of cells."""
        return self._locator.on_disk(place) if place.cell else place

    def edit_on_disk(self, edit: Edit) -> Edit:
        """An edit of a file as it is stored."""
        return self._locator.edit_on_disk(edit) if edit.place.cell else edit

    @cached_property
    def _locator(self) -> Locator:
        from modellint.notebook.places import Locator

        return Locator(self._files)


#: The most bytes of a file that is no source and whose lines are shown.
_LARGEST = 1_000_000


def decoded_lines(file: Path, files: Files | None = None) -> list[str]:
    """The lines of a file as its encoding has them; none if it cannot be read."""
    contents = files or Files()
    if kind_of(file.name) is None and ((contents.size(file) or 0) > _LARGEST or b"\0" in (contents.read(file) or b"")):
        return []  # no text, or one that nobody would read
    data = contents.read(file)
    if data is None:
        return []
    # A notebook's own lines are those of its JSON.
    is_yaml = kind_of(file.name) in (YAML, NOTEBOOK)
    try:
        return (decode_yaml if is_yaml else decode_python)(file, data).lines
    except UnreadableError:
        return split_lines(data.decode("utf-8", "replace"))


def render(output_format: str, report: Report, view: View) -> str:
    """The report in one of the output formats, ready to be written."""
    module = import_module(f"{__name__}.{output_format.replace('-', '_')}")
    lines: Iterator[str] = module.lines(view.located(report), view)
    return "".join(f"{line}\n" for line in lines)
