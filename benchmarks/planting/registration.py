"""Mistakes of registration: layers, parameters and buffers that a module does not know of (ML204 to ML207)."""

from __future__ import annotations

import ast
import re
from itertools import cycle
from typing import TYPE_CHECKING

from planting.catalogue import Mutant, operator
from planting.source import (
    ALWAYS_STATEFUL,
    NORMS,
    Class,
    Edit,
    Function,
    Source,
    Store,
    is_name,
    names,
    parameters,
    self_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# -- ML204 -------------------------------------------------------------------------------------------------------------


@operator("ML204", b"ModuleList(")
def unwrap_module_list(source: Source) -> Iterator[Mutant]:
    """`nn.ModuleList([…])` becomes the list itself.

    The elements have parameters (they are written there, or appended to the attribute or to a local list that goes
    nowhere else), another method goes over the attribute or picks from it, and nothing registers by name.
    """
    for cls in source.classes.values():
        for store in cls.constructed():
            if source.called(store.value) == "ModuleList" and not cls.registers_by_name() and _is_picked(cls, store):
                plain = _plain_list(cls, store)
                if plain is not None:
                    yield Mutant((source.replace(store.value, plain),), (store.statement, *_appends(cls, store.name)))


@operator("ML204", b"ModuleDict(")
def unwrap_module_dict(source: Source) -> Iterator[Mutant]:
    """`nn.ModuleDict({…})` becomes the dict itself, comprehensions too, by the same criteria."""
    for cls in source.classes.values():
        for store in cls.constructed():
            value = store.value
            if source.called(value) != "ModuleDict" or cls.registers_by_name() or not _is_picked(cls, store):
                continue
            assert isinstance(value, ast.Call)
            filled = _item_stores(cls, store.name)
            if not value.args and any(source.has_state(item.value) for item in filled):
                yield Mutant((source.replace(value, "{}"),), (store.statement, *filled))
            elif len(value.args) == 1 and _makes_layers(source, cls, value.args[0]):
                yield Mutant((source.replace(value, source.text(value.args[0])),), (store.statement,))


@operator("ML204", b"nn", b"forward")
def trailing_comma(source: Source) -> Iterator[Mutant]:
    """A comma behind the statement that stores a layer, which another method calls."""
    for cls in source.classes.values():
        for store in cls.constructed():
            if source.has_state(store.value) and cls.calls(store.name) and not cls.registers_by_name():
                yield Mutant((source.after(store.value, ","),), (store.statement,))


@operator("ML204", b"nn.Sequential(*", b".append(")
def drop_the_sequential(source: Source) -> Iterator[Mutant]:
    """`self.x = nn.Sequential(*layers)` becomes `self.x = layers`, and its call a loop over the layers."""
    for cls in source.classes.values():
        for store in cls.constructed():
            value = store.value
            if source.called(value) != "Sequential" or cls.registers_by_name() or cls.init is None:
                continue
            assert isinstance(value, ast.Call)
            starred = value.args[0] if len(value.args) == 1 else None
            if not isinstance(starred, ast.Starred) or not isinstance(starred.value, ast.Name):
                continue
            calls = cls.calls(store.name)
            loops = [_as_loop(source, call, store.name) for _, call in calls]
            if len(cls.reads(store.name)) != len(calls) or not _holds_layers(source, cls.init, starred.value.id, value):
                continue
            edits = [loop for loop in loops if loop is not None]
            if edits and len(edits) == len(loops):
                yield Mutant((source.replace(value, starred.value.id), *edits), (store.statement,))


def _as_loop(source: Source, call: ast.Call, name: str) -> Edit | None:
    """`x = self.layers(x)` as `for layer in self.layers: x = layer(x)`."""
    statement = source.parents[call]
    if not isinstance(statement, ast.Assign) or not source.stands_alone(statement) or len(call.args) != 1:
        return None
    target, given = statement.targets[0], call.args[0]
    if len(statement.targets) != 1 or not isinstance(target, ast.Name) or not is_name(given, target.id):
        return None
    indent = source.indentation(statement)
    return source.replace(statement, f"for one_layer in self.{name}:\n{indent}    {target.id} = one_layer({target.id})")


def _is_picked(cls: Class, store: Store) -> bool:
    """Whether another method goes over an attribute, or picks from it."""
    for _, node in cls.reads(store.name):
        parent = cls.source.parents[node]
        if isinstance(parent, (ast.Subscript, ast.For, ast.comprehension)):
            return True
        if isinstance(parent, ast.Attribute) and parent.attr in ("items", "values", "keys"):
            return True
        if isinstance(parent, ast.Call) and getattr(parent.func, "id", None) in ("enumerate", "zip", "reversed"):
            return True
    return False


def _plain_list(cls: Class, store: Store) -> str | None:
    """What stands in `ModuleList(…)`, if it makes layers with parameters."""
    source, call = cls.source, store.value
    assert isinstance(call, ast.Call)
    if not call.args:
        return "[]" if any(_appended_has_state(cls, one) for one in _appends(cls, store.name)) else None
    given = call.args[0]
    if not _makes_layers(source, cls, given):
        return None
    return f"[{_between(source, call)}]" if isinstance(given, ast.GeneratorExp) else source.text(given)


def _between(source: Source, call: ast.Call) -> str:
    """What stands between the parentheses of a call with one argument."""
    inside = source.data[source.end(call.func) : source.end(call)].decode().strip()
    return inside[1:-1].strip().rstrip(",")


def _makes_layers(source: Source, cls: Class, given: ast.expr) -> bool:
    """Whether a list, a dict, a comprehension or a local list is made of layers with parameters."""
    match given:
        case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt):
            return source.has_state(elt)
        case ast.DictComp(value=value):
            return source.has_state(value)
        case ast.List(elts=elts):
            return any(source.has_state(elt) for elt in elts)
        case ast.Dict(values=values):
            return any(source.has_state(value) for value in values)
        case ast.Name(id=name) if cls.init is not None:
            return _holds_layers(source, cls.init, name, source.parents[given])
    return False


