"""A literal CUDA device is no news where a project knows no other device; where anything chooses one, it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

LAYER = """
import torch
from torch import nn


class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(3, 3)

    def forward(self, x):
        return self.proj(x) + torch.ones(3).cuda()
"""
LAYERS = {"net/encoder.py": LAYER.format(name="Encoder"), "net/decoder.py": LAYER.format(name="Decoder")}
SCRIPT = """
import torch
from net.encoder import Encoder


def main():
    model = Encoder().cuda()
    model(torch.zeros(3, 3, device="cuda"))


main()
"""
KERNELS = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(ext_modules=[CUDAExtension("ops", ["ops.cpp", "ops_kernel.cu"])], cmdclass={"build_ext": BuildExtension})
"""
TRITON = """
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n: tl.constexpr):
    at = tl.arange(0, n)
    tl.store(out + at, tl.load(x + at) + tl.load(y + at))
"""


def findings(workspace: Workspace, *arguments: str) -> list[dict[str, Any]]:
    outcome = workspace.run("check", "--output-format", "json", "--select", "ML212", "--no-cache", *arguments)
    found: list[dict[str, Any]] = outcome.json["findings"]
    return found


def told(workspace: Workspace, *arguments: str) -> list[tuple[str, str]]:
    return [(finding["path"], finding["severity"]) for finding in findings(workspace, *arguments)]


WARNED = [("net/decoder.py", "warning"), ("net/encoder.py", "warning")]


@pytest.mark.parametrize("files", [{"train.py": SCRIPT}, {"setup.py": KERNELS}, {"net/ops.py": TRITON}])
def test_a_project_that_knows_only_cuda_is_told_once_at_the_first_place(
    workspace: Workspace, files: dict[str, str]
) -> None:
    workspace.write({**LAYERS, **files})
    (finding,) = findings(workspace)
    assert (finding["path"], finding["severity"]) == ("net/decoder.py", "info")
    assert finding["message"].endswith("here and in one other place")
    assert [related["path"] for related in finding["related"]] == ["net/encoder.py"]
    assert finding["fix"] is None
    assert findings(workspace, "--jobs", "2") == [finding]


def test_one_file_of_such_a_project_is_told_alike(workspace: Workspace) -> None:
    workspace.write({**LAYERS, "train.py": SCRIPT})
    (finding,) = findings(workspace, "net/encoder.py")
    assert (finding["path"], finding["severity"], finding["related"]) == ("net/encoder.py", "info", [])


def test_layers_alone_say_nothing_of_who_uses_them(workspace: Workspace) -> None:
    workspace.write(LAYERS)
    assert told(workspace) == WARNED


