"""ML501: layers whose widths do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.graph.definitions import External
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.size import Size
    from modellint.graph.value import Event, Value
    from modellint.rule import Probe, Project

    from .meetings import Misfit


class WidthMismatch(Rule):
    """A layer expects a different number of features than its input has

    ## What it does
    Follows the number of features or channels of tensors from the layers that produce them to the layers that take
    them: through `nn.Sequential`, lists of layers unpacked into one, `forward`, other methods and layers of the
    project. Linear and convolutional layers, norms, recurrent layers, attention and embeddings set the width of their
    input; activations, pools, `flatten`, `transpose`, `cat` and the like change or keep it.

    It follows whole shapes as well, in functions and scripts too: from `net(torch.randn(1, 3, 32, 32))` through
    convolutions, pools and `x.view(x.size(0), -1)` to the linear layer behind them.

    Compares widths by value after algebra, on the same dimension only: `hidden` and `2 * hidden` never fit. Reports

    - an error if the widths differ
    - a warning if they differ only in a branch or with a parameter's default, or if a fixed number has to equal a
      setting
    - a warning if two layers in a row both map `d_model` to `d_ff`: the second should map back
    - an info if two settings have to be equal, and are equal by default, or if a test or a demonstration makes the call

    Where a layer's output leads to the same two widths again, it reports the first layer only, whose call raises. It
    also reports numbers of heads or groups that do not divide the width.

    ## Why is this bad
    The call of the layer raises `RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)`, or the like.
    With a default or a setting, it fails once somebody keeps the default or changes the setting.

    ## How to fix
    Make the widths agree, and give both the same name:

    ```python
    self.encoder = nn.Linear(80, hidden)
    self.head = nn.Linear(hidden, 10)
    ```

    If a number in the constructor decides, such as 3136 in `nn.Linear(3136, 10)`, `--unsafe-fixes` writes the one that
    fits. Check that it is not the layer before that is wrong.

    ## What it cannot see
    Widths that only a run knows, sizes that stay symbols, and layers that a condition chooses or other code replaces.
    It does not know the order of dimensions after a `view` with unknown sizes, the width of an argument of `forward`,
    or a width that the code computes from settings that are not whole numbers:

    ```python
    self.d_model = d_model // bottleneck
    self.input_linear = nn.Linear(self.d_model, self.d_model)  # and `forward` gets `d_model` features
    self.top_conv = nn.Conv2d(width, round(1280 * config.width_coefficient), 1)
    self.top_bn = nn.BatchNorm2d(config.hidden_dim)  # equal by default
    ```

    ## Confirming
    modellint builds the class and calls the method with inputs that it takes. PyTorch's error is the verdict. It does
    not run a mismatch that shows only after another layer passes its output on, or only under a condition.

    ## References
    - [torch.nn](https://pytorch.org/docs/stable/nn.html)
    """

    code = "ML501"
    name = "width-mismatch"
    severity = Severity.ERROR
    about = ("torch.nn.Module",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for function, event, name in _constructor_calls(module, project):
            if name != "Sequential" and not event.handled and not event.value.has_unpacking:
                yield from self._check_division(function, event, name, project)
        told: dict[int, Misfit] = {}
        for misfit in _misfits(module, project):
            from .judged import is_same_mistake, severity_of

            severity = None if id(misfit.call.value) in told else severity_of(misfit, project)
            if severity is not None and not is_same_mistake(misfit, told.values()):
                told[id(misfit.call.value)] = misfit
                yield self._finding(misfit, severity)
        layers = {id(misfit.layer.made.value) for misfit in told.values()}
        for refused in queries.refused_operations(module, project):
            made = refused.layer
            if _is_of_another_file(refused):
                continue
            is_told = id(refused.site.value) in told or (made is not None and id(made.value) in layers)
            if refused.kind in ("features", "channels") and not is_told:
                yield from self._refused_finding(refused)

    def probe(self, claim: claims.Refused, project: Project) -> Probe:
        """Reach the call: does torch refuse it?"""
        from modellint.rule import called_probe, file_probe

        return file_probe(claim, claim.within) if claim.within else called_probe(claim, project)

    def _check_division(self, function: Function, event: Event, name: str, project: Project) -> Iterator[Finding]:
        """The findings about the constructor of a layer whose width cannot be divided as it says."""
        from .evaluator import Evaluator
        from .judged import remainder
        from .refusals import division_refusal
        from .sizes import Sizes
        from .table import DIVIDED

        evaluator = project.of(Evaluator)
        frame, sizes = evaluator.root(function), Sizes(evaluator)
        for arguments in DIVIDED[name]:
            width, parts = (sizes.size(event.value.argument(*one), frame) for one in arguments)
            severity = None if width is None or parts is None else remainder(width, parts, event)
            if width is not None and parts is not None and severity is not None:
                claim = division_refusal(function.module.place(event.value), arguments[1])
                yield self._division_finding(function, event.value, name, (width, parts), severity, claim)

    def _finding(self, misfit: Misfit, severity: Severity) -> Finding:
        from .refusals import refusal_of

        call, layer = misfit.call, misfit.layer
        owner = call.frame.function.owner
        module, made = call.frame.module, layer.made
        shown = f"`{layer.name}`"
        name = self_attribute(call.value.callee) if made.value is not call.value else None
        if name is not None:
            shown = f"`self.{name}`"
        related = []
        if made.value is not call.value:
            related.append(Related(made.frame.module.place(made.value), f"expects {misfit.taken.described} features"))
        maker = misfit.given.maker
        if maker is not None and maker.value is not call.value:
            place = maker.frame.module.place(maker.value)
            related.append(Related(place, f"its output has {misfit.given.size.described} features"))
        return self.finding(
            module.place(call.value),
            _message(shown, misfit.given.size, misfit.taken),
            symbol=f"{call.frame.function.qualname}.{name or layer.name}",
            confidence=Confidence.HIGH if severity is Severity.ERROR else Confidence.MEDIUM,
            severity=severity,
            evidence=(_evidence(misfit.given.size, misfit.taken),),
            related=related,
            help="make the widths agree",
            claim=refusal_of(misfit) if severity is not Severity.INFO else None,
            cause=f"{module.path} {owner.qualname} {misfit.given.size} {misfit.taken}" if owner is not None else "",
        )

    def _refused_finding(self, refused: queries.RefusedOperation) -> Iterator[Finding]:
        """The finding about a layer that refuses the shape it is given."""
        from .refused import fitting, made_related

        given, taken, made = refused.given, refused.taken, refused.layer
        site = refused.site
        assert site.function is not None
        if given is None or taken is None:
            return
        place = site.place
        related = list(made_related(refused))
        if made is not None and made.value is not site.value:
            related.append(Related(made.place, f"expects {taken.described} {refused.kind}"))
        fix, written = fitting(refused)
        yield self.finding(
            place,
            f"`{refused.name}` expects {taken.described} {refused.kind}, but gets {given.described}: "
            f"its input has shape `{refused.left}`",
            symbol=f"{site.function.qualname}.{site.name[:40]}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if refused.is_tried else Severity.WARNING if refused.is_open else Severity.ERROR,
            evidence=("the widths differ",),
            related=[*related, *(Related(step.place, "called from here") for step in refused.steps[-2:])],
            help=f"write `{written}`, which fits" if written else "make the widths agree",
            fix=fix,
            claim=claims.Refused(
                place, "RuntimeError or ValueError", "", refused.root, refused.numbers, refused.given_tensors
            )
            if site.value.op is Op.CALL
            else None,
        )

    def _division_finding(
        self,
        function: Function,
        call: Value,
        name: str,
        sizes: tuple[Size, Size],
        severity: Severity,
        claim: claims.Refused,
    ) -> Finding:
        width, parts = sizes
        return self.finding(
            function.module.place(call),
            f"`{name}` cannot divide {width.described} features by {parts.described}",
            symbol=f"{function.qualname}.{name}",
            confidence=Confidence.HIGH,
            severity=severity,
            evidence=("the constructor raises an error" + (" by default" if severity is not Severity.ERROR else ""),),
            help="choose a number that divides the width",
            claim=claim,
        )


def _is_of_another_file(refused: queries.RefusedOperation) -> bool:
    """True if both the layer and what decides the width that it gets are made in another file, which is told there."""
    deciding = [one.site.module for one in refused.made if str(refused.given) in one.sizes]
    home = None if refused.layer is None else refused.layer.module
    return home is not None and home is not refused.site.module and bool(deciding) and set(deciding) == {home}


def _methods(module: ModuleFacts, project: Project) -> Iterator[tuple[Class, Function]]:
    """The methods of a file's layers that call something, those of mixins as well."""
    from modellint.link.values.members import Members

    for cls in module.classes.values():
        if not cls.methods:
            continue
        is_layer = project.classes.model(cls).is_module
        if not is_layer and (is_layer is False or "forward" not in cls.methods):
            continue
        mixed = (owner for owner in project.of(Members).mro(cls) if not project.classes.model(owner).is_module)
        for owner in dict.fromkeys((cls, *(owner for owner in mixed if owner.module is module))):
            for method in owner.methods.values():
                if method.name != "__init__" and not method.is_static and not method.is_class_method:
                    yield cls, method


def _misfits(module: ModuleFacts, project: Project) -> Iterator[Misfit]:
    """The layers that are given another width than they take: neighbours first, then along methods."""
    from .evaluator import Evaluator

    made = [
        (function, event.value) for function, event, name in _constructor_calls(module, project) if name == "Sequential"
    ]
    methods = list(_methods(module, project))
    if not made and not methods:
        return
    from .evaluator import Instance
    from .meetings import Meetings

    meetings, evaluator = Meetings(project), project.of(Evaluator)
    for function, call in made:
        yield from meetings.neighbours(call, evaluator.root(function))
    receivers = {cls: Instance(cls) for cls, _ in methods}
    for cls, method in methods:
        yield from meetings.misfits(evaluator.method_frame(method, receivers[cls]))


def _constructor_calls(module: ModuleFacts, project: Project) -> Iterator[tuple[Function, Event, str]]:
    """The calls in a file that make a `Sequential`, or a layer whose width is divided, with its name in `torch.nn`."""
    from .table import DIVIDED

    for function in (*module.all_functions(), module.body):
        for event in function.flow.of(EventKind.CALL):
            callee = event.value.callee
            definition = project.names.definition(module, callee) if callee.op in (Op.ATTR, Op.GLOBAL) else None
            if isinstance(definition, External) and definition.name.startswith("torch.nn."):
                name = definition.name.removeprefix("torch.nn.")
                if name == "Sequential" or name in DIVIDED:
                    yield function, event, name


def _message(shown: str, given: Size, taken: Size) -> str:
    if _are_equal_by_default(given, taken):
        return f"{shown} expects {taken.described} features, and gets {given.described} only by default"
    return f"{shown} expects {taken.described} features, but gets {given.described}"


def _are_equal_by_default(given: Size, taken: Size) -> bool:
    return not (given - taken).constant and given.number is not None and given.number == taken.number


def _evidence(given: Size, taken: Size) -> str:
    if given.number is None and taken.number is None and (given - taken).constant is None:
        return "both layers go from one parameter to the other: swap the parameters of the second"
    if not _are_equal_by_default(given, taken):
        return "the widths differ" + ("" if (given - taken).constant or not (given - taken).symbols else " by default")
    return "the widths are equal only by default"
