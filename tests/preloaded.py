"""Language servers that are forked from a process that has imported them, since most of a short test is their import.

Where Linux is not they are the real ones, as are those of tests about signals and about the end of a server.
"""

from __future__ import annotations

import atexit
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import editor

SERVER = [sys.executable, "-m", "modellint", "server"]
_RELAY = str(Path(__file__).with_name("relay.py"))


def command() -> list[str]:
    """What starts a language server on stdin and stdout, in the folder where it is started."""
    return [sys.executable, "-I", "-S", _RELAY, _listening()] if sys.platform == "linux" else SERVER


class Client(editor.Client):
    """An editor whose server need not be imported anew."""

    command = staticmethod(command)


@cache
def _listening() -> str:
    """The socket of the process that has imported the server, which ends with this one."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = str(Path(folder.name, "socket"))
    process = subprocess.Popen([sys.executable, _RELAY, path, "--fork"], stdin=subprocess.PIPE)
    atexit.register(process.kill)
    return path
