"""ML502: a call whose arguments its callee does not take."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.flow import queries
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event
    from modellint.rule import Project

    from .values import RefusedValue


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A call, the definition that it reaches, and its arguments that do not fit.

    `torch` is the mismatch of a function, method or class that torch's signatures describe.
    """

    call: queries.Call
    target: queries.Reached
    misfits: tuple[queries.Misfit, ...]
    torch: queries.TorchMismatch | None = None
    refusals: tuple[queries.Refusal, ...] = ()

    @property
    def title(self) -> str:
        """The name of the callee in messages."""
        if self.torch is None:
            return self.target.name
        return self.torch.name.replace("torch.nn.functional.", "F.").replace("Tensor.", "", 1)

    @property
    def said_of_release(self) -> str:
        """The release of torch that refuses the call, if another one takes it: ` in torch 2.13.0`."""
        return f" in torch {self.torch.release}" if self.torch is not None and self.torch.release else ""

    @property
    def evidence_of_release(self) -> tuple[str, ...]:
        others = () if self.torch is None else self.torch.others
        return (
            (f"torch {' and '.join(others)} take{'s' * (len(others) == 1)} it, which the project excludes",)
            if others
            else ()
        )


#: What an argument is, and what a parameter takes, by the letters of the signatures.
_GIVEN = {
    "T": "a tensor",
    "C": "a tuple or list",
    "G": "an iterable of another kind",
    "i": "a whole number",
    "f": "a number with a fraction",
    "n": "a number",
    "s": "a text",
    "N": "`None`",
    "d": "a dtype",
    "Y": "a layer",
}
_WANTED = {
    "T": "a tensor",
    "L": "a tuple or list of tensors",
    "i": "a whole number",
    "I": "a tuple or list of numbers",
    "f": "a number",
    "b": "a bool",
    "s": "a text",
    "d": "a dtype",
    "v": "a device",
}
_ADVICE = {
    ("L", "T"): "put the tensors in a list: `[a, b]`",
    ("L", "G"): "make a list of it: `list(…)`",
    ("i", "f"): "divide with `//`, or round it with `int(…)`",
}
#: Conditions that ask what kind of thing a value is.
_ASKING = frozenset(("isinstance", "is_tensor", "type", "hasattr", "callable", "is_tracing", "is_scripting"))
#: The most calls through which a function is followed to the error that it raises.
_MAX_DEPTH = 2
#: Up to this many calls in a file that fail alike have a finding each.
_MOST = 3


