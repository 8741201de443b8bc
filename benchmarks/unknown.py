"""The sheet for reading what modellint says of repositories that nobody has looked at.

    python benchmarks/unknown.py FOLDER… --sheet sample.csv     check each repository, and write a row for each finding
    python benchmarks/unknown.py --sheet sample.csv             print the sums of a sheet

A FOLDER is a checkout, or a bare git directory (or has it as `repo`) of which the newest commit is checked. The
sheet has each finding with the code around it, a column for the verdict and one for the cause of what is wrong. Rows
keep what was written into them when a repository is checked again; rows that a reader adds (`missed`) stay, too.
`docs/unknown-code.md` says how a sample is drawn and read.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from run import MEBIBYTE, Measurement, floor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COLUMNS = (
    "repository",
    "commit",
    "path",
    "line",
    "code",
    "severity",
    "confidence",
    "message",
    "around",
    "verdict",
    "cause",
)
#: What identifies a row when a repository is checked again.
KEY = ("repository", "path", "line", "code", "message")
#: What a reader writes: the code does what is said and breaks; it would, if something else came; it is so, and nobody
#: cares; it is not so; a mistake that is there, and was not told.
VERDICTS = ("true", "latent", "noise", "false", "missed")
#: Files that are read line by line for what was missed hold one of these.
_MODELS = ("nn.Module", "torch.nn", "LightningModule")

Row = dict[str, str]


@dataclass(frozen=True)
class Checked:
    """What a check of a repository cost, and its rows."""

    name: str
    files: int
    lines: int
    rows: list[Row]
    run: Measurement
    parse: float

    @property
    def cells(self) -> str:
        """The cells of its row in the table of costs."""
        levels = Counter(row["severity"] for row in self.rows)
        counts = " | ".join(str(levels[level]) for level in ("error", "warning", "info"))
        ratio = self.run.processor[0] / self.parse if self.parse else 0
        cost = f"{self.run.processor[0]:.1f} | {ratio:.0f} | {self.run.peak_bytes / MEBIBYTE:.0f}"
        return f"{self.name} | {self.files} | {self.lines:,} | {counts} | {cost}"


def unpacked(folder: Path, scratch: Path) -> tuple[str, str, Path]:
    """The name, the commit and the files of a repository. Raises SystemExit if the folder is none."""
    bare = next((each for each in (folder / "repo", folder) if (each / "HEAD").is_file()), None)
    git = ["git", "--git-dir", str(bare)] if bare else ["git", "-C", str(folder)]
    found = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if not folder.is_dir() or (bare is not None and found.returncode):
        raise SystemExit(f"{folder}: expected a checkout, or a bare git directory")
    name, commit = folder.resolve().name.replace("+", "/"), found.stdout.strip()[:12] if not found.returncode else ""
    if bare is None:
        return name, commit, folder.resolve()
    _write(git, commit, scratch / name)
    return name, commit, scratch / name


def _write(git: list[str], commit: str, folder: Path) -> None:
    """Write the files of a commit, but for links and for those that the repository lacks.

    A mark tells that the project ends there, as its checkout would: what lies around it is not searched.
    """
    (folder / ".hg").mkdir(parents=True)
    listed = subprocess.run([*git, "ls-tree", "-r", "-z", commit], capture_output=True, check=True).stdout.split(b"\0")
    entries = [line.split(b"\t", 1) for line in listed if line.startswith(b"100")]
    asked = b"".join(head.split()[2] + b"\n" for head, _ in entries)
    found = BytesIO(subprocess.run([*git, "cat-file", "--batch"], input=asked, capture_output=True, check=True).stdout)
    for _, path in entries:
        head = found.readline().split()
        if head[1] != b"missing":
            file = folder / os.fsdecode(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(found.read(int(head[2])))
            found.read(1)


def checked(name: str, commit: str, root: Path, scratch: Path, context: int) -> Checked:
    """Check a repository as its users would, without settings of its own, and without what lies around it."""
    beside = scratch.resolve() / "beside"  # a folder above the repository would be the root of what is searched
    beside.mkdir()
    report = beside / "report.json"
    command = [sys.executable, "-m", "modellint", "check", "--isolated", "--no-cache", "--jobs", "1"]
    command += ["--output-format", "json", "--output-file", str(report), str(root)]
    run = Measurement(name, command, folder=beside)
    run.run(record=True)
    parse = Measurement("floor", floor(str(root)))
    parse.run(record=True)
    found = json.loads(report.read_text("utf-8"))
    python = list(root.rglob("*.py"))
    lines = sum(path.read_bytes().count(b"\n") for path in python if path.is_file())
    rows = [_row(name, commit, root, beside / finding["path"], finding, context) for finding in found["findings"]]
    return Checked(name, found["files_checked"], lines, rows, run, parse.processor[0])


def _row(name: str, commit: str, root: Path, file: Path, finding: Any, context: int) -> Row:
    path = file.resolve()
    within = path.relative_to(root.resolve()) if path.is_relative_to(root.resolve()) else path
    told = {column: str(finding[column]) for column in ("line", "code", "severity", "confidence", "message")}
    around = _around(Path(str(path).partition("#")[0]), finding["line"], context)
    read_by_people = {"around": around, "verdict": "", "cause": ""}
    return {"repository": name, "commit": commit, "path": within.as_posix(), **told, **read_by_people}


def _around(path: Path, line: int, context: int) -> str:
    """The lines around one, numbered, with a mark before it."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    first = max(line - context, 1)
    numbered = enumerate(lines[first - 1 : line + context], first)
    return "\n".join(f"{'>' if number == line else ' '}{number:5} {text}" for number, text in numbered)


