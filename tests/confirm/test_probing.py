"""`modellint probe` of code in many styles: what keeps a check from being run, and how it is got round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from probed import HEAD, checks, passed, probed

if TYPE_CHECKING:
    from conftest import Workspace

# -- devices ---------------------------------------------------------------------------------------------------------

READS = """
class Reads(nn.Module):
    def __init__(self, width=8, mask=None):
        super().__init__()
        self.cls = nn.Parameter(torch.zeros(1, 1, width))
        nn.init.trunc_normal_(self.cls, std=0.02)
        self.rnn = nn.LSTM(width, width, batch_first=True)
        self.mask = torch.ones(width){there}

    def forward(self, feats, lengths):
        feats = feats[:, : lengths.max().item()]
        if feats.sum() > 1e9:
            return feats
        packed = pack_padded_sequence(feats, lengths.cpu(), batch_first=True, enforce_sorted=False)
        found = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]
        return torch.cat([self.cls.expand(len(found), -1, -1), found], 1) * self.mask
"""


@pytest.mark.parametrize(("there", "status"), [(".mean().item()", "passed"), ("", "failed")])
def test_code_that_reads_numbers_is_run_on_a_device_that_is_not_there(
    workspace: Workspace, there: str, status: str
) -> None:
    found = probed(workspace, READS.replace("{there}", there), "Reads")
    assert (found["placement"]["status"], found["placement"]["device"]) == (status, "fake"), found
    passed(found, "values", "boundaries")
    if status == "failed":
        assert "found at least two devices, cuda:0 and cpu!" in found["placement"]["detail"]


ASKS = """
BIAS = torch.zeros(4).cuda()


class Asks(nn.Module):
    def __init__(self, n_in=8, n_out=4):
        super().__init__()
        self.layer = nn.Linear(n_in, n_out).cuda()
        self.state = torch.zeros(n_out, device="cuda")

    def forward(self, x):
        return self.layer(x.cuda()) + BIAS + self.state
"""


OLD = """
class Asks(nn.Module):
    def forward(self, x):
        found = torch.cuda.FloatTensor([1.0, 2.0]) if isinstance(x.cuda(), torch.cuda.FloatTensor) else None
        return found.sum() + torch.cuda.FloatTensor(2, 3).zero_().to(x) + x.mean()
"""


@pytest.mark.parametrize("code", [ASKS, ASKS.replace(".cuda()\n\n", "\n\n").replace(" + BIAS", ""), OLD])
def test_code_that_asks_for_a_gpu_is_run_without_one(workspace: Workspace, code: str) -> None:
    passed(probed(workspace, code, "Asks"), "placement", "values", "boundaries")


# -- configurations --------------------------------------------------------------------------------------------------

#: Constructors, each with what is said of the parameter `how`.
CONFIGURATIONS = {
    "a dictionary": """
        self.table = nn.Embedding(how["vocab_size"], how["hidden"])
        self.layers = nn.ModuleList(nn.Linear(how["hidden"], how["hidden"]) for _ in range(how["num_layers"]))
        self.drop = nn.Dropout(how.get("dropout", 0.1))
""",
    "what a command line gives": """
        if getattr(how, "use_norm", False) or hasattr(how, "checkpoint"):
            raise ValueError("not that way")
        self.table = nn.Embedding(how.n_tokens, how.width)
        self.layers = nn.ModuleList([nn.Linear(how.width, how.width)])
        self.drop = getattr(nn, how.activation)() if how.mode == "train" else how.nothing
""",
    "parts": """
        self.table = nn.Embedding(how.text.vocab_size, how.text.encoder["dim"])
        self.layers = nn.ModuleList(self.layer(**how.text.encoder) for _ in how.stages)
        self.drop = getattr(F, how.text.activation.lower())
        first, second = how.sizes
        if how.text.frozen and not how.text.limit is None:
            raise ValueError("frozen")
    def layer(self, dim=64): return nn.Linear(dim, dim)
