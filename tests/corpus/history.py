"""Mistakes in speechbrain's recipes that a commit of its history repaired.

    python tests/corpus/history.py signs CLONE    commits that look like a repair, each to be read
    python tests/corpus/history.py check CLONE    what modellint says before and after each that was read

CLONE is a clone of the speechbrain repository with its history; nothing in it is changed. Signs are seen in what a
commit changed and never in what modellint finds, so that what modellint does not find is noticed: an entry of
`modules`, `recoverables` or a list of layers whose key was there before, a `<key>` that led nowhere, a key that was
there twice, a target or an argument that the source did not have, a key that the script read already, and a use that
went from `hparams` to `modules` or that no recipe provided.

speechbrain_history.json holds every repair among the commits with a sign that touch at most four recipes and scripts,
all of which were read: also those that are `missed`, with the reason. What shows under other settings than the recipe's
own is no mistake here, nor is a change of what worked.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from modellint.config import Settings
from modellint.frontends.recipe import read
from modellint.graph.recipe import Node, NodeKind, Recipe, TagKind, below, split_reference
from modellint.linter import run
from modellint.packs import select_rules
from modellint.source import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Finding

REPAIRS = Path(__file__).with_name("speechbrain_history.json")
#: The day on which `Brain` and the command line of recipes became what they are.
SINCE = "2020-11-22"

#: The rules that a recipe's mistakes belong to.
CODES = ("ML101", "ML103", "ML105", "ML201", "ML202", "ML203", "ML208", "ML209", "ML210", "ML4")

_PATHS = ("recipes/*.yaml", "recipes/*.py", "templates/*.yaml", "templates/*.py")
_CALLED = (TagKind.NEW, TagKind.NAME, TagKind.APPLY)
_USE = re.compile(r"(hparams|modules|mods)(?:\.|\[[\"'])([A-Za-z_]\w*)")


#: A mistake that a commit repaired: commit, path, code, object and what was done; for one in a script also its recipe.
Repair = dict[str, str]


class Change(NamedTuple):
    """A file that a commit modified, with the names of its contents before and after."""

    commit: str
    path: str
    before: str
    after: str

    @property
    def folder(self) -> str:
        return PurePosixPath(self.path).parent.as_posix()


class Sign(NamedTuple):
    """What makes a change look like a repair."""

    kind: str
    symbol: str


class Clone:
    """A clone, of which contents and whole revisions are read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        command = ["git", "-C", str(path), "cat-file", "--batch"]
        self._contents = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.path), *arguments]
        return subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")

    @cache  # noqa: B019 - there is one clone, for as long as the process lives
    def text(self, name: str) -> str | None:
        """The content called `name`, a hash or `revision:path`; None if there is no such file."""
        assert self._contents.stdin is not None
        assert self._contents.stdout is not None
        self._contents.stdin.write(f"{name}\n".encode())
        self._contents.stdin.flush()
        head = self._contents.stdout.readline().split()
        if head[-1] == b"missing":
            return None
        content = self._contents.stdout.read(int(head[2]) + 1)
        return content.decode("utf-8", "replace") if head[1] == b"blob" else None

    @cache  # noqa: B019
    def files(self, revision: str, folder: str) -> tuple[str, ...]:
        return tuple(self.git("ls-tree", "-r", "--name-only", revision, f"{folder}/").splitlines())

    def changes(self, since: str) -> Iterator[list[Change]]:
        """The recipes and scripts that each commit since a day modified, merges aside, newest first."""
        options = ("--no-merges", "--diff-filter=M", f"--since={since}", "--format=%x01%H", "--raw", "--no-abbrev")
        for entry in self.git("log", *options, "--", *_PATHS).split("\x01")[1:]:
            commit, *lines = entry.split("\n")
            fields = [line.split(maxsplit=5) for line in lines if line]
            yield [Change(commit, path, before, after) for _, _, before, after, _, path in fields]


