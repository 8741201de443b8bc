"""Neovim and Emacs, without a screen, with the clients that they bring: they show a finding, and apply its fix.

Neovim gets the shapes beside the code, too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parent.parent / "docs" / "editors.md"
NEOVIM, EMACS = shutil.which("nvim"), shutil.which("emacs")
MODEL = """\
from torch import nn


class Text(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(2)]

    def forward(self, hidden):
        for layer in self.layers:
            hidden = layer(hidden)
        mask = hidden.new_ones(3, 4)
        return hidden, mask
"""
FIXED = "self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])"
#: Opens model.py with the settings, waits for a diagnostic, applies the preferred action, waits until nothing is left.
SCRIPT = """
local folder = ...
vim.cmd("edit " .. folder .. "/model.py")
local buffer = vim.api.nvim_get_current_buf()
local get_clients = vim.lsp.get_clients or vim.lsp.get_active_clients
vim.wait(60000, function() return #get_clients() > 0 end, 50)
local id = get_clients()[1].id
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
local ends = { { line = 11, character = 0 }, { line = 12, character = 0 } }
local about = { textDocument = params.textDocument, range = { start = ends[1], ["end"] = ends[2] } }
local hints = vim.lsp.buf_request_sync(buffer, "textDocument/inlayHint", about, 60000)[id].result
vim.cmd("write")
local left = #vim.diagnostic.get(buffer)
vim.lsp.stop_client(id)
vim.fn.writefile({ vim.fn.json_encode({ shown = shown, left = left, hints = hints }) }, folder .. "/result.json")
vim.cmd("qall!")
"""


def neovim_settings() -> str:
    """The lines of the page for the version of Neovim that is installed."""
    said = subprocess.run([str(NEOVIM), "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"NVIM v0\.(\d+)", said)
    release = int(found[1]) if found else 99
    first = "-- 0.11" if release >= 11 else "-- 0.8 to 0.10" if release >= 8 else "-- 0.7"
    (settings,) = (
        block
        for block in re.findall(r"```lua\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
        if block.startswith(first)
    )
    return str(settings)


@pytest.mark.dear
@pytest.mark.skipif(NEOVIM is None, reason="Neovim (`nvim`) is not installed")
def test_neovim_with_the_settings_of_the_docs_shows_a_finding_and_applies_its_fix(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "modellint.toml").write_text("")
    result = run_neovim(tmp_path, SCRIPT)
    assert [(one["line"], one["code"], one["source"]) for one in result["shown"]] == [(7, "ML204", "modellint")]
    assert result["left"] == 0
    assert FIXED in (tmp_path / "model.py").read_text()
    (hint,) = result["hints"]
    assert (hint["position"], hint["label"]) == ({"line": 11, "character": 12}, ": [3, 4]")


MAIN = """\
import hydra


@hydra.main(config_path="conf", config_name="config", version_base=None)
def main(cfg):
    return cfg.trainer.epochs
"""
#: Types a line of a configuration and takes the first completion; then asks for a definition and a hover text.
TYPING = """
local folder = ...
vim.cmd("edit " .. folder .. "/conf/config.yaml")
local buffer = vim.api.nvim_get_current_buf()
local get_clients = vim.lsp.get_clients or vim.lsp.get_active_clients
vim.wait(60000, function() return #get_clients() > 0 end, 50)
local id = get_clients()[1].id
vim.wait(60000, function() return get_clients()[1].initialized or get_clients()[1].server_capabilities ~= nil end, 50)
local function ask(method, line, column)
  local document = vim.lsp.util.make_text_document_params(buffer)
  local params = { textDocument = document, position = { line = line - 1, character = column } }
  return vim.lsp.buf_request_sync(buffer, method, params, 60000)[id].result
end
vim.api.nvim_buf_set_lines(buffer, -1, -1, true, { "net:", "  _target_: nets.Net", "  width: ${trainer.ep" })
local items = ask("textDocument/completion", 5, 21)
local first = (items.items or items)[1]
vim.lsp.util.apply_text_edits({ first.textEdit }, buffer, vim.lsp.get_client_by_id(id).offset_encoding)
local definition = ask("textDocument/definition", 5, 20)
local hover = ask("textDocument/hover", 4, 18)
local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
local triggers = vim.lsp.get_client_by_id(id).server_capabilities.completionProvider.triggerCharacters
vim.lsp.stop_client(id)
local result = { lines = lines, definition = definition, hover = hover.contents.value, triggers = triggers }
vim.fn.writefile({ vim.fn.json_encode(result) }, folder .. "/result.json")
vim.cmd("qall!")
"""


def run_neovim(folder: Path, script: str) -> dict[str, Any]:
    """The result that a script writes, with the settings of the docs and the server of this environment."""
    (folder / "settings.lua").write_text(neovim_settings())
    (folder / "script.lua").write_text(script)
    call = f"lua assert(loadfile('{folder}/script.lua'))('{folder}')"
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    subprocess.run(
        [str(NEOVIM), "--headless", "--clean", "-i", "NONE", "-c", f"luafile {folder}/settings.lua", "-c", call],
        check=True,
        timeout=240,
        cwd=folder,
        capture_output=True,
        env={**os.environ, "PATH": path},
    )
    found: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return found


@pytest.mark.dear
@pytest.mark.skipif(NEOVIM is None, reason="Neovim (`nvim`) is not installed")
def test_neovim_completes_a_configuration_that_is_being_typed(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "config.yaml").write_text("trainer:\n  epochs: 3\n")
    (tmp_path / "nets.py").write_text("class Net:\n    def __init__(self, width):\n        pass\n")
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "modellint.toml").write_text("")
    result = run_neovim(tmp_path, TYPING)
    assert result["lines"][-1] == "  width: ${trainer.epochs}"
    (definition,) = result["definition"]
    assert (Path(definition["uri"]).name, definition["range"]["start"]) == ("config.yaml", {"line": 1, "character": 2})
    assert "class Net(width)" in result["hover"]
    assert "." in result["triggers"]


#: Opens model.py, starts the server that the settings name, waits for a diagnostic, takes the first action, saves.
ACTIONS = """
(require 'json)
(require 'flymake)
(defun wait-until (done)
  (let ((end (+ (float-time) 60)))
    (while (and (< (float-time) end) (not (funcall done)))
      (accept-process-output nil 0.1))))
(find-file "model.py")
(apply #'eglot (eglot--guess-contact))
(wait-until (lambda () (flymake-start) (flymake-diagnostics)))
(let* ((one (car (flymake-diagnostics)))
       (line (line-number-at-pos (flymake-diagnostic-beg one)))
       (text (flymake-diagnostic-text one))
       (last-nonmenu-event ?f))  ; a key, not the mouse
  (cl-letf (((symbol-function 'completing-read) (lambda (_ choices &rest _) (caar choices))))
    (eglot-code-actions (flymake-diagnostic-beg one) (flymake-diagnostic-end one) "quickfix" t))
  (save-buffer)
  (wait-until (lambda () (flymake-start) (null (flymake-diagnostics))))
  (princ (json-encode (list :line line :text text :left (length (flymake-diagnostics))))))
"""


def has_eglot() -> bool:
    """Whether Emacs is installed, and eglot with it."""
    look = ["--batch", "--eval", "(progn (package-initialize) (require 'eglot))"]
    return EMACS is not None and subprocess.run([EMACS, *look], capture_output=True, check=False).returncode == 0


@pytest.mark.dear
@pytest.mark.skipif(not has_eglot(), reason="Emacs (`emacs`, with eglot) is not installed")
def test_emacs_with_the_settings_of_the_docs_shows_a_finding_and_applies_its_fix(tmp_path: Path) -> None:
    settings = "".join(re.findall(r"```elisp\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL))
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "modellint.toml").write_text("")
    (tmp_path / "init.el").write_text(f"(package-initialize)\n{settings}\n(require 'eglot)\n{ACTIONS}")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        [str(EMACS), "--batch", "-l", "init.el"],
        timeout=240,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path, "HOME": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["line"] == 7
    assert "modellint [ML204]" in result["text"]
    assert result["left"] == 0
    assert FIXED in (tmp_path / "model.py").read_text()
