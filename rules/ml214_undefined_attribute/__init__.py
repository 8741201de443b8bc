"""ML214: an attribute of a layer, a part or a wrapped model that is read, and that nothing sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from modellint.flow import queries
from modellint.graph.arguments import bind_call
from modellint.graph.value import EventKind, Op
from modellint.rule import Rule, called_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.link.recipes import queries as recipes
    from modellint.rule import Project

    from .behind_modules import BehindWrapper
    from .local_variables import LocalVariable
    from .partly import Partly
    from .parts import Missing
    from .too_early import TooEarly
    from .undefined import Undefined

#: The longest source that a message shows.
_MAX_SHOWN = 40


class UndefinedAttribute(Rule):
    """Code reads an attribute of a layer that nothing sets

    ## What it does
    Reports reads of `self.x` in layers if nothing sets, defines or registers `x`: no class of the hierarchy, no
    subclass, no other base of a subclass, and no code outside the class. Reports only classes whose bases can all be
    read.

    Also reports

    - an attribute that the constructor sets in one branch only, and that `forward` or the constructor reads in any
      case. The default of a parameter must select another branch, or the code must spell one out (`elif`, `else`)
    - an attribute that one method alone sets, after it has read it
    - `self.encoder.x` and `model.x`, if the object certainly is of a class of the project, and nothing sets `x` there
    - a method or attribute of the wrapped model that `nn.DataParallel` and `DistributedDataParallel` do not have
      (`model.encode(x)`), `hasattr` that asks a wrapper for one, and `.module` of a model that is not wrapped
    - a local variable of the constructor, such as a layer, that another method calls by its name
    - an attribute of a SpeechBrain Brain that only other releases have than the one that the project asks for (a
      warning if it asks for none: then the newest release counts)
    - an attribute of an entry of a Brain's `self.modules` that learns, in a script that sets up distributed training:
      several processes wrap the entries in `DistributedDataParallel` (a warning)

    It is an error on a line that each call reaches. It is a warning for an attribute that is set in one branch, for
    `hasattr`, for an argument of a function, and for a read behind a condition, in a method that is called only behind
    conditions, in `__repr__` or in an error message. It is an info in tests and demonstrations, in methods that nothing
    calls, and in classes with a decorator that cannot be read.

    ## Why is this bad
    The line raises `AttributeError: 'Model' object has no attribute 'x'`. The name is misspelt, the method was copied
    from another class, an argument was never stored, the base no longer has the method, or a wrapper stands around the
    object. `hasattr` then hides the mistake: the code behind it never runs.

    ## How to fix
    Read the attribute that you meant, or set it in the constructor:

    ```python
    def __init__(self, width):
        super().__init__()
        self.width = width
    ```

    `--unsafe-fixes` corrects a misspelt name if the call fits the method, and adds `.module` behind a wrapper.

    ## What it cannot see
    Attributes that only one path through the constructor sets, if nothing shows that another path is taken, or a base
    or subclass sets them too. Classes with a base that cannot be read, with `__getattr__`, or whose attributes come
    from `setattr` with computed names. Objects that may be of several classes, or that other code replaces. Projects
    of more than 4,000 files, which are not searched for code that sets attributes.

    ```python
    if kind == "a":
        self.proj = nn.Linear(width, width)  # and `forward` reads it: is there another kind than "a"?
    ```

    ## Confirming
    A run builds the class and calls the method. The error that Python raises is the verdict. If no call reaches the
    line, the object that was built has no such attribute. A run does not show that nothing sets it from outside.

    ## References
    - [torch.nn.Module](https://pytorch.org/docs/stable/generated/torch.nn.Module.html)
    """

    code = "ML214"
    name = "undefined-attribute"
    severity = Severity.ERROR
    about = ("torch.nn.Module",)
    probe = staticmethod(called_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .undefined import undefined_reads

        seen: set[tuple[str, str]] = set()
        for found in undefined_reads(module, project):
            if (found.cls.qualname, found.name) not in seen:
                seen.add((found.cls.qualname, found.name))
                yield self._finding(found, project)
        from .partly import partly_set

        for partly in partly_set(module, project):
            yield self._partly_finding(partly, project)
        from .too_early import read_too_early

        for early in read_too_early(module, project):
            yield self._early_finding(early, project)
        from .parts import missing_of_others

        for missing in missing_of_others(module, project):
            yield self._missing_finding(missing, project)
        from .behind_modules import read_behind_wrappers

        for behind in read_behind_wrappers(module, project):
            yield self._behind_finding(behind)
        if "speechbrain" in module.text:
            from modellint.link.recipes import queries as recipes

            for cls in module.classes.values():
                for foreign in recipes.foreign_members(cls, project):
                    yield self._foreign_finding(foreign)
        from .local_variables import read_as_global

        for local in read_as_global(module, project):
            yield self._local_finding(local, project)

    def _partly_finding(self, found: Partly, project: Project) -> Finding:
        """The finding about an attribute that is set on one side of a condition only."""

        is_read = queries.family(found.cls, project).is_read
        module, name, cls = found.function.module, found.name, found.cls
        side = f"the default of `{found.by_default}` leaves it unset" if found.by_default else "another branch does not"
        return self.finding(
            _place_of_name(module.place(found.event.value), name),
            f"`self.{name}` is read, but set only under a condition",
            symbol=f"{cls.name}.{name}",
            confidence=Confidence.HIGH,
            severity=Severity.WARNING if is_read else Severity.INFO,
            evidence=(f"the constructor sets it on one side of a condition: {side}", *([] if is_read else [_UNREAD])),
            related=(Related(module.place(found.stored.target or found.stored.value), "set here"),),
            help="set it on every path through the constructor",
            claim=claims.NotSet(module.place(found.event.value), cls.qualname, name),
        )

    def _early_finding(self, found: TooEarly, project: Project) -> Finding:
        """The finding about an attribute that a method reads before it sets it, where nothing else does."""
        module, name, cls = found.function.module, found.name, found.cls
        is_read = queries.family(cls, project).is_read
        place = module.place(found.value)
        return self.finding(
            _place_of_name(place, name),
            f"`self.{name}` is read before anything sets it",
            symbol=f"{cls.name}.{name}",
            confidence=Confidence.HIGH,
            severity=_severity(found, project) if is_read else Severity.INFO,
            evidence=(
                f"only `{found.function.name}` sets it, and only after this line",
                *([] if is_read else [_UNREAD]),
            ),
            related=(Related(module.place(found.stored.target or found.stored.value), "set here"),),
            help="set it in the constructor, before this method is called",
            claim=claims.Refused(place, "AttributeError", name),
        )

    def _local_finding(self, found: LocalVariable, project: Project) -> Finding:
        """The finding about a layer in a local variable of the constructor, which another method reads."""
        module, name = found.function.module, found.name
        made = found.cls.module.place(found.made)
        call = queries.Call(found.event, found.function, project)
        return self.finding(
            module.place(found.value),
            f"`{name}` is a local variable of the constructor, and not defined here",
            symbol=f"{found.cls.name}.{name}",
            confidence=Confidence.HIGH,
            severity=Severity.INFO if call.is_tried_out else Severity.WARNING if found.event.guard else None,
            evidence=("no global variable has this name",),
            related=(Related(made, "its value is made here, and lost when the constructor ends"),),
            help=f"store it as `self.{name}`, and read that",
            claim=claims.Refused(module.place(found.value), "NameError", name),
        )

    def _foreign_finding(self, found: recipes.ForeignMember) -> Finding:
        """The finding about an attribute of a Brain that another release has."""
        module, name = found.function.module, found.name
        is_guarded = found.event.guard is not None or found.event.handled
        asked = "asked for" if found.is_asked_for else "the newest that is known; no file asks for another"
        return self.finding(
            _place_of_name(module.place(found.event.value), name),
            f"the Brain of SpeechBrain {found.release} has no `{name}`: {_span(found)}",
            symbol=f"{found.function.qualname}.{name}",
            confidence=Confidence.HIGH,
            severity=Severity.WARNING if is_guarded or not found.is_asked_for else None,
            evidence=(f"SpeechBrain {found.release} is {asked}", "no class of the project sets it"),
            help="use what this release has in its place, or require the other one",
        )

    def _behind_finding(self, found: BehindWrapper) -> Finding:
        """The finding about an attribute of an entry of a Brain's `modules`, which a wrapper hides."""
        module, is_asked = found.function.module, found.value.op is Op.CALL
        place = module.place(found.value)
        lacks = f"`self.modules.{found.entry}` is a `DistributedDataParallel`, which has no attribute `{found.name}`"
        return self.finding(
            place if is_asked else _place_of_name(place, found.name),
            f"with several processes {'`hasattr` is false: ' if is_asked else ''}{lacks}",
            symbol=f"{found.function.qualname}.{found.name}",
            confidence=Confidence.HIGH,
            severity=Severity.WARNING,
            evidence=(
                "the script sets up distributed training, which wraps the entries of `self.modules` that learn",
                "a `DistributedDataParallel` gives the attributes of torch's layers, and its own",
            ),
            related=(Related(found.root.place, "the entry is here"),),
            help="read it of the object that the recipe makes, `self.hparams`, or of `module` of the wrapper",
        )

    def _missing_finding(self, found: Missing, project: Project) -> Finding:
        """The finding about an attribute of another object than `self`: of a part, a model, or a wrapper."""
        module, name, thing = found.function.module, found.name, found.thing
        place = module.place(found.value)
        wrapper = thing.wrapper.rpartition(".")[2]
        owner = found.value.args[1] if found.is_asked else found.value.args[0]
        written = edits.text_at(place, module)
        text = written.partition("(")[2].partition(",")[0] if found.is_asked else written.removesuffix(f".{name}")
        shown = f"`{text}`" if len(text) <= _MAX_SHOWN and "\n" not in text else "this"
        has_name = thing.cls is not None and not found.is_asked
        near = edits.get_close_matches(name, found.known, n=1, cutoff=0.8)
        if thing.wrapper:
            message = f"{shown} is a `{wrapper}`, which has no attribute `{name}`"
            help_text = f"the wrapped model is its `module`: `{text}.module.{name}`"
        else:
            assert thing.cls is not None
            message = f"{shown} is a `{thing.cls.name}`, and nothing sets its attribute `{name}`"
            help_text = f"did you mean `{near[0]}`?" if near else "set it in the constructor, or read another attribute"
        if found.is_asked:
            message = f"`hasattr` is always false: {message}"
        is_tried_out = queries.Call(found.event, found.function, project).is_tried_out
        is_certain = found.event.guard is None and owner.op is not Op.PARAM and not found.is_asked
        severity = Severity.INFO if is_tried_out else Severity.ERROR if is_certain else Severity.WARNING
        return self.finding(
            place if found.is_asked else _place_of_name(place, name),
            message,
            symbol=f"{found.function.qualname}.{name}",
            confidence=Confidence.HIGH,
            severity=severity,
            evidence=(f"a `{wrapper}` gives the attributes of torch's layers, and its own",) if thing.wrapper else (),
            related=(Related(thing.made.place, "it is made here"),),
            help=help_text,
            fix=_module_fix(place, name) if shown.strip("`") == text and thing.wrapper and has_name else None,
            claim=None if found.is_asked else claims.Refused(place, "AttributeError", name),
        )

    def _finding(self, found: Undefined, project: Project) -> Finding:

        module, name, cls = found.function.module, found.name, found.cls
        near = edits.get_close_matches(name, [one for one in found.known if one != name], n=1, cutoff=0.8)
        constructor = cls.methods.get("__init__")
        is_argument = constructor is not None and constructor.parameter(name) is not None
        evidence = [f"no class in the hierarchy of `{cls.name}` sets it, and no other code does"]
        if near:
            evidence.append(f"there is `{near[0]}`")
        if is_argument:
            evidence.append(f"the constructor takes `{name}`, but does not store it")
        from .local_variables import local_variables

        if name in local_variables(cls):
            evidence.append(f"the constructor assigns a local variable `{name}`, which ends with it")
        is_read = queries.family(cls, project).is_read
        if not is_read:
            evidence.append(_UNREAD)
        place = module.place(found.value)
        spot = _place_of_name(place, name)
        meant = edits.slip(name, found.known) if near else None
        return self.finding(
            spot,
            f"`self.{name}` is read, but nothing sets it",
            symbol=f"{cls.name}.{name}",
            confidence=Confidence.HIGH,
            severity=_severity(found, project) if is_read else Severity.INFO,
            evidence=evidence,
            related=(Related(cls.place, "the class"),),
            help=f"did you mean `self.{near[0]}`?" if near else "set it in the constructor, or read another attribute",
            fix=_rename_fix(spot, meant) if meant is not None and _fits(found, meant, project) else None,
            claim=claims.NotSet(place, cls.qualname, name),
        )


#: Evidence where a class decorator, here or on a base, is of a library that is not at hand.
_UNREAD = "a decorator of the class, or of a base, cannot be read: it may set it"


def _span(found: recipes.ForeignMember) -> str:
    """Which releases have the attribute."""
    if found.first == found.last:
        return f"only {found.first} has it"
    return f"releases {found.first} to {found.last} have it"


def _severity(found: Undefined | TooEarly, project: Project) -> Severity:
    from .undefined import ENTERED, is_called, is_named_elsewhere, is_reached_at_once

    function = found.function
    if function.name not in ENTERED and not (is_called(function, project) and is_named_elsewhere(found.cls, project)):
        return Severity.INFO
    is_message = any(
        event.kind is EventKind.RAISE and any(part is found.value for part in event.value.walk())
        for event in function.flow.events
    )
    prints = function.name in ("__repr__", "__str__", "extra_repr")
    if is_message or prints or found.event.guard is not None or found.value.op is not Op.ATTR:
        return Severity.WARNING
    return Severity.ERROR if is_reached_at_once(function, found.cls, project) else Severity.WARNING


def _place_of_name(place: Place, name: str) -> Place:
    """The place of an attribute's name, at the end of the place that reads it."""
    span = place.span
    return Place(place.path, Span(span.end_line, span.end_column - len(name), span.end_line, span.end_column))


def _fits(found: Undefined, meant: str, project: Project) -> bool:
    """True if `meant` can be read instead: a method only where it is called, with arguments that it takes."""
    flow = found.function.flow
    calls = [event.value for event in flow.of(EventKind.CALL) if event.value.callee is found.value]
    method = project.classes.model(found.cls).method(meant)
    if method is None or method.is_property:
        # One of several is no container, nor is a container one of them.
        parts = (event.value.args[0] for event in flow.of(EventKind.INDEX))
        turns = (iterable for loop in flow.loops for _, iterable in loop.turns)
        is_number = {meant, found.name} in ({meant, f"{meant}s"}, {found.name, f"{found.name}s"})
        return not (is_number and (calls or any(value is found.value for value in (*parts, *turns))))
    return bool(calls) and not any(
        call.has_unpacking or bind_call(method.open_parameters, call).misfits for call in calls
    )


def _module_fix(place: Place, name: str) -> Fix:
    """`.module` behind a wrapper, of which the place reads an attribute."""
    span = place.span
    column = span.end_column - len(name) - 1
    spot = Place(place.path, Span(span.end_line, column, span.end_line, column))
    return Fix("Ask the wrapped model", Applicability.UNSAFE, (Edit(spot, ".module"),))


def _rename_fix(place: Place, near: str) -> Fix:
    return Fix(f"Read `self.{near}`", Applicability.UNSAFE, (Edit(place, near),))
