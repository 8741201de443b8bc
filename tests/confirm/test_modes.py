"""The check `modes`: two calls in evaluation, and what makes them differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from probed import probed

if TYPE_CHECKING:
    from conftest import Workspace

MODEL = """
import random


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        {made}

    {more}

    def forward(self, x):
        x = self.fc(x)
        {used}
"""
DROP, NORM = "self.drop = nn.Dropout(0.5)", "self.norm = nn.BatchNorm1d(8)"
TABLE = "self.register_buffer('table', torch.zeros(0))"
STATISTICS = "self.register_buffer('mean', torch.zeros(8)); self.register_buffer('var', torch.ones(8))"
BATCH = "F.batch_norm(x, self.mean, self.var, training={})"
#: What a model has, what else it defines, what it does; the status, and what the detail says.
CASES = {
    "layers": (f"{DROP}; {NORM}", "", "return self.drop(self.norm(x))", "passed", "give the same"),
    "dropout by default": ("", "", "return F.dropout(x)", "failed", "`dropout` at model.py"),
    "dropout with a rate": ("", "", "return F.dropout(x, 0.3)", "failed", "drops elements after `eval()`"),
    "dropout that is told": ("", "", "return F.dropout(x, 0.3, self.training)", "passed", "give the same"),
    "dropout that is meant": ("", "", "return F.dropout(x, 0.3, training=True)", "in-part", "draws random numbers"),
    "a new dropout": ("", "", "return nn.Dropout(0.5)(x)", "failed", "`dropout` at model.py"),
    "dropout in a list": ("self.drops = [nn.Dropout(0.5)]", "", "return self.drops[0](x)", "failed", "`dropout`"),
    "attention": (
        "",
        "",
        "x = x.view(2, 1, -1, 8); return F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)",
        "failed",
        "`scaled_dot_product_attention` at model.py",
    ),
    "a mode that sticks": (
        DROP,
        "def train(self, mode=True): return super().train()",
        "return self.drop(x)",
        "failed",
        "after `eval()`, `drop` is still in training",
    ),
    "noise": ("", "", "return x + torch.randn_like(x)", "in-part", "`randn_like` at model.py:20 draws random numbers"),
    "noise in training": ("", "", "return x + torch.randn_like(x) if self.training else x", "passed", "give the same"),
    "python's noise": ("", "", "return x * random.random()", "in-part", "the code draws random numbers"),
    "statistics of the batch": (STATISTICS, "", f"return {BATCH.format(True)}", "failed", "depends on the other rows"),
    "statistics by mode": (STATISTICS, "", f"return {BATCH.format('self.training')}", "passed", "give the same"),
    "statistics on purpose": (
        "self.norm = nn.BatchNorm1d(8, track_running_stats=False)",
        "",
        "return self.norm(x)",
        "in-part",
        "depends on the other rows",
    ),
    "statistics of a row": (
        "",
        "",
        "return F.batch_norm(x.reshape(1, -1, 4), None, None, training=True).view_as(x)",
        "passed",
        "give the same",
    ),
    "a state": (TABLE, "", "self.table = x.detach() + self.table.sum(); return x + self.table", "in-part", "`table`"),
    "a cache": (
        TABLE,
        "",
        "self.table = self.table if self.table.numel() else torch.ones(8); return x * self.table",
        "passed",
        "though a call changes `table`",
    ),
}


@pytest.mark.parametrize(("made", "more", "used", "status", "says"), CASES.values(), ids=CASES.keys())
def test_modes(workspace: Workspace, made: str, more: str, used: str, status: str, says: str) -> None:
    code = MODEL.format(made=made or "pass", more=more, used=used)
    found = probed(workspace, code, "Model")["modes"]
    assert (found["status"], says in found["detail"]) == (status, True), found


def test_a_function_has_no_modes(workspace: Workspace) -> None:
    found = probed(workspace, "def twice(x: torch.Tensor):\n    return 2 * x\n", "twice")["modes"]
    assert found["status"] == "nothing-to-check"
