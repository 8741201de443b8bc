"""Where elements meet the tables that they look up, through however many calls.

What is looked up with what a function was given is said where its caller knows more: a finding stands where elements
and table first meet. A function is run once for each kind of arguments; what it gives, and what it looks up with them,
is remembered for the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from modellint import operators
from modellint.flow import codecs, flags, generators
from modellint.flow.bodies import ALL_KINDS
from modellint.flow.codecs import CodecObject
from modellint.flow.domain import (
    ANY_ARGUMENTS,
    Arguments,
    Bound,
    Counter,
    Filler,
    FunctionRef,
    Outside,
    Plain,
    Real,
    Site,
    SymbolicInput,
    Tensor,
    Unknown,
    function_of,
    join,
    size_of,
)
from modellint.flow.heap import TENSORS, Shell, tensors_in
from modellint.flow.library.containers import sliced
from modellint.flow.lookup_records import IGNORED, IdLayer, Lookup, LossLookup, OwnLookup, PaddedPositions
from modellint.flow.memo import given_by, keys_in, of_caller, replaced_reals
from modellint.flow.narrowing import comparisons
from modellint.flow.pairing import classes, is_for_another
from modellint.flow.records import is_self
from modellint.flow.sinks import Sink
from modellint.flow.summaries import MAX_FILES, Summaries
from modellint.flow.tensors import Tensors
from modellint.flow.theory import Theory
from modellint.flow.written_numbers import Below
from modellint.graph.immutable import replace
from modellint.graph.python import alternatives
from modellint.graph.size import Size
from modellint.graph.value import EventKind, Op, called_name, picks_rows, self_attribute, subscripts
from modellint.knowledge.codecs import PACKAGES, is_known
from modellint.link.classes.calls import ADDERS, REGISTRARS
from modellint.link.classes.definitions import SourceMethod
from modellint.link.classes.replacements import copies, replaced
from modellint.link.names import External

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from modellint.flow.bodies import Body
    from modellint.flow.domain import Atom, Atoms, ClassRef, Element, Super
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.methods import Method
    from modellint.graph.python import Class, Function, ModuleFacts, Parameter
    from modellint.graph.value import Event, Flow, Loop, PathCondition, Value
    from modellint.link.classes.models import Classes, ClassModel
    from modellint.link.names import Definition
    from modellint.operators import Operator


#: What torch runs of an object that is called: its own `__call__`, and then this.
_CALLED = ("__call__", "forward")
#: Fewer rows than these are for the parts of an architecture, not for positions.
FEW = 16
#: What does nothing but end a body, and what does nothing at all.
_ENDING = frozenset((EventKind.RETURN, EventKind.RAISE))
_IDLE = frozenset((EventKind.COMPARE, EventKind.DELETE))
#: What need not happen where it has nothing to do with ids.
_LEFT_OUT = frozenset((EventKind.CALL, EventKind.INDEX, EventKind.STORE, EventKind.AUGMENT))
_GIVING = frozenset((EventKind.RETURN, EventKind.YIELD))
#: How many containers that one expression makes are told from each other, and what makes an empty one.
_MAX_SLOTS = 16
_EMPTY = frozenset((Op.LIST, Op.DICT, Op.SET, Op.CALL))
#: Through how many calls, and in how many containers in each other, a constant is looked for.
_MAX_HANDING = 3


class Lookups(Theory, Sink):
    """The look-ups of one run."""

    asks = "look-ups"
    waits = True
    rests_on: ClassVar[tuple[type[Theory], ...]] = (Tensors,)

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self._tensors = run.of(Tensors)
        self._tensors.add(self)
        #: By identity of the annotation: the object that a parameter is given, where nothing else is known of it.
        self._layers: dict[int, Shell | None] = {}
        #: Whether every look-up is asked for, rather than those of drawn ids, and those that were found.
        self.collects_all = False
        #: Whether nobody asks for those that an index or an operator makes.
        self.is_idle = False
        self.own: dict[int, OwnLookup] = {}
        #: The frames of the functions that were asked about.
        self.roots: list[Frame] = []
        #: Those that are done where elements and table meet, by place.
        self.found: dict[Hashable, Lookup] = {}
        #: Positions that constants are written among, by what writes them.
        self.padded: dict[Hashable, PaddedPositions] = {}
        #: What was compared with anything, by its keys.
        self.compared: set[Hashable] = set()
        #: The constants among elements that a mask, a limit or a condition took out again, by their keys.
        self.taken_out: set[Hashable] = set()
        #: Objects of the classes in files that are copied over a library's.
        self._copies: dict[Class, Shell] = {}
        #: The functions that are being run, and what each has looked up so far.
        self._frames: list[tuple[Frame, list[Lookup]]] = []
        #: How many imports, at least, led to a file from the one that is asked about.
        self._away: dict[ModuleFacts, int] = {}

    # -- values --------------------------------------------------------------------------------------------------

    def defined(self, definition: Definition) -> Atoms | None:
        is_codec = isinstance(definition, External) and is_known(definition.name)
        return (Outside(definition.name),) if isinstance(definition, External) and is_codec else None

    def bound(self, atoms: Atoms, parameter: Parameter, code: Method, frame: Frame) -> Atoms:
        """An argument of which nothing is known, as an object of the layer that the parameter is annotated with.

        What was made of an object, by what cannot be read (`fabric.setup(model)`), is taken for that object.
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
        """The one object that stands for all that a parameter may be given, if its annotation is a class of layers."""
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

    def index(self, owner: Atoms, value: Value, frame: Frame) -> Atoms:
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

    def comprehension(self, value: Value, frame: Frame) -> Atoms | None:
        """A list of empty containers, which are filled one by one: `[[] for _ in range(8)]`."""
        slots = self._slots(value, frame) if value.data == "list" and value.guard is None else 0
        if not slots:
            return None
        made = self._run.evaluate(value.args[0], frame)
        kind = made[0].kind if made and isinstance(made[0], Shell) else "list"
        each = [(self._run.shell(kind, value.args[0], frame, f"slot {number}"),) for number in range(slots)]
        return (self._run.sequence("list", each, value, frame),)

    def _slots(self, value: Value, frame: Frame) -> int:
        """How many empty containers a comprehension makes."""
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
            return codecs.called(self, atom, name, arguments, frame, value)
        if isinstance(atom, generators.Generator):
            return generators.called(atom, name, arguments, frame, value)
        if isinstance(atom, SymbolicInput) and name in ("get", "pop"):
            return self._run.objects.part(atom, arguments.argument(0, "key") or (Unknown(),))
        return None

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        top = name.partition(".")[0]
        if top in PACKAGES:
            known = codecs.made(name, arguments, frame, value)
            return (
                generators.made(name, arguments, frame, value) if known is None and top == generators.LIBRARY else known
            )
        return self._mapped(arguments.positional, frame, value) if name == "builtins.map" else None

    def _mapped(self, given: tuple[Atoms, ...], frame: Frame, value: Value) -> Atoms | None:
        """What a function makes of each of a few things; not of layers, which would draw at one place for all."""
        only = given[1][0] if len(given) == 2 and len(given[1]) == 1 else None
        items = only.items if isinstance(only, Shell) and only.kind in ("list", "tuple", "generator") else None
        each = [entry.atoms for entry in items or ()]
        if not 1 < len(each) <= _MAX_SLOTS or any(isinstance(a, Shell) and a.is_layer for atoms in each for a in atoms):
            return None
        made = self._run.shell("generator", value, frame)
        apply = self._run.calls.apply
        made.fill(tuple(join(apply(f, Arguments((one,)), frame, value) for f in given[0]) for one in each))
        return (made,)

    def super_method(
        self, atom: Super, owner: ClassModel, name: str, arguments: Arguments, frame: Frame, value: Value
    ) -> Atoms | None:
        if not owner.name.startswith("torch."):
            return None
        if name == "__init__" and atom.shell.passed is None:
            atom.shell.passed = arguments
        elif name == "__call__":
            return self._worked(atom.shell, arguments, frame, value, ("forward",)) or (Unknown(),)
        elif name == "forward":
            return self.forward(atom.shell, arguments, frame, value)
        return None

    def beyond(self, atom: Super, name: str, arguments: Arguments, frame: Frame, value: Value) -> None:
        if name != "__init__" and atom.shell.model is not None:
            self._inherited(atom.shell.model, name, arguments, frame, value)

    def called(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if shell.model is None or shell.model.is_module is False:
            return None
        return self._worked(shell, arguments, frame, value) or (Unknown(),)

    def forward(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        return self._worked_as_torch(shell, arguments, frame, value) or (Unknown(),)

    def binds(self, cls: ClassRef) -> bool:
        """What is no layer and has no fields chooses among all classes that there are: what these look up is theirs."""
        return cls.model.facts.fields is not None or cls.model.is_module is not False

    # -- functions -----------------------------------------------------------------------------------------------

    @property
    def functions(self) -> list[Function]:
        """The functions that are being run, outermost first."""
        return [frame.function for frame, _ in self._frames if frame.function is not None]

    @property
    def frames(self) -> list[Frame]:
        """Their frames, and those of what is asked about besides."""
        return [frame for frame, _ in self._frames]

    @property
    def root(self) -> Function | None:
        """The function that is asked about."""
        return self._frames[0][0].function if self._frames else None

    @property
    def depth(self) -> int:
        """How many functions are being run within each other."""
        return len(self._frames)

    @property
    def is_running(self) -> bool:
        return bool(self._frames)

    def forget(self) -> None:
        """Run everything anew, and note what that does anew."""
        self._run.calls.memo.forget()

    def follows_all(self) -> bool:
        return not self._run.objects.under_construction

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms:
        """What a call gives; what it looks up with its arguments is looked up by the caller."""
        site, given, memo = Site(value, frame.function), arguments, self._run.calls.memo

        def followed() -> tuple[Atoms, list[Lookup]]:
            self._goes_to(function_of(function.code), frame.function)
            return self._ran(given, run)

        alike = None if self.collects_all else self._tensors.alike
        known = memo.once(memo.key(function, given, alike), given, followed)
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

        def handed_back(atom: Atom) -> Atom:
            return flags.of_caller(given_by(atom, site, keys, moved), code, value, frame)

        found: list[Atom] = []
        for number, atom in enumerate(known.atoms):
            if isinstance(atom, Shell) and flagged[number]:
                each = [tuple(map(handed_back, entry.atoms)) for entry in atom.entries]
                atom = self._run.sequence("tuple", each, value, frame, f"given {number}")
            found.append(handed_back(atom))
        return tuple(found)

    def state(self) -> Hashable:
        return bool(self._run.objects.under_construction)

    def enter(self, frame: Frame, given: Arguments) -> None:
        elements = [element for atoms in given.all() for t in tensors_in(atoms) for element in t.elements()]
        kinds = {Below if isinstance(e, Filler) and _is_below(e) else type(e) for e in elements}
        frame.given = ALL_KINDS if self.collects_all else frozenset(kinds)
        if self.collects_all and not self._frames:
            self.roots.append(frame)
        self._frames.append((frame, []))

    def is_asked_for(self, frame: Frame) -> bool:
        """Whether it matters what a body returns: to a caller, or to look-ups with ids that a call on the way draws."""
        if len(self._frames) > 1 or frame.function is None or self._tensors.follows_everything:
            return True
        return self._body_of(frame).draws

    def matters(self, event: Event, frame: Frame) -> bool:
        """Whether an event has to happen; what it computes can be asked for later."""
        if event.kind in _ENDING and event.guard is not None:  # what comes after knows the condition, too
            return event.kind is EventKind.RETURN and self.is_asked_for(frame)
        if event.kind in _IDLE:
            return False
        if event.kind not in _LEFT_OUT or (event.kind is EventKind.STORE and self._run.objects.under_construction):
            return True
        if frame.function is None or self._run.objects.under_construction:
            if event.kind is not EventKind.CALL:
                return True
            if id(event.value) not in frame.flow.once(_changing):
                return False
            return not self._run.objects.puts_off(event, frame, self._is_asked_about)
        if self._runs_all():
            return True
        return self._body_of(frame).matters(event, frame.given)

    def _runs_all(self) -> bool:
        """Whether all that the body does is followed that is being run."""
        return self._tensors.follows_everything or (self.collects_all and len(self._frames) == 1)

    def _goes_to(self, function: Function | None, caller: Function | None) -> None:
        """Note through how many files a run has come to that of a function: from outside through none."""
        if function is not None:
            self._away.setdefault(function.module, 0 if caller is None else self._away.get(caller.module, 0) + 1)

    def _is_asked_about(self, module: ModuleFacts) -> bool:
        """Whether a file's own functions are run, not only what they call in it."""
        return self._away.get(module) == 0

    def carried(self, loop: Loop, frame: Frame) -> tuple[Value, ...]:
        """What a loop carries of elements from one turn to the next."""
        if frame.function is None or self._run.objects.under_construction:
            return loop.carried
        if self._runs_all():
            return loop.carried
        body = self._body_of(frame)
        return tuple(choice for choice in loop.carried if body.is_carried(choice, frame.given))

    def _body_of(self, frame: Frame) -> Body:
        """What may matter in the function that a frame is of."""
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
                self.found.setdefault((one.place, one.table, one.element, one.element.key), one)
        return atoms, passed

    # -- layers --------------------------------------------------------------------------------------------------

    def row_of(self, shell: Shell) -> Operator | None:
        """The row of the class of torch's that an object is of."""
        return operators.row(_torch_class(shell))

    def is_table(self, shell: Shell) -> bool:
        """Whether an object is a layer that looks up rows."""
        row = self.row_of(shell) if shell.kind == "instance" else None
        return row is not None and "table" in row.facets

    def _worked(
        self, shell: Shell, arguments: Arguments, frame: Frame, value: Value, by: tuple[str, ...] = _CALLED
    ) -> Atoms | None:
        """What an object gives when it is called, by one of these methods; None if that is not known."""
        objects = self._run.objects
        for name in by:
            own = objects.own_method(shell, name)
            if own is not None:
                objects.construct(shell)
                return self._run.calls.apply(own, arguments, frame, value)
        return self._worked_as_torch(shell, arguments, frame, value)

    def _worked_as_torch(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """What torch's `forward` gives."""
        for sink in self._tensors.working:
            sink.at_work(shell, arguments, frame, value)
        row = self.row_of(shell)
        given = arguments.argument(0, "input")
        if row is None:
            if shell.model is not None:
                self._inherited(shell.model, "forward", arguments, frame, value)
            is_layer = shell.is_layer and _torch_class(shell).startswith("torch.nn.")
            return self._tensors.layer(shell, None, given, frame, value) if is_layer else None
        if row.name == "torch.nn.Sequential":
            self._run.objects.construct(shell)
            for entry in shell.entries:
                layers = [atom for atom in entry.atoms if isinstance(atom, Shell) and atom.is_layer]
                done = [self._worked(layer, Arguments((given or (),)), frame, value) for layer in layers]
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
        """How many rows a table has, and which of them is for padding; None where it is no table, or is told none."""
        row = self.row_of(shell)
        if row is None or "padding" not in row.facets or not self.is_table(shell):
            return None
        padding = self._tensors.argument(shell, row.argument("padding"))
        rows = self._tensors.argument(shell, (0, "num_embeddings"))
        return None if padding is None or rows is None else (rows, padding)

    def sided(self, layers: Atoms) -> IdLayer | None:
        """How many ids the layers are for that a value may be: the rows of a table, the outputs of a projection."""
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

    def _inherited(self, model: ClassModel, name: str, arguments: Arguments, frame: Frame, value: Value) -> None:
        """Look up what a method gets that a class inherits from one of a library's that cannot be read.

        Only constants below -1 are followed there: into the file of the project that is copied over the library's, and
        into the functions that replace the library's and have a parameter of an argument's name.
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
            self._picked(table.owner.site, rows, index, frame, value, takes_real=takes_real)
        elif isinstance(table, Shell) and table.kind in TENSORS:
            data = next(tensors_in(table.arguments.argument(0, "data") or ()), None)
            rows = None if data is None else data.rows
            self._picked(table.site, rows, index, frame, value, takes_real=takes_real)
        elif isinstance(table, Tensor):
            made = table.made if table.sizes is not None and len(table.sizes) == 2 else None
            self._picked(made, table.rows, index, frame, value, takes_real=takes_real)
        elif isinstance(table, SymbolicInput | Unknown | Plain):
            self._look_up(None, None, index, frame, value, takes_real=False)

    def _picked(
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

    def decoded(self, codec: CodecObject, index: Atoms, frame: Frame, value: Value) -> None:
        """`codec.decode(codes)`."""
        self._look_up(codec.made, codec.rows, index, frame, value, codec=codec)

    def judged(self, row: Operator, given: Arguments, ignored: Atoms | None, frame: Frame, value: Value) -> None:
        number = IGNORED if ignored is None else size_of(ignored)
        targets = given.argument(*(row.argument("judges") or (1, "target")))
        if not self._frames or frame.function is None or number is None or targets is None or not given.is_complete:
            return
        scores = next(tensors_in(given.argument(0, "input") or ()), None)
        rows = None if scores is None else _scored(scores)
        site = Site(value, frame.function)
        for tensor in tensors_in(targets):
            for filler in self._left(tensor).fillers:
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
        """Whether a body returns a constant below -1 that stands among elements, stores it or hands it on.

        What it calls with it does not give it away by returning it (`depth` > 0).
        """
        found = False
        for event in frame.flow.events:
            atoms = self.evaluated(event.value, frame)
            if event.kind is EventKind.CALL:
                found |= self._is_handed_on(key, event.value, frame, depth)
            elif event.kind is EventKind.STORE or (event.kind in _GIVING and not depth):
                held = tuple(t for t in _held(atoms) if _has_below(key, t))
                found |= any(_has_below(key, t) for t in self._run.behind(held, frame, event.guard))
        return found

    def _is_handed_on(self, key: Hashable, call: Value, frame: Frame, depth: int) -> bool:
        """Whether a call gives what a key stands for to what is no operator, and keeps it or cannot be read."""
        if not any(_has_below(key, t) for arg in call.args[1:] for t in _held(self.evaluated(arg, frame))):
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
        """What a value of a body is, with all that it calls, though the body is not being run."""
        return self.asked(lambda: self._run.evaluate(value, frame), frame)

    def asked(self, question: Callable[[], Atoms], frame: Frame) -> Atoms:
        """What an answer is for which a body need not be run; what is called for it, is."""
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
            for element in self._left(tensor).elements():
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
        """What is left of elements where a condition about them has a function replace the attribute that they look up.

        `if ids.max() >= len(self.pe): self.pe = self.longer()`.
        """
        names = {name for part in value.args if (name := self_attribute(part)) is not None}
        replacing = frame.flow.once(_replacing) if names else {}
        for event in (event for name in names for event in replacing.get(name, ()) if event.value is not value):
            links = () if event.guard is None else event.guard.chain()
            tests = [part for link in links for part in _compared(link.test)]
            asked = {e.key for t in tests for own in tensors_in(self.evaluated(t, frame)) for e in own.elements()}
            index = tuple(
                a for a in index if not asked.intersection(e.key for t in tensors_in((a,)) for e in t.elements())
            )
        return index

    def is_one_of_several(self, call: Value) -> bool:
        """Whether what is called may be one of several things; the elements of a list are all called in time."""
        frame = self._frames[-1][0]
        callee = call.args[0]
        while callee.op in (Op.ATTR, Op.INDEX, Op.ITEM, Op.UNPACK):
            if callee.op is Op.ATTR and len(classes(self._run.evaluate(callee, frame))) > 1:
                return True
            callee = callee.args[0]
        return len(classes(self._run.evaluate(callee, frame))) > 1

    def _is_for_another(self, element: Element, call: Value, given: Iterable[Atoms], frame: Frame) -> bool:
        return is_for_another(element, call, given, frame, lambda part: self._run.evaluate(part, frame), self._rows_of)

    def _rows_of(self, table: Atom) -> Size | None:
        """How many rows a table has; None for what is no layer of torch's that looks up."""
        layer = table.owner if isinstance(table, Bound) else table
        if not isinstance(layer, Shell) or not self.is_table(layer):
            return None
        return size_of(self._tensors.argument(layer, (0, "num_embeddings")))

    def _is_of_a_mode(self) -> bool:
        """Whether an object does what it does only if an attribute says so: it may take ids or features."""
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
        """Note what the function that is asked about looks up, itself or by a call that is given the index."""
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

    def _left(self, tensor: Tensor) -> Tensor:
        """A tensor without the elements at which one of the functions that are being run is left early."""
        left: Atoms = (tensor,)
        for frame, _ in self._frames:
            for test, link in frame.flow.once(_exits):
                left = self._tensors.tests.tested(left, test, link, frame)
        return next(tensors_in(left))


def _torch_class(shell: Shell) -> str:
    """The first class of torch's that an object is of; empty if it is of none."""
    models = shell.model.mro() if shell.model is not None else ()
    return next((model.name for model in models if model.name.startswith("torch.")), "")


def _scored(scores: Tensor) -> Size | None:
    """How many classes there are scores for: along dimension 1, which is the last of matrices."""
    if scores.sizes is None:
        return scores.width
    found = scores.sizes[1] if len(scores.sizes) > 1 else None
    return found if isinstance(found, Size) else None


def _compared(test: Value) -> Iterator[Value]:
    """What a condition compares, but for what it counts or measures only: `x` of `x.max() >= len(table)`."""
    if test.op is Op.ATTR and test.data in ("shape", "ndim"):
        return
    if test.op is Op.CALL and any("counts" in row.facets for row in operators.called(called_name(test.callee))):
        return
    yield test
    for part in test.args:
        yield from _compared(part)


def _exits(flow: Flow) -> list[tuple[Value, PathCondition]]:
    """The comparisons by which a function is left early."""
    links = {id(link): link for event in flow.events if event.guard for link in event.guard.chain()}
    early = [link for link in links.values() if link.early]
    return [(part, link) for link in early for part in comparisons(flow, link.test)]


def _replacing(flow: Flow) -> dict[object, list[Event]]:
    """The events of a body that replace an attribute of the object under a condition, by its name."""
    found: dict[object, list[Event]] = {}
    for event in flow.events:
        if event.guard is not None and (name := _replaced(event)) is not None:
            found.setdefault(name, []).append(event)
    return found


def _replaced(event: Event) -> object:
    """The attribute of the object that an event replaces: by assignment, `setattr`, `register_buffer`."""
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
    """Whether a constant is no way to say which is the last one."""
    return filler.size.number is not None and filler.size.number < -1


def _is_none(filler: Filler, lookup: Value) -> bool:
    """Whether a constant is no row of anything: -1 is the last one where negative numbers count from the end."""
    if filler.size.number != -1 or lookup.op is not Op.CALL:
        return _is_below(filler)
    return not any("from-end" in row.facets for row in operators.called(called_name(lookup.callee)))


def _is_below_in(tensor: Tensor) -> bool:
    return any(map(_is_below, tensor.fillers))


def _has_below(key: Hashable, atom: Atom) -> bool:
    """Whether the constant that a key stands for is among elements, and still below -1."""
    return isinstance(atom, Tensor) and any(filler.key == key and _is_below(filler) for filler in atom.fillers)


def _held(atoms: Iterable[Atom], depth: int = 0) -> Iterator[Tensor]:
    """The tensors that a value is, or holds in containers of containers."""
    for atom in atoms:
        if isinstance(atom, Tensor):
            yield atom
        elif isinstance(atom, Shell) and atom.is_container and depth < _MAX_HANDING:
            yield from _held(atom.contents(), depth + 1)


def _unread(model: ClassModel, classes: Classes) -> Iterator[str]:
    """The names of the bases of a class, and of their bases, that cannot be read."""
    for each in model.mro():
        for base in each.facts.bases:
            if isinstance(base, External) and "." in base.name and classes.of(base) is None:
                yield base.name


def _changing(flow: Flow) -> frozenset[int]:
    """The calls of a body that may change objects, but those in other values, which happen when these are asked."""
    used = {id(arg) for value in flow.values for arg in value.args}
    used.update(id(event.value) for event in flow.of(EventKind.STORE))
    calls = (event.value for event in flow.of(EventKind.CALL) if id(event.value) not in used)
    return frozenset(id(call) for call in calls if _changes_objects(call))


def _changes_objects(call: Value) -> bool:
    """Whether a call in a constructor may store something, or put it into a container."""
    callee = call.callee
    if callee.op is Op.ATTR:
        owner = callee.args[0]
        is_above = callee.data == "__init__" or (owner.op is Op.CALL and owner.callee.data == "super")
        if is_above or is_self(owner) or callee.data in ADDERS or callee.data in REGISTRARS:
            return True
    return any(is_self(arg) for arg in call.args[1:])
