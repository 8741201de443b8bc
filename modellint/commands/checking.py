"""The command `modellint check`, after its command line is parsed."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from modellint import process
from modellint.commands.progress import Progress
from modellint.commands.telling import (
    packages_known,
    shown_settings,
    tell_about_baseline,
    tell_about_changes,
    tell_about_inputs,
    tell_about_run,
    tell_what_is_missing,
)
from modellint.commands.writing import write
from modellint.config.errors import UsageError
from modellint.reading.paths import shown
from modellint.results.outputs import (
    parse_outputs,
)
from modellint.source import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modellint.config import Settings
    from modellint.confirm.confirmer import Confirmer
    from modellint.fix.command import Fixing
    from modellint.linter import Sharding
    from modellint.packs import RuleSet
    from modellint.results.outputs import Output
    from modellint.results.report import Report

#: Options that are settings as they stand.
_SETTINGS = (
    "select",
    "ignore",
    "extend_select",
    "per_file_ignores",
    "extend_per_file_ignores",
    "preview",
    "force_exclude",
    "respect_gitignore",
    "fix",
    "unsafe_fixes",
    "show_fixes",
    "fixable",
    "extend_fixable",
    "unfixable",
    "show_ignored",
    "jobs",
    "max_file_size",
)


def check(paths: Sequence[Path], flags: dict[str, Any]) -> int:
    """Run `modellint check` with its flags; gives the exit code. Raises UsageError."""
    if flags["watch"]:
        from modellint.commands.watch import watch

        return watch(paths or (Path("."),), lambda: _check_once(paths, flags))
    process.expect_end()
    return _check_once(paths, flags)


def _check_once(paths: Sequence[Path], flags: dict[str, Any]) -> int:
    from modellint.config import settings_for
    from modellint.packs import select_rules
    from modellint.reading.files import Files

    _refuse_contradictions(flags)
    _refuse_idle(flags)
    paths, overlay = _inputs(paths, flags["stdin_filename"])
    file, told = flags["config"]
    settings = settings_for(paths, file, isolated=flags["isolated"])
    for text in told:
        settings = settings.with_text(text, "--config")
    settings = settings.with_options(**_overrides(flags))
    flags = {**flags, **_fixes_wanted(settings, flags)}
    rules = select_rules(settings)
    outputs = parse_outputs(flags["output_formats"], flags["output_file"], settings.output_format)
    if flags["show_settings"]:
        click.echo(shown_settings(settings, rules))
        return 0
    files, skipped = _discover(paths, settings, overlay, flags["quiet"])
    sharding = None
    if flags["shard"]:
        from modellint.commands.parts import sharding_of
        from modellint.pipeline.shards import shard_of

        sharding = sharding_of(flags["shard"], files, settings, rules, flags)
        files = shard_of(files, flags["shard"], settings.root, settings.max_file_size)
    if flags["show_files"]:
        contents = Files(overlay, limit=settings.max_file_size)
        for file in files:
            if contents.oversized(file) is None:
                click.echo(shown(file))
        return 0
    confirmer = _confirmer(settings, rules, flags)
    fixing = _fixing(settings, rules, overlay, flags)
    tell_about_inputs(files if sharding is None else sharding.files, skipped, flags["quiet"])
    report = _run(files, settings, rules, overlay, flags, confirmer, fixing, sharding)
    tell_about_changes(report, flags["quiet"])
    if flags["write_baseline"] or flags["add_ignore"] is not None:
        code = _write_down(report, settings, rules, overlay, flags)
    else:
        code = _write_results(report, settings, rules, overlay, flags, outputs, fixing)
    tell_what_is_missing(report, quiet=flags["quiet"], verbose=flags["verbose"])
    return 2 if report.crashes else code


def _write_down(
    report: Report, settings: Settings, rules: RuleSet, overlay: dict[Path, bytes] | None, flags: dict[str, Any]
) -> int:
    """Write findings to the baseline, or add comments that ignore them; gives the exit code."""
    if flags["write_baseline"]:
        return _write_baseline(report, settings, rules)
    return _add_ignores(report, overlay, flags["add_ignore"])


def _write_results(
    report: Report,
    settings: Settings,
    rules: RuleSet,
    overlay: dict[Path, bytes] | None,
    flags: dict[str, Any],
    outputs: Sequence[Output],
    fixing: Fixing | None,
) -> int:
    """Write the report and the fixes; gives the exit code."""
    packages = partial(packages_known, settings)
    if fixing is None:
        write(report, outputs, rules, overlay, flags, packages)
        tell_about_baseline(report, flags["quiet"] or flags["shard"])  # which `merge` tells of the whole run
    else:
        fixing.conclude(report, partial(write, report, outputs, rules, fixing.overlay, flags, packages))
    if report.guard is not None and not flags["quiet"]:
        click.echo(f"guard: {report.guard}", err=True)
    if fixing is not None and fixing.fixer.write_errors:
        return 2
    failed = any(finding.severity >= settings.fail_on for finding in report.findings)
    if fixing is not None and fixing.is_silent:
        failed = fixing.is_diff and bool(fixing.fixer.rewrites)
    failed |= flags["exit_non_zero_on_fix"] and bool(report.fixed)
    return int(failed and not flags["exit_zero"])


def _refuse_contradictions(flags: dict[str, Any]) -> None:
    """Refuse options that together would fix, write down and ignore findings: one of these at a time."""
    given = [f"--{name.replace('_', '-')}" for name in ("fix", "fix_only", "diff") if flags[name]][:1]
    given += ["--write-baseline"] * flags["write_baseline"]
    given += ["--add-ignore"] * (flags["add_ignore"] is not None)
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} deal with the same findings; expected one of the two")


def _refuse_idle(flags: dict[str, Any]) -> None:
    """Refuse options whose subject is missing."""
    if flags["fix"] is False and flags["fix_only"]:
        raise UsageError("--fix-only makes fixes, and --no-fix none; expected one of the two")
    if flags["shard"] and flags["write_baseline"]:
        raise UsageError("--write-baseline takes a whole run; expected `modellint merge --write-baseline` of all parts")
    reason = flags["add_ignore"]
    if reason is not None and not reason.isprintable():
        raise UsageError(f"--add-ignore: the reason {reason!r} does not fit into a comment; expected one line of text")


def _fixes_wanted(settings: Settings, flags: dict[str, Any]) -> dict[str, Any]:
    """The settings of fixes with the options on top; nothing is fixed where findings are written down."""
    takes_down = flags["write_baseline"] or flags["add_ignore"] is not None
    wanted = {"fix": settings.fix and not takes_down, "unsafe_fixes": settings.unsafe_fixes}
    makes = wanted["fix"] or flags["fix_only"]
    if flags["unsafe_fixes"] and not (makes or flags["diff"]):
        raise UsageError("--unsafe-fixes says which fixes are made; expected --fix or --diff beside it")
    if flags["exit_non_zero_on_fix"] and not makes:
        raise UsageError("--exit-non-zero-on-fix is about fixes that are made; expected --fix or --fix-only beside it")
    return {**wanted, "show_fixes": settings.show_fixes}


def _inputs(paths: Sequence[Path], stdin_filename: Path | None) -> tuple[Sequence[Path], dict[Path, bytes] | None]:
    """The paths to check, and the content of the one that comes on stdin."""
    if Path("-") not in paths:
        if stdin_filename is not None:
            raise UsageError("--stdin-filename names what comes on stdin; expected `-` as the only path")
        return paths or (Path("."),), None
    if stdin_filename is None or len(paths) > 1:
        raise UsageError("`-` reads one file from stdin; expected no other path, and --stdin-filename with its name")
    from modellint.reading.discovery import marker_around

    file = Path(os.path.abspath(stdin_filename))
    if kind_of(file.name) is None and marker_around(file.as_posix()) is None:
        raise UsageError(
            f"--stdin-filename: {stdin_filename} is neither Python nor YAML; expected a name like models/x.py"
        )
    try:
        return (file,), {file: sys.stdin.buffer.read()}
    except OSError as error:
        raise UsageError(f"stdin cannot be read: {error.strerror}") from None


def _overrides(flags: dict[str, Any]) -> dict[str, Any]:
    from modellint.finding import Confidence, Severity

    given = {name: flags[name] for name in _SETTINGS}
    given["cache_dir"] = flags["cache_dir"] and Path(os.path.abspath(flags["cache_dir"]))
    given["index_dir"] = flags["index_dir"] and Path(os.path.abspath(flags["index_dir"]))
    given["baseline"] = flags["baseline"] and Path(os.path.abspath(flags["baseline"]))
    given["python"] = interpreter(flags["python"])
    given["exclude"] = flags["exclude"] or None
    given["min_confidence"] = flags["min_confidence"] and Confidence(flags["min_confidence"])
    given["fail_on"] = flags["fail_on"] and Severity(flags["fail_on"])
    return given


def interpreter(path: Path | None) -> Path | None:
    """The interpreter that `--python` names. Raises UsageError if there is none."""
    if path is not None and not os.path.exists(path):
        raise UsageError(f"--python: {path}: no such file")
    return path and Path(os.path.abspath(path))


def _confirmer(settings: Settings, rules: RuleSet, flags: dict[str, Any]) -> Confirmer | None:
    """The confirmer, if findings are to be confirmed; else None."""
    if not flags["confirm"]:
        for name in ("timeout", "show_refuted", "confirmed_only"):
            if flags[name]:
                raise UsageError(f"--{name.replace('_', '-')} is about --confirm; expected both or none")
        return None
    from modellint.confirm.confirmer import Confirmer, Wishes

    wishes = Wishes(flags["device"], flags["timeout"], flags["show_refuted"], flags["confirmed_only"])
    return Confirmer(settings, rules, wishes)


def _fixing(
    settings: Settings, rules: RuleSet, overlay: dict[Path, bytes] | None, flags: dict[str, Any]
) -> Fixing | None:
    """The fixing run, if the options ask for one; else None."""
    if not any(flags[name] for name in ("fix", "fix_only", "diff")):
        return None
    from modellint.fix.command import fixing

    return fixing(settings, rules, overlay, flags)


def find_files(paths: Sequence[Path], settings: Settings) -> list[Path]:
    """The files that a check of paths reads, after a word about folders that cannot be listed."""
    return _discover(paths, settings, None, quiet=False)[0]


def _discover(
    paths: Sequence[Path], settings: Settings, overlay: dict[Path, bytes] | None, quiet: bool
) -> tuple[list[Path], list[Path]]:
    from modellint.reading.discovery import discover, glob_matcher, is_left_out

    def tell(folder: str, error: OSError) -> None:
        if not quiet:
            click.echo(f"Warning: {shown(folder)}: the folder cannot be listed: {error.strerror}", err=True)

    if not overlay:
        return discover(paths, settings, tell)
    is_excluded = glob_matcher(settings.exclude + settings.extend_exclude, settings.root)
    left_out = settings.force_exclude and any(is_left_out(file, settings.root, is_excluded) for file in overlay)
    return [] if left_out else list(overlay), []


def _run(
    files: Sequence[Path],
    settings: Settings,
    rules: RuleSet,
    overlay: dict[Path, bytes] | None,
    flags: dict[str, Any],
    confirmer: Confirmer | None,
    fixing: Fixing | None,
    sharding: Sharding | None,
) -> Report:
    from modellint.linter import run
    from modellint.pipeline.workers import WorkerError

    changes = baseline = None
    if flags["changed_since"] is not None:
        from modellint.pipeline.changed import changes_since

        changes = changes_since(flags["changed_since"], settings.root)
    # Merging refuses one that is missing, unless it writes it.
    is_made_later = flags["shard"] and settings.baseline is not None and not os.path.exists(settings.baseline)
    if settings.baseline is not None and not flags["write_baseline"] and not is_made_later:
        from modellint.results.baseline import Baseline

        baseline = Baseline.read(settings.baseline, settings.origins.get("baseline", "--baseline"))
    with Progress(quiet=flags["quiet"]) as progress:
        if confirmer is not None:
            confirmer.on_progress = lambda done, total: progress.update(done, total, "models")
        try:
            report = run(
                files,
                settings,
                rules,
                overlay=overlay,
                use_cache=not flags["no_cache"],
                on_progress=progress.update,
                confirm=confirmer,
                changes=changes,
                baseline=baseline,
                fix=None if fixing is None else fixing.fixer,
                sharding=sharding,
            )
        except WorkerError as error:
            raise UsageError(f"internal error: {error}") from None
    if flags["verbose"]:
        tell_about_run(report, rules)
    return report


def _write_baseline(report: Report, settings: Settings, rules: RuleSet) -> int:
    if settings.baseline is None:
        raise UsageError(
            "--write-baseline: no file to write to; expected `--baseline FILE`, or `baseline` in the settings"
        )
    update_baseline(settings.baseline, settings.origins.get("baseline", "--baseline"), report, rules)
    return 0


def update_baseline(file: Path, origin: str, report: Report, rules: RuleSet) -> None:
    """Write the findings of a report to a baseline, which `origin` names. Raises UsageError."""
    from modellint.results.baseline import Baseline

    old = Baseline.read(file, origin) if os.path.exists(file) else Baseline(file)
    new = old.updated(report.findings, report.checked, rules.selected)
    new.write()
    click.echo(f"{shown(new.file)}: {len(new.entries)} findings, {len(old.entries)} before", err=True)


def _add_ignores(report: Report, overlay: dict[Path, bytes] | None, reason: str) -> int:
    """Exits 1 if there are findings that no comment can silence."""
    from modellint.fix.ignoring import add_ignores
    from modellint.fix.writing import WriteError
    from modellint.reading.files import Files
    from modellint.reporters import View
    from modellint.reporters.text import position

    if os.path.exists(reason):
        raise UsageError(f"--add-ignore: {reason} is taken for the reason; expected `--add-ignore REASON {reason}`")
    if overlay:
        raise UsageError("--add-ignore writes into files; expected none on stdin")
    try:
        silenced, left = add_ignores(report.findings, Files(), reason)
    except WriteError as error:
        raise UsageError(f"--add-ignore: {error}") from None
    view = View(Path.cwd(), Files())
    for finding in left:
        click.echo(f"{position(finding.place, view)}: no comment can ignore {finding.code} here", err=True)
    click.echo(f"Ignored {silenced} finding{'' if silenced == 1 else 's'}", err=True)
    return int(bool(left))
