"""The command line."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from modellint.commands.help import Command, Group, section
from modellint.commands.project import clean, config, doctor
from modellint.commands.rules import FilePath, complete_code, explain, rules, test_rules
from modellint.config import OUTPUT_FORMATS
from modellint.config.errors import UsageError
from modellint.reading.sizes import EXPECTED, parse_size
from modellint.results.outputs import deliver, parse_outputs, wants_colour
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
  0  nothing found, or infos alone
  1  warnings or errors
  2  wrong usage, bad configuration or an internal error
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
  0  the editor ended it
  2  wrong usage, or the extra is not installed
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
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        return seconds


class _Size(click.ParamType):  # type: ignore[type-arg]
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return parse_size(int(value) if isinstance(value, str) and value.isdecimal() else value)
        except ValueError:
            self.fail(f"{value!r} is no size; expected {EXPECTED}", param, ctx)


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
    "Look into models": ("map", "probe"),
    "Rules": ("explain", "rules", "test-rules"),
    "Set up": ("config", "doctor", "clean"),
}
_rules, _files, _shows = section("Rules"), section("Files"), section("Output")
_fixes, _adopts, _confirms = section("Fixes"), section("Code that is there already"), section("Confirming")
_runs = section("How it runs")


@click.group(
    cls=Group,
    sections=_COMMANDS,
    aliases={"rule": "explain"},
    epilog=_EXAMPLES + _EXIT_CODES + _COMPLETION,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="modellint %(version)s")
def cli() -> None:
    """Finds the mistakes in PyTorch model definitions and HyperPyYAML recipes that only surface at run time."""


@cli.command(cls=Command, epilog=_CHECK_EXAMPLES + _EXIT_CODES)
@click.argument("paths", nargs=-1, type=_Files)
@_rules(
    "--select",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    shell_complete=complete_code,
    help="Rules to run: codes, beginnings of codes such as ML2, or ALL.",
)
@_rules(
    "--ignore",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    shell_complete=complete_code,
    help="Rules to leave out.",
)
@_rules(
    "--extend-select",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    shell_complete=complete_code,
    help="Rules to run besides those selected.",
)
@_rules(
    "--per-file-ignores",
    metavar="PATTERN:CODE",
    multiple=True,
    callback=_ignores,
    help="Rules to leave out in some files, instead of those in the settings.",
)
@_rules(
    "--extend-per-file-ignores",
    metavar="PATTERN:CODE",
    multiple=True,
    callback=_ignores,
    help="Rules to leave out in some files, besides those in the settings.",
)
@_rules("--preview/--no-preview", default=None, help="Run rules that are on trial, too.")
@_rules("--min-confidence", type=click.Choice(["low", "medium", "high"]), help="Show findings from this confidence up.")
@_files(
    "--exclude",
    "--extend-exclude",
    "exclude",
    metavar="PATTERN",
    multiple=True,
    callback=_patterns,
    help="More files and folders to leave out.",
)
@_files(
    "--force-exclude/--no-force-exclude",
    default=None,
    help="Leave out what is excluded even where it is named, as commit hooks do.",
)
@_files(
    "--respect-gitignore/--no-respect-gitignore",
    default=None,
    help="In folders, leave out what git ignores, which is the default.",
)
@_files("--max-file-size", metavar="SIZE", type=_Size(), help="Skip files that are larger (2 MB).")
@_files("--stdin-filename", type=_Files, help="The name of the file whose content comes on stdin (`-`).")
@_files("--show-files", is_flag=True, help="List the files that would be checked.")
@_fixes("--fix/--no-fix", default=None, help="Fix what can be fixed safely, and show what remains.")
@_fixes("--unsafe-fixes/--no-unsafe-fixes", default=None, help="With --fix or --diff: fixes that need a look, too.")
@_fixes("--show-fixes/--no-show-fixes", default=None, help="List what was fixed, by file and rule.")
@_fixes("--diff", is_flag=True, help="Show what --fix would change, and change nothing; exit 1 if it would.")
@_fixes("--fix-only", is_flag=True, help="Fix, and neither show what remains nor exit 1 for it.")
@_fixes("--exit-non-zero-on-fix", is_flag=True, help="Exit 1 if something was fixed, even if nothing remains.")
@_fixes(
    "--fixable",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    shell_complete=complete_code,
    help="Rules whose findings may be fixed (ALL).",
)
@_fixes(
    "--extend-fixable",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    shell_complete=complete_code,
    help="Rules whose findings may be fixed, besides those.",
)
@_fixes(
    "--unfixable",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    shell_complete=complete_code,
    help="Rules whose findings may not.",
)
@_shows(
    "--output-format",
    "output_formats",
    multiple=True,
    metavar="FORMAT[=FILE]",
    envvar="MODELLINT_OUTPUT_FORMAT",
    shell_complete=_complete_format,
    help=f"How findings are shown, and where: {', '.join(OUTPUT_FORMATS)}. May be given several times.",
)
@_shows("--output-file", "-o", type=_Files, envvar="MODELLINT_OUTPUT_FILE", help="Write the findings to this file.")
@_shows("--statistics", is_flag=True, help="Show how often each rule found something.")
@_shows("--fail-on", type=click.Choice(["info", "warning", "error"]), help="Exit 1 from this severity up (warning).")
@_shows("--exit-zero", "-e", is_flag=True, help="Exit 0 even if there are findings.")
@_shows("--quiet", "-q", is_flag=True, help="Show findings only.")
@_shows("--verbose", "-v", is_flag=True, help="Say what is done, and where an internal error comes from.")
@_shows("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Whether to use colours.")
@_adopts("--baseline", type=_Files, help="Leave out the findings that this file holds.")
@_adopts("--write-baseline", is_flag=True, help="Write all findings to the file that --baseline names.")
@_adopts(
    "--add-ignore",
    metavar="REASON",
    is_flag=False,
    flag_value="",
    help="Write a comment with this reason for each finding, which ignores it from now on.",
)
@_adopts(
    "--show-ignored",
    "--ignore-noqa",
    "show_ignored",
    is_flag=True,
    help="Show what comments silence, too.",
)
@_adopts("--changed-since", metavar="REV", help="Check what changed since this commit, and what rests on that.")
@_confirms("--confirm", is_flag=True, help="Build the models, and show what is confirmed (needs torch).")
@_confirms("--device", type=click.Choice(DEVICES), default="auto", help="Where --confirm runs models.")
@_confirms(
    "--timeout",
    metavar="SECONDS",
    type=_Seconds(min=0, min_open=True, max=1_000_000),
    help="How long each model may run (60).",
)
@_confirms("--show-refuted", is_flag=True, help="Show findings that running the code refutes, too.")
@_confirms("--confirmed-only", is_flag=True, help="Show findings that running the code confirms, and no others.")
@_runs(
    "--config",
    metavar="FILE|KEY=VALUE",
    multiple=True,
    callback=_configurations,
    help="A pyproject.toml or modellint.toml to use, or a setting to change, in TOML.",
)
@_runs("--isolated", is_flag=True, help="Use no configuration file.")
@_runs("--show-settings", is_flag=True, help="Show the settings that would be used.")
@_runs("--python", type=_Files, help="The project's interpreter, whose packages are read as text.")
@_runs("--jobs", "-j", metavar="N", type=click.IntRange(min=1), help="Processes to use (one a core).")
@_runs("--shard", metavar="K/N", help="Check the Kth of N parts; linked files stay together.")
@_runs("--watch", "-w", is_flag=True, help="Check again whenever a file changes.")
@_runs("--no-cache", "-n", is_flag=True, envvar="MODELLINT_NO_CACHE", help="Neither read nor write the cache.")
@_runs("--cache-dir", type=FilePath(file_okay=False), envvar="MODELLINT_CACHE_DIR", help="The folder of the cache.")
def check(paths: tuple[Path, ...], **flags: Any) -> int:
    """Check Python files and recipes.

    PATHS are files and folders, the working directory if there are none. A named file is always checked, but for
    --force-exclude; in folders, what git ignores and `exclude` names is left out.
    """
    from modellint.commands import checking

    return checking.check(paths, flags)


_MERGE_EXAMPLES = """
\b
Examples:
  modellint check --shard 1/2 --output-format json=one.json
  modellint check --shard 2/2 --output-format json=two.json
  modellint merge one.json two.json --output-format sarif=report.sarif --output-format full
