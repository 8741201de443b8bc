"""`modellint probe` is never wrong, and passes nothing over: small classes, and what has to be said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Outcome, Workspace

HEAD = "import torch\nfrom torch import nn\n\n\n"


def probed(workspace: Workspace, code: str, name: str, *options: str) -> dict[str, Any]:
    """The checks of a class, by name."""
    workspace.write({"model.py": HEAD + code})
    result: Outcome = workspace.run("probe", f"model.py::{name}", "--output-format", "json", *options)
    assert result.err == ""
    return {check["name"]: check for check in result.json["checks"]}


TABLES = """
class Model(nn.Module):
    def __init__(self, vocab_size=100, others=4, width=16):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size {fewer}, width)
        self.others = nn.Embedding({rows}, width)

    def forward(self, input_ids, {name}):
        return self.tokens(input_ids) + self.others({name})
"""


@pytest.mark.parametrize("name", ["speaker_ids", "token_type_ids", "audio_tokens", "code_ids"])
def test_a_vocabulary_is_no_range_for_what_looks_up_another_table(workspace: Workspace, name: str) -> None:
    found = probed(workspace, TABLES.format(fewer="", rows="others", name=name), "Model")
    assert found["values"]["status"] == "passed", found
    assert "ids [0, 99] of `input_ids` with `vocab_size` 100 look up 100 rows" in found["values"]["detail"]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (TABLES.format(fewer="- 1", rows="others", name="speaker_ids"),
         "ids [0, 99] of `input_ids` with `vocab_size` 100 look up 99 rows"),
        (TABLES.format(fewer="", rows="vocab_size", name="target_ids").replace("others(t", "others(1 + t"), ""),
        (TABLES.format(fewer="", rows="vocab_size", name="speaker_ids").replace("rs(s", "rs(1 + input_ids + 0 * s"),
         "ids [1, 100] of `input_ids` with `vocab_size` 100 look up 100 rows"),
    ],
    ids=["fewer rows", "shifted alone", "shifted elsewhere"],
)  # fmt: skip
def test_a_vocabulary_is_the_range_of_what_looks_up_its_table(workspace: Workspace, code: str, says: str) -> None:
    found = probed(workspace, code, "Model")
    assert found["values"]["status"] == ("failed" if says else "in-part"), found
    assert says in found["values"]["detail"]


def test_the_vocabulary_of_a_configuration(workspace: Workspace) -> None:
    code = """
class Config:
    def __init__(self):
        self.vocab_size = 100
        self.width = 16


