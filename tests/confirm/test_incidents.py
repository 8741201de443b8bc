"""What is shown of the incidents in projects of their shape: files of theirs that cannot be run where they stand."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from test_padded_positions import COPIED, COPY, PROJECT, REPLACEMENT, REPLACING

if TYPE_CHECKING:
    from conftest import Workspace


ATTENTION = """\
import torch
from torch import nn

from ...outputs import Output
from .settings import DecoderSettings


class Table(nn.Module):
    def __init__(self, dim, longest=2048):
        super().__init__()
        angles = torch.outer(torch.arange(longest), torch.arange(dim))
        self.register_buffer("cosines", angles.cos(), persistent=False)
        self.register_buffer("sines", angles.sin(), persistent=False)

    def forward(self, x, length):
        return self.cosines[:length].to(x.dtype), self.sines[:length].to(x.dtype)


class Attention(nn.Module):
    def __init__(self, config: DecoderSettings):
        super().__init__()
        self.config = config
        self.queries = nn.Linear(config.width, config.width)
        self.keys = nn.Linear(config.width, config.width)
        self.table = self.make_table() if self.config.scaling is None else self.make_table(self.config.scaling["by"])

    def make_table(self, by=1):
        return Table(self.config.width, 2048 * by)

    def forward(self, x, position_ids=None, past=None):
        queries, keys = self.queries(x), self.keys(x)
        length = keys.shape[-2]
        if past is not None:
            length += past[0].shape[-2]
        cos, sin = self.table(keys, length=length)
        cos, sin = cos[position_ids], sin[position_ids]
        return Output(queries * cos, keys * sin)
"""


def verdicts(workspace: Workspace, code: str) -> list[tuple[str, str]]:
    found = workspace.run("check", ".", "--confirm", "--select", code, "--output-format", "json").json["findings"]
    return [(one["verdict"]["status"], one["verdict"]["detail"]) for one in found]


@pytest.mark.parametrize(("name", "content"), [(COPY, COPIED), (REPLACEMENT, REPLACING)])
def test_packed_positions_fail_below_the_size_of_their_filler(workspace: Workspace, name: str, content: str) -> None:
    workspace.write({**PROJECT, name: content})
    ((status, detail),) = verdicts(workspace, "ML304")
    assert status == "confirmed", detail
    assert "`rotate` with a row for each position: length 99 fails (ids from -100 to 98 in 99 rows)" in detail
    assert "length 100 passes, and takes row 0 of 100 for -100" in detail


def test_a_table_that_is_cut_to_the_keys_fails_for_ids_beyond_them(workspace: Workspace) -> None:
    workspace.write({COPY: ATTENTION})
    ((status, detail),) = verdicts(workspace, "ML302")
    assert status == "confirmed", detail
    assert "not importable and replaced: packages_above_modeling_decoder" in detail


VISION = {
    "looking/sizes.py": """\
def fitting_size(height, width, factor):
    return height // factor * factor, width // factor * factor
""",
    "looking/processor.py": """\
import numpy as np
from shelf.images import Preparing

from looking.sizes import fitting_size


class Processor(Preparing):
    def __init__(self, patch_size: int = 14, merge_size: int = 2, window: int = 2):
        self.patch_size, self.merge_size, self.window = patch_size, merge_size, window

    def preprocess(self, image):
        width, height = image.size
        rows, columns = fitting_size(height, width, self.patch_size * self.merge_size * self.window)
        image = image.resize((columns, rows))
        return image.reshape(3, rows // self.patch_size, self.patch_size, columns // self.patch_size, self.patch_size)
""",
}


def test_images_below_one_window_of_patches_have_no_grid(workspace: Workspace) -> None:
    workspace.write(VISION)
    found = verdicts(workspace, "ML305")
    assert [status for status, _ in found] == ["confirmed", "confirmed"], found
    assert "an image of 56 x 56 gets a grid; of one of 55 x 55, a side becomes 0" in found[0][1]
    absent = [name for name in ("numpy", "shelf") if find_spec(name) is None]
    assert f"(not importable and replaced: {', '.join(absent)})" in found[0][1]
