"""Lists what is known of trunks, `modellint/knowledge/trunks.json`, and compares it with the networks themselves.

    python benchmarks/trunks_listed.py write [PACKAGE …]    # with torch, torchvision, timm, transformers installed
    python benchmarks/trunks_listed.py compare              # builds the networks of torchvision, prints what differs

All networks are built on the `meta` device, and nothing is downloaded. Where torchvision was installed without the
kernels of this torch (`pip install --no-deps torchvision`), its operators are declared here without them.

The file has, by package, rows of names and what they stand for:

- torchvision: the parts of a network in the order of its calls. `C` is Conv2d (channels in and out, kernel, stride,
  padding), `B` BatchNorm2d, `N` LayerNorm, `R` ReLU, `D` Dropout, `H` Hardswish, `S` SiLU, `M` MaxPool2d (kernel,
  stride, padding, ceil_mode), `A` AdaptiveAvgPool2d, `F` Flatten, `L` Linear, `P` a permutation to channels first, `~`
  a part with so many channels in and out, and the factor by which it makes images smaller (rounded up; down if
  negative; 0 if neither), `^` one whose channels come last, `?` one of unknown shapes, `(…)` a Sequential. `*` stands
  for the number of classes, `.word` for a function, `!` for a part that is called in another way.
- timm: the width behind the pool, that of the features (0 if it depends on the release), the name of the last layer
  (`-` if another class is there), its classes, and the channels of the maps under `features_only=True`.
- classes of transformers: the width by default, then `p` if the second output is a pooled state, and `t` if the states
  are as many as the tokens.
- checkpoints of transformers: class and width, from their model cards.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import warnings
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

FACTS = Path(__file__).parent.parent / "modellint" / "knowledge" / "trunks.json"
#: The parts and functions that the classes of torchvision call, in order.
FORWARD = {
    "AlexNet": "features avgpool .flatten classifier",
    "VGG": "features avgpool .flatten classifier",
    "ResNet": "conv1 bn1 relu maxpool layer1 layer2 layer3 layer4 avgpool .flatten fc",
    "DenseNet": "features .relu .pool .flatten classifier",
    "SqueezeNet": "features classifier .flatten",
    "MobileNetV2": "features .pool .flatten classifier",
    "MobileNetV3": "features avgpool .flatten classifier",
    "EfficientNet": "features avgpool .flatten classifier",
    "ConvNeXt": "features avgpool classifier",
    "RegNet": "stem trunk_output avgpool .flatten fc",
    "VisionTransformer": "conv_proj .token !encoder heads",
    "SwinTransformer": "features norm permute avgpool flatten head",
    "MNASNet": "layers .pool .flatten classifier",
    "ShuffleNetV2": "conv1 maxpool stage2 stage3 stage4 conv5 .pool .flatten fc",
}
#: Networks that return several things in training: only their last layer is listed.
LAST_ONLY = ("googlenet", "inception_v3")
#: Networks that are left out.
LEFT_OUT = ("maxvit_t",)
#: The rows whose parts are listed one by one.
OPEN = frozenset(("features", "classifier", "heads", "trunk_output", "layers"))
LETTERS = {"ReLU": "R", "Dropout": "D", "Hardswish": "H", "SiLU": "S", "Flatten": "F"}
SIZES = [(224, 224), *((height, height + 17) for height in range(190, 420, 7))]
#: The families of timm that are listed, and variants that are left out, so that the file stays small.
FAMILIES = re.compile(
    r"(resne|seresne|wide_resnet|res2net|tv_|(tf_)?(efficientnet|mobilenet)|mnasnet|densenet|vgg|inception|xception|"
    r"legacy_(xception|se)|vit_(tiny|small|base|large|huge)_(patch|r)|deit|swin|convnext|regnet|beit|mixer_|"
    r"maxvit_(tiny|small|base|large)_|maxxvit|coatnet_|dla|hrnet|dpn|dm_nfnet|nfnet|eva02_(tiny|small|base|large)|rexnet|"
    r"ghostnet|edgenext|levit|pvt_v2|cait|poolformer|csp(resnet|darknet)|ecaresnet|skresnet|gc|semnasnet|fbnet|lcnet|"
    r"hardcorenas|repvgg|mobilevit|tiny_vit|twins|xcit_(small|tiny)|crossvit|visformer|pit_|convit|coat_|resmlp|gmlp|"
    r"nasnet|pnasnet|selecsls|tresnet)"
)
VARIANTS = re.compile(
    r"_(gap|dlf|cr|rpn|srelpos|relpos|xsmall|mci|plus)\b|siglip|quickgelu|dinov3|_pe_|aimv2|naflex|_lit\b|gap|rope|"
    r"reg\d_|_rw_|rms|_ols|lrp|ns_"
)
TEXT = "Bert Roberta XLMRoberta Camembert DistilBert Electra Albert Deberta DebertaV2 GPT2 XLNet MPNet MobileBert"
TEXT += " Longformer Ernie XLM RoFormer SqueezeBert"
IMAGES, SOUND = "ViT DeiT Beit Dinov2", "Wav2Vec2 Hubert WavLM"
#: Names under https://huggingface.co/ by class and width, as their model cards and `config.json` say. Those that are
#: found without their owner, too, have it in parentheses.
PUBLISHED = {
    "Bert 768": "(google-bert)bert-base-uncased (google-bert)bert-base-cased (google-bert)bert-base-chinese "
    "(google-bert)bert-base-multilingual-cased (google-bert)bert-base-multilingual-uncased "
    "(google-bert)bert-base-german-cased allenai/scibert_scivocab_uncased allenai/scibert_scivocab_cased "
    "dmis-lab/biobert-v1.1 dmis-lab/biobert-base-cased-v1.1 dmis-lab/biobert-base-cased-v1.2 "
    "emilyalsentzer/Bio_ClinicalBERT nlpaueb/legal-bert-base-uncased ProsusAI/finbert hfl/chinese-bert-wwm "
    "hfl/chinese-bert-wwm-ext hfl/chinese-roberta-wwm-ext BAAI/bge-base-en-v1.5 intfloat/e5-base-v2 thenlper/gte-base",
    "Bert 1024": "(google-bert)bert-large-uncased (google-bert)bert-large-cased hfl/chinese-roberta-wwm-ext-large "
    "(google-bert)bert-large-uncased-whole-word-masking (google-bert)bert-large-cased-whole-word-masking "
    "BAAI/bge-large-en-v1.5 intfloat/e5-large-v2",
    "Bert 384": "sentence-transformers/all-MiniLM-L6-v2 sentence-transformers/all-MiniLM-L12-v2 "
    "sentence-transformers/paraphrase-MiniLM-L6-v2 microsoft/MiniLM-L12-H384-uncased "
    "nreimers/MiniLM-L6-H384-uncased BAAI/bge-small-en-v1.5 intfloat/e5-small-v2",
    "Bert 128": "prajjwal1/bert-tiny google/bert_uncased_L-2_H-128_A-2",
    "Bert 256": "prajjwal1/bert-mini",
    "Bert 512": "prajjwal1/bert-small prajjwal1/bert-medium",
    "Roberta 768": "(FacebookAI)roberta-base (distilbert)distilroberta-base microsoft/codebert-base "
    "microsoft/graphcodebert-base vinai/bertweet-base cardiffnlp/twitter-roberta-base",
    "Roberta 1024": "(FacebookAI)roberta-large",
    "XLMRoberta 768": "(FacebookAI)xlm-roberta-base",
    "XLMRoberta 1024": "(FacebookAI)xlm-roberta-large",
    "Camembert 768": "(almanach)camembert-base",
    "DistilBert 768": "(distilbert)distilbert-base-uncased (distilbert)distilbert-base-cased "
    "(distilbert)distilbert-base-multilingual-cased (distilbert)distilbert-base-uncased-finetuned-sst-2-english",
    "Albert 768": "(albert)albert-base-v1 (albert)albert-base-v2",
    "Albert 1024": "(albert)albert-large-v1 (albert)albert-large-v2",
    "Albert 2048": "(albert)albert-xlarge-v1 (albert)albert-xlarge-v2",
    "Albert 4096": "(albert)albert-xxlarge-v1 (albert)albert-xxlarge-v2",
    "Electra 256": "google/electra-small-discriminator",
    "Electra 768": "google/electra-base-discriminator",
    "Electra 1024": "google/electra-large-discriminator",
    "Deberta 768": "microsoft/deberta-base",
    "Deberta 1024": "microsoft/deberta-large",
    "DebertaV2 384": "microsoft/deberta-v3-xsmall",
    "DebertaV2 768": "microsoft/deberta-v3-small microsoft/deberta-v3-base microsoft/mdeberta-v3-base",
    "DebertaV2 1024": "microsoft/deberta-v3-large",
    "DebertaV2 1536": "microsoft/deberta-v2-xlarge",
    "GPT2 768": "(openai-community)gpt2 (distilbert)distilgpt2",
    "GPT2 1024": "(openai-community)gpt2-medium",
    "GPT2 1280": "(openai-community)gpt2-large",
    "GPT2 1600": "(openai-community)gpt2-xl",
    "XLNet 768": "(xlnet)xlnet-base-cased",
    "XLNet 1024": "(xlnet)xlnet-large-cased",
    "MPNet 768": "microsoft/mpnet-base sentence-transformers/all-mpnet-base-v2",
    "ViT 768": "google/vit-base-patch16-224 google/vit-base-patch16-224-in21k google/vit-base-patch32-224-in21k "
    "google/vit-base-patch16-384 facebook/dino-vitb16 facebook/dino-vitb8",
    "ViT 1024": "google/vit-large-patch16-224 google/vit-large-patch16-224-in21k",
    "ViT 384": "facebook/dino-vits16 facebook/dino-vits8",
    "Dinov2 384": "facebook/dinov2-small",
    "Dinov2 768": "facebook/dinov2-base",
    "Dinov2 1024": "facebook/dinov2-large",
    "Wav2Vec2 768": "facebook/wav2vec2-base facebook/wav2vec2-base-960h",
    "Wav2Vec2 1024": "facebook/wav2vec2-large facebook/wav2vec2-large-960h facebook/wav2vec2-large-xlsr-53",
    "Hubert 768": "facebook/hubert-base-ls960",
    "Hubert 1024": "facebook/hubert-large-ll60k facebook/hubert-large-ls960-ft",
    "WavLM 768": "microsoft/wavlm-base microsoft/wavlm-base-plus",
    "WavLM 1024": "microsoft/wavlm-large",
}


def declare_operators() -> None:
    """Declare torchvision's operators, so that it can be imported without their kernels."""
    import torch

    spec = importlib.util.find_spec("torchvision")
    assert spec is not None
    assert spec.origin is not None
    text = (Path(spec.origin).parent / "_meta_registrations.py").read_text(encoding="utf-8")
    names = {*re.findall(r'register_meta\("(\w+)"', text), *re.findall(r"torchvision::(\w+)", text)}
    missing = [name for name in sorted(names) if not hasattr(torch.ops.torchvision, name)]
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in missing:
        library.define(f"{name}(Tensor a) -> Tensor")
    globals()["_kept"] = library