#: Code in which calls decide whether there is a choice.
HELPER = "def mask(count, device='cpu'):\n    return torch.ones(count, device=device)\n\n"
MASK = "import torch\n\n" + HELPER
GRID = (
    "class Grid:\n    def __init__(self, count, device='cpu'):\n        self.place = count, device\n\n"
    "    def near(self, x, device='cuda'):\n        return x.to(device)\n\n"
)
TRAIN = "def train(x, net=None):\n    return x\n\n"
CHOICES = {
    "by what there is": "import torch\nDEVICE = 'cuda' if torch.cuda.is_available() else None\n",
    "kept": "import torch\n\ndef kept(self):\n    self.has_cuda = torch.cuda.is_available()\n",
    "by where a tensor is": "def added(x, y, op):\n    if x.is_cuda:\n        return op(x, y)\n    return x + y\n",
    "by a name": "import torch\n\ndef place(model):\n    return model.to(torch.device('cuda')), torch.device('cpu')\n",
    "by a caller": "def place(model, device='cuda'):\n    return model.to(device)\n",
    "by a flag": "def place(model, use_gpu):\n    if use_gpu:\n        model.cuda()\n    return model\n",
    "by an option": "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--device')\n",
    "by a setting": "def place(model, config):\n    print(config.width)\n    return model.to(config.device)\n",
    "by a setting of a class": "class Settings:\n    device: str = 'cuda'\n",
    "by a caller that leaves the default": MASK + "def shown(x):\n    return mask(3, x.device), mask(4)\n",
    "by a setting that is handed on": MASK
    + "def shown(args):\n    print(args.width)\n    return mask(3, args.device)\n",
    "by a caller of callers": MASK + "def shown(device):\n    return mask(3, device)\n",
    "by a call with unknown arguments": MASK + "def shown(x, **more):\n    return mask(3, **more)\n",
    "by whom a helper is handed to": MASK + "def shown(x, run):\n    run(mask)\n    return mask(3, x[:, 0].device)\n",
    "by whom quotes name": MASK + "__all__ = ['mask']\n\ndef shown(x):\n    return mask(3, x[:, 0].device)\n",
    "by a subclass": GRID + "class Fine(Grid):\n    pass\n\ndef grid(x):\n    return Grid(3, x[:, 0].device)\n",
    "by a decorator": "import ops\n\n@ops.kept\n" + HELPER + "def shown(x):\n    return mask(3, x[:, 0].device)\n",
    "by a default of another function": MASK + "def shown(x, kept=mask(4)):\n    return mask(3, x[:, 0].device)\n",
    "by what it decorates": MASK + "def shown(x):\n    mask(3, x[:, 0].device)\n\n@mask\ndef other():\n    pass\n",
    "by an attribute of a class": MASK + "class Kept:\n    ones = mask(4)\n\nmask(3, 'cuda')\n",
    "by a method of an unknown object": GRID
    + "def near(x, grid):\n    return grid.near(x), Grid(3, 'cuda').near(x, 'cuda')\n",
    "by a flag for a model": "def run(net, x, use_gpu):\n    return net(x[:, 0].cuda()).cpu() if use_gpu else net(x)\n",
    "by a flag for what stays": "def put(x, use_gpu):\n    if use_gpu:\n        x = x[:, 0].cuda()\n    return x\n",
    "by a flag for what is trained": TRAIN + "def start(x, use_gpu):\n    if use_gpu:\n        train(x[:, 0].cuda())\n",
    "by a flag for a model that is passed": TRAIN
    + "def start(net, x, use_gpu):\n    if use_gpu:\n        return train(x[:, 0].cuda(), net).cpu()\n",
    "by what there is, for a tensor": TRAIN
    + "import torch\n\ndef start(x):\n    if torch.cuda.is_available():\n        return train(x[:, 0].cuda()).cpu()\n",
    "by a flag of a layer": "from torch import nn\nimport torch\n\nclass Sort(nn.Module):\n    def forward(self, x):\n"
    "        return torch.sort(x[:, 0].cuda())[0].cpu() if self.on_gpu else torch.sort(x)[0]\n",
    "by what there is, for all": "import torch\n\ndef start(net, x):\n    if torch.cuda.is_available():\n"
    "        net.cuda()\n        x = x[:, 0].cuda()\n    return net(x)\n",
    "by what there is, for an object": "import torch\n\nclass Trainer:\n    def __init__(self, net):\n"
    "        self.net = net\n        if torch.cuda.is_available():\n            self.move()\n\n"
    "    def move(self):\n        self.net = self.net.cuda()\n\n    def run(self, x):\n"
    "        if torch.cuda.is_available():\n            x = x.cuda()\n        return self.net(x)\n",
    "by a script for the layers": "import argparse\nfrom net.decoder import Decoder\n\nif __name__ == '__main__':\n"
    "    parser = argparse.ArgumentParser()\n    parser.add_argument('--device')\n"
    "    Decoder().to(parser.parse_args().device)\n",
    "by a script whose functions are used": "def place(model, device='cuda'):\n    return model.to(device)\n\n"
    "if __name__ == '__main__':\n    place(None)\n",
    "by a move that is meant as a question": "def put(net, x):\n    if net.cuda():\n        x = net(x[:, 0].cuda())\n"
    "    return x\n",
    "by settings with keys": "def put(x, config):\n    print(config['a'].view(), config.b)\n    x.to(config.device)\n",
    "by an accelerator": "def place(x, one):\n    one.prepare(x)\n    one.gather(x)\n    return x.to(one.device)\n",
}


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
def test_a_project_that_chooses_a_device_anywhere_is_warned(workspace: Workspace, choice: str) -> None:
    user = {"tools/use.py": "from tools.place import place\n"}
    workspace.write({**LAYERS, **user, "train.py": SCRIPT, "tools/place.py": choice})
    assert told(workspace) == WARNED
    assert told(workspace, "net/encoder.py") == WARNED[1:]