def signs(change: Change, clone: Clone) -> Iterator[Sign]:
    """What makes a change of a recipe or script look like a repair."""
    before, after = clone.text(change.before) or "", clone.text(change.after) or ""
    if change.path.endswith(".py"):
        yield from _script_signs(before, after, change, clone)
        return
    old, new = _recipe(change.path, before), _recipe(change.path, after)
    if old is not None and new is not None:
        yield from _entry_signs(old, new)
        yield from _key_signs(old, new, change, clone)
        yield from _call_signs(old, new, change, clone)
    elif new is not None and before.strip():
        yield Sign("unreadable", change.path)


def _recipe(path: str, text: str) -> Recipe | None:
    """A recipe's text, None if it is no YAML or no mapping."""
    try:
        return read(Path(path), text.encode())
    except UnreadableError:
        return None


def _entry_signs(old: Recipe, new: Recipe) -> Iterator[Sign]:
    """Keys that there were, and that something which is moved, saved or trained newly refers to."""
    held, sections = _held(old), _sections(old)
    for section, name, key in sorted(_held(new) - held):
        if key in old.keys and section in sections:
            yield Sign(f"added to {section}", f"{name}: {key}" if name not in ("", key) else key)


def _sections(recipe: Recipe) -> dict[str, Node]:
    """What tells of a recipe's layers which are moved, saved, or parts of a whole."""
    found: dict[str, Node] = {}
    for name, entry in recipe.keys.items():
        if name == "modules" or re.search("Module(List|Dict)|Sequential", entry.value.tag.target):
            found[str(name)] = entry.value
        if saved := entry.value.get("recoverables"):
            found["recoverables"] = saved.value
    return found


def _held(recipe: Recipe) -> set[tuple[str, str, str]]:
    """What the sections of a recipe refer to, with the name that it has there."""
    parts = [(name, entry) for name, section in _sections(recipe).items() for entry in section.entries]
    named = {(name, str(e.name), key) for name, e in parts for node in below(e.value) for key in _keys(node)}
    lists = [(name, element) for name, section in _sections(recipe).items() for element in section.elements]
    return named | {(name, "", key) for name, element in lists for node in below(element) for key in _keys(node)}


def _keys(node: Node) -> list[str]:
    return [split_reference(reference.text)[0][0] for reference in node.references]


def _key_signs(old: Recipe, new: Recipe, change: Change, clone: Clone) -> Iterator[Sign]:
    """References that led nowhere, keys that were there twice, and keys that the script read before they were there."""
    if "!include" not in old.source.text:
        lost = _referred(old) - {str(key) for key in old.keys}
        yield from (Sign("reference", key) for key in sorted(lost - (_referred(new) - {str(key) for key in new.keys})))
    twice = Counter(str(later.name) for node in old.nodes() for _, later in node.repeated())
    left = Counter(str(later.name) for node in new.nodes() for _, later in node.repeated())
    yield from (Sign("key twice", key) for key in twice - left)
    if added := {str(key) for key in new.keys.keys() - old.keys.keys()}:
        scripts = [clone.text(f"{change.commit}^:{path}") or "" for path in _beside(change, clone, ".py")]
        wanted = {name for text in scripts for base, name in _USE.findall(text) if base == "hparams"}
        yield from (Sign("key that the script reads", key) for key in sorted(added & wanted))


def _referred(recipe: Recipe) -> set[str]:
    marked = (node for node in recipe.nodes() if node.tag.kind in (TagKind.REF, TagKind.COPY))
    return {key for node in marked for key in _keys(node)}


def _beside(change: Change, clone: Clone, suffix: str) -> list[str]:
    """The scripts above a recipe, or the recipes below a script, before the change."""
    folder = PurePosixPath(change.folder)
    if suffix == ".py" and folder.name in ("hparams", "hyperparams", "hyperparameters", "models"):
        folder = folder.parent
    found = clone.files(f"{change.commit}^", folder.as_posix())
    scripts = suffix == ".py"
    return [p for p in found if p.endswith(suffix) and (not scripts or PurePosixPath(p).parent == folder)]