def _holds_layers(source: Source, init: Function, name: str, use: ast.AST) -> bool:
    """Whether a local name is a list to which layers with parameters are added, used by `use` and nothing else."""
    values = source.assigned(init, name)
    if len(values) != 1 or not isinstance(values[0], (ast.List, ast.ListComp)):
        return False
    first = values[0]
    has_state = source.has_state(first.elt) if isinstance(first, ast.ListComp) else False
    if isinstance(first, ast.List):
        has_state = any(source.has_state(elt) for elt in first.elts)
    for node in ast.walk(init):
        if not is_name(node, name) or not isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
            continue
        parent = source.parents[node]
        if isinstance(parent, ast.Attribute) and parent.attr in ("append", "extend", "insert"):
            call = source.parents[parent]
            has_state |= isinstance(call, ast.Call) and any(source.has_state(part) for part in ast.walk(call))
        elif parent is not use and source.parents[parent] is not use and not _is_length(parent):
            return False
    return has_state


def _is_length(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and is_name(node.func, "len")


def _appends(cls: Class, name: str) -> list[ast.Call]:
    """`self.name.append(…)` in the constructor."""
    return [
        node
        for node in (ast.walk(cls.init) if cls.init is not None else ())
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and self_name(node.func.value) == name
    ]


def _appended_has_state(cls: Class, call: ast.Call) -> bool:
    assert cls.init is not None
    given = call.args[0] if call.args else call
    if isinstance(given, ast.Name):
        values = cls.source.assigned(cls.init, given.id)
        return len(values) == 1 and values[0] is not None and cls.source.has_state(values[0])
    return cls.source.has_state(given)


def _item_stores(cls: Class, name: str) -> list[ast.Assign]:
    """`self.name[key] = …` in the constructor."""
    return [
        node
        for node in (ast.walk(cls.init) if cls.init is not None else ())
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Subscript)
        and self_name(node.targets[0].value) == name
    ]


# -- ML207 -------------------------------------------------------------------------------------------------------------


