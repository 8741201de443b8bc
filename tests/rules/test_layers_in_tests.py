"""Layers that a test or a demonstration makes are told as info: often nobody runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

ROW = """
from collections import OrderedDict

from torch import nn


def parts():
    return nn.Sequential(OrderedDict([("first", nn.Linear(4, 4)), ("second", nn.Linear(6, 6))]))


def pair():
    layers = [nn.Linear(4, 4), nn.Linear(6, 6)]
    return nn.Sequential(*layers)
"""


@pytest.mark.parametrize(
    ("path", "severity"), [("parts.py", "error"), ("tests/parts.py", "info"), ("test_parts.py", "info")]
)
def test_neighbours_that_do_not_fit_are_an_info_in_a_test(workspace: Workspace, path: str, severity: str) -> None:
    workspace.write({path: ROW})
    found = workspace.run("check", "--select", "ML501", "--output-format", "json").json["findings"]
    assert [finding["severity"] for finding in found] == [severity, severity]


TIED = """
from torch import nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.{first}
        self.second = nn.Linear(4, 2)
        self.second.weight = self.first.weight
"""
IDS = "this layer is made for 2 ids, but shares its weight with one that is made for 4"
FEATURES = "this layer gives 2 features, but shares its weight with one that gives 4"


@pytest.mark.parametrize(("path", "severity"), [("tied.py", "warning"), ("tests/tied.py", "info")])
@pytest.mark.parametrize(("first", "message"), [("Embedding(4, 4)", IDS), ("Linear(2, 4)", FEATURES)])
def test_layers_that_share_a_weight_are_an_info_in_a_test(
    workspace: Workspace, path: str, severity: str, first: str, message: str
) -> None:
    workspace.write({path: TIED.format(first=first)})
    (found,) = workspace.run("check", "--select", "ML105", "--output-format", "json").json["findings"]
    assert (found["severity"], found["message"]) == (severity, message)
