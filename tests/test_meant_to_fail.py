"""What a test says has to fail is no finding, whatever the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

TESTS = """
import contextlib
import unittest

import pytest
import torch
from pytest import raises
from torch import nn


class TestTable(unittest.TestCase):
    def test_ids(self):
        table = nn.Embedding(3, 8)
        with {context}:
            table(torch.tensor([0, 3]))

    def test_weights(self):
        with {context}:
            nn.functional.embedding(torch.tensor([0, 2, 3]), torch.randn(3, 8))

    def test_dimensions(self):
        x = torch.randn(3, 8)
        with {context}:
            x.unsqueeze(
                4,
            )
"""
FAILING = (
    "pytest.raises(IndexError)",
    "raises(IndexError, match='range')",
    "self.assertRaises(IndexError)",
    "self.assertRaisesRegex(IndexError, 'range') as caught",
    "torch.no_grad(), pytest.raises((IndexError, ValueError))",
)
PASSING = ("torch.no_grad()", "self.subTest()", "contextlib.suppress(IndexError)", "pytest.warns(UserWarning)")


def found(workspace: Workspace, context: str) -> list[str]:
    workspace.write({"test_table.py": TESTS.format(context=context)})
    return [code for _, _, code in workspace.places("--select", "ML1,ML507")]


@pytest.mark.parametrize("context", FAILING)
def test_what_has_to_fail_is_no_finding(workspace: Workspace, context: str) -> None:
    assert found(workspace, context) == []


@pytest.mark.parametrize("context", PASSING)
def test_what_is_not_said_to_fail_is_one(workspace: Workspace, context: str) -> None:
    assert sorted(found(workspace, context)) == ["ML104", "ML104", "ML507", "ML507"]


def test_what_stands_behind_is_one(workspace: Workspace) -> None:
    workspace.write({"test_table.py": f"{TESTS.format(context=FAILING[0])}        x.unsqueeze(4)\n"})
    assert [code for _, _, code in workspace.places("--select", "ML1,ML507")] == ["ML507"]