@operator("ML207", b"Parameter(")
def parameter_made_a_tensor(source: Source) -> Iterator[Mutant]:
    """`.to(…)`, `.cuda()` or a factor behind `nn.Parameter(…)`: the attribute is a plain tensor then.

    It is the only statement that stores the attribute, and another method reads it.
    """
    endings = cycle((".cuda()", '.to("cuda")', " * 0.02", ".to(torch.float16)"))
    for cls in source.classes.values():
        for store in cls.constructed():
            if source.called(store.value) != "Parameter" or not cls.reads(store.name) or cls.registers_by_name():
                continue
            if f'register_parameter("{store.name}"' in cls.text or "requires_grad" in source.text(store.value):
                continue
            ending = next(endings)
            if "torch." in ending and source.imports.get("torch") != "torch":
                ending = ".cuda()"
            yield Mutant((source.after(store.value, ending),), (store.statement,))


@operator("ML207", b"super().__init__()")
def layer_before_super(source: Source) -> Iterator[Mutant]:
    """`super().__init__()` moves behind the first layer or parameter of a class that derives from `nn.Module` alone."""
    for cls in source.classes.values():
        bases = [source.torch_name(base) for base in cls.node.bases]
        if bases != ["Module"] or cls.init is None:
            continue
        body = [node for node in cls.init.body if not _is_docstring(node)]
        if not body or source.text(body[0]) != "super().__init__()" or not source.stands_alone(body[0]):
            continue
        for statement in body[1:4]:
            if not isinstance(statement, ast.Assign) or not source.stands_alone(statement):
                break
            if self_name(statement.targets[0]) is None:
                break
            if source.has_state(statement.value) or source.called(statement.value) == "Parameter":
                moved = source.line_after(statement, "super().__init__()")
                yield Mutant((source.without(body[0]), moved), (statement,))
                break


@operator("ML207", b"ParameterList(")
def unwrap_parameter_list(source: Source) -> Iterator[Mutant]:
    """`nn.ParameterList([…])` becomes the list itself; another method goes over it or picks from it."""
    for cls in source.classes.values():
        for store in cls.constructed():
            value = store.value
            if source.called(value) != "ParameterList" or cls.registers_by_name() or not _is_picked(cls, store):
                continue
            assert isinstance(value, ast.Call)
            given = value.args[0] if len(value.args) == 1 else None
            elements = given.elts if isinstance(given, ast.List) else [getattr(given, "elt", None)]
            if given is not None and any(one is not None and source.called(one) == "Parameter" for one in elements):
                plain = f"[{_between(source, value)}]" if isinstance(given, ast.GeneratorExp) else source.text(given)
                yield Mutant((source.replace(value, plain),), (store.statement,))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


# -- ML206 -------------------------------------------------------------------------------------------------------------


@operator("ML206", b"nn", b"def forward(")
def layer_into_forward(source: Source) -> Iterator[Mutant]:
    """A layer's constructor moves from `__init__` to where `forward` calls the layer.

    Its arguments can be said there, and `forward` does nothing with the attribute but call it.
    """
    for store, calls, built in _movable_layers(source):
        if len(calls) == 1:
            edit = source.replace(calls[0].func, built)
            yield Mutant((source.without(store.statement), edit), ((edit, built),))


@operator("ML206", b"nn", b"def forward(")
def layer_made_anew_in_forward(source: Source) -> Iterator[Mutant]:
    """`self.x = nn.Linear(…)` moves from `__init__` to the line before its call in `forward`, by the same criteria."""
    for store, calls, built in _movable_layers(source):
        statement = source.statement_of(calls[0])
        if source.stands_alone(statement) and not isinstance(statement, (ast.If, ast.For, ast.While, ast.With)):
            edit = source.line_before(statement, f"self.{store.name} = {built}")
            yield Mutant((source.without(store.statement), edit), ((edit, f"self.{store.name} = {built}"),))


def _movable_layers(source: Source) -> Iterator[tuple[Store, list[ast.Call], str]]:
    for cls in source.classes.values():
        for store in cls.constructed():
            name = source.called(store.value)
            if name not in ALWAYS_STATEFUL | NORMS or not source.has_state(store.value) or cls.init is None:
                continue
            calls = cls.calls(store.name)
            in_forward = all(method.name == "forward" for method, _ in calls)
            if not calls or len(calls) != len(cls.reads(store.name)) or not in_forward or _mentioned(cls, store):
                continue
            if store.statement not in cls.init.body or cls.registers_by_name():
                continue
            built = cls.in_method(store.value)
            if built is not None:
                yield store, [call for _, call in calls], built


