"""The shipped signatures of torch against the installed torch."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from effort import in_full

import modellint
from modellint.knowledge import list_earlier, signatures
from modellint.link.calls.overloads import unfit

if TYPE_CHECKING:
    from collections.abc import Iterator

torch = pytest.importorskip("torch")
F = torch.nn.functional

#: An argument of each kind, by the letters of `modellint.link.calls.overloads`.
GIVEN = {
    "T": lambda: torch.ones(2, 2),
    "C": lambda: [1],
    "G": lambda: (one for one in ()),
    "i": lambda: 1,
    "f": lambda: 0.5,
    "s": lambda: "text",
    "N": lambda: None,
    "d": lambda: torch.float32,
    "Y": lambda: torch.nn.ReLU(),
}
#: What stands for a parameter that takes some kinds.
FITTING = {"T": "T", "L": "C", "i": "i", "I": "C", "f": "f", "b": "i", "s": "s", "d": "d", "v": "s", "N": "N"}


def names_described() -> list[str]:
    names = json.loads(signatures.FILE.read_text(encoding="utf-8"))
    return [name for name in names if "." in name]


def calls(name: str) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Calls that are wrong by one argument, as kinds by position and by name."""
    found = signatures.signature(name)
    assert found is not None
    for overload in found.overloads:
        needed = [one for one in overload.parameters if one.kind == "positional" and one.default is None]
        base = [FITTING[overload.kinds.get(one.name, "T")[0]] for one in needed]
        yield base, {"unheard_of": "i"}
        yield [*base, *("N" for _ in range(12))], {}
        yield base[:-1], {}
        for number, _ in enumerate(base):
            for letter in GIVEN:
                yield [*base[:number], letter, *base[number + 1 :]], {}
        for one in overload.parameters:
            if one.default is not None and one.name in overload.kinds:
                for letter in GIVEN:
                    yield base, {one.name: letter}


def outcome(name: str, positional: list[str], keywords: dict[str, str]) -> str:
    """The name of the error that torch raises."""
    owner: Any = torch
    given = [GIVEN[one]() for one in positional]
    if name.startswith("Tensor."):
        owner = torch.ones(2, 2)
    for part in name.split(".")[1:]:
        owner = getattr(owner, part)
    try:
        owner(*given, **{word: GIVEN[letter]() for word, letter in keywords.items()})
    except Exception as error:
        return type(error).__name__
    return "none"


#: Functions that end or change the process.
LEFT_OUT = (
    "set_",
    "seed",
    "manual_seed",
    "save",
    "load",
    "compile",
    "from_file",
    "init_",
    "quantize",
    "import_ir",
    "record_stream",
)


def skip_other_releases() -> None:
    if torch.__version__.partition("+")[0] != signatures.release():
        pytest.skip("another release is installed")


@pytest.mark.dear
@pytest.mark.filterwarnings("ignore")
def test_the_command_writes_the_shipped_signatures() -> None:
    skip_other_releases()
    from modellint.knowledge import list_signatures

    shipped = json.loads(signatures.FILE.read_text(encoding="utf-8"))
    assert list_signatures.signatures() == {name: line for name, line in shipped.items() if name != "earlier"}


@pytest.mark.dear
@pytest.mark.filterwarnings("ignore")
def test_reading_the_installed_torch_as_text_gives_the_shipped_signatures() -> None:
    """The reading of earlier releases, tried on the one whose signatures are known otherwise."""
    skip_other_releases()
    shipped = json.loads(signatures.FILE.read_text(encoding="utf-8"))
    read = list_earlier.signatures_of(Path(torch.__file__).parent)
    assert len(read) > 1_100
    assert {name for name, line in read.items() if name in shipped and shipped[name] != line} <= {
        "Tensor.sparse_mask",
        "Tensor.sparse_resize_",
        "Tensor.sparse_resize_and_clear_",
    }


#: The files of a small release of torch, as they are in a wheel.
EARLIER = {
    "torch-1.99.0.dist-info/METADATA": "",
    "torch/_C/_VariableFunctions.pyi": """
def cat(tensors: Union[Tuple[Tensor, ...], List[Tensor]], dim: _int = 0, *, out: Optional[Tensor] = None) -> Tensor: ...
def cat(tensors: Union[Tuple[Tensor, ...], List[Tensor]], dim: Union[str, ellipsis, None]) -> Tensor: ...
def bmm(input: Tensor, mat2: Tensor, *, out: Optional[Tensor] = None) -> Tensor: ...
def symeig(input: Tensor, eigenvectors: _bool = False, upper: _bool = True) -> Tensor: ...
""",
    "torch/_C/__init__.pyi": """
class _TensorBase(metaclass=_TensorMeta):
    @property
    def T(self) -> Tensor: ...
    def view(self, *size: _int) -> Tensor: ...
    def view(self, dtype: _dtype) -> Tensor: ...
""",
    "torch/_torch_docs.py": 'add_docstr(torch.cat, r"""cat(tensors, dim=0, axis=0) -> Tensor""")',
    "torch/_tensor.py": "class Tensor:\n    def align_to(self, *names): ...",
    "torch/nn/functional.py": """
conv1d = _add_docstr(torch.conv1d, "")
bmm = _add_docstr(torch.bmm, "")
def _pool(input, size, stride=None): ...
max_pool1d = boolean_dispatch(if_true=None, if_false=_pool, arg_name="indices")
def glu(input: Tensor, dim: int = -1) -> Tensor: ...
""",
    "torch/optim/lr_scheduler.py": """
class StepLR(LRScheduler):
    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1, verbose=False): ...
class Any:
    def __init__(self, **settings): ...
""",
}