class Model(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.table = nn.Embedding(config.vocab_size - 1, config.width)

    def forward(self, input_ids):
        return self.table(input_ids)
"""
    found = probed(workspace, code, "Model")
    assert found["values"]["status"] == "failed", found
    found = probed(workspace, code.replace("_size - 1", "_size + 1"), "Model")
    assert found["values"]["status"] == "passed", found


POSITIONS = """
class Model(nn.Module):
    def __init__(self, maxlen=16, width=16, n=50):
        super().__init__()
        self.items = nn.Embedding(n + 1, width, padding_idx=0)
        self.positions = nn.Embedding({table})

    def forward(self, ids):
        positions = torch.arange(1, ids.shape[1] + 1, device=ids.device).expand(ids.shape)
        return self.items(ids) + self.positions(positions {masked})
"""


@pytest.mark.parametrize(
    ("table", "masked", "status"),
    [
        ("maxlen + 1, width", "* (ids != 0)", "passed"),
        ("maxlen + 1, width", "", "passed"),
        ("17, width", "", "passed"),
        ("maxlen, width, padding_idx=0", "", "passed"),
        ("maxlen, width", "", "failed"),
    ],
)
def test_the_first_row_may_be_that_of_padding(workspace: Workspace, table: str, masked: str, status: str) -> None:
    found = probed(workspace, POSITIONS.format(table=table, masked=masked), "Model")
    assert found["boundaries"]["status"] == status, found
    assert found["values"]["status"] == "passed", found


def test_a_token_in_front_takes_a_position(workspace: Workspace) -> None:
    code = """
class Model(nn.Module):
    def __init__(self, max_len=16, width=16):
        super().__init__()
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Embedding(max_len, width)

    def forward(self, hidden):
        hidden = torch.cat([self.first.expand(len(hidden), 1, -1), hidden], 1)
        return hidden + self.positions(torch.arange(hidden.shape[1], device=hidden.device))
"""
    found = probed(workspace, code, "Model")
    assert found["boundaries"]["status"] == "passed", found


@pytest.mark.parametrize(
    "used",
    ["hidden[:, 1] - hidden[:, 0]", "hidden[:, -2]", "hidden[:, 2] - hidden[:, 1]"],
)
def test_what_needs_some_frames_may_ask_for_them(workspace: Workspace, used: str) -> None:
    code = f"""
class Model(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, hidden):
        return self.proj({used})
"""
    found = probed(workspace, code, "Model")
    assert found["boundaries"]["status"] == "passed", found
    assert "a length of 1 raises IndexError" in found["boundaries"]["detail"]


@pytest.mark.parametrize(
    ("inputs", "ids"),
    [
        ("hidden, speaker: int", "torch.tensor(speaker, device=hidden.device)"),
        ("hidden", "torch.arange(hidden.shape[1], device=hidden.device)"),
        ("hidden, step_ids", "step_ids + 1"),
    ],
    ids=["number", "length", "ids"],
)
def test_what_was_made_up_and_lacks_a_row_is_no_failure(workspace: Workspace, inputs: str, ids: str) -> None:
    code = f"""
class Model(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.table = nn.Embedding(2, width)

    def forward(self, {inputs}):
        return self.proj(hidden).sum() + self.table({ids}).sum()
"""
    found = probed(workspace, code, "Model")
    assert "failed" not in {check["status"] for check in found.values()}, found


MODES = """
class Model(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.scale = torch.ones(width)

    def forward(self, hidden, {optional}=None):
        if {condition}:
            hidden = {mixed}
        return self.proj(hidden)
"""


@pytest.mark.parametrize(
    ("optional", "condition", "mixed", "says"),
    [
        ("mask", "self.training", "hidden * self.scale", "in training: after the move"),
        ("prompt", "prompt is not None", "hidden + prompt * self.scale", "with `prompt`: after the move"),
        ("mask", "mask is not None", "hidden * mask.unsqueeze(-1) * self.scale", "with `mask`: after the move"),
        ("prompt", "self.training and prompt is not None", "hidden + prompt * self.scale",
         "in training with `prompt`: after the move"),
    ],
)  # fmt: skip
def test_what_only_some_calls_use_is_reached(
    workspace: Workspace, optional: str, condition: str, mixed: str, says: str
) -> None:
    found = probed(workspace, MODES.format(optional=optional, condition=condition, mixed=mixed), "Model")
    assert found["placement"]["status"] == "failed", found
    assert says in found["placement"]["detail"]
    good = MODES.format(optional=optional, condition=condition, mixed=mixed).replace(
        "self.scale = torch.ones(width)", 'self.register_buffer("scale", torch.ones(width))'
    )
    found = probed(workspace, good, "Model")
    assert found["placement"]["status"] == "passed", found
    assert f"likewise with `{optional}`, in training, in training with `{optional}`" in found["placement"]["detail"]


def test_what_cannot_be_called_in_a_mode_is_checked_in_part(workspace: Workspace) -> None:
    mixed = "torch.load('nothing.pt')"
    found = probed(workspace, MODES.format(optional="mask", condition="self.training", mixed=mixed), "Model")
    assert found["placement"]["status"] == "in-part", found
    assert "; not in training: FileNotFoundError" in found["placement"]["detail"]


def test_what_code_refuses_beside_another_input_is_none_that_was_missed(workspace: Workspace) -> None:
    code = MODES.format(optional="embeds", condition="embeds is not None", mixed="refuse(hidden)")
    code = "def refuse(hidden):\n    raise ValueError('expected one of them')\n\n\n" + code
    assert probed(workspace, code, "Model")["placement"]["status"] == "passed"


def test_a_class_with_nothing_to_check(workspace: Workspace) -> None:
    workspace.write({"model.py": HEAD + "class Model(nn.Module):\n    def forward(self, one):\n        return one\n"})
    result = workspace.run("probe", "model.py::Model")
    assert result.code == 0
    assert "placement   nothing to check  it holds no tensors, and computes nothing" in result.out
    assert "nothing to check  the call works, and looks nothing up" in result.out
    assert "nothing to check" in result.lines[-1]


def test_a_module_that_was_not_built_does_not_pass(workspace: Workspace) -> None:
    code = """
from library_that_nobody_has import Layer


class Model(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.other = Layer(width)

    def forward(self, hidden):
        return self.proj(hidden)
"""
    found = probed(workspace, code, "Model")
    assert found["placement"]["status"] == "in-part", found
    assert "`library_that_nobody_has.Layer` was not built" in found["placement"]["detail"]


def test_a_recipe_of_which_a_module_was_not_built_does_not_pass(workspace: Workspace) -> None:
    recipe = """\
encoder: !new:torch.nn.Linear [8, 4]
other: !new:model.Needs
wrapped: !new:torch.nn.Sequential
    - !ref <encoder>
    - !ref <other>
modules:
    encoder: !ref <encoder>
    wrapped: !ref <wrapped>
"""
    needs = "class Needs(nn.Module):\n    def __init__(self):\n        torch.load('nothing.pt')\n"
    workspace.write({"hparams.yaml": recipe, "model.py": HEAD + needs})
    result = workspace.run("probe", "hparams.yaml", "--output-format", "json")
    found = {check["name"]: check for check in result.json["checks"]}
    assert found["placement"]["status"] == "in-part", found
    assert "could not be built" in found["placement"]["detail"]
