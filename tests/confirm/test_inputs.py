"""What probing passes to models: inputs as libraries document them, and what complaints about others ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from probed import passed, probed

if TYPE_CHECKING:
    from conftest import Workspace

DOCUMENTED = {
    "dummy inputs": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(40, 12)

    @property
    def dummy_inputs(self):
        return {"input_ids": torch.ones(3, 5).long(), "pixels": torch.zeros(2, 5, 12)}

    def forward(self, input_ids=None, mask=None, pixels=None):
        if input_ids is None and pixels is None:
            raise ValueError("no input")
        return self.table(input_ids) * pixels
""",
    "the name of the main input, and what a part lacks": """
class Model(nn.Module):
    main_input_name = "pixel_values"

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 12, 4, 4)
        self.table = nn.Embedding(40, 12)
        self.image_size = 24

    def decode(self, input_ids=None, inputs_embeds=None):
        if input_ids is None and inputs_embeds is None:
            raise ValueError("You must specify exactly one of input_ids or inputs_embeds")
        return self.table(input_ids).mean()

    def forward(self, input_ids=None, pixel_values=None, decoder_input_ids=None, decoder_inputs_embeds=None):
        b, c, h, w = pixel_values.shape
        if h != 24 or w != 24:
            raise ValueError(f"Input image size ({h}*{w}) does not match the model")
        return self.patches(pixel_values) + self.table(input_ids).mean() + self.decode(decoder_input_ids)
""",
    "an example in the file": """
class Model(nn.Module):
    def __init__(self, inp, oup, reduction):
        super().__init__()
        self.first = nn.Conv2d(inp, oup // reduction, 1)
        self.second = nn.Linear(49, 3)

    def forward(self, x, y):
        return self.second(self.first(x).flatten(2)) + y


if __name__ == "__main__":
    network = torch.load("nothing.pt")
    block = Model(32, oup=64, reduction=4).eval()
    x, side = torch.randn(4, 32, 7, 7), 3
    block.load_state_dict(network)
    print(block(x, y=torch.ones(4, 16, side)).shape)
""",
    "an example in the docstring": '''
class Model(nn.Module):
    """
    >>> images = torch.randn(1, 6, 24)
    >>> model = Model(width=24, table={"a": 3})
    >>> model(images, scale=images.mean(-1)).shape
    """
    def __init__(self, width, table):
        super().__init__()
        self.table = nn.Linear(width, table["a"])

    def forward(self, x, scale):
        assert scale.shape == x.shape[:-1]
        return self.table(x * scale[..., None])
''',
    "stated shapes": '''
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.num_channels, self.other = 6, 7
        self.table = nn.Conv1d(6, 7, 3)

    def forward(self, values):
        """
        Args:
            values (`torch.FloatTensor` of shape `(batch_size, num_channels, sequence_length)`, *optional*):
                What it is all about.
        """
        batch, channels, length = values.shape
        assert channels == 6
        return self.table(values)
''',
    "a list of tensors": """
class Model(nn.Module):
    def __init__(self, in_channels=(8, 16, 32), out=8):
        super().__init__()
        self.lateral = nn.ModuleList([nn.Conv2d(c, out, 1) for c in in_channels])

    def forward(self, feats: list[torch.Tensor]):
        return [layer(found) for layer, found in zip(self.lateral, feats, strict=True)]
""",
    "parts by names": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.rest = nn.Embedding(30, 12), nn.Linear(12, 12)

    def forward(self, inputs):
        inputs, input_lengths, features, max_len = inputs
        found = self.table(inputs)[:, : input_lengths.max().item()]
        return found.mean() + self.rest(features), max_len + 1
""",
    "parts by keys": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.rest = nn.Embedding(30, 12), nn.Linear(12, 12)

    def forward(self, batch):
        return self.table(batch["input_ids"]) + self.rest(batch["features"])
""",
    "indices of two ends": """
class Model(nn.Module):
    def __init__(self, in_feats, block):
        super().__init__()
        self.layer, self.block = nn.Linear(in_feats, in_feats), block(in_feats, stride=2)

    def forward(self, x, edge_index, weights: torch.FloatTensor, types: torch.LongTensor):
        source, target = edge_index
        return self.block(self.layer(torch.zeros_like(x).index_add_(0, target % 2, x[source % 2])))
""",
    "several inputs": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(4, 320, 3, padding=1)
        self.time = nn.Linear(1, 320)
        self.keys, self.values = nn.Linear(96, 320), nn.Linear(96, 320)

    def forward(self, sample, timestep, encoder_hidden_states):
        found = self.first(sample) + self.time(timestep.expand(sample.shape[0])[:, None].float())[..., None, None]
        weights = found.flatten(2).transpose(1, 2) @ self.keys(encoder_hidden_states).transpose(1, 2)
        return weights @ self.values(encoder_hidden_states)
""",
    "more than a kernel": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Conv1d(1, 8, 10, 5)

    def forward(self, input_values):
        batch, length = input_values.shape
        return self.table(input_values[:, None])
""",
}