def unpacked(folder: Path) -> Path:
    for name, text in EARLIER.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_an_earlier_release_is_read_from_its_unpacked_wheel(tmp_path: Path) -> None:
    assert list_earlier.signatures_of(unpacked(tmp_path) / "torch") == {
        "torch.cat": "tensors/L dim=/i out:=/TN | tensors/L dim/sN + axis",
        "torch.bmm": "input/T mat2/T out:=/TN",
        "torch.symeig": "input/T eigenvectors=/b upper=/b",
        "Tensor.view": "*size/i | dtype/d",
        "Tensor.align_to": "def *names",
        "torch.nn.functional.bmm": "input/T mat2/T out:=/TN",
        "torch.nn.functional.max_pool1d": "def input size stride=",
        "torch.nn.functional.glu": "def input dim=",
        "torch.optim.StepLR": "def optimizer step_size gamma= last_epoch= verbose=",
        "torch.optim.lr_scheduler.StepLR": "def optimizer step_size gamma= last_epoch= verbose=",
    }


def test_of_an_earlier_release_only_what_differs_is_kept() -> None:
    shipped = {"torch.cat": "tensors/L dim=/i", "torch.bmm": "input/T out_dtype=/d", "torch.neg": "input/T"}
    earlier = {
        "torch.cat": "tensors/LN dim=/N",
        "torch.bmm": "input/T mat/TN",
        "torch.symeig": "input/T",
        "torch.unshipped": "input",
    }
    installed = {**shipped, "torch.unshipped": "input dim"}
    assert list_earlier.differing(earlier, installed, shipped) == {
        "torch.bmm": "input/T mat",
        "torch.neg": None,
        "torch.symeig": "input",
    }


def test_the_shipped_file_describes_three_releases() -> None:
    assert signatures.releases() == ("2.13.0", "2.6.0", "2.0.1")
    step = {one: signatures.signature("torch.optim.lr_scheduler.StepLR", one) for one in signatures.releases()}
    kept = {one: [] if found is None else unfit(found, ["", "i"], {"verbose": ""}) for one, found in step.items()}
    assert [one for one, found in kept.items() if found is None] == ["2.6.0", "2.0.1"]
    assert signatures.removed("torch") == {"align_tensors"}
    assert not signatures.removed("torch.nn.functional")


@pytest.mark.parametrize(
    ("required", "line", "messages"),
    [
        ("", "torch.optim.lr_scheduler.StepLR(optimizer, 3, verbose=True)", []),
        ("torch<2.6", "torch.optim.lr_scheduler.StepLR(optimizer, 3, verbose=True)", []),
        ("torch>=2.6", "torch.optim.lr_scheduler.StepLR(optimizer, 3, verbose=True)", []),
        ("torch==1.13", "torch.optim.lr_scheduler.StepLR(optimizer, 3, verbose=True)", []),
        (
            "torch>=2.10",
            "torch.optim.lr_scheduler.StepLR(optimizer, 3, verbose=True)",
            ["`torch.optim.lr_scheduler.StepLR` takes no argument `verbose` in torch 2.13.0"],
        ),
        ("", "torch.bmm(one, one, out_dtype=torch.float32)", []),
        (
            "torch==2.6.0",
            "torch.bmm(one, one, out_dtype=torch.float32)",
            ["`torch.bmm` takes no argument `out_dtype` in torch 2.6.0"],
        ),
        ("torch==2.6.0", "torch.bmm(one, one, typ=1)", ["`torch.bmm` takes no argument `typ`"]),
        ("torch==2.0.1", "torch.align_tensors(one, one)", []),
        ("torch>=2.0", "torch.align_tensors(one, one)", ["`torch` has no name `align_tensors` any more"]),
        ("torch==2.0.1", "one.align_to('a')", []),
        ("", "one.align_to('a')", ["tensors have no method `align_to` any more"]),
    ],
)
def test_a_call_is_wrong_if_each_release_refuses_it_that_the_project_may_use(
    tmp_path: Path, required: str, line: str, messages: list[str]
) -> None:
    (tmp_path / "requirements.txt").write_text(f"{required}\n", encoding="utf-8")
    code = f"import torch\n\n\ndef run(optimizer):\n    one = torch.ones(1, 2, 2)\n    return {line}\n"
    (tmp_path / "model.py").write_text(code, encoding="utf-8")
    settings = {"isolated": True, "jobs": 1, "select": ["ML502", "ML506"]}
    assert [one.message for one in modellint.check([tmp_path], **settings)] == messages