def read(sheet: Path) -> list[Row]:
    """The rows of a sheet. Raises SystemExit where a column is absent, or a verdict is none."""
    with sheet.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if missing := {*COLUMNS} - {*(reader.fieldnames or ())}:
            raise SystemExit(
                f"{sheet}: expected the columns {', '.join(COLUMNS)}; there is no {', '.join(sorted(missing))}"
            )
        rows = [{column: row[column] or "" for column in COLUMNS} for row in reader]
    for number, row in enumerate(rows, 1):
        if row["verdict"] not in ("", *VERDICTS):
            expected = ", ".join(VERDICTS)
            raise SystemExit(f"{sheet}: row {number}: expected {expected} as the verdict, found {row['verdict']!r}")
    return rows


def write(sheet: Path, rows: Iterable[Row]) -> None:
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def merged(before: list[Row], after: list[Row], repositories: set[str]) -> list[Row]:
    """The rows of a sheet after some repositories were checked again: verdicts stay with what is still found."""
    known = {tuple(row[column] for column in KEY): row for row in before}
    kept = [row for row in before if row["repository"] not in repositories or row["verdict"] == "missed"]
    told = [
        {**row, **{column: known.get(tuple(row[one] for one in KEY), row)[column] for column in ("verdict", "cause")}}
        for row in after
    ]
    return sorted((*kept, *told), key=lambda row: (row["repository"], row["path"], int(row["line"] or 0), row["code"]))


def sums(rows: list[Row]) -> Iterator[str]:
    """Markdown tables of verdicts by severity, by rule and by cause."""
    for column, heading in (("severity", "severity"), ("code", "rule"), ("cause", "cause of what is false or missed")):
        wrong = [row for row in rows if row["verdict"] in ("false", "missed")] if column == "cause" else rows
        names = sorted({row[column] for row in wrong})
        yield f"\n| {heading} | {' | '.join(VERDICTS)} | unread |\n|---|{'---:|' * (len(VERDICTS) + 1)}"
        for name in (*names, None):
            of_name = [row for row in wrong if name is None or row[column] == name]
            counts = Counter(row["verdict"] for row in of_name)
            title = "**all**" if name is None else name or "(none)"
            yield f"| {title} | {' | '.join(str(counts[each]) for each in (*VERDICTS, ''))} |"


def part(root: Path, name: str, count: int) -> list[str]:
    """Files with models, drawn by the name of the repository, to be read line by line for what was missed."""
    paths = [path for path in sorted(root.rglob("*.py")) if path.is_file()]
    models = [path for path in paths if any(word in path.read_text("utf-8", "replace") for word in _MODELS)]
    drawn = random.Random(name).sample(models, min(count, len(models)))
    return sorted(path.relative_to(root).as_posix() for path in drawn)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--sheet", type=Path, required=True, help="the CSV file to write, or to sum up")
    parser.add_argument("--context", type=int, default=8, help="lines of code before and after a finding")
    parser.add_argument("--part", type=int, default=2, help="files of each repository to read line by line")
    options = parser.parse_args()
    rows = read(options.sheet) if options.sheet.exists() else []
    if options.folders:
        print("| repository | files | lines | errors | warnings | infos | s | x `ast.parse` | MiB |")
        print(f"|---|{'---:|' * 8}")
    elif not options.sheet.exists():
        parser.error(f"{options.sheet}: expected a sheet, or folders to check")
    to_read: list[str] = []
    for folder in options.folders:
        with tempfile.TemporaryDirectory() as scratch:
            name, commit, root = unpacked(folder, Path(scratch))
            found = checked(name, commit, root, Path(scratch), options.context)
            print(f"| {found.cells} |", flush=True)
            to_read += [f"- {name}: `{path}`" for path in part(root, name, options.part)]
        rows = merged(rows, found.rows, {name})
        write(options.sheet, rows)
    if to_read:
        print("\nTo be read line by line for what was missed:\n", *to_read, sep="\n")
    print(*sums(rows), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
