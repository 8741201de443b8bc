"""The interpreter that runs a project's models, and what it can do: asked under the guard, as it is theirs."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.confirm.environment import environment
from modellint.confirm.guarded import Guarded, Limits
from modellint.confirm.messages import Conversation
from modellint.confirm.scratch import scratch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.confirm.guarded import Guarding
    from modellint.finding import Sandbox

_HAS_TORCH = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
_HAS_GPU = "import sys, torch; sys.exit(not torch.cuda.is_available())"


def interpreters(python: Path | None, root: Path) -> Iterator[Path]:
    """Where to look for the project's interpreter: as configured, the active environment, `.venv`, our own."""
    folder, name = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    if python is not None:
        yield python if python.is_file() else python / folder / name
        return
    if active := os.environ.get("VIRTUAL_ENV"):
        yield Path(active, folder, name)
    yield root / ".venv" / folder / name
    yield Path(sys.executable)


def first_with_torch(candidates: Iterable[Path], guarding: Guarding) -> Path | None:
    """The first interpreter that has torch; None if none has."""
    return next((python for python in candidates if python.exists() and _is_true(python, _HAS_TORCH, guarding)), None)


def has_gpu(python: Path, guarding: Guarding) -> bool:
    """True if the torch of an interpreter can use a GPU."""
    return _is_true(python, _HAS_GPU, guarding)


def guard_of(guarding: Guarding) -> Sandbox:
    """The guard that this system gives a process."""
    asked = replace(guarding, mode="auto") if guarding.is_on else guarding
    return guarding.in_force(_ask(Path(sys.executable), "", asked)[1])


def _is_true(python: Path, code: str, guarding: Guarding) -> bool:
    return _ask(python, code, guarding)[0]


def _ask(python: Path, code: str, guarding: Guarding) -> tuple[bool, tuple[str, ...]]:
    """Run a piece of code under the guard: True if it exits with status 0, and the parts of its guard."""
    told = Conversation(())
    with scratch() as place:
        child = Guarded(place.folder, replace(guarding, limits=Limits()))
        child.run([str(python), "-s", "-c", code], told.take, environment(place.folder, guarding.device))
    return child.code == 0, told.guard