@in_full
@pytest.mark.filterwarnings("ignore")
def test_the_command_writes_the_shipped_names() -> None:
    skip_other_releases()
    from modellint.knowledge import surface

    # In a process of its own: torch has more names once other tests have imported its submodules.
    code = "import json; from modellint.knowledge.list_surface import surface; print(json.dumps(surface()))"
    listed = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(listed.stdout) == json.loads(surface.FILE.read_text(encoding="utf-8"))


@pytest.mark.filterwarnings("ignore")
def test_the_texts_of_the_rule_are_those_that_torch_takes() -> None:
    """Torch refuses another text, and takes those of the table or refuses something else of the call."""
    from modellint_rules.ml502_call_mismatch.values import texts

    image, weight = torch.ones(1, 1, 8, 8), torch.ones(1, 1, 3, 3)
    tried = {
        ("torch.nn.functional.conv2d", "padding"): lambda text: torch.conv2d(image, weight, padding=text),
        ("torch.nn.Conv2d", "padding"): lambda text: torch.nn.Conv2d(1, 1, 3, padding=text),
        ("torch.nn.Conv2d", "padding_mode"): lambda text: torch.nn.Conv2d(1, 1, 3, padding=1, padding_mode=text)(image),
        ("torch.nn.functional.mse_loss", "reduction"): lambda text: F.mse_loss(image, image, reduction=text),
        ("torch.nn.L1Loss", "reduction"): lambda text: torch.nn.L1Loss(reduction=text)(image, image),
        ("torch.nn.functional.kl_div", "reduction"): lambda text: F.kl_div(image, image, reduction=text),
        ("torch.nn.functional.pad", "mode"): lambda text: F.pad(image[0], (1, 1), mode=text),
        ("torch.nn.functional.gelu", "approximate"): lambda text: F.gelu(image, approximate=text),
        ("torch.nn.RNN", "nonlinearity"): lambda text: torch.nn.RNN(2, 2, nonlinearity=text),
        ("torch.nn.TransformerEncoderLayer", "activation"): lambda text: torch.nn.TransformerEncoderLayer(
            2, 1, activation=text
        ),
        ("torch.nn.init.kaiming_normal_", "mode"): lambda text: torch.nn.init.kaiming_normal_(weight, mode=text),
        ("torch.meshgrid", "indexing"): lambda text: torch.meshgrid(image[0, 0, 0], indexing=text),
        ("torch.fft.rfft", "norm"): lambda text: torch.fft.rfft(image, norm=text),
        ("torch.div", "rounding_mode"): lambda text: torch.div(image, image, rounding_mode=text),
        ("torch.searchsorted", "side"): lambda text: torch.searchsorted(image[0, 0, 0], image[0, 0], side=text),
    }
    for (name, parameter), call in tried.items():
        allowed = texts(name)[parameter]
        for text in allowed:
            call(text)
        with pytest.raises((ValueError, RuntimeError, NotImplementedError, KeyError)):
            call("unheard of")


@pytest.mark.parametrize(
    ("name", "positional", "keywords"),
    [
        ("Tensor.add_", "fT", {}),
        ("Tensor.addcdiv_", "fTT", {}),
        ("Tensor.addmm", "iTT", {}),
        ("torch.add", "TfT", {}),
        ("torch.max", "Ti", {"keepdims": ""}),
        ("torch.mean", "", {"x": "T", "axis": "C"}),
        ("torch.zeros", "iii", {"dtype": "d"}),
        ("torch.arange", "iii", {"device": "s"}),
        ("torch.cat", "C", {"axis": "T"}),
        ("Tensor.float", "", {"memory_format": ""}),
    ],
)
def test_calls_that_torch_takes_fit(name: str, positional: str, keywords: dict[str, str]) -> None:
    found = signatures.signature(name)
    assert found is not None
    assert unfit(found, list(positional), keywords) is None


@pytest.mark.dear
@pytest.mark.filterwarnings("ignore")
def test_the_installed_torch_refuses_what_fits_no_overload() -> None:
    skip_other_releases()
    wrong = []
    for name in names_described():
        found = signatures.signature(name)
        assert found is not None
        if name.rpartition(".")[2].startswith(LEFT_OUT):
            continue
        for positional, keywords in calls(name):
            if unfit(found, positional, keywords) is not None:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    got = outcome(name, positional, keywords)
                if got != "TypeError":
                    wrong.append(f"{name} {positional} {keywords}: {got}")
    assert not wrong, "\n".join(wrong)
