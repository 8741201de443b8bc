"""What code says of the dimensions of a tensor, and inputs that are made by it."""

from __future__ import annotations

import ast

import pytest

pytest.importorskip("torch")

from modellint.confirm.worker.dimensions import dimensions

SAID = {
    "b, c, h, w = x.shape": ["b", "c", "h", "w"],
    "b, _, (t, d) = x.size()": ["b", "_", "_"],
    "y = rearrange(x, 'b (h p) (w p) -> b h w (p p)', p=2)": ["b", "(h p)", "(w p)"],
    "y = einops.reduce(x, 'b t d -> b d', 'mean')": ["b", "t", "d"],
    "y = rearrange(x, '... d -> d ...')": [],
    "b, *rest = x.shape": [],
    "n = x.size(0)": [],
    "b, c = y.shape": [],
    "y = f(x, 'b c')\nt, d = x.shape": ["t", "d"],
}


@pytest.mark.parametrize("code", SAID)
def test_dimensions_that_code_names(code: str) -> None:
    body = "\n".join(f"    {line}" for line in code.splitlines())
    function = ast.parse(f"def forward(self, x, y):\n{body}").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert dimensions(function, "x") == SAID[code]
