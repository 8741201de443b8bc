"""What the files of a speechbrain checkout say: recipes, the scripts that load them, and the classes that they name.

Nothing here calls modellint. Recipes are composed by PyYAML, scripts and classes are read as syntax trees, and the
repository's own tables tell which script loads which recipe. What a few simple looks cannot decide is not certain, and
nothing is planted on it.
"""

from __future__ import annotations

import ast
import csv
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeGuard

import yaml

from planting.source import ALWAYS_STATEFUL, NORMS, Class, Function, Source, is_name, parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from yaml.nodes import Node

TRAIN, VALID, TEST = "TRAIN", "VALID", "TEST"
_WHOLE = re.compile(r"<(\w+)((?:\[\w+\])*)>")
_MENTIONED = re.compile(r"<(\w+)[\[\w\]]*>")
_MAX_DEPTH = 6
#: What PyYAML constructs a plain scalar from.
_PLAIN = "tag:yaml.org,2002:"
#: Methods of a Brain, by the stage in which the framework's loops call them.
_LOOPS = {
    TRAIN: ("on_fit_start", "on_stage_start", "fit_batch", "on_fit_batch_start", "on_fit_batch_end", "on_stage_end"),
    VALID: ("on_stage_start", "evaluate_batch", "on_stage_end"),
    TEST: ("on_evaluate_start", "on_stage_start", "evaluate_batch", "on_stage_end"),
}
_LEARNING = frozenset(("fit_batch", "compute_forward", "compute_objectives"))


# -- recipes -----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Recipe:
    """A recipe without includes, aliases and references that call something: what it says stands in this one file."""

    path: Path
    text: str
    root: yaml.MappingNode

    @cached_property
    def keys(self) -> dict[str, tuple[Node, Node]]:
        """The top-level keys, as the key and the value."""
        return dict(entries(self.root))

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        for line in self.text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def start(self, node: Node) -> int:
        return self._line_starts[node.start_mark.line] + node.start_mark.column

    def end(self, node: Node) -> int:
        return self._line_starts[node.end_mark.line] + node.end_mark.column

    def line(self, number: int) -> tuple[int, int]:
        """Where a line (from 0) starts and where the next one does."""
        return self._line_starts[number], min(self._line_starts[number + 1], len(self.text))

    def source(self, node: Node) -> str:
        return self.text[self.start(node) : self.end(node)]

    def nodes(self) -> Iterator[Node]:
        yield from _below(self.root)

    def follow(self, node: Node, depth: int = 0) -> Node | None:
        """What a node stands for: that which a whole reference leads to, however often; a copy is another object."""
        if not is_reference(node):
            return node
        match = _WHOLE.fullmatch(str(node.value).strip())
        if match is None or depth > _MAX_DEPTH or match[1] not in self.keys:
            return None
        found: Node | None = self.keys[match[1]][1]
        for name in re.findall(r"\w+", match[2]):
            found = self.follow(found, depth + 1) if found is not None else None
            inside = {key: value for key, (_, value) in entries(found)} if found is not None else {}
            found = inside.get(name)
        return None if found is None else self.follow(found, depth + 1)

    def reach(self, start: Node | None, without: Node | None = None) -> set[int]:
        """The nodes that a node is made of in any way: what it holds, and what its references speak of.

        One node may be left `without`, as if it were not written.
        """
        seen: set[int] = {id(without)}
        pending = [] if start is None else [start]
        while pending:
            node = pending.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, yaml.ScalarNode) and node.tag in ("!ref", "!copy"):
                names = _MENTIONED.findall(node.value)
                pending.extend(self.keys[name][1] for name in names if name in self.keys)
                target = self.follow(node)
                pending.extend([target] if target is not None else [])
            else:
                pending.extend(children(node))
        return seen

    def constant(self, node: Node | None) -> object:
        """The value of a plain scalar, `...` where a node is anything else."""
        node = None if node is None else self.follow(node)
        if not isinstance(node, yaml.ScalarNode) or not node.tag.startswith(_PLAIN):
            return ...
        try:
            return yaml.safe_load(self.source(node))
        except yaml.YAMLError:
            return ...

    def mapping(self, name: str) -> dict[str, tuple[Node, Node]]:
        """The entries of a mapping in block style under a top-level key, empty if there is none."""
        value = self.keys[name][1] if name in self.keys else None
        is_plain = value is not None and value.tag == f"{_PLAIN}map" and not is_flow(value)
        return dict(entries(value)) if is_plain and value is not None else {}


