"""Groups of probes answered by child processes, forked where that is possible, and whatever can go wrong with them."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.claims import as_json
from modellint.confirm.environment import environment
from modellint.confirm.forkserver import UnservedError
from modellint.confirm.guarded import CHANNEL, Guarded
from modellint.confirm.messages import Conversation
from modellint.confirm.plan import Group
from modellint.confirm.scratch import scratch
from modellint.finding import Extent, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from modellint.confirm.forkserver import ForkServer
    from modellint.confirm.scratch import Scratch
    from modellint.confirm.setup import Setup
    from modellint.probes import Probe

_HERE = Path(__file__).parent
#: Starts the worker without its folder on the search path of user code.
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from worker.main import main; sys.path.pop(0); main(*sys.argv[2:])"
)
_DOUBTFUL = "the code wrote to the channel of verdicts, so that none of them counts"


def answer(group: Group, setup: Setup) -> dict[int, Verdict]:
    """A verdict for each probe of a group, which share a process as long as that goes well.

    Nothing that user code does makes this raise. A process that ends too early takes no probe but one with it, and
    where code has meddled with what a process says, each probe gets a process of its own.
    """
    run = _run(group, setup)
    if run.is_doubtful and len(group.probes) > 1:
        return {
            number: answer(Group(group.target, ((number, probe),)), setup)[number] for number, probe in group.probes
        }
    verdicts = run.verdicts()
    left = tuple(pair for pair in group.probes if pair[0] not in run.credible_verdicts)
    if not left or run.is_common or setup.guarding.stop.is_set():
        return verdicts
    if not run.credible_verdicts:
        left = left[1:]
    known = {number: verdict for number, verdict in verdicts.items() if number not in dict(left)}
    return {**known, **answer(Group(group.target, left), setup)} if left else known


def _run(group: Group, setup: Setup) -> ChildRun:
    """A run in a child of the fork server, if there is one, or in a process of its own."""
    server = setup.servers and setup.servers.get(setup.python, setup.guarding)
    if server:
        with suppress(UnservedError), server.scratch() as place:
            return _run_in(place, group, setup, server)
    with scratch() as place:
        return _run_in(place, group, setup, None)


def _run_in(place: Scratch, group: Group, setup: Setup, server: ForkServer | None) -> ChildRun:
    if any(probe.files for _, probe in group.probes):
        return _laid_out(place, group, setup, server)
    run = ChildRun(group, setup, place)
    run.start(server)
    return run


def _laid_out(place: Scratch, group: Group, setup: Setup, server: ForkServer | None) -> ChildRun:
    """Run a group whose probes take files of a notebook, after writing these to the scratch folder."""
    from modellint.confirm.notebooks import Layout

    layout = Layout(group, place.folder)
    run = ChildRun(layout.group(), layout.setup(setup), place, layout.with_cells)
    try:
        layout.write()
    except OSError as error:
        run.fail(f"the notebook's files cannot be laid out: {error.strerror}")
    else:
        run.start(server)
    return run


class ChildRun:
    """One child process, from its request to its end: `start`, then `verdicts`, which `told` puts into words."""

    def __init__(
        self, group: Group, setup: Setup, place: Scratch, told: Callable[[Verdict], Verdict] = lambda verdict: verdict
    ) -> None:
        self._group = group
        self._told = told
        self._setup = setup
        self._place = place
        self._said = Conversation([number for number, _ in group.probes])
        self._ended = ""

    def start(self, server: ForkServer | None) -> None:
        """Run the child to its end, or to one of its limits. Raises UnservedError if it is the server's fault."""
        guarding, folder = self._setup.guarding, self._place.folder
        child = Guarded(folder, guarding)
        if server is not None:
            child.attend(partial(server.fork, self.write_request(), self._place, guarding), self.take)
        else:
            command = [str(self._setup.python), "-s", "-c", _START, str(_HERE), self.write_request(), CHANNEL]
            child.run(command, self.take, environment(folder, guarding.device))
        self._ended = self._said.failure or child.ended
        self._said.is_doubtful |= child.was_flooded

    def take(self, line: bytes) -> None:
        """Take a line that the child says."""
        self._said.take(line)

    def fail(self, reason: str) -> None:
        """Note why there are no answers."""
        self._ended = reason

    def write_request(self) -> str:
        """Write the request to a file that user code cannot write to; gives its path."""
        path = self._place.beside("request.json")
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(self._request(), stream)
        return path

    def verdicts(self) -> dict[int, Verdict]:
        """The verdict of each probe; those without an answer say how the process ended."""
        reason = f"{self._said.stage}: {self._ended or 'the process gave no answer'}"
        if self.is_doubtful:
            reason = f"{self._said.stage}: {_DOUBTFUL}"
        extent = Extent.NEVER if self._said.stage.startswith("importing") else Extent.WHOLE
        missing = Verdict(Status.UNCONFIRMED, None, reason, extent)
        return {number: self._told(self.credible_verdicts.get(number, missing)) for number, _ in self._group.probes}

    @property
    def credible_verdicts(self) -> dict[int, Verdict]:
        """The answers that came and that can be believed, by probe."""
        return {} if self.is_doubtful else self._said.verdicts

    @property
    def is_doubtful(self) -> bool:
        """True if the conversation holds a message that no worker sends."""
        return self._said.is_doubtful

    @property
    def is_common(self) -> bool:
        """True if the run failed while starting or importing, before any probe: the failure is that of all probes."""
        return not self.credible_verdicts and self._said.stage.startswith(("starting", "importing"))

    def _request(self) -> dict[str, Any]:
        target, setup = self._group.target, self._setup
        near = [str(_import_root(path)) for path in (target.script, target.path) if path is not None]
        return {
            "scratch": self._place.folder,
            "roots": [*dict.fromkeys([*near, *setup.roots])],
            "inner": [str(folder) for folder in _folders_above(target.path, setup.roots)],
            "device": setup.guarding.device,
            "guard": setup.guard.name if setup.guard else "in part",
            "overrides": dict(setup.overrides),
            "stand_ins": list(setup.stand_ins),
            "targets": dict(setup.targets),
            "target": {"path": str(target.path), "name": target.name},
            "probes": [_probe_as_json(number, probe) for number, probe in self._group.probes],
        }


def _probe_as_json(number: int, probe: Probe) -> dict[str, Any]:
    functions = [[str(target.path), target.name] for target in probe.functions]
    context = {"name": probe.target.name, "functions": functions, "users": probe.users}
    return {"id": number, "claim": as_json(probe.claim), **context}


def _folders_above(path: Path, roots: Iterable[str]) -> list[Path]:
    """The folders that a file lies in, from its own to that of the project: scripts may be run from any of them."""
    return [folder for folder in path.parents if any(folder.is_relative_to(root) for root in roots)]


def _import_root(path: Path) -> Path:
    """The folder from which a file is imported: the one around the packages that it lies in."""
    folder = path.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder
