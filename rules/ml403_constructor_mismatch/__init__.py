"""ML403: arguments in a recipe that the class or function does not take."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.recipe import Dialect, TagKind
from modellint.link.recipes import queries
from modellint.rule import Rule, file_probe, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.graph.recipe import Recipe
    from modellint.rule import Probe, Project

    from .calls import BadCall

#: The number of mistakes in one call that have a finding each.
_MOST = 3
#: The similarity from which on an unknown name is a missing one with a slip.
_SLIP = 0.8


class ConstructorMismatch(Rule):
    """A recipe passes arguments that do not fit the callee

    ## What it does
    Compares the arguments under `!new:`, `!apply:` and `!applyref:` with the parameters of the class or function.
    Looks the callee up in the project's source, in the packages of its interpreter, or in modellint's own tables of
    `torch`, `speechbrain` and other libraries (ML402 names them), and follows inheritance. `*args` and `**kwargs` take
    anything. The tables know where a library passes `**kwargs` on, and what takes them in the end.

    Code may pass more arguments to the result of `!name:`. There, modellint reports only arguments that the callee can
    never take.

    modellint knows several releases of a library, and accepts an argument that one of them takes. If the project pins
    a release, only that one counts. If it asks for none, every release counts, of `speechbrain` those that have the
    names in the recipe.

    More than three wrong arguments in a call are one finding: the recipe probably means another class or release.

    In plain configurations, the same holds under `_target_:`. If a program with `hydra.main` passes the object, or one
    around it, to `hydra.utils.instantiate`, the arguments of that call count, too, and missing arguments are reported.
    Other programs may remove arguments before they build the object, so an unknown argument has low confidence, unless
    its name is close to that of a missing one.

    In configurations of OpenMMLab, it compares the arguments of a `dict(type=…)`, inherited ones included, with the
    class that is registered under that name. Arguments of the old class that stay when a file changes `type` without
    `_delete_=True` are unknown arguments of the new one. Missing arguments are reported where the class around the
    object, or a program, passes it to `build` as it is.

    In configurations of LightningCLI and jsonargparse, each argument is compared with the annotation of its parameter,
    as jsonargparse parses it: a key that the class or group does not take (`**kwargs` are followed to the functions
    that they are passed on to), a missing argument that neither a link nor the command line nor another file gives, a
    key beside `class_path`, an empty `init_args`, a class that does not derive from the annotated one, and a value of
    another type. A mapping for a parameter that takes anything is a warning.

    The same holds for the arguments beside `_component_:` if a program of torchtune builds the object, and for those
    under `params:` in latent-diffusion style, if a script or a class builds it. If a constructor passes `**kwargs` on
    to a base class only, the arguments of that class count.

    ## Why is this bad
    HyperPyYAML raises `TypeError: ('Invalid argument to class torch.nn.Linear', …)` when it loads the recipe. Under
    `!name:`, the call raises `TypeError`, perhaps after hours of training. jsonargparse refuses the configuration, but
    silently keeps the mapping instead of an object where a parameter takes anything.

    ## How to fix
    Correct the argument's name, add the missing argument, or remove the unknown one:

    ```yaml
    head: !new:torch.nn.Linear
        in_features: 256  # not `input_size`
        out_features: 10
    ```

    ## References
    - [HyperPyYAML, objects and functions](https://github.com/speechbrain/HyperPyYAML#objects-and-functions)
    - [LightningCLI](https://lightning.ai/docs/pytorch/stable/cli/lightning_cli.html)
    - [jsonargparse, class types](https://jsonargparse.readthedocs.io/en/stable/#class-type-and-sub-classes)
    """

    code = "ML403"
    name = "constructor-mismatch"
    severity = Severity.ERROR
    requires = (
        *("constructor", "dialect", "faults", "folders", "instantiation", "is_given_by_choosers", "is_taken_out"),
        *("loaders", "tags", "unpacked_calls", "untyped_mappings"),
    )
    takes_configs = True

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from .calls import bad_calls
        from .parsed import refused_values

        for refused in refused_values(recipe, project):
            yield self.finding(
                refused.fault.place,
                refused.message,
                symbol=refused.symbol,
                severity=Severity.WARNING if refused.fault.is_kept else Severity.ERROR,
                confidence=Confidence.MEDIUM if refused.fault.is_kept else Confidence.HIGH,
                evidence=refused.evidence,
                related=(Related(refused.fault.defined, "defined here"),) if refused.fault.defined is not None else (),
                help=refused.advice,
                claim=refused.claim,
                cause=f"{refused.fault.class_path}: {refused.message}",
            )
        for bad in bad_calls(recipe, project):
            dialect = queries.about(recipe, project).dialect
            found = [self._finding(bad, misfit, dialect) for misfit in _mistakes(bad.misfits)]
            is_many = len(found) > _MOST and all(finding.confidence > Confidence.LOW for finding in found)
            yield from [_join_findings(*found)] if is_many else found
        for call in queries.about(recipe, project).unpacked_calls():
            yield from (self._unpacked_finding(call, misfit) for misfit in call.misfits)
        for item, owner in queries.about(recipe, project).untyped_mappings:
            own = next((one for one in item.fields.values() if one.recipe is recipe), item)
            yield self.finding(
                (item if item.recipe is recipe else own).place,
                f"`{owner}` builds `{item.name}`, which has no `type`",
                symbol=item.path,
                confidence=Confidence.HIGH,
                evidence=("the registry raises `KeyError`: `cfg` must contain the key `type`",),
                help="add the `type` of the object",
            )

    def _unpacked_finding(self, call: queries.UnpackedCall, misfit: queries.Misfit) -> Finding:
        parameters = call.target.signatures[0]
        wanted = [one.name for one in parameters if one.name not in call.names]
        near = edits.get_close_matches(misfit.unknown, wanted, n=1, cutoff=0.75)
        name = call.callee.rpartition(".")[2]
        return self.finding(
            call.keys.get(misfit.unknown, call.place),
            _message(name, misfit, call.positional),
            symbol=misfit.unknown or call.path,
            confidence=Confidence.HIGH,
            evidence=(f"`{call.callee}` gets the entries of `{call.path}` by `**`", _parameters_text(parameters)),
            related=(Related(call.call, "called here"),),
            help=f"did you mean `{near[0]}`?" if near else _advice(misfit, None),
        )

    def probe(self, claim: claims.NotMade | claims.NotCalled | claims.NotParsed, project: Project) -> Probe | None:
        """Load the recipe with HyperPyYAML, and make the tag's object; let jsonargparse parse arguments."""
        is_plain = isinstance(claim, claims.NotCalled | claims.NotParsed)
        return file_probe(claim) if is_plain else recipe_probe(claim, project)

    def _finding(self, bad: BadCall, misfit: queries.Misfit, dialect: queries.Description) -> Finding:
        target, tag = bad.target, bad.item.node.tag
        name = tag.target.rpartition(".")[2]
        parameters = target.signatures[0]
        is_plain = tag.kind is TagKind.TARGET
        wanted = [p.name for p in parameters if not (is_plain and p.name in bad.item.fields)]
        near = edits.get_close_matches(misfit.unknown, wanted, n=1, cutoff=0.75 if is_plain else 0.6)
        later = is_plain or tag.kind is TagKind.NAME
        evidence = [
            ("calling it" if later else "loading the recipe") + " raises `TypeError`",
            _parameters_text(parameters),
        ]
        if target.releases:
            evidence.append(f"looked up in {target.package} " + " and ".join(target.releases))
        if target.is_guessed:
            evidence.append("the project asks for no release; going by the names in the recipe, it needs one of these")
        confidence = Confidence.HIGH if near or not target.package or misfit.missing else Confidence.MEDIUM
        claim: claims.NotMade | claims.NotCalled | None = _claim(bad, misfit)
        if not dialect.is_strict and misfit.unknown and not near and not bad.is_built:
            confidence, claim = Confidence.LOW, None  # the program may take it out before it builds the object
        message = _message(name, misfit, len(bad.item.elements))
        left = bad.inherited_place(misfit)
        return self.finding(
            bad.place(misfit),
            message,
            symbol=misfit.unknown or bad.item.path or name,
            confidence=confidence,
            evidence=evidence,
            related=(
                *((Related(target.place, "defined here"),) if target.place is not None else ()),
                *((Related(left, "inherited from here"),) if left is not None else ()),
            ),
            help=_REPLACE
            if left is not None
            else f"did you mean `{near[0]}`?"
            if near
            else _advice(misfit, bad.probable_argument(misfit)),
            claim=claim,
            cause=f"{tag.target}: {message}",
        )


_REPLACE = "add `_delete_=True` to replace the inherited object, or remove the argument from it"


def _mistakes(misfits: Sequence[queries.Misfit]) -> Iterator[queries.Misfit]:
    """The misfits, each mistake once: a parameter is not missing as well where its name is misspelt."""
    unknown = [misfit.unknown for misfit in misfits if misfit.unknown]
    for misfit in misfits:
        written = [edits.get_close_matches(name, unknown, n=1, cutoff=_SLIP) for name in misfit.missing]
        if not written or not all(written):
            yield misfit


def _join_findings(first: Finding, *others: Finding) -> Finding:
    """One finding for a call with many misfits: another class is meant, or another release."""
    return replace(
        first,
        confidence=max(finding.confidence for finding in (first, *others)),
        message=f"{first.message}, and {len(others)} more arguments do not fit",
        related=(*first.related, *(Related(other.place, other.message) for other in others)),
        help="name the class that takes these arguments, or correct them",
        cause=" ".join((first.cause, *(other.message for other in others))),
    )


def _claim(bad: BadCall, misfit: queries.Misfit) -> claims.NotMade | claims.NotCalled | None:
    item, tag = bad.item, bad.item.node.tag
    if tag.kind is TagKind.TARGET:
        target = bad.target
        name = target.definition or (tag.target if item.recipe.dialect is not Dialect.OPENMMLAB else "")
        releases = target.package, target.releases
        return claims.NotCalled(bad.place(misfit), name, *bad.given, bad.is_final, *releases) if name else None
    first = next(one for one in bad.misfits if bad.place(one) == bad.place(misfit))  # whose error hides the others
    says = first.unknown or first.doubled or (*first.missing, "")[0]
    return claims.NotMade(item.recipe.place(tag.span), item.top, tag.target, says)


def _message(name: str, misfit: queries.Misfit, given: int) -> str:
    if misfit.unknown:
        return f"`{name}` takes no argument `{misfit.unknown}`"
    if misfit.missing:
        return f"`{name}` needs " + " and ".join(f"`{missing}`" for missing in misfit.missing)
    if misfit.doubled:
        return f"`{name}` is given `{misfit.doubled}` by position, and again by name"
    arguments = "argument" if misfit.most == 1 else "arguments"
    return f"`{name}` takes at most {misfit.most} {arguments} by position, not {given}"


def _parameters_text(parameters: queries.Parameters) -> str:
    stars = {"var-positional": "*", "var-keyword": "**"}
    names = [f"`{stars.get(p.kind, '')}{p.name}`" for p in parameters]
    return "it takes " + (", ".join(names) if names else "no arguments")


def _advice(misfit: queries.Misfit, meant: str | None) -> str:
    if misfit.unknown:
        return f"remove `{misfit.unknown}`"
    if misfit.doubled:
        return f"remove one `{misfit.doubled}`"
    if meant is not None:
        return f"did you misspell the missing argument as `{meant}`?"
    return (
        "add the missing argument" + "s" * (len(misfit.missing) > 1) if misfit.missing else "pass the arguments by name"
    )