def read_recipe(path: Path) -> Recipe | None:
    """A recipe, None if it is not of the simple kind."""
    try:
        text = path.read_bytes().decode()
        if re.search(r"!include:|!applyref:|\r|\t|!!python|^---|<<:", text, re.MULTILINE):
            return None
        root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, ValueError, yaml.YAMLError):
        return None
    if not isinstance(root, yaml.MappingNode):
        return None
    nodes = list(_below(root))
    return Recipe(path, text, root) if len({id(node) for node in nodes}) == len(nodes) else None


def entries(node: Node) -> Iterator[tuple[str, tuple[Node, Node]]]:
    """The entries of a mapping."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), (key, value)


def children(node: Node) -> Iterator[Node]:
    """What a node holds, without the keys."""
    if isinstance(node, yaml.MappingNode):
        yield from (value for _, value in node.value)
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


def _below(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from _below(child)


def is_flow(node: Node) -> bool:
    """Whether a collection is written between brackets."""
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def is_reference(node: Node) -> TypeGuard[yaml.ScalarNode]:
    return isinstance(node, yaml.ScalarNode) and node.tag == "!ref"


def made(node: Node | None, *prefixes: str) -> str:
    """`torch.nn.Linear` for `!new:torch.nn.Linear`, or of other tags if they are named; empty for anything else."""
    for prefix in prefixes or ("!new:",):
        if node is not None and node.tag.startswith(prefix):
            return str(node.tag.removeprefix(prefix))
    return ""


# -- classes -----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Checkout:
    """A checkout of the repository: its recipes with their scripts, and its classes."""

    root: Path
    _sources: dict[Path, Source | None] = field(default_factory=dict, init=False, repr=False)
    _states: dict[tuple[int, str], bool] = field(default_factory=dict, init=False, repr=False)

    def trainings(self) -> list[tuple[Path, Path]]:
        """The recipes that one script alone loads, with it, as the tables in `tests/recipes` say."""
        scripts: dict[Path, set[Path]] = {}
        for table in sorted((self.root / "tests" / "recipes").glob("*.csv")):
            for row in csv.DictReader(table.read_text(encoding="utf-8").splitlines(), skipinitialspace=True):
                recipe, script = row.get("Hparam_file") or "", row.get("Script_file") or ""
                if (self.root / recipe).is_file() and script.endswith(".py") and (self.root / script).is_file():
                    scripts.setdefault(self.root / recipe, set()).add(self.root / script)
        return sorted((recipe, found.pop()) for recipe, found in scripts.items() if len(found) == 1)

    def source(self, path: Path) -> Source | None:
        if path not in self._sources:
            try:
                self._sources[path] = Source(path.read_bytes())
            except (OSError, SyntaxError, ValueError):
                self._sources[path] = None
        return self._sources[path]

    def file_of(self, dotted: str, folder: Path) -> tuple[Path, str] | None:
        """The file that a dotted name lies in, and what is left of the name; the script's folder comes first."""
        parts = dotted.split(".")
        for base in (folder, self.root):
            for depth in range(len(parts) - 1, 0, -1):
                path = base.joinpath(*parts[:depth]).with_suffix(".py")
                if path.is_file():
                    return path, ".".join(parts[depth:])
        return None

    def locate(self, dotted: str, folder: Path) -> tuple[Source, ast.ClassDef | Function] | None:
        """The class or function that a dotted name stands for, defined once at the top level of the file it names."""
        found = self.file_of(dotted, folder)
        source = self.source(found[0]) if found is not None else None
        if found is None or source is None:
            return None
        named = [n for n in source.tree.body if isinstance(n, (ast.ClassDef, Function)) and n.name == found[1]]
        return (source, named[0]) if len(named) == 1 else None

    def find_class(self, dotted: str, folder: Path) -> tuple[Source, ast.ClassDef] | None:
        """The class that a dotted name stands for."""
        found = self.locate(dotted, folder)
        return (found[0], found[1]) if found is not None and isinstance(found[1], ast.ClassDef) else None

    def lineage(self, dotted: str, folder: Path) -> Iterator[tuple[Source, ast.ClassDef]]:
        """A class and its bases as far as they are found, nearest first."""
        pending = [dotted]
        for _ in range(20):
            found = self.find_class(pending.pop(0), folder) if pending else None
            if found is not None:
                source, cls = found
                yield source, cls
                pending += [name for base in cls.bases if (name := self._dotted(source, base))]

    def _dotted(self, source: Source, node: ast.expr) -> str:
        """The full name of what an expression such as `sb.nnet.CNN.Conv2d` or a class of the file speaks of."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        if node.id in source.imports:
            return ".".join([source.imports[node.id], *parts])
        path = next((path for path, known in self._sources.items() if known is source), None)
        if path is None or node.id not in source.classes:
            return ""
        return ".".join((*path.relative_to(self.root).with_suffix("").parts, node.id, *parts))

    def builds_parameters(self, dotted: str, folder: Path, depth: int = 0) -> bool:
        """Whether constructing a class certainly makes parameters, whatever it is given.

        That is a layer of `torch.nn` with parameters, or a class whose constructor, under no condition, stores or
        appends such a layer, a parameter or a pretrained network, or calls a base's that does.
        """
        start, _, name = dotted.rpartition(".")
        if start == "torch.nn":
            return name in ALWAYS_STATEFUL
        if depth > _MAX_DEPTH:
            return False
        found = self.find_class(dotted, folder)
        if found is None:
            return False
        source, cls = found
        key = (id(source), cls.name)
        if key not in self._states:
            self._states[key] = False  # a class that builds itself
            init = next((n for n in cls.body if isinstance(n, Function) and n.name == "__init__"), None)
            bases = [self._dotted(source, base) for base in cls.bases]
            if init is None:
                result = any(self.builds_parameters(base, folder, depth + 1) for base in bases)
            else:
                result = self._builds(source, init.body, bases, folder, depth)
            self._states[key] = result
        return self._states[key]

    def _builds(self, source: Source, body: Iterable[ast.stmt], bases: list[str], folder: Path, depth: int) -> bool:
        for statement in body:
            if isinstance(statement, ast.If):
                branches = (statement.body, statement.orelse)
                if all(self._builds(source, branch, bases, folder, depth) for branch in branches):
                    return True
            elif isinstance(statement, (ast.For, ast.With)):
                if self._builds(source, statement.body, bases, folder, depth):
                    return True
            elif source.text(statement).startswith(("self.", "super().__init__")):
                calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
                if any(self._makes(source, call, bases, folder, depth) for call in calls):
                    return True
        return False

    def _makes(self, source: Source, call: ast.Call, bases: list[str], folder: Path, depth: int) -> bool:
        text = source.text(call.func)
        if text == "super().__init__":
            return any(self.builds_parameters(base, folder, depth + 1) for base in bases)
        name = self._dotted(source, call.func)
        if name == "torch.nn.Parameter":
            return not any(word.arg == "requires_grad" for word in call.keywords)
        if text.endswith("from_pretrained"):
            return not re.search("Config|Tokenizer|Processor|Extractor", text)
        plain = not any(word.arg is None or "affine" in word.arg for word in call.keywords)
        if name.startswith("torch.nn.") and name.rpartition(".")[2] in NORMS:
            return plain
        return bool(name) and self.builds_parameters(name, folder, depth + 1)

    def freezes(self, recipe: Recipe, node: Node, folder: Path) -> bool:
        """Whether a class speaks of freezing in its source, and the recipe does not say `freeze: False`."""
        dotted = made(node)
        given = dict(entries(node))
        said = [value for name, (_, value) in given.items() if "freeze" in name or "frozen" in name]
        if any(recipe.constant(value) is not False for value in said):
            return True
        texts = (source.text(cls) for source, cls in self.lineage(dotted, folder))
        return not said and any(re.search("freeze|frozen|requires_grad", text) for text in texts)

    def learns(self, recipe: Recipe, node: Node | None, folder: Path) -> bool:
        """Whether what a recipe makes certainly has parameters that it does not freeze by itself."""
        dotted = made(node)
        if node is None or not dotted or self.freezes(recipe, node, folder):
            return False
        if self.builds_parameters(dotted, folder):
            return True
        is_container = dotted.startswith("torch.nn.") or dotted.endswith("containers.Sequential")
        parts = (recipe.follow(child) for part in children(node) for child in (part, *children(part)))
        return is_container and any(self.learns(recipe, part, folder) for part in parts if part is not node)

    def has_saver(self, dotted: str, folder: Path) -> bool:
        """Whether a class says by decorators how a checkpoint saves it."""
        return any(
            "mark_as_saver" in source.text(decorator)
            for source, cls in self.lineage(dotted, folder)
            for method in cls.body
            if isinstance(method, Function)
            for decorator in method.decorator_list
        )

    def changes_when_called(self, dotted: str, folder: Path) -> bool:
        """Whether calling an object of a class assigns some of its attributes."""
        for source, cls in self.lineage(dotted, folder):
            for method in cls.body:
                if isinstance(method, Function) and method.name in ("__call__", "forward"):
                    return any(
                        isinstance(node, (ast.Assign, ast.AugAssign)) and "self." in source.text(node).partition("=")[0]
                        for node in ast.walk(method)
                    )
        return False


# -- scripts -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Use:
    """`self.modules.name` or `self.hparams.name` in a Brain, on a way that a training certainly takes.

    `calls` tells that it is called, `learns` that this happens in a training step and gradients are not switched off.
    """

    holder: str
    name: str
    node: ast.Attribute
    stage: str
    calls: bool
    learns: bool


@dataclass(eq=False)
class Script:
    """A script that builds one Brain of a class of its own, with the recipe's `modules` and keys, and trains it."""

    path: Path
    source: Source
    brain: Class
    text: str
    #: The keys of the recipe that the script sets itself.
    stored: frozenset[str]

    def uses(self, recipe: Recipe, entries_: Iterable[str], lacking: str = "") -> list[Use]:
        """What a training certainly uses if `modules` has these entries, and the recipe is `lacking` a key."""
        walk = _Walk(self, recipe, frozenset(entries_), lacking)
        for stage, methods in _LOOPS.items():
            if stage == TEST and ".evaluate(" not in self.text:
                continue
            for name in methods:
                walk.method(name, stage, learns=stage == TRAIN and name in _LEARNING)
        return walk.found