# -- torchvision -------------------------------------------------------------------------------------------------------


def networks() -> dict[str, Any]:
    """The classifiers of torchvision, on the meta device."""
    import torch
    from torchvision import models
    from torchvision.models import regnet

    known = regnet.BlockParams.from_init_params.__func__  # type: ignore[attr-defined]

    def on_cpu(cls: type, *given: object, **named: object) -> object:
        with torch.device("cpu"):
            return known(cls, *given, **named)

    regnet.BlockParams.from_init_params = classmethod(on_cpu)  # type: ignore[assignment]
    found = {}
    with torch.device("meta"):
        for name in models.list_models(module=models):
            if name not in LEFT_OUT:
                more = {"init_weights": False} if name in LAST_ONLY else {}
                found[name] = models.get_model(name, weights=None, **more).eval()
    return found


def row_of_network(name: str, net: Any) -> str:
    import torch

    if name in LAST_ONLY:
        return f"{name} = fc=L{net.fc.in_features},* ?"
    seen: dict[Any, list[tuple[Any, Any]]] = defaultdict(list)

    def note(module: Any, given: Any, made: Any) -> None:
        if given and isinstance(given[0], torch.Tensor) and isinstance(made, torch.Tensor):
            seen[module].append((tuple(given[0].shape), tuple(made.shape)))

    for module in net.modules():
        module.register_forward_hook(note)
    words = FORWARD[type(net).__name__].split()
    for size in SIZES[:1] if "!encoder" in words else SIZES:
        net(torch.empty(2, 3, *size, device="meta"))
    parts = [
        word if word.startswith(".") else f"{word}={described(getattr(net, word.lstrip('!')), word, seen, net)}"
        for word in words
    ]
    assert [word.lstrip("!") for word in words if "." not in word] == [key for key, _ in net.named_children()], name
    return f"{name} = {' '.join(parts)}"


