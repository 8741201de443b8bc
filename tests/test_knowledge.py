"""The shipped facts answer like the source that they were extracted from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from effort import IS_WHOLE, has_its_turn

from modellint import knowledge
from modellint.flow.built import children, has_state, is_device_lazy, moves, registers, stores
from modellint.flow.domain import NO_ARGUMENTS, Arguments, ClassRef, Constant
from modellint.knowledge import facts, regenerate
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from modellint.link.classes.models import ClassModel

    Unpack = Callable[[str], Path]

#: Classes of speechbrain that its recipes build or pass on, by the names that they use.
USED_IN_RECIPES = (Path(__file__).parent / "data" / "speechbrain_classes.txt").read_text(encoding="utf-8").split()
RELEASES = knowledge.package("speechbrain").releases


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project without any source or environment."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    return Project(ProjectOptions(tmp_path))


@pytest.fixture(scope="session")
def unpack(tmp_path_factory: pytest.TempPathFactory) -> Unpack:
    """Fetches a release of speechbrain and gives the folder that holds it."""

    def run(release: str) -> Path:
        folder = tmp_path_factory.mktemp(f"speechbrain-{release}")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
        result = subprocess.run([*command, f"speechbrain=={release}"], capture_output=True, text=True, check=False)
        if result.returncode and not os.environ.get("CI"):
            pytest.skip(f"speechbrain {release} cannot be fetched: {result.stderr.strip()}")
        assert result.returncode == 0, result.stderr
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            wheel.extractall(folder)
        return folder

    return run


def given(values: Mapping[str, object]) -> Arguments:
    """Constants by name."""
    return Arguments((), {name: (Constant(value),) for name, value in values.items()})


def describe(model: ClassModel | None) -> dict[str, Any] | None:
    """Everything that can be asked about a class, in plain values."""
    if model is None:
        return None
    signature = model.signature or ()
    return {
        "layer": model.is_module,
        "complete": model.is_complete,
        "mro": [base.name for base in model.mro()],
        "state": has_state(model),
        "state by default": has_state(model, NO_ARGUMENTS),
        "children": sorted(children(model)),
        "follows its input": is_device_lazy(model),
        "signature": [(p.name, p.kind, p.default is not None) for p in signature],
        "registers": {p.name: registers(model, p.name) for p in signature},
        "registers by default": {p.name: registers(model, p.name, {}) for p in signature},
        "stores": {p.name: stores(model, p.name) for p in signature},
        "moves": {p.name: moves(model, p.name) for p in signature},
    }


@pytest.mark.dear
@pytest.mark.parametrize("release", RELEASES if IS_WHOLE else RELEASES[:1])
def test_facts_equal_the_source(release: str, unpack: Unpack, bare: Project) -> None:
    root = unpack(release)
    (bare.options.root / "requirements.txt").write_text(f"torch\nspeechbrain=={release}  # pinned\n")
    source = Project(ProjectOptions(root))
    compared = 0
    for name in filter(lambda name: has_its_turn(name, 3), USED_IN_RECIPES):
        read = source.classes.resolve(name, root / "train.py")
        if read is None or read.name != knowledge.canonical(read.name):
            continue  # not in this release, or described under the name that it has now
        shipped = bare.classes.resolve(name, bare.options.root / "train.py")
        assert read.cls is not None
        assert shipped is not None, name
        assert shipped.cls is None
        assert describe(shipped) == describe(read), name
        compared += 1
    assert compared > (150 if IS_WHOLE else 45)


@pytest.mark.parametrize("name", USED_IN_RECIPES)
def test_classes_of_recipes_are_known(name: str, bare: Project) -> None:
    model = bare.classes.resolve(name, bare.options.root / "train.py")
    assert model is not None
    assert model.is_module is not None
    assert model.signature is not None


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("speechbrain.nnet.linear.Linear", {"n_neurons": 3, "input_size": 4}, True),
        ("speechbrain.nnet.CNN.Conv1d", {"out_channels": 3, "kernel_size": 3, "in_channels": 4}, True),
        ("speechbrain.nnet.activations.Softmax", {"apply_log": True}, False),
        ("speechbrain.processing.features.STFT", {"sample_rate": 16000}, False),
        ("einops.layers.torch.Rearrange", {"pattern": "b c -> c b"}, False),
        ("einops.layers.torch.Reduce", {"pattern": "b c -> c", "reduction": "mean"}, False),
        ("einops.layers.torch.EinMix", {"pattern": "b c -> b d", "weight_shape": "c d", "c": 3, "d": 4}, True),
        ("speechbrain.processing.features.Filterbank", {}, False),
        ("speechbrain.processing.features.Filterbank", {"freeze": False}, True),
        # Its deltas keep their kernel in a buffer.
        ("speechbrain.lobes.features.Fbank", {"n_mels": 80}, True),
        ("speechbrain.lobes.models.ECAPA_TDNN.ECAPA_TDNN", {"input_size": 80}, True),
        ("speechbrain.nnet.transducer.transducer_joint.Transducer_joint", {"joint": "sum"}, False),
        ("speechbrain.integrations.huggingface.wav2vec2.Wav2Vec2", {"source": "a", "save_path": "b"}, True),
        (
            "speechbrain.lobes.models.huggingface_transformers.wav2vec2.Wav2Vec2",
            {"source": "a", "save_path": "b"},
            True,
        ),
        ("speechbrain.decoders.scorer.ScorerBuilder", {}, False),
        ("torch.nn.Linear", {"in_features": 3, "out_features": 4}, True),
        ("torch.nn.Dropout", {"p": 0.1}, False),
        ("torch.nn.BatchNorm2d", {"num_features": 3, "affine": False}, True),
        ("torch.nn.modules.normalization.GroupNorm", {"num_groups": 3, "num_channels": 3, "affine": False}, False),
    ],
)
def test_state_of_well_known_classes(name: str, arguments: dict[str, Any], expected: bool, bare: Project) -> None:
    model = bare.classes.resolve(name, bare.options.root / "train.py")
    assert model is not None
    assert has_state(model, given(arguments)) is expected


def test_layers_that_a_recipe_lists_are_built(bare: Project) -> None:
    script = bare.options.root / "train.py"
    sequential, linear, relu = (
        bare.classes.resolve(name, script)
        for name in ("speechbrain.nnet.containers.Sequential", "speechbrain.nnet.linear.Linear", "torch.nn.ReLU")
    )
    assert sequential is not None
    assert linear is not None
    assert relu is not None
    shape = Constant((None, None, 80))
    keywords = {"input_shape": (shape,), "act": (ClassRef(relu),)}
    assert has_state(sequential, Arguments((), {**keywords, "out": (ClassRef(linear),)})) is True
    assert has_state(sequential, Arguments((), keywords)) is False
    assert registers(sequential, "layers") is True


def test_who_moves_what_it_is_given(bare: Project) -> None:
    script = bare.options.root / "train.py"
    scorer = bare.classes.resolve("speechbrain.decoders.scorer.TransformerLMScorer", script)
    ctc = bare.classes.resolve("speechbrain.decoders.scorer.CTCScorer", script)
    assert scorer is not None
    assert ctc is not None
    assert (scorer.is_module, stores(scorer, "language_model")) == (False, ("lm",))
    assert moves(scorer, "language_model")
    assert not moves(ctc, "ctc_fc")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("torch.nn.modules.sparse.Embedding", "torch.nn.Embedding"),
        ("torch.nn.parameter.Parameter", "torch.nn.Parameter"),
        ("torch.nn.parallel.distributed.DistributedDataParallel", "torch.nn.parallel.DistributedDataParallel"),
        ("torch.nn.functional.relu", "torch.nn.functional.relu"),
        ("speechbrain.decoders.S2STransformerBeamSearcher", "speechbrain.decoders.seq2seq.S2STransformerBeamSearcher"),
        ("speechbrain.pretrained.EncoderASR", "speechbrain.inference.ASR.EncoderASR"),
        ("numpy.ndarray", "numpy.ndarray"),
    ],
)
def test_public_names(written: str, expected: str) -> None:
    assert knowledge.canonical(written) == expected


def test_a_pinned_release_is_the_one_that_answers(bare: Project) -> None:
    newest, older = RELEASES[0], RELEASES[-1]
    name = "speechbrain.processing.features.InputNormalization"
    assert describe_signature(name, newest) != describe_signature(name, older)
    (bare.options.root / "requirements.txt").write_text(f"speechbrain=={older}\n")
    model = bare.classes.resolve(name, bare.options.root / "train.py")
    assert model is not None
    assert [p.name for p in model.signature or ()] == describe_signature(name, older)


def describe_signature(name: str, release: str) -> list[str]:
    found = knowledge.class_facts(name, release)
    assert found is not None
    method = found.method("__init__")
    assert method is not None
    return [p.name for p in method.parameters[1:]]


def test_what_earlier_releases_take_is_read_when_a_project_asks_for_one_of_them(tmp_path: Path) -> None:
    recipe = "layer: !new:speechbrain.nnet.linear.Linear\n    n_neurons: 3\n    input_size: 4\n    scale: 2\n"
    script = """
