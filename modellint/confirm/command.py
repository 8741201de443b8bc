"""The command `modellint probe`: runs the checks and writes the report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.config import settings_for
from modellint.confirm.battery import as_json, as_text, probe
from modellint.confirm.confirmer import Wishes
from modellint.results.outputs import deliver

if TYPE_CHECKING:
    from collections.abc import Mapping


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