def described(module: Any, name: str, seen: Any, net: Any = None) -> str:
    """One part of a network; `net` is given for its own parts."""
    kind = type(module).__name__
    if kind == "Conv2d":
        out = "*" if name == "classifier" and module.out_channels == 1000 else module.out_channels
        return f"C{numbers(module.in_channels, out, module.kernel_size[0], module.stride[0], module.padding[0])}"
    if kind in ("BatchNorm2d", "LayerNorm2d"):
        return f"B{module.num_features if kind == 'BatchNorm2d' else module.normalized_shape[0]}"
    if kind == "LayerNorm":
        return f"N{module.normalized_shape[0]}"
    if kind == "MaxPool2d":
        more = ",1" if module.ceil_mode else ""
        short = numbers(module.kernel_size, module.stride, module.padding)
        return f"M{module.kernel_size},{module.stride},{module.padding}{more}" if more else f"M{short}"
    if kind == "AdaptiveAvgPool2d":
        return f"A{module.output_size if isinstance(module.output_size, int) else module.output_size[0]}"
    if kind == "Linear":
        return f"L{module.in_features},{'*' if module.out_features == 1000 else module.out_features}"
    if kind == "Permute":
        return "P"
    if kind in LETTERS:
        return LETTERS[kind]
    if net is not None and type(net).__name__ == "SwinTransformer" and name == "features":
        return f"^{seen[module][0][0][1]},{seen[module][0][1][3]}"
    if kind == "Sequential" and name in OPEN and net is not None:
        rows = ((key, described(part, name, seen)) for key, part in module.named_children())
        return f"({' '.join(row if key.isdecimal() else f'{key}={row}' for key, row in rows)})"
    return stage(seen[module])


