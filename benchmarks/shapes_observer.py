"""Runs code, and notes the shapes of the tensors that it assigns and returns, each with its place and its call.

    python shapes_observer.py REQUEST

This is the child of `shapes_observed.py`, under the interpreter that has torch. REQUEST is a JSON file: `files` to
watch, or the folder `below` which all files are watched; `target` and `roots` of a class that modellint builds and
calls as `modellint probe` does, or `script`, a file to run with `argv`. What was seen is written to `output`.
"""

from __future__ import annotations

import contextlib
import dis
import inspect
import json
import os
import runpy
import sys
import traceback
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType

#: The most values that are noted of one run.
_MOST = 200_000
_STORES = ("STORE_FAST", "STORE_DEREF")
#: The modules of layers that take images with and without a batch.
_WINDOWS = ("torch.nn.modules.conv", "torch.nn.modules.pooling")
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
#: The functions by which a layer of torch calls its `forward`.
_CALLING = ("_call_impl", "inner", "_wrapped_call_impl", "_call_chain", "decorate_context")


class Observer:
    """Notes each tensor that a watched file stores in a local variable, is given as an argument, or returns."""

    def __init__(self, files: list[str], below: str) -> None:
        self._files, self._below = set(files), below + os.sep if below else ""
        self._watched: dict[str, str | None] = {}
        self._stores: dict[CodeType, dict[int, tuple[str, tuple[int, int]]]] = {}
        #: The last place that a frame stored to, and the number of each call.
        self._last: dict[FrameType, tuple[str, tuple[int, int]]] = {}
        self._calls: dict[FrameType, int] = {}
        self._number = 0
        #: Objects made with another class, or function, than a parameter has by default; and calls of such functions.
        self._unusual: dict[int, Any] = {}
        self._unusual_calls: set[FrameType] = set()
        #: The numbers of calls that give a convolution or a pool one image, without a batch.
        self.single: set[int] = set()
        self.seen: list[dict[str, Any]] = []
        self.errors: list[str] = []

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self._entered)
        try:
            yield
        finally:
            sys.settrace(before)
            self._last.clear()
            self._calls.clear()
            self._unusual_calls.clear()

    def note_single(self, layer: torch.nn.Module, given: Any = None) -> None:
        """Note the calls under way if a convolution or a pool is given one image without a batch."""
        names = [one.__name__ for one in type(layer).__mro__ if one.__module__ in _WINDOWS]
        rank = next((int(name[-2]) + 1 for name in names if name[-2:-1].isdigit()), None)
        if not isinstance(given, torch.Tensor) or given.dim() != rank:
            return
        self._unusual[id(layer)] = layer
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if frame in self._calls:
                self.single.add(self._calls[frame])
            frame = frame.f_back

    def watch(self, path: str) -> None:
        """Watch one more file."""
        self._files.add(os.path.realpath(path))
        self._watched.clear()

    def _file(self, code: CodeType) -> str | None:
        name = code.co_filename
        if name not in self._watched:
            path = os.path.realpath(name)
            is_watched = path in self._files or (self._below and path.startswith(self._below))
            self._watched[name] = path if is_watched else None
        return self._watched[name]

    def _entered(self, frame: FrameType, event: str, argument: Any) -> Any:
        path = self._file(frame.f_code)
        if path is None or len(self.seen) > _MOST:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        self._number += 1
        home: FrameType | None = frame
        while home is not None and home.f_code.co_name in _COMPREHENSIONS:
            home = home.f_back
        self._calls[frame] = self._number if home is frame or home is None else self._calls.get(home, self._number)
        if _is_unusual(frame):
            self._unusual_calls.add(frame)
            if frame.f_code.co_name == "__init__" and (owner := frame.f_locals.get("self")) is not None:
                self._unusual[id(owner)] = owner
        code = frame.f_code
        if code.co_name == "forward" and isinstance(frame.f_locals.get("self"), torch.nn.Module):
            self.note_single(*(frame.f_locals[name] for name in code.co_varnames[: min(code.co_argcount, 2)]))
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            self._note(frame, path, "argument", (code.co_firstlineno, 0), name, frame.f_locals.get(name))
        return self._step

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        path = self._file(frame.f_code)
        if path is None:
            return None
        stored = self._last.pop(frame, None)
        if stored is not None and stored[0] in frame.f_locals:
            self._note(frame, path, "store", stored[1], stored[0], frame.f_locals[stored[0]])
        if event == "opcode":
            place = self._stores_of(frame.f_code).get(frame.f_lasti)
            if place is not None:
                self._last[frame] = place
        elif event == "return":
            place = self._returns_of(frame)
            if place is not None and argument is not None:
                self._note(frame, path, "return", place, "return", argument)
            self._calls.pop(frame, None)
            self._unusual_calls.discard(frame)
        return self._step

    def _stores_of(self, code: CodeType) -> dict[int, tuple[str, tuple[int, int]]]:
        if code not in self._stores:
            self._stores[code] = {
                one.offset: (str(one.argval), (one.positions.lineno, one.positions.col_offset))
                for one in dis.get_instructions(code)
                if one.opname in _STORES and one.positions is not None
            }
        return self._stores[code]

    def _returns_of(self, frame: FrameType) -> tuple[int, int] | None:
        for one in dis.get_instructions(frame.f_code) if frame.f_lasti >= 0 else ():
            if one.offset == frame.f_lasti:
                is_return = one.opname == "RETURN_VALUE" and one.positions is not None
                return (one.positions.lineno, one.positions.col_offset) if is_return else None
        return None

    def _note(self, frame: FrameType, path: str, kind: str, place: tuple[int, int], name: str, value: Any) -> None:
        if not isinstance(value, torch.Tensor) or value.is_nested:
            return
        above = frame.f_back
        while above is not None and above.f_code.co_name in _CALLING:
            above = above.f_back
        self.seen.append({
            "path": path,
            "kind": kind,
            "line": place[0],
            "offset": place[1],
            "name": name,
            "first": frame.f_code.co_firstlineno,
            "call": self._calls.get(frame, 0),
            "is_unusual": self._is_of_unusual(frame),
            "is_inside": above is not None and self._file(above.f_code) == path and not self._is_below_unusual(above),
            "shape": [int(size) for size in value.shape],
            "dtype": str(value.dtype).removeprefix("torch."),
        })  # fmt: skip

    def _is_of_unusual(self, frame: FrameType) -> bool:
        return frame in self._unusual_calls or id(frame.f_locals.get("self")) in self._unusual

    def _is_below_unusual(self, frame: FrameType) -> bool:
        """True if a call is made by an object that was made with another class, perhaps by way of others."""
        above: FrameType | None = frame
        while above is not None and not (self._file(above.f_code) and self._is_of_unusual(above)):
            above = above.f_back
        return above is not None


