"""The first stage of look-ups: what functions do with elements, by their own code and by what they call."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from effort import calls_of

from modellint.flow import summaries
from modellint.flow.domain import Ids
from modellint.flow.queries import flow
from modellint.flow.summaries import MAX_FILES, Summaries
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace

HEAD = "import torch\nfrom torch import nn\n"
MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 20)
        self.table = nn.Embedding(10, 8)
        self.codec = Codec()

    def forward(self, x):
"""
CODEC = """
class Codec(nn.Module):
    def __init__(self):
        super().__init__()
        self.book = nn.Embedding(10, 8)

    def from_codes(self, codes):
        return self.book(codes)

    def pick(self, scores):
        return scores.argmax(-1)
"""


def looked_up(tmp_path: Path, code: str) -> list[int]:
    """The lines of `model.py` where drawn ids are looked up."""
    (tmp_path / "model.py").write_text(code, encoding="utf-8")
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    return [lookup.place.value.line for lookup in flow(module, project).lookups()]


@pytest.mark.parametrize(
    "body",
    [
        "        return self.table(self.codec.pick(self.head(x)))\n",
        "        return self.codec.from_codes(self.head(x).argmax(-1))\n",
    ],
    ids=["drawn by a method of another file", "a method with the name of an operator"],
)
def test_classes_of_other_files_draw_and_look_up(tmp_path: Path, body: str) -> None:
    (tmp_path / "codec.py").write_text(HEAD + CODEC, encoding="utf-8")
    assert len(looked_up(tmp_path, f"{HEAD}from codec import Codec\n{MODEL}{body}")) == 1


@pytest.mark.parametrize("parameters", ["*parts", "*parts, scale=None", "first, *parts, scale=None"])
def test_what_is_given_by_position_is_no_keyword_of_a_function_inside(tmp_path: Path, parameters: str) -> None:
    taken = "first" if "first" in parameters else "parts[0]"
    inner = f"        def work({parameters}):\n            return self.table({taken})\n"
    body = f"{inner}        return work(self.head(x).argmax(-1), x)\n"
    assert len(looked_up(tmp_path, f"{HEAD}{CODEC}{MODEL}{body}")) == 1


@pytest.mark.parametrize(
    ("inside", "given"),
    [("self.table(given)", "ids"), ("given(ids)", "self.table"), ("self.table(torch.full((2,), given))", "-100")],
    ids=["ids", "a table", "a constant"],
)
def test_a_function_inside_looks_up_what_it_is_given(tmp_path: Path, inside: str, given: str) -> None:
    drawn = "        ids = self.head(x).argmax(-1)\n"
    body = f"{drawn}        def work(given):\n            return {inside}\n        return work({given})\n"
    assert len(looked_up(tmp_path, f"{HEAD}{CODEC}{MODEL}{body}")) == 1


@pytest.mark.parametrize("head", [HEAD, "from common import *\n", HEAD + "T = torch\n"])
def test_constants_are_written_by_torch_under_any_name(tmp_path: Path, head: str) -> None:
    (tmp_path / "common.py").write_text(HEAD, encoding="utf-8")
    name = "T" if "T =" in head else "torch"
    body = f"        places = {name}.full(x.shape[:2], -100)\n        return self.table(places)\n"
    assert len(looked_up(tmp_path, f"{head}{CODEC}{MODEL}{body}")) == 1


@pytest.mark.parametrize(
    "style", ["from one import pick", "from one import pick as taken", "import one", "from one import *"]
)
def test_ids_come_through_functions_of_other_files(tmp_path: Path, style: str) -> None:
    (tmp_path / "three.py").write_text("def best(scores):\n    return scores.argmax(-1)\n")
    (tmp_path / "two.py").write_text("from three import best\n\n\ndef pick(scores):\n    return best(scores)\n")
    (tmp_path / "one.py").write_text("import two\n\n\ndef pick(scores):\n    return two.pick(scores)\n")
    name = style.split()[-1] if " as " in style else "one.pick" if style == "import one" else "pick"
    body = f"        return self.table({name}(self.head(x)))\n"
    assert len(looked_up(tmp_path, f"{HEAD}{style}\n{CODEC}{MODEL}{body}")) == 1


