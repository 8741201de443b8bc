"""ML506: a method that tensors do not have, or a name that torch does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity, Span
from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.value import EventKind, Op, called_name
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

    from .names import UnknownName

#: Conditions that ask what kind of thing a value is.
_ASKING = frozenset(("isinstance", "hasattr", "type", "getattr", "callable"))
_CLASSES_OF_TENSORS = (External("torch.Tensor"), External("torch._tensor.Tensor"))


class UnknownMethod(Rule):
    """Code uses a name that tensors or torch do not have

    ## What it does
    Reports `x.name(…)` if `x` is a tensor on every path and tensors have no such method: a misspelt name
    (`continous`), or a function of `torch.nn.functional` that is not a method (`logsigmoid`). `x` is a tensor if a
    torch function, operator or layer makes it, or if it is an argument that the code annotates and uses as a tensor.
    The finding is an info for a method that PyTorch has removed. Also reports

    - a name that a module of torch does not have: `nn.Liner`, `F.softmx`, `@torch.no_gard()`. It is a warning if an
      earlier release had the name (`torch.symeig`)
    - the import of a module that torch does not have, as a warning: `from torch._six import string_classes`; so is the
      use of a private one (`torch._six.inf`)
    - a call of a module of torch: `torch.fft(x, 2)`, a function of releases before 1.8, is a warning
    - a method that the optimizers or schedulers of torch do not have: `optimizer.zero_gard()`
    - an attribute of a parameter that is written much like `requires_grad`: `parameter.require_grad = False` is a
      warning, because the parameter stays trainable

    ## Why is this bad
    The code raises an error such as `AttributeError: 'Tensor' object has no attribute 'continous'`. An assignment to an
    attribute that torch does not know raises nothing, and changes nothing.

    ## How to fix
    Correct the name, or call the function. `--unsafe-fixes` corrects a misspelt name:

    ```python
    x = x.contiguous()
    y = F.logsigmoid(x)
    ```

    ## What it cannot see
    Arguments that only have an annotation: another object may arrive. Methods that the project adds to `torch.Tensor`.
    The rule ignores tensors that may belong to a subclass (`DTensor`, nested tensors, one of a library or of the
    project), unless the name is plainly one of torch. It ignores a removed name if the requirements of the project
    exclude the newest release. It ignores names that `hasattr` asks for, that depend on a
    version or that the project sets, and unknown names in `torch` itself that resemble none: extensions for other
    devices bring names of their own.

    ```python
    def scale(x: torch.Tensor):
        return x.maskfill(x < 0, 0)
    ```

    ## Confirming
    modellint builds the layer, or imports the file, and calls the function. Python's error is the verdict. It does not
    run an import, since it imports files with stand-ins for modules that are not there.

    ## References
    - [torch.Tensor](https://pytorch.org/docs/stable/tensors.html)
    """

    code = "ML506"
    name = "unknown-method"
    severity = Severity.ERROR
    requires = ("calls",)
    about = ("torch.Tensor",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .imports import missing_modules
        from .names import unknown_names
        from .subclasses import may_be_subclass

        for call in queries.flow(module, project).calls():
            callee, name = call.value.callee, str(call.value.callee.data)
            if callee.op is not Op.ATTR or callee.args[0].op is Op.GLOBAL or name.startswith("__"):
                continue
            if _cannot_be(callee.args[0]) or name in queries.tensor_names():
                continue
            receiver = queries.Operand(callee.args[0], call.function, project)
            if not _is_tensor(receiver) or _is_asked(call) or _is_given_to_tensors(name, module, project):
                continue
            if name in queries.removed_tensor_names() and not queries.may_use_newest_torch(project):
                continue
            # A name that is plainly one of torch's is meant as that, whatever methods subclasses have.
            if _is_meant(name) or not may_be_subclass(receiver.value, name, call.function, project):
                yield self._finding(call, name)
        missing = list(missing_modules(module))
        imported = {name for name, _ in missing}
        for found in unknown_names(module, project):
            if f"{found.owner}.{found.name}" not in imported:  # the import has failed before
                yield self._of_name(found, project)
        for name, statement in missing:
            if queries.may_use_newest_torch(project):
                yield self._of_import(name, statement, module)

    def _finding(self, call: queries.Call, name: str) -> Finding:
        was_there = name in queries.removed_tensor_names()
        place = call.callee.place
        evidence = ["the value is a tensor on every path"]
        evidence += [f"torch {queries.newest_torch()} lacks it, earlier releases have it"] if was_there else []
        advice = "call a method that tensors have, or a function"
        names = _public_names()
        squeezed = {one.replace("_", ""): one for one in names if not one.endswith("_")}
        near = edits.get_close_matches(name, names, n=1, cutoff=0.8)
        near = near or [
            squeezed[one] for one in edits.get_close_matches(name.replace("_", ""), squeezed, n=1, cutoff=0.8)
        ]
        if name in (queries.module_names("torch.nn.functional") or ()):
            evidence.append(f"`torch.nn.functional.{name}` is a function, not a method")
            near, advice = [], f"call the function `torch.nn.functional.{name}`"
        meant = edits.slip(name, names) if near else None
        return self.finding(
            place,
            f"tensors have no method `{name}`" + (" any more" if was_there else ""),
            symbol=f"{call.symbol}.{name}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if was_there else None,
            evidence=evidence,
            help=f"did you mean `{near[0]}`?" if near else advice,
            fix=None if meant is None else _rename_fix(place, name, meant),
            claim=claims.Refused(place, "AttributeError", f"has no attribute '{name}'"),
        )

    def _of_name(self, found: UnknownName, project: Project) -> Finding:
        """The finding of a name that a module, an optimizer or a parameter lacks."""
        from .names import intended_name

        near, is_safe = intended_name(found)
        place, owner = found.place, f"`{found.owner}`" if "." in found.owner or found.owner == "torch" else found.owner
        what = "method" if found.owner.startswith("an ") or found.owner == "a scheduler" else "name"
        message = f"{owner} has no {what} `{found.name}`" + (" any more" if found.is_gone else "")
        evidence = "the code raises `AttributeError` here"
        if found.is_called_module:
            message = f"{owner} is a module, " + (
                "and no function any more" if found.is_gone else "and cannot be called"
            )
            evidence = "the call raises `TypeError`"
        if found.is_stored:
            message = f"this sets `{found.name}`, which means nothing to torch: {owner} has `{near}`"
            evidence = "the assignment makes a new attribute, and changes nothing else"
        elif found.is_gone and not found.is_called_module:
            evidence = f"PyTorch has removed it, and the project may use torch {queries.newest_torch()}"
        is_warning = found.is_gone or found.is_stored
        severity = Severity.WARNING if is_warning else None
        if found.event is not None and queries.Call(found.event, found.function, project).is_tried_out:
            severity = Severity.INFO
        return self.finding(
            place,
            message,
            symbol=f"{found.function.qualname}.{found.name}",
            confidence=Confidence.HIGH,
            severity=severity,
            evidence=(evidence,),
            help=f"did you mean `{near}`?" if near is not None else "use a name that is there",
            fix=_rename_fix(place, found.name, near, "Set" if found.is_stored else "Use") if is_safe and near else None,
            claim=_claim(found),
        )

    def _of_import(self, name: str, statement: ast.stmt, module: ModuleFacts) -> Finding:
        line, end = statement.lineno, statement.end_lineno or statement.lineno
        span = module.source.span_of_bytes(line, statement.col_offset, end, statement.end_col_offset or 0)
        place = Place(module.path, span)
        return self.finding(
            place,
            f"torch {queries.newest_torch()} has no module `{name}`",
            symbol=name,
            confidence=Confidence.HIGH,
            severity=Severity.WARNING,
            evidence=("the import raises `ModuleNotFoundError`", "no condition or handler stands around it"),
            help="import from a module that is there, or ask for an earlier release in the requirements",
            claim=None,  # a confirmation imports files with stand-ins for modules that are not there
        )


def _claim(found: UnknownName) -> claims.Refused | None:
    """The error of a name that is not there; an assignment raises none, nor does what a decorator does at import."""
    if found.is_stored or found.event is None:
        return None
    if found.is_called_module:
        return claims.Refused(found.function.module.place(found.event.value), "TypeError", "module")
    if found.is_gone:
        return claims.Refused(found.place, "RuntimeError or AttributeError", "")
    return claims.Refused(found.place, "AttributeError", f"'{found.name}'")


def _is_meant(name: str) -> bool:
    """True if a name must be meant as torch's: a function of torch, a method that tensors had, or a slip of one."""
    functions = queries.module_names("torch.nn.functional") or ()
    return name in functions or name in queries.removed_tensor_names() or edits.slip(name, _public_names()) is not None


def _public_names() -> list[str]:
    return [one for one in queries.tensor_names() if not one.startswith("_")]


def _cannot_be(value: Value) -> bool:
    """True if a value is of a kind that is never a tensor, whatever its operands."""
    return value.op in (Op.CONST, Op.LIST, Op.DICT, Op.TUPLE, Op.SET, Op.STRING, Op.COMPREHENSION, Op.LAMBDA, Op.ITEM)


def _is_tensor(receiver: queries.Operand) -> bool:
    value, function = receiver.value, receiver.function
    if receiver.is_tensor:
        return True
    if value.op is not Op.PARAM or value.data == "self":
        return False
    parameter = function.parameter(str(value.data))
    annotation = parameter.annotation if parameter is not None else None
    is_annotated = annotation is not None and annotation.op in (Op.ATTR, Op.GLOBAL)
    if annotation is None or not is_annotated or not receiver.is_used_as_tensor:
        return False
    return _is_class_of_tensors(annotation, function, receiver.project)


def _is_asked(call: queries.Call) -> bool:
    """True if a condition asks for a type or an attribute, or a handler expects the error."""
    is_caught = not {"AttributeError", "Exception", "BaseException"}.isdisjoint(call.event.handled)
    return is_caught or not _ASKING.isdisjoint(call.questions)


def _is_given_to_tensors(name: str, module: ModuleFacts, project: Project) -> bool:
    functions = (
        function
        for one in dict.fromkeys((module, *queries.files_mentioning(module, project, name, "Tensor")))
        for function in (*one.all_functions(), one.body)
        if name in function.words
    )
    return any(
        _gives_to_tensors(event, name, function, project) for function in functions for event in function.flow.events
    )


def _gives_to_tensors(event: Event, name: str, function: Function, project: Project) -> bool:
    """True if an event sets an attribute `name` of the class of tensors: `torch.Tensor.name = …`, or by `setattr`."""
    target = event.target
    if event.kind is EventKind.STORE and target is not None and target.op is Op.ATTR and target.data == name:
        return _is_class_of_tensors(target.args[0], function, project)
    if event.kind is not EventKind.CALL or called_name(event.value.callee) != "setattr":
        return False
    given = event.value.positional
    if len(given) < 2 or given[1].op is not Op.CONST or given[1].data != name:
        return False
    return _is_class_of_tensors(given[0], function, project)


def _is_class_of_tensors(value: Value, function: Function, project: Project) -> bool:
    if called_name(value) == "Tensor":
        return True
    return project.names.definition(function.module, value) in _CLASSES_OF_TENSORS


def _rename_fix(place: Place, name: str, near: str, verb: str = "Call") -> Fix:
    span = place.span
    spot = Span(span.end_line, span.end_column - len(name), span.end_line, span.end_column)
    return Fix(f"{verb} `{near}`", Applicability.UNSAFE, (Edit(Place(place.path, spot), near),))
