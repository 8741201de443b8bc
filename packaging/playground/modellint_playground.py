"""Checks files that are given as texts, for the playground: one call, which returns the report as JSON."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path, PurePosixPath

from modellint.config import settings_for
from modellint.linter import run
from modellint.packs import select_rules
from modellint.reading.discovery import discover
from modellint.reading.files import Files
from modellint.reporters import View, render
from modellint.version import __version__

_FOLDER = Path("/tmp/playground")


def version() -> str:
    """The version of modellint."""
    return __version__


def check(given: str) -> str:
    """The report, as `--output-format json` writes it, on the files of a JSON object: their texts by name.

    Raises ValueError for a name that leads out of the folder.
    """
    files: dict[str, str] = json.loads(given)
    os.chdir(_FOLDER.parent)  # the present folder cannot be removed
    shutil.rmtree(_FOLDER, ignore_errors=True)
    _FOLDER.mkdir(parents=True)
    for name, text in files.items():
        parts = PurePosixPath(name).parts
        if not parts or parts[0] == "/" or ".." in parts:
            raise ValueError(f"{name!r} is no name of a file; expected one such as `models/encoder.py`")
        path = _FOLDER.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    os.chdir(_FOLDER)
    settings = settings_for([_FOLDER], None).with_options(jobs=1)
    rules = select_rules(settings)
    report = run(discover([_FOLDER], settings)[0], settings, rules, use_cache=False)
    return render("json", report, View(_FOLDER, Files(), rules=rules.rules))