def test_circles_of_imports_end(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("from two import second\n\n\ndef first(x):\n    return second(x)\n")
    (tmp_path / "two.py").write_text("from one import first\n\n\ndef second(x):\n    return first(x).argmax(-1)\n")
    project = Project(ProjectOptions(root=tmp_path))
    gives = []
    for name in ("one.py", "two.py"):
        module = project.python(tmp_path / name)
        assert module is not None
        gives += [Ids in project.of(Summaries).gives(function, MAX_FILES) for function in module.all_functions()]
    assert gives == [True, True]


@pytest.mark.parametrize(
    "code",
    [
        "def size(a, b):\n    return max(a, b)\n",
        "def sizes(a):\n    return sorted(a)\n",
        "def largest(a):\n    return a.max()\n",
    ],
)
def test_functions_of_python_draw_no_ids(tmp_path: Path, code: str) -> None:
    (tmp_path / "model.py").write_text(dedent(code))
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    assert all(Ids not in project.of(Summaries).gives(function, MAX_FILES) for function in module.all_functions())


def roots(tmp_path: Path, code: str) -> list[str]:
    """The functions of `model.py` that are run."""
    (tmp_path / "model.py").write_text(HEAD + code, encoding="utf-8")
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    return [function.name for function in project.of(Summaries).roots(module)]


def test_a_star_import_of_the_project_leaves_python_its_functions(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text("WIDTH = 8\n")
    code = "from parts import *\n\n\ndef size(a, table):\n    return table(max(a, WIDTH))\n"
    assert roots(tmp_path, code) == []


@pytest.mark.parametrize("built", ["nn.Sequential(nn.Linear(8, 8))", "nn.Linear(8, 8)"])
def test_layers_with_the_name_of_an_operator_look_nothing_up(tmp_path: Path, built: str) -> None:
    code = f"""
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.gather = {built}

    def forward(self, x):
        return x * self.gather(x.mean(1))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()

    def forward(self, x):
        return self.gate(torch.relu(x))
"""
    assert roots(tmp_path, code) == []


BATCH = """
class Batch:
    def __init__(self, **parts):
        self.__dict__.update(parts)

    def __getitem__(self, index):
        return Batch(**{name: value[index] for name, value in self.__dict__.items()})

    def set(self, name, value):
        self.__dict__[name] = torch.zeros(4, 8)
        self.__dict__[name] = value
        return self.__dict__[value]

"""


@pytest.mark.parametrize("picked", ["batch[scores.argmax(-1)]", "batch.set('ids', scores.argmax(-1))"])
def test_what_a_class_of_the_project_holds_is_no_table(tmp_path: Path, picked: str) -> None:
    """A run of look-ups follows no `__getitem__`, and `__dict__` is asked for names."""
    code = f"{BATCH}\ndef pick(scores):\n    batch = Batch(ids=scores)\n    return {picked}\n"
    assert roots(tmp_path, code) == []


APPLY = """
import reducing


def apply(function, data, *more):
    if isinstance(data, list):
        return [apply(function, one, *more) for one in data]
    return function(data, *more)


def gather(table, at, scores):
    def one(ids):
        gathered = torch.empty(4, 8)
        reducing.share(gathered, ids)
        return gathered.view(-1, *ids.size()[1:])

    return {returned}
"""


@pytest.mark.parametrize(
    ("returned", "found"),
    [
        ("apply(one, scores.argmax(-1))", []),
        ("reducing.reduce(scores.argmax(-1), lambda every: every[at])", []),
        ("apply(lambda ids: nn.Embedding(8, 8)(ids), scores.argmax(-1))", ["gather"]),
        ("reducing.reduce(scores.argmax(-1), lambda ids: nn.Embedding(8, 8)(ids))", ["gather"]),
    ],
)
def test_a_nested_function_that_is_passed_on_is_no_table(tmp_path: Path, returned: str, found: list[str]) -> None:
    """What it makes and returns is no table for what it is given."""
    assert roots(tmp_path, APPLY.format(returned=returned)) == found


@pytest.mark.parametrize(
    ("picked", "found"),
    [
        ("named(rows)[ids]", []),
        ("{name: rows[number] for number, name in enumerate(ids)}", []),
        ("{name: rows[name] for number, name in enumerate(ids)}", ["pick"]),
        ("listed(rows)[ids]", ["pick"]),
    ],
)
def test_neither_the_key_of_a_dictionary_nor_a_counter_picks_rows(
    tmp_path: Path, picked: str, found: list[str]
) -> None:
    code = f"""
def named(rows):
    found = {{}}
    for name, row in rows.items():
        found[name] = row
    return found


def listed(rows):
    return rows or nn.Embedding(8, 8).weight


def pick(scores):
    rows, ids = torch.zeros(8, 8), scores.argmax(-1)
    return {picked}
"""
    assert roots(tmp_path, code) == found


NUMBERS = """
def train(policy, trainer, steps):
    scores = torch.rand(steps)
    return trainer(scores, policy, lambda epoch: policy.set_rate(epoch / steps))
"""


@pytest.mark.parametrize(
    "head",
    [
        "",
        "from parts import Policy\n",
        "def read():\n    from . import parts\n    return parts\n",
        "from parts import embedding\n",
        "import rings\n",
    ],
)
def test_numbers_are_followed_to_no_table_where_there_is_none(tmp_path: Path, head: str) -> None:
    (tmp_path / "parts.py").write_text("import torch\n\nembedding = torch.zeros(3)\n\n\nclass Policy:\n    pass\n")
    (tmp_path / "rings.py").write_text("import rings\nimport model\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/beside.py").write_text("from torch import nn\n\ntable = nn.Embedding(8, 8)\n")
    assert roots(tmp_path, head + NUMBERS) == []


@pytest.mark.parametrize(
    "head",
    [
        "TABLE = nn.Embedding(8, 8)\n",
        "from torch.nn.functional import embedding\n",
        "def pick(ids, weight):\n    from torch.nn.functional import embedding, relu\n    return relu(ids)\n",
        "def pick(ids, weight):\n    return nn.functional.embedding(ids, weight)\n",
        "from through import Policy\n",
        "from through import *\n",
        "def read():\n    from . import through\n    return through\n",
        "from registry import build\n",
        "from torch.nn import *\n",
        "import importlib\n",
        "import transformers\n",
    ],
)
def test_numbers_are_followed_where_a_table_may_be_in_reach(tmp_path: Path, head: str) -> None:
    (tmp_path / "through.py").write_text("from parts import Policy\n")
    (tmp_path / "parts.py").write_text("from torch.nn import EmbeddingBag as Bag\n\n\nclass Policy(Bag):\n    pass\n")
    (tmp_path / "registry.py").write_text(
        "MADE = {}\n\n\ndef register(cls):\n    MADE[cls.__name__] = cls\n    return cls\n\n\n"
        "def build(name):\n    return MADE[name]()\n"
    )
    assert roots(tmp_path, head + NUMBERS) == ["train"]


def test_layers_of_one_class_are_no_tables_because_of_another(tmp_path: Path) -> None:
    code = """
class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.Embedding(10, 8)

    def forward(self, ids):
        return self.norm(ids)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(torch.relu(x))
"""
    assert roots(tmp_path, code) == []
    derived = "\n\nclass Last(Block):\n    def __init__(self):\n        self.norm = nn.Embedding(10, 8)\n"
    assert roots(tmp_path, code + derived) == ["forward"]


@pytest.mark.parametrize(
    "kept",
    [
        "self.norm.append(Words())",
        "self.norm = Words()",
        "setattr(self, 'norm', Words())",
        "other = self\n        other.norm = Words()",
    ],
)
@pytest.mark.parametrize("first", ["nn.ModuleList()", "nn.LayerNorm(8)"])
def test_a_layer_may_make_room_for_a_table(tmp_path: Path, kept: str, first: str) -> None:
    code = f"""
class Words(nn.Embedding):
    pass


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = {first}
        self.build()

    def forward(self, x):
        return (self.norm[0] if isinstance(self.norm, nn.ModuleList) else self.norm)(torch.relu(x))

    def build(self):
        {kept}
"""
    assert roots(tmp_path, code) == ["forward"]


FILLED = """
class Words(nn.Module):
    def __init__(self, pad):
        super().__init__()
        self.table = nn.Embedding(10, 8)
        self.pad = pad

    def forward(self, ids, other, mask, given: torch.Tensor):
        {written}
        return self.table(ids)
"""


@pytest.mark.parametrize(
    "written",
    [
        "ids[mask] = other[:, 1:]",
        "ids[mask] = torch.abs(other) + other",
        "ids[mask] = [0] * 4 + other",
        "ids[mask] = given",
        "ids = torch.where(mask, given, ids.view(-1))",
        "kept = {}; kept[other] = 12; ids = kept",
        "kept = dict(self.__dict__); kept[other] = 12",
        "ids[mask] = other.abs()[0]",
    ],
)
def test_what_is_surely_no_number_is_no_constant_among_ids(tmp_path: Path, written: str) -> None:
    assert roots(tmp_path, FILLED.format(written=written)) == []


@pytest.mark.parametrize(
    "written",
    [
        "ids[mask] = 12",
        "ids[mask] = self.pad",
        "ids[mask] = other",
        "ids[mask] = (0 if other else 0) - 100",
        "ids[mask] = other.size(0) + 1",
        "ids[mask] = int(8 / 0.5)",
        "ids = torch.where(mask, 12, ids)",
        "kept = [0, 0]; kept[other] = 12; ids = torch.tensor(kept)",
        "kept = {}; kept[other] = 12; ids = torch.tensor([kept[other]])",
        "ids = nn.functional.pad(ids, (0, 2), value=12)",
    ],
)
def test_what_may_be_a_number_is_a_constant_among_ids(tmp_path: Path, written: str) -> None:
    assert roots(tmp_path, FILLED.format(written=written)) == ["forward"]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("**{'x': 1, 'ids': ids}", ["show"]),
        ("**{'x': ids, 'ids': 1}", []),
        ("**options", ["show"]),
        ("**(options if x else {'x': x})", ["show"]),
    ],
)
def test_entries_of_a_dictionary_are_given_to_the_parameters_of_their_names(
    tmp_path: Path, given: str, found: list[str]
) -> None:
    code = f"""
def look(x, ids):
    table = nn.Embedding(10, 8)
    return table(ids), x.shape


def show(x, scores):
    ids = scores.argmax(-1)
    options = {{}}
    options[x] = ids
    return look({given})
"""
    assert roots(tmp_path, code) == found


