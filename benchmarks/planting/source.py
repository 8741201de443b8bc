"""Source text to plant in: its syntax tree, edits by byte offsets, and what a few simple looks at the tree tell.

Nothing here calls modellint. What counts as a layer, a use or a table is decided by criteria that fit in a docstring,
so that a measure of modellint does not rest on modellint.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef

#: Layers of `torch.nn` that always have parameters …
ALWAYS_STATEFUL = frozenset(
    """
    Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding EmbeddingBag LSTM GRU
    RNN LSTMCell GRUCell RNNCell MultiheadAttention PReLU Transformer TransformerEncoderLayer TransformerDecoderLayer
    """.split()
)
#: … and those that have them unless an `affine` argument says otherwise.
NORMS = frozenset("LayerNorm RMSNorm GroupNorm BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm".split())
#: Layers whose output is made of real numbers.
CONTINUOUS = ALWAYS_STATEFUL - {"Embedding", "EmbeddingBag"} | NORMS | {"GELU", "ReLU", "SiLU", "Tanh", "Sigmoid"}


#: In how many bytes a generated file says what it was generated from, and how.
_HEAD = 2_000
_GENERATED_FROM = re.compile(rb"generated from \S*?(\w+\.py)")


@dataclass(frozen=True)
class Edit:
    """Replace the bytes from `start` to `end` of the original by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Store:
    """`self.name = value`, a statement of a method of a class."""

    name: str
    value: ast.expr
    statement: ast.stmt
    method: Function


