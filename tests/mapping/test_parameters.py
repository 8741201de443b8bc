"""How many parameters layers have: the numbers are those of torch, the expressions those of the constructor."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import pytest

from modellint.graph.size import Size
from modellint.knowledge import parameter_counts

if TYPE_CHECKING:
    from conftest import Workspace

#: Class, arguments, and the number that torch gives.
BUILT: list[tuple[str, dict[str, Any], int]] = [
    ("Linear", {"in_features": 80, "out_features": 512}, 41472),
    ("Linear", {"in_features": 80, "out_features": 512, "bias": False}, 40960),
    ("Bilinear", {"in1_features": 3, "in2_features": 5, "out_features": 7}, 112),
    ("Conv1d", {"in_channels": 8, "out_channels": 16, "kernel_size": 3, "groups": 4}, 112),
    ("Conv2d", {"in_channels": 3, "out_channels": 16, "kernel_size": [3, 5]}, 736),
    ("Conv3d", {"in_channels": 3, "out_channels": 4, "kernel_size": 3, "bias": False}, 324),
    ("ConvTranspose1d", {"in_channels": 8, "out_channels": 16, "kernel_size": 4, "groups": 2}, 272),
    ("ConvTranspose2d", {"in_channels": 8, "out_channels": 4, "kernel_size": 2}, 132),
    ("ConvTranspose3d", {"in_channels": 2, "out_channels": 4, "kernel_size": 2}, 68),
    ("Embedding", {"num_embeddings": 30, "embedding_dim": 8, "padding_idx": 0}, 240),
    ("EmbeddingBag", {"num_embeddings": 30, "embedding_dim": 8}, 240),
    ("BatchNorm1d", {"num_features": 8}, 16),
    ("BatchNorm2d", {"num_features": 8, "affine": False}, 0),
    ("InstanceNorm1d", {"num_features": 8}, 0),
    ("InstanceNorm2d", {"num_features": 8, "affine": True}, 16),
    ("GroupNorm", {"num_groups": 2, "num_channels": 8}, 16),
    ("LayerNorm", {"normalized_shape": [4, 8]}, 64),
    ("LayerNorm", {"normalized_shape": 8, "bias": False}, 8),
    ("RMSNorm", {"normalized_shape": 8}, 8),
    ("RNN", {"input_size": 5, "hidden_size": 7, "num_layers": 2, "nonlinearity": "relu"}, 210),
    ("LSTM", {"input_size": 5, "hidden_size": 6, "num_layers": 2, "bidirectional": True, "proj_size": 3}, 1080),
    ("LSTM", {"input_size": 5, "hidden_size": 6, "bias": False}, 264),
    ("GRU", {"input_size": 5, "hidden_size": 6, "num_layers": 3}, 738),
    ("RNNCell", {"input_size": 5, "hidden_size": 6}, 78),
    ("LSTMCell", {"input_size": 5, "hidden_size": 6}, 312),
    ("GRUCell", {"input_size": 5, "hidden_size": 6, "bias": False}, 198),
    ("MultiheadAttention", {"embed_dim": 8, "num_heads": 2}, 288),
    ("MultiheadAttention", {"embed_dim": 8, "num_heads": 2, "kdim": 3, "vdim": 5, "add_bias_kv": True}, 240),
    ("TransformerEncoderLayer", {"d_model": 8, "nhead": 2, "dim_feedforward": 16}, 600),
    ("TransformerEncoderLayer", {"d_model": 8, "nhead": 2, "dim_feedforward": 16, "bias": False}, 528),
    ("TransformerDecoderLayer", {"d_model": 8, "nhead": 2, "dim_feedforward": 16}, 904),
    ("PReLU", {}, 1),
    ("PReLU", {"num_parameters": 4}, 4),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), BUILT, ids=[name for name, _, _ in BUILT])
def test_layers_of_torch_are_counted_by_their_arguments(name: str, arguments: dict[str, Any], expected: int) -> None:
    full = f"torch.nn.{name}"
    assert parameter_counts.count(full, parameter_counts.arguments_of(full, (), arguments)) == Size.of(expected)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize(("name", "arguments", "expected"), BUILT, ids=[name for name, _, _ in BUILT])
def test_torch_counts_the_same(name: str, arguments: dict[str, Any], expected: int) -> None:
    import torch

    layer = getattr(torch.nn, name)(**arguments)
    assert sum(parameter.numel() for parameter in layer.parameters()) == expected


def test_arguments_by_position_mean_the_same() -> None:
    bound = parameter_counts.arguments_of("torch.nn.Conv1d", (8, 16, 3, 2, 1, 1, 4, False), {})
    assert parameter_counts.count("torch.nn.Conv1d", bound) == Size.of(96)


@pytest.mark.parametrize("arguments", [{}, {"in_features": None, "out_features": 3}, {"in_features": "a", "bias": 3}])
def test_arguments_that_do_not_say_give_no_number(arguments: dict[str, Any]) -> None:
    bound = parameter_counts.arguments_of("torch.nn.Linear", (), arguments)
    assert parameter_counts.count("torch.nn.Linear", bound) is None


# -- classes -----------------------------------------------------------------------------------------------------


def counted(workspace: Workspace, init: str, *, more: str = "", head: str = "self, width, depth=2") -> dict[str, Any]:
    """The text of the parameters of what a constructor with the body `init` keeps."""
    lines = "".join(f"        {line}\n" for line in init.splitlines())
    source = (
        f"import copy\nimport math\n\nimport torch\nfrom torch import nn\n\n\n{more}\n\n"
        f"class Model(nn.Module):\n    def __init__({head}):\n        super().__init__()\n{lines}\n"
        "    def forward(self, x):\n        return self.x(x)\n"
    )
    workspace.write({"model.py": source})
    result = workspace.run("map", "model.py::Model", "--output-format", "json")
    assert result.code == 0, result.err
    return {attribute["name"]: attribute["parameters"]["text"] for attribute in result.json["attributes"]}


@pytest.mark.parametrize(
    ("init", "expected"),
    [
        ("self.x = nn.Linear(width, 4)", "4 * width + 4"),
        ("self.x = nn.Linear(width, 4 * width, bias=False)", "4 * width * width"),
        ("self.x = nn.Linear(8, 2 ** 3 - 4)", "36"),
        ("self.x = nn.Linear(8, int(8 * 0.5))", "36"),
        ("self.x = nn.Linear(width // 2, 4)", "4 * (width // 2) + 4"),
        ("width += 1\nself.x = nn.Linear(width, 4)", "4 * width + 8"),
        ("self.x = nn.Linear(math.comb(4, 2), len('ab'.title()))", "14"),
        ("a, b = zip('ab', reversed([1, 2]))\nself.x = nn.Linear(a[1], sum(b[1:]))", "3"),
        ("x = [nn.Linear(2, 1), nn.Linear(3, 1)]\nx += x[::-1]\nself.x = nn.ModuleList(x[:3])", "7"),
        ("self.x = nn.ModuleList([nn.Linear(4, 4) for _ in range(depth)])", "40"),
        ("self.x = nn.ModuleList([nn.Linear(4, 4) for _ in range(width)])", "20 * width"),
        ("self.x = nn.ModuleList([nn.Linear(4, 1 if i else 2) for i in range(width)])", None),
        ("layer = nn.Linear(4, 4)\nself.x = nn.ModuleList([layer for _ in range(width)])", "20"),
        ("x = nn.Linear(4, 4)\nself.x = nn.ModuleList([copy.deepcopy(x) for _ in range(width)])", "20 * width"),
        ("x = [nn.Linear(4, 4) for _ in range(width)]\nself.x = nn.ModuleList(copy.deepcopy(x))", None),
        ("x = [nn.ModuleList([Block(2) for _ in range(depth)]) for _ in range(width)]\nself.x = nn.ModuleList(x)",
         "50 * width"),
        ("x = [nn.Linear(4, 4) for _ in range(width)]\nx.append(nn.Linear(1, 1))\nself.x = nn.ModuleList(x)",
         "20 * width + 2"),
        ("x = [nn.Linear(4, 4) for _ in range(width)]\nx.pop()\nself.x = nn.ModuleList(x)", None),
        ("self.x = nn.ModuleList([nn.Linear(4, 4) for _ in range(depth)])\ndel self.x[0]", None),
        ("x = [nn.Linear(4, 4) for _ in range(depth)]\nx.clear()\nself.x = nn.ModuleList(x)", "0"),
        ("self.x = nn.Linear(4, 4)\ndel self.x", None),
        ("x = []\ndef add(n):\n    x.append(nn.Linear(n, 1))\nadd(1)\nadd(2)\nself.x = nn.ModuleList(x)", "5"),
        ("x = []\nfor n in (1, 2):\n    (lambda y: y.append(nn.Linear(n, 1)))(x)\nself.x = nn.ModuleList(x)", "5"),
        ("if width % depth:\n    raise ValueError\nself.x = nn.Linear(4, 4)", "20"),
        ("raise ValueError\nself.x = nn.Linear(4, 4)", None),
        ("for i in range(depth):\n    setattr(self, f'x{i}', nn.Linear(i, 1))\nself.x = getattr(self, 'x1')", "2"),
        ("a, *b = [nn.Linear(4, n) for n in (1, 2, 3)]\nself.x = nn.ModuleList(b)", None),
        ("self.x = nn.Sequential(*[nn.Linear(n, 1) for n in (1, 2, 3)][1:])", "7"),
        ("self.x = nn.ModuleList(map(nn.Linear, (1, 2), (3, 4)))", "18"),
        ("self.x = nn.Parameter(torch.tensor(0.5))", "1"),
        ("self.x = nn.Parameter(0.02 * torch.randn(width, 3))", "3 * width"),
        ("self.x = nn.Parameter(width)", None),
        ("self.x = nn.ModuleList([nn.Linear(i, j) for i in range(1, 3) for j in (1, 2) if i != j])", "7"),
        ("sizes = [1] * depth\nself.x = nn.ModuleList([nn.Linear(n, sizes[-1]) for n in sizes])", "4"),
        ("self.x = nn.ModuleList()\nfor i in range(depth):\n    self.x.append(nn.Linear(4, i + 1))", "15"),
        ("n = 4\nself.x = nn.ModuleList()\nfor _ in range(2):\n    self.x.append(nn.Linear(4, n))\n    n *= 2", "60"),
        ("for i in range(depth):\n    n = i + 3\nself.x = nn.Linear(n, 1)", "5"),
        ("layers = []\nfor n in [1, 2]:\n    layers += [nn.Linear(n, 3)]\nself.x = nn.Sequential(*layers)", "15"),
        ("self.x = nn.ModuleList()\nwhile len(self.x) < depth:\n    self.x.append(nn.Linear(4, 4))", None),
        ("self.x = nn.ModuleList()\nfor i in (1, 2):\n    if i > 2:\n        break\n    self.x.append(Block(1))", None),
        ("self.x = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Dropout(0.1))", "20"),
        ("self.x = nn.ModuleDict({'a': nn.Linear(4, 4), 'b': nn.Linear(2, 2)})", "26"),
        ("layer = nn.Linear(4, 4)\nself.x = nn.ModuleList([layer, layer])", "20"),
        ("layer = nn.Linear(4, 4)\nself.x = nn.ModuleList([layer, copy.deepcopy(layer)])", "40"),
        ("self.x = nn.Linear(4, 4) if depth > 1 else nn.Identity()", "20"),
        ("self.x = nn.Linear(4, 4) if width > 1 else nn.Identity()", None),
        ("if width > 1:\n    self.x = nn.Linear(4, 4)\nelse:\n    self.x = nn.Identity()", None),
        ("self.x = nn.Linear(4, 4)\nif width > 1:\n    self.x = nn.Identity()", None),
        ("self.x = nn.Identity()\nif width > 1:\n    self.x = nn.Dropout(0.1)", "0"),
        ("self.x = nn.Parameter(torch.zeros(width, 3))", "3 * width"),
        ("self.x = nn.Parameter(torch.load('x'))", None),
        ("self.x = nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 8, 3))", "112"),
        ("self.x = Block(depth)", "25"),
        ("self.x = Block(depth)\nself.x.extra = nn.Linear(2, 2)", "31"),
        ("self.x = make(3)", "12"),
        ("self.x = make(width)", "width + width * width"),
        ("kind = nn.Linear if depth == 2 else nn.Identity\nself.x = kind(3, 3)", "12"),
        ("self.x = self.build(3)", "4"),
        ("self.x = nowhere.Layer(3)", None),
        ("self.x = nn.Linear(math.ceil(4.2), len([1, 2]))", "12"),
        ("sizes = dict(a=2, b=3)\nself.x = nn.Linear(**{'in_features': sizes['a'], 'out_features': sizes['b']})", "9"),
    ],
)  # fmt: skip
def test_what_a_constructor_builds_is_counted(workspace: Workspace, init: str, expected: str | None) -> None:
    more = (
        "import nowhere\n\n\nclass Block(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.n = n\n        self.a = nn.Linear(n * 2, 5)\n        for p in self.parameters():\n"
        "            if p.dim() > 1:\n                nn.init.xavier_uniform_(p)\n\n\n"
        "def make(n):\n    return nn.Linear(n, n)\n"
    )
    found = counted(workspace, init.replace("self.build(3)", "Builder().build(3)"), more=more + BUILDER)
    assert found.get("x") == expected


BUILDER = "\n\nclass Builder:\n    def build(self, n):\n        return nn.Linear(n, 1)\n"


def test_layers_that_are_added_under_an_open_condition_make_the_number_unknown(workspace: Workspace) -> None:
    more = (
        "class Block(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.a = nn.Linear(4, 4)\n"
        "        if n > 2:\n            self.b = nn.Linear(4, 4)\n"
    )
    assert counted(workspace, "self.x = Block(width)\nself.y = Block(3)\nself.z = Block(1)", more=more) == {
        "x": None,
        "y": "40",
        "z": "20",
    }


def test_tied_weights_are_not_counted_twice(workspace: Workspace) -> None:
    init = "self.x = nn.Linear(4, 4)\nself.y = nn.Linear(4, 4)\nself.y.weight = self.x.weight"
    assert counted(workspace, init) == {"x": "20", "y": None}


@pytest.mark.parametrize(
    "init",
    [
        "self.x = Endless(1)",
        "self.x = nn.ModuleList([nn.Linear(i, i) for i in range(10 ** 9)])",
        "n = 1\nfor i in range(400):\n    n = n * 10 ** 30\nself.x = nn.Linear(n, n)",
        "self.x = nn.Linear(1 / 0, [][3])",
        "x = {}\nx[[]] = 3\nself.x = nn.Linear(x[1], 2)",
        "self.x = nn.Linear('a' * 10 ** 12, None)",
        "self.x = eval('1')(2)[3:1:0].y",
        "self.x = nn.Linear(len([1, 2][::0]), 'a'[::0])",
        "self.x = nn.Linear(math.factorial(10 ** 9), math.perm(10 ** 9))",
    ],
)
def test_hostile_constructors_give_no_number_and_no_error(workspace: Workspace, init: str) -> None:
    more = (
        "class Endless(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.x = Endless(n + 1)\n"
    )
    assert counted(workspace, init, more=more).get("x") is None


# -- recipes -----------------------------------------------------------------------------------------------------


def test_layers_that_another_one_is_given_are_counted_once(workspace: Workspace) -> None:
    workspace.write(
        {
            "model.py": "import copy\n\nfrom torch import nn\n\n\nclass Pair(nn.Module):\n"
            "    def __init__(self, net, size):\n        super().__init__()\n        self.net = net\n"
            "        self.other = copy.deepcopy(net)\n        self.out = nn.Linear(size, size)\n",
            "hparams.yaml": "size: 4\nnet: !new:torch.nn.Linear\n    in_features: !ref <size>\n    out_features: 8\n"
            "pair: !new:model.Pair\n    net: !ref <net>\n    size: !ref <size> * 2\n"
            "modules:\n    pair: !ref <pair>\n",
        }
    )
    (training,) = workspace.run("map", "hparams.yaml", "--output-format", "json").json["trainings"]
    counts = {layer["name"]: layer["parameters"] for layer in training["layers"]}
    assert counts == {"net": {"number": 40, "text": "40"}, "pair": {"number": 112, "text": "112"}}


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        ("speechbrain.nnet.linear.Linear\n    n_neurons: 40\n    input_size: 512", 20520),
        (
            "speechbrain.nnet.linear.Linear\n    n_neurons: 40\n    input_shape: [null, null, 512]\n    bias: False",
            20480,
        ),
        ("speechbrain.nnet.embedding.Embedding\n    num_embeddings: 40\n    embedding_dim: 8", 320),
        ("speechbrain.nnet.embedding.Embedding\n    num_embeddings: 40\n    consider_as_one_hot: True", 1560),
        ("speechbrain.nnet.normalization.BatchNorm1d\n    input_size: 8", 16),
        ("speechbrain.nnet.RNN.GRU\n    hidden_size: 6\n    input_size: 5\n    num_layers: 3", 738),
        ("speechbrain.nnet.RNN.LSTM\n    hidden_size: 6\n    input_shape: [8, 9, 5]\n    bidirectional: True", 624),
    ],
)
def test_layers_of_speechbrain_are_counted_without_it(workspace: Workspace, layer: str, expected: int) -> None:
    workspace.write({"hparams.yaml": f"net: !new:{layer}\nmodules:\n    net: !ref <net>\n"})
    (training,) = workspace.run("map", "hparams.yaml", "--output-format", "json").json["trainings"]
    assert training["layers"][0]["parameters"]["number"] == expected
