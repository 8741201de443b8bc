"""The command `modellint probe`: runs the checks of one target, or of all of them, and writes the report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.config import settings_for
from modellint.config.errors import UsageError
from modellint.confirm import survey
from modellint.confirm.battery import as_json, as_text, probe
from modellint.confirm.confirmer import Wishes
from modellint.results.outputs import deliver

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def run_probe(
    target: str, output_format: str, output_file: Path | None, flags: Mapping[str, Any], *, colour: bool
) -> int:
    """Probe a target, write the report, and give the exit code. Raises UsageError."""
    path = Path(target.partition("::")[0])
    settings = settings_for([path if os.path.exists(path) else Path(".")], flags["config"], isolated=flags["isolated"])
    settings = settings.with_options(python=flags["python"], jobs=flags["jobs"])
    result = probe(target, settings, Wishes(flags["device"], flags["timeout"]))
    is_data = output_format == "json"
    deliver(as_json(result) if is_data else as_text(result, colour=colour), output_file, is_data=is_data)
    return result.exit_code


def run_survey(
    paths: Sequence[Path],
    output_format: str,
    output_file: Path | None,
    flags: Mapping[str, Any],
    on_progress: Callable[[int, int], None],
    *,
    colour: bool,
) -> int:
    """Probe all targets below paths, write the report, and give the exit code. Raises UsageError."""
    file, writes = flags["expect"], flags["write_expectation"]
    if writes and file is None:
        raise UsageError("--write-expectation: no file to write to; expected `--expect FILE` beside it")
    settings = settings_for(paths, flags["config"], isolated=flags["isolated"])
    settings = settings.with_options(python=flags["python"], jobs=flags["jobs"])
    expectation = None if file is None or writes else survey.read_expectation(file)
    found = survey.survey(paths, settings, Wishes(flags["device"], flags["timeout"]), expectation, on_progress)
    is_data = output_format == "json"
    text = survey.as_json(found) if is_data else survey.as_text(found, colour=colour)
    deliver(text, output_file, is_data=is_data)
    if not writes:
        return found.exit_code
    survey.write_expectation(file, found.results)
    return 0