def test_a_tensor_of_no_sizes_has_no_rows(tmp_path: Path) -> None:
    code = "\n\ndef pick(x):\n    return torch.zeros({sizes})[x.argmax(-1)]\n"
    assert roots(tmp_path, code.format(sizes="(4, 8)")) == ["pick"]
    assert roots(tmp_path, code.format(sizes="()")) == []


def test_objects_that_another_keeps_look_up(tmp_path: Path) -> None:
    (tmp_path / "codec.py").write_text(HEAD + CODEC, encoding="utf-8")
    kept = (
        "from codec import Codec\n\n\nclass Talker(nn.Module):\n    def __init__(self):\n        self.codec = Codec()\n"
    )
    (tmp_path / "talker.py").write_text(HEAD + kept, encoding="utf-8")
    code = f"""{HEAD}from talker import Talker


def speak(x):
    return Talker().codec.from_codes(nn.Linear(8, 20)(x).argmax(-1))
"""
    assert len(looked_up(tmp_path, code)) == 1


@pytest.mark.parametrize("style", ["import voices", "import voices as v", "from voices import Codec"])
def test_what_a_package_hands_on_looks_up(tmp_path: Path, style: str) -> None:
    (tmp_path / "voices").mkdir()
    (tmp_path / "voices" / "__init__.py").write_text("from .codec import Codec\n")
    (tmp_path / "voices" / "codec.py").write_text(HEAD + CODEC, encoding="utf-8")
    name = {"import voices": "voices.Codec", "import voices as v": "v.Codec"}.get(style, "Codec")
    code = f"{HEAD}{style}\n\n\ndef speak(x):\n    return {name}().from_codes(nn.Linear(8, 20)(x).argmax(-1))\n"
    assert len(looked_up(tmp_path, code)) == 1


