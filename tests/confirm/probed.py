"""Models that tests write and probe, and what they ask of the checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
