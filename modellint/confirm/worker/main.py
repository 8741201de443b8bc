"""One group of probes in a process of its own: torch and the standard library only, under the project's interpreter.

The request is a JSON file:
`{"scratch", "roots", "inner", "device", "guard", "overrides", "stand_ins", "target", "probes"}`; a probe is a claim as
it is stored, with where it can be seen: `{"id", "claim", "name", "functions", "users"}`.
Answers are JSON lines: `{"stage"}` says what is being done, `{"verdict"}` is the one on a probe, in the order of
the request, `{"done"}` ends a run that reached its end.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .audit import Audit
from .channel import Channel
from .standins import StandIns, described
from .verdicts import NEVER, UNCONFIRMED, Verdict, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable

    from .session import Session


def main(request_path: str, channel_number: str) -> None:
    """Answer the request in a file, on the descriptor with the number `channel_number`."""
    with open(request_path, encoding="utf-8") as stream:
        request: dict[str, Any] = json.load(stream)
    channel = Channel(int(channel_number))
    if os.name == "posix" and sys.platform != "linux":  # where there is a death signal, the launcher has asked for it
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    sys.argv = [request["target"]["path"]]
    sys.path[:0] = request["roots"]
    sys.path += request["inner"]  # for what is found nowhere else
    os.chdir(request["scratch"])
    channel.stage("importing torch")
    import torch

    from . import probes, session

    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    audit = Audit(request["scratch"], is_alone=request["guard"] != "operating system")
    if request["guard"] != "off":
        audit.install()
    stand_ins = StandIns(request["stand_ins"])
    stand_ins.install()
    target = session.Session(request, channel, stand_ins)
    for probe in request["probes"]:
        channel.answer(probe["id"], _answer(probes.judge, target, probe, audit), target.assumed())
    channel.done()
    os._exit(0)  # threads and exit handlers of user code are not waited for


def _end_with(parent: int) -> None:
    """End this process within a moment of its parent's end."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _answer(judged: Callable[..., Verdict], session: Session, probe: dict[str, Any], audit: Audit) -> Verdict:
    """The verdict on one probe; whatever user code raises is a reason, never a crash of ours."""
    try:
        outcome = judged(session, probe)
    except BaseException as error:
        outcome = unconfirmed(f"{session.stage}: {described(error)}")
        if session.stage.startswith("importing"):
            outcome = replace(outcome, extent=NEVER)
    untold = [what for what in audit.blocked[:1] if what not in outcome.detail]
    if untold and outcome.status is UNCONFIRMED:
        return replace(outcome, detail=f"{outcome.detail} (the code tried to {untold[0]})")
    return outcome
