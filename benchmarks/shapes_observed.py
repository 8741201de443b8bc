"""Whether the shapes that modellint tells are those that torch gives, in one call of each of the public classes.

    python benchmarks/shapes_observed.py --packages FOLDER [--only TEXT] [--python PYTHON] [--whole]
    python benchmarks/shapes_observed.py --script FILE --below FOLDER [--python PYTHON] [ARGUMENT ...]

The targets are those of `probes.toml`; each is built and called as by `modellint probe`, in a process of its own that
notes the shape and the type of each tensor that a line of the class's file assigns or returns (`--whole`: of all files
of its package). Or a script is run, and the files below a folder are watched.

Each place that was run is compared with what `modellint shapes` says of it. A size in symbols has no number before it
is run: the first one that a call shows binds the symbol, and all others of this call must agree. A difference is an
error of modellint, and gives exit code 1.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from probes import folder_of, targets

import modellint
from modellint.config import settings_for
from modellint.config.errors import UsageError
from modellint.confirm.battery import find
from modellint.confirm.setup import Setup
from modellint.flow.shapes.dtypes import can_agree
from modellint.flow.shapes.shown import tensors_on_lines
from modellint.graph.size import Quotient, Size, Symbol
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from modellint.flow.shapes.shown import Known

HERE = Path(__file__).parent
AGREES, BINDS, DIFFERS, OPEN, UNKNOWN = "agree", "bind", "differ", "not decided", "unknown"
#: The worst that can be said of a place comes first.
ORDER = (DIFFERS, AGREES, BINDS, OPEN, UNKNOWN)


class Seen(NamedTuple):
    """A tensor that was seen."""

    path: str
    kind: str
    line: int
    offset: int
    name: str
    first: int
    call: int
    is_inside: bool
    is_unusual: bool
    shape: tuple[int, ...]
    dtype: str


class Difference(NamedTuple):
    """A place where modellint says something else than torch."""

    path: str
    line: int
    name: str
    what: str
    told: str
    seen: str


class Call:
    """The numbers of the symbols in one call of a function."""

    def __init__(self) -> None:
        self._bound: dict[Symbol, int] = {}

    def judged(self, size: Size | None, number: int) -> str:
        """How a size that is told is to the number that was seen."""
        if size is None:
            return UNKNOWN
        value = self._value(size)
        if value is not None:
            return AGREES if value == number else DIFFERS
        return self._bind(size, number)

    def _value(self, size: Size) -> int | None:
        total = 0
        for key, factor in size.terms:
            for symbol in key:
                known = self._of(symbol)
                if known is None:
                    return None
                factor *= known
            total += factor
        return total

    def _of(self, symbol: Symbol) -> int | None:
        if isinstance(symbol, Quotient) and symbol.numerator is not None and symbol.denominator is not None:
            above, below = self._value(symbol.numerator), self._value(symbol.denominator)
            return above // below if above is not None and below else self._bound.get(symbol)
        return self._bound.get(symbol)

    def _bind(self, size: Size, number: int) -> str:
        """Bind the only symbol of a size that has no number yet: `2 * n + k`, where `k` is known."""
        left = {symbol for key, _ in size.terms for symbol in key if self._of(symbol) is None}
        if len(left) > 1:
            return OPEN
        (symbol,) = left
        factor, rest = 0, number
        for key, times in size.terms:
            others = [self._of(one) for one in key if one != symbol]
            if list(key).count(symbol) > 1:
                return OPEN
            product = times
            for other in others:
                assert other is not None
                product *= other
            if symbol in key:
                factor += product
            else:
                rest -= product
        if factor == 0:
            return AGREES if rest == 0 else DIFFERS
        if rest % factor or rest // factor < 0:
            return DIFFERS
        self._bound[symbol] = rest // factor
        return BINDS


def observed(request: Mapping[str, Any], python: str, seconds: int = 400) -> tuple[list[Seen], list[str]]:
    """What a run of the child saw, and the errors of it."""
    with tempfile.TemporaryDirectory() as folder:
        asked, output = Path(folder, "request.json"), Path(folder, "seen.json")
        asked.write_text(json.dumps({**request, "output": str(output)}), "utf-8")
        command = [python, str(HERE / "shapes_observer.py"), str(asked)]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return [], ["it took too long"]
        if not output.exists():
            return [], [done.stderr[-500:]]
        found = json.loads(output.read_text("utf-8"))
    seen = [Seen(**{**one, "shape": tuple(one["shape"])}) for one in found["seen"]]
    return seen, found["errors"]


class Told:
    """What modellint tells of a file: its tensors by kind and place."""

    def __init__(self, path: Path, root: Path) -> None:
        project = Project(ProjectOptions(root))
        module = project.python(path)
        self.places: dict[tuple[str, int, int], list[Known]] = defaultdict(list)
        #: The parameters, by the first line of their function and by name.
        self.parameters: dict[tuple[int, str], list[Known]] = defaultdict(list)
        if module is None:
            return
        tree = ast.parse(path.read_bytes())
        first, returned = _first_lines(tree), _returned(tree)
        for one in tensors_on_lines(module, project, list(module.placed.values())):
            place = one.written.line, one.written.offset
            if one.written.is_target and place in first:
                self.parameters[first[place], one.written.text].append(one)
            elif one.written.is_target:
                self.places[("store", *place)].append(one)
            if one.written.is_returned and place in returned:
                self.places[("return", *returned[place])].append(one)

    def of(self, seen: Seen) -> Sequence[Known]:
        """What is told of a tensor that was seen."""
        if seen.kind == "argument":
            return self.parameters.get((seen.first, seen.name), ())
        return self.places.get((seen.kind, seen.line, seen.offset), ())


@cache
def told_of(path: Path, root: Path) -> Told:
    return Told(path, root)


def _first_lines(tree: ast.AST) -> dict[tuple[int, int], int]:
    """The first line of the function (with its decorators) of each parameter, by its place."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
            first = min([node.lineno, *(one.lineno for one in decorators)])
            arguments = node.args
            for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                found[one.lineno, one.col_offset] = first
    return found