ASKING = """
import torch
from tools.masks import mask


def start(net, x):
    if torch.cuda.is_available():
        net, x = net.cuda(), x.cuda()
    return net(x) * mask(3)
"""
FORGETFUL = """
import torch
from torch import nn


class Mask(nn.Module):
    def forward(self, x):
        if torch.cuda.is_available():
            x = x.cuda()
        return x * torch.ones(3).cuda()
"""


@pytest.mark.parametrize("helper", ["import torch\n\ndef mask(n):\n    return torch.ones(n).cuda()\n", FORGETFUL])
def test_a_script_that_asks_is_not_to_blame_for_what_forgets_to(workspace: Workspace, helper: str) -> None:
    workspace.write({**LAYERS, "train.py": SCRIPT, "tools/start.py": ASKING, "tools/masks.py": helper})
    assert [one for one in told(workspace) if one[0].startswith("net")] == WARNED
    workspace.write({"tools/start.py": ""})
    severity = "warning" if helper is FORGETFUL else "info"
    assert told(workspace)[0] == ("net/decoder.py", severity)


NO_CHOICES = {
    "asked for": "import torch\n\ndef start():\n    assert torch.cuda.is_available(), 'this needs CUDA'\n",
    "demanded": "def added(x, op):\n    if not x.is_cuda:\n        raise NotImplementedError\n    return op(x)\n",
    "seeded": "import torch\n\nif torch.cuda.is_available():\n    torch.cuda.manual_seed_all(1)\n",
    "loaded": "import torch\n\ndef load(path):\n    return torch.load(path, map_location='cpu')\n",
    "results": "def found(model, x):\n    return model(x.cuda()).to('cpu').numpy()\n",
    "where a tensor is": "import torch\n\ndef mask(x, n):\n    return x + torch.ones(n).to(x.device)\n",
    "how many processes": "import torch.distributed as dist\n\ndef n():\n    return 2 if dist.is_available() else 1\n",
    "whether processes": "import torch.distributed as d\n\ndef n():\n    if d.is_available():\n        return 2\n",
    "a default that nobody gets": MASK
    + "def shown(x):\n    return mask(3, x[:, 0].device), mask(4, device='cuda:1')\n",
    "a default of a method": "class Grid:\n    def put(self, x, device='cuda'):\n        return x.to(device)\n\n"
    "    def both(self, x):\n        return self.put(x, device=(x * 2).device)\n",
    "a default of a constructor": GRID + "def grid(x):\n    return Grid(3, x[:, 0].device).near(x, 'cuda')\n",
    "a default of a module": MASK + "SECOND = mask(2, torch.device('cuda'))\n",
    "a default that a layer passes": MASK + "from torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
    "        return x * mask(3, next(self.parameters()).device)\n",
    "tensors that a flag moves": TRAIN
    + "def start(x, use_gpu):\n    if use_gpu:\n        return train(x[:, 0].cuda()).cpu()\n    return train(x)\n",
    "tensors that a flag moves there and back": TRAIN
    + "def start(x, use_gpu):\n    x = x[:, 0]\n    if use_gpu:\n        x = x.cuda()\n    return train(x).tolist()\n",
    "arguments that a function fills": "import torch\nimport fast_ops\n\ndef start(x, use_gpu):\n    if use_gpu:\n"
    "        out = torch.zeros(3).cuda()\n        fast_ops.run(torch.Tensor(x).cuda(), out)\n        out.item()\n",
    "what is subscripted": "def put(x, like):\n    print(like.kind)\n    return like[:, 2], x.to(like.device)\n",
    "whose elements are tensors": "def put(x, like):\n    print(like.kind, like[0].view(1))\n    x.to(like.device)\n",
    "what a docstring says": 'def put(x, like):\n    """Put.\n\n    like (Tensor): it\n    """\n    print(like.kind)\n'
    "    return x.to(like.device)\n",
    "what an annotation says": "from torch import Tensor\n\ndef put(x, like: Tensor):\n    print(like.kind)\n"
    "    return x.to(like.device)\n",
    "what torch computes with": "import torch\n\ndef put(x, like):\n    print(like.kind, torch.relu(like))\n"
    "    return x.to(like.device)\n",
    "what every caller passes": "import torch\n\ndef put(x, like):\n    print(like.kind)\n    x.to(like.device)\n\n"
    "def start(x):\n    return put(x, torch.ones(3))\n",
    "what was moved": "import torch\n\ndef put(x):\n    x = x[:, 0].cuda()\n    if x.sum() > 0:\n"
    "        x = torch.ones(3).cuda()\n    return x\n",
    "asked for in vain": "import torch\n\ndef start(net, x):\n    if torch.cuda.is_available():\n        net.cuda()\n"
    "    return net(x.cuda())\n",
    "asked for in vain, for what goes on": "import torch\n\ndef start(net, x):\n    if torch.cuda.is_available():\n"
    "        net = net.cuda()\n    return run(net, x)\n\ndef run(net, x):\n    return net(x.cuda())\n",
    "asked for in vain by an object": "import torch\n\nclass Trainer:\n    def __init__(self, net):\n"
    "        self.net = net\n        if torch.cuda.is_available():\n            self.net.cuda()\n\n"
    "    def run(self, x):\n        return self.step(x)\n\n    def step(self, x):\n        return self.net(x.cuda())\n",
    "by a script for itself": "import torch\n\ndef main(device):\n    print(torch.ones(3, device=device))\n\n"
    "if __name__ == '__main__':\n    main('cuda' if torch.cuda.is_available() else 'cpu')\n",
    "which CUDA device": "import os\n\ndef start(gpu):\n    os.environ['CUDA_VISIBLE_DEVICES'] = gpu\n",
}


