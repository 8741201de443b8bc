"""The shipped signatures of torch against the installed torch."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from modellint.knowledge import signatures
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
    return [name for name in names if name != "release"]


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

    assert list_signatures.signatures() == json.loads(signatures.FILE.read_text(encoding="utf-8"))


@pytest.mark.dear
@pytest.mark.filterwarnings("ignore")
def test_the_command_writes_the_shipped_names() -> None:
    skip_other_releases()
    from modellint.knowledge import list_surface, surface

    assert list_surface.surface() == json.loads(surface.FILE.read_text(encoding="utf-8"))


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
        ("torch.optim.lr_scheduler.StepLR", ["", "i"], {"verbose": ""}),
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
