"""The command line."""

from __future__ import annotations

import math
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from modellint.commands.help import Command, Group, section
from modellint.commands.indexing import index
from modellint.commands.options import project_options
from modellint.commands.project import clean, config, doctor
from modellint.commands.reporting import report
from modellint.commands.reveal import reveal
from modellint.commands.rules import FilePath, complete_code, explain, rules, test_rules
from modellint.commands.shapes import shapes
from modellint.config import OUTPUT_FORMATS
from modellint.config.errors import UsageError
from modellint.reading.sizes import EXPECTED, parse_size
from modellint.results.outputs import deliver, wants_colour
from modellint.version import __version__

if TYPE_CHECKING:
    from modellint.packs import RuleSet

DEVICES = ("auto", "fake", "cpu", "cuda")
_COMPLETION = """
\b
Shell completion:
  bash   eval "$(_MODELLINT_COMPLETE=bash_source modellint)"
  zsh    eval "$(_MODELLINT_COMPLETE=zsh_source modellint)"
  fish   _MODELLINT_COMPLETE=fish_source modellint | source
"""
_EXAMPLES = """
\b
Examples:
  modellint check
  modellint check --fix
  modellint explain ML201
"""
_EXIT_CODES = """
\b
Exit codes:
  0  no findings, or only infos
  1  warnings or errors
  2  wrong usage, invalid configuration or an internal error
"""
_CHECK_EXAMPLES = """
\b
Examples:
  modellint check
  modellint check src recipes/train.yaml
  modellint check --select ML2 --ignore ML202
  modellint check --fix
  modellint check --statistics --exit-zero
  modellint check --output-format sarif=report.sarif --output-format full
  modellint check --baseline known.json --write-baseline
  modellint check --changed-since origin/main
"""
_SERVER_EXAMPLES = """
\b
Examples:
  modellint server

\b
Exit codes:
  0  the editor ended the session
  2  wrong usage, or the extra `lsp` is missing
"""


def _codes(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...] | None:
    """Rule codes or their beginnings, separated by commas, of an option that may be given several times."""
    given = [[code for code in map(str.strip, value.split(",")) if code] for value in values]
    if not all(given):
        raise click.BadParameter("no code is given; expected codes such as ML201, beginnings such as ML2, or ALL")
    return tuple(code for codes in given for code in codes) or None


def _patterns(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    if not all(value.strip("/") for value in values):
        raise click.BadParameter("the pattern is empty; expected one of names or paths, such as `generated/*`")
    return values


def _complete_format(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in OUTPUT_FORMATS if name.startswith(incomplete)]


_Files = FilePath()


class _Seconds(click.FloatRange):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):  # which is in every range
            self.fail(f"{value!r} is not a number of seconds", param, ctx)
        return seconds


class _Size(click.ParamType):  # type: ignore[type-arg]
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return parse_size(int(value) if isinstance(value, str) and value.isdecimal() else value)
        except ValueError:
            self.fail(f"{value!r} is not a size; expected {EXPECTED}", param, ctx)


