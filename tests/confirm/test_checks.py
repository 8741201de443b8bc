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
        ("maxlen, width, padding_idx=0", "", "in-part"),
        ("maxlen, width", "", "failed"),
    ],
)
def test_the_first_row_may_be_that_of_padding(workspace: Workspace, table: str, masked: str, status: str) -> None:
    found = probed(workspace, POSITIONS.format(table=table, masked=masked), "Model")
    assert found["boundaries"]["status"] == status, found
    assert found["values"]["status"] == "passed", found


IN_FRONT = """
class Model(nn.Module):
    def __init__(self, {parameter}=16, width=16):
        super().__init__()
        self.first = nn.Parameter(torch.zeros(1, {tokens}, width))
        self.positions = nn.Embedding({rows}, width)

    def forward(self, hidden):
        hidden = torch.cat([self.first.expand(len(hidden), {tokens}, -1), hidden], 1)
        return hidden + self.positions(torch.arange(hidden.shape[1], device=hidden.device))
"""


@pytest.mark.parametrize(
    ("parameter", "tokens", "rows", "says"),
    [
        ("max_len", "1", "max_len", "a length of 16 raises IndexError"),
        ("maximum_length", "2", "maximum_length", "a length of 15 raises IndexError"),
        ("max_len", "2", "max_len + 1", "a length of 16 raises IndexError"),
        ("max_positions", "1", "max_positions - 4", "a length of 12 raises IndexError"),
        ("max_len", "1", "max_len + 1", ""),
        ("width_of_all", "1", "width_of_all", ""),
        ("hop_length", "1", "hop_length - 4", ""),
    ],
)
def test_a_length_that_is_promised_and_fails_is_no_success(
    workspace: Workspace, parameter: str, tokens: str, rows: str, says: str
) -> None:
    code = IN_FRONT.replace("{parameter}", parameter).replace("{tokens}", tokens).replace("{rows}", rows)
    check = probed(workspace, code, "Model")["boundaries"]
    assert check["status"] == ("in-part" if says else "passed"), check
    assert (f"{says}: index out of range in self, though `{parameter}` is 16" in check["detail"]) == bool(says)


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
        ("hidden, scores", "scores.argmax(-1)"),
        ("hidden, lengths=None", "hidden[..., 0].long() * 0 if lengths is None else lengths.argsort(-1)"),
    ],
    ids=["number", "length", "ids", "classes", "optional"],
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


def test_ids_whose_length_is_documented_are_no_features(workspace: Workspace) -> None:
    code = """
class Model(nn.Module):
    def __init__(self, rows=20, seq_length=12, width=16):
        super().__init__()
        self.seq_length = seq_length
        self.table = nn.Embedding(rows, width)

    def forward(self, x):
        '''
        Args:
            x: Input tensor of shape (batch_size, seq_length)
        '''
        return self.table(x)
"""
    assert probed(workspace, code, "Model")["values"]["status"] == "nothing-to-check"


def test_a_number_that_is_documented_as_one_is_no_tensor(workspace: Workspace) -> None:
    code = """
class Model(nn.Module):
    def __init__(self, steps=10, width=16):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.scales = torch.linspace(0, 1, steps)

    def forward(self, hidden, t):
        '''
        Args:
            hidden: (batch, time, width)
            t (int): The step.
        '''
        return self.proj(hidden) * self.scales[t]
"""
    assert probed(workspace, code, "Model")["placement"]["status"] == "passed"


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


def test_modules_that_are_made_of_their_first_input(workspace: Workspace) -> None:
    code = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.LazyLinear(8)

    def forward(self, hidden):
        return self.proj(hidden)
"""
    found = probed(workspace, code, "Model")
    assert "failed" not in {check["status"] for check in found.values()}, found
    assert found["boundaries"]["status"] == "passed", found


def test_what_takes_no_mode_is_checked_in_part(workspace: Workspace) -> None:
    code = MODES.format(optional="mask", condition="mask is not None", mixed="hidden * 2")
    code += "\n    def train(self, mode=True):\n        assert not mode, 'this never learns'\n        return self\n"
    found = probed(workspace, code, "Model")
    assert found["placement"]["status"] == "in-part", found
    assert "not in training: AssertionError: this never learns" in found["placement"]["detail"]


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


SHAPES = """
class Model(nn.Module):
    def __init__(self, {arguments}):
        super().__init__()
        self.up = nn.Linear({up})
        self.down = nn.Linear({down})

    def forward(self, hidden):
        return {result}
