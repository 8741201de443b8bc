"""ML402: a tag names a class, function or module that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.recipe import Dialect
from modellint.rule import Rule, any_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.link.recipes.targets import BadTarget, ResolvedName
    from modellint.rule import Probe, Project


class UnresolvableClass(Rule):
    """A tag names a class, function or module that does not exist

    ## What it does
    Looks up the names in `!new:`, `!name:`, `!apply:`, `!applyref:` and `!module:` as HyperPyYAML does, but imports
    nothing. It looks in the project, beside the script that loads the recipe, in the packages of the project's
    interpreter, and in modellint's own tables of `torch` and `speechbrain`. Follows re-exports, `import *`, lazy
    imports and redirected modules.

    Reports a name that is sure not to exist, and a name of the wrong kind: `!new:` takes a class, `!apply:` a function,
    `!module:` a module. In plain configurations (Hydra, OmegaConf), `_target_:` takes a class or a function.

    For `speechbrain`, modellint looks in the releases (0.5 and later) that the project's requirements allow. Without a
    requirement, it looks in the newest releases, and a name that only earlier releases have is a warning. The warning
    lists those releases, and the new name if there is one.

    ## Why is this bad
    When HyperPyYAML loads the recipe, it raises `ImportError: There is no such class as …`. For the other tags, the
    message says `callable`, `entity` or `module` instead of `class`. For a name of the wrong kind, it raises
    `ValueError`. Hydra raises `InstantiationException`.

    ## How to fix
    Correct the name. For a function, use `!apply:` for its result or `!name:` for the function itself:

    ```yaml
    loss: !name:torch.nn.functional.cross_entropy
    ```

    ## What it cannot see
    Names in a package that modellint does not know, and in a module that creates names at run time.

    ## References
    - [HyperPyYAML, objects and functions](https://github.com/speechbrain/HyperPyYAML#objects-and-functions)
    """

    code = "ML402"
    name = "unresolvable-class"
    severity = Severity.ERROR
    takes_configs = True

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.targets import TargetKind, bad_targets

        for bad in bad_targets(recipe, project):
            if bad.target.kind is not TargetKind.MISSING:
                yield self._misfit(bad, recipe)
                continue
            near = edits.get_close_matches(bad.target.missing, sorted(bad.target.available), n=3, cutoff=0.7)
            if near or bad.target.is_sure:
                yield self._missing(bad, recipe, near, project)

    def probe(self, claim: claims.NotMade | claims.NotLocated, project: Project) -> Probe | None:
        """Load the recipe with HyperPyYAML, and make the tag's object; locate the name in `_target_`."""
        from modellint.rule import file_probe, recipe_probe

        return file_probe(claim) if isinstance(claim, claims.NotLocated) else recipe_probe(claim, project)

    def _missing(self, bad: BadTarget, recipe: Recipe, near: list[str], project: Project) -> Finding:
        from modellint.link.requirements import required

        target = bad.target
        sure = target.is_sure and (near or not target.package)
        is_plain = recipe.dialect is Dialect.OMEGACONF
        evidence = [_LOCATING if is_plain else f"HyperPyYAML raises `ImportError` for `{bad.node.tag.text}`"]
        if target.releases:
            evidence.append(f"looked up in {target.package} " + " and ".join(target.releases))
        evidence += _other_releases(bad, project)
        wanted = required(target.package, project) if target.others else None
        has_alternatives = bool(target.others) and (wanted is None or not wanted.is_particular)
        return self.finding(
            recipe.place(bad.node.tag.span),
            f"`{target.owner}` has no `{target.missing}`"
            if target.owner
            else f"there is no package `{target.missing}`",
            symbol=bad.name,
            severity=Severity.WARNING if has_alternatives else Severity.ERROR,
            confidence=Confidence.HIGH if sure else Confidence.MEDIUM,
            evidence=evidence,
            help=_help(target, near),
            claim=_claim(bad, recipe),
            cause=f"{target.owner}.{target.missing} {target.moved}",
        )

    def _misfit(self, bad: BadTarget, recipe: Recipe) -> Finding:
        tag, what = bad.node.tag.kind.value, bad.target.kind.value
        place = bad.target.place
        return self.finding(
            recipe.place(bad.node.tag.span),
            f"`{tag}:` takes {_WANTED[tag]}, and `{bad.name}` is {what}",
            symbol=bad.name,
            confidence=Confidence.HIGH,
            evidence=(
                _LOCATING
                if recipe.dialect is Dialect.OMEGACONF
                else f"HyperPyYAML raises `ValueError` for `{bad.node.tag.text}`",
            ),
            related=(Related(place, "defined here"),) if place is not None else (),
            help=_advice(tag, what),
            claim=_claim(bad, recipe),
            cause=bad.node.tag.text,
        )


def _claim(bad: BadTarget, recipe: Recipe) -> claims.NotMade | claims.NotLocated:

    place = recipe.place(bad.node.tag.span)
    if recipe.dialect is Dialect.OMEGACONF:
        return claims.NotLocated(place, bad.name)
    return claims.NotMade(place, bad.item.top, bad.name, "")


def _other_releases(bad: BadTarget, project: Project) -> Iterator[str]:
    """Evidence about other releases that have the name, and why they do not count."""
    from modellint.link.recipes.eras import is_for_earlier
    from modellint.link.requirements import required

    target = bad.target
    if not target.others:
        return
    yield f"{target.package} {target.others} has the name"
    wanted = required(target.package, project)
    if wanted is not None and wanted.is_particular:
        yield f"`{wanted.origin.name}` asks for other releases"
    elif is_for_earlier(bad.item.recipe, target.package, project):
        yield f"the project asks for no release; going by the names in the recipe, it needs one of {target.others}"
    else:
        yield "the project asks for no release, so modellint takes the newest ones"


def _help(target: ResolvedName, near: list[str]) -> str:
    if target.moved:
        return f"it moved to `{target.moved}`"
    if target.others and not near:
        return f"correct the name, or ask for {target.package} {target.others}"
    return f"did you mean {any_of(near)}?" if near else "correct the name"


_LOCATING = "Hydra raises `InstantiationException` when it is instantiated"
_WANTED = {
    "_target_": "a class or function",
    "!new": "a class",
    "!apply": "a function",
    "!applyref": "a function",
    "!module": "a module",
    "!name": "a class or function",
}


def _advice(tag: str, what: str) -> str:
    if what == "a function":
        return "use `!apply:` for what the function returns, `!name:` for the function itself"
    if what == "a class":
        return "use `!new:` for an object of the class, `!name:` for the class itself"
    return "add the name of a class or function in the module"
