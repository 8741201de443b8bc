"""The models of a folder with published weights: the classes that its configurations name, built on meta.

A folder of transformers names a class in `architectures`, one of diffusers in `_class_name` or, for each of its parts,
in `model_index.json`, one of timm in `architecture`, an adapter of PEFT its base model; the recipe of SpeechBrain
builds the objects that its `pretrainer` loads.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from . import recipes
from .fitted import Comparison, compare_names, compare_tensors
from .headers import Tensors, tensors_in, tensors_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .session import Session

_CONFIG, _PIPELINE, _ADAPTER, _RECIPE = "config.json", "model_index.json", "adapter_config.json", "hyperparams.yaml"
#: The largest JSON file that names a class, in bytes.
_LARGEST = 20_000_000
#: The folders from which a relative path to a base model may lead: that of the adapter, and some above it.
_LEVELS = 4


class UnknownModelError(Exception):
    """The folder names no class that could be built; the message says why."""


@dataclass
class Part:
    """A model of a folder: `name` is its path within the folder, empty for the folder itself."""

    name: str
    folder: str
    class_name: str
    #: Builds the model on meta, and compares it with tensors of files.
    compare: Callable[[Tensors | None], Comparison]
    #: Reads the tensors of its files.
    tensors: Callable[[], Tensors | None]


def parts_of(folder: str, session: Session) -> Iterator[Part]:
    """The models of a folder. Raises UnknownModelError."""
    there = set(os.listdir(folder))
    if _PIPELINE in there:
        yield from _components(folder, session)
    elif _ADAPTER in there:
        yield _adapter(folder, session)
    elif _CONFIG in there:
        yield _part("", folder, session)
    elif _RECIPE in there:
        yield from _loadables(folder, session)
    else:
        raise UnknownModelError(f"it has no `{_CONFIG}`, `{_PIPELINE}`, `{_ADAPTER}` or `{_RECIPE}`")


def library_of(session: Session, name: str) -> Any:
    """A module of a library. Raises UnknownModelError for a library that is not installed, or cannot be imported."""
    found = session.stand_ins.module(name)
    top = name.partition(".")[0]
    if top in session.stand_ins.names:
        raise UnknownModelError(f"`{top}` is not installed, or cannot be imported")
    return found


def settings_in(path: str) -> dict[str, Any]:
    """The mapping in a JSON file. Raises UnknownModelError."""
    name = os.path.basename(path)
    try:
        if os.path.getsize(path) > _LARGEST:
            raise UnknownModelError(f"`{name}` is too large")
        with open(path, encoding="utf-8-sig") as stream:
            found = json.load(stream)
    except (OSError, ValueError, RecursionError) as error:
        raise UnknownModelError(f"`{name}` cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise UnknownModelError(f"`{name}` is no mapping")
    return found


def _part(name: str, folder: str, session: Session) -> Part:
    config = settings_in(os.path.join(folder, _CONFIG))
    if "_class_name" in config:
        return _of_diffusers(name, folder, str(config["_class_name"]), session)
    if "architecture" in config and "model_type" not in config:
        return _of_timm(name, folder, config, session)
    return _of_transformers(name, folder, config, session)


# -- libraries ---------------------------------------------------------------------------------------------------------


def _of_transformers(name: str, folder: str, config: dict[str, Any], session: Session) -> Part:
    """A model of transformers, or of the folder's own code (`auto_map`), which runs within the guard as any code does.

    Raises UnknownModelError where the configuration names no class.
    """
    named = config.get("architectures")
    class_name = str(named[0]) if isinstance(named, list) and named else ""
    if not class_name:
        raise UnknownModelError(f"`{_CONFIG}` names no class in `architectures`")
    if (kind := config.get("quantization_config")) is not None:
        method = kind.get("quant_method", "") if isinstance(kind, dict) else ""
        raise UnknownModelError(f"its weights are quantized{f' ({method})' if method else ''}")

    def compare(tensors: Tensors | None) -> Comparison:
        library: Any = library_of(session, "transformers")
        own = _own_code(config, class_name)
        settings = library.AutoConfig.from_pretrained(folder, trust_remote_code=own is not None)
        if own is not None:
            loader: Any = library_of(session, "transformers.dynamic_module_utils")
            cls: Any = loader.get_class_from_dynamic_module(own, folder)
        else:
            cls = getattr(library, class_name, None)
            if cls is None:
                raise UnknownModelError(f"`transformers` has no class `{class_name}`")
        if tensors is not None and (loaded := _loaded_by_library(cls, settings, tensors)) is not None:
            return loaded
        with torch.device("meta"):
            model = cls(settings)
        return compare_names(model, tensors, str(getattr(cls, "base_model_prefix", "")))

    return Part(name, folder, class_name, compare, lambda: tensors_in(folder))


def _own_code(config: dict[str, Any], class_name: str) -> str | None:
    """The reference to a class in a file of the folder (`modeling_x.XForCausalLM`); None without one."""
    found = config.get("auto_map")
    named = found.values() if isinstance(found, dict) else ()
    return next((one for one in named if isinstance(one, str) and one.rpartition(".")[2] == class_name), None)


def _loaded_by_library(cls: Any, settings: Any, tensors: Tensors) -> Comparison | None:
    """The comparison that transformers makes when it loads tensors; None from releases that cannot load meta tensors.

    The library renames, splits and joins tensors, and knows which ones may be missing.
    """
    try:
        model, told = cls.from_pretrained(
            None,
            config=settings,
            state_dict=dict(tensors),
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            device_map="meta",
        )
    except (TypeError, ValueError, NotImplementedError, ImportError, RuntimeError, OSError, AttributeError):
        return None
    mismatched = [(name, tuple(there), tuple(here)) for name, there, here in told["mismatched_keys"]]
    return Comparison(model, sorted(told["missing_keys"]), sorted(told["unexpected_keys"]), sorted(mismatched))


def _of_diffusers(name: str, folder: str, class_name: str, session: Session) -> Part:
    def compare(tensors: Tensors | None) -> Comparison:
        library: Any = library_of(session, "diffusers")
        cls = getattr(library, class_name, None)
        if cls is None:
            raise UnknownModelError(f"`diffusers` has no class `{class_name}`")
        with torch.device("meta"):
            model = cls.from_config(cls.load_config(folder))
        return compare_names(model, tensors)

    return Part(name, folder, class_name, compare, lambda: tensors_in(folder))


def _components(folder: str, session: Session) -> Iterator[Part]:
    """The models of a pipeline of diffusers: the parts that have a configuration and weights."""
    for name, named in settings_in(os.path.join(folder, _PIPELINE)).items():
        inner = os.path.join(folder, name)
        if not isinstance(named, list) or len(named) != 2 or not os.path.isfile(os.path.join(inner, _CONFIG)):
            continue
        if os.path.basename(name) == name:
            yield _part(name, inner, session)


def _of_timm(name: str, folder: str, config: dict[str, Any], session: Session) -> Part:
    class_name = str(config["architecture"])

    def compare(tensors: Tensors | None) -> Comparison:
        library: Any = library_of(session, "timm")
        arguments = dict(config.get("model_args") or {})
        if isinstance(config.get("num_classes"), int):
            arguments.setdefault("num_classes", config["num_classes"])
        with torch.device("meta"):
            model = library.create_model(class_name, pretrained=False, **arguments)
        return compare_names(model, tensors)

    return Part(name, folder, class_name, compare, lambda: tensors_in(folder))


def _adapter(folder: str, session: Session) -> Part:
    """An adapter of PEFT, on its base model. Raises UnknownModelError without PEFT, or that model in a folder."""
    peft: Any = library_of(session, "peft")
    said = settings_in(os.path.join(folder, _ADAPTER))
    base = said.get("base_model_name_or_path")
    above = [folder]
    while len(above) < _LEVELS and (outer := os.path.dirname(above[-1])) != above[-1]:
        above.append(outer)
    places = [os.path.join(one, base) for one in above] if isinstance(base, str) and base else []
    home = next((place for place in places if os.path.isfile(os.path.join(place, _CONFIG))), None)
    if home is None:
        raise UnknownModelError(f"its base model, `{base}`, is no folder here")
    inner = _part("", home, session)

    def compare(tensors: Tensors | None) -> Comparison:
        model = inner.compare(None).model
        with torch.device("meta"):
            adapted = peft.get_peft_model(model, peft.PeftConfig.from_pretrained(folder))
        wanted = peft.get_peft_model_state_dict(adapted)
        return compare_tensors(adapted, wanted, tensors)

    return Part("", folder, inner.class_name, compare, lambda: tensors_in(folder))


def _loadables(folder: str, session: Session) -> Iterator[Part]:
    """The models that the `pretrainer` of a SpeechBrain recipe loads, from files with the names of its `loadables`."""
    session.begin("building the recipe")
    recipe = recipes.Recipe(os.path.join(folder, _RECIPE), session.overrides, session.stand_ins)
    objects = recipe.build(None)
    loadables = getattr(objects.get("pretrainer"), "loadables", None)
    if not isinstance(loadables, dict):
        raise UnknownModelError(f"`{_RECIPE}` has no `pretrainer` that could be built")
    for name, module in loadables.items():
        path = os.path.join(folder, f"{name}.ckpt")
        if isinstance(module, nn.Module) and not recipes.is_unbuilt(module) and os.path.isfile(path):
            yield _loadable(name, module, path, folder)


def _loadable(name: str, module: nn.Module, path: str, folder: str) -> Part:
    return Part(
        name,
        folder,
        type(module).__name__,
        lambda tensors: compare_names(module, tensors),
        lambda: tensors_of(path),
    )