class CallMismatch(Rule):
    """A call passes arguments that do not fit its callee

    ## What it does
    Compares a call with the definition that it reaches, if there is exactly one. It checks calls of functions, methods,
    constructors (also inherited ones), `super().m(…)` and layers. `self.encoder(x)` calls the layer's `forward`. Type
    checkers do not check such a call, because `nn.Module` declares its type as `Any`. Reports

    - a keyword argument that the callee does not have
    - a required parameter that gets no value
    - more positional arguments than parameters
    - a parameter that gets two values

    It compares calls of torch's functions (`torch.cat`, `F.softmax`), of methods of tensors and of constructors
    (optimizers, schedulers, loaders) with all overloads that torch has. There it also reports

    - an argument of a kind that no overload takes: `torch.cat(a, b)` without a list, `torch.zeros(3, n / 2)`,
      `torch.zeros(2, dtype="float32")`
    - a text that is none of those that torch knows, such as `padding="sam"` or `reduction="average"`
    - a padding of a max pooling that is more than half of its kernel

    modellint merges more than three calls in a file that fail in the same way into one finding. In tests,
    demonstrations and under `if __name__ == "__main__"`, the finding is an info.

    ## Why is this bad
    The call raises an error such as `TypeError: Encoder.forward() got an unexpected keyword argument 'masks'`. This can
    happen hours into training, or with an option that nobody has tried lately.

    ## How to fix
    Correct the argument's name, add the missing argument, or remove the unknown one. `--unsafe-fixes` corrects a
    misspelt name:

    ```python
    x = self.encoder(x, key_padding_mask=mask)  # not `key_pading_mask`
    ```

    ## What it cannot see
    - a function with a decorator that can change its signature, except decorators of torch and the standard library
      that keep it
    - functions that other code replaces at run time
    - dataclasses, and classes with `__new__` or a metaclass
    - a callee with `*args` and `**kwargs`, which takes anything
    - a name with several candidates, such as one in each branch of `try: import`
    - a callee that raises an error whatever it is given
    - what only another release of torch takes: the signatures are those of torch 2.13, 2.6 and 2.0, and names that its
      docstrings mention count as taken. The rule reports a call if each of these releases refuses it that the
      requirements of the project admit. It ignores calls under a condition that asks for a version
    - arguments of torch whose kind is known on some paths only

    modellint does not follow a relative import inside a function:

    ```python
    def extract(self):
        from .other import merge

        return merge(self.vocabulary)
    ```

    ## Confirming
    modellint imports the file, builds the object whose method the code calls, and lets Python bind the arguments to the
    callee's signature. If the signature takes any arguments, modellint calls the callee. If only a function knows the
    callee, modellint calls that function. For functions of torch, it calls the function around the call.

    ## References
    - [Python: calls](https://docs.python.org/3/reference/expressions.html#calls)
    - [torch](https://pytorch.org/docs/stable/torch.html)
    """

    code = "ML502"
    name = "call-mismatch"
    severity = Severity.ERROR
    requires = ("calls",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .values import refused_values

        alike: dict[object, list[Mismatch]] = {}
        for call in queries.flow(module, project).calls():
            found = _of_project(call) or _of_torch(call)
            if found is not None and (found.torch is not None or call.is_certain(found.target)):
                key = (found.target.name, found.target.function, found.misfits)
                alike.setdefault(key, []).append(found)
            elif found is None and (refused := refused_values(call)) is not None and not call.depends_on_release:
                yield self._of_value(call, refused)
        for group in alike.values():
            for some in [group] if len(group) > _MOST else [[one] for one in group]:
                if some[0].misfits:
                    yield self._finding(some)
                else:
                    yield from map(self._of_kind, some)

    def _finding(self, group: list[Mismatch]) -> Finding:
        found, *others = group
        module, call, reached = found.call.module, found.call.value, found.target
        first, *more = sorted(found.misfits, key=_rank)
        shown = f"`{found.title}`"
        if reached.attribute is not None and reached.name == "forward":
            shown = f"`self.{reached.attribute}`"
        place = _place(found, first)
        related = []
        if place.span.line > call.line:
            related.append(Related(module.place(call.callee), "the call"))
        if reached.function is not None:
            related.append(Related(reached.function.place, "defined here"))
        related += [Related(other.call.place, "here, too") for other in others]
        meant, callee = _intended_names(found), reached.function
        said = _message(shown, first, call.positional)
        return self.finding(
            place,
            said + found.said_of_release + (f", in {len(others)} more calls, too" if others else ""),
            symbol=f"{found.call.symbol}.{first.unknown or first.doubled or reached.name}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if found.call.is_tried_out else None,
            evidence=(
                *_signature_texts(shown, found),
                *(_message("it", other, call.positional) for other in more),
                *found.evidence_of_release,
                "the call raises `TypeError`",
            ),
            related=related,
            help=_advice(first, meant.get(first.unknown)),
            fix=_rename_fix(found, meant),
            cause=f"{callee.module.path} {callee.qualname} {said}" if callee is not None and not others else "",
            claim=claims.NotTaken(module.place(call), "TypeError", _error_words(first))
            if found.torch is None
            else claims.Refused(module.place(call), "TypeError", ""),
        )

    def _of_kind(self, found: Mismatch) -> Finding:
        """The finding of an argument of a kind that torch refuses."""
        call, refusal = found.call, found.refusals[0]
        place = edits.argument_place(call.value, refusal.position, refusal.keyword, call.module) or call.place
        given = _GIVEN.get(refusal.given, "a value of another kind")
        wanted = " or ".join(_WANTED[letter] for letter in refusal.taken if letter != "N")
        return self.finding(
            place,
            f"`{found.title}` takes {wanted} as `{refusal.parameter}`, but gets {given}{found.said_of_release}",
            symbol=f"{call.symbol}.{found.target.name}.{refusal.parameter}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=(
                *_signature_texts(f"`{found.title}`", found),
                *found.evidence_of_release,
                "the call raises `TypeError`",
            ),
            help=_ADVICE.get((refusal.taken, refusal.given), f"pass {wanted}"),
            claim=claims.Refused(call.place, "TypeError", ""),
        )

    def _of_value(self, call: queries.Call, refused: RefusedValue) -> Finding:
        """The finding of a text or number that torch refuses when it runs."""
        near = edits.get_close_matches(refused.text, refused.allowed, n=1, cutoff=0.6) if refused.allowed else []
        return self.finding(
            refused.place,
            refused.message,
            symbol=f"{call.symbol}.{refused.name}.{refused.parameter}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else None,
            evidence=(refused.evidence,),
            help=f'did you mean `"{near[0]}"`?' if near else refused.advice,
            claim=claims.Refused(call.place, "ValueError or RuntimeError or NotImplementedError or KeyError", "")
            if refused.is_raised_here
            else None,
        )