def _call_signs(old: Recipe, new: Recipe, change: Change, clone: Clone) -> Iterator[Sign]:
    """Targets that were not there, tags that are none, and arguments that the source did not take or wanted."""
    later = dict(_named(new.root))
    for name, node in _named(old.root):
        other = later.get(name)
        if other is None or node.tag.text == "" or (node.tag.text == other.tag.text and node.kind != other.kind):
            continue
        if node.tag.kind is TagKind.OTHER and node.tag.text != other.tag.text:
            yield Sign("tag", name)
        if node.tag.kind not in _CALLED:
            continue
        signature = _signature(node.tag.target, change, clone)
        if node.tag.target != other.tag.target or node.tag.kind != other.tag.kind:
            if signature in (_EXTERNAL, _ABSENT):
                yield Sign("target", name)
        elif node.kind is NodeKind.MAPPING:
            had, has = ({str(entry.name) for entry in mapping.entries} for mapping in (node, other))
            yield from (Sign("argument", f"{name}.{key}") for key in sorted(signature.judged(had - has, has - had)))


def _named(node: Node, name: str = "", seen: frozenset[int] = frozenset()) -> Iterator[tuple[str, Node]]:
    """The nodes below one by the keys that lead to them."""
    yield name, node
    if id(node) not in seen:
        seen |= {id(node)}
        for entry in node.entries:
            yield from _named(entry.value, f"{name}.{entry.name}".lstrip("."), seen)
        for index, element in enumerate(node.elements):
            yield from _named(element, f"{name}[{index}]", seen)


@dataclass(frozen=True)
class _Signature:
    """The arguments that a target's own source names; those of which there is no source could be any."""

    names: frozenset[str] | None = None
    wanted: frozenset[str] | None = None

    def judged(self, gone: set[str], come: set[str]) -> set[str]:
        """The arguments among those that came or went that may well have been a mistake."""
        unknown = gone if self.names is None else gone - self.names
        missing = come if self.wanted is None else come & self.wanted
        return unknown | missing


_EXTERNAL, _ABSENT = _Signature(), _Signature(frozenset(), frozenset())


def _signature(target: str, change: Change, clone: Clone) -> _Signature:
    """What a target takes by its source before the change: of the repository, else nobody knows."""
    module, _, name = target.rpartition(".")
    path = module.replace(".", "/")
    folders = [parent.as_posix() for parent in PurePosixPath(change.path).parents]
    sources = [clone.text(f"{change.commit}^:{f'{folder}/'.removeprefix('./')}{path}.py") for folder in folders]
    text = next((source for source in sources if source is not None), None)
    package = clone.text(f"{change.commit}^:{path}/__init__.py")
    if text is None and package is None:
        return _ABSENT if module.partition(".")[0] in ("speechbrain", "recipes", "templates") else _EXTERNAL
    if text is None or not re.search(rf"^(class|def) {name}\b", text, re.MULTILINE):
        return _Signature() if re.search(rf"\b{name}\b|import \*", text or package or "") else _ABSENT
    return _of_source(text, name)


@cache
def _of_source(text: str, name: str) -> _Signature:
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return _EXTERNAL
    found = next(node for node in body if getattr(node, "name", "") == name)
    functions = found.body if isinstance(found, ast.ClassDef) else [found]
    makes = [f for f in functions if isinstance(f, ast.FunctionDef) and f.name in ("__init__", name)]
    if not makes or makes[0].args.kwarg is not None:
        return _Signature()
    spec = makes[0].args
    named = [argument.arg for argument in spec.args][isinstance(found, ast.ClassDef) :]
    wanted = named[: len(named) - len(spec.defaults)]
    return _Signature(frozenset(named) | {argument.arg for argument in spec.kwonlyargs}, frozenset(wanted))