""",
    "lists": """
        self.table = nn.Embedding(how["n_vocab"], how["widths"][0])
        stages = [*zip(how["widths"], how["widths"][1:])]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in stages)
        self.drop = nn.ModuleDict({str(at): nn.Identity() for at, step in enumerate(how["steps"])})["0"]
        for stage in how["stages"]:
            self.layers.append(nn.Linear(stage["width"], stage["width"]))
""",
}
CONFIGURED = """
class Args(nn.Module):
    "No configuration, though it is called like one."
    def __init__(self, other): super().__init__()


class Model(nn.Module):
    def __init__(self, {how}):
        super().__init__()
{text}
    def forward(self, input_ids):
        found = self.table(input_ids)
        for layer in self.layers:
            found = self.drop(layer(found))
        return found
"""


@pytest.mark.parametrize("how", ["config", "cfg: dict", "opt", "args: 'argparse.Namespace'"])
@pytest.mark.parametrize("text", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_a_configuration_that_no_class_describes(workspace: Workspace, text: str, how: str) -> None:
    code = CONFIGURED.replace("{text}", text.replace("how", how.partition(":")[0])).replace("{how}", how)
    passed(probed(workspace, "import argparse\n" + code, "Model"), "placement", "values", "boundaries")


def test_what_is_taken_out_of_keywords_by_name(workspace: Workspace) -> None:
    text = CONFIGURATIONS["a dictionary"].replace("how", "kwargs")
    code = CONFIGURED.replace("{text}", text).replace("{how}", "**kwargs")
    passed(probed(workspace, code, "Model"), "placement", "values", "boundaries")


# -- names from elsewhere --------------------------------------------------------------------------------------------

LAZY = {
    "from all": "from .inner import *\n",
    "asked for": """
import importlib

def __getattr__(name):
    return getattr(importlib.import_module("pkg.inner"), name)
""",
    "in its place": """
import importlib, sys, types

class Lazy(types.ModuleType):
    def __getattr__(self, name):
        return getattr(importlib.import_module("pkg.inner"), name)

sys.modules[__name__] = Lazy(__name__)
sys.modules[__name__].__path__ = __path__
sys.modules[__name__].__spec__ = __spec__
sys.modules[__name__].__file__ = __file__
""",
}
INNER = "from .layers import Table as Lookup\n"
LAYERS = """
from torch import nn
from . import settings


