"""ML402: a tag names a class, function or module that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Confidence, Finding, Place, Related, Severity
from modellint.graph.recipe import Dialect
from modellint.link.recipes import queries
from modellint.rule import Rule, any_of, file_probe, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.rule import Probe, Project


#: The method by which files register classes, and the most such files that are imported to look for a name.
_REGISTER = "register_module"
_MOST_FILES = 50


class UnresolvableClass(Rule):
    """A tag names a class, function or module that does not exist

    ## What it does
    Looks up the names in `!new:`, `!name:`, `!apply:`, `!applyref:` and `!module:` as HyperPyYAML does, but imports
    nothing. It looks in the project, beside the script that loads the recipe, in the packages of the project's
    interpreter, and in modellint's own tables of `torch`, `speechbrain`, Lightning, `torchmetrics`, `torchvision`,
    `timm`, `transformers`, `torchtune`, MMEngine, Hydra and OmegaConf. Follows re-exports, `import *`, lazy imports and
    redirected modules.

    In configurations of OpenMMLab, it looks `type=` up among the names that `register_module` registers in the project,
    and then as a path. A name that is registered nowhere is reported if a registered one is close and no other file
    uses it: other packages register names, too. An object that the class around it does not build counts for nothing.

    Reports a name that is sure not to exist, and a name of the wrong kind: `!new:` takes a class, `!apply:` a function,
    `!module:` a module. In plain configurations (Hydra, OmegaConf, torchtune), `_target_:` or `_component_:` takes a
    class or a function. In latent-diffusion style, it reports names under `target:` only if something builds them, and
    mappings without `target:` that something builds.

    In configurations of LightningCLI and jsonargparse, it looks up `class_path:`, paths that stand for an object or a
    class, and names without dots among the classes that are imported with the expected one.

    modellint knows several releases of each library, and looks in those that the project's requirements allow: for a
    release between two known ones, in both. Without a requirement, it looks in the newest releases, and a name that
    only earlier releases have is a warning. The warning lists those releases, and the new name if there is one.

    ## Why is this bad
    When HyperPyYAML loads the recipe, it raises `ImportError: There is no such class as …`. For the other tags, the
    message says `callable`, `entity` or `module` instead of `class`. For a name of the wrong kind, it raises
    `ValueError`. Hydra raises `InstantiationException`. jsonargparse refuses the configuration, and keeps a mapping as
    it is where a parameter takes anything.

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
    requires = (
        *("dialect", "faults", "is_for_earlier", "registering_files", "requirement", "tags"),
        *("misspelt_targets", "untargeted_mappings"),
    )
    takes_configs = True

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        asked = queries.about(recipe, project)
        for fault in asked.faults(queries.FaultKind.UNRESOLVED):
            yield self._unimportable(fault, asked.dialect)
        for tagged in () if asked.dialect.is_typed else asked.tags():
            target = tagged.target
            if tagged.is_refused:
                yield self._misfit(tagged, recipe, project)
            elif target.kind is queries.TargetKind.MISSING:
                near = edits.get_close_matches(target.missing, sorted(target.available), n=3, cutoff=0.7)
                if near or target.is_sure:
                    yield self._missing(tagged, recipe, near, project)
        for place, key in asked.misspelt_targets():
            target_key = asked.dialect.writing.target
            yield self.finding(
                place,
                f"`{key}` names no class to build, as `{target_key}` does",
                symbol=key,
                confidence=Confidence.HIGH,
                evidence=(asked.dialect.untargeted,),
                help=f"did you mean `{target_key}`?",
            )
        for place, path, names in queries.about(recipe, project).untargeted_mappings():
            yield self._unnamed_finding(place, path, names, queries.about(recipe, project).dialect)

    def probe(self, claim: claims.NotMade | claims.NotLocated | claims.NoClassNamed, project: Project) -> Probe | None:
        """Load the recipe with HyperPyYAML, and make the tag's object; locate the name, or look it up in registries."""
        return recipe_probe(claim, project) if isinstance(claim, claims.NotMade) else file_probe(claim)

    def _missing(self, bad: queries.TaggedItem, recipe: Recipe, near: list[str], project: Project) -> Finding:
        target, tag = bad.target, bad.item.node.tag
        sure = target.is_sure and (near or not target.package)
        dialect = queries.about(recipe, project).dialect
        is_registered = recipe.dialect is Dialect.OPENMMLAB and not target.owner
        evidence = [dialect.unlocated if dialect.is_plain else f"HyperPyYAML raises `ImportError` for `{tag.text}`"]
        if target.releases:
            evidence.append(f"looked up in {target.package} " + " and ".join(target.releases))
        evidence += _other_releases(bad, project)
        wanted = queries.about(recipe, project).requirement(target.package) if target.others else None
        has_alternatives = bool(target.others) and (wanted is None or not wanted.is_particular)
        return self.finding(
            recipe.place(tag.span),
            f"`{target.owner}` has no `{target.missing}`"
            if target.owner
            else f"no class is registered as `{target.missing}`"
            if is_registered
            else f"there is no package `{target.missing}`",
            symbol=tag.target,
            severity=Severity.WARNING if has_alternatives else Severity.ERROR,
            confidence=Confidence.HIGH if sure else Confidence.MEDIUM,
            evidence=evidence,
            help=_help(target, near),
            claim=_claim(bad, recipe, project),
            cause=f"{target.owner}.{target.missing} {target.moved}",
        )

    def _unimportable(self, fault: queries.Fault, dialect: queries.Description) -> Finding:
        is_short = not fault.class_path
        evidence = [_KEPT if fault.is_kept else dialect.unlocated]
        if fault.releases:
            evidence.append(f"looked up in {fault.releases}")
        known = "no imported class of the expected type is called" if is_short else f"`{fault.owner}` has no"
        known = known if is_short or fault.owner else "there is no package"
        return self.finding(
            fault.place,
            f"{known} `{fault.name}`",
            symbol=fault.class_path or fault.name,
            severity=Severity.WARNING if fault.is_kept else Severity.ERROR,
            confidence=Confidence.HIGH if fault.near else Confidence.MEDIUM,
            evidence=evidence,
            help=f"did you mean {any_of(fault.near)}?" if fault.near else "correct the name",
            claim=None if is_short else claims.NotLocated(fault.place, fault.class_path),
            cause=f"{fault.owner}.{fault.name}",
        )

    def _unnamed_finding(
        self, place: Place, path: str, names: tuple[str, ...], dialect: queries.Description
    ) -> Finding:
        target = dialect.writing.target
        near = edits.get_close_matches(target, names, n=1, cutoff=0.6)
        return self.finding(
            place,
            f"`{path}` is built, but has no key `{target}`",
            symbol=path,
            confidence=Confidence.HIGH,
            evidence=(dialect.untargeted,),
            help=f"is `{near[0]}` meant to be `{target}`?" if near else f"name the class under `{target}`",
        )

    def _misfit(self, bad: queries.TaggedItem, recipe: Recipe, project: Project) -> Finding:
        dialect = queries.about(recipe, project).dialect
        written, kind, place = bad.item.node.tag, bad.target.kind.value, bad.target.place
        tag = written.kind.value
        key = written.text if dialect.is_plain else tag
        return self.finding(
            recipe.place(written.span),
            f"`{key}:` takes {_WANTED[tag]}, and `{written.target}` is {kind}",
            symbol=written.target,
            confidence=Confidence.HIGH,
            evidence=(
                dialect.unlocated if dialect.is_plain else f"HyperPyYAML raises `ValueError` for `{written.text}`",
            ),
            related=(Related(place, "defined here"),) if place is not None else (),
            help=_advice(tag, kind),
            claim=_claim(bad, recipe, project),
            cause=written.text,
        )


