"""Programs that load a HyperPyYAML file and build no Brain of it: whatever they are, their recipe is found and read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Workspace

RECIPE = """\
seed: 1
width: 16
lr: 0.1
model: !new:net.Net
    width: !ref <width>
optimizer: !name:torch.optim.Adam
    lr: !ref <lr>
"""
NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, 2)
"""
#: Ways to load a recipe; each is followed by a use of what it has loaded into `cfg`.
LOADS = {
    "by the function's name": "from hyperpyyaml import load_hyperpyyaml\n\ncfg = load_hyperpyyaml(open('conf.yaml'))\n",
    "by another name": "from hyperpyyaml import load_hyperpyyaml as load\n\ncfg = load(open('conf.yaml'))\n",
    "by the package": "import hyperpyyaml as hp\n\ncfg = hp.load_hyperpyyaml(open('conf.yaml'))\n",
    "with an annotation": (
        "from hyperpyyaml import load_hyperpyyaml\n\ncfg: dict[str, object] = load_hyperpyyaml(open('conf.yaml'))\n"
    ),
    "in a function": (
        "from hyperpyyaml import load_hyperpyyaml\n\n\ndef read(path):\n    with open(path) as stream:\n"
        "        return load_hyperpyyaml(stream)\n\n\ncfg = read('conf.yaml')\n"
    ),
    "in a function with a local": (
        "from hyperpyyaml import load_hyperpyyaml\n\n\ndef read(path):\n    stream = open(path)\n"
        "    keys = load_hyperpyyaml(stream)\n    stream.close()\n    return keys\n\n\ncfg = read('conf.yaml')\n"
    ),
    "in a method": (
        "from hyperpyyaml import load_hyperpyyaml\n\n\nclass Reader:\n    def read(self, path):\n"
        "        return load_hyperpyyaml(open(path))\n\n\ncfg = Reader().read('conf.yaml')\n"
    ),
    "by a lambda": (
        "from hyperpyyaml import load_hyperpyyaml\n\nread = lambda path: load_hyperpyyaml(open(path))\n"
        "cfg = read('conf.yaml')\n"
    ),
    "by functools.partial": (
        "import functools\n\nfrom hyperpyyaml import load_hyperpyyaml\n\n"
        "read = functools.partial(load_hyperpyyaml, overrides=None)\ncfg = read(open('conf.yaml'))\n"
    ),
    "with a blank before the bracket": (
        "from hyperpyyaml import load_hyperpyyaml\n\ncfg = load_hyperpyyaml (open('conf.yaml'))\n"
    ),
    "among others": (
        "from hyperpyyaml import load_hyperpyyaml\n\ncfg, path = load_hyperpyyaml(open('conf.yaml')), 'conf.yaml'\n"
    ),
    "with overrides": (
        "from hyperpyyaml import load_hyperpyyaml\n\nwith open('conf.yaml') as f:\n"
        "    cfg = load_hyperpyyaml(f, overrides={'seed': 2})\n"
    ),
    "twice, the second time as it is": (
        "from hyperpyyaml import load_hyperpyyaml\n\ntry:\n    with open('conf.yaml') as f:\n"
        "        cfg = load_hyperpyyaml(f, overrides={'seed': 2})\n"
        "except Exception:\n    with open('conf.yaml') as f:\n        cfg = load_hyperpyyaml(f)\n"
    ),
}
USES = 'print(cfg["seed"], cfg["width"], cfg["model"])\n'


@pytest.mark.parametrize("load", LOADS.values(), ids=LOADS)
def test_a_key_that_the_recipe_lacks_is_found(workspace: Workspace, load: str) -> None:
    workspace.write({"conf.yaml": RECIPE, "net.py": NET, "run.py": load + USES + 'print(cfg["rate"])\n'})
    line = (load + USES).count("\n") + 1
    assert workspace.places(".") == [("run.py", line, "ML405")]


def test_the_library_may_be_installed_where_it_is_found(workspace: Workspace) -> None:
    library = "def load_hyperpyyaml(stream, overrides=None):\n    tree = read(stream)\n    return tree\n"
    run = LOADS["by another name"] + USES + 'print(cfg["rate"])\n'
    workspace.write({"conf.yaml": RECIPE, "net.py": NET, "run.py": run})
    workspace.write({"hyperpyyaml/__init__.py": "from .core import *\n", "hyperpyyaml/core.py": library})
    assert workspace.places("run.py") == [("run.py", 5, "ML405")]


@pytest.mark.parametrize("load", LOADS.values(), ids=LOADS)
def test_nothing_is_found_where_nothing_is_wrong(workspace: Workspace, load: str) -> None:
    workspace.write({"conf.yaml": RECIPE, "net.py": NET, "run.py": load + USES + 'print(cfg.get("rate"))\n'})
    assert workspace.places(".") == []