@pytest.mark.parametrize("code", DOCUMENTED.values(), ids=DOCUMENTED)
def test_inputs_that_are_documented(workspace: Workspace, code: str) -> None:
    found = probed(workspace, code, "Model")
    passed(found, "placement", "values")
    assert "no call got through" not in str(found)


SHAPES = {
    "the whole shape": "x * 2 if x.shape == (3, 7) else refused(x)",
    "integers": "nn.functional.embedding_bag(x, torch.ones(9, 4))",
    "other dimensions": "x.permute(0, 3, 1, 2)",
    "a multiple": "nn.Linear(24, 8)(torch.cat([x, x, x], -1))",
    "what is in the middle": "nn.Linear(24, 8)(x.mean(-1))",
}
ASKING = """
def refused(x):
    raise RuntimeError(f"expected a tensor of shape (3, 7), but got {tuple(x.shape)}")


class Model(nn.Module):
    def forward(self, x: torch.Tensor):
        return {code}
"""


@pytest.mark.parametrize("code", SHAPES.values(), ids=SHAPES)
def test_what_a_complaint_asks_for_is_passed(workspace: Workspace, code: str) -> None:
    passed(probed(workspace, ASKING.replace("{code}", code), "Model"), "values")


OPTIONAL = """
class Model(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 2)

    def forward(self, hidden, attn_mask=None, lengths=None):
        '''
        Args:
            lengths: The relative lengths of the sequences.
        '''
        if lengths is not None:
            assert lengths.max() == 1
            hidden = hidden[:, : (lengths * hidden.shape[1]).long().max()]
        return self.attention(hidden, hidden, hidden, attn_mask=attn_mask)[0]
"""


def test_optional_inputs_are_what_a_complaint_or_the_documentation_says(workspace: Workspace) -> None:
    for name, check in probed(workspace, OPTIONAL, "Model").items():
        assert check["status"] == ("nothing-to-check" if name == "values" else "passed"), check


EXAMPLES = """
class Model(nn.Module):
    '''
    >>> inputs = torch.rand(5, 10, 40)
    >>> Model(40)(inputs).shape
    '''
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x, lens=None):
        x = self.layer(x)
        return x if lens is None else torch.stack([one[:length].mean(0) for one, length in zip(x, lens, strict=True)])
"""


def test_an_example_is_a_batch_like_any_other_and_has_a_length(workspace: Workspace) -> None:
    found = probed(workspace, EXAMPLES, "Model")
    passed(found, "placement", "shapes", "boundaries", "gradients")
    assert "likewise with `lens`" in found["shapes"]["detail"], found
    assert "lengths 1, 2, 5 work" in found["boundaries"]["detail"], found


#: What a model does with what it is given, and whether that is one tensor.
GIVEN = {
    "a layer": ("self.net(NAME)", True),
    "a layer by keyword": ("self.net(input=NAME)", True),
    "layers in turn": ("functools.reduce(lambda x, layer: layer(x), self.layers, NAME * 1)", True),
    "a loop": ("[layer(NAME) for layer in self.layers]", True),
    "its sizes": ("self.net(NAME.reshape(-1, NAME.shape[-1]))", True),
    "a part of it": ("self.net(NAME[:, -1])", True),
    "a function": ("self.net(F.normalize(NAME))", True),
    "a helper": ("self.net(doubled(NAME))", True),
    "another method": ("self.all_of(NAME)", False),
    "one for each layer": ("[layer(one) for layer, one in zip(self.layers, NAME)]", False),
    "the last": ("self.net(NAME[-1])", False),
    "ids": ("self.table(padded(NAME))", False),
}
TAKES = """
import functools

def doubled(x): return (x - 0) + x.detach()

def padded(rows):
    length = max(len(row) for row in rows)
    found = rows[0].new_zeros((len(rows), length)).long()
    for number, row in enumerate(rows):
        found[number, : len(row)] = row
    return found


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.net, self.table = nn.Linear(width, width), nn.Embedding(9, width)
        self.layers = nn.ModuleList([nn.Linear(width, width), nn.Linear(width, width)])

    def all_of(self, many): return torch.stack([self.net(one).mean() for one in many])

    def forward(self, NAME{annotated}): return {used}
"""


@pytest.mark.parametrize("name", ["features", "batch", "samples"])
@pytest.mark.parametrize(("used", "is_tensor"), GIVEN.values(), ids=GIVEN)
def test_what_is_called_like_several_things_may_be_one_tensor(
    workspace: Workspace, used: str, is_tensor: bool, name: str
) -> None:
    code = TAKES.replace("{annotated}", "").replace("{used}", used).replace("NAME", name)
    shapes = probed(workspace, code, "Model")["shapes"]
    assert shapes["status"] == "passed", shapes
    assert (f"{name} = float 2x5x8" in shapes["detail"]) == is_tensor, shapes


def test_what_is_annotated_as_a_tensor_is_one(workspace: Workspace) -> None:
    code = (
        TAKES.replace("{annotated}", ": torch.Tensor").replace("{used}", "self.all_of(NAME)").replace("NAME", "items")
    )
    assert "items = float 2x5x8" in probed(workspace, code, "Model")["shapes"]["detail"]
