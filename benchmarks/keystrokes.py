"""The processor time from one change of a file to its findings, by the kind of the change.

    python benchmarks/keystrokes.py MODEL.py [MORE.py ...]

Checks the file as the language server does, and changes six of its longer functions, one after the other: a comment, a
statement, a parameter, a line that is no Python yet. Prints the median for each kind, and the time until the first
answer, in seconds. Undoing a change is not counted.
"""

from __future__ import annotations

import argparse
import ast
import gc
import statistics
import time
from pathlib import Path

from modellint.config import settings_for
from modellint.server.session import Session

#: The functions that are changed, and the lines that each has at least.
_FUNCTIONS, _LINES = 6, 12


def functions_in(text: str) -> list[ast.FunctionDef]:
    """Functions from all parts of a file."""
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    long = sorted((one for one in found if (one.end_lineno or 0) - one.lineno >= _LINES), key=lambda one: one.lineno)
    return [long[len(long) * number // _FUNCTIONS] for number in range(_FUNCTIONS)] if long else []


def changed(text: str, function: ast.FunctionDef, kind: str) -> str:
    """The text with one change in a function."""
    lines = text.splitlines(keepends=True)
    last = function.body[-1]
    at, indent = last.lineno - 1, " " * last.col_offset
    match kind:
        case "comment":
            lines.insert(at, f"{indent}# as in the paper\n")
        case "body":
            lines.insert(at, f"{indent}as_in_the_paper = True\n")
        case "signature":
            line = lines[function.lineno - 1]
            opened = line.index("(") + 1
            lines[function.lineno - 1] = f"{line[:opened]}as_in_the_paper, {line[opened:]}"
        case _:
            lines[at] = lines[at].rstrip("\n")[: len(indent) + 4] + "(\n"
    return "".join(lines)


def measure(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    session = Session(settings_for([path], isolated=True))
    answers: list[float] = []
    session.on_first_answer = lambda: answers.append(time.process_time())

    def check(content: str) -> tuple[float, float]:
        """Seconds until the first answer, and until the last."""
        gc.collect()
        answers.clear()
        start = time.process_time()
        session.open(path, content.encode())
        while session.is_outdated:
            session.check()
        session.findings()
        end = time.process_time()
        return (answers[0] if answers else end) - start, end - start

    print(f"{path.name} ({text.count(chr(10))} lines): opened in {check(text)[1]:.2f} s")
    functions = functions_in(text)
    if not functions:
        print(f"  no function of {_LINES} lines to change")
        return
    gc.disable()  # as in the server
    for kind in ("comment", "body", "signature", "half typed"):
        times = []
        for function in functions:
            times.append(check(changed(text, function, kind)))
            check(text)
        first, last = (statistics.median(one) for one in zip(*times, strict=True))
        print(f"  {kind:<11} first answer {first:.3f} s, all findings {last:.3f} s")
    gc.enable()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", type=Path, nargs="+")
    for path in parser.parse_args().files:
        measure(path.resolve())


if __name__ == "__main__":
    main()
