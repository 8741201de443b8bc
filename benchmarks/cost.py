"""What modellint costs, in ratios and counts: the table that is printed before and after a change of the engine.

    python benchmarks/cost.py [house] [files] [tree] [editor] [recipes] [--by-rule] [--calls]
    python benchmarks/cost.py --beside REVISION [--mirrors FOLDER] [--repetitions 3]

Processor time is that of a process and its children, and told as a multiple of `floor.py`, which calls `ast.parse` on
the same files and does nothing else. Counts (bodies run, steps, …) are taken in a run of their own by `counting.py` and
do not change with what else the machine does. `--beside` runs this checkout and another revision in turns instead, on
one machine, and prints the ratio of each figure. Nothing is asserted: the tables are for reading.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import beside
import house
from editor import latency
from one_rule import one_rule_lines
from run import MEBIBYTE, Measurement, download, floor, modellint
from run import SINGLE_FILE as LLAMA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: What is checked, as releases that do not change.
PACKAGES = {"transformers": "5.23.0", "x_transformers": "2.31.10", "timm": "1.0.31", "speechbrain": "1.1.0"}
OMNI = "models/qwen3_omni_moe/modeling_qwen3_omni_moe.py"
LARGEST = 40
QUARTER = 4
FLOOR_REPETITIONS = 5
TABLES = ("house", "files", "tree", "editor", "recipes")
#: Headings of what is counted, and what `counting.py` calls it.
COUNTS = {
    "bodies run": "bodies",
    "by function and class": "bodies by function and class",
    "by function": "bodies by function",
    "steps": "steps",
    "interpreters": "interpreters",
    "files parsed": "parsed",
    "bodies lowered": "lowered",
    "calls": "calls",
}
RECIPE_FLOOR = """
import ast, sys, warnings, yaml
warnings.simplefilter("ignore")
for path in sys.stdin.read().splitlines():
    with open(path, "rb") as file:
        try:
            ast.parse(file.read()) if path.endswith(".py") else yaml.compose(file, Loader=yaml.CSafeLoader)
        except (SyntaxError, ValueError, yaml.YAMLError):
            pass
"""


@dataclass(frozen=True)
class Row:
    """A run, next to seconds of parsing the same files, and of an empty interpreter where that matters."""

    name: str
    run: Measurement
    floor: float
    empty: float | None
    counts: dict[str, int]


@dataclass(frozen=True)
class Bench:
    """How often everything runs, and what is counted."""

    scratch: Path
    repetitions: int
    calls: bool

    def row(self, name: str, paths: Sequence[str], *options: str, counted: bool = True, single: bool = False) -> Row:
        """Check `paths`, without a cache unless the options name one; `single` compares with an empty interpreter."""
        flags = options if "--cache-dir" in options else ("--no-cache", *options)
        jobs = () if "--jobs" in options else ("--jobs", "1")
        arguments = ["--quiet", *flags, *jobs, *paths]
        run = _measured(name, modellint(*arguments), self.repetitions)
        counts = self._counts(arguments) if counted else {}
        empty = _least([sys.executable, "-c", "pass"]) if single else None
        return Row(name, run, _least(floor(*paths)), empty, counts)

    def _counts(self, arguments: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for kind in ("work", "calls") if self.calls else ("work",):
            file = self.scratch / f"{kind}.json"
            program = [sys.executable, str(Path(__file__).with_name("counting.py")), str(file), kind, "check"]
            Measurement(kind, [*program, "--isolated", *arguments]).run(record=False)
            found.update(json.loads(file.read_text(encoding="utf-8")))
        return found


def _measured(name: str, command: list[str], repetitions: int) -> Measurement:
    measurement = Measurement(name, command)
    for _ in range(repetitions):
        measurement.run(record=True)
    return measurement


def _least(command: list[str]) -> float:
    """The least processor time of a command that takes little, in seconds."""
    return min(_measured("floor", command, FLOOR_REPETITIONS).processor)


def print_table(title: str, rows: Sequence[Row], least: str = "`ast.parse`") -> None:
    """Print a Markdown table, without columns that are empty in all rows."""
    columns: dict[str, Callable[[Row], str]] = {
        f"x {least}": lambda row: _ratio(min(row.run.processor), row.floor),
        "x empty": lambda row: "" if row.empty is None else _ratio(min(row.run.processor), row.empty),
        **{
            head: lambda row, key=key: f"{row.counts[key]:,}" if key in row.counts else ""
            for head, key in COUNTS.items()
        },
        "peak MiB": lambda row: f"{row.run.peak_bytes / MEBIBYTE:.0f}" if row.run.peak_bytes else "",
        "processor s": lambda row: f"{min(row.run.processor):.2f}",
        "wall s": lambda row: f"{min(row.run.seconds):.2f}",
    }
    shown = {head: [cell(row) for row in rows] for head, cell in columns.items()}
    shown = {head: cells for head, cells in shown.items() if any(cells)}
    print(f"\n### {title}\n")
    print(f"| | {' | '.join(shown)} |")
    print(f"|---|{'---:|' * len(shown)}")
    for number, row in enumerate(rows):
        print(f"| {row.name} | {' | '.join(cells[number] for cells in shown.values())} |", flush=True)


def _ratio(seconds: float, unit: float) -> str:
    return f"{seconds / unit:.1f}" if unit else ""


class Trees:
    """The unpacked wheels, fetched when they are asked for."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    def tree(self, package: str) -> Path:
        return download(self._cache, package, PACKAGES[package]).resolve()

    @property
    def transformers(self) -> Path:
        return self.tree("transformers")

    def modeling(self, file: str) -> Path:
        return self.transformers / "transformers" / file

    def largest(self) -> list[str]:
        """The largest modeling files of transformers."""
        found = (self.transformers / "transformers/models").glob("*/modeling_*.py")
        return [str(path) for path in sorted(found, key=lambda path: (-path.stat().st_size, path))[:LARGEST]]


