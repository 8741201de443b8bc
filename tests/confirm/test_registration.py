"""What a module registers, seen by building it; facts about another branch or another attribute are no proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from served import served

from modellint.claims.layers import LeftBehind, MadeAnew, NotRegistered
from modellint.confirm.child import answer
from modellint.confirm.plan import Group
from modellint.finding import Status, Verdict
from modellint.probes import Probe, Target
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Workspace

    from modellint.claims import Claim

BRANCHES = """
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.zeros(3)


class Encoder(nn.Module):
    def __init__(self, kind="positions", depth=2):
        super().__init__()
        if kind == "positions":
            self.embed = Positions()
        elif kind == "linear":
            self.embed = {embed}

    def forward(self, x):
        {use}
"""


def verdict_of(folder: Path, code: str, text: str, name: str, claim: Callable[[Place], Claim]) -> Verdict:
    """The verdict on a claim about the only line of a file that holds `text`."""
    path = folder / "model.py"
    path.write_text(code)
    (line,) = [number for number, content in enumerate(code.splitlines(), 1) if text in content]
    content = code.splitlines()[line - 1]
    start = content.index(text) + 1
    target = Target(path, name)
    place = Place(path.as_posix(), Span(line, start, line, start + len(text)))
    return answer(Group(target, ((0, Probe(target, claim(place))),)), served())[0]


def embed_is_lost(place: Place) -> Claim:
    return NotRegistered(place, "Encoder", "embed")


@pytest.mark.parametrize(
    ("embed", "status"),
    [
        ("[nn.Linear(3, 3)]", Status.CONFIRMED),
        ("nn.Linear(3, 3),", Status.CONFIRMED),
        ("nn.ModuleList([nn.Linear(3, 3)])", Status.REFUTED),
        ("[nn.ReLU()]", Status.UNCONFIRMED),
    ],
)
def test_only_the_branch_that_is_meant_proves_something(tmp_path: Path, embed: str, status: Status) -> None:
    code = BRANCHES.format(embed=embed, use="return x")
    text = f"self.embed = {embed}"
    verdict = verdict_of(tmp_path, code, text, "Encoder", embed_is_lost)
    assert verdict.status is status, verdict
    if status is Status.CONFIRMED:
        assert "`embed[0].weight`, `embed[0].bias`" in str(verdict)
    assert "kind = 'linear'" in str(verdict) or status is Status.UNCONFIRMED


@pytest.mark.parametrize(
    "more",
    [
        "if depth < 100:\n            self.embed = nn.ModuleList(self.embed)",
        "self.embed = nn.ModuleList(self.embed) if depth else None",
    ],
)
def test_what_is_registered_later_on_refutes_nothing(tmp_path: Path, more: str) -> None:
    code = BRANCHES.format(embed="[nn.Linear(3, 3)]", use="return x").replace(
        "self.embed = [nn.Linear(3, 3)]", f"self.embed = [nn.Linear(3, 3)]\n        {more}"
    )
    text = "self.embed = [nn.Linear(3, 3)]"
    verdict = verdict_of(tmp_path, code, text, "Encoder", embed_is_lost)
    assert verdict.status is Status.UNCONFIRMED, verdict


PLACED = """
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, place="cpu"):
        super().__init__()
        self.embed = {embed}
"""


@pytest.mark.parametrize(
    ("embed", "status"),
    [
        ("nn.Parameter(torch.ones(3)).to(place)", Status.UNCONFIRMED),
        ("nn.Parameter(torch.ones(3)).to(device=place)", Status.UNCONFIRMED),
        ("nn.Parameter(torch.ones(3)).cpu()", Status.UNCONFIRMED),
        ('nn.Parameter(torch.ones(3, device="cuda")).to(place)', Status.CONFIRMED),
        ("nn.Parameter(torch.ones(3).to(place))", Status.REFUTED),
        ("nn.Parameter(torch.ones(3)).to(torch.float32)", Status.REFUTED),
    ],
)
def test_a_move_to_the_cpu_from_there_decides_nothing(tmp_path: Path, embed: str, status: Status) -> None:
    code = PLACED.format(embed=embed)
    verdict = verdict_of(tmp_path, code, f"self.embed = {embed}", "Encoder", embed_is_lost)
    assert verdict.status is status, verdict


def test_what_is_registered_without_any_assumption_refutes(tmp_path: Path) -> None:
    code = BRANCHES.format(embed="None", use="return x").replace('kind="positions", depth=2', "")
    code = code.replace('if kind == "positions"', "if True").replace('kind == "linear"', "False")
    text = "self.embed = Positions()"
    verdict = verdict_of(tmp_path, code, text, "Encoder", embed_is_lost)
    assert verdict.status is Status.REFUTED, verdict


LAYER = """
import torch
from torch import nn

