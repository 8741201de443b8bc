"""ML513: a layer without `forward`, a constructor with a misspelt name, and a `train` that torch cannot call."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.flow import queries
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

_CATCHING = frozenset(("NotImplementedError", "RuntimeError", "Exception", "BaseException"))
_CATCHING_TYPE = frozenset(("TypeError", "Exception", "BaseException"))
_ASKING = frozenset(("isinstance", "callable", "hasattr", "type", "issubclass"))


class ForwardMissing(Rule):
    """A layer lacks `forward` or its constructor, or overrides `train`

    ## What it does
    Reports three mistakes in the methods of a layer:

    - The project calls an object of the class, but no class of the hierarchy defines `forward`. The name may be
      misspelt: `foward`.
    - The method that sets the layer up has a misspelt name: `_init_`, `__int__`. Nothing calls it, and other methods
      read attributes that only this method sets.
    - The class overrides `train` with a method that torch cannot call as `train(mode)`, and the project calls `eval`
      of it.

    ## Why is this bad
    The call raises `NotImplementedError: Module [Net] is missing the required "forward" function`. Without its
    constructor, a layer raises `AttributeError: 'Net' object has no attribute 'fc'`. `model.eval()` calls
    `self.train(False)`, which raises `TypeError: train() missing 1 required positional argument`.

    ## How to fix
    Correct the name, as `--unsafe-fixes` does. Call the method for training something else than `train`:

    ```python
    def forward(self, x):
        return self.fc(x)

    def fit(self, loader):
        ...
    ```

    ## What it cannot see
    Layers that the project does not call, as those of a library. Classes with a base that cannot be read, and projects
    that set `forward` of objects from outside.

    ```python
    model.forward = compiled
    ```

    ## Confirming
    modellint builds the layer, or imports the file, and calls the function. Python's error is the verdict.

    ## References
    - [torch.nn.Module.forward](https://pytorch.org/docs/stable/generated/torch.nn.Module.html)
    - [torch.nn.Module.train](https://pytorch.org/docs/stable/generated/torch.nn.Module.html)
    """

    code = "ML513"
    name = "forward-missing"
    severity = Severity.ERROR
    requires = ("calls",)
    about = ("torch.nn.Module",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for cls in module.classes.values():
            model = project.classes.model(cls)
            if not _may_break(cls, project) or not model.is_module:
                continue
            if not model.has_method("forward") and queries.lacks_forward(cls, project):
                yield from self._without_forward(cls, project)
            for method in cls.methods.values():
                if _is_near_init(method.name):
                    yield from self._constructor(cls, method, project)
            train = model.method("train")
            if train is not None and _is_of(train, cls, project) and not _takes_mode(train):
                yield from self._train(cls, train, project)

    # -- forward -----------------------------------------------------------------------------------------------------

    def _without_forward(self, cls: Class, project: Project) -> Iterator[Finding]:
        near = _near_forward(cls, project)
        if near is not None and not _is_of(near, cls, project):
            return  # reported where the name is misspelt
        classes = [cls]
        if near is not None:
            classes += [one for one in queries.subclasses(cls, project) if queries.lacks_forward(one, project)]
        calls = itertools.chain.from_iterable(queries.calls_of_objects(one, project) for one in classes)
        call = _likeliest(calls, _CATCHING)
        if call is None or queries.is_set_outside(cls, "forward", project):
            return
        evidence = [f"no class in the hierarchy of `{cls.name}` defines `forward`"]
        if near is not None:
            evidence.append(f"`{near.name}` is another name, which torch does not call")
        yield self.finding(
            cls.place if near is None else _name_place(near),
            f"`{cls.name}` is called, but has no `forward`",
            symbol=cls.qualname if near is None else near.qualname,
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=evidence,
            related=(Related(call.place, "an object of the class is called here"),),
            help="define `forward`" if near is None else "did you mean `forward`?",
            fix=None if near is None else _rename(near, "forward", project),
            claim=claims.Refused(call.place, "NotImplementedError", "forward"),
        )

    # -- the constructor ---------------------------------------------------------------------------------------------

    def _constructor(self, cls: Class, method: Function, project: Project) -> Iterator[Finding]:
        if "__init__" in cls.methods or "__init__" in cls.attributes or not _sets_up(method, project):
            return
        read = _read_elsewhere(cls, method, project)
        if read is None or queries.is_doubtful(cls, project) or queries.is_method_named(cls, method, project):
            return
        event, name = read
        place = method.module.place(event.value)
        yield self.finding(
            _name_place(method),
            f"`{method.name}` is no constructor: nothing calls it",
            symbol=method.qualname,
            confidence=Confidence.HIGH,
            evidence=(f"`{cls.name}` has no `__init__`", f"nothing else sets `self.{name}`"),
            related=(Related(place, f"`self.{name}` is read here"),),
            help="did you mean `__init__`?",
            fix=_rename(method, "__init__", project),
            claim=claims.NotSet(place, cls.qualname, name),
        )

    # -- train -------------------------------------------------------------------------------------------------------

    def _train(self, cls: Class, method: Function, project: Project) -> Iterator[Finding]:
        call = _likeliest(queries.mode_changes(cls, method, project), _CATCHING_TYPE)
        if call is None or queries.is_doubtful(cls, project) or queries.is_set_outside(cls, "train", project):
            return
        yield self.finding(
            _name_place(method),
            f"`train` of `{cls.name}` does not take a mode, but `eval` calls `train(False)`",
            symbol=method.qualname,
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=("`nn.Module.train` is overridden", "`nn.Module.eval` calls `self.train(False)`"),
            related=(Related(call.place, "`eval` is called here"),),
            help="rename the method, to `fit` for example",
            claim=claims.Refused(call.place, "TypeError", "train"),
        )


def _may_break(cls: Class, project: Project) -> bool:
    """True unless a class has no method and is named nowhere else, so that nothing can call its objects."""
    module = cls.module
    is_named = bool(cls.methods) or module.code.count(cls.name) > 1
    return is_named or any(other is not module for other in queries.files_mentioning(module, project, cls.name))


def _is_of(method: Function, cls: Class, project: Project) -> bool:
    """True if a method stands in a class, or in a base of it that is no layer."""
    owner = method.owner
    return owner is cls or (owner is not None and not project.classes.model(owner).is_module)


def _likeliest(calls: Iterable[queries.Call], catching: frozenset[str]) -> queries.Call | None:
    """The first call that is meant to succeed, one of a test or a demonstration only if there is no other."""
    found = [call for call in calls if catching.isdisjoint(call.event.handled) and _ASKING.isdisjoint(call.questions)]
    return next((call for call in found if not call.is_tried_out), found[0] if found else None)


def _near_forward(cls: Class, project: Project) -> Function | None:
    """The method whose name is a slip of the pen for `forward`; None if there is none, or several."""
    classes = [one.cls for one in project.classes.model(cls).mro() if one.cls is not None]
    found = [
        method
        for one in classes
        for method in one.methods.values()
        if method.name.strip("_") == "forward" or edits.slip(method.name.strip("_"), ("forward",)) is not None
    ]
    return found[0] if len(found) == 1 else None


def _is_near_init(name: str) -> bool:
    """True for a private or special name that is not far from `__init__`."""
    bare = name.strip("_").lower()
    if name == "__init__" or not name.startswith("_") or not 2 < len(bare) < 6:
        return False
    return bare == "init" or bool(edits.get_close_matches(bare, ("init",), cutoff=0.75))


def _sets_up(method: Function, project: Project) -> bool:
    """True if a method stores layers in attributes of `self`, or calls the constructor of the base."""
    for event in method.flow.of(EventKind.CALL):
        callee = event.value.callee
        if callee.op is Op.ATTR and callee.data in ("__init__", method.name) and _is_super(callee.args[0]):
            return True
    return any(
        event.target is not None
        and self_attribute(event.target) is not None
        and queries.Operand(event.value, method, project).kind() is queries.Kind.LAYER
        for event in method.flow.of(EventKind.STORE)
    )


def _is_super(value: Value) -> bool:
    return value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data == "super"


def _read_elsewhere(cls: Class, method: Function, project: Project) -> tuple[Event, str] | None:
    """The first read, in another method, of an attribute that only this method sets."""
    stored = {self_attribute(event.target) for event in method.flow.of(EventKind.STORE) if event.target is not None}
    for one in cls.methods.values():
        for event in one.flow.reads if one is not method and not one.is_static else ():
            name = str(event.value.data)
            if name in stored and not queries.is_set_besides(cls, name, method, project):
                return event, name
    return None


def _takes_mode(method: Function) -> bool:
    """True if a method can be called with one argument by position."""
    if method.is_static or method.is_class_method or method.is_property:
        return True
    parameters = method.parameters[1:]
    given = [one for one in parameters if one.kind in ("positional", "var-positional")]
    required = [one for one in parameters if one.default is None and one.kind in ("positional", "keyword")]
    is_decorated = bool(method.signature.decorators)
    return is_decorated or bool(given and (not required or required == [given[0]]))


def _name_place(method: Function) -> Place:
    """The place of a method's name in its `def` statement."""
    source = method.module.source
    column = source.column_of_byte(method.line, method.offset)
    line = source.text_between(method.line, method.line)
    column = max(line.find(method.name, column + len("def")) + 1, column)
    return Place(method.module.path, Span(method.line, column, method.line, column + len(method.name)))


def _rename(method: Function, name: str, project: Project) -> Fix | None:
    """The method's name, also where the method calls that of its base, if no other code names it."""
    if method.owner is None or queries.is_method_named(method.owner, method, project):
        return None
    places = [_name_place(method)]
    for event in method.flow.of(EventKind.CALL):
        callee = event.value.callee
        if callee.op is Op.ATTR and callee.data == method.name:
            places.append(_attribute_place(callee, method))
    change = tuple(Edit(place, name) for place in places)
    return Fix(f"Rename it to `{name}`", Applicability.UNSAFE, change)


def _attribute_place(value: Value, method: Function) -> Place:
    span = method.module.span(value)
    start = span.end_column - len(str(value.data))
    return Place(method.module.path, Span(span.end_line, start, span.end_line, span.end_column))