def test_a_ring_of_calls_and_objects_that_are_given_objects_of_their_class_have_an_end(workspace: Workspace) -> None:
    """What is nested more deeply than Python allows is given up, and the rest of the file is looked at."""
    ring = "".join(
        f"def f{number}(x, t):\n    y = [x, {{'a': (x, [x])}}]\n"
        f"    return f{(number + 1) % 400}([y, [t]], t), [y]\n\n\n"
        for number in range(400)
    )
    model = """
class Codec(nn.Module):
    def __init__(self, other: "Codec" = None):
        super().__init__()
        self.other = [other] if other else []
        self.table = nn.Embedding(10, 4) if not self.other else self.other[0].table

    def forward(self, x):
        return self.table(f0(x.argmax(-1), self.table)), self.table(torch.full((2,), 12, device=x.device))
"""
    workspace.write({"model.py": HEAD + ring + model})
    assert [(line, code) for _, line, code in workspace.places()] == [((HEAD + ring + model).count("\n") - 3, "ML104")]


@pytest.mark.parametrize(
    "code",
    [
        """
        import wandb

        class Parser(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(10, 8)

            def forward(self, ids):
                return self.embed(ids)


        class Trainer:
            def load(self, build):
                self.model = build(Parser())

            def train(self):
                wandb.watch(self.model)
                for parameter in self.model.parameters():
                    parameter.register_hook(lambda gradient: torch.exp(gradient))
        """,
        """
        class Norm(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.inner = nn.LayerNorm(width)

            def forward(self, x):
                return self.inner(x)


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.norms = nn.Sequential(Norm(8), Norm(8))

            def forward(self, x):
                return one_by_one(self.norms, x)


        def one_by_one(layers, x):
            for layer in layers:
                x = layer(torch.sigmoid(x))
            return x
        """,
        """
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(10, 8)

            def forward(self, x):
                made = Output(scores=nn.functional.linear(torch.relu(x), self.embed.weight))
                return Output(scores=made.scores, states=torch.relu(x))
        """,
    ],
    ids=["hooks and watchers", "layers that are handed on", "scores by the weight of a table"],
)
def test_what_looks_nothing_up_is_not_run(tmp_path: Path, code: str) -> None:
    assert roots(tmp_path, dedent(code)) == []