def _claim(
    bad: queries.TaggedItem, recipe: Recipe, project: Project
) -> claims.NotMade | claims.NotLocated | claims.NoClassNamed | None:
    tag, asked = bad.item.node.tag, queries.about(recipe, project)
    place = recipe.place(tag.span)
    if recipe.dialect is Dialect.OPENMMLAB and not bad.target.owner:
        files = tuple(path.as_posix() for path in asked.registering_files((_REGISTER,)))
        return claims.NoClassNamed(place, tag.target, files) if len(files) <= _MOST_FILES else None
    if asked.dialect.is_plain:
        return claims.NotLocated(place, tag.target, bad.target.package, bad.target.releases)
    return claims.NotMade(place, bad.item.top, tag.target, "")


def _other_releases(bad: queries.TaggedItem, project: Project) -> Iterator[str]:
    """Evidence about other releases that have the name, and why they do not count."""
    target, asked = bad.target, queries.about(bad.item.recipe, project)
    if not target.others:
        return
    yield f"{target.package} {target.others} has the name"
    wanted = asked.requirement(target.package)
    if wanted is not None and wanted.is_particular:
        yield f"`{wanted.origin.name}` asks for other releases"
    elif asked.is_for_earlier(target.package):
        yield f"the project asks for no release; going by the names in the recipe, it needs one of {target.others}"
    else:
        yield "the project asks for no release, so modellint takes the newest ones"


def _help(target: queries.ResolvedName, near: list[str]) -> str:
    if target.moved:
        return f"it moved to `{target.moved}`"
    if target.others and not near:
        return f"correct the name, or ask for {target.package} {target.others}"
    return f"did you mean {any_of(near)}?" if near else "correct the name"


_KEPT = "the parameter takes anything, so jsonargparse passes the mapping instead of an object"
_WANTED = {
    "target": "a class or function",
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