def read_script(path: Path, checkout: Checkout) -> Script | None:
    """A script, None if it is not of the simple kind."""
    source = checkout.source(path)
    if source is None:
        return None
    text = source.data.decode()
    calls = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and any(word.arg == "modules" for word in node.keywords)
    ]
    if len(calls) != 1 or not isinstance(calls[0].func, ast.Name) or ".fit(" not in text:
        return None
    call, cls = calls[0], source.classes.get(calls[0].func.id)
    given = {word.arg: source.text(word.value) for word in call.keywords}
    if cls is None or len(cls.node.bases) != 1 or not source.text(cls.node.bases[0]).endswith("Brain"):
        return None
    if given["modules"] != 'hparams["modules"]' or given.get("hparams") != "hparams" or None in given:
        return None
    if source.text(cls.node.bases[0]) in source.classes or {"fit", "evaluate", "__init__"} & set(cls.methods):
        return None
    if re.search(r"hparams\[\s*[^\s\"'][^\]]*\]\s*=[^=]|setattr\(|hparams\.update", text):
        return None
    if re.search(r"self\.modules(\.\w+|\[[^\]]*\])?\s*=[^=]|modules\.update|hparams\[\"modules\"\]\[", text):
        return None
    stored = re.findall(r"hparams(?:\.|\[[\"'])(\w+)(?:[\"']\])?\s*[-+*/]?=[^=]", text)
    return Script(path, source, cls, text, frozenset(stored))


