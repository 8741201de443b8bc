"""The theory of devices: where tensors are after the object under analysis was moved to another device.

Parameters, buffers, results of layers and arguments of `forward` are on the new device (`There`); a tensor made on the
default device and kept as a plain attribute was left behind (`Fresh`). The rows of operators say on which device
results are, and which operators refuse tensors of two devices: a `Meeting` if one of the operands was left behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from modellint import operators
from modellint.flow.collating import is_collating
from modellint.flow.domain import (
    ANY_ARGUMENTS,
    NONE,
    PLAIN,
    Arguments,
    ClassRef,
    Constant,
    Counter,
    Derived,
    FunctionRef,
    Number,
    Outside,
    Plain,
    SymbolicInput,
    Unknown,
    join,
    text,
)
from modellint.flow.heap import TENSORS, Shell, opened, shells_in
from modellint.flow.kept_devices import kept_device
from modellint.flow.library.operations import changed, tensor_method
from modellint.flow.ranks import is_empty, is_whole, rank_in, rank_made, rank_of
from modellint.flow.tensor_devices import (
    MANY,
    Attribute,
    ElementType,
    Encounter,
    Fresh,
    Meeting,
    Moved,
    TensorDevice,
    There,
)
from modellint.flow.theory import Made, Stored, Theory
from modellint.flow.unpassed import container_of_layers
from modellint.graph.declared import (
    FACTORIES,
    documented,
    is_about_devices,
    is_given_tensor,
    is_tensor,
    may_be_tensor,
    worked_with,
)
from modellint.graph.immutable import replace
from modellint.graph.python import WORK
from modellint.graph.value import NOWHERE, InPlace, Op, Value, self_attribute, text_pattern

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.kept_devices import KeptDevice
    from modellint.flow.theory import Occurrence
    from modellint.graph.methods import Method
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Flow, Parameter
    from modellint.link.classes.models import ClassModel
    from modellint.operators import Operator

    #: An argument of a constructor: a tensor or object, or the class of the object.
    Handed: TypeAlias = Fresh | Shell | ClassModel

_TYPES = operators.attributes("torch", "type")
#: Parts of torch whose functions return tensors for tensors.
_FUNCTIONS = ("torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.")
#: Modules of Python whose functions take a tensor as a number.
_OF_NUMBERS = ("builtins.", "math.")
#: Keyword arguments of moving methods that name no device.
_OPTIONS = frozenset(("dtype", "non_blocking", "copy", "memory_format"))
#: Facets of factories that take sizes, or numbers to count from or to.
_SIZES = frozenset(("sized", "flat", "random"))
#: The assumed rank of a tensor that the object made during its work and kept.
_RANK_LEFT = 2
#: Comparisons that are elementwise on tensors.
_ELEMENTWISE = frozenset(("==", "!=", "<", "<=", ">", ">="))
_CALCULATING = frozenset((Op.BIN, Op.UNARY))
#: The package of layers whose parameters all have dimensions.
_LAYERS = "torch.nn."
#: The module of functions that give the tensor back that they fill, and one of them.
_INIT, _INITIALISER = "torch.nn.init", "uniform_"
#: Facets of operators that may give their operand itself.
_GIVING_OPERAND = frozenset(("unchanged", "itself", "changes"))


class Devices(Theory):
    """The devices of the tensors of one run."""

    observes = (Made, Stored)

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self._is_moved = False
        #: The methods by which the object works.
        self.work = frozenset(WORK)
        #: Device mixes of attributes, by attribute and operation.
        self.meetings: dict[tuple[Attribute, int], Meeting] = {}
        #: Device mixes of tensors made during the work, by maker and operation.
        self.encounters: dict[tuple[int, int], Encounter] = {}
        #: True if tensors that constructors compute from parameters and buffers are followed, as plain tensors.
        self.tells_parameters = True
        #: The arguments of methods of layers, without duplicates.
        self.given_to: dict[Function, dict[Arguments, None]] = {}
        #: Stores of moved tensors into containers during the work, with their functions, by the container's attribute.
        self.replacements: dict[Attribute, dict[Value, Function]] = {}
        #: The attributes that the present call of the object has read before it stored anything there, and has stored.
        self._read_first: set[str] = set()
        self._stored: set[str] = set()
        #: The calls of the object, by number, in which a store happens after a read of what was there, by its target.
        self.stored_after: dict[Value, set[int]] = {}
        self._call = 0
        #: The calls of methods that give the object new parameters, which is done before it is moved.
        self.set_up: set[int] = set()
        #: The objects that were made during the work.
        self._late: set[Shell] = set()
        #: The results of layers that hold such tensors, and are given none.
        self._outputs: dict[Shell, Atoms] = {}
        #: For each object, if it holds a tensor that a constructor made.
        self._holding: dict[Shell, bool] = {}
        #: The attribute that holds a container.
        self._homes: dict[Shell, Attribute] = {}

    def move(self) -> int:
        """Move the object to another device, before it is called; the number of the call."""
        self._is_moved = True
        self._call += 1
        self._read_first.clear()
        self._stored.clear()
        return self._call

    def leave(self, subject: Shell) -> None:
        """Move the object again: tensors that it made and kept during its work stay behind; registered ones move."""
        registered = {one.name for one in subject.stores if one.target is None and any(map(_is_buffer, one.atoms))}
        for name in [name for name in subject.history if name not in registered]:
            atoms, kept = subject.get(name) or (), Attribute(subject, name)
            for held in atoms:
                if isinstance(held, Shell) and held.kind == "dict":
                    for number, entry in enumerate(held.entries):
                        entry.path = ()
                        held.replace(number, self._atoms_after_move(kept, entry.atoms))
            subject.set(name, self._atoms_after_move(kept, atoms))

    @staticmethod
    def _atoms_after_move(kept: Attribute, atoms: Atoms) -> Atoms:
        """The atoms of a plain attribute after a further move of the object, which leaves its tensors behind."""
        return tuple(
            Fresh(NOWHERE, None, _RANK_LEFT, kept=kept)
            if isinstance(atom, There) or (isinstance(atom, Derived) and not atom.is_rare)
            else TensorDevice(is_there=False)
            if isinstance(atom, TensorDevice)
            else atom
            for atom in atoms
        )

    @property
    def is_moved(self) -> bool:
        """True if the object was moved, and no constructor is running."""
        return self._is_moved and not self._run.objects.under_construction

    # -- what the object is given and keeps ------------------------------------------------------------------------

    def method_arguments(self, function: Function, plain: frozenset[str]) -> Arguments:
        """The arguments of a method: moved tensors where parameters may be tensors; plain ones in collate functions."""
        if is_collating(function, self._run.project):
            return Arguments(keywords={one.name: PLAIN for one in function.parameters[1:]}, is_complete=False)
        found: dict[str, Atoms] = {}
        shown = worked_with(function)
        for parameter in function.parameters:
            is_sure = is_given_tensor(parameter, plain, at_work=function.name in self.work)
            if is_sure is not None and parameter.kind in ("positional", "keyword"):
                is_shown = parameter.name in shown or may_be_tensor(parameter)
                found[parameter.name] = (There(parameter.name, is_sure=is_sure, is_shown=is_shown),)
        return Arguments(keywords=found, is_complete=False)

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        given = arguments.positional
        if name != "builtins.getattr" or len(given) < 2 or text(given[1]):
            return None
        registered = self._registered_alike(given[0], value)
        if registered:
            return registered
        named = _INITIALISER if given[0] == (Outside(_INIT),) else self._default_factory(given[0], frame, value)
        if named is None:
            return None
        found = join(self._run.objects.attribute(atom, named, frame, value) for atom in given[0])
        return join([found, *given[2:3]])

    def _registered_alike(self, owner: Atoms, value: Value) -> Atoms:
        """The tensors that `getattr(self, f"scale_{i}")` gives a constructor which registered some by such a name."""
        subject = self._run.objects.subject
        asked = None if self._is_moved else _name_given(value)
        if subject is None or owner != (subject,) or asked is None or not self.tells_parameters:
            return ()
        calls = [(one.value, one.atoms) for one in subject.stores if one.name is None and one.value is not None]
        alike = (atoms for call, atoms in calls if call.op is Op.CALL and _name_given(call) == asked)
        return self._of_buffer(join(alike))

    @staticmethod
    def _default_factory(owner: Atoms, frame: Frame, value: Value) -> str | None:
        """The factory of torch that a parameter names by default: `getattr(torch, window)`."""
        name = value.positional[1] if owner == (Outside("torch"),) and len(value.positional) > 1 else None
        if name is None or name.op is not Op.PARAM or frame.function is None:
            return None
        defaults = (one.default for one in frame.function.parameters if one.name == name.data)
        found = next((one.data for one in defaults if one is not None and one.op is Op.CONST), None)
        return found if isinstance(found, str) and found in FACTORIES else None

    def made_outside(self, model: ClassModel, handed: Mapping[str, Handed]) -> Arguments:
        """The arguments of a constructor: tensors on the default device and containers of layers.

        They are known from annotations and docstrings, or passed as `handed`: for a class, an object of it.
        """
        owner = next((one.cls for one in model.mro() if one.cls is not None and "__init__" in one.cls.methods), None)
        found: dict[str, Atoms] = {name: (self._object_of(made),) for name, made in handed.items()}
        function = None if owner is None else owner.methods["__init__"]
        for parameter in () if function is None else function.parameters:
            annotation, default = parameter.annotation, parameter.default
            said = annotation if is_tensor(parameter) else None if function is None else documented(parameter, function)
            if said is not None and parameter.kind in ("positional", "keyword"):
                may_be_none = default is not None and default.op is Op.CONST and default.data is None
                given = Fresh(said, function, 1 if default is None or may_be_none else 0)
                found[parameter.name] = (given, *NONE) if may_be_none else (given,)
            elif annotation is not None and function is not None:
                layers = container_of_layers(parameter, function, self._run.project)
                if layers is not None:
                    self._run.hold(layers)
                    found[parameter.name] = (layers,)
        return Arguments(keywords=found, is_complete=False)

    def _object_of(self, made: Handed) -> Atom:
        """The object that is handed over; for a class, one of it that is made of unknown arguments."""
        if isinstance(made, Fresh | Shell):
            return made
        shell = Shell("instance", None, (id(made),), made, ANY_ARGUMENTS)
        self._run.hold(shell)
        return shell

    def bound(self, atoms: Atoms, parameter: Parameter, code: Method, frame: Frame) -> Atoms:
        """Mark an argument as a tensor (`is_shown`) if the function uses its parameter as one."""
        function = frame.function
        if function is None or not any(isinstance(atom, There) for atom in atoms) or all(map(_is_shown, atoms)):
            return atoms
        known = self._run.project.once(("worked with", function), lambda: worked_with(function))
        return tuple(map(_mark_as_tensor, atoms)) if parameter.name in known else atoms

    def load(self, atoms: Atoms, owner: Shell | ClassModel, name: str | None) -> Atoms:
        if not isinstance(owner, Shell):
            return atoms
        if name is None:
            return self._of_content(owner, atoms)
        if owner is self._run.objects.subject and not self._is_moved:
            return self._of_buffer(atoms)
        return self._of_attribute(Attribute(owner, name), atoms)

    def _of_attribute(self, read: Attribute, atoms: Atoms) -> Atoms:
        """The atoms of an attribute; fresh tensors and containers remember it."""
        if not self.is_moved or read.owner in self._late:
            return atoms
        for atom in atoms:
            if isinstance(atom, Shell) and atom.is_container:
                self._homes[atom] = read
        return self._note_attribute(read, _left_behind(atoms))

    def _of_buffer(self, atoms: Atoms) -> Atoms:
        """The tensors of buffers that a constructor reads: when the object is moved, its buffers get other ones."""
        if not self.tells_parameters or not any(isinstance(atom, Shell) and atom.kind == "buffer" for atom in atoms):
            return atoms
        return tuple(map(_tensor_of_buffer, atoms))

    def _of_content(self, container: Shell, atoms: Atoms) -> Atoms:
        """The content of a container; fresh tensors in it remember the container's attribute.

        Moved tensors that a dict holds under unknown keys may be those under any key.
        """
        if container.kind == "dict" and self.is_moved:
            unknown = (atom for entry in container.entries if entry.key is None for atom in entry.atoms)
            atoms = join([atoms, tuple(atom for atom in unknown if isinstance(atom, Moved | There))])
        home = self._homes.get(container)
        return atoms if home is None else self._of_attribute(home, atoms)

    def observe(self, event: Occurrence) -> None:
        if isinstance(event, Made):
            if self.is_moved and event.frame.function is not None:
                self._late.add(event.shell)
        elif isinstance(event, Stored):
            home = self._homes.get(event.owner) if isinstance(event.owner, Shell) else None
            is_moved = any(isinstance(atom, Moved) or self.is_there(atom) for atom in opened(event.atoms))
            if home is not None and is_moved and event.target.op is Op.INDEX and event.frame.function is not None:
                self.replacements.setdefault(home, {})[event.target] = event.frame.function

    def _note_attribute(self, read: Attribute, atoms: Atoms) -> Atoms:
        if not any(isinstance(atom, Fresh) for atom in atoms):
            return atoms
        is_own = read.owner is self._run.objects.subject
        is_first = is_own and not self._run.path and read.name not in self._stored
        if is_first:
            self._read_first.add(read.name)
        return tuple(
            replace(atom, kept=read, is_first=is_first) if isinstance(atom, Fresh) and atom.kept is None else atom
            for atom in atoms
        )

    def _output(self, *, is_sure: bool) -> Atoms | None:
        """The result of a layer: on the new device; None before the object is moved."""
        return (There("", is_sure=is_sure),) if self.is_moved else None

    def is_late(self, atoms: Atoms) -> bool:
        """True if a tensor was made on the default device after the object was moved."""
        return self.is_moved and any(isinstance(atom, Fresh) and atom.is_late for atom in atoms)

    def state(self) -> Hashable:
        return self.is_moved

    def follows(self, function: FunctionRef, arguments: Arguments, relation: str) -> bool:
        return relation == "other" and (self._concerns(arguments) or self._holds(function.receiver))

    def _holds(self, atom: Atom | None) -> bool:
        """True if an object, or one that its constructor got, holds a tensor that a constructor made."""
        if not self.is_moved or not isinstance(atom, Shell) or atom.model is None or atom in self._late:
            return False
        if atom not in self._holding:
            self._holding[atom] = False
            self._holding[atom] = self._holds_own(atom) or any(map(self._holds, shells_in(atom.arguments.all())))
        return self._holding[atom]

    def _holds_own(self, shell: Shell) -> bool:
        """True if an object keeps a tensor that its constructor made."""
        mro = () if shell.model is None else shell.model.mro()
        if not any(one.cls is not None and self._run.gate.may_strand(one.cls) for one in mro):
            return False
        self._run.objects.construct(shell)
        return any(isinstance(atom, Fresh) for store in shell.stores for atom in opened(store.atoms))

    def _concerns(self, arguments: Arguments) -> bool:
        """True if a tensor that was left behind, or made late, is among arguments, or an object that may hold one."""
        return self.is_moved and any(
            (isinstance(atom, Fresh) and (atom.kept is not None or atom.is_late)) or self._holds(atom)
            for atoms in arguments.all()
            for atom in opened(atoms)
        )

    def opaque(self, callee: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if isinstance(callee, Shell):
            return self._call_layer(callee, arguments, frame, value)
        if isinstance(callee, Outside):
            return self._call_function(callee.name, arguments, frame, value)
        return self._output(is_sure=False) if isinstance(callee, FunctionRef) else None

    def _call_layer(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        self._note_given(shell, "forward", arguments)
        is_concerned = shell.is_layer and self._concerns(arguments)
        if not is_concerned and not (shell.is_layer and self._holds(shell)):
            return self._output(is_sure=True) if shell.is_layer else None
        own = self._run.objects.own_method(shell, "forward")
        if own is not None and not is_concerned and shell in self._outputs:
            return self._outputs[shell]
        if own is not None:
            self._run.objects.construct(shell)
            found = self._run.calls.apply(own, arguments, frame, value)
            if not is_concerned:
                self._outputs[shell] = found
            return found
        from modellint.flow.built import has_state

        if shell.model is not None and not shell.is_module_container and has_state(shell.model):
            given = [part for atoms in arguments.all() for part in parts(atoms)]
            self._meet([*given, (There(""),)], frame, value, value.callee)
        return self._output(is_sure=True)

    def _note_given(self, atom: Atom, name: str, arguments: Arguments) -> None:
        """Record the arguments of a method of a layer, if the project defines it."""
        if self.is_moved and isinstance(atom, Shell) and atom.is_layer and atom.model is not None:
            method = None if atom.model.cls is None else atom.model.method(name)
            if method is not None:
                self.given_to.setdefault(method, {})[arguments] = None

    # -- attributes and parts --------------------------------------------------------------------------------------

    def is_there(self, atom: Atom) -> bool:
        """True if an atom is a tensor, or holds tensors, on the device that the object was moved to."""
        if isinstance(atom, There):
            return True
        return (isinstance(atom, Derived) or (isinstance(atom, Shell) and atom.kind in TENSORS)) and self.is_moved

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        is_there = self.is_there(atom)
        if not is_there and not isinstance(atom, Fresh | Moved):
            return self._attribute_of_state(atom, name, frame, value)
        row = operators.row(f"Tensor.{name}")
        gives = None if row is None else row.facets.get("gives")
        if gives == "device" and not isinstance(atom, Moved):
            return (TensorDevice(is_there),)
        if gives is not None:
            return (ElementType(),) if gives == "dtype" else PLAIN
        if isinstance(atom, There):
            is_sure = atom.is_sure and row is not None
            return (There(f"{atom.name}.{name}", is_sure=is_sure, is_shown=atom.is_shown or is_sure),)
        if isinstance(atom, Shell | Derived):
            return None
        return (atom,) if row is not None else PLAIN

    def _attribute_of_state(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        """The tensor that a constructor reads of a parameter or buffer (`weight.T`); None for other attributes."""
        row = operators.row(f"Tensor.{name}") if isinstance(atom, Shell) and atom.kind in TENSORS else None
        if row is None or "gives" in row.facets or frame is None or value is None:
            return None
        made = self._made_of(atom, frame, value, row)
        kept = changed(atom, f"`.{name}`", value) if "reorders" in row.facets else ()
        return None if made is atom else (made, *(one for one in kept if isinstance(one, Derived)))

    def element(self, atom: Atom, index: Atoms | None, frame: Frame | None, value: Value | None) -> Atoms | None:
        if not self._is_moved and frame is not None and value is not None:
            atom = self._made_of(atom, frame, value)
        if isinstance(atom, Fresh):
            return (atom.of_rank(atom.rank - 1),)
        if isinstance(atom, There | Moved):
            return (_after_indexing(atom, 1),)
        return (There(""),) if self.is_there(atom) else None

    def _picked(self, owner: Atoms, found: Atoms, value: Value, frame: Frame) -> Atoms:
        """The result of `owner[…]`, given as `found`. Notes a mix of ids and tensor, but for ids on the CPU."""
        if not self._is_moved:
            owner = self._made_of_each(owner, frame, value)
        index = value.args[1]
        places = index.args if index.op in (Op.TUPLE, Op.LIST) else (index,)
        if not any(isinstance(atom, Fresh) for atom in owner):
            if index.op is not Op.TUPLE:
                return found
            taken = len(places) if all(_is_place(part, self._run.evaluate(part, frame)) for part in places) else 0
            return tuple(_after_indexing(_mark_as_tensor(atom), taken) for atom in found)
        lost, ids = 0, []
        for part in places:
            if part.op is Op.SLICE or (part.op is Op.CONST and part.data is Ellipsis):
                continue
            lost += -1 if part.op is Op.CONST and part.data is None else 1
            ids.append(self._run.evaluate(part, frame))
        is_known = not any(isinstance(a, Fresh) or (isinstance(a, There) and a.may_be_number) for i in ids for a in i)
        self._meet([owner, *ids], frame, value, is_known=is_known)
        rest = tuple(atom for atom in found if not isinstance(atom, Fresh | Plain))
        parts = (atom.of_rank(atom.rank - lost) if isinstance(atom, Fresh) else atom for atom in owner)
        return (*(atom for atom in parts if isinstance(atom, Fresh) or _is_kept(atom)), *rest)

    def _choice(self, value: Value, branches: list[Atoms], frame: Frame) -> Atoms | None:
        """The join of branches: a tensor that one branch moves and the other doesn't is left behind in the latter.

        Returns None, to leave this to the interpreter, if the test may be about devices.
        """
        if not self.is_moved or len(branches) != 2:
            return None
        bare = self._bare(value, frame)
        if bare is not None:
            branch, tested = bare
            is_it = value.args[branch] is tested
            gone = {a for a in self._run.evaluate(tested, frame) if is_it or (isinstance(a, There) and a.name)}
            gone = {atom for atom in gone if isinstance(atom, Fresh | There | Moved)}
            branches[branch] = tuple(atom for atom in branches[branch] if atom not in gone) or PLAIN
        if is_about_devices(value.data):
            return None if bare is None else join(branches)
        found: list[Atoms] = []
        for atoms, others in (branches, reversed(branches)):
            left = {a.kept for a in others if isinstance(a, Fresh)} - {a.kept for a in others if isinstance(a, Moved)}
            is_known = any(isinstance(atom, There) for atom in atoms)
            dropped = left if is_known else set()
            found.append(tuple(a for a in atoms if not (isinstance(a, Moved) and a.kept and a.kept in dropped)))
        return join(found)

    def _bare(self, value: Value, frame: Frame) -> tuple[int, Value] | None:
        """The branch of a choice in which the tested value is no tensor: (1, `x`) for `y if is_tensor(x) else x`."""
        test, branch = value.data, 1
        while test.op is Op.UNARY and test.data == "not":
            test, branch = test.args[0], 1 - branch
        given = test.positional if test.op is Op.CALL else ()
        if not given:
            return None
        kinds = self._run.evaluate(given[1], frame) if len(given) > 1 else ()
        asked = (*(self._run.named(test.callee, frame) or ()), *opened(kinds))
        names = {atom.model.name if isinstance(atom, ClassRef) else getattr(atom, "name", "") for atom in asked}
        is_kind = "builtins.isinstance" in names and "torch.Tensor" in names
        return (branch, given[0]) if is_kind or "torch.is_tensor" in names else None

    # -- operators -------------------------------------------------------------------------------------------------

    def operator(self, value: Value, operands: list[Atoms], frame: Frame) -> Atoms | None:
        if value.op is Op.COMPARE and value.data in _ELEMENTWISE:
            return self._calculated(operands, PLAIN, frame, value)
        if value.op is Op.INDEX and value.args[1].op is Op.SLICE and not self._is_moved:
            made = self._made_of_each(operands[0], frame, value)
            return None if made is operands[0] else made
        return self._choice(value, operands, frame) if value.op is Op.CHOICE else None

    def result(self, found: Atoms, operands: list[Atoms], value: Value, frame: Frame) -> Atoms:
        if value.op is Op.INDEX:
            return self._picked(operands[0], found, value, frame)
        return self._calculated(operands, found, frame, value) if value.op in _CALCULATING else found

    def _calculated(self, operands: list[Atoms], found: Atoms, frame: Frame, value: Value) -> Atoms:
        if not self._is_moved and not isinstance(value.data, InPlace):
            operands = [self._made_of_each(atoms, frame, value) for atoms in operands]
        if not any(isinstance(atom, Fresh | Moved) or self.is_there(atom) for atoms in operands for atom in atoms):
            return found
        self._meet(operands, frame, value)
        dropped = Fresh | There | Moved
        if all(isinstance(atom, dropped) or atom == NONE[0] for atoms in operands for atom in atoms):
            dropped |= Unknown
        rest = tuple(atom for atom in found if type(atom) is not Plain and not isinstance(atom, dropped))
        return (*self._result(operands, max(map(rank_in, operands)), self._least_taken(operands)), *rest)

    def _least_taken(self, operands: Iterable[Atoms]) -> int:
        """The number of indexed dimensions (`taken`) of a result: the least among its tensors."""
        tensors = [a for atoms in operands for a in atoms if self.is_there(a) or (isinstance(a, Fresh) and a.rank)]
        return min((atom.taken if isinstance(atom, There) else 0 for atom in tensors), default=0)

    def _result(self, operands: Iterable[Atoms], rank: int, taken: int = 0) -> Atoms:
        """The result of an operator on tensors, by device; each operand may be one of several atoms."""
        found: dict[Atom, None] = {}
        is_there = False
        for atoms in _decisive(operands):
            there = [atom for atom in atoms if self.is_there(atom)]
            if there:
                sure = [not isinstance(atom, There) or atom.is_sure for atom in there]
                shown = [not isinstance(atom, There) or atom.is_shown for atom in there]
                result = There("", is_sure=any(sure), is_shown=any(shown), brought=_maker_of_moved(there), taken=taken)
                found[result] = None
            made = [atom.of_rank(rank) for atom in atoms if isinstance(atom, Fresh)]
            is_there = is_there or (bool(there) and not made)
            found.update(dict.fromkeys((*made, *(atom for atom in atoms if isinstance(atom, Moved)))))
        if is_there:
            results = [atom for atom in found if isinstance(atom, There)]
            return (
                There(
                    "",
                    is_sure=any(atom.is_sure for atom in results),
                    is_shown=any(atom.is_shown for atom in results),
                    brought=_maker_of_moved(results),
                    taken=taken,
                ),
            )
        return tuple(found) or PLAIN

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        self._note_given(atom, name, arguments)
        found = self._method(atom, name, arguments, frame, value)
        if found is None or not isinstance(atom, Shell | Derived):
            return found
        kept = tuple(a for a in tensor_method(atom, name, arguments, value) if not isinstance(a, Plain))
        made = () if self._is_moved else tuple(a for a in found if isinstance(a, Fresh) and a.is_derived)
        return (*kept, *made) or found

    def _method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of `tensor.name(…)` by device; None for other atoms, or if unknown."""
        is_there = self.is_there(atom)
        row = operators.row(f"Tensor.{name}")
        if not is_there and not isinstance(atom, Fresh | Moved):
            made = self._made_of(atom, frame, value, row)
            if made is atom:
                return None
            atom = made
        if row is None:
            return None if isinstance(atom, Shell | Derived) else self._other_method(atom, arguments)
        moves = self._moves_of_receiver(name, value, frame) if isinstance(atom, Fresh) else ()
        return self._apply_row(row, [(_mark_as_tensor(atom),), *arguments.all()], arguments, frame, value, moves)

    @staticmethod
    def _moves_of_receiver(name: str, value: Value, frame: Frame) -> Atoms:
        """A `Moved` atom for each way in which the receiver of a method was moved: on others, it is as it was made."""
        is_direct = value.op is Op.CALL and value.callee.op is Op.ATTR and value.callee.data == name
        receiver = frame.known(id(value.callee.args[0])) if is_direct else None
        brought = [atom.brought for atom in receiver or () if isinstance(atom, There) and atom.brought is not None]
        moves = [atom for atom in receiver or () if isinstance(atom, Moved)]
        return (*moves, *(Moved(None, maker) for maker in brought))

    def _made_of(self, atom: Atom, frame: Frame, value: Value, row: Operator | None = None) -> Atom:
        """In a constructor, replace a parameter or buffer by a fresh tensor: one computed from it is no state.

        `row`: the operator, which may give the parameter itself.
        """
        if self._is_moved or not self.tells_parameters or not isinstance(atom, Shell) or atom.kind not in TENSORS:
            return atom
        if row is not None and (row.name.endswith("_") or not row.facets.keys().isdisjoint(_GIVING_OPERAND)):
            return atom
        rank = rank_in(atom.arguments.argument(0, "tensor" if atom.kind == "buffer" else "data") or ())
        return Fresh(value, frame.function, rank, is_derived=True) if rank else atom

    def _made_of_each(self, atoms: Atoms, frame: Frame, value: Value) -> Atoms:
        """Atoms with fresh tensors in the place of parameters and buffers; the same tuple if there are none."""
        if not any(isinstance(atom, Shell) and atom.kind in TENSORS for atom in atoms):
            return atoms
        made = tuple(self._made_of(atom, frame, value) for atom in atoms)
        return atoms if made == atoms else made

    def store(self, atoms: Atoms, shell: Shell, frame: Frame, target: Value | None, value: Value | None) -> Atoms:
        """The atoms to store in an attribute.

        A tensor made late stays one where it is registered. Another layer's buffer is a plain tensor, which doesn't
        move along.
        """
        made = atoms[0] if target is None and self.is_moved and len(atoms) == 1 else None
        if isinstance(made, Shell) and made.kind == "buffer" and made.value is value and made.arguments.positional:
            given = made.arguments.positional[0]
            return given if self.is_late(given) else atoms
        if shell.model is not None and shell.model.cls is None and shell.model.name.startswith(_LAYERS):
            for atom in atoms:
                if isinstance(atom, Shell) and atom.kind == "parameter" and atom.function is None:
                    _give_dimensions(atom)
        if shell is self._run.objects.subject and self.is_moved and target is not None:
            self._read_before(target, frame)
            is_set_up = any(isinstance(atom, Shell) and atom.kind == "parameter" for atom in atoms)
            if is_set_up and not self._run.objects.is_at_work:
                self.set_up.add(self._call)
        is_own = shell is self._run.objects.subject and not self._is_moved
        if target is None or not is_own or not any(map(_is_buffer, atoms)):
            return atoms
        if any(store.name == target.data and store.target is None for store in shell.stores):
            return atoms  # it becomes the buffer of that name
        return tuple(_tensor_of_buffer(atom) if _is_buffer(atom) else atom for atom in atoms)

    def _read_before(self, target: Value, frame: Frame) -> None:
        """Evaluate the reads of an attribute that come before a store there, and note the store."""
        name, path = str(target.data), self._run.path
        for event in frame.flow.once(_first_reads).get(name, ()):
            self._run.path = frame.path if event.guard is None else path
            self._run.evaluate(event.value, frame)
        self._run.path = path
        if name in self._read_first:
            self.stored_after.setdefault(target, set()).add(self._call)
        self._stored.add(name)

    @staticmethod
    def _other_method(atom: Atom, arguments: Arguments) -> Atoms:
        if isinstance(atom, There):
            return (There(atom.name, is_sure=False, is_shown=atom.is_shown),)
        return (atom.of_rank(0),) if isinstance(atom, Fresh) else PLAIN

    def _call_function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of a function by device; None if it involves no tensors, or is unknown."""
        row = operators.row(name)
        written = tuple(atom for atom in arguments.keywords.get("out", ()) if atom != NONE[0])
        if written:  # that is the result, wherever it is
            may_be_none = len(written) < len(arguments.keywords["out"])
            rest = {key: atoms for key, atoms in arguments.keywords.items() if key != "out"}
            found = self._call_function(name, replace(arguments, keywords=rest), frame, value)
            return join([found, written]) if may_be_none and found is not None else written
        if row is not None and "fresh" in row.facets:
            return self._make_tensor(row, arguments, frame, value)
        is_torch = name.startswith(_FUNCTIONS) or (name.count(".") == 1 and name.startswith("torch."))
        if name.startswith(_OF_NUMBERS) or (row is None and not is_torch):
            return None  # before containers are opened, which may be large
        first = arguments.argument(0, "input")
        is_alone = row is not None and "together" not in row.facets and first is not None
        taken = (first or (),) if is_alone else arguments.all()  # all other arguments are read as numbers
        given = [part for atoms in taken for part in parts(atoms)]
        if not self._is_moved:
            given = [tuple(self._made_of(atom, frame, value, row) for atom in atoms) for atoms in given]
        if not any(isinstance(atom, Fresh | Moved) or self.is_there(atom) for atoms in given for atom in atoms):
            return None
        if row is None:
            self._meet(given, frame, value, is_known=False)
            return self._result(given, 0)
        found = self._apply_row(row, given, arguments, frame, value)
        is_tensor = found is not None and any(map(self.is_there, opened(first or ())))
        return tuple(map(_mark_as_tensor, found)) if found is not None and is_tensor else found

    def _apply_row(
        self,
        row: Operator,
        operands: list[Atoms],
        arguments: Arguments,
        frame: Frame,
        value: Value,
        moves: Atoms = (),
    ) -> Atoms | None:
        """The result of an operator by device; `moves`: the `Moved` atoms beside the only atom of its first operand."""
        gives = row.facets.get("gives")
        if gives == "distribution":  # it calculates with what it is given as soon as something is drawn, or asked
            self._meet(operands, frame, value)
        if "host" in row.facets or (gives is not None and gives != "tensors"):
            return PLAIN if gives is not None else self._move_tensors(operands[0], None)
        if "moves" in row.facets:
            named = value.argument(0, "device") if value.op is Op.CALL else None
            kept = self._kept_device(named, frame)
            if kept is not None and all(isinstance(atom, Fresh) and atom.is_late for atom in operands[0]):
                return tuple(replace(atom, at=kept) for atom in operands[0] if isinstance(atom, Fresh))
            destination = self._destination(arguments)
            is_current = row.name == "Tensor.cuda" and destination == "nowhere"  # the device of a machine with one GPU
            given = [*value.positional, *value.keywords.values()]
            if not self.is_moved and (is_current or self._chooses(given, arguments)):
                return tuple(replace(a, is_placed=True) if isinstance(a, Fresh) else a for a in operands[0])
            return self._move_tensors(operands[0], None if is_current else destination)
        if _asks_for_gradients(row, arguments):
            operands = [tuple(map(_with_gradients, operands[0])), *operands[1:]]
        if "device" in arguments.keywords:
            placed = self._destination(Arguments(keywords={"device": arguments.keywords["device"]}))
            return self._move_tensors(self._result(operands, 0), placed)
        if "together" in row.facets:
            met = [(*operands[0], *moves), *operands[1:]] if moves else operands
            if "ids" in row.facets:  # which are refused even if they are one number
                met = [tuple(map(_with_dimension, atoms)) for atoms in met]
            self._meet(met, frame, value, least=0 if self._is_strict(row, operands) else 1)
        if "together" not in row.facets and any(isinstance(a, Fresh | Moved) or self.is_there(a) for a in operands[0]):
            operands = operands[:1]  # `mask.expand_as(x)` stays where the mask is
        if any(facet in row.facets for facet in ("sized", "makes")) and not any(map(self.is_there, operands[0])):
            return PLAIN
        taken = MANY if is_whole(row, arguments) else self._least_taken(operands) if "same-shape" in row.facets else 0
        return self._result(operands, rank_of(row, operands, arguments), taken)

    def _is_strict(self, row: Operator, operands: list[Atoms]) -> bool:
        """True if an operator refuses even a tensor of a single number on the CPU; not beside a Python number."""
        others = (atom for atoms in operands[1:] for atom in atoms)
        is_strict = row.facets["together"].startswith("strict")
        is_alone = "passed" in row.facets  # of what is given only tensors are used with each other
        return is_strict and (is_alone or all(isinstance(a, Fresh) or a == NONE[0] or self.is_there(a) for a in others))

    # -- from one device to another --------------------------------------------------------------------------------

    def _destination(self, arguments: Arguments) -> str | None:
        """The destination of `.to(…)`: `there`, `back` (to the default device), `nowhere`; None if unknown."""
        if not arguments.is_complete:
            return None
        given = [*arguments.positional, *(v for k, v in arguments.keywords.items() if k not in _OPTIONS)]
        found = {self._direction(atom) for atoms in given for atom in atoms} - {"nowhere"}
        return found.pop() if len(found) == 1 else None if found else "nowhere"

    def _direction(self, atom: Atom) -> str | None:
        if isinstance(atom, TensorDevice):
            return "there" if atom.is_there else "back"
        if self.is_there(atom):
            return "there"
        if isinstance(atom, Fresh):
            return "back"
        is_type = isinstance(atom, Outside) and atom.name.removeprefix("torch.") in _TYPES
        is_option = isinstance(atom, Constant) and (atom.value is None or isinstance(atom.value, bool))
        return "nowhere" if is_type or is_option or isinstance(atom, ElementType) else None

    def _chooses(self, given: list[Value], arguments: Arguments) -> bool:
        """True if a constructor chooses a device by a literal, a constant of the file, its own attribute or a setting.

        Or by an argument that it keeps: that names the device that the object was on first.
        """
        atoms = [atom for atoms in arguments.all() for atom in atoms]
        if any(isinstance(a, Constant) and isinstance(a.value, str) and a.value.startswith("cuda") for a in atoms):
            return True
        if any(map(_is_setting, given)):
            return True
        named = [value for value in given if "device" in str(value.data)]
        if any(value.op is Op.PARAM and self._keeps(value) for value in named):
            return True
        is_named = any(value.op is Op.GLOBAL or self_attribute(value) is not None for value in named)
        return is_named and bool(atoms) and all(type(a) in (Plain, Unknown, SymbolicInput) for a in atoms)

    def _keeps(self, argument: Value) -> bool:
        """True if a layer's constructor stores an argument; other objects than layers are never moved."""
        subject = self._run.objects.subject
        is_layer = subject is not None and subject.model is not None and subject.model.is_module is not False
        cls = subject.model.cls if is_layer and subject is not None and subject.model is not None else None
        constructor = None if cls is None else cls.methods.get("__init__")
        return constructor is not None and any(
            event.value.op is Op.PARAM and event.value.data == argument.data
            for events in constructor.flow.stores.values()
            for event in events
        )

    def _move_tensors(self, atoms: Atoms, destination: str | None) -> Atoms:
        """Tensors after a move to `destination`; a `Moved` atom marks those that were left behind, or late, before."""
        if destination == "nowhere":
            return atoms
        if destination == "back":
            return tuple(atom for atom in atoms if isinstance(atom, Fresh)) or PLAIN
        moved = [Moved(a.kept) for a in atoms if isinstance(a, Fresh) and a.kept is not None]
        moved += [a for a in atoms if isinstance(a, Moved)]
        late = [atom.maker for atom in atoms if isinstance(atom, Fresh) and atom.is_late]
        moved += [Moved(None, maker) for maker in late]
        there = (There("", brought=next(iter(late), None)),) if destination == "there" else ()
        return (*there, *dict.fromkeys(moved)) or PLAIN

    # -- what makes tensors ----------------------------------------------------------------------------------------

    def _make_tensor(self, row: Operator, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The tensor that a factory makes, by its `device` argument; None if that device is unknown.

        It is for a name that two imports bind, too: `import torch.cuda as maker`, or else `import torch as maker`.
        """
        if frame.function is not None and _is_imported_twice(value.callee, frame.function.module):
            return None
        device = arguments.keywords.get("device")
        kept = self._kept_device(value.keywords.get("device"), frame)
        is_starred = None not in value.data and any(arg.op is Op.STARRED for arg in value.positional)
        device_may_be_passed = not arguments.is_complete and not is_starred  # sizes that are not known name no device
        is_default = True
        if device is not None:
            if all(self.is_there(atom) or atom == TensorDevice(is_there=True) for atom in device):
                return (There(""),)
            if kept is not None:
                return self._made_aside(kept, row, arguments, frame, value)
            declared = self._constructor_parameter(device)
            default = None if declared is None else declared.default
            device_may_be_passed = default is not None and default.op is Op.CONST and default.data is None
            is_default = device_may_be_passed or all(
                isinstance(a, Constant) and a.value in (None, "cpu") for a in device
            )
            chosen = [value.keywords["device"]] if "device" in value.keywords else []
            if not is_default and (self.is_moved or not self._chooses(chosen, Arguments((device,)))):
                is_kept = not self.is_moved and _asks_for_gradients(
                    row, arguments
                )  # wherever it is, it is to be learned
                return (Fresh(value, frame.function, 0, is_learned=True),) if is_kept else None
        if any(map(self._is_device, self._run.contexts)):
            return None
        first = arguments.positional[0] if arguments.positional else ()
        data = [atom for atom in first if isinstance(atom, Fresh | Moved) or self.is_there(atom)]
        if data and ("passed" in row.facets or _SIZES.isdisjoint(row.facets)):
            if not any(map(_is_shown, data)):
                return PLAIN  # of an array or a list: nobody makes a tensor of what is one
            return self._result([tuple(data)], rank_in(tuple(data)))
        rank = max(rank_made(row, arguments, frame, value, self._constructor_parameter), int(is_starred))
        is_learned = _asks_for_gradients(row, arguments)
        if device is not None and not is_default:
            return (Fresh(value, frame.function, rank, is_placed=True, is_learned=is_learned),)
        is_late = self.is_moved and device is None and not device_may_be_passed and not is_empty(row, arguments)
        return (
            Fresh(
                value,
                frame.function,
                rank,
                device_may_be_passed=device_may_be_passed,
                is_late=is_late,
                is_learned=is_learned,
            ),
        )

    def _made_aside(
        self, kept: KeptDevice, row: Operator, arguments: Arguments, frame: Frame, value: Value
    ) -> Atoms | None:
        """The tensor that a moved object makes on the device that it kept; None if it is made of another tensor."""
        first = arguments.positional[0] if arguments.positional else ()
        if is_empty(row, arguments) or any(isinstance(atom, Fresh | Moved) or self.is_there(atom) for atom in first):
            return None
        rank = rank_made(row, arguments, frame, value, self._constructor_parameter)
        return (Fresh(value, frame.function, rank, is_late=True, at=kept),)

    def _kept_device(self, named: Value | None, frame: Frame) -> KeptDevice | None:
        """The device of its construction that the moved object names by an attribute: `self.device`."""
        name = None if named is None or not self._is_moved else self_attribute(named)
        subject = self._run.objects.subject
        if name is None or subject is None or subject.model is None or frame.parameter("self") != (subject,):
            return None
        return kept_device(subject.model, name, self._run.project)

    def _is_device(self, opened_at: tuple[Value, Frame]) -> bool:
        """True if a `with` context is a `torch.device`, or is unknown, so that it may set the default device."""
        context, frame = opened_at
        if context.op is not Op.CALL:
            return True
        return self._run.named(context.callee, frame) == (Outside("torch.device"),)

    def _constructor_parameter(self, atoms: Atoms) -> Parameter | None:
        """The constructor's parameter that a value is the argument of; None if it is none."""
        subject = self._run.objects.subject
        name = atoms[0].name if len(atoms) == 1 and isinstance(atoms[0], SymbolicInput) else None
        if name is None or subject is None or subject.model is None:
            return None
        return subject.model.parameter(name)

    # -- meetings --------------------------------------------------------------------------------------------------

    def _meet(
        self,
        operands: list[Atoms],
        frame: Frame,
        value: Value,
        other: Value | None = None,
        least: int = 1,
        is_known: bool = True,
    ) -> None:
        """Note operands left behind that have `least` dimensions or more, if another operand is on the new device.

        Tensors made late are noted only if the operation is known to refuse them (`is_known`).
        """
        if not self.is_moved or frame.function is None:
            return
        brought = {atom.maker for atoms in operands for atom in atoms if isinstance(atom, Moved)}
        brought |= {atom.brought for atoms in operands for atom in atoms if isinstance(atom, There)}
        for number, atoms in enumerate(operands):
            moved = {atom.kept for atom in atoms if isinstance(atom, Moved)}
            left = (atom.kept for atom in atoms if isinstance(atom, Fresh) and atom.rank >= least)
            kept = dict.fromkeys(one for one in left if one is not None and one not in moved)
            others = [each for n, each in enumerate(operands) if n != number and any(map(self.is_there, each))]
            if kept and others:
                is_sure = any(map(self._is_surely_there, others))
                for one in kept:
                    is_first = any(isinstance(atom, Fresh) and atom.kept == one and atom.is_first for atom in atoms)
                    found = other or self._other(value, frame)
                    calls = {self._call} if is_first else set()
                    self._note(Meeting(one, frame.function, value, found, is_sure, calls))
            if others:
                late = [atom for atom in atoms if isinstance(atom, Fresh) and atom.is_late and atom.rank >= least]
                late = [atom for atom in late if atom.maker not in brought]
                if late and is_known and all(map(self._is_unmoved, atoms)):
                    self._encounter(late, others, frame, value, other)

    def _note(self, meeting: Meeting) -> None:
        known = self.meetings.setdefault((meeting.kept, id(meeting.value)), meeting)
        known.is_sure = known.is_sure or meeting.is_sure
        known.first_in |= meeting.first_in

    def _encounter(
        self, late: list[Fresh], others: list[Atoms], frame: Frame, value: Value, other: Value | None
    ) -> None:
        """Note tensors made late that are used with a tensor that surely is on the new device."""
        shown = [each for each in others if self._is_surely_there(each) and all(map(_is_shown, each))]
        if not shown or frame.function is None:
            return
        for made in late:
            met = Encounter(made, frame.function, value, other or self._other(value, frame), set())
            self.encounters.setdefault((id(made.maker), id(value)), met).calls.add(self._call)

    def _is_unmoved(self, atom: Atom) -> bool:
        """True if an atom was not moved during the object's work: fresh, None, or on the new device from the start."""
        if isinstance(atom, There):
            return atom.brought is None
        return isinstance(atom, Fresh) or atom == NONE[0] or self.is_there(atom)

    def _is_surely_there(self, atoms: Atoms) -> bool:
        return all(self.is_there(atom) and (not isinstance(atom, There) or atom.is_sure) for atom in atoms)

    def _other(self, value: Value, frame: Frame) -> Value | None:
        """The operand on the new device; preferably one that can't be a tensor left behind. None if there is none."""
        found: list[tuple[bool, Value]] = []
        for part in _operands(value):
            known = frame.known(id(part))
            atoms = () if known is None else tuple(opened(known))
            if any(map(self.is_there, atoms)):
                found.append((any(isinstance(atom, Fresh) and atom.kept is not None for atom in atoms), part))
        return min(found, key=lambda one: one[0])[1] if found else None


def _maker_of_moved(atoms: Iterable[Atom]) -> Value | None:
    """The maker of the first of several tensors that the object made and moved; None if there is none."""
    return next((atom.brought for atom in atoms if isinstance(atom, There) and atom.brought is not None), None)


def _is_setting(value: Value) -> bool:
    """True if a value reads a device from an object or dict of settings: `args.device`, `self.opt["device"]`."""
    is_item = value.op is Op.INDEX and value.args[1].op is Op.CONST
    if not is_item and (value.op is not Op.ATTR or self_attribute(value) is not None):
        return False
    owner = value.args[0]
    is_given = owner.op is Op.PARAM or self_attribute(owner) is not None
    return is_given and "device" in str(value.args[1].data if is_item else value.data)


def _is_imported_twice(value: Value, module: ModuleFacts) -> bool:
    """True if two imports bind the first part of a dotted name."""
    while value.op is Op.ATTR:
        value = value.args[0]
    name = value.data
    is_rebound = value.op is Op.GLOBAL and name in module.rebound and name in module.imports
    return is_rebound and not any(name in one for one in (module.constants, module.functions, module.classes))


def _is_kept(atom: Atom) -> bool:
    """True if an atom is a moved tensor of an attribute."""
    return isinstance(atom, Moved) and atom.kept is not None


def _is_place(part: Value, atoms: Atoms) -> bool:
    """True if a subscript is a single number: no slice, no tensor."""
    if part.op is Op.SLICE or (part.op is Op.CONST and type(part.data) is not int):
        return False
    return bool(atoms) and all(isinstance(atom, Constant | Counter | Number) or type(atom) is Plain for atom in atoms)


def _after_indexing(atom: Atom, taken: int) -> Atom:
    """A tensor after `taken` more of its dimensions were indexed by a number."""
    return replace(atom, taken=min(atom.taken + taken, MANY)) if taken and isinstance(atom, There) else atom


def _asks_for_gradients(row: Operator, arguments: Arguments) -> bool:
    """True if a call makes a tensor with `requires_grad`."""
    is_method = row.name == "Tensor.requires_grad_"
    asked = arguments.argument(0, "requires_grad") if is_method else arguments.keywords.get("requires_grad")
    return asked == (Constant(True),) or (is_method and asked is None)


def _with_gradients(atom: Atom) -> Atom:
    return replace(atom, is_learned=True) if isinstance(atom, Fresh) else atom


def _is_buffer(atom: Atom) -> bool:
    """True if an atom is a buffer made by `register_buffer`."""
    made = atom.value if isinstance(atom, Shell) and atom.kind == "buffer" else None
    return made is not None and made.op is Op.CALL and made.callee.data == "register_buffer"


def _name_given(call: Value) -> tuple[str, ...] | None:
    """The texts of the name by which a call registers or gets something; None if there are none."""
    patterns = (text_pattern(arg) for arg in call.positional[:2])
    texts = (tuple(part for part in one if isinstance(part, str)) for one in patterns if one is not None)
    return next(filter(None, texts), None)


def _with_dimension(atom: Atom) -> Atom:
    return atom.of_rank(1) if isinstance(atom, Fresh) and not atom.rank else atom


def _tensor_of_buffer(atom: Atom) -> Atom:
    """The tensor that a buffer is now, as far as it has dimensions; other atoms as they are."""
    if not isinstance(atom, Shell) or atom.kind != "buffer" or atom.value is None:
        return atom
    rank = rank_in(atom.arguments.argument(0, "tensor") or ())
    return Fresh(atom.value, atom.function, rank, is_derived=True) if rank else atom


def _first_reads(flow: Flow) -> dict[str, list[Event]]:
    """The reads of the receiver's attributes that a body has not stored before, by attribute."""
    found: dict[str, list[Event]] = {}
    for event in flow.reads:
        if len(event.value.args) == 1:
            found.setdefault(str(event.value.data), []).append(event)
    return found


def _give_dimensions(parameter: Shell) -> None:
    """Note that a parameter of a layer of torch has dimensions, whose number its facts do not tell."""
    if parameter.value is not None and not rank_in(parameter.arguments.argument(0, "data") or ()):
        parameter.arguments = Arguments((((Fresh(parameter.value, None, 1)),),), parameter.arguments.keywords)


def _left_behind(atoms: Atoms) -> Atoms:
    """The atoms of an attribute after a move: what an operation made of a parameter is a tensor that stays behind."""
    if not any(isinstance(atom, Fresh) and atom.is_derived for atom in atoms):
        return atoms
    return tuple(atom for atom in atoms if not isinstance(atom, Derived))


def parts(atoms: Atoms) -> Iterator[Atoms]:
    """The atoms that are no containers, then those of each entry of the containers."""
    yield tuple(atom for atom in atoms if not (isinstance(atom, Shell) and atom.is_container))
    for atom in atoms:
        if isinstance(atom, Shell) and atom.is_container:
            yield from (tuple(opened(entry.atoms)) for entry in atom.entries)


def _operands(value: Value) -> Iterator[Value]:
    for arg in value.args:
        if arg.op in (Op.TUPLE, Op.LIST):
            yield from arg.args
        elif value.op is Op.CALL and arg is value.callee:
            yield from arg.args[:1]
        else:
            yield arg


def _decisive(operands: Iterable[Atoms]) -> Iterable[Atoms]:
    """The operands; without those that are late single numbers if another is a late tensor of higher rank."""
    known = list(operands)
    if not any(isinstance(atom, Fresh) and atom.is_late and atom.rank for atoms in known for atom in atoms):
        return known
    return [atoms for atoms in known if not all(isinstance(a, Fresh) and a.is_late and not a.rank for a in atoms)]


def _mark_as_tensor(atom: Atom) -> Atom:
    """An atom marked as a tensor by its use (`is_shown`)."""
    return replace(atom, is_shown=True) if isinstance(atom, There) and not atom.is_shown else atom


def _is_shown(atom: Atom) -> bool:
    return not isinstance(atom, There) or atom.is_shown