def _ignores(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    """Pairs `PATTERN:CODE`, separated by commas; a code without a pattern belongs to the pattern before it."""
    table: dict[str, list[str]] = {}
    for value in values:
        pattern = ""
        for item in value.split(","):
            before, colon, code = item.strip().rpartition(":")
            pattern = before if colon else pattern
            if not pattern or not code:
                raise click.BadParameter(f"{value!r} names no pattern or no code; expected one such as `tests/*:ML1`")
            table.setdefault(pattern, []).append(code)
    return tuple((pattern, tuple(codes)) for pattern, codes in table.items()) or None


def _configurations(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[Path | None, tuple[str, ...]]:
    """The configuration file that is given, if there is one, and the settings that are given in TOML."""
    files = [value for value in values if "=" not in value or os.path.exists(value)]
    if len(files) > 1:
        raise click.BadParameter(f"{files[0]} and {files[1]} are files; expected one of them, which can extend another")
    told = tuple(value for value in values if value not in files)
    return (_Files.convert(files[0], param, ctx) if files else None), told


_COMMANDS = {
    "Check": ("check", "merge", "server"),
    "Inspect models": ("map", "shapes", "probe", "report"),
    "Rules": ("explain", "rules", "test-rules", "reveal"),
    "Set up": ("config", "doctor", "index", "clean"),
}
_rules, _files, _shows = section("Rules"), section("Files"), section("Output")
_fixes, _adopts, _confirms = section("Fixes"), section("Existing projects"), section("Confirming")
_runs = section("Configuration and runs")


@click.group(
    cls=Group,
    sections=_COMMANDS,
    aliases={"rule": "explain"},
    epilog=_EXAMPLES + _EXIT_CODES + _COMPLETION,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="modellint %(version)s")
def cli() -> None:
    """A static linter for PyTorch models and HyperPyYAML recipes."""


@cli.command(cls=Command, epilog=_CHECK_EXAMPLES + _EXIT_CODES)
@click.argument("paths", nargs=-1, type=_Files)
@_rules(
    "--select",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    shell_complete=complete_code,
    help="Run these rules and no others: codes, prefixes such as ML2, or ALL. Default: ALL.",
)
@_rules(
    "--ignore",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    shell_complete=complete_code,
    help="Skip these rules. Default: none.",
)
@_rules(
    "--extend-select",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    shell_complete=complete_code,
    help="Run these rules in addition to the selected ones. Default: none.",
)
@_rules(
    "--per-file-ignores",
    metavar="PATTERN:CODE",
    multiple=True,
    callback=_ignores,
    help="Skip rules in matching files, such as `tests/*:ML1`. Replaces the setting of the same name.",
)
@_rules(
    "--extend-per-file-ignores",
    metavar="PATTERN:CODE",
    multiple=True,
    callback=_ignores,
    help="Skip rules in matching files, in addition to the settings. Default: none.",
)
@_rules("--preview/--no-preview", default=None, help="Also run preview rules. Default: --no-preview.")
@_rules(
    "--min-confidence",
    type=click.Choice(["low", "medium", "high"]),
    help="Report findings of at least this confidence. Default: medium.",
)
@_files(
    "--exclude",
    "--extend-exclude",
    "exclude",
    metavar="PATTERN",
    multiple=True,
    callback=_patterns,
    help="Skip matching files and folders, in addition to the settings. Default: none.",
)
@_files(
    "--force-exclude/--no-force-exclude",
    default=None,
    help="Skip an excluded file even if the command line names it, as commit hooks need. Default: --no-force-exclude.",
)
@_files(
    "--respect-gitignore/--no-respect-gitignore",
    default=None,
    help="In folders, skip the files that git ignores. Default: --respect-gitignore.",
)
@_files(
    "--max-file-size",
    metavar="SIZE",
    type=_Size(),
    help="Skip larger files, such as those above `500 kB`. Default: 2 MB.",
)
@_files("--stdin-filename", type=_Files, help="Treat the source on stdin (`-`) as the content of this file.")
@_files("--show-files", is_flag=True, help="List the files to check, and check none.")
@_fixes(
    "--fix/--no-fix", default=None, help="Apply the safe fixes, and report the remaining findings. Default: --no-fix."
)
@_fixes(
    "--unsafe-fixes/--no-unsafe-fixes",
    default=None,
    help="With --fix or --diff, include the fixes that may change behavior. Default: --no-unsafe-fixes.",
)
@_fixes(
    "--show-fixes/--no-show-fixes",
    default=None,
    help="List the applied fixes by file and rule. Default: --no-show-fixes.",
)
@_fixes(
    "--diff",
    is_flag=True,
    help="Print what --fix would change, and change no file. Exit with 1 if it would change one.",
)
@_fixes(
    "--fix-only", is_flag=True, help="Apply fixes, but ignore the remaining findings, in the output and the exit code."
)
@_fixes("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 if a fix is applied, even if no finding remains.")
@_fixes(
    "--fixable",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    shell_complete=complete_code,
    help="Fix the findings of these rules only. Default: ALL.",
)
@_fixes(
    "--extend-fixable",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    shell_complete=complete_code,
    help="Fix the findings of these rules, too. Default: none.",
)
@_fixes(
    "--unfixable",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    shell_complete=complete_code,
    help="Fix no findings of these rules. Default: none.",
)
@_shows(
    "--output-format",
    "output_formats",
    multiple=True,
    metavar="FORMAT[=FILE]",
    envvar="MODELLINT_OUTPUT_FORMAT",
    shell_complete=_complete_format,
    help=f"Format and file of a report; repeat it for several. Formats: {', '.join(OUTPUT_FORMATS)}. Default: full.",
)
@_shows(
    "--output-file",
    "-o",
    type=_Files,
    envvar="MODELLINT_OUTPUT_FILE",
    help="Write the findings to this file. Default: stdout.",
)
@_shows("--statistics", is_flag=True, help="Print the number of findings for each rule.")
@_shows(
    "--fail-on",
    type=click.Choice(["info", "warning", "error"]),
    help="Exit with 1 for findings of at least this severity. Default: warning.",
)
@_shows("--exit-zero", "-e", is_flag=True, help="Exit with 0 even if there are findings.")
@_shows("--quiet", "-q", is_flag=True, help="Print findings only.")
@_shows(
    "--verbose", "-v", is_flag=True, help="Print timings, the script of each recipe, and tracebacks of internal errors."
)
@_shows(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="When to use colors. Default: auto, on a terminal.",
)
@_adopts("--baseline", type=_Files, help="Hide the known findings that this file lists. Default: none.")
@_adopts("--write-baseline", is_flag=True, help="Write all findings to the file that --baseline names.")
@_adopts(
    "--add-ignore",
    metavar="REASON",
    is_flag=False,
    flag_value="",
    help="For each finding, add a comment that ignores it, with this reason.",
)
@_adopts(
    "--show-ignored",
    "--ignore-noqa",
    "show_ignored",
    is_flag=True,
    help="Also report the findings that comments ignore.",
)
@_adopts(
    "--changed-since",
    metavar="REV",
    help="Check only the files that changed since this commit, and the files that depend on them.",
)
@_confirms("--confirm", is_flag=True, help="Build and run the models to confirm or refute findings. Needs PyTorch.")
@_confirms(
    "--device",
    type=click.Choice(DEVICES),
    default="auto",
    help="Where --confirm runs models. Default: auto, which lets each check choose fake or cpu.",
)
@_confirms(
    "--timeout",
    metavar="SECONDS",
    type=_Seconds(min=0, min_open=True, max=1_000_000),
    help="How long each model may run. Default: 60.",
)
@_confirms("--show-refuted", is_flag=True, help="Also report the findings that --confirm refutes.")
@_confirms("--confirmed-only", is_flag=True, help="Report only the findings that --confirm confirms.")
@_runs(
    "--config",
    metavar="FILE|KEY=VALUE",
    multiple=True,
    callback=_configurations,
    help="Use this pyproject.toml or modellint.toml, or change one setting, in TOML. Default: the nearest file.",
)
@_runs("--isolated", is_flag=True, help="Use no configuration file.")
@_runs("--show-settings", is_flag=True, help="Print the settings, and check nothing.")
@_runs(
    "--python",
    type=_Files,
    help="Read packages of this interpreter, as text, and run --confirm with it. Default: VIRTUAL_ENV, then `.venv`.",
)
@_runs("--jobs", "-j", metavar="N", type=click.IntRange(min=1), help="Number of processes. Default: one for each core.")
@_runs(
    "--shard",
    metavar="K/N",
    help="Check part K of N, for `modellint merge`. Default: check everything.",
)
@_runs("--watch", "-w", is_flag=True, help="Check again whenever a file changes. Needs the extra `watch`.")
@_runs("--no-cache", "-n", is_flag=True, envvar="MODELLINT_NO_CACHE", help="Do not use the cache.")
@_runs(
    "--cache-dir",
    type=FilePath(file_okay=False),
    envvar="MODELLINT_CACHE_DIR",
    help="Where to keep the cache. Default: `.modellint_cache` in the project.",
)
@_runs(
    "--index-dir",
    type=FilePath(file_okay=False),
    envvar="MODELLINT_INDEX_DIR",
    help="Where to keep facts about installed packages, for all projects. Default: the user's cache folder.",
)
def check(paths: tuple[Path, ...], **flags: Any) -> int:
    """Report mistakes in Python files, notebooks and recipes.

    PATHS are files and folders. Default: the current folder. modellint checks every file that you name, unless you pass
    --force-exclude. In folders, it skips the files that git ignores and those that the setting `exclude` matches.
    """
    from modellint.commands import checking

    return checking.check(paths, flags)


_MERGE_EXAMPLES = """
\b
Examples:
  modellint check --shard 1/2 --output-format json=one.json
  modellint check --shard 2/2 --output-format json=two.json
  modellint merge one.json two.json --output-format sarif=report.sarif --output-format full
  modellint merge one.json two.json --baseline known.json --write-baseline
"""


@cli.command(cls=Command, epilog=_MERGE_EXAMPLES + _EXIT_CODES)
@click.argument("reports", nargs=-1, required=True, type=_Files)
@click.option(
    "--output-format",
    "output_formats",
    multiple=True,
    metavar="FORMAT[=FILE]",
    shell_complete=_complete_format,
    help=f"Format and file of a report; repeat it for several. Formats: {', '.join(OUTPUT_FORMATS)}. Default: full.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["info", "warning", "error"]),
    help="Exit with 1 for findings of at least this severity. Default: that of the parts, or warning.",
)
@click.option(
    "--baseline", type=_Files, help="Hide the known findings that this file lists. Default: that of the parts."
)
@click.option("--write-baseline", is_flag=True, help="Write all findings to the file that --baseline names.")
@click.option("--config", type=_Files, help="Use this pyproject.toml or modellint.toml. Default: the nearest file.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="When to use colors. Default: auto, on a terminal.",
)
def merge(reports: tuple[Path, ...], **flags: Any) -> int:
    """Merge several reports in JSON or SARIF into one report.

    The reports of all parts of a run (--shard) become the report of that run, in any format. Reports of whole runs
    become one report with each finding once: JSON in any format, and SARIF in SARIF. modellint reads paths in a report
    relative to the current folder.
    """
    from modellint.commands import merging

    return merging.merge(reports, flags)


_MAP_EXAMPLES = """
\b
Examples:
  modellint map hparams/train.yaml
  modellint map hparams/train.yaml --output-format html --output-file map.html
  modellint map hparams/train.yaml --output-format dot | dot -Tsvg > map.svg
  modellint map model.py::Encoder --output-format json
  modellint map models/my-bert

\b
Exit codes:
  0  the map is written
  2  wrong usage, or no such recipe, class or model folder
"""


@cli.command("map", cls=Command, epilog=_MAP_EXAMPLES)
@click.argument("target", metavar="RECIPE|FILE.py::CLASS|FOLDER")
@click.option(
    "--output-format",
    type=click.Choice(["table", "json", "dot", "mermaid", "html"]),
    default="table",
    help="Format of the map: a table, JSON, a graph for Graphviz (dot) or Mermaid, or a web page. Default: table.",
)
@click.option("--output-file", type=_Files, help="Write the map to this file. Default: stdout.")
@project_options()
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="When to use colors. Default: auto, on a terminal.",
)
def show_map(target: str, output_format: str, output_file: Path | None, color: str, **flags: Any) -> int:
    """Print the registration map of a recipe or a class, or the weights of a folder.

    For a recipe, the map lists each layer with its number of parameters, the places in the script that use it, and the
    entries that move, train and save it. For a class, it lists layers, parameters and buffers, what registers them, and
    the places that use them. `modellint check` reports the entries that the map marks as `left out`.

    For the folder of a published model, it lists the tensors in the files, with parameters and memory by part.
    """
    text = _mapped(target, output_format, output_file is None and wants_colour(color), flags)
    deliver(text, output_file, is_data=output_format != "table")
    return 0


def _mapped(target: str, output_format: str, colour: bool, flags: dict[str, Any]) -> str:
    from modellint.commands.checking import interpreter
    from modellint.config import settings_for
    from modellint.link.project import Project, ProjectOptions
    from modellint.mapping.targets import map_of, split
    from modellint.mapping.writers import render
    from modellint.reading.files import Files
    from modellint.reporters import View

    settings = settings_for([split(target)[0]], flags["config"], isolated=flags["isolated"])
    settings = settings.with_options(python=interpreter(flags["python"]))
    files = Files(limit=settings.max_file_size)
    project = Project(ProjectOptions(settings.root, settings.python, settings.recipes), files)
    return render(output_format, map_of(target, project), View(Path.cwd(), files, colour=colour))


@cli.command(cls=Command, epilog=_SERVER_EXAMPLES)
def server() -> int:
    """Run the language server for editors, on stdin and stdout.

    The server needs the extra `lsp`. The page about editors has the settings of each editor.
    """
    try:
        from modellint.server.app import create
        from modellint.server.stdio import serve
    except ImportError as error:
        missing = f"the package {error.name} is missing; expected `pip install 'modellint[lsp]'`"
        raise UsageError(f"the language server cannot be started: {missing}") from None
    return serve(create())


def _rule_set() -> RuleSet:
    from modellint.config import settings_for
    from modellint.packs import select_rules

    return select_rules(settings_for([Path(".")]))


_PROBE_EXAMPLES = """
\b
Examples:
  modellint probe model.py::Encoder
  modellint probe package.model:Encoder --output-format json
  modellint probe hparams/train.yaml
  modellint probe models/my-bert
  modellint probe --all src --expect probes.json
"""
_PROBE_EXIT_CODES = """
\b
Exit codes:
  0  no check failed
  1  a check failed
  2  wrong usage, no PyTorch, or no check could run
"""


@cli.command("probe", cls=Command, epilog=_PROBE_EXAMPLES + _PROBE_EXIT_CODES)
@click.argument("targets", metavar="PACKAGE.MODULE:CLASS|FILE.py::CLASS|RECIPE|FOLDER", nargs=-1)
@click.option("--all", "takes_all", is_flag=True, help="Probe all classes, recipes and model folders below the paths.")
@click.option("--expect", type=_Files, help="With --all: compare with this file, and fail for what is worse.")
@click.option("--write-expectation", is_flag=True, help="With --all: write the statuses of the checks to that file.")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="Format of the report. Default: text."
)
@click.option("--output-file", type=_Files, help="Write the report to this file. Default: stdout.")
@click.option(
    "--device",
    type=click.Choice(DEVICES),
    default="auto",
    help="Where to run the model. Default: auto, which lets each check choose fake or cpu.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=_Seconds(min=0, min_open=True, max=1_000_000),
    help="How long each check may run. Default: 60.",
)
@click.option(
    "--jobs", "-j", metavar="N", type=click.IntRange(min=1), help="Number of processes. Default: one for each core."
)
@project_options(
    python="Run the model with this interpreter. Default: VIRTUAL_ENV, `.venv` or modellint's own, if it has PyTorch."
)
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="When to use colors. Default: auto, on a terminal.",
)
def probe(
    targets: tuple[str, ...], takes_all: bool, output_format: str, output_file: Path | None, color: str, **flags: Any
) -> int:
    """Build a model and run it, without weights, data or a GPU.

    For a class, modellint checks that it moves to a device and runs there, that its layers fit each other, that each id
    has a row, that the shortest and the longest inputs pass, and that each parameter gets a finite gradient. For a
    recipe, it checks that the recipe loads and that everything under `modules` moves. For the folder of a published
    model, it checks that the class which the configuration names can be built, that the files have its tensors, and
    that each id of the tokenizer has a row. Set arguments and inputs under `[tool.modellint.confirm.targets]`.
    modellint assumes the others, and reports what it assumed.
    """
    from modellint.commands.checking import interpreter
    from modellint.confirm.command import run_probe, run_survey

    flags["python"] = interpreter(flags["python"])
    colour = output_file is None and wants_colour(color)
    if takes_all:
        from modellint.commands.progress import Progress

        paths = [Path(target) for target in targets] or [Path(".")]
        with Progress() as progress:
            return run_survey(
                paths, output_format, output_file, flags, partial(progress.update, unit="targets"), colour=colour
            )
    if flags["expect"] is not None or flags["write_expectation"]:
        raise UsageError("--expect and --write-expectation are about --all; expected it beside them")
    if len(targets) != 1:
        raise UsageError(f"{len(targets)} targets; expected one, or --all with paths")
    return run_probe(targets[0], output_format, output_file, flags, colour=colour)


for command in (explain, rules, test_rules, reveal, shapes, report, config, clean, doctor, index):
    cli.add_command(command)