"""


@cli.command(cls=Command, epilog=_MERGE_EXAMPLES + _EXIT_CODES)
@click.argument("reports", nargs=-1, required=True, type=_Files)
@click.option(
    "--output-format",
    "output_formats",
    multiple=True,
    metavar="FORMAT[=FILE]",
    shell_complete=_complete_format,
    help=f"How findings are shown, and where: {', '.join(OUTPUT_FORMATS)}. May be given several times.",
)
@click.option(
    "--fail-on", type=click.Choice(["info", "warning", "error"]), help="Exit 1 from this severity up (warning)."
)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Whether to use colours.")
def merge(reports: tuple[Path, ...], output_formats: tuple[str, ...], fail_on: str | None, color: str) -> int:
    """Join reports in the format `json` into one, in any format.

    Paths in them are taken from the working directory; what several reports hold is shown once.
    """
    from modellint.commands.telling import tell_what_is_missing
    from modellint.commands.writing import write
    from modellint.finding import Severity
    from modellint.results.merging import merged

    rules = _rule_set()
    outputs = parse_outputs(output_formats, None, "full")
    report = merged(reports)
    write(report, outputs, rules, None, {"color": color, "quiet": False, "statistics": False, "output_file": None})
    tell_what_is_missing(report, quiet=False)
    if report.crashes:
        return 2
    return int(any(finding.severity >= Severity(fail_on or "warning") for finding in report.findings))


_MAP_EXAMPLES = """
\b
Examples:
  modellint map hparams/train.yaml
  modellint map hparams/train.yaml --output-format html --output-file map.html
  modellint map hparams/train.yaml --output-format dot | dot -Tsvg > map.svg
  modellint map model.py::Encoder --output-format json