def _returned(tree: ast.AST) -> dict[tuple[int, int], tuple[int, int]]:
    """The place of each `return`, by that of what it returns."""
    returns = (node for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value is not None)
    return {
        (node.value.lineno, node.value.col_offset): (node.lineno, node.col_offset) for node in returns if node.value
    }


class Table:
    """The figures, and the differences."""

    def __init__(self) -> None:
        #: The verdicts on ranks, sizes and types, each with the place that it is about.
        self.ranks: dict[tuple[object, ...], str] = {}
        self.sizes: dict[tuple[object, ...], str] = {}
        self.types: dict[tuple[object, ...], str] = {}
        self.differences: dict[Difference, None] = {}
        #: Those of objects that were made with other classes than by default, and of images without a batch.
        self.unusual: set[tuple[object, ...]] = set()

    def compare(self, seen: Iterable[Seen]) -> None:
        """Compare what was seen in one process.

        modellint assumes of an argument that is a layer class by default that it is this class: with another one, what
        it tells is about other objects. It presumes that an image has a batch.
        """
        calls: dict[int, Call] = defaultdict(Call)
        for one in seen:
            if one.is_unusual:
                self.unusual.add((one.path, one.kind, one.line, one.offset, one.name, one.shape))
                continue
            root = package_folder(Path(one.path)).parent
            place = one.path, one.kind, one.line, one.offset, one.name
            known = told_of(Path(one.path), root).of(one)
            known = [told for told in known if told.is_of_root or one.is_inside]
            if not known:
                self._note_unknown((*place, one.shape), len(one.shape))
            for told in known:
                self._compare(told, one, calls[one.call], place)

    def _compare(self, told: Known, seen: Seen, call: Call, place: tuple[object, ...]) -> None:
        key = *place, seen.shape
        shape, rank = told.shape, len(seen.shape)
        words = f"{'?' if shape is None else shape} {told.dtype}"

        def note(table: dict[tuple[object, ...], str], at: tuple[object, ...], verdict: str, what: str) -> None:
            table[at] = min(table.get(at, UNKNOWN), verdict, key=ORDER.index)
            if verdict == DIFFERS:
                line = told.written.line
                shown = f"{list(seen.shape)} {seen.dtype}"
                self.differences[Difference(seen.path, line, told.name, what, words, shown)] = None

        if shape is None or (shape.star is not None and shape.least_rank <= rank):
            note(self.ranks, key, UNKNOWN, "rank")
        elif shape.rank != rank:
            note(self.ranks, key, DIFFERS, "rank")
            shape = None
        else:
            note(self.ranks, key, AGREES, "rank")
        sizes: list[Size | None] = [None] * rank
        if shape is not None:
            tail = [dim.size for dim in shape.tail]
            sizes[: len(shape.head)] = [dim.size for dim in shape.head]
            sizes = [*sizes[: rank - len(tail)], *tail]
        for number, (size, given) in enumerate(zip(sizes, seen.shape, strict=True)):
            note(self.sizes, (*key, number), call.judged(size, given), f"size {number}")
        if not told.dtype:
            note(self.types, key, UNKNOWN, "type")
        else:
            note(self.types, key, AGREES if can_agree(told.dtype, seen.dtype) else DIFFERS, "type")

    def _note_unknown(self, key: tuple[object, ...], rank: int) -> None:
        """Note a tensor of which nothing is told."""
        for table in (self.ranks, self.types):
            table.setdefault(key, UNKNOWN)
        for number in range(rank):
            self.sizes.setdefault((*key, number), UNKNOWN)

    def rows(self) -> Iterator[str]:
        """The table, as Markdown."""
        yield f"| | {' | '.join(ORDER)} |"
        yield f"|---|{'---:|' * len(ORDER)}"
        for name, verdicts in (("ranks", self.ranks), ("sizes", self.sizes), ("types", self.types)):
            numbers = Counter(verdicts.values())
            whole = max(1, len(verdicts))
            cells = (f"{numbers[word]} ({numbers[word] / whole:.0%})" for word in ORDER)
            yield f"| {name} | {' | '.join(cells)} |"


