"""ML409: an entry of a defaults list that Hydra cannot compose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from modellint import claims, edits
from modellint.finding import Confidence, Finding, Severity
from modellint.graph.recipe import Dialect
from modellint.link.recipes import queries
from modellint.rule import Rule, any_of, file_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.rule import Probe, Project

#: A package that is declared behind another comment, where Hydra does not look for it.
_LATE = re.compile(r"(?:\s*#[^\n]*\n)*\s*#(?!\s*@)[^\n]*\n(?:\s*#[^\n]*\n)*?\s*#\s*@package\b")
_BY_KEY = frozenset(("LIST_AND_MAPPING", "NO_FIELD", "NO_VALUE"))
_BY_PACKAGE = frozenset(("NO_FILE", "NO_CHOICE"))
_HEAD = "Hydra reads `# @package` only above all other comments, so this file has the package of its group"
#: The most names that a finding lists.
_MOST_NAMES = 8


class MissingGroup(Rule):
    """A configuration cannot be composed

    ## What it does
    Composes the configurations of each program that has `@hydra.main`, or `hydra.initialize` with `hydra.compose`, as
    Hydra 1.1 to 1.3 do it: the primary configuration, and each other file of its search path with that file chosen.
    Reports

    - an entry that no file, and no name in a `ConfigStore`, answers; entries with `optional` may have none
    - an `override` of a group that no entry chooses
    - an entry after an `override`, two entries that choose different files of one group, and a file that chooses itself
    - an entry by an interpolation of a group that no entry chooses
    - a list that is merged with a mapping
    - a key of the node `hydra` that Hydra does not have
    - a key, or the type of a value, that a dataclass in the `ConfigStore` does not have
    - a folder in `config_path`, or a configuration in `config_name`, that does not exist: a warning, as `--config-path`
      and `--config-name` may give others

    If the search path has places that only a run knows (`pkg://`, plugins), or names are stored under variables, the
    entries that no file answers are not reported.

    For a configuration of OpenMMLab, reports a file in `_base_` (or in `with read_base():`) that does not exist, and a
    dict that is merged into an inherited value that is none.

    ## Why is this bad
    Hydra raises `MissingConfigException` or `ConfigCompositionException` before the program starts. In one of many
    experiments, a renamed file stays unnoticed until somebody chooses it.

    ## How to fix
    Correct the name, or add the file. In an experiment, a group of the top begins with `/`:

    ```yaml
    # @package _global_
    defaults:
      - override /model: resnet
    ```

    ## References
    - [Hydra, the defaults list](https://hydra.cc/docs/advanced/defaults_list/)
    """

    code = "ML409"
    name = "missing-group"
    severity = Severity.ERROR
    requires = ("command", "refusals", "unmet_programs")
    takes_configs = True

    def probe(self, claim: claims.NotComposed | claims.NotLoaded, project: Project) -> Probe:
        """Compose the configuration with Hydra, or load it with mmengine."""
        return file_probe(claim)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for app in queries.script(module, project).unmet_programs:
            place = app.places[0 if app.written else 1]
            path = app.script.parent / app.written if app.written or app.folder is None else app.folder
            help = "correct `config_path`, which is relative to this file" if app.written else "correct `config_name`"
            what = f"the folder `{app.written}`" if app.written else f"the configuration `{app.name}.yaml`"
            yield self.finding(
                place,
                f"{what} does not exist",
                symbol=app.written or str(app.name),
                severity=Severity.WARNING,  # the command line may name another one
                confidence=Confidence.HIGH,
                evidence=("Hydra looks for it from the folder of the script, and raises `MissingConfigException`",),
                help=help,
                claim=claims.NotComposed(place, path.as_posix(), app.name, (), app.written or app.name)
                if app.name
                else None,
            )

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        has_late_package = _LATE.match(recipe.source.text) is not None
        asked = queries.about(recipe, project)
        for refusal in asked.refusals():
            if refusal.trouble.name not in _WORDS:
                continue
            told = _WORDS[refusal.trouble.name](refusal)
            is_late = refusal.trouble.name in _BY_PACKAGE and has_late_package
            yield self.finding(
                refusal.place,
                told.message,
                symbol=refusal.text if refusal.trouble.name in _BY_KEY else refusal.wanted or refusal.text,
                confidence=Confidence.HIGH,
                evidence=(told.evidence, *((_HEAD,) if is_late else ())),
                help="move `# @package` above the other comments" if is_late else told.help,
                claim=_claim(refusal, asked.command, recipe.dialect),
            )
            if is_late:
                return  # the other entries fail for the same reason


def _claim(
    refusal: queries.Refusal, command: tuple[str, str, tuple[str, ...], str] | None, dialect: Dialect
) -> claims.NotComposed | claims.NotLoaded | None:
    place = refusal.place
    if dialect is Dialect.OPENMMLAB:
        if refusal.trouble.name == "NO_BASE":
            return claims.NotLoaded(place, "", refusal.text.removesuffix(".py").replace(".", "/").rpartition("/")[2])
        return claims.NotLoaded(place, f"modellint_{place.span.line}_{place.span.column}", refusal.text)
    if command is None:
        return None
    folder, name, arguments, script = command
    return claims.NotComposed(place, folder, name, arguments, _word(refusal), script)


def _word(refusal: queries.Refusal) -> str:
    """A word that the error names, if it names any."""
    if refusal.trouble.name in ("NO_FILE", "NO_CHOICE", "NO_NODE", "UNKNOWN_KEY"):
        return refusal.text if refusal.trouble.name == "NO_NODE" else refusal.wanted
    return refusal.text if refusal.trouble.name in ("NO_FIELD", "NO_VALUE") else ""


class _Told(NamedTuple):
    message: str
    evidence: str
    help: str


_REFUSED = "Hydra raises `ConfigCompositionException` when it composes the configuration"


def _no_file(refusal: queries.Refusal) -> _Told:
    group, _, name = refusal.wanted.rpartition("/")
    near = edits.get_close_matches(name, refusal.available, n=3, cutoff=0.6)
    listed = ", ".join(f"`{one}`" for one in refusal.available[:_MOST_NAMES])
    help = f"did you mean {any_of(near)}?" if near else f"`{group or '.'}/` has {listed}" if listed else "add the file"
    return _Told(
        f"`{refusal.text}` chooses `{refusal.wanted}.yaml`, which is not in the search path",
        "Hydra raises `MissingConfigException` when it composes the configuration",
        help,
    )


def _no_choice(refusal: queries.Refusal) -> _Told:
    message = f"`override {refusal.text}` changes no entry: nothing chooses `{refusal.wanted}`"
    if refusal.available:
        meant = any_of([f"/{key}" for key in refusal.available[:3]])
        return _Told(message, _REFUSED, f"did you mean to override {meant}?")
    return _Told(message, _REFUSED, "leave `override` out, or let an entry choose the group first")


def _override_early(refusal: queries.Refusal) -> _Told:
    message = f"`override {refusal.text}` stands before the entry `{refusal.wanted}`"
    return _Told(message, _REFUSED, "move overrides to the end of the defaults list")


def _chosen_twice(refusal: queries.Refusal) -> _Told:
    if not refusal.available:
        return _Told(f"`{refusal.wanted}` is in the defaults list twice", _REFUSED, "remove one of the two")
    message = f"`{refusal.text}` and another entry choose different files for `{refusal.wanted}`"
    return _Told(message, _REFUSED, f"the other one chooses `{refusal.available[0]}`; write `override` to change it")


def _unknown_key(refusal: queries.Refusal) -> _Told:
    near = edits.get_close_matches(refusal.wanted, refusal.available, n=1, cutoff=0.6)
    message = f"`{refusal.text}` names `{refusal.wanted}`, a group that no entry chooses"
    known = ", ".join(f"`{key}`" for key in refusal.available[:_MOST_NAMES])
    return _Told(message, _REFUSED, f"did you mean `{near[0]}`?" if near else f"entries choose {known or 'no group'}")


def _malformed(refusal: queries.Refusal) -> _Told:
    evidence = "Hydra raises an error when it reads the defaults list"
    if refusal.text == "defaults":
        return _Told("`defaults` is no list", evidence, "write a list of entries, or remove the key")
    return _Told("this is no entry of a defaults list", evidence, "write `group: name`, or the name of a file")


def _cycle(refusal: queries.Refusal) -> _Told:
    evidence = "Hydra follows the entries without end, and raises `RecursionError`"
    return _Told(f"`{refusal.text}` chooses `{refusal.wanted}.yaml` again, within itself", evidence, "remove the entry")


def _list_and_mapping(refusal: queries.Refusal) -> _Told:
    evidence = "OmegaConf raises `ConfigTypeError: Cannot merge DictConfig with ListConfig`"
    return _Told(
        f"`{refusal.text}` is a list in one file and a mapping in another, `{refusal.wanted}`",
        evidence,
        "make both of one kind",
    )


def _no_node(refusal: queries.Refusal) -> _Told:
    near = edits.get_close_matches(refusal.text, refusal.available, n=1, cutoff=0.6)
    known = ", ".join(f"`{key}`" for key in refusal.available[:_MOST_NAMES])
    evidence = "Hydra's own node is structured: it raises `ConfigKeyError` when it composes the configuration"
    return _Told(
        f"Hydra's `{refusal.wanted}` has no key `{refusal.text}`",
        evidence,
        f"did you mean `{near[0]}`?" if near else f"it has {known}",
    )


def _no_base(refusal: queries.Refusal) -> _Told:
    near = edits.get_close_matches(refusal.wanted, refusal.available, n=3, cutoff=0.6)
    return _Told(
        f"`{refusal.text}`, which this file inherits, does not exist",
        "`Config.fromfile` looks for it from the folder of this file, and raises `FileNotFoundError`",
        f"did you mean {any_of(near)}?" if near else "correct the path",
    )


def _no_mapping(refusal: queries.Refusal) -> _Told:
    return _Told(
        f"`{refusal.text}` is a dict here, and {refusal.available[0]} in `{refusal.wanted}`, which it is merged into",
        "`Config.fromfile` merges a dict only into a dict, and raises `TypeError`",
        "add `_delete_=True` to replace the inherited value",
    )


def _no_field(refusal: queries.Refusal) -> _Told:
    near = edits.get_close_matches(refusal.text, refusal.available, n=1, cutoff=0.6)
    known = ", ".join(f"`{key}`" for key in refusal.available[:_MOST_NAMES])
    return _Told(
        f"`{refusal.wanted}`, which this is merged into, has no field `{refusal.text}`",
        "OmegaConf raises `ConfigKeyError` when Hydra composes the configuration",
        f"did you mean `{near[0]}`?" if near else f"it has {known}",
    )


def _no_value(refusal: queries.Refusal) -> _Told:
    wanted = "".join(refusal.available)
    return _Told(
        f"the field `{refusal.text}` of `{refusal.wanted}` takes no such value: it is of type `{wanted}`",
        "OmegaConf raises `ValidationError` when Hydra composes the configuration",
        f"give it a value of type `{wanted}`",
    )


_WORDS = {
    "NO_FILE": _no_file,
    "NO_CHOICE": _no_choice,
    "OVERRIDE_EARLY": _override_early,
    "CHOSEN_TWICE": _chosen_twice,
    "UNKNOWN_KEY": _unknown_key,
    "MALFORMED": _malformed,
    "CYCLE": _cycle,
    "NO_NODE": _no_node,
    "NO_FIELD": _no_field,
    "NO_VALUE": _no_value,
    "LIST_AND_MAPPING": _list_and_mapping,
    "NO_BASE": _no_base,
    "NO_MAPPING": _no_mapping,
}
