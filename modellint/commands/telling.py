"""Messages of `modellint check` beside its report: unchecked files, recipes' scripts, time spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from modellint.reading.paths import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from modellint.config import Settings
    from modellint.packs import RuleSet
    from modellint.results.report import Report

#: The number of questions that are named of those that a rule did not follow to their end.
_SHOWN_QUESTIONS = 3
#: Seconds of a rule that are worth showing.
_NOTICEABLE = 0.005


def tell_what_is_missing(report: Report, *, quiet: bool, verbose: bool = False) -> None:
    """Say on stderr which files were not checked, or not by all rules, and why."""
    from modellint.reporters.text import printable

    if not quiet:
        for file in report.skipped:
            click.echo(f"Warning: {shown(file.path)} is skipped: {file.reason}", err=True)
    for crash in report.crashes:
        click.echo(printable(str(crash)), err=True)
        if verbose and crash.traceback:
            click.echo("\n".join(map(printable, crash.traceback.split("\n"))), err=True)


def tell_about_inputs(files: Collection[object], skipped: Sequence[Path], quiet: bool) -> None:
    if quiet:
        return
    for path in skipped:
        click.echo(f"Warning: {path} is neither Python, YAML nor a notebook: skipped", err=True)
    if not files:
        click.echo("Warning: no Python files, YAML files or notebooks found under the given paths", err=True)


def tell_about_changes(report: Report, quiet: bool) -> None:
    if report.unchanged_since and not quiet:
        since = f"since `{report.unchanged_since}`"
        click.echo(f"nothing has changed {since} in these files or in what they rest on: none was checked", err=True)


def tell_about_run(report: Report, rules: RuleSet) -> None:
    """Tell how long a run took, which files a rule could not follow to their end, and which scripts recipes have."""
    click.echo(f"{report.files_checked} files in {report.duration:.2f} s, {len(rules.selected)} rules", err=True)
    _tell_about_time(report)
    for path, parts in report.unfinished:
        click.echo(f"{shown(Path(path))}: too large for {_unfinished_text(parts)} to follow to its end", err=True)
    _tell_about_pairings(report)


def _tell_about_pairings(report: Report) -> None:
    """Tell which script was taken for that of each recipe and why, and which were not."""
    from modellint.reporters.text import printable

    copies: dict[str, int] = {}
    for path, choice in report.pairings:
        if choice.original:
            copies[choice.original] = copies.get(choice.original, 0) + 1
            continue
        first, *others = (printable(line) for line in choice.lines(lambda script: shown(Path(script))))
        click.echo(f"recipe {printable(shown(Path(path)))}: {first}", err=True)
        for line in others:
            click.echo(f"    {line}", err=True)
    for original, number in copies.items():
        count = "one copy" if number == 1 else f"{number} copies"
        click.echo(f"{printable(shown(Path(original)))}: checked for {count} of it in results of trainings", err=True)


def _tell_about_time(report: Report) -> None:
    """Tell of each rule that took a noticeable time, the dearest first."""
    told = [f"{seconds:8.2f}  {part}" for part, seconds in report.seconds if seconds >= _NOTICEABLE]
    if told:
        click.echo("processor seconds (what several rules ask is paid by the first that asks):", err=True)
        click.echo("\n".join(told), err=True)


def tell_about_baseline(report: Report, quiet: bool) -> None:
    if report.known is None or quiet:
        return
    for old, new in report.known.renamed:
        click.echo(f"baseline: {new} is taken for {old}, which is gone", err=True)
    stale = [f"{entry.path}: {entry.code} {entry.symbol}" for entry in report.known.stale]
    for line in stale:
        click.echo(f"baseline: no longer found: {line}", err=True)
    if stale or report.known.renamed:
        click.echo("baseline: `--write-baseline` brings it up to date", err=True)


def packages_known(settings: Settings) -> str:
    """The known packages with their origin: the installed source, or the shipped facts."""
    from modellint.commands.packages import known_packages

    known = known_packages(settings)
    if any(package.folder or package.note for package in known):
        return ", ".join(map(str, known))
    return f"built-in facts about {' and '.join(f'{package.name} {package.release}' for package in known)}"


def shown_settings(settings: Settings, rules: RuleSet) -> str:
    from modellint.config import KINDS

    values = {key: getattr(settings, key.replace("-", "_")) for key in KINDS}
    replaced = {"select", "extend-select", "ignore", "confirm"}
    listed = {
        "root": settings.root,
        "configuration": settings.source,
        "rules": tuple(code for code in rules.rules if code in rules.selected),
        **{key: value for key, value in values.items() if key not in replaced},
        "cache-dir": settings.cache_folder,
        "index-dir": settings.index_folder,
    }
    return "\n".join(f"{key} = {_shown_value(value)}" for key, value in listed.items())


def _shown_value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else value.as_posix() if isinstance(value, Path) else str(value)


def _unfinished_text(parts: Iterable[tuple[str, str]]) -> str:
    """Rules, with the first questions that each did not follow to their end."""
    asked: dict[str, list[str]] = {}
    for code, question in parts:
        asked.setdefault(code, []).extend(filter(None, (question,)))
    alike: dict[str, list[str]] = {}
    for code, questions in asked.items():
        alike.setdefault("; ".join(questions[:_SHOWN_QUESTIONS]), []).append(code)
    told = ((", ".join(codes), questions) for questions, codes in alike.items())
    return ", ".join(f"{codes} ({questions})" if questions else codes for codes, questions in told)