class _Walk:
    """Follows the statements that certainly run, one stage at a time."""

    def __init__(self, script: Script, recipe: Recipe, entries_: frozenset[str], lacking: str) -> None:
        self.script = script
        self.keys = {name: value for name, (_, value) in recipe.keys.items() if name != lacking}
        self.recipe = recipe
        self.entries = entries_
        self.found: list[Use] = []
        self._visited: set[tuple[str, str, bool]] = set()

    def method(self, name: str, stage: str, *, learns: bool) -> None:
        """A method that the framework or another method calls; the framework's batch methods compute and score."""
        function = self.script.brain.methods.get(name)
        text = "" if function is None else self.script.source.text(function)
        if name in ("fit_batch", "evaluate_batch") and (function is None or f"super().{name}(" in text):
            for called in ("compute_forward", "compute_objectives"):
                self.method(called, stage, learns=learns)
        if function is None or (name, stage, learns) in self._visited or self._catches(function):
            return
        self._visited.add((name, stage, learns))
        quiet = any("grad" in self.script.source.text(one) for one in function.decorator_list)
        self._body(function.body, function, stage, learns and not quiet)

    def _catches(self, function: Function) -> bool:
        return any(isinstance(node, (ast.Try, ast.Yield)) for node in ast.walk(function))

    def _body(self, body: Iterable[ast.stmt], function: Function, stage: str, learns: bool) -> bool:
        """Walk statements; whether what follows them certainly runs as well."""
        return all(self._statement(statement, function, stage, learns) for statement in body)

    def _statement(self, statement: ast.stmt, function: Function, stage: str, learns: bool) -> bool:
        match statement:
            case ast.If():
                self._expression(statement.test, function, stage, learns)
                truth = self.truth(statement.test, function, stage)
                if truth is None:
                    return not any(
                        isinstance(node, (ast.Return, ast.Raise, ast.Continue)) for node in ast.walk(statement)
                    )
                return self._body(statement.body if truth else statement.orelse, function, stage, learns)
            case ast.With():
                for item in statement.items:
                    self._expression(item.context_expr, function, stage, learns)
                texts = [self.script.source.text(item.context_expr) for item in statement.items]
                quiet = any("no_grad" in text or "inference_mode" in text for text in texts)
                return self._body(statement.body, function, stage, learns and not quiet)
            case ast.For():
                self._expression(statement.iter, function, stage, learns)
                return not any(isinstance(node, (ast.Return, ast.Raise)) for node in ast.walk(statement))
            case ast.While() | ast.FunctionDef() | ast.ClassDef() | ast.Delete() | ast.Import() | ast.ImportFrom():
                return not isinstance(statement, ast.While)
            case ast.Return() | ast.Raise():
                for part in ast.iter_child_nodes(statement):
                    self._expression(part, function, stage, learns)
                return False
        for part in ast.iter_child_nodes(statement):
            self._expression(part, function, stage, learns)
        return True

    def _expression(self, node: ast.AST, function: Function, stage: str, learns: bool) -> None:
        """What evaluating an expression certainly uses."""
        match node:
            case ast.IfExp():
                self._expression(node.test, function, stage, learns)
                truth = self.truth(node.test, function, stage)
                if truth is not None:
                    self._expression(node.body if truth else node.orelse, function, stage, learns)
                return
            case ast.BoolOp():
                for value in node.values:
                    self._expression(value, function, stage, learns)
                    if self.truth(value, function, stage) is not isinstance(node.op, ast.And):
                        return
                return
            case ast.Lambda() | ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                return
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr="modules" | "hparams" as holder)):
                if isinstance(node.ctx, ast.Load):
                    parent = self.script.source.parents[node]
                    calls = isinstance(parent, ast.Call) and parent.func is node
                    kept = learns and not (calls and self._is_detached(parent))
                    self.found.append(Use(holder, node.attr, node, stage, calls, kept))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                self.method(name, stage, learns=learns)
        for part in ast.iter_child_nodes(node):
            self._expression(part, function, stage, learns)

    def _is_detached(self, call: ast.AST) -> bool:
        parent = self.script.source.parents[call]
        return isinstance(parent, ast.Attribute) and parent.attr in ("detach", "data")

    # -- conditions ----------------------------------------------------------------------------------------------------

    def truth(self, test: ast.expr, function: Function, stage: str) -> bool | None:
        """Whether a condition holds in a stage; None if the stage and the recipe's constants do not decide it."""
        match test:
            case ast.UnaryOp(op=ast.Not()):
                inner = self.truth(test.operand, function, stage)
                return None if inner is None else not inner
            case ast.BoolOp():
                known = [self.truth(value, function, stage) for value in test.values]
                if isinstance(test.op, ast.And):
                    return False if False in known else None if None in known else True
                return True if True in known else None if None in known else False
            case ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Constant(value=str(name))]):
                return self._has(owner, name)
            case ast.Compare(left=ast.Name(id="stage"), ops=[op], comparators=[ast.Attribute(attr=name)]):
                if name in _LOOPS and isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
                    return (name == stage) is isinstance(op, (ast.Eq, ast.Is))
                return None
            case ast.Compare(left=ast.Name(id="stage"), ops=[ast.In()], comparators=[ast.List(elts=elts)]):
                return any(isinstance(one, ast.Attribute) and one.attr == stage for one in elts)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return _compared(op, self._value(left), self._value(right))
            case ast.Name(id=name):
                values = self.script.source.assigned(function, name)
                alone = len(values) == 1 and name not in parameters(function)
                return self.truth(values[0], function, stage) if alone and values[0] is not None else None
        value = self._value(test)
        return None if value is ... else bool(value)

    def _has(self, owner: ast.expr, name: str) -> bool | None:
        text = self.script.source.text(owner)
        if text == "self.hparams":
            return name in self.script.stored or name in self.keys
        return name in self.entries if text == "self.modules" else None

    def _value(self, node: ast.expr) -> object:
        """A literal, or the constant of the recipe that `self.hparams.name` is; `...` for anything else."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Attribute) and self.script.source.text(node.value) == "self.hparams":
            found = self.keys.get(node.attr)
            return ... if found is None or node.attr in self.script.stored else self.recipe.constant(found)
        return ...


def _compared(op: ast.cmpop, left: object, right: object) -> bool | None:
    if left is ... or right is ...:
        return None
    if isinstance(op, (ast.Eq, ast.Is)):
        return left == right
    if isinstance(op, (ast.NotEq, ast.IsNot)):
        return left != right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        if isinstance(op, ast.Gt):
            return left > right
        if isinstance(op, ast.GtE):
            return left >= right
        if isinstance(op, ast.Lt):
            return left < right
        if isinstance(op, ast.LtE):
            return left <= right
    return None


def loads_names(script: Script) -> Iterator[tuple[str, ast.Subscript]]:
    """`hparams["name"]` in statements that run whenever the file is run as a script."""
    for statement in script.source.tree.body:
        if isinstance(statement, ast.If) and "__main__" in script.source.text(statement.test):
            for part in statement.body:
                if isinstance(part, (ast.Assign, ast.Expr)):
                    for node in ast.walk(part):
                        match node:
                            case ast.Subscript(slice=ast.Constant(value=str(name))) if is_name(node.value, "hparams"):
                                yield name, node