"""


@pytest.mark.parametrize(
    ("arguments", "up", "down", "result", "status"),
    [
        ("width=16, inner=32", "width, inner", "inner, width", "self.down(self.up(hidden))", "passed"),
        ("width=16, inner=32", "width, inner", "width, width", "self.down(self.up(hidden))", "failed"),
        ("width=16, inner=32", "width, inner", "inner, 24", "hidden + self.down(self.up(hidden))", "failed"),
        # Only some numbers fit, and nothing says which.
        ("heads, width", "width, 8 * heads", "width, width", "self.down(self.up(hidden))", "not-run"),
        ("first, other, width", "first, other", "width, first", "self.down(self.up(hidden))", "not-run"),
        # Whatever was assumed has no part in it.
        ("n_classes", "16, 32", "24, n_classes", "self.down(self.up(hidden))", "failed"),
        # The width of what is passed decides.
        ("width=16", "width, width", "48, width",
         "self.up(hidden) + self.down(hidden.flatten(1)).unsqueeze(1)", "passed"),
    ],
)  # fmt: skip
def test_widths_inside_a_model(
    workspace: Workspace, arguments: str, up: str, down: str, result: str, status: str
) -> None:
    found = probed(workspace, SHAPES.format(arguments=arguments, up=up, down=down, result=result), "Model")
    assert found["shapes"]["status"] == status, found


def test_a_misfit_is_told_with_both_sizes_and_where_they_come_from(workspace: Workspace) -> None:
    code = SHAPES.format(arguments="", up="16, 32", down="24, 8", result="self.down(self.up(hidden))")
    told = probed(workspace, code, "Model")["shapes"]["detail"]
    assert told.startswith(
        "model.py:13: `down` (`Linear`, made at model.py:10) takes 24 features, not the 32 that "
        "`up` (`Linear`, made at model.py:9) gives: RuntimeError: mat1 and mat2 shapes cannot be multiplied"
    )


@pytest.mark.parametrize(
    ("layer", "given"),
    [
        ("nn.LayerNorm(24)", "x"),
        ("nn.LSTM(24, 8)", "x"),
        ("nn.Conv1d(24, 8, 1)", "x.transpose(1, 2)"),
        ("nn.BatchNorm1d(24)", "x.transpose(1, 2)"),
        ("nn.MultiheadAttention(24, 2)", "x, x, x"),
    ],
)
def test_layers_of_all_kinds_say_what_they_take(workspace: Workspace, layer: str, given: str) -> None:
    code = SHAPES.format(arguments="", up="16, 32", down="24, 8", result=f"self.last({given})")
    code = code.replace("self.down =", f"self.last = {layer}\n        self.down =")
    code = code.replace("(self, hidden):", "(self, hidden):\n        x = self.up(hidden)")
    found = probed(workspace, code, "Model")["shapes"]
    assert found["status"] == "failed", found
    assert "takes 24 features, not the 32 that `up` (`Linear`, made at model.py:9) gives" in found["detail"]


GRADIENTS = """
class Model(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.proj = nn.Linear(width, width)
        {made}

    def forward(self, hidden, mask=None):
        {used}

    def encode(self, hidden):
        return {other}
"""


@pytest.mark.parametrize(
    ("made", "used", "other", "status", "says"),
    [
        ("pass", "return self.proj(hidden)", "hidden", "passed", "gives 2 of 2 parameters a finite gradient"),
        ("self.extra = nn.Linear(width, 3)", "return self.proj(hidden)", "hidden", "failed",
         "`extra` gets no gradient in any call, and nothing reads it: DistributedDataParallel waits"),
        ("self.extra = nn.Linear(width, 3)", "return self.proj(hidden)", "self.extra(hidden)", "in-part",
         "no call that was made gives `extra.weight`, `extra.bias` one: DistributedDataParallel waits"),
        ("self.extra = nn.Linear(width, 3)", "return self.proj(hidden)", "getattr(self, hidden)", "in-part", "no call"),
        ("self.mask = nn.Parameter(torch.ones(width))",
         "return self.proj(hidden if mask is None else hidden + mask.unsqueeze(-1) * self.mask)", "hidden",
         "passed", "likewise with `mask`"),
        ("self.mask = nn.Parameter(torch.ones(width))",
         "return self.proj(hidden + self.mask if self.training else hidden)", "hidden", "passed", "in training"),
        ("self.hidden = [nn.Linear(width, width)]", "return self.hidden[0](self.proj(hidden))", "hidden",
         "failed", "`hidden[0].weight`, `hidden[0].bias` gets a gradient, and is none of the `parameters()`"),
        ("pass", "self.scale = nn.Parameter(torch.ones(16)); return self.proj(hidden) * self.scale", "hidden",
         "failed", "`scale` is made anew by each call"),
        ("pass", "return nn.Linear(16, 4)(self.proj(hidden))", "hidden",
         "failed", "`Linear` with 68 numbers is made anew by each call"),
        ("self.scale = None", "self.scale = self.scale or nn.Linear(16, 16); return self.scale(self.proj(hidden))",
         "hidden", "in-part", "is made by the first call: an optimizer has to be made after it"),
        ("pass", "x = self.proj(hidden); return torch.where(x > 1e9, x, x.detach() * 0 + (x - x).sqrt())", "hidden",
         "failed", "is not finite, though all that the call gives is"),
        ("pass", "return self.proj(hidden).log()", "hidden", "in-part", "some of what the call gives is no number"),
        ("pass", "x = self.proj(hidden).exp(); x += 1; return x", "hidden", "failed", "the backward pass raises"),
        ("pass", "return self.proj(hidden).argmax(-1)", "hidden", "nothing-to-check", "depends on no parameter"),
        ("self.requires_grad_(False)", "return self.proj(hidden)", "hidden", "nothing-to-check",
         "it has no parameters that learn"),
    ],
)  # fmt: skip
def test_gradients(workspace: Workspace, made: str, used: str, other: str, status: str, says: str) -> None:
    found = probed(workspace, GRADIENTS.format(made=made, used=used, other=other), "Model")["gradients"]
    assert found["status"] == status, found
    assert says in found["detail"]