@dataclass(eq=False)
class Source:
    """A file, its tree, and where each node stands in its bytes."""

    data: bytes
    tree: ast.Module = field(init=False)
    _assignments: dict[Function, dict[str, list[ast.expr | None]]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.tree = ast.parse(self.data)

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        for line in self.data.split(b"\n"):
            starts.append(starts[-1] + len(line) + 1)
        return starts

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self._line_starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._line_starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt) -> str:
        return self.data[self.start(node) : self.end(node)].decode()

    def replace(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        return Edit(self.start(node), self.end(node), text)

    def after(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        return Edit(self.end(node), self.end(node), text)

    def stands_alone(self, statement: ast.stmt) -> bool:
        """Whether a statement shares its lines with nothing but a comment."""
        before = self.data[self._line_starts[statement.lineno - 1] : self.start(statement)]
        behind = self.data[self.end(statement) :].split(b"\n", 1)[0].strip()
        return not before.strip() and (not behind or behind.startswith(b"#"))

    def indentation(self, statement: ast.stmt) -> str:
        return self.data[self._line_starts[statement.lineno - 1] : self.start(statement)].decode()

    def line_before(self, statement: ast.stmt, text: str) -> Edit:
        """A new line before a statement that stands alone."""
        at = self._line_starts[statement.lineno - 1]
        return Edit(at, at, f"{self.indentation(statement)}{text}\n")

    def line_after(self, statement: ast.stmt, text: str) -> Edit:
        """A new line behind a statement that stands alone, its comment left where it is."""
        assert statement.end_lineno is not None
        at = min(self._line_starts[statement.end_lineno], len(self.data))
        start = "" if self.data[:at].endswith(b"\n") else "\n"
        return Edit(at, at, f"{start}{self.indentation(statement)}{text}\n")

    def without(self, statement: ast.stmt) -> Edit:
        """A statement that stands alone, taken out with its lines."""
        assert statement.end_lineno is not None
        end = min(self._line_starts[statement.end_lineno], len(self.data))
        return Edit(self._line_starts[statement.lineno - 1], end, "")

    def class_of(self, offset: int) -> str:
        """The name of the top-level class that a byte belongs to."""
        for cls in self.classes.values():
            if self.start(cls.node) <= offset < self.end(cls.node):
                return cls.name
        return ""

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around a node."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def assigned(self, function: Function, name: str) -> list[ast.expr | None]:
        """What is assigned to a local name of a function, None where that is not one whole value."""
        if function not in self._assignments:
            self._assignments[function] = _assignments(function)
        return self._assignments[function].get(name, [])

    # -- names ------------------------------------------------------------------------------------------------------

    @cached_property
    def imports(self) -> dict[str, str]:
        """Local names and the dotted names they are imported from, wherever in the file."""
        found = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    found[name] = alias.name if alias.asname else name
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        return found

    def torch_name(self, node: ast.AST, package: str = "torch.nn") -> str | None:
        """`Linear` for `nn.Linear`, `torch.nn.Linear` or an imported `Linear`; the name of a called function too."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.imports:
            return None
        full = ".".join([self.imports[node.id], *reversed(parts)])
        start, _, name = full.rpartition(".")
        return name if start in (package, f"{package}.modules") else None

    def called(self, node: ast.AST, package: str = "torch.nn") -> str | None:
        """The name in `torch.nn` that an expression calls."""
        return self.torch_name(node.func, package) if isinstance(node, ast.Call) else None

    @cached_property
    def classes(self) -> dict[str, Class]:
        """The classes of the file's top level."""
        return {node.name: Class(self, node) for node in self.tree.body if isinstance(node, ast.ClassDef)}

    def has_state(self, node: ast.AST, depth: int = 0) -> bool:
        """Whether an expression builds a layer with parameters.

        That is a layer of `torch.nn` with parameters, a `Sequential` of one, or a class of the file whose constructor
        stores such a layer unconditionally.
        """
        if not isinstance(node, ast.Call) or depth > 3:
            return False
        name = self.called(node)
        if name is not None:
            if name == "Sequential":
                return any(self.has_state(arg, depth + 1) for arg in node.args)
            plain = not any(word.arg is None or "affine" in word.arg for word in node.keywords)
            return name in ALWAYS_STATEFUL or (name in NORMS and plain)
        cls = self.classes.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if cls is None or not cls.is_module or cls.init is None:
            return False
        return any(
            store.statement in cls.init.body and self.has_state(store.value, depth + 1)
            for stores in cls.stores.values()
            for store in stores
            if store.method is cls.init
        )


@dataclass(eq=False)
class Class:
    """A class of a file's top level."""

    source: Source
    node: ast.ClassDef

    @property
    def name(self) -> str:
        return self.node.name

    @cached_property
    def methods(self) -> dict[str, Function]:
        return {node.name: node for node in self.node.body if isinstance(node, Function)}

    def method(self, name: str, depth: int = 0) -> Function | None:
        """A method of the class or of the bases that the file defines."""
        if name in self.methods or depth > 5:
            return self.methods.get(name)
        bases = (self.source.classes.get(base.id) for base in self.node.bases if isinstance(base, ast.Name))
        return next((found for base in bases if base is not None and (found := base.method(name, depth + 1))), None)

    @property
    def init(self) -> Function | None:
        return self.methods.get("__init__")

    @cached_property
    def text(self) -> str:
        return self.source.text(self.node)

    @cached_property
    def is_module(self) -> bool:
        """Whether this is a layer: it derives from `nn.Module`, or it has a `forward` and stores layers of torch."""
        for base in self.node.bases:
            if self.source.torch_name(base) == "Module":
                return True
            cls = self.source.classes.get(base.id) if isinstance(base, ast.Name) else None
            if cls is not None and cls is not self and cls.is_module:
                return True
        if not self.node.bases or "forward" not in self.methods:
            return False
        values = (store.value for stores in self.stores.values() for store in stores)
        return any(self.source.called(value) in ALWAYS_STATEFUL | NORMS for value in values)

    @cached_property
    def stores(self) -> dict[str, list[Store]]:
        """What is assigned to `self.name`, by name, whole statements only."""
        found: dict[str, list[Store]] = {}
        for method in self.methods.values():
            for node in ast.walk(method):
                if isinstance(node, ast.Assign) and len(node.targets) == 1:
                    target, value = node.targets[0], node.value
                elif isinstance(node, ast.AnnAssign) and node.value is not None:
                    target, value = node.target, node.value
                else:
                    continue
                name = self_name(target)
                if name is not None:
                    found.setdefault(name, []).append(Store(name, value, node, method))
        return found

    def only_store(self, name: str) -> Store | None:
        """The one statement of the class that assigns `self.name`, if it stands in the constructor."""
        found = self.stores.get(name, [])
        return found[0] if len(found) == 1 and found[0].method is self.init else None

    def constructed(self) -> Iterator[Store]:
        """What the constructor of a layer stores once, in statements that stand alone."""
        if self.is_module:
            for name in self.stores:
                store = self.only_store(name)
                if store is not None and self.source.stands_alone(store.statement):
                    yield store

    @cached_property
    def _reads(self) -> dict[str, list[tuple[Function, ast.Attribute]]]:
        found: dict[str, list[tuple[Function, ast.Attribute]]] = {}
        for method in self.methods.values():
            for node in ast.walk(method):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and self_name(node):
                    found.setdefault(node.attr, []).append((method, node))
        return found

    def reads(self, name: str) -> list[tuple[Function, ast.Attribute]]:
        """Where `self.name` is read, outside of the constructor."""
        return [(method, node) for method, node in self._reads.get(name, []) if method is not self.init]

    def calls(self, name: str) -> list[tuple[Function, ast.Call]]:
        """Where `self.name(…)` is called, outside of the constructor."""
        found = []
        for method, node in self.reads(name):
            parent = self.source.parents[node]
            if isinstance(parent, ast.Call) and parent.func is node:
                found.append((method, parent))
        return found

    def registers_by_name(self) -> bool:
        """Whether the class registers something under a computed name."""
        return any(word in self.text for word in ("setattr(", "add_module(", "register_module(", "__dict__"))

    def in_method(self, node: ast.expr) -> str | None:
        """How an expression of the constructor reads in another method, None if it cannot be said there.

        Literals, attributes of `self`, parameters that the constructor keeps under a name of their own, and
        arithmetic on those.
        """
        text = self.source.text(node)
        edits: list[tuple[int, int, str]] = []
        start = self.source.start(node)
        for part in ast.walk(node):
            if isinstance(part, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.Starred, ast.NamedExpr)):
                return None
            if not isinstance(part, ast.Name) or part.id == "self" or part.id in self.source.imports:
                continue
            if part.id in ("int", "round", "max", "min", "len") or part.id in self.source.classes:
                continue
            kept = self._kept(part.id)
            if kept is None:
                return None
            at = self.source.start(part) - start
            edits.append((at, at + len(part.id.encode()), f"self.{kept}"))
        data = text.encode()
        for at, end, new in sorted(edits, reverse=True):
            data = data[:at] + new.encode() + data[end:]
        return data.decode()

    def _kept(self, parameter: str) -> str | None:
        """The attribute under which the constructor keeps a parameter that it never assigns anew.

        A base keeps it where the constructor passes it on and the class reads an attribute of its name.
        """
        if self.init is None or parameter not in parameters(self.init) or self.source.assigned(self.init, parameter):
            return None
        for name, stores in self.stores.items():
            first = stores[0]
            if len(stores) == 1 and isinstance(first.value, ast.Name) and first.value.id == parameter:
                return name
        passed = f"super().__init__({parameter}" in self.text
        return parameter if passed and parameter not in self.stores and parameter in self._reads else None


@cache
def _templates(folder: Path) -> frozenset[str]:
    """The names of the files of a folder that others beside them say they were generated from."""
    heads = (path.read_bytes()[:_HEAD] for path in sorted(folder.glob("*.py")))
    return frozenset(match[1].decode() for head in heads if (match := _GENERATED_FROM.search(head)))


def is_template(path: Path) -> bool:
    """Whether a file never runs: the one beside it runs that says it was generated from this one."""
    return path.name in _templates(path.parent)


def self_name(node: ast.AST) -> str | None:
    """`name` for `self.name`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return None


def parameters(function: Function) -> list[str]:
    """The names of a function's parameters, `self` left out."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [argument.arg for argument in named if argument.arg != "self"]


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """An argument by position or keyword, None if it is not there or cannot be known."""
    for word in call.keywords:
        if word.arg == name:
            return word.value
    if position < len(call.args) and not any(isinstance(arg, ast.Starred) for arg in call.args[: position + 1]):
        return call.args[position]
    return None


def _assignments(function: Function) -> dict[str, list[ast.expr | None]]:
    found: dict[str, list[ast.expr | None]] = {}
    whole = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            whole.add(node.targets[0])
            found.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)) and node not in whole:
            found.setdefault(node.id, []).append(None)
    return found


def is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def names(node: ast.AST) -> set[str]:
    """The names that an expression mentions."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def applied(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The text after edits that do not overlap; those at one place in their order."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        assert edit.start >= at, "edits overlap"
        parts += [data[at : edit.start], edit.text.encode()]
        at = edit.end
    return b"".join([*parts, data[at:]])
