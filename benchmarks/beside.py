"""Two revisions of modellint in turns on the same machine: what each figure is now, as a ratio to what it was.

`cost.py --beside REVISION` prints it. Processor time is that of a process and its children, or of the language server
from a keystroke to its diagnostics; that of one revision is measured right after that of the other.
"""

from __future__ import annotations

import ast
import os
import statistics
import subprocess
import sys
import tarfile
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from editor import Client
from run import MEBIBYTE, Measurement, modellint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]
#: Files of transformers that were drawn once, at random.
FIXED = Path(__file__).with_name("fixed150.txt")
#: Research repositories, small to large, at the commits that are checked.
RESEARCH = {
    "JingweiZuo/GCN-M": "2f0d67d11b8a",
    "DBD-research-group/BirdSet": "86a0777cae76",
    "heli-qi/SpeeChain": "92be03bd188b",
}
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Revision:
    """A revision of modellint whose packages lie in a folder."""

    name: str
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which Python imports this revision."""
        return {**os.environ, "PYTHONPATH": str(self.folder)}


def work_tree(folder: Path) -> Revision:
    """The packages of this checkout as they are."""
    return _linked("here", ROOT, folder)


def revision(name: str, folder: Path) -> Revision:
    """The packages of a commit of this repository. Raises SystemExit if git knows none of this name."""
    command = ["git", "-C", str(ROOT), "archive", name, "modellint", "rules"]
    found = subprocess.run(command, capture_output=True, check=False)
    if found.returncode:
        raise SystemExit(f"--beside {name}: expected a revision of this repository: {found.stderr.decode().strip()}")
    with tarfile.open(fileobj=BytesIO(found.stdout)) as archive:
        archive.extractall(folder / "tree", filter="data")
    return _linked(name, folder / "tree", folder / "packages")


def _linked(name: str, tree: Path, folder: Path) -> Revision:
    folder.mkdir(parents=True)
    for package, source in {"modellint": "modellint", "modellint_rules": "rules"}.items():
        (folder / package).symlink_to(tree / source)
    return Revision(name, folder)


@dataclass
class Pair:
    """What a figure took of two revisions, in seconds of processor time, and at most in bytes."""

    name: str
    seconds: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    peaks: list[int] = field(default_factory=lambda: [0, 0])

    def row(self) -> str:
        """The cells of a row: the least of each, their ratio, the least and the most that a pair gave, memory."""
        ours, theirs = map(min, self.seconds)
        ratios = [a / b for a, b in zip(*self.seconds, strict=True) if b]
        span = f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else ""
        memory = " | ".join(f"{peak / MEBIBYTE:.0f}" if peak else "" for peak in self.peaks)
        ratio = f"{ours / theirs:.2f}" if theirs else ""
        return f"{self.name} | {ours:.2f} | {theirs:.2f} | **{ratio}** | {span} | {memory}"


def checks(pair: tuple[Revision, Revision], name: str, arguments: Sequence[str], repetitions: int) -> Pair:
    """Check the same paths with both revisions in turns."""
    found = Pair(name)
    for _ in range(repetitions):
        for number, each in enumerate(pair):
            command = modellint("--quiet", "--no-cache", "--jobs", "1", *arguments)
            run = Measurement(name, command, environment=each.environment, folder=each.folder)
            run.run(record=True)
            found.seconds[number].append(run.processor[0])
            found.peaks[number] = max(found.peaks[number], run.peak_bytes)
    return found


def start_up(pair: tuple[Revision, Revision], empty: Path, repetitions: int) -> Pair:
    """Check an empty file."""
    empty.write_text("", encoding="utf-8")
    return checks(pair, "an empty file", [str(empty)], max(repetitions, 9))


def research(mirrors: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """The files of the research repositories that `mirrors` has as bare git directories (OWNER+NAME/repo)."""
    for name, commit in RESEARCH.items():
        git = mirrors / name.replace("/", "+") / "repo"
        if not git.exists():
            print(f"{name}: not in {mirrors}, left out", file=sys.stderr)
            continue
        archive = subprocess.run(["git", "--git-dir", str(git), "archive", commit], capture_output=True, check=True)
        with tarfile.open(fileobj=BytesIO(archive.stdout)) as tree:
            tree.extractall(folder / name, filter="data")
        yield name, folder / name


#: How a text changes in the longest function of a file: each edit has a number.
Edit = "Callable[[list[str], ast.FunctionDef, int], None]"


def _comment(lines: list[str], function: ast.FunctionDef, number: int) -> None:
    lines.insert(function.body[-1].lineno - 1, f"{_indent(function)}# note {number}\n")


def _body(lines: list[str], function: ast.FunctionDef, number: int) -> None:
    lines.insert(function.body[-1].lineno - 1, f"{_indent(function)}noted = {number}\n")


def _signature(lines: list[str], function: ast.FunctionDef, number: int) -> None:
    at, name = function.lineno - 1, function.name
    lines[at] = lines[at].replace(f"def {name}", f"def {name}_{number}", 1)


def _half_typed(lines: list[str], function: ast.FunctionDef, number: int) -> None:
    lines.insert(function.body[-1].lineno - 1, f"{_indent(function)}noted_{number} = self.(\n")


def _indent(function: ast.FunctionDef) -> str:
    return " " * function.body[-1].col_offset


EDITS: dict[str, Callable[[list[str], ast.FunctionDef, int], None]] = {
    "comment": _comment,
    "body": _body,
    "signature": _signature,
    "half-typed": _half_typed,
}


class Typist:
    """An editor with one file, and the language server of one revision."""

    def __init__(self, each: Revision, path: Path) -> None:
        self._client = Client(path.parent, environment=each.environment)
        self._uri, self._text, self._version = path.as_uri(), path.read_text(encoding="utf-8"), 0
        item = {"uri": self._uri, "languageId": "python", "version": 0, "text": self._text}
        self._client.send("textDocument/didOpen", {"textDocument": item})
        self._client.diagnostics(self._uri, 0)

    def cost(self, kind: str, number: int) -> float:
        """Seconds of processor time from an edit to its diagnostics; the edit is taken back."""
        lines = self._text.splitlines(keepends=True)
        functions = [node for node in ast.walk(ast.parse(self._text)) if isinstance(node, ast.FunctionDef)]
        longest = max(functions, key=lambda node: ((node.end_lineno or 0) - node.lineno, node.lineno))
        EDITS[kind](lines, longest, number)
        before = self._client.processor()
        self._change("".join(lines))
        after = self._client.processor()
        self._change(self._text)
        return after - before

    def _change(self, text: str) -> None:
        self._version += 1
        document = {"uri": self._uri, "version": self._version}
        self._client.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        self._client.diagnostics(self._uri, self._version)

    def close(self) -> None:
        self._client.process.kill()


def keystrokes(pair: tuple[Revision, Revision], path: Path, repetitions: int) -> Iterator[Pair]:
    """The median cost of each kind of edit in a file, `repetitions` of each in turns."""
    typists = [Typist(each, path) for each in pair]
    try:
        for kind in EDITS:
            costs: tuple[list[float], list[float]] = ([], [])
            for number in range(repetitions):
                for typist, found in zip(typists, costs, strict=True):
                    found.append(typist.cost(kind, number))
            yield Pair(f"{path.name}, {kind}", ([statistics.median(costs[0])], [statistics.median(costs[1])]))
    finally:
        for typist in typists:
            typist.close()


def print_pairs(title: str, pairs: Iterator[Pair], pair: tuple[Revision, Revision]) -> None:
    """Print a Markdown table, each row as soon as it is there."""
    print(f"\n### {title}\n")
    print(f"| | {pair[0].name} s | {pair[1].name} s | ratio | of pairs | {pair[0].name} MiB | {pair[1].name} MiB |")
    print(f"|---|{'---:|' * 6}")
    for found in pairs:
        print(f"| {found.row()} |", flush=True)