@pytest.mark.parametrize("path", ["books", "parts.books"])
def test_functions_look_up_in_attributes_of_what_they_are_given(tmp_path: Path, path: str) -> None:
    code = f"""
class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.books = nn.Embedding(10, 8)


class Codec(nn.Module):
    def __init__(self):
        super().__init__()
        self.books = nn.Embedding(10, 8)
        self.parts = Parts()
        self.head = nn.Linear(8, 20)

    def forward(self, x):
        return picked(self, x)


def picked(model, x):
    return model.{path}(model.head(x).argmax(-1))
"""
    assert "forward" in roots(tmp_path, code)
    assert len(looked_up(tmp_path, HEAD + code)) == 1


def test_attributes_of_attributes_of_what_is_given_are_followed_a_little_way(tmp_path: Path) -> None:
    def effort(number: int) -> int:
        walks = "".join(f"    walk(node.part_{n}, scores)\n" for n in range(number))
        code = f"def walk(node, scores):\n    node.table[scores.argmax(-1)]\n    node.books(scores)\n{walks}"
        return calls_of(lambda: roots(tmp_path, code))

    assert effort(16) < 8 * effort(8)


BOOKS = """
class Books(nn.Module):
    def __init__(self):
        super().__init__()
        self.books = nn.Embedding(10, 8)

    def forward(self, ids):
        return self.books(ids)


class Wrapper(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, ids):
        return self.inner(ids)
"""