def _mentioned(cls: Class, store: Store) -> bool:
    """Whether anything else in the file speaks of the attribute: another class, a string, the constructor."""
    found = len(re.findall(rf"\b{store.name}\b", cls.text))
    return found != 1 + len(cls.calls(store.name))


# -- ML205 -------------------------------------------------------------------------------------------------------------

_FACTORIES = frozenset("zeros ones full arange linspace tensor rand randn eye tril triu logspace".split())
#: Methods and functions that make one tensor of another.
_SHAPING = frozenset("view reshape expand unsqueeze float repeat flip log exp sqrt pow cos sin outer t clone".split())
_MOVES = re.compile(r"\.to\(|type_as|device|\.cuda|dtype|\.cpu|numpy")


@operator("ML205", b"register_buffer(")
def buffer_made_a_tensor(source: Source) -> Iterator[Mutant]:
    """`self.register_buffer("x", torch.…)` becomes `self.x = torch.…`.

    Factories of torch make the tensor, other methods use it, one of them in arithmetic with a local value, and none in
    a statement that speaks of a device or a type. The class registers nothing else by that name: where a buffer is, an
    assignment fills it.
    """
    for cls in source.classes.values():
        if not cls.is_module or cls.init is None or cls.registers_by_name():
            continue
        for statement in cls.init.body:
            if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
                continue
            call = statement.value
            if self_name(call.func) != "register_buffer" or len(call.args) < 2 or not source.stands_alone(statement):
                continue
            label = call.args[0]
            if not isinstance(label, ast.Constant) or not str(label.value).isidentifier():
                continue
            name = str(label.value)
            if name in cls.stores or len(re.findall(rf"""register_buffer\(\s*["']{name}["']""", cls.text)) > 1:
                continue
            if not _is_made(source, cls.init, call.args[1]) or not _meets_values(cls, name):
                continue
            edit = source.replace(statement, f"self.{name} = {source.text(call.args[1])}")
            yield Mutant((edit,), ((edit, edit.text),))


def _is_made(source: Source, init: Function, value: ast.expr, depth: int = 0) -> bool:
    """Whether factories of torch make a value, or the local name that it is; no tensor of a single number."""
    if depth > 6:
        return False
    if isinstance(value, ast.Name):
        values = source.assigned(init, value.id)
        return len(values) == 1 and values[0] is not None and _is_made(source, init, values[0], depth + 1)
    if isinstance(value, ast.BinOp):
        return any(_is_made(source, init, side, depth + 1) for side in (value.left, value.right))
    name = source.called(value, "torch")
    if name in _FACTORIES:
        assert isinstance(value, ast.Call)
        return bool(value.args) and (name != "tensor" or isinstance(value.args[0], (ast.List, ast.Tuple, ast.ListComp)))
    if not isinstance(value, ast.Call):
        return False
    if name in _SHAPING:
        return any(_is_made(source, init, arg, depth + 1) for arg in value.args)
    return (
        isinstance(value.func, ast.Attribute)
        and value.func.attr in _SHAPING
        and _is_made(source, init, value.func.value, depth + 1)
    )


def _meets_values(cls: Class, name: str) -> bool:
    """Whether a use of an attribute is arithmetic with a local value, and no use speaks of devices or types."""
    reads = cls.reads(name)
    if any(_MOVES.search(cls.source.text(cls.source.statement_of(node))) for _, node in reads):
        return False
    return any(_is_operand(cls, method, node) for method, node in reads)


def _is_operand(cls: Class, method: Function, node: ast.Attribute) -> bool:
    parent = cls.source.parents[node]
    if not isinstance(parent, ast.BinOp):
        return False
    other = parent.right if parent.left is node else parent.left
    local = {name for name in names(other) if name in parameters(method) or cls.source.assigned(method, name)}
    return bool(local) and not any(
        isinstance(part, ast.Attribute) and part.attr in ("shape", "size") for part in ast.walk(other)
    )
