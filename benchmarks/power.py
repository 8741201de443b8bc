"""What share of the mistakes in the engine that a full run of the tests catches is caught by a run that takes a part.

    python benchmarks/power.py plant mutants.json                     plant a hundred mutants, at random
    python benchmarks/power.py examples mutants.json                  which of them the examples of the rules catch
    python benchmarks/power.py rewritings mutants.json                and which of the others rewritten examples
    python benchmarks/power.py ledger mutants.json --corpus FOLDER    and which of these the packages of the ledger
    python benchmarks/power.py table mutants.json                     print the shares

Each step adds what it found to the file. Mutants that examples do not catch are planted together, and what then differs
is tried for each alone: a pair of a rewriting and an example, or a file of a package. A third of the pairs and a sixth
of the files without findings take their turn in a run; the table counts, for each turn, what would have been caught.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.machinery
import io
import json
import os
import random
import re
import resource
import subprocess
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests"), str(ROOT / "tests/corpus")]

#: How many mutants come from where.
PLACES = {"modellint/flow": 60, "modellint/operators": 10, "rules": 30}
#: Pairs and files of which one in so many takes its turn.
PAIRS, FILES = 3, 6
#: Seconds of processor time after which a mutant that the examples do not end with counts as caught.
LONGEST = 300
_OPPOSITE = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip

Mutant = dict[str, Any]


# ---- planting


def plant(seed: int) -> list[Mutant]:
    """Mutants at random places: at most one in a function, and as many as `PLACES` says."""
    chance, found = random.Random(seed), []
    for folder, count in PLACES.items():
        rows = list(_rows()) if folder == "modellint/operators" else []
        places = rows or [place for path in _sources(folder) for place in _mutations(path)]
        chance.shuffle(places)
        taken: set[tuple[str, str]] = set()
        for mutant in places:
            key = mutant["path"], mutant["function"]
            if len(taken) < count and key not in taken and _is_one(mutant):
                taken.add(key)
                found.append(mutant)
    return found


def _is_one(mutant: Mutant) -> bool:
    """Whether a file parses with a mutant, and is another program then."""
    before = (ROOT / mutant["path"]).read_text("utf-8")
    with contextlib.suppress(SyntaxError):
        (after,) = mutated([mutant]).values()
        return ast.dump(ast.parse(before)) != ast.dump(ast.parse(after))
    return False


def _sources(folder: str) -> Iterator[Path]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        if not {"bad", "good", "fixed"} & {*path.relative_to(ROOT).parts}:
            yield path


def _mutations(path: Path) -> Iterator[Mutant]:
    """All that can be changed in the functions of a file."""
    code = path.read_bytes()
    starts = [0, *(found.end() for found in re.finditer(b"\n", code))]
    for function in ast.walk(ast.parse(code)):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for node in ast.walk(function):
                for kind, new in _changes(node):
                    start = starts[node.lineno - 1] + node.col_offset
                    old = code[start : starts[node.end_lineno - 1] + node.end_col_offset].decode()
                    yield {
                        "path": path.relative_to(ROOT).as_posix(),
                        "function": function.name,
                        "line": node.lineno,
                        "kind": kind,
                        "start": len(code[:start].decode()),
                        "old": old,
                        "new": new,
                    }


def _changes(node: Any) -> Iterator[tuple[str, str]]:
    """The kinds of changes that an expression or statement can have, and what it becomes."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPPOSITE:
        other = ast.Compare(node.left, [_OPPOSITE[type(node.ops[0])]()], node.comparators)
        yield "comparison", f"({ast.unparse(other)})"
    if isinstance(node, ast.BoolOp):
        other_op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield "and/or", f"({ast.unparse(ast.BoolOp(other_op, node.values))})"
        yield "operand dropped", f"({ast.unparse(node.values[0])})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not dropped", f"({ast.unparse(node.operand)})"
    if isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Yield, ast.YieldFrom)):
        yield "statement dropped", "pass" if isinstance(node.value, ast.Call) else "yield from ()"
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield "constant", str(node.value + 1)
    if isinstance(node, ast.IfExp):
        yield "branch", f"({ast.unparse(node.orelse)})"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("any", "all"):
        yield "any/all", ("all" if node.func.id == "any" else "any") + f"({', '.join(map(ast.unparse, node.args))})"


def _rows() -> Iterator[Mutant]:
    """Rows of the table of operators without their last word."""
    path = ROOT / "modellint/operators/rows.py"
    text, start = path.read_text("utf-8"), 0
    for line in text.splitlines(keepends=True):
        head, colon, words = line.partition(" : ")
        if colon and len(words.split()) > 1:
            new = f"{head}{colon}{' '.join(words.split()[:-1])}\n"
            yield {
                "path": path.relative_to(ROOT).as_posix(),
                "function": head.strip(),
                "line": text[:start].count("\n") + 1,
                "kind": "facet dropped",
                "start": start,
                "old": line,
                "new": new,
            }
        start += len(line)


