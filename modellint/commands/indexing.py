"""The command that fills the index of installed packages."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from modellint.commands.help import Command, section
from modellint.commands.options import project_options
from modellint.commands.rules import FilePath
from modellint.config.errors import UsageError, nearest
from modellint.reading.paths import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.config import Settings

_runs = section("Configuration and runs")
_INDEX_EXAMPLES = """
\b
Examples:
  modellint index transformers timm
  modellint index --clear

\b
Exit codes:
  0  the index is filled or removed
  2  wrong usage, invalid configuration, or an index that cannot be written
"""


@click.command(cls=Command, epilog=_INDEX_EXAMPLES)
@click.argument("packages", nargs=-1)
@_runs("--clear", is_flag=True, help="Remove the index first.")
@project_options(_runs, python="Read packages of this interpreter, as text. Default: VIRTUAL_ENV, then `.venv`.")
@_runs("--jobs", "-j", metavar="N", type=click.IntRange(min=1), help="Number of processes. Default: one for each core.")
@_runs(
    "--index-dir",
    type=FilePath(file_okay=False),
    envvar="MODELLINT_INDEX_DIR",
    help="Where to keep facts about installed packages, for all projects. Default: the user's cache folder.",
)
@_runs("--quiet", "-q", is_flag=True, help="Print errors only.")
def index(packages: tuple[str, ...], **flags: Any) -> int:
    """Find out about installed packages, so that checks of code that uses them are faster.

    PACKAGES are names as code imports them. modellint reads the packages of the project's environment as text, and
    keeps what it finds out for all projects. A check does the same for the files that the project imports.
    """
    from modellint.commands.checking import interpreter
    from modellint.config import settings_for
    from modellint.pipeline.workers import WorkerError
    from modellint.reading.index import create, remove

    settings = settings_for([Path()], config=flags["config"], isolated=flags["isolated"]).with_options(
        python=interpreter(flags["python"]),
        jobs=flags["jobs"],
        index_dir=flags["index_dir"] and Path(os.path.abspath(flags["index_dir"])),
    )
    folder = settings.index_folder
    if folder is None:
        raise UsageError("there is no home folder for the index; expected `--index-dir` with a folder")
    if not packages and not flags["clear"]:
        raise UsageError("no package is named; expected a name, as in `modellint index transformers`")
    files = {package: _files_of(package, settings) for package in packages}
    try:
        if flags["clear"]:
            remove(folder)
        create(folder)
    except OSError as error:
        raise UsageError(f"{shown(folder)}: cannot be changed: {error.strerror}") from None
    for package, found in files.items():
        started = time.perf_counter()
        try:
            _find_out(found, settings, is_quiet=flags["quiet"])
        except WorkerError as error:
            raise UsageError(f"internal error: {error}") from None
        if not flags["quiet"]:
            click.echo(f"{package}: {len(found)} files in {time.perf_counter() - started:.0f} s")
    return 0


def _files_of(package: str, settings: Settings) -> list[Path]:
    """The Python files of an installed package. Raises UsageError if there is none of the name."""
    from modellint.link.project import Project, ProjectOptions

    path = Project(ProjectOptions(settings.root, settings.python)).names.path
    folders = path.packages
    if not folders:
        raise UsageError("the project has no environment with packages; expected `--python` with an interpreter")
    for folder in folders:
        found = sorted(_below(folder / package)) if package.isidentifier() else []
        found += [file] if (file := folder / f"{package}.py").is_file() else []
        if found:
            return found
    names = sorted({name for folder in folders for name in path.stems(folder) if name.isidentifier()})
    raise UsageError(f"{shown(folders[0])} has no package `{package}`{nearest(package, names, '')}")


def _below(folder: Path) -> Iterator[Path]:
    for at, inner, names in os.walk(folder):
        inner[:] = [name for name in inner if name != "__pycache__"]
        yield from (Path(at, name) for name in names if name.endswith(".py"))


def _find_out(files: Sequence[Path], settings: Settings, *, is_quiet: bool) -> None:
    """Check files, and keep nothing but what the index has of them."""
    from modellint.commands.progress import Progress
    from modellint.linter import undisturbed
    from modellint.packs import select_rules
    from modellint.pipeline.cache import indexes_in
    from modellint.pipeline.workers import analyse_all

    rules = select_rules(settings)
    indexes = indexes_in(settings, is_kept=False)
    with undisturbed(), Progress(quiet=is_quiet) as progress:
        for done, _ in enumerate(analyse_all(files, rules, settings, None, record=True, indexes=indexes), 1):
            progress.update(done, len(files))
