"""ML207: parameters that a module does not register."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.flow import queries
from modellint.graph.value import Op
from modellint.rule import Rule, file_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Probe, Project

    from .in_class_body import InClassBody
    from .in_module_body import InModuleBody
    from .moved import Moved
    from .parameters import Derived, Early
    from .uninitialised import Uninitialised

#: What makes parameters of tensors in a container of some kind; of others than these it is a list.
_SUFFIXES = {"": "", "dict": "Dict"}


class ParameterNotRegistered(Rule):
    """A parameter is stored in a way that `nn.Module` does not register

    ## What it does
    Reports

    - attributes that store the result of an operation on a new parameter (`nn.Parameter(…).to(device)`,
      `nn.Parameter(…) * 0.02`)
    - parameters in plain lists, tuples and dicts that nothing else registers
    - layers and parameters that a class assigns before `nn.Module.__init__` runs
    - layers and parameters that a class assigns although `nn.Module.__init__` never runs: no constructor calls it, or
      the constructor of a base class before `nn.Module` does not call `super().__init__()`. `super()` alone calls
      nothing
    - layers and parameters that a class body makes, in containers, too, and that objects use
    - layers and parameters that a file makes outside of classes, if a layer of the file computes with them and no other
      code does anything with them (a warning)
    - attributes that are plain tensors with `requires_grad=True`, or containers of such tensors (a warning; an info if
      a method of the class returns them, or passes them to an optimizer)
    - trained tensors that code moves after it passed them to an optimizer (a warning)

    A constructor that never calls `nn.Module.__init__` and assigns no layer or parameter is an info.

    ## Why is this bad
    `nn.Module` registers an attribute that *is* an `nn.Parameter`. `.to(device)`, `.cuda()` or a multiplication returns
    a plain tensor. It has the same values, but no optimizer updates it and no checkpoint holds it. The result of
    `.to(device)` even depends on the machine: if the parameter is already on the device, `.to` returns the parameter
    itself.

    Before `nn.Module.__init__` runs, assigning a layer raises
    `AttributeError: cannot assign module before Module.__init__() call`.

    ## How to fix
    Apply the operation to the tensor, inside `nn.Parameter`:

    ```python
    self.scale = nn.Parameter(0.02 * torch.randn(n, device=device))
    ```

    Keep several parameters in `nn.ParameterList` or `nn.ParameterDict`. Call `super().__init__()` first.

    ## References
    - [torch.nn.parameter.Parameter](https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html)
    - [torch.nn.ParameterList](https://pytorch.org/docs/stable/generated/torch.nn.ParameterList.html)
    """

    code = "ML207"
    name = "parameter-not-registered"
    severity = Severity.ERROR
    requires = (
        "constructed_anywhere",
        "layers_of",
        "may_store_derived",
        "may_store_early",
        "object",
        "state",
        "stores",
        "unregistered_containers",
        "unregistered_tensors",
    )
    about = ("torch.nn.Parameter",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .in_class_body import in_class_bodies
        from .in_module_body import in_module_bodies
        from .moved import moved_late
        from .parameters import derived, early
        from .uninitialised import uninitialised_layers

        for tensor in derived(module, project):
            yield self._derived_finding(tensor)
        for first in early(module, project):
            yield self._early_finding(first)
        for one in uninitialised_layers(module, project):
            yield self._uninitialised_finding(one, project)
        for body in in_class_bodies(module, project):
            yield self._body_finding(body)
        for one_made in in_module_bodies(module, project):
            yield self._module_finding(one_made)
        for plain in queries.flow(module, project).unregistered_tensors():
            yield self._learned_finding(plain)
        for late in moved_late(module, project):
            yield self._moved_finding(late)
        for found in queries.flow(module, project).unregistered_containers():
            if found.parameters and not found.layers:
                yield self._container_finding(found)

    def probe(self, claim: claims.NotRegistered | claims.MovedLate, project: Project) -> Probe | None:
        """Build the class, and look for the attribute's tensors in `parameters()` and `state_dict()`.

        For a late move, run the function, and look for the moved tensor among those that the optimizers hold.
        """
        return file_probe(claim, claim.owner if isinstance(claim, claims.NotRegistered) else claim.function)

    def _derived_finding(self, found: Derived) -> Finding:

        place = found.function.module.place(found.target)
        if found.is_rare:
            confidence = Confidence.LOW
        else:
            confidence = Confidence.HIGH if found.is_certain and found.use is not None else Confidence.MEDIUM
        related = [Related(found.maker.module.place(found.call), "the parameter is made here")]
        if found.use is not None:
            related.append(Related(found.use.function.module.place(found.use.value), "used here"))
        return self.finding(
            place,
            f"{found.operation} makes a plain tensor of the parameter: `self.{found.attribute}` is not registered",
            symbol=f"{found.cls.name}.{found.attribute}",
            confidence=confidence,
            evidence=(
                "`nn.Module` registers what is an `nn.Parameter` itself; the result of an operation on one is a tensor "
                "that no optimizer updates and no checkpoint holds",
            ),
            related=related,
            help="apply it to the tensor inside `nn.Parameter(…)`",
            fix=_moved_inside(found),
            claim=None if found.is_rare else claims.NotRegistered(place, found.cls.qualname, found.attribute),
        )

    def _early_finding(self, found: Early) -> Finding:

        module = found.function.module
        place = module.place(found.target)
        kind, refused = ("layer", "module") if found.is_layer else ("parameter", "parameters")
        return self.finding(
            place,
            f"`self.{found.attribute}` is a {kind}, assigned before `nn.Module.__init__` has run",
            symbol=f"{found.cls.name}.{found.attribute}",
            confidence=Confidence.HIGH if found.is_certain else Confidence.MEDIUM,
            evidence=(f"torch raises `AttributeError: cannot assign {refused} before Module.__init__() call`",),
            related=(Related(module.place(found.later), "the base's constructor is called here"),),
            help="call `super().__init__()` first",
            claim=claims.NotRegistered(place, found.cls.qualname, found.attribute),
        )

    def _uninitialised_finding(self, found: Uninitialised, project: Project) -> Finding:

        from .uninitialised import set_up

        if found.target is None:
            return self.finding(
                found.constructor.place,
                f"the constructor of `{found.cls.name}` never calls `nn.Module.__init__`",
                symbol=f"{found.cls.name}.__init__",
                confidence=Confidence.HIGH,
                severity=Severity.INFO,
                evidence=("its objects cannot be called, moved or given layers",),
                help="call `super().__init__()` first",
                fix=set_up(found, project),
            )
        place = found.cls.module.place(found.target)
        kind, refused = ("layer", "module") if found.is_layer else ("parameter", "parameters")
        return self.finding(
            place,
            f"`self.{found.attribute}` is a {kind}, and `nn.Module.__init__` never runs",
            symbol=f"{found.cls.name}.{found.attribute}",
            confidence=Confidence.HIGH,
            evidence=(f"torch raises `AttributeError: cannot assign {refused} before Module.__init__() call`",),
            related=(Related(found.constructor.place, "this constructor calls no other"),),
            help="call `super().__init__()` first",
            fix=set_up(found, project),
            claim=claims.NotRegistered(place, found.cls.qualname, found.attribute),
        )

    def _module_finding(self, found: InModuleBody) -> Finding:
        module = found.cls.module
        return self.finding(
            module.place(found.value),
            f"`{found.cls.name}` uses `{found.name}` of the module: no object registers this `{found.made}`",
            symbol=f"{found.cls.name}.{found.name}",
            severity=Severity.WARNING,
            confidence=Confidence.HIGH,
            evidence=("nothing passes it to an optimizer, moves it, loads it or freezes it",),
            related=(Related(module.place(found.use), f"`{found.function.name}` uses it here"),),
            help="make it in the constructor, and keep it on `self`",
        )

    def _body_finding(self, found: InClassBody) -> Finding:

        place = found.cls.module.place(found.value)
        made = " and ".join(f"`{name}`" for name in found.made)
        shared = f"this {made}" if found.is_one else f"its {made} objects"
        user = found.use.function
        return self.finding(
            place,
            f"the class body makes `{found.name}`: all `{found.cls.name}` objects share {shared}, and none registers "
            f"{'it' if found.is_one else 'them'}",
            symbol=f"{found.cls.name}.{found.name}",
            confidence=Confidence.HIGH,
            evidence=(
                "`nn.Module` registers what is assigned to an object; neither `parameters()` nor a checkpoint holds "
                "an attribute of the class",
            ),
            related=(Related(user.module.place(found.use.value), "used here"),),
            help="make it in the constructor, and assign it to `self`",
            claim=claims.NotRegistered(place, found.cls.qualname, found.name),
        )

    def _learned_finding(self, found: queries.Learned) -> Finding:
        place = found.function.module.place(found.target)
        evidence = ["neither `parameters()` nor a checkpoint holds it"]
        if found.is_handed_out:
            evidence.append("a method returns it, stores it or passes it to an optimizer, which may train it")
        kept = f"is a plain {found.container} of tensors" if found.container else "is a plain tensor"
        return self.finding(
            place,
            f"`self.{found.attribute}` requires gradients, but {kept} that is not registered",
            symbol=f"{found.cls.name}.{found.attribute}",
            confidence=Confidence.MEDIUM,
            severity=Severity.INFO if found.is_handed_out else Severity.WARNING,
            evidence=evidence,
            help=f"make it an `nn.Parameter{_SUFFIXES.get(found.container, 'List')}`",
            fix=_as_parameter(found),
            claim=claims.NotRegistered(place, found.cls.qualname, found.attribute),
        )

    def _moved_finding(self, found: Moved) -> Finding:

        from .sooner import moved_sooner

        move, module = found.move, found.move.function.module
        name, _, operation = module.text_of(move.value.callee).rpartition(".")
        return self.finding(
            module.place(move.value),
            f"`.{operation}` makes a new tensor of `{name}`, but the optimizer was given the old one",
            symbol=name,
            confidence=Confidence.HIGH,
            severity=Severity.WARNING,
            evidence=(
                "if the move copies the tensor, the optimizer updates the old one, and the one in use never changes",
            ),
            related=(
                Related(found.made.place, "the tensor is made here"),
                Related(found.optimizer.place, "the optimizer is given it here"),
            ),
            help="move the tensor before it requires gradients, and make the optimizer after that",
            fix=moved_sooner(found),
            claim=claims.MovedLate(module.place(move.value), found.optimizer.place, move.start.qualname),
        )

    def _container_finding(self, found: queries.Unregistered) -> Finding:
        kept = found.kept
        module = kept.function.module
        if found.is_accident:
            message = f"the comma makes `self.{kept.attribute}` a tuple: the parameter in it is not registered"
            help = "drop the comma"
        else:
            message = f"`self.{kept.attribute}` is {found.keeper}: the parameters in it are not registered"
            help = f"use `nn.Parameter{'Dict' if kept.kind == 'dict' else 'List'}`"
            if kept.kind in ("namespace", "function"):
                help = "keep the parameters on `self`"
        return self.finding(
            module.place(kept.target),
            message,
            symbol=f"{found.cls.name}.{kept.attribute}",
            confidence=found.confidence,
            evidence=found.evidence,
            related=found.related,
            help=help,
            fix=found.fix,
            claim=found.claim,
        )


def _as_parameter(found: queries.Learned) -> Fix | None:
    """Wrap the stored value in a parameter; the state dict gets another entry."""
    module = found.function.module
    kind = _SUFFIXES.get(found.container, "List")
    stored, name = edits.assigned(found.target, module), edits.nn_name(module, f"Parameter{kind}")
    if stored is None or name is None:
        return None
    text = edits.text_at(stored[1], module)
    return Fix(f"Make it `{name}`", Applicability.UNSAFE, (Edit(stored[1], f"{name}({text})"),))


def _moved_inside(found: Derived) -> Fix | None:
    """Apply the operation to the tensor inside of `nn.Parameter(…)`."""
    module = found.function.module
    value, call = found.value, found.call
    if found.maker is not found.function:
        return None
    tensor = edits.argument_place(call, 0, "data", module)
    outer, inner = module.place(value), module.place(call)
    if tensor is None or outer == inner or outer.span.line > inner.span.line or value.op is Op.UNARY:
        return None
    before = edits.text_at(Place(module.path, _between(outer.span, inner.span)), module)
    behind = edits.text_at(Place(module.path, _behind(outer.span, inner.span)), module)
    text = edits.text_at(tensor, module)
    made = edits.text_at(inner, module)
    if made not in edits.text_at(outer, module) or before.count("(") != before.count(")"):
        return None
    changed = f"{before}{text if edits.is_atom(text) else f'({text})'}{behind}"
    at = edits.text_at(Place(module.path, _between(inner.span, tensor.span)), module)
    rest = edits.text_at(Place(module.path, _behind(inner.span, tensor.span)), module)
    is_conversion = not before and behind.lstrip().startswith(".")
    applicability = Applicability.SAFE if is_conversion else Applicability.UNSAFE
    return Fix("Apply it to the tensor inside", applicability, (Edit(outer, f"{at}{changed}{rest}"),))


def _between(outer: Span, inner: Span) -> Span:
    return Span(outer.line, outer.column, inner.line, inner.column)


def _behind(outer: Span, inner: Span) -> Span:
    return Span(inner.end_line, inner.end_column, outer.end_line, outer.end_column)