def test_a_recipe_may_be_loaded_by_a_function_of_another_file(workspace: Workspace) -> None:
    reading = "from hyperpyyaml import load_hyperpyyaml\n\n\ndef read(path):\n    return load_hyperpyyaml(open(path))\n"
    run = f"from reading import read\n\ncfg = read('conf.yaml')\n{USES}print(cfg['rate'])\n"
    workspace.write({"conf.yaml": RECIPE, "net.py": NET, "reading.py": reading, "run.py": run})
    assert workspace.places("conf.yaml") == [("run.py", 5, "ML405")]


def test_what_is_stored_is_told_by_values_whatever_the_keys_are_called(workspace: Workspace) -> None:
    loads = LOADS["by the function's name"] + USES
    for change in ('cfg["rate"] = 1', "cfg.update(read_more())", 'cfg . setdefault ("rate", 1)', "vars(cfg)[name] = 1"):
        workspace.write({"conf.yaml": RECIPE, "net.py": NET, "run.py": f'{loads}{change}\nprint(cfg["rate"])\n'})
        assert workspace.places(".") == [], change


def test_a_key_that_is_stored_says_nothing_of_others(workspace: Workspace) -> None:
    run = LOADS["by the function's name"] + USES + 'cfg["seed"] = cfg["seed"] + 1\nprint(cfg["rate"])\n'
    workspace.write({"conf.yaml": RECIPE, "net.py": NET, "run.py": run})
    assert workspace.places(".") == [("run.py", run.count("\n"), "ML405")]


def test_the_recipe_may_stand_below_and_name_what_stands_beside_the_program(workspace: Workspace) -> None:
    run = LOADS["by the function's name"].replace("conf.yaml", "conf/small/model.yaml") + USES
    workspace.write({"conf/small/model.yaml": RECIPE, "net.py": NET, "run.py": run})
    assert workspace.places(".") == []
    workspace.write({"conf/small/model.yaml": RECIPE.replace("width: !ref", "wdth: !ref").replace("Adam", "Adma")})
    found = workspace.places(".")
    assert set(found) == {("conf/small/model.yaml", 5, "ML403"), ("conf/small/model.yaml", 6, "ML402")}


def test_keys_are_followed_into_functions_and_other_files(workspace: Workspace) -> None:
    workspace.write(
        {
            "conf.yaml": RECIPE,
            "net.py": NET,
            "build.py": 'def build(options):\n    return options["model"], options["sede"]\n',
            "run.py": (
                "from build import build\nfrom hyperpyyaml import load_hyperpyyaml\n\n\ndef main():\n"
                "    cfg = load_hyperpyyaml(open('conf.yaml'), {'widht': 3})\n"
                "    print(cfg['seed'], cfg['lr'])\n    build(cfg)\n\n\nif __name__ == '__main__':\n    main()\n"
            ),
        }
    )
    assert workspace.places(".") == [("build.py", 2, "ML405"), ("run.py", 6, "ML405")]


def test_a_program_that_loads_two_recipes_asks_either_for_its_keys(workspace: Workspace) -> None:
    run = (
        "from hyperpyyaml import load_hyperpyyaml\n\ncfg = load_hyperpyyaml(open('conf.yaml'))\n"
        "lm = load_hyperpyyaml(open('lm/lm.yaml'))\n" + USES + 'print(lm["layers"])\n'
    )
    workspace.write({"conf.yaml": RECIPE, "lm/lm.yaml": "layers: !apply:max [2, 3]\n", "net.py": NET, "run.py": run})
    assert workspace.places(".") == []


def test_rules_about_training_ask_for_a_brain(workspace: Workspace) -> None:
    """A recipe with `modules`, and a loop of the program's own that moves and saves what it likes."""
    recipe = RECIPE + "head: !new:torch.nn.Linear [2, 3]\nmodules:\n    model: !ref <model>\n"
    run = (
        LOADS["by the function's name"] + USES + 'net, head = cfg["modules"]["model"], cfg["head"]\n'
        "def step(x):\n    return head(net(x))\n"
    )
    workspace.write({"conf.yaml": recipe, "net.py": NET, "run.py": run})
    assert workspace.places(".") == []


def test_what_keeps_a_recipe_from_loading_is_found_without_any_program(workspace: Workspace) -> None:
    workspace.write(
        {
            "net.py": NET,
            "conf.yaml": "width: 16\nwidth: 8\nmodel: !new:net.Net\n    width: !ref <widht>\nother: !nwe:net.Net [2]\n",
        }
    )
    assert workspace.places(".") == [("conf.yaml", 2, "ML404"), ("conf.yaml", 4, "ML401"), ("conf.yaml", 5, "ML406")]


def test_a_key_that_may_be_lacking_is_none_of_our_business(workspace: Workspace) -> None:
    caught = LOADS["by the function's name"] + USES + 'try:\n    rate = cfg["rate"]\nexcept KeyError:\n    rate = 1\n'
    workspace.write({"conf.yaml": RECIPE, "net.py": NET, "run.py": caught + "print(rate)\n"})
    assert workspace.places(".") == []
