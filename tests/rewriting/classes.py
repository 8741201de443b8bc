"""The same class, in other parts."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers as m

from rewriting.code import (
    Additions,
    Store,
    import_lines,
    imported_names,
    is_documentation,
    is_import,
    is_portable,
    mark_of,
    parameters,
    passed_on,
    spaced,
    statements,
    stores,
    text_of,
    with_definitions,
    with_imports,
)
from rewriting.rewriting import Kind, Rewriting, changed, codemod, parsed

if TYPE_CHECKING:
    from collections.abc import Callable

    from rewriting.marks import Files

#: Methods that frameworks call.
_ENTRIES = ("forward", "compute_forward", "compute_objectives", "training_step", "fit_batch")
_SUPER = m.SimpleStatementLine(body=[m.Expr(m.Call(func=m.Attribute(value=m.Call(func=m.Name("super")))))])


def _methods(node: cst.ClassDef) -> list[cst.FunctionDef]:
    if not isinstance(node.body, cst.IndentedBlock):
        return []
    return [part for part in node.body.body if isinstance(part, cst.FunctionDef)]


def _constructor(node: cst.ClassDef) -> cst.FunctionDef | None:
    found = [method for method in _methods(node) if method.name.value == "__init__"]
    usable = found and not found[0].decorators and isinstance(found[0].body, cst.IndentedBlock)
    return found[0] if usable and parameters(found[0])[:1] == ["self"] else None


def _with(node: cst.ClassDef, old: cst.CSTNode, *new: cst.CSTNode) -> cst.ClassDef:
    """A class with other parts in the place of one; `pass` if nothing is left."""
    body: list[cst.CSTNode] = []
    for part in node.body.body:
        body += new if part is old else [part]
    if not body or all(is_documentation(part) for part in body):
        body += statements("pass")
    return node.with_changes(body=node.body.with_changes(body=body))


def _parts(constructor: cst.FunctionDef) -> tuple[list[cst.CSTNode], list[cst.CSTNode]]:
    """The statements of a constructor up to the call of the base's, and those behind it."""
    body = list(constructor.body.body)
    position = next((number for number, part in enumerate(body) if m.matches(part, _SUPER)), -1)
    return body[: position + 1], body[position + 1 :]


def _signature(method: cst.FunctionDef, name: str, body: list[cst.CSTNode]) -> cst.FunctionDef:
    """A method of another name that is given the same, without defaults or annotations."""
    return cst.FunctionDef(
        cst.Name(name),
        method.params.visit(_Bare()),  # type: ignore[arg-type]
        method.body.with_changes(body=body, header=cst.TrailingWhitespace()),
        leading_lines=[cst.EmptyLine(indent=False)],
    )


class _Bare(cst.CSTTransformer):
    def leave_Param(self, original: cst.Param, param: cst.Param) -> cst.Param:
        return param.with_changes(annotation=None, default=None, equal=cst.MaybeSentinel.DEFAULT)


class _OfClasses(cst.CSTTransformer):
    """Goes to classes, and not into their functions: trees are large."""

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return False


class _Build(_OfClasses):
    """A constructor that calls a method which does the rest."""

    def leave_ClassDef(self, original: cst.ClassDef, node: cst.ClassDef) -> cst.ClassDef:
        constructor = _constructor(node)
        if constructor is None:
            return node
        front, rest = _parts(constructor)
        if not rest or any("super" in text_of(part) or "__class__" in text_of(part) for part in rest):
            return node
        if _reads_locals(front, rest, constructor):
            return node
        # What goes wrong in a method goes wrong where the method is called, too.
        marks = " ".join(mark_of(part).removeprefix("# mark: ") for part in rest if mark_of(part))
        name = _builder(node)
        call = statements(f"self.{name}({passed_on(constructor)})", f"# mark: {marks}" if marks else "")
        body = constructor.body.with_changes(body=[*front, *call])
        return _with(node, constructor, constructor.with_changes(body=body), _signature(constructor, name, rest))


