"""Components that a pipeline names, and that have no folder or no weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modellint.folders import PIPELINE, SENTENCES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.folders import ModelFolder

#: The libraries whose classes are loaded from a folder of their own.
_LIBRARIES = ("transformers", "diffusers")
#: The types of modules that sentence-transformers builds from a configuration in their folder.
_CONFIGURED = ("Pooling", "Dense", "Transformer", "WordEmbeddings", "CNN", "LSTM")
#: Classes that have weights, by how their names end.
_WITH_WEIGHTS = ("Model", "ForConditionalGeneration", "ForCausalLM", "WithProjection", "EncoderModel", "Checker")


class Component(NamedTuple):
    """A component that cannot be loaded."""

    name: str
    place: Place
    message: str
    evidence: tuple[str, ...] = ()
    #: False if no component has weights, so that a program may bring the rest.
    is_sure: bool = True
    #: The library that loads it, and the class, where it is loaded from a folder of its own.
    library: str = ""
    cls: str = ""


def missing_components(folder: ModelFolder) -> Iterator[Component]:
    """The components that cannot be loaded, where others have weights."""
    if folder.marker == PIPELINE:
        yield from _of_pipeline(folder)
    elif folder.json(SENTENCES) is not None:
        yield from _of_sentences(folder)


def _of_pipeline(folder: ModelFolder) -> Iterator[Component]:
    document = folder.json(PIPELINE)
    if document is None or not folder.components:
        return
    have_weights = any(part.weight_names for part in folder.components.values())
    if not have_weights and any(part.config is not None for part in folder.components.values()):
        return  # a repository of configurations
    for name, entry in document.table().items():
        if not (isinstance(entry, list) and len(entry) == 2 and all(isinstance(part, str) for part in entry)):
            continue
        library, cls = entry
        part = folder.components.get(name)
        if part is None and library in _LIBRARIES and not folder.is_outside(name):
            message = f"the pipeline names `{name}`, which has no folder"
            evidence = (f"it is a `{cls}` of {library}",)
            yield Component(name, document.place(name), message, evidence, have_weights, library, cls)
        elif have_weights and part is not None and _lacks_weights(part) and cls.endswith(_WITH_WEIGHTS):
            message = f"the folder of `{name}` has a configuration and no weights"
            evidence = (f"it is a `{cls}` of {library}",)
            yield Component(name, document.place(name), message, evidence, True, library, cls)


def _lacks_weights(part: ModelFolder) -> bool:
    return part.config is not None and not part.weight_names and not part.index_names


def _of_sentences(folder: ModelFolder) -> Iterator[Component]:
    document = folder.json(SENTENCES)
    rows = document.value if document is not None else None
    if not isinstance(rows, list) or document is None:
        return
    for number, row in enumerate(rows):
        path, kind = (row.get(key) for key in ("path", "type")) if isinstance(row, dict) else (None, None)
        if not isinstance(path, str) or not isinstance(kind, str) or not path or folder.is_outside(path):
            continue
        if kind.rpartition(".")[2] in _CONFIGURED and not folder.names_in(path):
            message = f"`{path}` is not here, which `{SENTENCES}` names"
            yield Component(path, document.place(number, "path"), message, (f"it is a `{kind}`",))
