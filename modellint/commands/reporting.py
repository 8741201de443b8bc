"""The command `modellint report`: checks a project, and writes one web page about its findings and models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from modellint.commands.help import Command
from modellint.commands.options import project_options
from modellint.commands.rules import FilePath
from modellint.results.outputs import deliver

if TYPE_CHECKING:
    from modellint.config import Settings
    from modellint.confirm.confirmer import Confirmer
    from modellint.packs import RuleSet

_EXAMPLES = """
\b
Examples:
  modellint report
  modellint report src --confirm --output-file docs/models.html

\b
Exit codes:
  0  the report is written, whatever it says
  2  wrong usage, invalid configuration or an internal error
"""


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("paths", nargs=-1, type=FilePath())
@click.option(
    "--output-file",
    type=FilePath(),
    default=Path("modellint-report.html"),
    help="Write the page to this file. Default: modellint-report.html.",
)
@click.option("--confirm", is_flag=True, help="Run the models in a restricted process, and show the verdicts.")
@click.option("--no-models", is_flag=True, help="Show the findings only.")
@click.option(
    "--jobs", "-j", metavar="N", type=click.IntRange(min=1), help="Number of processes. Default: one for each core."
)
@project_options()
def report(paths: tuple[Path, ...], output_file: Path, confirm: bool, no_models: bool, **flags: Any) -> int:
    """Write one web page about a project: findings, models and shapes.

    The page shows each finding in its code, with its reasons, its verdict and its fix; the tree of modules with their
    parameters and memory; for a recipe, what moves, trains and saves each layer; and the shapes of tensors, line by
    line. It is one file that loads nothing.
    """
    from modellint.commands.checking import find_files, interpreter
    from modellint.commands.progress import Progress
    from modellint.config import settings_for
    from modellint.link.project import Project, ProjectOptions
    from modellint.linter import run
    from modellint.packs import select_rules
    from modellint.reading.files import Files
    from modellint.report.collected import models_of
    from modellint.report.page import lines
    from modellint.reporters import View

    wanted = paths or (Path("."),)
    settings = settings_for(wanted, flags["config"], isolated=flags["isolated"])
    settings = settings.with_options(python=interpreter(flags["python"]), jobs=flags["jobs"])
    rules = select_rules(settings)
    files = find_files(wanted, settings)
    with Progress() as progress:
        outcome = run(
            files,
            settings,
            rules,
            on_progress=progress.update,
            confirm=_confirmer(settings, rules) if confirm else None,
        )
        contents = Files(limit=settings.max_file_size)
        project = Project(ProjectOptions(settings.root, settings.python, settings.recipes), contents)
        total = len(files)
        models = (
            () if no_models else tuple(models_of(files, project, lambda done: progress.update(done, total, "models")))
        )
    view = View(Path.cwd(), contents, rules=rules.rules)
    title = settings.root.name if wanted == (Path("."),) else ", ".join(path.as_posix() for path in wanted)
    deliver("".join(f"{line}\n" for line in lines(outcome, models, view, title)), output_file, is_data=True)
    number = len(outcome.findings)
    click.echo(f"{output_file}: {number} finding{'' if number == 1 else 's'}", err=True)
    return 2 if outcome.crashes else 0


def _confirmer(settings: Settings, rules: RuleSet) -> Confirmer:
    from modellint.confirm.confirmer import Confirmer, Wishes

    return Confirmer(settings, rules, Wishes())
