"""Run `modellint` in this process and count its work, which a busy machine does not change.

    python benchmarks/counting.py FILE work check --jobs 1 --no-cache PATHS…
    python benchmarks/counting.py FILE calls check --jobs 1 --no-cache PATHS…

Writes a JSON object of counts to FILE. `work` counts what the engine does, by standing around its own functions;
`calls` counts all calls of functions, those of C among them, by the profiler. What follows are `modellint`'s arguments.
"""

from __future__ import annotations

import cProfile
import functools
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Work:
    """What was counted of a run."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter(
            dict.fromkeys(("bodies", "steps", "interpreters", "parsed", "lowered"), 0),
        )
        self.functions: set[object] = set()
        self.receivers: set[object] = set()
        self._watch()

    def found(self) -> dict[str, int]:
        distinct = {"bodies by function and class": len(self.receivers), "bodies by function": len(self.functions)}
        return {**self.counts, **distinct}

    def _watch(self) -> None:
        """Stand around the functions that are counted."""
        from modellint.flow.interp import Interpreter
        from modellint.frontends import python

        self._count(Interpreter, "__init__", "interpreters")
        self._count_steps(Interpreter)
        self._count(Interpreter, "run", "bodies", self._note_body)
        self._count(python, "parse", "parsed")
        self._count(python, "_lower_body", "lowered")

    def _count(self, owner: Any, name: str, kind: str, note: Callable[..., None] | None = None) -> None:
        function = getattr(owner, name)

        @functools.wraps(function)
        def counted(*args: Any, **keywords: Any) -> Any:
            self.counts[kind] += 1
            if note is not None:
                note(*args)
            return function(*args, **keywords)

        setattr(owner, name, counted)

    def _count_steps(self, interpreter: Any) -> None:
        """Count each step that `steps` grows by; it begins anew with each function that is asked about."""

        def take(run: Any, steps: int) -> None:
            if steps == run.__dict__.get("steps", 0) + 1:
                self.counts["steps"] += 1
            run.__dict__["steps"] = steps

        interpreter.steps = property(lambda run: run.__dict__["steps"], take)

    def _note_body(self, run: object, code: Any, frame: Any) -> None:
        """Tell bodies apart by their function, and by that and the class of the object that it is called on.

        A function of the shipped facts has no file; the class of the object stands for it.
        """
        models = (getattr(atom, "model", None) for atom in frame.names.get("self", ()))
        receiver = next((model.name for model in models if model is not None), None)
        function = frame.function
        where = function and (
            function.module.source.path,
            function.qualname,
            function.line,
            getattr(code, "first", None),
        )
        key = where or (receiver, getattr(code, "name", ""))
        self.functions.add(key)
        self.receivers.add((key, receiver))


def main(file: str, kind: str, *arguments: str) -> None:
    from modellint.__main__ import main as modellint

    profile, work = cProfile.Profile(), Work() if kind == "work" else None
    try:
        if work is None:
            profile.enable()
        modellint(arguments)
    except SystemExit as end:
        if end.code not in (0, 1):
            raise
    finally:
        profile.disable()
    found = {"calls": sum(entry.callcount for entry in profile.getstats())} if work is None else work.found()
    Path(file).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