def mutated(mutants: Iterable[Mutant]) -> dict[str, bytes]:
    """The sources of the files with some mutants. Raises SystemExit where a file has changed since."""
    texts: dict[str, str] = {}
    for mutant in sorted(mutants, key=lambda one: -one["start"]):
        path = str(ROOT / mutant["path"])
        text = texts.get(path) or Path(path).read_text("utf-8")
        start, end = mutant["start"], mutant["start"] + len(mutant["old"])
        if text[start:end] != mutant["old"]:
            raise SystemExit(f"{mutant['path']}:{mutant['line']}: expected {mutant['old']!r}; plant the mutants anew")
        texts[path] = text[:start] + mutant["new"] + text[end:]
    return {path: text.encode() for path, text in texts.items()}


# ---- in a process of its own


def imported(mutants: list[Mutant]) -> None:
    """Have this process import the mutants in the place of what is there. Nothing is written."""
    sources = mutated(mutants)
    sys.dont_write_bytecode = True
    read, stats = importlib.machinery.SourceFileLoader.get_data, importlib.machinery.SourceFileLoader.path_stats

    def get_data(self: Any, path: str) -> bytes:
        return sources.get(path) or read(self, path)

    def path_stats(self: Any, path: str) -> Any:
        return {"mtime": 0, "size": 0} if path in sources else stats(self, path)

    importlib.machinery.SourceFileLoader.get_data = get_data  # type: ignore[method-assign]
    importlib.machinery.SourceFileLoader.path_stats = path_stats  # type: ignore[method-assign]


def first_caught_by_examples() -> str:
    """The first example that is not judged as it should be; empty if there is none."""
    from rewriting import trials

    for case in trials.cases():
        if outcome := trials.outcome(case, case.marked):
            return f"{case}: {outcome}"
    return ""


def differing_pairs(pairs: list[str] | None) -> list[str]:
    """The pairs (`a local first: ML103 bad 0`), among some or all, that are not judged as the exceptions say."""
    from incremental.store import Store
    from rewriting import exceptions, trials
    from rewriting.catalogue import REWRITINGS
    from rewriting.kept import Texts

    cases, known, found = list(trials.cases()), exceptions.load(), []
    for rewriting in REWRITINGS:
        chosen = [case for case in cases if pairs is None or f"{rewriting.name}: {case}" in pairs]
        if chosen:
            texts = Texts(rewriting, Store.chosen())
            tried = trials.tried(rewriting, chosen, texts=texts)
            texts.save()
            reasons = known.get(rewriting.name, {})
            found += [
                f"{rewriting.name}: {case}"
                for case, outcome in tried.items()
                if outcome != exceptions.outcome_of(reasons.get(case, ""))
            ]
    return found


def differing_files(corpus: Path, packages: list[str], only: list[str] | None) -> list[str]:
    """The files (`timm-1.0.31/timm/layers/x.py`) of packages whose findings are not those of the ledger."""
    from ledger import key_of, read

    from modellint.__main__ import main

    found = []
    for package in read():
        name = f"{package['name']}-{package['version']}"
        root = corpus / name
        paths = [path.removeprefix(f"{name}/") for path in only or () if path.startswith(f"{name}/")]
        if name not in packages or (only is not None and not paths):
            continue
        os.chdir(root)
        options = ["check", "--isolated", "--no-cache", "--jobs", "1", "--output-format", "json", "--exit-zero"]
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            main([*options, *(paths or ["."])])
        now = {key_of(one) for one in json.loads(out.getvalue())["findings"]}
        there = {key_of(one) for one in package["findings"] if not paths or one["path"] in paths}
        found += sorted({f"{name}/{path}" for _, path, _, _ in now ^ there})
    return found


# ---- the steps


def _ask(what: str, mutants: list[Mutant], *, seconds: int = 0, **question: Any) -> Any:
    """The answer of a process that imports the mutants; None if it failed or took too long."""

    def bounded() -> None:
        if seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    command = [sys.executable, __file__, "answer"]
    asked = json.dumps({"what": what, "mutants": mutants, **question})
    run = subprocess.run(command, input=asked, capture_output=True, text=True, preexec_fn=bounded, check=False)
    with contextlib.suppress(ValueError, IndexError):
        return json.loads(run.stdout.splitlines()[-1])
    print(run.stderr[-500:], file=sys.stderr)
    return None


def _answer() -> None:
    asked = json.load(sys.stdin)
    imported(asked["mutants"])
    if asked["what"] == "examples":
        found: Any = first_caught_by_examples()
    elif asked["what"] == "pairs":
        found = differing_pairs(asked["pairs"])
    else:
        found = differing_files(Path(asked["corpus"]), asked["packages"], asked["only"])
    print(f"\n{json.dumps(found)}")


def examples(mutants: list[Mutant]) -> Iterator[None]:
    """Note which mutants the examples catch."""
    for mutant in mutants:
        if "examples" not in mutant:
            found = _ask("examples", [mutant], seconds=LONGEST)
            mutant["examples"] = "fails" if found is None else found
            yield


