"""How long an editor waits for diagnostics after a change, and what the server keeps of many changes.

    python benchmarks/editor.py MODEL.py --edits 200
    python benchmarks/editor.py train.yaml train.py --edits 10000

Runs `modellint server`, opens the files and edits them at random places: lines come and go, are doubled and commented,
and some are half typed until the next edit, so that a file is now and then no Python or YAML; every 25 edits it is what
it was. Prints the median and the 95th percentile from a change to its diagnostics, next to the time that it takes to
parse the same text, and the server's memory: after a tenth of the edits, when everything has been met once, and from
then on. Exits with 1 if the server fails, or says that it did.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable

MEBIBYTE = 1024 * 1024


class Connection:
    """A server that was started, and is spoken to."""

    #: What starts it.
    command: Callable[[], list[str]] = staticmethod(lambda: [sys.executable, "-m", "modellint", "server"])

    def __init__(self, root: Path, stderr: int | None = None, environment: dict[str, str] | None = None) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            self.command(), stdin=pipe, stdout=pipe, stderr=stderr, cwd=root, env=environment
        )

    def send(self, method: str, params: Any, request: int | str | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if request is not None:
            message["id"] = request
        body = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next message. Raises EOFError when the server has ended."""
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise EOFError(f"the server has ended, with {self.process.wait()}")
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def answer(self, request: int | str) -> dict[str, Any]:
        """The answer to a request."""
        while (message := self.receive()).get("id") != request:
            pass
        return message


class Client(Connection):
    """The little of the protocol that is needed here."""

    def __init__(
        self, root: Path, capabilities: dict[str, Any] | None = None, environment: dict[str, str] | None = None
    ) -> None:
        super().__init__(root, environment=environment)
        self.messages: list[str] = []
        self.send("initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": capabilities or {}}, 1)
        self.answer(1)
        self.send("initialized", {})

    def diagnostics(self, uri: str, version: int) -> list[Any]:
        """The diagnostics of a version of a document."""
        while True:
            message = self.receive()
            params = message.get("params", {})
            if message.get("method") == "window/showMessage":
                self.messages.append(params["message"])
            is_it = message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == uri
            if is_it and params.get("version") == version:
                found: list[Any] = params["diagnostics"]
                return found

    def processor(self) -> float:
        """Seconds of processor time that the server took so far; wall time where the system does not tell."""
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return time.perf_counter()

    def memory(self) -> float:
        """MiB of memory that the server holds; 0 where the system does not tell."""
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024 / MEBIBYTE
        return 0.0


@dataclass
class Document:
    """A file as the editor has it."""

    path: Path
    original: list[str]
    lines: list[str] = field(default_factory=list)
    version: int = 0
    #: A line that is half typed, and what it was.
    unfinished: tuple[int, str] | None = None

    @property
    def text(self) -> str:
        return "".join(self.lines)

    @property
    def is_python(self) -> bool:
        return self.path.suffix == ".py"

    def parse(self) -> None:
        """What any tool has to do at least."""
        with warnings.catch_warnings(), contextlib.suppress(SyntaxError, yaml.YAMLError):
            warnings.simplefilter("ignore")
            ast.parse(self.text) if self.is_python else yaml.compose(self.text, Loader=yaml.SafeLoader)

    def edit(self, chance: random.Random) -> None:
        """One change, as somebody might type it."""
        self.version += 1
        if self.unfinished is not None:
            at, line = self.unfinished
            self.lines[at] = line
            self.unfinished = None
        if self.version % 25 == 0:
            self.lines = list(self.original)
        at = chance.randrange(len(self.lines))
        line = self.lines[at].rstrip("\n")
        match chance.randrange(8):
            case 0 | 1:
                self.lines.insert(at, f"# note {chance.randrange(1000)}\n")
            case 2:
                self.lines[at] = f"{line}  # seen\n"
            case 3 if line.lstrip().startswith("#") or not line.strip():
                del self.lines[at]
            case 4:
                self.lines.insert(at, f"{line}\n")
            case 5:
                self.unfinished = (at, self.lines[at])
                self.lines[at] = line[: chance.randrange(len(line) + 1)] + "\n"
            case 6:
                place = chance.randrange(len(line) + 1)
                self.unfinished = (at, self.lines[at])
                self.lines[at] = f"{line[:place]}{chance.choice('ax_0(,: ')}{line[place:]}\n"
            case _:
                self.lines[at] = line.replace("hidden_size", "vocab_size").replace("512", "513") + "\n"


@dataclass(frozen=True)
class Latency:
    """What many edits took: seconds from each to its diagnostics, and of parsing the same text; MiB of memory.

    `memory` is the server's after each tenth of the edits, `messages` what it complained of.
    """

    lines: dict[str, int]
    waits: list[float]
    parses: list[float]
    memory: list[float]
    messages: list[str]

    @property
    def median(self) -> float:
        return statistics.median(self.waits)

    @property
    def parse(self) -> float:
        return statistics.median(self.parses)


def latency(paths: list[Path], edits: int, seed: int) -> Latency:
    """Open files in a server and edit them at random. Raises EOFError if the server ends."""
    documents = []
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        documents.append(Document(path.resolve(), lines, list(lines)))
    client = Client(Path(os.path.commonpath([document.path.parent for document in documents])))
    for document in documents:
        language = "python" if document.is_python else "yaml"
        item = {"uri": document.path.as_uri(), "languageId": language, "version": 0, "text": document.text}
        client.send("textDocument/didOpen", {"textDocument": item})
        client.diagnostics(document.path.as_uri(), 0)
    chance, waits, parses, memory = random.Random(seed), [], [], []
    for number in range(1, edits + 1):
        document = chance.choice(documents)
        document.edit(chance)
        start = time.perf_counter()
        document.parse()
        parses.append(time.perf_counter() - start)
        uri, version = document.path.as_uri(), document.version
        change = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": document.text}]}
        start = time.perf_counter()
        client.send("textDocument/didChange", change)
        client.diagnostics(uri, version)
        waits.append(time.perf_counter() - start)
        if number % max(edits // 10, 1) == 0:
            memory.append(client.memory())
    client.process.kill()
    lengths = {document.path.name: len(document.original) for document in documents}
    return Latency(lengths, sorted(waits), parses, memory, client.messages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = latency(options.files, options.edits, options.seed)
    late, memory = found.waits[int(0.95 * (len(found.waits) - 1))], found.memory
    listed = ", ".join(f"{name} ({lines} lines)" for name, lines in found.lines.items())
    print(f"{listed}: {options.edits} edits, seed {options.seed}")
    ratio = found.median / found.parse
    print(f"median {found.median * 1000:.0f} ms ({ratio:.1f} x parsing), 95th percentile {late * 1000:.0f} ms")
    print(f"MiB of memory after each tenth of the edits: {', '.join(f'{used:.0f}' for used in memory)}")
    print(f"growth after the first tenth: {100 * (memory[-1] / memory[0] - 1):.0f} %" if memory[0] else "")
    print(*found.messages, sep="\n", end="")
    raise SystemExit(bool(found.messages))


if __name__ == "__main__":
    try:
        main()
    except EOFError as error:
        raise SystemExit(str(error)) from None
