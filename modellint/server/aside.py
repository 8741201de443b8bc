"""Large files are checked in a process of their own, which nothing has to wait for and which can be ended.

`ast.parse` lets no other thread run. The process ends with whoever started it, since nobody holds its stdin then.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import modellint
from modellint.packs import select_rules
from modellint.pipeline.analyser import Analyser

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.pipeline.analyser import FileResult
    from modellint.server.session import Task


class Aside:
    """The check of one file in a process of its own."""

    def __init__(self, task: Task, when_done: Callable[[Aside, FileResult | None], None]) -> None:
        """`when_done` is called in another thread, with None if the process failed."""
        self.path = task.path
        self._when_done = when_done
        # Not in the editor's folder, where modules could be found that are none of ours.
        home = Path(modellint.__file__).parents[1]
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", __name__]
        # Ctrl-C is for whoever started it.
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=home, start_new_session=True)
        self._thread = threading.Thread(target=self._run, args=(task,), name="aside", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it; what it found so far is lost."""
        self._process.kill()

    def wait(self) -> None:
        """Wait until `when_done` was called."""
        self._thread.join()

    def _run(self, task: Task) -> None:
        result: FileResult | None = None
        with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError), self._process as process:
            assert process.stdin is not None
            assert process.stdout is not None
            pickle.dump(task, process.stdin)
            process.stdin.flush()
            result = pickle.load(process.stdout)
        self._when_done(self, result)


def main() -> None:
    """Check what stdin says, and give the result to stdout."""
    task: Task = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    gc.disable()
    warnings.simplefilter("ignore")
    analyser = Analyser(select_rules(task.settings), task.settings, task.overlay, record=True)
    pickle.dump(analyser.analyse(task.path), sys.stdout.buffer)
    sys.stdout.flush()
    os._exit(0)  # the other thread holds stdin


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main()
