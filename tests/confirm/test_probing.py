"""`modellint probe` of code in many styles: what keeps a check from being run, and how it is got round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Outcome, Workspace

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
"""


def checks(result: Outcome) -> dict[str, Any]:
    return {check["name"]: check for check in result.json["checks"]}


def probed(workspace: Workspace, code: str, name: str, **files: str) -> dict[str, Any]:
    workspace.write({"model.py": HEAD + code, **files})
    return checks(workspace.run("probe", f"model.py::{name}", "--output-format", "json"))


def passed(found: dict[str, Any], *names: str) -> None:
    """These checks were run, and nothing failed."""
    assert not {found[name]["status"] for name in names} & {"failed", "not-run"}, found


# -- devices ---------------------------------------------------------------------------------------------------------

READS = """
class Reads(nn.Module):
    def __init__(self, width=8, mask=None):
        super().__init__()
        self.cls = nn.Parameter(torch.zeros(1, 1, width))
        nn.init.trunc_normal_(self.cls, std=0.02)
        self.rnn = nn.LSTM(width, width, batch_first=True)
        self.mask = torch.ones(width){there}

    def forward(self, feats, lengths):
        feats = feats[:, : lengths.max().item()]
        if feats.sum() > 1e9:
            return feats
        packed = pack_padded_sequence(feats, lengths.cpu(), batch_first=True, enforce_sorted=False)
        found = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]
        return torch.cat([self.cls.expand(len(found), -1, -1), found], 1) * self.mask
"""


@pytest.mark.parametrize(("there", "status"), [(".mean().item()", "passed"), ("", "failed")])
def test_code_that_reads_numbers_is_run_on_a_device_that_is_not_there(
    workspace: Workspace, there: str, status: str
) -> None:
    found = probed(workspace, READS.replace("{there}", there), "Reads")
    assert (found["placement"]["status"], found["placement"]["device"]) == (status, "fake"), found
    passed(found, "values", "boundaries")
    if status == "failed":
        assert "found at least two devices, cuda:0 and cpu!" in found["placement"]["detail"]


ASKS = """
BIAS = torch.zeros(4).cuda()


class Asks(nn.Module):
    def __init__(self, n_in=8, n_out=4):
        super().__init__()
        self.layer = nn.Linear(n_in, n_out).cuda()
        self.state = torch.zeros(n_out, device="cuda")

    def forward(self, x):
        return self.layer(x.cuda()) + BIAS + self.state
"""


@pytest.mark.parametrize("code", [ASKS, ASKS.replace(".cuda()\n\n", "\n\n").replace(" + BIAS", "")])
def test_code_that_asks_for_a_gpu_is_run_without_one(workspace: Workspace, code: str) -> None:
    passed(probed(workspace, code, "Asks"), "placement", "values", "boundaries")


# -- configurations --------------------------------------------------------------------------------------------------

#: Constructors, each with what is said of the parameter `how`.
CONFIGURATIONS = {
    "a dictionary": """
        self.table = nn.Embedding(how["vocab_size"], how["hidden"])
        self.layers = nn.ModuleList(nn.Linear(how["hidden"], how["hidden"]) for _ in range(how["num_layers"]))
        self.drop = nn.Dropout(how.get("dropout", 0.1))
""",
    "what a command line gives": """
        if getattr(how, "use_norm", False) or hasattr(how, "checkpoint"):
            raise ValueError("not that way")
        self.table = nn.Embedding(how.n_tokens, how.width)
        self.layers = nn.ModuleList([nn.Linear(how.width, how.width)])
        self.drop = getattr(nn, how.activation)() if how.mode == "train" else how.nothing
""",
    "parts": """
        self.table = nn.Embedding(how.text.vocab_size, how.text.encoder["dim"])
        self.layers = nn.ModuleList(self.layer(**how.text.encoder) for _ in how.stages)
        self.drop = getattr(F, how.text.activation.lower())
        first, second = how.sizes
        if how.text.frozen and not how.text.limit is None:
            raise ValueError("frozen")
    def layer(self, dim=64): return nn.Linear(dim, dim)
""",
    "lists": """
        self.table = nn.Embedding(how["n_vocab"], how["widths"][0])
        stages = [*zip(how["widths"], how["widths"][1:])]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in stages)
        self.drop = nn.ModuleDict({str(at): nn.Identity() for at, step in enumerate(how["steps"])})["0"]
        for stage in how["stages"]:
            self.layers.append(nn.Linear(stage["width"], stage["width"]))
""",
}
CONFIGURED = """
class Args(nn.Module):
    "No configuration, though it is called like one."
    def __init__(self, other): super().__init__()


class Model(nn.Module):
    def __init__(self, {how}):
        super().__init__()
{text}
    def forward(self, input_ids):
        found = self.table(input_ids)
        for layer in self.layers:
            found = self.drop(layer(found))
        return found
"""