def files_table(trees: Trees, bench: Bench) -> None:
    largest = trees.largest()
    packages = {"x_transformers": "x_transformers", "timm/models": "timm", "speechbrain": "speechbrain"}
    rows = [
        *(bench.row(Path(file).name, [str(trees.modeling(file))], single=True) for file in (LLAMA, OMNI)),
        bench.row(f"the {len(largest)} largest modeling files", largest),
        *(bench.row(folder, [str(trees.tree(package) / folder)]) for folder, package in packages.items()),
    ]
    print_table("Files, cold, one process", rows)


def tree_table(trees: Trees, bench: Bench) -> None:
    tree = trees.transformers
    quarter = [str(path) for path in sorted(tree.rglob("*.py"))[::QUARTER]]
    cache = ("--cache-dir", str(bench.scratch / "cache"))
    once = Bench(bench.scratch, 1, bench.calls)  # a second run would find the cache
    rows = [
        bench.row("cold, one process", [str(tree)]),
        once.row("cold, two processes, writing the cache", [str(tree)], *cache, "--jobs", "2", counted=False),
        bench.row("warm, one process", [str(tree)], *cache, counted=False),
        bench.row(f"every {QUARTER}th file, cold, one process", quarter),
    ]
    print_table(f"{tree.name}, {len(list(tree.rglob('*.py')))} files", rows)


def rules_table(trees: Trees, bench: Bench) -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "modellint", "rules", "--output-format", "json"], capture_output=True, check=True
    )
    largest, codes = trees.largest(), [rule["code"] for rule in json.loads(listed.stdout)]
    rows = [bench.row(code, largest, "--select", code) for code in codes]
    rows.sort(key=lambda row: -min(row.run.processor))
    print_table(f"Each rule alone, on the {len(largest)} largest modeling files", rows)


def editor_table(trees: Trees, edits: int) -> None:
    print(f"\n### Editor: a change to its diagnostics, {edits} edits\n")
    print("| file | median x `ast.parse` | median ms | slowest ms | MiB |\n|---|---:|---:|---:|---:|")
    for file in (LLAMA, OMNI):
        found = latency([trees.modeling(file)], edits, seed=0)
        if found.messages:
            raise SystemExit("\n".join(found.messages))
        times = f"{found.median * 1000:.0f} | {found.waits[-1] * 1000:.0f}"
        ratio = _ratio(found.median, found.parse)
        print(f"| {Path(file).name} | {ratio} | {times} | {found.memory[-1]:.0f} |", flush=True)


def recipes_table(clone: Path, bench: Bench) -> None:
    folder = clone.resolve() / "recipes"
    command = modellint("--show-files", str(folder))
    listed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout.splitlines()
    paths = [os.path.join(folder, path) for path in listed if path.endswith((".py", ".yaml", ".yml"))]
    names = bench.scratch / "files"
    names.write_text("\n".join(paths), encoding="utf-8")
    least = _least([sys.executable, "-c", f"import sys; sys.stdin = open({str(names)!r})\n{RECIPE_FLOOR}"])
    cache, whole = ("--cache-dir", str(bench.scratch / "recipes")), [str(folder)]
    once = Bench(bench.scratch, 1, bench.calls)
    rows = [
        bench.row("cold, one process", whole),
        once.row("cold, two processes, writing the cache", whole, *cache, "--jobs", "2", counted=False),
        bench.row("warm, one process", whole, *cache, counted=False),
    ]
    rows = [Row(row.name, row.run, least, None, row.counts) for row in rows]
    scripts = sum(path.endswith(".py") for path in paths)
    title = f"Recipes of speechbrain, {len(paths) - scripts} YAML and {scripts} Python files"
    print_table(title, rows, "`yaml.compose` and `ast.parse`")


