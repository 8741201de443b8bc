"""Neovim, headless, with the client that it brings: it shows a finding, and applies its fix."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

NEOVIM = shutil.which("nvim")
MODEL = """\
from torch import nn


class Text(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(2)]

    def forward(self, hidden):
        for layer in self.layers:
            hidden = layer(hidden)
        return hidden
"""
#: Opens model.py with the server, waits for a diagnostic, applies the preferred action, waits until nothing is left.
SCRIPT = """
local python, folder = ...
vim.cmd("edit " .. folder .. "/model.py")
local buffer = vim.api.nvim_get_current_buf()
local cmd = { python, "-m", "modellint", "server" }
local id = vim.lsp.start_client({ name = "modellint", cmd = cmd, root_dir = folder })
vim.lsp.buf_attach_client(buffer, id)
vim.wait(60000, function() return #vim.diagnostic.get(buffer) > 0 end, 50)
local shown = {}
for _, one in ipairs(vim.diagnostic.get(buffer)) do
  table.insert(shown, { line = one.lnum + 1, code = one.code, source = one.source, message = one.message })
end
vim.api.nvim_win_set_cursor(0, { shown[1].line, 0 })
local params = vim.lsp.util.make_range_params()
params.context = { diagnostics = {} }
local answer = vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", params, 60000)[id]
for _, action in ipairs(answer.result) do
  if action.isPreferred then
    vim.lsp.util.apply_workspace_edit(action.edit, vim.lsp.get_client_by_id(id).offset_encoding)
  end
end
vim.wait(60000, function() return #vim.diagnostic.get(buffer) == 0 end, 50)
vim.cmd("write")
local left = #vim.diagnostic.get(buffer)
vim.lsp.stop_client(id)
vim.fn.writefile({ vim.fn.json_encode({ shown = shown, left = left }) }, folder .. "/result.json")
vim.cmd("qall!")
"""


@pytest.mark.skipif(NEOVIM is None, reason="Neovim (`nvim`) is not installed")
def test_neovim_shows_a_finding_and_applies_its_fix(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "modellint.toml").write_text("")
    (tmp_path / "script.lua").write_text(SCRIPT)
    call = f"lua assert(loadfile('{tmp_path}/script.lua'))('{sys.executable}', '{tmp_path}')"
    subprocess.run(
        [str(NEOVIM), "--headless", "--clean", "-i", "NONE", "-c", call],
        check=True,
        timeout=240,
        cwd=tmp_path,
        capture_output=True,
    )
    result = json.loads((tmp_path / "result.json").read_text())
    assert [(one["line"], one["code"], one["source"]) for one in result["shown"]] == [(7, "ML204", "modellint")]
    assert result["left"] == 0
    assert (
        "self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])"
        in (tmp_path / "model.py").read_text()
    )
