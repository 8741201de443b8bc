"""The values of the names in a configuration that is a Python file, and the nodes that they become."""

from __future__ import annotations

import ast
import builtins
from dataclasses import field
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.recipe import MERGE, NO_TAG, Entry, Node, NodeKind, Reference, Tag, TagKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from modellint.graph.recipe import Scalar
    from modellint.source import SourceFile, Span

BASE = "_base_"
#: The key that names what a mapping builds.
TYPE = "type"
#: The text of the tag of an inherited value that need not be there.
OPTIONAL = "optional"
READ_BASE = "read_base"
_MAX_ELEMENTS = 1_000
_MAX_DEPTH = 60
_MAX_NUMBER = 10**12
#: Methods of dictionaries and lists that change nothing.
_READING = frozenset(("copy", "get", "items", "keys", "values", "index", "count"))
_CHANGING = frozenset(("pop", "setdefault", "clear", "popitem", "extend", "insert", "remove", "sort", "reverse"))
_BUILTINS = frozenset(dir(builtins)) | {"__file__", "__name__", "__builtins__"}
#: Predefined variables, which the loader replaces in the text.
_PREDEFINED = frozenset(("fileDirname", "fileBasename", "fileBasenameNoExtension", "fileExtname"))
_OPENING = frozenset(("globals", "locals", "exec", "eval", "vars", "setattr"))


@dataclass(frozen=True, slots=True)
class Base:
    """A file that a configuration inherits from, as written.

    `names` are those that an import binds, each with its own name there; None for all of them.
    """

    text: str
    span: Span
    is_module: bool = False
    level: int = 0
    names: tuple[tuple[str, str], ...] | None = None


@dataclass(eq=False, slots=True)
class Dict:
    """A dictionary; keys that are written twice have both entries in `doubled`, and `merges` is what it unpacks."""

    span: Span
    entries: dict[Scalar, tuple[Node, Value]] = field(default_factory=dict)
    doubled: list[tuple[Node, Value]] = field(default_factory=list)
    merges: list[Value] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class List:
    """A list or a tuple; not `is_whole`: it may have more elements than these."""

    span: Span
    elements: list[Value] = field(default_factory=list)
    is_whole: bool = True


Value = Dict | List | Node


def _is_integer(value: Value) -> bool:
    return isinstance(value, Node) and value.plain and value.text.lstrip("-").isdecimal()


