"""What rewritings ask of code, and how they make some: places are nodes of libcst, new statements are texts."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import libcst as cst
from libcst import matchers as m

from rewriting.marks import MARK
from rewriting.rewriting import Rewrite, codemod

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_EMPTY = cst.Module([])
Statement: TypeAlias = "cst.SimpleStatementLine | cst.BaseCompoundStatement"


def text_of(node: cst.CSTNode) -> str:
    """The code of a node, a tuple in its brackets."""
    code = _EMPTY.code_for_node(node)
    return f"({code})" if isinstance(node, cst.Tuple) and not node.lpar else code


def mark_of(line: cst.CSTNode) -> str:
    """The comment that marks a statement, or nothing."""
    if isinstance(line, cst.SimpleStatementLine):
        comment = line.trailing_whitespace.comment
    else:
        body = line.body if hasattr(line, "body") else None
        comment = body.header.comment if isinstance(body, cst.IndentedBlock) else None
    found = MARK.search(comment.value) if comment else None
    return found[0].strip() if found else ""


def comment_of(line: cst.SimpleStatementLine) -> str:
    """What is written behind a statement, its mark included, or nothing."""
    comment = line.trailing_whitespace.comment
    return comment.value if comment else ""


def statements(code: str, mark: str = "") -> list[Statement]:
    """Statements made of text, with the mark on each of them, inner ones too; new nodes for each call."""
    module = cst.parse_module(code)
    return list((module.visit(_Marking(mark)) if mark else module).body)


class _Marking(cst.CSTTransformer):
    def __init__(self, mark: str) -> None:
        self._end = cst.TrailingWhitespace(cst.SimpleWhitespace("  "), cst.Comment(mark))

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, line: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        return line.with_changes(trailing_whitespace=self._end)

    def leave_IndentedBlock(self, original: cst.IndentedBlock, block: cst.IndentedBlock) -> cst.IndentedBlock:
        return block.with_changes(header=self._end)


def names_in(code: str) -> set[str]:
    """The names that an expression reads from around it."""
    tree = ast.parse(code.strip(), mode="eval")
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names - inner_names(tree)


def inner_names(tree: ast.AST) -> set[str]:
    """Names that are bound inside of an expression: in comprehensions, lambdas and by walruses."""
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return bound | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def is_portable(code: str) -> bool:
    """Whether an expression means the same in another function that is given what it reads."""
    tree = ast.parse(code.strip(), mode="eval")
    stays = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Starred)
    return not any(isinstance(node, stays) for node in ast.walk(tree)) and "super" not in names_in(code)


@dataclass(frozen=True)
class Function:
    """A function or method that statements stand in."""

    node: cst.FunctionDef
    #: Whether it is defined in a class, or in a module; `inner` is one in another function.
    is_method: bool
    is_inner: bool

    @cached_property
    def code(self) -> str:
        return text_of(self.node)

    @property
    def name(self) -> str:
        return self.node.name.value

    @property
    def is_plain(self) -> bool:
        """Whether it is a function of a module or a method with a `self`, without decorators."""
        return not self.is_inner and not self.node.decorators and (bool(self.self_name) or not self.is_method)

    @property
    def self_name(self) -> str:
        names = parameters(self.node)
        return names[0] if self.is_method and names else ""

    @cached_property
    def locals(self) -> set[str]:
        """The names of its parameters and of what it binds."""
        tree = ast.parse(self.code.strip())
        return {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)} | {
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }

    def fresh(self, base: str) -> str:
        """A name like this one that the function does not use."""
        name = base.strip("_") + "_"
        while name in self.code:
            name += "_"
        return name


def parameters(function: cst.FunctionDef) -> list[str]:
    """The names of all parameters, but not of `*args` and `**kwargs`."""
    params = function.params
    return [param.name.value for param in (*params.posonly_params, *params.params, *params.kwonly_params)]


def has_stars(function: cst.FunctionDef) -> bool:
    """Whether it takes `*args` or `**kwargs`."""
    return isinstance(function.params.star_arg, cst.Param) or function.params.star_kwarg is not None


def passed_on(function: cst.FunctionDef) -> str:
    """The arguments that pass all parameters but the first one on."""
    params = function.params
    positional = [param.name.value for param in (*params.posonly_params, *params.params)][1:]
    star = [f"*{params.star_arg.name.value}"] if isinstance(params.star_arg, cst.Param) else []
    keywords = [f"{param.name.value}={param.name.value}" for param in params.kwonly_params]
    stars = [f"**{params.star_kwarg.name.value}"] if params.star_kwarg else []
    return ", ".join([*positional, *star, *keywords, *stars])


@dataclass(frozen=True)
class Store:
    """A statement of a function that gives a name or an attribute of `self` a value that is made there.

    `mark` is what is written behind it.
    """

    function: Function
    target: str
    value: cst.BaseExpression
    mark: str

    @property
    def code(self) -> str:
        return text_of(self.value)

    @property
    def name(self) -> str:
        """The last name of the target."""
        return self.target.rpartition(".")[2]

    @property
    def is_attribute(self) -> bool:
        return "." in self.target

    def free(self) -> list[str]:
        """What the value reads from the function."""
        return sorted(names_in(self.code) & self.function.locals)

    def outer(self) -> set[str]:
        """What the value reads from outside of the function."""
        return names_in(self.code) - self.function.locals


@dataclass
class Additions:
    """What rewritten statements need around them."""

    #: Statements for the start of the module, behind its imports, and methods for the class.
    module: list[str] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)
    #: Lines to import with, and functions for another file.
    imports: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)


#: What stands for a store: text of statements, or None to leave it as it is.
Restore: TypeAlias = "Callable[[Store, Additions], str | None]"
_SIMPLE = (cst.Name, cst.Attribute, cst.Integer, cst.Float, cst.SimpleString, cst.ConcatenatedString, cst.Ellipsis)


class Stores(cst.CSTTransformer):
    """Says each store of a value that is made in the very statement in another way."""

    def __init__(self, restore: Restore, *, attributes_only: bool = False) -> None:
        self._restore = restore
        self._attributes_only = attributes_only
        self._owners: list[cst.ClassDef | Function] = []
        self._additions = [Additions()]

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self._owners.append(node)
        outer = self._additions[-1]
        self._additions.append(Additions(outer.module, [], outer.imports, outer.elsewhere))

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        owner = self._owners[-1] if self._owners else None
        is_inner = any(isinstance(outer, Function) for outer in self._owners)
        self._owners.append(Function(node, isinstance(owner, cst.ClassDef), is_inner))

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        """No statement stands in it, and trees are large."""
        return False

    def leave_FunctionDef(self, original: cst.FunctionDef, node: cst.FunctionDef) -> cst.FunctionDef:
        self._owners.pop()
        return node

    def leave_ClassDef(self, original: cst.ClassDef, node: cst.ClassDef) -> cst.ClassDef:
        self._owners.pop()
        return with_methods(node, self._additions.pop().methods)

    def leave_Module(self, original: cst.Module, module: cst.Module) -> cst.Module:
        return with_imports(with_definitions(module, self._additions[0].module), self._additions[0].imports)

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, line: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        function = self._owners[-1] if self._owners else None
        if not isinstance(function, Function) or len(line.body) != 1:
            return line
        store = self._store(function, line)
        if store is None:
            return line
        code = self._restore(store, self._additions[-1])
        if code is None:
            return line
        first, *rest = statements(code, store.mark)
        return cst.FlattenSentinel([first.with_changes(leading_lines=line.leading_lines), *rest])

    def _store(self, function: Function, line: cst.SimpleStatementLine) -> Store | None:
        statement = line.body[0]
        if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0].target
        is_attribute = m.matches(target, m.Attribute(value=m.Name(function.self_name or "self")))
        if not is_attribute and (self._attributes_only or not isinstance(target, cst.Name)):
            return None
        if isinstance(statement.value, (*_SIMPLE, cst.Yield)):
            return None
        return Store(function, text_of(target), statement.value, comment_of(line))


def stores(restore: Restore, *, attributes_only: bool = False) -> Rewrite:
    """A rewriting of statements that store what they make."""
    return codemod(lambda: Stores(restore, attributes_only=attributes_only))


def with_methods(node: cst.ClassDef, methods: Sequence[str]) -> cst.ClassDef:
    """A class with more methods, at its end."""
    if not methods:
        return node
    added = [part for method in methods for part in spaced(statements(method))]
    return node.with_changes(body=node.body.with_changes(body=[*node.body.body, *added]))


def spaced(parts: Sequence[Statement]) -> list[Statement]:
    """Statements with a blank line before the first one."""
    first, *rest = parts
    return [first.with_changes(leading_lines=[cst.EmptyLine(indent=False), *first.leading_lines]), *rest]


def with_definitions(module: cst.Module, definitions: Sequence[str]) -> cst.Module:
    """A module with more definitions, behind its imports."""
    added = [part for definition in dict.fromkeys(definitions) for part in spaced(statements(definition))]
    position = start_of(module)
    return module.with_changes(body=[*module.body[:position], *added, *module.body[position:]])


def with_imports(module: cst.Module, imports: Sequence[str]) -> cst.Module:
    """A module with more imports, behind those that it has."""
    if not imports:
        return module
    present = module.code
    added = [part for line in dict.fromkeys(imports) if f"{line}\n" not in present for part in statements(line)]
    position = start_of(module)
    return module.with_changes(body=[*module.body[:position], *added, *module.body[position:]])


def start_of(module: cst.Module) -> int:
    """Where the code of a module starts: behind its documentation and its imports."""
    imports = [number for number, statement in enumerate(module.body) if is_import(statement)]
    if imports:
        return imports[-1] + 1
    return int(bool(module.body) and m.matches(module.body[0], _DOCUMENTATION))


def is_import(statement: cst.CSTNode) -> bool:
    return m.matches(statement, m.SimpleStatementLine(body=[m.Import() | m.ImportFrom()]))


_DOCUMENTATION = m.SimpleStatementLine(body=[m.Expr(m.SimpleString() | m.ConcatenatedString())])


def is_documentation(statement: cst.CSTNode) -> bool:
    return m.matches(statement, _DOCUMENTATION)


def import_lines(module: cst.Module) -> list[str]:
    """The imports of a module, one to a line."""
    return [text_of(statement).strip() for statement in module.body if is_import(statement)]


def imported_names(module: cst.Module) -> set[str]:
    """The names that a module's imports bind."""
    tree = ast.parse("\n".join(import_lines(module)))
    aliases = [alias for node in tree.body for alias in node.names]  # type: ignore[attr-defined]
    return {alias.asname or alias.name.partition(".")[0] for alias in aliases}
