"""The evaluation of calls: binding of arguments, method resolution, and `super()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.binding import Binding
from modellint.flow.domain import (
    ANY_ARGUMENTS,
    NEVER,
    NO_ARGUMENTS,
    NONE,
    PLAIN,
    UNKNOWN,
    Arguments,
    Bound,
    ClassRef,
    Constant,
    Derived,
    FunctionRef,
    Length,
    Outside,
    Plain,
    Prepared,
    Shape,
    Super,
    SymbolicInput,
    Unknown,
    function_of,
    join,
    map_join,
    text,
)
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell, shells_in
from modellint.flow.library import constants, containers, functions
from modellint.flow.library.operations import tensor_method
from modellint.flow.memo import Memo
from modellint.flow.objects import TABLES, model_of
from modellint.flow.theory import CutOff, Entered, Escaped, LayerCalled, Limits, Touched, Unreached, UnreadableSuper
from modellint.graph.immutable import replace
from modellint.graph.value import Nested, Op, Value
from modellint.link.classes import calls
from modellint.link.classes.registries import HEIR, entered, heirs, is_filled, registrations, registrations_by
from modellint.link.names import DefinedConstant, DefinedFunction, DefinedModule, External

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.methods import Method
    from modellint.graph.python import Function
    from modellint.link.classes.models import ClassModel
    from modellint.link.classes.registries import RegistryCall
    from modellint.link.names import Definition

#: Methods that move a layer to a device.
MOVES = frozenset(("to", "cuda", "cpu"))
#: Methods of a layer that act on all its registered parts.
_HANDLING = MOVES | {"parameters", "named_parameters", "state_dict"}
_NOWHERE = Value(Op.UNKNOWN, (), None, None)
#: Functions that set or delete an attribute by name.
STORING = frozenset(("builtins.setattr", "builtins.object.__setattr__", "builtins.delattr"))


class Calls:
    """Evaluates the calls of one run."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self._binding = Binding(run)
        self._limits = run.mode.limits or Limits()
        self.memo = Memo(run)
        self.under_way: list[object] = []
        #: The calls under way with the frames of their callers, outermost first.
        self.way: list[tuple[Frame, Value]] = []
        self._methods: dict[Function, Method] = {}
        #: Calls of methods that act on whole layers (see `_HANDLING`): the layer, the method, and the calling function.
        self.handled: dict[tuple[Shell, str, Function | None], None] = {}
        #: Layers that were moved outside of the object's work.
        self.placed: set[Shell] = set()
        #: The functions that were run.
        self.done: set[Function] = set()
        #: The class-level dicts that have been filled by `enter_by`.
        self._entered: set[Shell] = set()

    @property
    def outermost(self) -> str:
        """The name of the outermost function under way, or of the class under construction."""
        made = self._run.objects.under_construction
        first = self.under_way[0] if self.under_way else None
        if first is None and made:
            return model_of(made[0]).name.rpartition(".")[2]
        return str(getattr(first, "qualname", None) or getattr(first, "name", "the file"))

    def call(self, value: Value, frame: Frame) -> Atoms:
        """The result of a call, after its effects on the heap."""
        callee = value.callee
        known = self._run.asked.expression(value, frame)
        if known is not None:
            return known
        if callee.op is Op.GLOBAL and callee.data in ("super", "builtins.super"):
            return self._super(value, frame)
        arguments = self.arguments(value, frame)
        if arguments is None:
            self._run.asked.tell(Unreached, value, frame)
            return NEVER
        if callee.op is Op.ATTR:
            root = callee.args[0]
            while root.op is Op.ATTR:
                root = root.args[0]
            named = self._run.named(callee, frame) if root.op is Op.GLOBAL else None
            if named is None:
                owner = self._run.evaluate(callee.args[0], frame)
                name = str(callee.data)
                return map_join(owner, self.method, name, arguments, frame, value)
            functions = self._bound_to_class(named, callee, frame)
        else:
            functions = self._run.evaluate(callee, frame)
        return map_join(functions, self.apply, arguments, frame, value)

    def _bound_to_class(self, functions: Atoms, callee: Value, frame: Frame) -> Atoms:
        """The functions, with class methods bound to the class that they are called on: `Config.from_file(…)`."""
        if not any(isinstance(f, FunctionRef) and _is_class_method(f) for f in functions):
            return functions
        owner = self._run.evaluate(callee.args[0], frame)
        cls = owner[0] if len(owner) == 1 and isinstance(owner[0], ClassRef) else None
        if cls is None or (self._run.mode.is_wary_of_classes and _may_make_any(cls.model)):
            return functions
        return tuple(
            replace(f, receiver=cls) if isinstance(f, FunctionRef) and _is_class_method(f) else f for f in functions
        )

    def arguments(self, call: Value, frame: Frame) -> Arguments | None:
        """The arguments of a call; None if one of them never exists, as an element of an empty list."""
        run = self._run
        positional: list[Atoms] = []
        is_complete, guard = True, run.guard
        for arg in call.positional:
            atoms = run.evaluate(arg, frame)
            if not atoms:
                return None
            if arg.op is Op.STARRED:
                is_complete = is_complete and containers.is_exact(atoms)
                positional.extend(containers.unpacked(atoms))
            else:
                positional.append(atoms if guard is None else run.behind(atoms, frame))
        keywords: dict[str, Atoms] = {}
        for name, arg in zip(call.data, call.args[len(call.args) - len(call.data) :], strict=True):
            atoms = run.evaluate(arg, frame)
            if not atoms:
                return None
            if name is not None:
                keywords[name] = atoms if guard is None else run.behind(atoms, frame)
                continue
            for atom in atoms:
                if isinstance(atom, Shell) and atom.kind == "dict":
                    keywords.update({e.key: e.atoms for e in atom.entries if isinstance(e.key, str)})
                    is_complete = is_complete and atom.is_exact
                else:
                    is_complete = False
        return Arguments(tuple(positional), keywords, is_complete)

    def _super(self, value: Value, frame: Frame) -> Atoms:
        receiver = frame.parameter("self")
        above = frame.above
        if value.positional:
            named = self._run.evaluate(value.positional[0], frame)
            receiver = self._run.evaluate(value.positional[1], frame) if len(value.positional) > 1 else receiver
            owner = named[0] if len(named) == 1 else None
            for atom in receiver:
                if isinstance(owner, ClassRef) and isinstance(atom, Shell) and atom.model is not None:
                    names = [model.name for model in atom.model.mro()]
                    above = names.index(owner.model.name) if owner.model.name in names else above
        return tuple(
            Super(atom, above + 1) if isinstance(atom, Shell) and atom.model is not None else Unknown()
            for atom in receiver
        )

    def enter(self, table: Definition | None, atoms: Atoms) -> None:
        """Fill a module's registry, a dict or object, with the classes that decorators and calls register in it."""
        made = atoms[0] if len(atoms) == 1 else None
        if isinstance(table, DefinedConstant) and isinstance(made, Shell) and made.kind == "dict" and not made.entries:
            for cls in entered(table, self._run.project):
                made.is_exact = False
                made.put((ClassRef(self._run.classes.model(cls)),), ())
        if isinstance(table, DefinedConstant) and isinstance(made, Shell) and made.kind == "instance":
            self._fill(table, atoms)
        owner, _, name = table.name.rpartition(".") if isinstance(table, DefinedConstant) else ("", "", "")
        home = table.module.classes.get(owner) if owner and isinstance(table, DefinedConstant) else None
        if home is not None:
            self.enter_by(self._run.classes.model(home), name, atoms)

    def _fill(self, table: DefinedConstant, atoms: Atoms) -> None:
        """Evaluate the calls that register classes in an object of a module."""
        run = self._run
        subject = run.objects.subject
        cls = None if subject is None or subject.model is None else subject.model.cls
        outer = run.path, run.guard, run.loops
        run.path, run.guard, run.loops = (), None, 0
        for one in registrations(table, run.project, None if cls is None else cls.module):
            method = self._method_of(one.module.body)
            frame = class_frame(method.scope, id(one.value))
            frame.memo[id(one.owner)] = atoms
            self._register(one, frame)
        run.path, run.guard, run.loops = outer

    def enter_by(self, model: ClassModel, name: str, atoms: Atoms) -> None:
        """Fill a class-level dict with the classes that methods of the class register in it."""
        made, cls = atoms[0] if len(atoms) == 1 else None, model.cls
        if cls is None or not isinstance(made, Shell) or made.kind != "dict" or made in self._entered:
            return
        self._entered.add(made)
        if self._run.counts or not is_filled(cls, name):
            return
        run = self._run
        subject = None if run.objects.subject is None else model_of(run.objects.subject).cls
        beside = None if subject is None else subject.module
        outer = run.path, run.guard, run.loops
        run.path, run.guard, run.loops = (), None, 0
        made.is_exact = False
        method = model.own_method(HEIR)
        if method is not None:
            for heir in heirs(cls, run.project, beside):
                frame = class_frame(model.facts.scope, id(heir))
                self.apply(FunctionRef(method, None, ClassRef(run.classes.model(heir))), NO_ARGUMENTS, frame, _NOWHERE)
        for one in registrations_by(cls, run.project, beside):
            self._register(one, class_frame(self._method_of(one.module.body).scope, id(one.value)))
        run.path, run.guard, run.loops = outer

    def _register(self, one: RegistryCall, frame: Frame) -> None:
        found = self._run.evaluate(one.value, frame)
        if one.cls is not None:
            given = Arguments(((ClassRef(self._run.classes.model(one.cls)),),))
            for atom in found:
                self.apply(atom, given, frame, one.value)

    def defined(self, definition: Definition) -> Atoms:
        """The value of a resolved name: a class, a function, or a definition outside the project."""
        classes = self._run.classes
        if isinstance(definition, External) and any(is_unread(definition.name) for is_unread in self._run.mode.unread):
            return (Outside(definition.name),)
        model = classes.of(definition)
        if model is not None:
            return (ClassRef(model),)
        if isinstance(definition, DefinedFunction):
            return (FunctionRef(self._method_of(definition.function)),)
        if isinstance(definition, External):
            owner = classes.of(External(definition.name.rpartition(".")[0]))
            if owner is not None:
                name = definition.name.rpartition(".")[2]
                found = self._run.objects.class_attribute(ClassRef(owner), name, ClassRef(owner))
                return found if found and found != UNKNOWN else (Bound(ClassRef(owner), name),)
            function = classes.function(definition.name)
            return (Outside(definition.name),) if function is None else (FunctionRef(function),)
        return (Outside(definition.module.name),) if isinstance(definition, DefinedModule) else UNKNOWN

    def _method_of(self, function: Function) -> Method:
        from modellint.link.classes.definitions import SourceMethod

        found = self._methods.get(function)
        if found is None:
            found = self._methods[function] = SourceMethod(function, self._run.project.names)
        return found

    # -- methods ---------------------------------------------------------------------------------------------------

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        """The result of `atom.name(…)`."""
        run = self._run
        if isinstance(atom, Super):
            return self.super_method(atom, name, arguments, frame, value)
        known = run.asked.method(atom, name, arguments, frame, value)
        if known is not None:
            return known
        if isinstance(atom, Shell):
            if atom.is_container:
                return containers.method(run, atom, name, arguments, frame, value)
            if atom.kind == "pretrained":
                self._note_handling(atom, name, frame)
                return (atom,) if name in calls.SAME else UNKNOWN
            if atom.kind != "instance":
                return tensor_method(atom, name, arguments, value)
            return self._object_method(atom, name, arguments, frame, value)
        if isinstance(atom, Derived):
            return tensor_method(atom, name, arguments, value)
        if isinstance(atom, Bound):
            return self._bound_method(atom, name, arguments, frame, value)
        if isinstance(atom, SymbolicInput):
            if atom.home and name in ("get", "pop"):
                return (atom.element(),)
            if name in calls.SAME or name in ("values", "items", "get", "pop", "copy", "children", "modules"):
                return (atom,)
            return self.unknown(arguments, value)
        if isinstance(atom, ClassRef) and name in ("from_pretrained", "from_config", "_from_config"):
            return (
                (self._run.objects.instance(atom.model, ANY_ARGUMENTS, frame, value),)
                if atom.model.is_module
                else UNKNOWN
            )
        if isinstance(atom, Constant) and isinstance(atom.value, str):
            return constants.text_method(run, atom.value, name, arguments.positional, frame, value)
        if isinstance(atom, Plain | Constant | Length | Shape):
            return PLAIN
        if isinstance(atom, ClassRef) and arguments.positional and (above := _super_of(atom, arguments)) is not None:
            return self.super_method(above, name, arguments.without_first(), frame, value)
        found = self._run.objects.attribute(atom, name, frame, value)
        return map_join(found, self.apply, arguments, frame, value) if found else UNKNOWN

    def _note_handling(self, layer: Shell, name: str, frame: Frame) -> None:
        """Note a call of a method that acts on a whole layer (see `_HANDLING`), or moves it."""
        if name in _HANDLING and (self._run.objects.is_at_work or name not in calls.SAME):
            self.handled[layer, name, frame.function] = None
        elif name in MOVES:
            self.placed.add(layer)

    def _object_method(self, shell: Shell, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        model = model_of(shell)
        stored = shell.get(name, self._run.path)
        if stored is not None:
            self._run.objects.note_read(shell, name, frame, value.callee if value.op is Op.CALL else value)
            return map_join(stored, self.apply, arguments, frame, value)
        self._note_handling(shell, name, frame)
        own = self._run.objects.own_method(shell, name)
        items = None if own is not None else self._run.objects.items(shell)
        if items is not None:
            return containers.method(self._run, items, name, arguments, frame, value)
        if own is not None:
            is_own = shell is self._run.objects.subject or shell in self._run.objects.under_construction
            if not self._run.asked.follows(own, arguments, "own" if is_own else "other"):
                if shell.is_layer and not is_own and not _gives_layers(arguments):
                    # Another layer at work: it says nothing of what this one keeps.
                    return self._opaque(own, arguments, frame, value)
                if is_own and self._is_idle(own, shell):
                    return UNKNOWN
            self._run.objects.construct(shell)
            return self.apply(own, arguments, frame, value)
        if name in calls.SAME:
            return (shell,)
        if name == "forward":
            known = self._run.asked.opaque(Bound(shell, name), arguments, frame, value)
            if known is not None:
                return known
        if model.is_module is not False:
            done = self._run.objects.module_method(shell, name, arguments, frame, value)
            if done is not None:
                return done
        self._run.objects.construct(shell)
        found = self._run.objects.attribute(shell, name, frame, value)
        if found and not any(isinstance(atom, Unknown | Bound) for atom in found):
            return map_join(found, self.apply, arguments, frame, value)
        return self.unknown(arguments, value)

    def _opaque(self, callee: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        """The result of a call that is not followed, if a theory knows it."""
        known = self._run.asked.opaque(callee, arguments, frame, value)
        return UNKNOWN if known is None else known

    def _is_idle(self, method: FunctionRef, shell: Shell) -> bool:
        """True if a method of an object has nothing to do with layers, so that it isn't run."""
        function, model = function_of(method.code), model_of(shell)
        if function is None or model.cls is None or not self._run.gate.is_idle_in(function, model):
            return False
        return not self._run.objects.is_at_work or not self._run.gate.may_make(function, model)

    @staticmethod
    def reached(atom: Super, name: str) -> Iterator[tuple[int, ClassModel]]:
        """The classes of an MRO that `super().name` may be of, nearest first, down to the one that surely has it."""
        mro = model_of(atom.shell).mro()
        for above in range(atom.above, len(mro)):
            owner = mro[above]
            yield above, owner
            if owner.name == calls.MODULE or owner.name in calls.CONTAINERS or owner.facts.has_method(name):
                return
            if owner.own_method(name) is not None:
                return

    def super_method(self, atom: Super, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        """The result of `super().name(…)`."""
        known = self._run.asked.method(atom, name, arguments, frame, value)
        if known is not None:
            return known
        for above, owner in self.reached(atom, name):
            if owner.name == calls.MODULE or owner.name in calls.CONTAINERS:
                if name == "__init__":
                    atom.shell.is_initialised = True
                    if owner.name in calls.CONTAINERS:
                        self._run.objects.fill(atom.shell, arguments)
                    return NONE
                return self._run.objects.module_method(atom.shell, name, arguments, frame, value) or UNKNOWN
            method = owner.own_method(name)
            if method is not None:
                function = FunctionRef(method, None, atom.shell, above)
                is_followed = name == "__init__" or self._run.asked.follows(function, arguments, "super")
                if not is_followed and self._is_idle(function, atom.shell):
                    return UNKNOWN
                return self.apply(function, arguments, frame, value)
        self._run.asked.tell(UnreadableSuper, atom, name, arguments, frame, value)
        if name == "__init__":
            atom.shell.is_initialised = True
            return NONE
        return self.unknown(arguments, value)

    def _bound_method(self, atom: Bound, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        """The result of a method of `module._modules` or `object.__dict__`, which may store attributes."""
        owner = atom.owner
        if isinstance(owner, Shell) and name in ("update", "setdefault", "__setitem__"):
            registers = atom.name in TABLES
            if name == "update":
                for atoms in arguments.all():
                    for inner in containers.unpacked_items(atoms):
                        self._run.objects.store(owner, inner[0], inner[1], frame, value=value, registers=registers)
            elif len(arguments.positional) > 1:
                key = text(arguments.positional[0])
                self._run.objects.store(owner, key, arguments.positional[1], frame, value=value, registers=registers)
            return NONE
        return UNKNOWN

    # -- functions -------------------------------------------------------------------------------------------------

    def apply(self, function: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        """The result of `function(…)`."""
        known = self._run.asked.apply(function, arguments, frame, value)
        if known is not None:
            return known
        if isinstance(function, ClassRef):
            return self._run.objects.instantiate(function, arguments, frame, value)
        if isinstance(function, FunctionRef):
            return self._invoke(function, arguments, frame, value)
        if isinstance(function, Outside):
            given = function.arguments.then(arguments) if isinstance(function, Prepared) else arguments
            return self._outside(function.name, given, frame, value)
        if isinstance(function, Bound):
            return self.method(function.owner, function.name, arguments, frame, value)
        if isinstance(function, Shell) and function.kind == "instance":
            return self._call_object(function, arguments, frame, value)
        if isinstance(function, Plain | Constant) and function != Constant(None):
            return PLAIN
        return self.unknown(arguments, value)

    def _call_object(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        """The result of calling an object; of layers, only theories know it."""
        own = None if model_of(shell).is_module is not False else self._run.objects.own_method(shell, "__call__")
        if own is None:
            self._run.asked.tell(LayerCalled, shell, arguments, frame, value)
            return self._opaque(shell, arguments, frame, value)
        self._run.objects.construct(shell)
        return self.apply(own, arguments, frame, value)

    def _outside(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        given = arguments.positional
        known = self._run.asked.function(name, arguments, frame, value)
        if known is not None:
            return known
        if name in STORING:
            if name != "builtins.delattr" and len(given) == 3:
                is_sure = len(given[0]) == 1
                for atom in given[0]:
                    if isinstance(atom, Shell):
                        registers, key = name == "builtins.setattr", text(given[1])
                        self._run.objects.store(
                            atom, key, given[2], frame, value=value, registers=registers, is_sure=is_sure
                        )
                    else:
                        self._run.objects.give_away(atom, given[2])
            return NONE
        if name == "builtins.vars" and given:
            return tuple(Bound(atom, "__dict__") for atom in given[0])
        owner, _, method = name.rpartition(".")
        if owner == calls.MODULE and given:  # `nn.Module.add_module(self, …)`
            shells = [atom for atom in given[0] if isinstance(atom, Shell) and atom.kind == "instance"]
            done = [self._run.objects.module_method(s, method, arguments.without_first(), frame, value) for s in shells]
            return join(atoms or UNKNOWN for atoms in done) if done else UNKNOWN
        if owner.startswith("builtins.") and given and owner.count(".") == 1:  # `list.append(self.layers, …)`
            return map_join(given[0], self.method, method, arguments.without_first(), frame, value)
        return functions.call(self._run, name, arguments, frame, value)

    def unknown(self, arguments: Arguments, value: Value) -> Atoms:
        """The unknown result of unreadable code, to which the arguments escape."""
        self._run.asked.tell(Escaped, arguments, value)
        given = tuple(dict.fromkeys(shells_in(arguments.all())))
        self._run.asked.tell(Touched, given)
        return (Unknown(given),) if given else UNKNOWN

    def _invoke(self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        code = function.code
        key: object = function_of(code) if not isinstance(code, Nested) else code
        key = code if key is None else key
        limits = self._limits
        max_recursion = limits.recursion_if if self._run.path else limits.recursion
        if len(self.under_way) >= limits.calls or self.under_way.count(key) >= max_recursion:
            self._run.asked.tell(CutOff, function)
            is_circle = key in self.under_way
            self._run.is_complete = self._run.is_complete and is_circle
            self.memo.cut(self.under_way.index(key) if is_circle else 0)
            return self.unknown(arguments, value)
        given = function.arguments.then(arguments)

        def run() -> Atoms:
            return self._run_body(key, function, given, frame, value)

        known = self._run.asked.follow(function, given, frame, value, run)
        return self.memo.call(function, given, run) if known is None else known

    def frame(self, function: FunctionRef, given: Arguments, frame: Frame, value: Value) -> Frame:
        """The frame in which a call runs a function."""
        return self._binding.frame(function, given, (*frame.trail, id(value)))

    def _run_body(self, key: object, function: FunctionRef, given: Arguments, frame: Frame, value: Value) -> Atoms:
        inner = self.frame(function, given, frame, value)
        if inner.function is not None:
            self.done.add(inner.function)
        self._run.asked.tell(Entered, inner, given)
        self.under_way.append(key)
        self.way.append((frame, value))
        found = self._run.run(function.code, inner)
        self.way.pop()
        self.under_way.pop()
        return found


def _may_make_any(model: ClassModel) -> bool:
    """True if a class may make objects of any class, as factories do: neither a layer nor one with fields."""
    return model.facts.fields is None and model.is_module is False


def _gives_layers(arguments: Arguments) -> bool:
    """True if there are objects, or classes of layers, among the arguments."""
    classes = (atom.model for atoms in arguments.all() for atom in atoms if isinstance(atom, ClassRef))
    return any(True for _ in shells_in(arguments.all())) or any(model.is_module for model in classes)


def _is_class_method(function: FunctionRef) -> bool:
    """True for a class method that is not bound to a class yet."""
    code = function_of(function.code)
    return function.receiver is None and code is not None and code.is_class_method


def _super_of(cls: ClassRef, arguments: Arguments) -> Super | None:
    """The `super()` that a call `Base.__init__(self, …)` amounts to; None if the first argument is no such object."""
    first = arguments.positional[0]
    shell = first[0] if len(first) == 1 else None
    if not isinstance(shell, Shell) or shell.model is None or shell.kind != "instance":
        return None
    names = [model.name for model in shell.model.mro()]
    return Super(shell, names.index(cls.model.name)) if cls.model.name in names else None
