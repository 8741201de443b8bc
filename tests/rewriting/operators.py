"""The same numbers by another operator."""

from __future__ import annotations

import libcst as cst
from libcst import matchers as m

from rewriting.rewriting import Kind, Rewriting, codemod

#: The parts of complex numbers of length 1 that are the cosines and sines of their angles.
_PARTS = {"cos": "real", "sin": "imag"}
_PERIODIC = m.Name("cos") | m.Name("sin")
_ASKED = m.Call(func=m.Attribute(attr=_PERIODIC), args=[])
_GIVEN = m.Call(func=m.Attribute(value=m.Name("torch"), attr=_PERIODIC), args=[m.Arg(keyword=None)])


class _Complex(cst.CSTTransformer):
    """`x.cos()` and `torch.cos(x)` as the real part of `torch.polar`, `sin` as its imaginary part."""

    def visit_Module(self, node: cst.Module) -> bool:
        return "import torch\n" in node.code

    def leave_Call(self, original: cst.Call, call: cst.Call) -> cst.BaseExpression:
        func = call.func
        if not isinstance(func, cst.Attribute):
            return call
        angles = func.value if m.matches(call, _ASKED) else call.args[0].value if m.matches(call, _GIVEN) else None
        if angles is None:
            return call
        written = cst.parse_expression(f"torch.polar(torch.ones_like(x), x).{_PARTS[func.attr.value]}")
        return written.visit(_Filled(angles))  # type: ignore[return-value]


class _Filled(cst.CSTTransformer):
    """An expression with something in the place of `x`."""

    def __init__(self, value: cst.BaseExpression) -> None:
        self._value = value

    def leave_Name(self, original: cst.Name, node: cst.Name) -> cst.BaseExpression:
        return self._value.deep_clone() if node.value == "x" else node


REWRITINGS = (
    Rewriting("cosines and sines as parts of complex numbers", Kind.MOVE, codemod(_Complex), ("ML301", "ML302")),
)
