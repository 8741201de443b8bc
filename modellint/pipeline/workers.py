"""Distributes root files among processes; results don't depend on the distribution."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from modellint import process
from modellint.graph.immutable import dataclass
from modellint.pipeline.analyser import Analyser, FileResult
from modellint.results.failures import RAISED, Crash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from modellint.config import Settings
    from modellint.packs import RuleSet
    from modellint.reading.index import Indexes

    _Arguments: TypeAlias = tuple[Settings, Mapping[Path, bytes] | None, bool, Indexes | None]

#: Below this many bytes a second process costs more than it saves.
_WORTH_SHARING = 1_500_000
_CHUNKS_PER_JOB = 6
#: The option of Linux's `prctl` for "send me this signal when the thread that forked me ends".
_PR_SET_PDEATHSIG = 1
#: The part that crashed, for messages, and the seconds that a process gets to exit after closing its pipe.
_PART, _LAST_MOMENTS = "a worker process", 5.0


class WorkerError(Exception):
    """Worker processes can't start."""


def analyse_all(
    paths: Sequence[Path],
    rules: RuleSet,
    settings: Settings,
    overlay: Mapping[Path, bytes] | None,
    *,
    record: bool,
    indexes: Indexes | None = None,
) -> Iterator[FileResult]:
    """The result of each file, in any order."""
    sizes = {path: size_to_read(path, settings.max_file_size) for path in paths}
    jobs = min(settings.jobs or _jobs_for(sum(sizes.values())), len(paths))
    if jobs <= 1:
        analyser = Analyser(rules, settings, overlay, record=record, indexes=indexes)
        process.keep(analyser)
        yield from analyser.analyse_all(paths)
        return
    yield from _in_processes(_chunks(sizes, jobs * _CHUNKS_PER_JOB), jobs, (settings, overlay, record, indexes))


def _jobs_for(size: int) -> int:
    if size < _WORTH_SHARING:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def size_to_read(path: Path, limit: int) -> int:
    """The size of a file in bytes; 0 if it won't be read."""
    try:
        size = path.stat().st_size
    except OSError:
        return 0
    return size if size <= limit else 0


def _chunks(sizes: Mapping[Path, int], count: int) -> list[list[Path]]:
    """About `count` chunks of neighbouring files of about the same total size.

    Files of one folder stay together if possible, since they tend to need the same other files.
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


@dataclass
class _Worker:
    """A process, the pipe to it, and the pending files of its chunk, with the one being checked first."""

    process: BaseProcess
    pipe: Connection
    files: list[Path] = field(default_factory=list)
    has_started: bool = False


class _Pool:
    """A pool of processes that check one chunk of files at a time each.

    If a process dies, a new one retries the file that it was checking, and skips the file if that one dies as well.
    """

    def __init__(self, chunks: Iterable[Sequence[Path]], jobs: int, arguments: _Arguments) -> None:
        import multiprocessing

        self._context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        self._chunks = [list(chunk) for chunk in chunks][::-1]
        self._arguments = arguments
        self._suspects: set[Path] = set()
        self._workers: list[_Worker] = []
        for _ in range(jobs):
            self._start()

    def results(self) -> Iterator[FileResult]:
        """The result of each file, in any order. Raises WorkerError, and UsageError, where no process can start."""
        from multiprocessing.connection import wait

        while self._workers:
            ready = wait([worker.pipe for worker in self._workers])
            for worker in [worker for worker in self._workers if worker.pipe in ready]:
                try:
                    said = worker.pipe.recv()
                except (EOFError, OSError):
                    yield from self._bury(worker)
                    continue
                except Exception as error:  # what a rule made cannot be made again
                    said = _crash_result(worker.files[0], error)
                yield from self._take(worker, said)

    def close(self) -> None:
        """Kill all processes."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            self._end(worker)
        self._workers = []

    def _start(self) -> None:
        pipe, other = self._context.Pipe()
        process: BaseProcess = self._context.Process(
            target=_work, args=(other, os.getpid(), *self._arguments), daemon=True
        )
        process.start()
        other.close()
        self._workers.append(_Worker(process, pipe))

    def _take(self, worker: _Worker, said: object) -> Iterator[FileResult]:
        """Handle a message of a worker: ready (None), an error, the path that it begins with, or a result.

        Yields the result, if it is one, and sends the worker its next chunk when it has no files left.
        """
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Path):
            worker.files.remove(said)
            worker.files.insert(0, said)
            return
        worker.has_started = True
        if isinstance(said, FileResult):
            del worker.files[0]
            yield said
        if not worker.files:
            worker.files = self._chunks.pop() if self._chunks else []
            with suppress(OSError):  # it has died meanwhile, which its pipe will say
                worker.pipe.send(worker.files)

    def _bury(self, worker: _Worker) -> Iterator[FileResult]:
        """Handle the end of a process: a normal one, or one in the middle of a file."""
        self._workers.remove(worker)
        self._end(worker)
        if not worker.has_started:
            raise WorkerError("a worker process died before it checked a file")
        if not worker.files:
            return
        path = worker.files[0]
        if path in self._suspects:
            del worker.files[0]
            yield FileResult(path.as_posix(), crashes=(Crash(_PART, path.as_posix(), _death(worker)),))
        self._suspects.add(path)
        if worker.files:
            self._chunks.append(worker.files)
        self._start()

    def _end(self, worker: _Worker) -> None:
        worker.process.join(_LAST_MOMENTS)
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()


def _crash_result(path: Path, error: BaseException) -> FileResult:
    return FileResult(path.as_posix(), crashes=(Crash.of(_PART, path.as_posix(), error),))


def _death(worker: _Worker) -> str:
    """The message for a process that died: its exit code or signal."""
    import signal

    code = worker.process.exitcode or 0
    if code >= 0:
        return f"it ended with exit code {code}"
    with suppress(ValueError):
        name = signal.Signals(-code).name
        return f"it was ended by {name}" + (", perhaps for lack of memory" if name == "SIGKILL" else "")
    return f"it was ended by signal {-code}"


def _in_processes(chunks: Sequence[Sequence[Path]], jobs: int, arguments: _Arguments) -> Iterator[FileResult]:
    pool = _Pool(chunks, min(jobs, len(chunks)), arguments)
    try:
        yield from pool.results()
    finally:  # also after Ctrl-C, and where nobody wants more results
        pool.close()


def _work(
    pipe: Connection,
    parent: int,
    settings: Settings,
    overlay: Mapping[Path, bytes] | None,
    record: bool,
    indexes: Indexes | None,
) -> None:
    """Body of a worker process: check chunks of files received through a pipe, until an empty one arrives."""
    import gc
    import signal
    import warnings

    from modellint.config.errors import UsageError
    from modellint.packs import select_rules

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent sees to our end
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with(parent)
    gc.disable()
    warnings.simplefilter("ignore")
    try:
        analyser = Analyser(select_rules(settings), settings, overlay, record=record, indexes=indexes)
    except UsageError as error:
        pipe.send(error)
        return
    pipe.send(None)
    while paths := pipe.recv():
        for result in analyser.analyse_all(paths, pipe.send):
            _send(pipe, result)
    os._exit(0)


def _send(pipe: Connection, result: FileResult) -> None:
    try:
        pipe.send(result)
    except RAISED as error:  # what a rule made cannot be passed on
        pipe.send(_crash_result(Path(result.path), error))


def _end_with(parent: int) -> None:
    """Make this process exit when its parent does, even if the parent is killed."""
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