def house_table(source: Path) -> None:
    found = house.read(source)
    lines = one_rule_lines(found)
    modes = found.mode_tests()
    longest = "; ".join(f"{name.rpartition('.')[2]} {count}" for name, count in sorted(modes.items(), key=_by_count))
    print("\n### The house\n\n| | | |\n|---|---:|---|")
    print(f"| lines of `flow/` and `link/` that serve exactly one rule | {sum(lines.values()):,} | {_listed(lines)} |")
    print(f"| lines in `flow/` that test a mode of the interpreter | {sum(modes.values())} | {longest} |")
    every, running, starting = (
        found.cycle(typing=typing, late=late) for typing, late in ((True, True), (False, True), (False, False))
    )
    print(f"| largest import cycle, those for typing included | {len(every)} | {_packages(every)} |")
    print(f"| without those for typing | {len(running)} | {_packages(running)} |")
    print(f"| and without those inside of functions | {len(starting)} | {_packages(starting)} |")
    print("\n| room | lines |\n|---|---:|")
    for room, count in sorted(found.rooms().items(), key=_by_count):
        print(f"| {room} | {count:,} |")


def _by_count(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _listed(lines: dict[str, int]) -> str:
    return "; ".join(
        f"{rule.partition('_')[0].upper()} {count}" for rule, count in sorted(lines.items(), key=_by_count)
    )


def _packages(modules: list[str]) -> str:
    """How many modules of a cycle stand in which package."""
    if len(modules) < 2:
        return "none"
    packages = [name.rpartition(".")[0] for name in modules]
    return "; ".join(
        f"{name} {count}" for name, count in sorted({p: packages.count(p) for p in packages}.items(), key=_by_count)
    )


def beside_tables(name: str, trees: Trees, mirrors: Path | None, scratch: Path, repetitions: int) -> None:
    pair = beside.work_tree(scratch / "here"), beside.revision(name, scratch / "there")
    tree = trees.transformers
    fixed = [str(tree / path) for path in beside.FIXED.read_text(encoding="utf-8").split()]
    neighbours = [str(path) for path in sorted((tree / "transformers/models").glob("[c-d]*/**/*.py"))]
    inputs = {
        **{Path(file).name: [str(trees.modeling(file))] for file in (LLAMA, OMNI)},
        f"{len(fixed)} fixed files": fixed,
        f"{len(neighbours)} files of models/[c-d]*": neighbours,
        **{name: [str(folder)] for name, folder in (beside.research(mirrors, scratch / "research") if mirrors else ())},
    }

    def checked() -> Iterator[beside.Pair]:
        yield beside.start_up(pair, scratch / "empty.py", repetitions)
        for title, paths in inputs.items():
            yield beside.checks(pair, title, paths, repetitions)

    def typed() -> Iterator[beside.Pair]:
        for file in (LLAMA, OMNI):
            yield from beside.keystrokes(pair, trees.modeling(file), max(repetitions, 5))

    beside.print_pairs("Checks, cold, one process", checked(), pair)
    beside.print_pairs("Editor: processor time of the server from an edit to its diagnostics", typed(), pair)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)}; all of them by default")
    parser.add_argument(
        "--cache",
        "--trees",
        type=Path,
        default=Path(tempfile.gettempdir()) / "modellint-benchmarks",
        help="folder of the unpacked wheels (NAME-VERSION), which get there by pip",
    )
    parser.add_argument("--repetitions", type=int, default=1, help="runs of each command, of which the least counts")
    parser.add_argument(
        "--calls", action="store_true", help="count calls of functions, too, which takes thrice as long"
    )
    parser.add_argument("--by-rule", action="store_true", help="with `files`: each rule alone on the largest files")
    parser.add_argument("--edits", type=int, default=40, help="edits of each file in the editor")
    parser.add_argument("--speechbrain", type=Path, metavar="CLONE", help="a checkout of speechbrain, for `recipes`")
    parser.add_argument(
        "--source", type=Path, default=Path(__file__).resolve().parents[1], help="checkout of modellint, for `house`"
    )
    parser.add_argument("--beside", metavar="REVISION", help="compare this checkout with a revision of it, in turns")
    parser.add_argument("--mirrors", type=Path, help="with --beside: bare clones (OWNER+NAME/repo) of repositories")
    options = parser.parse_args()
    tables = options.tables or TABLES
    for table in tables:
        if table not in TABLES:
            parser.error(f"there is no table {table!r}; expected some of {', '.join(TABLES)}")
    if "recipes" in options.tables and options.speechbrain is None:
        parser.error("`recipes` are those of a checkout; expected `--speechbrain CLONE` with it")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}")
    os.environ.pop("VIRTUAL_ENV", None)  # whose packages would be read, too
    trees = Trees(options.cache)
    with tempfile.TemporaryDirectory() as folder:
        if options.beside is not None:
            beside_tables(options.beside, trees, options.mirrors, Path(folder), options.repetitions)
            return
        bench = Bench(Path(folder), options.repetitions, options.calls)
        if "house" in tables:
            house_table(options.source)
        if "files" in tables:
            files_table(trees, bench)
            if options.by_rule:
                rules_table(trees, bench)
        if "tree" in tables:
            tree_table(trees, bench)
        if "editor" in tables:
            editor_table(trees, options.edits)
        if "recipes" in tables and options.speechbrain is not None:
            recipes_table(options.speechbrain, bench)


if __name__ == "__main__":
    main()