@pytest.mark.parametrize("code", NO_CHOICES.values(), ids=NO_CHOICES)
def test_what_asks_for_cuda_or_keeps_results_elsewhere_chooses_nothing(workspace: Workspace, code: str) -> None:
    workspace.write({**LAYERS, "train.py": SCRIPT, "tools/place.py": code})
    assert told(workspace) == [("net/decoder.py", "info")]


STARTED = SCRIPT.replace("\nmain()\n", '\nif __name__ == "__main__":\n    main()\n')
CHOSEN = STARTED.replace("model = ", "argparse.ArgumentParser().add_argument('--device')\n    model = ").replace(
    "import torch", "import argparse\nimport torch", 1
)
ONE = {"one/net/encoder.py": LAYERS["net/encoder.py"], "one/net/decoder.py": LAYERS["net/decoder.py"]}
OTHER = {"other/net/encoder.py": LAYERS["net/encoder.py"], "other/train.py": CHOSEN}


def test_programs_beside_each_other_are_judged_each_for_itself(workspace: Workspace) -> None:
    workspace.write({**ONE, **OTHER, "one/train.py": STARTED})
    of_one = [("one/net/decoder.py", "info")]
    assert told(workspace) == [*of_one, ("other/net/encoder.py", "warning")]
    workspace.write({"third/net/encoder.py": LAYERS["net/encoder.py"], "third/train.py": STARTED})
    assert told(workspace) == [*of_one, ("other/net/encoder.py", "warning"), ("third/net/encoder.py", "info")]


