"""The parameters that the classes and functions of a package really take, for `list_libraries`.

Beyond what stands in a `def`: fields of dataclasses, constructors of bases, and what becomes of `**kwargs`. They are
followed where a function passes them on (`super().__init__(**kwargs)`), takes names out (`kwargs.pop("name")`) or
refuses the rest. A decorator that wraps a function is read as well. Anything else leaves `**kwargs` open, or the
parameters unknown (None).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint.knowledge.list_decorators import Wrapping, wrapping
from modellint.knowledge.list_keywords import PassedOn, Work, keyword_work
from modellint.knowledge.list_modules import Module, Named, methods_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from modellint.knowledge.list_modules import Source

#: Bases that leave the constructor to others.
NEUTRAL = frozenset(
    (
        *("object", "builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol"),
        *("collections.abc.Callable", "collections.abc.Iterator", "collections.abc.Iterable", "collections.abc.Sized"),
        *("torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "torch.utils.data.dataset.Dataset"),
        *("typing.Sized", "typing.Iterable", "typing.Iterator", "collections.abc.Mapping", "typing.Mapping"),
        *("collections.abc.MutableMapping", "collections.abc.Sequence", "collections.abc.Hashable"),
    )
)
#: Metaclasses that call a class as `type` does.
_PLAIN_METACLASSES = frozenset(("abc.ABCMeta", "type", "builtins.type"))
_MAX_DEPTH = 12


@dataclass(frozen=True)
class Parameter:
    """One parameter, by the kinds that `graph/value.py` has."""

    name: str
    kind: str
    has_default: bool

    def optional(self) -> Parameter:
        return Parameter(self.name, "keyword", has_default=True)


Parameters = tuple[Parameter, ...]
_OPEN = Parameter("kwargs", "var-keyword", has_default=False)
_MORE = Parameter("args", "var-positional", has_default=False)


class Calls:
    """The parameters of what one package defines, by its source and by the constructors of bases outside of it."""

    def __init__(self, source: Source, outside: Callable[[str], Parameters | None]) -> None:
        self.source = source
        self._outside = outside
        self._chains: dict[str, list[Named]] = {}
        self._constructors: dict[str, Parameters | None] = {}
        self._wrappings: dict[tuple[str, str], Wrapping | None] = {}
        self._works: dict[ast.FunctionDef, Work] = {}
        self._depth = 0

    # -- classes ------------------------------------------------------------------------------------------------------

    def bases(self, cls: Named) -> list[Named]:
        """The definitions of the bases of a class; `Named()` for one that is not known."""
        module, node = cls.module, cls.node
        assert module is not None
        assert isinstance(node, ast.ClassDef)
        written = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
        found = []
        for base in written:
            named = self.source.resolve_expression(module, base)
            if named is None and isinstance(base, ast.Name):
                named = Named(external=f"builtins.{base.id}")
            found.append(named or Named())
        return found

    def chain(self, cls: Named) -> list[Named]:
        """The classes in which Python looks for a method, those of other packages too, as far as they are known."""
        known = self._chains.get(cls.full)
        if known is None:
            self._chains[cls.full] = [cls]
            bases = self.bases(cls)
            chains = [self.chain(base) if _is_class(base) else [base] for base in bases]
            known = self._chains[cls.full] = [cls, *_linearise([*chains, bases])]
        return known

    def constructor(self, cls: Named) -> Parameters | None:
        """The parameters with which an object of a class is made; None if they are not known."""
        if cls.full not in self._constructors:
            self._constructors[cls.full] = None  # for what leads back to itself
            self._constructors[cls.full] = self._constructor(self.chain(cls), 0)
        return self._constructors[cls.full]

    def _constructor(self, chain: Sequence[Named], start: int) -> Parameters | None:
        """The parameters of the first constructor in a chain of classes, from a position on."""
        for at in range(start, len(chain)):
            one = chain[at]
            if not _is_class(one):
                if one.external in NEUTRAL:
                    continue
                return self._outside(one.external)
            node, module = one.node, one.module
            assert module is not None
            assert isinstance(node, ast.ClassDef)
            if start == 0 and (self._is_altered(node, module) or (at and self._alters_derived(node))):
                return None
            own = {method.name: method for method in methods_of(node)}
            if is_dataclass(node):
                return None if "__init__" in own or "__new__" in own else self._fields(chain[at:])
            if "__new__" in own and not _takes_all(own["__new__"]):
                return self.parameters(own["__new__"], module, chain, at)
            if "__init__" in own:
                return self.parameters(own["__init__"], module, chain, at)
            if any(isinstance(s, ast.Assign) and any(_is_named(t, "__init__") for t in s.targets) for s in node.body):
                return None
        return ()

    def _is_altered(self, node: ast.ClassDef, module: Module) -> bool:
        """True if a metaclass or a decorator may change what a class takes."""
        for keyword in node.keywords:
            named = self.source.resolve_expression(module, keyword.value) if keyword.arg == "metaclass" else None
            if keyword.arg != "metaclass" or (named is not None and named.external in _PLAIN_METACLASSES):
                continue
            if named is None or not _is_class(named) or not isinstance(named.node, ast.ClassDef):
                return True
            if any(method.name == "__call__" for method in methods_of(named.node)):
                return True
        return any(
            self._wrapping(one, module) != Wrapping() for one in node.decorator_list if not _is_dataclass_mark(one)
        )

    @staticmethod
    def _alters_derived(node: ast.ClassDef) -> bool:
        """True if a class changes the constructors of those that derive from it."""
        hooks = (method for method in methods_of(node) if method.name == "__init_subclass__")
        return any("dataclass" in (text := ast.unparse(hook)) or "cls.__init__" in text for hook in hooks)

    def _fields(self, chain: Sequence[Named]) -> Parameters | None:
        """The fields of a dataclass and of those that it derives from, the first ones first."""
        fields: dict[str, Parameter] = {}
        for one in reversed(chain):
            if not _is_class(one):
                if one.external not in NEUTRAL:
                    return None
                continue
            assert isinstance(one.node, ast.ClassDef)
            if is_dataclass(one.node):
                fields.update(_fields_of(one.node))
            elif any(method.name == "__init__" for method in methods_of(one.node)):
                return None
        found = [one for one in fields.values() if one.kind != "-"]
        return (*(one for one in found if one.kind == "positional"), *(one for one in found if one.kind == "keyword"))

    def members(self, cls: Named) -> dict[str, Parameters | None]:
        """The public methods of a class statement that are called on the class, with their parameters."""
        assert isinstance(cls.node, ast.ClassDef)
        assert cls.module is not None
        found = {}
        for method in methods_of(cls.node):
            if not method.name.startswith("_") and is_of_class(method):
                is_static = any(_is_named(one, "staticmethod") for one in method.decorator_list)
                found[method.name] = self.parameters(method, cls.module, self.chain(cls), 0, has_receiver=not is_static)
        return found

    # -- functions ----------------------------------------------------------------------------------------------------

    def of(self, named: Named) -> Parameters | None:
        """The parameters of a class or function; None if they are not known."""
        if _is_class(named):
            return self.constructor(named)
        if named.node is None or named.module is None:
            return self._outside(named.external)
        assert isinstance(named.node, ast.FunctionDef)
        return self.parameters(named.node, named.module, (), 0, has_receiver=False)

    def parameters(
        self, node: ast.FunctionDef, module: Module, chain: Sequence[Named], at: int, *, has_receiver: bool = True
    ) -> Parameters | None:
        """The parameters of a function; of a method of the class at a position of a chain, its receiver left out."""
        if self._depth > _MAX_DEPTH:
            return None
        wrapped = Wrapping()
        for decorator in node.decorator_list:
            found = self._wrapping(decorator, module)
            if found is None:
                return None
            wrapped = wrapped.with_more(found)
        self._depth += 1
        try:
            own = _with_keywords(_as_written(node)[has_receiver:], node, self, module, chain, at)
        finally:
            self._depth -= 1
        return _behind_wrapper(own, wrapped)

    def _wrapping(self, decorator: ast.expr, module: Module) -> Wrapping | None:
        key = module.name, ast.unparse(decorator)
        if key not in self._wrappings:
            self._wrappings[key] = wrapping(decorator, module, self.source)
        return self._wrappings[key]

    def work(self, node: ast.FunctionDef, name: str, module: Module) -> Work:
        """The fate of the `**name` of a function."""
        if node not in self._works:
            self._works[node] = keyword_work(node, name, lambda one: self.source.resolve(module, one))
        return self._works[node]

    def passed_to(self, call: PassedOn, module: Module, chain: Sequence[Named], at: int) -> Parameters | None:
        """The parameters of the callee of a call with `**kwargs`; None if it is not known."""
        function = call.node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
            if not chain or not _is_named(function.value.func, "super"):
                return None
            behind = (
                self.source.resolve_expression(module, function.value.args[0]) if function.value.args else chain[at]
            )
            place = next((n for n, one in enumerate(chain) if behind is not None and _same(one, behind)), len(chain))
            return self._next(function.attr, chain, place + 1) if place < len(chain) else None
        if isinstance(function, ast.Attribute) and function.attr == "__init__":
            base = self.source.resolve_expression(module, function.value)
            return None if base is None else self.of(base)
        named = self.source.resolve_expression(module, function)
        return None if named is None else self.of(named)

    def _next(self, method: str, chain: Sequence[Named], start: int) -> Parameters | None:
        """The parameters of the first method of a name in a chain of classes."""
        if method == "__init__":
            return self._constructor(chain, start)
        for at in range(start, len(chain)):
            one = chain[at]
            if not _is_class(one) or one.module is None:
                return None
            assert isinstance(one.node, ast.ClassDef)
            for found in methods_of(one.node):
                if found.name == method:
                    return self.parameters(found, one.module, chain, at)
        return None


def _with_keywords(
    own: Parameters, node: ast.FunctionDef, calls: Calls, module: Module, chain: Sequence[Named], at: int
) -> Parameters:
    """The parameters of a function, with those that it passes its `**kwargs` on to in their place."""
    if node.args.kwarg is None:
        return own
    work = calls.work(node, node.args.kwarg.arg, module)
    taken = [Parameter(name, "keyword", has_default=True) for name in sorted(work.taken)]
    if work.is_open:
        return own
    more: list[Parameter] = []
    for call in work.passed_on:
        found = calls.passed_to(call, module, chain, at)
        if found is None:
            return own
        left = found if call.positional is None else _without_positional(found, call.positional)
        left = tuple(one for one in left if one.name not in call.named)
        plain = [one for one in own if not one.kind.startswith("var-")]
        if not plain and not taken and call.has_rest and len(work.passed_on) == 1 and not work.may_fill:
            return left  # `def __init__(self, *args, **kwargs): super().__init__(*args, **kwargs)`
        is_certain = not work.may_fill and call.is_certain and not call.has_rest
        for one in left:
            if one.kind in ("positional", "keyword"):
                more.append(Parameter(one.name, "keyword", has_default=one.has_default or not is_certain))
            elif one.kind == "var-keyword":
                more.append(one)
    kept = [one for one in own if one.kind != "var-keyword"]
    names = {one.name for one in kept}
    for one in (*taken, *more):
        if one.name not in names or one.kind == "var-keyword":
            names.add(one.name)
            kept.append(one)
    ends = [one for one in kept if one.kind == "var-keyword"][:1]
    return (*(one for one in kept if one.kind != "var-keyword"), *ends)


def _without_positional(parameters: Parameters, given: int) -> Parameters:
    """The parameters that are left after so many by position."""
    left = list(parameters)
    for one in parameters:
        if given and one.kind == "positional":
            left.remove(one)
            given -= 1
    return tuple(left)


def _behind_wrapper(own: Parameters, wrapped: Wrapping) -> Parameters:
    """The parameters of a function behind decorators that wrap it."""
    if not wrapped.wraps:
        return own
    names = {one.name for one in own}
    kinds = {one.kind for one in own}
    plain = [one for one in own if one.kind == "positional"]
    rest = [one for one in own if one.kind == "keyword"]
    rest += [Parameter(name, "keyword", has_default=True) for name in sorted(wrapped.names - names)]
    is_open = wrapped.is_open or "var-keyword" in kinds
    return (*plain, _MORE, *rest, *([_OPEN] if is_open else []))


def _as_written(node: ast.FunctionDef) -> Parameters:
    """The parameters as they are written, the receiver too."""
    taken = node.args
    plain = [*taken.posonlyargs, *taken.args]
    needed = len(plain) - len(taken.defaults)
    found = [Parameter(one.arg, "positional", has_default=at >= needed) for at, one in enumerate(plain)]
    if taken.vararg is not None:
        found.append(Parameter(taken.vararg.arg, "var-positional", has_default=False))
    for one, default in zip(taken.kwonlyargs, taken.kw_defaults, strict=True):
        found.append(Parameter(one.arg, "keyword", has_default=default is not None))
    if taken.kwarg is not None:
        found.append(Parameter(taken.kwarg.arg, "var-keyword", has_default=False))
    return tuple(found)


def is_of_class(method: ast.FunctionDef) -> bool:
    """True if a method is called on the class: a class method, or a static one."""
    marks = (one.id for one in method.decorator_list if isinstance(one, ast.Name))
    return any(mark.endswith(("classmethod", "staticmethod")) for mark in marks)


def _takes_all(method: ast.FunctionDef) -> bool:
    """True of `def __new__(cls, *args, **kwargs)` and `def __new__(cls)`, which leave the arguments to `__init__`."""
    return not method.args.args[1:] and not method.args.kwonlyargs


# -- dataclasses ------------------------------------------------------------------------------------------------------


def _is_named(expression: ast.expr, name: str) -> bool:
    return isinstance(expression, ast.Name) and expression.id == name


def _is_dataclass_mark(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(function) in ("dataclass", "dataclasses.dataclass")


def is_dataclass(node: ast.ClassDef) -> bool:
    """True if a class statement is decorated as a dataclass."""
    return any(map(_is_dataclass_mark, node.decorator_list))


def _fields_of(node: ast.ClassDef) -> dict[str, Parameter]:
    """The fields of one dataclass; those that its constructor does not take have the kind `-`."""
    marks = [one for one in node.decorator_list if _is_dataclass_mark(one) and isinstance(one, ast.Call)]
    kind = "keyword" if any(_says(mark, "kw_only", value=True) for mark in marks) else "positional"
    found = {}
    for one in node.body:
        if not isinstance(one, ast.AnnAssign) or not isinstance(one.target, ast.Name):
            continue
        name, annotation, value = one.target.id, ast.unparse(one.annotation), one.value
        if annotation.rpartition(".")[2] == "KW_ONLY":
            kind = "keyword"
        elif "ClassVar" not in annotation:
            call = value if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("field") else None
            has_default = value is not None
            is_taken, own_kind = True, kind
            if call is not None:
                has_default = any(keyword.arg in ("default", "default_factory") for keyword in call.keywords)
                is_taken = not _says(call, "init", value=False)
                own_kind = "keyword" if _says(call, "kw_only", value=True) else kind
            found[name] = Parameter(name, own_kind if is_taken else "-", has_default)
    return found


def _says(call: ast.expr, name: str, *, value: bool) -> bool:
    keywords: Iterable[ast.keyword] = call.keywords if isinstance(call, ast.Call) else ()
    return any(one.arg == name and isinstance(one.value, ast.Constant) and one.value.value is value for one in keywords)


# -- chains of classes ------------------------------------------------------------------------------------------------


def _is_class(named: Named) -> bool:
    return isinstance(named.node, ast.ClassDef)


def _linearise(chains: list[list[Named]]) -> list[Named]:
    """C3 linearisation; where there is none, the chains one after another."""
    result: list[Named] = []
    pending = [list(chain) for chain in chains if chain]
    while pending:
        heads = (chain[0] for chain in pending)
        fits = (one for one in heads if not any(_same(one, other) for rest in pending for other in rest[1:]))
        head = next(fits, pending[0][0])
        result.append(head)
        pending = [rest for chain in pending if (rest := [one for one in chain if not _same(one, head)])]
    return result


def _same(one: Named, other: Named) -> bool:
    return one is other or (bool(one.full or one.external) and (one.full, one.external) == (other.full, other.external))