def numbers(*given: object) -> str:
    """The arguments of a layer without the last ones that are zero, and without a stride of 1 that stands last."""
    known = list(given)
    while known[-1] == 0:
        known.pop()
    if len(known) == 4 and known[3] == 1:
        known.pop()
    return ",".join(map(str, known))


def stage(seen: list[tuple[Any, Any]]) -> str:
    """A part by the shapes that it was given and that it made."""
    pairs = [(given, made) for given, made in seen if len(given) == len(made) == 4]
    if not pairs:
        return "?"
    channels = {(given[1], made[1]) for given, made in pairs}
    assert len(channels) == 1
    ((first, last),) = channels
    fitting = [
        step
        for step in (1, 2, -2, 4, -4, 8, -8)
        if all((-(-a[at] // step) if step > 0 else a[at] // -step) == b[at] for a, b in pairs for at in (2, 3))
    ]
    step = fitting[0] if len(fitting) == 1 else 0
    return f"~{first},{last}" + ("" if step == 1 else f",{step}")


# -- timm --------------------------------------------------------------------------------------------------------------


def rows_of_timm() -> list[str]:
    import timm
    import torch

    found: dict[str, list[str]] = defaultdict(list)
    for name in timm.list_models():
        if FAMILIES.match(name) and not VARIANTS.search(name):
            try:
                with torch.device("meta"):
                    found[row_of_timm(name)].append(name)
            except (AssertionError, AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
                print(f"{name} is left out: {error}", file=sys.stderr)
    return [f"{' '.join(names)} = {row}" for row, names in sorted(found.items(), key=lambda one: one[1])]


def row_of_timm(name: str) -> str:
    import timm
    import torch

    net = timm.create_model(name).eval()
    image = torch.empty(2, *net.default_cfg["input_size"], device="meta")
    full, last, place = net(image), net.get_classifier(), net.default_cfg.get("classifier")
    net.reset_classifier(0)
    (_, width) = net(image).shape
    is_linear = type(last).__name__ == "Linear" and isinstance(place, str) and last.in_features == width
    head = place if is_linear and last.out_features == full.shape[1] else "-"
    channels: list[int] = []
    try:
        maps = timm.create_model(name, features_only=True).eval()
        made = [tuple(one.shape) for one in maps(image)]
        known = maps.feature_info.channels()
        are_first = len(made) == len(known) and all(len(a) == 4 and a[1] == b for a, b in zip(made, known, strict=True))
        channels = known if are_first else []
    except (AttributeError, RuntimeError, TypeError, ValueError):
        pass
    features = net.num_features if net.num_features == width else 0
    classes = full.shape[1] if head != "-" else 0
    return " ".join(map(str, (width, features, head, classes, *channels)))


# -- transformers ------------------------------------------------------------------------------------------------------


def rows_of_classes() -> list[str]:
    import torch
    import transformers

    found = []
    for stem in f"{TEXT} {IMAGES} {SOUND}".split():
        config = getattr(transformers, f"{stem}Config")
        net = getattr(transformers, f"{stem}Model")(config(num_hidden_layers=1)).eval()
        given = torch.ones(2, 512, dtype=torch.long) if stem in TEXT.split() else torch.zeros(2, 4000)
        given = torch.zeros(2, 3, 224, 224) if stem in IMAGES.split() else given
        made = net(given)
        width, pooled = config().hidden_size, made.get("pooler_output")
        assert made[0].shape[-1] == width
        assert pooled is None or (made[1] is pooled and pooled.shape == (2, width))
        marks = ("p" if pooled is not None else "") + ("t" if stem in TEXT.split() else "")
        found.append(f"{stem}Model = {width} {marks}".rstrip())
    return found


def rows_of_checkpoints() -> list[str]:
    return [
        f"{' '.join(one for name in names.split() for one in spelt(name))} = {row.replace(' ', 'Model ')}"
        for row, names in PUBLISHED.items()
    ]


def spelt(name: str) -> list[str]:
    owner, _, rest = name.rpartition(")")
    return [rest, f"{owner[1:]}/{rest}"] if owner else [name]


# -- comparison --------------------------------------------------------------------------------------------------------


def note_output(outputs: dict[str, list[int]], part: str, _: Any, __: Any, made: Any) -> None:
    outputs[part] = list(made.shape)


def compare() -> int:
    """Compare the shapes that `modellint shapes` shows with those of torch; print the differences."""
    import torch

    nets = networks()
    sizes = [(224, 224), (225, 301)]
    lines, expected = ["import torch", "from torchvision import models"], {}
    for name, net in nets.items():
        called = [name for name in FORWARD.get(type(net).__name__, "").split() if not name.startswith((".", "!"))]
        for height, width in sizes[: 1 if "vit" in name or name in LAST_ONLY else 2]:
            outputs: dict[str, list[int]] = {}
            for part in called:
                getattr(net, part).register_forward_hook(partial(note_output, outputs, part))
            image = torch.empty(2, 3, height, width, device="meta")
            made = net(image)
            lines.append(f"net = models.{name}()")
            lines.append(f"x = torch.zeros(2, 3, {height}, {width})")
            lines.append("y = net(x)")
            expected[len(lines)] = name, list(made.shape) if isinstance(made, torch.Tensor) else None
            for word in FORWARD.get(type(net).__name__, "").split():
                if word.startswith("!") or name in LAST_ONLY:
                    break
                call = {".flatten": "torch.flatten(x, 1)", ".relu": "torch.relu(x)"}.get(word, f"net.{word}(x)")
                if word in (".pool", ".token"):
                    break
                lines.append(f"x = {call}")
                if word in outputs:
                    expected[len(lines)] = f"{name}.{word}", outputs[word]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "all_trunks.py")
        known: dict[int, str] = {}
        starts = [at for at, line in enumerate(lines) if line.startswith("net = ")]
        groups = [starts[at : at + 4] for at in range(0, len(starts), 4)]
        for group in groups:
            end = next((one for one in starts if one > group[-1]), len(lines))
            text = [*lines[:2], *[""] * (group[0] - 2), *lines[group[0] : end]]
            file.write_text("\n".join(text) + "\n", encoding="utf-8")
            command = [sys.executable, "-m", "modellint", "shapes", str(file), "--output-format", "json"]
            shown = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            known.update((one["line"], one["shape"]) for one in shown["values"])
    differing = unknown = agreeing = 0
    for line, (name, shape) in expected.items():
        said = known.get(line, "?")
        sizes_said = said.strip("[]").split(", ")
        if shape is None or said == "?" or "*" in said or len(sizes_said) != len(shape):
            unknown += said == "?" or "*" in said or shape is None
            differs = not (said == "?" or "*" in said or shape is None)
        else:
            differs = any(a not in ("?", str(b)) for a, b in zip(sizes_said, shape, strict=True))
            agreeing += not differs
        differing += differs
        if differs:
            print(f"{name}: {said}, and torch makes {shape}")
    print(f"{len(nets)} networks: {agreeing} shapes agree, {differing} differ, {unknown} are not known")
    return min(differing, 1)


def rows_of_networks() -> list[str]:
    return [row_of_network(name, net) for name, net in networks().items()]


LISTED: dict[str, Callable[[], list[str]]] = {
    "torchvision": rows_of_networks,
    "timm": rows_of_timm,
    "transformers": rows_of_checkpoints,
    "classes": rows_of_classes,
}


def write(*packages: str) -> int:
    known = json.loads(FACTS.read_text(encoding="utf-8")) if FACTS.exists() else {}
    rows = {name: listed() if name in (packages or LISTED) else known.get(name, []) for name, listed in LISTED.items()}
    FACTS.write_text(json.dumps(rows, indent=0) + "\n", encoding="utf-8")
    return 0


def main(way: str, *packages: str) -> int:
    import torch

    warnings.filterwarnings("ignore")
    declare_operators()
    with torch.no_grad():
        return write(*packages) if way == "write" else compare()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