import sys
from modellint.__main__ import main
from modellint.knowledge.catalogue import catalogue
try:
    main(["check", "--isolated", "--no-cache", "--jobs", "1", "--output-format", "concise", "--exit-zero"])
except SystemExit:
    pass
print("_taken" in vars(catalogue("speechbrain").earlier), file=sys.stderr)
"""
    (tmp_path / "hparams.yaml").write_text(recipe)
    said = []
    for wanted in ("", "speechbrain==0.5.12\n"):
        (tmp_path / "requirements.txt").write_text(wanted)
        run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "`Linear` takes no argument `scale`" in run.stdout
        said.append(run.stderr.split()[-1])
    assert said == ["False", "True"]


def test_facts_are_compact_and_hold_no_prose() -> None:
    folder = Path(facts.__file__).parent
    files = [folder / f"{name}.json" for name in knowledge.DESCRIBED]
    assert sum(path.stat().st_size for path in files) < 400_000
    for path in files:
        texts = [n for n in json.loads(path.read_text(encoding="utf-8"))["nodes"] if isinstance(n, str) and n[0] == "'"]
        assert max(map(len, texts)) <= 40


# -- extraction --------------------------------------------------------------------------------------------------------

PACKAGE = {
    "speechbrain-2.0.dist-info/METADATA": "",
    "speechbrain/__init__.py": "from .layers import Wide\n",
    "speechbrain/layers.py": '''
import torch

KINDS = {"gru": torch.nn.GRU, "relu": torch.nn.ReLU}


def clones(layer, number):
    return torch.nn.ModuleList([layer for _ in range(number)])


class Wide(torch.nn.Module):
    """Text that nobody ships.

    Arguments
    ---------
    width : int
    """

    def __init__(self, width, kind="gru", inner=None):
        super().__init__()
        if width > 3:
            raise ValueError("a message")
        self.core = KINDS[kind](width, width)
        self.inner = inner
        self.build()

    def build(self):
        self.rows = clones(torch.nn.ReLU(), 2)

    def forward(self, x):
        self.inner.to(x.device)
        return self.core(x)
''',
}


@pytest.fixture
def shipped() -> Iterator[None]:
    """Puts the shipped facts back in their place."""
    yield
    for name in knowledge.DESCRIBED:
        knowledge.use(name, facts.load(name))


def extracted(folder: Path) -> Path:
    for name, text in PACKAGE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    regenerate.main(["--speechbrain", str(folder), "--into", str(folder)])
    return folder / "speechbrain.json"


@pytest.mark.usefixtures("shipped")
def test_extraction_is_deterministic_and_says_what_the_source_says(tmp_path: Path, bare: Project) -> None:
    first, second = (extracted(tmp_path / name) for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()
    assert b"Text that" not in first.read_bytes()
    assert b"a message" not in first.read_bytes()

    assert knowledge.canonical("speechbrain.Wide") == "speechbrain.layers.Wide"
    shipped = bare.classes.resolve("speechbrain.Wide", bare.options.root / "train.py")
    source = Project(ProjectOptions(tmp_path / "first"))
    read = source.classes.resolve("speechbrain.Wide", tmp_path / "first" / "train.py")
    assert shipped is not None
    assert read is not None
    assert describe(shipped) == describe(read)
    for model in (shipped, read):
        assert has_state(model, given({"width": 2})) is True
        assert has_state(model, given({"width": 2, "kind": "relu"})) is False
        answers = registers(model, "inner"), moves(model, "inner"), registers(model, "width")
        assert answers == (True, True, None)


def test_extraction_wants_to_know_the_release(tmp_path: Path) -> None:
    (tmp_path / "speechbrain").mkdir()
    with pytest.raises(SystemExit, match="no release of speechbrain"):
        regenerate.main(["--speechbrain", str(tmp_path), "--into", str(tmp_path)])


def test_attributes_of_a_brain_come_and_go() -> None:
    from modellint.knowledge.members import members

    known = members()
    assert known.releases[0] == knowledge.shipped_release("speechbrain")
    assert [known.has("use_amp", release) for release in ("0.5.16", "1.0.2", "1.0.3")] == [False, True, False]
    assert all(known.has("modules", release) for release in known.releases)


def test_attributes_of_a_brain_are_read_from_its_source(tmp_path: Path) -> None:
    from modellint.knowledge.list_members import extract

    roots = []
    for release, body in (("1.0.0", "self.old = 1"), ("2.0.0", "self.new = self.fresh")):
        package = tmp_path / release / "speechbrain"
        package.mkdir(parents=True)
        (package / "version.txt").write_text(release)
        (package / "core.py").write_text(f"class Brain:\n    def fit(self):\n        {body}\n")
        roots.append(tmp_path / release)
    expected = {"fresh": "2.0.0 2.0.0", "new": "2.0.0 2.0.0", "old": "1.0.0 1.0.0"}
    assert extract(roots) == {"releases": ["2.0.0", "1.0.0"], "members": expected}
