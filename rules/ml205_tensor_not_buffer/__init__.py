"""ML205: a tensor that stays behind when its layer moves to another device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.graph.value import Op
from modellint.rule import Rule, file_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Probe, Project

    from .statistics import Statistics
    from .stranded import Stranded

_REGISTER_FIRST = 'register it in the constructor: `self.register_buffer("{}", None, persistent=False)`'
#: Methods of `nn.Module` that switch a layer's mode.
_SWITCHES = frozenset(("train", "eval"))


class TensorNotBuffer(Rule):
    """A tensor in a plain attribute does not move with its layer

    ## What it does
    Reports tensors that a layer makes in `__init__` and keeps as plain attributes, if `forward` computes with them and
    its input, or with them and a parameter, and nothing moves them: no `.to(…)`, no `type_as`, no `device=`. Also
    reports tensors that the constructor gets as arguments (by annotation, by documentation, or because the file passes
    new ones) and tensors that it takes from a dataset or another layer.

    A result of an operation on a parameter or buffer (`self.weight.T`, `self.scale / 2`) does not move, either, and
    neither does a buffer in a plain list: the layer gets a new tensor in its place.

    It is an info if

    - a method makes the tensor in a call and keeps it for the next one (`self.mask = …` behind a test of its size), or
      `train` or `eval` makes it: it fails only if the layer moves after that call
    - the caller or the constructor may have put the tensor on the right device (`.to("cuda")`)
    - code elsewhere sets an attribute that may be None to a statistic of its data, such as the mean of all targets
    - the object is not a layer (but a loss, metric or kernel), and gets the output of layers

    ## Why is this bad
    `model.to("cuda")` moves parameters and buffers, and nothing else. The tensor stays on the CPU, and the first batch
    on a GPU fails with `Expected all tensors to be on the same device`. The state dict does not hold the tensor either.

    ## How to fix
    Register the tensor as a buffer. With `persistent=False`, the state dict does not change:

    ```python
    self.register_buffer("window", window, persistent=False)
    ```

    ## References
    - [torch.nn.Module.register_buffer](https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer)
    """

    code = "ML205"
    name = "tensor-not-buffer"
    severity = Severity.WARNING
    requires = (
        "given_values",
        "holders",
        "layers_of",
        "may_store_tensor",
        "object",
        "objects_below",
        "tensors_given",
        "unregistered_tensors",
    )
    about = ("torch.Tensor",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .statistics import statistics_set
        from .stranded import stranded

        told: set[int] = set()
        for found in stranded(module, project):
            told.add(id(found.target))
            yield self._report(found)
        for one in statistics_set(module, project):
            if id(one.target) not in told:
                yield self._report_statistics(one)

    def probe(self, claim: claims.LeftBehind, project: Project) -> Probe | None:
        """Move the layer to a device that is not there, and call it: does its tensor meet one that has moved?"""
        return file_probe(claim, claim.owner)

    def _report(self, found: Stranded) -> Finding:

        module = found.function.module
        name, met = found.attribute, found.best_meeting
        text = None if met.other is None else met.function.module.text_of(met.other)
        other = "a tensor that has moved" if text is None else f"`{_short(text)}`"
        return self.finding(
            module.place(found.target),
            f"`self.{name}` is a plain tensor: {_why(found)}, and it cannot be used with {other}",
            symbol=f"{found.cls.name}.{name}",
            confidence=Confidence.MEDIUM if found.is_certain else Confidence.LOW,
            severity=Severity.INFO if found.is_placed else None,
            evidence=tuple(_evidence(found)),
            related=tuple(_related(found)),
            help=_help(found),
            fix=_register_empty_fix(found) if found.is_cached else _register_fix(found),
            claim=claims.LeftBehind(
                module.place(found.target), found.cls.qualname, name, met.function.module.place(met.value)
            ),
        )

    def _report_statistics(self, found: Statistics) -> Finding:
        given = found.given
        by = "the module" if given.function is None else f"`{given.function.qualname}`"
        behind = "it does not move, and no checkpoint holds it"
        return self.finding(
            found.cls.module.place(found.target),
            f"`self.{found.attribute}` is a plain tensor that {by} sets: {behind}",
            symbol=f"{found.cls.name}.{found.attribute}",
            confidence=Confidence.MEDIUM,
            severity=Severity.INFO,
            evidence=(f"`{given.module.text_of(given.value)}` is computed of data, which a loaded model does not see",),
            related=(Related(given.place, "the attribute is set here"),),
            help=_REGISTER_FIRST.format(found.attribute).replace(", persistent=False", ""),
        )


def _help(found: Stranded) -> str:
    if found.is_cached:
        return _REGISTER_FIRST.format(found.attribute)
    before = "" if found.is_layer else f"make `{found.cls.name}` an `nn.Module`, and "
    before += "compute it where it is used, or " if found.made.is_derived else ""
    return f'{before}register it: `self.register_buffer("{found.attribute}", …)`'


def _why(found: Stranded) -> str:
    if found.is_cached:
        return "it stays behind when the layer moves after a call"
    if found.is_layer:
        return "it stays behind when the layer moves"
    return f"`{found.cls.name}` is no `nn.Module`, so nothing moves it"


def _related(found: Stranded) -> Iterator[Related]:
    met, made = found.best_meeting, found.made
    yield Related(met.function.module.place(met.value), f"`{met.function.name}` uses it here")
    if found.is_cached:
        return
    if made.function is not None:
        is_made = made.maker.op is Op.CALL or made.is_derived
        said = "the tensor is made here" if is_made else "it is declared as a tensor here"
        yield Related(made.function.module.place(made.maker), said)


def _evidence(found: Stranded) -> Iterator[str]:
    made = found.made
    if found.is_cached:
        when = "it is called" if found.function.name in _SWITCHES else "a test of the kept one asks for it"
        yield f"`{found.function.name}` makes a new one only if {when}"
    elif made.function is not None and made.maker.op is Op.CALL and made.maker.callee.data == "register_buffer":
        yield "it is a buffer: when its layer moves, it gets a new tensor, and the old one stays here"
    elif made.is_derived:
        yield "it is computed once, and stays on that device when what it is computed from moves"
    elif made.function is not None and made.maker.op is not Op.CALL:
        yield "the caller passes the tensor, and `.to()` moves only parameters and buffers"
    elif made.function is not None:
        maker = made.function.module.text_of(made.maker.callee)
        where = "puts it on a device of its own choice" if found.is_placed else "leaves it on the default device"
        yield f"`{maker}` makes a tensor, the constructor {where}, and `.to()` moves only parameters and buffers"
    users = dict.fromkeys(f"`{meeting.function.name}`" for meeting in found.meetings)
    yield f"it is used with tensors on the layer's device in {', '.join(users)}, and nothing moves it there"
    if not found.is_certain:
        yield "a condition or a device given by the caller may change that"


def _register_fix(found: Stranded) -> Fix | None:
    """Register the tensor in place of the assignment; the state dict stays as it is."""
    place = _assignment(found.target, found.function.module) if found.can_register else None
    if place is None:
        return None
    return _buffer(found, place[0], edits.text_at(place[1], found.function.module))


def _register_empty_fix(found: Stranded) -> Fix | None:
    """Register the attribute that the constructor sets to None: `self.mask = None`."""
    empty = found.empty
    if empty is None or empty.target is None or empty.function is None:
        return None
    place = _assignment(empty.target, empty.function.module)
    return None if place is None else _buffer(found, place[0], "None")


def _buffer(found: Stranded, place: Place, written: str) -> Fix:
    call = f'self.register_buffer("{found.attribute}", {written}, persistent=False)'
    return Fix(f"Register `{found.attribute}` as a buffer", Applicability.SAFE, (Edit(place, call),))


def _assignment(target: Value, module: ModuleFacts) -> tuple[Place, Place] | None:
    """The place of `target = value`, and of its value; None where an annotation or a parenthesis is between them."""
    stored = edits.assigned(target, module)
    if stored is None:
        return None
    _, written = stored
    start, end = module.span(target), written.span
    if edits.plain_text(edits.text_at(Place(module.path, _between(start, end)), module)).strip() != "=":
        return None
    return Place(module.path, Span(start.line, start.column, end.end_line, end.end_column)), written


def _between(first: Span, second: Span) -> Span:
    return Span(first.end_line, first.end_column, second.line, second.column)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
