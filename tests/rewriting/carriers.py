"""Arguments that something carries."""

from __future__ import annotations

import libcst as cst

from rewriting.code import (
    is_documentation,
    mark_of,
    parameters,
    statements,
    text_of,
    with_definitions,
    with_imports,
)
from rewriting.imports import Renamed
from rewriting.rewriting import Kind, Rewriting, codemod


class _Carried(cst.CSTTransformer):
    """What a constructor is given is put into a carrier first, and read from there."""

    imports: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._classes: list[str] = []
        self._definitions: list[str] = []

    def definition(self, name: str, fields: list[str]) -> str:
        return ""

    def made(self, name: str, fields: list[str]) -> str:
        raise NotImplementedError

    def read(self, field: str) -> str:
        return f"given.{field}"

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self._classes.append(node.name.value)

    def leave_ClassDef(self, original: cst.ClassDef, node: cst.ClassDef) -> cst.ClassDef:
        self._classes.pop()
        return node

    def leave_FunctionDef(self, original: cst.FunctionDef, node: cst.FunctionDef) -> cst.FunctionDef:
        fields = parameters(node)[1:]
        if not self._classes or node.name.value != "__init__" or not fields or node.decorators:
            return node
        code = text_of(node)
        if "given" in code or any(f" {field} = " in code or f" {field} += " in code for field in fields):
            return node
        if not isinstance(node.body, cst.IndentedBlock):
            return node
        name = f"{self._classes[-1]}Given"
        body = list(node.body.body)
        front = [body.pop(0)] if body and is_documentation(body[0]) else []
        renamed = [part.visit(Renamed({field: self.read(field) for field in fields})) for part in body]
        if all(mark_of(new) == mark_of(old) and new.deep_equals(old) for new, old in zip(renamed, body, strict=True)):
            return node
        definition = self.definition(name, fields)
        self._definitions += [definition] if definition else []
        made = statements(f"given = {self.made(name, fields)}")
        return node.with_changes(body=node.body.with_changes(body=[*front, *made, *renamed]))

    def leave_Module(self, original: cst.Module, module: cst.Module) -> cst.Module:
        if not self._definitions:
            return with_imports(module, self.imports) if "given = " in module.code else module
        return with_imports(with_definitions(module, self._definitions), self.imports)


class _Dict(_Carried):
    def made(self, name: str, fields: list[str]) -> str:
        return f"{{{', '.join(f'{chr(34)}{field}{chr(34)}: {field}' for field in fields)}}}"

    def read(self, field: str) -> str:
        return f'given["{field}"]'


class _DictCall(_Dict):
    def made(self, name: str, fields: list[str]) -> str:
        return f"dict({', '.join(f'{field}={field}' for field in fields)})"


class _Namespace(_Carried):
    imports = ("from types import SimpleNamespace",)

    def made(self, name: str, fields: list[str]) -> str:
        return f"SimpleNamespace({', '.join(f'{field}={field}' for field in fields)})"


class _NamedTuple(_Carried):
    imports = ("from typing import NamedTuple",)

    def definition(self, name: str, fields: list[str]) -> str:
        return f"class {name}(NamedTuple):\n" + "".join(f"    {field}: object\n" for field in fields)

    def made(self, name: str, fields: list[str]) -> str:
        return f"{name}({', '.join(fields)})"


class _Dataclass(_Carried):
    imports = ("from dataclasses import dataclass",)

    def definition(self, name: str, fields: list[str]) -> str:
        return f"@dataclass\nclass {name}:\n" + "".join(f"    {field}: object\n" for field in fields)

    def made(self, name: str, fields: list[str]) -> str:
        return f"{name}({', '.join(f'{field}={field}' for field in fields)})"


class _OwnClass(_Carried):
    def definition(self, name: str, fields: list[str]) -> str:
        lines = "".join(f"        self.{field} = {field}\n" for field in fields)
        return f"class {name}:\n    def __init__(self, {', '.join(fields)}):\n{lines}"

    def made(self, name: str, fields: list[str]) -> str:
        return f"{name}({', '.join(fields)})"


class _Attributes(_Carried):
    """Kept on `self` first, and read from there."""

    def read(self, field: str) -> str:
        return f"self.given_{field}"

    def leave_FunctionDef(self, original: cst.FunctionDef, node: cst.FunctionDef) -> cst.FunctionDef:
        fields = parameters(node)[1:]
        if not self._classes or node.name.value != "__init__" or not fields or node.decorators:
            return node
        code = text_of(node)
        if (
            any(f" {field} = " in code or f" {field} += " in code for field in fields)
            or "super().__init__()" not in code
        ):
            return node
        body = list(node.body.body)
        position = next((number + 1 for number, part in enumerate(body) if "super().__init__" in text_of(part)), None)
        if position is None or any(field in text_of(part) for part in body[:position] for field in fields):
            return node
        kept = statements("\n".join(f"self.given_{field} = {field}" for field in fields))
        renamed = [part.visit(Renamed({field: self.read(field) for field in fields})) for part in body[position:]]
        return node.with_changes(body=node.body.with_changes(body=[*body[:position], *kept, *renamed]))

    def made(self, name: str, fields: list[str]) -> str:
        raise NotImplementedError


class _ClassAttributes(cst.CSTTransformer):
    """Numbers in constructors as attributes of the class."""

    def leave_ClassDef(self, original: cst.ClassDef, node: cst.ClassDef) -> cst.ClassDef:
        numbers: dict[str, None] = {}
        body: list[cst.CSTNode] = []
        for part in node.body.body:
            if isinstance(part, cst.FunctionDef) and parameters(part)[:1] == ["self"] and not part.decorators:
                visitor = _Numbers(numbers)
                part = part.with_changes(body=part.body.visit(visitor))
            body.append(part)
        if not numbers:
            return node
        position = int(is_documentation(body[0]))
        lines = statements("\n".join(f"number_{number} = {number}" for number in numbers))
        return node.with_changes(body=node.body.with_changes(body=[*body[:position], *lines, *body[position:]]))


class _Numbers(cst.CSTTransformer):
    def __init__(self, numbers: dict[str, None]) -> None:
        self._numbers = numbers

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def leave_Integer(self, original: cst.Integer, node: cst.Integer) -> cst.BaseExpression:
        if original.evaluated_value < 4:
            return node
        self._numbers[str(original.evaluated_value)] = None
        return cst.parse_expression(f"self.number_{original.evaluated_value}")


REWRITINGS = (
    Rewriting("arguments of constructors carried by a dict", Kind.MOVE, codemod(_Dict)),
    Rewriting("arguments of constructors carried by dict()", Kind.MOVE, codemod(_DictCall)),
    Rewriting("arguments of constructors carried by a SimpleNamespace", Kind.MOVE, codemod(_Namespace)),
    Rewriting("arguments of constructors carried by a NamedTuple", Kind.MOVE, codemod(_NamedTuple)),
    Rewriting("arguments of constructors carried by a dataclass", Kind.MOVE, codemod(_Dataclass)),
    Rewriting("arguments of constructors carried by a class", Kind.MOVE, codemod(_OwnClass)),
    Rewriting("arguments of constructors kept on self", Kind.MOVE, codemod(_Attributes)),
    Rewriting("numbers as attributes of the class", Kind.MOVE, codemod(_ClassAttributes)),
)
