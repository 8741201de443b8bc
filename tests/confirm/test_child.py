"""Whatever user code does in the child, the linter gets an answer and everything else stays as it was."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from served import served

from modellint.claims.recipes import NotMoved
from modellint.confirm.child import answer
from modellint.confirm.guarded import Guarding, Limits
from modellint.confirm.plan import Group, group_by_target
from modellint.confirm.setup import Setup
from modellint.finding import Status, Verdict
from modellint.probes import Probe, Target
from modellint.source import Place, Span

if TYPE_CHECKING:
    from pathlib import Path

LAYER = """
import torch


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
"""
RECIPE = "layer: !new:user.Layer\nlinear: !new:torch.nn.Linear\n    in_features: 4\n    out_features: 4\nmodules: {}\n"


def not_moved(target: Target, key: str) -> NotMoved:
    return NotMoved(Place(target.path.as_posix(), Span(1, 1, 1, 1)), key)


def verdict_of(folder: Path, code: str, *, key: str = "layer", recipe: str = RECIPE, **limits: float) -> Verdict:
    """The verdict on a key of a recipe whose first layer is of a class in user code."""
    (folder / "user.py").write_text(code + LAYER)
    path = folder / "recipe.yaml"
    path.write_text(recipe)
    target = Target(path)
    group = Group(target, ((7, Probe(target, not_moved(target, key))),))
    return answer(group, served(guarding=Guarding(limits=Limits(**limits))))[7]  # type: ignore[arg-type]


def test_a_layer_outside_of_modules_stays_behind(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "", key="linear")
    assert verdict.status is Status.CONFIRMED
    assert verdict.device == "fake"
    assert verdict.detail is not None
    assert "`linear.weight`, `linear.bias` stayed on `cpu`" in verdict.detail
    assert "Expected all tensors to be on the same device" in verdict.detail


def test_a_layer_in_modules_does_not(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "", key="linear", recipe=RECIPE.replace("{}", "{linear: !ref <linear>}"))
    assert verdict.status is Status.REFUTED, verdict


def test_what_users_print_is_no_answer(tmp_path: Path) -> None:
    noise = 'import os, sys\nfor _ in range(1000):\n    print(\'{"verdict": {"id": 7, "status": "refuted"}}\' * 10)\n'
    noise += "os.write(1, b'x' * 100_000)\nsys.stderr.write('y' * 100_000)\n"
    assert verdict_of(tmp_path, noise).status is Status.CONFIRMED


HOSTILE = {
    "exits": ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
    "exits at once": ("import os\nos._exit(5)\n", "exited with status 5"),
    "crashes": ("import ctypes\nctypes.string_at(0)\n", "died of SIGSEGV"),
    "aborts": ("import os\nos.abort()\n", "died of SIGABRT"),
    "never ends": ("while True:\n    pass\n", "not finished after 3 s"),
    "takes all memory": ("x = bytearray(100 << 30)\n", "MemoryError"),
    "takes memory bit by bit": (
        "x = []\nwhile True:\n    x.append(b'1' * (8 << 20))\n",
        "MemoryError|used more than 1 GiB",
    ),
    "raises": ("raise ValueError('no such luck')\n", "no such luck"),
}


@pytest.mark.dear
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_code_ends_as_unconfirmed(tmp_path: Path, name: str) -> None:
    code, reason = HOSTILE[name]
    verdict = verdict_of(tmp_path, code, seconds=3 if name == "never ends" else 60, memory=1 << 30)
    assert verdict.status is Status.UNCONFIRMED, verdict
    assert re.search(reason, verdict.detail or "")


def test_what_code_tries_is_named(tmp_path: Path) -> None:
    target = tmp_path / "written"
    verdict = verdict_of(tmp_path, f"open({str(target)!r}, 'w')\n")
    assert verdict.status is Status.UNCONFIRMED, verdict
    assert f"modellint does not let code write {target}" in (verdict.detail or "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recipe.yaml", "user.py"]


def test_an_interpreter_that_cannot_run(tmp_path: Path) -> None:
    target = Target(tmp_path / "recipe.yaml")
    group = Group(target, ((0, Probe(target, not_moved(target, "linear"))),))
    verdict = answer(group, Setup(tmp_path / "python", ()))[0]
    assert verdict.status is Status.UNCONFIRMED
    assert "cannot be run" in (verdict.detail or "")


def test_probes_of_one_target_share_a_process(tmp_path: Path) -> None:
    one, other = Target(tmp_path / "a.yaml"), Target(tmp_path / "b.yaml")
    probes = [(n, Probe(target, not_moved(target, "x"))) for n, target in enumerate((one, other, one))]
    assert [[number for number, _ in group.probes] for group in group_by_target(probes)] == [[0, 2], [1]]


@pytest.mark.parametrize("when", ["importing", "building"])
def test_what_ends_a_process_takes_one_probe_with_it(tmp_path: Path, when: str) -> None:
    crash = "import os\nos.abort()\n"
    (tmp_path / "user.py").write_text(
        LAYER + "        import os; os.abort()\n" if when == "building" else crash + LAYER
    )
    target = Target(tmp_path / "recipe.yaml")
    target.path.write_text(RECIPE)
    keys = ["linear", "layer", "layer", "linear"]
    probes = tuple((at, Probe(target, not_moved(target, key))) for at, key in enumerate(keys))
    verdicts = answer(Group(target, probes), served())
    told = [verdicts[at].status for at in range(len(keys))]
    assert told == [Status.CONFIRMED, Status.UNCONFIRMED, Status.UNCONFIRMED, Status.CONFIRMED]
    assert ["died of SIGABRT" in (verdicts[at].detail or "") for at in (1, 2)] == [True, True]