def _is_unusual(frame: FrameType) -> bool:
    """True if a parameter whose default is a class or a function has another value in a call."""
    owner, name = frame.f_locals.get("self"), frame.f_code.co_name
    kinds = type(owner).__mro__ if owner is not None else ()
    known = [vars(kind).get(name) for kind in kinds] if kinds else [frame.f_globals.get(name)]
    function = next((one for one in known if getattr(one, "__code__", None) is frame.f_code), None)
    if function is None:
        return False
    defaults = {
        one.name: one.default for one in inspect.signature(function).parameters.values() if callable(one.default)
    }
    return any(frame.f_locals.get(key) is not value for key, value in defaults.items() if value is not inspect._empty)


def run_target(request: dict[str, Any], observer: Observer) -> None:
    """Build and call a class as the checks of a probe do, once more under observation with the inputs that worked."""
    sys.path.insert(0, request["confirm"])
    from torch._subclasses.fake_tensor import FakeTensorMode
    from worker import roles, session, standins
    from worker.checking import LARGE, TargetCall, TargetCheck

    class Silent:
        def stage(self, *_: object) -> None:
            pass

    sys.path[:0] = request["roots"]
    stand_ins = standins.StandIns([])
    stand_ins.install()
    asked = {
        "device": "cpu", "overrides": {}, "targets": {}, "target": request["target"], "probes": [],
    }  # fmt: skip
    held = session.Session(asked, Silent(), stand_ins)
    held.name = request["target"]["name"]
    observer.watch(held.source().path)
    for variant in (0, 2, roles.EQUAL):
        check = TargetCheck(held)
        mode = FakeTensorMode(allow_non_fake_inputs=True) if check.size(variant) > LARGE else contextlib.nullcontext()
        with mode:
            for call in check.calls(variant):
                for specs in check.specs(call):
                    error = call.run(specs, "cpu")
                    if error is None:
                        with observer.watching():
                            with contextlib.suppress(Exception):
                                call = TargetCall(call.attempt.again({}), call.method)
                            call.run(specs, "cpu")
                        return
                    check.learn(call, error, specs)
        if check.is_late:
            break
    observer.errors.append(check.not_run().detail)


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as stream:
        request = json.load(stream)
    observer = Observer(request["files"], request["below"])
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.nn.modules.module.register_module_forward_pre_hook(
        lambda layer, given: observer.note_single(layer, *given[:1])
    )
    try:
        if "script" in request:
            sys.argv = [request["script"], *request["argv"]]
            sys.path.insert(0, os.path.dirname(request["script"]))
            with observer.watching():
                runpy.run_path(request["script"], {"observer": observer}, "__main__")
        else:
            run_target(request, observer)
    except BaseException:
        observer.errors.append(traceback.format_exc()[-800:])
    for one in observer.seen:
        one["is_unusual"] = one["is_unusual"] or one["call"] in observer.single
    with open(request["output"], "w", encoding="utf-8") as stream:
        json.dump({"seen": observer.seen, "errors": observer.errors}, stream)
    os._exit(0)


if __name__ == "__main__":
    main()
