"""Operations on objects: reading attributes and elements, storing, and construction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import sizes
from modellint.flow.domain import (
    NEVER,
    NONE,
    PLAIN,
    UNKNOWN,
    Arguments,
    Bound,
    ClassRef,
    Constant,
    Counter,
    Derived,
    FunctionRef,
    Length,
    Outside,
    Plain,
    Shape,
    Super,
    SymbolicInput,
    Tensor,
    Unknown,
    constant,
    function_of,
    join,
    text,
)
from modellint.flow.effects import effects
from modellint.flow.frame import class_frame
from modellint.flow.heap import TENSORS, DeferredCall, Shell, Store
from modellint.flow.library import containers, operations
from modellint.flow.library.functions import DICTS
from modellint.flow.library.operations import changed
from modellint.flow.theory import Made, Read, StoredOutside, Touched
from modellint.graph.arguments import bind
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op, Value, self_attribute
from modellint.link.classes import calls
from modellint.link.names import External

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Later, Path
    from modellint.flow.interp import Interpreter
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event
    from modellint.link.classes.models import ClassModel

#: The dicts in which `nn.Module` keeps registered children, parameters and buffers.
TABLES = frozenset(("_modules", "_parameters", "_buffers"))
#: The pseudo-attribute that holds the items of an object derived from `dict`.
_ITEMS = "[]"
#: The value that makes the subject of a run, which no file makes.
_NO_VALUE = Value(Op.UNKNOWN, (), None, None)


@dataclass(frozen=True, eq=False, slots=True)
class AttributeRead:
    """A read of an attribute; `at_work` if it happens while the object works (in `forward`, not `__init__`)."""

    name: str
    function: Function
    value: Value
    at_work: bool


class Objects:
    """Attributes, entries and stores of the objects of one run."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        #: The object under analysis, if the run is about one.
        self.subject: Shell | None = None
        #: The objects whose constructors are being run.
        self.under_construction: list[Shell] = []
        #: The paths on which constructors raise, so that no object is made.
        self.failures: dict[Shell, list[Path]] = {}
        #: The reads of the subject's attributes.
        self.reads: dict[tuple[str, int, int], AttributeRead] = {}
        self.is_at_work = False
        #: Deferred calls of constructors, by the attributes that they may store in other objects.
        self.waiting: dict[str, list[tuple[Shell, DeferredCall]]] = {}
        self._given_away: list[tuple[Atoms | Later, Path]] = []

    # -- attributes ------------------------------------------------------------------------------------------------

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms:
        """The value of `atom.name`."""
        known = self._run.asked.attribute(atom, name, frame, value)
        if known is not None:
            return known
        if isinstance(atom, Shell):
            found = self._shell_attribute(atom, name, frame, value)
            self._run.asked.tell(Read, atom, found)
            return found
        if isinstance(atom, SymbolicInput):
            return PLAIN if name in calls.PLAIN_ATTRIBUTES else (atom.part(name),)
        if isinstance(atom, Outside):
            model = self._run.classes.named(f"{atom.name}.{name}", None)
            return (ClassRef(model),) if model is not None else (Outside(f"{atom.name}.{name}"),)
        if isinstance(atom, ClassRef):
            if name in ("__name__", "__qualname__"):
                return (Constant(atom.model.name.rpartition(".")[2]),)
            return self.class_attribute(atom, name, atom)
        if isinstance(atom, Super):
            assert atom.shell.model is not None
            return self.class_attribute(ClassRef(atom.shell.model), name, atom.shell, atom.above) or (
                Bound(atom, name),
            )
        if isinstance(atom, Derived):
            return (atom,) if name in ("T", "mT", "H") else PLAIN
        if isinstance(atom, FunctionRef):
            return PLAIN
        return (
            PLAIN if isinstance(atom, Plain | Constant | Length | Shape) or name in calls.PLAIN_ATTRIBUTES else UNKNOWN
        )

    def _shell_attribute(self, shell: Shell, name: str, frame: Frame | None, value: Value | None) -> Atoms:
        if name in self.waiting:
            self.let_happen(name)
        if shell is self.subject:
            self.note_read(shell, name, frame, value)
        stored = shell.get(name, self._run.path)
        if stored is not None:
            return self._run.asked.load(stored, shell, name)
        if shell.kind != "instance":
            if shell.is_container:
                return (Bound(shell, name),)
            is_turned = name in ("T", "mT", "H") and shell.kind == "parameter" and value is not None
            return changed(shell, f"`.{name}`", value) if is_turned and value is not None else PLAIN
        assert shell.model is not None
        if name in TABLES or name == "__dict__":
            return (Bound(shell, name),)
        if name == "__class__":
            return (ClassRef(shell.model),)
        self.construct(shell)
        stored = shell.get(name, self._run.path)
        if stored is not None:
            return self._run.asked.load(stored, shell, name)
        if shell.is_module_container and any(entry.key == name for entry in shell.entries):
            return join(entry.atoms for entry in shell.entries if entry.key == name)
        found = self.class_attribute(ClassRef(shell.model), name, shell)
        if found:
            method = found[0]
            function = function_of(method.code) if isinstance(method, FunctionRef) else None
            if function is not None and function.is_property and frame is not None and value is not None:
                return self._run.calls.apply(method, Arguments(), frame, value)
            return found
        if shell.is_module_container or name in calls.REGISTRARS or name in calls.SAME:
            return (Bound(shell, name),)
        return PLAIN if name in calls.PLAIN_ATTRIBUTES else UNKNOWN

    def note_read(self, shell: Shell, name: str, frame: Frame | None, value: Value | None) -> None:
        if shell is self.subject and frame is not None and frame.function is not None and value is not None:
            key = (name, id(frame.function), id(value))
            known = self.reads.get(key)
            if known is None or (self.is_at_work and not known.at_work):
                self.reads[key] = AttributeRead(name, frame.function, value, self.is_at_work)

    def class_attribute(self, cls: ClassRef, name: str, receiver: Atom, start: int = 0) -> Atoms:
        """The class attribute or method of a name, from `start` in the MRO on; `NEVER` if there is none."""
        mro = cls.model.mro()
        for above in range(start, len(mro)):
            model = mro[above]
            value = model.facts.attributes.get(name)
            if value is not None:
                default = self._run.evaluate(value, class_frame(model.facts.scope, id(value)))
                self._run.calls.enter_by(model, name, default)
                return self._run.asked.load(default, model, name)
            method = model.own_method(name)
            if method is not None:
                function = function_of(method)
                is_unbound = isinstance(receiver, ClassRef) and not (function is not None and function.is_class_method)
                bound = None if is_unbound or not method.has_receiver else receiver
                return (FunctionRef(method, None, bound, above),)
            if model.facts.has_method(name):
                return UNKNOWN
        return NEVER

    @property
    def given_away(self) -> Iterator[tuple[Atoms, Path]]:
        """The atoms stored in unknown objects, which may register them, with their path conditions."""
        for held, path in self._given_away:
            yield held() if callable(held) else held, path

    def give_away(self, owner: Atom, atoms: Atoms | Later) -> None:
        """Note a store in an object that isn't on the heap; layers that are stored in it escape."""
        self._run.asked.tell(StoredOutside, owner)
        is_kept = callable(atoms) or any(isinstance(atom, Shell) for atom in atoms)
        if is_kept and isinstance(owner, SymbolicInput | Unknown):
            self._given_away.append((atoms, self._run.path))

    def own_method(self, shell: Shell, name: str) -> FunctionRef | None:
        """The bound method of an instance, if its class defines it in readable source; else None."""
        if shell.kind != "instance":
            return None
        found = model_of(shell).readable(name)
        return None if found is None else FunctionRef(found[0], None, shell, found[1])

    def store(
        self,
        shell: Shell,
        name: str | None,
        atoms: Atoms | Later,
        frame: Frame,
        *,
        target: Value | None = None,
        value: Value | None = None,
        registers: bool = True,
        is_sure: bool = True,
    ) -> None:
        """Store atoms in an attribute (of unknown name if None); not `is_sure` if the object is one of several."""
        path = self._run.path
        if not atoms:
            return
        if name is not None:
            if not callable(atoms):
                atoms = self._run.asked.store(atoms, shell, frame, target, value)
            shell.set(name, atoms, path)
        if shell not in self.under_construction:
            self._run.asked.tell(Touched, (shell,))
        setter = None if target is None else self.own_method(shell, "__setattr__")
        if setter is not None and not callable(atoms) and setter.code not in self._run.calls.under_way:
            self._run.calls.apply(setter, Arguments(((Constant(name),), atoms)), frame, target or value)  # type: ignore[arg-type]
            registers = False
        shell.note(Store(name, atoms, path, frame.function, target, value, registers, is_sure, shell.is_initialised))

    # -- containers ------------------------------------------------------------------------------------------------

    def element(self, atom: Atom, frame: Frame, value: Value) -> Atoms:
        """One element of an iteration over a value."""
        known = self._run.asked.element(atom, None, frame, value)
        if known is not None:
            return known
        if isinstance(atom, Shell):
            if atom.kind == "dict":
                keys = [(Constant(entry.key),) for entry in atom.entries if entry.key is not None]
                return join(keys) if len(keys) == len(atom.entries) else PLAIN
            if atom.is_container or atom.is_module_container:
                self.construct(atom)
                return self._run.asked.load(atom.element(), atom, None)
            if atom.kind == "instance" and self.class_attribute(ClassRef(model_of(atom)), "__iter__", atom):
                return join(
                    self.element(inner, frame, value)
                    for inner in self._run.calls.method(atom, "__iter__", Arguments(), frame, value)
                    if inner is not atom
                )
            return PLAIN if atom.kind != "instance" else UNKNOWN
        if isinstance(atom, Shape):
            return sizes.element(atom)
        if isinstance(atom, SymbolicInput):
            return (self._input_part(atom, None),)
        if isinstance(atom, Plain | Unknown | Tensor):
            return (atom,)
        return PLAIN if isinstance(atom, Constant | Derived | Length) else UNKNOWN

    def part(self, atom: Atom, index: Atoms) -> Atoms:
        """The value of `atom[index]`, where it is unpacked."""
        known = self._run.asked.element(atom, index, None, None)
        return self.entry(atom, index) if known is None else known

    def entry(self, atom: Atom, index: Atoms) -> Atoms:
        """The value of `atom[index]`, of which no theory knows."""
        if isinstance(atom, Shell):
            if atom.is_container or atom.is_module_container:
                self.construct(atom)
                made = atom.get("default_factory")
                found = join([atom.part(index), *([] if made is None else [self._default(atom, made)])])
                return self._run.asked.load(found, atom, None)
            if atom.kind == "instance":
                self.construct(atom)
                known = constant(index)
                fields = model_of(atom).facts.fields
                if fields is not None and known is not None and isinstance(known.value, int):
                    names = [field.name for field in fields]
                    if -len(names) <= known.value < len(names):
                        return atom.get(names[known.value]) or UNKNOWN
                items = self.items(atom)
                return UNKNOWN if items is None else self.part(items, index)
            return PLAIN
        if isinstance(atom, Bound) and isinstance(atom.owner, Shell):
            name = text(index)
            return (atom.owner.get(name) if name is not None else None) or UNKNOWN
        if isinstance(atom, Shape):
            return sizes.measured(atom, index)
        if isinstance(atom, SymbolicInput):
            return (self._input_part(atom, text(index)),)
        if isinstance(atom, Unknown | Tensor):
            return (atom,)
        return PLAIN if isinstance(atom, Constant | Plain | Derived | Length) else UNKNOWN

    def _input_part(self, owner: SymbolicInput, key: str | None) -> SymbolicInput:
        """An entry of a root's argument; the argument itself in runs that don't name parts."""
        if not self._run.mode.names_parts:
            return owner
        return owner.element() if key is None else owner.part(key)

    def _default(self, owner: Shell, factory: Atoms) -> Atoms:
        """The value that a `defaultdict` makes for a missing key."""
        assert owner.value is not None
        if not any(isinstance(a, Shell) for entry in owner.entries for a in entry.atoms):
            names = [a.name for a in factory if isinstance(a, Outside)]
            kinds = [
                name[len("builtins.") :] for name in names if name in ("builtins.list", "builtins.dict", "builtins.set")
            ]
            for kind in kinds:
                made = Shell(kind, owner.value, owner.trail)
                made.is_exact = False
                owner.put((made,), ())
        return owner.element()

    def store_item(self, atom: Atom, index: Atoms, atoms: Atoms, frame: Frame, value: Value) -> None:
        """Store `atom[index] = atoms`."""
        path = self._run.path
        if isinstance(atom, Bound) and isinstance(atom.owner, Shell):
            self.store(atom.owner, text(index), atoms, frame, value=value, registers=atom.name in TABLES)
        elif isinstance(atom, Shell) and (atom.is_container or atom.is_module_container):
            known = constant(index)
            key = None if known is None else known.value
            if (
                (atom.kind == "list" or (atom.is_module_container and self._run.mode.replaces_layers))
                and isinstance(key, int)
                and atom.is_exact
                and -len(atom.entries) <= key < len(atom.entries)
            ):
                before = atom.entries[key].atoms
                atom.replace(key, atoms if not path and not self._run.loops else join([before, atoms]))
                return
            counted = atom.entries_at(index) if atom.kind == "list" and atom.is_exact else atom.entries
            if 0 < len(counted) < len(atom.entries) or (counted and _counts_all(index, atom)):
                for number, entry in enumerate(counted):
                    atom.replace(number, join([entry.atoms, atoms]))
                return
            atom.is_exact = atom.is_exact and key is not None and atom.kind == "dict"
            atom.put(atoms, path, key if atom.kind == "dict" or isinstance(key, str) else None)
        elif isinstance(atom, Shell) and (own := self.own_method(atom, "__setitem__")) is not None:
            self._run.calls.apply(own, Arguments((index, atoms)), frame, value)
        elif isinstance(atom, Shell) and (items := self.items(atom)) is not None:
            self.store_item(items, index, atoms, frame, value)
        else:
            self.give_away(atom, atoms)

    def items(self, shell: Shell) -> Shell | None:
        """The items of an object derived from `dict`, as a container; None for layers and other objects."""
        model = shell.model
        if shell.kind != "instance" or model is None or model.is_module is not False:
            return None
        bases = (base for one in model.mro() for base in one.facts.bases)
        if not any(isinstance(base, External) and base.name in DICTS for base in bases):
            return None
        found = shell.get(_ITEMS)
        if found is None:
            made = Shell("dict", shell.value, (*shell.trail, id(shell)))
            made.is_exact = False
            found = (made,)
            shell.set(_ITEMS, found, ())
        return found[0] if isinstance(found[0], Shell) else None

    def augment(self, left: Atoms, right: Atoms, frame: Frame, value: Value) -> Atoms:
        """The result of `x += …`: containers grow in place, other values are computed."""
        found: list[Atoms] = []
        for atom in left:
            if isinstance(atom, Derived) or (isinstance(atom, Shell) and atom.kind in TENSORS):
                found.append((atom,))  # calculated in place
            elif isinstance(atom, Shell) and atom.kind != "tuple" and (atom.is_container or atom.is_module_container):
                atom.is_exact = atom.is_exact and not self._run.loops and not self._run.path
                containers.merge(atom, right, self._run.path)
                found.append((atom,))
            else:
                found.append(operations.augmented(self._run, atom, right, value, frame))
        return join(found)

    # -- modules ---------------------------------------------------------------------------------------------------

    def module_method(self, shell: Shell, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of a method of `nn.Module` or its containers; None for any other method."""
        if name in calls.REGISTRARS or name == "__setattr__":
            given = arguments.argument(
                1, {"register_parameter": "param", "register_buffer": "tensor"}.get(name, "module")
            )
            if given is not None:
                key = _only_text(arguments.argument(0, "name"))
                if name == "register_buffer":
                    buffer = self._run.shell("buffer", value, frame)
                    buffer.arguments = Arguments((given,))
                    given = (buffer,)
                self.store(shell, key, given, frame, value=value)
                if shell.is_module_container:
                    shell.put(given, self._run.path, key)
                    shell.is_exact = shell.is_exact and not self._run.loops
            return NONE
        if name == "__init__":
            shell.is_initialised = True
            return NONE
        if shell.is_module_container or name in ("children", "modules", "named_children", "named_modules"):
            if shell.is_module_container:
                self.construct(shell)
                return containers.method(self._run, shell, name, arguments, frame, value)
            every = self._run.shell("list", value, frame, "children")
            every.is_exact = False
            for stored in shell.stores:
                for atom in () if _is_yet_to_be_made(stored) else stored.atoms:
                    if isinstance(atom, Shell) and atom.is_layer:
                        every.put((atom,), ())
            return (every,)
        return None

    # -- how they come to be ---------------------------------------------------------------------------------------

    def instantiate(self, cls: ClassRef, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        full = cls.arguments.then(arguments)
        name = cls.model.name
        if name in calls.TENSOR_CLASSES:
            tensor = self._run.shell(_tensor_kind(name), value, frame)
            tensor.arguments = full
            return (tensor,)
        made = self.instance(cls.model, full, frame, value)
        self._run.asked.tell(Made, made, cls, frame, value)
        return (made,)

    def instance(self, model: ClassModel, arguments: Arguments, frame: Frame, value: Value) -> Shell:
        made = self._run.shell("instance", value, frame, model.name)
        made.model, made.arguments = model, arguments
        if model.name in calls.CONTAINERS:
            made.is_built = True
            self.fill(made, arguments)
        elif model.facts.fields is not None:
            self._fill_fields(made, arguments, frame)
        return made

    def construct(self, shell: Shell) -> None:
        """Run the constructor of an object, unless it has been run."""
        if shell.is_built or shell.kind != "instance":
            return
        shell.is_built = True
        outer, self._run.path = self._run.path, ()
        loops, self._run.loops = self._run.loops, 0
        is_whole = self._run.takes_at_most(self._steps_of(shell), lambda: self.initialise(shell, shell.arguments))
        if not is_whole:
            shell.forget()
        self._run.path, self._run.loops = outer, loops

    def _steps_of(self, shell: Shell) -> int | None:
        """The most steps that the constructor of an object may take; None for layers, and in runs that count."""
        return None if shell.is_layer else self._run.mode.most_made

    def initialise(self, shell: Shell, arguments: Arguments) -> None:
        """Run the first `__init__` in the MRO."""
        shell.is_built = True
        self._run.hold(shell)
        model = model_of(shell)
        frame = class_frame(model.facts.scope, id(shell), shell.trail)
        value = shell.value if shell.value is not None else _NO_VALUE
        self.under_construction.append(shell)
        self._run.calls.super_method(Super(shell, 0), "__init__", arguments, frame, value)
        self.under_construction.pop()

    def fail(self, frame: Frame) -> None:
        """Note the path of an exception that is raised in a constructor."""
        made = self.under_construction[-1] if self.under_construction else None
        is_seldom = self._run.loops or (frame.event is not None and frame.event.handled)
        if made is not None and frame.names.get("self") == (made,) and (self._run.path or not is_seldom):
            self.failures.setdefault(made, []).append(self._run.path)

    def puts_off(self, event: Event, frame: Frame, is_asked_about: Callable[[ModuleFacts], bool]) -> bool:
        """Defer a constructor's call of a method until an attribute that it may store is read; False if it can't be.

        It can't if it runs code of a file in question, whose objects and look-ups are asked for.
        """
        name, receiver = self_attribute(event.value.callee), frame.names.get("self", ())
        shell = receiver[0] if len(receiver) == 1 else None
        if name is None or not isinstance(shell, Shell) or shell not in self.under_construction or frame.is_nested:
            return False
        method = None if shell.get(name) is not None else self.own_method(shell, name)
        function = None if method is None else function_of(method.code)
        done = None if function is None else effects(function, model_of(shell), self._run.project, self._run.gate)
        if done is None or any(map(is_asked_about, done.modules)):
            return False
        if not done.own and not done.others:
            return True  # nobody will see whether it happened
        call = DeferredCall(done.own, done.words, self._run.later(event, frame, shell))
        shell.wait(call)
        for other in done.others:
            self.waiting.setdefault(other, []).append((shell, call))
        return True

    def let_happen(self, name: str) -> None:
        """Run deferred calls that may store an attribute in other objects than their own."""
        for shell, call in self.waiting.pop(name, ()):
            shell.let_happen(call)

    def fill(self, shell: Shell, arguments: Arguments) -> None:
        """Fill a container layer with the arguments of its constructor."""
        shell.is_exact = shell.is_exact and arguments.is_complete
        is_sequence = "torch.nn.Sequential" in [model.name for model in model_of(shell).mro()]
        is_empty = not shell.entries
        for atoms in arguments.positional:
            if is_sequence and not any(isinstance(atom, Shell) and atom.kind == "dict" for atom in atoms):
                if is_empty and atoms:  # two calls of a function may be told to give the same layer
                    shell.insert(len(shell.entries), atoms)
                else:
                    shell.put(atoms, ())
            else:
                containers.merge(shell, atoms, ())
        for name, atoms in arguments.keywords.items():
            if name in calls.CONTAINERS.values():
                containers.merge(shell, atoms, ())
            else:
                shell.put(atoms, (), name)

    def _fill_fields(self, shell: Shell, arguments: Arguments, frame: Frame) -> None:
        model = model_of(shell)
        shell.is_built = True
        fields = model.facts.fields or ()
        given = bind(fields, arguments.positional, arguments.keywords).given
        for parameter in fields:
            found = given.get(parameter.name)
            if found is None and parameter.default is not None:
                found = self._run.evaluate(
                    parameter.default, class_frame(model.facts.scope, id(parameter.default), shell.trail)
                )
                found = self._run.asked.load(found, model, parameter.name)
            shell.set(parameter.name, UNKNOWN if found is None else found)
        after = self.own_method(shell, "__post_init__")
        if after is not None and shell.value is not None:
            self.under_construction.append(shell)
            self._run.calls.apply(after, Arguments(), frame, shell.value)
            self.under_construction.pop()


def model_of(shell: Shell) -> ClassModel:
    assert shell.model is not None
    return shell.model


def _is_yet_to_be_made(store: Store) -> bool:
    """True if a stored object comes from a deferred call, so that listing children must not make it."""
    return callable(store.held) and store.value is not None and store.value.op is Op.CALL


def _only_text(atoms: Atoms | None) -> str | None:
    """The only string among the atoms of a name; None if there are none, or several."""
    found = {atom.value for atom in atoms or () if isinstance(atom, Constant) and isinstance(atom.value, str)}
    return found.pop() if len(found) == 1 else None


def _counts_all(index: Atoms, owner: Shell) -> bool:
    """True if an index is the counter of a loop over all entries."""
    atom = index[0] if len(index) == 1 else None
    return owner.is_exact and isinstance(atom, Counter) and atom.end == len(owner.entries)


def _tensor_kind(name: str) -> str:
    """The kind of tensor that a class makes: "parameter" or "buffer"."""
    return "buffer" if name.endswith("Buffer") else "parameter"