def _of_project(call: queries.Call) -> Mismatch | None:
    """The mismatch of a call whose target the project defines, or that is a layer of torch."""
    target = call.target
    misfits = () if target is None else tuple(call.misfits(target))
    if target is None or not misfits or _is_used_as_tensor(call, target) or _is_retired(target.function, call.project):
        return None
    return Mismatch(call, target, misfits)


def _is_retired(function: Function | None, project: Project, depth: int = 0) -> bool:
    """True if a function raises an error whatever it is given, itself or by what it calls, and never returns."""
    events = () if function is None or depth > _MAX_DEPTH else function.flow.events
    if any(event.kind in (EventKind.RETURN, EventKind.YIELD) for event in events):
        return False
    always = (event for event in events if event.guard is None and not event.loops and not event.handled)
    return any(
        event.kind is EventKind.RAISE or _is_retired(_called(event, function, project), project, depth + 1)
        for event in always
    )


def _called(event: Event, function: Function | None, project: Project) -> Function | None:
    """The function of the project that an event calls by its name; None for any other event."""
    if function is None or event.kind is not EventKind.CALL:
        return None
    return queries.named_function(event.value.callee, function.module, function.owner, project)


def _is_used_as_tensor(call: queries.Call, target: queries.Reached) -> bool:
    """True if a layer of torch is built with tensors instead of being called: ML511 tells that."""
    if not target.is_made or target.function is not None or not call.value.positional:
        return False
    returned = call.function.flow.of(EventKind.RETURN) if call.function.name == "forward" else ()
    return (
        any(event.value is call.value for event in returned)
        or next(queries.tensor_uses([call.result]), None) is not None
    )


def _of_torch(call: queries.Call) -> Mismatch | None:
    """The mismatch of a call of a function, method or class that torch's signatures describe."""
    found = None if call.target is not None else queries.torch_mismatch(call)
    if found is None or not _ASKING.isdisjoint(call.questions):
        return None
    if call.depends_on_release or call.is_expected_to_fail:
        return None
    refusals = tuple(one for one in found.unfit.refusals if not _is_told_elsewhere(found.name, one))
    if not found.unfit.misfits and not refusals:
        return None
    return Mismatch(call, found.target, found.unfit.misfits, found, refusals)


def _is_told_elsewhere(name: str, refusal: queries.Refusal) -> bool:
    """True for the tensor that a function takes first: ML509 tells what is given instead."""
    return refusal.parameter == "input" and name.startswith("torch.") and queries.takes_tensor(name)


def _signature_texts(shown: str, found: Mismatch) -> list[str]:
    """A line for each overload, the nearest first."""
    if found.torch is None:
        return [f"{shown} {_parameters_text(found.target.parameters)}"]
    nearest = found.torch.unfit.overload
    others = [one for one in found.torch.signature.overloads if one is not nearest]
    texts = dict.fromkeys(_parameters_text(one.parameters) for one in (nearest, *others))
    first, *more = list(texts)[:_MOST]
    return [f"{shown} {first}", *(f"or it {text}" for text in more)]