class Table(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.table = nn.Embedding(how, 8)

    def forward(self, input_ids):
        return self.table(input_ids)
"""


@pytest.mark.parametrize("exports", LAZY.values(), ids=LAZY)
def test_a_name_that_a_package_has_from_elsewhere(workspace: Workspace, exports: str) -> None:
    settings = '[tool.modellint.confirm.targets."pkg:Lookup"]\narguments = { how = 12 }\n'
    workspace.write({
        "pkg/__init__.py": exports, "pkg/inner.py": INNER, "pkg/layers.py": LAYERS, "pkg/settings.py": "",
        "pyproject.toml": settings,
    })  # fmt: skip
    found = checks(workspace.run("probe", "pkg:Lookup", "--output-format", "json"))
    passed(found, "placement", "values", "boundaries")
    assert "lengths 1, 2, 5, 11, 12, 13 work" in found["boundaries"]["detail"]
    result = workspace.run("probe", "pkg:Nothing")
    assert result.code == 2
    assert "defines no `Nothing`" in result.out or "has no attribute 'Nothing'" in result.out


def test_a_constructor_whose_signatures_are_written_as_overloads(workspace: Workspace) -> None:
    passed(checks(workspace.run("probe", "torch.nn:LSTM", "--output-format", "json")), "placement", "boundaries")


def test_what_is_required_is_no_shape(workspace: Workspace) -> None:
    found = checks(workspace.run("probe", "torch.nn:TransformerEncoderLayer", "--output-format", "json"))
    passed(found, "placement", "boundaries")


# -- large models ----------------------------------------------------------------------------------------------------

LARGE = """
class EncoderConfig:
    def __init__(self, hidden_size=4096, heads=32, num_layers=48, vocab_size=90, image_size=224):
        vars(self).update(vars()); del self.self


class ModelConfig:
    def __init__(self, text_config=None, head_dim=128, max_positions=16):
        self.text_config = text_config or EncoderConfig()
        self.head_dim, self.max_positions = head_dim, max_positions


class Model(nn.Module):
    def __init__(self, config: ModelConfig):
        super().__init__()
        text = config.text_config
        self.heads, self.head_dim = text.heads, config.head_dim
        assert text.heads * config.head_dim == text.hidden_size
        assert (text.vocab_size, text.image_size, config.max_positions) == (90, 224, 16)
        self.table = nn.Embedding(text.vocab_size, text.hidden_size)
        self.positions = nn.Embedding(config.max_positions, text.hidden_size)
        self.layers = nn.ModuleList(nn.Linear(text.hidden_size, text.hidden_size) for _ in range(text.num_layers))
        self.drops = [drop.item() for drop in torch.linspace(0, 0.1, text.num_layers)]

    def forward(self, input_ids):
        found = self.table(input_ids) + self.positions(torch.arange(input_ids.shape[1], device=input_ids.device))
        for layer in self.layers:
            found = layer(found).unflatten(-1, (self.heads, self.head_dim)).flatten(-2)
        return found if (input_ids >= 0).all() else None
"""


def test_a_large_model_is_made_small_where_numbers_are_needed(workspace: Workspace) -> None:
    found = probed(workspace, LARGE, "Model")
    passed(found, "placement", "boundaries")
    assert "lengths 1, 2, 5, 15, 16 work; a length of 17 raises IndexError" in found["boundaries"]["detail"]
    assert "hidden_size = 128; num_layers = 2" in found["boundaries"]["detail"]
    assert "head_dim = 4" in found["placement"]["detail"]


CODED = (
    LARGE.replace(
        "self, config: ModelConfig):",
        "self):\n        config = ModelConfig(EncoderConfig(num_layers=40) if {is_passed} else None)",
    )
    .replace("found if (input_ids >= 0).all() else None", "found")
    .replace("drop.item()", "0.1")
)


@pytest.mark.parametrize("is_passed", ["True", "False"])
def test_a_large_model_whose_code_makes_its_configuration(workspace: Workspace, is_passed: str) -> None:
    """The one call at its size, and all else with less, down to what an id looks up."""
    found = probed(workspace, CODED.replace("{is_passed}", is_passed), "Model")
    passed(found, "placement", "boundaries", "gradients")
    assert found["placement"]["detail"].count("tensors move to cuda:0") == 2, found
    assert "made small: " in found["placement"]["detail"]
    assert "num_layers = 2" in found["boundaries"]["detail"]
    assert "lengths 1, 2, 5, 15, 16 work; a length of 17 raises IndexError" in found["boundaries"]["detail"]


# -- what a constructor asks for ------------------------------------------------------------------------------------

CHOSEN = """
ACTIVATIONS = {"gelu": F.gelu, "relu": F.relu}


class Inner(nn.Module):
    def __init__(self, width, hidden_act):
        super().__init__()
        self.layer, self.act = nn.Linear(width, width), self.named(hidden_act)

    def named(self, name): return ACTIVATIONS[name]

    def forward(self, x): return self.act(self.layer(x))


class Model(Inner):
    def __init__(self, width, hidden_act):
        super().__init__(width, hidden_act)
        self.inner = Inner(width, hidden_act)

    def forward(self, x): return self.inner(super().forward(x))


class Placed(nn.Module):
    def __init__(self, width, device="cpu"):
        super().__init__()
        self.scale = nn.Parameter(torch.FloatTensor(width, device=device))

    def forward(self, x): return x * self.scale
"""


def test_a_word_that_a_mapping_is_asked_for(workspace: Workspace) -> None:
    found = probed(workspace, CHOSEN, "Model")
    passed(found, "placement", "shapes", "boundaries", "gradients")
    assert "hidden_act = 'gelu'" in found["shapes"]["detail"]


def test_a_device_that_nothing_else_can_be_passed_for(workspace: Workspace) -> None:
    found = probed(workspace, CHOSEN, "Placed")
    passed(found, "placement")
    assert "device = 'cpu'" in found["placement"]["detail"]


KEPT = """
class Model(nn.Module):
    def __init__(self, width=8, bidirectional=True, mode="gru", device=None, mask=None):
        super().__init__()
        kind = nn.GRU if mode == "gru" else nn.LSTM
        self.rnn = kind(width, width, bidirectional=bidirectional, batch_first=True)
        self.mask = torch.ones(width if mask is None else mask, device=device)
        self.head = nn.Linear({takes}, 4)

    def forward(self, feats): return self.head({used})
"""


@pytest.mark.parametrize(
    ("takes", "used", "fails"),
    [
        ("2 * width", "self.rnn(feats)[0]", ""),
        ("width", "self.rnn(feats)[0]", "cannot be multiplied (10x16 and 8x4)"),
        ("2 * width", "self.rnn(feats)[1][0]", "cannot be multiplied"),
        ("width if mode == 'lstm' else 3 * width", "self.rnn(feats)[0]", "cannot be multiplied (10x16 and 24x4)"),
    ],
    ids=["works", "flag", "result", "word"],
)
def test_defaults_are_kept_and_where_they_fail_that_is_the_answer(
    workspace: Workspace, takes: str, used: str, fails: str
) -> None:
    found = probed(workspace, KEPT.replace("{takes}", takes).replace("{used}", used), "Model")
    assert not [text for text in ("bidirectional =", "mode =", "mask =") if text in str(found)], found
    for name, check in found.items():
        assert check["status"] in (("failed", "not-run") if fails else ("passed", "nothing-to-check")), found
        assert fails in check["detail"], (name, check)


@pytest.mark.parametrize("default", ["None", "'cpu'", "torch.device('cpu')"])
@pytest.mark.parametrize("is_used", [True, False])
def test_a_device_is_that_of_the_default(workspace: Workspace, default: str, is_used: bool) -> None:
    """What a model is told of devices and what it is moved to are two things, of which a move is the last."""
    code = KEPT.replace("{takes}", "2 * width").replace("device=None", f"device={default}")
    used = "self.rnn(feats * self.mask)[0]" if is_used else "self.rnn(feats)[0]"
    check = probed(workspace, code.replace("{used}", used), "Model")["placement"]
    assert check["status"] == ("failed" if is_used else "passed"), check
    assert "by default: device = " in check["detail"]
    assert "device = 'cuda:0'" not in check["detail"]


def test_a_device_that_must_be_passed_is_told(workspace: Workspace) -> None:
    code = (
        KEPT.replace("{takes}", "2 * width").replace("width=8, bi", "device, width=8, bi").replace(" device=None,", "")
    )
    check = probed(workspace, code.replace("{used}", "self.rnn(feats * self.mask)[0]"), "Model")["placement"]
    assert check["status"] == "passed", check
    assert "device = 'cuda:0'" in check["detail"]


RELEASED = """
import an_image_library_that_nobody_has
from importlib.metadata import PackageNotFoundError, version

RELEASE = [int(part) for part in version("an_image_library_that_nobody_has").split(".")][:2]
try:
    version("another_library_that_nobody_has")
    OTHER = True
except PackageNotFoundError:
    OTHER = False


class Model(nn.Linear):
    def __init__(self):
        assert RELEASE > [1, 0] and not OTHER
        super().__init__(4, 4)
"""


STANDING = """
import a_library_of_layers_that_nobody_has as layers


class Model(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.others = {others}

    def forward(self, x): return {used}
"""


@pytest.mark.parametrize(
    "others",
    [
        "nn.Sequential(nn.ReLU(), layers.Block(width))",
        "nn.Sequential(OrderedDict(a=nn.ReLU(), b=layers.blocks.make(width)))",
        "nn.ModuleList([layers.Block(width) for _ in range(2)])",
        "nn.ModuleDict({'a': layers.Block(width)}); self.add_module('more', layers.Block(width))",
    ],
)
@pytest.mark.parametrize("is_used", [True, False])
def test_what_stands_for_a_layer_is_a_module(workspace: Workspace, others: str, is_used: bool) -> None:
    layer = "self.others['a']" if "Dict(" in others and "Ordered" not in others else "self.others[-1]"
    used = f"{layer}(self.layer(x))" if is_used else "self.layer(x)"
    code = "from collections import OrderedDict\n" + STANDING.replace("{others}", others).replace("{used}", used)
    found = probed(workspace, code, "Model")
    for check in found.values():
        assert "not a Module subclass" not in check["detail"]
        if is_used:
            assert check["status"] == "not-run"
            assert (
                "`a_library_of_layers_that_nobody_has` cannot be imported, and is needed for calling" in check["detail"]
            )
    if not is_used:
        assert found["placement"]["status"] == "in-part", found
        assert "was not built, and has no part in it" in found["placement"]["detail"]


@pytest.mark.parametrize("used", ["layers.attend(self.layer(x), x)", "(self.layer(x), {'more': layers.Cache(x)})"])
def test_what_gives_a_stand_in_did_not_compute_it(workspace: Workspace, used: str) -> None:
    code = STANDING.replace("{others}", "nn.ReLU()").replace("{used}", used)
    check = probed(workspace, code, "Model")["shapes"]
    assert check["status"] == "in-part", check
    assert "was not built, and has no part in it" in check["detail"]


def test_what_has_a_stand_in_has_a_release(workspace: Workspace) -> None:
    found = probed(workspace, RELEASED, "Model")
    passed(found, "placement", "shapes")
    assert "another_library" not in str(found)


# -- recipes ---------------------------------------------------------------------------------------------------------

LIBRARY = """
import an_audio_library_that_nobody_has
from an_audio_library_that_nobody_has import transforms
from torch import nn

class Encoder(nn.Linear): ...

def pooled(x): return x
"""


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("!new:library.layers.Encoder [4, 4]", None),
        ("!name:library.layers.transforms.Anything", None),
        ("!new:a_package_that_nobody_has.Encoder []", None),
        ("!apply:torch.nn.init.zeros [1]", "There is no such callable as torch.nn.init.zeros"),
        ("!new:library.layers.Encodr [4, 4]", "ImportError: There is no such class as library.layers.Encodr"),
        ("!name:library.layer.Encoder", "There is no such entity as library.layer.Encoder"),
        ("!new:library.layers.pooled [1]", "!new:library.layers.pooled should be a class, but is a function"),
    ],
)
def test_names_that_a_library_lacks_keep_a_recipe_from_being_loaded(
    workspace: Workspace, named: str, says: str | None
) -> None:
    pytest.importorskip("hyperpyyaml")
    workspace.write({
        "library/__init__.py": "", "library/layers.py": LIBRARY,
        "hparams.yaml": f"part: {named}\nmodules:\n    head: !new:torch.nn.Linear [4, 4]\n",
    })  # fmt: skip
    found = checks(workspace.run("probe", "hparams.yaml", "--output-format", "json"))["loading"]
    assert found["status"] == ("failed" if says else "passed"), found
    assert (says or "") in found["detail"]


def test_what_another_recipe_includes_is_loaded_with_it(workspace: Workspace) -> None:
    pytest.importorskip("hyperpyyaml")
    workspace.write({
        "train.yaml": "width: 8\npart: !include:part.yaml\n    width: !ref <width>\n"
                      "modules:\n    part: !ref <part[layer]>\n",
        "part.yaml": "layer: !new:torch.nn.Linear [!ref <width>, 4]\nsize: !ref <layer.out_features>\n",
    })  # fmt: skip
    found = checks(workspace.run("probe", "part.yaml", "--output-format", "json"))
    assert found["loading"]["detail"].startswith("in `train.yaml`, which includes it: HyperPyYAML loads its "), found
    assert {check["status"] for check in found.values()} == {"passed"}, found


# -- what cannot be run ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("sys.exit(3)", "SystemExit: 3"),
        ("os._exit(0)", "the process exited with status 0"),
        ("os.fork()", "modellint does not let code start or signal a process"),
        ("input('how wide? ')", "EOFError"),
        ("urllib.request.urlopen('http://example.org')", "modellint does not let code use the network"),
        ("open('/tmp/of-nobody', 'w')", "modellint does not let code write /tmp/of-nobody"),
        ("raise RuntimeError('not\\nhere')", "RuntimeError: not here"),
    ],
)
def test_a_module_that_does_something_else_gives_one_reason(workspace: Workspace, line: str, says: str) -> None:
    code = f"import os, sys, urllib.request\nprint('hello')\n{line}\nclass Model(nn.Module): ...\n"
    workspace.write({"model.py": HEAD + code})
    before = sorted(workspace.root.rglob("*"))
    result = workspace.run("probe", "model.py::Model")
    assert (result.code, result.err) == (2, "")
    told = [text for text in result.lines if "not run" in text][:-1]
    assert len(told) == len(checks(workspace.run("probe", "model.py::Model", "--output-format", "json")))
    assert "importing `model.py`: " in told[0]
    assert says in told[0]
    assert all(text.endswith("for the same reason") for text in told[1:]), told
    assert "say what to pass" not in result.out
    assert "hello" not in result.out
    assert sorted(workspace.root.rglob("*")) == before


def test_what_a_constructor_needs_is_asked_for(workspace: Workspace) -> None:
    code = """
class Model(nn.Module):
    def __init__(self, checkpoint_path, width=3):
        super().__init__()
        self.load_state_dict(torch.load(checkpoint_path))
"""
    for check in probed(workspace, code, "Model").values():
        assert check["status"] == "not-run"
        assert "FileNotFoundError" in check["detail"]
        assert "; say in the settings what to pass as `checkpoint_path`" in check["detail"]


#: Constructors and what follows them, each with what is told of them.
LASTING = {
    "no call": ("self.layer = nn.Linear(width, 4)", "", "`Model` has no `forward`, so that there is no call of it"),
    "a name twice": (
        "self.scale = 1; self.register_buffer('scale', torch.ones(width))",
        "def forward(self, x): return x * self.scale",
        "building `Model`: KeyError: \"attribute 'scale' already exists\"",
    ),
    "a parameter that is none": (
        "self.scale = nn.Parameter(torch.ones(width)); self.scale = torch.ones(width)",
        "def forward(self, x): return x * self.scale",
        "building `Model`: TypeError: cannot assign 'torch.FloatTensor' as parameter 'scale'",
    ),
    "a name of nothing": (
        "self.layer = nn.Linear(width, widht)",
        "def forward(self, x): return self.layer(x)",
        "building `Model`: NameError: name 'widht' is not defined",
    ),
    "an attribute of nothing": (
        "self.layer = nn.Linear(width, 4)",
        "def forward(self, x): return self.layers(x)",
        "calling `Model`: AttributeError: 'Model' object has no attribute 'layers'",
    ),
    "a package in a constructor": (
        "import a_package_that_nobody_has; self.layer = nn.Linear(width, 4)",
        "def forward(self, x): return self.layer(x)",
        "building `Model`: ModuleNotFoundError: No module named 'a_package_that_nobody_has'",
    ),
    "a package for a number": (
        "self.layer = nn.Linear(width, another_that_nobody_has.width(width) + 1)",
        "def forward(self, x): return self.layer(x)",
        "`another_that_nobody_has` cannot be imported, and is needed for building `Model`: ",
    ),
    "a package for a layer": (
        "self.layers = nn.Sequential(nn.Linear(width, 4), another_that_nobody_has.Block(4))",
        "def forward(self, x): return self.layers(x)",
        "`another_that_nobody_has` cannot be imported, and is needed for calling `Model`: ",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("made", "more", "says"), LASTING.values(), ids=LASTING)
def test_what_no_argument_mends_is_told_alone_and_once(workspace: Workspace, made: str, more: str, says: str) -> None:
    code = "import another_that_nobody_has\n" if "another" in made else ""
    code += f"class Model(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n        {made}\n"
    workspace.write({"model.py": HEAD + code + (f"    {more}\n" if more else "")})
    result = workspace.run("probe", "model.py::Model")
    assert result.code == 2
    assert result.lines[1].startswith(f"  placement   not run  {says}"), result.out
    assert result.out.count(says) == 1
    assert "what to pass" not in result.out
    details = {
        check["detail"]
        for check in checks(workspace.run("probe", "model.py::Model", "--output-format", "json")).values()
    }
    assert [detail.startswith(says) for detail in details] == [True]


def test_what_a_layer_that_was_made_up_lacks_is_asked_for(workspace: Workspace) -> None:
    code = """
class Model(nn.Module):
    def __init__(self, encoder, width):
        super().__init__()
        self.encoder, self.layer = encoder, nn.Linear(encoder.hidden_size, width)

    def forward(self, x): return self.layer(x)
"""
    workspace.write({"model.py": HEAD + code})
    result = workspace.run("probe", "model.py::Model")
    assert "has no attribute 'hidden_size'; say in the settings what to pass as `encoder`, `width`" in result.lines[1]
    assert "say what to pass to it, and its inputs" in result.lines[-1]


CONFIGURED_BY_TABLE = """
class PartConfig:
    def __init__(self, width: int = 4): self.width = width


class ModelConfig:
    def __init__(self, rows, part: PartConfig = None): self.rows, self.part = rows, part or PartConfig()


class Model(nn.Module):
    def __init__(self, {parameter}):
        super().__init__()
        self.table = nn.Embedding({rows}, {width})

    def forward(self, input_ids):
        return self.table(input_ids)
"""


@pytest.mark.parametrize(
    ("parameter", "rows", "width"),
    [
        ("config: ModelConfig", "config.rows", "config.part.width"),
        ("opt", "opt.rows", "opt.part.width"),
        ("cfg", "cfg['rows']", "cfg['part']['width']"),
        ("table", "table['rows']", "table['part']['width']"),
    ],
)
def test_a_configuration_is_a_table_of_the_settings(
    workspace: Workspace, parameter: str, rows: str, width: str
) -> None:
    code = CONFIGURED_BY_TABLE.replace("{parameter}", parameter).replace("{rows}", rows).replace("{width}", width)
    name = parameter.partition(":")[0]
    target = '[tool.modellint.confirm.targets."model.py::Model"]'
    said = f"{target}\narguments = {{ NAME = {{ rows = 12, part = {{ width = 6 }} }} }}\n"
    settings = {"pyproject.toml": said.replace("NAME", name)}
    found = probed(workspace, code, "Model", **settings)
    passed(found, "placement", "boundaries")
    assert "lengths 1, 2, 5, 11, 12, 13 work" in found["boundaries"]["detail"]
    if name == "config":
        settings = {"pyproject.toml": said.replace("NAME", name).replace("rows", "row")}
        found = probed(workspace, code, "Model", **settings)
        assert "`ModelConfig` takes no `row`; expected some of rows, part" in found["boundaries"]["detail"]