@pytest.mark.parametrize("how", ["config", "cfg: dict", "opt", "args: 'argparse.Namespace'"])
@pytest.mark.parametrize("text", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_a_configuration_that_no_class_describes(workspace: Workspace, text: str, how: str) -> None:
    code = CONFIGURED.replace("{text}", text.replace("how", how.partition(":")[0])).replace("{how}", how)
    passed(probed(workspace, "import argparse\n" + code, "Model"), "placement", "values", "boundaries")


def test_what_is_taken_out_of_keywords_by_name(workspace: Workspace) -> None:
    text = CONFIGURATIONS["a dictionary"].replace("how", "kwargs")
    code = CONFIGURED.replace("{text}", text).replace("{how}", "**kwargs")
    passed(probed(workspace, code, "Model"), "placement", "values", "boundaries")


# -- names from elsewhere --------------------------------------------------------------------------------------------

LAZY = {
    "from all": "from .inner import *\n",
    "asked for": """
import importlib

def __getattr__(name):
    return getattr(importlib.import_module("pkg.inner"), name)
""",
    "in its place": """
import importlib, sys, types

class Lazy(types.ModuleType):
    def __getattr__(self, name):
        return getattr(importlib.import_module("pkg.inner"), name)

sys.modules[__name__] = Lazy(__name__)
sys.modules[__name__].__path__ = __path__
sys.modules[__name__].__spec__ = __spec__
sys.modules[__name__].__file__ = __file__
""",
}
INNER = "from .layers import Table as Lookup\n"
LAYERS = """
from torch import nn
from . import settings


class Table(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.table = nn.Embedding(how, 8)

    def forward(self, input_ids):
        return self.table(input_ids)
"""


@pytest.mark.parametrize("exports", LAZY.values(), ids=LAZY)
def test_a_name_that_a_package_has_from_elsewhere(workspace: Workspace, exports: str) -> None:
    settings = '[tool.modellint.confirm.targets."pkg:Lookup"]\narguments = { how = 12 }\n'
    workspace.write({
        "pkg/__init__.py": exports, "pkg/inner.py": INNER, "pkg/layers.py": LAYERS, "pkg/settings.py": "",
        "pyproject.toml": settings,
    })  # fmt: skip
    found = checks(workspace.run("probe", "pkg:Lookup", "--output-format", "json"))
    passed(found, "placement", "values", "boundaries")
    assert "lengths 1, 2, 5, 11, 12, 13 work" in found["boundaries"]["detail"]
    result = workspace.run("probe", "pkg:Nothing")
    assert result.code == 2
    assert "defines no `Nothing`" in result.out or "has no attribute 'Nothing'" in result.out


def test_a_constructor_whose_signatures_are_written_as_overloads(workspace: Workspace) -> None:
    passed(checks(workspace.run("probe", "torch.nn:LSTM", "--output-format", "json")), "placement", "boundaries")


def test_what_is_required_is_no_shape(workspace: Workspace) -> None:
    found = checks(workspace.run("probe", "torch.nn:TransformerEncoderLayer", "--output-format", "json"))
    passed(found, "placement", "boundaries")