def _builder(node: cst.ClassDef) -> str:
    """A name for what builds objects of a class: one that no base and no subclass has."""
    return f"_build_{node.name.value.lower()}"


def _reads_locals(front: list[cst.CSTNode], rest: list[cst.CSTNode], function: cst.FunctionDef) -> bool:
    """Whether later statements read locals of earlier ones."""
    earlier = ast.parse("".join(text_of(part) for part in front))
    bound = {node.id for node in ast.walk(earlier) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    later = ast.parse("".join(text_of(part) for part in rest))
    return bool(bound & {node.id for node in ast.walk(later) if isinstance(node, ast.Name)}) or function is None


class _BuildEach(_OfClasses):
    """A constructor that calls a method for each attribute that it sets."""

    def leave_ClassDef(self, original: cst.ClassDef, node: cst.ClassDef) -> cst.ClassDef:
        constructor = _constructor(node)
        if constructor is None:
            return node
        taken = set(parameters(constructor)) | {
            each.name.value
            for each in (constructor.params.star_arg, constructor.params.star_kwarg)
            if isinstance(each, cst.Param)
        }
        body, methods = [], []
        for part in constructor.body.body:
            name = _attribute_set(part)
            code = text_of(part)
            reads = {item.id for item in ast.walk(ast.parse(code)) if isinstance(item, ast.Name)}
            if not name or not reads & taken or "super" in reads or _binds(constructor) & reads - taken:
                body.append(part)
                continue
            given = sorted((reads & taken) - {"self"})
            body += statements(f"self._build_{name}({', '.join(given)})", mark_of(part))
            (method,) = statements(f"def _build_{name}(self{''.join(f', {each}' for each in given)}):\n    pass")
            methods.append(
                method.with_changes(body=constructor.body.with_changes(body=[part.with_changes(leading_lines=[])]))
            )
        methods = [part for method in methods for part in spaced([method])]
        names = [method.name.value for method in methods]
        if not methods or len(set(names)) < len(names):
            return node
        return _with(
            node, constructor, constructor.with_changes(body=constructor.body.with_changes(body=body)), *methods
        )


def _binds(function: cst.FunctionDef) -> set[str]:
    """The names that a function binds besides its parameters."""
    tree = ast.parse(text_of(function))
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _attribute_set(part: cst.CSTNode) -> str:
    """The attribute of `self` that a statement sets, and nothing else."""
    pattern = m.SimpleStatementLine(
        body=[m.Assign(targets=[m.AssignTarget(m.Attribute(value=m.Name("self"), attr=m.Name()))])]
    )
    if not m.matches(part, pattern):
        return ""
    return part.body[0].targets[0].target.attr.value  # type: ignore[attr-defined,no-any-return]


class _Split(cst.CSTTransformer):
    """Classes whose parts are divided between two classes."""

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return False

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return False

    def leave_Module(self, original: cst.Module, module: cst.Module) -> cst.Module:
        body: list[cst.CSTNode] = []
        for part in module.body:
            body += self.split(part) if isinstance(part, cst.ClassDef) and not part.decorators else [part]
        return module.with_changes(body=body)

    def split(self, node: cst.ClassDef) -> list[cst.CSTNode]:
        raise NotImplementedError


def _has_base(node: cst.ClassDef) -> bool:
    """A class with one base, and without anything that is called by its own name."""
    return len(node.bases) == 1 and not node.keywords and f"super({node.name.value}" not in text_of(node)


class _IntoBase(_Split):
    """The constructor in a base class."""

    def split(self, node: cst.ClassDef) -> list[cst.CSTNode]:
        constructor = _constructor(node)
        if constructor is None or not _has_base(node) or f"{node.name.value}." in text_of(constructor):
            return [node]
        name = f"{node.name.value}Parts"
        documentation = [part for part in node.body.body[:1] if is_documentation(part)]
        body = node.body.with_changes(body=[*documentation, constructor])
        base = node.with_changes(name=cst.Name(name), body=body)
        rest = _with(node, constructor).with_changes(bases=[cst.Arg(cst.Name(name))])
        return [base, rest]


class _IntoMixin(_Split):
    """All methods but the constructor in a mixin."""

    def split(self, node: cst.ClassDef) -> list[cst.CSTNode]:
        methods = [method for method in _methods(node) if method.name.value != "__init__"]
        if not methods or not _has_base(node) or any("super" in text_of(method) for method in methods):
            return [node]
        if any(f"{node.name.value}." in text_of(method) for method in methods):
            return [node]
        name = f"{node.name.value}Methods"
        (mixin,) = statements(f"class {name}:\n    pass")
        mixin = mixin.with_changes(body=node.body.with_changes(body=methods), leading_lines=node.leading_lines)
        rest = node
        for method in methods:
            rest = _with(rest, method)
        base = node.bases[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return [mixin, rest.with_changes(bases=[cst.Arg(cst.Name(name)), base])]


class _ConstructorIntoMixin(_Split):
    """What the constructor builds in a method of a mixin."""

    def split(self, node: cst.ClassDef) -> list[cst.CSTNode]:
        built = node.visit(_Build())
        methods = [method for method in _methods(built) if method.name.value == _builder(node)]  # type: ignore[arg-type]
        if not methods or not _has_base(node):
            return [node]
        name = f"{node.name.value}Building"
        (mixin,) = statements(f"class {name}:\n    pass")
        mixin = mixin.with_changes(body=node.body.with_changes(body=methods), leading_lines=node.leading_lines)
        rest = _with(built, methods[0])  # type: ignore[arg-type]
        base = node.bases[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return [mixin, rest.with_changes(bases=[cst.Arg(cst.Name(name)), base])]


class _Subclassed(_Split):
    """A subclass that only overrides a method by one that calls the base's."""

    def split(self, node: cst.ClassDef) -> list[cst.CSTNode]:
        methods = [method for method in _methods(node) if method.name.value in _ENTRIES and not method.decorators]
        if not methods or not _has_base(node) or f"{node.name.value}." in text_of(node):
            return [node]
        method = methods[0]
        name = f"{node.name.value}Base"
        base = node.with_changes(name=cst.Name(name))
        call = f"return super().{method.name.value}({passed_on(method)})"
        rest = _with(
            node.with_changes(body=node.body.with_changes(body=[method])),
            method,
            method.with_changes(body=method.body.with_changes(body=statements(call))),
        )
        return [base, rest.with_changes(bases=[cst.Arg(cst.Name(name))])]


class _Run(_OfClasses):
    """`forward` calls a method that does it."""

    def leave_ClassDef(self, original: cst.ClassDef, node: cst.ClassDef) -> cst.ClassDef:
        for method in _methods(node):
            if method.name.value not in _ENTRIES or method.decorators or "super" in text_of(method):
                continue
            name = f"_run_{method.name.value}"
            body = list(method.body.body)
            front = [body.pop(0)] if is_documentation(body[0]) else []
            call = statements(f"return self.{name}({passed_on(method)})")
            short = method.with_changes(body=method.body.with_changes(body=[*front, *call]))
            node = _with(node, method, short, _signature(method, name, body))
        return node


class _RunInside(_OfClasses):
    """`forward` calls a function inside of it that does it."""

    def leave_ClassDef(self, original: cst.ClassDef, node: cst.ClassDef) -> cst.ClassDef:
        for method in _methods(node):
            names = parameters(method)
            if method.name.value not in _ENTRIES or method.decorators or "super" in text_of(method) or "run" in names:
                continue
            body = list(method.body.body)
            front = [body.pop(0)] if is_documentation(body[0]) else []
            run = _signature(method, "run", body)
            run = run.with_changes(params=_without_first(run.params), leading_lines=[])
            call = statements(f"return run({passed_on(method)})")
            short = method.with_changes(body=method.body.with_changes(body=[*front, run, *call]))
            node = _with(node, method, short)
        return node


def _without_first(params: cst.Parameters) -> cst.Parameters:
    """Parameters but for the receiver."""
    if params.posonly_params:
        return params.with_changes(posonly_params=params.posonly_params[1:])
    return params.with_changes(params=params.params[1:])


class _Rename(_OfClasses):
    """`__call__` overridden by a method that calls the base's."""

    def leave_ClassDef(self, original: cst.ClassDef, node: cst.ClassDef) -> cst.ClassDef:
        names = [method.name.value for method in _methods(node)]
        if "forward" not in names or "__call__" in names or not node.bases:
            return node
        (method,) = spaced(
            statements("def __call__(self, *args, **kwargs):\n    return super().__call__(*args, **kwargs)")
        )
        return node.with_changes(body=node.body.with_changes(body=[*node.body.body, method]))


class _Decorated(_OfClasses):
    decorator = "logged"
    definition = (
        "def logged(function):\n    @functools.wraps(function)\n    def wrapper(*args, **kwargs):\n"
        "        return function(*args, **kwargs)\n\n    return wrapper\n"
    )
    imports = "import functools"
    methods: tuple[str, ...] = _ENTRIES

    def __init__(self) -> None:
        self._found = False
        self._classes = 0

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self._classes += 1

    def leave_ClassDef(self, original: cst.ClassDef, node: cst.ClassDef) -> cst.ClassDef:
        self._classes -= 1
        return node

    def leave_FunctionDef(self, original: cst.FunctionDef, node: cst.FunctionDef) -> cst.FunctionDef:
        if not self._classes or node.name.value not in self.methods or node.decorators:
            return node
        self._found = True
        return node.with_changes(decorators=[cst.Decorator(cst.parse_expression(self.decorator))])

    def leave_Module(self, original: cst.Module, module: cst.Module) -> cst.Module:
        if not self._found:
            return module
        return with_imports(with_definitions(module, [self.definition] if self.definition else []), [self.imports])


class _DecoratedConstructor(_Decorated):
    methods = ("__init__",)


class _WithoutGradients(_Decorated):
    decorator = "torch.no_grad()"
    definition = ""
    imports = "import torch"


def _setattr(store: Store, added: Additions) -> str | None:
    return (
        f'setattr({store.target.rpartition(".")[0]}, "{store.name}", {store.code})' if is_portable(store.code) else None
    )


def _add_module(store: Store, added: Additions) -> str | None:
    """`self.add_module("x", nn.Linear(…))`, for layers of torch."""
    called = text_of(store.value.func) if isinstance(store.value, cst.Call) else ""
    if not called.startswith("nn.") or not called[3:4].isupper() or called == "nn.Parameter":
        return None
    return f'{store.target.rpartition(".")[0]}.add_module("{store.name}", {store.code})'


def _moved(keep: Callable[[cst.CSTNode], bool]) -> Callable[[Files], dict[str, str] | None]:
    """What is defined in each file defined in another one, and imported from there."""

    def rewrite(files: Files) -> dict[str, str] | None:
        result = dict(files)
        for path, text in files.items():
            module = parsed(text) if path.endswith(".py") and "/" not in path else None
            if module is None:
                continue
            moved = [
                part for part in module.body if not is_import(part) and not is_documentation(part) and not keep(part)
            ]
            names = sorted({name for part in moved for name in _bound(part)})
            kept = [part for part in module.body if part not in moved]
            if not names or _reads(moved) & {name for part in kept if not is_import(part) for name in _bound(part)}:
                continue
            other = f"{path[:-3]}_parts.py"
            importing = statements(f"from {other[:-3]} import {', '.join(names)}")
            position = max((kept.index(part) for part in kept if is_import(part)), default=-1) + 1
            result[path] = module.with_changes(body=[*kept[:position], *importing, *kept[position:]]).code
            imports = [part for part in kept if is_import(part)]
            result[other] = module.with_changes(body=[*imports, *moved]).code
        return changed(files, result)

    return rewrite


def _bound(part: cst.CSTNode) -> set[str]:
    tree = ast.parse(text_of(part))
    names = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            names |= {
                item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
            }
        elif isinstance(node, ast.Try):
            names |= {alias.asname or alias.name for item in ast.walk(node) for alias in getattr(item, "names", ())}
    return names


def _reads(parts: list[cst.CSTNode]) -> set[str]:
    tree = ast.parse("".join(text_of(part) for part in parts))
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _is_script(part: cst.CSTNode) -> bool:
    """Whether a statement does something, rather than define something."""
    return not isinstance(part, (cst.ClassDef, cst.FunctionDef)) and not _bound(part)


def _first_class_moved(files: Files) -> dict[str, str] | None:
    """The first class of each file that needs nothing else of it in a file of its own."""
    result = dict(files)
    for path, text in files.items():
        module = parsed(text) if path.endswith(".py") and "/" not in path else None
        for part in module.body if module else ():
            known = imported_names(module) | set(dir(builtins))
            if not isinstance(part, cst.ClassDef) or _outside(part) - known:
                continue
            other = f"{path[:-3]}_own.py"
            importing = statements(f"from {other[:-3]} import {part.name.value}")
            result[path] = module.with_changes(
                body=[each for line in module.body for each in (importing if line is part else [line])]
            ).code
            result[other] = module.with_changes(body=[*statements("\n".join(import_lines(module))), part]).code
            break
    return changed(files, result)


def _outside(part: cst.ClassDef) -> set[str]:
    """The names that a class reads from its module."""
    tree = ast.parse(text_of(part))
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - bound


def _in_package(files: Files) -> dict[str, str] | None:
    """All Python files but scripts in a package, which import each other relatively."""
    modules = [path for path in files if path.endswith(".py") and "/" not in path and "__main__" not in files[path]]
    if not modules or any("/" in path for path in files) or len(modules) < len([p for p in files if p.endswith(".py")]):
        return None
    if any(not path.endswith(".py") for path in files):
        return None
    result = {"package/__init__.py": ""}
    names = {path[:-3] for path in modules}
    for path in modules:
        lines = [
            f"from .{line[5:]}" if line.startswith("from ") and line.split()[1] in names else line
            for line in files[path].splitlines()
        ]
        result[f"package/{path}"] = "\n".join([*lines, ""])
    return result


REWRITINGS = (
    Rewriting("the constructor in a method that builds", Kind.MOVE, codemod(_Build)),
    Rewriting("a method for each attribute of the constructor", Kind.MOVE, codemod(_BuildEach)),
    Rewriting("the constructor in a base class", Kind.MOVE, codemod(_IntoBase)),
    Rewriting("the constructor in a mixin", Kind.MOVE, codemod(_ConstructorIntoMixin)),
    Rewriting("the methods in a mixin", Kind.MOVE, codemod(_IntoMixin)),
    Rewriting("`forward` overridden by one that calls it", Kind.MOVE, codemod(_Subclassed)),
    Rewriting("`forward` calls a method that does it", Kind.MOVE, codemod(_Run)),
    Rewriting("`forward` calls a function inside of it that does it", Kind.MOVE, codemod(_RunInside)),
    Rewriting("`__call__` overridden by one that calls it", Kind.MOVE, codemod(_Rename)),
    Rewriting("`forward` behind a decorator with functools.wraps", Kind.MOVE, codemod(_Decorated)),
    Rewriting("constructors behind a decorator with functools.wraps", Kind.MOVE, codemod(_DecoratedConstructor)),
    Rewriting("`forward` under `@torch.no_grad()`", Kind.MOVE, codemod(_WithoutGradients), only=("ML1", "ML3")),
    Rewriting("setattr with a constant name", Kind.MOVE, stores(_setattr, attributes_only=True)),
    Rewriting("add_module", Kind.MOVE, stores(_add_module, attributes_only=True)),
    Rewriting("everything moved to another file", Kind.MOVE, _moved(_is_script)),
    Rewriting("classes moved to another file", Kind.MOVE, _moved(lambda part: not isinstance(part, cst.ClassDef))),
    Rewriting("the first class in a file of its own", Kind.MOVE, _first_class_moved),
    Rewriting("in a package, with relative imports", Kind.SYNTAX, _in_package),
)
