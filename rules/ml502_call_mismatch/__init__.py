"""ML502: a call whose arguments its callee does not take."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.rule import Rule
from modellint.similar import get_close_matches
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.link.calls.fitting import Mismatch
    from modellint.link.classes.signatures import Misfit
    from modellint.link.project import Project


class CallMismatch(Rule):
    """A call passes arguments that its callee does not take, or leaves out some that it needs

    ## What it does
    Compares calls with the definition that they reach, where that is one for certain: functions, methods, constructors
    through the bases of a class, `super().m(…)`, and layers that are called (`self.encoder(x)` is its `forward`; `nn`
    types their calls as `Any`, so no type checker looks at them). Reports names that the callee does not know,
    parameters without a value, more positional arguments than there are parameters, and parameters that get two values.

    In tests, demonstrations and under `if __name__ == "__main__"` it is an info.

    ## Why is this bad
    `TypeError` when the call is reached, which may be hours into a training or in an option that nobody tried lately.

    ## How to fix
    Correct the argument's name, add what is missing, or take out what the callee does not know. `--unsafe-fixes`
    renames an argument to the parameter that is written alike.

    ## What it cannot see
    What decorators make of a function is not known, unless torch or the standard library keep its signature; neither
    are functions that something else replaces while the program runs, dataclasses, and classes with `__new__` or a
    metaclass. `*args` and `**kwargs` of the callee take anything. A definition that has several candidates, one in each
    branch of an import, is none.

    ## Confirming
    Not run: whether Python refuses a call follows from its signature alone.

    ## References
    - [Python: calls](https://docs.python.org/3/reference/expressions.html#calls)
    """

    code = "ML502"
    name = "call-mismatch"
    severity = Severity.ERROR
    preview = True

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.calls.fitting import mismatches

        for mismatch in mismatches(module, project):
            for misfit in mismatch.misfits:
                yield self._finding(mismatch, misfit, project)

    def _finding(self, found: Mismatch, misfit: Misfit, project: Project) -> Finding:
        from modellint.link.calls.doubts import is_tried_out

        module, call, reached = found.function.module, found.call, found.reached
        names = [p.name for p in reached.parameters if p.kind in ("positional", "keyword")]
        free = [name for name in names if name not in call.data]
        near = get_close_matches(misfit.unknown, free, n=1, cutoff=0.6) if misfit.unknown else []
        shown = f"`{reached.name}`"
        if reached.attribute is not None and reached.name == "forward":
            shown = f"`self.{reached.attribute}`"
        place = _place(found, misfit)
        related = []
        if place.span.line > call.line:
            related.append(Related(module.place(call.callee), "the call"))
        if reached.function is not None:
            related.append(Related(reached.function.place, "defined here"))
        return self.finding(
            place,
            _message(shown, misfit, call.positional),
            symbol=f"{found.function.qualname}.{misfit.unknown or misfit.doubled or reached.name}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if is_tried_out(project, found.function, found.event) else None,
            evidence=(f"{shown} {_described(reached.parameters)}", "the call raises `TypeError`"),
            related=related,
            help=_advice(misfit, near),
            fix=_renamed(found, misfit, near, module),
        )


def _place(found: Mismatch, misfit: Misfit) -> Place:
    """The argument that does not fit; the call, where one is missing."""
    module, call = found.function.module, found.call
    name = misfit.unknown or misfit.doubled
    if name:
        return _keyword(found, name) or module.place(call.keywords[name])
    return module.place(call)


def _keyword(found: Mismatch, name: str) -> Place | None:
    """Where the name of an argument is written."""
    from modellint.edits.python import place_in, written

    module, call = found.function.module, found.call
    node = written(call, module)
    if not isinstance(node, ast.Call):
        return None
    for keyword in node.keywords:
        if keyword.arg == name:
            span = place_in(call, keyword.value, module).span
            start = place_in(call, ast.copy_location(ast.Constant(0), keyword), module).span
            if (start.line, start.column) < (span.line, span.column):
                return Place(module.path, Span(start.line, start.column, start.line, start.column + len(name)))
    return None


def _renamed(found: Mismatch, misfit: Misfit, near: list[str], module: ModuleFacts) -> Fix | None:
    place = _keyword(found, misfit.unknown) if near else None
    if place is None:
        return None
    return Fix(f"Call it `{near[0]}`", Applicability.UNSAFE, (Edit(place, near[0]),))


def _message(shown: str, misfit: Misfit, positional: tuple[object, ...]) -> str:
    if misfit.unknown:
        return f"{shown} takes no argument `{misfit.unknown}`"
    if misfit.doubled:
        return f"{shown} is given `{misfit.doubled}` by position, and again by name"
    if misfit.missing:
        return f"{shown} needs " + " and ".join(f"`{missing}`" for missing in misfit.missing)
    arguments = "argument" if misfit.most == 1 else "arguments"
    return f"{shown} takes at most {misfit.most} {arguments} by position, not {len(positional)}"


def _described(parameters: tuple[object, ...]) -> str:
    stars = {"var-positional": "*", "var-keyword": "**"}
    names = [f"`{stars.get(p.kind, '')}{p.name}`" for p in parameters]  # type: ignore[attr-defined]
    return "takes " + (", ".join(names) if names else "no arguments")


def _advice(misfit: Misfit, near: list[str]) -> str:
    if near:
        return f"did you mean `{near[0]}`?"
    if misfit.unknown or misfit.doubled:
        return f"remove `{misfit.unknown or misfit.doubled}`"
    return "add what is missing" if misfit.missing else "remove what is too much"