def _script_signs(before: str, after: str, change: Change, clone: Clone) -> Iterator[Sign]:
    """Uses that went from `hparams` to `modules` or back, and uses that are gone and that no recipe provided."""
    had, has = Counter(_USE.findall(before)), Counter(_USE.findall(after))
    gone, come = had - has, has - had
    recipes = [clone.text(f"{change.commit}^:{path}") or "" for path in _beside(change, clone, ".yaml")]
    for base, name in gone:
        if any((other, name) in come for other in ("hparams", "modules", "mods") if other != base):
            yield Sign(f"{base} elsewhere", name)
        elif (base, name) not in has and recipes:
            key = rf"^{name}\s*:" if base == "hparams" else rf"^\s+{name}\s*:"
            if not any(re.search(key, text, re.MULTILINE) for text in recipes):
                yield Sign(f"{base} without a key", name)


class Checkout:
    """A folder with the files of one revision after the other; what both have is written once."""

    def __init__(self, clone: Path, folder: Path) -> None:
        self.folder = folder
        self._git = ["git", f"--git-dir={clone / '.git'}", f"--work-tree={folder}", "read-tree", "--reset", "-u"]
        self._environment = {**os.environ, "GIT_INDEX_FILE": f"{folder}.index"}

    def findings(self, revision: str, path: str) -> list[Finding]:
        """What the rules about recipes say of a recipe or script, as it is in a revision."""
        subprocess.run([*self._git, revision], env=self._environment, cwd=self.folder, check=True, capture_output=True)
        settings = Settings(self.folder).with_options(select=CODES, jobs=1)
        report = run([self.folder / path], settings, select_rules(settings), use_cache=False)
        assert not report.crashes, report.crashes
        return [finding for finding in report.findings if Path(finding.path) == self.folder / path]


def told(repair: Repair, findings: list[Finding]) -> bool:
    """Whether a mistake is among the findings about its file, and about its recipe where it is in a script."""
    return any(
        (finding.code, finding.symbol) == (repair["code"], repair["object"])
        and ("recipe" not in repair or any(f"/{repair['recipe']}" in place.place.path for place in finding.related))
        for finding in findings
    )


def repairs() -> list[Repair]:
    """The repairs that were read."""
    found: list[Repair] = json.loads(REPAIRS.read_text("utf-8"))["repairs"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("signs", "check"))
    parser.add_argument("clone", type=Path)
    options = parser.parse_args()
    if options.action == "signs":
        _print_signs(Clone(options.clone.resolve()))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve() / "files"
        folder.mkdir()
        _print_checks(Checkout(options.clone.resolve(), folder))


def _print_signs(clone: Clone) -> None:
    for changes in clone.changes(SINCE):
        found = [(change, sign) for change in changes for sign in signs(change, clone)]
        if found:
            print(clone.git("log", "-1", "--format=%h %as %s", found[0][0].commit).strip(), f"({len(changes)} files)")
        for change, sign in found:
            print(f"    {sign.kind}: {sign.symbol} in {change.path}")


def _print_checks(checkout: Checkout) -> None:
    counts: Counter[str] = Counter()
    for (commit, path), group in by_file(repairs()).items():
        before, after = (checkout.findings(revision, path) for revision in (f"{commit}^", commit))
        for repair in group:
            words = (
                f"{'found' if told(repair, before) else 'missed'}, {'still there' if told(repair, after) else 'gone'}"
            )
            counts[words] += 1
            if words != "found, gone":
                print(f"{words}: {commit} {path} {repair['code']} {repair['object']}")
    print(dict(counts))


def by_file(found: list[Repair]) -> dict[tuple[str, str], list[Repair]]:
    """Repairs by their commit and file."""
    groups: dict[tuple[str, str], list[Repair]] = {}
    for repair in found:
        groups.setdefault((repair["commit"], repair["path"]), []).append(repair)
    return groups


if __name__ == "__main__":
    main()