@pytest.mark.parametrize(
    ("parameters", "stores"),
    [
        ("", ["self.codec = Wrapper(Books())"]),
        ("", ["self.codec = Books()", "self.codec = Wrapper(self.codec)"]),
        (", codec: Books", ["self.codec = codec"]),
    ],
    ids=["a layer that another one keeps", "an attribute that is wrapped", "a parameter with an annotation"],
)
def test_layers_are_known_by_what_keeps_them(tmp_path: Path, parameters: str, stores: list[str]) -> None:
    code = f"""
class Model(nn.Module):
    def __init__(self{parameters}):
        super().__init__()
        self.head = nn.Linear(8, 20)
        {"; ".join(stores)}

    def forward(self, x):
        return self.codec(self.head(x).argmax(-1))
"""
    assert len(looked_up(tmp_path, HEAD + BOOKS + code)) == 1


@pytest.mark.parametrize("bound", ["_MAX_COMPUTED", "_MAX_CALLS", "_MAX_NESTING", "_MAX_NAMES"])
@pytest.mark.parametrize("most", [0, 1, 3, 10])
def test_what_is_cut_short_may_look_up_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, most: int
) -> None:
    code = f"""{BOOKS}
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 20)
        self.codec = Wrapper(Wrapper(Books()))
        self.scores = None

    def draw(self, x):
        return self.head(x).argmax(-1)

    def forward(self, x):
        return self.codec(self.draw(x)) + picked(self, self.draw(x)) + self.kept(x)

    def keep(self, x):
        self.drawn = self.draw(x)

    def kept(self, x):
        self.keep(x)
        return self.codec(self.drawn)


def picked(model, ids):
    return own(model.codec.inner, ids)


def own(codec, ids):
    return codec.inner(ids)
"""
    whole = roots(tmp_path, code)
    assert whole
    monkeypatch.setattr(summaries, bound, most)
    assert set(roots(tmp_path, code)) >= set(whole)


def test_what_one_question_found_out_of_a_body_is_known_to_the_next(tmp_path: Path) -> None:
    calls = "".join(f"    made = nn.ModuleList([nn.Embedding({n}, 8), made, first])\n" for n in range(1, 40))
    code = f"def pick(first, second):\n    made = nn.Linear(8, 8)\n{calls}    return made[0](second), made[1](first)\n"
    (tmp_path / "model.py").write_text(HEAD + code, encoding="utf-8")
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    pick = module.functions["pick"]
    first = calls_of(lambda: project.of(Summaries).takes(pick, "first", "ids", MAX_FILES))
    second = calls_of(lambda: project.of(Summaries).takes(pick, "second", "ids", MAX_FILES))
    assert second < first / 2


def test_a_name_that_no_file_of_a_class_speaks_of_asks_nothing_about_it(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(f"{HEAD}class Base(nn.Module):\n    def kept(self):\n        pass\n")
    (tmp_path / "model.py").write_text(
        f"{HEAD}from base import Base\n\n\nclass Model(Base):\n"
        "    def __init__(self):\n        self.table = nn.Embedding(10, 8)\n"
    )
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    model = module.classes["Model"]
    assert project.of(Summaries).member(model, "table", MAX_FILES)
    assert project.of(Summaries).member(model, "kept", MAX_FILES)
    answers = len(project.of(Summaries)._answers)
    assert not project.of(Summaries).member(model, "unheard_of", MAX_FILES)
    assert len(project.of(Summaries)._answers) == answers
