"""The channel from a worker to the linter: JSON lines over a pipe of their own."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .verdicts import Verdict

#: Characters of one text in a message: longer texts are cut, so that the linter accepts them.
_LONGEST = 4000


class Channel:
    """The writing end of the channel; output of user code is dropped, and its input is empty."""

    def __init__(self, descriptor: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._descriptor = os.dup(descriptor)
        os.close(descriptor)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        os.close(nowhere)

    def fileno(self) -> int:
        """The descriptor of the pipe."""
        return self._descriptor

    def close(self) -> None:
        """Speak no more."""
        os.close(self._descriptor)

    def stage(self, doing: str) -> None:
        """Announce the next stage: if the process dies, it died there."""
        self._send({"stage": doing[:_LONGEST]})

    def answer(self, number: int, verdict: Verdict, assumed: list[str]) -> None:
        """Give the verdict on a probe."""
        told = {
            "id": number,
            "status": verdict.status.value,
            "device": verdict.device,
            "detail": verdict.detail[:_LONGEST],
            "extent": verdict.extent.value,
            "assumed": [text[:_LONGEST] for text in assumed[:10]],
        }
        self._send({"verdict": told})

    def done(self) -> None:
        """Say that all probes are answered."""
        self._send({"done": True})

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message, default=str).encode() + b"\n"
        while data:
            data = data[os.write(self._descriptor, data) :]