\b
Exit codes:
  0  the map was written
  2  wrong usage, or there is no such map
"""


@cli.command("map", cls=Command, epilog=_MAP_EXAMPLES)
@click.argument("target", metavar="RECIPE|FILE.py::CLASS")
@click.option(
    "--output-format",
    type=click.Choice(["table", "json", "dot", "mermaid", "html"]),
    default="table",
    help="The form: a table, a JSON object, a graph for Graphviz or Mermaid, or a web page that needs no network.",
)
@click.option("--output-file", type=_Files, help="Write the map to this file.")
@click.option("--config", type=_Files, help="A pyproject.toml or modellint.toml to use.")
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
@click.option("--python", type=_Files, help="The project's interpreter, whose packages are read as text.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Whether to use colours.")
def show_map(target: str, output_format: str, output_file: Path | None, color: str, **flags: Any) -> int:
    """Show the registration map of a recipe or a class.

    Of a recipe: every layer, how many parameters it has, where its script uses it, and what moves it to the device,
    trains it and saves it. Of a class: its layers, parameters and buffers, what registers them, and where they are
    used. What should be held and is not, `left out`, is what `modellint check` reports.
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
    """Run the language server on stdin and stdout, for editors.

    Needs the extra `lsp`: pip install 'modellint[lsp]'. docs/editors.md has settings for editors.
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
"""
_PROBE_EXIT_CODES = """
\b
Exit codes:
  0  no check failed
  1  a check failed
  2  wrong usage, no torch, or no check could be run
"""


@cli.command("probe", cls=Command, epilog=_PROBE_EXAMPLES + _PROBE_EXIT_CODES)
@click.argument("target", metavar="PACKAGE.MODULE:CLASS|FILE.py::CLASS|RECIPE")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", help="The form of the report.")
@click.option("--output-file", type=_Files, help="Write the report to this file.")
@click.option("--device", type=click.Choice(DEVICES), default="auto", help="Where models are run.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=_Seconds(min=0, min_open=True, max=1_000_000),
    help="How long each check may take (60).",
)
@click.option("--jobs", "-j", metavar="N", type=click.IntRange(min=1), help="Processes to use (one a core).")
@click.option("--config", type=_Files, help="A pyproject.toml or modellint.toml to use.")
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
@click.option("--python", type=_Files, help="The interpreter that runs the model.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Whether to use colours.")
def probe(target: str, output_format: str, output_file: Path | None, color: str, **flags: Any) -> int:
    """Build a model and run it, with no weights, no data and no GPU.

    Of a class: does all of it move to a device, and does it run there; do its layers fit each other; can ids that it
    draws lack a row; do the shortest inputs get through, and those that fill a table; do all parameters get a finite
    gradient. Of a recipe: does it load; does all that `modules` hold
    move. What to pass to classes is said under `[tool.modellint.confirm.targets]`, or else assumed and reported.
    """
    from modellint.commands.checking import interpreter
    from modellint.confirm.command import run_probe

    flags["python"] = interpreter(flags["python"])
    return run_probe(target, output_format, output_file, flags, colour=output_file is None and wants_colour(color))


for command in (explain, rules, test_rules, config, clean, doctor):
    cli.add_command(command)
