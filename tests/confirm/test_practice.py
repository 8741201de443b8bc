"""Steps of training that are run with promised batches, models and optimizers: what is seen, and what is never told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from served import served

from modellint.claims.training import Fed, InNoGroup, NoGradient, NothingToTrain
from modellint.confirm.child import answer
from modellint.confirm.plan import Group
from modellint.finding import Status, Verdict
from modellint.link.project import Project, ProjectOptions
from modellint.pipeline.anchors import add_anchors
from modellint.probes import called_probe
from modellint.source import Place, Span

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.claims import Claim

HEAD = """
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 5)
        self.head = nn.Linear(6 * 12 * 12, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        return self.head(x.view(-1, 6 * 12 * 12))


"""
#: Ways to write a step, with the loss in it.
LOOP = """
def train(net: Net, loader, criterion, optimizer, device, epochs=1):
    net.to(device).train()
    for epoch in range(epochs):
        for number, (x, y) in enumerate(loader):
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            {step}
            loss.backward()
            optimizer.step()
"""
KEYS = """
def train(net: Net, loader, scaler):
    for batch in loader:
        images, y = batch["image"].cuda(non_blocking=True), batch["label"].view(-1).long()
        assert images.size(0) == len(y)
        x = images.float()
        {step}
        scaler.scale(loss).backward()
"""
TASK = """
class Task:
    def __init__(self, options, loaders):
        self.net, self.options, self.loaders = Net(), options, loaders
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def train(self):
        net = self.net
        for x, y in self.loaders["train"]:
            {step}
            loss.backward()
            self.optimizer.step()
"""


def place_of(text: str, code: str, path: Path) -> Place:
    """The place of a piece of code, behind the head."""
    before, _, _ = (HEAD + code).partition(text)
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return Place(path.as_posix(), Span(line, column, line, column + len(text)))


def answered(folder: Path, *claims: Claim) -> list[Verdict]:
    """The verdicts on claims about one function, which share a process."""
    project = Project(ProjectOptions(root=folder))
    probes = [called_probe(add_anchors(claim, project), project) for claim in claims]
    found = answer(Group(probes[0].target, tuple(enumerate(probes))), served((folder.as_posix(),)))
    return [found[number] for number in range(len(claims))]


def verdict_on(folder: Path, code: str, text: str, *known: str) -> Verdict:
    """The verdict on a claim about a piece of code: what it gets, or, without `known`, that there is no gradient."""
    path = folder / "model.py"
    path.write_text(HEAD + code)
    place = place_of(text, code, path)
    return answered(folder, Fed(place, *known) if known else NoGradient(place))[0]


@pytest.mark.parametrize("way", [LOOP, KEYS, TASK], ids=["loop", "keys", "task"])
@pytest.mark.parametrize(
    ("call", "status"),
    [
        ("F.cross_entropy(net(x).softmax(1), y)", Status.CONFIRMED),
        ("F.cross_entropy(net(x), y)", Status.REFUTED),
    ],
)
def test_a_batch_becomes_what_the_model_takes(way: str, call: str, status: Status, tmp_path: Path) -> None:
    found = verdict_on(tmp_path, way.format(step=f"loss = {call}"), call, "cross_entropy", "probabilities")
    assert found.status is status, found.detail
    assert "float 2x1x28x28" in found.detail


@pytest.mark.parametrize(
    ("call", "known", "status"),
    [
        ("F.cross_entropy(net(x), y)", "chances", Status.REFUTED),
        ("F.cross_entropy(net(x).sigmoid(), y)", "chances", Status.CONFIRMED),
        ("F.nll_loss(net(x).log_softmax(1), y)", "scores", Status.REFUTED),
        ("F.nll_loss(net(x).log_softmax(1)[:, :2], y)", "scores", Status.REFUTED),
        ("F.nll_loss(net(x).exp(), y)", "scores", Status.UNCONFIRMED),
        ("F.nll_loss(net(x).softmax(1), y)", "probabilities", Status.CONFIRMED),
        ("F.binary_cross_entropy(net(x).sigmoid(), y)", "scores", Status.REFUTED),
        ("F.binary_cross_entropy(net(x)[:, :1], y)", "scores", Status.CONFIRMED),
        ("F.binary_cross_entropy((net(x) - 3).view(-1), y)", "scores", Status.UNCONFIRMED),
        ("F.binary_cross_entropy(net(x)[:, :1].log_softmax(1), y)", "log-probabilities", Status.CONFIRMED),
        ("F.kl_div(net(x).log_softmax(1), y)", "probabilities", Status.REFUTED),
        ("F.ctc_loss(net(x).unsqueeze(0), y, y, y)", "scores", Status.CONFIRMED),
        ("F.ctc_loss(net(x).log_softmax(1).unsqueeze(0), y, y, y)", "scores", Status.REFUTED),
        ("F.linear(net(x), net.head.weight[:, :4])", "scores", Status.CONFIRMED),
        ("F.linear(F.dropout(net(x)), net.head.weight[:, :4])", "scores", Status.CONFIRMED),
        ("F.linear(net(x).relu(), net.head.weight[:, :4])", "scores", Status.UNCONFIRMED),
        ("torch.tanh(net(x).relu())", "positives", Status.CONFIRMED),
        ("torch.tanh(net(x))", "positives", Status.REFUTED),
    ],
)
def test_elements_are_told_by_their_numbers(call: str, known: str, status: Status, tmp_path: Path) -> None:
    function = call.partition("(")[0].rpartition(".")[2]
    found = verdict_on(tmp_path, LOOP.format(step=f"loss = {call}"), call, function, known)
    assert found.status is status, found.detail


@pytest.mark.parametrize(
    ("step", "status"),
    [
        ("loss = F.cross_entropy(net(x), y)", Status.REFUTED),
        ("loss = F.cross_entropy(net(x).detach(), y)", Status.CONFIRMED),
        ("loss = criterion(net(x).detach(), y)", Status.UNCONFIRMED),
        ("loss = F.mse_loss(x.requires_grad_(), net(x.detach()).detach().mean() + 0 * x.detach())", Status.UNCONFIRMED),
    ],
)
def test_a_gradient_is_followed_to_parameters(step: str, status: Status, tmp_path: Path) -> None:
    found = verdict_on(tmp_path, LOOP.format(step=step), "loss.backward()")
    assert found.status is status, found.detail


@pytest.mark.parametrize(
    "code",
    [
        "def step(net, criterion, x, y):\n    loss = criterion(net(x), y)\n    loss.backward()\n",
        "def step(net, x, y):\n    loss = (y - net(x)).pow(2).mean()\n    loss.backward()\n",
        "def step(net, x, y):\n    loss = net(x).detach().requires_grad_().sum()\n    loss.backward()\n",
        "def step(loss):\n    loss.backward()\n",
        "def step(a, x, y):\n    with torch.no_grad():\n        z = a.body(x)\n    a.head(z, y).backward()\n",
        "def go(a, b, x):\n    with torch.no_grad():\n        z = b(x)\n    loss = z @ a(x)\n    loss.backward()\n",
        "def step(weights):\n    loss = F.mse_loss(weights, torch.zeros(3))\n    loss.backward()\n",
        "def step(layer):\n    loss = (layer.weight * torch.ones(3)).sum()\n    loss.backward()\n",
        "def step(net, batches):\n    for batch in batches:\n        loss = net(**batch)\n        loss.backward()\n",
    ],
)
def test_nothing_is_told_of_a_model_that_nobody_knows(code: str, tmp_path: Path) -> None:
    found = verdict_on(tmp_path, code, "loss.backward()" if "loss.backward()" in code else "a.head(z, y).backward()")
    assert found.status is Status.UNCONFIRMED, found.detail


@pytest.mark.parametrize("known", ["probabilities", "chances", "scores"])
@pytest.mark.parametrize(
    "call",
    ["F.cross_entropy(other(net(x)), y)", "F.cross_entropy(other(x), y)", "F.binary_cross_entropy(other(net(x)), y)"],
)
def test_nothing_is_told_of_what_went_through_an_unknown_function(call: str, known: str, tmp_path: Path) -> None:
    code = f"def step(net: Net, other, x, y):\n    return {call}\n"
    function = call.partition("(")[0].rpartition(".")[2]
    found = verdict_on(tmp_path, code, call, function, known)
    assert found.status is Status.UNCONFIRMED, found.detail


def test_a_run_ends_where_it_has_told(tmp_path: Path) -> None:
    code = (
        "net, x, y = nn.Linear(8, 4), torch.randn(5, 8), torch.zeros(5).long()\n"
        "while True:\n"
        "    try:\n        loss = F.cross_entropy(net(x).softmax(1), y)\n    except Exception:\n        pass\n"
    )
    call = "F.cross_entropy(net(x).softmax(1), y)"
    found = verdict_on(tmp_path, code, call, "cross_entropy", "probabilities")
    assert found.status is Status.CONFIRMED, found.detail
    assert "the loss is from 0.74 to 1.74" in found.detail


@pytest.mark.parametrize("is_script", [False, True])
def test_models_are_compared_with_the_groups_of_optimizers(is_script: bool, tmp_path: Path) -> None:
    lines = [
        "first = nn.Linear(8, 4)",
        "second = nn.Linear(4, 8)",
        "third = nn.Linear(8, 3).to('cuda')",
        "idle = nn.Linear(8, 2)",
        "optimizer = torch.optim.Adam([*first.parameters(), *third.parameters()])",
        "for x in loader:",
        "    loss = third(second(first(x))).pow(2).sum()",
        "    loss.backward()",
        "    optimizer.step()",
    ]
    code = "\n".join(lines) + "\n"
    code = f"loader = torch.randn(3, 2, 8)\n{code}" if is_script else "def train(loader):\n    " + "\n    ".join(lines)
    path = tmp_path / "model.py"
    path.write_text(HEAD + code)
    made = ("nn.Linear(8, 4)", "nn.Linear(4, 8)", "nn.Linear(8, 3)", "nn.Linear(8, 2)")
    backward, name = place_of("loss.backward()", code, path), "" if is_script else "train"
    claims = [InNoGroup(place_of(text, code, path), backward, name) for text in made]
    found = answered(tmp_path, *claims)
    wanted = [Status.REFUTED, Status.CONFIRMED, Status.REFUTED, Status.UNCONFIRMED]
    assert [verdict.status for verdict in found] == wanted, [verdict.detail for verdict in found]


DATA = """
from torch.utils.data import DataLoader, Dataset, random_split


class Files(Dataset):
    def __init__(self, folder):
        self.names = open(folder + "/list.txt").readlines()

    def __len__(self):
        return len(self.names)

    def __getitem__(self, number):
        return torch.load(self.names[number]), number


def main():
    net = Net()
    loader = DataLoader({data}, batch_size=4, shuffle=True, num_workers=2)
    print(len(loader), len(loader.dataset))
    for x, y in loader:
        loss = F.cross_entropy(net(x).softmax(1), y)
"""


@pytest.mark.parametrize(
    "data",
    [
        'Files("/data")',
        'random_split(Files("/data"), [1, 1])[0]',
        "no_such_library.Pictures()",
        "torch.utils.data.TensorDataset(torch.randn(9, 1, 28, 28), torch.zeros(9).long())",
    ],
)
def test_a_data_set_that_cannot_be_read_promises_its_examples(data: str, tmp_path: Path) -> None:
    call = "F.cross_entropy(net(x).softmax(1), y)"
    code = ("import no_such_library\n" if "no_such" in data else "") + DATA.format(data=data)
    found = verdict_on(tmp_path, code, call, "cross_entropy", "probabilities")
    assert found.status is Status.CONFIRMED, found.detail


@pytest.mark.parametrize("start", ["main(parser.parse_args())", "train(net, DataLoader(data), parser.parse_args())"])
def test_a_file_is_run_as_a_script(start: str, tmp_path: Path) -> None:
    code = (
        "import argparse\nfrom torch.utils.data import DataLoader, TensorDataset\n\n\n"
        "def train(net, loader, options):\n    for x, y in loader:\n"
        "        loss = F.cross_entropy(net(x).softmax(1), y)\n\n\n"
        "def main(options):\n    train(Net(), DataLoader(TensorDataset(*options.data)), options)\n\n\n"
        'if __name__ == "__main__":\n    parser = argparse.ArgumentParser()\n'
        '    parser.add_argument("--rate", default=0.1)\n'
        f"    net, data = Net(), TensorDataset(torch.randn(4, 1, 28, 28), torch.zeros(4).long())\n    {start}\n"
    )
    call = "F.cross_entropy(net(x).softmax(1), y)"
    found = verdict_on(tmp_path, code, call, "cross_entropy", "probabilities")
    assert found.status is (Status.CONFIRMED if start.startswith("train") else Status.UNCONFIRMED), found.detail


def test_the_side_of_an_image_is_learnt_from_what_a_layer_refuses(tmp_path: Path) -> None:
    code = (
        "class Twins(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.conv, self.fc = nn.Conv2d(1, 4, 5, stride=2), nn.Linear(4 * 22 * 22, 3)\n\n"
        "    def one(self, x):\n        return self.fc(self.conv(x).flatten(1))\n\n\n"
        "def train(loader):\n    net = Twins()\n    for left, right, y in loader:\n"
        "        found = (net.one(left) - net.one(right)).softmax(1)\n"
        "        loss = F.cross_entropy(found, y)\n"
    )
    found = verdict_on(tmp_path, code, "F.cross_entropy(found, y)", "cross_entropy", "probabilities")
    assert found.status is Status.CONFIRMED, found.detail
    assert "loader[0][0], loader[0][1] = float 2x1x48x48" in found.detail


TASKS = """
import no_such_library


class Task(no_such_library.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, number):
        x, y = batch
        scores = self(x)
        self.log("scores", scores.detach())
        loss = {loss}
        return {returned}
"""


@pytest.mark.parametrize(
    ("loss", "returned", "status"),
    [
        ("F.cross_entropy(scores, y)", "loss", Status.REFUTED),
        ("F.cross_entropy(scores.detach(), y)", "loss", Status.CONFIRMED),
        ("F.cross_entropy(scores.detach(), y)", "{'loss': loss, 'scores': scores.detach()}", Status.CONFIRMED),
        ("F.cross_entropy(scores, y)", "{'loss': loss, 'scores': scores.detach()}", Status.UNCONFIRMED),
        ("F.cross_entropy(scores, y)", "None", Status.UNCONFIRMED),
        ("F.cross_entropy(scores, y)", "self.weigh(loss)", Status.UNCONFIRMED),
    ],
)
def test_a_loss_is_returned_to_a_library_that_is_not_there(
    loss: str, returned: str, status: Status, tmp_path: Path
) -> None:
    code = TASKS.format(loss=loss, returned=returned)
    path = tmp_path / "model.py"
    path.write_text(HEAD + code)
    found = answered(tmp_path, NoGradient(place_of(loss, code, path), is_returned=True))[0]
    assert found.status is status, found.detail


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("[x, torch.rand(3)]", Status.CONFIRMED),
        ("[x.requires_grad_(), torch.rand(3)]", Status.REFUTED),
        ("net.parameters()", Status.REFUTED),
        ("other.parameters()", Status.UNCONFIRMED),
    ],
)
def test_an_optimizer_is_given_what_needs_a_gradient(given: str, status: Status, tmp_path: Path) -> None:
    made = f"torch.optim.SGD({given}, lr=0.1)"
    code = (
        f"def paint(net: Net, other):\n    x = torch.rand(2, 3).cuda()\n    optimizer = {made}\n    return optimizer\n"
    )
    path = tmp_path / "model.py"
    path.write_text(HEAD + code)
    found = answered(tmp_path, NothingToTrain(place_of(made, code, path)))[0]
    assert found.status is status, found.detail