def _error_words(misfit: queries.Misfit) -> str:
    """A part of Python's error message for a misfit."""
    if misfit.unknown:
        return f"unexpected keyword argument '{misfit.unknown}'"
    if misfit.doubled:
        return f"multiple values for argument '{misfit.doubled}'"
    return "missing" if misfit.missing else "positional argument"


def _rank(misfit: queries.Misfit) -> int:
    """The order of misfits in a message: those that the call names, then those that it leaves out."""
    return 0 if misfit.unknown else 1 if misfit.doubled else 2 if misfit.missing else 3


def _intended_names(found: Mismatch) -> dict[str, str]:
    """The parameter for each unknown argument that is written much like it; the single missing for a single one."""
    names = [p.name for p in found.target.parameters if p.kind in ("positional", "keyword")]
    free = [name for name in names if name not in found.call.value.data]
    unknown = [misfit.unknown for misfit in found.misfits if misfit.unknown]
    missing = [name for misfit in found.misfits for name in misfit.missing]
    if len(unknown) == len(missing) == 1:
        return {unknown[0]: missing[0]}
    near = {name: edits.get_close_matches(name, free, n=1, cutoff=0.6) for name in unknown}
    return {name: matches[0] for name, matches in near.items() if matches}


def _place(found: Mismatch, misfit: queries.Misfit) -> Place:
    """The argument that does not fit; the call, where one is missing."""
    module, call = found.call.module, found.call.value
    name = misfit.unknown or misfit.doubled
    if name:
        return _keyword(found, name) or module.place(call.keywords[name])
    return module.place(call)


def _keyword(found: Mismatch, name: str) -> Place | None:
    """The place of an argument's name."""
    module, call = found.call.module, found.call.value
    node = edits.written(call, module)
    if not isinstance(node, ast.Call):
        return None
    for keyword in node.keywords:
        if keyword.arg == name:
            span = edits.place_in(call, keyword.value, module).span
            start = edits.place_in(call, ast.copy_location(ast.Constant(0), keyword), module).span
            if (start.line, start.column) < (span.line, span.column):
                return Place(module.path, Span(start.line, start.column, start.line, start.column + len(name)))
    return None


def _rename_fix(found: Mismatch, meant: dict[str, str]) -> Fix | None:
    changes = [
        (place, name)
        for unknown, name in meant.items()
        if edits.slip(unknown, [name]) is not None and (place := _keyword(found, unknown)) is not None
    ]
    if not changes or len(set(meant.values())) < len(meant):
        return None
    names = " and ".join(f"`{name}`" for _, name in changes)
    return Fix(f"Call it {names}", Applicability.UNSAFE, tuple(Edit(place, name) for place, name in changes))


def _message(shown: str, misfit: queries.Misfit, positional: tuple[object, ...]) -> str:
    if misfit.unknown:
        return f"{shown} takes no argument `{misfit.unknown}`"
    if misfit.doubled:
        return f"{shown} is given `{misfit.doubled}` by position, and again by name"
    if misfit.missing:
        return f"{shown} needs " + " and ".join(f"`{missing}`" for missing in misfit.missing)
    arguments = "argument" if misfit.most == 1 else "arguments"
    return f"{shown} takes at most {misfit.most} {arguments} by position, not {len(positional)}"


def _parameters_text(parameters: tuple[object, ...]) -> str:
    stars = {"var-positional": "*", "var-keyword": "**"}
    names = [f"`{stars.get(p.kind, '')}{p.name}`" for p in parameters]  # type: ignore[attr-defined]
    return "takes " + (", ".join(names) if names else "no arguments")


def _advice(misfit: queries.Misfit, meant: str | None) -> str:
    if meant is not None:
        return f"did you mean `{meant}`?"
    if misfit.unknown or misfit.doubled:
        return f"remove `{misfit.unknown or misfit.doubled}`"
    return (
        "add the missing argument" + "s" * (len(misfit.missing) > 1) if misfit.missing else "remove the extra arguments"
    )
