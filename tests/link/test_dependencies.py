"""What a result rests on does not depend on what was checked before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.config import settings_for
from modellint.link.project import Project, ProjectOptions
from modellint.packs import select_rules
from modellint.pipeline.analyser import Analyser

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FILES = {
    "base.py": """\
from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.build(width)

    def build(self, width):
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x)
""",
    "net.py": """\
from base import Base
from torch import nn


class Net(Base):
    pass


class Outer(Base):
    def __init__(self, width, inner, more):
        super().__init__(width)
        self.inner = inner
        self.others = nn.ModuleList([more, more])

    def forward(self, x):
        return self.inner(x) + self.others[0](x)
""",
    "train.py": """\
import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.net(self.hparams.front(batch.signal))

    def compute_objectives(self, predictions, batch, stage):
        return self.modules.missing(predictions)


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    modules, checkpointer = hparams["modules"], hparams["checkpointer"]
    brain = Model(modules, hparams["opt_class"], hparams, run_opts, checkpointer)
    brain.fit(hparams["epochs"], [], [])
""",
}
RECIPE = """\
epochs: {epochs}
opt_class: !name:torch.optim.Adam
    lr: 0.001
front: !new:net.Net
    width: 8
inner: !new:net.Net
    width: 8
more: !new:net.Net
    width: 8
net: !new:net.Outer
    width: 8
    inner: !ref <inner>
    more: !ref <more>
checkpointer: !new:speechbrain.utils.checkpoints.Checkpointer
    checkpoints_dir: out
    recoverables:
        net: !ref <net>
modules:
    net: !ref <net>
"""


def rested_on(root: Path, order: Sequence[str]) -> dict[str, set[str]]:
    settings = settings_for([root], None, isolated=True)
    analyser = Analyser(select_rules(settings), settings, record=True)
    return {name: {key for key, _ in analyser.analyse(root / name).dependencies} for name in order}


def test_a_result_rests_on_the_same_files_in_any_order(tmp_path: Path) -> None:
    files = FILES | {f"hparams/{name}.yaml": RECIPE.format(epochs=number) for number, name in enumerate("abc", 1)}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    alone = {name: rested_on(tmp_path, [name])[name] for name in files}
    assert f"file:{(tmp_path / 'base.py').as_posix()}" in alone["hparams/c.yaml"]
    for order in (list(files), list(files)[::-1]):
        assert rested_on(tmp_path, order) == alone


def test_few_syntax_trees_are_held_however_many_files_are_read(tmp_path: Path) -> None:
    """They are far larger than the files; what is asked of one that was let go of is parsed again."""
    more = "#" * 20_000
    for number in range(300):
        code = f"import part{number + 1}\n\n\ndef f():\n    return {number}\n"
        (tmp_path / f"part{number}.py").write_text(code + more)
    project = Project(ProjectOptions(root=tmp_path))
    modules = [project.python(tmp_path / f"part{number}.py") for number in range(300)]
    assert sum(bool(module is not None and module.trees) for module in modules) < 100
    returned = [module.functions["f"].flow.events[0].value.data for module in modules if module is not None]
    assert returned == list(range(300))


@pytest.mark.parametrize("is_checked_first", [True, False])
def test_who_imports_a_file_sees_it_in_any_order_though_a_long_body_is_broken(
    tmp_path: Path, is_checked_first: bool
) -> None:
    path = tmp_path / "base.py"
    path.write_text("class A:\n    def f(self):\n" + "        x = 1\n" * 50 + "        return (\n\nz = 2\n")
    project = Project(ProjectOptions(root=tmp_path))
    if is_checked_first:
        assert project.whole(path) is None
    module = project.python(path)
    assert module is not None
    assert set(module.classes["A"].methods) == {"f"}
    assert project.whole(path) is None
    reason = project.reason(path)
    assert reason is not None
    assert reason.span.line == 53
    assert project.python(path) is module


def test_a_file_that_is_checked_after_it_was_imported_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "base.py"
    path.write_text("def f():\n" + "    x = 1\n" * 50 + "    return 3\n")
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(path)
    assert module is not None
    assert not module.is_whole
    assert project.whole(path) is module
    assert module.is_whole
    assert module.functions["f"].flow.events[-1].value.data == 3