def _apart(mutants: list[Mutant], key: str, what: str, differ: list[str], **question: Any) -> Iterator[None]:
    """Note for each mutant alone which of the things that differ with all of them differ with it."""
    argument = "pairs" if what == "pairs" else "only"
    for mutant in mutants:
        found = _ask(what, [mutant], **{argument: differ}, **question) if differ else []
        mutant[key] = ["fails"] if found is None else found
        yield


def rewritings(mutants: list[Mutant], group: int, most: int) -> Iterator[None]:
    """Note which pairs catch the mutants that no example does; of many that differ, `most` are tried for each."""
    left = [mutant for mutant in mutants if not mutant["examples"] and "pairs" not in mutant]
    for start in range(0, len(left), group):
        some = left[start : start + group]
        differ = _ask("pairs", some, pairs=None)
        if differ is None:
            raise SystemExit("mutants that were planted together fail together: take a smaller --group")
        random.Random(0).shuffle(differ)
        yield from _apart(some, "pairs", "pairs", differ[:most])


def ledger(mutants: list[Mutant], corpus: Path, packages: list[str]) -> Iterator[None]:
    """Note which files of packages catch the mutants that neither examples nor rewritings do."""
    left = [
        mutant for mutant in mutants if not mutant["examples"] and not mutant.get("pairs") and "files" not in mutant
    ]
    differ = _ask("files", left, corpus=str(corpus), packages=packages, only=None) if left else []
    if differ is None:
        raise SystemExit("mutants that were planted together fail together")
    yield from _apart(left, "files", "files", differ, corpus=str(corpus), packages=packages)


def table(mutants: list[Mutant]) -> Iterator[str]:
    """What each turn catches of what a full run does."""
    from ledger import read

    told = {f"{one['name']}-{one['version']}/{finding['path']}" for one in read() for finding in one["findings"]}
    by_examples = [mutant for mutant in mutants if mutant["examples"]]
    by_pairs = [mutant for mutant in mutants if mutant.get("pairs")]
    by_files = [mutant for mutant in mutants if mutant.get("files")]
    whole = len(by_examples) + len(by_pairs) + len(by_files)
    yield f"{len(mutants)} mutants, of which {whole} are caught: {len(by_examples)} by examples,"
    yield f"{len(by_pairs)} by rewritings, {len(by_files)} by the ledger\n"
    yield "| turn | caught | share of a full run |\n|---:|---:|---:|"
    for turn in range(PAIRS * FILES // 3):
        pairs = [
            mutant
            for mutant in by_pairs
            if any(_has_turn(pair.replace(": ", " ", 1), PAIRS, turn) for pair in mutant["pairs"])
        ]
        files = [
            mutant
            for mutant in by_files
            if any(file in told or _has_turn(file.partition("/")[2], FILES, turn) for file in mutant["files"])
        ]
        caught = len(by_examples) + len(pairs) + len(files)
        yield f"| {turn} | {caught} | {100 * caught / whole:.1f} % |"
    for mutant in mutants:
        if not mutant["examples"] and not mutant.get("pairs") and not mutant.get("files"):
            old, new = (" ".join(mutant[one].split())[:60] for one in ("old", "new"))
            yield f"- {mutant['path']}:{mutant['line']} ({mutant['kind']}): `{old}` → `{new}`"


def _has_turn(name: str, every: int, turn: int) -> bool:
    return zlib.crc32(name.encode()) % every == turn % every


def main() -> None:
    if sys.argv[1:] == ["answer"]:
        return _answer()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("plant", "examples", "rewritings", "ledger", "table"))
    parser.add_argument("mutants", type=Path, help="the JSON file of the mutants and what was found of them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--group", type=int, default=10, help="mutants that are planted together for the rewritings")
    parser.add_argument("--most", type=int, default=300, help="differing pairs that are tried for each of a group")
    parser.add_argument("--corpus", type=Path, help="folder of the unpacked packages of the ledger")
    parser.add_argument("--packages", help="names of packages (NAME-VERSION), all by default")
    options = parser.parse_args()
    if options.step == "plant":
        options.mutants.write_text(json.dumps(plant(options.seed), indent=1), encoding="utf-8")
        return None
    mutants: list[Mutant] = json.loads(options.mutants.read_text("utf-8"))
    if options.step == "table":
        print(*table(mutants), sep="\n")
        return None
    if options.step == "ledger":
        from ledger import read

        every = [f"{one['name']}-{one['version']}" for one in read()]
        chosen = options.packages.split(",") if options.packages else every
        steps = ledger(mutants, options.corpus.resolve(), chosen)
    else:
        steps = examples(mutants) if options.step == "examples" else rewritings(mutants, options.group, options.most)
    for _ in steps:
        options.mutants.write_text(json.dumps(mutants, indent=1), encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
