"""The keys of a configuration that a program reads, by a run of it on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects.placing import composition
from modellint.dialects.reading import ConfigNode, Reading
from modellint.flow.domain import Arguments, Constant, FunctionRef
from modellint.flow.frame import class_frame
from modellint.flow.runs import started
from modellint.graph.immutable import dataclass
from modellint.link.classes.definitions import SourceMethod

if TYPE_CHECKING:
    from modellint.dialects.apps import App
    from modellint.dialects.spots import Spot
    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.python import Function
    from modellint.graph.recipe import Scalar
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.source import Place


@dataclass(frozen=True, eq=False)
class KeyRead:
    """A key that a program reads: where, and the keys that lead to it from the top."""

    place: Place
    keys: tuple[Scalar, ...]


class Recording(Reading):
    """The theory of a run of a program with its configuration, which notes the keys that are read."""

    def __init__(self, run: Interpreter) -> None:
        super().__init__(run)
        self._interpreter = run
        #: By the value that reads it: the place of the configuration, and the frame that the value is in.
        self.read: dict[Value, tuple[Spot, Frame]] = {}

    def begin(self, function: Function, root: Spot, project: Project) -> None:
        """Run a function with the whole configuration as its argument."""
        method = SourceMethod(function, project.names)
        frame = class_frame(method.scope, id(function))
        self._interpreter.start(FunctionRef(method, None, None), frame, Arguments(((ConfigNode(root),),)))

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        self._note(atom, name, frame, value)
        return super().attribute(atom, name, frame, value)

    def element(self, atom: Atom, index: Atoms | None, frame: Frame | None, value: Value | None) -> Atoms | None:
        if index is not None and len(index) == 1 and isinstance(index[0], Constant):
            self._note(atom, index[0].value, frame, value)
        return super().element(atom, index, frame, value)

    def _note(self, atom: Atom, key: object, frame: Frame | None, value: Value | None) -> None:
        if isinstance(atom, ConfigNode) and isinstance(key, str) and frame is not None and value is not None:
            found = atom.spot.children.get(key)
            if found is not None:
                self.read.setdefault(value, (found, frame))


def keys_read(app: App, project: Project) -> tuple[KeyRead, ...]:
    """The keys that a program reads, in any file; none if it is no function that gets the configuration."""
    return project.once(("config keys read", app.script, app.main), lambda: _run(app, project))


def _run(app: App, project: Project) -> tuple[KeyRead, ...]:
    module = project.python(app.script) if app.main else None
    function = module.function_of(app.main) if module is not None else None
    composed = composition(app, project) if function is not None else None
    if function is None or composed is None or not function.parameters:
        return ()
    _ = composed.configuration.root_item  # which evaluates the values
    recording = started(project, Recording).of(Recording)
    recording.begin(function, composed.root, project)
    return tuple(
        KeyRead(frame.function.module.place(value), tuple(spot.keys))
        for value, (spot, frame) in recording.read.items()
        if frame.function is not None
    )