def package_folder(path: Path) -> Path:
    """The folder of the outermost package that a file lies in."""
    folder = path.parent
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


def requests(arguments: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the child is asked to run, with a name for it."""
    if arguments.script is not None:
        below = arguments.below.resolve()
        script = str(arguments.script.resolve())
        request = {"files": [], "below": str(below), "script": script, "argv": arguments.arguments}
        yield str(arguments.script), request
        return
    for package, target, _ in targets(arguments.only):
        folder = folder_of(package, arguments.packages)
        if folder is None:
            print(f"{package} is not there", file=sys.stderr)
            continue
        python = Path(arguments.python)
        settings = settings_for([folder], isolated=True).with_options(python=python)
        try:
            found = find(str(folder / target) if "::" in target else target, settings, Setup(python, (str(folder),)))
        except UsageError as error:
            print(f"{target}: {error}", file=sys.stderr)
            continue
        path = found.path.resolve()
        files = [] if arguments.whole else [str(path)]
        below = str(package_folder(path)) if arguments.whole else ""
        request = {
            "files": files,
            "below": below,
            "target": {"path": str(path), "name": found.name},
            "roots": [str(package_folder(path).parent), str(folder)],
            "confirm": str(Path(modellint.__file__).parent / "confirm"),
        }
        yield f"{package}: {target}", request


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--script", type=Path)
    parser.add_argument("--below", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("arguments", nargs="*")
    arguments = parser.parse_args()
    table, ran, number = Table(), 0, 0
    for name, request in requests(arguments):
        number += 1
        seen, errors = observed(request, arguments.python)
        ran += bool(seen) or not errors
        for error in errors:
            print(f"{name}: {error[-300:]}", file=sys.stderr)
        known = len(table.differences)
        table.compare(seen)
        for one in list(table.differences)[known:]:
            print(f"{one.path}:{one.line}: {one.name}: {one.what}: {one.told}, seen {one.seen}", flush=True)
    print(
        f"{ran} of {number} were run; {len(table.ranks)} tensors at {len({key[:-1] for key in table.ranks})} places; "
        f"left out: {len(table.unusual)} of objects that were made with other classes than by default, or of images "
        f"without a batch\n"
    )
    print("\n".join(table.rows()))
    return int(bool(table.differences))


if __name__ == "__main__":
    raise SystemExit(main())