KEPT = {{}}


class Model(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.width = width
        self.proj = None

    def forward(self, x):
        {body}
"""
MADE = "nn.Linear(4, 4)"
CREATIONS = {
    "made anew": (f"return {MADE}(x)", Status.CONFIRMED),
    "replaced": (f"self.proj = {MADE}; return self.proj(x)", Status.CONFIRMED),
    "kept": (f"self.proj = self.proj or {MADE}; return self.proj(x)", Status.REFUTED),
    "kept elsewhere": (f"return KEPT.setdefault('proj', KEPT.get('proj') or {MADE})(x)", None),
    "written": (f"l = {MADE}; nn.init.constant_(l.weight, 2); nn.init.constant_(l.bias, 3); return l(x)", None),
    "not reached": (f"return x if x.size(-1) else {MADE}(x)", None),
    "fails": (f"{MADE}(x); raise ValueError('no')", None),
}


@pytest.mark.parametrize("name", CREATIONS)
def test_layers_that_are_made_in_a_call(tmp_path: Path, name: str) -> None:
    body, status = CREATIONS[name]
    code = LAYER.format(body=body)
    verdict = verdict_of(tmp_path, code, MADE, "Model.forward", lambda place: MadeAnew(place, place))
    assert verdict.status is (status or Status.UNCONFIRMED), verdict


HEARING = """
from torch import nn


class Heard(nn.Module):
    def __setattr__(self, name, value):
        super().__setattr__(name, value)


class Encoder(Heard):
    def __init__(self, width=4):
        super().__init__()
        self.embed = {value}
"""


@pytest.mark.parametrize(
    ("value", "status"),
    [("[nn.Linear(width, width)]", Status.CONFIRMED), ("nn.Linear(width, width)", Status.REFUTED)],
)
def test_a_base_may_hear_of_assignments(tmp_path: Path, value: str, status: Status) -> None:
    verdict = verdict_of(tmp_path, HEARING.format(value=value), "self.embed", "Encoder", embed_is_lost)
    assert verdict.status is status, verdict


INHERITED = """
from torch import nn


class Base(nn.Module):
    def forward(self, x):
        return self.head(x)


class Model(Base):
    def __init__(self, width=4):
        super().__init__()
        self.width = width

    def head(self, x):
        return nn.Linear(4, 4)(x)
"""


def test_a_layer_is_made_by_a_method_that_a_base_calls(workspace: Workspace) -> None:
    workspace.write({"model.py": INHERITED})
    result = workspace.run("check", "--confirm", "--select", "ML206", "--isolated", "--output-format", "json")
    (finding,) = result.json["findings"]
    assert finding["verdict"]["status"] == "confirmed", finding


MOVED = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        {store}
        self.other = torch.ones(4)

    def forward(self, x):
        y = x + self.other
        return y * {use}
"""
MOVEMENTS = {
    "stays": ("self.table = torch.ones(4)", "self.table", Status.CONFIRMED),
    "moved at its use": ("self.table = torch.ones(4)", "self.table.to(x.device)", Status.UNCONFIRMED),
    "a number": ("self.table = torch.tensor(4.0)", "self.table", Status.UNCONFIRMED),
    "a buffer": ('self.register_buffer("table", torch.ones(4))', "self.table", Status.REFUTED),
    "used by nobody": ("self.table = torch.ones(4)", "2", Status.UNCONFIRMED),
}


@pytest.mark.parametrize("name", MOVEMENTS)
def test_tensors_that_stay_behind(tmp_path: Path, name: str) -> None:
    store, use, status = MOVEMENTS[name]
    code = MOVED.format(store=store, use=use)
    line = next(number for number, text in enumerate(code.splitlines(), 1) if "return y" in text)
    met = Place((tmp_path / "model.py").as_posix(), Span(line, 1, line, 80))
    verdict = verdict_of(tmp_path, code, store, "Model", lambda place: LeftBehind(place, "Model", "table", met))
    assert verdict.status is status, verdict
