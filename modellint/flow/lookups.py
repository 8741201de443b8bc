"""The theory of look-ups: elements of tensors that index tables, through any number of calls.

A look-up with elements of an argument is passed on to the caller, which knows more of them: a finding stands where
elements and table first meet. A function is run once for each kind of arguments; its result and its look-ups are
remembered for the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from modellint import operators
from modellint.flow import codecs, flags, generators
from modellint.flow.bodies import ALL_KINDS
from modellint.flow.codecs import CodecObject
from modellint.flow.collating import COLLATING, LOADER
from modellint.flow.domain import (
    ANY_ARGUMENTS,
    UNKNOWN,
    Arguments,
    Bound,
    Counter,
    Filler,
    FunctionRef,
    Outside,
    Plain,
    Real,
    Site,
    Super,
    SymbolicInput,
    Tensor,
    Unknown,
    function_of,
    join,
    size_of,
)
from modellint.flow.effects import object_changing
from modellint.flow.heap import TENSORS, Shell, tensors_in
from modellint.flow.library.containers import sliced
from modellint.flow.lookup_records import IGNORED, IdLayer, Lookup, LossLookup, OwnLookup, PaddedPositions
from modellint.flow.memo import given_by, keys_in, of_caller, replaced_reals
from modellint.flow.narrowing import comparisons
from modellint.flow.pairing import classes, is_for_another
from modellint.flow.sinks import Sink
from modellint.flow.summaries import MAX_FILES, Summaries
from modellint.flow.tensors import Tensors
from modellint.flow.theory import MOST_MADE, Entered, Mode, Theory, UnreadableSuper
from modellint.flow.written_numbers import Below
from modellint.graph.immutable import replace
from modellint.graph.python import alternatives
from modellint.graph.size import Size
from modellint.graph.value import EventKind, Op, called_name, is_self, picks_rows, self_attribute, subscripts
from modellint.knowledge.codecs import PACKAGES, is_known
from modellint.link.classes.calls import REGISTRARS
from modellint.link.classes.definitions import SourceMethod
from modellint.link.classes.replacements import copies, replaced
from modellint.link.names import External

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from modellint.flow.blocks import Block
    from modellint.flow.bodies import Body
    from modellint.flow.domain import Atom, Atoms, Element
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.theory import Occurrence
    from modellint.graph.methods import Method
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Flow, Loop, Parameter, PathCondition, Value
    from modellint.link.classes.models import Classes, ClassModel
    from modellint.operators import Operator


#: The methods that a call of a layer runs, in the order in which they are looked for.
_CALLED = ("__call__", "forward")
#: Tables with fewer rows are indexed by parts of an architecture, not by positions.
FEW = 16
#: Events that only end a body, and events without any effect.
#: Methods that classes of torch define.
_OF_TORCH = frozenset(("__init__", "__call__", "forward"))
_IDLE = frozenset((EventKind.COMPARE, EventKind.DELETE))
#: Events that are skipped where no ids are involved; and those by which a body gives values to its caller.
_LEFT_OUT = frozenset((EventKind.CALL, EventKind.INDEX, EventKind.STORE, EventKind.AUGMENT))
_GIVING = frozenset((EventKind.RETURN, EventKind.YIELD))
#: The most containers of one expression that are distinguished, and the operations that make an empty one.
_MAX_SLOTS = 16
#: The place of the collate function among the arguments of a `DataLoader`.
_AT_COLLATE = 6
_EMPTY = frozenset((Op.LIST, Op.DICT, Op.SET, Op.CALL))
#: The depth of calls, and of nested containers, to which a constant is followed.
_MAX_HANDING = 3


class Lookups(Theory, Sink):
    """The look-ups of one run."""

    mode = Mode(asks="look-ups", most_made=MOST_MADE, unread=(is_known,), waits=True, is_wary_of_classes=True)
    observes = (UnreadableSuper, Entered)
    rests_on: ClassVar[tuple[type[Theory], ...]] = (Tensors,)

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self._tensors = run.of(Tensors)
        self._tensors.add(self)
        #: The object that an otherwise unknown argument stands for, by identity of its parameter's annotation.
        self._layers: dict[int, Shell | None] = {}
        #: True if every look-up of the functions in question is recorded (in `own`), not only those of drawn ids.
        self.collects_all = False
        #: True if look-ups by subscripts and operators are not asked for.
        self.is_idle = False
        self.own: dict[int, OwnLookup] = {}
        #: The frames of the functions in question.
        self.roots: list[Frame] = []
        #: The look-ups where elements and table first meet, by place.
        self.found: dict[Hashable, Lookup] = {}
        #: Positions among which a constant is written, by the key of the constant.
        self.padded: dict[Hashable, PaddedPositions] = {}
        #: The keys of elements and scores that were compared with anything.
        self.compared: set[Hashable] = set()
        #: The keys of constants that a mask, a limit or a condition removed from among elements.
        self.taken_out: set[Hashable] = set()
        #: The objects of classes in files that are copied over a library's.
        self._copies: dict[Class, Shell] = {}
        #: The frames of the functions being run, each with its look-ups so far.
        self._frames: list[tuple[Frame, list[Lookup]]] = []
        #: The number of files between the root function's file and each file that a call has led to.
        self._away: dict[ModuleFacts, int] = {}

    # -- values --------------------------------------------------------------------------------------------------

    def bound(self, atoms: Atoms, parameter: Parameter, code: Method, frame: Frame) -> Atoms:
        """Replace an unknown argument by an object of the layer class in the parameter's annotation.

        The unknown result of a call that was given such an object (`fabric.setup(model)`) is taken for that object.
        """
        if parameter.annotation is None or self._run.objects.under_construction:
            return atoms
        if not all(isinstance(atom, SymbolicInput | Unknown) for atom in atoms):
            return atoms
        key = id(parameter.annotation)
        if key not in self._layers:
            self._layers[key] = self._layer(parameter, code)
        known = self._layers[key]
        if known is None or known.model is None:
            return atoms
        held = (shell for atom in atoms if isinstance(atom, Unknown) for shell in atom.held)
        own = tuple(shell for shell in held if shell.model is not None and known.model in shell.model.mro())
        return own or (known,)

    def _layer(self, parameter: Parameter, code: Method) -> Shell | None:
        """The object that stands for any argument of a parameter annotated with a layer class; None for others."""
        for part in alternatives(parameter.annotation) if parameter.annotation is not None else ():
            definition = code.scope.definition(part)
            model = None if definition is None else self._run.classes.of(definition)
            if model is not None and model.cls is not None and model.is_module is True:
                return Shell("instance", None, (id(parameter.annotation),), model, ANY_ARGUMENTS)
        return None

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        if isinstance(atom, CodecObject):
            return atom.attribute(name)
        if name != "weight" or not isinstance(atom, Shell):
            return None
        self._run.objects.let_happen(name)
        return (Bound(atom, name),) if self.is_table(atom) else None

    def operator(self, value: Value, operands: list[Atoms], frame: Frame) -> Atoms | None:
        return self._index(operands[0], value, frame) if value.op is Op.INDEX else None

    def _index(self, owner: Atoms, value: Value, frame: Frame) -> Atoms:
        is_slice = value.args[1].op is Op.SLICE
        for sink in self._tensors.sinks:
            sink.sliced(owner, value, frame)
        index = () if is_slice else self._run.behind(self._run.evaluate(value.args[1], frame), frame)
        found: list[Atoms] = []
        for atom in owner:
            self._tensors.indexed(atom, index, frame, value)
            if self._tensors.follows_everything:
                atom = self._tensors.cut(atom, value, frame)
            if isinstance(atom, Tensor):
                found.append(self._tensors.subscripted(atom, value, frame))
            elif is_slice:  # some rows of a weight are not the weight
                found.append((Unknown(),) if isinstance(atom, Bound) else sliced(self._run, (atom,), value, frame))
            else:
                found.append(self._tensors.part_of(atom, index, self._run.objects.part(atom, index)))
        return self._tensors.after_picking(join(found), owner, value, frame)

    def expression(self, value: Value, frame: Frame) -> Atoms | None:
        return self._comprehension(value, frame) if value.op is Op.COMPREHENSION else None

    def _comprehension(self, value: Value, frame: Frame) -> Atoms | None:
        """A list of empty containers, which are filled one by one: `[[] for _ in range(8)]`."""
        slots = self._slots(value, frame) if value.data == "list" and value.guard is None else 0
        if not slots:
            return None
        made = self._run.evaluate(value.args[0], frame)
        kind = made[0].kind if made and isinstance(made[0], Shell) else "list"
        each = [(self._run.shell(kind, value.args[0], frame, f"slot {number}"),) for number in range(slots)]
        return (self._run.sequence("list", each, value, frame),)

    def _slots(self, value: Value, frame: Frame) -> int:
        """The number of empty containers that a comprehension makes; 0 if unknown, or if it makes something else."""
        element = value.args[0]
        if element.args[element.op is Op.CALL :] or element.op not in _EMPTY:
            return 0
        if element.op is Op.CALL and called_name(element.callee) not in ("list", "dict", "set"):
            return 0
        loop = next((loop for loop in frame.flow.loops if loop.result is value), None)
        if loop is None or len(loop.turns) != 1:
            return 0
        over = self._run.evaluate(loop.turns[0][1], frame)
        counted = over[0].element() if len(over) == 1 and isinstance(over[0], Shell) else ()
        end = counted[0].end if len(counted) == 1 and isinstance(counted[0], Counter) else None
        return end if end is not None and end <= _MAX_SLOTS else 0

    # -- calls ---------------------------------------------------------------------------------------------------

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if isinstance(atom, CodecObject):
            return codecs.call_method(self, atom, name, arguments, frame, value)
        if isinstance(atom, generators.Generator):
            return generators.call_method(atom, name, arguments, frame, value)
        if isinstance(atom, Super):
            return self._super_method(atom, name, arguments, frame, value)
        if isinstance(atom, SymbolicInput) and name in ("get", "pop"):
            return self._run.objects.part(atom, arguments.argument(0, "key") or (Unknown(),))
        return None

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        top = name.partition(".")[0]
        if top in PACKAGES:
            known = codecs.make_codec(name, arguments, frame, value)
            return (
                generators.make_generator(name, arguments, frame, value)
                if known is None and top == generators.LIBRARY
                else known
            )
        if name == LOADER:
            return self._batches(arguments, frame, value)
        return self._map(arguments.positional, frame, value) if name == "builtins.map" else None

    def _batches(self, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The batches of a `DataLoader`, which its collate function makes; None for one without such a function."""
        collating = arguments.argument(_AT_COLLATE, COLLATING)
        if collating is None:
            return None
        made = self._run.shell("generator", value, frame)
        made.is_exact = False
        items = Arguments((UNKNOWN,))
        made.put(join(self._run.calls.apply(one, items, frame, value) for one in collating), ())
        return (made,)

    def _map(self, given: tuple[Atoms, ...], frame: Frame, value: Value) -> Atoms | None:
        """`map(function, items)` for a few known items; None for layers, which would draw ids at one site."""
        only = given[1][0] if len(given) == 2 and len(given[1]) == 1 else None
        items = only.items if isinstance(only, Shell) and only.kind in ("list", "tuple", "generator") else None
        each = [entry.atoms for entry in items or ()]
        if not 1 < len(each) <= _MAX_SLOTS or any(isinstance(a, Shell) and a.is_layer for atoms in each for a in atoms):
            return None
        made = self._run.shell("generator", value, frame)
        apply = self._run.calls.apply
        made.fill(tuple(join(apply(f, Arguments((one,)), frame, value) for f in given[0]) for one in each))
        return (made,)

    def _super_method(self, atom: Super, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if name not in _OF_TORCH or not any(
            o.name.startswith("torch.") for _, o in self._run.calls.reached(atom, name)
        ):
            return None
        if name == "__call__":
            return self._call_layer(atom.shell, arguments, frame, value, ("forward",)) or (Unknown(),)
        if name == "forward":
            return self._call_torch_layer(atom.shell, arguments, frame, value) or (Unknown(),)
        if atom.shell.passed is None:
            atom.shell.passed = arguments
        return None

    def opaque(self, callee: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if isinstance(callee, Shell) and callee.model is not None and callee.model.is_module is not False:
            return self._call_layer(callee, arguments, frame, value) or (Unknown(),)
        if isinstance(callee, Bound) and isinstance(callee.owner, Shell):
            return self._call_torch_layer(callee.owner, arguments, frame, value) or (Unknown(),)
        return None

    # -- functions -----------------------------------------------------------------------------------------------

    @property
    def functions(self) -> list[Function]:
        """The functions being run, outermost first."""
        return [frame.function for frame, _ in self._frames if frame.function is not None]

    @property
    def frames(self) -> list[Frame]:
        """The frames of the functions being run, and those that `asked` evaluates in."""
        return [frame for frame, _ in self._frames]

    @property
    def root(self) -> Function | None:
        """The outermost function being run; None if there is none."""
        return self._frames[0][0].function if self._frames else None

    @property
    def depth(self) -> int:
        """The number of nested calls being run."""
        return len(self._frames)

    @property
    def is_running(self) -> bool:
        return bool(self._frames)

    def forget(self) -> None:
        """Clear the memo of calls, so that they are run, and their look-ups noted, again."""
        self._run.calls.memo.forget()

    def follows(self, function: FunctionRef, arguments: Arguments, relation: str) -> bool:
        return not self._run.objects.under_construction

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms:
        """The result of a call, run once per kind of arguments; look-ups with arguments pass on to the caller."""
        site, given, memo = Site(value, frame.function), arguments, self._run.calls.memo

        def run_once() -> tuple[Atoms, list[Lookup]]:
            self._goes_to(function_of(function.code), frame.function)
            return self._ran(given, run)

        alike = None if self.collects_all else self._tensors.alike
        known = memo.once(memo.key(function, given, alike), given, run_once)
        moved = replaced_reals(known.given, given) if known.given is not given else {}
        for one in known.noted if self._frames else ():
            element = of_caller(one.element, moved)
            is_conditional = one.is_conditional or (isinstance(element, Real) and self.is_one_of_several(site.value))
            is_conditional = is_conditional or self._is_for_another(element, value, given.all(), frame)
            self._frames[-1][1].append(
                replace(one, element=element, steps=(site, *one.steps), is_conditional=is_conditional)
            )
        flagged = [flags.are_flagged_in(atom) for atom in known.atoms]
        if not any(flagged) and not any(isinstance(atom, Tensor) for atom in known.atoms):
            return known.atoms
        code, keys = function_of(function.code), keys_in(known.given)

        def for_caller(atom: Atom) -> Atom:
            return flags.of_caller(given_by(atom, site, keys, moved), code, value, frame)

        found: list[Atom] = []
        for number, atom in enumerate(known.atoms):
            if isinstance(atom, Shell) and flagged[number]:
                each = [tuple(map(for_caller, entry.atoms)) for entry in atom.entries]
                atom = self._run.sequence("tuple", each, value, frame, f"given {number}")
            found.append(for_caller(atom))
        return tuple(found)

    def state(self) -> Hashable:
        return bool(self._run.objects.under_construction)

    def observe(self, event: Occurrence) -> None:
        if isinstance(event, Entered):
            self._enter(event.frame, event.given)
        elif isinstance(event, UnreadableSuper) and event.name != "__init__" and event.atom.shell.model is not None:
            self._follow_inherited(event.atom.shell.model, *event[1:])

    def _enter(self, frame: Frame, given: Arguments) -> None:
        elements = [element for atoms in given.all() for t in tensors_in(atoms) for element in t.elements()]
        kinds = {Below if isinstance(e, Filler) and _is_below(e) else type(e) for e in elements}
        frame.given = ALL_KINDS if self.collects_all else frozenset(kinds)
        if self.collects_all and not self._frames:
            self.roots.append(frame)
        self._frames.append((frame, []))

    def _is_asked_for(self, frame: Frame) -> bool:
        """True if the result of a body can reach a look-up: of its caller, or of ids that it draws by a call."""
        if len(self._frames) > 1 or frame.function is None or self._tensors.follows_everything:
            return True
        return self._body_of(frame).draws

    def matters(self, event: Event, frame: Frame) -> bool:
        """True if an event must be evaluated now; others are evaluated later, if their value is needed."""
        if event.kind is EventKind.RETURN:
            return self._is_asked_for(frame)
        if event.kind is EventKind.RAISE and event.guard is not None:  # what comes after knows the condition, too
            return False
        if event.kind in _IDLE:
            return False
        if event.kind not in _LEFT_OUT or (event.kind is EventKind.STORE and self._run.objects.under_construction):
            return True
        if frame.function is None or self._run.objects.under_construction:
            if event.kind is not EventKind.CALL:
                return True
            if id(event.value) not in frame.flow.once(object_changing):
                return False
            return not self._run.objects.puts_off(event, frame, self._is_asked_about)
        if self._runs_all():
            return True
        return self._body_of(frame).matters(event, frame.given)

    def _runs_all(self) -> bool:
        """True if every event of the body being run is followed."""
        return self._tensors.follows_everything or (self.collects_all and len(self._frames) == 1)

    def _goes_to(self, function: Function | None, caller: Function | None) -> None:
        """Note the distance of a called function's file: one more than its caller's, 0 for a root."""
        if function is not None:
            self._away.setdefault(function.module, 0 if caller is None else self._away.get(caller.module, 0) + 1)

    def _is_asked_about(self, module: ModuleFacts) -> bool:
        """True for the file of a root function, which all functions are run of."""
        return self._away.get(module) == 0

    def loop(self, block: Block, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> bool:
        assert block.loop is not None
        self._run.run_twice(block, frame, returned, yielded, self._carried(block.loop, frame))
        return False

    def _carried(self, loop: Loop, frame: Frame) -> tuple[Value, ...]:
        """The variables of a loop that may carry elements from one iteration to the next."""
        if frame.function is None or self._run.objects.under_construction:
            return loop.carried
        if self._runs_all():
            return loop.carried
        body = self._body_of(frame)
        return tuple(choice for choice in loop.carried if body.is_carried(choice, frame.given))

    def _body_of(self, frame: Frame) -> Body:
        """The summary of the frame's function: which events may matter to look-ups."""
        if frame.body is None:
            assert frame.function is not None
            away = self._away.get(frame.function.module, 0)
            frame.body = self._run.project.of(Summaries).body(frame.function, max(MAX_FILES - away, 0))
        return frame.body

    def _ran(self, given: Arguments, run: Callable[[], Atoms]) -> tuple[Atoms, list[Lookup]]:
        depth = len(self._frames)
        atoms = run()
        looked_up = [one for _, found in self._frames[depth:] for one in found]
        del self._frames[depth:]
        if not looked_up:
            return atoms, looked_up
        keys = keys_in(given)
        passed: list[Lookup] = []
        for one in looked_up:
            if one.element.key in keys:
                passed.append(one)
            else:
                self._find(one)
        return atoms, passed

    def _find(self, one: Lookup) -> None:
        self.found.setdefault((one.place, one.table, one.element, one.element.key), one)

    def pass_on(self, run: Callable[[], Atoms], body: Frame) -> None:
        """Run a root that is passed elements, whose look-ups are found as if it had made them; `body` is its frame."""
        self._frames.append((body, []))
        run()
        for one in self._frames.pop()[1]:
            self._find(replace(one, steps=one.steps[1:]))

    # -- layers --------------------------------------------------------------------------------------------------

    def row_of(self, shell: Shell) -> Operator | None:
        """The row of an object's class, or of its first base class of torch; None if there is none."""
        return operators.row(_torch_class(shell))

    def is_table(self, shell: Shell) -> bool:
        """True if an object is a layer that looks up rows, such as `nn.Embedding`."""
        row = self.row_of(shell) if shell.kind == "instance" else None
        return row is not None and "table" in row.facets

    def _call_layer(
        self, shell: Shell, arguments: Arguments, frame: Frame, value: Value, by: tuple[str, ...] = _CALLED
    ) -> Atoms | None:
        """The result of calling an object, by the first method in `by` that it has; None if unknown."""
        objects = self._run.objects
        for name in by:
            own = objects.own_method(shell, name)
            if own is not None:
                objects.construct(shell)
                return self._run.calls.apply(own, arguments, frame, value)
        return self._call_torch_layer(shell, arguments, frame, value)

    def _call_torch_layer(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of a layer whose `forward` is torch's; None if unknown. Notes the look-up, if it is a table."""
        for sink in self._tensors.working:
            sink.at_work(shell, arguments, frame, value)
        row = self.row_of(shell)
        given = arguments.argument(0, "input")
        if row is None:
            if shell.model is not None:
                self._follow_inherited(shell.model, "forward", arguments, frame, value)
            is_layer = shell.is_layer and _torch_class(shell).startswith("torch.nn.")
            return self._tensors.layer(shell, None, given, frame, value) if is_layer else None
        if row.name == "torch.nn.Sequential":
            self._run.objects.construct(shell)
            for entry in shell.entries:
                layers = [atom for atom in entry.atoms if isinstance(atom, Shell) and atom.is_layer]
                done = [self._call_layer(layer, Arguments((given or (),)), frame, value) for layer in layers]
                given = join(atoms or (Unknown(),) for atoms in done)
            return given
        if "table" in row.facets:
            rows = size_of(self._tensors.argument(shell, (0, "num_embeddings")))
            self._look_up(shell.site, rows, given or (), frame, value)
        if "judges" in row.facets:
            ignored = self._tensors.argument(shell, row.argument("ignores"))
            if (shell.passed or shell.arguments).is_complete:
                self.judged(row, arguments, ignored, frame, value)
        return self._tensors.layer(shell, row, given, frame, value)

    def padding_of(self, shell: Shell) -> tuple[Atoms, Atoms] | None:
        """The number of rows of a table and its `padding_idx`; None if it is no table or has no such row."""
        row = self.row_of(shell)
        if row is None or "padding" not in row.facets or not self.is_table(shell):
            return None
        padding = self._tensors.argument(shell, row.argument("padding"))
        rows = self._tensors.argument(shell, (0, "num_embeddings"))
        return None if padding is None or rows is None else (rows, padding)

    def sided(self, layers: Atoms) -> IdLayer | None:
        """The number of ids that layers are made for: rows of a table, outputs of a projection; None if they differ."""
        found: dict[Size, Site] = {}
        is_table = False
        for shell in layers:
            row = self.row_of(shell) if isinstance(shell, Shell) and shell.kind == "instance" else None
            if not isinstance(shell, Shell) or row is None or shell.site is None:
                return None
            wanted = (0, "num_embeddings") if "table" in row.facets else row.argument("makes-width")
            rows = size_of(self._tensors.argument(shell, wanted))
            if rows is None:
                return None
            found.setdefault(rows, shell.site)
            is_table = is_table or "table" in row.facets
        if len(found) != 1:
            return None
        size, made = found.popitem()
        return IdLayer(made, size, is_table)

    # -- libraries -----------------------------------------------------------------------------------------------

    def _follow_inherited(self, model: ClassModel, name: str, arguments: Arguments, frame: Frame, value: Value) -> None:
        """Follow the arguments of a method that a class inherits from a library's class whose source isn't readable.

        Only constants below -1 are followed: into the project's file that is copied over the library's, and into
        functions that replace the library's and have a parameter of an argument's name.
        """
        handed = {key: atoms for key, atoms in arguments.keywords.items() if any(map(_is_below_in, tensors_in(atoms)))}
        if not handed and not any(_is_below_in(t) for atoms in arguments.positional for t in tensors_in(atoms)):
            return
        if frame.function is None:
            return
        project, near = self._run.project, frame.function.module
        for base in _unread(model, self._run.classes):
            for cls in copies(project, base, near):
                shell = self._copies.get(cls)
                if shell is None:
                    shell = Shell("instance", None, (id(cls),), project.classes.model(cls), ANY_ARGUMENTS)
                    self._copies[cls] = shell
                method = self._run.objects.own_method(shell, name)
                if method is not None:
                    self._run.calls.apply(method, arguments, frame, value)
            for function in replaced(project, base.partition(".")[0], near):
                known = {key: atoms for key, atoms in handed.items() if function.parameter(key) is not None}
                if known:
                    reference = FunctionRef(SourceMethod(function, project.names))
                    self._run.calls.apply(reference, Arguments((), known, is_complete=False), frame, value)

    # -- look-ups ------------------------------------------------------------------------------------------------

    def indexed(self, table: Atom, index: Atoms, frame: Frame, value: Value, *, takes_real: bool = True) -> None:
        if self.is_idle:
            return
        if isinstance(table, Bound) and isinstance(table.owner, Shell):
            rows = size_of(self._tensors.argument(table.owner, (0, "num_embeddings")))
            self._index_table(table.owner.site, rows, index, frame, value, takes_real=takes_real)
        elif isinstance(table, Shell) and table.kind in TENSORS:
            data = next(tensors_in(table.arguments.argument(0, "data") or ()), None)
            rows = None if data is None else data.rows
            self._index_table(table.site, rows, index, frame, value, takes_real=takes_real)
        elif isinstance(table, Tensor):
            made = table.made if table.sizes is not None and len(table.sizes) == 2 else None
            self._index_table(made, table.rows, index, frame, value, takes_real=takes_real)
        elif isinstance(table, SymbolicInput | Unknown | Plain):
            self._look_up(None, None, index, frame, value, takes_real=False)

    def _index_table(
        self, table: Site | None, rows: Size | None, index: Atoms, frame: Frame, value: Value, *, takes_real: bool
    ) -> None:
        """`table[index]`: of several subscripts only the one along dimension 0 picks rows."""
        if value.op is not Op.INDEX or value.args[1].op is not Op.TUPLE or table is None:
            self._look_up(table, rows, index, frame, value, takes_real=takes_real)
            return
        parts, first = subscripts(value), picks_rows(value)
        place = None if first is None else parts.index(first)
        for at, part in enumerate(parts):
            if part.op is not Op.SLICE:
                picked = self._run.behind(self._run.evaluate(part, frame), frame)
                known, along = (rows, picked) if at == place else (None, tuple(tensors_in(picked)))
                self._look_up(table, known, along, frame, value, takes_real=takes_real)

    def note_decoding(self, codec: CodecObject, index: Atoms, frame: Frame, value: Value) -> None:
        """`codec.decode(codes)`."""
        self._look_up(codec.made, codec.rows, index, frame, value, codec=codec)

    def judged(self, row: Operator, given: Arguments, ignored: Atoms | None, frame: Frame, value: Value) -> None:
        number = IGNORED if ignored is None else size_of(ignored)
        targets = given.argument(*(row.argument("judges") or (1, "target")))
        if not self._frames or frame.function is None or number is None or targets is None or not given.is_complete:
            return
        scores = next(tensors_in(given.argument(0, "input") or ()), None)
        rows = None if scores is None else _class_count(scores)
        site = Site(value, frame.function)
        for tensor in tensors_in(targets):
            for filler in self._without_exits(tensor).fillers:
                is_conditional = tensor.is_conditional or filler.is_conditional
                head = None if scores is None else scores.head
                found = LossLookup(site, rows, filler, (site,), None, is_conditional, True, None, number, head)
                self._frames[-1][1].append(found)

    def note_taken_out(self, fillers: Iterable[Filler]) -> None:
        self.taken_out.update(filler.key for filler in fillers)

    def note_compared(self, keys: set[Hashable]) -> None:
        self.compared |= keys

    def note_padded(self, tensor: Tensor, fillers: tuple[Filler, ...], frame: Frame) -> None:
        positions = tensor.positions
        is_plain = positions is not None and not positions.is_total and not positions.is_ahead
        if positions is not None and is_plain and not tensor.is_conditional:
            for filler in fillers:
                self.padded.setdefault(filler.key, PaddedPositions(positions, filler, frame))

    def gives_away(self, key: Hashable, frame: Frame, depth: int = 0) -> bool:
        """True if a body lets the constant below -1 with this key escape: returns it, stores it or passes it on.

        For a callee (`depth` > 0), returning it is no escape.
        """
        found = False
        for event in frame.flow.events:
            atoms = self.evaluated(event.value, frame)
            if event.kind is EventKind.CALL:
                found |= self._is_handed_on(key, event.value, frame, depth)
            elif event.kind is EventKind.STORE or (event.kind in _GIVING and not depth):
                held = tuple(t for t in _tensors_within(atoms) if _has_below(key, t))
                found |= any(_has_below(key, t) for t in self._run.behind(held, frame, event.guard))
        return found

    def _is_handed_on(self, key: Hashable, call: Value, frame: Frame, depth: int) -> bool:
        """True if a call passes the constant with this key to a callee that keeps it or is unknown."""
        if not any(_has_below(key, t) for arg in call.args[1:] for t in _tensors_within(self.evaluated(arg, frame))):
            return False
        callee = call.callee
        if callee.op is Op.ATTR and self._run.named(callee, frame) is None:
            owners = self.evaluated(callee.args[0], frame)
            if any(isinstance(a, Tensor) or (isinstance(a, Shell) and a.is_container) for a in owners):
                return False  # what a container holds is given away with it
        for atom in self.evaluated(callee, frame):
            if isinstance(atom, Outside):
                if operators.row(atom.name) is None and not atom.name.startswith("builtins."):
                    return True
            elif not isinstance(atom, FunctionRef) or depth > _MAX_HANDING:
                return True
            else:
                given = self._run.calls.arguments(call, frame)
                if given is None:
                    continue
                if self.gives_away(key, self._run.calls.frame(atom, given, frame, call), depth + 1):
                    return True
        return False

    def evaluated(self, value: Value, frame: Frame) -> Atoms:
        """Evaluate a value of a body that isn't being run, with all calls in it."""
        return self.asked(lambda: self._run.evaluate(value, frame), frame)

    def asked(self, question: Callable[[], Atoms], frame: Frame) -> Atoms:
        """Answer a question in a frame whose body isn't being run; drops the look-ups noted on the way."""
        self._frames.append((frame, []))
        atoms = question()
        self._frames.pop()
        return atoms

    def _look_up(
        self,
        table: Site | None,
        rows: Size | None,
        index: Atoms,
        frame: Frame,
        value: Value,
        *,
        takes_real: bool = False,
        codec: CodecObject | None = None,
    ) -> None:
        if not self._frames or frame.function is None:
            return
        if rows is not None and rows.number is not None and rows.number <= 0:
            return  # a number that stands for one that is not known yet
        if table is not None:
            for sink in self._tensors.sinks:
                sink.met(table, rows, index, frame, value)
        steps = (Site(value, frame.function),)
        at = table or Site(value.args[0], frame.function)
        for tensor in tensors_in(self._fitting(index, value, frame)):
            for element in self._without_exits(tensor).elements():
                is_real = isinstance(element, Real)
                if is_real and (takes_real or tensor not in index):
                    continue  # a layer is given a tensor, not a list of some
                if table is None and not (tensor in index and isinstance(element, Filler) and _is_none(element, value)):
                    continue
                is_conditional = tensor.is_conditional or getattr(element, "is_conditional", False)
                is_conditional = is_conditional or (is_real and (self._is_of_a_mode() or self.is_one_of_several(value)))
                is_conditional = is_conditional or self._is_for_another(element, value, (index,), frame)
                found = Lookup(at, rows, element, steps, tensor.width, is_conditional, table is not None, codec)
                self._frames[-1][1].append(found)

    def _fitting(self, index: Atoms, value: Value, frame: Frame) -> Atoms:
        """The index without elements that a condition compares to replace the table in time.

        `if ids.max() >= len(self.pe): self.pe = self.longer()`.
        """
        if not any(tensor.has_elements for tensor in tensors_in(index)):
            return index
        names = {name for part in value.args if (name := self_attribute(part)) is not None}
        replacing = frame.flow.once(_replacing) if names else {}
        for event in (event for name in names for event in replacing.get(name, ()) if event.value is not value):
            links = () if event.guard is None else event.guard.chain()
            tests = [part for link in links for part in frame.flow.once(_values_in_condition, link.test)]
            asked = {e.key for t in tests for own in tensors_in(self.evaluated(t, frame)) for e in own.elements()}
            index = tuple(
                a for a in index if not asked.intersection(e.key for t in tensors_in((a,)) for e in t.elements())
            )
        return index

    def is_one_of_several(self, call: Value) -> bool:
        """True if the callee may be of several classes, or of one of several lists.

        The elements of one list don't count, as all get called, unless a condition asks which element it is.
        """
        frame = self._frames[-1][0]
        callee = call.args[0]
        is_element = False
        while callee.op in (Op.ATTR, Op.INDEX, Op.ITEM, Op.UNPACK):
            if _asks_for(callee, call, frame) and len(classes(self._run.evaluate(call.args[0], frame))) > 1:
                return True
            if callee.op is Op.ATTR:
                found = self._run.evaluate(callee, frame)
                lists = [atom for atom in found if isinstance(atom, Shell)] if is_element else []
                if len(classes(found)) > 1 or len(lists) > 1:
                    return True
            is_element = callee.op is not Op.ATTR
            callee = callee.args[0]
        return len(classes(self._run.evaluate(callee, frame))) > 1

    def _is_for_another(self, element: Element, call: Value, given: Iterable[Atoms], frame: Frame) -> bool:
        return is_for_another(element, call, given, frame, lambda part: self._run.evaluate(part, frame), self._rows_of)

    def _rows_of(self, table: Atom) -> Size | None:
        """The number of rows of a table; None if it is no layer of torch that looks up rows, or its size is unknown."""
        layer = table.owner if isinstance(table, Bound) else table
        if not isinstance(layer, Shell) or not self.is_table(layer):
            return None
        return size_of(self._tensors.argument(layer, (0, "num_embeddings")))

    def _is_of_a_mode(self) -> bool:
        """True if a call under way depends on an attribute of the object: a mode, as for ids or for features."""
        for frame, _ in self._frames[1:]:
            guard = None if frame.event is None else frame.event.guard
            for link in guard.chain() if guard is not None and frame.conditions.get(id(guard)) else ():
                if any(self_attribute(part) is not None for part in link.test.walk()):
                    return True
        return False

    def met(self, table: Site, rows: Size | None, index: Atoms, frame: Frame, value: Value) -> None:
        if self.collects_all and rows is not None and len(value.args) > 1:
            self._note(table, rows, index, value)

    def _note(self, table: Site, rows: Size, index: Atoms, value: Value) -> None:
        """Record a look-up of the root function: its own, or a call that it passes the index to."""
        root = self._frames[0][0]
        if len(self._frames) == 1:
            first = picks_rows(value) if value.op is Op.INDEX else None
            self.own.setdefault(id(value), OwnLookup(table, rows, first or value.args[1], value))
            return
        wanted = {atom for atom in index if isinstance(atom, SymbolicInput)}
        call = next((call for frame, call in self._run.calls.way if frame is root), None)
        for argument in call.args[1:] if wanted and call is not None else ():
            if call is not None and not wanted.isdisjoint(self._run.evaluate(argument, root)):
                self.own.setdefault(id(call), OwnLookup(table, rows, argument, call))

    def _without_exits(self, tensor: Tensor) -> Tensor:
        """A tensor without the elements for which a function being run has returned or raised early."""
        left: Atoms = (tensor,)
        for frame, _ in self._frames:
            for test, link in frame.flow.once(_exits):
                left = self._tensors.tests.tested(left, test, link, frame)
        return next(tensors_in(left))


def _asks_for(element: Value, call: Value, frame: Frame) -> bool:
    """True if a call depends on a condition that reads an element of a loop: its name, or its own attributes."""
    event = frame.flow.circumstances(call) if element.op is Op.ITEM else None
    links = () if event is None or event.guard is None else event.guard.chain()
    return any(part is element for link in links for part in link.test.walk())


def _torch_class(shell: Shell) -> str:
    """The name of an object's class, or of its first base class, in torch; empty if there is none."""
    models = shell.model.mro() if shell.model is not None else ()
    return next((model.name for model in models if model.name.startswith("torch.")), "")


def _class_count(scores: Tensor) -> Size | None:
    """The number of classes that scores are for: the size of dimension 1; None if unknown."""
    if scores.sizes is None:
        return scores.width
    found = scores.sizes[1] if len(scores.sizes) > 1 else None
    return found if isinstance(found, Size) else None


def _values_in_condition(_: Flow, test: Value) -> list[Value]:
    """The values in a condition, without those that it only counts or measures: `x` of `x.max() >= len(table)`."""
    found: dict[int, Value] = {}
    pending = [test]
    while pending:
        value = pending.pop()
        if id(value) not in found and not _measures(value):
            found[id(value)] = value
            pending += reversed(value.args)
    return list(found.values())


def _measures(value: Value) -> bool:
    """True if a value is a shape, a number of dimensions, or a count."""
    if value.op is Op.CALL:
        return any("counts" in row.facets for row in operators.called(called_name(value.callee)))
    return value.op is Op.ATTR and value.data in ("shape", "ndim")


def _exits(flow: Flow) -> list[tuple[Value, PathCondition]]:
    """The comparisons in conditions of early exits."""
    links = {id(link): link for event in flow.events if event.guard for link in event.guard.chain()}
    early = [link for link in links.values() if link.early]
    return [(part, link) for link in early for part in comparisons(flow, link.test)]


def _replacing(flow: Flow) -> dict[object, list[Event]]:
    """The conditional events of a body that replace an attribute of `self`, by the attribute's name."""
    found: dict[object, list[Event]] = {}
    for event in flow.events:
        if event.guard is not None and (name := _replaced_attribute(event)) is not None:
            found.setdefault(name, []).append(event)
    return found


def _replaced_attribute(event: Event) -> object:
    """The attribute of `self` that an event replaces by assignment, `setattr` or `register_buffer`; None if none."""
    if event.target is not None or event.kind is not EventKind.CALL:
        return None if event.target is None else self_attribute(event.target)
    call = event.value
    arguments = call.positional
    if called_name(call.callee) == "setattr" and arguments and is_self(arguments[0]):
        arguments = arguments[1:]
    elif self_attribute(call.callee) not in REGISTRARS:
        return None
    return arguments[0].data if arguments and arguments[0].op is Op.CONST else None


def _is_below(filler: Filler) -> bool:
    """True if a constant is below -1, so that it can't mean the last row."""
    return filler.size.number is not None and filler.size.number < -1


def _is_none(filler: Filler, lookup: Value) -> bool:
    """True if a constant is no valid row for a look-up: -1 is one where negative ids count from the end."""
    if filler.size.number != -1 or lookup.op is not Op.CALL:
        return _is_below(filler)
    return not any("from-end" in row.facets for row in operators.called(called_name(lookup.callee)))


def _is_below_in(tensor: Tensor) -> bool:
    return any(map(_is_below, tensor.fillers))


def _has_below(key: Hashable, atom: Atom) -> bool:
    """True if the constant with this key is among a tensor's elements, and still below -1."""
    return isinstance(atom, Tensor) and any(filler.key == key and _is_below(filler) for filler in atom.fillers)


def _tensors_within(atoms: Iterable[Atom], depth: int = 0) -> Iterator[Tensor]:
    """The tensors among atoms, and in containers among them, down to a depth."""
    for atom in atoms:
        if isinstance(atom, Tensor):
            yield atom
        elif isinstance(atom, Shell) and atom.is_container and depth < _MAX_HANDING:
            yield from _tensors_within(atom.contents(), depth + 1)


def _unread(model: ClassModel, classes: Classes) -> Iterator[str]:
    """The names of a class's direct and indirect bases whose source isn't readable."""
    for each in model.mro():
        for base in each.facts.bases:
            if isinstance(base, External) and "." in base.name and classes.of(base) is None:
                yield base.name
