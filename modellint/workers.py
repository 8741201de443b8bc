"""Shares root files out among processes; the results do not depend on how."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from modellint import process
from modellint.analyser import Analyser, FileResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from modellint.config import Settings
    from modellint.packs import RuleSet

#: Below this many bytes a second process costs more than it saves.
_WORTH_SHARING = 1_500_000
_CHUNKS_PER_JOB = 6
#: Linux' number for "send me this signal when the thread that forked me ends".
_PR_SET_PDEATHSIG = 1
_analyser: Analyser


class WorkerError(Exception):
    """A process died while it was checking files."""


def analyse_all(
    paths: Sequence[Path],
    rules: RuleSet,
    settings: Settings,
    overlay: Mapping[Path, bytes] | None,
    *,
    record: bool,
) -> Iterator[FileResult]:
    """The result of each file, in any order."""
    sizes = {path: _size(path) for path in paths}
    jobs = min(settings.jobs or _jobs_for(sum(sizes.values())), len(paths))
    if jobs <= 1:
        analyser = Analyser(rules, settings, overlay, record=record)
        process.keep(analyser)
        yield from analyser.analyse_all(paths)
        return
    yield from _in_processes(_chunks(sizes, jobs * _CHUNKS_PER_JOB), jobs, settings, overlay, record)


def _jobs_for(size: int) -> int:
    if size < _WORTH_SHARING:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _chunks(sizes: Mapping[Path, int], count: int) -> list[list[Path]]:
    """About `count` runs of neighbouring files of about the same weight.

    Files of one folder stay together if they can, since they tend to need the same other files.
    """
    weight = sum(sizes.values()) / count
    chunks: list[list[Path]] = [[]]
    filled = 0
    for path in sorted(sizes):
        chunk = chunks[-1]
        is_new_folder = bool(chunk) and chunk[-1].parent != path.parent
        if filled >= (weight if is_new_folder else 1.5 * weight) and chunk:
            chunks.append([])
            filled = 0
        chunks[-1].append(path)
        filled += sizes[path]
    return chunks


def _in_processes(
    chunks: Sequence[Sequence[Path]],
    jobs: int,
    settings: Settings,
    overlay: Mapping[Path, bytes] | None,
    record: bool,
) -> Iterator[FileResult]:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    executor = ProcessPoolExecutor(jobs, context, _start, (os.getpid(), settings, overlay, record))
    try:
        for future in as_completed([executor.submit(_analyse, chunk) for chunk in chunks]):
            yield from future.result()
    except BrokenProcessPool:
        raise WorkerError("a worker process died; `--jobs 1` shows on which file") from None
    except BaseException:  # Ctrl-C, and whoever wants no more results
        for process in executor._processes.values():
            process.kill()
        raise
    finally:
        # A thread of the executor that is still at work when Python exits uses pipes that are closed by then.
        executor.shutdown(cancel_futures=True)


def _start(parent: int, settings: Settings, overlay: Mapping[Path, bytes] | None, record: bool) -> None:
    import gc
    import signal
    import warnings

    from modellint.packs import select_rules

    global _analyser
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent sees to our end
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with(parent)
    gc.disable()
    warnings.simplefilter("ignore")
    _analyser = Analyser(select_rules(settings), settings, overlay, record=record)


def _end_with(parent: int) -> None:
    """Have this process end when its parent does, however that ends."""
    import signal

    if sys.platform == "linux":
        with suppress(ImportError, AttributeError, OSError):
            import ctypes

            if ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0:
                if os.getppid() != parent:  # which has ended before we asked
                    os._exit(2)
                return
    import multiprocessing
    from threading import Thread

    def wait() -> None:
        if process := multiprocessing.parent_process():
            process.join()
            os._exit(2)

    Thread(target=wait, daemon=True).start()


def _analyse(paths: Sequence[Path]) -> list[FileResult]:
    return list(_analyser.analyse_all(paths))
