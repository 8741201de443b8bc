"""How a worker talks to the linter: JSON lines over what was its standard output, which user code no longer reaches."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


class Channel:
    """Takes over the standard output; what user code prints goes nowhere."""

    def __init__(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._descriptor = os.dup(1)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        os.close(nowhere)

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        data = json.dumps(message, default=str).encode() + b"\n"
        while data:
            data = data[os.write(self._descriptor, data) :]

    def stage(self, doing: str) -> None:
        """Say what happens next: if the process dies, this is where."""
        self.send({"stage": doing})
