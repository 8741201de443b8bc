"""Verdicts on findings in notebooks: what they are about is built, and the rest of the notebook is not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from books import notebook

from modellint.confirm.notebooks import statements_for

if TYPE_CHECKING:
    from conftest import Workspace

MODEL = """\
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(WIDTH, 3) for _ in range(4)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
RECIPE = "%%writefile hparams/train.yaml\nmodel: !new:torch.nn.Linear\n    in_features: 3\n    out_featurs: 4\n"


def test_a_class_in_a_cell_is_built_and_nothing_else_is_run(workspace: Workspace) -> None:
    cells = (
        "!pip install x\nfrom torch import nn",
        "WIDTH = int('3')",
        MODEL,
        "raise SystemExit(Encoder())",
    )
    workspace.write({"book.ipynb": notebook("#md Title", *cells)})
    (finding,) = workspace.run("check", "--confirm", "--output-format", "json").json["findings"]
    assert (finding["code"], finding["cell"], finding["verdict"]["status"]) == ("ML204", 4, "confirmed")


def test_what_the_notebook_imports_from_its_folder_is_there(workspace: Workspace) -> None:
    workspace.write({"sizes.py": "WIDTH = 3\n"})
    workspace.write({"book.ipynb": notebook("from torch import nn\nfrom sizes import WIDTH", MODEL)})
    (finding,) = workspace.run("check", "--confirm", "--output-format", "json").json["findings"]
    assert finding["verdict"]["status"] == "confirmed"


def test_a_cell_that_cannot_be_run_is_a_reason_to_be_unconfirmed(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("from torch import nn", "WIDTH = int('x')", MODEL)})
    (finding,) = workspace.run("check", "--confirm", "--output-format", "json").json["findings"]
    assert finding["verdict"]["status"] == "unconfirmed"
    assert "ValueError: invalid literal for int()" in finding["verdict"]["detail"]
    assert "book.ipynb" in finding["verdict"]["detail"]


def test_a_recipe_that_a_cell_writes_is_loaded(workspace: Workspace) -> None:
    pytest.importorskip("hyperpyyaml")
    workspace.write({"book.ipynb": notebook("x = 1", RECIPE)})
    findings = workspace.run("check", "--confirm", "--output-format", "json").json["findings"]
    assert {(finding["code"], finding["cell"], finding["verdict"]["status"]) for finding in findings} == {
        ("ML403", 2, "confirmed")
    }
    assert not (workspace.root / "hparams").exists()


def test_a_class_of_a_notebook_can_be_probed(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("from torch import nn\nWIDTH = 3", MODEL)})
    result = workspace.run("probe", "book.ipynb::Encoder")
    assert result.code == 1
    assert "placement   failed" in result.out


def test_a_module_keeps_what_names_rest_on() -> None:
    text = (
        "import a, b\nfrom c import d as e\nprint(a)\nX = e(1); Y = 2\nif X:\n    Z = b\n\n\n"
        "@e\ndef f():\n    return Z\n\n\n@b\nclass C:\n    x = f\n\nX += 1\nX.y[0] = 2\nfor ä in 'äö': Y = ä\n"
    )
    assert statements_for(text, ["f"]).split() == (
        "import a, b from c import d as e X = e(1); if X: Z = b @e def f(): return Z X += 1 X.y[0] = 2".split()
    )
    assert [len(line) for line in statements_for(text, ["f"]).split("\n")] == [len(line) for line in text.split("\n")]
    assert statements_for(text, ["C"]).count("class C") == 1
    assert statements_for("def f(:", ["f"]) == "def f(:"