#: Files by which the layers in `one` belong to a program that chooses a device, or to none of its own.
JOINED = {
    "another program uses them": {"one/train.py": STARTED, "other/run.py": "from one.net.encoder import Encoder\n"},
    "a function of another program uses them": {
        "one/train.py": STARTED,
        "other/run.py": "def run():\n    from one.net.encoder import Encoder\n    return Encoder()\n",
    },
    "no script": {"one/train.py": SCRIPT.replace("\nmain()\n", "")},
    "a script that another program imports": {"one/train.py": STARTED, "run.py": "from one import train\n"},
    "both use a helper": {
        "one/train.py": STARTED + "    from common import masks\n",
        "one/use.py": "from common import masks\n",
        "one/net/use.py": "from common import masks\n",
        "common/masks.py": "def mask(x):\n    return x\n",
        "other/use.py": "from common import masks\n",
    },
}


@pytest.mark.parametrize("files", JOINED.values(), ids=JOINED)
def test_a_program_that_others_share_is_judged_with_them(workspace: Workspace, files: dict[str, str]) -> None:
    workspace.write({**ONE, **OTHER, **files})
    found = [one for one in told(workspace) if one[0].startswith("one")]
    assert found == [("one/net/decoder.py", "warning"), ("one/net/encoder.py", "warning")]


WRAPPER = """
from torch import nn


class Wrapper(nn.Module):
    def __init__(self, module{more}):
        super().__init__()
        self.module = {kept}

    def forward(self, x):
        return {result}
"""
KEPT = {"more": "", "kept": "module", "result": "self.module(x.cuda(non_blocking=True))"}
MOVED = LAYER.format(name="Encoder").replace("(3, 3)\n", "(3, 3)\n        {move}\n")
WHOLE = [
    (WRAPPER.format(**KEPT), "info"),
    (WRAPPER.format(**{**KEPT, "kept": "nn.Sequential(module, nn.ReLU())"}), "warning"),
    (WRAPPER.format(**{**KEPT, "result": "self.module(x.cuda()) + x.cuda()"}), "warning"),
    (WRAPPER.format(**{**KEPT, "result": "self.module((x * 2).cuda())"}), "warning"),
    (MOVED.format(move='self.to("cuda").to(float)'), "info"),
    (MOVED.format(move="self.half().cuda()"), "warning"),
    (MOVED.format(move="self.to(float).cuda()"), "info"),
    (MOVED.format(move="self.proj.cuda()"), "warning"),
    (MOVED.format(move="self.to(x.device)"), "warning"),
    (MOVED.format(move="if torch.cuda.is_available():\n            self.cuda()"), "warning"),
]


@pytest.mark.parametrize(("code", "severity"), WHOLE)
def test_a_class_that_decides_for_all_of_itself_is_an_info(workspace: Workspace, code: str, severity: str) -> None:
    workspace.write({"net/encoder.py": code})
    assert ("net/encoder.py", severity) in told(workspace)


CONTEXTS = [
    ("torch.cuda.device(x.device)", "cuda", 0),
    ("torch.cuda.device(device=x.device)", "cuda", 0),
    ("torch.cuda.device_of(x)", "cuda", 0),
    ("torch.cuda.device(x.device)", "cuda:0", 1),
    ("torch.cuda.device(0)", "cuda", 1),
    ("torch.no_grad()", "cuda", 1),
]


@pytest.mark.parametrize(("context", "device", "count"), CONTEXTS)
def test_a_context_chooses_the_device_that_cuda_means(
    workspace: Workspace, context: str, device: str, count: int
) -> None:
    placed = f"with {context}:\n            bias = torch.ones(3, device={device!r})\n        return self.proj(x) + bias"
    layer = LAYER.format(name="Encoder").replace("return self.proj(x) + torch.ones(3).cuda()", placed)
    workspace.write({"net/encoder.py": layer})
    assert len(findings(workspace)) == count