class Values:
    """The values of a configuration's names, and those of its expressions."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.bases: list[Base] = []
        self.asked: list[Reference] = []
        self.unbound: list[Reference] = []
        self.is_whole = True
        self.is_lazy = False
        #: The inherited values that statements change or remove, by their keys; True for those that they remove.
        self.changed: dict[str, bool] = {}
        self._names: dict[str, tuple[Node, Value]] = {}
        #: Names that are bound to no value of the configuration: modules, functions.
        self._others: dict[str, str] = {}
        self._inherited: dict[str, str] = {}
        self._has_star = False
        self._depth = 0
        self._nodes: dict[int, Node] = {}

    # -- nodes -------------------------------------------------------------------------------------------------

    def _node(self, value: Value, depth: int = 0) -> Node:
        """The node of a value; one object has one node."""
        if isinstance(value, Node):
            return value
        known = self._nodes.get(id(value))
        if known is not None:
            return known
        if depth > _MAX_DEPTH:
            return self._unknown(value.span)
        self._nodes[id(value)] = self._unknown(value.span)  # one that holds itself
        if isinstance(value, List):
            tag = NO_TAG if value.is_whole else Tag(TagKind.OTHER, "", "", value.span)
            elements = tuple(self._node(one, depth + 1) for one in value.elements)
            node = Node(NodeKind.SEQUENCE, tag, value.span, elements=elements)
        else:
            pairs = [*value.doubled, *value.entries.values()]
            entries = [Entry(key, self._node(one, depth + 1)) for key, one in pairs]
            parts = tuple(self._node(merged, depth + 1) for merged in value.merges)
            if parts:
                key = Node(NodeKind.SCALAR, NO_TAG, value.span, MERGE)
                entries.append(Entry(key, Node(NodeKind.SEQUENCE, NO_TAG, value.span, elements=parts)))
            node = Node(NodeKind.MAPPING, type_tag(entries), value.span, entries=tuple(entries))
        self._nodes[id(value)] = node
        return node

    def _span(self, node: ast.AST) -> Span:
        line, end = node.lineno, node.end_lineno or node.lineno  # type: ignore[attr-defined]
        return self.source.span_of_bytes(line, node.col_offset, end, node.end_col_offset)  # type: ignore[attr-defined]

    def _constant(self, value: object, span: Span) -> Node:
        if isinstance(value, str):
            if "{{" in value:
                return self._unknown(span)
            return Node(NodeKind.SCALAR, NO_TAG, span, value, plain=False)
        if value is None or isinstance(value, bool):
            return Node(NodeKind.SCALAR, NO_TAG, span, {None: "null", True: "true", False: "false"}[value])
        if isinstance(value, int | float) and abs(value) < _MAX_NUMBER:
            return Node(NodeKind.SCALAR, NO_TAG, span, repr(value))
        return self._unknown(span)

    def _unknown(self, span: Span, target: str = "") -> Node:
        """A value that only a run knows, or a class by its dotted name."""
        return Node(NodeKind.SCALAR, Tag(TagKind.OTHER, target, "", span), span, target, plain=False)

    def _inherits(self, text: str, span: Span) -> Node:
        """The value of an inherited key."""
        return Node(NodeKind.SCALAR, Tag(TagKind.REF, text, "", span), span, text, plain=False)

    def _key(self, name: Scalar, span: Span) -> Node:
        if isinstance(name, str):
            return Node(NodeKind.SCALAR, NO_TAG, span, name, plain=False)
        return self._constant(name, span)

    # -- changes --------------------------------------------------------------------------------------------

    def _bind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._others.pop(target.id, None)
            self._names[target.id] = (self._key(target.id, self._span(target)), value)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elements if isinstance(value, List) and value.is_whole else None
            is_even = parts is not None and len(parts) == len(target.elts)
            for number, part in enumerate(target.elts):
                self._bind(part, parts[number] if parts is not None and is_even else self._unknown(self._span(part)))
        elif isinstance(target, ast.Subscript | ast.Attribute):
            self._put(target, value)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, self._unknown(self._span(target)))

    def _put(self, target: ast.Subscript | ast.Attribute, value: Value) -> None:
        """Set an entry of a dictionary or list."""
        holder = self._own_value(target.value)
        key = self._subscript(target)
        if isinstance(holder, Dict) and key is not None:
            span = self._span(target.slice) if isinstance(target, ast.Subscript) else self._span(target)
            holder.entries[key] = (self._key(key, span), value)
        elif isinstance(holder, List) and isinstance(key, int) and -len(holder.elements) <= key < len(holder.elements):
            holder.elements[key] = value
        elif holder is not None:
            self._open(holder)

    def _subscript(self, target: ast.Subscript | ast.Attribute) -> Scalar:
        if isinstance(target, ast.Attribute):
            return target.attr
        key = self._value(target.slice)
        return key.scalar if isinstance(key, Node) and key.tag is NO_TAG else None

    def _own_value(self, place: ast.expr) -> Value | None:
        """The dictionary or list that a name, or an entry, stands for; an inherited one is copied to be changed."""
        if not isinstance(place, ast.Name | ast.Subscript | ast.Attribute):
            self._value(place)
            return None
        value = self._value(place)
        if isinstance(value, Node) and value.tag.kind is TagKind.REF:
            self.changed.setdefault(value.text, False)
            if not value.text:
                return None
            own = Dict(value.span, merges=[value])
            if not is_of_base(place):
                self._bind(place, own)
            return own
        return None if isinstance(value, Node) else value

    def _open(self, value: Value) -> None:
        """Note that something unknown may change a dictionary or list."""
        if isinstance(value, Dict):
            value.merges.append(self._unknown(value.span))
        elif isinstance(value, List):
            value.is_whole = False

    def _open_all(self, value: Value, depth: int = 0) -> None:
        self._open(value)
        inner = value.elements if isinstance(value, List) else ()
        for one in inner if not isinstance(value, Dict) else [held for _, held in value.entries.values()]:
            if depth < _MAX_DEPTH and not isinstance(one, Node):
                self._open_all(one, depth + 1)

    # -- expressions -------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr) -> Value:
        self._depth += 1
        try:
            return self._unknown(self._span(node)) if self._depth > _MAX_DEPTH else self._evaluate(node)
        finally:
            self._depth -= 1

    def _evaluate(self, node: ast.expr) -> Value:
        span = self._span(node)
        match node:
            case ast.Constant():
                return self._constant(node.value, span)
            case ast.Dict():
                return self._dict(node)
            case ast.List() | ast.Tuple():
                return self._list(node.elts, span)
            case ast.Name():
                return self._by_name(node, span)
            case ast.Attribute() | ast.Subscript():
                return self._member(node, span)
            case ast.Call():
                return self._call(node, span)
            case ast.BinOp():
                return self._compute(node, self._value(node.left), node.op, self._value(node.right))
            case ast.UnaryOp(op=ast.USub()):
                value = self._value(node.operand)
                number = value.scalar if isinstance(value, Node) and value.tag is NO_TAG else None
                is_number = isinstance(number, int | float) and not isinstance(number, bool)
                return self._constant(-number, span) if is_number else self._unknown(span)  # type: ignore[operator]
            case ast.JoinedStr():
                return self._f_string(node, span)
            case ast.Set() if len(node.elts) == 1 and isinstance(node.elts[0], ast.Set):
                return self._in_braces(node.elts[0], span)
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._look(node)
                return self._unknown(span)
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self._value(part)
        return self._unknown(span)

    def _in_braces(self, inner: ast.Set, span: Span) -> Value:
        """`{{_base_.x}}`, or a predefined variable."""
        one = inner.elts[0]
        if len(inner.elts) == 1 and not (isinstance(one, ast.Name) and one.id in _PREDEFINED):
            return self._value(one)
        return self._unknown(span)

    def _look(self, node: ast.expr) -> None:
        """Note the inherited keys that are asked for within an expression that is not followed."""
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == BASE:
                self.asked.append(Reference(part.attr, self._span(part)))

    def _dict(self, node: ast.Dict) -> Dict:
        found = Dict(self._span(node))
        written: set[Scalar] = set()
        for key, part in zip(node.keys, node.values, strict=True):
            value = self._value(part)
            if key is None:
                self._unpack(found, value)
                continue
            name = self._value(key)
            if not isinstance(name, Node) or name.tag is not NO_TAG:
                self._open(found)
                continue
            if name.scalar in written:
                found.doubled.append(found.entries[name.scalar])
            written.add(name.scalar)
            found.entries[name.scalar] = (self._key(name.scalar, name.span), value)
        return found

    def _unpack(self, found: Dict, value: Value) -> None:
        if isinstance(value, Dict):
            found.entries.update(value.entries)
            found.merges += value.merges
        else:
            found.merges.append(value)

    def _list(self, parts: Sequence[ast.expr], span: Span) -> List:
        found = List(span)
        for part in parts:
            if isinstance(part, ast.Starred):
                value = self._value(part.value)
                if isinstance(value, List):
                    found.elements += value.elements
                    found.is_whole = found.is_whole and value.is_whole
                else:
                    found.is_whole = False
            else:
                found.elements.append(self._value(part))
        return found

    def _by_name(self, node: ast.Name, span: Span) -> Value:
        name = node.id
        if name in self._names:
            return self._names[name][1]
        if name == BASE:
            return self._inherits("", span)
        if name in self._inherited:
            return self._inherits(self._inherited[name], span)
        if name in self._others:
            return self._unknown(span, self._others[name])
        if name in _BUILTINS:
            return self._unknown(span)
        if self._has_star and self.is_lazy:
            self.asked.append(Reference(name, span))
            return self._inherits(name, span)
        if self.is_whole:
            self.unbound.append(Reference(name, span))
        return self._unknown(span)

    def _member(self, node: ast.Attribute | ast.Subscript, span: Span) -> Value:
        holder = self._value(node.value)
        key = self._subscript(node)
        if isinstance(holder, Node):
            if holder.tag.kind is TagKind.REF and key is not None and not (isinstance(key, str) and "." in key):
                if isinstance(node, ast.Attribute) and key in _READING | _CHANGING | {"update", "append", "merge"}:
                    return self._unknown(span)
                text = f"{holder.text}.{key}" if holder.text else str(key)
                if not self._covers(holder, text, span):
                    self.asked.append(Reference(text, span))
                return self._inherits(text, span)
            is_name = isinstance(node, ast.Attribute) and holder.tag.target
            return self._unknown(span, f"{holder.tag.target}.{key}" if is_name else "")
        if isinstance(node, ast.Attribute):
            return self._unknown(span)
        if isinstance(holder, Dict) and key in holder.entries:
            return holder.entries[key][1]
        is_index = isinstance(holder, List) and holder.is_whole and isinstance(key, int)
        if is_index and -len(holder.elements) <= key < len(holder.elements):  # type: ignore[union-attr,operator]
            return holder.elements[key]  # type: ignore[union-attr,index]
        return self._unknown(span)

    def _covers(self, holder: Node, text: str, span: Span) -> bool:
        """Replace the reference of a holder by the longer one that it is a part of; True if there was one."""
        last = self.asked[-1] if self.asked else None
        if last is None or not holder.text or last.text != holder.text or last.span != holder.span:
            return False
        self.asked[-1] = Reference(text, span)
        return True

    def _call(self, node: ast.Call, span: Span) -> Value:
        callee = node.func
        name = callee.id if isinstance(callee, ast.Name) and callee.id not in self._names else ""
        if name == "dict" and name not in self._others:
            return self._dict_call(node, span)
        if isinstance(callee, ast.Attribute):
            done = self._method(callee, node, span)
            if done is not None:
                return done
        if name in _OPENING:
            self.is_whole = False
        values = [self._value(part.value if isinstance(part, ast.Starred) else part) for part in node.args]
        values += [self._value(part.value) for part in node.keywords]
        if name in ("list", "tuple") and len(values) == 1 and isinstance(values[0], List):
            return List(span, list(values[0].elements), values[0].is_whole)
        is_builtin = name in _BUILTINS and name not in self._others
        if name == "int" and is_builtin and len(values) == 1 and _is_integer(values[0]):
            return values[0]
        for value in values:
            if not is_builtin:
                self._open_all(value)
        return self._unknown(span)

    def _dict_call(self, node: ast.Call, span: Span) -> Dict:
        found = Dict(span)
        for part in node.args:
            self._unpack(found, self._value(part))
        for keyword in node.keywords:
            value = self._value(keyword.value)
            if keyword.arg is None:
                self._unpack(found, value)
            else:
                line, start = keyword.lineno, keyword.col_offset
                place = self.source.span_of_bytes(line, start, line, start + len(keyword.arg.encode()))
                found.entries[keyword.arg] = (self._key(keyword.arg, place), value)
        return found

    def _method(self, callee: ast.Attribute, node: ast.Call, span: Span) -> Value | None:
        """The result of a method of a dictionary or list, which it may change; None for other calls."""
        name = callee.attr
        if name in _READING:
            value = self._value(callee.value)
            if isinstance(value, Node) and value.tag.kind is not TagKind.REF:
                return None
            for part in node.args:
                self._value(part)
            if name == "copy":
                if isinstance(value, Dict):
                    return Dict(span, dict(value.entries), [], list(value.merges))
                return value if isinstance(value, Node) else List(span, list(value.elements), value.is_whole)
            return self._unknown(span)
        if name == "deepcopy" and len(node.args) == 1:
            return self._deep_copy(self._value(node.args[0]))
        if name not in _CHANGING | {"update", "append", "merge"}:
            return None
        holder = self._own_value(callee.value)
        if name == "pop" and node.args and is_of_base(callee):
            key = self._value(node.args[0])
            place = self._value(callee.value)
            if isinstance(key, Node) and isinstance(place, Node) and place.tag.kind is TagKind.REF:
                text = f"{place.text}.{key.scalar}" if place.text else str(key.scalar)
                self.changed[text] = True
                return self._inherits(text, span)
        values = [self._value(part) for part in node.args if not isinstance(part, ast.Starred)]
        if holder is None:
            for keyword in node.keywords:
                self._value(keyword.value)
        elif isinstance(holder, Dict) and name == "update" and len(values) == len(node.args) < 2:
            given = self._dict_call(ast.copy_location(ast.Call(node.func, [], node.keywords), node), span)
            for added in (*values, given):
                self._update(holder, added)
        elif isinstance(holder, List) and name == "append" and len(values) == 1:
            holder.elements.append(values[0])
        elif isinstance(holder, List) and name == "insert" and len(values) == 2:
            holder.elements.append(values[1])
            holder.is_whole = False
        else:
            self._open_all(holder)
        return self._unknown(span)

    def _update(self, holder: Dict, added: Value) -> None:
        """`holder.update(added)`; what is inherited is a `ConfigDict`, which merges deeply."""
        base = next((one for one in holder.merges if isinstance(one, Node) and one.tag.kind is TagKind.REF), None)
        if base is None or not isinstance(added, Dict):
            self._unpack(holder, added)
            return
        for name, (key, value) in added.entries.items():
            known = holder.entries.get(name)
            if isinstance(value, Dict) and known is None:
                below = Tag(TagKind.REF, f"{base.text}.{name}", OPTIONAL, base.span)
                inner = Dict(value.span, merges=[Node(NodeKind.SCALAR, below, base.span, below.target, plain=False)])
                self._update(inner, value)
                holder.entries[name] = (key, inner)
            elif isinstance(value, Dict) and known is not None and isinstance(known[1], Dict):
                self._update(known[1], value)
            else:
                holder.entries[name] = (key, value)
        holder.merges += added.merges

    def _deep_copy(self, value: Value, depth: int = 0) -> Value:
        if isinstance(value, Node) or depth > _MAX_DEPTH:
            return value
        if isinstance(value, List):
            return List(value.span, [self._deep_copy(one, depth + 1) for one in value.elements], value.is_whole)
        entries = {name: (key, self._deep_copy(one, depth + 1)) for name, (key, one) in value.entries.items()}
        return Dict(value.span, entries, [], list(value.merges))

    def _f_string(self, node: ast.JoinedStr, span: Span) -> Value:
        texts: list[str] = []
        is_known = True
        for part in node.values:
            inner = part.value if isinstance(part, ast.FormattedValue) else part
            value = self._value(inner)
            known = isinstance(value, Node) and value.tag is NO_TAG
            is_plain = not isinstance(part, ast.FormattedValue) or (part.conversion < 0 and part.format_spec is None)
            is_known = is_known and known and is_plain
            texts.append(str(value.scalar) if isinstance(value, Node) else "")
        return self._constant("".join(texts), span) if is_known else self._unknown(span)

    def _compute(self, node: ast.AST, left: Value, operator: ast.operator, right: Value) -> Value:
        span = self._span(node)
        if isinstance(left, List) and isinstance(right, List) and isinstance(operator, ast.Add):
            elements = [*left.elements, *right.elements][:_MAX_ELEMENTS]
            return List(span, elements, left.is_whole and right.is_whole)
        if isinstance(operator, ast.Add) and (isinstance(left, List) or isinstance(right, List)):
            known = left if isinstance(left, List) else right
            return List(span, list(known.elements), is_whole=False)  # type: ignore[union-attr]
        one, other = (
            value.scalar if isinstance(value, Node) and value.tag is NO_TAG else None for value in (left, right)
        )
        if isinstance(left, List) and isinstance(operator, ast.Mult) and type(other) is int:
            times = max(0, min(other, _MAX_ELEMENTS // max(1, len(left.elements))))
            return List(span, left.elements * times, left.is_whole and times == other)
        if isinstance(one, str) and isinstance(other, str) and isinstance(operator, ast.Add):
            return self._constant(one + other, span)
        if type(one) in (int, float) and type(other) in (int, float):
            return self._number(one, operator, other, span)  # type: ignore[arg-type]
        return self._unknown(span)

    def _number(self, one: float, operator: ast.operator, other: float, span: Span) -> Node:
        match operator:
            case ast.Add():
                return self._constant(one + other, span)
            case ast.Sub():
                return self._constant(one - other, span)
            case ast.Mult():
                return self._constant(one * other, span)
            case ast.Div() if other:
                return self._constant(one / other, span)
            case ast.FloorDiv() if other:
                return self._constant(one // other, span)
        return self._unknown(span)


def is_of_base(place: ast.expr) -> bool:
    """True if an expression is an attribute or entry of `_base_`."""
    while isinstance(place, ast.Attribute | ast.Subscript):
        place = place.value
    return isinstance(place, ast.Name) and place.id == BASE


def type_tag(entries: Iterable[Entry]) -> Tag:
    """The tag of a mapping with a `type`: a registered name, or a class; none without one that is known."""
    for entry in entries:
        if entry.key.text == TYPE and entry.value.kind is NodeKind.SCALAR:
            value = entry.value
            target = value.text if value.tag is NO_TAG and not value.plain else value.tag.target
            if target and value.tag.kind is not TagKind.REF:
                return Tag(TagKind.TARGET, target, TYPE, value.span)
    return NO_TAG


def unpacked_nodes(node: Node) -> Iterator[Node]:
    """The nodes that a mapping unpacks."""
    return (
        one for entry in node.entries if entry.key.plain and entry.key.text == MERGE for one in entry.value.elements
    )
